"""Running a program: steps bound to slots of memory, in one C loop (kernels/wk_steps.c), or in Python where nothing is compiled.

Each value has a slot, which holds its array. The slots of computed memory are made once. Those of external memory are the tensors'
own arrays, looked up at each run. What the function returns, and new gradients, get new memory at each run.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby, pairwise
from typing import Any

import numpy as np

from wengert.backends import numpy as numpy_backend
from wengert.core.forward import promote, run_compiled, run_numpy, set_kernel
from wengert.core.modes import quiet_enter, quiet_exit
from wengert.core.op import Op
from wengert.core.tensor import TensorBase, counter_of, wrap
from wengert.core.views import write_array
from wengert.generator import default_generator
from wengert.kernels import native
from wengert.kernels.memory import bounds_of
from wengert.program import form
from wengert.program.form import Instruction, Program, Storage, Value
from wengert.program.lowering import is_plain, is_pointwise, keeps_dtype, kernel_of
from wengert.program.passes import may_draw, optimized


class Mismatch(Exception):
    """The program does not fit this call: a tensor, a gradient or a condition is not as it was."""


class Slot(int):
    """Number of a slot, among other numbers."""


_KERNEL, _PROGRAM, _COPY, _CALL, _SUM, _NEW = range(6)  # kinds of steps of kernels/wk_steps.c
_MAX_OPERANDS = 16


class Executable:
    """A program with its memory. One thread at a time runs it."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.slots: list[Any] = []
        self._outputs: dict[int, tuple[Storage, Value]] = {}  # storage and value of the slots that kernels fill
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._by_storage: dict[Storage, list[tuple[int, Value]]] = {}
        self.steps: list[tuple[Any, ...]] = []
        self.results: list[Storage] = []  # memory that is new at each run
        self.nbytes = 0
        self.instructions = program.instructions = optimized(program)
        self._keep_results()
        for x in self.instructions:
            self._lower(x)
        for x in program.outputs:
            value = x[1] if isinstance(x, tuple) and not isinstance(x, Value) else x
            if isinstance(value, Value):
                self.slot(value)
        self._take_results()
        self._allocate()
        self.n_compiled = sum(step[0] == "kernel" for step in self.steps)
        self.steps = self._joined(self.steps)
        self.bumped = [s for s in program.storages if s.is_external and s.writes]
        self.externals = [s for s in program.storages if s.is_external and s in self._by_storage]
        self._wholes = [(s, [(n, v) for n, v in self._by_storage[s]]) for s in self.externals]
        self._addresses: list[Any] = [None] * len(self.externals)
        self._backs_up = self._can_stop_after_writes()
        self._draws = any((x.kind == form.HOST and not x.function.is_step) or may_draw(x) for x in self.instructions)
        self._has_stepped = False

    def _keep_results(self) -> None:
        """Find the computed storages whose memory must be new at each run."""
        found: dict[Storage, None] = {}
        for x in self.program.outputs:
            if isinstance(x, Value):
                found[x.storage] = None
            elif x[0] in ("leaf", "graph"):
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
        """Return a parameter with slots in place of values."""
        if isinstance(x, Value):
            return self.slot(x)
        if isinstance(x, tuple):
            return tuple([self._bound(y) for y in x])
        if isinstance(x, list):
            return [self._bound(y) for y in x]
        if isinstance(x, dict):
            return {key: self._bound(y) for key, y in x.items()}
        return x

    def _lower(self, x: Instruction) -> None:
        inputs = tuple([self._bound(y) for y in x.inputs])
        outputs = tuple([self.slot(y) for y in x.outputs])
        if x.kind in (form.MAKE, form.INTO):
            kernel = kernel_of(x)
            if kernel is not None:
                operands = tuple([y if type(y) is Slot else self._number_slot(y) for y in (*inputs, *kernel[1])])
                self._outputs[int(outputs[0])] = x.outputs[0].storage, x.outputs[0]
                self.steps.append(("kernel", (_KERNEL, kernel[0], None, operands, outputs)))
                return
            params = self._bound(x.params)
            if x.kind == form.INTO or native is None or len(inputs) + len(outputs) > _MAX_OPERANDS:
                self.steps.append((x.kind, x.op, inputs, params, outputs, x.keeps_numbers))
            elif x.name == "_sum_to_size":
                shape = self._number_slot(x.params["shape"])
                self.steps.append(("kernel", (_SUM, 0, numpy_backend.sum_to_size, (*inputs, shape), outputs)))
            else:
                operands = tuple([y if type(y) is Slot else self._number_slot(y) for y in inputs])
                function = self._function_of(x, params)
                self.steps.append(("kernel", (_CALL, 0, function, operands, outputs)))
        elif x.kind == form.FUSED:
            self.steps.append(("kernel", (_PROGRAM, 0, x.function, inputs, outputs)))
        elif x.kind == form.WRITE:
            self.steps.append(("write", x.function, inputs, self._bound(x.params), outputs))
        elif x.kind == form.HOST:
            self.steps.append(("host", x.function, inputs, self._bound(x.params), outputs))
        elif x.kind == form.GUARD:
            self.steps.append(("guard", x.params["value"], inputs[0]))
        elif x.kind == form.SET_GRAD:
            self.steps.append(("set_grad", x.function, inputs[0]))
        elif native is not None:
            self.steps.append(("kernel", (_COPY, 0, None, inputs, outputs)))
        else:
            self.steps.append((x.kind, inputs[0], outputs[0]))

    def _function_of(self, x: Instruction, params: Any) -> Any:
        """Return a function of the operands' arrays that computes an instruction."""
        op: Op = x.op
        if op.kernel is None:
            set_kernel(op)
        plain = x.params is None or x.params == op.defaults
        if isinstance(op.kernel, np.ufunc) and op.output_names is None and plain and op.native < 0 and keeps_dtype(x):
            return op.kernel
        keeps_numbers = x.keeps_numbers
        if op.output_names is not None:
            return lambda *arrays: tuple(self._forward(op, arrays, params, keeps_numbers))
        return lambda *arrays: self._forward(op, arrays, params, keeps_numbers)

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
                parts = tuple([step[1] for step in group])
                joined.append(("kernels", native.make_steps(parts), len(parts)))
            else:
                joined.extend(group)
        return joined

    # -- memory ------------------------------------------------------------------------------------------------------------

    def _allocate(self) -> None:
        """Make the arrays of computed memory and of constants."""
        for storage, values in self._by_storage.items():
            if storage.is_external or storage in self.results:
                continue
            whole = _new_memory(storage)
            self.nbytes += storage.nbytes
            if storage.kind == form.CONSTANT:
                whole[...] = storage.key
                if any(x.kind != form.MAKE and storage in [v.storage for v in x.outputs] for x in self.instructions):
                    self.steps.insert(0, ("reset", storage.key, whole))
            self._fill_slots(whole, values)

    def _take_results(self) -> None:
        """Let the results of functions of whole arrays be the memory of their storage, where it has no other values."""
        for i, step in enumerate(self.steps):
            if step[0] == "kernel" and step[1][0] == _KERNEL and not is_pointwise(step[1][1]):
                storage, value = self._outputs[int(step[1][4][0])]
                if len(self._by_storage[storage]) == 1 and is_plain(value):
                    self.steps[i] = ("kernel", (_NEW, *step[1][1:]))
                    if storage in self.results:
                        self.results.remove(storage)

    def _fill_slots(self, whole: Any, values: list[tuple[int, Value]]) -> None:
        for number, value in values:
            self.slots[number] = whole if value.is_whole else _view(whole, value)

    def _can_stop_after_writes(self) -> list[tuple[int, Value]]:
        """Return the slots of external memory to copy before a run, because a step after a write into it may not fit."""
        written: dict[int, Value] = {}
        stops = False
        for x in self.instructions:
            if x.kind in (form.INTO, form.WRITE) and x.outputs[0].storage.is_external:
                written[int(self.slot(x.outputs[0]))] = x.outputs[0]
            elif written and (x.kind == form.GUARD or (x.kind == form.MAKE and kernel_of(x) is None)):
                stops = True
        return list(written.items()) if stops else []

    # -- running -----------------------------------------------------------------------------------------------------------

    def bind(self, inputs: list[TensorBase]) -> None:
        """Fill the slots of external memory. Raises Mismatch, with nothing changed, if a tensor is not as it was."""
        for state in self.program.grads:
            if (state.tensor._grad is None) != state.is_none:
                raise Mismatch("the gradient of a tensor")
        for i, (storage, values) in enumerate(self._wholes):
            key = storage.key
            if storage.kind == form.INPUT:
                tensor = inputs[key]
            else:
                tensor = key if storage.kind == form.TENSOR else key._grad
                if tensor is None:
                    raise Mismatch("the gradient of a tensor")
            array = tensor._array
            if array is self._addresses[i]:
                continue
            if storage.kind != form.INPUT and (
                array.shape != storage.shape or array.dtype != storage.dtype or array.strides != storage.strides
            ):
                raise Mismatch("the shape of a tensor")
            self._addresses[i] = array
            self._fill_slots(array, values)
        if self.bumped and len(self.externals) > 1 and self._overlap():
            raise Mismatch("tensors that share memory, one of which is written")

    def _overlap(self) -> bool:
        """Whether two external tensors share memory."""
        found = self.__dict__.setdefault("_disjoint", [])
        if len(found) == len(self._addresses) and all(a is b for a, b in zip(found, self._addresses, strict=True)):
            return False
        extents = sorted(bounds_of(a) for a in self._addresses if a.size)
        if any(a[1] > b[0] for a, b in pairwise(extents)):
            return True
        self.__dict__["_disjoint"] = list(self._addresses)
        return False

    def run(self, inputs: list[TensorBase]) -> list[Any]:
        """Run the program. Return the leaves of its result. Raises Mismatch, with nothing changed, if it does not fit."""
        self.bind(inputs)
        for storage in self.results:
            whole = _new_memory(storage)
            if storage.kind == form.CONSTANT:
                whole[...] = storage.key
            self._fill_slots(whole, self._by_storage[storage])
        saved = [(self.slots[n], self.slots[n].copy()) for n, _ in self._backs_up]
        state = default_generator.get_state() if self._draws else None
        self._has_stepped = False
        grads: list[tuple[Any, Any]] = []
        made: dict[int, Any] = {}  # tensors of new memory, which results and gradients share
        quiet_enter()
        try:
            self._run_steps(grads, made)
        except BaseException as error:
            for target, copy in saved:
                target[...] = copy
            for leaf, grad in reversed(grads):
                leaf._grad = grad
            if state is not None:
                default_generator.set_state(state)
            if isinstance(error, Exception) and not isinstance(error, Mismatch) and not self._has_stepped:
                raise Mismatch("an operation fails") from error  # the function runs eagerly, and raises the error at its line
            raise
        finally:
            quiet_exit()
        for storage in self.bumped:
            key: Any = inputs[storage.key] if storage.kind == form.INPUT else storage.key
            counter_of(key._grad if storage.kind == form.GRAD else key).value += storage.writes
        return [self._result(x, inputs, made) for x in self.program.outputs]

    def _result(self, x: Any, inputs: list[TensorBase], made: dict[int, Any]) -> Any:
        if isinstance(x, Value):
            return self._tensor(self.slot(x), made)
        kind, what = x
        if kind == "same":
            return inputs[what.key] if what.kind == form.INPUT else what.key
        if kind == "graph":
            return self._tensor(self.slot(what), made)
        if kind == "leaf":
            leaf = self._tensor(self.slot(what), made)
            leaf._requires_grad = True
            return leaf
        return self.slots[self.slot(what)].item() if kind == "item" else what

    def _tensor(self, number: int, made: dict[int, Any]) -> Any:
        found = made.get(number)
        if found is None:
            found = made[number] = wrap(self.slots[number])
        return found

    def _run_steps(self, grads: list[tuple[Any, Any]], made: dict[int, Any]) -> None:
        for step in self.steps:
            kind = step[0]
            if kind == "kernels":
                if native.run_steps(step[1], self.slots) != step[2]:
                    raise Mismatch("the operands of a kernel")
            elif kind == "set_grad":
                leaf, number = step[1], step[2]
                grads.append((leaf, leaf._grad))
                leaf._grad = None if number is None else self._tensor(number, made)
            else:
                run = _STEPS[kind]
                run(self, *step[1:])

    def _given(self, x: Any) -> Any:
        """Return a parameter with arrays in place of slots."""
        if type(x) is Slot:
            return self.slots[x]
        if isinstance(x, tuple):
            return tuple([self._given(y) for y in x])
        if isinstance(x, list):
            return [self._given(y) for y in x]
        if isinstance(x, dict):
            return {key: self._given(y) for key, y in x.items()}
        return x

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
        params = op.defaults if params is None else {"index": self._given(params)} if op.is_read else self._given(params)
        arrays = list(self._given(inputs))
        if not (keeps_numbers and len(arrays) == 2 and _has_number(arrays)):
            arrays = promote(op, arrays)
        if op.kernel is None:
            set_kernel(op)
        out = run_compiled(op, arrays, params) if op.native >= 0 else None
        return run_numpy(op, arrays, params) if out is None else out

    def _write(self, function: Callable[..., Any], inputs: Any, params: Any, outputs: Any) -> None:
        function(*self._given(inputs), **self._given(params))

    def _host(self, host: Any, inputs: Any, params: Any, outputs: Any) -> None:
        if host.is_step:
            self._has_stepped = True
            host.function(*inputs)
            return
        result = host.function(*self._wrapped(inputs), **self._wrapped(params))
        if not host.writes:
            self.slots[outputs[0]][...] = result._array

    def _wrapped(self, x: Any) -> Any:
        """Return a parameter with tensors in place of slots."""
        if type(x) is Slot:
            return wrap(self.slots[x])
        if isinstance(x, (tuple, list)):
            return type(x)([self._wrapped(y) for y in x])
        return {key: self._wrapped(y) for key, y in x.items()} if isinstance(x, dict) else x

    def _guard(self, value: Any, number: int) -> None:
        if type(value)(self.slots[number].item()) != value:
            raise Mismatch("a condition")

    def _copy(self, source: int, target: int) -> None:
        self.slots[target][...] = self.slots[source]

    def _reset(self, value: Any, whole: Any) -> None:
        whole[...] = value


_STEPS: dict[str, Callable[..., None]] = {
    form.MAKE: Executable._make, form.INTO: Executable._into, form.WRITE: Executable._write, form.HOST: Executable._host,
    form.GUARD: Executable._guard, form.COPY: Executable._copy, "reset": Executable._reset,
}  # fmt: skip


def _has_number(arrays: list[Any]) -> bool:
    """Whether one of two operands is a Python number, and the other one a floating array, whose dtype the result has."""
    number, array = arrays if type(arrays[0]) in (int, float) else (arrays[1], arrays[0])
    return type(number) in (int, float) and isinstance(array, np.ndarray) and array.dtype.kind in "fc"


def _new_memory(storage: Storage) -> Any:
    """Return a new array with the shape, the strides and the dtype of a storage's whole array."""
    plain = np.empty(storage.shape, storage.dtype)
    if plain.strides == storage.strides:
        return plain
    memory = np.empty(storage.nbytes, np.uint8)
    return np.ndarray(storage.shape, storage.dtype, memory, storage.before, storage.strides)


class _Bytes:
    """The memory of an array, for NumPy. The array of these bytes keeps this object, and this object the array."""

    def __init__(self, array: Any) -> None:
        low, high = bounds_of(array)
        self.array = array
        readonly = not array.flags.writeable
        self.__array_interface__ = {"shape": (high - low,), "typestr": "|u1", "data": (low, readonly), "version": 3}


def _view(whole: Any, value: Value) -> Any:
    """Return the array of a value in the memory of its storage, given the storage's whole array."""
    if 0 in value.shape:
        return np.empty(value.shape, value.dtype)
    offset = value.storage.before + value.offset
    return np.ndarray(value.shape, value.dtype, np.asarray(_Bytes(whole)), offset, value.strides)
