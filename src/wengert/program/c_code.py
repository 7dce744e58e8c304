"""C99 source of a run of instructions: one function over pointers, without allocation.

Forms (c_forms.py) become nests: loops of fixed sizes. Neighbouring pointwise forms of one shape share a nest, and values that no
other nest reads live in its registers, as do values that several nests compute (c_again.py). Two nests with the same text are one
C function, called with other pointers: a program with a repeated part, as the steps of an ODE solver, is a short source. Long
programs call their nests from a table. See docs/adr/0055.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from math import prod
from typing import Any

from wengert.kernels.c_source import prelude
from wengert.program.c_again import computed_again
from wengert.program.c_forms import Cell, accesses_read, c_type
from wengert.program.c_groups import Nest, add_nests
from wengert.program.c_nests import write_forms
from wengert.program.c_text import Body
from wengert.program.form import Storage
from wengert.program.memory import Arena, rounded

_PIECE = 1 << 16  # sums and products that a thread does at once, at least
_CALL = 8  # sums and products that take as long as a function
PARALLEL = "wengert_parallel"  # a variable of the library: the function wk_parallel_for of kernels/wk_threads.h
_DECLARATION = f"void (*{PARALLEL})(int64_t, int64_t, void (*)(void *, int64_t, int64_t), void *);"
MOST_CALLS = 400  # calls of nests that are written out; longer programs have a table


# -- memory ------------------------------------------------------------------------------------------------------------


class Memory:
    """Where storages are: in the arena, at an offset in bytes, or in memory that the caller gives, by its number.

    registers: those that need no memory; others that stay inside a nest are added."""

    def __init__(self, registers: set[Storage]) -> None:
        self.given: list[Storage] = []
        self.arena: dict[Storage, int] = {}
        self.registers = registers
        self.nbytes = 0
        self._numbers: dict[Storage, int] = {}

    def plan(self, nests: list[Nest], is_given: Any) -> Iterator[None]:
        """Find a place for each storage, in small steps."""
        first: dict[Storage, int] = {}
        last: dict[Storage, int] = {}
        for i, nest in enumerate(nests):
            if i % 64 == 0:
                yield
            for s in (*nest.read, *nest.written):
                first.setdefault(s, i)
                last[s] = i
        arena = Arena()
        ending: dict[int, list[Storage]] = {}
        n = 0
        for k, (s, i) in enumerate(first.items()):  # in the order of their first nests
            if k % 64 == 0:
                yield
            if is_given(s):
                self._numbers[s] = len(self.given)
                self.given.append(s)
            elif s not in self.registers and i == last[s] and _stays_inside(nests[i], s):
                self.registers.add(s)
            elif s not in self.registers:  # it is in the arena from its first to its last nest
                while n < i:
                    for done in ending.pop(n, ()):
                        arena.give(self.arena[done], rounded(done.nbytes))
                    n += 1
                self.arena[s] = arena.take(rounded(s.nbytes))
                ending.setdefault(last[s], []).append(s)
        self.nbytes = arena.size

    def place(self, s: Storage) -> tuple[int, int]:
        """Return the number of the memory (0 is the arena) and the offset of a storage's first element in it."""
        if s in self._numbers:
            return self._numbers[s] + 1, 0
        return 0, self.arena[s] + s.before


def _stays_inside(nest: Nest, s: Storage) -> bool:
    """Whether a nest writes all elements of a storage before it reads them, and by one access: then they need no memory."""
    if nest.shape is None or len(nest.written.get(s, ())) != 1 or nest.read.get(s, set()) - nest.written[s]:
        return False
    for x in nest.forms:
        if x.out.storage is s:
            return True
        if any(y.storage is s for y in accesses_read(x)):
            return False
    return False


# -- text --------------------------------------------------------------------------------------------------------------


def work_of(nest: Nest) -> int:
    """Return about how many sums and products the loops of a nest compute."""
    total = 0
    for x in nest.forms:
        calls = not isinstance(x, Cell) or x.template.statements or "(" in x.template.result.strip("()")
        total += prod(x.shape) * (_CALL if calls else 1)
    return total


def body_of(nest: Nest, memory: Memory, threads: bool) -> Body:
    """Return the text of a nest. threads: whether several may share its loops."""
    body = Body(memory, threads and work_of(nest) >= 4 * _PIECE)
    if nest.shape is None:
        body.written.update(nest.written)
    write_forms(body, nest.forms)
    return body


class Source:
    """The C source of a run of forms: function `name`(memory), where memory[0] is the arena and the others are given.

    write() makes helpers, the texts of functions that it calls, by name, and body, the text of the rest. The function has no other
    state, so that it may run on several threads, each with its own arena.

    threads: whether the threads of the kernels share long loops."""

    def __init__(self, name: str, forms: list[Any], is_given: Any, threads: bool = False) -> None:
        self.name = name
        self.threads = threads
        self.nests: list[Nest] = []
        self.written: set[Storage] = set()
        self.read: set[Storage] = set()
        self.helpers: dict[str, str] = {}
        self.body = ""
        self._forms = forms
        self._is_given = is_given

    def write(self) -> Iterator[None]:
        """Write the text, in small steps."""
        name = self.name
        yield from add_nests(self._forms, self.nests)
        self.nests, registers = yield from computed_again(self.nests, self._is_given)
        self.memory = Memory(registers)
        yield from self.memory.plan(self.nests, self._is_given)
        helpers = self.helpers
        functions: dict[str, str] = {}
        shared: dict[str, tuple[int, int]] = {}  # of functions with threads: number of iterations, in all and of a piece
        arguments: list[tuple[str, list[tuple[int, int]]]] = []
        types: dict[str, list[str]] = {}
        for nest in self.nests:
            yield
            body = body_of(nest, self.memory, self.threads)
            self.written |= set(nest.written)
            self.read |= set(nest.read)
            if not body.lines or not body.pointers:
                continue
            text = f"({body.parameters()}) {{\n" + "\n".join(body.lines) + "\n}\n"
            known = functions.setdefault(text, f"{name}_nest_{len(functions)}")
            helpers.update(body.helpers)
            if body.rows:
                shared[known] = body.rows, max(body.rows * _PIECE // work_of(nest), 1)
            types[known] = [("" if s in body.written else "const ") + c_type(d) for s, (_, _, d) in body.pointers.items()]
            places = []
            for s, (_, offset, _) in body.pointers.items():
                number, start = self.memory.place(s)
                places.append((number, start + offset))
            arguments.append((known, places))
        bodies = [
            f"static void {known}_part{text}{_shared(known, types[known], *shared[known])}" if known in shared
            else f"static void {known}{text}" for text, known in functions.items()
        ]  # fmt: skip
        self.n_functions, self.n_calls = len(functions), len(arguments)
        run = yield from _run(name, arguments, types)
        self.body = "\n".join([*bodies, run])


def file_of(helpers: dict[str, str], bodies: Iterable[str]) -> str:
    """Return the text of a file, given the bodies of sources and the functions that they call."""
    bodies = list(bodies)
    has_threads = any(PARALLEL in x for x in bodies)
    parts = [*([_DECLARATION] if has_threads else []), *helpers.values(), "", *bodies]
    return "\n".join([prelude("\n".join(parts)), *parts])


def _shared(name: str, types: list[str], rows: int, piece: int) -> str:
    """Return the function of a nest whose loops threads share."""
    numbers = range(len(types))
    parameters = ", ".join([f"{t} *p{k}" for k, t in zip(numbers, types, strict=True)])
    given = ", ".join([f"(void *)p{k}" for k in numbers])
    taken = "".join([f"p[{k}], " for k in numbers])
    return (
        f"static void {name}_range(void *context, int64_t begin, int64_t end) {{\n    void *const *p = context;\n"
        f"    {name}_part({taken}begin, end);\n}}\n"
        f"static void {name}({parameters}) {{\n    void *p[] = {{{given}}};\n"
        f"    {PARALLEL}({rows}, {piece}, {name}_range, p);\n}}\n"
    )


def _run(name: str, arguments: list[tuple[str, list[tuple[int, int]]]], types: dict[str, list[str]]) -> Generator[None, None, str]:
    """Return the function that calls the nests in order. Works in small steps."""
    if len(arguments) <= MOST_CALLS:
        lines = [f"void {name}(void *const *memory) {{"]
        for function, places in arguments:
            found = [f"({t} *)((char *)memory[{n}] + {offset})" for t, (n, offset) in zip(types[function], places, strict=True)]
            lines.append(f"    {function}({', '.join(found)});")
        if not arguments:
            lines.append("    (void)memory;")
        return "\n".join([*lines, "}", ""])
    numbers = {function: i for i, function in enumerate(types)}
    table: list[int] = []
    for i, (function, places) in enumerate(arguments):
        if i % 256 == 0:
            yield
        table += [numbers[function], *[m for place in places for m in place]]
    rows = []
    for i in range(0, len(table), 24):
        if i % 6144 == 0:
            yield
        rows.append(", ".join(map(str, table[i : i + 24])))
    lines = [f"static const int32_t table[{len(table)}] = {{", *[f"    {row}," for row in rows], "};", ""]
    lines += [f"void {name}(void *const *memory) {{", "    const int32_t *row = table;"]
    lines += [f"    while (row < table + {len(table)}) {{", "        switch (*row) {"]
    for function, pointers in types.items():
        found = [f"({t} *)((char *)memory[row[{2 * k + 1}]] + row[{2 * k + 2}])" for k, t in enumerate(pointers)]
        lines.append(f"        case {numbers[function]}: {function}({', '.join(found)}); row += {1 + 2 * len(pointers)}; break;")
    return "\n".join([*lines, "        default: return;", "        }", "    }", "}", ""])
