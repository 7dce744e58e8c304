"""wengert.pointwise: a Python function of scalars as one operation, whose forward and derivative are one pass over memory each.

The function runs once, on stand-ins that record the operations it calls (trace). What was recorded is a Program: a list of
values, each an operation of earlier ones. Its derivative is another one, made by running the operations' own rules on the
stand-ins, so it can be differentiated in the same way. A program runs block by block: all its operations on one piece of the
inputs that fits into the cache, then on the next, on all threads (kernels/wk_program.c). Where an operation has no compiled
kernel, NumPy takes the blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import update_wrapper
from math import prod
from typing import Any

import numpy as np

from wengert.backends import numpy as numpy_backend
from wengert.core.binding import bind
from wengert.core.op import Op, Plan, Rule, Traced
from wengert.core.tensor import TensorBase
from wengert.errors import programs
from wengert.kernels import find_kernel, native
from wengert.ops.registry import INT_TO_FLOAT, OPS, Composite, Operation, find

# Operations of other kinds that work element by element.
_ELEMENTWISE = frozenset({
    "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_not", "isnan", "isfinite", "_where", "_zero_where",
    "clone",
})  # fmt: skip
# The kernels that have other names than the operations, and those of conditions, which here are numbers, 1 or 0.
_KERNELS = {"_where": "where", "_zero_where": "zero_where", "clone": "copy"} | {
    name: name for name in _ELEMENTWISE if name[0] != "_" and name != "clone"
}
_TAKEN = {"ct", "out", "xp", "F"}  # names that rules and forwards have for something else
_MAX_OPERANDS = 16
_MAX_REGISTERS = 40
_BLOCK = 1 << 15  # elements, of what NumPy runs
_OPERATORS = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "_div", "pow": "pow", "lt": "lt", "le": "le", "gt": "gt",
    "ge": "ge", "eq": "eq", "ne": "ne", "and": "logical_and", "or": "logical_or", "neg": "neg", "abs": "abs",
    "invert": "logical_not", "floordiv": "floor_divide", "mod": "remainder",
}  # fmt: skip


class Value(Traced):
    """A value of a trace: an input (op None), or what op gives for earlier values and numbers."""

    __slots__ = ("inputs", "key", "name", "op", "params")
    is_tensor = False
    shape: tuple[int, ...] = ()
    ndim = 0
    __hash__ = object.__hash__

    def __init__(self, op: Op | None, inputs: tuple[Any, ...], params: dict[str, Any], name: str = "") -> None:
        self.op, self.inputs, self.params, self.name = op, inputs, params, name

    def record_call(self, op: Op, inputs: tuple[Any, ...], params: dict[str, Any] | None) -> Any:
        return record(op, inputs, params)

    @property
    def dtype(self) -> Any:
        return np.dtype(np.float64)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        op = find(name)
        if op is None:
            raise AttributeError(name)
        return lambda *arguments, **settings: op.function(self, *arguments, **settings)

    def __bool__(self) -> bool:
        raise programs.pointwise_branch()

    def __float__(self) -> float:
        raise programs.pointwise_number()

    __int__ = __index__ = __float__

    def __iter__(self) -> Any:
        raise programs.pointwise_number()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **settings: Any) -> Any:
        raise programs.pointwise_operation(f"numpy.{ufunc.__name__}")


def _operator(name: str, reflected: bool) -> Callable[..., Any]:
    def apply(*operands: Any) -> Any:
        return record(OPS[name], operands[::-1] if reflected else operands, None)  # type: ignore[arg-type]

    return apply


for _symbol, _name in _OPERATORS.items():
    setattr(Value, f"__{_symbol}__", _operator(_name, False))
    if _symbol in ("add", "sub", "mul", "truediv", "pow", "and", "or", "floordiv", "mod"):
        setattr(Value, f"__r{_symbol}__", _operator(_name, True))


def record(op: Op, inputs: Sequence[Any], params: dict[str, Any] | None) -> Any:
    """What an operation gives, as a value of the trace. TypeError where it does not work element by element."""
    kind = getattr(op, "kind", "")
    if (kind != "pointwise" and op.name not in _ELEMENTWISE) or op.output_names is not None or op.variadic >= 0:
        raise programs.pointwise_operation(op.name.strip("_"))
    operands: list[Any] = []
    for x in inputs:
        if isinstance(x, TensorBase):
            raise programs.pointwise_tensor(op.name.strip("_"))
        if x is not None and type(x) is not Value and not isinstance(x, (int, float)):
            if not isinstance(x, (np.floating, np.integer)):
                raise programs.pointwise_operation(op.name.strip("_"))
            x = x.item()
        operands.append(float(x) if type(x) is bool else x)
    if op.name == "mul" and 1 in [x for x in operands if type(x) is not Value]:
        return operands[0] if type(operands[0]) is Value else operands[1]
    return Value(op, tuple(operands), op.defaults if params is None else params)


# -- derivatives -------------------------------------------------------------------------------------------------------


class _Face:
    """F, as rules see it, on values of a trace."""

    is_tensor = False
    conj = real = staticmethod(lambda x: x)
    cast = clone = staticmethod(lambda x, **settings: x)
    where = staticmethod(lambda condition, x, y: record(OPS["_where"], (condition, x, y), None))  # type: ignore[arg-type]
    _zeros = staticmethod(lambda x: None)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        op = find(name)
        if isinstance(op, Composite):
            return lambda *arguments, **settings: op.fn(self, *arguments, **settings)
        if isinstance(op, Operation):
            return lambda *arguments, **settings: record(op, *bind(op, arguments, settings))
        raise programs.pointwise_operation(name)


_face = _Face()


def _rule_arguments(node: Value, names: tuple[str, ...]) -> list[Any]:
    op: Any = node.op
    known = {**dict(zip(op.input_names, node.inputs, strict=True)), **node.params, "out": node}
    return [() if name.endswith("_shape") else known[name] for name in names]


def differentiate(outputs: Sequence[Any], cotangents: Sequence[Any], inputs: Sequence[Value]) -> list[Any]:
    """The cotangents of the inputs from those of the outputs: values, or None where an input has no influence.

    What a selection does not take is kept out as in the engine; see Note [Untaken]."""
    total: dict[Any, Any] = {}
    untaken: dict[Any, Any] = {}  # conditions

    def add(node: Any, ct: Any, places: Any) -> None:
        if type(node) is Value and ct is not None:
            held = untaken.get(node)
            untaken[node] = places if node not in total else None if held is None or places is None else held & places
            total[node] = ct if node not in total else total[node] + ct

    for output, ct in zip(outputs, cotangents, strict=True):
        add(output, ct, None)
    for node in reversed(in_order(outputs, inputs)):
        ct = total.get(node)
        if node.op is None or ct is None:
            continue
        for rule in node.op.rules:
            if not any(type(node.inputs[target]) is Value for target in rule.targets):
                continue
            arguments = _rule_arguments(node, rule.names)
            result = rule.function(_face, ct, *arguments)
            parts = result if len(rule.targets) > 1 else (result,)
            held = untaken[node]
            chosen = None if rule.untaken is None else rule.untaken(*arguments)
            places = held if chosen is None else chosen if held is None else held | chosen
            for target, part in zip(rule.targets, parts, strict=True):
                if held is not None and type(part) is Value and Value in map(type, arguments):  # else 0 stays 0
                    part = _face._zero_where(part, held)
                add(node.inputs[target], part, places)
    return [total.get(x) for x in inputs]


def in_order(outputs: Sequence[Any], given: Sequence[Value] = ()) -> list[Value]:
    """The values that the outputs are made of, each after its operands; not those that are given, nor what these are made of."""
    leaves = set(given)
    found: dict[Value, None] = {}
    stack: list[tuple[Any, bool]] = [(x, False) for x in outputs]
    while stack:
        node, opened = stack.pop()
        if type(node) is not Value or node in found or node in leaves:
            continue
        if opened:
            found[node] = None
        else:
            stack.append((node, True))
            stack.extend([(x, False) for x in node.inputs])
    return list(found)


# -- programs ----------------------------------------------------------------------------------------------------------


class Program:
    """Values to compute from inputs. outputs: values, or numbers."""

    def __init__(self, inputs: Sequence[Value], outputs: Sequence[Any]) -> None:
        self.inputs = list(inputs)
        self.values, self.outputs = share(in_order(outputs, inputs), outputs)
        self.compiled = self._compile() if native is not None else None

    def run(self, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
        """The outputs, arrays of the shape that the inputs broadcast to. arrays: floating, of one dtype, or numbers."""
        if self.compiled is not None:
            results = native.run_program(self.compiled, arrays)
            if results is not None:
                return results if len(self.outputs) > 1 else (results,)
        return self._run_numpy(arrays)

    def _run_numpy(self, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
        """run, by NumPy: along the first axis in pieces that fit into the cache."""
        dtype = next(x.dtype for x in arrays if isinstance(x, np.ndarray))
        shape = np.broadcast_shapes(*[np.shape(x) for x in arrays])
        results = tuple([np.empty(shape, dtype) for _ in self.outputs])
        spread = [np.broadcast_to(np.asarray(x, dtype), shape) for x in arrays]
        if not shape:
            for result, value in zip(results, self._evaluate(spread), strict=True):
                result[...] = value
            return results
        rows = max(1, _BLOCK // max(1, prod(shape[1:])))
        for start in range(0, shape[0], rows):
            part = slice(start, start + rows)
            for result, value in zip(results, self._evaluate([x[part] for x in spread]), strict=True):
                result[part] = value
        return results

    def _evaluate(self, arrays: Sequence[Any]) -> list[Any]:
        known: dict[Any, Any] = dict(zip(self.inputs, arrays, strict=True))
        for value in self.values:
            op: Any = value.op
            operands = [known[x] if type(x) is Value else x for x in value.inputs]
            # An array also where NumPy gives a scalar: forwards may take one for a Python number.
            known[value] = numpy_backend.asarray(op.forward(numpy_backend, *operands, **value.params))
        return [known[x] if type(x) is Value else x for x in self.outputs]

    def _compile(self) -> Any:
        """The program for kernels/wk_program.c; None where an operation has no kernel, or there is too much of it."""
        n_inputs, n_outputs = len(self.inputs), len(self.outputs)
        if n_inputs + n_outputs > _MAX_OPERANDS:
            return None
        steps: list[tuple[int, list[Any], Any]] = []  # kernel, operands, value
        for value in self.values:
            found = kernel_of(value)
            if found is None:
                return None
            steps.append((*found, value))
        places: dict[Any, int] = {x: i for i, x in enumerate(self.inputs)}
        for i, output in enumerate(self.outputs):
            if type(output) is Value and output.op is not None and output not in places:
                places[output] = n_inputs + i
        copies = [(i, x) for i, x in enumerate(self.outputs) if places.get(x) != n_inputs + i]
        numbers = [x for _, operands, _ in steps for x in operands] + [x for _, x in copies]
        # By repr, which tells -0.0 from 0.0.
        constants = {repr(float(x)): float(x) for x in numbers if type(x) is not Value}
        constant_places = {key: n_inputs + n_outputs + i for i, key in enumerate(constants)}
        registers = _Registers(len(constants), n_inputs + n_outputs)
        last = {x: i for i, (_, operands, _) in enumerate(steps) for x in operands if type(x) is Value}
        lines: list[tuple[int, ...]] = []

        def place(x: Any) -> int:
            return places[x] if type(x) is Value else constant_places[repr(float(x))]

        for i, (kernel, operands, value) in enumerate(steps):
            sources = [place(x) for x in operands]
            for x in dict.fromkeys(operands):
                if type(x) is Value and last[x] == i and places[x] >= n_inputs + n_outputs:
                    registers.free(places[x])
            if value not in places:
                places[value] = registers.take()
            lines.append((kernel, *sources, places[value]))
        lines += [(native.find("copy"), place(x), n_inputs + i) for i, x in copies]
        if registers.count > _MAX_REGISTERS or "nan" in constants:
            return None
        return native.make_program(n_inputs, n_outputs, registers.count, tuple(constants.values()), tuple(lines))


class _Registers:
    """Which registers are free. The first ones hold the constants; places count from after the operands."""

    def __init__(self, n_constants: int, first: int) -> None:
        self.count, self.first = n_constants, first
        self.unused: list[int] = []

    def take(self) -> int:
        if self.unused:
            return self.unused.pop()
        self.count += 1
        return self.first + self.count - 1

    def free(self, place: int) -> None:
        self.unused.append(place)


def share(values: list[Value], outputs: Sequence[Any]) -> tuple[list[Value], list[Any]]:
    """The same with equal values made one."""
    known: dict[Any, Value] = {}
    replaced: dict[Value, Value] = {}
    kept: list[Value] = []
    for value in values:
        inputs = tuple([replaced.get(x, x) if type(x) is Value else x for x in value.inputs])
        op: Any = value.op
        key = (op.name, *[(type(x), repr(x)) if type(x) is not Value else id(x) for x in inputs], repr(value.params))
        if key not in known:
            known[key] = Value(value.op, inputs, value.params)
            kept.append(known[key])
        replaced[value] = known[key]
    return kept, [replaced.get(x, x) if type(x) is Value else x for x in outputs]


def kernel_of(value: Value) -> tuple[int, list[Any]] | None:
    """The compiled kernel for a value, and the kernel's operands; None where there is none."""
    op: Any = value.op
    if op.name in _KERNELS:
        kernel = native.find(_KERNELS[op.name])
        return (kernel, list(value.inputs)) if kernel >= 0 else None
    if op.name == "pow" and type(value.inputs[1]) is not Value:
        special = {2: "square", 0.5: "sqrt", -0.5: "rsqrt", -1: "reciprocal", 1: "copy"}.get(value.inputs[1])
        if special is not None and type(value.inputs[0]) is Value:
            return native.find(special), [value.inputs[0]]
    found = find_kernel(op.name, all(value.params[name] == default for name, default in op.defaults.items()))
    if found is None:
        return None
    known = {**dict(zip(op.input_names, value.inputs, strict=True)), **value.params}
    operands = [known[name] for name in found[1]]
    if any(type(x) is not Value and not isinstance(x, (int, float)) for x in operands):
        return None
    return found[0], operands


# -- operations --------------------------------------------------------------------------------------------------------


class ProgramOperation(Operation):
    """The operation that runs a program of one output. One rule gives the cotangents of all inputs that need one, in one pass."""

    def __init__(self, name: str, names: tuple[str, ...], program: Program, depth: int = 0) -> None:
        arguments = ", ".join(names)
        forward = eval(f"lambda xp, {arguments}: run(({arguments},))", {"run": lambda arrays: program.run(arrays)[0]})
        camel = "".join([part[:1].upper() + part[1:] for part in name.split("_")])
        # The name is no operation's: what is looked up by name, kernels, is not this one's.
        settings = {"name": f"pointwise {name}", "node": f"{camel}Backward0", "promote": INT_TO_FLOAT, "complex": False}
        super().__init__(forward, "pointwise", settings)
        self.label, self.names, self.program = name, names, program
        self.depth = depth
        self.rules = tuple([self._rule((i,)) for i in range(len(names))])

    def _make_plan(self, needs: int, defaults: bool) -> Plan:
        singly = self.rules
        self.rules = (self._rule(tuple([i for i in range(len(self.names)) if needs >> i & 1])),)
        try:
            return super()._make_plan(needs, defaults)
        finally:
            self.rules = singly

    def _rule(self, targets: tuple[int, ...]) -> Rule:
        return Rule(_Slope(self, targets), targets, ("out", *self.names))


class _Slope:
    """A rule: on arrays a program, on tensors operations, which can be differentiated."""

    makes_new_arrays = True  # so the engine may add into each of its results

    def __init__(self, op: ProgramOperation, targets: tuple[int, ...]) -> None:
        self.op, self.targets = op, targets
        self.program: Program | None = None
        self.operations: list[ProgramOperation] | None = None

    def __call__(self, F: Any, *operands: Any) -> Any:
        if F.is_tensor:
            results = [op.function(*operands) for op in self._operations()]
        else:
            if self.program is None:
                self.program = Program(*self._traced())
            results = list(self.program.run(operands))
        return tuple(results) if len(results) > 1 else results[0]

    def _traced(self) -> tuple[list[Value], list[Any]]:
        ct = Value(None, (), {}, "ct")
        program = self.op.program
        slopes = differentiate(program.outputs, [ct], program.inputs)
        # The output is given, so what it is made of need not be computed once more.
        out = program.outputs[0]
        given = out if type(out) is Value and out.op is not None else Value(None, (), {}, "out")
        return [ct, given, *program.inputs], [0.0 if slopes[i] is None else slopes[i] for i in self.targets]

    def _operations(self) -> list[ProgramOperation]:
        if self.operations is None:
            inputs, slopes = self._traced()
            depth = self.op.depth + 1
            names = (f"ct{depth}", f"out{depth}", *self.op.names)
            self.operations = [
                ProgramOperation(f"{self.op.label}_{self.op.names[i]}", names, Program(inputs, [slope]), depth)
                for i, slope in zip(self.targets, slopes, strict=True)
            ]
        return self.operations


def trace(fn: Callable[..., Any]) -> tuple[tuple[str, ...], Program]:
    """The names of a function's parameters, and its program."""
    code = fn.__code__
    names = code.co_varnames[: code.co_argcount]
    if code.co_flags & 0x0C or code.co_kwonlyargcount or not names or {n.rstrip("0123456789") for n in names} & _TAKEN:
        raise programs.pointwise_parameters()
    inputs = [Value(None, (), {}, name) for name in names]
    result = fn(*inputs)
    if type(result) is not Value:
        raise programs.pointwise_result(type(result))
    return names, Program(inputs, [result])


def pointwise(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Makes an operation of a function of scalars: its forward is one pass over memory, and so is its derivative.

    fn: a Python function of positional parameters, written with arithmetic, comparisons, `wengert.where` and the functions of
    wengert that work element by element. It runs once, when the operation is first called, on stand-ins: what it does may not
    depend on the values, and numbers of its surroundings are taken as they are then. Also a decorator.

    Returns a function of tensors and numbers, of shapes that broadcast; integers become the default float. The result has
    the promoted dtype.

    Raises TypeError, at the first call, where fn branches on a value, uses a tensor of its surroundings, or calls what does
    not work element by element.

    Derivative: made from the derivatives of what fn calls, to any order.

    >>> import wengert
    >>> @wengert.pointwise
    ... def gauss(x, width):
    ...     return wengert.exp(-(x / width) ** 2)
    >>> x = wengert.tensor([0.0, 1.0], requires_grad=True)
    >>> y = gauss(x, 2.0)
    >>> y
    tensor([1.0000, 0.7788], grad_fn=<GaussBackward0>)
    >>> wengert.autograd.grad(y.sum(), x)
    (tensor([-0.0000, -0.3894]),)
    """
    operation: ProgramOperation | None = None

    def call(*arguments: Any, **settings: Any) -> Any:
        nonlocal operation
        if operation is None:
            names, program = trace(fn)
            operation = ProgramOperation(fn.__name__ if fn.__name__.isidentifier() else "pointwise", names, program)
        return operation.function(*arguments, **settings)

    return update_wrapper(call, fn)


__all__ = ["Program", "pointwise"]
