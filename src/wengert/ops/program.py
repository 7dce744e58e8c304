"""wengert.pointwise: a Python function of scalars as one operation, whose forward and derivative are one pass over memory each.

The function is traced once, into the operations that it calls (see core/trace.py). A Program is a list of such values in order.
Its derivative is another program: the operations' own rules run on values, so it can be differentiated in the same way. A
program runs block by block: all its operations on one piece of the inputs that fits into the cache, then on the next piece, on
all threads (kernels/wk_program.c). If an operation has no compiled kernel, NumPy runs the blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import update_wrapper
from math import prod
from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.backends import numpy as numpy_backend
from wengert.backends.selection import backend_among, gather
from wengert.core.binding import bind
from wengert.core.op import Plan, Rule
from wengert.core.tensor import TensorBase
from wengert.core.trace import Operations, Tracer, Value, in_order, merge_equal
from wengert.errors import ArgumentError
from wengert.kernels import find_kernel, native
from wengert.ops.registry import INT_TO_FLOAT, OPS, Composite, Operation

# Operations of other kinds that work element by element, and the names of their kernels. Conditions are numbers there, 1 or 0.
ELEMENTWISE_KERNELS = {
    "_where": "where", "_zero_where": "zero_where", "clone": "copy", "eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt",
    "ge": "ge", "logical_and": "logical_and", "logical_or": "logical_or", "logical_not": "logical_not", "isnan": "isnan",
    "isfinite": "isfinite",
}  # fmt: skip
# The operations of Python's operators that have other names than these.
_OPERATORS = {
    "truediv": "_div", "and": "logical_and", "or": "logical_or", "invert": "logical_not", "floordiv": "floor_divide",
    "mod": "remainder",
}  # fmt: skip
_RESERVED_NAMES = {"ct", "out", "xp", "F"}  # names that rules and forwards use for something else
_MAX_OPERANDS = 16
_MAX_REGISTERS = 40
_BLOCK = 1 << 15  # elements of a piece that NumPy runs


def _not_elementwise(name: str) -> ArgumentError:
    return ArgumentError(
        f"pointwise: {name} is no function that works element by element on tensors. "
        "Hint: call it outside of the function, and hand over what it gives."
    )


class _OperationTracer(Tracer):
    """Records operations that work element by element, on scalars."""

    shape = ()
    dtype = np.dtype(np.float64)

    def record(self, function: Any, inputs: Sequence[Any], params: dict[str, Any]) -> Any:
        """Return what an operation gives. Raise TypeError if it does not work element by element."""
        if type(function) is str:
            raise _not_elementwise(f"numpy.{function}")
        op, name = function, function.name.strip("_")
        is_elementwise = op.kind == "pointwise" or op.name in ELEMENTWISE_KERNELS
        if not is_elementwise or op.output_names is not None or op.variadic >= 0:
            raise _not_elementwise(name)
        operands: list[Any] = []
        for x in inputs:
            if isinstance(x, TensorBase):
                raise ArgumentError(
                    f"pointwise: an operand of {name} is a tensor of the function's surroundings. Hint: make it a parameter."
                )
            if x is not None and type(x) is not Value and not isinstance(x, (int, float)):
                if not isinstance(x, (np.floating, np.integer)):
                    raise _not_elementwise(name)
                x = x.item()
            operands.append(float(x) if type(x) is bool else x)
        if op.name == "mul" and 1 in [x for x in operands if type(x) is not Value]:
            return operands[0] if type(operands[0]) is Value else operands[1]
        return Value(self, op, tuple(operands), params)

    def operator(self, symbol: str, operands: tuple[Any, ...]) -> Any:
        if symbol == "pos":
            return operands[0]
        op: Any = OPS[_OPERATORS.get(symbol, symbol)]
        return self.record(op, operands, op.defaults)

    def operation(self, name: str) -> Any:
        if name in ("cast", "clone", "real"):
            return lambda x, **settings: x
        if name == "_zeros":
            return lambda x: None  # no cotangent
        op = OPS.get("_where" if name == "where" else name)
        if isinstance(op, Composite):
            return lambda *arguments, **settings: op.fn(_operations, *arguments, **settings)
        if isinstance(op, Operation):
            return lambda *arguments, **settings: self.record(op, *bind(op, arguments, settings))
        raise _not_elementwise(name)

    def attribute(self, value: Value, name: str) -> Any:
        op = OPS.get(name)
        if op is None:
            raise AttributeError(name)
        return lambda *arguments, **settings: op.function(value, *arguments, **settings)

    def branch_error(self) -> Exception:
        return ArgumentError(
            "pointwise: the function branches on a value, which it does not know when it is traced. "
            "Hint: write torch.where(condition, a, b) in place of if, and & and | in place of and and or."
        )

    def number_error(self) -> Exception:
        return ArgumentError(
            "pointwise: the function asks for a value as a Python number, or for its elements, and it is traced without any. "
            "Hint: write torch.exp(x), say, in place of math.exp(x)."
        )


_tracer = _OperationTracer()
_operations = Operations(_tracer)


def differentiate(outputs: Sequence[Any], cotangents: Sequence[Any], inputs: Sequence[Value]) -> list[Any]:
    """Return the cotangent of each input, given those of the outputs: a Value or number, or None if the input has no influence.

    Places that a selection did not take get 0, as in the engine. See Note [Untaken]."""
    total: dict[Any, Any] = {}
    untaken: dict[Any, Any] = {}  # the condition, or None, that holds where a value's cotangent is 0 because it was not selected

    def add(value: Any, ct: Any, places: Any) -> None:
        if type(value) is Value and ct is not None:
            held = untaken.get(value)
            untaken[value] = places if value not in total else None if held is None or places is None else held & places
            total[value] = ct if value not in total else total[value] + ct

    for output, ct in zip(outputs, cotangents, strict=True):
        add(output, ct, None)
    for value in reversed(in_order(outputs, inputs)):
        ct = total.get(value)
        if value.function is None or ct is None:
            continue
        for rule in value.function.rules:
            if not any(type(value.inputs[target]) is Value for target in rule.targets):
                continue
            arguments = _rule_arguments(value, rule.names)
            result = rule.function(_operations, ct, *arguments)
            parts = result if len(rule.targets) > 1 else (result,)
            held = untaken[value]
            chosen = None if rule.untaken is None else rule.untaken(*arguments)
            places = held if chosen is None else chosen if held is None else held | chosen
            for target, part in zip(rule.targets, parts, strict=True):
                if held is not None and type(part) is Value and Value in map(type, arguments):  # otherwise 0 stays 0
                    part = _operations._zero_where(part, held)
                add(value.inputs[target], part, places)
    return [total.get(x) for x in inputs]


def _rule_arguments(value: Value, names: tuple[str, ...]) -> list[Any]:
    """Return what a rule asks for, by name, of the call that gave the value."""
    known = {**dict(zip(value.function.input_names, value.inputs, strict=True)), **value.params, "out": value}
    return [() if name.endswith("_shape") else known[name] for name in names]


# -- programs ----------------------------------------------------------------------------------------------------------


class Program:
    """Values to compute from inputs. outputs: values, or numbers."""

    def __init__(self, inputs: Sequence[Value], outputs: Sequence[Any], in_place: bool = False) -> None:
        """in_place: whether the program is for `update`: it reads all inputs of a block before it writes the outputs."""
        self.inputs = list(inputs)
        self.in_place = in_place
        self.values, self.outputs = merge_equal(in_order(outputs, inputs), outputs)
        self.compiled = self._compile() if native is not None else None
        self.kernels: Any = None  # those of a device, see ops/device_kernels.py

    def __str__(self) -> str:
        names: dict[Any, str] = {x: x.name or f"given{i}" for i, x in enumerate(self.inputs)}
        names |= {value: f"v{i}" for i, value in enumerate(self.values)}

        def text_of(x: Any) -> str:
            return names[x] if type(x) is Value else repr(x)

        lines = [
            f"{names[v]} = {v.function.name}({', '.join([*map(text_of, v.inputs), *[f'{n}={p!r}' for n, p in v.params.items()]])})"
            for v in self.values
        ]
        return "\n".join([*lines, f"return {', '.join(map(text_of, self.outputs))}"])

    def run(self, arrays: tuple[Any, ...], shapes: Any = None, outs: Any = None) -> tuple[Any, ...]:
        """Return the outputs, arrays of the shape to which the inputs broadcast. arrays: floating, of one dtype, or numbers.

        On a device, outputs may be summed to their shapes, and may be written into the arrays outs, which are the results then."""
        if backend_among(arrays) is not numpy_backend:
            return self._run_on_device(arrays, shapes, outs)
        if self.compiled is not None:
            results = native.run_program(self.compiled, arrays)
            if results is not None:
                return results if len(self.outputs) > 1 else (results,)
        return self._run_numpy(arrays)

    def update(self, rows: Sequence[tuple[Any, ...]], numbers: tuple[Any, ...], updated: tuple[int, ...]) -> None:
        """Run on each row of arrays, followed by the numbers, and write the outputs into the arrays at these places of the row."""
        done = 0
        while done < len(rows):
            if self.compiled is not None and isinstance(rows[done][0], np.ndarray):
                done += native.update_by_program(self.compiled, rows if not done else rows[done:], numbers, updated)
            if done < len(rows):  # the kernels do not accept this row
                outs = [rows[done][i] for i in updated]
                for out, result in zip(outs, self.run((*rows[done], *numbers), None, outs), strict=True):
                    if result is not out:
                        out[...] = result
                done += 1

    def _run_numpy(self, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
        """Do what run does with NumPy: along the first axis, in pieces that fit into the cache."""
        dtype = next(x.dtype for x in arrays if isinstance(x, np.ndarray))
        shape = np.broadcast_shapes(*[np.shape(x) for x in arrays])
        results = tuple([np.empty(shape, dtype) for _ in self.outputs])
        operands = [np.broadcast_to(np.asarray(x, dtype), shape) for x in arrays]
        if not shape:
            for result, value in zip(results, self._evaluate(operands), strict=True):
                result[...] = value
            return results
        rows = max(1, _BLOCK // max(1, prod(shape[1:])))
        for start in range(0, shape[0], rows):
            piece = slice(start, start + rows)
            for result, value in zip(results, self._evaluate([x[piece] for x in operands]), strict=True):
                result[piece] = value
        return results

    def _run_on_device(self, arrays: tuple[Any, ...], shapes: Any, outs: Any) -> tuple[Any, ...]:
        """Do what run does with arrays on a device: one kernel, or one call of its library for each operation."""
        backend, index, operands = gather(arrays)
        with backend.current(index):
            found = import_late("wengert.ops.device_kernels").run_program(backend, self, operands, shapes, outs)
        if found is not None:
            results: tuple[Any, ...] = found
            return results
        dtype = next(x.dtype for x in operands if type(x) is backend.ndarray)
        shape = np.broadcast_shapes(*[getattr(x, "shape", ()) for x in operands])
        with backend.current(index):
            operands = [x if type(x) is backend.ndarray else backend.full((), x, dtype) for x in operands]
            return tuple([backend.broadcast_to(x, shape) for x in self._evaluate(operands, backend)])

    def _evaluate(self, arrays: Sequence[Any], xp: Any = numpy_backend) -> list[Any]:
        """Return the outputs for these inputs, by the operations' forwards."""
        known: dict[Any, Any] = dict(zip(self.inputs, arrays, strict=True))
        for value in self.values:
            operands = [known[x] if type(x) is Value else x for x in value.inputs]
            # An array also if NumPy gives a scalar: forwards may take one for a Python number.
            known[value] = xp.asarray(value.function.forward(xp, *operands, **value.params))
        return [known[x] if type(x) is Value else x for x in self.outputs]

    def _compile(self) -> Any:
        """Return the program for kernels/wk_program.c; None if an operation has no kernel, or if the program is too long."""
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
            if type(output) is Value and output.function is not None and output not in places and not self.in_place:
                places[output] = n_inputs + i
        copies = [(i, x) for i, x in enumerate(self.outputs) if places.get(x) != n_inputs + i]
        numbers = [x for _, operands, _ in steps for x in operands] + [x for _, x in copies]
        # By repr, which tells -0.0 from 0.0.
        constants = {repr(float(x)): float(x) for x in numbers if type(x) is not Value}
        constant_places = {key: n_inputs + n_outputs + i for i, key in enumerate(constants)}
        registers = _Registers(len(constants), n_inputs + n_outputs)
        last_uses = {x: i for i, (_, operands, _) in enumerate(steps) for x in operands if type(x) is Value}
        kept = set(self.outputs) if self.in_place else set()  # values that are copied to the outputs at the end
        lines: list[tuple[int, ...]] = []

        def place_of(x: Any) -> int:
            return places[x] if type(x) is Value else constant_places[repr(float(x))]

        for i, (kernel, operands, value) in enumerate(steps):
            sources = [place_of(x) for x in operands]
            for x in dict.fromkeys(operands):
                if type(x) is Value and last_uses[x] == i and places[x] >= n_inputs + n_outputs and x not in kept:
                    registers.free(places[x])
            if value not in places:
                places[value] = registers.take()
            lines.append((kernel, *sources, places[value]))
        lines += [(native.find("copy"), place_of(x), n_inputs + i) for i, x in copies]
        if registers.count > _MAX_REGISTERS or "nan" in constants:
            return None
        return native.make_program(n_inputs, n_outputs, registers.count, tuple(constants.values()), tuple(lines))


class _Registers:
    """The registers of a program: how many there are, and which are free. The first ones hold the constants.

    A place counts from the program's first operand, so the first register's place is the number of operands."""

    def __init__(self, n_constants: int, n_operands: int) -> None:
        self.count, self.n_operands = n_constants, n_operands
        self.unused: list[int] = []

    def take(self) -> int:
        """Return the place of a free register."""
        if self.unused:
            return self.unused.pop()
        self.count += 1
        return self.n_operands + self.count - 1

    def free(self, place: int) -> None:
        """Note that the register at a place is free."""
        self.unused.append(place)


def kernel_of(value: Value) -> tuple[int, list[Any]] | None:
    """Return the compiled kernel for a value, and the kernel's operands; None if there is no such kernel."""
    op: Any = value.function
    if op.name in ELEMENTWISE_KERNELS:
        kernel = native.find(ELEMENTWISE_KERNELS[op.name])
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
    """The operation that runs a program of one output. One rule gives the cotangents of all inputs that need one, in one pass.

    depth: the order of the derivative that the program computes."""

    def __init__(self, name: str, names: tuple[str, ...], program: Program, depth: int = 0) -> None:
        arguments = ", ".join(names)
        forward = eval(f"lambda xp, {arguments}: run(({arguments},))", {"run": lambda arrays: program.run(arrays)[0]})
        camel = "".join([part[:1].upper() + part[1:] for part in name.split("_")])
        # No operation has this name: kernels, which are looked up by name, are not this one's.
        settings = {"name": f"pointwise {name}", "node": f"{camel}Backward0", "promote": INT_TO_FLOAT, "complex": False}
        super().__init__(forward, "pointwise", settings)
        self.label, self.names, self.program = name, names, program
        self.depth = depth
        self.rules = tuple([self._rule((i,)) for i in range(len(names))])

    def _make_plan(self, needs: int, defaults: bool) -> Plan:
        rules = self.rules
        self.rules = (self._rule(tuple([i for i in range(len(self.names)) if needs >> i & 1])),)
        try:
            return super()._make_plan(needs, defaults)
        finally:
            self.rules = rules

    def _rule(self, targets: tuple[int, ...]) -> Rule:
        return Rule(_ProgramRule(self, targets), targets, ("out", *self.names))


class _ProgramRule:
    """The vjp rule of a program for some of its inputs: on arrays a program, on tensors operations that have rules again."""

    makes_new_arrays = True  # so the engine may add into each of its results

    def __init__(self, op: ProgramOperation, targets: tuple[int, ...]) -> None:
        self.op, self.targets = op, targets
        self.program: Program | None = None
        self.operations: list[ProgramOperation] | None = None

    def __call__(self, F: Any, *operands: Any) -> Any:
        if F.is_tensor:
            results = [op.function(*operands) for op in self._make_operations()]
        else:
            if self.program is None:
                self.program = Program(*self._differentiate())
            results = list(self.program.run(operands, [getattr(operands[2 + i], "shape", ()) for i in self.targets]))
        return tuple(results) if len(results) > 1 else results[0]

    def _differentiate(self) -> tuple[list[Value], list[Any]]:
        """Return the inputs (the cotangent, the output, the program's inputs) and the outputs (the cotangents of the targets)."""
        ct = _tracer.input("ct")
        program = self.op.program
        cotangents = differentiate(program.outputs, [ct], program.inputs)
        # The output is an input here, so the values that only the output needs are not computed again.
        out = program.outputs[0]
        given = out if type(out) is Value and out.function is not None else _tracer.input("out")
        return [ct, given, *program.inputs], [0.0 if cotangents[i] is None else cotangents[i] for i in self.targets]

    def _make_operations(self) -> list[ProgramOperation]:
        """Return an operation for the cotangent of each target."""
        if self.operations is None:
            inputs, cotangents = self._differentiate()
            depth = self.op.depth + 1
            names = (f"ct{depth}", f"out{depth}", *self.op.names)
            self.operations = [
                ProgramOperation(f"{self.op.label}_{self.op.names[i]}", names, Program(inputs, [cotangent]), depth)
                for i, cotangent in zip(self.targets, cotangents, strict=True)
            ]
        return self.operations


def trace(fn: Callable[..., Any]) -> tuple[tuple[str, ...], Program]:
    """Return the names of a function's parameters, and its program."""
    code = fn.__code__
    names = code.co_varnames[: code.co_argcount]
    reserved = {n.rstrip("0123456789") for n in names} & _RESERVED_NAMES
    if code.co_flags & 0x0C or code.co_kwonlyargcount or not names or reserved:
        raise ArgumentError(
            "pointwise: expected a function of one or more positional parameters, none of them named ct, out, xp or F, "
            "and no others"
        )
    inputs = [_tracer.input(name) for name in names]
    result = fn(*inputs)
    if type(result) is not Value:
        raise ArgumentError(
            f"pointwise: the function returned {type(result).__name__}, expected a value made from its parameters. "
            "Hint: several results are several functions."
        )
    return names, Program(inputs, [result])


def trace_formula(formula: Callable[..., tuple[Any, ...]], n_inputs: int, options: dict[str, Any]) -> Program:
    """Return the program of formula(F, *inputs, **options), which gives a tuple of results, for `Program.update`."""
    inputs = [_tracer.input(f"x{i}") for i in range(n_inputs)]
    return Program(inputs, formula(_operations, *inputs, **options), in_place=True)


def pointwise(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Make an operation of a function of scalars. Its forward is one pass over memory, and so is its derivative.

    fn: a Python function of positional parameters, written with arithmetic, comparisons, `wengert.where` and the functions of
    wengert that work element by element. fn runs once, when the operation is first called, on values that stand for scalars. It
    may not branch on them. Numbers from outside of fn keep the value that they have at that call. Also a decorator.

    Returns a function of tensors and numbers, of shapes that broadcast; integers become the default float. The result has
    the promoted dtype.

    Raises TypeError, at the first call, if fn branches on a value, uses a tensor that is not its parameter, or calls a function
    that does not work element by element.

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


__all__ = ["Program", "pointwise", "trace_formula"]
