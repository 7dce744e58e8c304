"""Samples of wengert.ops.index, gather, scatter, masks and sorting."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np

from op_samples import Data, Sample

_X = (3, 4)
_ROWS = np.array([0, 2])
_AGAIN = np.array([2, 0, 2])
_PLACES = np.array([[0, 2, 1], [2, 2, 0]])  # for gather and scatter along dim 0 of a 3 x 4
_ONCE = np.array([[0, 2, 1, 0], [1, 0, 2, 2]])  # as above, no place twice
_MASK = np.array([[True, False, True, False], [False, False, True, True], [False, True, False, False]])
_REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")
_COLUMNS = np.array([True, False, True, True])


def _distinct(*shape: int) -> Data:
    return Data(*shape, distinct=True)


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


def _scatter_reduce(
    x: np.ndarray, dim: int, index: np.ndarray, src: np.ndarray, reduce: str, include_self: bool = True
) -> np.ndarray:
    combine = {"sum": np.sum, "prod": np.prod, "mean": np.mean, "amax": np.max, "amin": np.min}[reduce]
    result = np.atleast_1d(x.copy())
    met: dict[tuple, list] = {}
    for place, target in np.ndenumerate(np.atleast_1d(index)):
        there = (*place[:dim], int(target), *place[dim + 1 :])
        met.setdefault(there, [result[there]] if include_self else []).append(np.atleast_1d(src)[place])
    for there, values in met.items():
        result[there] = combine(values)
    return result.reshape(x.shape)


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
        Sample(_X, np.array(-1)), Sample(_X, np.zeros((0,), np.int64)), Sample((0, 3), slice(0, 5)),
        Sample(_X, _AGAIN - 3),
    ],
    "select": [Sample(_X, dim=0, index=1), Sample(_X, dim=-1, index=-2)],
    "narrow": [
        Sample(_X, dim=0, start=1, length=2), Sample(_X, dim=1, start=-3, length=1),
        Sample(_X, dim=1, start=4, length=0),
    ],
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
        Sample((), dim=0, index=np.array(0)), Sample((), dim=0, index=np.array([0, 0])),
        Sample((2, 3, 4), dim=-1, index=_PLACES[:, None]),
    ],
    "take_along_dim": [
        Sample(_X, indices=np.array([[0, 3], [1, 1], [2, 0]]), dim=1), Sample(_X, indices=_AGAIN),
        Sample(_X, indices=np.array([[2, 0, 1, 1]]), dim=0), Sample(_X, indices=np.array([[2, 0]]), dim=1),
    ],
    "take": [
        Sample(_X, index=np.array([[0, 11], [-1, 0]])), Sample((), index=np.array([0, 0])),
        Sample((3,), index=np.array(1)),
    ],
    "nonzero": [Sample(_MASK * 2.0), Sample(_MASK, as_tuple=True), Sample(np.array(3)), Sample(np.zeros((2, 0)))],
    "argwhere": [Sample(_MASK * 2.0)],
    # masks.py
    "masked_fill": [
        Sample(_X, _MASK, 2.5), Sample(_X, _MASK, ()), Sample(_X, _COLUMNS, ()), Sample((4,), _MASK, ()),
        Sample((), np.array(True), 1),
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
        *_SCATTERED, Sample(_X, 0, _ONCE, (3, 4)), Sample(_X, 0, _PLACES, 2.5),
    ],
    "scatter_reduce": [
        *[Sample(_X, 0, _PLACES, _distinct(2, 3), reduce, complex=False) for reduce in _REDUCTIONS],
        *[
            Sample(_distinct(3, 4), 1, _PLACES, _distinct(3, 4), reduce, include_self=False, complex=False)
            for reduce in _REDUCTIONS
        ],
        *[Sample((), 0, np.array(0), (), reduce, complex=False) for reduce in _REDUCTIONS],
        Sample((), 0, np.array(0), (), "prod"),
    ],
    "scatter_add": [*_SCATTERED, Sample(_X, 0, _PLACES, (2, 3)), Sample(_X, 1, _PLACES, (3, 4))],
    "index_add": [
        Sample(_X, 0, _AGAIN, (3, 4)), Sample(_X, 1, _ROWS, (3, 2), alpha=2), Sample((), 0, np.array(0), ()),
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
    "slice_scatter": [
        Sample(_X, (2, 4), dim=0, start=1), Sample(_X, (3, 2), dim=1, start=0, end=-1, step=2), Sample(_X, _X),
    ],
    # sorting.py
    "sort": [
        Sample(_distinct(3, 4)), Sample(_distinct(3, 4), dim=0, descending=True), Sample(_distinct(4), stable=True),
        Sample(()), Sample((0, 3), dim=0), Sample(np.array([[2.0, 1.0, 2.0, 1.0]]), dim=1, descending=True),
    ],
    "msort": [Sample(_distinct(3, 4))],
    "argsort": [Sample(_distinct(3, 4)), Sample(_distinct(3, 4), dim=0, descending=True), Sample(())],
    "topk": [
        Sample(_distinct(3, 4), k=2), Sample(_distinct(3, 4), k=1, dim=0, largest=False), Sample(_distinct(4), k=0),
        Sample((), k=1), Sample(_distinct(2, 1500), k=3), Sample(_distinct(1500), k=3, largest=False),
    ],
    "kthvalue": [
        Sample(_distinct(3, 4), k=2), Sample(_distinct(3, 4), k=3, dim=0), Sample(_distinct(4), k=1, keepdim=True),
        Sample((), k=1),
    ],
    "searchsorted": [
        Sample(np.array([1.0, 2.0, 4.0]), np.array([[2.0, 5.0], [0.0, 3.0]])),
        Sample(np.array([1, 2, 4]), 2, right=True),
        Sample(np.array([[1.0, 2.0], [0.0, 5.0]]), np.array([[2.0], [3.0]]), side="right"),
    ],
    "bucketize": [
        Sample(np.array([2.0, 5.0]), np.array([1.0, 2.0, 4.0])), Sample(2.0, np.array([1.0, 2.0]), right=True),
    ],
    "unique": [
        Sample(np.array([[3, 1], [3, 2]])), Sample(np.array([3, 1, 3]), return_inverse=True, return_counts=True),
        Sample(np.array([[3, 1], [3, 1]]), dim=0),
    ],
    "unique_consecutive": [Sample(np.array([1, 1, 2, 1])), Sample(np.array([1, 1, 2, 1]), return_counts=True)],
    "isin": [Sample(np.array([[1, 2], [3, 4]]), np.array([2, 3])), Sample(np.array([1, 2]), 2, invert=True)],
    "bincount": [Sample(np.array([1, 1, 3])), Sample(np.array([0, 2]), np.array([0.5, 1.5]), minlength=4)],
    "unravel_index": [Sample(np.array([5, 2]), shape=(2, 3))],
    "numel": [Sample((2, 3)), Sample(())],
    # scatter.py
    "diagonal_scatter": [
        Sample(_X, (3,)), Sample(_X, (2,), offset=-1), Sample((2, 3, 3), (2, 3), dim1=1, dim2=2),
        Sample((3, 2, 3), (2, 2), offset=1, dim1=2, dim2=0),
    ],
}  # fmt: skip

def _sort(x: np.ndarray, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    if not x.ndim:
        return x, np.array(0)
    rows = np.moveaxis(x, dim, -1)
    order = np.zeros(rows.shape, np.int64)
    for place in np.ndindex(*rows.shape[:-1]):
        row = -rows[place] if descending else rows[place]
        order[place] = sorted(range(len(row)), key=row.__getitem__)  # which keeps equal elements in order
    indices = np.moveaxis(order, -1, dim)
    return np.take_along_axis(x, indices, dim), indices


def _topk(x: np.ndarray, k: int, dim: int = -1, largest: bool = True) -> Any:
    values, indices = _sort(x, dim, largest)
    return (values, indices) if not x.ndim else [np.take(a, range(k), axis=dim) for a in (values, indices)]


def _kthvalue(x: np.ndarray, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    found = _sort(x, dim)
    return found if not x.ndim else [np.take(a, [k - 1] if keepdim else k - 1, axis=dim) for a in found]


def _searchsorted(edges: np.ndarray, values: Any, right: bool = False, side: str = "left") -> np.ndarray:
    values = np.asarray(values)
    rows = edges.reshape(-1, edges.shape[-1])
    found = np.zeros(values.shape, np.int64)
    for place in np.ndindex(*values.shape):
        row = rows[place[0] if edges.ndim > 1 else 0]
        found[place] = (row <= values[place]).sum() if right or side == "right" else (row < values[place]).sum()
    return found


def _unique(x: np.ndarray, return_inverse: bool = False, return_counts: bool = False, dim: Any = None) -> Any:
    return np.unique(x, return_inverse=return_inverse, return_counts=return_counts, axis=dim)


def _unique_consecutive(x: np.ndarray, return_counts: bool = False) -> Any:
    runs = [(value, len(list(run))) for value, run in groupby(x)]
    return [np.array(a) for a in zip(*runs, strict=True)] if return_counts else np.array([value for value, _ in runs])


ORACLES = {
    "sort": _sort,
    "msort": lambda x: np.sort(x, axis=0),
    "argsort": lambda x, dim=-1, descending=False: _sort(x, dim, descending)[1],
    "topk": _topk,
    "kthvalue": _kthvalue,
    "searchsorted": _searchsorted,
    "bucketize": lambda x, edges, right=False: _searchsorted(edges, x, right),
    "unique": _unique,
    "unique_consecutive": _unique_consecutive,
    "isin": lambda x, test, invert=False: np.isin(x, test, invert=invert),
    "bincount": lambda x, weights=None, minlength=0: np.bincount(x, weights, minlength),
    "unravel_index": lambda x, shape: np.unravel_index(x, shape),
    "numel": lambda x: np.array(x.size),
    "__getitem__": lambda x, index: x[int(index) if isinstance(index, np.ndarray) and index.shape == () else index],
    "select": lambda x, dim, index: np.take(x, index, axis=dim),
    "narrow": lambda x, dim, start, length: np.take(x, np.arange(start, start + length), axis=dim, mode="wrap"),
    "index_put": lambda x, indices, values, accumulate=False: _written(x, tuple(indices), values, accumulate),
    "index_select": lambda x, dim, index: np.take(x, index.reshape(-1), axis=dim) if x.ndim else x,
    "gather": lambda x, dim, index: np.atleast_1d(x)[_mesh(np.atleast_1d(index), dim % (x.ndim or 1))].reshape(
        index.shape
    ),
    "take_along_dim": lambda x, indices, dim=None: np.take_along_axis(x, indices, dim),
    "take": lambda x, index: np.take(x, index),
    "nonzero": _nonzero,
    "masked_fill": lambda x, mask, value: np.where(mask, value, x),
    "masked_select": _masked_select,
    "masked_scatter": _masked_scatter,
    "scatter": lambda x, dim, index, src, reduce=None: _scatter(
        np.atleast_1d(x), dim, np.atleast_1d(index), np.atleast_1d(src), reduce
    ).reshape(x.shape),
    "scatter_reduce": _scatter_reduce,
    "scatter_add": lambda x, dim, index, src: _scatter(
        np.atleast_1d(x), dim, np.atleast_1d(index), np.atleast_1d(src), "add"
    ).reshape(x.shape),
    "index_add": lambda x, dim, index, source, alpha=1: _written(
        np.atleast_1d(x), _along(dim, index), alpha * source, True
    ).reshape(x.shape),
    "index_copy": lambda x, dim, index, source: _written(x, _along(dim % x.ndim, index), source),
    "index_fill": lambda x, dim, index, value: _written(np.atleast_1d(x), _along(dim, index), value).reshape(x.shape),
    "put": lambda x, index, source, accumulate=False: _put(x, index.ravel(), source.ravel(), accumulate),
    "select_scatter": lambda x, src, dim, index: _written(x, _along(dim % x.ndim, np.array(index)), src),
    "slice_scatter": lambda x, src, dim=0, start=None, end=None, step=1: _written(
        x, _along(dim, slice(start, end, step)), src
    ),
    "diagonal_scatter": _diagonal_scatter,
}
