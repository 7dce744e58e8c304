"""Keeping saved values as they were while their memory is written: the core of allow_mutation_on_saved_tensors.

Inside such a block a saved value is a KeptValue, known by the version counter of its memory. A write into that memory
first gives every KeptValue of it a copy of its own. Not compiled: such blocks are rare.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakSet

from wengert import errors
from wengert.core.modes import state
from wengert.core.saved import set_write_guard
from wengert.core.tensor import TensorBase, VersionCounter, counter_of, wrap


class KeptValue:
    """A saved array and the counter of its memory; counter is None once the array is a copy that nobody can write."""

    __slots__ = ("__weakref__", "array", "counter", "keeper")

    def __init__(self, tensor: TensorBase, keeper: MutationKeeper) -> None:
        self.array = tensor._array
        self.counter: VersionCounter | None = counter_of(tensor)
        self.keeper = keeper


class MutationKeeper:
    """The values saved in one block, by the counter of their memory."""

    def __init__(self) -> None:
        self.by_counter: dict[int, WeakSet[KeptValue]] = {}
        self.closed = False

    def pack(self, tensor: TensorBase) -> KeptValue:
        """Keeps a value, for as long as the node that saved it does."""
        kept = KeptValue(tensor, self)
        self.by_counter.setdefault(id(kept.counter), WeakSet()).add(kept)
        return kept

    def unpack(self, kept: KeptValue) -> Any:
        """The value as it was when it was saved."""
        if self.closed:
            raise errors.mutation_block_left()
        tensor = wrap(kept.array)
        tensor._counter = kept.counter
        return tensor

    def before_write(self, counter: VersionCounter) -> None:
        """Gives all that was saved of this memory copies."""
        copies: dict[int, Any] = {}
        for kept in self.by_counter.pop(id(counter), ()):
            if kept.counter is counter:  # else a counter that is gone had the same id
                key = id(kept.array)
                if key not in copies:
                    copies[key] = kept.array, kept.array.copy()
                kept.array = copies[key][1]
                kept.counter = None

    def clear(self) -> None:
        """Forgets all of it."""
        self.by_counter.clear()


def guard_write(target: TensorBase) -> None:
    """Called before target's memory is written, where blocks of hooks are open."""
    if state.mutation is not None and target._counter is not None:
        state.mutation.before_write(target._counter)


set_write_guard(guard_write)
