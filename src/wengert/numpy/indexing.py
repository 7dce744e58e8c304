"""x[index], x[index] = value and x.flat with NumPy's rules."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from wengert.array_functions.table import Namespace, detached, tensor
from wengert.core.tensor import TensorBase
from wengert.core.views import bump
from wengert.numpy.functions import is_differentiated, memory_to_write
from wengert.numpy.holding import Holder, unwrap, wrap
from wengert.ops import OPS

w = Namespace("")
_select, _slice, _read = [OPS[name].function for name in ("_select", "_slice", "_read")]


def _is_basic(item: Any) -> bool:
    """Whether an item of an index gives a view: ints, slices, None and Ellipsis. A bool is a mask."""
    return item is None or item is Ellipsis or (isinstance(item, (int, slice)) and not isinstance(item, bool))


def _bound(x: Any) -> int:
    """Return a bound or the step of a slice as an int. Raises TypeError in Python's words."""
    try:
        return operator.index(x)
    except TypeError:
        raise TypeError("slice indices must be integers or None or have an __index__ method") from None


def _plain(index: Any) -> Any:
    """Return an index with NumPy's arrays in place of tensors and ndarrays, 0-d arrays of ints as ints."""
    if isinstance(index, tuple):
        return tuple([_plain(item) for item in index])
    if isinstance(index, slice):
        return slice(*[x if x is None else _bound(x) for x in (index.start, index.stop, index.step)])
    if isinstance(index, (Holder, TensorBase, list)):
        index = detached(unwrap(index, []))
    if isinstance(index, np.ndarray) and index.ndim == 0 and index.dtype.kind in "iu":
        return int(index)
    return int(index) if isinstance(index, np.integer) else index


def _basic(index: Any) -> tuple[Any, ...] | None:
    """Return an index as a tuple with an Ellipsis, if it gives a view, else None."""
    items = index if type(index) is tuple else (index,)
    for item in items:
        if not _is_basic(item):
            return None
    return items if any(item is Ellipsis for item in items) else (*items, ...)


def read(x: Any, index: Any) -> Any:
    """Return x[index] of a tensor, as a tensor: a view for ints, slices, None and Ellipsis, else a copy. An element is a copy, too:
    NumPy's is a number, which later writes into the array do not change.

    Raises IndexError in NumPy's words."""
    if type(index) is int and x._array.ndim and -x._array.shape[0] <= index < x._array.shape[0]:
        found = _select(x, index=index)
        return found if x._array.ndim > 1 else w.clone(found)
    index = _plain(index)
    basic = _basic(index)
    if basic is not None:
        is_number = not isinstance(x._array[index], np.ndarray)  # the reading raises NumPy's error
        found = _slice(x, index=basic)
        return w.clone(found) if is_number else found
    if not is_differentiated([x]):
        return w.as_tensor(np.asarray(x._array[index]))
    return _read(x, index=index, repeats=True)


def write(x: Any, index: Any, value: Any) -> None:
    """Run x[index] = value on a tensor, with the value broadcast and cast as NumPy does. A write of what has a history is recorded.

    Raises IndexError and ValueError in NumPy's words, RuntimeError for a leaf that requires grad."""
    found = [x]
    value, index = unwrap(value, found), _plain(index)
    if not is_differentiated(found):
        memory_to_write(x)[index] = detached(value)
        bump(x)
        return
    value = tensor(value)
    basic = _basic(index)
    if basic is not None:
        _slice(x, index=basic).copy_(_fitted(value, x._array[basic].shape, x.dtype))
        return
    places = np.arange(x._array.size).reshape(x._array.shape)[index]
    value, places = _fitted(value, places.shape, x.dtype).reshape(-1), places.reshape(-1)
    if places.size and not x._array.ndim:
        _slice(x, index=(...,)).copy_(value[-1])
    elif places.size:
        _, last = np.unique(places[::-1], return_index=True)  # an element that index names several times gets the last value
        if last.size < places.size:
            last = places.size - 1 - last
            value, places = value[last], places[last]
        x[np.unravel_index(places, x._array.shape)] = value


def _fitted(value: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Return the value of an assignment with this shape and dtype. Raises ValueError if it does not broadcast."""
    while value.ndim > len(shape) and value.shape[0] == 1:
        value = value[0]
    try:
        np.broadcast_to(value._array, shape)
    except ValueError:
        raise ValueError(
            f"could not broadcast input array from shape {_shown(value.shape)} into shape {_shown(shape)}"
        ) from None
    return w.broadcast_to(value.to(dtype), shape)


def _shown(shape: Any) -> str:
    return "(" + ",".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


class flatiter:
    """The elements of an array in row-major order: x.flat. It is indexed, written to and looped over."""

    def __init__(self, array: Any) -> None:
        self.base = array
        self._place = 0

    def __len__(self) -> int:
        return prod(self.base.shape)

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(len(self))])

    def __next__(self) -> Any:
        if self._place >= len(self):
            raise StopIteration
        self._place += 1
        return self[self._place - 1]

    def _places(self, index: Any) -> Any:
        return np.unravel_index(np.arange(len(self))[_plain(index)], self.base.shape)

    def __getitem__(self, index: Any) -> Any:
        places = self._places(index)
        return wrap(read(self.base._tensor, places if np.ndim(places[0]) else tuple([int(i) for i in places])))

    def __setitem__(self, index: Any, value: Any) -> None:
        places = self._places(index)
        count = np.size(places[0])
        values = w.ravel(tensor(unwrap(value, [])))
        values = w.index_select(values, 0, w.as_tensor(np.arange(count) % max(1, len(values))))
        write(self.base._tensor, places, w.reshape(values, np.shape(places[0])))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.copy(), dtype)

    def copy(self) -> Any:
        """Return the elements as a vector."""
        return wrap(w.ravel(self.base._tensor).clone())
