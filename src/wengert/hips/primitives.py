"""primitive: functions that are opaque to differentiation, and the rules that programs give them.

A primitive gets the values of its arguments. Its call is one node of the tape. The rules are kept by function, and take what HIPS's
take. vjpmaker(argnums, ans, args, kwargs) gives vjp(g), which gives a cotangent for each of argnums.
jvpmaker(argnums, gs, ans, args, kwargs) gives the tangent. In an ordinary backward pass a rule gets NumPy arrays. If the
derivative is differentiated again, it gets boxes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import reduce, update_wrapper
from itertools import count
from typing import Any

import numpy as np

from wengert.autograd.function import Function
from wengert.core.leaving import has_tangent
from wengert.core.modes import DUAL, flags, grad_enabled
from wengert.core.node import Node, freed_error, make_meta, next_sequence_nr, record_position, set_metas
from wengert.core.saved import INPUT, OUTPUT, save
from wengert.core.saved_hooks import tensor_of
from wengert.core.tensor import TensorBase, gradient_edge
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

    __slots__ = (
        "answer_leaves", "argnums", "arrays", "form", "forms", "function", "handles", "kwargs", "leaves", "tensors", "values",
        "vjp",
    )  # fmt: skip

    def __init__(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.function, self.kwargs = function, kwargs
        argnums: list[int] = []
        self.leaves: list[Any] = []  # of the arguments that are differentiated
        self.forms: list[Any] = []  # the structures of these arguments; None for an argument that is a leaf
        values = []
        for i, x in enumerate(args):
            if is_traced(x):
                argnums.append(i)
                self.forms.append(_flattened(x, self.leaves))
            values.append(value_of(x))
        self.argnums, self.values = tuple(argnums), tuple(values)
        # The tensors that stand for the leaves.
        self.tensors = [
            x if isinstance(x, TensorBase) else x._node.tensor if isinstance(x, Box) else as_tensor(x) for x in self.leaves
        ]
        self.vjp: Any = None

    def run(self) -> Any:
        """Run the function on values. Returns its result."""
        answer = self.function.fun(*self.values, **self.kwargs)
        self.answer_leaves: list[Any] = []
        self.form = _flattened(answer, self.answer_leaves)
        self.handles: list[Any] = []  # for each leaf of the answer: its Handle, or None for an array
        self.arrays: list[np.ndarray] = []  # for each leaf of the answer
        for x in self.answer_leaves:
            is_opaque = type(x) in Box.type_mappings
            self.handles.append(Handle(vspace(x)) if is_opaque else None)
            self.arrays.append(np.zeros(()) if is_opaque else np.asarray(x))
        return answer

    def outputs(self) -> list[Any]:
        """Return a tensor for each leaf of the answer. Its memory is its own: programs may write into boxes."""
        found = []
        for array, x in zip(self.arrays, self.answer_leaves, strict=True):
            own = array_of(array)
            found.append(wrap(own.copy() if own is x else own))
        return found

    def results(self, outputs: Iterable[Any]) -> Any:
        """Return the answer with these tensors on the tape in the places of its leaves."""
        results = []
        for x, handle, output in zip(self.answer_leaves, self.handles, outputs, strict=True):
            if handle is None:
                results.append(boxed(output))
            else:
                handle.tensor = output
                results.append(Box.type_mappings[type(x)](x, 0, handle))
        return _built(results, self.form)

    def arguments(self, tensors: Iterable[Any]) -> tuple[Any, ...]:
        """Return the arguments with these tensors in the places of their leaves."""
        found, given = list(self.values), iter(tensors)
        for i, form in zip(self.argnums, self.forms, strict=True):
            found[i] = _next_tree(given, form)
        return tuple(found)

    def pull_back(self, cts: Iterable[Any], tensors: Callable[[], list[Any]]) -> list[Any]:
        """Run the rule on the cotangents of the leaves of the answer. Returns those of the leaves of the arguments.

        tensors: returns the tensors of the leaves of the arguments and of the answer. It is called if the pass is recorded.
        """
        parts = []
        for handle, ct in zip(self.handles, cts, strict=True):
            if handle is not None:
                parts.append(handle.take())
            else:
                parts.append(boxed(ct.conj() if ct._array.dtype.kind == "c" else ct))
        g = _built(parts, self.form)
        if not grad_enabled():
            return self._cotangents(self.vjp(g))
        found = tensors()
        n = len(self.leaves)
        with inside():
            answer = _built([boxed(t) for t in found[n:]], self.form)
            vjp = primitive_vjps[self.function](self.argnums, answer, self.arguments(found[:n]), self.kwargs)
            return self._cotangents(vjp(g))

    def push_forward(self, tangents: Iterable[Any], tensors: list[Any]) -> tuple[Any, ...]:
        """Run the forward rule on the tangents of the leaves of the arguments. Returns those of the leaves of the answer."""
        n, given = len(self.leaves), iter(tangents)
        gs = [_next_tree(given, form) for form in self.forms]
        answer = _built([boxed(t) for t in tensors[n:]], self.form)
        with inside():
            found = primitive_jvps[self.function](self.argnums, gs, answer, self.arguments(tensors[:n]), self.kwargs)
        leaves: list[Any] = []
        _flattened(found, leaves)
        return tuple([_fitted_tangent(t, x) for t, x in zip(leaves, tensors[n:], strict=True)])

    def _cotangents(self, found: Iterable[Any]) -> list[Any]:
        """Return what a rule gave for the arguments as tensors for the leaves. Values that are no arrays get theirs directly."""
        parts: list[Any] = []
        for ct, form in zip(found, self.forms, strict=True):
            if isinstance(ct, SparseObject):
                ct = ct.mut_add(ct.vs.zeros())
            if form is None:
                parts.append(ct)
            else:
                _flattened(ct, parts)
        result = []
        for leaf, ct in zip(self.leaves, parts, strict=True):
            if isinstance(leaf, Box):
                leaf._node.cotangents.append(ct)
                result.append(_NOTHING)
            else:
                result.append(_fitted(ct, leaf))
        return result


_NOTHING: Any = wrap(np.zeros(()))  # the cotangent on the tape of a value that is no array
_NOTHING._array.flags.writeable = False


def _flattened(x: Any, leaves: list[Any]) -> Any:
    """Add the leaves of a tree to a list. Returns its form, or None for a leaf."""
    if not isinstance(x, (tuple, list, dict)):
        leaves.append(x)
        return None
    found, form = tree_flatten(x)
    leaves += found
    return form


def _built(leaves: list[Any], form: Any) -> Any:
    return leaves[0] if form is None else tree_unflatten(leaves, form)


def _next_tree(tensors: Iterator[Any], form: Any) -> Any:
    """Return the tree of this form, with the next tensors as boxes in it."""
    return _built([boxed(next(tensors)) for _ in range(1 if form is None else form.num_leaves)], form)


def _fitted(ct: Any, leaf: Any) -> Any:
    """Return a cotangent as a tensor of the leaf's shape, in torch's convention for complex numbers."""
    found = as_tensor(ct)
    shape = leaf._array.shape if isinstance(leaf, TensorBase) else np.shape(leaf)
    if found._array.shape != shape:
        found = found.expand(shape)
    return found.conj() if found._array.dtype.kind == "c" else found


def _fitted_tangent(tangent: Any, x: Any) -> Any:
    found = as_tensor(tangent).to(x.dtype)
    return found if found.shape == x.shape else found.expand(x.shape)


class PrimitiveBackward(Node):
    """The node that a call of a primitive leaves in the graph."""

    _call: Any  # the _Call; None once released
    _saved: Any = ()  # the tensors of the leaves of the arguments and of the answer
    _extra: Any = None  # source position of the backward pass that released the node

    def _run(self, cotangents: list[Any], create_graph: bool) -> list[Any]:
        call: _Call = self._call
        if call is None:
            raise freed_error(self)
        cts = [wrap(np.zeros_like(x)) if ct is None else ct for x, ct in zip(call.arrays, cotangents, strict=True)]
        return call.pull_back(cts, lambda: [tensor_of(saved, self) for saved in self._saved])

    def _release(self, position: Any) -> None:
        self._call, self._saved, self._extra = None, (), position


class _DualPrimitive(Function):
    """A primitive of arguments with tangents."""

    @staticmethod
    def forward(ctx: Any, call: _Call, *tensors: Any) -> Any:
        outputs = tuple(call.outputs())
        ctx.call = call
        ctx.save_for_backward(*tensors, *outputs)
        ctx.save_for_forward(*tensors, *outputs)
        return outputs

    @staticmethod
    def backward(ctx: Any, *cts: Any) -> Any:
        return None, *ctx.call.pull_back(cts, lambda: ctx.saved_tensors)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        return ctx.call.push_forward(tangents[1:], ctx.saved_tensors)


def _apply(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a primitive on boxes. Raises NotImplementedError if it lacks the rule that is needed."""
    call = _Call(function, args, kwargs)
    needs_vjp, has_vjp = False, function in primitive_vjps
    if grad_enabled():
        for t in call.tensors:
            needs_vjp = needs_vjp or t._requires_grad
    needs_jvp = flags() & DUAL and any([has_tangent(t) for t in call.tensors])  # noqa: C419  # a list is faster
    if needs_jvp and function not in primitive_jvps:
        raise not_defined("JVP", function, args)
    if needs_vjp and not has_vjp and not needs_jvp:
        raise not_defined("VJP", function, args)
    answer = call.run()
    for array in call.arrays:
        if array.dtype.kind not in "fc":
            return answer  # integers and conditions have no derivative
    if needs_vjp and has_vjp:
        call.vjp = primitive_vjps[function](call.argnums, answer, call.values, kwargs)
    if needs_jvp:
        return call.results(_DualPrimitive.apply(call, *call.tensors))
    outputs = call.outputs()
    if needs_vjp:
        _record(call, outputs)
    return call.results(outputs)


def _record(call: _Call, outputs: list[Any]) -> None:
    """Put a call of a primitive on the tape, between the tensors of its arguments and those of its answer."""
    node = PrimitiveBackward()
    node._call = call
    node._edges = tuple([gradient_edge(t) for t in call.tensors])
    node._seq = next_sequence_nr()
    record_position(node)
    set_metas(node, tuple([make_meta(t._array, t._array.dtype) for t in outputs]))
    for nr, output in enumerate(outputs):
        output._grad_fn, output._output_nr, output._requires_grad = node, nr, True
    inputs = [save(t, t._array, INPUT, i) for i, t in enumerate(call.tensors)]
    node._saved = (*inputs, *[save(t, t._array, OUTPUT, nr) for nr, t in enumerate(outputs)])


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
    primitive_vjps[function] = vjpmaker


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
