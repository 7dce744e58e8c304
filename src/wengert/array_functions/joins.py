"""Joining and splitting arrays, as NumPy's functions do it."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.array_functions.table import checked_axis, detached, dtype_of, of, part, pick, promoted, since, tensor, tensors, w


def _as_dtype(found: Any, dtype: Any) -> Any:
    return found if dtype is None else found.to(dtype_of(dtype))


@of(np.concatenate)
def _concatenate(arrays, axis=0, dtype=None, casting="same_kind"):
    arrays = tensors(arrays)
    return _as_dtype(w.cat([w.ravel(x) for x in arrays], 0) if axis is None else w.cat(arrays, axis), dtype)


@of(np.stack)
def _stack(arrays, axis=0, dtype=None, casting="same_kind"):
    return _as_dtype(w.stack(tensors(arrays), axis), dtype)


of(np.vstack, *since("row_stack"))(lambda tup, dtype=None, casting="same_kind": _as_dtype(w.vstack(tensors(tup)), dtype))


@of(np.hstack)
def _hstack(tup, dtype=None, casting="same_kind"):
    arrays = tensors(tup)
    for x in arrays:
        if not x._array.ndim:
            return _as_dtype(w.hstack(arrays), dtype)
    return _as_dtype(w.cat(arrays, 0 if arrays[0]._array.ndim == 1 else 1), dtype)  # what hstack does, in a third of the time


of(np.dstack)(lambda tup: w.dstack(tensors(tup)))
of(np.column_stack)(lambda tup: w.column_stack(tensors(tup)))


@of(np.append)
def _append(arr, values, axis=None):
    arr, values = promoted(arr, values)
    return w.cat([w.ravel(arr), w.ravel(values)] if axis is None else [arr, values], 0 if axis is None else axis)


@of(np.block)
def _block(arrays):
    def depth_of(x: Any) -> int:
        return 1 + max(depth_of(item) for item in x) if isinstance(x, list) and x else 0

    depth = depth_of(arrays)

    def leaves(x: Any) -> list[Any]:
        return [leaf for item in x for leaf in leaves(item)] if isinstance(x, list) else [tensor(x)]

    ndim = max([depth, *[leaf.ndim for leaf in leaves(arrays)]])

    def join(x: Any, level: int) -> Any:
        if not isinstance(x, list):
            x = tensor(x)
            return w.reshape(x, (1,) * (ndim - x.ndim) + tuple(x.shape))
        return w.cat(promoted(*[join(item, level + 1) for item in x]), ndim - depth + level)

    return join(arrays, 0)


@of(np.insert)
def _insert(arr, obj, values, axis=None):
    arr = tensor(arr)
    arr, axis = (w.ravel(arr), 0) if axis is None else (arr, axis % arr.ndim)
    size = arr.shape[axis]
    # NumPy inserts the numbers of the elements; what it leaves open are the places of the values.
    if isinstance(obj, slice):
        obj = np.arange(*obj.indices(size))
    obj = detached(obj)
    places = np.insert(np.arange(size), obj, -1)
    new = np.flatnonzero(places == -1)
    values = w.as_tensor(values) if not isinstance(values, (list, tuple)) else tensor(values)
    values = values.to(arr.dtype)
    if np.ndim(obj) == 0 and not isinstance(obj, slice) and values.ndim > 0:
        values = w.movedim(w.reshape(values, (1,) * (arr.ndim - values.ndim) + tuple(values.shape)), 0, axis)
        # One place takes all values that lie along the axis.
        count = values.shape[axis]
        places = np.insert(np.arange(size), [int(obj)] * count, -1)
        new = np.flatnonzero(places == -1)
    shape = [len(new) if d == axis else n for d, n in enumerate(arr.shape)]
    if np.ndim(obj) > 0 and values.ndim > 0:
        values = w.reshape(values, (1,) * (arr.ndim - values.ndim) + tuple(values.shape))
    values = w.broadcast_to(values, shape)
    order = places.copy()
    order[new] = size + np.arange(len(new))
    return w.index_select(w.cat([arr, values], axis), axis, w.as_tensor(order))


@of(np.delete)
def _delete(arr, obj, axis=None):
    arr = tensor(arr)
    arr, axis = (w.ravel(arr), 0) if axis is None else (arr, axis)
    kept = np.delete(np.arange(arr.shape[axis]), obj if isinstance(obj, slice) else detached(obj))
    return w.index_select(arr, axis, w.as_tensor(kept))


# -- splitting ---------------------------------------------------------------------------------------------------------


def _split(ary: Any, bounds: Any, axis: int) -> list[Any]:
    ends = [*[int(b) for b in bounds], None]
    return [part(ary, axis, start, end) for start, end in zip([0, *ends[:-1]], ends, strict=True)]


@of(np.array_split)
def _array_split(ary, indices_or_sections, axis=0):
    ary = tensor(ary)
    if np.ndim(indices_or_sections) > 0:
        return _split(ary, indices_or_sections, axis)
    count = int(indices_or_sections)
    if count <= 0:
        raise ValueError("number sections must be larger than 0.") from None
    each, more = divmod(ary.shape[axis], count)
    return _split(ary, np.cumsum([each + 1] * more + [each] * (count - more))[:-1], axis)


@of(np.split)
def _equal_split(ary, indices_or_sections, axis=0):
    ary = tensor(ary)
    if np.ndim(indices_or_sections) == 0 and ary.shape[axis] % int(indices_or_sections):
        raise ValueError("array split does not result in an equal division") from None
    return _array_split(ary, indices_or_sections, axis)


@of(np.hsplit)
def _hsplit(ary, indices_or_sections):
    if tensor(ary).ndim == 0:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return _equal_split(ary, indices_or_sections, 1 if tensor(ary).ndim > 1 else 0)


@of(np.vsplit)
def _vsplit(ary, indices_or_sections):
    if tensor(ary).ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return _equal_split(ary, indices_or_sections, 0)


@of(np.dsplit)
def _dsplit(ary, indices_or_sections):
    if tensor(ary).ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return _equal_split(ary, indices_or_sections, 2)


@of(*since("unstack"))
def _unstack(x, axis=0):
    x = tensor(x)
    axis = checked_axis(axis, x.ndim)
    return tuple([pick(x, i, axis) for i in range(x.shape[axis])])  # views that may be written, unlike those of unbind


of(np.broadcast_arrays)(lambda *args: tuple(w.broadcast_tensors(*tensors(args))))


@of(np.meshgrid)
def _meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    given = [w.ravel(x) for x in tensors(xi)]
    axes = list(range(len(given)))
    if indexing == "xy" and len(given) > 1:
        axes[:2] = [1, 0]
    grids = [w.reshape(x, [-1 if d == axis else 1 for d in range(len(given))]) for x, axis in zip(given, axes, strict=True)]
    return tuple(grids) if sparse or not grids else tuple([x.clone() if copy else x for x in w.broadcast_tensors(*grids)])
