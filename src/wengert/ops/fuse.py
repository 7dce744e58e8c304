"""Tracing pointwise operations into C: each forward and each rule becomes one scalar expression, and that one kernel.

A forward runs on stand-ins for its inputs in place of arrays, a rule on stand-ins for its arguments: each operator and each NumPy
function adds a term to an expression. What looks at a value (a branch that depends on data) or uses what has no C form
cannot be traced, and stays with NumPy.

`python -m wengert.ops.fuse` writes kernels/table.h (the kernels) and kernels/roles.h (which operation and rule has which);
with --check it only says whether they are up to date. See docs/adr/0013.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from wengert.backends import numpy as numpy_backend
from wengert.core.op import MISSING

MAX_OPERANDS = 4


class Untraceable(TypeError):
    """What is traced does more than arithmetic on its arguments."""


# -- expressions -------------------------------------------------------------------------------------------------------


class Expression:
    """A term: a function (a key of _FORMS, "operand" or "constant") of others. Equal terms are one object."""

    __slots__ = ("arguments", "function", "is_bool")
    _known: dict[tuple[Any, ...], Expression] = {}

    function: str
    arguments: tuple[Any, ...]
    is_bool: bool

    def __new__(cls, function: str, *arguments: Any) -> Expression:
        key = (function, *[(repr(a), type(a)) if isinstance(a, (int, float)) else a for a in arguments])
        found = cls._known.get(key)
        if found is None:
            found = cls._known[key] = object.__new__(cls)
            found.function, found.arguments = function, arguments
            found.is_bool = function in _LOGICAL
        return found


_LOGICAL = frozenset({"<", "<=", ">", ">=", "==", "!=", "&", "|", "not"})
# C for each function; {0} ... are its arguments.
_FORMS = {
    "+": "({0} + {1})", "-": "({0} - {1})", "*": "({0} * {1})", "/": "({0} / {1})", "negative": "(-{0})",
    "<": "({0} < {1})", "<=": "({0} <= {1})", ">": "({0} > {1})", ">=": "({0} >= {1})", "==": "({0} == {1})",
    "!=": "({0} != {1})", "&": "({0} & {1})", "|": "({0} | {1})", "not": "(!{0})",
    "where": "({0} ? {1} : {2})", "as_number": "({0} ? C(1.0) : C(0.0))",
    "maximum": "larger_({0}, {1})", "minimum": "smaller_({0}, {1})",
    "fmax": "(({0} >= {1}) | ({1} != {1}) ? {0} : {1})", "fmin": "(({0} <= {1}) | ({1} != {1}) ? {0} : {1})",
    "sign": "({0} > 0 ? C(1.0) : {0} < 0 ? C(-1.0) : {0} == 0 ? C(0.0) : {0})",
    "fabs": "LIBM(fabs)({0})", "sqrt": "LIBM(sqrt)({0})", "copysign": "LIBM(copysign)({0}, {1})",
    "floor": "LIBM(floor)({0})", "ceil": "LIBM(ceil)({0})", "trunc": "LIBM(trunc)({0})", "rint": "LIBM(rint)({0})",
}  # fmt: skip
# Functions of vm.h, with the cost of each in multiplications of contiguous arrays.
_VECTOR_MATHS = {
    "exp": 5, "exp2": 5, "expm1": 6, "log": 7, "log1p": 9, "log2": 9, "log10": 9, "tanh": 8, "sinh": 8, "cosh": 8,
    "sin": 8, "cos": 8, "tan": 10, "asin": 9, "acos": 9, "atan": 9, "atan2": 14, "asinh": 18, "acosh": 18, "atanh": 14,
    "erf": 12, "erfc": 16, "pow": 40, "erfinv": 40, "lgamma": 40, "digamma": 40,
}  # fmt: skip
_COSTS = {"/": 2, "sqrt": 2, **_VECTOR_MATHS}
_GUARDED = frozenset({"sin", "cos", "tan"})  # right up to a limit; see vm.h
_FORMS.update({name: f"VM({name})({'{0}, {1}' if name in ('atan2', 'pow') else '{0}'})" for name in _VECTOR_MATHS})


def number(x: Any) -> Expression:
    """An argument of arithmetic as an expression: 1 for true, 0 for false."""
    if isinstance(x, Scalar):
        x = x.expression
    if isinstance(x, Expression):
        return Expression("as_number", x) if x.is_bool else x
    if isinstance(x, (bool, np.bool_)):
        return Expression("constant", float(x))
    if isinstance(x, (int, float, np.floating, np.integer)):
        return Expression("constant", float(x))
    raise Untraceable(f"cannot trace a value of {type(x)}")


def truth(x: Any) -> Expression:
    """A condition as an expression."""
    expression = x.expression if isinstance(x, Scalar) else number(x)
    return expression if expression.is_bool else Expression("!=", expression, Expression("constant", 0.0))


# -- what forwards and rules see ---------------------------------------------------------------------------------------


class _Dtype:
    """Stands in for the dtype: some floating one."""

    kind = "f"
    char = "?"
    name = "float"
    itemsize = 8
    type = float


class Scalar:
    """Stands in for an array or a tensor. inspected: something asked whether it is a number."""

    __slots__ = ("expression", "inspected")
    dtype = _Dtype()
    shape: tuple[int, ...] = (0,)
    ndim = 1
    size = 0
    is_complex = False
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, expression: Expression) -> None:
        self.expression = expression
        self.inspected = False

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        self.inspected = True  # isinstance looks here when type() has not settled it
        return Scalar

    def __bool__(self) -> bool:
        raise Untraceable("a branch depends on a value")

    __float__ = __int__ = __index__ = __iter__ = __len__ = __bool__

    def astype(self, dtype: Any, copy: bool = True) -> Scalar:
        if not isinstance(dtype, _Dtype):
            raise Untraceable("a cast")
        return self

    def copy(self, order: str = "C") -> Scalar:
        return Scalar(self.expression)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **settings: Any) -> Any:
        function: Any = _UFUNCS.get(ufunc.__name__)
        if method != "__call__" or settings or function is None:
            raise Untraceable(f"{ufunc.__name__} has no C form")
        return function(*inputs)

    def __array_function__(self, function: Any, types: Any, arguments: Any, settings: Any) -> Any:
        form: Any = {"where": _where, "sinc": _sinc}.get(function.__name__)
        if form is None or settings:
            raise Untraceable(f"{function.__name__} has no C form")
        return form(*arguments)


def _arithmetic(function: str) -> Callable[..., Scalar]:
    return lambda x, y: Scalar(Expression(function, number(x), number(y)))


def _of_one(function: str) -> Callable[..., Scalar]:
    return lambda x: Scalar(Expression(function, number(x)))


def _logical(function: str) -> Callable[..., Scalar]:
    return lambda x, y: Scalar(Expression(function, truth(x), truth(y)))


def _where(condition: Any, x: Any, y: Any) -> Any:
    return Scalar(Expression("where", truth(condition), number(x), number(y)))


def _power(x: Any, y: Any) -> Any:
    if type(x) is float and x == 2:
        return _UFUNCS["exp2"](y)
    special = None if type(y) is Scalar else {0.5: "sqrt", -1: "reciprocal", 1: "positive", 2: "square"}.get(y)
    return _UFUNCS[special](x) if special else _arithmetic("pow")(x, y)


def _sinc(x: Any) -> Scalar:
    zero = x == 0
    angle: Any = math.pi * _where(zero, 1.0, x)
    return _where(zero, 1.0, _UFUNCS["sin"](angle) / angle)


def _logaddexp(x: Any, y: Any) -> Scalar:
    difference = x - y
    top = _UFUNCS["maximum"](x, y)
    return _where(_UFUNCS["equal"](x, y), top + math.log(2.0), top + _UFUNCS["log1p"](np.exp(-abs(difference))))


_UFUNCS: dict[str, Callable[..., Any]] = {
    "add": _arithmetic("+"), "subtract": _arithmetic("-"), "multiply": _arithmetic("*"), "divide": _arithmetic("/"),
    "less": _arithmetic("<"), "less_equal": _arithmetic("<="), "greater": _arithmetic(">"),
    "greater_equal": _arithmetic(">="), "equal": _arithmetic("=="), "not_equal": _arithmetic("!="),
    "maximum": _arithmetic("maximum"), "minimum": _arithmetic("minimum"), "fmax": _arithmetic("fmax"),
    "fmin": _arithmetic("fmin"), "copysign": _arithmetic("copysign"), "arctan2": _arithmetic("atan2"),
    "power": _power, "logaddexp": _logaddexp,
    "logical_and": _logical("&"), "logical_or": _logical("|"), "bitwise_and": _logical("&"), "bitwise_or": _logical("|"),
    "logical_not": lambda x: Scalar(Expression("not", truth(x))), "invert": lambda x: Scalar(Expression("not", truth(x))),
    "negative": _of_one("negative"), "positive": lambda x: Scalar(number(x)), "absolute": _of_one("fabs"),
    "fabs": _of_one("fabs"), "square": lambda x: x * x, "reciprocal": lambda x: 1.0 / x, "sqrt": _of_one("sqrt"),
    "sign": _of_one("sign"), "floor": _of_one("floor"), "ceil": _of_one("ceil"), "trunc": _of_one("trunc"),
    "rint": _of_one("rint"), "isnan": lambda x: x != x, "isfinite": lambda x: x - x == 0.0,
    "isinf": lambda x: abs(x) == math.inf, "deg2rad": lambda x: x * (math.pi / 180),
    "rad2deg": lambda x: x * (180 / math.pi),
    "arcsin": _of_one("asin"), "arccos": _of_one("acos"), "arctan": _of_one("atan"), "arcsinh": _of_one("asinh"),
    "arccosh": _of_one("acosh"), "arctanh": _of_one("atanh"), "gammaln": _of_one("lgamma"), "psi": _of_one("digamma"),
    **{name: _of_one(name) for name in _VECTOR_MATHS if name not in ("asin", "acos", "atan", "atan2", "pow")},
}  # fmt: skip
_OPERATORS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "pow": "power", "lt": "less",
    "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal", "and": "logical_and",
    "or": "logical_or", "neg": "negative", "abs": "absolute", "invert": "logical_not", "pos": "positive",
}  # fmt: skip


def _give_operators() -> None:
    def reflect(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda self, other: function(other, self)

    for name, ufunc in _OPERATORS.items():
        function = _UFUNCS[ufunc]
        setattr(Scalar, f"__{name}__", lambda *operands, function=function: function(*operands))
        if name in ("add", "sub", "mul", "truediv", "pow", "and", "or"):
            setattr(Scalar, f"__r{name}__", reflect(function))


_give_operators()


class _Backend:
    """Stands in for xp."""

    asarray = staticmethod(lambda x, dtype=None: x)

    @staticmethod
    def copyto(target: Scalar, value: Any, where: Any) -> None:
        target.expression = _where(where, value, target).expression

    def __getattr__(self, name: str) -> Any:
        return getattr(numpy_backend, name)


_backend = _Backend()


class _Face:
    """Stands in for F, where everything is real."""

    is_tensor = False
    conj = real = staticmethod(lambda x: x)
    where = staticmethod(_where)
    _zero_where = staticmethod(lambda x, mask: _where(mask, 0.0, x))
    _zeros = staticmethod(lambda x: Scalar(Expression("constant", 0.0)))
    clone = cast = staticmethod(lambda x, **settings: x)

    def __getattr__(self, name: str) -> Any:
        from wengert.ops.registry import Composite, Operation, find

        op = find(name)
        if op is None:
            raise AttributeError(name)
        if isinstance(op, Composite):
            return lambda *arguments, **settings: op.fn(self, *arguments, **settings)
        if not isinstance(op, Operation):
            raise Untraceable(f"{name} is no operation")
        return lambda *arguments, **settings: op.forward(_backend, *arguments, **settings)


_face = _Face()


# -- traces ------------------------------------------------------------------------------------------------------------


class Trace:
    """One forward or rule as an expression. operands: the names that it uses; defaults: only for default parameters."""

    def __init__(self, role: str, result: Any, scalars: dict[str, Scalar], defaults: bool) -> None:
        self.role = role
        self.expression = number(result)
        if type(result) is Scalar and result.expression.is_bool:
            raise Untraceable("the result is no number")
        used = {e.arguments[0] for e in terms([self.expression]) if e.function == "operand"}
        self.operands = [name for name in scalars if name in used]
        self.defaults = defaults
        self.numbers = not any(scalar.inspected for scalar in scalars.values())


def terms(roots: list[Expression]) -> list[Expression]:
    """All terms of these expressions, each after its arguments."""
    found: dict[Expression, None] = {}

    def visit(e: Expression) -> None:
        if e in found:
            return
        for a in e.arguments:
            if isinstance(a, Expression):
                visit(a)
        found[e] = None

    for root in roots:
        visit(root)
    return list(found)


def trace(role: str, function: Callable[..., Any], names: tuple[str, ...], op: Any, leading: tuple[Any, ...]) -> Trace | None:
    """The trace of function(*leading, *names) with parameters as operands, else at their defaults; None if there is none."""
    for symbolic in (True, False):
        scalars = {name: Scalar(Expression("operand", name)) for name in names if name not in op.param_names}
        parameters: dict[str, Any] = {}
        for name in op.param_names:
            default = op.defaults[name]
            if symbolic and (default is MISSING or type(default) in (int, float)):
                parameters[name] = scalars[name] = Scalar(Expression("operand", name))
            else:
                parameters[name] = default
        if any(parameters[name] is MISSING for name in names if name in parameters):
            return None
        try:
            if leading[0] is _face:
                result = function(*leading[:1], *[{**scalars, **parameters}[name] for name in names])
            else:
                result = function(*leading, *[scalars[name] for name in op.input_names], **parameters)
            found = Trace(role, result, scalars, not symbolic)
        except Exception:  # whatever a rule does with what is no array: it keeps its own function
            continue
        baked = [name for name in op.param_names if name not in found.operands and (name in names or leading[0] is not _face)]
        found.defaults = bool(baked)
        return found
    return None


def trace_operation(op: Any) -> list[Trace]:
    """The traces of an operation's forward and rules that are worth a kernel."""
    traces = [trace(op.name, op.forward, (*op.input_names, *op.param_names), op, (_backend,))]
    for rule in op.rules:
        if len(rule.targets) == 1:
            role = f"{op.name}.{op.input_names[rule.targets[0]]}"
            traces.append(trace(role, rule.function, ("ct", *rule.names), op, (_face,)))
    return [
        t
        for t in traces
        if t is not None
        and 0 < len(t.operands) <= MAX_OPERANDS
        and t.expression.function not in ("operand", "constant")
        and (t.role != op.name or t.operands[: len(op.input_names)] == list(op.input_names))
    ]


# -- C -----------------------------------------------------------------------------------------------------------------


def to_c(roots: list[Expression], operands: list[str], slow: bool = False) -> tuple[str, list[str]]:
    """Statements for terms that are used more than once, and the expressions. slow: C's library in place of vm.h."""
    uses: dict[Expression, int] = {}  # a form that names an argument twice counts as two
    for e in terms(roots):
        for a in e.arguments:
            if isinstance(a, Expression):
                place = f"{{{e.arguments.index(a)}}}"
                uses[a] = uses.get(a, 0) + (2 if _FORMS.get(e.function, "").count(place) > 1 else 1)
    texts: dict[Expression, str] = {}
    statements: list[str] = []
    for e in terms(roots):
        if e.function == "operand":
            texts[e] = "abcd"[operands.index(e.arguments[0])]
        elif e.function == "constant":
            texts[e] = _constant(e.arguments[0])
        else:
            form = _FORMS[e.function]
            if slow and e.function in _GUARDED:
                form = f"LIBM({e.function})({{0}})"
            text = form.format(*[texts[a] for a in e.arguments])
            if uses.get(e, 0) > 1:
                name = f"t{len(statements)}"
                statements.append(f"const {'int' if e.is_bool else 'real'} {name} = {text};")
                text = name
            texts[e] = text
    return " ".join(statements), [texts[root] for root in roots]


def _constant(value: float) -> str:
    if math.isinf(value):
        return "C(INFINITY)" if value > 0 else "C(-INFINITY)"
    return "C(NAN)" if math.isnan(value) else f"C({value!r})"


def row(t: Trace) -> tuple[str, str]:
    """A kernel's row of table.h, as its macro and what comes after the name."""
    everything = terms([t.expression])
    cost = 1 + sum([_COSTS.get(e.function, 0) for e in everything])
    work = sum([e.function not in ("operand", "constant") for e in everything])
    n = len(t.operands)
    statements, (result,) = to_c([t.expression], t.operands)
    result = result[1:-1] if result.startswith("(") and _closes_last(result) else result
    head = f"{cost}, {int(t.numbers)}, {', '.join('abcd'[:n])}"
    guarded = [e.arguments[0] for e in everything if e.function in _GUARDED]
    if guarded:
        before, values = to_c(guarded, t.operands)
        limits = " & ".join([f"(LIBM(fabs)({v}) <= LIMIT_TRIG)" for v in values])
        slow_statements, (slow,) = to_c([t.expression], t.operands, slow=True)
        limits = f"{before} return {limits};".strip()
        return f"GUARD{n}", f"{head}, {limits}, {statements}, {result}, {slow_statements}, {slow}"
    kind = "SIMPLE" if n <= 2 and cost <= 3 and work <= 3 else "BLOCK"
    return f"{kind}{n}", f"{head}, {statements}, {result}"


def _closes_last(text: str) -> bool:
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            return i == len(text) - 1
    return False


# Kernels that programs need besides (see program.py): there a condition is a number, 1 or 0.
_OF_PROGRAMS: dict[str, tuple[str, Callable[..., Any]]] = {
    "copy": ("x", lambda x: x), "where": ("c x y", _where), "zero_where": ("x c", lambda x, c: _where(c, 0.0, x)),
    "eq": ("x y", lambda x, y: x == y), "ne": ("x y", lambda x, y: x != y), "lt": ("x y", lambda x, y: x < y),
    "le": ("x y", lambda x, y: x <= y), "gt": ("x y", lambda x, y: x > y), "ge": ("x y", lambda x, y: x >= y),
    "logical_and": ("x y", lambda x, y: _UFUNCS["logical_and"](x, y)),
    "logical_or": ("x y", lambda x, y: _UFUNCS["logical_or"](x, y)),
    "logical_not": ("x", lambda x: _UFUNCS["logical_not"](x)), "isnan": ("x", lambda x: x != x),
    "isfinite": ("x", lambda x: x - x == 0.0),
}  # fmt: skip


def _trace_of_program(name: str) -> Trace:
    names, function = _OF_PROGRAMS[name]
    scalars = {n: Scalar(Expression("operand", n)) for n in names.split()}
    return Trace(name, Scalar(number(function(*scalars.values()))), scalars, False)


def write_tables() -> tuple[str, str]:
    """The texts of table.h and roles.h."""
    from wengert import ops
    from wengert.ops.registry import OPS, Operation

    ops.load_all()
    kernels: dict[tuple[str, str], str] = {}
    roles: list[str] = []
    for op in OPS.values():
        if not isinstance(op, Operation) or op.kind != "pointwise" or op.variadic >= 0:
            continue
        for t in trace_operation(op):
            name = kernels.setdefault(row(t), t.role.replace(".", "__").lstrip("_"))
            roles.append(f'ROLE("{t.role}", "{name}", "{" ".join(t.operands)}", {int(t.defaults)})')
    for name in _OF_PROGRAMS:
        t = _trace_of_program(name)
        t.numbers = True
        if kernels.setdefault(row(t), name) != name:
            raise ValueError(f"the kernel {name} is there already, as {kernels[row(t)]}")
    head = "/* Written by `python -m wengert.ops.fuse` from the operations' forwards and rules; see there. */\n"
    rows = [f"{macro}({name}, {rest})" for (macro, rest), name in kernels.items()]
    return head + "\n".join(rows) + "\n", head + "\n".join(roles) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Writes the tables of kernels.")
    parser.add_argument("--check", action="store_true", help="only say whether they are up to date")
    check = parser.parse_args().check
    checkout = Path("src", "wengert", "kernels")  # what is installed comes without the sources of the kernels
    folder = checkout if checkout.exists() else Path(__file__).parents[1] / "kernels"
    for name, text in zip(("table.h", "roles.h"), write_tables(), strict=True):
        path = folder / name
        if check and path.read_text() != text:
            sys.exit(f"{path} is not what the operations say. Hint: make generate")
        if not check:
            path.write_text(text)


if __name__ == "__main__":
    main()
