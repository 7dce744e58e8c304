"""Nested function transforms of drawn functions: grad, vjp, jvp, jacrev, jacfwd, hessian and vmap, in each other to depth three.

The values are torch's. Without torch, and in a part of the calls with it, first derivatives are compared with finite differences.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

import wengert

CALLS = 25

# Functions of the library and two vectors of three numbers, whose result is one, too. Smooth near the drawn points.
SMOOTH: list[Callable[[Any, Any, Any], Any]] = [
    lambda t, x, y: x.sin(),
    lambda t, x, y: (x * 0.3).exp(),
    lambda t, x, y: x.tanh() * y,
    lambda t, x, y: x * y,
    lambda t, x, y: x - y,
    lambda t, x, y: x / (1 + y * y),
    lambda t, x, y: (1 + x * x).sqrt(),
    lambda t, x, y: x * y.sum(),
    lambda t, x, y: x.cumsum(0) * 0.5,
    lambda t, x, y: x.flip(0),
    lambda t, x, y: x.roll(1, 0) + y,
    lambda t, x, y: t.cat([x[1:], y[:1]]),
    lambda t, x, y: t.stack([x[0], y[1], x[2] * y[0]]),
    lambda t, x, y: x.unsqueeze(0).expand(2, 3).sum(0),
    lambda t, x, y: (x.unsqueeze(1) * y).sum(0),
    lambda t, x, y: x.unsqueeze(1) @ y.unsqueeze(0) @ x,
    lambda t, x, y: x.softmax(0),
    lambda t, x, y: x - x.logsumexp(0),
    lambda t, x, y: x / (1 + (x * x).sum()).sqrt(),
    lambda t, x, y: x.prod() * y * 0.1,
    lambda t, x, y: t.where(x * 0 + 1 > 0.5, x, y),
    lambda t, x, y: x[t.tensor([2, 0, 0])],
    lambda t, x, y: x.index_select(0, t.tensor([1, 1, 2])),
    lambda t, x, y: t.einsum("i,j->j", x, y),
    lambda t, x, y: x.var(0) * y,
    lambda t, x, y: x.clone().mul_(y),
    lambda t, x, y: x.clone().add_(y, alpha=0.5).sin_(),
    lambda t, x, y: (x * x + 1).log(),
    lambda t, x, y: t.nn.functional.gelu(x) + y,
    lambda t, x, y: x.diff().sum() * y,
]
# In nested forward mode torch's derivatives of these are wrong.
WRONG_IN_TORCH: list[Callable[[Any, Any, Any], Any]] = [
    lambda t, x, y: t.linalg.solve(t.eye(3, dtype=t.float64) * 3 + x.unsqueeze(1) * y * 0.1, x),
    lambda t, x, y: t.nn.functional.layer_norm(x + t.arange(3.0, dtype=t.float64), (3,)) * y,
]
OTHERS: list[Callable[[Any, Any, Any], Any]] = [
    lambda t, x, y: x.relu() + y,
    lambda t, x, y: x.detach() * y,
    lambda t, x, y: x.abs(),
    lambda t, x, y: t.maximum(x, y),
    lambda t, x, y: x.clamp(-0.5, 0.5) + y,
    lambda t, x, y: x.sort().values * y,
    lambda t, x, y: x.max() * y,
    lambda t, x, y: t.nn.functional.leaky_relu(x) * y,
]


def draw_function(draw: random.Random, steps: list[Callable[..., Any]]) -> Callable[[Any], Callable[[Any], Any]]:
    """Draw a function of a vector: of the library, the function."""
    chosen = [(draw.choice(steps), draw.randrange(8), draw.randrange(8)) for _ in range(draw.randrange(1, 5))]

    def of(t: Any) -> Callable[[Any], Any]:
        def function(x: Any) -> Any:
            values = [x, x * 0.5 + 0.25]
            for step, i, j in chosen:
                values.append(step(t, values[-1 - i % len(values)], values[j % len(values)]))
            return values[-1]

        return function

    return of


def transformed(t: Any, f: Callable[[Any], Any], name: str, v: Any) -> Callable[[Any], Any]:
    """A function of a vector whose result is a vector, made of f by a transform."""
    func = t.func
    return {
        "grad": lambda x: func.grad(lambda z: f(z).sum())(x),
        "vjp": lambda x: func.vjp(f, x)[1](v)[0],
        "jvp": lambda x: func.jvp(f, (x,), (v,))[1],
        "jacrev": lambda x: func.jacrev(f)(x) @ v,
        "jacfwd": lambda x: func.jacfwd(f)(x) @ v,
        "hessian": lambda x: func.hessian(lambda z: (f(z) * v).sum())(x).sum(0),
        "vmap": lambda x: func.vmap(f)(t.stack([x, x * 0.5])).sum(0),
        "vmap grad": lambda x: func.vmap(func.grad(lambda z: (f(z) * v).sum()))(t.stack([x, v])).sum(0),
        "grad_and_value": lambda x: sum(func.grad_and_value(lambda z: f(z).sum())(x)),
    }[name]


NAMES = ["grad", "vjp", "jvp", "jacrev", "jacfwd", "hessian", "vmap", "vmap grad", "grad_and_value"]


def derivative(f: Callable[[Any], Any], x: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Derivative of f at x in the direction v, from six values of f."""
    h = 1e-3
    at = [f(wengert.tensor(x + k * h * v)).detach().numpy() for k in (-3, -2, -1, 1, 2, 3)]
    return np.asarray((at[5] - at[0]) / 60 + (at[1] - at[4]) * 3 / 20 + (at[3] - at[2]) * 3 / 4) / h


def check(draw: random.Random, rng: np.random.Generator, torch: Any) -> None:
    smooth = torch is None or draw.random() < 0.2
    of = draw_function(draw, SMOOTH + (WRONG_IN_TORCH if smooth else OTHERS))
    names = [draw.choice(NAMES) for _ in range(draw.choice([1, 1, 2, 2, 3]))]
    x, v = rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3)

    def run(t: Any, chosen: list[str]) -> Callable[[Any], Any]:
        f = of(t)
        for name in chosen:
            f = transformed(t, f, name, t.tensor(v))
        return f

    if smooth:
        f = run(wengert, names[:-1])
        found = wengert.func.jvp(f, (wengert.tensor(x),), (wengert.tensor(v),))[1].numpy()
        expected = derivative(f, x, v)
        tolerance = 1e-6
    else:
        found = run(wengert, names)(wengert.tensor(x)).detach().numpy()
        try:
            expected = run(torch, names)(torch.tensor(x)).detach().numpy(force=True)
        except RuntimeError as error:
            if "vmap: inplace arithmetic" in str(error):
                return  # torch refuses to write a batch into a tensor that is none
            raise
        tolerance = 1e-8
    scale = max(1.0, np.abs(expected).max(initial=0)) if np.isfinite(expected).all() else 1.0
    assert np.allclose(found, expected, rtol=tolerance, atol=tolerance * scale, equal_nan=True), f"{names}: {found} instead of {expected}"


def run(seed: int, calls: int) -> None:
    torch = __import__("torch") if find_spec("torch") else None
    draw, rng = random.Random(seed), np.random.default_rng(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for call in range(calls):
            try:
                check(draw, rng, torch)
            except Exception as error:
                raise AssertionError(f"seed {seed}, call {call + 1}: {type(error).__name__}: {error}") from error
