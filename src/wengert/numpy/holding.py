"""What an ndarray is: one tensor under NumPy's names. wrap makes one of a tensor, wrapped of whatever NumPy returns.

Note [Arrays hold tensors]
ndarray is no subclass of Tensor: x.size, x.dtype, x.max(1), x.repeat(2) mean one thing in NumPy and another in torch, and the code
of operations relies on torch's meaning. So an ndarray holds a tensor, in one slot. The tensor has the memory, the history and the
gradient; wengert.asarray(x) returns this very tensor. Functions take the tensors out, run, and wrap the results. See docs/adr/0040.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core.override import begin_overriding
from wengert.core.tensor import TensorBase, wrap as as_tensor


def _first(cls: Any) -> Any:
    """Make the first ndarray. From then on, functions of torch ask for __torch_function__ of their arguments."""
    global _new
    begin_overriding()
    _new = object.__new__
    return _new(cls)


_new: Any = _first
_LONG = 32  # a longer list is looked through at once
_NUMBERS = frozenset({bool, int, float, complex})
_CODES = frozenset("?bhilqBHILQefdFD")  # of NumPy's dtypes that tensors have


class Holder:
    """The base class of ndarray: an object that holds a tensor."""

    __slots__ = ("__weakref__", "_tensor")
    _tensor: Any

    @property
    def __wengert_tensor__(self) -> Any:
        """The tensor, for wengert.asarray and wengert.as_tensor."""
        return self._tensor


_class: Any = Holder


def set_array_class(cls: type) -> None:
    """Name the class of the arrays that wrap returns. arrays.py calls it, once, at import."""
    global _class
    _class = cls


def wrap(tensor: Any) -> Any:
    """Return an ndarray that holds this tensor."""
    found = _new(_class)
    found._tensor = tensor
    return found


def wrapped(x: Any) -> Any:
    """Return a result with each tensor, array and scalar in it as an ndarray. Arrays of dtypes that no tensor has stay NumPy's."""
    if isinstance(x, TensorBase):
        return wrap(x)
    if isinstance(x, np.ndarray):
        return wrap(as_tensor(x.view(np.ndarray))) if _is_held(x) else x
    if isinstance(x, np.generic):
        return wrap(as_tensor(np.asarray(x))) if x.dtype.char in _CODES else x
    if isinstance(x, tuple):
        return type(x)(*[wrapped(item) for item in x]) if hasattr(x, "_fields") else tuple([wrapped(item) for item in x])
    return [wrapped(item) for item in x] if type(x) is list else x


def _is_held(x: np.ndarray) -> bool:
    """Whether an array has a dtype that tensors have, and is no masked array, matrix or record."""
    return x.dtype.char in _CODES and x.dtype.isnative and type(x) in (np.ndarray, np.memmap)


def unwrap(x: Any, found: list[Any]) -> Any:
    """Return an argument with the tensor in place of each ndarray, and add the tensors to found."""
    if isinstance(x, Holder):
        found.append(x._tensor)
        return x._tensor
    if isinstance(x, TensorBase):
        found.append(x)
        return x
    if isinstance(x, (list, tuple)):
        if len(x) > _LONG and _NUMBERS.issuperset(map(type, x)):
            return x
        items = [unwrap(item, found) for item in x]
        return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
    return x
