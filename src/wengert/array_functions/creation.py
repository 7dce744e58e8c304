"""np.array and np.asarray of tensors, and of nested lists and tuples that hold tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from wengert.array_functions.table import detached, dtype_of, tensor, w
from wengert.core.tensor import TensorBase


def array(object: Any, dtype: Any = None, copy: bool | None = True, ndmin: int = 0) -> Any:
    """Return one tensor of nested lists and tuples that hold numbers, arrays and tensors. It keeps the gradients of the tensors.

    object: what np.array takes. Values, dtype and shape are those that np.array gives for the values of the tensors.
    dtype: NumPy's or ours. copy: True makes new memory; None and False return a tensor of this dtype itself, and False raises
    ValueError if a copy is needed. ndmin: the least number of dimensions; missing ones come first.

    Raises ValueError if the nesting is ragged, as NumPy does, and TypeError for what is no number.

    Derivative: each tensor gets the part of the cotangent that lies in its place.
    """
    wanted = None if dtype is None else dtype_of(dtype)
    if isinstance(object, TensorBase):
        given = tensor(object)
        found = given if wanted is None else given.to(wanted)
        if found is not given and copy is False:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        found = found.clone() if copy and found is given else found
    elif isinstance(object, (list, tuple)):
        if copy is False:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        found = _joined(object, wanted)
    else:
        values = np.array(object, None if wanted is None else wanted.dtype, copy=copy)
        found = w.as_tensor(values)
    return w.reshape(found, (1,) * (ndmin - found.ndim) + tuple(found.shape)) if found.ndim < ndmin else found


def asarray(a: Any, dtype: Any = None, copy: bool | None = None) -> Any:
    """Return a tensor of what np.asarray takes. A tensor of this dtype is returned itself. See array for the rest."""
    return array(a, dtype, copy)


def _joined(nested: Any, dtype: Any) -> Any:
    """Return the tensor of nested lists and tuples. NumPy finds shape and dtype; tensors among the leaves are joined in order."""
    values = np.array(detached(nested), None if dtype is None else dtype.dtype)
    found = w.as_tensor(values)
    leaves = list(_leaves(nested))
    if not any(isinstance(x, TensorBase) for x in leaves):
        return found
    flat, pieces, start, end = found.reshape(-1), [], 0, 0
    for x in leaves:
        if isinstance(x, TensorBase):
            if start < end:
                pieces.append(flat[start:end])
            pieces.append(tensor(x).to(found.dtype).reshape(-1))
            start = end = end + x._array.size
        else:
            end += np.size(x)
    if start < end:
        pieces.append(flat[start:end])
    return w.cat(pieces).reshape(values.shape)


def _leaves(nested: Any) -> Iterator[Any]:
    """Return what nested lists and tuples hold, in order."""
    for x in nested:
        if isinstance(x, (list, tuple)):
            yield from _leaves(x)
        else:
            yield x


__all__ = ["array", "asarray"]
