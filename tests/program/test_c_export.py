"""to_c: recordings as C files that build without warnings and give eager's numbers."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import Any

import numpy as np
import pytest

import wengert as torch
from wengert.kernels import native

COMPILERS = [c for c in ("gcc", "clang") if shutil.which(c)]
pytestmark = pytest.mark.skipif(not COMPILERS, reason="needs gcc or clang")
FLAGS = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-O2")


def uniform(*shape: int, seed: int = 0, dtype: Any = np.float64) -> Any:
    return torch.tensor(np.random.default_rng(seed).uniform(-1, 1, shape).astype(dtype))


def run_test(path: Any) -> None:
    """Build and run the test program with each compiler."""
    for compiler in COMPILERS:
        files = [f"{path}.c", f"{path}_test.c"]
        subprocess.run([compiler, *FLAGS, *files, "-o", f"{path}_{compiler}", "-lm"], check=True, timeout=100)
        done = subprocess.run([f"{path}_{compiler}"], capture_output=True, text=True, timeout=100, check=False)
        assert done.returncode == 0, done.stdout


def training_step():
    torch.manual_seed(0)
    sizes = (2, 16, 16, 1)
    weights = [uniform(m, n, seed=m, dtype=np.float32).requires_grad_() for n, m in zip(sizes, sizes[1:], strict=False)]
    biases = [uniform(m, seed=m + 50, dtype=np.float32).requires_grad_() for m in sizes[1:]]

    def step(x, y):
        h = x
        for i, (w, b) in enumerate(zip(weights, biases, strict=True)):
            h = torch.nn.functional.linear(h, w, b)
            h = h.tanh() if i < 2 else h
        loss = ((h - y) ** 2).mean()
        gradients = torch.autograd.grad(loss, [*weights, *biases])
        with torch.no_grad():
            for p, g in zip([*weights, *biases], gradients, strict=True):
                p.sub_(g, alpha=0.01)
        return loss.detach()

    return step, [*weights, *biases]


def test_a_training_step_in_static_memory(tmp_path):
    step, parameters = training_step()
    compiled = torch.compile(step, fullgraph=True)
    x, y = uniform(16, 2, dtype=np.float32), uniform(16, 1, seed=1, dtype=np.float32)
    for _ in range(2):
        compiled(x, y)
    before = [p.tolist() for p in parameters]
    compiled.to_c(tmp_path / "step")
    assert [p.tolist() for p in parameters] == before
    text = (tmp_path / "step.c").read_text()
    assert "malloc" not in text and set(re.findall(r"#include (\S+)", text)) <= {'"step.h"', "<math.h>", "<stdint.h>", "<string.h>"}
    assert "extern float step_p" in (tmp_path / "step.h").read_text()
    run_test(tmp_path / "step")


OPTIMIZERS = {
    "SGD": {"lr": 0.1}, "Adam": {"lr": 0.01}, "AdamW": {"lr": 0.01}, "RMSprop": {}, "Adagrad": {"lr_decay": 0.1}, "Adamax": {},
}  # fmt: skip
RUNS = """
int main(void) {
    for (int i = 0; i < 5; i++) {
        step(X);
        printf("%.9g\\n", (double)y0[0]);
    }
    return 0;
}
"""


@pytest.mark.skipif(native is None, reason="without kernels, steps of optimizers are calls of Python")
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_of_optimizers_go_on_in_c(name, tmp_path):
    """Five steps in C, after some in Python, have the losses of five steps in Python. Adam's numbers depend on the number of steps."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    optimizer = getattr(torch.optim, name)(model.parameters(), **OPTIMIZERS[name])

    def step(x, y):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    compiled = torch.compile(step, fullgraph=True)
    x, y = uniform(16, 2, dtype=np.float32), uniform(16, 1, seed=1, dtype=np.float32)
    for _ in range(4):
        compiled(x, y)
    state = [p.tolist() for p in model.parameters()]
    compiled.to_c(tmp_path / "step")
    assert [p.tolist() for p in model.parameters()] == state
    run_test(tmp_path / "step")
    header = (tmp_path / "step.h").read_text()
    assert ("extern double step_steps0[1];" in header) == (name in ("Adam", "AdamW", "Adagrad", "Adamax"))
    arguments = re.search(r"void step\((.*)\);", header)[1].split(", ")
    values = {"x0": x, "x1": y}
    lines = ["#include <stdio.h>", '#include "step.h"']
    for argument in arguments:
        variable = re.search(r"(\w+)\[", argument)[1]
        numbers = ", ".join(map(repr, values[variable].reshape(-1).tolist())) if variable in values else "0"
        lines.append(f"static {argument} = {{{numbers}}};")
    names = ", ".join(re.search(r"(\w+)\[", argument)[1] for argument in arguments)
    (tmp_path / "main.c").write_text("\n".join(lines) + RUNS.replace("X", names))
    compiler = COMPILERS[0]
    subprocess.run([compiler, "-std=c99", "-w", "main.c", "step.c", "-o", "main", "-lm"], check=True, timeout=100, cwd=tmp_path)
    printed = subprocess.run([tmp_path / "main"], capture_output=True, text=True, timeout=100, check=True).stdout
    expected = [step(x, y).item() for _ in range(5)]
    np.testing.assert_allclose(list(map(float, printed.split())), expected, rtol=1e-5)


@pytest.mark.skipif(native is None, reason="without kernels, steps of optimizers are calls of Python")
def test_numbers_of_an_optimizer_that_are_no_formula_are_refused(tmp_path):
    p = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.RAdam([p])

    @torch.compile
    def step():
        p.grad = None
        (p * p).sum().backward()
        optimizer.step()

    for _ in range(9):
        step()
    with pytest.raises(RuntimeError, match=r"the numbers of RAdam are no formula of the number of steps. Hint: call"):
        step.to_c(tmp_path / "step")
    assert not list(tmp_path.iterdir())


def test_a_controller_and_its_jacobian(tmp_path):
    a, k, b = uniform(12, 12) * 0.3, uniform(4, 12, seed=1), uniform(12, 4, seed=2)

    def step(x):
        return x + 0.01 * (a @ torch.sin(x) + b @ torch.tanh(-(k @ x)))

    jacobian = torch.func.jacrev(step)
    compiled = torch.compile(lambda x: (step(x), jacobian(x)), fullgraph=True)
    x = uniform(12, seed=3)
    for _ in range(2):
        compiled(x)
    compiled.to_c(tmp_path / "controller.c")
    run_test(tmp_path / "controller")
    assert "void controller(const double x0[12], double y0[12], double y1[144]);" in (tmp_path / "controller.h").read_text()


def test_gradients_in_grad_are_results(tmp_path):
    w = uniform(3, 3).requires_grad_()

    @torch.compile(fullgraph=True)
    def step(x):
        w.grad = None
        loss = (x @ w).exp().sum()
        loss.backward()
        return loss.detach()

    for _ in range(2):
        step(uniform(2, 3))
    grad = w.grad
    step.to_c(tmp_path / "step")
    assert w.grad is grad
    assert "double y0[1], double y1[9]" in (tmp_path / "step.h").read_text()
    run_test(tmp_path / "step")


def test_gradients_of_arguments_are_results(tmp_path):
    @torch.compile(fullgraph=True)
    def step(x):
        (x * x).sum().backward()

    for _ in range(2):
        step(uniform(3).requires_grad_())
    step.to_c(tmp_path / "step")
    run_test(tmp_path / "step")


def test_what_has_no_form_is_refused_with_its_line(tmp_path):
    @torch.compile(fullgraph=True)
    def run(x):
        return torch.linalg.inv(x * 2)

    with pytest.raises(RuntimeError, match="no recording"):
        run.to_c(tmp_path / "run")
    run(uniform(3, 3))
    with pytest.raises(RuntimeError, match=r"inv.*test_c_export.py:\d+"):
        run.to_c(tmp_path / "run")
    with pytest.raises(RuntimeError, match="no name in C"):
        run.to_c(tmp_path / "a-b")
    assert not list(tmp_path.iterdir())
