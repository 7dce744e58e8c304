"""Recording with stand-ins for Python numbers: see numbers.py."""

from __future__ import annotations

import sys
from _thread import get_ident
from collections.abc import Sequence
from types import FrameType
from typing import Any

import numpy as np

from wengert.core.binding import FACTORS
from wengert.core.forward import promote
from wengert.core.recorder import hold_calls
from wengert.core.tape import Refusal, root_of
from wengert.core.tensor import TensorBase
from wengert.kernels.memory import address_of
from wengert.program import form, origins
from wengert.program.form import Instruction, Value, replaced
from wengert.program.lowering import has_number, kernel_of, stand_in
from wengert.program.numbers import Arithmetic, is_stand_in, plain, value_of
from wengert.program.recording import Recorder, record
from wengert.program.statements import stays_in_operators
from wengert.program.surroundings import NUMBERS, Surroundings, WeakMethod

_DTYPES = frozenset({np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.int64)})  # of memory for numbers
_ARITHMETIC = frozenset({"add", "sub", "rsub", "mul", "_div"})  # the same for a number and an array of one
_CALLS = {"call1": 1, "call2": 1, "call": 0, "call_inplace": 0}  # calls that may take stand-ins, and whether inputs are arguments


class NumberRecorder(Recorder):
    """Records one run with stand-ins for numbers: those among its arguments, and those at places of the surroundings.

    stand_ins: of the arguments. The others are at their places from begin() to end()."""

    def __init__(
        self, name: str, inputs: list[TensorBase], surroundings: Surroundings, exact: bool, numbers: Sequence[Any]
    ) -> None:
        super().__init__(name, inputs, surroundings, exact)
        found = surroundings.varying_numbers()
        arithmetic = Arithmetic([*numbers, *found], [*[f"n{i}" for i in range(len(numbers))], *surroundings.names])
        self.program.arithmetic = arithmetic
        self.has_numbers = arithmetic.n_given > 0
        self.stand_ins = arithmetic.stand_ins[: len(numbers)]
        self._places = list(zip(surroundings.places.values(), found, arithmetic.stand_ins[len(numbers) :], strict=True))
        self._pending: dict[Any, Any] = {}  # stand-ins of the call that runs, by the operand's position or the parameter's name
        self._memory: dict[tuple[int, Any], Value] = {}  # of numbers, by their places and dtypes
        self._reads: list[Instruction] = []  # those that take numbers of tensors
        arithmetic.is_put_out = self._is_put_out_now
        self._changed: list[tuple[Any, Any, Any]] = []  # nodes, what they have saved, and what has taken its place

    def _intercept_numbers(self, function: Any, arguments: tuple[Any, ...]) -> Any:
        found = self._stand_ins_of(function.__name__, arguments)
        if self.refusal is not None or self.depth or found is None:
            return self._intercept(function, replaced(arguments, _plain))
        before, self._pending = self._pending, found
        try:
            return self._intercept(function, replaced(arguments, value_of) if found else arguments)
        finally:
            self._pending = before

    def _stand_ins_of(self, name: str, arguments: tuple[Any, ...]) -> dict[Any, Any] | None:
        """Return the stand-ins among the operands and factors, or None if there are others, or the operation takes none."""
        op = arguments[0]
        are_inputs = _CALLS.get(name)
        if are_inputs is None or op.kind != "pointwise" or op.variadic >= 0:
            return None
        inputs, params = (arguments[1:], None) if are_inputs else arguments[1:3]
        found: dict[Any, Any] = {i: x for i, x in enumerate(inputs) if is_stand_in(x)}
        for key, x in (params or {}).items():
            if is_stand_in(x):
                if key not in FACTORS:
                    return None
                found[key] = x
        return found

    def _add_call_of_numbers(
        self, result: Any, function: Any, arguments: Any, kind: str, op: Any, operands: tuple[Any, ...], params: Any, write: Any,
        direct: bool,
    ) -> None:  # fmt: skip
        if self._pending:
            numbers, self._pending = self._pending, {}
            values = self._values_of(numbers, result, kind, op, operands, params, direct)
            if values is None or not self._change_node(result._grad_fn, numbers, values):
                for x in numbers.values():
                    plain(x)
            else:
                operands = tuple([values.get(i, x) for i, x in enumerate(operands)])
                params = params and {key: values.get(key, x) for key, x in params.items()}
        self._add_call(result, function, arguments, kind, op, operands, params, write, direct)

    def _values_of(
        self, numbers: dict[Any, Any], result: Any, kind: str, op: Any, operands: tuple[Any, ...], params: Any, direct: bool
    ) -> dict[Any, Value] | None:
        """Return memory for the numbers of a call, or None if the operation might compute something else with it."""
        if not isinstance(result, TensorBase):
            return None
        array = result._array
        tried = [stand_in(x) for x in operands]
        promoted = tried if len(tried) == 2 and has_number(tried) else promote(op, tried)
        dtypes = [y.dtype for y in promoted if isinstance(y, np.ndarray)]
        found: dict[Any, Value] = {}
        for key, x in numbers.items():
            dtype = array.dtype if isinstance(key, str) else getattr(promoted[key], "dtype", dtypes[0] if dtypes else None)
            if dtype not in _DTYPES or (isinstance(key, str) and any(y != dtype for y in dtypes)):
                return None
            found[key] = self._value_of_number(x, dtype)
        out = Value(None, 0, array.shape, array.strides, array.dtype)  # type: ignore[arg-type]
        kernels = []
        for inputs in (operands, [found.get(i, x) for i, x in enumerate(operands)]):
            kernels.append(kernel_of(Instruction(kind, op.name, tuple(inputs), (out,), params, op, None, "", direct)))
        has_one_formula = kernels[0] is not None or op.name in _ARITHMETIC or isinstance(op.kernel, np.ufunc)
        return found if kernels[0] == kernels[1] and has_one_formula else None

    def _value_of_number(self, x: Any, dtype: Any) -> Value:
        """Return the memory that holds a number in a dtype."""
        key = x._place, dtype
        if key not in self._memory:
            storage = self._new_storage(form.NUMBER, x._place, np.empty((), dtype))
            self._memory[key] = Value(storage, 0, (), (), dtype)
            for read in self._reads[::-1]:
                if read.params["place"] <= x._place:
                    read.outputs = (*read.outputs, self._memory[key])
                    break
        return self._memory[key]

    def take_number(self, tensor: TensorBase, number: Any) -> Any:
        """Return what item() gives the function: the number, or a stand-in for it. Called by tensor.py."""
        if self.refusal is not None or self.depth or type(number) not in NUMBERS or get_ident() != self._thread:
            return number
        hold_calls(True)  # what looks at the source is no part of the run
        try:
            frame = origins.caller_of(sys._getframe(1))
            if frame is None or self._internal(frame) or (_is_outermost(frame) and origins.is_returned(frame)):
                return number
            if not stays_in_operators(frame, _is_outermost, self._surroundings.reaches):
                return number
            value = self.operand(tensor)
        except Refusal:
            return number
        finally:
            hold_calls(False)
        self.has_numbers = True
        stand_in = self.program.arithmetic.read(number, f"item({value})")
        self.add(form.READ, "item", (value,), (), {"place": stand_in._place})
        self._reads.append(self.program.instructions[-1])
        return stand_in

    def _is_put_out_now(self) -> bool:
        hold_calls(True)
        try:
            return self.is_put_out(sys._getframe(2))
        except Refusal as refusal:
            self.refuse(refusal.reason)
            return True
        finally:
            hold_calls(self.refusal is not None)

    def _change_node(self, node: Any, numbers: dict[Any, Any], values: dict[Any, Value]) -> bool:
        """Let a node save stand-ins in place of numbers. Return False if it has saved something of a number that is not known."""
        saved = getattr(node, "_saved", None)
        if not saved:
            return True
        own = list(numbers.values())
        changed: list[Any] = []
        for x in saved:
            found = next((y for y in own if y._value is x), x)
            if isinstance(x, np.ndarray) and x.ndim == 0 and not self._is_known(x):
                if len(own) > 1:
                    return False
                value = next(iter(values.values()))
                if value.dtype != x.dtype:
                    return False
                address = address_of(x)
                self._by_root.setdefault(id(root_of(x)), []).append((value.storage, address, address, address + x.nbytes))
                self._alive.append(x)
            elif found is x and type(x) in (int, float) and any(y._value == x for y in own):
                return False
            changed.append(found)
        node._saved = tuple(changed)
        self._changed.append((node, saved, node._saved))
        return True

    def _frozen_leaf(self, x: Any) -> Any:
        return super()._frozen_leaf(_plain(x))

    def _forget_storages(self, first: int) -> None:
        super()._forget_storages(first)
        self._memory = {key: x for key, x in self._memory.items() if x.storage.number < first}

    def _other_output(self, x: Any) -> Any:
        return ("number", x._place) if is_stand_in(x) else super()._other_output(x)

    def finish(self, leaves: list[Any], structure: Any) -> Any:
        """Return the program, given the leaves of the function's result. Raises Refusal."""
        program = super().finish(leaves, structure)
        if not program.arithmetic.n_given and not program.arithmetic.rows:
            program.arithmetic = None
        if any(isinstance(x, tuple) and x[0] == "graph" for x in program.outputs):
            for _, _, x in self._places:  # the backward pass would read them again
                program.arithmetic.conditions[x._place] = x._value
        return program

    def begin(self) -> None:
        """Put stand-ins at their places."""
        for place, _, x in self._places:
            place.write(x)

    def end(self) -> None:
        """Give nodes and places their numbers back, and let stand-ins be numbers."""
        self.program.arithmetic.is_recording = False
        for place, number, x in self._places:
            found = place.read()
            place.write(number if found is x else value_of(found))
            if found is not x:
                self.refuse(f"it changes {self.program.arithmetic.text(x._place)}, a Python object")
        if self.program.arithmetic.stand_ins or self._reads:
            self._surroundings.replace(value_of)
        for node, saved, changed in self._changed:
            if node._saved is changed:
                node._saved = saved

    def may_run_again(self) -> bool:
        """Whether nothing has been changed so far that exists outside of the run."""
        for x in self.program.instructions:
            if x.kind in (form.HOST, form.OUT) or (x.kind != form.GUARD and any(v.storage.is_external for v in x.outputs)):
                return False
        return all(leaf._grad is held for leaf, held in self._grads.values())


def _is_outermost(frame: FrameType) -> bool:
    """Whether a frame is that of the compiled function."""
    caller = frame.f_back
    if caller is not None and caller.f_code is WeakMethod.__call__.__code__:
        caller = caller.f_back
    return caller is not None and caller.f_code is record.__code__


def _plain(x: Any) -> Any:
    """Return a leaf of a call's arguments without stand-ins."""
    if type(x) is slice:
        return slice(plain(x.start), plain(x.stop), plain(x.step))
    return plain(x)
