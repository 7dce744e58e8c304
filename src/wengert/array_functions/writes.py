"""NumPy's functions that write into an array, on tensors: the write is recorded as x[index] = value is."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.array_functions.elements import index_along
from wengert.array_functions.refusals import no_derivative
from wengert.array_functions.table import checked_axis, detached, of, tensor, w
from wengert.core.tensor import TensorBase


def _target(x: Any, function: str) -> Any:
    """Return the tensor to write into. Raises RuntimeError for an array: it cannot hold the history of the written values."""
    if isinstance(x, TensorBase):
        return x
    raise no_derivative("Tensor that requires grad", function, f"numpy.{function} into an array")


@of(np.copyto)
def _copyto(dst, src, casting="same_kind", where=True):
    dst = _target(dst, "copyto")
    src = w.broadcast_to(tensor(src), dst.shape).to(dst.dtype)
    if where is True:
        dst[...] = src
    else:
        dst[...] = w.where(tensor(np.broadcast_to(np.asarray(detached(where), bool), dst.shape)), src, dst)


def _repeated(values: Any, n: int) -> Any:
    """Return n values: the given ones, again and again."""
    values = w.ravel(tensor(values))
    return w.index_select(values, 0, w.as_tensor(np.arange(n) % max(1, len(values))))


def _write_flat(a: Any, places: Any, values: Any) -> None:
    a[np.unravel_index(places, tuple(a.shape))] = values.to(a.dtype)


@of(np.put)
def _put(a, ind, v, mode="raise"):
    a = _target(a, "put")
    index, size = np.ravel(detached(ind)), a.numel()
    if mode == "raise":
        if np.any(index < -size) or np.any(index >= size):
            raise IndexError(f"index {index[(index < -size) | (index >= size)][0]} is out of bounds for axis 0 with size {size}")
        index = np.where(index < 0, index + size, index)
    index = index % size if mode == "wrap" else np.clip(index, 0, size - 1)
    if len(index):
        _write_flat(a, index, _repeated(v, len(index)))


@of(np.place)
def _place(arr, mask, vals):
    arr = _target(arr, "place")
    places = np.flatnonzero(np.asarray(detached(mask)))
    if len(places) and not tensor(vals).numel():
        raise ValueError("Cannot insert from an empty array!")
    _write_flat(arr, places, _repeated(vals, len(places)))


@of(np.putmask)
def _putmask(a, mask, values):
    a = _target(a, "putmask")
    places = np.flatnonzero(np.asarray(detached(mask)))
    values = w.ravel(tensor(values))
    if len(places) and len(values):
        _write_flat(a, places, w.index_select(values, 0, w.as_tensor(places % len(values))))


@of(np.put_along_axis)
def _put_along_axis(arr, indices, values, axis):
    arr = _target(arr, "put_along_axis")
    if axis is None:
        _write_flat(arr, np.ravel(detached(indices)), tensor(values))
    else:
        arr[index_along(indices, tuple(arr.shape), checked_axis(axis, arr.ndim))] = tensor(values).to(arr.dtype)


@of(np.fill_diagonal)
def _fill_diagonal(a, val, wrap=False):
    a = _target(a, "fill_diagonal")
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    shape = tuple(a.shape)
    if a.ndim > 2 and len(set(shape)) > 1:
        raise ValueError("All dimensions of input must be of equal length")
    if a.ndim == 2:
        step, end = shape[1] + 1, None if wrap else shape[1] * shape[1]
    else:
        step, end = 1 + int(np.cumprod(shape[:-1]).sum()), None
    places = np.arange(a.numel())[:end:step]
    _write_flat(a, places, _repeated(val, len(places)))
