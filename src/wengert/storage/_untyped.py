"""UntypedStorage: the memory that a tensor and its views share, as an object."""

from __future__ import annotations

import os
import sys
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from wengert import dtypes, errors
from wengert.backends.selection import device_name, move as move_to, placed, to_host
from wengert.core.relocation import (
    bytes_of,
    is_resizable,
    is_shared,
    map_shared,
    move,
    new_root,
    note_shared,
    tensors_of,
)
from wengert.devices import device, place_of
from wengert.kernels.memory import address_of, owner_of

_storages: WeakValueDictionary[int, UntypedStorage] = WeakValueDictionary()  # those alive, by the id of their root

def storage_of(array: Any) -> UntypedStorage:
    """Return the storage in which an array of a tensor lies: one object for all arrays of that memory."""
    root = owner_of(array)
    found = _storages.get(id(root))
    return UntypedStorage._of(root) if found is None or found._root is not root else found


def _checked_nbytes(nbytes: int) -> int:
    if not 0 <= nbytes < 1 << 62:
        raise errors.ShapeError(f"a storage has at least 0 and less than 2**62 bytes, not {nbytes}")
    return nbytes


class UntypedStorage:
    """Memory of bytes. UntypedStorage(n) has n bytes, which are not set; UntypedStorage([1, 2]) has these bytes, modulo 256.

    Two tensors share memory if their untyped_storage() is the same object. resize_() moves the memory, and all tensors of the
    storage with it.

    >>> import wengert
    >>> x = wengert.zeros(4)
    >>> x[1:].untyped_storage() is x.untyped_storage(), x.untyped_storage().nbytes()
    (True, 16)
    """

    __slots__ = ("__weakref__", "_filename", "_root")

    is_hpu = is_sparse = is_sparse_csr = False
    _filename: str | None
    _root: Any

    def __new__(cls, data: Any = 0, *, device: Any = None) -> UntypedStorage:
        where = place_of(device or "cpu")
        if isinstance(data, (int, np.integer)) and not isinstance(data, bool):
            return cls._of(new_root(_checked_nbytes(int(data)), where))
        if not hasattr(data, "__len__") or isinstance(data, UntypedStorage):
            raise TypeError(f"torch.UntypedStorage(): Expected a sequence type, but got {type(data).__name__}")
        for item in data:
            if not isinstance(item, (int, np.integer)):
                raise TypeError(
                    f"torch.UntypedStorage(): tried to construct a storage from a sequence ({type(data).__name__}), but one of the "
                    f"items was of type {type(item).__name__} instead of int"
                )
        return cls._of(move_to(np.array([item & 255 for item in data], np.uint8), where))

    @classmethod
    def _of(cls, root: Any) -> UntypedStorage:
        """Return a new storage of a root: see Note [Shared memory]."""
        storage = object.__new__(cls)
        storage._root = root
        storage._filename = None
        _storages[id(root)] = storage
        return storage

    @staticmethod
    def from_buffer(
        buffer: Any, byte_order: str | None = None, offset: int = 0, count: int = -1, *, dtype: Any = dtypes.uint8
    ) -> UntypedStorage:
        """Return a storage with the bytes of a buffer, in the byte order of this machine.

        byte_order: "native", "little" or "big", of the buffer; required if elements of dtype have several bytes. offset: in bytes.
        count: number of elements, all that follow if -1. Raises ValueError if the buffer is too short."""
        step = dtypes.as_numpy_dtype(dtype).itemsize
        if step > 1 and byte_order is None:
            raise RuntimeError("function missing required argument 'byte_order' (pos 2)")
        if byte_order not in (None, "native", "little", "big"):
            raise ValueError(f"invalid byte_order '{byte_order}' (expected 'big', 'little', or 'native')")
        memory = memoryview(buffer).cast("B")
        if not 0 <= offset <= len(memory):
            raise ValueError(f"offset must be non-negative and no greater than buffer length ({len(memory)}) , but got {offset}")
        length = len(memory) - offset if count < 0 else count * step
        if length % step:
            raise ValueError(f"buffer size ({length}) must be a multiple of element size ({step})")
        if offset + length > len(memory):
            held = (len(memory) - offset) // step
            raise ValueError(f"buffer has only {held} elements after offset {offset}, but specified a size of {count}")
        storage = UntypedStorage(length)
        storage._root[:] = np.frombuffer(memory, np.uint8, length, offset)
        if byte_order not in (None, "native", sys.byteorder):
            storage.byteswap(dtype)
        return storage

    @staticmethod
    def from_file(filename: Any, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """Return a storage that is a file, mapped into memory.

        shared=True writes changes to the file, which is made and enlarged as needed. shared=False keeps them in memory. Raises
        RuntimeError if the file cannot be opened or is too small."""
        from mmap import ACCESS_COPY, ACCESS_WRITE, mmap

        name = os.fspath(filename)
        try:
            file = open(name, ("r+b" if os.path.exists(name) else "w+b") if shared else "rb")  # noqa: SIM115 (closed below)
        except OSError as error:
            mode = "read-write" if shared else "read-only"
            raise RuntimeError(f"unable to open file <{name}> in {mode} mode: {error.strerror} ({error.errno})") from None
        with file:
            size = os.fstat(file.fileno()).st_size
            if shared and size < nbytes:
                file.truncate(nbytes)
            elif size < nbytes:
                raise RuntimeError(f"file <{name}> size <{size}> is smaller than the required mapping size <{nbytes}>")
            if not nbytes:
                return UntypedStorage(0)
            root = np.frombuffer(mmap(file.fileno(), nbytes, access=ACCESS_WRITE if shared else ACCESS_COPY), np.uint8)
        storage = UntypedStorage._of(root)
        if shared:
            note_shared(root)
            storage._filename = name
        return storage

    # -- size and place ------------------------------------------------------------------------------------------------

    def nbytes(self) -> int:
        """Return the number of bytes."""
        size: int = bytes_of(self._root).size
        return size

    size = __len__ = nbytes

    def data_ptr(self) -> int:
        """Return the address of the first byte, or 0 if there is none."""
        memory = bytes_of(self._root)
        return address_of(memory) if memory.size else 0

    @property
    def _cdata(self) -> int:
        """A number that is the same for all tensors of the storage."""
        return id(self)

    def element_size(self) -> int:
        """Return 1: elements are bytes."""
        return 1

    @property
    def device(self) -> device:
        """The device on which the memory lies."""
        return device(device_name(self._root))

    @property
    def is_cuda(self) -> bool:
        """Whether the memory lies on a GPU."""
        return not isinstance(self._root, np.ndarray)

    def get_device(self) -> int:
        """Return the number of the GPU on which the memory lies, -1 for main memory."""
        return -1 if self.device.index is None else self.device.index

    @property
    def filename(self) -> str | None:
        """The name of the file that the memory is shared with, or None."""
        return self._filename

    def type(self, dtype: Any = None, non_blocking: bool = False) -> str:
        """Return the name of the class, "torch.storage.UntypedStorage"."""
        if dtype is not None:
            raise errors.ArgumentError("an UntypedStorage has no other type. Hint: untyped_storage().float() converts the bytes.")
        return "torch.storage.UntypedStorage"

    def resizable(self) -> bool:
        """Whether resize_ is allowed: not if other processes or a NumPy array of the user share the memory."""
        return is_resizable(self, tensors_of(self._root))

    def resize_(self, size: int) -> UntypedStorage:
        """Change the number of bytes and return self. The first bytes keep their values.

        All tensors of the storage move along. One that reaches beyond the new end raises RuntimeError wherever its elements are
        used, until the storage is large enough again. Raises RuntimeError if the memory is shared with other processes or with
        an array given to from_numpy(): it cannot move."""
        self._relocate(new_root(_checked_nbytes(int(size)), device_name(self._root)))
        return self

    def _relocate(self, new: Any) -> None:
        """Move the bytes, and all tensors, to the root `new`."""
        sharing = tensors_of(self._root)
        if not is_resizable(self, sharing):
            raise errors.InplaceError("Trying to resize storage that is not resizable")
        root = self._root
        move(root, new, sharing)
        _storages.pop(id(root), None)
        self._root = new
        _storages[id(new)] = self

    def is_shared(self) -> bool:
        """Whether other processes have the memory too, or could get it: memory of a GPU always could in torch."""
        return self.is_cuda or is_shared(self._root)

    def share_memory_(self) -> UntypedStorage:
        """Move to memory that processes forked from now on share with this one, and return self. Tensors move along.

        Memory of a GPU stays as it is."""
        if not self.is_shared():
            self._relocate(map_shared(self.nbytes()))
        return self

    def is_pinned(self, device: Any = None) -> bool:
        """Return False: there is no GPU for which memory could be pinned."""
        return False

    def _elements(self, dtype: Any) -> Any:
        """Return the memory as a vector of this dtype."""
        memory, step = bytes_of(self._root), dtype.itemsize
        return memory[: memory.size // step * step].view(dtypes.as_numpy_dtype(dtype))

    # -- elements ------------------------------------------------------------------------------------------------------

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return UntypedStorage._of(bytes_of(self._root)[index].copy())
        return int(bytes_of(self._root)[checked_index(index, self.nbytes(), "torch.UntypedStorage")])

    def __setitem__(self, index: Any, value: int) -> None:
        if not isinstance(index, slice):
            index = checked_index(index, self.nbytes(), "torch.UntypedStorage")
        bytes_of(self._root)[index] = int(value) & 255

    def __iter__(self) -> Any:
        return iter(self.tolist())

    def tolist(self) -> list[int]:
        """Return the bytes as a list of ints."""
        values: list[int] = bytes_of(self._root).tolist()
        return values

    def fill_(self, value: int) -> UntypedStorage:
        """Set all bytes to value, modulo 256, and return self."""
        bytes_of(self._root)[:] = int(value) & 255
        return self

    def copy_(self, source: Any, non_blocking: bool | None = None) -> UntypedStorage:
        """Copy the bytes of another storage and return self. Raises RuntimeError if the sizes differ."""
        memory, other = bytes_of(self._root), bytes_of(as_untyped(source)._root)
        if memory.size != other.size:
            raise errors.ShapeError(f"size does not match, self was {memory.size} bytes but src was {other.size} bytes")
        memory[:] = placed(other, memory)
        return self

    def clone(self) -> UntypedStorage:
        """Return a copy."""
        return UntypedStorage(self.nbytes(), device=self.device).copy_(self)

    def new(self) -> UntypedStorage:
        """Return a storage of no bytes."""
        return UntypedStorage()

    def byteswap(self, dtype: Any) -> None:
        """Reverse the bytes of each element of this dtype. Of complex numbers both parts are reversed, each for itself."""
        wanted = dtypes.as_dtype(dtype)
        step = wanted.to_real().itemsize
        memory = bytes_of(self._root)
        if memory.size % step:
            raise errors.ShapeError(f"the size of the storage, {memory.size} bytes, is no multiple of {step}")
        memory[:] = memory.reshape(-1, step)[:, ::-1].reshape(-1)

    def untyped(self) -> UntypedStorage:
        """Return self."""
        return self

    def cpu(self) -> UntypedStorage:
        """Return a copy in main memory, or self if it lies there."""
        return self.to(device="cpu")

    def cuda(self, device: Any = None, non_blocking: bool = False) -> UntypedStorage:
        """Return a copy on a GPU, or self if it lies there. device=None: the current GPU. Raises RuntimeError without a GPU."""
        return self.to(device="cuda" if device is None else device)

    def to(self, *, device: Any, non_blocking: bool = False) -> UntypedStorage:
        """Return a copy on a device, or self if it lies there. Raises RuntimeError if there is no such device."""
        where = place_of(device)
        return self if where == device_name(self._root) else UntypedStorage._of(move_to(bytes_of(self._root), where))

    def pin_memory(self, device: Any = None) -> UntypedStorage:
        """Return self: there is no GPU for which memory could be pinned."""
        return self

    # -- protocols -----------------------------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and other._root is self._root

    def __hash__(self) -> int:
        return id(self)

    def __copy__(self) -> UntypedStorage:
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> UntypedStorage:
        if id(self) not in memo:
            memo[id(self)] = self.clone()
        found: UntypedStorage = memo[id(self)]
        return found

    def __reduce__(self) -> tuple[Any, tuple[bytes, str]]:
        return _storage_of_bytes, (to_host(bytes_of(self._root)).tobytes(), device_name(self._root))

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes()

    def __repr__(self) -> str:
        return format_elements(self.tolist(), f"torch.storage.UntypedStorage(device={self.device}) of size {self.nbytes()}")


def _storage_of_bytes(content: bytes, where: str) -> UntypedStorage:
    return UntypedStorage.from_buffer(content).to(device=where)


def format_elements(values: list[Any], name: str) -> str:
    return "\n".join([f" {value}" for value in values] or [" "]) + f"\n[{name}]"


def checked_index(index: Any, size: int, name: str) -> int:
    if not isinstance(index, (int, np.integer)):
        raise TypeError(f"can't index a {name} with {type(index).__name__}")
    if not -size <= index < size:
        raise IndexError(f"index {index} out of range for storage of size {size}")
    return int(index)


def as_untyped(source: Any) -> UntypedStorage:
    """Return the untyped storage of a storage. Raises TypeError for another object."""
    if not hasattr(source, "untyped"):
        raise errors.ArgumentError(f"expected a storage, but got {type(source).__name__}")
    found: UntypedStorage = source.untyped()
    return found
