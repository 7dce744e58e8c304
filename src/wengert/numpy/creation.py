"""Functions of NumPy that make arrays of what may hold arrays with a history, and those that call a function of the user."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.array_functions import creation
from wengert.array_functions.shapes import in_memory_order
from wengert.core.tensor import TensorBase
from wengert.numpy.arrays import ndarray
from wengert.numpy.functions import as_function, with_views
from wengert.numpy.holding import Holder, unwrap, wrap, wrapped


def array(
    object: Any, dtype: Any = None, *, copy: Any = True, order: Any = "K", subok: bool = False, ndmin: int = 0, ndmax: int = 0,
    like: Any = None, device: Any = None,
) -> Any:  # fmt: skip
    """Return an ndarray of numbers, arrays and nested lists that hold them. Arrays with a history in them keep it.

    The arguments are those of numpy.array. A result of a dtype that no tensor has is NumPy's array. Raises ValueError if the
    nesting is ragged, or if copy is False and a copy is needed.

    Derivative: each array gets the part of the cotangent that lies in its place.
    """
    _check_device(device)
    found: list[Any] = []
    given = unwrap(object, found)
    if not found:
        return wrapped(np.array(given, dtype, copy=copy, order=order, ndmin=ndmin))
    if type(object) is ndarray and copy is not True and dtype in (None, object.dtype) and object.ndim >= ndmin and order in "KA":
        return object
    if order == "K" or (isinstance(given, TensorBase) and order == "A"):
        return wrap(creation.array(given, dtype, copy, ndmin))
    made = creation.array(given, dtype, copy, ndmin)
    is_ordered = made._array.flags.f_contiguous if order == "F" else made._array.flags.c_contiguous
    ordered = made if is_ordered else in_memory_order(made, order)
    if copy is False and ordered is not made:
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    return wrap(ordered)


def asarray(a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: Any = None, like: Any = None) -> Any:
    """Return an ndarray of a, without a copy if possible: an ndarray of this dtype itself. A tensor is held as it is."""
    return array(a, dtype, copy=copy, order=order or "K", device=device)


asanyarray = asarray


def ascontiguousarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    """Return an ndarray of a with at least one dimension, with its memory in row-major order."""
    return array(a, dtype, copy=None, order="C", ndmin=1)


def asfortranarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    """Return an ndarray of a with its memory in column-major order."""
    return array(a, dtype, copy=None, order="F")


def copy(a: Any, order: Any = "K", subok: bool = False) -> Any:
    """Return a copy of a in memory of its own. It stays in the graph."""
    return array(a, order=order)


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    """Return x cast to a dtype. Raises ValueError for another device than "cpu"."""
    _check_device(device)
    if not isinstance(x, (Holder, TensorBase, np.ndarray)):
        raise TypeError(f"Input should be a NumPy array. It is a {type(x).__name__} instead.")
    return asarray(x).astype(dtype, copy=copy)


def from_dlpack(x: Any, /, *, device: Any = None, copy: Any = None) -> Any:
    """Return an ndarray of the memory of x. An array with a history is refused, with BufferError."""
    found: list[Any] = []
    unwrap(x, found)
    return wrapped(with_views(np.from_dlpack(x, device=device, copy=copy), found))


def fromfunction(function: Any, shape: Any, *, dtype: Any = float, like: Any = None, **kwargs: Any) -> Any:
    """Return function(i, j, ...) of the indices of an array of this shape. The result may have a history."""
    return function(*as_function(np.indices)(shape, dtype=dtype), **kwargs)


def _check_device(device: Any) -> None:
    if device not in (None, "cpu"):
        raise ValueError(f'Device not understood. Only "cpu" is allowed, but received: {device}')


__all__ = ["array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray", "astype", "copy", "from_dlpack", "fromfunction"]
