"""NumPy's functions that allocate large arrays or only move numbers, with the memory pool and the threads of the kernels.

Without compiled kernels, and for arguments that the kernels do not accept, these functions call NumPy's.
"""

from __future__ import annotations

from math import prod

import numpy as np

from wengert.backends import numpy as numpy_backend
from wengert.backends.selection import backend_among, backend_of, together
from wengert.kernels import compiled, native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

LARGE = 1 << 15  # elements from which the memory of a result costs more than a longer call; the pool starts at 64 KiB
_extent: Any = compiled("extent")
_ADD, _COPY = (native.find("add"), native.find("copy")) if native is not None else (-1, -1)


def new_array(shape: tuple[int, ...], dtype: Any, beside: Any = None) -> Any:
    """Return a new array with unset elements, in the library of the array `beside`, or NumPy's."""
    xp = backend_of(beside)
    if xp is not numpy_backend:
        return xp.empty(shape, dtype)
    return np.empty(shape, dtype) if native is None else native.new_array(shape, dtype)


def new_zeros(shape: tuple[int, ...], dtype: Any, beside: Any = None) -> Any:
    """Return a new array of zeros, in the library of the array `beside`, or NumPy's.

    A large one of NumPy's reuses memory, which costs less than fresh pages."""
    xp = backend_of(beside)
    if xp is not numpy_backend:
        return xp.zeros(shape, dtype)
    return np.zeros(shape, dtype) if native is None or prod(shape) < LARGE else native.new_zeros(shape, dtype)


def add_into(x: Any, y: Any) -> None:
    """Add y to x in place."""
    if native is None or native.apply(_ADD, (x, y), x) is None:
        x += y


def owner_of(array: Any) -> Any:
    """Return the array that owns the memory of `array`, or the first array over memory that is no array's."""
    if not isinstance(array, np.ndarray):
        backend = backend_of(array)
        return owner_of(array.base) if backend is numpy_backend else backend.owner_of(array)  # the first is a stand-in for an array
    while True:
        base = array.base
        if not isinstance(base, np.ndarray):
            base = getattr(base, "base", None)  # numpy.lib.stride_tricks puts an object of its own between two arrays
            if not isinstance(base, np.ndarray):
                return array
        array = base


def address_of(array: Any) -> int:
    """Return the address of the first element of an array, or 0 for a stand-in for an array that has no memory."""
    if not isinstance(array, np.ndarray):
        backend = backend_of(array)
        return 0 if backend is numpy_backend else backend.address_of(array)
    address: int = array.__array_interface__["data"][0]
    return address


def bounds_of(array: Any) -> tuple[int, int]:
    """Return the addresses of the first byte of an array, and of the first byte after its last."""
    low = high = address_of(array)
    if not array.size:
        return low, low
    for n, step in zip(array.shape, array.strides, strict=True):
        if step < 0:
            low += (n - 1) * step
        else:
            high += (n - 1) * step
    return low, high + array.itemsize


def extent_of(array: Any) -> tuple[int, int, int]:
    """Return the addresses of the first element of an array, of its first byte, and of the first byte after its last."""
    return _extent(array) or (address_of(array), *bounds_of(array))



def offset_of(array: Any, root: Any) -> int:
    """Return the number of bytes from the start of root's memory to the first element of an array in it."""
    if not isinstance(array, np.ndarray) and backend_of(array) is numpy_backend:  # a stand-in for an array
        offset: int = array.offset
        return offset
    return address_of(array) - bounds_of(root)[0]


def contiguous_copy(x: Any) -> Any:
    """Return a copy in row-major order."""
    if x.size >= LARGE and native is not None and type(x) is np.ndarray:
        found = native.copy_transposed(x)
        if found is not None:
            return found
        out = native.new_array(x.shape, x.dtype)
        if native.apply(_COPY, (x,), out) is not None:
            return out
    return x.copy(order="C")


def copy(x: Any) -> Any:
    """Return numpy.copy(x), which keeps the memory layout of x."""
    return contiguous_copy(x) if type(x) is np.ndarray and x.size >= LARGE and x.flags.c_contiguous else x.copy("K")


def copy_like(x: Any, template: Any) -> Any:
    """Return a copy of x with the memory layout of template, if it has the shape of x."""
    if type(template) is np.ndarray and x.size >= LARGE and template.flags.c_contiguous:
        return contiguous_copy(x)
    if x.shape != template.shape:
        return copy(x)
    xp = backend_of(x)
    result = xp.empty_like(template, dtype=x.dtype)
    xp.copyto(result, x)
    return result


def reshape(x: Any, shape: tuple[int, ...]) -> Any:
    """Return x.reshape(shape), a view if the memory layout allows one."""
    if x.size < LARGE or x.flags.c_contiguous:
        return x.reshape(shape)
    try:
        return x.reshape(shape, copy=False)
    except (ValueError, TypeError):  # no view has this shape, or NumPy is before 2.1, which has no copy argument
        return contiguous_copy(x).reshape(shape)


def concatenate(arrays: Sequence[Any], axis: int) -> Any:
    """Concatenate arrays of one dtype along axis, in row-major order. Raises ValueError if their shapes do not fit."""
    first = arrays[0]
    if native is not None and type(axis) is int:  # NumPy refuses what is no number of a dimension, such as True
        found = native.join(tuple(arrays), axis + first.ndim if axis < 0 else axis)
        if found is not None:
            return found
    about = len(arrays) * max(first.size, arrays[-1].size)
    xp = backend_of(first)
    if xp is not numpy_backend:
        return xp.concatenate(arrays, axis=axis)
    if about < LARGE or not -first.ndim <= axis < first.ndim or first.dtype.char not in "fd":
        joined = np.concatenate(arrays, axis=axis)
        return joined if joined.flags.c_contiguous else joined.copy(order="C")  # of transposed arrays, NumPy's is transposed
    axis %= first.ndim
    length = sum([x.shape[axis] if axis < x.ndim else 0 for x in arrays])
    shape = (*first.shape[:axis], length, *first.shape[axis + 1 :])
    return np.concatenate(arrays, axis=axis, out=new_array(shape, first.dtype))


def triangle(x: Any, diagonal: int, upper: bool) -> Any:
    """Return numpy.triu(x, diagonal) if upper, else numpy.tril(x, diagonal). x has at least two dims."""
    found = None if native is None or type(x) is not np.ndarray else native.triangle(x, diagonal, upper)
    xp = backend_of(x)
    return (xp.triu if upper else xp.tril)(x, diagonal) if found is None else found


def choose(condition: Any, x: Any, y: Any) -> Any:
    """Return numpy.where(condition, x, y). x and y are arrays of one dtype, or one of them is a number."""
    xp = backend_among((condition, x, y))
    if native is None or xp is not numpy_backend:
        return xp.where(*together((condition, x, y)))
    if type(y) is float and type(x) is np.ndarray and x.dtype.char in "fd":
        found = native.choose(condition, x, np.asarray(y, x.dtype))
    else:
        found = native.choose(condition, x, y)
    return np.where(condition, x, y) if found is None else found
