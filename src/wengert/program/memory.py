"""The plan of a program's memory: where each computed storage lies, so that memory that is read no more is used again.

Computed memory lies in one arena. A storage lives from the instruction that first writes it to the last one that reads it. An
instruction that works element by element may write its result over an input that nothing reads later.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from wengert.program import form
from wengert.program.arrays import LINE
from wengert.program.form import Instruction, Storage, Value, storages_written, values_read


class Arena:
    """Pieces of memory that are taken and given back. size: bytes that are in use at most."""

    def __init__(self) -> None:
        self.size = 0
        self._free: list[tuple[int, int]] = []  # offset and size, by the offset

    def take(self, size: int) -> int:
        """Return the offset of a piece: the smallest free one that is large enough, or one at the end."""
        fitting = [(n, offset) for offset, n in self._free if n >= size]
        if fitting:
            n, offset = min(fitting)
            i = self._free.index((offset, n))
            self._free[i : i + 1] = [(offset + size, n - size)] if n > size else []
            return offset
        offset = self.size
        if self._free and sum(self._free[-1]) == self.size:  # a free piece at the end grows
            offset = self._free.pop()[0]
        self.size = offset + size
        return offset

    def give(self, offset: int, size: int) -> None:
        """Take a piece back, and join it with its neighbours."""
        pieces = sorted([*self._free, (offset, size)])
        joined = [pieces[0]]
        for start, n in pieces[1:]:
            last, length = joined[-1]
            if last + length == start:
                joined[-1] = last, length + n
            else:
                joined.append((start, n))
        self._free = joined


def plan(
    instructions: list[Instruction], kept: Iterable[Storage], outlasting: Iterable[Storage]
) -> tuple[dict[Storage, int], int]:
    """Return the offset in the arena of each computed storage but those that are kept, and the arena's size in bytes.

    kept: storages with memory of their own. outlasting: storages that are read after the last instruction."""
    last: dict[Storage, int] = {}
    fixed = set(kept)
    for i, x in enumerate(instructions):
        for storage in _accessed(x):
            last[storage] = i
    last.update(dict.fromkeys(outlasting, len(instructions)))
    arena = Arena()
    offsets: dict[Storage, int] = {}
    ends: dict[int, list[Storage]] = {}
    for i, x in enumerate(instructions):
        for storage in _accessed(x):
            if storage.kind != form.COMPUTED or storage in fixed or storage in offsets:
                continue
            over = _overwritten(x, storage, offsets, last, i, fixed)
            if over is None:
                offsets[storage] = arena.take(rounded(storage.nbytes))
            else:
                offsets[storage] = offsets[over]
                ends[i].remove(over)
            ends.setdefault(last[storage], []).append(storage)
        for storage in ends.pop(i, ()):
            arena.give(offsets[storage], rounded(storage.nbytes))
    return offsets, arena.size


def rounded(nbytes: int) -> int:
    """Return the bytes that memory of nbytes bytes takes in an arena: whole lines of the cache, at least one."""
    return max(1, -(-nbytes // LINE)) * LINE


def _accessed(x: Instruction) -> Iterator[Storage]:
    for value in values_read(x):
        yield value.storage
    yield from storages_written(x)


def _overwritten(
    x: Instruction, storage: Storage, offsets: dict[Storage, int], last: dict[Storage, int], i: int, fixed: set[Storage]
) -> Storage | None:
    """Return the storage of an input that the result in a storage may be written over, or None."""
    for value, out in x.in_place:
        other = value.storage
        if out.storage is storage and last[other] == i and other in offsets and other not in fixed and _same_layout(value, out):
            reads = [v for v in values_read(x) if v.storage is other]
            taken = any(offsets.get(s.storage) == offsets[other] for s in x.outputs)
            if all(v == value for v in reads) and not taken:
                return other
    return None


def _same_layout(value: Value, out: Value) -> bool:
    return value.is_whole and out.is_whole and value[2:] == out[2:] and value.storage.nbytes == out.storage.nbytes
