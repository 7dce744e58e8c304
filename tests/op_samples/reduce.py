"""Samples of wengert.ops.reduce, extrema, scan, moments and softmax."""

from __future__ import annotations

import numpy as np
from scipy import special

from op_samples import Data, Sample

inf = float("inf")


def _distinct(*shape: int) -> Data:
    return Data(*shape, distinct=True)


def _away(*shape: int) -> Data:
    """Between 0.5 and 2: where powers and quotients are smooth."""
    return Data(*shape, low=0.5, high=2.0)


_OVER_DIMS = [
    Sample((2, 3)),
    Sample(()),
    Sample((0, 3)),
    Sample((2, 3), dim=0),
    Sample((2, 3), dim=-1, keepdim=True),
    Sample((2, 3, 2), dim=(0, 2)),
    Sample((2, 3, 2), dim=(-1, 0), keepdim=True),
    Sample((2, 3), dim=()),
    Sample((0, 3), dim=1),
]
_EXTREMA = [
    Sample(_distinct(2, 3)),
    Sample(_distinct()),
    Sample(_distinct(2, 3), dim=0),
    Sample(_distinct(2, 3), dim=-1, keepdim=True),
    Sample(_distinct(2, 3, 2), dim=(0, 2)),
    Sample(_distinct(2, 3, 2), dim=(1, -1), keepdim=True),
    Sample(Data(0, 3), dim=1),
]
_ONE_DIM = [
    Sample(_distinct(2, 3)),
    Sample(_distinct()),
    Sample(_distinct(2, 3), dim=0),
    Sample(_distinct(5), dim=0),
    Sample(_distinct(2, 3, 2), dim=-2, keepdim=True),
    Sample(Data(0, 3), dim=1),
]
for _sample in [*_EXTREMA, *_ONE_DIM]:
    _sample.complex = False
_MOMENTS = [
    Sample((2, 3)),
    Sample((2, 3), dim=0),
    Sample((2, 3), dim=-1, keepdim=True),
    Sample((2, 3, 2), dim=(0, 2)),
    Sample((2, 3), dim=1, correction=0),
    Sample((2, 3), unbiased=False),
    Sample((4, 3), dim=0, unbiased=True, keepdim=True),
    Sample((4, 3), dim=0, correction=2.5),
    Sample((5,)),
]
_NORMS = [
    Sample((2, 3)),
    Sample(_away()),
    Sample((0, 3)),
    Sample((2, 3), dim=0),
    Sample((2, 3), dim=-1, keepdim=True),
    Sample((2, 3, 2), dim=(0, 2)),
]


def _orders(name: str) -> list[Sample]:
    return [Sample(_away(2, 3), dim=1, **{name: p}) for p in (0, 0.5, 1, 2, 3, -1.5)] + [
        Sample(Data(2, 3, low=-2.0, high=1.3, distinct=True), complex=False, **{name: p}) for p in (inf, -inf, 1, 2.5)
    ]


_SOFTMAX = [
    Sample((2, 3), dim=0),
    Sample((2, 3), dim=-1),
    Sample((2, 3, 2), dim=1),
    Sample((3,), dim=0),
    Sample((0, 3), dim=1),
    Sample((2, 3), dim=1, dtype=np.float64),
]
for _sample in _SOFTMAX:
    _sample.complex = False
_INDEX = np.array([[2], [0], [1]])

SAMPLES = {
    # reduce.py
    "sum": [*_OVER_DIMS, Sample((2, 3), dim=0, dtype=np.float64, complex=False)],
    "nansum": _OVER_DIMS,
    "mean": [s for s in _OVER_DIMS if s.inputs[0].shape != (0, 3)],
    "prod": [
        Sample((2, 3)),
        Sample(()),
        Sample((0, 3)),
        Sample((2, 3), dim=0),
        Sample((2, 3), dim=-1, keepdim=True),
        Sample(_away(150)),
        Sample(_away(2, 131), dim=1, complex=False),
    ],
    "all": [*_OVER_DIMS[:-2], Sample(np.array([[0.0, 1.0], [2.0, 3.0]]), dim=1)],
    "any": [*_OVER_DIMS[:-2], Sample(np.array([[0.0, 1.0], [0.0, 0.0]]), dim=1)],
    "count_nonzero": [Sample((2, 3)), Sample(np.array([[0.0, 1.0], [0.0, 0.0]]), dim=0), Sample((2, 3, 2), dim=(0, 2))],
    # extrema.py
    "amax": _EXTREMA,
    "amin": _EXTREMA,
    "aminmax": [s for s in _ONE_DIM if s.inputs[0].shape],
    "max": [*_ONE_DIM, Sample((2, 3), (3,), complex=False)],
    "min": [*_ONE_DIM, Sample((2, 3), (3,), complex=False)],
    "argmax": [s for s in _ONE_DIM if s.inputs[0].shape],
    "argmin": [s for s in _ONE_DIM if s.inputs[0].shape],
    "median": [*_ONE_DIM, Sample(_distinct(6), complex=False)],
    "nanmedian": _ONE_DIM,
    "_pick": [Sample((3, 4), _INDEX, dim=1), Sample((4, 3, 1), _INDEX.T[..., None], dim=0)],
    "_place": [Sample((3, 1), _INDEX, dim=1, size=4)],
    # scan.py
    "cumsum": [
        Sample((2, 3), dim=0),
        Sample((2, 3), dim=-1),
        Sample((5,), dim=0),
        Sample((0, 3), dim=1),
        Sample((), dim=0),
    ],
    "cumprod": [
        Sample((2, 3), dim=0),
        Sample((2, 3), dim=-1),
        Sample((5,), dim=0),
        Sample((0, 3), dim=1),
        Sample((), dim=0),
    ],
    "_scan": [
        Sample((2, 3), (2, 3), dim=1),
        Sample((2, 3), (2, 3), dim=0, reverse=True, init=1.0),
        Sample((3,), None, dim=0, init=2.0),
        Sample((), (), dim=0),
    ],
    # moments.py
    "var": _MOMENTS,
    "std": _MOMENTS,
    "var_mean": _MOMENTS,
    "std_mean": _MOMENTS,
    "_reciprocal_or_zero": [Sample(_away(2, 3)), Sample(np.array([0.0, 2.0]))],
    "norm": [*_NORMS, *_orders("p"), Sample((2, 3), p="fro", dim=1), Sample((2, 3), p=None)],
    "linalg_vector_norm": [*_NORMS, *_orders("ord")],
    # softmax.py
    "logsumexp": [
        Sample((2, 3), dim=0),
        Sample((2, 3), dim=-1, keepdim=True),
        Sample((2, 3, 2), dim=(0, 2)),
        Sample((0, 3), dim=1),
        Sample(Data(3, low=700, high=800), dim=0, complex=False),  # at 800 rounding is too coarse for second differences
    ],
    "softmax": _SOFTMAX,
    "log_softmax": _SOFTMAX,
    "softmin": _SOFTMAX,
    "_softmax_cotangent": [Sample((2, 3), _away(2, 3), dim=1, complex=False), Sample((), (), dim=0, complex=False)],
    "_log_softmax_cotangent": [Sample((2, 3), (2, 3), dim=0, complex=False), Sample((), (), dim=0, complex=False)],
}


def _axis(x, dim):
    return tuple(range(x.ndim)) if dim is None or dim == () else dim


def _over(function):
    """A NumPy reduction with torch's arguments."""
    return lambda x, dim=None, keepdim=False, dtype=None: function(
        x if dtype is None else x.astype(dtype), axis=_axis(x, dim), keepdims=keepdim
    )


def _truth(function):
    def oracle(x, dim=None, keepdim=False):
        return x != 0 if dim == () else function(x != 0, axis=dim, keepdims=keepdim)

    return oracle


def _with_index(choose, arg, pair):
    """max or min: of all, of pairs, or along one dimension with the index."""

    def oracle(x, other=None, dim=None, keepdim=False):
        if other is not None:
            return pair(x, other)
        if dim is None:
            return choose(x)
        if not x.size:
            return np.zeros(0), np.zeros(0, int)
        return choose(x, axis=dim, keepdims=keepdim), arg(x, axis=dim, keepdims=keepdim)

    return oracle


def _median(x, dim=None, keepdim=False):
    """By sorting a list."""
    if dim is None:
        return _middle(list(x.ravel()))[0]
    if not x.size:
        return np.zeros(0), np.zeros(0, int)
    rows = np.moveaxis(x, dim, -1)
    found = [_middle(list(rows[i])) for i in np.ndindex(rows.shape[:-1])]
    results = [np.array([f[k] for f in found]).reshape(rows.shape[:-1]) for k in (0, 1)]
    return [np.expand_dims(r, dim) if keepdim else r for r in results]


def _middle(values):
    known = sorted((v, i) for i, v in enumerate(values) if v == v)
    return known[(len(known) - 1) // 2]


def _running(combine):
    def oracle(x, dim):
        out = x.copy()
        lanes = np.moveaxis(out, dim, 0) if x.ndim else out[None]
        for i in range(1, len(lanes)):
            lanes[i] = combine(lanes[i - 1], lanes[i])
        return out

    return oracle


def _variance(x, dim=None, unbiased=None, keepdim=False, correction=None):
    correction = (1 if unbiased is None else int(unbiased)) if correction is None else correction
    axis = _axis(x, dim)
    n = x.size // np.mean(x, axis=axis).size
    return np.sum(abs(x - np.mean(x, axis=axis, keepdims=True)) ** 2, axis=axis, keepdims=keepdim) / (n - correction)


def _deviation(x, **params):
    return np.sqrt(_variance(x, **params))


def _average(x, dim=None, keepdim=False):
    return np.mean(x, axis=_axis(x, dim), keepdims=keepdim)


def _and_mean(function):
    return lambda x, dim=None, keepdim=False, **params: (
        function(x, dim=dim, keepdim=keepdim, **params),
        _average(x, dim, keepdim),
    )


def _norm(x, p=2, dim=None, keepdim=False):
    size, options = abs(x), {"axis": _axis(x, dim), "keepdims": keepdim}
    p = 2 if p in (None, "fro") else p
    if p == 0:
        return np.sum(size != 0, **options).astype(float)
    if abs(p) == inf:
        return (np.max if p > 0 else np.min)(size, **options)
    return np.sum(size**p, **options) ** (1 / p)


def _softmax(x, dim, dtype=None):
    return special.softmax(x.astype(dtype) if dtype else x, axis=dim) if x.size else x


ORACLES = {
    "sum": _over(np.sum),
    "nansum": _over(np.nansum),
    "mean": _over(np.mean),
    "prod": _over(np.prod),
    "all": _truth(np.all),
    "any": _truth(np.any),
    "amax": _over(np.max),
    "amin": _over(np.min),
    "aminmax": lambda x, **k: (_over(np.min)(x, **k), _over(np.max)(x, **k)),
    "max": _with_index(np.max, np.argmax, np.maximum),
    "min": _with_index(np.min, np.argmin, np.minimum),
    "median": _median,
    "nanmedian": _median,
    "cumsum": _running(np.add),
    "cumprod": _running(np.multiply),
    "var": _variance,
    "std": _deviation,
    "var_mean": _and_mean(_variance),
    "std_mean": _and_mean(_deviation),
    "norm": _norm,
    "linalg_vector_norm": lambda x, ord=2, **params: _norm(x, ord, **params),
    "softmax": _softmax,
    "log_softmax": lambda x, dim, dtype=None: np.log(_softmax(x, dim, dtype)),
    "softmin": lambda x, dim, dtype=None: _softmax(-x, dim, dtype),
    "logsumexp": lambda x, dim, keepdim=False: _over(special.logsumexp)(x, dim, keepdim) if x.size else np.zeros(0),
}
