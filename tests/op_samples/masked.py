"""Samples and oracles of wengert.ops.masked. The oracles work row by row, on what the mask leaves."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from op_samples import Data, Sample

_MASK = np.array([[True, False, True, True], [False, True, True, False], [True, True, True, True]])
_ROW = np.array([True, False, True, True])
_NOTHING = np.array([[True, False], [False, False]])
_REAL = {"complex": False}


def _reductions(shape=(3, 4), **options):
    data = Data(*shape, distinct=True)
    return [
        Sample(data, 1, mask=_MASK, **options), Sample(data, dim=(0, 1), mask=_MASK, keepdim=True, **options),
        Sample(data, 0, mask=_MASK, **options), Sample(data, **options),
        Sample(data, -1, **options),
    ]  # fmt: skip


def _rows(reduce, default=None):
    """An oracle that applies reduce to the elements left of each reduction."""

    def oracle(x, dim=None, *args, keepdim=False, mask=None, **params):
        x = np.asarray(x)
        mask = np.broadcast_to(True if mask is None else mask, x.shape)
        dims = tuple(range(x.ndim)) if dim is None else tuple(d % x.ndim for d in (dim if isinstance(dim, tuple) else (dim,)))
        kept = [d for d in range(x.ndim) if d not in dims]
        values = np.transpose(x, [*kept, *dims]).reshape(*[x.shape[d] for d in kept], -1)
        used = np.transpose(mask, [*kept, *dims]).reshape(values.shape)
        found = np.array([reduce(values[i][used[i]], *args, **params) for i in np.ndindex(*values.shape[:-1])])
        shape = [1 if d in dims else n for d, n in enumerate(x.shape)] if keepdim else [x.shape[d] for d in kept]
        return found.reshape(shape)

    return oracle


def _scan(function, neutral):
    return lambda x, dim, mask=None: function(x if mask is None else np.where(mask, x, neutral), axis=dim)


def _softmax(x, dim, mask=None, sign=1):
    e = np.exp(sign * x) * (1 if mask is None else mask)
    return e / e.sum(axis=dim, keepdims=True)


def _position(best):
    def reduce(x, dim=None, keepdim=False, mask=None):
        filled = x if mask is None else np.where(mask, x, np.inf if best is np.argmin else -np.inf)
        return best(filled, axis=dim, keepdims=keepdim).astype(x.dtype)

    return reduce


def _length(x, ord=2.0):
    return np.linalg.norm(x, ord) if x.size else 0.0


def _normalize(x, ord, dim, mask=None):
    x = x if mask is None else np.where(mask, x, 0)
    return x / np.maximum(np.linalg.norm(x, ord, axis=dim, keepdims=True), 1e-12)


def _variance(x, unbiased=None, correction=None):
    ddof = (1 if unbiased is None else int(unbiased)) if correction is None else correction
    return np.var(x, ddof=ddof)


def _logaddexp(x, y, input_mask=None, other_mask=None):
    x = x if input_mask is None else np.where(input_mask, x, -np.inf)
    y = y if other_mask is None else np.where(other_mask, y, -np.inf)
    return np.logaddexp(x, y)


_X, _D, _P = (3, 4), Data(3, 4, distinct=True), Data(3, 4, low=0.5, distinct=True)
_SPREADS = [
    Sample(_X, 1, mask=_MASK), Sample(_X, dim=(0, 1), unbiased=False, mask=_MASK, keepdim=True), Sample(_X, 1, True), Sample(_X),
    Sample(_X, 0, correction=0, mask=_MASK),
]  # fmt: skip
_SCANS = [Sample(_X, 1, mask=_MASK), Sample(_X, 0), Sample(_X, -1, mask=_ROW)]
_SOFT = [Sample(_X, 1, mask=_MASK, **_REAL), Sample(_X, 0, **_REAL)]

SAMPLES = {
    "masked_sum": [*_reductions(), Sample((2, 2), 1, mask=_NOTHING)],
    "masked_mean": _reductions(),
    "masked_prod": [*_reductions(), Sample((2, 2), 1, mask=_NOTHING)],
    "masked_amax": _reductions(**_REAL),
    "masked_amin": _reductions(**_REAL),
    "masked_argmax": [Sample(_D, 1, mask=_MASK, **_REAL), Sample(_D, mask=_MASK, **_REAL), Sample(_D, 0, keepdim=True, **_REAL)],
    "masked_argmin": [Sample(_D, 1, mask=_MASK, **_REAL), Sample(_D, **_REAL)],
    "masked_var": _SPREADS,
    "masked_std": _SPREADS,
    "masked_norm": [
        Sample(_X, 2.0, 1, mask=_MASK), Sample(_X, 1.0, dim=(0, 1), mask=_MASK), Sample(_P, float("inf"), 1, mask=_MASK, **_REAL),
        Sample(_P, -1.5, 0, mask=_MASK, keepdim=True, **_REAL), Sample(_X),
    ],
    "masked_normalize": [Sample(_X, 2.0, 1, mask=_MASK), Sample(_X, 3.0, 0)],
    "masked_softmax": _SOFT,
    "masked_log_softmax": [Sample(_X, 0, **_REAL), Sample(_X, 1, **_REAL)],
    "masked_softmin": _SOFT,
    "masked_logsumexp": [Sample(_X, 1, mask=_MASK, **_REAL), Sample(_X, dim=(0, 1), mask=_MASK, keepdim=True, **_REAL), Sample(_X, **_REAL)],
    "masked_median": [Sample(_D, 1, mask=_MASK, **_REAL), Sample(_D, 0, keepdim=True, mask=_MASK, **_REAL), Sample(_D, 0, **_REAL)],
    "masked_cumsum": _SCANS,
    "masked_cumprod": _SCANS,
    "masked_logaddexp": [Sample((3, 4), (3, 4), input_mask=_MASK, **_REAL), Sample((3, 4), (3, 4), input_mask=_MASK, other_mask=~_MASK, **_REAL)],
}  # fmt: skip

ORACLES = {
    "masked_sum": _rows(np.sum),
    "masked_mean": _rows(np.mean),
    "masked_prod": _rows(np.prod),
    "masked_amax": _rows(np.max),
    "masked_amin": _rows(np.min),
    "masked_argmax": _position(np.argmax),
    "masked_argmin": _position(np.argmin),
    "masked_var": lambda x, dim=None, unbiased=None, **params: _rows(_variance)(x, dim, unbiased, **params),
    "masked_std": lambda *args, **params: np.sqrt(ORACLES["masked_var"](*args, **params)),
    "masked_norm": lambda x, ord=2.0, dim=None, **params: _rows(lambda row: _length(row, ord))(x, dim, **params),
    "masked_normalize": _normalize,
    "masked_softmax": _softmax,
    "masked_log_softmax": lambda x, dim: np.log(_softmax(x, dim)),
    "masked_softmin": lambda x, dim, mask=None: _softmax(x, dim, mask, -1),
    "masked_logsumexp": _rows(logsumexp),
    "masked_median": lambda x, dim=-1, **params: _rows(lambda row: np.sort(row)[(len(row) - 1) // 2])(x, dim, **params),
    "masked_cumsum": _scan(np.cumsum, 0),
    "masked_cumprod": _scan(np.cumprod, 1),
    "masked_logaddexp": _logaddexp,
}
