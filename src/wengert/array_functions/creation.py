"""np.array and np.asarray of tensors, and of nested lists and tuples that hold tensors; and functions with like=: tensors.

NumPy's functions that make arrays hand themselves over if their argument `like` is a tensor. They return tensors then, which keep
the gradients of the arguments: np.array([x, y], like=x), np.full(3, x, like=x), np.arange(0, x, like=x).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from wengert.array_functions.table import detached, dtype_of, holds_tensor, ints, of, tensor, w
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
    if _are_alike(nested):
        found = w.stack(nested)
        return found if dtype is None else found.to(dtype)
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


def _are_alike(items: Any) -> bool:
    """Whether the items of a list or tuple are tensors of one shape and dtype."""
    if not items or not isinstance(items[0], TensorBase):
        return False
    shape, dtype = items[0]._array.shape, items[0]._array.dtype
    for x in items:  # noqa: SIM110  # all() of a generator takes three times as long
        if not (isinstance(x, TensorBase) and x._array.dtype is dtype and x._array.shape == shape):
            return False
    return True


@of(np.array, method=True)
def _array(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0):
    return array(object, dtype, copy, ndmin)


of(np.asarray, np.asanyarray, method=True)(lambda a, dtype=None, order=None, *, device=None, copy=None: array(a, dtype, copy))
of(np.ascontiguousarray, np.asfortranarray, method=True)(lambda a, dtype=None: array(a, dtype, None, 1))
of(np.require, method=True)(lambda a, dtype=None, requirements=None: array(a, dtype, None))
of(np.fromiter, method=True)(lambda iter, dtype, count=-1: array(list(islice(iter, None if count < 0 else count)), dtype))


@of(np.full, method=True)
def _full(shape, fill_value, dtype=None, order="C", *, device=None):
    return w.broadcast_to(array(fill_value, dtype), ints(shape)).clone()


@of(np.arange, method=True)
def _arange(start_or_stop=0, stop=None, step=1, dtype=None, *, start=None, device=None):
    start = start_or_stop if start is None else start
    start, stop = (0, start) if stop is None else (start, stop)
    count = np.arange(*detached((start, stop, step)))
    if not holds_tensor((start, step)):
        return w.as_tensor(count if dtype is None else count.astype(dtype))
    found = start + np.arange(len(count)) * step
    return found if dtype is None else found.to(dtype_of(dtype))


def _of_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of NumPy that makes an array of numbers, with a tensor as the result."""
    return lambda *args, **kwargs: w.as_tensor(function(*args, **kwargs))


for _function in (
    np.zeros, np.ones, np.empty, np.eye, np.identity, np.tri, np.frombuffer, np.fromfile, np.fromstring, np.loadtxt, np.genfromtxt,
):  # fmt: skip
    of(_function, method=True)(_of_numbers(_function))


def _leaves(nested: Any) -> Iterator[Any]:
    """Return what nested lists and tuples hold, in order."""
    for x in nested:
        if isinstance(x, (list, tuple)):
            yield from _leaves(x)
        else:
            yield x


__all__ = ["array", "asarray"]
