"""Runs of instructions as C functions: a pass that joins neighbouring instructions that have a C form into one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from wengert.kernels.memory import address_of
from wengert.program import form
from wengert.program.c_code import ALIGNMENT, Source
from wengert.program.c_forms import forms_of
from wengert.program.c_library import load
from wengert.program.form import Instruction, Storage, Value
from wengert.program.passes import values_read

NAME = "wengert_run"
_FEWEST = 2  # instructions that are worth a C function


class CFunction:
    """A compiled run of instructions. address: of the C function. arena: memory of the values that nothing else reads."""

    def __init__(self, source: Source) -> None:
        import ctypes

        self.source = source
        self._function = load(source.text)[NAME]
        self._pointer = ctypes.c_void_p
        self.address = ctypes.cast(self._function, ctypes.c_void_p).value
        memory = np.empty(source.memory.nbytes + ALIGNMENT, np.uint8)
        self.arena = memory[-address_of(memory) % ALIGNMENT :]

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


def with_c(instructions: list[Instruction], kept: set[Storage]) -> list[Instruction]:
    """Return the instructions with runs replaced by C functions, whose values that nothing else reads have no memory outside."""
    found: list[Instruction] = []
    runs = list(runs_of(instructions))
    users: dict[Storage, set[int]] = {}
    for i, (run, _) in enumerate(runs):
        for part in [y for x in run for y in parts_of(x)]:
            for v in (*values_read(part), *part.outputs):
                users.setdefault(v.storage, set()).add(i)
    for run, forms in runs:
        if forms is None or sum(len(parts_of(x)) for x in run) < _FEWEST:
            found += run
            continue
        source = Source(NAME, forms, lambda s: s.kind != form.COMPUTED or s in kept or len(users[s]) > 1)
        found.append(_instruction(source, run))
    return found


def _instruction(source: Source, run: list[Instruction]) -> Instruction:
    """Return the instruction that calls a C function: its inputs are what it reads, its outputs what it writes."""
    given = [Value(s, 0, s.shape, s.strides, s.dtype) for s in source.memory.given]
    outputs = tuple([v for v in given if v.storage in source.written])
    function = CFunction(source)
    x = Instruction(form.C, f"c[{sum(len(parts_of(y)) for y in run)}]", tuple(given), outputs, None, None, function, run[0].line)
    x.parts = run
    return x
