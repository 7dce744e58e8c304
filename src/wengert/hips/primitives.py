"""primitive: functions that are opaque to differentiation, and the rules that programs give them.

A primitive gets the values of its arguments. Its call is one node of the tape. The rules are kept by function, and take what HIPS's
take. vjpmaker(argnums, ans, args, kwargs) gives vjp(g), which gives a cotangent for each of argnums.
jvpmaker(argnums, gs, ans, args, kwargs) gives the tangent. In an ordinary backward pass a rule gets NumPy arrays. If the
derivative is differentiated again, it gets boxes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from functools import reduce, update_wrapper
from itertools import count
from typing import Any

import numpy as np

from wengert.autograd.function import Function
from wengert.core.leaving import has_tangent
from wengert.core.modes import grad_enabled
from wengert.core.tensor import TensorBase
from wengert.hips.boxes import Box, boxed, is_traced, value_of
from wengert.hips.doors import not_defined
from wengert.hips.tape import Handle, array_of, as_tensor, inside, wrap
from wengert.hips.traces import is_recorded, record
from wengert.hips.vspaces import vspace
from wengert.utils._pytree import tree_flatten, tree_map, tree_unflatten

primitive_vjps: dict[Any, Callable[..., Any]] = {}
primitive_jvps: dict[Any, Callable[..., Any]] = {}


# -- calls ---------------------------------------------------------------------------------------------------------------------


def primitive(function: Callable[..., Any]) -> Any:
    """Return the function as one that differentiation does not look into. Its rules are given by defvjp and defjvp.

    The function gets NumPy arrays and numbers; it may do with them whatever Python can do. Arguments and results may be
    containers. Arguments by name are handed on as they are, and have no derivative.
    """

    def run(*args: Any, **kwargs: Any) -> Any:
        if not is_traced(args):
            return function(*args, **kwargs)
        if is_recorded(args):
            return record(run, args, kwargs)
        return _apply(run, args, kwargs)

    update_wrapper(run, function)
    run.fun = function  # type: ignore[attr-defined]
    run.defvjp = _old_defvjp(run)  # type: ignore[attr-defined]
    run.defvjp_is_zero = _old_defvjp_is_zero(run)  # type: ignore[attr-defined]
    run.defgrad = _old_defgrad(run)  # type: ignore[attr-defined]
    return run


class _Call:
    """A call of a primitive: the function, its arguments as trees, and its result."""

    def __init__(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.function, self.kwargs = function, kwargs
        self.argnums = tuple([i for i, x in enumerate(args) if is_traced(x)])
        trees = [tree_flatten(args[i]) for i in self.argnums]
        self.forms = [form for _, form in trees]
        self.leaves = [leaf for leaves, _ in trees for leaf in leaves]
        self.values = value_of(args)
        self.answer: Any = None
        self.form: Any = None  # of the answer
        self.handles: list[Any] = []  # for each leaf of the answer: its Handle, or None for an array
        self.vjp: Any = None

    def tensors(self) -> list[Any]:
        """Return the tensors that stand for the leaves of the arguments that are differentiated."""
        return [leaf._node.tensor if isinstance(leaf, Box) else as_tensor(leaf) for leaf in self.leaves]

    def boxed_args(self, tensors: list[Any]) -> tuple[Any, ...]:
        """Return the arguments with these tensors in the places of their leaves."""
        found, given = list(self.values), iter(tensors)
        for i, form in zip(self.argnums, self.forms, strict=True):
            found[i] = tree_unflatten([boxed(next(given)) for _ in range(form.num_leaves)], form)
        return tuple(found)

    def cotangents(self, found: Iterable[Any]) -> list[Any]:
        """Return what a rule gave for the arguments as tensors for the leaves. Values that are no arrays get theirs directly."""
        parts = [x for ct, form in zip(found, self.forms, strict=True) for x in ([ct] if form.is_leaf() else tree_flatten(ct)[0])]
        result = []
        for leaf, ct in zip(self.leaves, parts, strict=True):
            if isinstance(leaf, Box):
                leaf._node.cotangents.append(ct)
                result.append(wrap(np.zeros(())))
            else:
                result.append(_fitted(ct, leaf))
        return result


def _fitted(ct: Any, leaf: Any) -> Any:
    """Return a cotangent as a tensor of the leaf's shape, in torch's convention for complex numbers."""
    found = as_tensor(ct)
    shape = np.shape(value_of(leaf))
    if tuple(found.shape) != shape:
        found = found.expand(shape)
    return found.conj() if found.is_complex() else found


class _Primitive(Function):
    """The node of a primitive."""

    @staticmethod
    def forward(ctx: Any, call: _Call, *tensors: Any) -> Any:
        results, outputs = tree_flatten(call.answer)[0], []
        for x in results:
            opaque = type(x) in Box.type_mappings
            call.handles.append(Handle(vspace(x), tensor=None) if opaque else None)
            outputs.append(wrap(np.zeros(()) if opaque else array_of(x).copy()))
        ctx.call = call
        ctx.save_for_backward(*tensors, *outputs)
        ctx.save_for_forward(*tensors, *outputs)
        return tuple(outputs)

    @staticmethod
    def backward(ctx: Any, *cts: Any) -> Any:
        call: _Call = ctx.call
        parts = []
        for handle, ct in zip(call.handles, cts, strict=True):
            ct = ct.conj() if ct.is_complex() else ct
            parts.append(boxed(ct) if handle is None else handle.take())
        g = tree_unflatten(parts, call.form)
        if not grad_enabled():
            return None, *call.cotangents(call.vjp(g))
        tensors = ctx.saved_tensors
        n = len(call.leaves)
        with inside():
            answer = tree_unflatten([boxed(t) for t in tensors[n:]], call.form)
            vjp = primitive_vjps[call.function](call.argnums, answer, call.boxed_args(tensors[:n]), call.kwargs)
            return None, *call.cotangents(vjp(g))

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        call: _Call = ctx.call
        tensors = ctx.saved_tensors
        n = len(call.leaves)
        given = iter(tangents[1:])
        gs = [tree_unflatten([boxed(next(given)) for _ in range(form.num_leaves)], form) for form in call.forms]
        answer = tree_unflatten([boxed(t) for t in tensors[n:]], call.form)
        with inside():
            found = primitive_jvps[call.function](call.argnums, gs, answer, call.boxed_args(tensors[:n]), call.kwargs)
        return tuple([_fitted_tangent(t, x) for t, x in zip(tree_flatten(found)[0], tensors[n:], strict=True)])


def _fitted_tangent(tangent: Any, x: Any) -> Any:
    found = as_tensor(tangent).to(x.dtype)
    return found if found.shape == x.shape else found.expand(x.shape)


def _apply(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a primitive on boxes. Raises NotImplementedError if it lacks the rule that is needed."""
    call = _Call(function, args, kwargs)
    tensors = call.tensors()
    needs_vjp = grad_enabled() and any([t.requires_grad for t in tensors])  # noqa: C419  # a list is faster
    needs_jvp = any([has_tangent(t) for t in tensors])  # noqa: C419
    if needs_jvp and function not in primitive_jvps:
        raise not_defined("JVP", function, args)
    if needs_vjp and function not in primitive_vjps and not needs_jvp:
        raise not_defined("VJP", function, args)
    answer = call.answer = function.fun(*call.values, **kwargs)
    leaves, call.form = tree_flatten(answer)
    for x in leaves:
        if type(x) not in Box.type_mappings and np.asarray(x).dtype.kind not in "fc":
            return answer  # integers and conditions have no derivative
    if needs_vjp and function in primitive_vjps:
        call.vjp = primitive_vjps[function](call.argnums, answer, call.values, kwargs)
    outputs = _Primitive.apply(call, *tensors)
    results = []
    for x, handle, output in zip(leaves, call.handles, outputs, strict=True):
        if handle is None:
            results.append(boxed(output))
        else:
            handle.tensor = output
            results.append(Box.type_mappings[type(x)](x, 0, handle))
    return tree_unflatten(results, call.form)


def notrace_primitive(function: Callable[..., Any]) -> Any:
    """Return the function as one that gets the values of its arguments, and whose results have no history."""

    def run(*args: Any, **kwargs: Any) -> Any:
        return function(*[value_of(x) for x in args], **kwargs)

    update_wrapper(run, function)
    return run


def register_notrace(trace_type: Any, function: Any) -> None:
    """Say that the results of a primitive are constant: it gets the values of its arguments. trace_type: VJPNode or JVPNode."""
    if trace_type is VJPNode:
        primitive_vjps[function] = lambda argnums, ans, args, kwargs: lambda g: [vspace(args[i]).zeros() for i in argnums]
    else:
        primitive_jvps[function] = lambda argnums, gs, ans, args, kwargs: vspace(ans).zeros()


class VJPNode:
    """Names reverse mode for register_notrace."""


class JVPNode:
    """Names forward mode for register_notrace."""


class SparseObject:
    """A cotangent that is added by a function of the program: mut_add(x) adds it to x, an array of the space vs."""

    __slots__ = ("mut_add", "vs")

    def __init__(self, vs: Any, mut_add: Callable[[Any], Any]) -> None:
        self.vs, self.mut_add = vs, mut_add


# -- rules ---------------------------------------------------------------------------------------------------------------------


def defvjp_argnums(function: Any, vjpmaker: Callable[..., Any]) -> None:
    """Give a primitive the rule vjpmaker(argnums, ans, args, kwargs), which returns vjp(g): a cotangent for each argnum."""

    def maker(*call: Any) -> Callable[[Any], Any]:
        vjp = vjpmaker(*call)
        return lambda g: [_dense(ct) for ct in vjp(g)]

    primitive_vjps[function] = maker


def _dense(ct: Any) -> Any:
    return ct.mut_add(ct.vs.zeros()) if isinstance(ct, SparseObject) else ct


def defvjp_argnum(function: Any, vjpmaker: Callable[..., Any]) -> None:
    """Give a primitive the rule vjpmaker(argnum, ans, args, kwargs), which returns vjp(g): the cotangent of the argument."""

    def maker(argnums: Any, *call: Any) -> Callable[[Any], Any]:
        vjps = [vjpmaker(argnum, *call) for argnum in argnums]
        return lambda g: [vjp(g) for vjp in vjps]

    defvjp_argnums(function, maker)


def defvjp(function: Any, *vjpmakers: Any, argnums: Iterable[int] | None = None) -> None:
    """Give a primitive a rule for each argument: vjpmaker(ans, *args, **kwargs), which returns vjp(g).

    None says that the derivative is zero. argnums: the arguments that the rules are for; by default the first ones. An argument
    without a rule raises NotImplementedError when it is differentiated.
    """
    for maker in vjpmakers:
        if maker is not None and not callable(maker):
            raise TypeError(f"Bad VJP '{maker}' for '{function.__name__}'")
    makers = dict(zip(count() if argnums is None else argnums, vjpmakers))

    def maker_of(argnum: int, args: tuple[Any, ...]) -> Any:
        if argnum not in makers:
            raise NotImplementedError(f"VJP of {function.__name__} wrt argnums ({argnum},) not defined")
        return makers[argnum] or (lambda ans, *args, **kwargs: lambda g: vspace(args[argnum]).zeros())

    def rule(argnums: Any, ans: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[[Any], Any]:
        vjps = [maker_of(argnum, args)(ans, *args, **kwargs) for argnum in argnums]
        return lambda g: [vjp(g) for vjp in vjps]

    defvjp_argnums(function, rule)


def defjvp_argnums(function: Any, jvpmaker: Callable[..., Any]) -> None:
    """Give a primitive the rule jvpmaker(argnums, gs, ans, args, kwargs), which returns the tangent of the result."""
    primitive_jvps[function] = jvpmaker


def defjvp_argnum(function: Any, jvpmaker: Callable[..., Any]) -> None:
    """Give a primitive the rule jvpmaker(argnum, g, ans, args, kwargs): the part of the tangent that one argument gives."""

    def rule(argnums: Any, gs: Any, ans: Any, args: Any, kwargs: Any) -> Any:
        return _sum([jvpmaker(argnum, g, ans, args, kwargs) for argnum, g in zip(argnums, gs, strict=True)])

    defjvp_argnums(function, rule)


def defjvp(function: Any, *jvpmakers: Any, argnums: Iterable[int] | None = None) -> None:
    """Give a primitive a rule for each argument: jvp(g, ans, *args, **kwargs). None: zero; "same": linear in the argument."""
    for maker in jvpmakers:
        if not (maker is None or maker == "same" or callable(maker)):
            raise TypeError(f"Bad JVP '{maker}' for '{function.__name__}'")
    makers = dict(zip(count() if argnums is None else argnums, jvpmakers))

    def rule(argnum: int, g: Any, ans: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if argnum not in makers:
            raise NotImplementedError(f"JVP of {function.__name__} wrt argnums ({argnum},) not defined")
        maker = makers[argnum]
        if maker is None:
            return vspace(ans).zeros()
        if maker == "same":
            return function(*args[:argnum], g, *args[argnum + 1 :], **kwargs)
        return maker(g, ans, *args, **kwargs)

    defjvp_argnum(function, rule)


def def_linear(function: Any) -> None:
    """Say that a primitive is linear in each of its arguments, which gives it the forward rule."""
    defjvp_argnum(function, lambda argnum, g, ans, args, kwargs: function(*args[:argnum], g, *args[argnum + 1 :], **kwargs))


def _sum(parts: list[Any]) -> Any:
    return reduce(lambda x, y: tree_map(lambda a, b: a + b, x, y), parts)


# -- rules as programs of HIPS before 1.2 give them ----------------------------------------------------------------------------


def _warn(name: str) -> None:
    warnings.warn(f"The {name} method is deprecated. Use wengert.hips.extend.defvjp.", stacklevel=3)


def _old_defvjp(function: Any) -> Callable[..., None]:
    rules: dict[int, Any] = {}

    def defvjp_method(rule: Any, argnum: int = 0) -> None:
        _warn("defvjp")
        rules[argnum] = lambda ans, *args, **kwargs: lambda g: rule(g, ans, vspace(args[argnum]), vspace(g), *args, **kwargs)
        defvjp(function, *rules.values(), argnums=rules.keys())

    return defvjp_method


def _old_defvjp_is_zero(function: Any) -> Callable[..., None]:
    def defvjp_is_zero(argnums: Iterable[int] = (0,)) -> None:
        _warn("defvjp_is_zero")
        numbers = tuple(argnums)
        defvjp(function, *[None] * len(numbers), argnums=numbers)

    return defvjp_is_zero


def _old_defgrad(function: Any) -> Callable[..., None]:
    rules: dict[int, Any] = {}

    def defgrad(rule: Any, argnum: int = 0) -> None:
        _warn("defgrad")
        rules[argnum] = rule
        defvjp(function, *rules.values(), argnums=rules.keys())

    return defgrad


def is_box(x: Any) -> bool:
    """Whether x is a value under differentiation or in a trace."""
    return isinstance(x, Box) or (isinstance(x, TensorBase) and is_traced(x))
