"""Programs in the style of each era, run with `import torch` by `python -m wengert run`; what they print is worked out here.

Where torch 2.13 is installed, it must print the same for the programs of its own era.
"""

import math
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parent / "programs"
NUMBER = re.compile(r"[-+]?\d+\.\d+(?:e[-+]?\d+)?|[-+]?\d+")


def run(*arguments):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", *arguments], capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return re.sub(r"^Hint: .*\n", "", done.stdout, flags=re.MULTILINE)  # of wengert alone


def sigmoid_of(scores):
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def linear_regression():
    x, y = np.arange(4.0), 2 * np.arange(4.0) + 1
    w = b = 0.0
    losses = []
    for _ in range(50):
        error = w * x + b - y
        losses.append((error**2).sum())
        w, b = w - 0.02 * (2 * error * x).sum(), b - 0.02 * (2 * error).sum()
    return f"{losses[0]:.4f} {losses[-1]:.4f}\n{w:.4f} {b:.4f}"


def instance_function():
    x, w = np.array([[-2.0, -1.0], [1.0, 2.0]]), np.array([[1.0, 2.0], [3.0, 4.0]])
    h = x @ w
    by_h = np.where(h < 0, 0.1, 1.0)
    hidden = h * by_h
    g = np.where(hidden - 1 < 0, 0.5, 1.0) * by_h
    return f"LeakyReLU 1 (True,)\n{(2 * g @ w.T).tolist()}\n{(2 * x.T @ g).tolist()}"


def volatile_inference():
    loss = math.log(math.exp(1.5) + math.exp(1.0)) - 1.0
    return (
        "True False False True True\nelement 0 of tensors is volatile\n"
        f"{loss:.4f} [0]\n[[1.0, 1.0], [1.0, 1.0]]"
    )


def gradient_penalty():
    x, w = np.array([[1.0, 2.0], [0.5, -1.0]]), np.array([3.0, -1.0])
    n = 2 * np.sqrt((x**2 * w**4).sum(1))
    by_w = (2 * (n - 1))[:, None] * (8 * x**2 * w**3) / n[:, None]
    return f"{((n - 1) ** 2).mean():.4f}\n{by_w.mean(0).tolist()}"


def adam():
    p, m, v = np.array([1.0, -2.0]), np.zeros(2), np.zeros(2)
    for t in range(1, 21):
        g = 4 * (p - [3.0, 0.5]) ** 3
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        p = p - 0.1 * math.sqrt(1 - 0.999**t) / (1 - 0.9**t) * m / (np.sqrt(v) + 1e-8)
    return str([f"{x:.4f}" for x in p])


def classifier():
    data = np.array([[1, 2], [2, 1], [-1, -1], [-2, 0.5], [0.5, -2], [3, 3]])
    labels = np.array([0, 0, 1, 1, 2, 0])
    w1, w2 = np.linspace(-1, 1, 8).reshape(2, 4), np.linspace(1, -1, 12).reshape(4, 3)
    for _ in range(30):
        for start in range(0, 6, 2):
            x, target = data[start : start + 2], labels[start : start + 2]
            h = np.tanh(x @ w1)
            d = sigmoid_of(h @ w2) - np.eye(3)[target]
            w1, w2 = w1 - 0.1 * x.T @ (d @ w2.T * (1 - h**2)), w2 - 0.1 * h.T @ d
    p = sigmoid_of(np.tanh(data @ w1) @ w2)
    loss = -np.log(p[np.arange(6), labels]).mean()
    return f"{loss:.4f} {(p.argmax(1) == labels).sum()} True"


def training_loop():
    y = 3 * np.linspace(-1, 1, 20) + 0.5
    return f"{(y**2).mean():.4f} 0.00 3.0000 0.5000 torch.Size([])\nFalse False"


def modern():
    p, q = np.array([3.0, 4.0]) * 0.9**3, 1 - 0.9**3
    return (
        f"{math.sqrt((p**2).sum() + q**2):.4f} [{p[0]:.4f}, {p[1]:.4f}, {q:.4f}]\nTrue [None, None]\n"
        "['tensor', 'pre', 'post'] [0.0]\n[5.0, 5.0]"
    )


EXPECTED = {
    "v01_linear_regression": linear_regression(),
    "v01_instance_function": instance_function(),
    "v01_volatile_inference": volatile_inference(),
    "v01_reinforce": "1 True",
    # z = log(exp(y)) + y and y = 2 x: dz/dy = 2, ten times that by the hook, and twice again for x.
    "v01_graph": "4 [False, True]\n[40.0, 40.0, 40.0] [[20.0, 20.0, 20.0]]\n[4.0, 4.0, 4.0]",
    "v02_gradient_penalty": gradient_penalty(),
    # x**3 at 2: 12, 12, 6; 2 x**4: 64.
    "v02_static_function": (
        "tensor(12.) tensor(12.) tensor(6.)\ntensor(64.) tensor(2.) OnceBackward\n"
        "element 0 of tensors does not require grad and does not have a grad_fn"
    ),
    "v03_adam": adam(),
    "v03_classifier": classifier(),
    "v04_training_loop": training_loop(),
    "v1_custom_functions": (
        "True True\n[[0.0, 10.0], [100.0, 0.0]] [1, 0] False LargestBackward\nTrue True\n"
        "a leaf Variable that requires grad is being used in an in-place operation."
    ),
    # J v = 2 x v + sum(v); the Hessian of x y z + x**3 + y**3 + z**3 has 6 x on its diagonal, and z, y, x beside it.
    "v1_double_backward_tricks": (
        "[2.0, 0.0, -6.0]\n[4.0, 2.0, -16.0]\n"
        "[9.0, 9.0] [3.0, 3.0] True False SumBackward0 torch::autograd::AccumulateGrad"
    ),
    "v2_modern": modern(),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPECTED)
def test_program_prints_the_expected_text(name):
    printed, expected = run("-m", "wengert", "run", str(FOLDER / f"{name}.py")).strip(), EXPECTED[name]
    assert NUMBER.sub("#", printed) == NUMBER.sub("#", expected)
    found, wanted = ([float(x) for x in NUMBER.findall(text)] for text in (printed, expected))
    np.testing.assert_allclose(found, wanted, rtol=5e-4, atol=1e-4)


def test_every_program_is_tested():
    assert {path.stem for path in FOLDER.glob("*.py")} == set(EXPECTED) and len(EXPECTED) >= 12


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [name for name in EXPECTED if name.startswith(("v04", "v1", "v2"))])
def test_torch_prints_the_same(name):
    if find_spec("torch") is None:
        pytest.skip("torch is not installed")
    path = str(FOLDER / f"{name}.py")
    printed, theirs = run("-m", "wengert", "run", path), run(path)
    assert NUMBER.sub("#", printed) == NUMBER.sub("#", theirs)
    found, wanted = ([float(x) for x in NUMBER.findall(text)] for text in (printed, theirs))
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-9)
