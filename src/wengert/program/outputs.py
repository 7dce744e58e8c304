"""What a function puts out while it runs: print(), logging, writing to files. A program does it again at the end of each run.

Such a call is recorded as a statement (statements.py). Its arguments are computed again, by Python, where the statement is in the
program, from the tensors and numbers of the run. The call itself waits until nothing can stop the run any more: a run that does
not fit is repeated by the function, which would put out everything twice. See docs/adr/0050.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Sequence
from types import BuiltinFunctionType, FrameType, FunctionType, ModuleType
from typing import Any

from wengert.core.modes import grad_enabled, set_recording
from wengert.core.node import OpNode
from wengert.core.tape import Refusal, Tape
from wengert.core.tensor import TensorBase, wrap
from wengert.devices import device
from wengert.dtypes import dtype
from wengert.program import form
from wengert.program.form import Value, replaced
from wengert.program.numbers import is_stand_in, value_of
from wengert.program.results import is_freed
from wengert.program.statements import Statement, appends, is_at, is_in, statement_at
from wengert.program.surroundings import Surroundings, is_of_library
from wengert.sizes import Size

_VALUES = (int, float, complex, str, type(None))
_CONSTANTS = (
    int, float, complex, str, bytes, type(None), type, ModuleType, FunctionType, BuiltinFunctionType, Size, device, dtype,
)  # fmt: skip


_INNER = frozenset({"<genexpr>", "<listcomp>", "<setcomp>", "<dictcomp>"})  # codes that are part of a statement


class _Argument:
    """The tensor with a number among the arguments of a call."""

    def __init__(self, number: int) -> None:
        self.number = number


class _Made:
    """A tensor that an instruction has made: the operand with this number, and its history, which its text names."""

    def __init__(self, number: int, requires_grad: bool, node: Any) -> None:
        self.number = number
        self.requires_grad = requires_grad
        self.node = node


class _Object:
    """Something that is the same in each run."""

    def __init__(self, x: Any) -> None:
        self.x = x


class Output:
    """A statement of a program that puts something out. variables: those that it reads, in parts of the classes above."""

    def __init__(self, statement: Statement, variables: list[Any]) -> None:
        self._statement = statement
        self._variables = variables
        self._records = grad_enabled()

    def captured(self, operands: Sequence[Any], numbers: Sequence[Any], inputs: Sequence[Any]) -> Callable[[], Any]:
        """Return a function that makes the call, with what its arguments are now.

        operands: arrays. numbers: the table of the program's arithmetic. inputs: the tensors among the arguments of the program."""

        def given(x: Any) -> Any:
            if isinstance(x, _Made):
                tensor = wrap(operands[x.number])
                tensor._requires_grad, tensor._grad_fn = x.requires_grad, x.node
                return tensor
            if isinstance(x, _Argument):
                return inputs[x.number]
            return numbers[x._place] if is_stand_in(x) else x.x

        with set_recording(self._records):
            function, args, kwargs = self._statement.arguments(*[replaced(x, given) for x in self._variables])
            change = str if function is builtins.print else _copied
            args = tuple([change(x) for x in args])
        return lambda: self._statement.call(function, args, kwargs)


def _copied(x: Any) -> Any:
    """Return a tensor that keeps its elements, or what is no tensor."""
    if not isinstance(x, TensorBase):
        return x
    tensor = wrap(x._array.copy())
    tensor._requires_grad, tensor._grad_fn = x._requires_grad, x._grad_fn
    return tensor


class Outputs(Tape):
    """The part of a Recorder that notes what the function puts out."""

    _external: dict[int, tuple[TensorBase, Any, bool, Any]]
    _inputs: list[TensorBase]
    _surroundings: Surroundings
    settle_grads: Callable[[], None]

    def __init__(self) -> None:
        self._statement: tuple[FrameType, Statement] | None = None  # that runs now, and is recorded, with its frame
        self.growing: list[list[Any]] = []  # lists that the function appends to
        self._changes: set[tuple[int, int]] = set()  # frames, by their id, and offsets in their code, where memory was written

    def is_put_out(self, frame: FrameType | None) -> bool:
        """Whether a frame runs for a statement that puts something out. If one begins, it is recorded. Raises Refusal."""
        while frame is not None and (is_of_library(frame.f_globals.get("__name__", "")) or frame.f_code.co_name in _INNER):
            frame = frame.f_back
        if frame is None:
            return False
        if self._statement is not None:
            if is_in(self._statement[0], self._statement[1].node):
                # Functions that compute arguments might change objects, depending on what they read. Handlers run at the end.
                return frame is self._statement[0] or self._is_handled()
            self.end_statement()
        statement = statement_at(frame) if sys.gettrace() is None else None
        if statement is None or (appends(statement.function) and not self._surroundings.reaches(statement.function.__self__)):
            return False
        self._record_statement(frame, statement)
        self._statement = frame, statement
        frame.f_trace = self._trace
        sys.settrace(_ignored)
        return True

    def _is_handled(self) -> bool:
        """Whether the call of the statement itself runs now, which is one of logging."""
        frame, statement = self._statement  # type: ignore[misc]
        return statement.function is not builtins.print and is_at(frame, statement.node.value)

    def is_in_statement(self, frame: FrameType) -> bool:
        """Whether a statement that puts something out runs, and has been recorded."""
        return self._statement is not None and self.is_put_out(frame)

    def _record_statement(self, frame: FrameType, statement: Statement) -> None:
        if any(key == id(frame) and is_in(frame, statement.node, lasti) for key, lasti in self._changes):
            raise Refusal("an argument of what puts something out writes memory, or draws random numbers")
        shared = {*frame.f_code.co_cellvars, *frame.f_code.co_freevars}
        for name in statement.names if not statement.is_simple else ():
            x = frame.f_locals[name]
            if type(x) in (list, dict, set) and appends(statement.function) and x is statement.function.__self__:
                continue
            if type(x) in (list, dict, set) or (name in shared and not self._surroundings.reaches(x)):
                raise Refusal(f"a function that is called for what is put out may change {name}")
        values: list[Value] = []
        variables = [self._captured(frame.f_locals[name], values) for name in statement.names]
        self.settle_grads()
        name = getattr(statement.function, "__name__", "call")
        self.add(form.OUT, name, values, (), None, None, Output(statement, variables))

    def _captured(self, x: Any, values: list[Value]) -> Any:
        """Return what stands for a variable of a statement. values: of the tensors in it, which are added."""
        if type(x) is list and self._surroundings.reaches(x):
            return _Object(x)
        if type(x) in (tuple, list):
            return type(x)([self._captured(y, values) for y in x])
        if type(x) is dict:
            return {key: self._captured(y, values) for key, y in x.items()}
        if is_stand_in(x):
            return x
        if isinstance(x, TensorBase):
            return self._captured_tensor(x, values)
        if isinstance(x, _CONSTANTS) or self._surroundings.reaches(x):
            return _Object(x)
        raise Refusal(f"something of type {type(x).__name__} is put out, which may be another one in the next run")

    def _captured_tensor(self, x: TensorBase, values: list[Value]) -> Any:
        for i, y in enumerate(self._inputs):
            if x is y:
                return _Argument(i)
        if id(x) in self._external:
            return _Object(x)
        node: Any = x._grad_fn
        if x._grad is not None:
            raise Refusal("a tensor that has a gradient is put out, and is made in the function")
        values.append(self.operand(x))
        if node is not None and not is_freed(node):
            if not isinstance(node, OpNode):
                raise Refusal("a tensor is put out whose history begins with a function of your own")
            named = OpNode.__new__(type(node))
            named._plan, named._op = node._plan, node._op
            node = named
        return _Made(len(values) - 1, x._requires_grad, node)

    def note_change(self) -> None:
        """Note that memory is written, or random numbers are drawn, by the statements that run now."""
        frame: FrameType | None = sys._getframe(1)
        if self._statement is not None and is_in(self._statement[0], self._statement[1].node):
            self.refuse("an argument of what puts something out writes memory, or draws random numbers")
        while frame is not None:
            self._changes.add((id(frame), frame.f_lasti))
            frame = frame.f_back

    def _trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        if self._statement is not None and (event == "return" or not is_in(frame, self._statement[1].node)):
            self.end_statement()
        return self._trace

    def end_statement(self) -> None:
        """Note that the statement is over."""
        if self._statement is not None:
            function = self._statement[1].function
            if appends(function):
                if not function.__self__ or not isinstance(value_of(function.__self__[-1]), _VALUES):
                    self.refuse("the function appends something to a list that is no number or text")
                self.growing.append(function.__self__)
            sys.settrace(None)
            self._statement[0].f_trace = None
            self._alive.append(self._statement[0])  # no other frame gets its id
            self._statement = None


def _ignored(frame: FrameType, event: str, argument: Any) -> None:
    """Trace no more functions."""

