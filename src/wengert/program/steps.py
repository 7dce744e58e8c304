"""Instructions as steps on slots of memory, which the runner executes.

Each value has a slot, which holds its array. The slots of computed memory are made once. Those of external memory are the tensors'
own arrays. What the function returns, and new gradients, get new memory at each run.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import Any

import numpy as np

from wengert.backends import numpy as numpy_backend
from wengert.core.op import Op
from wengert.kernels import native
from wengert.ops.indices import Along
from wengert.program import form
from wengert.program.arrays import aligned, constant, new_memory, place, view
from wengert.program.descent import function_of_steps
from wengert.program.form import Instruction, Program, Scalar, Storage, Value, replaced, values_written
from wengert.program.lowering import direct_call, function_of, is_plain, kernel_of, run_forward
from wengert.program.memory import plan


class Slot(int):
    """Number of a slot, among other numbers."""


_KERNEL, _PROGRAM, _COPY, _CALL, _SUM, _NEW, _C = range(7)  # kinds of steps of kernels/wk_steps.c
_MAX_OPERANDS = 24  # of a step, as in kernels/wk_apply.h
_LARGEST_COPY = 1 << 18  # bytes


class Steps:
    """The steps of a program, and its slots. steps: tuples of a name of execution.py and what it takes."""

    def __init__(self, program: Program, instructions: list[Instruction]) -> None:
        self.program = program
        self.instructions = instructions
        self.slots: list[Any] = []
        self.steps: list[tuple[Any, ...]] = []
        self.results: list[Storage] = []  # memory that is new at each run
        self._number_memory: list[tuple[Any, int]] = []  # arrays of Python numbers, and their places in the table of the arithmetic
        self.nbytes = 0
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._by_storage: dict[Storage, list[tuple[int, Value]]] = {}
        self._outlasting: list[Storage] = []  # computed memory that is read after the last instruction
        self._copied: dict[int, int] = {}  # slots of results, and of their copies
        self._writes_outside = False
        self._keep_results()
        for instruction in instructions:
            self._lower(instruction)
        for x in program.outputs:
            for value in (x,) if isinstance(x, Value) else x[1:3]:
                if isinstance(value, Value):
                    self.slot(value)
        self._copy_results()
        self._allocate()
        self.n_compiled = sum(step[0] == "kernel" for step in self.steps)
        self.steps = self._joined(self.steps)

    def _keep_results(self) -> None:
        """Find the computed storages whose memory must be new at each run."""
        found: dict[Storage, None] = {}
        for x in self.program.outputs:
            if isinstance(x, Value):
                found[x.storage] = None
            elif x[0] in ("leaf", "graph", "freed", "view", "written"):
                found[x[1].storage] = None
        for y in self.instructions:
            if y.kind == form.SET_GRAD and y.inputs[0] is not None:
                found[y.inputs[0].storage] = None
        self.results = [s for s in found if not s.is_external]

    # -- lowering ----------------------------------------------------------------------------------------------------------

    def slot(self, value: Value) -> Slot:
        """Return the slot of a value."""
        key = (value.storage, *value[1:])
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.slots)
            self.slots.append(None)
            self._by_storage.setdefault(value.storage, []).append((number, value))
        return Slot(number)

    def _bound(self, x: Any) -> Any:
        """Return an operand or a parameter with slots in place of values and scalars."""

        def bound(y: Any) -> Any:
            if isinstance(y, Value):
                return self.slot(y)
            return self._scalar_slot(y) if isinstance(y, Scalar) else y

        return replaced(x, bound)

    def _lower(self, x: Instruction) -> None:
        if not self._writes_outside and _changes_outside(x):
            self._writes_outside = True
            self.steps.append(("begin_writing",))
        inputs = tuple([self._bound(y) for y in x.inputs])
        outputs = tuple([self.slot(y) for y in x.outputs])
        if x.kind in (form.MAKE, form.INTO):
            params = self._bound(x.params)
            if x.kind == form.INTO or native is None or len(inputs) + len(outputs) > _MAX_OPERANDS:
                self.steps.append((x.kind, x.op, inputs, params, outputs, x.keeps_numbers))
            else:
                self._call(x, inputs, params, outputs)
        elif x.kind == form.FUSED:
            self.steps.append(("kernel", (_PROGRAM, 0, x.function, inputs, outputs, None), x))
        elif x.kind == form.UPDATE and x.parts:
            step = _KERNEL, native.find("descend"), None, inputs, (outputs[1],), function_of_steps(x)
            self.steps.append(("kernel", step, x))
        elif x.kind == form.UPDATE:
            self.steps.append(("kernel", (_PROGRAM, 0, x.function.compiled, inputs, outputs, _results_of(x.function)), x))
        elif x.kind == form.C and native is not None:
            function = native.make_c_call(x.function.address, x.function.arena, tuple(map(int, inputs)))
            self.steps.append(("kernel", (_C, 0, function, (), (), None), x))
        elif x.kind == form.C:
            self.steps.append((form.C, x.function, inputs))
        elif x.kind == form.WRITE:
            self.steps.append(("write", x.function, inputs, self._bound(x.params), outputs))
        elif x.kind == form.HOST:
            self.steps.append(("host", x.function, inputs, self._bound(x.params), outputs))
        elif x.kind == form.CHECK:
            self.steps.append((form.CHECK, x.params["limit"], inputs[0]))
        elif x.kind == form.OUT:
            self.steps.append((form.OUT, x.function, inputs))
        elif x.kind == form.READ:
            memory = [(slot, value.storage.key) for slot, value in zip(outputs, x.outputs, strict=True)]
            self.steps.append((form.READ, inputs[0], memory))
        elif x.kind == form.GUARD:
            self.steps.append(("guard", x.params["value"], inputs[0]))
        elif x.kind == form.SET_GRAD:
            self.steps.append(("set_grad", x.function, inputs[0]))
        elif native is not None:
            self.steps.append(("kernel", (_COPY, 0, None, inputs, outputs, None), x))
        else:
            self.steps.append((x.kind, inputs[0], outputs[0]))

    def _call(self, x: Instruction, inputs: Any, params: Any, outputs: Any) -> None:
        """Add a step that C runs: a kernel, a compiled function, or else a function of Python."""
        if _has_slot(params):
            function: Any = lambda *arrays: self._forward(x.op, arrays, params, x.keeps_numbers)  # noqa: E731
        else:
            function = function_of(x, params)
        kernel, direct = kernel_of(x), direct_call(x)
        if kernel is not None:
            given = (*x.inputs, *kernel[1])
            step = _KERNEL, kernel[0], None
        elif x.name == "_sum_to_size":
            given = (*x.inputs, x.params["shape"])
            function = numpy_backend.sum_to_size
            step = _SUM, 0, None
        elif direct is not None:
            given = tuple(direct[1])
            step = _CALL, 0, direct[0]
        else:
            given = x.inputs
            step = _CALL, 0, function
        places = [i for i, y in enumerate(given) if isinstance(y, Value)]
        if kernel is None and direct is None:
            fallback: Any = function if x.name == "_sum_to_size" else None
        else:
            fallback = function if len(given) == len(x.inputs) else _of_some(function, places)
        operands = tuple([self.slot(y) if isinstance(y, Value) else self._number_slot(y) for y in given])
        self.steps.append(("kernel", (*step, operands, outputs, fallback), x))

    def _scalar_slot(self, scalar: Scalar) -> Slot:
        """Return the slot of a number that is given at each run."""
        key = (scalar,)
        if key not in self._numbers:
            self._numbers[key] = len(self.slots)
            self.slots.append(None)
        return Slot(self._numbers[key])

    def _number_slot(self, number: Any) -> Slot:
        """Return the slot that holds a number."""
        key = (type(number), repr(number))
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self.slots)
            self.slots.append(number)
        return Slot(found)

    def _joined(self, steps: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """Join neighbouring steps that C runs."""
        joined: list[tuple[Any, ...]] = []
        for is_kernel, group in groupby(steps, lambda step: step[0] == "kernel"):
            if is_kernel:
                members = list(group)
                joined.append(("kernels", native.make_steps(tuple([step[1] for step in members])), len(members), members))
            else:
                joined.extend(group)
        return joined

    # -- memory ------------------------------------------------------------------------------------------------------------

    def _allocate(self) -> None:
        """Plan the arena of computed memory, and make the arrays of it and of constants."""
        self._outlasting += [x[1].storage for x in self.program.outputs if not isinstance(x, Value) and x[0] == "item"]
        offsets, self.nbytes = plan(self.instructions, [*self.results], self._outlasting)
        arena = aligned(self.nbytes)
        self.unplanned = sum(s.nbytes for s in self._by_storage if s.kind == form.COMPUTED)
        written = {v.storage for x in self.instructions if x.kind != form.MAKE for v in x.outputs}
        new: list[tuple[Any, ...]] = []
        for storage, values in self._by_storage.items():
            if storage.kind == form.NUMBER:
                self._number_memory.append((new_memory(storage), storage.key))
                self._fill_slots(self._number_memory[-1][0], values)
                continue
            if storage.is_external or (storage in self.results and not self._renew(storage, values, new)):
                continue
            if storage.kind == form.CONSTANT:
                whole = constant(storage)
                if storage in written:
                    self.steps.insert(0, ("reset", storage.key, whole))
            else:
                whole = new_memory(storage) if storage not in offsets else place(storage, arena, offsets[storage])
            self._fill_slots(whole, values)
        self.steps[:0] = new

    def _copy_results(self) -> None:
        """Copy small results that have views out of the arena at the end: that costs less than new views in each run."""
        given = {y.inputs[0].storage for y in self.instructions if y.kind == form.SET_GRAD and y.inputs[0] is not None}
        for storage in list(self.results) if native is not None else ():
            values = self._by_storage[storage]
            whole = [(n, v) for n, v in values if is_plain(v)]
            if len(values) == 1 or not whole or storage in given:
                continue
            if storage.nbytes > _LARGEST_COPY or storage.dtype.kind not in "fciub":
                continue
            if any(v.storage is storage and not v.is_whole for v in self._returned()):
                continue
            number = Slot(len(self.slots))
            self.slots.append(None)
            self.steps.append(("kernel", (_NEW, 0, np.empty(storage.shape, storage.dtype), (), (number,), None), None))
            self.steps.append(("kernel", (_COPY, 0, None, (Slot(whole[0][0]),), (number,), None), None))
            self._copied[whole[0][0]] = number
            self.results.remove(storage)
            self._outlasting.append(storage)

    def _returned(self) -> list[Value]:
        """Return the values among the results."""
        found = [x if isinstance(x, Value) else x[1] for x in self.program.outputs]
        return [x for x in found if isinstance(x, Value)]

    def _renew(self, storage: Storage, values: list[tuple[int, Value]], new: list[tuple[Any, ...]]) -> bool:
        """Let C make the memory of a result in each run. Return False if Python does: it has views, or another order."""
        if native is None or len(values) != 1 or storage.kind != form.COMPUTED or not is_plain(values[0][1]):
            return False
        if storage.dtype.kind not in "fciub":
            return False
        like = np.empty(storage.shape, storage.dtype)
        new.append(("kernel", (_NEW, 0, like, (), (Slot(values[0][0]),), None), None))
        self.results.remove(storage)
        return True

    def _fill_slots(self, whole: Any, values: list[tuple[int, Value]]) -> None:
        for number, value in values:
            self.slots[number] = view(whole, value)

    def _can_stop_after_writes(self) -> list[tuple[int, Value]]:
        """Return the slots of external memory to copy before a run, because a step after a write into it may not fit."""
        written: dict[int, Value] = {}
        stops = False
        for x in self.instructions:
            outside = [v for v in values_written(x) if v.storage.is_external] if x.kind != form.MAKE else []
            if outside:
                written.update({int(self.slot(v)): v for v in outside})
            elif written and (self.program.may_stop(x) or (x.kind == form.MAKE and kernel_of(x) is None)):
                stops = True
        return list(written.items()) if stops else []

    # -- operations without a kernel --------------------------------------------------------------------------------------

    def _forward(self, op: Op, inputs: Any, params: Any, keeps_numbers: bool) -> Any:
        if params is not None:
            params = {"index": self._given(params)} if op.is_read else self._given(params)
        return run_forward(op, list(self._given(inputs)), params, keeps_numbers)

    def _given(self, x: Any) -> Any:
        """Return an operand or a parameter with arrays in place of slots."""
        return replaced(x, lambda y: self.slots[y] if type(y) is Slot else y)


def _changes_outside(x: Instruction) -> bool:
    """Whether an instruction writes memory that exists before the program runs, or makes the step of an optimizer."""
    if x.kind == form.HOST:
        return x.function.is_step or (x.function.writes and isinstance(x.inputs[0], Value) and x.inputs[0].storage.is_external)
    return x.kind in (form.INTO, form.WRITE, form.UPDATE, form.C) and any(v.storage.is_external for v in x.outputs)


def _results_of(program: Any) -> Callable[..., Any]:
    """Return a function that computes the results of a program of ops/program.py without its kernels."""

    def run(*arrays: Any) -> Any:
        found = program.run(arrays)
        return found[0] if len(found) == 1 else tuple(found)

    return run


def _has_slot(x: Any) -> bool:
    """Whether a parameter holds the number of a slot."""
    if type(x) is Along:
        x = (x.index,)
    if isinstance(x, (tuple, list)):
        return any(_has_slot(y) for y in x)
    return any(_has_slot(y) for y in x.values()) if isinstance(x, dict) else type(x) is Slot


def _of_some(function: Callable[..., Any], places: list[int]) -> Callable[..., Any]:
    """Return the function with only these of its operands."""
    return lambda *operands: function(*[operands[i] for i in places])
