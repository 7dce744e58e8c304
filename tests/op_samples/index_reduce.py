"""Samples and oracles of wengert.ops.index_reduce."""

from __future__ import annotations

import numpy as np

from op_samples import Data, Sample

_INDEX = np.array([2, 0, 2])
_REAL = {"complex": False}
_X, _SRC = Data(3, 2, distinct=True, low=0.5), Data(3, 2, distinct=True, low=-1.7, high=1.9)

# The last step is scatter_reduce, or a reshape.
OTHER_STEPS = {"index_reduce", "as_strided_scatter"}

SAMPLES = {
    "index_reduce": [
        *[Sample(_X, 0, _INDEX, _SRC, reduce, **_REAL) for reduce in ("prod", "mean", "amax", "amin")],
        *[Sample(_X, 0, _INDEX, _SRC, reduce, include_self=False, **_REAL) for reduce in ("prod", "mean", "amax", "amin")],
        Sample(Data(2, 3, distinct=True), -1, np.array([1, 1]), Data(2, 2, distinct=True, low=-1.5), "mean", **_REAL),
        Sample((3, 2), 0, np.array([], int), (0, 2), "mean", **_REAL),
    ],
    "as_strided_scatter": [
        Sample((3, 4), (2, 2), size=(2, 2), stride=(4, 1)), Sample((4,), (), size=(), stride=()),
        Sample((3, 4), (2, 2), size=(2, 2), stride=(1, 4), storage_offset=3),
    ],
    "nonzero_static": [
        Sample(np.array([[1, 0], [3, 4]]), size=4), Sample(np.array([[1, 0], [3, 4]]), size=2), Sample(np.array([0, 2]), size=2, fill_value=7),
    ],
}  # fmt: skip

def _index_reduce(x, dim, index, source, reduce, include_self=True):
    out = np.moveaxis(np.array(x), dim, 0)
    found = out.copy()
    rows = np.moveaxis(source, dim, 0)
    function = {"prod": np.prod, "mean": np.mean, "amax": np.max, "amin": np.min}[reduce]
    for place in set(index.tolist()):
        parts = [rows[i] for i in np.flatnonzero(index == place)]
        found[place] = function([out[place], *parts] if include_self else parts, axis=0)
    return np.moveaxis(found, 0, dim)


def _as_strided_scatter(x, src, size, stride, storage_offset=0):
    flat = x.reshape(-1).copy()
    for place in np.ndindex(*size):
        flat[storage_offset + sum(i * s for i, s in zip(place, stride, strict=True))] = src[place]
    return flat.reshape(x.shape)


def _nonzero_static(x, size, fill_value=-1):
    found = np.full((size, x.ndim), fill_value)
    rows = np.argwhere(x)[:size]
    found[: len(rows)] = rows
    return found


ORACLES = {
    "index_reduce": _index_reduce,
    "as_strided_scatter": _as_strided_scatter,
    "nonzero_static": _nonzero_static,
}
