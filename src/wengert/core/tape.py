"""The tape of a run that is recorded: where its arrays lie in memory, and the instructions that made them.

program/recording.py derives the recorder of `compile` from Tape, and says what is recorded. What happens for each operation is
here, in the compiled core, because a first call is to cost little more than the operations.
"""

from __future__ import annotations

if False:
    import cython
from functools import partial
from typing import Any
from weakref import ref

import numpy as np

from wengert import _shim as cython
from wengert.backends.selection import device_name
from wengert.core.buffers import InputBuffer
from wengert.core.engine import evaluate_node
from wengert.core.node import AccumulateGrad, Node, OpNode, find_position
from wengert.core.op import Op, Plan
from wengert.core.recorder import hold_calls
from wengert.core.saved import INPUT, SavedTensor
from wengert.core.task import GraphTask
from wengert.core.tensor import TensorBase, VersionCounter
from wengert.kernels.memory import extent_of

# Kinds of instructions, and of memory, that the tape makes itself. program/form.py has the others.
MAKE, INTO, WRITE = "make", "into", "write"
COMPUTED, CONSTANT = "computed", "constant"
_LARGE = 1 << 17  # bytes of memory that the tape does not keep


class Refusal(Exception):
    """Why a function cannot be recorded. where: the line of the user's program, or ""."""

    def __init__(self, reason: str, where: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.where = where

    def __str__(self) -> str:
        return f"{self.reason} ({self.where})" if self.where else self.reason


def root_of(array: Any) -> Any:
    """Return the array that owns the memory of an array."""
    while True:
        base = array.base
        if base is None:
            return array
        if type(base).__name__ == "DummyArray":  # as_strided's
            base = base.base
        if not isinstance(base, np.ndarray):
            return array
        array = base


def _forget(by_root: dict[int, Any], number: int, _: Any) -> None:
    by_root.pop(number, None)


@cython.binding(False)
@cython.cclass
class Tape:
    """Instructions and storages of a run. A derived class says what is recorded of parameters, views and unknown arrays.

    classes: Value, Storage and Instruction of program/form.py."""

    def __init__(self, storages: list[Any], instructions: list[Any], classes: tuple[Any, Any, Any]) -> None:
        self._storages: list[Any] = storages
        self._instructions: list[Any] = instructions
        self._new_value_class, self._new_storage_class, self._new_instruction = classes
        self.refusal: Refusal | None = None
        self.depth: int = 0  # of calls whose insides are not recorded
        # Storages by the id of their root, with the addresses of their first element, their first byte, and the byte after them.
        self._by_root: dict[int, list[tuple[Any, int, int, int]]] = {}
        self._alive: list[Any] = []  # arrays and counters: no other object gets their id while the tape lives
        self._versions: dict[int, int] = {}  # of counters, by their id
        self._known: dict[int, list[tuple[str, Any, TensorBase]]] = {}  # tensors outside, by the id of their root
        self._values: dict[int, tuple[Any, Any]] = {}  # arrays and their values, by the array's id
        self._lines: dict[tuple[int, int], str] = {}  # by the id of a code of the user's, and the offset of an instruction
        self._rules_began: tuple[int, int] | None = None  # numbers of instructions and storages before the rules of a node
        self._first_node: int = 0  # nodes that the run makes have at least this number
        self.has_numbers: bool = False  # whether there are stand-ins for numbers: see program/numbers.py
        self.exact: bool = False  # whether rules compute the last bits that they compute in eager passes

    def refuse(self, reason: str) -> None:
        """Give the recording up. The function runs on as before."""
        if self.refusal is None:
            self.refusal = Refusal(reason, self._line())

    def _line(self) -> str:
        """Return the line of the user's program that runs now, as "file:line"."""
        position = find_position()
        key = (id(position[0]), position[1])
        found = self._lines.get(key)
        return self._find_line(*position) if found is None else found

    # -- memory ------------------------------------------------------------------------------------------------------------

    def _new_storage(self, kind: str, key: Any, whole: Any) -> Any:
        """Return the new storage of an array."""
        if not isinstance(whole, np.ndarray):
            raise Refusal(f"a tensor lies on {device_name(whole)}, and recordings run in main memory")
        start, low, high = extent_of(whole)
        storage = self._new_storage_class(len(self._storages), kind, key, high - low, start - low, whole)
        self._storages.append(storage)
        root = root_of(whole)
        number = id(root)
        self._by_root.setdefault(number, []).append((storage, start, low, high))
        if high - low >= _LARGE and kind == COMPUTED:  # it is given back as early as in an eager run
            self._alive.append(ref(root, partial(_forget, self._by_root, number)))
        else:
            self._alive.append(whole)
        return storage

    def value_of(self, array: Any) -> Any:
        """Return the value that an array is. Raises Refusal if its memory has an unknown origin."""
        found = self._values.get(id(array))
        if found is not None and found[0].shape == array.shape:
            return found[1]
        start, low, high = extent_of(array)
        place = self._place_of(array, low, high)
        offset = start - place[1] if array.size else 0
        return self._keep(array, place[0], offset, array.shape, array.strides, array.dtype)

    def _keep(self, array: Any, storage: Any, offset: int, shape: Any, strides: Any, dtype: Any) -> Any:
        """Return a new value, which is remembered to be that of an array if the tape keeps its memory."""
        value = tuple.__new__(self._new_value_class, (storage, offset, shape, strides, dtype))
        if storage.nbytes < _LARGE or storage.kind != COMPUTED:
            self._values[id(array)] = (array, value)
        return value

    def _place_of(self, array: Any, low: int, high: int) -> Any:
        """Return the storage that an array lies in, with the addresses that are kept of it."""
        root = root_of(array)
        for place in self._by_root.get(id(root), ()):
            if place[2] <= low and high <= place[3]:
                return place
        self._find_origin(array, root, low, high)
        return self._by_root[id(root)][-1]

    def constant(self, array: Any) -> None:
        """Note that an array holds the same in each run."""
        self._new_storage(CONSTANT, array.copy(), array)

    def computed(self, array: Any) -> Any:
        """Return the value of an array that an instruction has made."""
        return self.value_of(array) if self._is_traced(array) else self._new_value(array)

    def _new_value(self, array: Any) -> Any:
        """Return the value of an array in new memory."""
        storage = self._new_storage(COMPUTED, None, array)
        return self._keep(array, storage, 0, storage.shape, storage.strides, storage.dtype)

    def _is_traced(self, array: Any) -> bool:
        """Whether an array lies in memory of the program."""
        return id(root_of(array)) in self._by_root

    def _is_known(self, array: Any) -> bool:
        """Whether an array lies in memory of the program, or of a tensor outside."""
        root = id(root_of(array))
        return root in self._by_root or root in self._known

    def operand(self, x: Any) -> Any:
        """Return an input of an instruction: a value, a Python number or None."""
        if not isinstance(x, TensorBase):
            return x if x is None or type(x) is float or type(x) is int else self._other_operand(x)
        tensor: TensorBase = x
        if tensor._view is not None and tensor._view.physical is not None:
            raise Refusal("a conjugate or negative view is used")
        self._check_version(tensor)
        return self.value_of(tensor._array)

    def _check_version(self, x: TensorBase) -> None:
        """Refuse the recording if a tensor was written unseen."""
        counter: VersionCounter | None = x._counter
        if counter is None:
            return
        known = self._versions.get(id(counter))
        if known is None:
            self._versions[id(counter)] = counter.value
            self._alive.append(counter)
        elif known != counter.value:
            raise Refusal("a tensor was written in a way that is not recorded")

    def _versions_of(self, x: TensorBase) -> None:
        """Note the version of a tensor, which is right now."""
        counter: VersionCounter | None = x._counter
        if counter is not None:
            self._alive.append(counter)
            self._versions[id(counter)] = counter.value

    # -- instructions ------------------------------------------------------------------------------------------------------

    def add(
        self, kind: str, name: str, inputs: Any, outputs: Any, params: Any = None, op: Any = None, function: Any = None,
        keeps_numbers: bool = False,
    ) -> None:  # fmt: skip
        """Add an instruction at the end of the program."""
        line = self._line()
        made = self._new_instruction(kind, name, tuple(inputs), tuple(outputs), params, op, function, line, keeps_numbers)
        self._instructions.append(made)

    def intercept(self, function: Any, arguments: tuple[Any, ...]) -> Any:
        """Run an operation, and record it. Called by core/recorder.py."""
        return self._intercept_numbers(function, arguments) if self.has_numbers else self._intercept(function, arguments)

    def _intercept(self, function: Any, arguments: tuple[Any, ...]) -> Any:
        """Run an operation without stand-ins for numbers, and record it."""
        if self.refusal is not None or self.depth != 0:
            return function(*arguments)
        hold_calls(True)  # what runs inside is of no interest
        try:
            return self._run_recorded(function, arguments)
        finally:
            hold_calls(self.refusal is not None)

    def _run_recorded(self, function: Any, arguments: tuple[Any, ...]) -> Any:
        name = function.__name__
        op: Op = arguments[0]
        if op.is_view and (name == "call1" or name == "call"):  # nothing to record: its result tells what it is
            result = function(*arguments)
            self._note_views(function, arguments, result)
            return result
        try:
            call = self._call_of(name, op, arguments)
        except Refusal as refusal:
            self.refuse(refusal.reason)
            return function(*arguments)
        try:
            result = function(*arguments)
        except BaseException:
            self.refuse("an operation raises an error, and the function may go on, as it would not in each run")
            raise
        try:
            if self.has_numbers:
                self._add_call_of_numbers(result, function, arguments, *call)
            else:
                self._add_call(result, function, arguments, *call)
        except Refusal as refusal:
            self.refuse(refusal.reason)
        return result

    def _call_of(self, name: str, op: Op, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments of _add_call after those of the call."""
        write, kind, params = None, MAKE, None
        direct = name == "call1" or name == "call2"
        if direct:
            inputs = arguments[1:]
        elif name == "call":
            inputs, params = arguments[1], arguments[2]
        elif name == "call_read":
            inputs, params = arguments[1:2], arguments[2]
        elif name == "call_inplace":
            inputs, params, kind = arguments[1], arguments[2], INTO
        elif name == "write_inplace":
            inputs, params, write, kind = arguments[1], arguments[2], arguments[3], WRITE
            if write.__closure__:
                raise Refusal(f"{op.name} writes by a function that holds other values")
        else:
            raise Refusal(f"{name} is not recorded")
        operands = tuple([self.operand(x) for x in inputs])
        return kind, op, operands, self._frozen(params) if params else params, write, direct

    def _add_call(
        self, result: Any, function: Any, arguments: Any, kind: str, op: Any, operands: tuple[Any, ...], params: Any, write: Any,
        direct: bool,
    ) -> None:  # fmt: skip
        """Add the instruction of a call that has run."""
        if kind != MAKE:
            self._count_write(result, operands[0])
            self.add(kind, op.name + "_", operands, (operands[0],), params, op, write, True)
            return
        if not isinstance(result, tuple):
            tensor: TensorBase = result
            if self._is_known(tensor._array):  # a view of an operand
                self.value_of(tensor._array)
                self._note_views(function, arguments, result)
                return
            operands = self._with_casts(tensor._grad_fn, operands)
            value = self._new_value(tensor._array)
            self._versions_of(tensor)
            self.add(MAKE, op.name, operands, (value,), params, op, None, direct)
            return
        known = [self._is_known(x._array) for x in result]
        if all(known):
            for x in result:
                self.value_of(x._array)
            self._note_views(function, arguments, result)
            return
        if any(known):
            raise Refusal(f"{op.name} gives views and new memory at once")
        operands = self._with_casts(result[0]._grad_fn if result else None, operands)
        values = []
        for x in result:
            values.append(self._new_value(x._array))
            self._versions_of(x)
        if len(values) > 1 and len({id(root_of(x._array)) for x in result}) < len(values):
            raise Refusal(f"{op.name} gives results that share memory")
        self.add(MAKE, op.name, operands, values, params, op, None, direct)

    def _with_casts(self, source: Any, operands: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the operands of an operation as its node has saved them: promoted. A copy into the new dtype is an instruction."""
        if not isinstance(source, OpNode):
            return operands
        node: OpNode = source
        found: list[Any] | None = None
        for saved in node._saved or ():
            if isinstance(saved, SavedTensor):
                s: SavedTensor = saved
                if s._role != INPUT or s._position >= len(operands):
                    continue
                array, operand = s._data, operands[s._position]
                if type(operand) is not self._new_value_class or not isinstance(array, np.ndarray) or array.dtype == operand[4]:
                    continue
                if array.shape == operand[2] and not self._is_traced(array):
                    if found is None:
                        found = list(operands)
                    found[s._position] = self.computed(array)
                    self._add_cast(operand, found[s._position])
            elif isinstance(saved, np.ndarray) and saved.ndim == 0 and not self._is_traced(saved):
                if any(type(x) in (int, float, complex) for x in operands):
                    self.constant(saved)  # a promoted number
        return operands if found is None else tuple(found)

    # -- backward passes ---------------------------------------------------------------------------------------------------

    def _evaluate(self, task: GraphTask, node: Node, buffer: InputBuffer) -> None:
        """Evaluate a node, and record it."""
        if isinstance(node, AccumulateGrad):
            self._evaluate_leaf(task, node, buffer)
            return
        self._rules_began = None
        if self.refusal is None and buffer.needed and has_only_rules(node, buffer):
            task.settle(node, buffer)
            self._rules_began = (len(self._instructions), len(self._storages))
        evaluate_node(task, node, buffer)

    def _check_rules(self, node: Any, results: Any, cotangents: Any) -> None:
        """Look at what the rules of a node have done. The engine calls it."""
        if self.refusal is None and node._sequence_nr() < self._first_node:
            self.refuse("a backward pass goes through the history of a tensor that exists before the call")
        elif self._rules_began is not None and (self.refusal is not None or self.exact):
            self._replace_rules(node, results, cotangents, *self._rules_began)

    # -- what a derived class says -----------------------------------------------------------------------------------------

    def _find_line(self, code: Any, lasti: int) -> str:
        """Return the line of a code of the user's."""
        raise NotImplementedError

    def _find_origin(self, array: Any, root: Any, low: int, high: int) -> None:
        """Add the storage of a tensor outside, or of a constant. Raises Refusal."""
        raise NotImplementedError

    def _other_operand(self, x: Any) -> Any:
        """Return the operand that an object is which is no tensor, float or int."""
        raise NotImplementedError

    def _frozen(self, x: Any) -> Any:
        """Return a parameter with values in place of tensors and arrays."""
        raise NotImplementedError

    def _intercept_numbers(self, function: Any, arguments: tuple[Any, ...]) -> Any:
        """Run an operation that may have stand-ins for numbers among its arguments, and record it."""
        raise NotImplementedError

    def _add_call_of_numbers(self, result: Any, function: Any, arguments: Any, *call: Any) -> None:
        """Add the instruction of a call that may have had stand-ins for numbers among its arguments."""
        raise NotImplementedError

    def _add_cast(self, operand: Any, value: Any) -> None:
        """Record that a value is an operand in another dtype."""
        raise NotImplementedError

    def _note_views(self, function: Any, arguments: tuple[Any, ...], made: Any) -> None:
        """Note how views were made: by function(*arguments), whose first operand is the base."""
        raise NotImplementedError

    def _count_write(self, target: TensorBase, value: Any) -> None:
        """Count a write into a tensor."""
        raise NotImplementedError

    def _evaluate_leaf(self, task: Any, node: Any, buffer: Any) -> None:
        """Evaluate the node of a leaf, and record what was added into .grad."""
        raise NotImplementedError

    def _replace_rules(self, node: Any, results: Any, cotangents: Any, n_instructions: int, n_storages: int) -> None:
        """Record the rules of a node as one instruction if their own instructions cannot stand for them."""
        raise NotImplementedError


def has_only_rules(node: Node, buffer: InputBuffer) -> bool:
    """Whether the engine does nothing at a node but to run its rules."""
    if not isinstance(node, OpNode) or node._hooks is not None or buffer.untaken is not None:
        return False
    own: OpNode = node
    op: Op = own._op
    plan: Plan = own._plan
    return plan is not None and not op.is_read and not plan.selects
