"""save and load: tensors, and dicts, lists and tuples of them, in a file that holds data and no code.

The file is a zip archive. `data.json` describes the nesting; `0.npy`, `1.npy`, ... are the arrays, which NumPy can read
too. Unlike pickle, loading never runs code from the file, so only the types listed in `save` can be saved.
"""

from __future__ import annotations

import json
import zipfile
from collections import OrderedDict
from os import PathLike
from typing import IO, Any

import numpy as np

from wengert import dtypes, errors
from wengert.core.tensor import TensorBase, wrap
from wengert.sizes import Size

__all__ = ["load", "save"]

FORMAT = "wengert 1"

File = str | PathLike[str] | IO[bytes]


def save(obj: Any, f: File) -> None:
    """Save obj to a file f: a path, or an object open for writing bytes.

    obj: a tensor, number, string, None, dtype or Size, or dicts, lists and tuples of these, nested to any depth. A tensor
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
    text = json.dumps({"format": FORMAT, "object": _describe(obj, arrays, {})})
    with zipfile.ZipFile(f, "w") as archive:
        archive.writestr("data.json", text)
        for i, array in enumerate(arrays):
            with archive.open(f"{i}.npy", "w", force_zip64=True) as part:
                np.lib.format.write_array(part, array, allow_pickle=False)


def load(f: File, map_location: Any = None, *, weights_only: bool = True) -> Any:
    """Load an object from a file that `save` has written. f: a path, or an object open for reading bytes.

    map_location and weights_only are accepted, without effect: tensors are loaded into main memory, and a file holds no
    code. Raises ValueError for a file that save has not written, such as torch's own files, which are pickles.
    """
    if not zipfile.is_zipfile(f):
        raise _not_a_saved_file()
    with zipfile.ZipFile(f) as archive:
        if "data.json" not in archive.namelist():
            raise _not_a_saved_file()
        description = json.loads(archive.read("data.json"))
        if description.get("format") != FORMAT:
            raise _not_a_saved_file()
        return _Loader(archive).build(description["object"])


def _not_a_saved_file() -> Exception:
    return errors.FileFormatError(
        "this is no file that wengert.save has written. Hint: files of torch are pickles; load them with torch, and save "
        "their tensors with numpy.savez."
    )


def _describe(obj: Any, arrays: list[Any], seen: dict[int, int]) -> Any:
    """Describe obj for JSON: as itself if JSON has its type, else as [kind, ...].

    arrays: the arrays of the tensors met so far. seen: the index of a tensor in arrays, by the tensor's id."""
    if obj is None or type(obj) in (bool, int, str):
        return obj
    if isinstance(obj, TensorBase):
        if id(obj) not in seen:
            seen[id(obj)] = len(arrays)
            arrays.append(_storable(obj._array))
        return ["tensor", seen[id(obj)], dtypes.from_numpy_dtype(obj._array.dtype).name, obj.requires_grad]
    if isinstance(obj, dict):
        items = [[_describe(key, arrays, seen), _describe(value, arrays, seen)] for key, value in obj.items()]
        return ["OrderedDict" if isinstance(obj, OrderedDict) else "dict", items]
    if isinstance(obj, (list, tuple)) and type(obj) in (list, tuple, Size):
        return [type(obj).__name__, [_describe(x, arrays, seen) for x in obj]]
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

    def build(self, description: Any) -> Any:
        """Build the object of a description that _describe has made."""
        if not isinstance(description, list):
            return description
        kind, content, *rest = description
        if kind == "tensor":
            return self.tensor(content, *rest)
        if kind in ("dict", "OrderedDict"):
            pairs = [(self.build(key), self.build(value)) for key, value in content]
            return OrderedDict(pairs) if kind == "OrderedDict" else dict(pairs)
        if kind in ("list", "tuple", "Size"):
            return {"list": list, "tuple": tuple, "Size": Size}[kind]([self.build(x) for x in content])
        if kind in ("float", "complex"):
            return {"float": float, "complex": complex}[kind](content)
        if kind == "dtype":
            return dtypes.as_dtype(content)
        raise _not_a_saved_file()

    def tensor(self, number: int, dtype: str, requires_grad: bool) -> Any:
        """Return the tensor of an array; the same tensor each time."""
        if number not in self.tensors:
            with self.archive.open(f"{number}.npy") as part:
                array = np.lib.format.read_array(part, allow_pickle=False)
            tensor = wrap(array.view(dtypes.as_numpy_dtype(dtypes.bfloat16)) if dtype == "bfloat16" else array)
            tensor.requires_grad = requires_grad
            self.tensors[number] = tensor
        return self.tensors[number]
