"""Files that are no zip archives of torch: torch's format before 1.6, the tar archives of torch 0.1, and wengert's first format.

The format before 1.6 is a sequence of pickles (a magic number, a version, facts about the system, the object, the keys of its
storages), then each storage: its number of elements as an int64, and its bytes.
"""

from __future__ import annotations

import json
import struct
import sys
import tarfile
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from wengert import dtypes, errors
from wengert.backends.selection import device_name, on_device, placed, to_host
from wengert.core.relocation import bytes_of, new_root
from wengert.core.tensor import wrap
from wengert.serialization import _rebuild
from wengert.sizes import Size
from wengert.storage import TypedStorage, UntypedStorage
from wengert.storage._typed import typed_storage

MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION = 1001

Unpickle = Callable[[Any], Any]  # reads the next pickle of a file, given persistent_load


def storage_type(kind: Any) -> Any:
    """Return the dtype of a class of storages that a file names, or None for UntypedStorage."""
    if kind is UntypedStorage:
        return None
    if not isinstance(kind, type) or not issubclass(kind, TypedStorage) or kind is TypedStorage:
        raise errors.FileFormatError("the file is damaged: something else stands where a class of storages should")
    return vars(kind)["dtype"]


def as_typed(untyped: UntypedStorage, dtype: Any) -> Any:
    """Return the storage as files have it: typed, or untyped if dtype is None."""
    return untyped if dtype is None else typed_storage(untyped, dtype)


def checked_identity(identity: Any, fields: int) -> tuple[Any, ...]:
    """Return (dtype or None, key, location, number of bytes, further fields ...) of a storage in a pickle."""
    if not isinstance(identity, tuple) or len(identity) != fields or identity[0] != "storage":
        raise errors.FileFormatError("the file is damaged: the identity of a storage")
    _, kind, key, location, count, *rest = identity
    dtype = storage_type(kind)
    if not isinstance(key, str) or not isinstance(location, str) or type(count) is not int or not 0 <= count < 1 << 56:
        raise errors.FileFormatError("the file is damaged: the identity of a storage")
    return (dtype, key, location, count * (1 if dtype is None else dtype.itemsize), *rest)


# -- before 1.6 --------------------------------------------------------------------------------------------------------


def read_sequence(file: Any, unpickle: Unpickle, restore: Any, length: int) -> Any:
    """Return the object of a file in the format before 1.6. length: of the rest of the file, which bounds all storages."""
    if unpickle(None) != MAGIC_NUMBER:
        raise errors.FileFormatError("Invalid magic number; corrupt file?")
    version = unpickle(None)
    if version != PROTOCOL_VERSION:
        raise errors.FileFormatError("Invalid protocol version; corrupt file?")
    facts = unpickle(None)
    swap = isinstance(facts, dict) and facts.get("little_endian", True) is not (sys.byteorder == "little")
    storages: dict[str, tuple[UntypedStorage, Any]] = {}
    left = length

    def persistent_load(identity: Any) -> Any:
        nonlocal left
        if isinstance(identity, tuple) and identity and identity[0] == "module":
            return identity[1]  # a class with the source that it had
        dtype, key, location, nbytes, view = checked_identity(identity, 6)
        if key not in storages:
            left -= nbytes
            if left < 0:
                raise errors.FileFormatError(f"unexpected EOF, expected {-left} more bytes. The file might be corrupted.")
            storages[key] = restore(UntypedStorage(nbytes), location).untyped(), dtype
        untyped = storages[key][0]
        if view is not None:
            return as_typed(_part_of(untyped, view, dtype), dtype)
        return as_typed(untyped, dtype)

    result = unpickle(persistent_load)
    keys = unpickle(None)
    if not isinstance(keys, list) or not all(isinstance(key, str) and key in storages for key in keys):
        raise errors.FileFormatError("the file is damaged: keys of storages")
    for key in keys:
        _fill(file, *storages[key], swap)
    return result


def _part_of(untyped: UntypedStorage, view: Any, dtype: Any) -> UntypedStorage:
    """Return a storage that was a part of another in early versions: a tuple of key, offset and size, in elements."""
    step = dtype.itemsize
    if not isinstance(view, tuple) or len(view) != 3 or not all(type(n) is int and n >= 0 for n in view[1:]):
        raise errors.FileFormatError("the file is damaged: a part of a storage")
    start, end = view[1] * step, (view[1] + view[2]) * step
    if end > untyped.nbytes():
        raise errors.FileFormatError("the file is damaged: a part of a storage")
    part = bytes_of(untyped._root)[start:end]
    return UntypedStorage._of(part if untyped.is_cuda else np.frombuffer(memoryview(part), np.uint8))


def _fill(file: Any, untyped: UntypedStorage, dtype: Any, swap: bool) -> None:
    """Read the bytes of a storage, which follow their number, into it."""
    (count,) = struct.unpack(">q" if swap and sys.byteorder == "little" else "=q", _read(file, 8))
    if count * (1 if dtype is None else dtype.itemsize) != untyped.nbytes():
        raise errors.FileFormatError("storage has wrong byte size: the file might be corrupted.")
    with on_device(device_name(untyped._root)):
        untyped._root[:] = placed(np.frombuffer(_read(file, untyped.nbytes()), np.uint8), untyped._root)
    if swap and dtype is not None and dtype.itemsize > 1:
        untyped.byteswap(dtype)


def _read(file: Any, count: int) -> bytes:
    content: bytes = file.read(count)
    if len(content) != count:
        raise errors.FileFormatError(f"unexpected EOF, expected {count - len(content)} more bytes. The file might be corrupted.")
    return content


def write_sequence(file: Any, dump: Callable[..., None], obj: Any) -> None:
    """Write an object in the format before 1.6. dump(file, obj, saved): pickles, and notes the storages in saved."""
    import io

    from wengert.serialization._pickler import SavedStorages

    saved = SavedStorages(legacy=True)
    content = io.BytesIO()
    facts = {"protocol_version": PROTOCOL_VERSION, "little_endian": sys.byteorder == "little",
             "type_sizes": {"short": 2, "int": 4, "long": 4}}  # fmt: skip
    for part in (MAGIC_NUMBER, PROTOCOL_VERSION, facts, obj):
        dump(content, part, saved)
    dump(content, [key for key, _, _ in saved.storages()], SavedStorages(legacy=True))
    file.write(content.getvalue())
    for _, untyped, dtype in saved.storages():
        file.write(struct.pack("=q", untyped.nbytes() // (1 if dtype is None else dtype.itemsize)))
        file.write(memoryview(to_host(untyped._elements(dtypes.uint8))))


# -- tar archives of torch 0.1 -----------------------------------------------------------------------------------------


def is_tar(file: Any) -> bool:
    """Whether a file is a tar archive. The position stays."""
    start = file.tell()
    header = file.read(512)
    file.seek(start)
    return len(header) == 512 and header[257:262] == b"ustar"


def read_tar(file: Any, unpickle_part: Callable[[Any, Any], Any], restore: Any, length: int) -> Any:
    """Return the object of a tar archive of torch 0.1. unpickle_part(file, persistent_load): reads the next pickle of a file."""
    try:
        with tarfile.open(fileobj=file, mode="r:") as archive:
            parts = {name: archive.extractfile(name) for name in ("storages", "tensors", "pickle")}
            objects = _read_tar_storages(parts["storages"], unpickle_part, restore, length)
            _read_tar_tensors(parts["tensors"], unpickle_part, objects)

            def persistent_load(identity: Any) -> Any:
                if isinstance(identity, tuple):
                    return identity[0]  # a class with the source that it had
                return objects[identity]

            return unpickle_part(parts["pickle"], persistent_load)
    except (tarfile.TarError, KeyError, struct.error) as error:
        raise errors.FileFormatError("the file is damaged: a tar archive that torch 0.1 has not written") from error


def _read_tar_storages(part: Any, unpickle_part: Any, restore: Any, left: int) -> dict[Any, Any]:
    storages: dict[Any, Any] = {}
    for _ in range(unpickle_part(part, None)):
        key, location, kind = unpickle_part(part, None)
        dtype = storage_type(kind)
        (count,) = struct.unpack("<q", _read(part, 8))
        nbytes = count * dtype.itemsize
        left -= nbytes
        if count < 0 or left < 0:
            raise errors.FileFormatError("the file is damaged: a storage")
        root = new_root(nbytes)
        root[:] = np.frombuffer(_read(part, nbytes), np.uint8)
        storages[key] = typed_storage(restore(UntypedStorage._of(root), location).untyped(), dtype)
    for target, source, offset, size in unpickle_part(part, None):
        dtype = storages[source].dtype
        storages[target] = typed_storage(_part_of(storages[source].untyped(), (None, offset, size), dtype), dtype)
    return storages


def _read_tar_tensors(part: Any, unpickle_part: Any, objects: dict[Any, Any]) -> None:
    for _ in range(unpickle_part(part, None)):
        key, storage, _kind = unpickle_part(part, None)
        (ndim,) = struct.unpack("<i", _read(part, 4))
        if not 0 <= ndim <= 64:
            raise errors.FileFormatError("the file is damaged: a tensor")
        _read(part, 4)
        numbers = struct.unpack(f"<{2 * ndim + 1}q", _read(part, 8 * (2 * ndim + 1)))
        objects[key] = _rebuild._rebuild_tensor(objects[storage], numbers[-1], numbers[:ndim], numbers[ndim:-1])


# -- wengert's first format --------------------------------------------------------------------------------------------

_FORMAT = "wengert 1"
_DEPTH = 200  # levels of nesting that the format has


def is_first_format(file: Any) -> bool:
    """Whether a zip archive is of wengert's first format, JSON and .npy. The position stays."""
    start = file.tell()
    header = file.read(39)
    file.seek(start)
    return header[30:39] == b"data.json"


def read_first_format(file: Any) -> Any:
    """Return the object of a file of wengert's first format. Raises FileFormatError for a damaged one."""
    try:
        with zipfile.ZipFile(file) as archive:
            return _FirstFormat(archive).load()
    except errors.FileFormatError:
        raise
    except Exception as error:  # whatever zipfile, json and NumPy raise for damaged files
        raise _damaged() from error


def _damaged() -> Exception:
    return errors.FileFormatError("the file is damaged, or no file that wengert.save has written")


class _FirstFormat:
    """Builds an object from its description in JSON and the archive's arrays."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.archive = archive
        self.tensors: dict[int, Any] = {}

    def load(self) -> Any:
        """Return the object of the archive."""
        entry = self.archive.getinfo("data.json")
        # The format does not compress, so a description that grows when it is read is none of it.
        if entry.compress_type != zipfile.ZIP_STORED or entry.file_size > entry.compress_size:
            raise _damaged()
        description = json.loads(self.archive.read(entry))
        if description["format"] != _FORMAT:
            raise _damaged()
        return self.build(description["object"], 0)

    def build(self, description: Any, depth: int) -> Any:
        """Return the object of a description: a value of JSON, or [kind, ...]."""
        if not isinstance(description, list):
            if description is None or isinstance(description, (bool, int, str)):
                return description
            raise _damaged()
        if depth > _DEPTH:
            raise _damaged()
        kind, content, *rest = description
        if kind == "tensor":
            return self.tensor(content, *rest)
        if kind in ("dict", "OrderedDict"):
            pairs = [(self.build(key, depth + 1), self.build(value, depth + 1)) for key, value in content]
            return OrderedDict(pairs) if kind == "OrderedDict" else dict(pairs)
        if kind in ("list", "tuple", "Size"):
            return {"list": list, "tuple": tuple, "Size": Size}[kind]([self.build(x, depth + 1) for x in content])
        if kind in ("float", "complex"):
            return {"float": float, "complex": complex}[kind](content)
        if kind == "dtype":
            return dtypes.as_dtype(content)
        raise _damaged()

    def tensor(self, number: int, dtype: str, requires_grad: bool) -> Any:
        """Return the tensor of an array; the same tensor each time."""
        if number not in self.tensors:
            array = self.array(number)
            tensor = wrap(array.view(dtypes.as_numpy_dtype(dtypes.bfloat16)) if dtype == "bfloat16" else array)
            if dtypes.from_numpy_dtype(tensor._array.dtype).name != dtype:
                raise _damaged()
            tensor.requires_grad = requires_grad
            self.tensors[number] = tensor
        return self.tensors[number]

    def array(self, number: int) -> np.ndarray:
        """Return an array of the archive. Raises FileFormatError if the header asks for more bytes than the archive has."""
        entry = self.archive.getinfo(f"{number:d}.npy")
        if entry.compress_type != zipfile.ZIP_STORED or entry.file_size > entry.compress_size:
            raise _damaged()
        with self.archive.open(entry) as part:
            version = np.lib.format.read_magic(part)
            read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, dtype = read_header(part)
            if dtype.hasobject or dtype.itemsize * prod(shape) > entry.file_size:
                raise _damaged()
        with self.archive.open(entry) as part:
            array: np.ndarray = np.lib.format.read_array(part, allow_pickle=False)
        return array
