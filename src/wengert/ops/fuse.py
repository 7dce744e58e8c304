"""Generate C from pointwise operations: each forward and each rule becomes one scalar expression, and that one kernel.

A forward or a rule is traced (see core/trace.py) into functions that have a C form. What looks at a value (a branch that
depends on data), or uses a function without a C form, cannot be traced and stays with NumPy.

`python -m wengert.ops.fuse` writes kernels/table.h (the kernels) and kernels/roles.h (the kernel of each operation and rule).
With --check it only says whether they are up to date. See docs/adr/0013.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from wengert import ops
from wengert.backends import numpy as numpy_backend
from wengert.core.op import MISSING, Rule
from wengert.core.trace import ArrayFunctions, Operations, Tracer, UntraceableError, Value, in_order, merge_equal
from wengert.ops.registry import OPS, Composite, Operation

MAX_OPERANDS = 4
LETTERS = "abcdefghijklmnop"  # names of operands in C

# -- functions with a C form -------------------------------------------------------------------------------------------

# Functions of vm.h: C's name, and the cost in multiplications of contiguous arrays.
_VECTOR_MATHS = {
    "exp": ("exp", 5), "exp2": ("exp2", 5), "expm1": ("expm1", 6), "log": ("log", 7), "log1p": ("log1p", 9), "log2": ("log2", 9),
    "log10": ("log10", 9), "tanh": ("tanh", 8), "sinh": ("sinh", 8), "cosh": ("cosh", 8), "sin": ("sin", 8), "cos": ("cos", 8),
    "tan": ("tan", 10), "arcsin": ("asin", 9), "arccos": ("acos", 9), "arctan": ("atan", 9), "arctan2": ("atan2", 14),
    "arcsinh": ("asinh", 18), "arccosh": ("acosh", 18), "arctanh": ("atanh", 14), "erf": ("erf", 12), "erfc": ("erfc", 16),
    "power": ("pow", 40), "erfinv": ("erfinv", 40), "gammaln": ("lgamma", 40), "psi": ("digamma", 40),
}  # fmt: skip
_COSTS = {"divide": 2, "sqrt": 2, **{name: cost for name, (_, cost) in _VECTOR_MATHS.items()}}
_GUARDED = frozenset({"sin", "cos", "tan"})  # vm.h is right up to a limit
# The C form of each array function; {0} ... are its inputs. Conditions are ints in C.
_CONDITIONS_OF_NUMBERS = {
    "less": "({0} < {1})", "less_equal": "({0} <= {1})", "greater": "({0} > {1})", "greater_equal": "({0} >= {1})",
    "equal": "({0} == {1})", "not_equal": "({0} != {1})",
}  # fmt: skip
_CONDITIONS_OF_CONDITIONS = {"logical_and": "({0} & {1})", "logical_or": "({0} | {1})", "logical_not": "(!{0})"}
_FORMS = {
    "add": "({0} + {1})", "subtract": "({0} - {1})", "multiply": "({0} * {1})", "divide": "({0} / {1})", "negative": "(-{0})",
    "where": "({0} ? {1} : {2})", "as_number": "({0} ? C(1.0) : C(0.0))",
    "maximum": "larger_({0}, {1})", "minimum": "smaller_({0}, {1})",
    "fmax": "((({0} >= {1}) | ({1} != {1})) ? {0} : {1})", "fmin": "((({0} <= {1}) | ({1} != {1})) ? {0} : {1})",
    "sign": "({0} > 0 ? C(1.0) : {0} < 0 ? C(-1.0) : {0} == 0 ? C(0.0) : {0})",
    "absolute": "LIBM(fabs)({0})", "sqrt": "LIBM(sqrt)({0})", "copysign": "LIBM(copysign)({0}, {1})",
    **{name: f"LIBM({name})({{0}})" for name in ("floor", "ceil", "trunc", "rint")},
    **{
        name: f"VM({c_name})({'{0}, {1}' if name in ('arctan2', 'power') else '{0}'})"
        for name, (c_name, _) in _VECTOR_MATHS.items()
    },
    **_CONDITIONS_OF_NUMBERS, **_CONDITIONS_OF_CONDITIONS,
}  # fmt: skip


def _where(condition: Any, x: Any, y: Any) -> Value:
    return _scalar("where", as_condition(condition), as_number(x), as_number(y))


def _power(x: Any, y: Any) -> Any:
    if type(x) is float and x == 2:
        return np.exp2(y)
    special = None if type(y) is Value else {0.5: np.sqrt, -1: np.reciprocal, 1: np.positive, 2: np.square}.get(y)
    return special(x) if special else _scalar("power", as_number(x), as_number(y))


def _sinc(x: Any) -> Value:
    is_zero = x == 0
    angle: Any = _where(is_zero, 1.0, x)
    angle = math.pi * angle
    return _where(is_zero, 1.0, np.sin(angle) / angle)


def _logaddexp(x: Any, y: Any) -> Value:
    difference = x - y
    top = np.maximum(x, y)
    return _where(x == y, top + math.log(2.0), top + np.log1p(np.exp(-abs(difference))))


# Array functions made of those with a C form.
_DEFINITIONS: dict[str, Callable[..., Any]] = {
    "where": _where, "power": _power, "sinc": _sinc, "logaddexp": _logaddexp,
    "bitwise_and": np.logical_and, "bitwise_or": np.logical_or, "invert": np.logical_not, "fabs": np.absolute,
    "positive": lambda x: as_number(x), "square": lambda x: x * x, "reciprocal": lambda x: 1.0 / x, "isnan": lambda x: x != x,
    "isfinite": lambda x: x - x == 0.0, "isinf": lambda x: abs(x) == math.inf, "deg2rad": lambda x: x * (math.pi / 180),
    "rad2deg": lambda x: x * (180 / math.pi),
}  # fmt: skip

# -- tracing -----------------------------------------------------------------------------------------------------------


class _FloatingDtype:
    """The dtype of a traced number: a floating one."""

    kind = "f"
    char = "?"
    name = "float"
    itemsize = 8
    type = float


_CONDITION = np.dtype(np.bool_)


class _ScalarTracer(Tracer):
    """Records array functions that have a C form, of real floating arrays. Operations become what their forwards do."""

    shape = (0,)
    dtype = _FloatingDtype()

    def record(self, function: Any, inputs: Sequence[Any], params: dict[str, Any]) -> Any:
        if params:
            raise UntraceableError(f"{function} with {', '.join(params)} has no C form")
        if function in _DEFINITIONS:
            return _DEFINITIONS[function](*inputs)
        if function not in _FORMS:
            raise UntraceableError(f"{function} has no C form")
        convert = as_condition if function in _CONDITIONS_OF_CONDITIONS else as_number
        return _scalar(function, *map(convert, inputs))

    def array_function(self, name: str) -> Any:
        return _ARRAY_FUNCTIONS.get(name) or getattr(numpy_backend, name)

    def operation(self, name: str) -> Any:
        if name in _OPERATIONS:
            return _OPERATIONS[name]
        op = OPS.get(name)
        if isinstance(op, Composite):
            return lambda *arguments, **settings: op.fn(_operations, *arguments, **settings)
        if not isinstance(op, Operation):
            raise UntraceableError(f"{name} is no operation")
        return lambda *arguments, **settings: op.forward(_array_functions, *arguments, **settings)

    def attribute(self, value: Value, name: str) -> Any:
        if name == "size":
            return 0
        if name == "astype":
            return lambda dtype, copy=True: _cast(value, dtype)
        if name == "copy":
            return lambda order="C": value.with_inputs(value.inputs)
        raise AttributeError(name)


_tracer = _ScalarTracer()
_array_functions = ArrayFunctions(_tracer)
_operations = Operations(_tracer)


def _scalar(function: str, *inputs: Any) -> Value:
    """Return a Value of this function, which has a C form."""
    result = Value(_tracer, function, inputs, {})
    if function in _CONDITIONS_OF_NUMBERS or function in _CONDITIONS_OF_CONDITIONS:
        result.dtype = _CONDITION
    return result


def _cast(x: Value, dtype: Any) -> Value:
    if not isinstance(dtype, _FloatingDtype):
        raise UntraceableError("a cast")
    return x


def _copyto(target: Value, value: Any, where: Any) -> None:
    """Change target, which nothing has used yet, as numpy.copyto changes an array."""
    if target.function is None:
        raise UntraceableError("a write into an input")
    chosen = _where(where, value, target.with_inputs(target.inputs))
    target.function, target.inputs, target.dtype = chosen.function, chosen.inputs, chosen.dtype


# What xp has, and what F has, where their own functions cannot be run on values.
_ARRAY_FUNCTIONS: dict[str, Callable[..., Any]] = {"asarray": lambda x, dtype=None: x, "copyto": _copyto}
_OPERATIONS: dict[str, Callable[..., Any]] = {
    "where": _where, "_zero_where": lambda x, mask: _where(mask, 0.0, x), "_zeros": lambda x: 0.0,
    "clone": lambda x, **settings: x, "cast": lambda x, **settings: x, "real": lambda x: x,
}  # fmt: skip


def elementwise_functions() -> frozenset[str]:
    """Return NumPy's names of the functions of elements that expressions have."""
    return frozenset({*_FORMS, *_DEFINITIONS} - {"as_number"})


def new_input(name: Any) -> Value:
    """Return an input of expressions."""
    return _tracer.input(name)


def scalar_function(function: str, inputs: Sequence[Any]) -> Any:
    """Return an array function of values and numbers as an expression. Raises UntraceableError if it has no C form."""
    return _tracer.record(function, inputs, {})


def new_scalar(function: str, inputs: Sequence[Any]) -> Value:
    """Return a value of an expression again, from its function and inputs."""
    return _scalar(function, *inputs)


def is_condition(value: Value) -> bool:
    """Whether a value of an expression is true or false."""
    return value.dtype is _CONDITION


def as_number(x: Any) -> Any:
    """Return a number, as a Value or a float: 1 for true, 0 for false."""
    if type(x) is Value:
        return _scalar("as_number", x) if x.dtype is _CONDITION else x
    if isinstance(x, (bool, np.bool_, int, float, np.floating, np.integer)):
        return float(x)
    raise UntraceableError(f"a value of {type(x)}")


def as_condition(x: Any) -> Value:
    """Return a condition, as a Value."""
    x = as_number(x) if type(x) is not Value else x
    return x if type(x) is Value and x.dtype is _CONDITION else _scalar("not_equal", x, 0.0)


class Trace:
    """One forward or rule as an expression.

    operands: the names of the inputs that the expression uses. for_defaults: whether it is right for default parameters alone.
    takes_numbers: whether Python numbers may be operands, because the function did not ask for the type of any.
    """

    def __init__(self, role: str, result: Any, inputs: Sequence[Value], for_defaults: bool) -> None:
        if type(result) is Value and result.dtype is _CONDITION:
            raise UntraceableError("the result is no number")
        self.role = role
        self.values, (self.result,) = merge_equal(in_order([as_number(result)]), [as_number(result)])
        used = set(self.values)
        self.operands = [x.name for x in inputs if x in used]
        self.for_defaults = for_defaults
        self.takes_numbers = not any(x.is_inspected for x in inputs)


def trace(role: str, op: Any, names: tuple[str, ...], run: Callable[[dict[str, Any]], Any]) -> Trace | None:
    """Return the trace of a forward or rule, run(arguments by name); None if it cannot be traced. names: what run uses.

    Parameters that are numbers become inputs. If that fails, all parameters keep their defaults.
    """
    for parameters_are_inputs in (True, False):
        arguments: dict[str, Any] = {name: _tracer.input(name) for name in names if name not in op.param_names}
        for name in op.param_names:
            default = op.defaults[name]
            is_input = parameters_are_inputs and (default is MISSING or type(default) in (int, float))
            arguments[name] = _tracer.input(name) if is_input else default
        if any(arguments[name] is MISSING for name in names):
            return None
        try:
            found = Trace(role, run(arguments), [x for x in arguments.values() if type(x) is Value], False)
        except Exception:  # whatever a rule does with a value that is no array: it keeps its own function
            continue
        found.for_defaults = any(name in names and name not in found.operands for name in op.param_names)
        return found
    return None


def trace_call(op: Any, constants: dict[str, Any]) -> Trace | None:
    """Return the trace of a forward in which some inputs and parameters are constants; None if it cannot be traced."""
    names = (*op.input_names, *op.param_names)
    arguments = {name: constants[name] if name in constants else _tracer.input(name) for name in names}
    inputs = [arguments[name] for name in op.input_names]
    try:
        result = op.forward(_array_functions, *inputs, **{name: arguments[name] for name in op.param_names})
        return Trace(op.name, result, [x for x in arguments.values() if type(x) is Value], False)
    except Exception:  # whatever a forward does with a value that is no array: it has no C form
        return None


def _run_rule(rule: Rule, names: tuple[str, ...], arguments: dict[str, Any]) -> Any:
    return rule.function(_operations, *[arguments[name] for name in names])


def trace_operation(op: Any) -> list[Trace]:
    """Return the traces of an operation's forward and rules that are worth a kernel."""

    def forward(arguments: dict[str, Any]) -> Any:
        inputs = [arguments[name] for name in op.input_names]
        return op.forward(_array_functions, *inputs, **{name: arguments[name] for name in op.param_names})

    traces = [trace(op.name, op, (*op.input_names, *op.param_names), forward)]
    for rule in op.rules:
        if len(rule.targets) == 1:
            names = ("ct", *rule.names)
            role = f"{op.name}.{op.input_names[rule.targets[0]]}"
            traces.append(trace(role, op, names, partial(_run_rule, rule, names)))
    return [
        t
        for t in traces
        if t is not None
        and 0 < len(t.operands) <= MAX_OPERANDS
        and type(t.result) is Value
        and t.result.function is not None
        and (t.role != op.name or t.operands[: len(op.input_names)] == list(op.input_names))
    ]


# -- C -----------------------------------------------------------------------------------------------------------------

INEXACT = frozenset(_VECTOR_MATHS)  # functions of vm.h: other libraries round them otherwise


def to_c(values: Sequence[Value], results: Sequence[Any], operands: list[str], slow: bool = False) -> tuple[str, list[str]]:
    """Return statements for values that have names, and the expressions of the results.

    Values that are used more than once have names. So have the choices of a `where` that call functions of vm.h: compilers make
    vector code of a choice between numbers that are there, but not of a choice between two calls.

    values: all that the results need, in order. slow: use C's library in place of vm.h.
    """
    uses: dict[Value, int] = {}  # a form that names an input twice counts as two
    for value in values:
        for i, x in enumerate(value.inputs):
            if type(x) is Value:
                uses[x] = uses.get(x, 0) + (2 if _FORMS[value.function].count(f"{{{i}}}") > 1 else 1)
    calling: set[Value] = set()  # values whose expressions call functions of vm.h
    for value in values:
        if value.function in INEXACT or any(x in calling for x in value.inputs):
            calling.add(value)
    chosen = {x for value in values if value.function == "where" for x in value.inputs[1:] if x in calling}
    texts: dict[Value, str] = {}
    statements: list[str] = []

    def text_of(x: Any) -> str:
        return texts[x] if type(x) is Value else _constant(x)

    for value in values:
        if value.function is None:
            texts[value] = LETTERS[operands.index(value.name)]
            continue
        form = f"LIBM({value.function})({{0}})" if slow and value.function in _GUARDED else _FORMS[value.function]
        text = form.format(*map(text_of, value.inputs))
        if uses.get(value, 0) > 1 or value in chosen:
            name = f"t{len(statements)}"
            statements.append(f"const {'int' if value.dtype is _CONDITION else 'real'} {name} = {text};")
            text = name
        texts[value] = text
    return " ".join(statements), [text_of(x) for x in results]


def _constant(x: float) -> str:
    if math.isinf(x):
        return "C(INFINITY)" if x > 0 else "C(-INFINITY)"
    return "C(NAN)" if math.isnan(x) else f"C({x!r})"


def table_row(t: Trace) -> tuple[str, str]:
    """Return a kernel's row of table.h: its macro, and the macro's arguments after the name."""
    functions = [value.function for value in t.values if value.function is not None]
    cost = 1 + sum([_COSTS.get(function, 0) for function in functions])
    n = len(t.operands)
    statements, (result,) = to_c(t.values, [t.result], t.operands)
    result = result[1:-1] if result.startswith("(") and _closes_last(result) else result
    head = f"{cost}, {int(t.takes_numbers)}, {', '.join('abcd'[:n])}"
    guarded = [value.inputs[0] for value in t.values if value.function in _GUARDED]
    if guarded:
        before, texts = to_c(in_order(guarded), guarded, t.operands)
        limits = " & ".join([f"(LIBM(fabs)({text}) <= LIMIT_TRIG)" for text in texts])
        slow_statements, (slow,) = to_c(t.values, [t.result], t.operands, slow=True)
        limits = f"{before} return {limits};".strip()
        return f"GUARD{n}", f"{head}, {limits}, {statements}, {result}, {slow_statements}, {slow}"
    kind = "SIMPLE" if n <= 2 and cost <= 3 and len(functions) <= 3 else "BLOCK"
    return f"{kind}{n}", f"{head}, {statements}, {result}"


def _closes_last(text: str) -> bool:
    """Whether the parenthesis that text begins with is closed at its end."""
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            return i == len(text) - 1
    return False


# Kernels that programs need besides (see program.py). Here a condition is a number, 1 or 0.
_PROGRAM_KERNELS: dict[str, tuple[str, Callable[..., Any]]] = {
    "copy": ("x", lambda x: x), "where": ("c x y", _where), "zero_where": ("x c", lambda x, c: _where(c, 0.0, x)),
    "eq": ("x y", lambda x, y: x == y), "ne": ("x y", lambda x, y: x != y), "lt": ("x y", lambda x, y: x < y),
    "le": ("x y", lambda x, y: x <= y), "gt": ("x y", lambda x, y: x > y), "ge": ("x y", lambda x, y: x >= y),
    "logical_and": ("x y", np.logical_and), "logical_or": ("x y", np.logical_or), "logical_not": ("x", np.logical_not),
    "isnan": ("x", lambda x: x != x), "isfinite": ("x", lambda x: x - x == 0.0),
}  # fmt: skip


def trace_program(names: Sequence[str], program: Any) -> tuple[list[Value], list[Any]] | None:
    """Return the values and results of a program of operations (ops/program.py) as expressions; None if one has no C form.

    names: of its inputs."""
    if len(names) > len(LETTERS):
        return None
    known: dict[Any, Any] = {x: _tracer.input(name) for x, name in zip(program.inputs, names, strict=True)}
    try:
        for value in program.values:
            op = value.function
            operands = [known[x] if type(x) is Value else x for x in value.inputs]
            found = _PROGRAM_KERNELS.get("copy" if op.name == "clone" else op.name.lstrip("_"))
            known[value] = found[1](*operands) if found else op.forward(_array_functions, *operands, **value.params)
        results = [as_number(known[x] if type(x) is Value else x) for x in program.outputs]
    except Exception:  # whatever a forward does with a value that is no array: it has no C form
        return None
    return merge_equal(in_order(results), results)


def write_tables() -> tuple[str, str]:
    """Return the texts of table.h and roles.h."""
    ops.load_all()
    kernels: dict[tuple[str, str], str] = {}
    roles: list[str] = []
    for op in OPS.values():
        if not isinstance(op, Operation) or op.kind != "pointwise" or op.variadic >= 0:
            continue
        for t in trace_operation(op):
            name = kernels.setdefault(table_row(t), t.role.replace(".", "__").lstrip("_"))
            roles.append(f'ROLE("{t.role}", "{name}", "{" ".join(t.operands)}", {int(t.for_defaults)})')
    for name, (operands, function) in _PROGRAM_KERNELS.items():
        inputs = [_tracer.input(operand) for operand in operands.split()]
        row = table_row(Trace(name, as_number(function(*inputs)), inputs, False))
        if kernels.setdefault(row, name) != name:
            raise ValueError(f"the kernel {name} is there already, as {kernels[row]}")
    head = "/* Written by `python -m wengert.ops.fuse` from the operations' forwards and rules; see there. */\n"
    rows = [f"{macro}({name}, {rest})" for (macro, rest), name in kernels.items()]
    return head + "\n".join(rows) + "\n", head + "\n".join(roles) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the tables of kernels.")
    parser.add_argument("--check", action="store_true", help="only say whether they are up to date")
    check = parser.parse_args().check
    checkout = Path("src", "wengert", "kernels")  # an installed package comes without the sources of the kernels
    folder = checkout if checkout.exists() else Path(__file__).parents[1] / "kernels"
    for name, text in zip(("table.h", "roles.h"), write_tables(), strict=True):
        path = folder / name
        if check and path.read_text() != text:
            sys.exit(f"{path} is not what the operations say. Hint: make generate")
        if not check:
            path.write_text(text)


if __name__ == "__main__":
    main()
