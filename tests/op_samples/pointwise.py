"""Samples and oracles of wengert.ops.pointwise, complex and special."""

from __future__ import annotations

import numpy as np
from scipy import special

from op_samples import Data, Sample

_INTEGERS = np.array([[3, 0, -2], [1, 4, -1]])
_REAL = {"complex": False}

# Between the steps of a step function, and away from zero.
_BETWEEN_STEPS = np.array([[0.3, -0.7, 1.2], [2.6, -1.4, -2.8]])


def _unary(*shapes, low=-2.0, high=2.0, **settings):
    return [Sample(Data(*shape, low=low, high=high), **settings) for shape in shapes]


def _logit(x, eps=None):
    return special.logit(x if eps is None else np.clip(x, eps, 1 - eps))


SAMPLES = {
    "positive": _unary((2, 3), ()),
    "__pos__": _unary((2, 3)),
    "clone": _unary((2, 3), (), (0, 3)),
    "cast": [Sample((2, 3), dtype=np.dtype(np.complex128)), Sample((), dtype=np.dtype(np.float64))],
    "relu": [*_unary((2, 3), (), (0, 3), (700,), **_REAL), Sample(_INTEGERS)],
    "round": [
        *_unary((2, 3), (), (0, 3), **_REAL),
        *[Sample(Data(2, 3, low=-20, high=20), decimals=n, **_REAL) for n in (1, 2, -1)],
        Sample(_INTEGERS),
    ],
    "nan_to_num": _unary((2, 3), (), (0, 3)),
    # complex.py
    "conj": _unary((2, 3), (), (0, 3)),
    "conj_physical": _unary((2, 3), ()),
    "_neg_view": _unary((2, 3), ()),
    "resolve_conj": _unary((2, 3)),
    "resolve_neg": _unary((2, 3)),
    "real": _unary((2, 3), ()),
    "imag": [Sample(np.array([1 + 2j, 3 - 1j], np.complex64))],
    "view_as_real": [Sample(np.array([[1 + 2j, 3 - 1j]], np.complex64))],
    "view_as_complex": [Sample((2, 3, 2), **_REAL), Sample((2,), **_REAL)],
    "complex": [Sample((2, 3), (2, 3), **_REAL), Sample((2, 1), (3,), **_REAL), Sample((), (), **_REAL)],
    "polar": [Sample((2, 3), (2, 3), **_REAL), Sample((2, 1), (3,), **_REAL), Sample((), (), **_REAL)],
    "isreal": [*_unary((2, 3)), Sample(np.array([1 + 2j, 3]))],
    # special.py
    "_sum_of_polygammas": [Sample(Data(2, 3, low=3.0, high=5.0), p=3, n=n, **_REAL) for n in (0, 1)],
    "_polygamma": [Sample(Data(2, 3, low=0.3, high=4.0), n=n, **_REAL) for n in (0, 1, 2)],
    "_trigamma": [*_unary((2, 3), (), (0, 3), low=0.3, high=4.0, **_REAL), *_unary((5,), low=-0.8, high=-0.2, **_REAL), *_unary((5,), low=9.0, high=30.0, **_REAL)],
    "logit": [
        *_unary((2, 3), (), (0, 3), low=0.1, high=0.9, **_REAL),
        Sample(Data(2, 3, low=-0.1, high=1.1), eps=0.2, **_REAL),
    ],
    "polygamma": [Sample(n, Data(2, 3, low=0.3, high=4.0), **_REAL) for n in (0, 1, 2, 3)],
}

ORACLES = {
    "neg": np.negative,
    "sign": lambda x: np.sign(x) if x.dtype.kind != "b" else x,
    "sgn": lambda x: np.sign(x) if x.dtype.kind != "b" else x,
    "clone": np.copy,
    "__pos__": np.positive,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "reciprocal": lambda x: 1 / x,
    "exp2": lambda x: 2.0**x,
    "expm1": np.expm1,
    "log1p": np.log1p,
    "sigmoid": lambda x: special.expit(x) if np.isrealobj(x) else 1 / (1 + np.exp(-x)),
    "relu": lambda x: np.where(x > 0, x, 0),
    "round": lambda x, decimals=0: np.round(x, decimals),
    "frac": lambda x: np.modf(x)[0],
    "sinc": np.sinc,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "conj_physical": np.conj,
    "resolve_conj": np.copy,
    "resolve_neg": np.copy,
    "view_as_real": lambda x: np.stack([x.real, x.imag], axis=-1),
    "view_as_complex": lambda x: x[..., 0] + 1j * x[..., 1],
    "complex": lambda x, y: x + 1j * y,
    "polar": lambda r, angle: r * np.exp(1j * angle),
    "lgamma": special.gammaln,
    "digamma": special.psi,
    "_trigamma": lambda x: special.polygamma(1, x),
    "polygamma": special.polygamma,
    "logit": _logit,
}
