"""Samples and oracles of wengert.ops.running and statistics."""

from __future__ import annotations

import numpy as np
from scipy import integrate

from op_samples import Data, Sample

_REAL = {"complex": False}
_DISTINCT = Data(3, 4, distinct=True)
_POINTS = Data(4, distinct=True, grad=False)

# Operations composed differently here than in torch. The last part names the node, so its name differs.
OTHER_STEPS = {
    "cov", "cumulative_trapezoid", "diff", "dist", "nanquantile", "quantile", "renorm", "trapezoid", "trapz",
}  # fmt: skip


def _with_nan(*shape):
    x = np.random.default_rng(3).normal(size=shape)
    x[..., 1] = np.nan
    return x


SAMPLES = {
    # running.py
    "cummax": [Sample(_DISTINCT, 0, **_REAL), Sample(_DISTINCT, dim=-1, **_REAL), Sample((), dim=0, **_REAL),
               Sample((0, 3), dim=1, **_REAL)],
    "cummin": [Sample(_DISTINCT, 0, **_REAL), Sample(_DISTINCT, dim=-1, **_REAL)],
    "logcumsumexp": [Sample((2, 4), dim=1, **_REAL), Sample((3, 2), dim=0, **_REAL), Sample((), dim=0, **_REAL)],
    "diff": [
        Sample((2, 4)), Sample((2, 4), n=2, dim=0), Sample((3,), n=5), Sample((2, 3), n=0), Sample(np.array([True, False, False])),
        Sample((2, 3), prepend=np.ones((2, 1), int), append=np.ones((2, 2), int)),
    ],
    "trapezoid": [Sample((2, 4)), Sample((4, 2), dx=0.5, dim=0), Sample((2, 4), _POINTS), Sample((2, 4), (2, 4)), Sample((2, 1))],
    "trapz": [Sample((2, 4)), Sample((2, 4), _POINTS)],
    "cumulative_trapezoid": [Sample((2, 4)), Sample((4, 2), dx=0.5, dim=0), Sample((2, 4), _POINTS)],
    "gradient": [
        Sample((3, 4)), Sample((3, 4), dim=1, edge_order=2), Sample((3, 4), spacing=0.5, dim=(0,)),
        Sample((3, 4), spacing=[0.5, 2.0], edge_order=2),
    ],
    # statistics.py
    "nanmean": [Sample((2, 3), **_REAL), Sample((2, 3), dim=1, keepdim=True, **_REAL), Sample(_with_nan(2, 3), dim=1)],
    "quantile": [
        Sample(_DISTINCT, 0.3, **_REAL),
        *[Sample(Data(5, distinct=True), 0.3, interpolation=how, **_REAL) for how in ("lower", "higher", "midpoint", "nearest")],
        Sample(_DISTINCT, 0.5, dim=1, keepdim=True, **_REAL), Sample(_DISTINCT, 1.0, dim=0, **_REAL), Sample(_with_nan(2, 3), 0.5, dim=0),
    ],
    "nanquantile": [Sample(_DISTINCT, 0.3, **_REAL), Sample(_with_nan(2, 3), 0.4, dim=1)],
    "mode": [
        Sample(Data(2, 3, distinct=True), **_REAL), Sample(np.array([2.0, 1, 1, 2, 3])), Sample((), **_REAL),
        Sample(np.array([[2, 1, 1, 2, 3], [3, 3, 1, 2, 3]]), dim=0), Sample(np.array([[2, 1, 1], [3, 3, 1]]), keepdim=True),
    ],
    "hash_tensor": [
        Sample(Data(2, 3, grad=False), **p, **_REAL) for p in ({}, {"dim": 1}, {"dim": (0, 1), "keepdim": True}, {"dim": -2})
    ],
    "histc": [Sample(Data(20, grad=False), 5, **_REAL), Sample(Data(20, grad=False), bins=4, min=-1, max=1, **_REAL)],
    "histogram": [
        Sample(Data(20, grad=False), 5, **_REAL), Sample(Data(20, grad=False), 4, range=(-1.0, 1.0), density=True, **_REAL),
    ],
    "cov": [
        Sample((2, 4)), Sample((4,)), Sample((3, 4), correction=0),
        Sample((2, 3), fweights=np.array([1, 2, 0]), aweights=np.array([0.5, 0.25, 0.25], np.float32), **_REAL),
        Sample((2, 3), aweights=np.array([0.5, 0.25, 0.25], np.float32), **_REAL),
    ],
    "corrcoef": [Sample((2, 4)), Sample((3, 5), **_REAL)],
    "dist": [Sample((2, 3), (3,)), Sample((2, 3), (2, 3), p=3), Sample((3,), (3,), p=1)],
    "renorm": [Sample((3, 4), 2, 0, 1.0), Sample((3, 4), 1, 1, 2.5), Sample((2, 3, 2), 3, 1, 100.0)],
    "frexp": [Sample(Data(2, 3, low=0.6, high=0.9), **_REAL), Sample(Data(3, low=4.5, high=7.5), **_REAL)],
}  # fmt: skip


def _running(better):
    def oracle(x, dim):
        x = np.asarray(x)
        if not x.ndim:
            return x, np.int64(0)
        values, indices = x.copy(), np.zeros(x.shape, np.int64)
        v, i = np.moveaxis(values, dim, 0), np.moveaxis(indices, dim, 0)
        for k in range(1, len(v)):
            i[k] = np.where(better(v[k], v[k - 1]), k, i[k - 1])
            v[k] = np.where(better(v[k], v[k - 1]), v[k], v[k - 1])
        return values, indices

    return oracle


def _diff(x, n=1, dim=-1, prepend=None, append=None):
    ends = {k: v for k, v in (("prepend", prepend), ("append", append)) if v is not None}
    return np.diff(x, n, dim, **ends)


def _gradient(x, spacing=1, dim=None, edge_order=1):
    spacings = spacing if isinstance(spacing, list) else [spacing]
    found = np.gradient(x, *spacings, axis=dim, edge_order=edge_order)
    return tuple(found) if isinstance(found, (list, tuple)) else (found,)


def _mode(x, dim=-1, keepdim=False):
    def of_row(row):
        values, counts = np.unique(row, return_counts=True)
        value = values[counts.argmax()]
        return value, np.flatnonzero(row == value)[-1]

    if not np.ndim(x):
        return x, np.int64(0)
    values = np.apply_along_axis(lambda row: of_row(row)[0], dim, x)
    indices = np.apply_along_axis(lambda row: of_row(row)[1], dim, x)
    return (np.expand_dims(values, dim), np.expand_dims(indices, dim)) if keepdim else (values, indices)


def _quantile(function):
    def oracle(x, q, dim=None, keepdim=False, interpolation="linear"):
        return function(x, q, axis=dim, keepdims=keepdim, method=interpolation)

    return oracle


def _renorm(x, p, dim, maxnorm):
    others = tuple(d for d in range(x.ndim) if d != dim % x.ndim)
    norms = (np.abs(x) ** p).sum(axis=others, keepdims=True) ** (1 / p)
    return x * np.where(norms > maxnorm, maxnorm / (norms + 1e-7), 1.0)


ORACLES = {
    "cummax": _running(np.greater_equal),
    "cummin": _running(np.less_equal),
    "logcumsumexp": lambda x, dim: np.log(np.cumsum(np.exp(x), dim)) if np.ndim(x) else x,
    "diff": _diff,
    "trapezoid": lambda y, x=None, dx=1.0, dim=-1: np.trapezoid(y, x, dx, dim),
    "trapz": lambda y, x=None: np.trapezoid(y, x),
    "cumulative_trapezoid": lambda y, x=None, dx=1.0, dim=-1: integrate.cumulative_trapezoid(y, x, dx, dim),
    "gradient": _gradient,
    "nanmean": lambda x, dim=None, keepdim=False: np.nanmean(x, axis=dim, keepdims=keepdim),
    "quantile": _quantile(np.quantile),
    "nanquantile": _quantile(np.nanquantile),
    "mode": _mode,
    "hash_tensor": lambda x, dim=None, keepdim=False: np.bitwise_xor.reduce(
        np.frombuffer(x.astype(np.float64).tobytes(), np.uint64).reshape(x.shape), axis=dim, keepdims=keepdim
    ),
    "histc": lambda x, bins=100, min=0, max=0: np.histogram(x, bins, (min, max) if min != max else None)[0].astype(x.dtype),
    "histogram": lambda x, bins, range=None, density=False: tuple(
        a.astype(x.dtype) for a in np.histogram(x, bins, range, density=density)
    ),
    "cov": lambda x, correction=1, fweights=None, aweights=None: np.cov(x, ddof=correction, fweights=fweights, aweights=aweights),
    "corrcoef": np.corrcoef,
    "dist": lambda x, y, p=2: (np.abs(x - y) ** p).sum() ** (1 / p),
    "renorm": _renorm,
    "frexp": np.frexp,
}
