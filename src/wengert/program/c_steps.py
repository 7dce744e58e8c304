"""Runs of instructions as C functions: a pass that joins neighbouring instructions that have a C form into one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wengert.kernels.memory import address_of
from wengert.program import form
from wengert.program.arrays import aligned
from wengert.program.c_code import Source, file_of
from wengert.program.c_forms import forms_of
from wengert.program.c_library import Build
from wengert.program.form import Instruction, Storage, Value, values_read

NAME = "wengert_run"
_FEWEST = 2  # instructions that are worth a C function
_WORTH = 8  # instructions with C forms that are worth a C compiler's time
_MOST = 4000  # instructions that are written as C while the program runs on: 0.1 seconds
_LARGEST = 1 << 17  # bytes of an array


class CFunction:
    """A compiled run of instructions. address: of the C function. arena: memory of the values that nothing else reads."""

    def __init__(self, source: Source, function: Any) -> None:
        import ctypes

        self.source = source
        self._function = function
        self._pointer = ctypes.c_void_p
        self.address = ctypes.cast(self._function, ctypes.c_void_p).value
        self.arena = aligned(source.memory.nbytes)

    def __call__(self, *arrays: Any) -> None:
        pointers = [address_of(self.arena), *map(address_of, arrays)]
        self._function((self._pointer * len(pointers))(*pointers))


def parts_of(x: Instruction) -> list[Instruction]:
    """Return the instructions that one stands for."""
    return x.parts if x.kind == form.FUSED else [x]


def runs_of(instructions: list[Instruction]) -> Iterator[tuple[list[Instruction], list[Any] | None]]:
    """Yield instructions without a C form one by one, with None, and runs of the others with their forms."""
    run: list[Instruction] = []
    forms: list[Any] = []
    for x in instructions:
        found: list[Any] | None = []
        for part in parts_of(x):
            more = forms_of(part)
            found = None if more is None or found is None else found + more
        if found is not None:
            run.append(x)
            forms += found
            continue
        if run:
            yield run, forms
            run, forms = [], []
        yield [x], None
    if run:
        yield run, forms


class Conversion:
    """Instructions whose runs become C functions, while a C compiler works. Values that nothing else reads get no memory outside.

    kept: storages that the program's result is made of. Raises CCompilerError if there is no compiler."""

    def __init__(self, instructions: list[Instruction], kept: set[Storage]) -> None:
        self._parts: list[tuple[list[Instruction], Source | None, str]] = []
        names: dict[str, str] = {}  # of functions, by their texts
        helpers: dict[str, str] = {}
        runs = list(runs_of(instructions))
        users: dict[Storage, set[int]] = {}
        for i, (run, _) in enumerate(runs):
            for part in [y for x in run for y in parts_of(x)]:
                for v in (*values_read(part), *part.outputs):
                    users.setdefault(v.storage, set()).add(i)
        for run, forms in runs:
            if forms is None or sum(len(parts_of(x)) for x in run) < _FEWEST:
                self._parts.append((run, None, ""))
                continue
            source = Source(NAME, forms, lambda s: s.kind != form.COMPUTED or s in kept or len(users[s]) > 1)
            helpers.update(source.helpers)
            self._parts.append((run, source, names.setdefault(source.body, f"{NAME}_{len(names)}")))
        bodies = [body.replace(NAME, name) for body, name in names.items()]
        self._build = Build(file_of(helpers, bodies)) if names else None

    def is_ready(self) -> bool:
        """Whether the compiler is done."""
        return self._build is None or self._build.is_done()

    def finish(self) -> list[Instruction]:
        """Return the instructions, when the compiler is done. Raises CCompilerError."""
        library: Any = None if self._build is None else self._build.wait()
        found: list[Instruction] = []
        for run, source, name in self._parts:
            found += run if source is None else [_instruction(source, run, library[name])]
        return found


def is_worth_c(instructions: list[Instruction]) -> bool:
    """Whether a program that runs often gains by C functions: many instructions have C forms, and arrays are small.

    The kernels of the runner have threads for large arrays."""
    parts = [y for x in instructions for y in parts_of(x)]
    values = [v for y in parts for v in (*values_read(y), *y.outputs)]
    if len(parts) > _MOST or any(v.storage.nbytes > _LARGEST for v in values):
        return False
    return sum(forms_of(y) is not None for y in parts) >= max(_WORTH, len(parts) // 2)


def _instruction(source: Source, run: list[Instruction], compiled: Any) -> Instruction:
    """Return the instruction that calls a C function: its inputs are what it reads, its outputs what it writes."""
    given = [Value(s, 0, s.shape, s.strides, s.dtype) for s in source.memory.given]
    outputs = tuple([v for v in given if v.storage in source.written])
    function = CFunction(source, compiled)
    x = Instruction(form.C, f"c[{sum(len(parts_of(y)) for y in run)}]", tuple(given), outputs, None, None, function, run[0].line)
    x.parts = run
    return x
