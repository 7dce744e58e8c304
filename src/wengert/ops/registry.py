"""The registry: every operation is one block, a forward with its rules, under a decorator that says what kind it is.

    @pointwise(promote=INT_TO_FLOAT, domain=(-3.0, 3.0), inplace=True)
    def tanh(xp, x):
        \"\"\"Hyperbolic tangent ... (docs)\"\"\"
        return xp.tanh(x)

    @tanh.vjp("x")
    def _(F, ct, out):
        return ct * F.conj(1.0 - out * out)

A forward speaks to the backend: `xp` has NumPy's words and gets raw arrays. Its positional parameters are the inputs
(tensors; `*name` for any number, passed as one sequence by users), its keyword-only parameters are the parameters. A
rule speaks to the operations: `F` has torch's words and is one of two faces, raw arrays or tensors. The names of a
rule's parameters after `F, ct` are what the node saves: an input, `<input>_shape`, `out` (or one of `outputs`), a
parameter, or `needs` (with a variadic input: which of them need a gradient). A rule may return a cotangent of the
broadcast shape or the promoted dtype: the engine sums and casts it to the input's.

Forward mode needs no rule: it is derived from the kind, or from the vjp rules (see jvp.py). `@op.jvp("x")` registers one
where that would be slow, or where there is nothing to derive it from:

    @logdet.jvp("x")
    def _(F, x_t, x):
        return F.sum(F.diagonal(F.solve(x, x_t)))

`<input>_t` is an input's tangent, None where it has none, which can be only where a rule is for several inputs. Other names
are those of vjp rules, always at hand. The tangent is added to those that other inputs cause, and broadcast and cast to the
output's shape and dtype. With several outputs, the rule returns a tuple.

With several outputs, `ct` is a tuple, None where an output has no cotangent. A rule for several inputs at once,
`@op.vjp("x", "weight")`, returns a tuple; one for a variadic input a sequence with an entry an input.

A rule that selects, giving a cotangent of 0 where something else was chosen, says where that is: `vjp("x", untaken=...)` takes a
function of what the rule asks for, as raw arrays, that returns a mask in the shape of the rule's result. What is
behind is then kept from making NaN of that 0. Such places travel on through pointwise operations, views, and operations that
say moves=True (their rules for the inputs move the cotangent's elements, or add them up with weights of one sign) or
along_dim=True (lines along the parameter dim are worked on one by one; results have x's shape, or lack dim). See Note [Untaken].

A composite is a function of F and torch's arguments, made of other operations: it needs no rules and runs on both
faces. Every operation and composite takes out=, and one that says inplace= has an in-place form. A plain function is
no operation at all: it makes tensors (`@creation`), or sorts out arguments with nothing added to the cost of the call
(`@plain`, which takes out= where it says so). It is on neither face of F unless `array=` says what the array face has
under its name.

A view whose parameters say nothing but how it lies over its input's memory may name that as its layout= (a constant of
core/op.py): the compiled core then makes it, and takes its cotangent back, without the forward and the rule where it can. A
plain function of x and sizes that says sizes_of=op is that operation where sizes are ints and fit.

`array=` names what the array face runs in an operation's place: where NumPy has the whole composite as one call, or
where raw arrays have a cheaper way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np

from wengert import errors
from wengert.backends import numpy as numpy_backend
from wengert.core.binding import bind, make_function, make_operator, make_reflected, make_sizes_function
from wengert.core.node import make_node_class
from wengert.core.op import MISSING, JvpRule, Op, Plan, Rule, public_name
from wengert.core.saved_names import RecordedNode, show_saved
from wengert.core.tensor import TensorBase
from wengert.core.trace import Traced
from wengert.core.untaken import ELEMENTWISE, ENDS, LANES, MOVES
from wengert.core.views import call_inplace, write_results
from wengert.core.writing import make_inplace_method, make_inplace_operator
from wengert.dtypes import COMPARE, INT_TO_FLOAT, INT_TO_INT64, NONE, SAME, check_can_write
from wengert.ops.faces import array_face, tensor_face
from wengert.ops.families import register_family_of

__all__ = [
    "ALIASES", "INT_TO_FLOAT", "INT_TO_INT64", "NONE", "OPS", "SAME", "Composite", "Operation", "Plain", "alias",
    "bilinear", "composite", "creation", "general", "linear", "node_class", "nondifferentiable", "plain", "pointwise", "view",
]  # fmt: skip

_CO_VARARGS = 0x04
_KEYWORD_ONLY = frozenset({"dtype", "alpha", "beta", "value", "rounding_mode", "generator", "right", "correction"})
_NUMPY_SPELLINGS = {"axis": "dim", "keepdims": "keepdim"}


class _Registered(dict[str, Any]):
    """Operations by name. OPS[name], OPS.get(name) and name in OPS register the late family that holds the operation.

    Iteration, len(), keys(), values() and items() meet the registered operations only.
    """

    def __missing__(self, name: str) -> Any:
        if name in self:
            return self[name]
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        known = super().__contains__
        return known(name) or (isinstance(name, str) and register_family_of(name) and known(name))

    def get(self, name: str, default: Any = None) -> Any:
        """Return the operation of this name, or default."""
        return super().get(name, default) if name in self else default


OPS: dict[str, Operation | Composite | Plain] = _Registered()
ALIASES: dict[str, Operation | Composite | Plain] = {}  # second names; a loop over OPS meets each operation once


def find(name: str) -> Operation | Composite | Plain | None:
    """Return the operation of this name, or None."""
    return OPS.get(name)


class Operation(Op):
    """A registered operation: what the core needs (Op), and what tests, stubs and docs need."""

    function: Callable[..., Any]

    def __init__(self, forward: Callable[..., Any], kind: str, settings: dict[str, Any]) -> None:
        name = settings.pop("name", None) or forward.__name__
        super().__init__(name, forward)
        self.kind = kind
        self.doc = forward.__doc__
        self.promote = settings.pop("promote", SAME)
        self.domain = settings.pop("domain", (-3.0, 3.0))
        self.method = settings.pop("method", True)
        self.inplace = settings.pop("inplace", False)
        self.operator = settings.pop("operator", None)
        self.namespaces = settings.pop("namespaces", ("",))
        self.beyond_torch = settings.pop("beyond_torch", "")
        self.output_names = settings.pop("outputs", None)
        self.is_view = kind == "view"
        self.is_read = settings.pop("reads", False)
        self.layout = settings.pop("layout", 0)
        moves, along = settings.pop("moves", self.is_view), settings.pop("along_dim", False)
        self.carries = ELEMENTWISE if kind == "pointwise" else MOVES if moves else LANES if along else ENDS
        added = settings.pop("added", None)  # the input that a bilinear operation adds to the product of the others
        self.varargs = settings.pop("varargs", None)
        self.complex = settings.pop("complex", True)
        self.refuses_complex = not self.complex
        # Whether bfloat16 is computed in as it is: its neighbours, limits or bits are what the operation is about.
        self.own_precision = settings.pop("own_precision", False)
        # check(operands) raises torch's error for dtypes that the operation refuses; see them before they are promoted.
        self.check = settings.pop("check", None)
        node = settings.pop("node", None)
        _read_signature(self, forward)
        self.added = -1 if added is None else self.input_names.index(added)
        self.keyword_aliases = {**_NUMPY_SPELLINGS, **settings.pop("aliases", {})}
        keyword_only = settings.pop("keyword_only", _KEYWORD_ONLY)
        self.positional_params = next(
            (i for i, p in enumerate(self.param_names) if p in keyword_only), len(self.param_names)
        )
        if settings:
            raise TypeError(f"{name}: unknown settings {sorted(settings)}")
        if callable(node):
            self.node_chooser = lambda inputs, params: node_class(node(inputs, params))
        elif node is None and "node" in self.param_names:
            self.node_chooser = lambda inputs, params: node_class(params["node"])
            self.node_is_param = True
        self.node_name = node if isinstance(node, str) else None  # None: after the operation
        self.function = _named(make_function(self), self)

    def vjp(self, *inputs: str, untaken: Any = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Registers the decorated function as the rule for these inputs. untaken: see above."""

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            code = function.__code__
            names = code.co_varnames[2 : code.co_argcount]
            self._check_names("vjp", names, inputs)
            targets = tuple([self.input_names.index(i) for i in inputs])
            self.rules = (*self.rules, Rule(function, targets, names, untaken))
            return function

        return register

    def find_node_class(self) -> Any:
        # Most programs record few of the operations, and making all of their classes would be a tenth of the import.
        if self.node_class is None:
            self.node_class = node_class(self.node_name or _camel(self.name) + "Backward0")
        return self.node_class

    def _make_plan(self, needs: int, defaults: bool) -> Plan:
        self.find_node_class()
        show_saved(self)  # nodes are made by plans
        return super()._make_plan(needs, defaults)

    def jvp(self, *inputs: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Registers the decorated function as the forward-mode rule for these inputs."""

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            code = function.__code__
            names = code.co_varnames[1 : code.co_argcount]
            self._check_names("jvp", names, inputs)
            targets = tuple([self.input_names.index(i) for i in inputs])
            self.jvps = (*self.jvps, JvpRule(function, targets, names))
            return function

        return register

    def _check_names(self, rule: str, names: Iterable[str], inputs: tuple[str, ...]) -> None:
        for name in names:
            if name not in self.input_names and name not in self.param_names:  # most are, and this is cheap
                self._check_name(rule, name)
        for name in inputs:
            if name not in self.input_names:
                raise TypeError(f"{self.name}.{rule}: {name!r} is no input; the inputs are {', '.join(self.input_names)}")

    def _check_name(self, rule: str, name: str) -> None:
        allowed = {*self.input_names, *[f"{i}_shape" for i in self.input_names], *self.param_names}
        allowed |= {"out"} if self.output_names is None else set(self.output_names)
        if self.variadic >= 0:
            allowed.add("needs")
        if rule == "jvp":
            allowed |= {f"{i}_t" for i in self.input_names}
        if name not in allowed:
            raise TypeError(f"{self.name}.{rule}: unknown name {name!r}; a rule may ask for {', '.join(sorted(allowed))}")

    def public_input_name(self, name: str) -> str:
        """An input's name as users write it."""
        return public_name(name)


class Composite:
    """A function made of other operations: fn(F, *args, **kwargs)."""

    kind = "composite"
    operator = None

    def __init__(self, fn: Callable[..., Any], settings: dict[str, Any]) -> None:
        self.name = settings.pop("name", None) or fn.__name__
        self.fn = fn
        self.doc = fn.__doc__
        self.method = settings.pop("method", False)
        self.inplace = settings.pop("inplace", False)
        self.namespaces = settings.pop("namespaces", ("",))
        self.beyond_torch = settings.pop("beyond_torch", "")
        if settings:
            raise TypeError(f"{self.name}: unknown settings {sorted(settings)}")
        self.function = _named(_composite_function(self.name, fn), self)


class Plain:
    """A function that stands among the operations without being one: fn(*args, **kwargs), torch's arguments."""

    inplace = False
    operator = None

    def __init__(self, fn: Callable[..., Any], kind: str, settings: dict[str, Any]) -> None:
        self.kind = kind
        self.name = settings.pop("name", None) or fn.__name__
        self.fn = fn
        self.doc = fn.__doc__
        self.method = settings.pop("method", False)
        self.namespaces = settings.pop("namespaces", ("",))
        self.beyond_torch = settings.pop("beyond_torch", "")
        self.out = settings.pop("out", False)
        sizes_of = settings.pop("sizes_of", None)
        if settings:
            raise TypeError(f"{self.name}: unknown settings {sorted(settings)}")
        if sizes_of is not None:
            fn = make_sizes_function(sizes_of, fn)
        self.function = _named(_taking_out(self.name, fn) if self.out else fn, self)


def _composite_function(name: str, fn: Callable[..., Any]) -> Callable[..., Any]:
    def function(*args: Any, **kwargs: Any) -> Any:
        if kwargs and "out" in kwargs:
            return _call_into(name, function, args, kwargs)
        try:
            return fn(tensor_face, *args, **kwargs)
        except (AttributeError, TypeError):
            # What fn tripped over may be an argument that is no tensor: then that is the error to tell.
            if args and not isinstance(
                args[0], (TensorBase, Traced, np.ndarray, np.generic, int, float, complex, str, list, tuple)
            ):
                raise errors.wrong_argument_type(name, fn.__code__.co_varnames[1], 0, type(args[0])) from None
            raise

    return function


def _taking_out(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with the argument out=."""

    def taking_out(*args: Any, **kwargs: Any) -> Any:
        if kwargs and "out" in kwargs:
            return _call_into(name, function, args, kwargs)
        return function(*args, **kwargs)

    return taking_out


def _call_into(name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call with the argument out=, which may be None."""
    out = kwargs.pop("out")
    if out is None:
        return function(*args, **kwargs)
    return write_results(name, out, _tensors_of(args, kwargs), lambda: function(*args, **kwargs))


def _tensors_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Any]:
    """The tensors among the arguments of a call, also those in lists."""
    for x in (*args, *kwargs.values()):
        yield from (y for y in (x if isinstance(x, (list, tuple)) else (x,)) if isinstance(y, TensorBase))


def _read_signature(op: Operation, forward: Callable[..., Any]) -> None:
    """Fills in inputs, parameters and defaults from a forward's own parameter list."""
    code = forward.__code__
    n_positional, n_keyword = code.co_argcount, code.co_kwonlyargcount
    inputs = code.co_varnames[1:n_positional]
    op.param_names = code.co_varnames[n_positional : n_positional + n_keyword]
    if code.co_flags & _CO_VARARGS:
        op.variadic = len(inputs)
        inputs = (*inputs, code.co_varnames[n_positional + n_keyword])
    op.input_names = inputs
    given = forward.__defaults__ or ()
    op.input_defaults = dict(zip(inputs[len(inputs) - len(given) :], given, strict=False)) if given else {}
    defaults = forward.__kwdefaults__ or {}
    op.defaults = {name: defaults.get(name, MISSING) for name in op.param_names}
    op.required = tuple([name for name in op.param_names if name not in defaults])
    op.simple = op.variadic < 0 and not op.required and not given


def _camel(name: str) -> str:
    return "".join([part[:1].upper() + part[1:] for part in name.split("_")])


_node_classes: dict[str, type] = {}


def node_class(name: str) -> type:
    """The class of an operation's nodes that have this name."""
    cls = _node_classes.get(name)
    if cls is None:
        cls = _node_classes[name] = make_node_class(name, RecordedNode)
    return cls


def _named(function: Callable[..., Any], op: Operation | Composite | Plain) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = op.name
    function.__doc__ = op.doc
    function.__module__ = "wengert"
    return function


def _array_form(op: Operation, forward: Callable[..., Any]) -> Callable[..., Any]:
    """A forward as the array face offers it: any number of inputs come as one sequence, as on the tensor face."""
    fixed = op.variadic
    if fixed < 0:
        return partial(forward, numpy_backend)

    def run(*inputs: Any, **params: Any) -> Any:
        return forward(numpy_backend, *inputs[:fixed], *inputs[fixed], **params)

    return run


def _decorator(kind: str) -> Callable[..., Any]:
    def decorator(**settings: Any) -> Callable[[Callable[..., Any]], Operation]:
        array = settings.pop("array", None)

        def register(forward: Callable[..., Any]) -> Operation:
            op = Operation(forward, kind, settings)
            OPS[op.name] = op
            setattr(array_face, op.name, array or _array_form(op, forward))
            setattr(tensor_face, op.name, op.function)
            return op

        return register

    return decorator


pointwise = _decorator("pointwise")
linear = _decorator("linear")
bilinear = _decorator("bilinear")
general = _decorator("general")
nondifferentiable = _decorator("nondifferentiable")
view = _decorator("view")


def composite(**settings: Any) -> Callable[[Callable[..., Any]], Composite]:
    """Registers a function of F that is made of other operations."""
    array = settings.pop("array", None)

    def register(fn: Callable[..., Any]) -> Composite:
        op = Composite(fn, settings)
        OPS[op.name] = op
        setattr(array_face, op.name, array or partial(fn, array_face))
        setattr(tensor_face, op.name, partial(fn, tensor_face))
        return op

    return register


def _plain_decorator(kind: str) -> Callable[..., Any]:
    def decorator(**settings: Any) -> Callable[[Callable[..., Any]], Plain]:
        array = settings.pop("array", None)

        def register(fn: Callable[..., Any]) -> Plain:
            op = Plain(fn, kind, settings)
            OPS[op.name] = op
            if array is not None:
                setattr(array_face, op.name, array)
                setattr(tensor_face, op.name, op.function)
            return op

        return register

    return decorator


creation = _plain_decorator("creation")
plain = _plain_decorator("plain")


def alias(name: str, op: Operation | Composite | Plain) -> None:
    """Gives an operation a second name wherever its first is public: multiply for mul, so multiply_ for mul_."""
    ALIASES[name] = op


# -- what Tensor and the public namespaces are made of -----------------------------------------------------------------


def make_inplace(op: Operation | Composite) -> Callable[..., Any]:
    """The in-place form of an operation, as a method: x.add_(y)."""
    inplace = _operation_inplace(op) if isinstance(op, Operation) else _composite_inplace(op)
    inplace.__name__ = inplace.__qualname__ = op.name + "_"
    inplace.__doc__ = f"In-place form of {op.name}: writes the result into this tensor and returns it."
    return inplace


def _operation_inplace(op: Operation) -> Callable[..., Any]:
    if op.rules:
        return make_inplace_method(op)

    def inplace(self: Any, *args: Any, **kwargs: Any) -> Any:
        if op.promote == COMPARE or self.requires_grad:
            return self.copy_(op.function(self, *args, **kwargs))  # which records that the old value is gone
        inputs, params = bind(op, (self, *args), kwargs)
        return call_inplace(op, inputs, params if params else None)

    return inplace


def _composite_inplace(op: Composite) -> Callable[..., Any]:
    def inplace(self: Any, *args: Any, **kwargs: Any) -> Any:
        # Of a copy where it is recorded: what is saved of the input must stay.
        result = op.function(self.clone() if self.requires_grad else self, *args, **kwargs)
        if result.shape != self.shape:
            raise errors.inplace_shape(self.shape, result.shape)
        check_can_write(result._array.dtype, self._array.dtype)
        return self.copy_(result)

    return inplace


def methods(names: Iterable[str] = ()) -> dict[str, Callable[..., Any]]:
    """What the operations and aliases of these names, or all, give class Tensor: methods, in-place methods, operators."""
    found: dict[str, Callable[..., Any]] = {}
    for name, op in _entries(names):
        known = name == op.name  # not an alias
        if op.method:
            found[op.method if known and isinstance(op.method, str) else name] = op.function
        if not isinstance(op, Plain) and op.inplace:
            found[op.inplace if known and isinstance(op.inplace, str) else name + "_"] = make_inplace(op)
        if known and isinstance(op, Operation) and op.operator:
            found.update(_operators(op))
    return found


def _entries(names: Iterable[str]) -> Iterator[tuple[str, Operation | Composite | Plain]]:
    """The operations and aliases that are registered under these names, or all."""
    for table in (OPS, ALIASES):
        yield from [(name, table[name]) for name in names if name in table] if names else table.items()


# The in-place forms that are functions too, by namespace: those that torch has. Programs ask hasattr(torch, name + "_").
_INPLACE = {
    "": """
        abs_ acos_ acosh_ addmv_ alpha_dropout_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ as_strided_ asin_ asinh_ atan_
        atanh_ ceil_ celu_ clamp_ clamp_max_ clamp_min_ clip_ conj_physical_ cos_ cosh_ deg2rad_ dropout_ erf_ erfc_ exp2_ exp_
        expm1_ feature_alpha_dropout_ fill_ fix_ floor_ frac_ gcd_ i0_ index_put_ lcm_ ldexp_ log10_ log1p_ log2_ log_ logit_
        nan_to_num_ neg_ negative_ rad2deg_ reciprocal_ relu_ resize_as_ round_ rrelu_ rsqrt_ selu_ sigmoid_ sin_ sinc_ sinh_
        sqrt_ square_ tan_ tanh_ threshold_ trunc_ xlogy_ zero_
    """,
    "nn.functional": "celu_ elu_ hardtanh_ leaky_relu_ relu_ rrelu_ selu_ threshold_",
}
INPLACE_FUNCTIONS = {namespace: frozenset(names.split()) for namespace, names in _INPLACE.items()}


def inplace_functions(namespace: str, names: Iterable[str] = ()) -> dict[str, Callable[..., Any]]:
    """Return the in-place forms in a namespace, of the operations of these names or of all. They are INPLACE_FUNCTIONS."""
    allowed = INPLACE_FUNCTIONS.get(namespace, ())
    found: dict[str, Callable[..., Any]] = {}
    for _, op in _entries(names):
        if isinstance(op, Composite) and namespace in op.namespaces and takes_inplace(op):
            found[op.name + "_"] = _inplace_function(op)
    if not namespace:
        found.update(methods(names))
    return {name: function for name, function in found.items() if name in allowed}


@cache
def _inplace_function(op: Composite) -> Callable[..., Any]:
    def function(input: Any, *args: Any, **kwargs: Any) -> Any:
        return op.function(input, *args, **kwargs, inplace=True)

    function.__name__ = function.__qualname__ = op.name + "_"
    function.__doc__ = f"In-place form of {op.name}: writes the result into input and returns it."
    function.__module__ = "wengert"
    return function


def takes_inplace(op: Composite) -> bool:
    """Whether a composite writes into its first input where inplace=True says so."""
    code = op.fn.__code__
    return "inplace" in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _operators(op: Operation) -> dict[str, Callable[..., Any]]:
    """Operator methods: operator="add" gives __add__, and __radd__ and __iadd__ for two inputs that are arithmetic.

    operator="__rsub__" gives just that one.
    """
    name = op.operator
    if name.startswith("__"):
        return {name: make_operator(op)}
    if len(op.input_names) == 1:
        return {f"__{name}__": op.function}
    found: dict[str, Callable[..., Any]] = {f"__{name}__": make_operator(op)}
    if op.kind != "nondifferentiable" or op.inplace:
        found[f"__r{name}__"] = make_reflected(op)
    if op.inplace:
        found[f"__i{name}__"] = make_inplace_operator(op)
    if name == "truediv":  # which Python 2 calls div
        found |= {method.replace("truediv", "div"): function for method, function in found.items()}
    return found


def prefix_of(namespace: str) -> str:
    """What stands before a name that a namespace shares with another: linalg.norm is registered as linalg_norm, beside
    norm, and the package's own dropout, beside nn.functional's, as torch_dropout."""
    return f"{namespace}_" if namespace else "torch_"


def functions(namespace: str, names: Iterable[str] = ()) -> dict[str, Callable[..., Any]]:
    """The public functions of a namespace, "" for wengert itself, "nn.functional", "linalg"..., of these or all operations."""
    prefix = prefix_of(namespace)
    found = [(n.removeprefix(prefix) if n == op.name else n, op) for n, op in _entries(names) if namespace in op.namespaces]
    return {name: op.function for name, op in found}
