"""Function: operations whose forward and backward the user writes."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import errors
from wengert.core.dispatch import VIEW_IN_FUNCTION, VIEW_OF_MANY, spread_volatile
from wengert.core.legacy import is_volatile
from wengert.core.modes import DUAL, PROFILE, flags, grad_enabled, set_recording
from wengert.core.node import (
    Node,
    TensorMeta,
    freed_error,
    holds_arrays,
    make_meta,
    meta_at,
    next_node,
    next_nr,
    next_sequence_nr,
    record_position,
    set_metas,
)
from wengert.core.saved import INPUT, OUTPUT, save
from wengert.core.saved_hooks import tensor_of
from wengert.core.saved_names import SavedTensorHandle
from wengert.core.tensor import TensorBase, ViewInfo, counter_of, gradient_edge, is_differentiable, meta_of, wrap
from wengert.core.views import bump, check_dirty, merge_counters, rebase_history

__all__ = ["BackwardCFunction", "Function", "FunctionCtx", "FunctionMeta", "once_differentiable"]


class FunctionCtx:
    """What forward and backward see as ctx. It is the node itself: any other attribute may be put on it."""

    needs_input_grad: tuple[bool, ...] = ()
    to_save: tuple[Any, ...] = ()
    dirty_tensors: tuple[Any, ...] = ()
    non_differentiable: tuple[Any, ...] = ()
    materialize_grads = True
    saved_for_forward: tuple[Any, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        """Keeps inputs or outputs for backward, which finds them in ctx.saved_tensors. None is allowed."""
        self.to_save = _checked(tensors, errors.save_for_backward_type, or_none=True)

    def save_for_forward(self, *tensors: Any) -> None:
        """Keeps tensors for jvp, which finds them in ctx.saved_tensors."""
        self.saved_for_forward = _checked(tensors, errors.save_for_backward_type, or_none=True)

    def mark_dirty(self, *tensors: Any) -> None:
        """Names the inputs that forward has written in place; it must return them too."""
        self.dirty_tensors = _checked(tensors, functools.partial(errors.mark_type, "mark_dirty"))

    def mark_non_differentiable(self, *outputs: Any) -> None:
        """Names outputs that no gradient flows back through; backward still gets a (zero) gradient for each."""
        self.non_differentiable = _checked(outputs, functools.partial(errors.mark_type, "mark_non_differentiable"))

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Names (input, output) pairs that share memory: from now on a write into one counts for the other.

        Writes that either has seen count for both, too. Views that were made of them before are not reached.
        """
        warnings.warn(errors.mark_shared_storage_deprecated(), stacklevel=2)
        for pair in pairs:
            _checked(tuple(pair), functools.partial(errors.mark_type, "mark_shared_storage"))
        tensors = [tensor for pair in pairs for tensor in pair]
        for source, output in pairs:
            merge_counters(source, output, tensors)

    def set_materialize_grads(self, value: bool) -> None:
        """False: backward gets None, not zeros, for an output without gradient."""
        self.materialize_grads = value


def _checked(
    tensors: tuple[Any, ...], error: Callable[[int, type], Exception], or_none: bool = False
) -> tuple[Any, ...]:
    """tensors, if that is what they all are."""
    for i, tensor in enumerate(tensors):
        if not isinstance(tensor, TensorBase) and not (or_none and tensor is None):
            raise error(i, type(tensor))
    return tensors


class _Fact:
    """A property that an attribute put on the object hides: ctx belongs to the user."""

    def __init__(self, compute: Callable[[Any], Any]) -> None:
        self.compute = compute

    def __get__(self, node: Any, cls: type) -> Any:
        return self if node is None else self.compute(node)


class BackwardCFunction(Node, FunctionCtx):
    """The node that one application of a Function leaves in the graph: backward's ctx."""

    _forward_cls: type[Function]
    _positions: tuple[int, ...] = ()  # of the tensors among apply's arguments; one edge each
    _n_args = 0
    _n_needed = 0  # of them backward must return gradients for so many; numbers given by keyword may be left out
    _outputs: tuple[int, ...] = ()  # positions of the tensors among forward's outputs; one cotangent each
    _n_outputs = 0
    _fixed: tuple[bool, ...] = ()  # which outputs were marked as non-differentiable; () where none was
    _in_jvp: tuple[Any, ...] | None = None  # while jvp runs, what save_for_forward was given
    _extra: Any = None  # where the pass was called that released it
    _taken = False  # what was saved has been handed out for good: see Function.clear_saved_tensors_on_access
    _saved: Any = ()  # what save_for_backward was given, a Saved or None each; None once released

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What forward saved. Raises RuntimeError if it was written in place since, or released by a backward pass."""
        return self._unpacked() if self._in_jvp is None else self._in_jvp

    def _unpacked(self) -> tuple[Any, ...]:
        if self._taken:
            raise errors.saved_tensors_taken()
        tensors = tuple([None if v is None else tensor_of(v, self) for v in self._saved_values()])
        if self._forward_cls.clear_saved_tensors_on_access:
            self._saved, self._taken = (), True
        return tensors

    @property
    def _raw_saved_tensors(self) -> tuple[SavedTensorHandle, ...]:
        """The same, unread: places to put hooks on."""
        return tuple([SavedTensorHandle._of(self, (i,)) for i in range(len(self._saved_values()))])

    def _saved_values(self) -> Any:
        if self._saved is None:
            raise freed_error(self)
        return self._saved

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        """The name that saved_tensors had for tensors with history."""
        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2)
        return self._unpacked()

    def maybe_clear_saved_tensors(self) -> None:
        """Releases what was saved."""
        self._release(None)

    num_inputs = _Fact(lambda node: node._n_args)
    num_outputs = _Fact(lambda node: node._n_outputs)

    def _release(self, position: Any) -> None:
        if self._saved is not None and holds_arrays(self._saved):
            self._saved = None
            self._extra = position

    def apply(self, *grads: Any) -> Any:
        """Calls the Function's backward."""
        backward = _backward_of(self._forward_cls)
        return backward(self, list(grads)) if self._forward_cls.boxed_grads_call else backward(self, *grads)

    __call__ = apply

    def apply_boxed(self, grads: list[Any]) -> Any:
        """The same, given a list."""
        return self.apply(*grads)

    def _run(self, cotangents: list[Any], create_graph: bool) -> list[Any]:
        if self.materialize_grads:
            cotangents = [
                wrap(np.zeros(meta_at(self, nr).shape, meta_at(self, nr).dtype)) if ct is None else ct
                for nr, ct in enumerate(cotangents)
            ]
        arguments: list[Any] = [None] * self._n_outputs
        for i, ct in zip(self._outputs, cotangents, strict=True):
            arguments[i] = ct
        grads = self.apply(*arguments)
        if not isinstance(grads, tuple):
            grads = (grads,)
        return self._per_edge(grads)

    def _per_edge(self, grads: tuple[Any, ...]) -> list[Any]:
        """Checks what backward returned and picks the gradients of the tensor arguments."""
        n = self._n_args
        if len(grads) > n and all(g is None for g in grads[n:]):
            grads = grads[:n]  # more than enough, as long as it says nothing
        elif self._n_needed <= len(grads) < n:
            grads += (None,) * (n - len(grads))
        if len(grads) != n:
            raise errors.gradient_wrong_number(self.name(), n, len(grads))
        for i, g in enumerate(grads):
            if g is not None and not isinstance(g, TensorBase):
                raise errors.gradient_not_a_tensor(type(g))
            if g is not None and i not in self._positions:
                raise errors.gradient_unexpected(self.name(), i + 1)
        gradients = [grads[i] for i in self._positions]
        for position, g in enumerate(gradients):
            if g is not None and g._array.dtype.kind != "f":
                self._check_kind(position, g._array.dtype)
        return gradients

    def _check_kind(self, position: int, dtype: Any) -> None:
        """Raises for a complex gradient of a real tensor, of which the engine would drop a part unasked."""
        behind = next_node(self, position)
        if behind is not None:
            expected = meta_at(behind, next_nr(self, position)).dtype
            if (dtype.kind == "c") != (expected.kind == "c") and dtype.kind in "cbui":
                raise errors.invalid_gradient_dtype(self.name(), position, dtype, expected)


def _backward_of(cls: type[Function]) -> Callable[..., Any]:
    """The Function's backward, or its other name vjp."""
    has_backward = cls.backward is not Function.backward
    has_vjp = cls.vjp is not Function.vjp
    if has_backward and has_vjp:
        raise RuntimeError(
            "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement "
            "one of them."
        )
    return cls.vjp if has_vjp else cls.backward


class FunctionMeta(type):
    """Gives every Function the class of its nodes: ExpBackward for Exp."""

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        super().__init__(name, bases, namespace)
        cls._forward_cls = cls  # of an instance that is its own node
        cls._backward_cls = type(
            name + "Backward", (BackwardCFunction,), {"_forward_cls": cls, "__module__": "torch.autograd.function"}
        )


class Function(BackwardCFunction, metaclass=FunctionMeta):
    """Base class of operations with a derivative of the user's own: write forward and backward, call apply.

    >>> import wengert
    >>> class Exp(wengert.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         result = x.exp()
    ...         ctx.save_for_backward(result)
    ...         return result
    ...     @staticmethod
    ...     def backward(ctx, grad_output):
    ...         (result,) = ctx.saved_tensors
    ...         return grad_output * result
    >>> x = wengert.zeros(2, requires_grad=True)
    >>> Exp.apply(x).sum().backward()
    >>> x.grad
    tensor([1., 1.])
    """

    _backward_cls: type[BackwardCFunction]
    generate_vmap_rule = False
    boxed_grads_call = False  # True: backward(ctx, grads) gets one list, out of which it may take the gradients
    clear_saved_tensors_on_access = False  # True: ctx.saved_tensors can be read once, and then only its reader holds them

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """forward(ctx, *args), or forward(*args) beside a setup_context. Unrecorded; returns a tensor or a tuple."""
        raise errors.no_forward()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Saves what backward needs, where forward takes no ctx."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Returns one gradient (or None) for each argument of forward, given one for each output."""
        raise errors.no_backward()

    @staticmethod
    def vjp(ctx: Any, *grad_outputs: Any) -> Any:
        """Another name for backward."""
        raise errors.no_backward()

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        """The forward-mode derivative."""
        raise errors.no_jvp()

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """The rule for vmap."""
        raise errors.no_vmap()

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Runs forward on args and records the application, if any tensor among them requires grad."""
        if flags() & DUAL:
            from wengert.autograd.function_jvp import apply_dual

            return apply_dual(cls, args, kwargs)
        ctx = cls._backward_cls()
        result = cls._applied(ctx, args, kwargs)
        ctx.__dict__.pop("saved_for_forward", None)  # as in _attach_outputs
        return result

    @classmethod
    def _applied(cls, ctx: BackwardCFunction, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """apply, with a new ctx."""
        has_setup = cls.setup_context is not Function.setup_context
        if has_setup:
            args, kwargs = _with_defaults(cls.forward, args, kwargs)
        inputs = (*args, *kwargs.values())
        ctx.needs_input_grad = tuple([isinstance(a, TensorBase) and a.requires_grad for a in inputs])
        ctx._positions = tuple([i for i, a in enumerate(inputs) if isinstance(a, TensorBase)])
        ctx._n_args = len(inputs)
        ctx._n_needed = max(len(args), ctx._positions[-1] + 1 if ctx._positions else 0)
        recording = grad_enabled() and any(ctx.needs_input_grad)
        if recording:
            ctx._edges = tuple([gradient_edge(inputs[i]) for i in ctx._positions])
        volatile = any(is_volatile(a) for a in inputs)
        recording = recording and not volatile
        block = _forward_block(cls)
        with block:
            if has_setup:
                output = cls.forward(*args, **kwargs)
                cls.setup_context(ctx, inputs, output)
            else:
                output = cls.forward(ctx, *args, **kwargs)
        single = not isinstance(output, tuple)
        outputs = (output,) if single else output
        if recording:
            ctx._seq = next_sequence_nr()
            record_position(ctx)
            if block.__class__ is not set_recording:
                block.name_node(ctx)
        results = _attach_outputs(ctx, inputs, outputs, recording)
        if volatile:
            spread_volatile(inputs, tuple([r for r in results if isinstance(r, TensorBase)]))
        return results[0] if single else tuple(results)

    # An instance is what torch 0.1 to 0.3 called, and its own node: Scale(2)(x). See legacy_function.py.

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs forward on args, where that is no static method. Use apply in new code."""
        if kwargs or isinstance(_static_attribute(type(self), "forward"), staticmethod):
            raise errors.static_function_called()
        from wengert.autograd.legacy_function import call_instance

        return call_instance(self, args)

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What forward saved, without history. RuntimeError if it was written since, or released by a pass."""
        return tuple([None if t is None else t.detach() for t in self._unpacked()])

    def _run(self, cotangents: list[Any], create_graph: bool) -> list[Any]:
        from wengert.autograd.legacy_function import run_instance

        return run_instance(self, cotangents, create_graph)


def _forward_block(cls: type[Function]) -> Any:
    """In what block a Function's forward runs: unrecorded, and measured where a profiler is on."""
    if flags() & PROFILE:
        from wengert.core.recorder import measured_forward

        return measured_forward(cls.__name__)
    return set_recording(False)


def _static_attribute(cls: type, name: str) -> Any:
    """A class attribute as it was written: a static method is one."""
    return next((base.__dict__[name] for base in cls.__mro__ if name in base.__dict__), None)


def _with_defaults(
    forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """All arguments of a call of forward, with its defaults; by position where they can be."""
    code = getattr(forward, "__code__", None)
    if code is not None and not kwargs and len(args) == code.co_argcount and not code.co_kwonlyargcount:
        return args, kwargs
    from inspect import signature

    bound = signature(forward).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args, bound.kwargs


def _attach_outputs(
    ctx: BackwardCFunction, arguments: tuple[Any, ...], outputs: tuple[Any, ...], recording: bool
) -> list[Any]:
    """Puts forward's tensors on the node, keeps what is to be saved, and returns what apply returns."""
    inputs = [arguments[i] for i in ctx._positions]
    for tensor in ctx.dirty_tensors:
        _mark_written(ctx, tensor, inputs, outputs, recording)
    ctx._outputs = tuple([i for i, o in enumerate(outputs) if isinstance(o, TensorBase)])
    fixed = {id(t) for t in ctx.non_differentiable}
    if fixed:
        ctx._fixed = tuple([id(o) in fixed for o in outputs])
    results: list[Any] = []
    metas = []
    seen: dict[int, int] = {}
    for o in outputs:
        if not isinstance(o, TensorBase):
            results.append(o)
            continue
        metas.append(make_meta(o._array.shape, o._array.dtype))
        differentiable = recording and id(o) not in fixed and is_differentiable(o._array)
        result = _attach_output(ctx, o, len(metas) - 1, inputs, differentiable, id(o) in seen)
        seen.setdefault(id(o), len(metas) - 1)
        results.append(result)
    to_save = ctx.to_save
    for name in ("to_save", "dirty_tensors", "non_differentiable"):
        ctx.__dict__.pop(name, None)  # the tensors themselves must not be kept: an output would hold its own node
    if recording:
        set_metas(ctx, tuple(metas))
        ctx._n_outputs = len(outputs)
        ctx._saved = tuple([_saved(ctx, t, inputs, seen) for t in to_save])  # last: hooks on saving may raise
    return results


def _mark_written(
    ctx: BackwardCFunction, tensor: Any, inputs: list[Any], outputs: tuple[Any, ...], recording: bool
) -> None:
    """Checks that an input may be, and is properly, written in place; counts the write."""
    if not any(tensor is o for o in outputs):
        raise errors.dirty_not_returned()
    bump(tensor)  # first: forward has written it, whatever is wrong with that
    if recording:
        check_dirty(tensor)
    if recording and tensor._is_view():
        if len(outputs) > 1:
            raise errors.dirty_view_of_many()
        # The write's node becomes part of the base's, which takes the written input to be the first.
        for i, t in enumerate(inputs):
            if t is tensor:
                inputs.insert(0, inputs.pop(i))
                for name in ("_edges", "_positions"):
                    order = list(getattr(ctx, name))
                    order.insert(0, order.pop(i))
                    setattr(ctx, name, tuple(order))


def _attach_output(
    ctx: BackwardCFunction, output: Any, nr: int, inputs: list[Any], differentiable: bool, again: bool
) -> Any:
    """One output of forward as apply returns it."""
    if any(output is t for t in ctx.dirty_tensors):
        if differentiable:
            rebase_history(output, ctx, nr)
        elif output._view is None and any(output is t for t in ctx.non_differentiable):
            output.detach_()
        return output
    is_input = again or any(output is t for t in inputs)
    if is_input or output._grad_fn is not None or output._requires_grad:
        # An input as it is, or a tensor with a history of its own: the result is another tensor of that memory.
        source = output
        counter = counter_of(source)
        output = wrap(source._array)
        output._counter = counter
        if is_input and (differentiable or (not again and grad_enabled())):
            base = source if source._view is None else source._view.base
            output._view = ViewInfo(base, counter.value, VIEW_IN_FUNCTION)
    if differentiable:
        output._grad_fn = ctx
        output._output_nr = nr
        output._requires_grad = True
    if output._view is not None and grad_enabled():
        several = differentiable and len(ctx._outputs) > 1
        output._view.creation = VIEW_OF_MANY if several else VIEW_IN_FUNCTION
    return output


def _saved(ctx: BackwardCFunction, tensor: Any, inputs: list[Any], outputs: dict[int, int]) -> Any:
    """How a tensor given to save_for_backward is kept: as an output or input of the node, or on its own."""
    if tensor is None:
        return None
    if id(tensor) in outputs and not any(tensor is t for t in inputs):
        return save(tensor, tensor._array, OUTPUT, outputs[id(tensor)])
    for i, t in enumerate(inputs):
        if t is tensor:
            if id(tensor) in outputs:  # written in place and returned: its value is the output's
                return save(tensor, tensor._array, OUTPUT, outputs[id(tensor)])
            return save(tensor, tensor._array, INPUT, i)
    return save(tensor, tensor._array, INPUT, len(ctx._edges))


class _TwiceError(Node):
    """The node of a result that must not be differentiated. _error: what that raises."""

    _error: Exception

    def name(self) -> str:
        return "Error"

    def _run(self, cotangents: list[Any], create_graph: bool) -> list[Any]:
        raise self._error


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a backward that uses more than recorded operations: differentiating its result again is an error."""

    @functools.wraps(backward)
    def wrapper(ctx: Any, *grads: Any) -> Any:
        with set_recording(False):
            results = backward(ctx, *grads)
        requires_grad = any(isinstance(g, TensorBase) and g.requires_grad for g in grads)
        if not grad_enabled() or not requires_grad:
            return results
        single = not isinstance(results, tuple)
        marked = forbid_differentiation((results,) if single else results, grads, errors.differentiated_twice())
        return marked[0] if single else marked

    return wrapper


def forbid_differentiation(results: tuple[Any, ...], grads: tuple[Any, ...], error: Exception) -> tuple[Any, ...]:
    """The results of a backward, on a node that raises error, between them and the gradients they came from."""
    node = _TwiceError()
    node._error = error
    node._seq = next_sequence_nr()
    node._edges = tuple([gradient_edge(g) for g in grads if isinstance(g, TensorBase) and g.requires_grad])
    marked: list[Any] = []
    metas: list[TensorMeta] = []
    for r in results:
        if isinstance(r, TensorBase) and is_differentiable(r._array):
            r = r.detach()  # type: ignore[attr-defined]  # a TensorBase is a Tensor
            r._grad_fn, r._output_nr, r._requires_grad = node, len(metas), True
            metas.append(meta_of(r))
        marked.append(r)
    set_metas(node, tuple(metas))
    return tuple(marked)


def __getattr__(name: str) -> Any:
    if name in ("InplaceFunction", "NestedIOFunction"):  # they have a module of their own, which needs this one
        from wengert.autograd import legacy_function

        return getattr(legacy_function, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
