"""save and load: tensors, and dicts, lists and tuples of them, in a file that holds data and no code.

The file is a zip archive. `data.json` describes the nesting; `0.npy`, `1.npy`, ... are the arrays, which NumPy can read
too. Unlike pickle, loading never runs code from the file, so only the types listed in `save` can be saved.
"""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from collections import OrderedDict
from math import prod
from os import PathLike
from typing import IO, Any

import numpy as np

from wengert import dtypes, errors
from wengert.core.tensor import TensorBase, wrap
from wengert.sizes import Size

__all__ = ["load", "save"]

FORMAT = "wengert 1"

# What a damaged file makes zipfile, json, NumPy and this module raise.
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, TypeError, LookupError, AttributeError, OverflowError,
    MemoryError, RuntimeError, SyntaxError,
)  # fmt: skip
_DEPTH = 200  # levels of nesting; each takes a few calls of Python, of which there are 1,000 by default

File = str | PathLike[str] | IO[bytes]


def save(obj: Any, f: File) -> None:
    """Save obj to a file f: a path, or an object open for writing bytes.

    obj: a tensor, number, string, None, dtype or Size, or dicts, lists and tuples of these, nested up to 200 levels deep. A tensor
    keeps its values, dtype and requires_grad, and is loaded as a leaf. A tensor that occurs twice is saved once and
    loaded as one tensor. Raises TypeError for objects of other types; use pickle for them, which tensors support.

    >>> import io, wengert
    >>> file = io.BytesIO()
    >>> wengert.save({"weight": wengert.ones(2, requires_grad=True), "epoch": 3}, file)
    >>> _ = file.seek(0)
    >>> wengert.load(file)
    {'weight': tensor([1., 1.], requires_grad=True), 'epoch': 3}
    """
    arrays: list[Any] = []
    text = json.dumps({"format": FORMAT, "object": _describe(obj, arrays, {}, 0)})
    with zipfile.ZipFile(f, "w") as archive:
        archive.writestr("data.json", text)
        for i, array in enumerate(arrays):
            with archive.open(f"{i}.npy", "w", force_zip64=True) as part:
                np.lib.format.write_array(part, array, allow_pickle=False)


def load(f: File, map_location: Any = None, *, weights_only: bool = True) -> Any:
    """Load an object from a file that `save` has written. f: a path, or an object open for reading bytes.

    map_location and weights_only are accepted, without effect: tensors are loaded into main memory, and a file holds no
    code. Raises FileFormatError, a ValueError, for a damaged file, and for one that save has not written, such as torch's own
    files, which are pickles. The memory that load takes is bounded by a multiple of the size of the file.
    """
    try:
        with zipfile.ZipFile(f) as archive:
            return _Loader(archive).load()
    except errors.FileFormatError:
        raise
    except _DAMAGE as error:
        raise _not_a_saved_file() from error


def _not_a_saved_file() -> Exception:
    return errors.FileFormatError(
        "this is no file that wengert.save has written, or it is damaged. Hint: files of torch are pickles; load them with torch, "
        "and save their tensors with numpy.savez."
    )


def _describe(obj: Any, arrays: list[Any], seen: dict[int, int], depth: int) -> Any:
    """Describe obj for JSON: as itself if JSON has its type, else as [kind, ...].

    arrays: the arrays of the tensors met so far. seen: the index of a tensor in arrays, by the tensor's id."""
    if depth > _DEPTH:
        raise errors.ArgumentError(f"save() takes objects that are nested at most {_DEPTH} levels deep")
    if obj is None or type(obj) in (bool, int, str):
        return obj
    if isinstance(obj, TensorBase):
        if id(obj) not in seen:
            seen[id(obj)] = len(arrays)
            arrays.append(_storable(obj._array))
        return ["tensor", seen[id(obj)], dtypes.from_numpy_dtype(obj._array.dtype).name, obj.requires_grad]
    if isinstance(obj, dict):
        items = [[_describe(key, arrays, seen, depth + 1), _describe(value, arrays, seen, depth + 1)] for key, value in obj.items()]
        return ["OrderedDict" if isinstance(obj, OrderedDict) else "dict", items]
    if isinstance(obj, (list, tuple)) and type(obj) in (list, tuple, Size):
        return [type(obj).__name__, [_describe(x, arrays, seen, depth + 1) for x in obj]]
    if type(obj) is float:
        return ["float", repr(obj)]  # JSON has no infinity
    if type(obj) is complex:
        return ["complex", repr(obj)]
    if isinstance(obj, dtypes.dtype):
        return ["dtype", obj.name]
    raise errors.ArgumentError(
        "save() takes tensors, numbers, strings, None, dtypes, and dicts, lists and tuples of these, but got "
        f"{type(obj).__name__}. Hint: pickle.dump keeps objects of other classes."
    )


def _storable(array: Any) -> Any:
    """Return the array in a dtype that NumPy can store: bfloat16 as uint16."""
    array = np.asarray(array)
    return array.view(np.uint16) if array.dtype.kind == "V" else array


class _Loader:
    """Builds an object from its description and the archive's arrays."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.archive = archive
        self.tensors: dict[int, Any] = {}

    def load(self) -> Any:
        """Return the object of the archive."""
        entry = self.archive.getinfo("data.json")
        # save does not compress, so a description that grows when it is read is none of save's.
        if entry.compress_type != zipfile.ZIP_STORED or entry.file_size > entry.compress_size:
            raise _not_a_saved_file()
        description = json.loads(self.archive.read(entry))
        if description["format"] != FORMAT:
            raise _not_a_saved_file()
        return self.build(description["object"], 0)

    def build(self, description: Any, depth: int) -> Any:
        """Return the object of a description that _describe has made."""
        if not isinstance(description, list):
            if description is None or isinstance(description, (bool, int, str)):
                return description
            raise _not_a_saved_file()
        if depth > _DEPTH:
            raise _not_a_saved_file()
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
        raise _not_a_saved_file()

    def tensor(self, number: int, dtype: str, requires_grad: bool) -> Any:
        """Return the tensor of an array; the same tensor each time."""
        if number not in self.tensors:
            array = self.array(number)
            tensor = wrap(array.view(dtypes.as_numpy_dtype(dtypes.bfloat16)) if dtype == "bfloat16" else array)
            if dtypes.from_numpy_dtype(tensor._array.dtype).name != dtype:
                raise _not_a_saved_file()
            tensor.requires_grad = requires_grad
            self.tensors[number] = tensor
        return self.tensors[number]

    def array(self, number: int) -> np.ndarray:
        """Return an array of the archive. Raises FileFormatError if the header asks for more bytes than the archive has."""
        entry = self.archive.getinfo(f"{number:d}.npy")
        if entry.compress_type != zipfile.ZIP_STORED or entry.file_size > entry.compress_size:
            raise _not_a_saved_file()
        with self.archive.open(entry) as part:
            version = np.lib.format.read_magic(part)
            read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, dtype = read_header(part)
            if dtype.hasobject or dtype.itemsize * prod(shape) > entry.file_size:
                raise _not_a_saved_file()
        with self.archive.open(entry) as part:
            array: np.ndarray = np.lib.format.read_array(part, allow_pickle=False)
        return array
