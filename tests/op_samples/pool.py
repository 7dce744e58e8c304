"""Samples of wengert.ops.pool. The oracles visit the windows one by one."""

from __future__ import annotations

import numpy as np

from op_samples import Data, Sample
from wengert.ops.resampling import averaging_table
from wengert.ops.windows import Windows


def _distinct(*shape: int) -> Data:
    return Data(*shape, distinct=True)


_INDICES = np.array([[[[0, 3], [8, 11]], [[5, 2], [9, 10]]]])
_OVERLAP = Windows((3, 4), (2, 2), (3, 2), (1, 2), (1, 0), (1, 1))
_TAKEN_TWICE = np.array([[[[5, 5], [8, 11]], [[5, 2], [9, 10]]]])

SAMPLES = {
    "max_pool1d": [
        Sample(_distinct(2, 2, 6), 2),
        Sample(_distinct(2, 7), 3, 2, 1),
        Sample(_distinct(2, 7), kernel_size=2, stride=1, dilation=3, return_indices=True),
        Sample(_distinct(0, 2, 6), 2),
    ],
    "max_pool2d": [
        Sample(_distinct(2, 2, 4, 6), 2),
        Sample(_distinct(2, 5, 6), kernel_size=(3, 2), stride=(2, 1), padding=1),
        Sample(_distinct(1, 2, 6, 5), kernel_size=2, dilation=(2, 3), return_indices=True),
        Sample(_distinct(1, 1, 6, 7), 3, 2, 1, ceil_mode=True),
    ],
    "max_pool3d": [Sample(_distinct(1, 2, 3, 4, 3), 2), Sample(_distinct(1, 4, 3, 4), 2, 1, 1, 2, True, True)],
    "max_pool1d_with_indices": [Sample(_distinct(2, 2, 6), 2)],
    "max_pool2d_with_indices": [Sample(_distinct(2, 4, 6), 2)],
    "max_pool3d_with_indices": [Sample(_distinct(1, 3, 4, 3), 2)],
    "_max_values": [Sample(_distinct(1, 2, 3, 4), windows=_OVERLAP), Sample(_distinct(2, 3, 4), windows=_OVERLAP)],
    "_add_at_places": [Sample((1, 2, 2, 2), _TAKEN_TWICE, size=(3, 4))],
    "_at_places": [Sample((1, 2, 3, 4), _TAKEN_TWICE, size=(3, 4))],
    "avg_pool1d": [
        Sample((2, 2, 6), 2),
        Sample((2, 7), 3, 2, 1),
        Sample((2, 7), 3, 2, 1, False, False),
        Sample((0, 2, 6), 2),
    ],
    "avg_pool2d": [
        Sample((2, 2, 4, 6), 2),
        Sample((2, 5, 6), kernel_size=(3, 2), stride=(2, 1), padding=1),
        Sample((2, 5, 6), kernel_size=(3, 2), stride=(2, 1), padding=1, count_include_pad=False),
        Sample((1, 1, 6, 7), 3, 2, 1, ceil_mode=True),
        Sample((1, 1, 6, 7), 3, 2, 1, True, False),
        Sample((1, 1, 4, 5), 2, divisor_override=3),
        Sample((1, 1, 5, 5), 2, 3),
    ],
    "avg_pool3d": [Sample((1, 2, 3, 4, 3), 2), Sample((1, 4, 3, 4), 3, 2, 1, True, False)],
    "_avg_pool_cotangent": [
        Sample((2, 3, 2), windows=_OVERLAP, divisors=4, node="AvgPool2DBackwardBackward0", complex=False),
    ],
    "_resample": [Sample((2, 5), tables=(averaging_table(5, 3),), node="AdaptiveAvgPool2DBackward0")],
    "adaptive_avg_pool1d": [Sample((2, 2, 7), 3), Sample((2, 4), 4), Sample((2, 2, 5), 1)],
    "adaptive_avg_pool2d": [
        Sample((2, 2, 4, 6), 2),
        Sample((2, 5, 7), output_size=(3, None)),
        Sample((2, 2, 4, 5), 1),
        Sample((1, 2, 2, 3), output_size=(3, 5)),
    ],
    "adaptive_avg_pool3d": [Sample((1, 2, 3, 4, 3), 2), Sample((1, 3, 2, 3), 1)],
    "adaptive_max_pool1d": [Sample(_distinct(2, 2, 7), 3), Sample(_distinct(2, 4), 2, True)],
    "adaptive_max_pool2d": [
        Sample(_distinct(2, 2, 4, 6), 2),
        Sample(_distinct(2, 5, 7), output_size=(3, None), return_indices=True),
    ],
    "adaptive_max_pool3d": [Sample(_distinct(1, 2, 3, 4, 3), 2)],
    "adaptive_max_pool1d_with_indices": [Sample(_distinct(2, 2, 7), 3)],
    "adaptive_max_pool2d_with_indices": [Sample(_distinct(2, 4, 6), 2)],
    "adaptive_max_pool3d_with_indices": [Sample(_distinct(1, 3, 4, 3), 2)],
    "lp_pool1d": [Sample(Data(2, 2, 6, low=0.5), 2.0, 2), Sample(Data(2, 7, low=0.5), 3.0, 3, 2)],
    "lp_pool2d": [Sample(Data(2, 4, 6, low=0.5), 2.0, 2), Sample(Data(1, 2, 4, 5, low=0.5), 2.5, kernel_size=(2, 3), stride=1)],
    "lp_pool3d": [Sample(Data(1, 2, 2, 4, 2, low=0.5), 2.0, 2)],
    "max_unpool1d": [Sample((2, 2, 2), np.array([[[0, 3], [1, 2]], [[1, 3], [0, 2]]]), 2)],
    "max_unpool2d": [
        Sample((1, 2, 2, 2), _INDICES, kernel_size=2, output_size=(3, 4)),
        Sample((2, 2, 2), _INDICES[0], kernel_size=2),
    ],
    "max_unpool3d": [Sample((1, 2, 1, 1), np.array([[[[0]], [[11]]]]), kernel_size=(1, 2, 2), stride=(2, 2, 2))],
}


def _many(value: object, dims: int) -> tuple:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * dims


def _windows(dims: int, x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False):
    """(place of the window, per dimension the positions it covers, outside ones included, and where the padding ends)."""
    kernel, padding, dilation = _many(kernel_size, dims), _many(padding, dims), _many(dilation, dims)
    stride = kernel if stride is None else _many(stride, dims)
    count = []
    for n, k, s, p, d in zip(x.shape[-dims:], kernel, stride, padding, dilation):
        room = (n + 2 * p - d * (k - 1) - 1) / s
        m = int(np.ceil(room) if ceil_mode else np.floor(room)) + 1
        count.append(m - 1 if (m - 1) * s >= n + p else m)
    found = []
    for place in np.ndindex(*count):
        rows = zip(place, kernel, stride, padding, dilation)
        found.append((place, [np.arange(k) * d + i * s - p for i, k, s, p, d in rows]))
    return count, found


def _inside(positions, shape):
    return [a[(a >= 0) & (a < n)] for a, n in zip(positions, shape)]


def _max_pool(dims: int, always: bool = False):
    def oracle(x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=always):
        count, windows = _windows(dims, x, kernel_size, stride, padding, dilation, ceil_mode)
        lead, size = x.shape[:-dims], x.shape[-dims:]
        out, indices = np.zeros((*lead, *count), x.dtype), np.zeros((*lead, *count), np.int64)
        for place, positions in windows:
            mesh = np.meshgrid(*_inside(positions, size), indexing="ij")
            values = x[(..., *mesh)].reshape(*lead, mesh[0].size)
            chosen = values.argmax(axis=-1)
            out[(..., *place)] = np.take_along_axis(values, chosen[..., None], -1)[..., 0]
            indices[(..., *place)] = np.ravel_multi_index(mesh, size).reshape(-1)[chosen]
        return (out, indices) if return_indices or always else out

    return oracle


def _avg_pool(dims: int):
    def oracle(x, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
        count, windows = _windows(dims, x, kernel_size, stride, padding, 1, ceil_mode)
        size = x.shape[-dims:]
        out = np.zeros((*x.shape[:-dims], *count), x.dtype)
        for place, positions in windows:
            counted = [a[a < n + p] for a, n, p in zip(positions, size, _many(padding, dims))]
            inside = _inside(positions, size)
            n = np.prod([len(a) for a in (counted if count_include_pad else inside)])
            total = x[(..., *np.ix_(*inside))].sum(axis=tuple(range(-dims, 0)))
            out[(..., *place)] = total / (divisor_override or n)
        return out

    return oracle


def _lp_pool(dims: int):
    def oracle(x, norm_type, kernel_size, stride=None):
        count, windows = _windows(dims, x, kernel_size, stride)
        out = np.zeros((*x.shape[:-dims], *count), x.dtype)
        for place, positions in windows:
            part = x[(..., *np.ix_(*positions))]
            out[(..., *place)] = (part**norm_type).sum(axis=tuple(range(-dims, 0))) ** (1 / norm_type)
        return out

    return oracle


def _stretches(dims: int, x, output_size):
    size = [n if m is None else m for m, n in zip(_many(output_size, dims), x.shape[-dims:])]
    for place in np.ndindex(*size):
        rows = zip(place, x.shape[-dims:], size)
        yield size, place, [np.arange(int(np.floor(i * n / m)), int(np.ceil((i + 1) * n / m))) for i, n, m in rows]


def _adaptive_average(dims: int):
    def oracle(x, output_size):
        out = None
        for size, place, positions in _stretches(dims, x, output_size):
            out = np.zeros((*x.shape[:-dims], *size), x.dtype) if out is None else out
            out[(..., *place)] = x[(..., *np.ix_(*positions))].mean(axis=tuple(range(-dims, 0)))
        return out

    return oracle


def _adaptive_max(dims: int, always: bool = False):
    def oracle(x, output_size, return_indices=always):
        out = indices = None
        for size, place, positions in _stretches(dims, x, output_size):
            shape = (*x.shape[:-dims], *size)
            out, indices = (np.zeros(shape, x.dtype), np.zeros(shape, np.int64)) if out is None else (out, indices)
            mesh = np.meshgrid(*positions, indexing="ij")
            values = x[(..., *mesh)].reshape(*x.shape[:-dims], mesh[0].size)
            chosen = values.argmax(axis=-1)
            out[(..., *place)] = values.max(axis=-1)
            indices[(..., *place)] = np.ravel_multi_index(mesh, x.shape[-dims:]).reshape(-1)[chosen]
        return (out, indices) if return_indices else out

    return oracle


def _unpool(dims: int):
    def oracle(x, indices, kernel_size, stride=None, padding=0, output_size=None):
        kernel = _many(kernel_size, dims)
        stride = kernel if stride is None else _many(stride, dims)
        size = output_size or [(n - 1) * s + k for n, s, k in zip(x.shape[-dims:], stride, kernel)]
        out = np.zeros((*x.shape[:-dims], int(np.prod(size))), x.dtype)
        flat = (*x.shape[:-dims], -1)
        np.put_along_axis(out, indices.reshape(flat), x.reshape(flat), -1)
        return out.reshape(*x.shape[:-dims], *size)

    return oracle


ORACLES = {}
for _dims in (1, 2, 3):
    ORACLES |= {
        f"max_pool{_dims}d": _max_pool(_dims),
        f"max_pool{_dims}d_with_indices": _max_pool(_dims, True),
        f"avg_pool{_dims}d": _avg_pool(_dims),
        f"lp_pool{_dims}d": _lp_pool(_dims),
        f"adaptive_avg_pool{_dims}d": _adaptive_average(_dims),
        f"adaptive_max_pool{_dims}d": _adaptive_max(_dims),
        f"adaptive_max_pool{_dims}d_with_indices": _adaptive_max(_dims, True),
        f"max_unpool{_dims}d": _unpool(_dims),
    }
