"""Samples and oracles of wengert.ops.compare and wengert.ops.logic."""

from __future__ import annotations

import numpy as np

from op_samples import Sample

_X = np.array([[1.0, -2.0, np.nan], [np.inf, 0.5, -np.inf]])
_Y = np.array([[1.0, 3.0, np.nan], [np.inf, -0.5, np.inf]])
_INTEGERS = np.array([12, -7, 0, 5])
_OTHERS = np.array([10, 3, -1, 5])
_BOOLS = np.array([True, False, True])
_OTHER_BOOLS = np.array([True, True, False])

_COMPARED = [
    Sample((2, 3), (2, 3)),
    Sample((2, 1), (3,)),
    Sample((2, 3), 0.5),
    Sample((), ()),
    Sample((0, 3), (1,)),
    Sample(_X, _Y),
    Sample(_INTEGERS, _OTHERS),
    Sample(_INTEGERS, 2.5),
    Sample(_BOOLS, _OTHER_BOOLS),
]
_BITS = [Sample(_INTEGERS, _OTHERS), Sample(_INTEGERS, 6), Sample(_BOOLS, _OTHER_BOOLS)]
_SHIFTS = [Sample(_INTEGERS, np.array([1, 2, 0, 3])), Sample(_INTEGERS, 2)]
_KINDS = [Sample((2, 3)), Sample(()), Sample((0, 3)), Sample(_X), Sample(_INTEGERS), Sample(_BOOLS)]
_CLOSE = [
    Sample((2, 3), (2, 3)),
    Sample(_X, _Y),
    Sample(_X, _Y, equal_nan=True),
    Sample(_X, _X + 1e-7),
    Sample(_X, _X + 0.01, atol=0.1),
    Sample(_X, _X * 1.01, rtol=0.1),
    Sample(_INTEGERS, _OTHERS),
]

SAMPLES = {
    **dict.fromkeys(("eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor"), _COMPARED),
    **dict.fromkeys(("isclose", "allclose"), _CLOSE),
    "equal": [Sample((2, 3), (2, 3)), Sample(_INTEGERS, _INTEGERS.copy()), Sample(_X, _X.copy()), Sample((2, 3), (3,))],
    **dict.fromkeys(("isnan", "isinf", "isfinite", "isposinf", "isneginf", "signbit", "logical_not"), _KINDS),
    "bitwise_not": [Sample(_INTEGERS), Sample(_BOOLS)],
    "__invert__": [Sample(_INTEGERS), Sample(_BOOLS)],
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), _BITS),
    **dict.fromkeys(("bitwise_left_shift", "bitwise_right_shift"), _SHIFTS),
}

ORACLES = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "equal": np.array_equal,
    "__invert__": np.invert,
    "bitwise_left_shift": np.left_shift,
    "bitwise_right_shift": np.right_shift,
    "isposinf": lambda x: x == np.inf,
    "isneginf": lambda x: x == -np.inf,
    "signbit": lambda x: np.signbit(x) if x.dtype.kind != "b" else np.zeros(x.shape, bool),
}
