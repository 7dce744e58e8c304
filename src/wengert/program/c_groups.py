"""Groups of forms that one C function computes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from wengert.program.c_forms import Access, Cell, accesses_read
from wengert.program.form import Storage

MOST_CELLS = 300  # pointwise forms of a nest; compilers take more than linear time for longer ones
_WINDOW = 64  # nests that a pointwise form may overtake


def _shares_loops(x: Any) -> bool:
    return isinstance(x, Cell) and x.template.guard is None


class Nest:
    """Forms that one C function computes: pointwise ones of one shape, or another one, after those that make what it reads.

    shape: of the pointwise forms; None if there is another one."""

    def __init__(self, forms: list[Any]) -> None:
        self.forms = forms
        self.shape: tuple[int, ...] | None = forms[-1].shape if _shares_loops(forms[-1]) else None
        self.read: dict[Storage, set[Access]] = {}
        self.written: dict[Storage, set[Access]] = {}
        for x in forms:
            self._note(x)

    def _note(self, x: Any) -> None:
        for y in accesses_read(x):
            self.read.setdefault(y.storage, set()).add(y)
        self.written.setdefault(x.out.storage, set()).add(x.out)

    def add(self, x: Cell) -> None:
        """Add a pointwise form that the nest takes."""
        self.forms.append(x)
        self._note(x)

    def takes(self, x: Cell) -> bool:
        """Whether a form may run in the nest's loops. Every access of memory that is written must be to the same elements."""
        if self.shape != x.shape or len(self.forms) >= MOST_CELLS:
            return False
        if x.shape == ():
            return True
        for y in accesses_read(x):
            if self.written.get(y.storage, {y}) != {y}:
                return False
        seen = self.written.get(x.out.storage, set()) | self.read.get(x.out.storage, set())
        return seen <= {x.out}

    def conflicts(self, x: Cell) -> bool:
        """Whether a form may not run before this nest."""
        if x.out.storage in self.written or x.out.storage in self.read:
            return True
        return any(y.storage in self.written for y in accesses_read(x))


def add_nests(forms: Iterable[Any], found: list[Nest]) -> Iterator[None]:
    """Add the nests that compute forms in order to a list, in small steps."""
    for i, x in enumerate(forms):
        if i % 16 == 0:
            yield
        for nest in reversed(found[-_WINDOW:]) if _shares_loops(x) else ():
            if nest.takes(x):
                nest.add(x)
                break
            if nest.conflicts(x):
                found.append(Nest([x]))
                break
        else:
            found.append(Nest([x]))
