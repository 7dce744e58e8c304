"""Keeping saved values as they were while their memory is written: the core of allow_mutation_on_saved_tensors.

Inside such a block a saved value is a KeptValue, known by the array that owns its memory. A write into that memory first
gives every KeptValue of it a copy of its own. Not compiled: such blocks are rare.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakSet

from wengert import errors
from wengert.core.modes import state
from wengert.core.saved import set_write_guard
from wengert.core.tensor import TensorBase, VersionCounter, counter_of, wrap
from wengert.kernels.memory import owner_of


class KeptValue:
    """A saved array and the counter of its memory; counter is None once the array is a copy that nobody can write."""

    __slots__ = ("__weakref__", "array", "counter")

    def __init__(self, tensor: TensorBase) -> None:
        self.array = tensor._array
        self.counter: VersionCounter | None = counter_of(tensor)


class MutationKeeper:
    """The values saved in one block, by the array that owns their memory."""

    def __init__(self) -> None:
        self.by_owner: dict[int, WeakSet[KeptValue]] = {}
        self.closed = False

    def pack(self, tensor: TensorBase) -> KeptValue:
        """Keep a value, for as long as the node that saved it does."""
        kept = KeptValue(tensor)
        self.by_owner.setdefault(id(owner_of(kept.array)), WeakSet()).add(kept)
        return kept

    def unpack(self, kept: KeptValue) -> Any:
        """Return the value as it was when it was saved."""
        if self.closed:
            raise errors.MutationBlockError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in which the graph was "
                "originally recorded."
            )
        tensor = wrap(kept.array)
        tensor._counter = kept.counter
        return tensor

    def before_write(self, array: Any) -> None:
        """Give all that was saved of this array's memory copies."""
        owner = owner_of(array)
        copies: dict[int, tuple[Any, Any]] = {}  # of each array, with the array: its id stays its own
        for kept in self.by_owner.pop(id(owner), ()):
            if kept.counter is not None and owner_of(kept.array) is owner:  # else one that is gone had the same id
                if id(kept.array) not in copies:
                    copies[id(kept.array)] = kept.array, kept.array.copy()
                kept.array, kept.counter = copies[id(kept.array)][1], None

    def clear(self) -> None:
        """Forget all of it."""
        self.by_owner.clear()


def guard_write(target: TensorBase) -> None:
    """Keep saved values apart from a write into target's memory. Called before the write, if blocks of hooks are open."""
    if state.mutation is not None:
        state.mutation.before_write(target._array)


set_write_guard(guard_write)
