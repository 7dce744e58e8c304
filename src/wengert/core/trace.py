"""The intermediate form of traced functions, and the tracer into it. See docs/adr/0018.

A traced function is a graph of values. A Value is an input, or the result of a function of earlier values and Python numbers.
The function is an operation (an Op), or an array function, given by its NumPy name. A Tracer runs a Python function once, on
input values in place of its arguments, and decides what operators and calls on values record.

The core asks one cheap question of its own: is a forward or a rule one NumPy function of its arguments, which can then run
without a Python frame? wengert.ops.fuse extends Tracer for C expressions, wengert.ops.program for whole functions of operations.
"""

from __future__ import annotations

if False:
    import cython
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from wengert import _shim as cython
from wengert.backends import numpy as numpy_backend

PASS = "pass"  # stands for the kernel of a rule that returns the cotangent itself
COTANGENT = -1  # the name of a rule's cotangent, where the other inputs are named by their positions
NO_INPUT = -2  # the position of a second input, where there is one input

# The array function that each of Python's operators is.
_ARRAY_OPERATORS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide", "mod": "remainder",
    "pow": "power", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal",
    "and": "bitwise_and", "or": "bitwise_or", "neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert",
}  # fmt: skip
_REFLECTED_OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or")


class UntraceableError(TypeError):
    """The traced function asks for something that its values do not know, or uses a function that its tracer cannot record."""


@cython.binding(False)
@cython.cclass
class Traced:
    """The fields of a Value, and the type by which dispatch recognises one: calls with a Value go to record_call."""

    if not cython.compiled:
        __slots__ = ("function", "inputs", "is_inspected", "name", "params", "tracer")

    def __init__(self, tracer: Tracer, function: Any, inputs: tuple[Any, ...], params: dict[str, Any], name: Any = None) -> None:
        self.tracer = tracer
        self.function = function
        self.inputs = inputs
        self.params = params
        self.name = name
        self.is_inspected = False
        if tracer.shape is not None:
            self.shape, self.dtype = tracer.shape, tracer.dtype  # type: ignore[misc]  # slots of Value

    def record_call(self, op: Any, inputs: tuple[Any, ...], params: dict[str, Any] | None) -> Any:
        """Record the operation op. params: complete, or None for the defaults."""
        return self.tracer.record(op, inputs, op.defaults if params is None else params)


class Value(Traced):
    """One value of a traced function: an input (function is None), or the result of function(*inputs, **params).

    function: an Op, or the NumPy name of an array function. inputs: values and Python numbers. name: what an input is called.
    shape and dtype: not set if the tracer does not know them. Reading them then raises what Tracer.attribute raises.
    is_inspected: whether isinstance() asked for the type of this value.
    """

    __slots__ = ("dtype", "shape")
    __hash__ = object.__hash__  # == records a comparison

    def with_inputs(self, inputs: tuple[Any, ...]) -> Value:
        """Return a copy of this value that has other inputs."""
        copy = Value(self.tracer, self.function, inputs, self.params, self.name)
        if self.tracer.shape is not None:
            copy.shape, copy.dtype = self.shape, self.dtype
        return copy

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        self.is_inspected = True  # isinstance() looks here if type() does not answer it
        return Value

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.tracer.attribute(self, name)

    def __bool__(self) -> bool:
        raise self.tracer.branch_error()

    def __float__(self) -> float:
        raise self.tracer.number_error()

    def __iter__(self) -> Any:
        raise self.tracer.number_error()

    __int__ = __index__ = __len__ = __float__

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **settings: Any) -> Any:
        return self.tracer.record(ufunc.__name__, inputs, settings if method == "__call__" else {**settings, "method": method})

    def __array_function__(self, function: Any, types: Any, inputs: Any, settings: Any) -> Any:
        return self.tracer.record(function.__name__, inputs, settings)


def _operator(symbol: str, reflected: bool) -> Callable[..., Any]:
    def apply(self: Any, *others: Any) -> Any:
        return self.tracer.operator(symbol, (*others, self) if reflected else (self, *others))

    return apply


for _symbol in _ARRAY_OPERATORS:
    setattr(Value, f"__{_symbol}__", _operator(_symbol, False))
for _symbol in _REFLECTED_OPERATORS:
    setattr(Value, f"__r{_symbol}__", _operator(_symbol, True))


class Tracer:
    """Records array functions of real arrays whose shape and dtype are unknown. Subclasses know more, or record operations."""

    shape: Any = None  # of each value; None if unknown
    dtype: Any = None

    def input(self, name: Any) -> Value:
        """Return a new input."""
        return Value(self, None, (), {}, name)

    def record(self, function: Any, inputs: Sequence[Any], params: dict[str, Any]) -> Any:
        """Return the result of function(*inputs, **params) as a Value. function: an Op, or the NumPy name of an array function."""
        return Value(self, function, tuple(inputs), params)

    def operator(self, symbol: str, operands: tuple[Any, ...]) -> Any:
        """Record a Python operator, such as "mul" for `*`."""
        return self.record(_ARRAY_OPERATORS[symbol], operands, {})

    def array_function(self, name: str) -> Any:
        """Return what xp.name is in a traced forward."""
        return lambda *inputs, **params: self.record(name, inputs, params)

    def operation(self, name: str) -> Any:
        """Return what F.name is in a traced rule."""
        raise UntraceableError(f"{name} is no array function")

    def attribute(self, value: Value, name: str) -> Any:
        """Return an attribute that Value has not."""
        # No AttributeError: a forward may take it for a wrong argument, and loads the module of that error's message.
        raise UntraceableError(f"{name} of a value is unknown")

    def branch_error(self) -> Exception:
        """The error to raise if the function branches on a value."""
        return UntraceableError("a branch depends on a value")

    def number_error(self) -> Exception:
        """The error to raise if the function asks for a value as a Python number, or for its elements."""
        return UntraceableError("a value is asked for as a number")


class ArrayFunctions:
    """xp in a traced forward: array functions on values."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    def __getattr__(self, name: str) -> Any:
        return self._tracer.array_function(name)


class Operations:
    """F in a traced rule: operations on values, which are all real."""

    is_tensor = False
    conj = staticmethod(lambda x: x)

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._tracer.operation(name)


# -- graphs of values --------------------------------------------------------------------------------------------------


def in_order(outputs: Iterable[Any], given: Iterable[Value] = ()) -> list[Value]:
    """Return the values that the outputs need, each after its inputs. Leave out the given values, and what only they need."""
    known = set(given)
    found: dict[Value, None] = {}
    stack: list[tuple[Any, bool]] = [(x, False) for x in outputs]
    while stack:
        value, inputs_are_found = stack.pop()
        if type(value) is not Value or value in found or value in known:
            continue
        if inputs_are_found:
            found[value] = None
        else:
            stack.append((value, True))
            stack.extend([(x, False) for x in value.inputs])
    return list(found)


def merge_equal(values: Iterable[Value], outputs: Sequence[Any]) -> tuple[list[Value], list[Any]]:
    """Return copies of values, which are in order, and of the outputs, with one Value for all that compute the same."""
    known: dict[Any, Value] = {}
    replaced: dict[Any, Any] = {}
    kept: list[Value] = []
    for value in values:
        if value.function is None:
            kept.append(value)
            continue
        inputs = tuple([replaced.get(x, x) if type(x) is Value else x for x in value.inputs])
        # Numbers by repr, which tells -0.0 from 0.0, and by type.
        key = (value.function, *[id(x) if type(x) is Value else (type(x), repr(x)) for x in inputs], repr(value.params))
        copy = known.get(key)
        if copy is None:
            copy = known[key] = value.with_inputs(inputs)
            kept.append(copy)
        replaced[value] = copy
    return kept, [replaced.get(x, x) if type(x) is Value else x for x in outputs]


# -- forwards and rules that are one array function --------------------------------------------------------------------

_tracer = Tracer()
_array_functions = ArrayFunctions(_tracer)
_operations = Operations(_tracer)


def find_kernel(forward: Callable[..., Any], n_inputs: int) -> Any:
    """Return the NumPy function to which a forward only passes its arrays, in order; False if the forward does more."""
    inputs = [_tracer.input(i) for i in range(n_inputs)]
    try:
        result = forward(_array_functions, *inputs)
    except Exception:  # it looked at its arguments
        return False
    if type(result) is not Value or result.params or len(result.inputs) != n_inputs or result.function is None:
        return False
    if any(x is not y for x, y in zip(result.inputs, inputs, strict=True)):
        return False
    return getattr(numpy_backend, result.function)


def find_rule_kernel(function: Callable[..., Any], arguments: list[Any]) -> tuple[Any, int, int]:
    """Return the NumPy function that a rule is for real arrays, and the positions of its one or two arguments.

    arguments: what the rule asks for. Arrays are inputs named by their positions, see rule_input; others are values of parameters.
    The function is PASS if the rule returns the cotangent, and None if the rule does more than one function.
    """
    cotangent = _tracer.input(COTANGENT)
    try:
        result = function(_operations, cotangent, *arguments)
    except Exception:  # it uses an operation, or looks at a value
        return None, 0, 0
    if result is cotangent:
        return PASS, 0, 0
    if type(result) is not Value or not 1 <= len(result.inputs) <= 2:
        return None, 0, 0
    if any(type(x) is not Value or x.function is not None for x in result.inputs):
        return None, 0, 0
    positions = [x.name for x in result.inputs]
    return getattr(numpy_backend, result.function), positions[0], positions[1] if len(positions) > 1 else NO_INPUT


def rule_input(position: int) -> Value:
    """Return an input of a traced rule that is the array at a position among a node's saved values."""
    return _tracer.input(position)
