"""Running a program: steps bound to slots of memory, in one C loop (kernels/wk_steps.c), or in Python where nothing is compiled.

Each value has a slot, which holds its array. The slots of computed memory are made once. Those of external memory are the tensors'
own arrays, looked up at each run. What the function returns, and new gradients, get new memory at each run.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from itertools import groupby, pairwise
from typing import Any

import numpy as np

from wengert.backends import numpy as numpy_backend
from wengert.core.modes import PROFILE, observed, quiet_enter, quiet_exit
from wengert.core.op import Op
from wengert.core.recorder import RANGE, begin_range, end_range
from wengert.core.replay import GRAD, INPUT, TENSOR, count_writes, first_moved, have_grads, leaf_of, owner_of, set_grads, wrapped
from wengert.core.tensor import TensorBase, wrap
from wengert.core.views import write_array
from wengert.generator import default_generator
from wengert.kernels import native
from wengert.kernels.memory import bounds_of
from wengert.ops.indices import Along
from wengert.program import form
from wengert.program.arrays import aligned, constant, new_memory, place, view
from wengert.program.descent import function_of_steps, join_steps
from wengert.program.form import Instruction, Program, Scalar, Storage, Value, may_draw, replaced, values_written
from wengert.program.lowering import direct_call, function_of, is_plain, kernel_of, run_forward
from wengert.program.memory import plan
from wengert.program.passes import optimized, storages_kept


class Mismatch(Exception):
    """The program does not fit this call: a tensor, a gradient or a condition is not as it was."""


class Slot(int):
    """Number of a slot, among other numbers."""


_KERNEL, _PROGRAM, _COPY, _CALL, _SUM, _NEW, _C = range(7)  # kinds of steps of kernels/wk_steps.c
_MAX_OPERANDS = 16
_LARGEST_COPY = 1 << 18  # bytes
_STOPPED, _WRITTEN = "The compiled function stopped in the middle", "tensors that it writes may hold new values."


class Executable:
    """A program with its memory. One thread at a time runs it."""

    def __init__(self, program: Program, exact: bool = False, instructions: list[Instruction] | None = None) -> None:
        self.program = program
        self.slots: list[Any] = []
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._by_storage: dict[Storage, list[tuple[int, Value]]] = {}
        self.steps: list[tuple[Any, ...]] = []
        self.results: list[Storage] = []  # memory that is new at each run
        self._outlasting: list[Storage] = []  # computed memory that is read after the last instruction
        self._copied: dict[int, int] = {}  # slots of results, and of their copies
        self.nbytes = 0
        self._has_numbers = False  # whether the slots of numbers of optimizers are filled
        self._writes_outside = False
        self._is_writing = False  # whether a run has come to the first write into external memory
        if instructions is None:
            instructions = program.instructions = join_steps(optimized(program, exact))
        self.instructions = instructions
        self._keep_results()
        for x in self.instructions:
            self._lower(x)
        for x in program.outputs:
            values = (x,) if isinstance(x, Value) else x[1:3]
            for value in values:
                if isinstance(value, Value):
                    self.slot(value)
        self._copy_results()
        self._allocate()
        self.n_compiled = sum(step[0] == "kernel" for step in self.steps)
        self.steps = self._joined(self.steps)
        last = next((i + 1 for i in range(len(self.steps) - 1, -1, -1) if self.steps[i][0] != "set_grad"), 0)
        self._leaves = [step[1] for step in self.steps[last:]]  # whose .grad is set at the end
        self._grad_numbers = [None if step[2] is None else int(step[2]) for step in self.steps[last:]]
        self.steps = self.steps[:last]
        self.bumped = [s for s in program.storages if s.is_external and s.writes]
        self._written = [_owner(s) for s in self.bumped]
        self._writes = [s.writes for s in self.bumped]
        self.externals = [s for s in program.storages if s.is_external and s in self._by_storage]
        self._owners = [_owner(s) for s in self.externals]
        self._arrays: list[Any] = [None] * len(self.externals)
        # The slots of the results, if all of them are new tensors.
        self._plain: list[int] | None = None
        if all(isinstance(x, Value) for x in program.outputs):
            self._plain = [self._copied.get(self.slot(x), int(self.slot(x))) for x in program.outputs]
        self._guarded = [state.leaf for state in program.grads]
        self._were_none = [state.is_none for state in program.grads]
        self._backs_up = self._can_stop_after_writes()
        self._draws = any((x.kind == form.HOST and x.function.draws) or may_draw(x) for x in self.instructions)

    def _keep_results(self) -> None:
        """Find the computed storages whose memory must be new at each run."""
        found: dict[Storage, None] = {}
        for x in self.program.outputs:
            if isinstance(x, Value):
                found[x.storage] = None
            elif x[0] in ("leaf", "graph", "freed", "view"):
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
            elif written and (x.kind == form.GUARD or (x.kind == form.MAKE and kernel_of(x) is None)):
                stops = True
        return list(written.items()) if stops else []

    # -- running -----------------------------------------------------------------------------------------------------------

    def bind(self, inputs: list[TensorBase]) -> None:
        """Fill the slots of external memory. Raises Mismatch, with nothing changed, if a tensor is not as it was."""
        if not have_grads(self._guarded, inputs, self._were_none):
            raise Mismatch("the gradient of a tensor")
        i = first_moved(self._owners, inputs, self._arrays, 0)
        if i < 0:
            return
        while i >= 0:
            storage, tensor = self.externals[i], owner_of(self._owners[i], inputs)
            if tensor is None:
                raise Mismatch("the gradient of a tensor")
            array = tensor._array
            if storage.kind != form.INPUT and (
                array.shape != storage.shape or array.dtype != storage.dtype or array.strides != storage.strides
            ):
                raise Mismatch("the shape of a tensor")
            self._arrays[i] = array
            self._fill_slots(array, self._by_storage[storage])
            i = first_moved(self._owners, inputs, self._arrays, i + 1)
        if self.bumped and len(self.externals) > 1 and self._overlap():
            self._arrays = [None] * len(self.externals)  # so that the next run looks at them again
            raise Mismatch("tensors that share memory, one of which is written")

    def _overlap(self) -> bool:
        """Whether two external tensors share memory."""
        extents = sorted(bounds_of(a) for a in self._arrays if a.size)
        return any(a[1] > b[0] for a, b in pairwise(extents))

    def _prepare(self) -> None:
        """Fill the slots of the numbers that optimizers give. Raises Mismatch if one is not what it was."""
        prepared: list[Any] = []
        for update, scalars in self.program.updates:
            changed = update.prepare()
            if changed is None or [len(x) for x in scalars] != [len(x) for x in update.numbers]:
                self._undo(prepared if changed is None else [*prepared, update])
                raise Mismatch("an optimizer")
            prepared.append(update)
            if changed or not self._has_numbers:
                for values, places in zip(update.numbers, scalars, strict=True):
                    for value, scalar in zip(values, places, strict=True):
                        self.slots[self._scalar_slot(scalar)] = float(value)
                        for memory in scalar.memory.values():
                            for number, _ in self._by_storage.get(memory.storage, ()):
                                self.slots[number][...] = value
        self._has_numbers = True

    def _undo(self, updates: list[Any]) -> None:
        for update in updates:
            update.undo()

    def run(self, inputs: list[TensorBase]) -> list[Any]:
        """Run the program. Return the leaves of its result. Raises Mismatch, with nothing changed, if it does not fit."""
        self.bind(inputs)
        if self.program.updates:
            self._prepare()
        for storage in self.results:
            whole = constant(storage) if storage.kind == form.CONSTANT else new_memory(storage)
            self._fill_slots(whole, self._by_storage[storage])
        made: dict[int, Any] = {}  # tensors of new memory, which results and gradients share
        if observed() & PROFILE:
            name = f"program {self.program.name}"
            began = begin_range(name)
            try:
                self._run_safely(inputs, made)
            finally:
                end_range(name, RANGE, began)
        else:
            self._run_safely(inputs, made)
        if self._leaves:
            set_grads(self._leaves, inputs, self._grad_numbers, self.slots, made)
        if self._written:
            count_writes(self._written, inputs, self._writes)
        if self._plain is not None:
            return [wrapped(self.slots, number, made) for number in self._plain]
        return [self._result(x, inputs, made) for x in self.program.outputs]

    def _run_safely(self, inputs: list[Any], made: dict[int, Any]) -> None:
        """Run the steps. If one fails, undo what was changed, or say in the error that it is changed."""
        saved = [(self.slots[n], self.slots[n].copy()) for n, _ in self._backs_up]
        state = default_generator.get_state() if self._draws else None
        self._is_writing = False
        grads: list[tuple[Any, Any]] = []
        quiet_enter()
        try:
            self._run_steps(inputs, grads, made)
        except BaseException as error:
            for target, copy in saved:
                target[...] = copy
            for leaf, grad in reversed(grads):
                leaf._grad = grad
            if state is not None:
                default_generator.set_state(state)
            self._undo([update for update, _ in self.program.updates])
            undone = not self._is_writing or bool(saved)
            if isinstance(error, Exception) and not isinstance(error, Mismatch) and undone:
                raise Mismatch("an operation fails") from error  # the function runs eagerly, and raises the error at its line
            if not undone:
                count_writes(self._written, inputs, self._writes)
                if isinstance(error, Mismatch):  # the function must not run again
                    raise RuntimeError(f"{_STOPPED}, as {error} is not as it was: {_WRITTEN}") from error
                error.add_note(f"{_STOPPED}: {_WRITTEN}")
            raise
        finally:
            quiet_exit()

    def _result(self, x: Any, inputs: list[TensorBase], made: dict[int, Any]) -> Any:
        if isinstance(x, Value):
            return self._tensor(self.slot(x), made)
        kind, what = x[:2]
        if kind == "same" or (kind == "view" and isinstance(x.root, Storage)):
            return existing_of(x, None, inputs)
        if kind == "view":
            return reduce(_applied, x.steps, self._tensor(self.slot(x.root), made))
        if kind == "graph":
            return self._tensor(self.slot(what), made)
        if kind == "freed":
            tensor = self._tensor(self.slot(what), made)
            tensor._requires_grad, tensor._grad_fn, tensor._output_nr = True, x.node, x.output_nr
            return tensor
        if kind == "leaf":
            leaf = self._tensor(self.slot(what), made)
            leaf._requires_grad = True
            return leaf
        return self.slots[self.slot(what)].item() if kind == "item" else what

    def _tensor(self, number: int, made: dict[int, Any]) -> Any:
        return wrapped(self.slots, self._copied.get(number, number), made)

    def _run_steps(self, inputs: list[Any], grads: list[tuple[Any, Any]], made: dict[int, Any]) -> None:
        for step in self.steps:
            kind = step[0]
            if kind == "kernels":
                self._run_kernels(step[1], step[2], step[3])
            elif kind == "set_grad":
                leaf, number = leaf_of(step[1], inputs), step[2]
                grads.append((leaf, leaf._grad))
                leaf._grad = None if number is None else self._tensor(number, made)
            else:
                run = _STEPS[kind]
                run(self, *step[1:])

    def _run_kernels(self, steps: Any, n: int, members: list[tuple[Any, ...]]) -> None:
        """Run steps in C. members: the tuples that they were made of."""
        if observed() & PROFILE:
            for member in members:
                name = "memory" if member[2] is None else member[2].name
                began = begin_range(name)
                try:
                    if native.run_steps(native.make_steps((member[1],)), self.slots) != 1:
                        raise Mismatch("the operands of a kernel")
                finally:
                    end_range(name, RANGE, began)
            return
        try:
            done = native.run_steps(steps, self.slots)
        except Exception as error:
            x = members[native.current_step(steps)][2]
            if x is not None:
                error.add_note(f"This was raised by {x.name}, which was recorded at {x.line}.")
            raise
        if done != n:
            raise Mismatch("the operands of a kernel")

    def _given(self, x: Any) -> Any:
        """Return an operand or a parameter with arrays in place of slots."""
        return replaced(x, lambda y: self.slots[y] if type(y) is Slot else y)

    def _make(self, op: Op, inputs: Any, params: Any, outputs: Any, keeps_numbers: bool) -> None:
        out = self._forward(op, inputs, params, keeps_numbers)
        for number, array in zip(outputs, out if op.output_names is not None else (out,), strict=True):
            target = self.slots[number]
            if np.shape(array) != target.shape:
                raise Mismatch(f"the shape of the result of {op.name}")
            target[...] = array

    def _into(self, op: Op, inputs: Any, params: Any, outputs: Any, keeps_numbers: bool) -> None:
        write_array(wrap(self.slots[outputs[0]]), self._forward(op, inputs, params, keeps_numbers))

    def _forward(self, op: Op, inputs: Any, params: Any, keeps_numbers: bool) -> Any:
        if params is not None:
            params = {"index": self._given(params)} if op.is_read else self._given(params)
        return run_forward(op, list(self._given(inputs)), params, keeps_numbers)

    def _write(self, function: Callable[..., Any], inputs: Any, params: Any, outputs: Any) -> None:
        function(*self._given(inputs), **self._given(params))

    def _host(self, host: Any, inputs: Any, params: Any, outputs: Any) -> None:
        if host.is_step:
            host.function(*inputs)
            return
        result = host.function(*self._wrapped(inputs), **self._wrapped(params))
        if not host.writes:
            self.slots[outputs[0]][...] = result._array

    def _wrapped(self, x: Any) -> Any:
        """Return an operand or a parameter with tensors in place of slots."""
        return replaced(x, lambda y: wrap(self.slots[y]) if type(y) is Slot else y)

    def _guard(self, value: Any, number: int) -> None:
        if type(value)(self.slots[number].item()) != value:
            raise Mismatch("a condition")

    def _copy(self, source: int, target: int) -> None:
        self.slots[target][...] = self.slots[source]

    def _begin_writing(self) -> None:
        self._is_writing = True

    def _run_c(self, function: Any, inputs: Any) -> None:
        function(*self._given(inputs))

    def _reset(self, value: Any, whole: Any) -> None:
        whole[...] = value


_STEPS: dict[str, Callable[..., None]] = {
    form.MAKE: Executable._make, form.INTO: Executable._into, form.WRITE: Executable._write, form.HOST: Executable._host,
    form.GUARD: Executable._guard, form.COPY: Executable._copy, form.C: Executable._run_c, "reset": Executable._reset,
    "begin_writing": Executable._begin_writing,
}  # fmt: skip


def existing_of(output: Any, result: Any, inputs: list[Any]) -> Any:
    """Return an output that is a tensor that exists before the program runs, or a view of it. Another one's result is returned."""
    if output[0] == "same":
        return owner_of(_owner(output[1]), inputs)
    if output[0] == "view" and isinstance(output.root, Storage):
        return reduce(_applied, output.steps, owner_of(_owner(output.root), inputs))
    return result


def _applied(x: Any, step: Callable[[Any], Any]) -> Any:
    return step(x)


def executable_in_c(program: Program, exact: bool) -> Executable:
    """Return a program with runs of its instructions as C functions, compiled now."""
    from wengert.program.c_steps import Conversion  # most programs run without C of their own

    program.instructions = optimized(program, exact)
    return Executable(program, exact, Conversion(program.instructions, storages_kept(program)).finish())


def _changes_outside(x: Instruction) -> bool:
    """Whether an instruction writes memory that exists before the program runs, or makes the step of an optimizer."""
    if x.kind == form.HOST:
        return x.function.is_step or (x.function.writes and isinstance(x.inputs[0], Value) and x.inputs[0].storage.is_external)
    return x.kind in (form.INTO, form.WRITE, form.UPDATE, form.C) and any(v.storage.is_external for v in x.outputs)


def _owner(storage: Storage) -> tuple[int, Any]:
    """Return what core/replay.py looks up the tensor of a storage by."""
    return {form.INPUT: INPUT, form.TENSOR: TENSOR, form.GRAD: GRAD}[storage.kind], storage.key


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
