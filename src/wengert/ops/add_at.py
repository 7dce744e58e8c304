"""target[index] += value, where index may name an element several times. The cotangent of every indexed read is such a sum.

np.add.at is fast for vectors only. For rows it costs about ten times as much as the additions. So narrow rows are added
as one vector of their elements, wide rows one by one, and very many rows as a sparse matrix product.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert._forks import import_late, is_installed
from wengert.backends.selection import backend_of, is_array, to_device
from wengert.kernels import places
from wengert.ops.indices import Along, counted_from_start, flat_places, private_index

_FEW_ELEMENTS = 256  # np.add.at is fastest below this size of value
_WIDE_ROW = 128  # adding row by row is faster than element by element from this row length on
_MANY_ELEMENTS = 1 << 16  # a sparse product pays for the import of SciPy from this size of value on


def add_at(target: Any, index: Any, value: Any, repeats: bool) -> None:
    """Add value to target[index] in place. If repeats, an element that index names several times gets all its values.

    index: any NumPy index, or an Along. value: an array of target's dtype that broadcasts to target[index].
    """
    xp = backend_of(target)
    if not isinstance(target, np.ndarray):
        _add_on_device(xp, target, index, value, repeats)
    elif type(index) is int and target.ndim == 1:
        target[index] = target.item(index) + value.item()  # a quarter of the cost of +=; as exact, because item() is as wide
    elif type(index) is Along:
        if not places.write_along(places.ADD, target, index.index, value, index.dim, False):
            _add_repeated(target, index.mesh(target.shape), value)
    elif repeats:
        _add_repeated(target, index, value)
    elif _is_basic(index):
        part = target[index] if isinstance(index, tuple) and Ellipsis in index else target[(*_as_tuple(index), ...)]
        xp.add(part, value, out=part, casting="unsafe")
    else:
        index = private_index(index)
        target[index] += value


def _add_on_device(xp: Any, target: Any, index: Any, value: Any, repeats: bool) -> None:
    """Do what add_at does for arrays of another library than NumPy."""
    index = index.mesh(target.shape) if type(index) is Along else to_device(index, xp)
    if repeats and not _is_basic(index) and target.ndim:
        at_on_device(xp.add, target, index, value)
    else:
        target[index] += value.sum() if not target.ndim else value


def at_on_device(ufunc: Any, target: Any, index: Any, value: Any) -> None:
    """Do what ufunc.at does: of add, maximum or minimum of a device's library. CuPy's take few dtypes."""
    dtype = target.dtype
    if dtype.kind == "c":
        at_on_device(ufunc, target.real, index, value.real)
        at_on_device(ufunc, target.imag, index, value.imag)
    elif dtype.itemsize < 4:
        wide = target.astype(np.float32 if dtype.kind in "fV" else np.int64)
        ufunc.at(wide, index, value.astype(wide.dtype))
        target[...] = wide
    else:
        ufunc.at(target, index, value)


def _as_tuple(index: Any) -> tuple:
    return index if isinstance(index, tuple) else (index,)


def _is_basic(index: Any) -> bool:
    """Whether target[index] is a view."""
    for item in _as_tuple(index):
        if not (item is None or item is Ellipsis or isinstance(item, (int, slice))) or isinstance(item, bool):
            return False
    return True


def _add_repeated(target: Any, index: Any, value: Any) -> None:
    """Add value to target[index], which may name elements several times, by the fastest way for this kind of index."""
    xp = backend_of(target)
    if not target.ndim:
        xp.add(target, value.sum(), out=target)
        return
    items = _as_tuple(index)
    if target.ndim == 1 and len(items) == 1 and is_array(items[0]) and items[0].dtype.kind in "iu":
        value = xp.broadcast_to(value, items[0].shape)  # of a vector, np.add.at reads beyond the end of values that are smaller
    if value.size < _FEW_ELEMENTS or not target.flags.c_contiguous:
        xp.add.at(target, private_index(index), value)
        return
    dim = len(items) - 1
    integers = [is_array(item) and item.dtype.kind == "i" for item in items]
    if integers[-1] and all(isinstance(item, slice) and item == slice(None) for item in items[:-1]):
        _add_rows(target, dim, items[dim], value)
    elif all(integers) and len(items) == target.ndim:
        _add_elements(target, items, value)
    else:
        xp.add.at(target, private_index(index), value)


def _add_elements(target: Any, items: tuple, value: Any) -> None:
    """Add value if every dimension has an index array: by one index into the flattened target."""
    xp = backend_of(target)
    flat = flat_places(items if target.ndim > 1 else private_index(items), target.shape)  # of one dimension it is the index itself
    if value.shape != flat.shape:
        value = xp.broadcast_to(value, flat.shape)
    if not places.write_along(places.ADD, target.reshape(-1), flat.reshape(-1), value.reshape(-1), 0, False):
        xp.add.at(target.reshape(-1), flat.reshape(-1), value.reshape(-1))


def _add_rows(target: Any, dim: int, index: Any, value: Any) -> None:
    """Add value if the index is full slices and, at dimension dim, one index array.

    target is seen as (blocks, rows, width); the index array names rows in each block."""
    xp = backend_of(target)
    size = target.shape[dim]
    width = int(np.prod(target.shape[dim + 1 :]))
    shape = (*target.shape[:dim], *index.shape, *target.shape[dim + 1 :])
    if value.shape != shape:
        value = xp.broadcast_to(value, shape)
    flat_value = value.reshape(*target.shape[:dim], index.size, *target.shape[dim + 1 :])
    if places.write_along(places.ADD, target, index.reshape(-1), flat_value, dim, True):
        return
    blocks, value = target.reshape(-1, size, width), value.reshape(-1, index.size, width)
    index = counted_from_start(private_index(index), size).reshape(-1)
    many = value.size >= _MANY_ELEMENTS and index.size * 4 >= size and target.dtype.char in "fdFD"
    if many and is_installed("scipy.sparse"):
        _add_rows_by_product(blocks, index, value)
    elif width >= _WIDE_ROW:
        add = xp.add
        for block, rows in zip(blocks, value, strict=True):
            for place, row in zip(index.tolist(), rows, strict=True):
                summed = block[place]
                add(summed, row, summed)
    else:
        flat = index if width == 1 else (index[:, None] * width + xp.arange(width)).reshape(-1)
        for block, rows in zip(blocks.reshape(len(blocks), -1), value, strict=True):
            xp.add.at(block, flat, rows.reshape(-1))


def _add_rows_by_product(blocks: Any, index: Any, value: Any) -> None:
    """Add rows by a matrix product: the sparse matrix has 1 at (i, j) if row j of value goes to row i of the block."""
    xp = backend_of(blocks)
    sparse = import_late("scipy.sparse")
    starts = xp.arange(index.size + 1)
    scatter = sparse.csc_array((xp.ones(index.size, blocks.dtype), index, starts), shape=(blocks.shape[1], index.size))
    for block, rows in zip(blocks, value, strict=True):
        block += scatter @ rows
