"""Drawn functions and the same functions compiled: call by call they give and change the same.

The functions branch on values, write in place, draw random numbers, and compute gradients of first and second order.
"""

from __future__ import annotations

import random
import shutil
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import wengert as torch
from fuzz.transforms import OTHERS, SMOOTH

CALLS = 60
RUNS = 5  # of each function
# Relative and absolute, without and with the option "exact". With it, an exponential in a rule is NumPy's in an eager pass and wengert's in
# a recorded one, and their last bits differ.
TOLERANCES = [(1e-9, 1e-11), (1e-12, 1e-13)]
HAS_COMPILER = any(map(shutil.which, ("cc", "gcc", "clang")))


def overwrite(x: Any, y: Any) -> Any:
    x = x.clone()
    x[1:] = y[:2]
    return x


def write_through_views(x: Any, y: Any) -> Any:
    x = x.repeat(2).view(2, 3)
    x.t()[1].add_(y[:2])
    x.select(0, 1).mul_(y)
    return x.sum(0)


# Functions of the library, two vectors of three numbers, and a number.
STATEMENTS: list[Callable[[Any, Any, Any, float], Any]] = [
    lambda t, x, y, k: x * k + y,
    lambda t, x, y, k: overwrite(x, y),
    lambda t, x, y, k: write_through_views(x, y),
    lambda t, x, y, k: x * t.rand(3, dtype=t.float64) + y,
    lambda t, x, y, k: t.nn.functional.dropout(x, 0.5) + y,
    lambda t, x, y, k: x if (x * y).sum() > 0 else y * 2,
    lambda t, x, y, k: x + y if bool(x.max() > 0.5) else x - y,
    lambda t, x, y, k: x.as_strided((3,), (1,)) * y.view(1, 3)[0],
    lambda t, x, y, k: (x > y).to(t.float32).to(t.float64) * x + y,
    lambda t, x, y, k: t.zeros(3, dtype=t.float64).index_add(0, t.tensor([0, 2, 0]), x) + y,
    lambda t, x, y, k: x.masked_fill(y > 0, k),
    lambda t, x, y, k: t.where(x > y, x, y * k),
    lambda t, x, y, k: (x > 0).to(t.float64) * y + x.argmax() * 0.25,
    lambda t, x, y, k: t.nn.functional.layer_norm(x.expand(2, 3) * y, (3,)).mean(0) + x,
    lambda t, x, y, k: t.nn.functional.log_softmax(x.unsqueeze(1) * y, 1).sum(0),
]
ENDS = ("nothing", "backward", "gradient", "second order", "step", "optimizer")


def draw_case(draw: random.Random) -> Callable[[], tuple[Callable[..., Any], list[Any]]]:
    """Draw a program. Return a function that makes it anew: the program, and the tensors that it reaches."""
    library = [lambda t, x, y, k, f=f: f(t, x, y) for f in SMOOTH + OTHERS]
    choices = STATEMENTS if draw.random() < 0.3 else library + STATEMENTS
    steps = tuple((draw.choice(choices), draw.randrange(8), draw.randrange(8)) for _ in range(draw.randrange(1, 9)))
    end, also, writes = draw.choice(ENDS), draw.randrange(4), draw.random() < 0.2
    kind = draw.choice(("SGD", "Adam", "AdamW", "RMSprop"))

    def make() -> tuple[Callable[..., Any], list[Any]]:
        weight = torch.tensor(np.array([0.5, -0.25, 0.75]), requires_grad=True)
        held = torch.tensor(np.array([0.1, 0.2, 0.3]))
        optimizer = getattr(torch.optim, kind)([weight], lr=0.01)

        def program(x: Any, k: float) -> Any:
            values = [x, weight * 1.0, x * 0.5 + weight]
            for step, i, j in steps:
                values.append(step(torch, values[-1 - i % len(values)], values[j % len(values)], k))
            result = values[-1]
            if writes:
                held.mul_(0.5).add_(result.detach())
            loss = (result * result).sum() * 0.1 + (weight * held).sum()
            others = [result.detach() * 1.0, loss.detach()]
            if end == "backward":
                loss.backward()
            elif end == "gradient":
                others += torch.autograd.grad(loss, [weight])
            elif end == "second order":
                (first,) = torch.autograd.grad(loss, [weight], create_graph=True)
                others.append(first.detach())
                if first.requires_grad:
                    others += torch.autograd.grad((first * held).sum(), [weight], allow_unused=True)
            elif end == "step":
                (first,) = torch.autograd.grad(loss, [weight])
                with torch.no_grad():
                    weight.sub_(first, alpha=0.01)
            elif end == "optimizer":
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            if also == 1:
                others.append(loss.item())
            elif also == 2:
                others.append(values[-1 - len(values) // 2].detach())
            elif also == 3:
                others.append(tuple(result.shape))
            return others

        return program, [weight, held]

    return make


def numbers(x: Any) -> Any:
    return x.detach().numpy().copy() if isinstance(x, torch.Tensor) else x


def outcomes(make: Callable[[], Any], inputs: list[Any], requires_grad: bool, **options: Any) -> tuple[list[Any], Any]:
    """Run a program on each input. Return all that it gave and changed, and the function that ran."""
    torch.manual_seed(11)
    function, reached = make()
    if options:
        function = torch.compile(function, **options)
    found = []
    for array, k in inputs:
        x = torch.tensor(array, requires_grad=requires_grad)
        try:
            results = [numbers(y) for y in function(x, k)]
        except Exception as error:
            results = [type(error).__name__, str(error).split(" (")[0]]
        state = [(numbers(y), y._version, numbers(y.grad)) for y in (x, *reached)]
        found.append((results, state, torch.rand(1).item()))
    return found, function


def assert_equal(expected: Any, found: Any, where: str, exact: bool) -> None:
    assert type(expected) is type(found), f"{where}: {found!r} instead of {expected!r}"
    if isinstance(expected, (list, tuple)):
        assert len(expected) == len(found), f"{where}: {found!r} instead of {expected!r}"
        for number, (a, b) in enumerate(zip(expected, found, strict=True)):
            assert_equal(a, b, f"{where}[{number}]", exact)
    elif isinstance(expected, np.ndarray):
        assert expected.dtype == found.dtype and expected.shape == found.shape, where
        assert np.allclose(found, expected, *TOLERANCES[exact], equal_nan=True), f"{where}: {found!r} instead of {expected!r}"
    elif isinstance(expected, float):
        assert np.allclose(found, expected, *TOLERANCES[exact], equal_nan=True), f"{where}: {found!r} instead of {expected!r}"
    else:
        assert expected == found, f"{where}: {found!r} instead of {expected!r}"


def run(seed: int, calls: int) -> None:
    draw, rng = random.Random(seed), np.random.default_rng(seed)
    for call in range(calls):
        make = draw_case(draw)
        numbers_drawn = (0.5,) if draw.random() < 0.5 else (0.5, 1.5, -0.75)
        inputs = [(rng.uniform(-1, 1, 3), draw.choice(numbers_drawn)) for _ in range(RUNS)]
        requires_grad = draw.random() < 0.3
        exact = draw.random() < 0.5
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected, _ = outcomes(make, inputs, requires_grad)
            backend = "c" if HAS_COMPILER and not exact and draw.random() < 0.04 else "auto"
            found, _ = outcomes(make, inputs, requires_grad, backend=backend, options={"exact": exact})
        assert_equal(expected, found, f"seed {seed}, call {call + 1}", exact)
