"""The text of loops in C: elements of memory, and expressions of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from wengert.kernels.c_source import in_c
from wengert.program.c_forms import Access, c_type
from wengert.program.form import Storage


class Body:
    """The text of a nest's function, and the storages that its pointers reach.

    Pointers are numbered as they appear, so nests that do the same to other memory have the same text.

    may_share: whether threads may share the iterations of the outermost loop. rows: number of these iterations if they do, or 0."""

    def __init__(self, memory: Any, may_share: bool = False) -> None:
        self.memory = memory
        self.may_share = may_share
        self.rows = 0
        self.lines: list[str] = []
        self.pointers: dict[Storage, tuple[int, int, Any]] = {}  # number, offset in bytes of the first access, dtype
        self.written: set[Storage] = set()
        self.helpers: dict[str, str] = {}
        self._n = 0

    def name(self) -> str:
        """Return a new name of a variable."""
        self._n += 1
        return f"t{self._n}"

    def element(self, x: Access, counters: Iterable[str], steps: Iterable[int] | None = None) -> str:
        """Return the element of an access, given the counters of its loops. steps: the strides in bytes, if not those of x."""
        number, first, dtype = self.pointers.setdefault(x.storage, (len(self.pointers), x.offset, x.dtype))
        size = x.dtype.itemsize
        terms = [_term(c, s // size) for c, s in zip(counters, x.strides if steps is None else steps, strict=True) if s]
        offset = (x.offset - first) // size
        if offset or not terms:
            terms.append(str(offset))
        pointer = f"p{number}" if dtype == x.dtype else f"(({c_type(x.dtype)} *)p{number})"
        return f"{pointer}[{' + '.join(terms)}]".replace("+ -", "- ")

    def loop(self, counter: str, n: int, indent: int) -> None:
        """Open a loop."""
        self.lines.append(f"{'    ' * indent}for (int {counter} = 0; {counter} < {n}; {counter}++) {{")

    def outermost_loop(self, counter: str, n: int, written: Iterable[tuple[list[int], list[int], int]]) -> None:
        """Open the outermost loop, whose iterations threads share if each writes memory of its own.

        written: for each array that is written, the sizes of the loops, its strides along them, and the size of an element."""
        if not self.may_share or not all(_is_disjoint(*x) for x in written):
            self.loop(counter, n, 1)
            return
        self.rows = n
        self.lines.append(f"    for (int {counter} = (int)begin; {counter} < (int)end; {counter}++) {{")

    def add(self, text: str, indent: int) -> None:
        """Add a line."""
        self.lines.append("    " * indent + text)

    def parameters(self) -> str:
        """Return the parameters of the function."""
        found = []
        for s, (number, _, dtype) in self.pointers.items():
            const = "" if s in self.written else "const "
            found.append(f"{const}{c_type(dtype)} *restrict p{number}")
        return ", ".join([*found, "const int64_t begin, const int64_t end"] if self.rows else found)


def _term(counter: str, step: int) -> str:
    return counter if step == 1 else f"{step} * {counter}"


def _is_disjoint(sizes: list[int], strides: list[int], itemsize: int) -> bool:
    """Whether iterations of the first loop reach bytes of their own."""
    within = sum([abs(s) * (n - 1) for n, s in zip(sizes[1:], strides[1:], strict=True)])
    return abs(strides[0]) >= within + itemsize


def collapsed(shape: tuple[int, ...], accesses: Iterable[Access]) -> tuple[list[int], dict[Access, list[int]]]:
    """Return the sizes of loops and the strides of accesses along them, with loops joined where all accesses go on evenly."""
    accesses = list(dict.fromkeys(accesses))  # an operand may be there twice
    sizes: list[int] = []
    strides: dict[Access, list[int]] = {x: [] for x in accesses}
    for d, n in enumerate(shape):
        if n == 1:
            continue
        if sizes and all(strides[x][-1] == x.strides[d] * n for x in accesses):
            sizes[-1] *= n
            for x in accesses:
                strides[x][-1] = x.strides[d]
        else:
            sizes.append(n)
            for x in accesses:
                strides[x].append(x.strides[d])
    return sizes, strides


def expression(body: Body, template: Any, operands: list[str], dtype: Any) -> str:
    """Return an expression of operands, which are atoms. Statements become a function of their own."""
    result = in_c(template.result, dtype)
    if not template.statements:
        return re.sub(r"\b[a-d]\b", lambda m: operands["abcd".index(m[0])], result)
    return f"{helper_of(body, template.statements, result, len(operands), dtype, dtype)}({', '.join(operands)})"


def helper_of(body: Body, statements: str, result: str, n: int, dtype: Any, out: Any) -> str:
    """Return the name of a function of n numbers."""
    real = c_type(dtype)
    text = f"({', '.join([f'{real} {c}' for c in 'abcd'[:n]])}) {{ {in_c(statements, dtype)} return {result}; }}"
    name = f"f_{_digest(real + text)}"
    body.helpers[name] = f"static inline {'int' if out is int else real} {name}{text}"
    return name


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:8]
