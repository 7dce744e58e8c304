"""save and load: files in torch's own format, so that checkpoints go both ways. torch.serialization.

    _archive       zip archives
    _pickler       what save writes of an object: torch's functions and names
    _unpickler     the unpickler of load(weights_only=True), which runs no code of the file
    _rebuild       the functions that make tensors, under torch's names
    _names         names in files, and the objects that have them here
    _locations     devices of storages
    _old_formats   the format before 1.6, tar archives of 0.1, wengert's first format
"""

from __future__ import annotations

import io
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from importlib import import_module
from typing import IO, Any, TypeAlias

from wengert import errors
from wengert.backends.selection import to_host
from wengert.dtypes import uint8
from wengert.serialization import _old_formats
from wengert.serialization._archive import ALIGNMENT, ArchiveReader, ArchiveWriter, map_file
from wengert.serialization._locations import default_restore_location, location_tag, register_package, restorer
from wengert.serialization._names import find, is_torch
from wengert.serialization._old_formats import MAGIC_NUMBER, PROTOCOL_VERSION, as_typed, checked_identity
from wengert.serialization._rebuild import _get_layout as _get_layout
from wengert.serialization._unpickler import WeightsUnpickler, damaged, globals_of, is_allowed, names_of
from wengert.storage import UntypedStorage

__all__ = [
    "SourceChangeWarning", "register_package", "location_tag", "default_restore_location", "normalize_storage_type",
    "storage_to_tensor_type", "save", "load", "StorageType", "LoadEndianness", "get_default_load_endianness",
    "set_default_load_endianness", "get_default_mmap_options", "set_default_mmap_options", "get_crc32_options", "set_crc32_options",
    "clear_safe_globals", "get_safe_globals", "add_safe_globals", "safe_globals", "get_unsafe_globals_in_checkpoint",
    "check_module_version_greater_or_equal", "validate_cuda_device", "mkdtemp", "FILE_LIKE", "FileLike", "DEFAULT_PROTOCOL",
    "MAGIC_NUMBER", "PROTOCOL_VERSION",
]  # fmt: skip

DEFAULT_PROTOCOL = 2
FILE_LIKE: TypeAlias = "str | os.PathLike[str] | IO[bytes]"
FileLike = FILE_LIKE
StorageType: TypeAlias = "Callable[[Any, str], Any] | str | dict[str, str] | None"


class SourceChangeWarning(Warning):
    """The source of a class differs from the one in a file. Files have held no sources since torch 1.6."""


class LoadEndianness(Enum):
    """The byte order of files that do not say theirs."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


# -- save --------------------------------------------------------------------------------------------------------------


def save(
    obj: Any,
    f: FILE_LIKE,
    pickle_module: Any = pickle,
    pickle_protocol: int = DEFAULT_PROTOCOL,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Save obj to a file f, a path or an object with a method write, in torch's format.

    obj: anything that pickle takes. Tensors keep values, dtype, strides, attributes and requires_grad; tensors that share a storage
    still share one when they are loaded. Classes of this package are named as torch names them, so torch loads modules and
    optimizers, too. load() takes tensors, containers and numbers by default, other classes if it is told to trust the file.

    pickle_module, pickle_protocol: how the structure is pickled. _use_new_zipfile_serialization=False writes the format of torch
    before 1.6. Nothing is written, and an existing file stays, if the object cannot be pickled. An error while bytes are
    written (a full disk) leaves an incomplete file, which load refuses. Raises RuntimeError if the directory does not exist, and
    for dual tensors.

    >>> import io, wengert
    >>> file = io.BytesIO()
    >>> wengert.save({"weight": wengert.ones(2, requires_grad=True), "epoch": 3}, file)
    >>> _ = file.seek(0)
    >>> wengert.load(file)
    {'weight': tensor([1., 1.], requires_grad=True), 'epoch': 3}
    """
    from wengert.serialization._pickler import SavedStorages, pickle_into

    is_path = isinstance(f, (str, os.PathLike))
    if not is_path and not hasattr(f, "write"):
        raise AttributeError("expected 'f' to be string, path, or a file-like object with a 'write' attribute")

    def dump(file: Any, part: Any, storages: Any) -> None:
        pickle_into(file, part, storages, pickle_module, pickle_protocol)

    saved = SavedStorages(legacy=False)
    content = io.BytesIO()
    if _use_new_zipfile_serialization:
        dump(content, obj, saved)
    else:
        _old_formats.write_sequence(content, dump, obj)
    with _opened_for_writing(f) if is_path else _kept_open(f) as file:
        if not _use_new_zipfile_serialization:
            file.write(content.getbuffer())
            return
        archive = ArchiveWriter(file, _archive_name(f) if is_path else "archive")
        archive.write("data.pkl", content.getbuffer())
        archive.write(".format_version", b"1")
        archive.write(".storage_alignment", str(ALIGNMENT).encode())
        if not _disable_byteorder_record:
            archive.write("byteorder", sys.byteorder.encode())
        for key, storage, _ in saved.storages():
            archive.write(f"data/{key}", to_host(storage._elements(uint8)))
        archive.write("version", b"3\n")
        archive.close()


def _archive_name(path: Any) -> str:
    """Return the name of the directory in an archive: that of the file, without its ending."""
    return os.path.splitext(os.path.basename(os.fspath(path)))[0] or "archive"


def _opened_for_writing(path: Any) -> IO[bytes]:
    directory = os.path.dirname(os.path.abspath(os.fspath(path)))
    if not os.path.isdir(directory):
        raise RuntimeError(f"Parent directory {os.path.dirname(os.fspath(path))} does not exist.")
    return open(path, "wb")


@contextmanager
def _kept_open(file: Any) -> Iterator[Any]:
    yield file
    if hasattr(file, "flush"):
        file.flush()


# -- load --------------------------------------------------------------------------------------------------------------


def load(
    f: FILE_LIKE,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Load an object from a file that torch.save or `save` has written. f: a path, or an object with read, seek and tell.

    map_location: where storages go, which here is the CPU: a device or its name, a dict from names to names, or a function of
    storage and name that returns a storage or None. A file with tensors of a GPU needs map_location="cpu".

    weights_only: True, the default, reads tensors, numbers, strings, and dicts, lists, tuples and sets of them, and executes no
    code. Names of other classes and functions raise pickle.UnpicklingError, unless add_safe_globals() has allowed them. False
    reads any pickle, which can run any code: only for files that you trust. The environment variables
    TORCH_FORCE_WEIGHTS_ONLY_LOAD and TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD decide as in torch.

    mmap: True maps the file into memory in place of reading it; f has to be a path. Writes into the tensors do not reach the file.
    pickle_module: for weights_only=False, in place of pickle. encoding: of strings of Python 2.

    Raises FileFormatError, a RuntimeError, for a file that is damaged. The memory that load takes is bounded by a multiple of the
    size of the file. Files of torch before 1.6, tar archives of 0.1 and files of wengert's first format are read, too.
    """
    weights_only = _decide_weights_only(weights_only, pickle_module)
    if mmap and not isinstance(f, (str, os.PathLike)):
        raise ValueError("f must be a file path in order to use the mmap argument")
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            return _load(file, f, map_location, pickle_module or pickle, weights_only, bool(mmap), pickle_load_args)
    for name in ("seek", "tell", "read"):
        if not hasattr(f, name):
            raise AttributeError(
                f"{type(f).__name__!r} object has no attribute {name!r}. You can only torch.load from a file that is seekable. "
                "Please pre-load the data into a buffer like io.BytesIO and try to load from it instead."
            )
    return _load(f, f, map_location, pickle_module or pickle, weights_only, False, pickle_load_args)


def _decide_weights_only(weights_only: bool | None, pickle_module: Any) -> bool:
    forced = {"1": True, "y": True, "yes": True, "true": True}
    wanted = forced.get(os.environ.get("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "0").lower(), False)
    refused = forced.get(os.environ.get("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "0").lower(), False)
    if wanted and refused:
        raise RuntimeError(
            "Only one of `TORCH_FORCE_WEIGHTS_ONLY_LOAD` or `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD` should be set, but both were set."
        )
    if wanted:
        weights_only = True
    elif weights_only is None:
        weights_only = pickle_module is None and not refused
    if weights_only and pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    return weights_only


def _load(file: Any, given: Any, map_location: Any, module: Any, weights_only: bool, mmap: bool, options: dict[str, Any]) -> Any:
    options = {"encoding": "utf-8", **options}
    restore = restorer(map_location)
    start = file.tell()
    magic = file.read(4)
    if not magic:
        raise EOFError("Ran out of input")
    if start and magic == b"PK\x03\x04":  # positions in an archive count from its start
        file.seek(start)
        file, start = io.BytesIO(file.read()), 0
    file.seek(start)
    if magic == b"PK\x03\x04":
        if _old_formats.is_first_format(file):
            return _old_formats.read_first_format(file)
        return _load_archive(ArchiveReader(file, map_file(file) if mmap else None), restore, module, weights_only, options)
    if mmap:
        raise RuntimeError(
            f"mmap can only be used with files saved with `torch.save({given}, _use_new_zipfile_serialization=True), please "
            "torch.save your checkpoint with this option in order to use mmap."
        )
    length = file.seek(0, 2) - start
    file.seek(start)
    if _old_formats.is_tar(file):
        if weights_only:
            raise RuntimeError(
                "Cannot use ``weights_only=True`` with files saved in the legacy .tar format. Hint: weights_only=False, if you "
                "trust the file."
            )
        return _old_formats.read_tar(file, lambda part, load: _unpickle(module, part, load, options), restore, length)
    if not weights_only:
        return _guarded(
            lambda: _old_formats.read_sequence(file, lambda load: _unpickle(module, file, load, options), restore, length)
        )
    data = file.read()
    position = 0

    def unpickle(persistent_load: Any) -> Any:
        nonlocal position
        machine = WeightsUnpickler(data, position, persistent_load or _no_storage, _safe_names(), options["encoding"])
        found = machine.load()
        position = machine.position
        file.seek(start + position)
        return found

    return _old_formats.read_sequence(file, unpickle, restore, length)


def _no_storage(identity: Any) -> Any:
    raise damaged("a storage outside of the object.")


def _guarded(read: Callable[[], Any]) -> Any:
    """Read a file before 1.6 that is trusted. What pickle raises for a file that is no pickle says so."""
    try:
        return read()
    except (pickle.UnpicklingError, EOFError, IndexError, UnicodeDecodeError) as error:
        raise errors.FileFormatError(f"the file is no file of torch.save, or it is damaged: {error!s:.200}") from error


def _load_archive(archive: ArchiveReader, restore: Any, module: Any, weights_only: bool, options: dict[str, Any]) -> Any:
    if archive.has("constants.pkl") and not archive.has(".format_version"):
        raise errors.MissingFeatureError("the file is an archive of TorchScript, which wengert cannot run")
    if not archive.has("version"):
        raise errors.FileFormatError(
            'Expected hasRecord("version") to be true, but got false.  (Could this error message be improved?  If so, please '
            "report an enhancement request to PyTorch.)"
        )
    content = archive.read("data.pkl")
    swap = archive.byte_order(_default_byte_order()) != sys.byteorder
    storages: dict[str, UntypedStorage] = {}

    def persistent_load(identity: Any) -> Any:
        dtype, key, location, nbytes = checked_identity(identity, 5)
        if key not in storages:
            step = 1 if dtype is None else dtype.itemsize
            untyped = UntypedStorage._of(archive.storage(f"data/{key}", nbytes, step))
            if swap and step > 1:
                untyped.byteswap(dtype)
            storages[key] = restore(untyped, location).untyped()
        return as_typed(storages[key], dtype)

    if weights_only:
        return WeightsUnpickler(content, 0, persistent_load, _safe_names(), options["encoding"]).load()
    return _unpickle(module, io.BytesIO(content), persistent_load, options)


def _unpickle(module: Any, file: Any, persistent_load: Any, options: dict[str, Any]) -> Any:
    """Read a pickle of any content with the Unpickler of a pickle module. Names of torch find this package."""
    base = module.Unpickler

    class Unpickler(base):  # type: ignore[misc, valid-type]
        def find_class(self, module: str, name: str) -> Any:
            return find(module, name) if is_torch(module) else super().find_class(module, name)

        def persistent_load(self, identity: Any) -> Any:
            return (persistent_load or _no_storage)(identity)

    return Unpickler(file, **options).load()


# -- what may be loaded ------------------------------------------------------------------------------------------------

_safe: list[Any] = []


def _safe_names() -> dict[str, Any]:
    return names_of(_safe) if _safe else {}


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Allow load(weights_only=True) to use these classes and functions, or pairs (object, its name in files)."""
    names_of(safe_globals)  # raises for what has no name
    _safe.extend(entry for entry in safe_globals if entry not in _safe)


def get_safe_globals() -> list[Any]:
    """Return what add_safe_globals has allowed."""
    return list(_safe)


def clear_safe_globals() -> None:
    """Take back what add_safe_globals has allowed."""
    _safe.clear()


class safe_globals:
    """Context in which load(weights_only=True) may use these classes and functions, too.

    >>> import collections, wengert
    >>> with wengert.serialization.safe_globals([collections.deque]):
    ...     wengert.serialization.get_safe_globals()
    [<class 'collections.deque'>]
    """

    def __init__(self, safe_globals: list[Any]) -> None:
        self.added = list(safe_globals)
        self.before: list[Any] = []

    def __enter__(self) -> None:
        self.before = list(_safe)
        add_safe_globals(self.added)

    def __exit__(self, *exception: object) -> None:
        _safe[:] = self.before


def get_unsafe_globals_in_checkpoint(f: FILE_LIKE) -> list[str]:
    """Return the names in a file of `save` that load(weights_only=True) refuses. Nothing is executed.

    Raises ValueError for a file that is no zip archive of torch.save."""
    with open(f, "rb") if isinstance(f, (str, os.PathLike)) else _kept_open(f) as file:
        start = file.tell()
        is_archive = file.read(4) == b"PK\x03\x04"
        file.seek(start)
        if not is_archive or _old_formats.is_first_format(file):
            raise ValueError("Expected input to be a checkpoint returned by torch.save")
        content = ArchiveReader(file).read("data.pkl")
    extra = _safe_names()
    return [name for name in globals_of(content) if not is_allowed(name, extra)]


# -- settings and names that programs look for -------------------------------------------------------------------------

_settings: dict[str, Any] = {"endianness": None, "mmap": None, "crc32": True}


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """Set the byte order of files that do not say theirs. None means little, which is what such files have had.

    Raises TypeError for another value."""
    if endianness is not None and not isinstance(endianness, LoadEndianness):
        raise TypeError("Invalid argument type in function set_default_load_endianness")
    _settings["endianness"] = endianness


def get_default_load_endianness() -> LoadEndianness | None:
    """Return what set_default_load_endianness has set."""
    found: LoadEndianness | None = _settings["endianness"]
    return found


def _default_byte_order() -> str:
    chosen = _settings["endianness"]
    return {LoadEndianness.NATIVE: sys.byteorder, LoadEndianness.BIG: "big"}.get(chosen, "little")


def set_default_mmap_options(flags: int) -> None:
    """Accept flags for load(mmap=True). Files are mapped privately here: writes do not reach them."""
    _settings["mmap"] = flags


def get_default_mmap_options() -> int | None:
    """Return what set_default_mmap_options has set."""
    found: int | None = _settings["mmap"]
    return found


def set_crc32_options(compute_crc32: bool) -> None:
    """Accept whether save computes checksums. It always does."""
    _settings["crc32"] = compute_crc32


def get_crc32_options() -> bool:
    """Return what set_crc32_options has set."""
    return bool(_settings["crc32"])


def normalize_storage_type(storage_type: Any) -> Any:
    """Return the class of storages of this name: FloatStorage for torch.FloatStorage."""
    from wengert import storage

    return getattr(storage, storage_type.__name__)


def storage_to_tensor_type(storage: Any) -> Any:
    """Return the legacy class of tensors for a storage: FloatTensor for a FloatStorage."""
    return getattr(import_module("wengert"), storage.pickle_storage_type().replace("Storage", "Tensor"))


def validate_cuda_device(location: str) -> int:
    """Return the number of the GPU that a location names. Raises RuntimeError if there is none."""
    return default_restore_location(UntypedStorage(1), location).get_device()


def check_module_version_greater_or_equal(module: Any, req_version_tuple: tuple[int, ...], error_if_malformed: bool = True) -> bool:
    """Whether the version of a module, its __version__, is at least this one."""
    try:
        version = tuple([type(wanted)(part) for part, wanted in zip(module.__version__.split("."), req_version_tuple)])
    except (ValueError, AttributeError) as error:
        if error_if_malformed:
            raise RuntimeError(f"'{module.__name__}' module version string is malformed '{module.__version__}'") from error
        return True
    return version >= req_version_tuple


@contextmanager
def mkdtemp() -> Iterator[str]:
    """Context with a temporary directory, which is removed at its end."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as path:
        yield path


def __dir__() -> list[str]:
    return sorted(__all__)
