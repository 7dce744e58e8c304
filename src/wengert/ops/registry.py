"""The registry: every operation is one block, a forward with its rules, under the decorator of its kind.

    @pointwise(promote=INT_TO_FLOAT, domain=(-3.0, 3.0), inplace=True)
    def tanh(xp, x):
        \"\"\"Hyperbolic tangent ... (docs)\"\"\"
        return xp.tanh(x)

    @tanh.vjp("x")
    def _(F, ct, out):
        return ct * F.conj(1.0 - out * out)

A forward runs on raw arrays and uses the backend `xp`, which has NumPy's words. Its positional parameters are the inputs:
tensors, or `*name` for any number of tensors, which users pass as one sequence. Its keyword-only parameters are the
parameters of the operation.

A rule uses the operations `F`, which have torch's words and work on raw arrays or on tensors. The node saves what the
rule's parameters after `F, ct` name: an input, `<input>_shape`, `out` (or one of `outputs`), a parameter, or `needs` (for a
variadic input: which of its tensors need a gradient). A rule may return a cotangent of the broadcast shape or the promoted
dtype. The engine sums and casts it to the shape and dtype of the input.

Forward mode needs no rule: it is derived from the kind, or from the vjp rules (see jvp.py). If that would be slow, or if
there is nothing to derive a rule from, `@op.jvp("x")` registers one:

    @logdet.jvp("x")
    def _(F, x_t, x):
        return F.sum(F.diagonal(F.solve(x, x_t)))

`<input>_t` is the tangent of an input. It can be None only in a rule for several inputs. All other names of vjp rules are
available too. The engine broadcasts and casts the returned tangent to the shape and dtype of the output, and adds it to the
tangents that other inputs cause. With several outputs, the rule returns a tuple.

With several outputs, `ct` is a tuple with None for an output without cotangent. A rule for several inputs at once,
`@op.vjp("x", "weight")`, returns a tuple. A rule for a variadic input returns a sequence with one entry for each tensor.

A rule that selects returns a cotangent of 0 for the elements that were not chosen. `vjp("x", untaken=...)` declares these
places: a function of the values that the rule asks for, as raw arrays, which returns a mask of the shape of the rule's
result. The engine then keeps the rules behind from turning the 0 into NaN. The places are passed on by pointwise
operations, by views, and by operations with moves=True or along_dim=True. moves=True: the rules move the elements of the
cotangent, or add them with weights of one sign. along_dim=True: the operation works on each line along the parameter dim
alone, and its results have the shape of x, or lack dim. See Note [Untaken].

`vjp("x", flat=True)` declares a result that is piecewise constant in x, and that torch computes by a function of x. If the
derivative is itself differentiated, its graph leads to x, with the cotangent 0. The result must be a new array. In place of
True, flat may be the name of the node. See Note [Flat rules] in core/rules.py.

A composite is a function of F and torch's arguments, made of other operations. It needs no rules and runs on both faces.
Every operation and composite takes out=. One with inplace= has an in-place form. A plain function is no operation: it
makes tensors (`@creation`), or sorts out arguments at no further cost (`@plain`, which takes out= if its declaration says
out=True). Neither face of F has it, unless `array=` gives the function for the array face.

A view whose parameters only say how it lies over the memory of its input may name a layout= (a constant of core/op.py). The
compiled core then makes the view, and maps its cotangent back, without the forward and the rule if it can. A plain function
of x and sizes with sizes_of=op runs op if all sizes are ints and fit.

`array=` gives the function that the array face runs in the place of an operation: NumPy has a whole composite as one call, or
raw arrays have a cheaper way. `beyond_torch=` says why an operation exists that torch does not have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property, partial, wraps
from typing import Any

from wengert import errors
from wengert.backends.selection import others
from wengert.core.binding import (
    bind,
    call_on_their_device,
    make_explained_function,
    make_function,
    make_operator,
    make_reflected,
    make_respelled_function,
    make_sizes_function,
)  # fmt: skip
from wengert.core.forward import raise_explained, raise_explained_function, set_explainers
from wengert.core.modes import AUTOCAST, flags, state
from wengert.core.node import make_node_class
from wengert.core.op import MISSING, SPELLINGS, JvpRule, Op, Plan, Rule, public_name, spellings_of
from wengert.core.override import NOT_OVERRIDDEN, has_foreign, override_foreign
from wengert.core.saved_names import RecordedNode, show_saved
from wengert.core.tensor import TensorBase
from wengert.core.untaken import ELEMENTWISE, ENDS, LANES, MOVES
from wengert.core.views import call_inplace, write_results
from wengert.core.watched import own_code
from wengert.core.writing import make_inplace_method, make_inplace_operator
from wengert.dtypes import COMPARE, INT_TO_FLOAT, INT_TO_INT64, NONE, SAME, check_can_write
from wengert.ops.casts import CASTING
from wengert.ops.faces import WITHOUT_ARRAY_FORM, array_face, array_form, tensor_face
from wengert.ops.families import INPLACE_FUNCTIONS, register_family_of
from wengert.ops.interception import InplaceForm, Signed, overridable, shown

__all__ = [
    "ALIASES", "INT_TO_FLOAT", "INT_TO_INT64", "NONE", "OPS", "SAME", "Composite", "Operation", "Plain", "alias",
    "bilinear", "composite", "creation", "general", "linear", "node_class", "nondifferentiable", "plain", "pointwise", "view",
]  # fmt: skip

_CO_VARARGS, _CO_VARKEYWORDS = 0x04, 0x08
_KEYWORD_ONLY = frozenset({"dtype", "alpha", "beta", "value", "rounding_mode", "generator", "right", "correction"})


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


def _load_explainers() -> tuple[Callable[..., Any], Callable[..., Any]]:
    from wengert.ops.arguments import explained_function, explained_operation  # few programs make a call that fails

    return explained_operation, explained_function


set_explainers(_load_explainers)
ALIASES: dict[str, Operation | Composite | Plain] = {}  # second names; a loop over OPS meets each operation once


class Operation(Signed, Op):
    """A registered operation: the fields that the core needs (Op), and those that tests, stubs and docs need."""

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
        # True if bfloat16 is not computed in float32: the operation is about the neighbours, limits or bits of a dtype, or is a
        # product, which casts its factors where the backend says so.
        self.own_precision = settings.pop("own_precision", False)
        # check(operands) raises torch's error if the operation refuses their dtypes. It sees them before they are promoted.
        self.check = settings.pop("check", None)
        node = settings.pop("node", None)
        _read_signature(self, forward)
        self.added = -1 if added is None else self.input_names.index(added)
        self.aliases = settings.pop("aliases", {})
        keyword_only = settings.pop("keyword_only", _KEYWORD_ONLY)
        self.positional_params = next((i for i, p in enumerate(self.param_names) if p in keyword_only), len(self.param_names))
        if settings:
            raise TypeError(f"{name}: unknown settings {sorted(settings)}")
        if callable(node):
            self.node_chooser = lambda inputs, params: node_class(node(inputs, params))
        elif node is None and "node" in self.param_names:
            self.node_chooser = lambda inputs, params: node_class(params["node"])
            self.node_is_param = True
        self.node_name = node if isinstance(node, str) else None  # None: the name comes from the operation's
        self.function = _named(make_function(self), self)

    def vjp(
        self, *inputs: str, untaken: Any = None, flat: str | bool = False
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Register the decorated function as the rule for these inputs. untaken, flat: see the docstring of the module."""

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            code = function.__code__
            names = code.co_varnames[2 : code.co_argcount]
            self._check_names("vjp", names, inputs)
            targets = tuple([self.input_names.index(i) for i in inputs])
            self.rules = (*self.rules, Rule(function, targets, names, untaken, flat))
            return function

        return register

    def find_node_class(self) -> Any:
        # Most programs record few operations. Making the classes of all would take a tenth of the import.
        if self.node_class is None:
            self.node_class = node_class(self.node_name or _camel(self.name) + "Backward0")
        return self.node_class

    def _make_plan(self, needs: int, defaults: bool) -> Plan:
        self.find_node_class()
        show_saved(self)  # plans make the nodes
        return super()._make_plan(needs, defaults)

    def jvp(self, *inputs: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Register the decorated function as the forward-mode rule for these inputs."""

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
            if name not in self.input_names and name not in self.param_names:  # most names are, and this test is cheap
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
        """Name of an input as users write it."""
        return public_name(name)


class Function(Signed):
    """A function among the operations that is written with torch's arguments: a composite, or one that is no operation."""

    name: str
    kind: str
    fn: Callable[..., Any]
    aliases: dict[str, str]
    skip = 0  # number of leading parameters of fn that are not the caller's

    @cached_property
    def second_names(self) -> dict[str, str]:
        """The parameter that each keyword stands for, of the keywords that are no parameter's name."""
        code = own_code(self.fn)
        names = code.co_varnames[self.skip : code.co_argcount + code.co_kwonlyargcount]
        parameters = {("input" if name == "self" else name): name for name in names}
        if code.co_flags & _CO_VARKEYWORDS and self.kind != "creation":  # these sort out torch's overloads
            parameters = {"dim": "dim", "keepdim": "keepdim", "other": "other", **parameters}
        found = spellings_of(parameters, self.aliases)
        return {keyword: name for keyword, name in found.items() if keyword != name}

    def respelled(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return keyword arguments under the parameters' own names."""
        second = self.second_names
        if second.keys().isdisjoint(kwargs):
            return kwargs
        found = {second.get(name, name): value for name, value in kwargs.items()}
        if len(found) < len(kwargs):
            raise errors.unexpected_keyword(self.name, next(name for name in kwargs if name in second))
        return found


class Composite(Function):
    """A function made of other operations: fn(F, *args, **kwargs)."""

    kind = "composite"
    operator = None
    skip = 1

    def __init__(self, fn: Callable[..., Any], settings: dict[str, Any]) -> None:
        self.name = settings.pop("name", None) or fn.__name__
        fn.__name__ = fn.__qualname__ = errors.called(self.name)  # Python names it in the errors of wrong calls
        self.fn = fn
        self.doc = fn.__doc__
        self.method = settings.pop("method", False)
        self.inplace = settings.pop("inplace", False)
        self.namespaces = settings.pop("namespaces", ("",))
        self.beyond_torch = settings.pop("beyond_torch", "")
        self.aliases = settings.pop("aliases", {})
        if settings:
            raise TypeError(f"{self.name}: unknown settings {sorted(settings)}")
        self.on_tensors = _casting(self.name, fn) if self.name in CASTING else fn
        self.function = _named(_composite_function(self), self)


# Plain functions that are called as they are. All others explain errors, which costs 40 ns a call.
_CHEAP = """
    div div_ clamp clamp_ where fill fill_ zero_ copy_ flatten contiguous numel sum_to_size __getitem__ __setitem__ cat stack
    tensor as_tensor from_numpy scalar_tensor zeros ones empty zeros_like ones_like empty_like new_zeros new_ones
    new_empty nn.functional_relu nn.functional_relu_ is_complex is_floating_point is_signed is_inference is_nonzero is_conj
    is_neg get_device is_same_size detach detach_ rand randn typename set_default_tensor_type FloatTensor DoubleTensor
    HalfTensor LongTensor IntTensor ShortTensor CharTensor ByteTensor BoolTensor BFloat16Tensor
"""
_CHEAP_NAMES = frozenset(_CHEAP.split())


class Plain(Function):
    """A function among the operations that is none itself: fn(*args, **kwargs), with torch's arguments."""

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
        self.aliases = settings.pop("aliases", {})
        sizes_of = settings.pop("sizes_of", None)
        if settings:
            raise TypeError(f"{self.name}: unknown settings {sorted(settings)}")
        if self.name in CASTING:
            fn = _casting(self.name, fn)
        if sizes_of is not None:
            fn = make_sizes_function(sizes_of, fn)
        if self.name not in _CHEAP_NAMES:
            fn = make_explained_function(self.name, fn, self.fn, self.respelled)
        self.function = _named(_taking_out(self.name, fn) if self.out else fn, self)


def _casting(name: str, fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return fn, which casts its tensors first while autocast is on. See ops/autocast.py."""

    @wraps(fn)
    def casting(*args: Any, **kwargs: Any) -> Any:
        if flags() & AUTOCAST:
            return state.autocast.call_function(name, fn, args, kwargs)
        return fn(*args, **kwargs)

    return casting


def _composite_function(op: Composite) -> Callable[..., Any]:
    name, fn, respelled, on_tensors = op.name, op.fn, op.respelled, op.on_tensors

    def function(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            kwargs = respelled(kwargs)
            if "out" in kwargs:
                return _call_into(name, function, args, kwargs)
        try:
            if others:
                return call_on_their_device(on_tensors, (tensor_face, *args), kwargs)
            return on_tensors(tensor_face, *args, **kwargs)
        except Exception as error:
            if has_foreign(args, kwargs):
                found = override_foreign(function, args, kwargs)
                if found is not NOT_OVERRIDDEN:
                    return found
            raise_explained_function(name, fn, 1, args, kwargs, error)
            raise

    return function


def _taking_out(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with an argument out= added."""

    def taking_out(*args: Any, **kwargs: Any) -> Any:
        if kwargs and "out" in kwargs:
            return _call_into(name, function, args, kwargs)
        return function(*args, **kwargs)

    return taking_out


def _call_into(name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function with the argument out=, which may be None."""
    out = kwargs.pop("out")
    if out is None:
        return function(*args, **kwargs)
    return write_results(name, out, _tensors_of(args, kwargs), lambda: function(*args, **kwargs))


def _tensors_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Any]:
    """Yield the tensors among the arguments of a call, also those in lists."""
    for x in (*args, *kwargs.values()):
        yield from (y for y in (x if isinstance(x, (list, tuple)) else (x,)) if isinstance(y, TensorBase))


def _read_signature(op: Operation, forward: Callable[..., Any]) -> None:
    """Set the inputs, parameters and defaults of an operation from the parameter list of its forward."""
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
    """Return the class of nodes with this name. It is made once."""
    cls = _node_classes.get(name)
    if cls is None:
        cls = _node_classes[name] = make_node_class(name, RecordedNode)
    return cls


def _named(function: Callable[..., Any], op: Operation | Composite | Plain) -> Callable[..., Any]:
    """Give a function the name under which pickle finds it, and its signature."""
    namespace = op.namespaces[0] if op.namespaces else ""
    function.__name__ = op.name.removeprefix("nn.functional_").removeprefix("torch_")
    if op.namespaces:
        function.__qualname__ = op.name.removeprefix(prefix_of(namespace))
    else:
        function.__qualname__ = f"Tensor.{op.method if isinstance(op.method, str) else op.name}"
    function.__doc__ = op.doc
    function.__module__ = f"wengert.{namespace}" if namespace else "wengert"
    if not isinstance(function, type):
        function.__wrapped__ = op  # type: ignore[attr-defined]
    return overridable(function)


def _decorator(kind: str) -> Callable[..., Any]:
    def decorator(**settings: Any) -> Callable[[Callable[..., Any]], Operation]:
        array = settings.pop("array", None)

        def register(forward: Callable[..., Any]) -> Operation:
            op = Operation(forward, kind, settings)
            OPS[op.name] = op
            setattr(array_face, op.name, array or array_form(op, forward))
            if array is None:
                WITHOUT_ARRAY_FORM[op.name] = op
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
    """Register a function of F that is made of other operations."""
    array = settings.pop("array", None)

    def register(fn: Callable[..., Any]) -> Composite:
        op = Composite(fn, settings)
        OPS[op.name] = op
        setattr(array_face, op.name, array or partial(fn, array_face))
        if array is None:
            WITHOUT_ARRAY_FORM[op.name] = op
        setattr(tensor_face, op.name, partial(op.on_tensors, tensor_face))
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
    """Give an operation a second name wherever its first name is public: multiply for mul, and so multiply_ for mul_."""
    ALIASES[name] = op


# -- methods and functions for Tensor and the public namespaces -----------------------------------------------------------------


@cache
def make_inplace(op: Operation | Composite) -> Callable[..., Any]:
    """Return the in-place form of an operation, as a method: x.add_(y)."""
    inplace = _operation_inplace(op) if isinstance(op, Operation) else _composite_inplace(op)
    inplace.__name__ = op.name + "_"
    inplace.__qualname__ = f"Tensor.{_public_inplace_name(op, op.name)}"
    inplace.__module__ = "wengert"
    inplace.__doc__ = f"In-place form of {op.name}: writes the result into this tensor and returns it."
    inplace.__wrapped__ = InplaceForm(op)  # type: ignore[attr-defined]
    return inplace


def _public_inplace_name(op: Operation | Composite, name: str) -> str:
    """Name of the in-place form as a method. name: of the operation, or its alias."""
    return op.inplace if name == op.name and isinstance(op.inplace, str) else name + "_"


def _check_receiver(op: Operation | Composite, x: Any) -> None:
    """Raise TypeError unless x, on which the in-place form is called, is a tensor."""
    if not isinstance(x, TensorBase):
        raise errors.wrong_receiver(op.name + "_", type(x))


def _operation_inplace(op: Operation) -> Callable[..., Any]:
    if op.rules:
        return make_inplace_method(op)

    def inplace(self: Any, *args: Any, **kwargs: Any) -> Any:
        _check_receiver(op, self)
        if op.promote == COMPARE or self.requires_grad:
            return self.copy_(op.function(self, *args, **kwargs))  # copy_ records that the old value is gone
        try:
            inputs, params = bind(op, (self, *args), kwargs)
            return call_inplace(op, inputs, params if params else None)
        except Exception as error:
            raise_explained(op, (self, *args), kwargs, error)
            raise

    return inplace


def _composite_inplace(op: Composite) -> Callable[..., Any]:
    def inplace(self: Any, *args: Any, **kwargs: Any) -> Any:
        _check_receiver(op, self)
        # If the call is recorded it runs on a copy, because values saved of the input must stay.
        result = op.function(self.clone() if self.requires_grad else self, *args, **kwargs)
        if result.shape != self.shape:
            raise errors.inplace_shape(self.shape, result.shape)
        check_can_write(result._array.dtype, self._array.dtype)
        return self.copy_(result)

    return inplace


def methods(names: Iterable[str] = ()) -> dict[str, Callable[..., Any]]:
    """Return the methods, in-place methods and operators of the operations and aliases of these names, or of all."""
    found: dict[str, Callable[..., Any]] = {}
    for name, op in _entries(names):
        known = name == op.name  # not an alias
        if op.method:
            found[op.method if known and isinstance(op.method, str) else name] = op.function
        if not isinstance(op, Plain) and op.inplace:
            found[_public_inplace_name(op, name)] = make_inplace(op)
        if known and isinstance(op, Operation) and op.operator:
            found.update(_operators(op))
    return found


def _entries(names: Iterable[str]) -> Iterator[tuple[str, Operation | Composite | Plain]]:
    """Yield (name, operation) for the operations and aliases of these names, or for all that are registered."""
    for table in (OPS, ALIASES):
        yield from [(name, table[name]) for name in names if name in table] if names else table.items()


def inplace_functions(namespace: str, names: Iterable[str] = ()) -> dict[str, Callable[..., Any]]:
    """Return the in-place forms in a namespace, of the operations of these names or of all. They are INPLACE_FUNCTIONS."""
    allowed = INPLACE_FUNCTIONS.get(namespace, ())
    found: dict[str, Callable[..., Any]] = {}
    for _, op in _entries(names):
        if isinstance(op, Composite) and namespace in op.namespaces and takes_inplace(op):
            found[op.name + "_"] = _inplace_function(op, namespace)
    if not namespace:
        found.update({name: _receiver_by_name(method) for name, method in methods(names).items() if name in allowed})
    return {name: function for name, function in found.items() if name in allowed}


@cache
def _receiver_by_name(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return an in-place method as a function, whose first argument may be given as input=."""

    def function(*args: Any, **kwargs: Any) -> Any:
        if not args:
            for name in kwargs:
                if SPELLINGS.get(name, name) == "input":
                    return method(kwargs.pop(name), **kwargs)
        return method(*args, **kwargs)

    function.__name__ = function.__qualname__ = method.__qualname__.removeprefix("Tensor.")
    function.__doc__ = method.__doc__
    function.__module__ = "wengert"
    function.__wrapped__ = method.__wrapped__  # type: ignore[attr-defined]
    return function


@cache
def _inplace_function(op: Composite, namespace: str) -> Callable[..., Any]:
    def function(input: Any, *args: Any, **kwargs: Any) -> Any:
        return op.function(input, *args, **kwargs, inplace=True)

    function.__name__ = function.__qualname__ = op.name + "_"
    function.__doc__ = f"In-place form of {op.name}: writes the result into input and returns it."
    function.__module__ = f"wengert.{namespace}" if namespace else "wengert"
    function.__wrapped__ = InplaceForm(op)  # type: ignore[attr-defined]
    return overridable(function)


def takes_inplace(op: Composite) -> bool:
    """Whether a composite has the parameter inplace=."""
    code = own_code(op.fn)
    return "inplace" in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _operators(op: Operation) -> dict[str, Callable[..., Any]]:
    """Return the operator methods of an operation.

    operator="add" gives __add__; for two inputs also __radd__, unless it is a comparison, and __iadd__, if it has an in-place
    form. operator="__rsub__" gives just that one.
    """
    name = op.operator
    if name.startswith("__"):
        return _named_operators({name: make_operator(op, shown(name))})
    if len(op.input_names) == 1:
        return {f"__{name}__": op.function}
    found: dict[str, Callable[..., Any]] = {f"__{name}__": make_operator(op, shown(f"__{name}__"))}
    if op.kind != "nondifferentiable" or op.inplace:
        found[f"__r{name}__"] = make_reflected(op, shown(f"__r{name}__"))
    if op.inplace:
        found[f"__i{name}__"] = make_inplace_operator(op, shown(f"__i{name}__"))
    if name == "truediv":  # Python 2 calls it div
        found |= {method.replace("truediv", "div"): function for method, function in found.items()}
    return _named_operators(found)


def _named_operators(found: dict[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    for method, function in found.items():
        function.__name__ = method
        function.__qualname__ = f"Tensor.{method}"
        function.__module__ = "wengert"
    return found


def prefix_of(namespace: str) -> str:
    """Prefix of the registered names of operations whose public name exists in another namespace too.

    linalg.norm is registered as linalg_norm, beside norm. The package's own dropout is torch_dropout, beside
    nn.functional's.
    """
    return f"{namespace}_" if namespace else "torch_"


def functions(namespace: str, names: Iterable[str] = ()) -> dict[str, Callable[..., Any]]:
    """Return the public functions of a namespace, "" for wengert itself, of the operations of these names or of all."""
    prefix = prefix_of(namespace)
    found = [(n.removeprefix(prefix) if n == op.name else n, op) for n, op in _entries(names) if namespace in op.namespaces]
    return {name: _public_function(op) for name, op in found}


@cache
def _public_function(op: Operation | Composite | Plain) -> Callable[..., Any]:
    """Return the function of an operation that users call. A cheap one is a function of its own: methods need no spellings."""
    if isinstance(op, Plain) and op.name in _CHEAP_NAMES and not isinstance(op.fn, type) and op.second_names:
        if op.method:
            op.function.__qualname__ = f"Tensor.{op.method if isinstance(op.method, str) else op.name}"
        return _named(make_respelled_function(op.function, op.second_names, op.respelled), op)
    return op.function
