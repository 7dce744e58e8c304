"""Random elementwise programs that select, against the derivative of the branch that is taken.

The oracle runs each element as a Python number with the slopes of its paths to x, whose sum is the derivative. A selection returns the
branch that it takes. A branch that does not depend on x has no path, and no factor makes a NaN of it. A path that is taken is a product of
numbers, so a NaN or an infinity on it stays one. All operations are exact or rounded once, so both sides select the same branches.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np

import wengert

NAN, INF = math.nan, math.inf
POINTS = [-INF, -2.0, -1.0, -0.5, 0.0, 0.25, 1.0, 2.0, 3.0, INF, NAN]
Dual = tuple[float, tuple[float, ...]]  # an element, and the slope of each path from it to x


def times(slope: float, x: Dual) -> tuple[float, ...]:
    """The slopes of the paths of x, times a factor."""
    return tuple([ieee(np.multiply, slope, d) for d in x[1]])


def scaled(value: float, slope: float, x: Dual) -> Dual:
    """The dual number of f(x), given f's value and slope at x."""
    return value, times(slope, x)


def flat(value: float, *operands: Dual) -> Dual:
    """The dual number of a rule that gives the number 0 for any cotangent. A rule behind it may turn the 0 into NaN."""
    return value, tuple([NAN for _, slopes in operands for d in slopes if not math.isfinite(d)])


def ieee(function: Callable[..., Any], *arguments: float) -> float:
    with np.errstate(all="ignore"):
        return float(function(*map(np.float64, arguments)))


def clamped(x: Dual, low: Dual | None, high: Dual | None) -> Dual:
    """clamp. torch gives the number 0 for the derivative at a NaN, and takes the NaN."""
    missing = [d for d in (x, low, high) if d is not None and math.isnan(d[0])]
    if missing:
        return flat(NAN, *missing)
    if high is not None and (x[0] > high[0] or (low is not None and low[0] > high[0])):
        return high
    return low if low is not None and x[0] < low[0] else x


def larger(x: Dual, y: Dual, sign: float) -> Dual:
    """maximum for sign = 1, minimum for sign = -1."""
    if math.isnan(x[0]) or math.isnan(y[0]):
        return NAN, x[1] + y[1]
    if x[0] == y[0]:
        return x[0], times(0.5, x) + times(0.5, y)
    return x if sign * x[0] > sign * y[0] else y


def larger_number(x: Dual, y: Dual, sign: float) -> Dual:
    """fmax for sign = 1, fmin for sign = -1."""
    return x if math.isnan(y[0]) or sign * x[0] >= sign * y[0] else y


UNARY: dict[str, tuple[Callable[[Any], Any], Callable[[Dual], Dual]]] = {
    "sqrt": (lambda x: x.sqrt(), lambda x: scaled(ieee(np.sqrt, x[0]), ieee(lambda v: 0.5 / np.sqrt(v), x[0]), x)),
    "reciprocal": (  # 0 in place of -0
        lambda x: x.reciprocal() + 0.0,
        lambda x: scaled(ieee(np.reciprocal, x[0]) + 0.0, -ieee(lambda v: 1 / v * (1 / v), x[0]), x),
    ),
    "reflect": (lambda x: 1.0 - x, lambda x: scaled(1.0 - x[0], -1.0, x)),
    "double": (lambda x: x * 2.0, lambda x: scaled(x[0] * 2.0, 2.0, x)),
    "clamp": (lambda x: x.clamp(0.0, 1.0), lambda x: clamped(x, (0.0, ()), (1.0, ()))),
    "clamp_min": (lambda x: x.clamp_min(0.5), lambda x: clamped(x, (0.5, ()), None)),
    "clamp_max": (lambda x: x.clamp(max=0.5), lambda x: clamped(x, None, (0.5, ()))),
    "clamp to NaN": (lambda x: x.clamp_min(NAN), lambda x: clamped(x, (NAN, ()), None)),
    "relu": (lambda x: x.relu(), lambda x: flat(0.0, x) if x[0] <= 0 else scaled(x[0], 1.0, x)),
    "hardtanh": (
        wengert.nn.functional.hardtanh,
        lambda x: flat(math.copysign(1.0, x[0]), x) if abs(x[0]) >= 1 else scaled(x[0], 1.0, x),
    ),
    "nan_to_num": (
        lambda x: x.nan_to_num(0.5, 2.0, -2.0),
        lambda x: x if math.isfinite(x[0]) else (0.5 if math.isnan(x[0]) else math.copysign(2.0, x[0]), ()),
    ),
    "masked_fill": (lambda x: x.masked_fill(x.detach() <= 0, 0.25), lambda x: (0.25, ()) if x[0] <= 0 else x),
    "where NaN": (lambda x: wengert.where(x != x, 1.0, x), lambda x: (1.0, ()) if x[0] != x[0] else x),
    "where positive": (lambda x: wengert.where(x > 0, x, 0.0), lambda x: x if x[0] > 0 else (0.0, ())),
}  # fmt: skip
BINARY: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Dual, Dual], Dual]]] = {
    "maximum": (wengert.maximum, lambda x, y: larger(x, y, 1.0)),
    "minimum": (wengert.minimum, lambda x, y: larger(x, y, -1.0)),
    "fmax": (wengert.fmax, lambda x, y: larger_number(x, y, 1.0)),
    "fmin": (wengert.fmin, lambda x, y: larger_number(x, y, -1.0)),
    "clamp min": (lambda x, y: x.clamp(min=y), lambda x, y: clamped(x, y, None)),
    "clamp max": (lambda x, y: x.clamp(max=y), lambda x, y: clamped(x, None, y)),
    "add": (lambda x, y: x + y, lambda x, y: (x[0] + y[0], x[1] + y[1])),
    "where": (lambda x, y: wengert.where(y > 0, x, y), lambda x, y: x if y[0] > 0 else y),
}


Program = tuple[str, Any, Any]  # an operation and its operands, programs too; ("x", None, None); ("constant", number, None)


def draw(random_: random.Random, depth: int) -> Program:
    """Draw a program of at most `depth` operations from x to the result."""
    if depth == 0 or random_.random() < 0.1:
        return ("x", None, None)
    if random_.random() < 0.7:
        return (random_.choice(list(UNARY)), draw(random_, depth - 1), None)
    other: Program = ("constant", random_.choice(POINTS), None) if random_.random() < 0.5 else draw(random_, depth - 1)
    operands = [draw(random_, depth - 1), other]
    random_.shuffle(operands)
    return (random_.choice(list(BINARY)), *operands)


def on_tensor(program: Program, x: Any) -> Any:
    """The result of a program for a tensor x."""
    name, first, second = program
    if name == "x":
        return x
    if name == "constant":
        return wengert.full_like(x, first).detach()
    if name in UNARY:
        return UNARY[name][0](on_tensor(first, x))
    return BINARY[name][0](on_tensor(first, x), on_tensor(second, x))


def on_number(program: Program, x: float) -> Dual:
    """The result of a program for one element x, and the slopes of its paths."""
    name, first, second = program
    if name == "x":
        return x, (1.0,)
    if name == "constant":
        return first, ()
    if name in UNARY:
        return UNARY[name][1](on_number(first, x))
    return BINARY[name][1](on_number(first, x), on_number(second, x))


def check(program: Program, x: Any, create_graph: bool) -> None:
    """Raise AssertionError if the value or the gradient of a program at x is not the oracle's."""
    expected = [on_number(program, v) for v in x.tolist()]
    value = on_tensor(program, x)
    np.testing.assert_allclose(value.detach().numpy(), [v for v, _ in expected], rtol=1e-12)
    if value.requires_grad:
        (found,) = wengert.autograd.grad(value.sum(), x, create_graph=create_graph)
        np.testing.assert_allclose(found.detach().numpy(), [ieee(lambda *d: np.sum(d), *slopes) for _, slopes in expected], rtol=1e-12)


def run(seed: int, calls: int) -> None:
    """Check `calls` programs drawn from the seed."""
    random_ = random.Random(seed)
    for call in range(calls):
        program = draw(random_, random_.randint(1, 5))
        x = wengert.tensor(random_.sample(POINTS, 6), dtype=wengert.float64, requires_grad=True)
        try:
            check(program, x, create_graph=bool(call % 2))
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, call {call}: {program} at {x.tolist()}") from error
