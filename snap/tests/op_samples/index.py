"""Samples of wengert.ops.index, gather, scatter and masks."""

from __future__ import annotations

from typing import Any

import numpy as np
from op_samples import Sample

_X = (3, 4)
_ROWS = np.array([0, 2])
_AGAIN = np.array([2, 0, 2])
_PLACES = np.array([[0, 2, 1], [2, 2, 0]])  # for gather and scatter along dim 0 of a 3 x 4
_ONCE = np.array([[0, 2, 1, 0], [1, 0, 2, 2]])  # as above, no place twice
_MASK = np.array([[True, False, True, False], [False, False, True, True], [False, True, False, False]])
_COLUMNS = np.array([True, False, True, True])


def _mesh(index: np.ndarray, dim: int) -> tuple:
    grid = np.indices(index.shape)
    return (*grid[:dim], index, *grid[dim + 1 :])


def _written(x: np.ndarray, where: Any, values: Any, add: bool = False) -> np.ndarray:
    result = x.copy()
    if add:
        np.add.at(result, where, values)
    else:
        result[where] = values
    return result


def _scatter(x: np.ndarray, dim: int, index: np.ndarray, src: Any, reduce: Any = None) -> np.ndarray:
    part = src[tuple([slice(n) for n in index.shape])] if src.ndim == index.ndim else src
    return _written(x, _mesh(index, dim), part, reduce == "add")


def _along(dim: int, index: np.ndarray) -> tuple:
    return (*[slice(None)] * dim, index)


def _masked_scatter(x: np.ndarray, mask: np.ndarray, source: np.ndarray) -> np.ndarray:
    shape = np.broadcast_shapes(x.shape, mask.shape)
    where = np.broadcast_to(mask, shape)
    return _written(np.broadcast_to(x, shape), where, source.ravel()[: where.sum()])


def _masked_select(x: np.ndarray, mask: np.ndarray) -> np.ndarray:
    x, mask = np.broadcast_arrays(x, mask)
    return x[mask]


def _nonzero(x: np.ndarray, as_tuple: bool = False) -> Any:
    return np.nonzero(x) if as_tuple else np.argwhere(x)


def _put(x: np.ndarray, index: np.ndarray, source: np.ndarray, accumulate: bool = False) -> np.ndarray:
    return _written(x.ravel(), index, source, accumulate).reshape(x.shape)


def _diagonal_scatter(x: np.ndarray, src: np.ndarray, offset: int = 0, dim1: int = 0, dim2: int = 1) -> np.ndarray:
    result = np.moveaxis(x.copy(), (dim1, dim2), (-2, -1))
    for place in np.ndindex(src.shape[:-1]):
        for i in range(src.shape[-1]):
            result[(*place, i + max(-offset, 0), i + max(offset, 0))] = src[(*place, i)]
    return np.moveaxis(result, (-2, -1), (dim1, dim2))


_SCATTERED = [
    Sample(_X, 0, _ONCE, (2, 4)), Sample(_X, 1, _ROWS.reshape(2, 1), (3, 2)), Sample((4,), 0, _ROWS, (2,)),
    Sample((), 0, np.array(0), ()),
]  # fmt: skip

SAMPLES = {
    # index.py
    "__getitem__": [
        Sample(_X, 1), Sample(_X, -1), Sample((4,), 2), Sample(_X, slice(1, 3)), Sample(_X, slice(None, None, 2)),
        Sample(_X, None), Sample(_X, Ellipsis), Sample(_X, _ROWS), Sample(_X, _AGAIN), Sample(_X, _MASK),
        Sample(_X, np.array([True, False, True])), Sample(_X, slice(3, 3)), Sample((), None), Sample((), Ellipsis),
        Sample(_X, np.array(-1)), Sample(_X, np.zeros((0,), np.int64)), Sample((0, 3), slice(0, 5)), Sample(_X, _AGAIN - 3),
    ],
    "select": [Sample(_X, dim=0, index=1), Sample(_X, dim=-1, index=-2)],
    "narrow": [Sample(_X, dim=0, start=1, length=2), Sample(_X, dim=1, start=-3, length=1), Sample(_X, dim=1, start=4, length=0)],
    "index_put": [
        Sample(_X, [_ROWS], (4,)), Sample(_X, [_ROWS, _ROWS], ()), Sample(_X, [_AGAIN], (3, 4), accumulate=True),
        Sample(_X, [_AGAIN, _AGAIN], (), accumulate=True), Sample(_X, [_MASK], ()), Sample(_X, [_MASK], (5,)),
        Sample(_X, [_MASK], (), accumulate=True), Sample(_X, [_ROWS], (1, 4)),
    ],
    # gather.py
    "index_select": [
        Sample(_X, dim=0, index=_AGAIN), Sample(_X, dim=-1, index=_ROWS), Sample((3,), dim=0, index=np.array(1)),
        Sample((), dim=0, index=np.array([0])), Sample(_X, dim=0, index=np.array([], np.int64)),
    ],
    "gather": [
        Sample(_X, dim=0, index=_PLACES), Sample(_X, dim=1, index=_PLACES), Sample((4,), dim=0, index=_AGAIN),
        Sample((), dim=0, index=np.array(0)), Sample((), dim=0, index=np.array([0, 0])), Sample((2, 3, 4), dim=-1, index=_PLACES[:, None]),
    ],
    "take_along_dim": [
        Sample(_X, indices=np.array([[0, 3], [1, 1], [2, 0]]), dim=1), Sample(_X, indices=_AGAIN),
        Sample(_X, indices=np.array([[2, 0, 1, 1]]), dim=0), Sample(_X, indices=np.array([[2, 0]]), dim=1),
    ],
    "take": [Sample(_X, index=np.array([[0, 11], [-1, 0]])), Sample((), index=np.array([0, 0])), Sample((3,), index=np.array(1))],
    "nonzero": [Sample(_MASK * 2.0), Sample(_MASK, as_tuple=True), Sample(np.array(3)), Sample(np.zeros((2, 0)))],
    "argwhere": [Sample(_MASK * 2.0)],
    # masks.py
    "masked_fill": [
        Sample(_X, _MASK, 2.5), Sample(_X, _MASK, ()), Sample(_X, _COLUMNS, ()), Sample((4,), _MASK, ()), Sample((), np.array(True), 1),
        Sample((0, 4), _COLUMNS, 1.0),
    ],
    "masked_select": [
        Sample(_X, mask=_MASK), Sample(_X, mask=_COLUMNS), Sample((4,), mask=_MASK), Sample((3, 1), mask=_MASK),
        Sample((), mask=_COLUMNS), Sample((), mask=np.array(True)), Sample(_X, mask=np.zeros((3, 4), bool)),
    ],
    "masked_scatter": [
        Sample(_X, _MASK, (5,)), Sample(_X, _MASK, (2, 4)), Sample(_X, _COLUMNS, (3, 4)), Sample((4,), _MASK, (5,)),
    ],
    # scatter.py
    "scatter": [
        *_SCATTERED, Sample(_X, 0, _ONCE, (3, 4)), Sample(_X, 0, _PLACES, 2.5), Sample(_X, 0, _PLACES, (2, 3), reduce="add"),
    ],
    "scatter_add": [*_SCATTERED, Sample(_X, 0, _PLACES, (2, 3)), Sample(_X, 1, _PLACES, (3, 4))],
    "index_add": [
        Sample(_X, 0, _AGAIN, (3, 4)), Sample(_X, 1, _ROWS, (3, 2), alpha=2), Sample((), 0, np.array(0), ()),
        Sample((4,), 0, np.array(1), ()),
    ],
    "index_copy": [
        Sample(_X, 0, _ROWS, (2, 4)), Sample(_X, -1, _ROWS, (3, 2)), Sample((4,), 0, np.array(1), ()),
    ],
    "index_fill": [Sample(_X, 0, _AGAIN, 2.5), Sample(_X, 1, _AGAIN - 3, ()), Sample((), 0, np.array(0), ())],
    "put": [
        Sample(_X, np.array([0, 11, -2]), (3,)), Sample(_X, np.array([[0, 3], [0, -1]]), (4,), accumulate=True),
        Sample((), np.array(0), ()),
    ],
    "select_scatter": [Sample(_X, (4,), dim=0, index=1), Sample(_X, (3,), dim=-1, index=-1)],
    "slice_scatter": [Sample(_X, (2, 4), dim=0, start=1), Sample(_X, (3, 2), dim=1, start=0, end=-1, step=2), Sample(_X, _X)],
    "diagonal_scatter": [
        Sample(_X, (3,)), Sample(_X, (2,), offset=-1), Sample((2, 3, 3), (2, 3), dim1=1, dim2=2),
        Sample((3, 2, 3), (2, 2), offset=1, dim1=2, dim2=0),
    ],
}  # fmt: skip

ORACLES = {
    "__getitem__": lambda x, index: x[int(index) if isinstance(index, np.ndarray) and index.shape == () else index],
    "select": lambda x, dim, index: np.take(x, index, axis=dim),
    "narrow": lambda x, dim, start, length: np.take(x, np.arange(start, start + length), axis=dim, mode="wrap"),
    "index_put": lambda x, indices, values, accumulate=False: _written(x, tuple(indices), values, accumulate),
    "index_select": lambda x, dim, index: np.take(x, index.reshape(-1), axis=dim) if x.ndim else x,
    "gather": lambda x, dim, index: np.atleast_1d(x)[_mesh(np.atleast_1d(index), dim % (x.ndim or 1))].reshape(index.shape),
    "take_along_dim": lambda x, indices, dim=None: np.take_along_axis(x, indices, dim),
    "take": lambda x, index: np.take(x, index),
    "nonzero": _nonzero,
    "masked_fill": lambda x, mask, value: np.where(mask, value, x),
    "masked_select": _masked_select,
    "masked_scatter": _masked_scatter,
    "scatter": lambda x, dim, index, src, reduce=None: (
        _scatter(np.atleast_1d(x), dim, np.atleast_1d(index), np.atleast_1d(src), reduce).reshape(x.shape)
    ),
    "scatter_add": lambda x, dim, index, src: (
        _scatter(np.atleast_1d(x), dim, np.atleast_1d(index), np.atleast_1d(src), "add").reshape(x.shape)
    ),
    "index_add": lambda x, dim, index, source, alpha=1: (
        _written(np.atleast_1d(x), _along(dim, index), alpha * source, True).reshape(x.shape)
    ),
    "index_copy": lambda x, dim, index, source: _written(x, _along(dim % x.ndim, index), source),
    "index_fill": lambda x, dim, index, value: _written(np.atleast_1d(x), _along(dim, index), value).reshape(x.shape),
    "put": lambda x, index, source, accumulate=False: _put(x, index.ravel(), source.ravel(), accumulate),
    "select_scatter": lambda x, src, dim, index: _written(x, _along(dim % x.ndim, np.array(index)), src),
    "slice_scatter": lambda x, src, dim=0, start=None, end=None, step=1: _written(x, _along(dim, slice(start, end, step)), src),
    "diagonal_scatter": _diagonal_scatter,
}
