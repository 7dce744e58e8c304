"""Running a program: its steps (see steps.py) in one C loop (kernels/wk_steps.c), or in Python where nothing is compiled.

Memory of tensors that exist before the program is looked up at each run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np

from wengert.core.modes import PROFILE, observed, quiet_enter, quiet_exit
from wengert.core.op import Op
from wengert.core.recorder import RANGE, begin_range, end_range
from wengert.core.replay import (
    GRAD,
    INPUT,
    TENSOR,
    count_writes,
    first_moved,
    have_grads,
    have_hooks,
    leaf_of,
    owner_of,
    set_grads,
    wrapped,
)
from wengert.core.tensor import TensorBase, counter_of, wrap
from wengert.core.views import write_array
from wengert.generator import default_generator
from wengert.kernels import native
from wengert.kernels.memory import bounds_of
from wengert.program import form
from wengert.program.arrays import constant, new_memory
from wengert.program.descent import join_steps
from wengert.program.form import Instruction, Program, Storage, Value, hooks_of, may_draw, replaced
from wengert.program.passes import optimized, storages_kept
from wengert.program.steps import Slot, Steps


class Mismatch(Exception):
    """The program does not fit this call: a tensor, a gradient or a condition is not as it was."""


class Failure(Mismatch):
    """What is to be put out raises an error. The function raises it at its line, if it does so, too."""


class OutsideIndex(Mismatch):
    """An index is not within what C functions may read. The program fits, and runs without them."""


_STOPPED, _WRITTEN = "The compiled function stopped in the middle", "tensors that it writes may hold new values."


class Executable(Steps):
    """A program with its memory. One thread at a time runs it."""

    def __init__(self, program: Program, exact: bool = False, instructions: list[Instruction] | None = None) -> None:
        if instructions is None:
            instructions = program.instructions = join_steps(optimized(program, exact))
        super().__init__(program, instructions)
        self._has_numbers = False  # whether the slots of numbers of optimizers are filled
        self._is_writing = False  # whether a run has come to the first write into external memory
        self._take_last_grads()
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
        self._hooked = [leaf for leaf, _ in program.hooks]
        self._has_hooks = any(any(hooks) for _, hooks in program.hooks)
        self._guarded = [state.leaf for state in program.grads]
        self._were_none = [state.is_none for state in program.grads]
        self._backs_up = self._can_stop_after_writes()
        self._waiting: list[Callable[[], Any]] = []  # what a run puts out at its end
        self._puts_out = False  # whether the arguments of that are computed now
        self._last_numbers: list[Any] = []  # the table of Python numbers, as the arithmetic of the program gives it
        self._draws = any((x.kind == form.HOST and x.function.draws) or may_draw(x) for x in self.instructions)

    def _take_last_grads(self) -> None:
        """Take the steps that set .grad at the end, which one call sets together."""
        last = next((i + 1 for i in range(len(self.steps) - 1, -1, -1) if self.steps[i][0] != "set_grad"), 0)
        self._leaves = [step[1] for step in self.steps[last:]]
        self._grad_numbers = [None if step[2] is None else int(step[2]) for step in self.steps[last:]]
        self.steps = self.steps[:last]

    # -- running -----------------------------------------------------------------------------------------------------------

    def bind(self, inputs: list[TensorBase]) -> None:
        """Fill the slots of external memory. Raises Mismatch, with nothing changed, if a tensor is not as it was."""
        if not have_grads(self._guarded, inputs, self._were_none):
            raise Mismatch("the gradient of a tensor")
        if self._has_hooks or have_hooks(self._hooked, inputs):
            if any(hooks_of(leaf_of(leaf, inputs)) != hooks for leaf, hooks in self.program.hooks):
                raise Mismatch("the hooks of a tensor")
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

    def _take_numbers(self, numbers: Sequence[Any]) -> None:
        """Write Python numbers, and what follows from them, into their memory. Raises Mismatch if a condition fails."""
        table = self.program.arithmetic.table_of(numbers)
        if table is None:
            raise Mismatch("a Python number")
        last, self._last_numbers = self._last_numbers, table
        quiet_enter()
        try:
            for array, place in self._number_memory:
                if place < len(table) and (not last or last[place] is not table[place]):
                    array[...] = table[place]
        except (OverflowError, ValueError):
            self._last_numbers = []
            raise Mismatch("a Python number that the dtype does not hold") from None
        finally:
            quiet_exit()

    def _read(self, number: int, memory: list[tuple[int, int]]) -> None:
        """Take the number of a tensor into the table, and what follows from it. Raises Mismatch if a condition fails.

        memory: slots of the numbers that operations take, and their places in the table."""
        table = self._last_numbers
        if not self.program.arithmetic.go_on(table, self.slots[number].item()):
            raise Mismatch("a number of a tensor")
        try:
            for slot, place in memory:
                self.slots[slot][...] = table[place]
        except (OverflowError, ValueError):
            raise Mismatch("a Python number that the dtype does not hold") from None

    def run(self, inputs: list[TensorBase], numbers: Sequence[Any] = ()) -> list[Any]:
        """Run the program. Return the leaves of its result. Raises Mismatch, with nothing changed, if it does not fit.

        numbers: those among the arguments, if the program takes some."""
        if self.program.arithmetic is not None:
            self._take_numbers(numbers)
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
        for put_out in self._waiting:
            put_out()
        if self._plain is not None:
            return [wrapped(self.slots, number, made) for number in self._plain]
        return [self._result(x, inputs, made) for x in self.program.outputs]

    def _run_safely(self, inputs: list[Any], made: dict[int, Any]) -> None:
        """Run the steps. If one fails, undo what was changed, or say in the error that it is changed."""
        saved = [(self.slots[n], self.slots[n].copy()) for n, _ in self._backs_up]
        state = default_generator.get_state() if self._draws else None
        self._is_writing = False
        self._waiting = []
        self._puts_out = False
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
                kind = Failure if self._puts_out else Mismatch  # the function runs eagerly, and raises the error at its line
                raise kind("an operation fails") from error
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
        if kind == "number":
            return self._last_numbers[what]
        if kind == "same" or (kind == "view" and isinstance(x.root, Storage)):
            return existing_of(x, None, inputs)
        if kind == "view":
            return reduce(_applied, x.steps, self._tensor(self.slot(x.root), made))
        if kind == "graph":
            return self._tensor(self.slot(what), made)
        if kind == "written":
            tensor = self._tensor(self.slot(what), made)
            counter_of(tensor).value = x[2]
            return tensor
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
            elif kind == form.OUT:
                self._puts_out = True
                self._waiting.append(step[1].captured([self.slots[i] for i in step[2]], self._last_numbers, inputs))
                self._puts_out = False
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

    def _make(self, op: Op, inputs: Any, params: Any, outputs: Any, keeps_numbers: bool) -> None:
        out = self._forward(op, inputs, params, keeps_numbers)
        for number, array in zip(outputs, out if op.output_names is not None else (out,), strict=True):
            target = self.slots[number]
            if np.shape(array) != target.shape:
                raise Mismatch(f"the shape of the result of {op.name}")
            target[...] = array

    def _into(self, op: Op, inputs: Any, params: Any, outputs: Any, keeps_numbers: bool) -> None:
        write_array(wrap(self.slots[outputs[0]]), self._forward(op, inputs, params, keeps_numbers))

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

    def _check(self, limit: int, number: int) -> None:
        index = self.slots[number]
        if index.view(f"u{index.itemsize}").max() >= limit:  # negative ones are the largest
            raise OutsideIndex("an index")

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
    form.CHECK: Executable._check, form.GUARD: Executable._guard, form.READ: Executable._read, form.COPY: Executable._copy,
    form.C: Executable._run_c,
    "reset": Executable._reset, "begin_writing": Executable._begin_writing,
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


def _owner(storage: Storage) -> tuple[int, Any]:
    """Return what core/replay.py looks up the tensor of a storage by."""
    return {form.INPUT: INPUT, form.TENSOR: TENSOR, form.GRAD: GRAD}[storage.kind], storage.key
