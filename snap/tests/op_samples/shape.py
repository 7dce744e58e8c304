"""Samples of wengert.ops.shape, strided and rearrange."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from op_samples import Sample

_X = (2, 3, 4)
_REPEATS = np.array([1, 0, 3])




def _flatten(x: np.ndarray, start_dim: int = 0, end_dim: int = -1) -> np.ndarray:
    shape = x.shape or (1,)
    first, last = range(len(shape))[start_dim], range(len(shape))[end_dim]
    return x.reshape(*shape[:first], prod(shape[first : last + 1]), *shape[last + 1 :])


def _unflatten(x: np.ndarray, dim: int, sizes: Any) -> np.ndarray:
    dim = range(x.ndim)[dim]
    return x.reshape(*x.shape[:dim], *sizes, *x.shape[dim + 1 :])


def _expand(x: np.ndarray, size: Any) -> np.ndarray:
    added = len(size) - x.ndim
    return np.broadcast_to(x, [x.shape[i - added] if n == -1 else n for i, n in enumerate(size)])


def _squeeze(x: np.ndarray, dim: Any = None) -> np.ndarray:
    dims = range(x.ndim) if dim is None else dim if isinstance(dim, tuple) else (dim,)
    keep = [n for i, n in enumerate(x.shape) if n != 1 or i not in [d % x.ndim for d in dims]]
    return x.reshape(keep)


def _sum_to_size(x: np.ndarray, size: Any) -> np.ndarray:
    added = x.ndim - len(size)
    axes = tuple(i for i in range(x.ndim) if i < added or (size[i - added] == 1 and x.shape[i] != 1))
    return x.sum(axis=axes).reshape(size)


def _unbind(x: np.ndarray, dim: int = 0) -> list[np.ndarray]:
    return [np.take(x, i, axis=dim) for i in range(x.shape[dim])]


def _diagonal(x: np.ndarray, offset: int = 0, dim1: int = 0, dim2: int = 1) -> np.ndarray:
    return np.diagonal(x, offset, dim1, dim2)


def _unfold(x: np.ndarray, dimension: int, size: int, step: int) -> np.ndarray:
    if not x.ndim:
        return x.reshape(1)[:size]
    dimension %= x.ndim
    windows = np.lib.stride_tricks.sliding_window_view(x, size, axis=dimension)
    return np.take(windows, range(0, windows.shape[dimension], step), axis=dimension)


def _as_strided(x: np.ndarray, size: Any, stride: Any, storage_offset: int = 0) -> np.ndarray:
    result = np.empty(size, x.dtype)
    for place in np.ndindex(*size):
        result[place] = x.ravel()[storage_offset + sum(i * s for i, s in zip(place, stride, strict=True))]
    return result


def _roll(x: np.ndarray, shifts: Any, dims: Any = None) -> np.ndarray:
    return np.roll(x, shifts, axis=dims)


def _repeat_interleave(x: np.ndarray, repeats: Any = None, dim: Any = None) -> np.ndarray:
    return np.repeat(np.arange(x.size), x) if repeats is None else np.repeat(x, repeats, axis=dim)


def _diag_embed(x: np.ndarray, offset: int = 0, dim1: int = -2, dim2: int = -1) -> np.ndarray:
    rows = np.array([np.diag(row, offset) for row in x.reshape(-1, x.shape[-1])])
    return np.moveaxis(rows.reshape(*x.shape[:-1], *rows.shape[-2:]), (-2, -1), (dim1, dim2))




SAMPLES = {
    # shape.py
    "view": [Sample(_X, size=(6, 4)), Sample(_X, size=(-1,)), Sample((), size=(1, 1)), Sample((0, 3), size=(3, 0))],
    "reshape": [
        Sample(_X, shape=(4, -1)), Sample(_X, shape=(24,)), Sample((), shape=(1,)), Sample((1, 1), shape=()),
        Sample((0, 3), shape=(0, 5)),
    ],
    "flatten": [
        Sample(_X), Sample(_X, start_dim=1), Sample(_X, start_dim=-3, end_dim=-2), Sample(()), Sample((3,)), Sample((0, 3)),
    ],
    "ravel": [Sample(_X), Sample(()), Sample((0, 3))],
    "unflatten": [Sample((2, 12), dim=1, sizes=(3, 4)), Sample((12, 2), dim=-2, sizes=(2, -1))],
    "view_as": [Sample(_X, np.zeros((6, 4)))],
    "reshape_as": [Sample(_X, np.zeros((6, 4)))],
    "contiguous": [Sample(_X), Sample(())],
    "transpose": [Sample(_X, dim0=0, dim1=1), Sample(_X, dim0=-1, dim1=0), Sample((), dim0=0, dim1=-1)],
    "swapaxes": [Sample(_X, axis0=0, axis1=1)],
    "swapdims": [Sample(_X, dim0=2, dim1=1)],
    "t": [Sample((2, 3)), Sample((3,)), Sample(())],
    "adjoint": [Sample((2, 3)), Sample(_X)],
    "permute": [Sample(_X, dims=(2, 0, 1)), Sample(_X, dims=(-1, 1, 0)), Sample((), dims=())],
    "movedim": [Sample(_X, source=0, destination=2), Sample(_X, source=(0, 1), destination=(-1, 0))],
    "unsqueeze": [Sample((2, 3), dim=0), Sample((2, 3), dim=-1), Sample((), dim=0)],
    "squeeze": [
        Sample((1, 3, 1)), Sample((1, 3, 1), dim=0), Sample((1, 3, 1), dim=1), Sample((1, 3, 1), dim=(0, -1)), Sample(()),
    ],
    "expand": [
        Sample((3, 1), size=(3, 4)), Sample((3, 1), size=(2, -1, 4)), Sample((3, 1), size=(3, 1)), Sample((), size=(2, 3)),
        Sample((1, 3), size=(0, 3)), Sample((3,), size=(2, 3)),
    ],
    "expand_as": [Sample((3, 1), np.zeros((2, 3, 4)))],
    "broadcast_to": [Sample((3, 1), size=(2, 3, 4))],
    "broadcast_tensors": [Sample((3, 1), (4,)), Sample((2, 3), (1, 3), ())],
    "sum_to_size": [
        Sample(_X, size=(3, 4)), Sample(_X, size=(1, 1, 4)), Sample(_X, size=()), Sample((2, 3), size=(2, 3)),
        Sample((0, 3), size=(1, 3)),
    ],
    "atleast_1d": [Sample(()), Sample((2, 3)), Sample((), (3,))],
    "atleast_2d": [Sample(()), Sample((3,)), Sample((2, 3))],
    "atleast_3d": [Sample(()), Sample((3,)), Sample((2, 3)), Sample(_X)],
    "unbind": [Sample((2, 3)), Sample((2, 3), dim=1), Sample((3,), dim=-1), Sample((1, 3))],
    # strided.py
    "diagonal": [
        Sample((3, 4)), Sample((3, 4), offset=1), Sample((3, 4), offset=-1), Sample(_X, offset=1, dim1=2, dim2=0),
        Sample(_X, dim1=1, dim2=2), Sample((2, 2), offset=5),
    ],
    "diagonal_copy": [Sample((3, 4), offset=1), Sample(_X, dim1=-1, dim2=0)],
    "unfold": [
        Sample((5,), dimension=0, size=3, step=1), Sample((2, 5), dimension=1, size=2, step=2),
        Sample((4, 3), dimension=0, size=2, step=1), Sample((5,), dimension=-1, size=1, step=3),
        Sample((), dimension=0, size=1, step=1),
    ],
    "as_strided": [
        Sample((3, 4), size=(2, 3), stride=(4, 1)), Sample((12,), size=(4, 3), stride=(2, 1), storage_offset=1),
        Sample((3,), size=(), stride=()),
    ],
    # rearrange.py
    "flip": [Sample((2, 3), dims=(0,)), Sample((2, 3), dims=(0, -1)), Sample((3,), dims=0), Sample((), dims=())],
    "fliplr": [Sample((2, 3))],
    "flipud": [Sample((2, 3))],
    "roll": [
        Sample((2, 3), shifts=1), Sample((2, 3), shifts=-1, dims=1), Sample((2, 3), shifts=(1, 2), dims=(0, 1)),
        Sample((), shifts=1),
    ],
    "rot90": [Sample((2, 3)), Sample(_X, k=2, dims=(1, 2)), Sample((2, 3), k=-1, dims=(1, 0)), Sample((2, 3), k=0)],
    "repeat": [
        Sample((2, 3), repeats=(2, 1)), Sample((2, 3), repeats=(2, 1, 3)), Sample((3,), repeats=(1,)), Sample((), repeats=(2,)),
        Sample((2, 3), repeats=(0, 1)),
    ],
    "tile": [Sample((2, 3), dims=(2,)), Sample((2, 3), dims=(2, 1, 2)), Sample((), dims=())],
    "repeat_interleave": [
        Sample((2, 3), repeats=2), Sample((2, 3), repeats=2, dim=1), Sample((2, 3), repeats=_REPEATS, dim=1),
        Sample((2, 3), repeats=np.array([2]), dim=0), Sample(_REPEATS),
    ],
    "diag_embed": [Sample((3,)), Sample((2, 3), offset=1), Sample((2, 3), offset=-1, dim1=0, dim2=2)],
    "diag": [Sample((3,)), Sample((3,), diagonal=1), Sample((3, 4)), Sample((3, 4), diagonal=-1)],
    "diagflat": [Sample((2, 2)), Sample((3,), offset=-1)],
    "tril": [Sample((3, 4)), Sample((3, 4), diagonal=1), Sample((2, 3, 3), diagonal=-1)],
    "triu": [Sample((3, 4)), Sample((3, 4), diagonal=-1), Sample((2, 3, 3), diagonal=1)],
}  # fmt: skip

ORACLES = {
    "view": lambda x, size: x.reshape(size),
    "reshape": lambda x, shape: x.reshape(shape),
    "flatten": _flatten,
    "ravel": lambda x: x.ravel(),
    "unflatten": _unflatten,
    "view_as": lambda x, other: x.reshape(other.shape),
    "reshape_as": lambda x, other: x.reshape(other.shape),
    "contiguous": lambda x: x,
    "transpose": lambda x, dim0, dim1: np.swapaxes(x, dim0, dim1) if x.ndim else x,
    "swapaxes": lambda x, axis0, axis1: np.swapaxes(x, axis0, axis1),
    "swapdims": lambda x, dim0, dim1: np.swapaxes(x, dim0, dim1),
    "t": lambda x: x.T,
    "adjoint": lambda x: np.swapaxes(x, -1, -2).conj(),
    "permute": lambda x, dims: np.transpose(x, dims),
    "movedim": np.moveaxis,
    "unsqueeze": lambda x, dim: np.expand_dims(x, dim),
    "squeeze": _squeeze,
    "expand": _expand,
    "expand_as": lambda x, other: np.broadcast_to(x, other.shape),
    "broadcast_to": lambda x, size: np.broadcast_to(x, size),
    "broadcast_tensors": np.broadcast_arrays,
    "sum_to_size": _sum_to_size,
    "unbind": _unbind,
    "diagonal": _diagonal,
    "diagonal_copy": _diagonal,
    "unfold": _unfold,
    "as_strided": _as_strided,
    "flip": lambda x, dims: np.flip(x, dims),
    "roll": _roll,
    "rot90": lambda x, k=1, dims=(0, 1): np.rot90(x, k, dims),
    "repeat": lambda x, repeats: np.tile(x, repeats).reshape([n * r for n, r in zip((1,) * (len(repeats) - x.ndim) + x.shape, repeats, strict=True)]),
    "tile": lambda x, dims: np.tile(x, dims),
    "repeat_interleave": _repeat_interleave,
    "diag_embed": _diag_embed,
    "diag": lambda x, diagonal=0: np.diag(x, diagonal),
    "diagflat": lambda x, offset=0: np.diagflat(x, offset),
    "tril": lambda x, diagonal=0: np.tril(x, diagonal),
    "triu": lambda x, diagonal=0: np.triu(x, diagonal),
}
