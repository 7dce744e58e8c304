"""Memory that tensors share, and moving it: a storage that grows takes along every tensor that lies in it.

Note [Shared memory]
Tensors hold arrays, and NumPy's chain of bases leads from each array to its root: the array that owns the memory, or the first
array over memory that is no array's. Arrays with one root share memory. So the root is the storage of torch, and no object of
ours is made for it until a program asks: `kernels.memory.owner_of` walks the chain.

NumPy cannot enlarge memory that views refer to. So memory moves: `move` copies the bytes into a new root, and gives each tensor of
the old root an array of the same geometry over the new one. Nothing leads from a root to its tensors. `tensors_of` looks through
all objects alive, as a full garbage collection does. This takes milliseconds, but creating tensors and views costs nothing, and
programs that never resize shared memory never pay. A root to which only one tensor refers needs no search.

Arrays that are no tensor's keep the old memory: NumPy arrays of the user, and values saved for a backward pass, which the version
counter guards. If the memory belongs to the user it cannot be resized at all: see `is_resizable`.

A tensor that reaches beyond the end of memory that shrank holds a MissingMemory in place of an array.

Not compiled: NumPy and the search take the time.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable
from math import prod
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from wengert import errors
from wengert.backends import numpy as numpy_backend
from wengert.backends.selection import backend_of, new_bytes, others
from wengert.core.collector import reveal
from wengert.core.tensor import TensorBase
from wengert.kernels.memory import bounds_of, offset_of, owner_of

# Roots by their id. Those made here are resizable whoever refers to them; those shared with other processes are not.
_own: WeakValueDictionary[int, Any] = WeakValueDictionary()
_shared: WeakValueDictionary[int, Any] = WeakValueDictionary()


class _Bytes:
    """The memory of an array as one block, for NumPy. `base` continues the chain of bases."""

    def __init__(self, root: Any, address: int, nbytes: int) -> None:
        self.base = root
        self.__array_interface__ = {
            "data": (address, not root.flags.writeable), "shape": (nbytes,), "typestr": "|u1", "version": 3,
        }  # fmt: skip


def bytes_of(root: Any) -> Any:
    """Return the memory of a root as a vector of uint8."""
    if root.dtype == np.uint8 and root.ndim == 1 and root.flags.c_contiguous:
        return root
    low, high = bounds_of(root)
    xp = backend_of(root)
    if xp is not numpy_backend:
        step = root.itemsize
        return xp.lib.stride_tricks.as_strided(root, ((high - low) // step,), (step,)).view(np.uint8)
    return np.asarray(_Bytes(root, low, high - low))


def new_root(nbytes: int, where: str = "cpu") -> Any:
    """Return new memory on a device, as a vector of uint8, that is a root of its own. The bytes are not set."""
    root = new_bytes(nbytes, where)
    _own[id(root)] = root
    return root


def map_shared(nbytes: int) -> Any:
    """Return new memory that processes forked from this one share with it, as a vector of uint8 that is a root."""
    from mmap import mmap

    root = np.frombuffer(mmap(-1, max(nbytes, 1)), np.uint8, nbytes)
    note_shared(root)
    return root


def note_shared(root: Any) -> None:
    """Note that other processes have the memory of this root too."""
    _shared[id(root)] = root


def is_shared(root: Any) -> bool:
    """Whether other processes have the memory of this root too, after share_memory_() or of a file."""
    return _shared.get(id(root)) is root


def place(root: Any, offset: int, shape: Any, strides: Any, dtype: Any, *, writeable: bool = True) -> Any:
    """Return an array of this geometry, in bytes, over a root. If it reaches beyond the memory, return a MissingMemory.

    strides: None for row-major order."""
    if strides is None:
        strides = _row_major(shape, np.dtype(dtype).itemsize)
    memory = bytes_of(root)
    # Checked here, because NumPy takes any strides over a buffer of no bytes.
    ends = [(n - 1) * step for n, step in zip(shape, strides, strict=True)]
    first = offset + sum([end for end in ends if end < 0])
    last = offset + sum([end for end in ends if end > 0]) + np.dtype(dtype).itemsize
    if 0 not in shape and (first < 0 or last > memory.size):
        return MissingMemory(root, offset, tuple(shape), tuple(strides), np.dtype(dtype))
    if not isinstance(root, np.ndarray):
        return _place_on_device(memory, offset, first, last, shape, strides, dtype)
    if 0 in shape:
        array = np.ndarray(shape, dtype, memory, min(offset, memory.size))
    else:
        array = np.ndarray(shape, dtype, memory, offset, strides)
    if not writeable:
        array.flags.writeable = False
    return array


def _place_on_device(memory: Any, offset: int, first: int, last: int, shape: Any, strides: Any, dtype: Any) -> Any:
    """Return an array over the bytes from `first` to `last` of memory on a device. Its library makes views of views only."""
    if 0 in shape:
        return memory[:0].view(dtype).reshape(shape)
    elements = memory[first:last].view(dtype)[(offset - first) // np.dtype(dtype).itemsize :]
    return backend_of(memory).lib.stride_tricks.as_strided(elements, tuple(shape), tuple(strides))


def _row_major(shape: Any, itemsize: int) -> tuple[int, ...]:
    """Return the strides, in bytes, of an array in row-major order."""
    return tuple([itemsize * prod([max(n, 1) for n in shape[i + 1 :]]) for i in range(len(shape))])


def _moved(array: Any, old: Any, new: Any) -> Any:
    """Return the array over the root `new` that lies there as `array` lies in the root `old`."""
    writeable = isinstance(array, MissingMemory) or is_writeable(array)
    return place(new, offset_of(array, old), array.shape, array.strides, array.dtype, writeable=writeable)


def is_writeable(array: Any) -> bool:
    """Whether an array may be written. Libraries of devices have no other ones."""
    return bool(getattr(array.flags, "writeable", True))


def _link_to(root: Any, array: Any) -> int | None:
    """Return the id of the object through which the array refers to its root, or None if the array is the root."""
    link = None
    while array is not root:
        link, array = array, array.base
    return None if link is None else id(link)


def tensors_of(root: Any) -> list[Any]:
    """Return all tensors alive whose memory has this root."""
    reveal()
    found = []
    for obj in gc.get_objects():
        # Not isinstance, which asks objects of the user for their __class__.
        if issubclass(type(obj), TensorBase):
            array = obj._array
            if obj._view is not None and obj._view.physical is not None:
                array = obj._view.physical
            if array is not None and owner_of(array) is root:
                found.append(obj)
    return found


def _physical(tensor: Any) -> Any:
    view = tensor._view
    return tensor._array if view is None or view.physical is None else view.physical


def is_resizable(storage: Any, sharing: Iterable[Any]) -> bool:
    """Whether the memory of a storage can move: nobody but tensors and storages sees it.

    storage: holds the root as `_root`. sharing: the tensors of the root. An array that the user has given to from_numpy() is
    known by a reference to the root that no tensor explains."""
    # Counted first, while the attribute and the argument of getrefcount are the only references made here.
    count = sys.getrefcount(storage._root) - 2
    root = storage._root
    if is_shared(root) or not _is_allocated(root):
        return False
    if _own.get(id(root)) is root or type(root) in others:
        return True
    links = {_link_to(root, _physical(tensor)) for tensor in sharing}
    return None in links or count <= len(links)


def _is_allocated(root: Any) -> bool:
    """Whether NumPy, the pool of the kernels, or the library of a device has allocated the memory of a root."""
    xp = backend_of(root)
    if xp is not numpy_backend:
        return bool(xp.owns_memory(root))
    return root.flags.owndata or type(root.base).__name__ == "Buffer"


def is_alone(tensor: Any) -> bool:
    """Whether nothing but this tensor refers to its memory."""
    # A field that is read and passed on counts two references: the field and the argument.
    if sys.getrefcount(tensor._array) > 2 or not isinstance(tensor._array, np.ndarray):
        return False
    if not isinstance(tensor._array.base, np.ndarray):
        return _is_allocated(tensor._array)
    return tensor._array.base.base is None and sys.getrefcount(tensor._array.base) <= 2


def move(root: Any, new: Any, sharing: Iterable[Any]) -> None:
    """Copy the bytes of a root to the root `new`, as many as fit, and make it the memory of these tensors."""
    source, target = bytes_of(root), bytes_of(new)
    count = min(source.size, target.size)
    target[:count] = source[:count]
    for tensor in sharing:
        view = tensor._view
        if view is not None and view.physical is not None:
            view.physical = _moved(view.physical, root, new)
        else:
            tensor._array = _moved(tensor._array, root, new)


class MissingMemory:
    """What a tensor holds in place of an array when its storage has become too small. It has a geometry and no elements."""

    size: int
    _array = None  # selection.backend_of asks tensors for theirs

    def __init__(self, root: Any, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: Any) -> None:
        self.base = root
        self.offset = offset
        self.shape = shape
        self.dtype = dtype
        self.itemsize = dtype.itemsize
        self.ndim = len(shape)
        self.size = prod(shape)
        self.nbytes = self.size * self.itemsize
        self.strides = strides
        self.flags = np.empty(0, np.uint8).flags

    def __getattr__(self, name: str) -> Any:
        self._refuse()

    def _refuse(self, *_: Any, **__: Any) -> Any:
        step = [s // self.itemsize for s in self.strides]
        offset = self.offset // self.itemsize
        last = offset + sum([(n - 1) * s for n, s in zip(self.shape, step, strict=True)])
        raise errors.outside_storage(self.shape, step, offset, self.itemsize, last, bytes_of(self.base).size // self.itemsize)

    __array__ = __array_ufunc__ = __array_function__ = __dlpack__ = _refuse
    __getitem__ = __setitem__ = __len__ = __iter__ = __bool__ = __int__ = __float__ = __complex__ = __index__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __matmul__ = __rmatmul__ = _refuse
    __neg__ = __pos__ = __abs__ = __invert__ = __lt__ = __le__ = __gt__ = __ge__ = __pow__ = __rpow__ = _refuse
    __copy__ = __deepcopy__ = __reduce_ex__ = _refuse
