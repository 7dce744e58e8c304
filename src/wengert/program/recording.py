"""Recording: a run of a function on real tensors, with each operation that it makes, also those of its backward passes.

Three observers see a run.
- The interceptor of core/recorder.py gets each call of dispatch, with operands and results.
- The pass that `run_pass` runs has its rules on tensors, so that they make calls of dispatch, too. It tells of leaves' gradients.
- A profile function sees Python calls: functions that make tensors without dispatch, numbers that leave tensors, and calls of
  functions outside that a replay would leave out.

What escapes the observers is found by its traces: memory of unknown origin, and a version that was counted without a write that was
seen. The recording is then refused, and the function runs eagerly. See docs/adr/0046.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import numpy as np

from wengert.core import recorded_passes
from wengert.core.accumulate import run_post_hooks
from wengert.core.engine import evaluate_node, start
from wengert.core.node import next_sequence_nr
from wengert.core.recorder import evaluate_each, set_program_recorder, watch_calls
from wengert.core.tape import Refusal, Tape, root_of
from wengert.core.tensor import TensorBase, wrap
from wengert.core.untaken import set_places_observer
from wengert.core.watched import set_number_observer
from wengert.devices import device
from wengert.dtypes import dtype
from wengert.generator import Generator
from wengert.kernels import native
from wengert.kernels.memory import bounds_of
from wengert.program import form, origins
from wengert.program.array_recording import ArrayRecorder
from wengert.program.form import Instruction, Program, Scalar, Storage, Value, hooks_of, replaced
from wengert.program.numbers import is_stand_in
from wengert.program.outputs import Outputs
from wengert.program.results import Results, marks_of
from wengert.program.statements import appends
from wengert.program.surroundings import Surroundings, is_optimizer
from wengert.program.updates import update_of

# Types of parameters that hold no elements of tensors.
_CONSTANTS = (
    int, float, complex, str, bytes, slice, type, type(None), type(Ellipsis), np.dtype, np.generic, dtype, device, Generator,
    FunctionType, ModuleType,
)  # fmt: skip
_GEOMETRY = frozenset({"Windows", "Table"})  # classes of operations whose objects follow from shapes
_INTERNAL = frozenset({"wengert", "numpy", "importlib", "opt_einsum"})  # packages whose code is not the user's
_CALLS, _C_CALLS, _DATA = 1, 2, 4  # what the recorder is told of a code: see watch_calls
_package_kinds: dict[int, int] = {}  # of the codes that are not the user's, by their id
_package_codes: list[Any] = []
_EVENTS = {"call": _CALLS, "return": _CALLS | _DATA, "c_call": _C_CALLS}


class Recorder(ArrayRecorder, Outputs, Results):
    """Records one run. inputs: the tensors among the arguments. surroundings: what the function reaches. exact: rules are to
    compute the last bits that they compute in eager passes."""

    def __init__(self, name: str, inputs: list[TensorBase], surroundings: Surroundings, exact: bool) -> None:
        self.program = Program(name)
        Tape.__init__(self, self.program.storages, self.program.instructions, (Value, Storage, Instruction))
        ArrayRecorder.__init__(self)
        Outputs.__init__(self)
        Results.__init__(self)
        self._surroundings = surroundings
        self.exact = exact
        self.host: tuple[FrameType, origins.Host, Any] | None = None
        self._inputs = inputs
        self._grads: dict[int, tuple[TensorBase, Any]] = {}  # leaf and its .grad as the program has it, by the leaf's id
        self._first_grads: dict[int, Any] = {}
        self._names_grads = surroundings.names_grads
        self._numbers = surroundings.numbers
        self._leaf_keys: dict[int, Any] = {}  # the leaf itself, or its number among the arguments
        self._external: dict[int, tuple[TensorBase, Any, bool, Any]] = {}  # with array, requires_grad, grad_fn, by the id
        self._marks: dict[int, Any] = {}  # what marks_of tells of tensors outside before the run, by the id
        self._first_node = next_sequence_nr()  # nodes that the run makes have a higher number
        self._items: dict[int, tuple[Any, Value]] = {}  # numbers that are results only, by the id
        self._owners: dict[Storage, TensorBase] = {}  # tensors outside, by the storage of their memory
        self.codes: list[CodeType] = []  # of the user, that have run
        self.kinds = dict(_package_kinds)  # of codes, by their id, for watch_calls: codes are slow to hash
        for i, x in enumerate(inputs):
            self._know(form.INPUT, i, x)
        for x in surroundings.tensors:
            if id(x) not in self._external:
                self._know(form.TENSOR, x, x)

    def _know(self, kind: str, key: Any, x: TensorBase) -> None:
        self._known.setdefault(id(root_of(x._array)), []).append((kind, key, x))
        self._alive.append(x._array)
        self._versions_of(x)
        if kind != form.GRAD:
            self._external[id(x)] = (x, x._array, x._requires_grad, x._grad_fn)
            self._marks[id(x)] = marks_of(x)
            if x._requires_grad and x._grad_fn is None:
                self._grads[id(x)] = (x, x._grad)
                self._first_grads[id(x)] = x._grad
                self._leaf_keys[id(x)] = key
                if x._grad is not None:
                    self._know(form.GRAD, key, x._grad)

    def _find_line(self, code: Any, lasti: int) -> str:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and _is_internal(frame):
            frame = frame.f_back
        if frame is None:
            return ""
        found = f"{frame.f_code.co_filename.rpartition('/')[2]}:{frame.f_lineno}"
        if frame.f_code is code:  # and not that of a caller: NumPy is the user for find_position
            self._alive.append(code)
            self._lines[id(code), lasti] = found
        return found

    def _internal(self, frame: FrameType) -> bool:
        """Whether a frame runs code of this package or of NumPy."""
        return not self._kind_of(frame) & _C_CALLS

    def _kind_of(self, frame: FrameType) -> int:
        """Return what has to be told of the code of a frame."""
        code = frame.f_code
        found = self.kinds.get(id(code))
        if found is None:
            found = self.kinds[id(code)] = _kind_of(frame)
            if found & _C_CALLS:
                self.codes.append(code)
            else:  # it is of the package, and lives on
                _package_kinds[id(code)] = found
                _package_codes.append(code)
        return found

    # -- memory ------------------------------------------------------------------------------------------------------------

    def _find_origin(self, array: Any, root: Any, low: int, high: int) -> None:
        """Add the storage of a tensor outside, or of a constant."""
        for kind, key, x in self._known.get(id(root), ()):
            extent = bounds_of(x._array)
            if extent[0] <= low and high <= extent[1]:
                if x._view is not None and x._view.physical is not None:
                    raise Refusal("a conjugate or negative view is used")
                if x._array.dtype.isnative and x._array.dtype.names is None:
                    self._owners[self._new_storage(kind, key, x._array)] = x
                    return
        is_uniform = array.size == 0 or ((root.size == 1 or not any(array.strides)) and array.flat[0] in (0, 1))
        if is_uniform and array.dtype.kind in "fc":
            self.constant(array)  # what rules use for derivatives that are 0 or 1 everywhere
            return
        raise Refusal("an array is used that no recorded operation has made and that the function does not reach as a tensor")

    def _other_operand(self, x: Any) -> Any:
        if isinstance(x, np.ndarray):
            if self._is_known(x):
                return self.value_of(x)
            raise Refusal("a NumPy array is an operand. Write wengert.as_tensor(array) outside of the function")
        if isinstance(x, np.generic):
            if id(x) not in self._numbers:
                raise Refusal("a NumPy number is an operand, which may depend on the elements of a tensor. Write float(number)")
            return x.item()
        return x

    def _frozen(self, x: Any) -> Any:
        """Return a parameter with values in place of tensors and arrays."""
        return replaced(x, self._frozen_leaf)

    def _frozen_leaf(self, x: Any) -> Any:
        if isinstance(x, (TensorBase, np.ndarray)):
            return self.operand(x)
        if isinstance(x, _CONSTANTS) or type(x).__name__ in _GEOMETRY:
            return x
        raise Refusal(f"a parameter is of type {type(x).__name__}, which may hold elements of tensors")

    def _add_cast(self, operand: Value, value: Value) -> None:
        self.add(form.COPY, "cast", (operand,), (value,))

    def _count_write(self, target: TensorBase, value: Value) -> None:
        self.note_change()
        self._versions_of(target)
        owner = self._owners.get(value.storage)
        if owner is None or owner._counter is target._counter:  # else it was cut off, as by .data
            value.storage.writes += 1

    # -- backward passes ---------------------------------------------------------------------------------------------------

    def run_pass(self, task: Any, roots: list[Any], cotangents: list[Any]) -> None:
        """Run a backward pass, and record what it does to .grad. Called by core/recorder.py."""
        if self.refusal is None:
            self.note_change()
            for x in cotangents:
                if not self._is_known(x._array) and np.all(x._array == 1):
                    self.constant(x._array)
            task.check, self._is_detached = self._check_rules, task.detaches
        start(task, roots, cotangents)
        evaluate_each(task, self._evaluate)
        if self.refusal is None and task.detaches:
            try:
                self._separate(task.results, cotangents)
            except Refusal as refusal:
                self.refuse(refusal.reason)

    def _separate(self, results: list[Any], cotangents: list[Any]) -> None:
        """Replace gradients that are not alone in their memory by copies, as an eager pass does."""
        seen = {id(root_of(x._array)) for x in cotangents}
        for i, x in enumerate(results):
            if x is None:
                continue
            value, root = self.operand(x), id(root_of(x._array))
            if root in seen or not value.is_whole or value.storage.kind != form.COMPUTED:
                copied = wrap(x._array.copy())
                self.add(form.COPY, "copy", (value,), (self.computed(copied._array),))
                results[i] = copied
            seen.add(root)

    def _evaluate_leaf(self, task: Any, node: Any, buffer: Any) -> None:
        leaf = node._variable
        before = leaf._grad
        if id(leaf) in self._leaf_keys:
            self._hooked.setdefault(id(leaf), (self._leaf_keys[id(leaf)], hooks_of(leaf)))
        hooks = leaf._post_hooks

        def record() -> None:
            if self.refusal is None and task.detaches and buffer.needed:
                try:
                    self._add_gradient(leaf, before, buffer.cotangent)
                except Refusal as refusal:
                    self.refuse(refusal.reason)

        def record_and_run(_: Any) -> None:
            leaf._post_hooks = hooks
            record()
            run_post_hooks(leaf)

        if not hooks:
            evaluate_node(task, node, buffer)
            record()
            return
        leaf._post_hooks = {0: record_and_run}  # the hooks see a gradient that is recorded
        try:
            evaluate_node(task, node, buffer)
        finally:
            leaf._post_hooks = hooks

    def _add_gradient(self, leaf: TensorBase, before: Any, cotangent: Any) -> None:
        """Record that a cotangent was added into leaf.grad, which was `before`."""
        if cotangent is None or leaf._grad is None:
            return
        if before is None:
            source = self.operand(cotangent)
            self.add(form.COPY, "copy", (source,), (self.computed(leaf._grad._array),))
            self._versions_of(leaf._grad)
            return
        target = self.value_of(before._array)
        self.add(form.INTO, "add_", (target, self.operand(cotangent)), (target,), None, origins.add_operation())
        self._count_write(before, target)

    def settle_grads(self) -> None:
        """Record which tensors are .grad of the leaves now."""
        for key, (leaf, held) in list(self._grads.items()):
            grad = leaf._grad
            if grad is held:
                continue
            if grad is not None and grad._grad_fn is not None:
                raise Refusal("a gradient with a graph is stored in .grad")
            value = None if grad is None else self.operand(grad)
            self.add(form.SET_GRAD, "set_grad", (value,), (), None, None, self._leaf_keys[key])
            self._grads[key] = (leaf, grad)

    # -- Python calls ------------------------------------------------------------------------------------------------------

    def profile(self, frame: FrameType, event: str, argument: Any) -> None:
        """Look at a call or return of a Python function. Called by core/recorder.py."""
        if not self._kind_of(frame) & _EVENTS[event]:
            return
        if self.refusal is not None or (self.depth and self.host is None):
            return
        try:
            if self.host is not None:
                if event == "return" and frame is self.host[0]:
                    self._end_host(argument)
            elif event == "c_call" and appends(argument) and self._surroundings.reaches(argument.__self__):
                self.is_put_out(frame)
            elif event == "c_call":
                reason = origins.reason_against(argument)
                if reason and not origins.is_import(frame) and not self.is_put_out(frame):
                    raise Refusal(reason)
            elif event == "call":
                self._begin_call(frame)
            else:
                self._end_call(frame, argument)
        except Refusal as refusal:
            self.refuse(refusal.reason)

    def _begin_call(self, frame: FrameType) -> None:
        code = frame.f_code
        host = origins.host_of(code)
        if host is None and code.co_name == "run" and is_optimizer(frame.f_locals.get("self")):
            host = origins.Host("step", lambda optimizer, *args, **kwargs: optimizer.step(*args, **kwargs), True)
        if host is None:
            return
        arguments = origins.arguments_of(frame)
        if host.is_pure:
            inputs: Any = arguments
        elif host.is_step:
            self.settle_grads()
            if len(arguments[0]) > 1 or arguments[1]:
                raise Refusal("the step of an optimizer is given a closure")
            inputs = arguments
        else:
            inputs = self._frozen(arguments)
        self.host = frame, host, inputs
        self.depth += 1

    def _end_host(self, result: Any) -> None:
        if self.host is None:
            return
        frame, host, (args, kwargs) = self.host
        self.host = None
        self.depth -= 1
        outputs: tuple[Value, ...] = ()
        if host.is_pure:
            self._end_array_function(host, (args, kwargs), result)
            return
        self.note_change()
        for counter_owner, *_ in list(self._external.values()):
            self._versions_of(counter_owner)
        if host.is_step and self._add_update(args[0]):
            return
        if host.writes and args:
            target: Any = args[0]
            x = next(iter(frame.f_locals.values()))
            self._count_write(x, target)
        elif isinstance(result, TensorBase):
            if result._grad_fn is not None:
                raise Refusal(f"{host.name} gives random numbers that have a derivative")
            outputs = (self.computed(result._array),)
            self._versions_of(result)
        self.add(form.HOST, host.name, args, outputs, kwargs, None, host)

    def _add_update(self, optimizer: Any) -> bool:
        """Record the step of an optimizer as instructions. Return False if it is a call of Python."""
        update = update_of(optimizer) if native is not None else None
        if update is None:
            return False
        scalars = [[Scalar(f"{type(optimizer).__name__}.{i}") for i in range(len(x))] for x in update.numbers]
        for batch, numbers in zip(update.batches, scalars, strict=True):
            for row in batch.rows:
                for x in (row[0], *row[2:]):
                    if id(x) not in self._external:
                        self._know(form.TENSOR, x, x)
                values = [self.operand(x) for x in row]
                outputs = [values[0], *values[2:]]
                for value in outputs:
                    value.storage.writes += 1
                self.add(form.UPDATE, f"{type(optimizer).__name__}.step", [*values, *numbers], outputs, None, None, batch.program)
        self.program.updates.append((update, scalars))
        return True

    def _end_call(self, frame: FrameType, result: Any) -> None:
        code = frame.f_code
        if id(code) in origins.LEAVING:
            self._leave(frame, result)
            return
        if id(code) in origins.CREATIONS:
            self._create(frame, result)
            return
        if id(code) in origins.UNITS:
            for x in result if isinstance(result, (list, tuple)) else () if result is None else (result,):
                self.constant(x._array)
            return
        caller = origins.caller_of(frame) if origins.is_data(result) and self._internal(frame) else None
        if caller is not None and not self._internal(caller) and not self.is_put_out(caller):
            raise Refusal(f"{code.co_name}() gives Python a value that may depend on the elements of a tensor")

    def _create(self, frame: FrameType, result: Any) -> None:
        """Note that a function has made a tensor of Python numbers."""
        if not isinstance(result, TensorBase) or self._is_known(result._array):
            return
        name = frame.f_code.co_name
        args, kwargs = origins.arguments_of(frame)
        given = [*args, *kwargs.values()]
        if name.endswith("_like") or name.startswith("new_"):
            given = given[1:]
        if any(origins.holds_arrays(x) for x in given):
            raise Refusal(f"{name}() is given an array or tensor whose elements may change")
        self.constant(result._array)
        self._versions_of(result)

    def _leave(self, frame: FrameType, result: Any) -> None:
        """Note that a number leaves a tensor: as a result of the function, or as a condition."""
        tensor = frame.f_locals.get("self")
        if result is None or not isinstance(tensor, TensorBase):
            return
        if is_stand_in(result) or self.is_in_statement(frame):
            return
        name = frame.f_code.co_name
        value = self.operand(tensor)
        if isinstance(result, bool) and name in ("__bool__", "item"):
            self.add(form.GUARD, "bool", (value,), (), {"value": result})
        elif name in ("item", "__float__") and origins.is_returned(origins.caller_of(frame)):
            self._items[id(result)] = result, self.computed_copy(value)
        elif isinstance(result, int) and name in ("__int__", "__index__", "item") and not self.is_put_out(frame):
            self.add(form.GUARD, "int", (value,), (), {"value": result})
        elif not self.is_put_out(frame):
            raise Refusal(
                f"{name}() gives Python a value of a tensor. Compute with tensors, use item() with operators only, return the "
                "number, or compare tensors: `if x > 0:`"
            )

    def take_number(self, tensor: TensorBase, number: Any) -> Any:
        """Return what item() gives the function."""
        return number

    def computed_copy(self, value: Value) -> Value:
        """Return a new value, into which an instruction copies another one."""
        copied = self.computed(np.empty(value.shape, value.dtype))
        self.add(form.COPY, "copy", (value,), (copied,))
        return copied


def _is_internal(frame: FrameType) -> bool:
    """Whether a frame runs code of this package or of NumPy."""
    return frame.f_globals.get("__name__", "").partition(".")[0] in _INTERNAL


def _kind_of(frame: FrameType) -> int:
    """Return what a recorder has to be told of the code of a frame: of C functions that the user calls, and of calls of functions
    that give tensors, or give their elements to Python."""
    code = frame.f_code
    is_internal = _is_internal(frame)
    kind = 0 if is_internal else _C_CALLS
    if code.co_name == "run" or origins.is_observed(code):  # that of an optimizer
        return kind | _CALLS
    return kind | _DATA if is_internal and origins.is_public(code) and not origins.is_metadata(code.co_name) else kind


_recording = False


def is_recording() -> bool:
    """Whether a function is being recorded, on any thread."""
    return _recording


@contextmanager
def without_collector() -> Iterator[None]:
    """Let the garbage collector rest: many objects are made, and few of them are garbage."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def record(recorder: Recorder, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Return fn(*args, **kwargs), and let the recorder see the run. Errors of fn are not changed."""
    global _recording
    origins.load()
    _recording = True
    set_program_recorder(recorder.intercept, recorder.run_pass)
    set_places_observer(recorder.see_places)
    set_number_observer(recorder.take_number)
    try:
        with without_collector(), recorded_passes.all_recorded():  # finalizers are no part of the function
            watch_calls(recorder.kinds, recorder.profile)
            try:
                return fn(*args, **kwargs)
            finally:
                watch_calls({}, None)
    finally:
        set_program_recorder(None, None)
        set_places_observer(None)
        set_number_observer(None)
        recorder.end_statement()
        _recording = False
