"""Runs of instructions as C functions: a pass that joins neighbouring instructions that have a C form into one."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from time import perf_counter
from typing import Any

from wengert.kernels import native
from wengert.kernels.memory import address_of
from wengert.program import form
from wengert.program.arrays import aligned
from wengert.program.c_code import PARALLEL, Source, file_of
from wengert.program.c_expansions import WITH_SUMS, Check, forms_of
from wengert.program.c_forms import Cell, Reduction, Softmax, is_large
from wengert.program.c_library import Build
from wengert.program.form import Instruction, Storage, Value, values_read

NAME = "wengert_run"
_FEWEST = 2  # instructions that are worth a C function
_WORTH = 8  # instructions with C forms that are worth a C compiler's time
_LARGEST_ALONE = 1 << 17  # bytes of an array in loops of one thread, where kernels have several
_LARGEST_ROWS = 1 << 15  # bytes of an array whose rows the runner's kernels read once, where C has several loops
_LARGEST = 1 << 26  # bytes of any array: Ctrl-C waits for the end of a C function


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
    return x.parts if x.kind in (form.FUSED, form.UPDATE) and x.parts else [x]


class Conversion:
    """Instructions whose runs become C functions, while a C compiler works. Values that nothing else reads get no memory outside.

    kept: storages that the program's result is made of. only_if_worth: nothing is compiled if a program that runs often does not
    gain. Raises CCompilerError if there is no compiler."""

    def __init__(self, instructions: list[Instruction], kept: set[Storage], only_if_worth: bool = False) -> None:
        self._instructions = instructions
        self._kept = kept
        self._parts: list[tuple[list[Instruction], Source | None, str]] = []
        self._forms: list[list[Any] | None] = []  # of each instruction
        self._checks: list[Check] = []
        self._only_if_worth = only_if_worth
        self._work = self._write()
        self._build: Build | None = None
        self.is_worth = True  # whether a program that runs often gains; until all forms are known, it may

    def advance(self, seconds: float) -> bool:
        """Write C for some time. Return whether the C compiler has begun, or it is known that the program does not gain."""
        end = perf_counter() + seconds
        return all(perf_counter() <= end for _ in self._work)

    def _write(self) -> Iterator[None]:
        """Find the forms, write the source, and start the compiler, in small steps."""
        for i, x in enumerate(self._instructions):
            forms = _forms_of_parts(x)
            self._checks += [y for y in forms or () if isinstance(y, Check)]
            self._forms.append(None if forms is None else [y for y in forms if not isinstance(y, Check)])
            if i % 16 == 0:
                yield
        yield from self._gains()
        if self._only_if_worth and not self.is_worth:
            return
        users: dict[Storage, set[int]] = {}
        runs = list(_runs_of(self._instructions, self._forms))
        for i, (run, _) in enumerate(runs):
            for k, x in enumerate(run):
                if k % 256 == 0:
                    yield
                for v in [v for part in parts_of(x) for v in (*values_read(part), *part.outputs)]:
                    users.setdefault(v.storage, set()).add(i)
        names: dict[str, str] = {}  # of functions, by their texts
        helpers: dict[str, str] = {}
        for run, forms in runs:
            if forms is None or sum(len(parts_of(x)) for x in run) < _FEWEST:
                self._parts.append((run, None, ""))
                continue
            is_given = lambda s: s.kind != form.COMPUTED or s in self._kept or len(users.get(s, ())) > 1  # noqa: E731
            source = Source(NAME, forms, is_given, native is not None)
            yield from source.write()
            helpers.update(source.helpers)
            self._parts.append((run, source, names.setdefault(source.body, f"{NAME}_{len(names)}")))
        if names:
            self._build = Build(file_of(helpers, [body.replace(NAME, name) for body, name in names.items()]))

    def _gains(self) -> Iterator[None]:
        """Find out whether many instructions have C forms, and no large arrays keep threads waiting that kernels would use."""
        has_threads = native is not None and native.get_num_threads() > 1
        n = n_parts = largest = largest_alone = 0
        for i, (x, forms) in enumerate(zip(self._instructions, self._forms, strict=True)):
            if i % 256 == 0:
                yield
            parts = parts_of(x)
            n_parts += len(parts)
            n += 0 if forms is None else len(parts)
            nbytes = max([v.storage.nbytes for y in parts for v in (*values_read(y), *y.outputs)], default=0)
            largest = max(largest, nbytes)
            if has_threads and (forms is None or not all(map(_may_be_shared, forms))):
                largest_alone = max(largest_alone, nbytes)
        self.is_worth = n >= max(_WORTH, n_parts // 2) and largest <= _LARGEST and largest_alone <= _LARGEST_ALONE

    def is_ready(self) -> bool:
        """Whether the compiler is done."""
        return self._build is None or self._build.is_done()

    def finish(self) -> list[Instruction]:
        """Return the instructions, when the compiler is done. Raises CCompilerError."""
        for _ in self._work:
            pass
        library: Any = None if self._build is None else _with_threads(self._build.wait())
        found = [Instruction(form.CHECK, "check", (v,), (), {"limit": limit}) for v, limit in dict.fromkeys(self._checks)]
        for run, source, name in self._parts:
            found += run if source is None else [_instruction(source, run, library[name])]
        return found


def _may_be_shared(x: Any) -> bool:
    """Whether threads share the loops of a form if they are long."""
    if isinstance(x, (Reduction, Softmax)):
        return 0 not in x.dims
    return isinstance(x, Cell) and x.template.guard is None


def _with_threads(library: Any) -> Any:
    """Return a library. Its functions share loops between the threads of the kernels."""
    import ctypes

    if native is not None:
        with contextlib.suppress(ValueError):  # it has no long loops
            ctypes.c_void_p.in_dll(library, PARALLEL).value = native.parallel_for()
    return library


def _forms_of_parts(x: Instruction) -> list[Any] | None:
    """Return the forms of all instructions that one stands for; None if one of them has no form, or the runner does it better."""
    found: list[Any] = []
    for part in parts_of(x):
        if part.name in WITH_SUMS and part.inputs[0].storage.nbytes > _LARGEST_ROWS:
            return None
        more = forms_of(part)
        if more is None or any(map(is_large, more)):
            return None
        found += more
    return found


def _runs_of(instructions: list[Instruction], forms: list[Any]) -> Iterator[tuple[list[Instruction], list[Any] | None]]:
    """Yield instructions without a C form one by one, with None, and runs of the others with their forms."""
    run: list[Instruction] = []
    found: list[Any] = []
    for x, more in zip(instructions, forms, strict=True):
        if more is not None:
            run.append(x)
            found += more
            continue
        if run:
            yield run, found
            run, found = [], []
        yield [x], None
    if run:
        yield run, found


def _instruction(source: Source, run: list[Instruction], compiled: Any) -> Instruction:
    """Return the instruction that calls a C function: its inputs are what it reads, its outputs what it writes."""
    given = [Value(s, 0, s.shape, s.strides, s.dtype) for s in source.memory.given]
    outputs = tuple([v for v in given if v.storage in source.written])
    function = CFunction(source, compiled)
    x = Instruction(form.C, f"c[{sum(len(parts_of(y)) for y in run)}]", tuple(given), outputs, None, None, function, run[0].line)
    x.parts = run
    return x
