"""Values that C computes where they are read, perhaps several times, and never keeps in memory.

A large value that another nest reads costs a pass over memory to write it, and one to read it. Two kinds of values cost less:
- one that a single nest reads, such as the terms of a sum. It is computed in the loops of that nest.
- one that follows by sums, differences and products from much smaller memory, such as differences of all pairs of two lists.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from typing import Any

from wengert.program.c_forms import Access, Cell, Reduction, Softmax, accesses_read
from wengert.program.c_groups import Nest
from wengert.program.c_nests import may_share_loops
from wengert.program.form import Storage

_SLOW = re.compile(r"\w\(|/")  # a call, or a division
_SMALLEST = 1 << 12  # bytes of a value; smaller ones stay in the first cache
_WINDOW = 64  # nests that a reduction may overtake
_MOST = 16  # forms that make a value
_TIMES = {"logsumexp": 2, "softmax": 2, "log_softmax": 2}  # how often the loops of a form read an element, if not once


class _Values:
    """Which forms write and read each storage. chosen: the forms that make each value that needs no memory, in order."""

    def __init__(self, nests: list[Nest], is_given: Callable[[Storage], bool]) -> None:
        self.nests = nests
        self.is_given = is_given
        self.writes: dict[Storage, list[tuple[int, int]]] = {}  # numbers of nest and form
        self.reads: dict[Storage, list[tuple[int, Any, Access]]] = {}  # number of the nest, the form, how it reads
        self.chosen: dict[Storage, list[Cell]] = {}
        self.temporary: set[Storage] = set()  # values that stay in registers of each nest that computes them again

    def note(self, i: int) -> None:
        """Note what the forms of a nest write and read."""
        for j, x in enumerate(self.nests[i].forms):
            self.writes.setdefault(x.out.storage, []).append((i, j))
            for y in accesses_read(x):
                self.reads.setdefault(y.storage, []).append((i, x, y))

    def choose(self, i: int, j: int) -> None:
        """Let the value of a pointwise form be computed again where that costs less."""
        x = self.nests[i].forms[j]
        s = x.out.storage
        outside = [read for read in self.reads.get(s, ()) if read[0] != i]
        if not outside or s.nbytes < _SMALLEST or self.is_given(s) or len(self.writes[s]) > 1:
            return
        if not all(y == x.out and self._may_compute(k, form, x) for k, form, y in outside):
            return
        cells = self._cells_of(i, j)
        if cells is None or len(cells) > _MOST:
            return
        times = sum([_TIMES.get(getattr(form, "kind", ""), 1) for _, form, _ in outside]) + (len(outside) < len(self.reads[s]))
        made = {cell.out.storage for cell in cells}
        memory = {y.storage for cell in cells for y in accesses_read(cell)} - made
        nbytes = sum([m.nbytes for m in memory])
        most = 2 * s.nbytes if len({k for k, _, _ in outside}) == 1 else s.nbytes // 2
        if nbytes > most or (times > 1 and not _is_cheap(cells)):
            return
        if any(write > (i, j) for m in memory for write in self.writes.get(m, ())):
            return
        self.chosen[s] = cells
        self.temporary |= made

    def _may_compute(self, k: int, form: Any, x: Cell) -> bool:
        """Whether the loops of a form in nest k can compute the elements of x."""
        if form.shape != x.shape:
            return False
        return self.nests[k].shape is not None or (isinstance(form, (Reduction, Softmax)) and form.x == x.out)

    def _cells_of(self, i: int, j: int) -> list[Cell] | None:
        """Return the forms that make the value of a form, in order; None if memory that is written twice is among it."""
        found: dict[int, Cell] = {}
        x = self.nests[i].forms[j]
        for y in accesses_read(x):
            s = y.storage
            if s in self.chosen:
                found.update({id(cell): cell for cell in self.chosen[s]})
            elif not self.is_given(s) and all(read[0] == i for read in self.reads[s]) and self.writes.get(s, [(-1, 0)])[0][0] == i:
                if len(self.writes[s]) > 1 or self.writes[s][0] >= (i, j):
                    return None
                cells = self._cells_of(*self.writes[s][0])
                if cells is None or len(cells) > _MOST:
                    return None
                found.update({id(cell): cell for cell in cells})
        return [*found.values(), x]

    def rebuilt(self, k: int) -> Nest | None:
        """Return a nest with the forms that it computes again, and without those that nothing reads; None if none is left."""
        own = self.nests[k].forms
        present = set(map(id, own))
        again = {
            id(cell): cell
            for x in own for y in accesses_read(x) for cell in self.chosen.get(y.storage, ()) if id(cell) not in present
        }  # fmt: skip
        read: set[Access] = set()
        found: list[Any] = []
        for x in reversed([*again.values(), *own]):
            s = x.out.storage
            is_inside = s in self.temporary or (not self.is_given(s) and all(y[0] == k for y in self.reads.get(s, ())))
            if not isinstance(x, Cell) or not is_inside or x.out in read:
                found.append(x)
                read.update(accesses_read(x))
        return Nest(found[::-1]) if found else None

    def join_earlier(self, found: list[Nest | None], k: int) -> None:
        """Let the reductions of nest k run in the loops of an earlier nest that makes the same values, if there is one."""
        nest = found[k]
        if nest is None or not isinstance(nest.forms[-1], Reduction):
            return
        own = nest.forms
        last = max([w[0] for s in nest.read if s not in self.temporary for w in self.writes.get(s, ())], default=-1)
        for i in range(k - 1, max(last, k - _WINDOW), -1):
            earlier = found[i]
            if earlier is None:
                continue
            if any(x.out.storage in earlier.read or x.out.storage in earlier.written for x in own if isinstance(x, Reduction)):
                return
            forms = earlier.forms
            same = {id(x) for x in forms if isinstance(x, Cell)} & set(map(id, own))
            if same and isinstance(forms[-1], Reduction) and may_share_loops(forms[-1], own[-1]):
                joined = {id(x): x for x in (*forms, *own)}.values()
                found[i] = Nest(sorted(joined, key=lambda x: isinstance(x, Reduction)))
                found[k] = None
                return


def _is_cheap(cells: list[Cell]) -> bool:
    """Whether forms call no function and divide by nothing."""
    return not any(x.template.statements or _SLOW.search(x.template.result) for x in cells)


def computed_again(
    nests: list[Nest], is_given: Callable[[Storage], bool]
) -> Generator[None, None, tuple[list[Nest], set[Storage]]]:
    """Return nests that compute values again where that costs less than memory, and the storages that need none. Works in small
    steps. is_given: whether something outside reads or writes a storage."""
    values = _Values(nests, is_given)
    for i in range(len(nests)):
        if i % 64 == 0:
            yield
        values.note(i)
    for i, nest in enumerate(nests):
        if i % 16 == 0:
            yield
        for j in range(len(nest.forms)) if nest.shape else ():
            values.choose(i, j)
    if not values.chosen:
        return nests, set()
    touched: set[int] = set()
    for s in values.chosen:
        touched |= {i for i, _ in values.writes[s]} | {i for i, _, _ in values.reads[s]}
    found: list[Nest | None] = []
    for i, nest in enumerate(nests):
        if i % 16 == 0:
            yield
        found.append(values.rebuilt(i) if i in touched else nest)
    for k in sorted(touched):
        values.join_earlier(found, k)
    return [nest for nest in found if nest is not None], values.temporary
