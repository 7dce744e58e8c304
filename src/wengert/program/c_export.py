"""A recording as C source for other programs: name.c, name.h and name_test.c, with static memory and no dependency but libm."""

from __future__ import annotations

import re
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from wengert import errors
from wengert.core.replay import leaf_of
from wengert.core.tensor import TensorBase, wrap
from wengert.kernels.c_source import literal
from wengert.program import form
from wengert.program.arrays import computed_in_order, strides_in_order
from wengert.program.c_code import Source, file_of
from wengert.program.c_expansions import Check, forms_of
from wengert.program.c_forms import c_type, copy_form
from wengert.program.c_numbers import Numbers
from wengert.program.c_steps import parts_of
from wengert.program.form import Instruction, Program, Storage, Value


class CExportError(errors.WengertError, RuntimeError):
    """A recording has an instruction without a C form, or memory that C arrays in row-major order are not."""


class Export:
    """What the files say. arguments: (storage, name of the argument, whether the function writes it), in order."""

    def __init__(self, program: Program, instructions: list[Instruction], name: str) -> None:
        self.name = name
        self.program = program
        forms = [y for x in instructions for part in _all_parts(x) for y in _forms_of(part)]
        self.checks = dict.fromkeys(y for y in forms if isinstance(y, Check))
        forms = [y for y in forms if not isinstance(y, Check)]
        self.outputs: list[tuple[Storage, Value]] = []
        for value in _results(program, instructions):
            target = computed_in_order(-1 - len(self.outputs), value.shape, value.dtype)
            forms += copy_form(target, value) or []
            self.outputs.append((target.storage, value))
        made = {s for s, _ in self.outputs}
        self.source = Source(f"{name}_run", forms, lambda s: s.kind != form.COMPUTED or s in made)
        for _ in self.source.write():
            pass
        try:
            self.numbers = Numbers(program, name)
        except TypeError as error:
            hint = "Hint: call the function again, or write the update in it"
            raise CExportError(f"no C is written for the step of an optimizer: {error}. {hint}") from error
        self.inputs = [s for s in program.storages if s.kind == form.INPUT]
        self.limits = {check.places.storage: check.limit for check in self.checks if check.places.storage.kind == form.INPUT}
        for places, limit in self.checks:
            s = places.storage
            if not places.is_whole or (s not in self.limits and np.any((_array_of(s) < 0) | (_array_of(s) >= limit))):
                raise CExportError(f"the classes in {places} are a part of {s}, or are not below {limit}")
        self.state = [s for s in self.source.memory.given if s.kind in (form.TENSOR, form.GRAD, form.CONSTANT)]
        for s in (*self.inputs, *self.state):
            if s.strides != strides_in_order(s.shape, s.dtype) and prod(s.shape) > 1:
                raise CExportError(f"{s}, {s.dtype}{s.shape}, is not in row-major order. Hint: record with x.contiguous()")

    def is_written(self, s: Storage) -> bool:
        """Whether a run changes a storage."""
        return s in self.source.written

    def variable(self, s: Storage) -> str:
        """Return the name of a storage in C."""
        if s in self.numbers.settings:
            return self.numbers.settings[s]
        if s in self.numbers.computed:
            return self.numbers.computed[s][0]
        for i, (made, _) in enumerate(self.outputs):
            if made is s:
                return f"y{i}"
        if s.number < 0:  # a constant of no recording
            return f"{self.name}_n{self.state.index(s)}"
        return f"x{s.key}" if s.kind == form.INPUT else f"{self.name}_{s}"

    def signature(self) -> str:
        """Return the function's declaration, without a semicolon."""
        given = [self.declared(s, "" if self.is_written(s) else "const ") for s in self.inputs]
        made = [self.declared(s, "") for s, _ in self.outputs]
        return f"void {self.name}({', '.join([*given, *made]) or 'void'})"

    def declared(self, s: Storage, const: str) -> str:
        """Return the declaration of an array."""
        return f"{const}{c_type(s.dtype)} {self.variable(s)}[{max(prod(s.shape), 1)}]"

    def header(self) -> str:
        """Return the text of the header."""
        guard = f"{self.name.upper()}_H"
        lines = [f"/* Written by wengert from {self.program.name}. The function has static memory: one thread at a time calls it."]
        for s in (*self.inputs, *[s for s, _ in self.outputs]):
            limit = f" Elements are from 0 to {self.limits[s] - 1}. If not, the function does nothing." if s in self.limits else ""
            lines.append(f" * {self.variable(s)}: {s.dtype}({', '.join(map(str, s.shape))}), in row-major order.{limit}")
        lines += [" */", f"#ifndef {guard}", f"#define {guard}", "#include <stdint.h>", ""]
        for s in self.state:
            if self.is_written(s):
                lines += [f"/* State, {s.dtype}({', '.join(map(str, s.shape))}), which the function changes. */"]
                lines.append(f"extern {self.declared(s, '')};")
        for s in self.numbers.settings:
            lines += ["/* A setting of an optimizer, which may be changed. */", f"extern {self.declared(s, '')};"]
        for counter in self.numbers.counters:
            lines += ["/* The number of steps that an optimizer has made. */", f"extern double {counter}[1];"]
        return "\n".join([*lines, f"{self.signature()};", "#endif", ""])

    def text(self) -> str:
        """Return the text of the C file."""
        run = f"void {self.name}_run("
        text = file_of(self.source.helpers, [self.source.body.replace(run, f"static {run}")])
        lines = [f'#include "{self.name}.h"', "", text]
        for s in self.state:
            is_known = self.is_written(s) or s in self.numbers.settings
            kind = "" if is_known else "static " if s in self.numbers.computed else "static const "
            lines.append(f"{self.declared(s, kind)} = {_values(_array_of(s))};")
        size = max(-(-self.source.memory.nbytes // 8), 1)
        lines += [f"double {counter}[1] = {{{literal(n, np.dtype(np.float64))}}};" for counter, n in self.numbers.counters.items()]
        lines += [f"static double arena[{size}];", "", f"{self.signature()} {{"]
        for s, limit in self.limits.items():
            x = f"{self.variable(s)}[i]"
            lines.append(f"    for (int i = 0; i < {prod(s.shape)}; i++) if ({x} < 0 || {x} >= {limit}) return;")
        lines += [f"    {counter}[0] += 1.0;" for counter in self.numbers.counters]
        lines += [f"    {known}[0] = ({c_type(s.dtype)})({text});" for s, (known, text) in self.numbers.computed.items()]
        pointers = ["arena", *[f"(void *){self.variable(s)}" for s in self.source.memory.given]]
        lines += [f"    (void){self.variable(s)};" for s in self.inputs if s not in self.source.memory.given]
        lines += [f"    void *const memory[] = {{{', '.join(pointers)}}};", f"    {self.name}_run(memory);", "}", ""]
        return "\n".join(lines)

    def nbytes(self) -> int:
        """Return the number of bytes of static memory: of values in between, constants and state."""
        return self.source.memory.nbytes + sum(s.nbytes for s in self.state)

    def test(self, inputs: list[Any], results: list[tuple[str, Any]]) -> str:
        """Return the text of a program that checks results on inputs. results: names of variables, and what they must hold."""
        lines = [f'#include "{self.name}.h"', "#include <math.h>", "#include <stdio.h>", ""]
        for s, array in zip(self.inputs, inputs, strict=True):
            lines.append(f"static {self.declared(s, '')} = {_values(array)};")
        lines += [f"static {self.declared(s, '')};" for s, _ in self.outputs]
        for i, (_, array) in enumerate(results):
            lines.append(f"static const {c_type(array.dtype)} expected{i}[{max(array.size, 1)}] = {_values(array)};")
        lines += ["", _CHECK, "int main(void) {", "    double worst = 0.0;"]
        arguments = [self.variable(s) for s in (*self.inputs, *[s for s, _ in self.outputs])]
        lines.append(f"    {self.name}({', '.join(arguments)});")
        for i, (variable, array) in enumerate(results):
            single = "1e-5" if array.dtype == np.float32 else "1e-12"
            loop = f"for (int i = 0; i < {array.size}; i++)"
            lines.append(f"    {loop} worst = larger(worst, error((double){variable}[i], (double)expected{i}[i]) / {single});")
        lines += ['    printf("largest difference: %g of what is allowed\\n", worst);', "    return worst <= 1.0 ? 0 : 1;", "}", ""]
        return "\n".join(lines)


_CHECK = """static double larger(double a, double b) { return a > b ? a : b; }
static double error(double found, double expected) {
    if (found == expected || (found != found && expected != expected)) return 0.0;
    const double difference = fabs(found - expected) / (1.0 + fabs(expected));
    return difference == difference ? difference : INFINITY;
}
"""


def _all_parts(x: Instruction) -> list[Instruction]:
    """Return the instructions that one stands for, also those of a C function."""
    return [y for part in x.parts for y in parts_of(part)] if x.kind == form.C else parts_of(x)


def _forms_of(x: Instruction) -> list[Any]:
    if x.kind == form.SET_GRAD:
        return []
    found = forms_of(x)
    if found is None:
        where = f" ({x.line})" if x.line else ""
        raise CExportError(f"no C is written for the instruction `{x}`{where}. Hint: move it out of the function that is compiled")
    return found


def _results(program: Program, instructions: list[Instruction]) -> list[Value]:
    """Return the values that leave the program: the function's results, then gradients that are stored in .grad."""
    leaving = [x for x in program.outputs if isinstance(x, Value) or x[0] not in ("same", "object")]
    return [x if isinstance(x, Value) else x[1] for x in leaving] + [x.inputs[0] for x in _gradients(instructions)]


def _gradients(instructions: list[Instruction]) -> list[Instruction]:
    return [x for x in instructions if x.kind == form.SET_GRAD and x.inputs[0] is not None]


def _array_of(s: Storage) -> Any:
    """Return the array of state."""
    return s.key if s.kind == form.CONSTANT else (s.key._grad if s.kind == form.GRAD else s.key)._array


def _values(array: Any) -> str:
    texts = [literal(x, array.dtype) for x in array.reshape(-1).tolist()] or ["0"]
    rows = [", ".join(texts[i : i + 8]) for i in range(0, len(texts), 8)]
    return "{\n    " + ",\n    ".join(rows) + "}"


def write(path: Any, executable: Any) -> Export:
    """Write name.c, name.h and name_test.c. path: the name with its folder. executable: of the recording."""
    target = Path(path)
    name = target.name.removesuffix(".c")
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        raise CExportError(f"{name!r} is no name in C. Hint: letters, digits and underscores")
    program = executable.program
    if program.arithmetic is not None:
        raise CExportError("no C is written for a program that takes Python numbers. Hint: pass them as tensors of one element")
    export = Export(program, executable.instructions, name)
    inputs, results = _example(export, executable)
    files = {f"{name}.c": export.text(), f"{name}.h": export.header(), f"{name}_test.c": export.test(inputs, results)}
    for file, text in files.items():
        (target.parent / file).write_text(text, encoding="ascii")
    return export


def _example(export: Export, executable: Any) -> tuple[list[Any], list[tuple[str, Any]]]:
    """Return inputs, and what a run makes of them. The run's writes into tensors and gradients are undone."""
    rng = np.random.default_rng(0)
    arrays = []
    for s in export.inputs:
        drawn = rng.uniform(-1, 1, s.shape) if s.dtype.kind == "f" else rng.integers(0, 2, s.shape)
        arrays.append(np.asarray(drawn, s.dtype))
    n = 1 + max([s.key for s in export.inputs], default=-1)
    by_key = {s.key: a for s, a in zip(export.inputs, arrays, strict=True)}
    tensors = [wrap(by_key[i].copy() if i in by_key else np.zeros(())) for i in range(n)]
    held = [(_array_of(s), _array_of(s).copy()) for s in export.state if export.is_written(s) and s.kind != form.CONSTANT]
    leaves = [leaf_of(x.function, tensors) for x in executable.instructions if x.kind == form.SET_GRAD]
    grads = [leaf._grad for leaf in leaves]
    try:
        leaving = [x for x in executable.run(tensors) if isinstance(x, (TensorBase, int, float))]
        found = [np.array(x._array if isinstance(x, TensorBase) else x) for x in leaving]
        found += [np.array(leaf_of(x.function, tensors)._grad._array) for x in _gradients(executable.instructions)]
        kept = [x for x in export.program.outputs if isinstance(x, Value) or x[0] != "object"]
        names = [None if not isinstance(x, Value) and x[0] == "same" else "y" for x in kept]
        names += ["y"] * (len(found) - len(names))
        results: list[tuple[str, Any]] = []
        for kind, array in zip(names, found, strict=True):
            if kind is not None:
                results.append((f"y{len(results)}", array.astype(export.outputs[len(results)][0].dtype)))
        changed = [s for s in export.state if export.is_written(s) and s.kind != form.CONSTANT]
        results += [(export.variable(s), _array_of(s).copy()) for s in changed]
    finally:
        for array, copy in held:
            array[...] = copy
        for leaf, grad in zip(reversed(leaves), reversed(grads), strict=True):
            leaf._grad = grad
        for update, _ in export.program.updates:
            update.undo()
    return arrays, results
