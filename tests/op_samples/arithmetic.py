"""Samples and oracles of wengert.ops.arithmetic and wengert.ops.choice."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from op_samples import Data, Sample

_MASK = np.array([[True, False, True], [False, False, True]])
_POSITIVE = {"low": 0.3, "high": 2.0}
_INTEGERS = np.array([[7, -7, 5], [-5, 6, 1]])
_DIVISORS = np.array([[2, 2, -3], [-3, 4, 5]])


def _away_from_zero(*shape):
    return Data(*shape, low=0.4, high=2.0)


def _binary(op_sample=Sample, **params):
    """Two inputs, in every way in which they broadcast, and a number in the place of either."""
    shapes = [((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((), (2, 3)), ((2, 3), ()), ((), ()), ((0, 3), (1,))]
    return [op_sample(a, b, **params) for a, b in shapes] + [op_sample((2, 3), 1.5, **params)]


_QUOTIENTS = [
    Sample(_away_from_zero(*a), _away_from_zero(*b), complex=False)
    for a, b in [((2, 3), (2, 3)), ((2, 1), (1, 3)), ((), ()), ((0, 3), (1,))]
] + [Sample(_away_from_zero(2, 3), 1.5, complex=False), Sample(1.5, _away_from_zero(2, 3), complex=False)]

SAMPLES = {
    "add": [*_binary(), *_binary(alpha=-2.5), Sample(1.5, (2, 3)), Sample((2, 3), 2)],
    "sub": [*_binary(), *_binary(alpha=-2.5), Sample(1.5, (2, 3)), Sample((2, 3), 2)],
    "rsub": [*_binary(), *_binary(alpha=-2.5)],
    "mul": [*_binary(), Sample(1.5, (2, 3)), Sample((2, 3), 2)],
    "div": [
        Sample((2, 3), _away_from_zero(2, 3)),
        Sample((2, 1), _away_from_zero(1, 3)),
        Sample((), _away_from_zero(2, 3)),
        Sample((2, 3), 1.5),
        Sample(1.5, _away_from_zero(2, 3)),
        Sample((0, 3), _away_from_zero()),
        *[
            Sample(Data(2, 3, low=-5, high=5), _away_from_zero(2, 3), complex=False, rounding_mode=mode)
            for mode in ("floor", "trunc")
        ],
        *[Sample(_INTEGERS, _DIVISORS, complex=False, rounding_mode=mode) for mode in ("floor", "trunc")],
    ],
    "floor_divide": [*_QUOTIENTS, Sample(_INTEGERS, _DIVISORS, complex=False)],
    "remainder": [*_QUOTIENTS, Sample(_INTEGERS, _DIVISORS, complex=False)],
    "fmod": [*_QUOTIENTS, Sample(_INTEGERS, _DIVISORS, complex=False)],
    "pow": [
        Sample(Data(2, 3, **_POSITIVE), (2, 3)),
        Sample(Data(2, 1, **_POSITIVE), (1, 3)),
        Sample(Data(**_POSITIVE), (2, 3)),
        Sample(Data(0, 3, **_POSITIVE), ()),
        *[Sample((2, 3), n) for n in (0, 1, 2, 3, 4, 5, 2.0, 3.0)],
        *[Sample(Data(2, 3, **_POSITIVE), exponent) for exponent in (-1, -2, -0.5, 0.5, 2.5)],
        *[Sample(base, (2, 3)) for base in (2, 0.5, 1)],
        Sample(np.array([3, -2, 1, -1]), np.array([4, 3, 2, 5])),
    ],
    "float_power": [
        Sample(Data(2, 3, **_POSITIVE), (2, 3), complex=False),
        Sample(Data(2, 3, **_POSITIVE), 2.5, complex=False),
        Sample(np.array([2, 4]), -2),
    ],
    "addcmul": [
        *[Sample((2, 3), (2, 1), (3,), value=value) for value in (1, -2.5)],
        Sample((), (), ()),
        Sample((0, 3), (1,), ()),
    ],
    "addcdiv": [
        *[Sample((2, 3), (2, 1), _away_from_zero(3), value=value) for value in (1, -2.5)],
        Sample((), (), _away_from_zero()),
        Sample((0, 3), (1,), _away_from_zero()),
    ],
    "lerp": [
        Sample((2, 3), (2, 3), Data(2, 3, low=0, high=1)),
        Sample((2, 1), (3,), ()),
        *[Sample((2, 3), (3,), weight) for weight in (0.25, 0.75, -1.0, 3.0)],
        Sample((0, 3), (1,), 0.5),
    ],
    "xlogy": [
        Sample((2, 3), Data(2, 3, **_POSITIVE), complex=False),
        Sample((2, 1), Data(3, **_POSITIVE), complex=False),
        Sample((2, 3), 2.5, complex=False),
        Sample(1.5, Data(2, 3, **_POSITIVE), complex=False),
        Sample(0.0, Data(2, 3, **_POSITIVE), complex=False),
    ],
    "ldexp": [Sample((2, 3), (3,), complex=False), Sample((2, 3), np.array([1, -2, 3]), complex=False)],
    "copysign": [
        Sample((2, 3), (2, 3), complex=False),
        Sample((2, 1), (3,), complex=False),
        Sample((2, 3), -1.5, complex=False),
        Sample((0, 3), (), complex=False),
    ],
    "heaviside": [Sample((2, 3), (3,), complex=False), Sample(np.array([-1, 0, 2]), np.array([7, 8, 9]))],
    "nextafter": [Sample((2, 3), (3,), complex=False)],
    "gcd": [Sample(np.array([12, -18, 0]), np.array([18, 12, 5]))],
    "lcm": [Sample(np.array([12, -18, 0]), np.array([18, 12, 5]))],
    # choice.py
    "clamp": [
        Sample((2, 3), -1.0, 1.0, complex=False),
        Sample((2, 3), None, 0.5, complex=False),
        Sample((2, 3), -0.5, complex=False),
        Sample((2, 3), 1.0, -1.0, complex=False),
        Sample((), -1.0, 1.0, complex=False),
        Sample((0, 3), -1.0, 1.0, complex=False),
        Sample((30, 40), -1.0, 1.0, complex=False),
        Sample((2, 3), Data(3, low=-1, high=0), Data(2, 1, low=0, high=1), complex=False),
        Sample((2, 3), Data(3, low=-1, high=0), complex=False),
        Sample((2, 3), None, Data(3, low=0, high=1), complex=False),
        Sample(_INTEGERS, -6, 6),
        Sample(_INTEGERS, 1.5),
    ],
    "where": [
        Sample(_MASK, (2, 3), (2, 3)),
        Sample(_MASK, (3,), ()),
        Sample(_MASK, (2, 1), 1.5),
        Sample(_MASK, 2, (2, 3)),
        Sample(np.array(True), (), ()),
        Sample(np.zeros((0, 3), bool), (0, 3), ()),
        Sample(_MASK, 1.5, 2, complex=False),
        Sample(_MASK, _INTEGERS, (2, 3)),
        Sample(np.arange(600) % 3 == 0, (600,), 0.5),
    ],
    "_where_method": [Sample((2, 3), _MASK, (2, 3)), Sample((2, 3), _MASK, 1.5)],
    "fill": [Sample((2, 3), 1.5), Sample((2, 3), ()), Sample((), ()), Sample(_INTEGERS, 3)],
    "_fill_inplace": [Sample((2, 3), ())],
    "_zero": [Sample((2, 3))],
    "_copy": [Sample((2, 3), (3,)), Sample((2, 3), (2, 3)), Sample((2, 3), ())],
}


def _divide(x, y, rounding_mode=None):
    if rounding_mode is None:
        return x / y
    if x.dtype.kind == "i":
        to_integer = {"floor": math.floor, "trunc": math.trunc}[rounding_mode]
        return np.array([to_integer(a / b) for a, b in zip(x.flat, y.flat, strict=True)]).reshape(x.shape)
    return {"floor": np.floor, "trunc": np.trunc}[rounding_mode](x / y)


def _clamp(x, min=None, max=None):
    result = x
    for bound, choose in ((min, np.maximum), (max, np.minimum)):
        result = result if bound is None else choose(result, bound)
    return result


ORACLES = {
    "logaddexp": lambda x, y: (np.logaddexp if np.isrealobj(x) else lambda a, b: np.log(np.exp(a) + np.exp(b)))(x, y),
    "add": lambda x, y, alpha=1: np.add(x, y) if alpha == 1 else x + alpha * y,
    "sub": lambda x, y, alpha=1: x - alpha * y,
    "rsub": lambda x, y, alpha=1: y - alpha * x,
    "mul": lambda x, y: x * y,
    "div": _divide,
    "pow": lambda x, y: np.power(x, y),
    "addcmul": lambda x, a, b, value=1: x + value * a * b,
    "addcdiv": lambda x, a, b, value=1: x + value * a / b,
    "lerp": lambda x, end, weight: x * (1 - weight) + end * weight,
    "xlogy": special.xlogy,
    "atan2": np.arctan2,
    "ldexp": lambda x, y: x * np.exp2(y),
    "clamp": _clamp,
    "clamp_min": np.maximum,
    "clamp_max": np.minimum,
    "_where_method": lambda x, mask, y: np.where(mask, x, y),
    "heaviside": lambda x, y: np.where(x == 0, y, x > 0).astype(x.dtype),
    "fill": lambda x, value: np.full_like(x, value),
}
