"""Samples and oracles of wengert.ops.native and segments."""

from __future__ import annotations

import numpy as np

from op_samples import Data, Sample, grid, resize

_REAL = {"complex": False}
_LENGTHS, _OFFSETS = np.array([3, 0, 2]), np.array([0, 1, 1, 5])
_ROWS = np.array([[1, 3], [2, 2]])
_D = Data(5, distinct=True, low=0.3)
_STEPS = [Sample(_D, "sum", lengths=_LENGTHS, **_REAL), Sample(_D, "max", lengths=_LENGTHS[[0, 2]], **_REAL)]


SAMPLES = {
    "native_layer_norm": [
        Sample((2, 3, 4), normalized_shape=(3, 4), weight=None, bias=None, eps=1e-5, **_REAL),
        Sample((2, 4), normalized_shape=(4,), weight=None, bias=None, eps=1e-3, **_REAL),
    ],
    "native_group_norm": [
        Sample((2, 4, 3), (4,), (4,), 2, 4, 3, 2, 1e-5, **_REAL), Sample((2, 4), None, None, 2, 4, 1, 1, 1e-3, **_REAL),
    ],
    "native_batch_norm": [
        Sample((3, 2, 4), (2,), (2,), None, None, True, 0.1, 1e-5, **_REAL),
        Sample((3, 2), None, None, Data(2, grad=False), Data(2, low=0.5, grad=False), False, 0.1, 1e-5, **_REAL),
    ],
    "native_dropout": [Sample((2, 3), 0.5, True, **_REAL), Sample((2, 3), 0.5, False, **_REAL)],
    "native_channel_shuffle": [Sample((1, 6, 2), 2)],
    "frobenius_norm": [Sample((2, 3), dim=(0, 1)), Sample((2, 3), dim=1, keepdim=True)],
    "nuclear_norm": [Sample((3, 2)), Sample((2, 3, 4), dim=(0, 2), keepdim=True)],
    "norm_except_dim": [Sample((2, 3, 4)), Sample((2, 3), pow=1, dim=1), Sample((2, 3), 2, -1), Sample((3,))],
    "grid_sampler_2d": [Sample((1, 2, 3, 4), Data(1, 2, 2, 2, low=-0.9, high=0.9), 0, 0, False, **_REAL)],
    "grid_sampler_3d": [Sample((1, 1, 3, 2, 2), Data(1, 1, 2, 1, 3, low=-0.9, high=0.9), 0, 0, True, **_REAL)],
    "affine_grid_generator": [Sample((2, 2, 3), size=(2, 1, 3, 2), align_corners=False, **_REAL)],
    "segment_reduce": [
        *_STEPS, Sample(_D, "min", lengths=_LENGTHS, initial=9, **_REAL), Sample(Data(5, grad=False), "mean", lengths=_LENGTHS, **_REAL),
        Sample(_D, "prod", offsets=_OFFSETS, initial=2, **_REAL), Sample(_D, "mean", offsets=_OFFSETS, initial=1, **_REAL),
        Sample(Data(2, 4, 2, distinct=True), "sum", lengths=_ROWS, axis=1, **_REAL), Sample(Data(5, 2, distinct=True), "max", lengths=_LENGTHS[[0, 2]], **_REAL),
        Sample(_D, "sum", lengths=np.array([3, 1]), unsafe=True, **_REAL),
    ],
}  # fmt: skip
OTHER_STEPS = {"segment_reduce", "native_group_norm", "native_dropout", "nuclear_norm", "frobenius_norm", "norm_except_dim"}


def _layer_norm(x, normalized_shape, weight, bias, eps):
    shape = normalized_shape
    over = tuple(range(x.ndim - len(shape), x.ndim))
    mean, rstd = x.mean(axis=over, keepdims=True), 1 / np.sqrt(x.var(axis=over, keepdims=True) + eps)
    return (x - mean) * rstd * (1 if weight is None else weight) + (0 if bias is None else bias), mean, rstd


def _group_norm(x, weight, bias, n, channels, size, groups, eps):
    grouped = x.reshape(n, groups, -1)
    mean, rstd = grouped.mean(axis=2), 1 / np.sqrt(grouped.var(axis=2) + eps)
    out = ((grouped - mean[..., None]) * rstd[..., None]).reshape(x.shape)
    shape = (1, -1, *(1,) * (x.ndim - 2))
    out = out if weight is None else out * weight.reshape(shape) + bias.reshape(shape)
    return out, mean, rstd


def _batch_norm(x, weight, bias, running_mean, running_var, training, momentum, eps):
    over, shape = (0, *range(2, x.ndim)), (1, -1, *(1,) * (x.ndim - 2))
    mean, variance = (x.mean(axis=over), x.var(axis=over)) if training else (running_mean, running_var)
    rstd = 1 / np.sqrt(variance + eps)
    out = (x - mean.reshape(shape)) * rstd.reshape(shape)
    out = out if weight is None else out * weight.reshape(shape) + bias.reshape(shape)
    return (out, mean, rstd) if training else (out, np.zeros(0), np.zeros(0))


def _nuclear(x, dim=(-2, -1), keepdim=False):
    return np.linalg.norm(x, "nuc", dim, keepdim)


def _except(v, pow=2, dim=0):
    others = None if dim == -1 else tuple(d for d in range(v.ndim) if d != dim)
    return (np.abs(v) ** pow).sum(axis=others, keepdims=dim != -1) ** (1 / pow) if others != () else np.abs(v)


def _segments(x, reduce, lengths=None, offsets=None, axis=0, unsafe=False, initial=None):
    counts = np.diff(offsets, axis=-1) if lengths is None else lengths
    neutral = {"sum": 0.0, "mean": np.nan, "prod": 1.0, "max": -np.inf, "min": np.inf}[reduce]
    function = {"sum": np.sum, "mean": np.sum, "prod": np.prod, "max": np.max, "min": np.min}[reduce]
    found = np.zeros((*x.shape[:axis], counts.shape[-1], *x.shape[axis + 1 :]))
    for where in np.ndindex(*x.shape[:axis]):
        begin = 0 if offsets is None else offsets[where][0]
        for i, n in enumerate(counts[where]):
            rows = list(x[where][begin : begin + n])
            begin += n
            if initial is not None:
                rows = [np.full(x.shape[axis + 1 :], float(initial)), *rows]
            value = function(rows, axis=0) if rows else np.full(x.shape[axis + 1 :], neutral)
            found[(*where, i)] = value / max(n, 1) if reduce == "mean" else value
    return found


ORACLES = {
    "native_layer_norm": _layer_norm,
    "native_group_norm": _group_norm,
    "native_batch_norm": _batch_norm,
    "native_channel_shuffle": lambda x, groups: x.reshape(x.shape[0], groups, -1, *x.shape[2:]).swapaxes(1, 2).reshape(x.shape),
    "frobenius_norm": lambda x, dim, keepdim=False: np.sqrt((np.abs(x) ** 2).sum(axis=dim, keepdims=keepdim)),
    "nuclear_norm": _nuclear,
    "norm_except_dim": _except,
    "grid_sampler_2d": grid.ORACLES["grid_sampler"],
    "grid_sampler_3d": grid.ORACLES["grid_sampler"],
    "affine_grid_generator": resize.ORACLES["affine_grid"],
    "segment_reduce": _segments,
}
