"""Arrays in the memory of storages."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from wengert.kernels.memory import address_of, bounds_of
from wengert.program.form import COMPUTED, Layout, Storage, Value

LINE = 64  # bytes of a line of the cache, where arenas and the storages in them begin


def new_memory(storage: Storage) -> Any:
    """Return a new array with the shape, the strides and the dtype of a storage's whole array."""
    plain = np.empty(storage.shape, storage.dtype)
    if plain.strides == storage.strides:
        return plain
    return place(storage, np.empty(storage.nbytes, np.uint8), 0)


def aligned(nbytes: int) -> Any:
    """Return new memory of at least nbytes bytes, as an array of bytes that begins at a line of the cache."""
    memory = np.empty(nbytes + LINE, np.uint8)
    return memory[-address_of(memory) % LINE :]


def strides_in_order(shape: tuple[int, ...], dtype: Any) -> tuple[int, ...]:
    """Return the strides of an array in row-major order, in bytes."""
    return tuple([dtype.itemsize * prod(shape[i + 1 :]) for i in range(len(shape))])


def is_in_order(value: Value) -> bool:
    """Whether the elements of a value follow each other in memory, row by row."""
    expected = strides_in_order(value.shape, value.dtype)
    return all(s == e for s, e, n in zip(value.strides, expected, value.shape, strict=True) if n > 1)


def computed_in_order(number: int, shape: tuple[int, ...], dtype: Any) -> Value:
    """Return the whole value of a new computed storage in row-major order. number: of the storage."""
    layout = Layout(shape, strides_in_order(shape, dtype), dtype)
    return Value(Storage(number, COMPUTED, None, prod(shape) * dtype.itemsize, 0, layout), 0, *layout)


def place(storage: Storage, memory: Any, offset: int) -> Any:
    """Return a storage's whole array in an array of bytes, from an offset on."""
    return np.ndarray(storage.shape, storage.dtype, memory, offset + storage.before, storage.strides)


class _Bytes:
    """The memory of an array, for NumPy. The array of these bytes keeps this object, and this object the array."""

    def __init__(self, array: Any) -> None:
        low, high = bounds_of(array)
        self.array = array
        readonly = not array.flags.writeable
        self.__array_interface__ = {"shape": (high - low,), "typestr": "|u1", "data": (low, readonly), "version": 3}


def view(whole: Any, value: Value) -> Any:
    """Return the array of a value in the memory of its storage, given the storage's whole array."""
    if value.is_whole:
        return whole
    if 0 in value.shape:
        return np.empty(value.shape, value.dtype)
    offset = value.storage.before + value.offset
    return np.ndarray(value.shape, value.dtype, np.asarray(_Bytes(whole)), offset, value.strides)


def constant(storage: Storage) -> Any:
    """Return a new array of a constant."""
    whole = new_memory(storage)
    whole[...] = storage.key
    return whole


def layout_of(array: Any) -> Any:
    """Return an array of the same dtype, shape and strides whose elements may not be read: it keeps no memory."""
    return np.lib.stride_tricks.as_strided(np.empty(1, array.dtype), array.shape, array.strides)
