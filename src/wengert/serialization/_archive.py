"""The zip archives that torch.save writes: entries that are stored, each aligned to 64 bytes.

Reading trusts no number of the file: an entry lies within the file, is not compressed, and all storages that are read are together
no larger than the file. The CRC of an entry is not checked, as in torch, which can be told not to compute it.
"""

from __future__ import annotations

import zipfile
import zlib
from typing import Any

import numpy as np

from wengert import errors
from wengert.core.relocation import new_root

ALIGNMENT = 64
_HEADER = 30  # bytes of the header before an entry, without its name and extra field
_ZIP64 = (1 << 31) - 1  # size from which zipfile adds a field of 20 bytes to the header
_ADVICE = (
    "If you are seeing this error, there is a high likelihood that your checkpoint file is corrupted. This can happen if the "
    "checkpoint was not saved properly, was transferred incorrectly, or the file was modified after saving."
)


def damaged(what: str) -> Exception:
    """Return the error for a damaged archive, in torch's words."""
    return errors.FileFormatError(f"PytorchStreamReader failed reading zip archive: {what}. {_ADVICE}")


class ArchiveWriter:
    """Writes the entries of an archive into a file."""

    def __init__(self, file: Any, name: str) -> None:
        self.name = name
        target: Any = file if hasattr(file, "flush") else _Flushed(file)
        self.zip: Any = zipfile.ZipFile(target, "w")
        self.checksum = 0
        self.names = 0

    def write(self, name: str, content: Any) -> None:
        """Write one entry. content: bytes, or a vector of uint8."""
        memory = memoryview(content).cast("B")
        info = zipfile.ZipInfo(f"{self.name}/{name}")  # dated 1980, so that equal contents make equal files
        large = 20 if len(memory) * 1.05 > _ZIP64 else 0
        start = self.zip.fp.tell() + _HEADER + len(info.filename.encode()) + large + 4
        padding = -start % ALIGNMENT
        info.extra = b"FB" + padding.to_bytes(2, "little") + b"Z" * padding
        self.zip.writestr(info, memory)
        self.checksum = zlib.crc32(info.CRC.to_bytes(4, "little"), self.checksum)
        self.names = zlib.crc32(name.encode(), self.names)

    def close(self) -> None:
        """Write what the archive ends with."""
        self.write(".data/serialization_id", f"{self.names:020d}{self.checksum:020d}".encode())
        self.zip.close()


class _Flushed:
    """A file that can only write, for zipfile, which flushes as well."""

    def __init__(self, file: Any) -> None:
        self.write = file.write

    def flush(self) -> None:
        """Do nothing."""


class ArchiveReader:
    """Reads the entries of an archive. memory: the whole file as a vector of uint8, to be shared, or None to read from file."""

    def __init__(self, file: Any, memory: Any = None) -> None:
        self.file = file
        self.memory = memory
        self.length = file.seek(0, 2)
        self.left = self.length  # bytes of storages that may still be read
        try:
            self.entries = {entry.filename: entry for entry in zipfile.ZipFile(file).infolist()}
        except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError, OverflowError, UnicodeError, LookupError) as error:
            what = "not a ZIP archive" if self.length < 22 else "failed finding central directory"
            raise damaged(what) from error
        first = next(iter(self.entries), "")
        self.name = first.split("/")[0] if "/" in first else ""

    def has(self, name: str) -> bool:
        """Whether there is an entry of this name."""
        return self._full(name) in self.entries

    def _full(self, name: str) -> str:
        return f"{self.name}/{name}" if self.name else name

    def place(self, name: str) -> tuple[int, int]:
        """Return start and size, in bytes, of an entry in the file. Raises RuntimeError if the entry is missing or damaged."""
        entry = self.entries.get(self._full(name))
        if entry is None:
            raise errors.FileFormatError(f"PytorchStreamReader failed locating file {name}: file not found. {_ADVICE}")
        if entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size or entry.flag_bits & 1:
            raise damaged(f"the entry {name} is compressed or encrypted")
        if not 0 <= entry.header_offset <= self.length - _HEADER:
            raise damaged("invalid header or archive is corrupted")
        self.file.seek(entry.header_offset)
        header = self.file.read(_HEADER)
        start = entry.header_offset + _HEADER + int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
        if header[:4] != b"PK\x03\x04" or start + entry.file_size > self.length:
            raise damaged("invalid header or archive is corrupted")
        return start, entry.file_size

    def read(self, name: str) -> bytes:
        """Return the content of an entry."""
        start, size = self.place(name)
        self.file.seek(start)
        content: bytes = self.file.read(size)
        if len(content) != size:
            raise damaged("unexpected end of the file")
        return content

    def storage(self, name: str, nbytes: int, step: int) -> Any:
        """Return the first bytes of an entry as a vector of uint8. step: size of an element, to which shared memory is aligned."""
        start, size = self.place(name)
        if size < nbytes:
            raise damaged(f"the storage {name} has {size} bytes, and {nbytes} are expected")
        self.left -= nbytes
        if self.left < 0:
            raise damaged("storages overlap")
        if self.memory is not None:
            root = self.memory[start : start + nbytes]
            # An array of its own over the memory, which is no view of another storage.
            return np.frombuffer(memoryview(root), np.uint8) if nbytes and start % min(step, 8) == 0 else _copy(root)
        root = new_root(nbytes)
        self.file.seek(start)
        if nbytes and self.file.readinto(memoryview(root)) != nbytes:
            raise damaged("unexpected end of the file")
        return root

    def byte_order(self, default: str) -> str:
        """Return "little" or "big", default if the file does not say."""
        if not self.has("byteorder"):
            return default
        found = self.read("byteorder").decode("ascii", "replace")
        if found not in ("little", "big"):
            raise errors.FileFormatError(f"Unknown endianness type: {found!r:.50}")
        return found


def _copy(memory: Any) -> Any:
    root = new_root(memory.size)
    root[:] = memory
    return root


def map_file(file: Any) -> Any:
    """Return a file as a vector of uint8. Writes into it do not reach the file."""
    from mmap import ACCESS_COPY, mmap

    return np.frombuffer(mmap(file.fileno(), 0, access=ACCESS_COPY), np.uint8)

