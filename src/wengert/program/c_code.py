"""C99 source of a run of instructions: one function over pointers, without allocation.

Forms (c_forms.py) become nests: loops of fixed sizes. Neighbouring pointwise forms of one shape share a nest, and values that no
other nest reads live in its registers, as do values that several nests compute (c_again.py). Two nests with the same text are one
C function, called with other pointers: a program with a repeated part, as the steps of an ODE solver, is a short source. Long
programs call their nests from a table. See docs/adr/0055.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from wengert.kernels.c_source import prelude
from wengert.program.c_again import computed_again
from wengert.program.c_forms import accesses_read, c_type
from wengert.program.c_groups import Nest, add_nests
from wengert.program.c_nests import write_forms
from wengert.program.c_text import Body
from wengert.program.form import Storage
from wengert.program.memory import Arena, rounded

MOST_CALLS = 400  # calls of nests that are written out; longer programs have a table


# -- memory ------------------------------------------------------------------------------------------------------------


class Memory:
    """Where storages are: in the arena, at an offset in bytes, or in memory that the caller gives, by its number.

    registers: those that need no memory; others that stay inside a nest are added."""

    def __init__(self, nests: list[Nest], is_given: Any, registers: set[Storage]) -> None:
        self.given: list[Storage] = []
        self.arena: dict[Storage, int] = {}
        self.registers = registers
        first: dict[Storage, int] = {}
        last: dict[Storage, int] = {}
        for i, nest in enumerate(nests):
            for s in (*nest.read, *nest.written):
                first.setdefault(s, i)
                last[s] = i
        self._numbers: dict[Storage, int] = {}
        for s in first:
            if is_given(s):
                self._numbers[s] = len(self.given)
                self.given.append(s)
            elif s not in registers and first[s] == last[s] and _stays_inside(nests[first[s]], s):
                self.registers.add(s)
        self._plan(first, last)

    def _plan(self, first: dict[Storage, int], last: dict[Storage, int]) -> None:
        """Give each storage that is neither given nor in registers a place in the arena, from its first to its last nest."""
        arena = Arena()
        ending: dict[int, list[Storage]] = {}
        n = 0
        for s, i in first.items():  # in the order of their first nests
            if s in self._numbers or s in self.registers:
                continue
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


def body_of(nest: Nest, memory: Memory) -> Body:
    """Return the text of a nest."""
    body = Body(memory)
    if nest.shape is None:
        body.written.update(nest.written)
    write_forms(body, nest.forms)
    return body


class Source:
    """The C source of a run of forms: function `name`(memory), where memory[0] is the arena and the others are given.

    write() makes helpers, the texts of functions that it calls, by name, and body, the text of the rest. The function has no other
    state, so that it may run on several threads, each with its own arena."""

    def __init__(self, name: str, forms: list[Any], is_given: Any) -> None:
        self.name = name
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
        self.memory = Memory(self.nests, self._is_given, registers)
        helpers = self.helpers
        functions: dict[str, str] = {}
        arguments: list[tuple[str, list[tuple[int, int]]]] = []
        types: dict[str, list[str]] = {}
        for nest in self.nests:
            yield
            body = body_of(nest, self.memory)
            self.written |= set(nest.written)
            self.read |= set(nest.read)
            if not body.lines or not body.pointers:
                continue
            text = f"({body.parameters()}) {{\n" + "\n".join(body.lines) + "\n}\n"
            known = functions.setdefault(text, f"{name}_nest_{len(functions)}")
            helpers.update(body.helpers)
            types[known] = [("" if s in body.written else "const ") + c_type(d) for s, (_, _, d) in body.pointers.items()]
            places = []
            for s, (_, offset, _) in body.pointers.items():
                number, start = self.memory.place(s)
                places.append((number, start + offset))
            arguments.append((known, places))
        bodies = [f"static void {known}{text}" for text, known in functions.items()]
        self.n_functions, self.n_calls = len(functions), len(arguments)
        self.body = "\n".join([*bodies, _run(name, arguments, types)])


def file_of(helpers: dict[str, str], bodies: Iterable[str]) -> str:
    """Return the text of a file, given the bodies of sources and the functions that they call."""
    parts = [*helpers.values(), "", *bodies]
    return "\n".join([prelude("\n".join(parts)), *parts])


def _run(name: str, arguments: list[tuple[str, list[tuple[int, int]]]], types: dict[str, list[str]]) -> str:
    """Return the function that calls the nests in order."""
    if len(arguments) <= MOST_CALLS:
        lines = [f"void {name}(void *const *memory) {{"]
        for function, places in arguments:
            found = [f"({t} *)((char *)memory[{n}] + {offset})" for t, (n, offset) in zip(types[function], places, strict=True)]
            lines.append(f"    {function}({', '.join(found)});")
        if not arguments:
            lines.append("    (void)memory;")
        return "\n".join([*lines, "}", ""])
    numbers = {function: i for i, function in enumerate(types)}
    table = [n for function, places in arguments for n in (numbers[function], *[m for place in places for m in place])]
    rows = [", ".join(map(str, table[i : i + 24])) for i in range(0, len(table), 24)]
    lines = [f"static const int32_t table[{len(table)}] = {{", *[f"    {row}," for row in rows], "};", ""]
    lines += [f"void {name}(void *const *memory) {{", "    const int32_t *row = table;"]
    lines += [f"    while (row < table + {len(table)}) {{", "        switch (*row) {"]
    for function, pointers in types.items():
        found = [f"({t} *)((char *)memory[row[{2 * k + 1}]] + row[{2 * k + 2}])" for k, t in enumerate(pointers)]
        lines.append(f"        case {numbers[function]}: {function}({', '.join(found)}); row += {1 + 2 * len(pointers)}; break;")
    return "\n".join([*lines, "        default: return;", "        }", "    }", "}", ""])
