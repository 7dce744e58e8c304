"""The node that a custom Function leaves in the graph: ctx, the outputs put on it, and results that forbid a second derivative."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from wengert import errors
from wengert.backends.selection import new_on, others
from wengert.core.delivery import placed_gradient
from wengert.core.dispatch import VIEW_IN_FUNCTION, VIEW_OF_MANY
from wengert.core.modes import grad_enabled, set_recording
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
    set_metas,
)
from wengert.core.saved import INPUT, OUTPUT, save
from wengert.core.saved_hooks import tensor_of
from wengert.core.saved_names import SavedTensorHandle
from wengert.core.tensor import TensorBase, ViewInfo, counter_of, gradient_edge, is_differentiable, meta_of, wrap
from wengert.core.views import bump, check_dirty, merge_counters, rebase_history

if TYPE_CHECKING:
    from wengert.tensor import Tensor


class FunctionCtx:
    """The ctx of forward and backward. It is the node itself, and users may put any other attribute on it."""

    __module__ = "wengert.autograd.function"  # users import it from there, as in torch

    needs_input_grad: tuple[bool, ...] = ()
    to_save: tuple[Any, ...] = ()
    dirty_tensors: tuple[Any, ...] = ()
    non_differentiable: tuple[Any, ...] = ()
    materialize_grads = True
    saved_for_forward: tuple[Any, ...] = ()

    if TYPE_CHECKING:  # the node has these
        @property
        def saved_tensors(self) -> tuple[Tensor, ...]: ...

        def __getattr__(self, name: str) -> Any: ...

        def __setattr__(self, name: str, value: Any) -> None: ...

    def save_for_backward(self, *tensors: Any) -> None:
        """Save inputs or outputs for backward, which reads them from ctx.saved_tensors. None is allowed."""
        self.to_save = _checked("save_for_backward can only save", tensors, or_none=True)

    def save_for_forward(self, *tensors: Any) -> None:
        """Save tensors for jvp, which reads them from ctx.saved_tensors."""
        self.saved_for_forward = _checked("save_for_backward can only save", tensors, or_none=True)

    def mark_dirty(self, *tensors: Any) -> None:
        """Declare the inputs that forward has written in place. Forward must return them too."""
        self.dirty_tensors = _checked("mark_dirty can only accept", tensors)

    def mark_non_differentiable(self, *outputs: Any) -> None:
        """Declare the outputs that no gradient flows through. Backward still gets a (zero) gradient for each."""
        self.non_differentiable = _checked("mark_non_differentiable can only accept", outputs)

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Declare (input, output) pairs that share memory: from now on a write into one counts for the other.

        Earlier writes into either tensor count for both. Views that were made of them before are not updated.
        """
        warnings.warn(
            "`mark_shared_storage` is deprecated. Tensors with shared storages are automatically tracked. Hint: needed "
            "only where forward shares memory by a way around tensors, such as a NumPy array.",
            FutureWarning, stacklevel=2,
        )
        for pair in pairs:
            _checked("mark_shared_storage can only accept", tuple(pair))
        tensors = [tensor for pair in pairs for tensor in pair]
        for source, output in pairs:
            merge_counters(source, output, tensors)

    def set_materialize_grads(self, value: bool) -> None:
        """Choose what backward gets for an output without gradient: zeros if value is True, None if it is False."""
        self.materialize_grads = value


def _checked(rule: str, tensors: tuple[Any, ...], or_none: bool = False) -> tuple[Any, ...]:
    """Return tensors, if all of them are tensors. Raise error(position, type) for the first that is not."""
    for i, tensor in enumerate(tensors):
        if not isinstance(tensor, TensorBase) and not (or_none and tensor is None):
            raise errors.FunctionTypeError(f"{rule} variables, but argument {i} is of type {type(tensor).__name__}")
    return tensors


class _ShadowableProperty:
    """A property that the user may hide with an attribute of the same name: ctx belongs to the user."""

    def __init__(self, compute: Callable[[Any], Any]) -> None:
        self.compute = compute

    def __get__(self, node: Any, cls: type) -> Any:
        return self if node is None else self.compute(node)


class BackwardCFunction(Node, FunctionCtx):
    """The node that one application of a Function leaves in the graph. It is the ctx of that application."""

    __module__ = "wengert.autograd.function"
    _forward_cls: Any  # the Function
    _positions: tuple[int, ...] = ()  # positions of the tensors among the arguments of apply; each has one edge
    _n_args = 0  # the number of arguments of apply
    _n_needed = 0  # backward must return at least so many gradients; trailing arguments that are no tensors may be left out
    _outputs: tuple[int, ...] = ()  # positions of the tensors among forward's outputs; each has one cotangent
    _n_outputs = 0  # the number of forward's outputs
    _fixed: tuple[bool, ...] = ()  # for each output, whether it was marked as non-differentiable; () if none was
    _in_jvp: tuple[Any, ...] | None = None  # the arguments of save_for_forward while jvp runs, else None
    _extra: Any = None  # source position of the backward pass that released the node
    _taken = False  # True once saved_tensors has given its references away: see Function.clear_saved_tensors_on_access
    _saved: Any = ()  # the arguments of save_for_backward, each a Saved or None; None once released

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors that forward saved. Raises RuntimeError if one was written since, or a backward pass released them."""
        return self._unpacked() if self._in_jvp is None else self._in_jvp

    def _unpacked(self) -> tuple[Any, ...]:
        if self._taken:
            raise errors.GraphFreedError(
                "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is set on the "
                "autograd.Function. Either access saved_tensors only once, or set clear_saved_tensors_on_access=False."
            )
        tensors = tuple([None if v is None else tensor_of(v, self) for v in self._saved_values()])
        if self._forward_cls.clear_saved_tensors_on_access:
            self._saved, self._taken = (), True
        return tensors

    @property
    def _raw_saved_tensors(self) -> tuple[SavedTensorHandle, ...]:
        """A handle for each saved tensor, on which hooks can be registered. The tensor itself is not unpacked."""
        return tuple([SavedTensorHandle._of(self, (i,)) for i in range(len(self._saved_values()))])

    def _saved_values(self) -> Any:
        if self._saved is None:
            raise freed_error(self)
        return self._saved

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        """saved_tensors, under its deprecated name."""
        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2)
        return self._unpacked()

    def maybe_clear_saved_tensors(self) -> None:
        """Release the saved tensors."""
        self._release(None)

    num_inputs = _ShadowableProperty(lambda node: node._n_args)
    num_outputs = _ShadowableProperty(lambda node: node._n_outputs)

    def _release(self, position: Any) -> None:
        if self._saved is not None and holds_arrays(self._saved):
            self._saved = None
            self._extra = position

    def apply(self, *grads: Any) -> Any:
        """Call the Function's backward with one gradient for each output."""
        backward = self._forward_cls._find_backward()
        return backward(self, list(grads)) if self._forward_cls.boxed_grads_call else backward(self, *grads)

    __call__ = apply

    def apply_boxed(self, grads: list[Any]) -> Any:
        """Call the Function's backward with a list of gradients."""
        return self.apply(*grads)

    def _run(self, cotangents: list[Any], create_graph: bool) -> list[Any]:
        if self.materialize_grads:
            cotangents = [self._zeros(nr) if ct is None else ct for nr, ct in enumerate(cotangents)]
        arguments: list[Any] = [None] * self._n_outputs
        for i, ct in zip(self._outputs, cotangents, strict=True):
            arguments[i] = ct
        grads = self.apply(*arguments)
        if not isinstance(grads, tuple):
            grads = (grads,)
        return self._per_edge(grads)

    def _zeros(self, nr: int) -> Any:
        """Return the cotangent of an output that got none."""
        meta = meta_at(self, nr)
        return wrap(new_on(meta.place, "zeros", meta.shape, meta.dtype))

    def _per_edge(self, grads: tuple[Any, ...]) -> list[Any]:
        """Check the gradients that backward returned, and return those of the tensor arguments."""
        n = self._n_args
        if len(grads) > n and all(g is None for g in grads[n:]):
            grads = grads[:n]  # surplus entries are allowed if all of them are None
        elif self._n_needed <= len(grads) < n:
            grads += (None,) * (n - len(grads))
        if len(grads) != n:
            raise errors.FunctionError(
                f"function {self.name()} returned an incorrect number of gradients (expected {n}, got {len(grads)})"
            )
        for i, g in enumerate(grads):
            if g is not None and not isinstance(g, TensorBase):
                raise errors.FunctionError(f"expected Variable or None (got {type(g).__name__})")
            if g is not None and i not in self._positions:
                raise errors.FunctionError(
                    f"function {self.name()} returned a gradient different than None at position {i + 1}, but the "
                    "corresponding forward input was not a Variable"
                )
        gradients = [grads[i] for i in self._positions]
        for position, g in enumerate(gradients):
            if g is not None and g._array.dtype.kind != "f":
                self._check_kind(position, g._array.dtype)
            behind = next_node(self, position) if others and g is not None else None
            if behind is not None:
                place = meta_at(behind, next_nr(self, position)).place
                gradients[position] = placed_gradient(g, place, position, self.name())
        return gradients

    def _check_kind(self, position: int, dtype: Any) -> None:
        """Raise if a gradient is complex and its tensor real, or the reverse. The engine would drop the imaginary part."""
        behind = next_node(self, position)
        if behind is not None:
            expected = meta_at(behind, next_nr(self, position)).dtype
            if (dtype.kind == "c") != (expected.kind == "c") and dtype.kind in "cbui":
                hint = "return the real part of the gradient, grad.real" if dtype.kind == "c" else "return a floating one"
                raise errors.FunctionError(
                    f"Function {self.name()} returned an invalid gradient at index {position} - got dtype "
                    f"{errors.dtype_name(dtype)} but expected {errors.dtype_name(expected)}. Hint: {hint}."
                )


def attach_outputs(
    ctx: BackwardCFunction, arguments: tuple[Any, ...], outputs: tuple[Any, ...], recording: bool
) -> list[Any]:
    """Connect the outputs of forward to the node, save the tensors of save_for_backward, and return the outputs of apply."""
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
        metas.append(make_meta(o._array, o._array.dtype))
        differentiable = recording and id(o) not in fixed and is_differentiable(o._array)
        result = _attach_output(ctx, o, len(metas) - 1, inputs, differentiable, id(o) in seen)
        seen.setdefault(id(o), len(metas) - 1)
        results.append(result)
    to_save = ctx.to_save
    for name in ("to_save", "dirty_tensors", "non_differentiable"):
        ctx.__dict__.pop(name, None)  # ctx must not keep the tensors: an output would hold its own node
    if recording:
        set_metas(ctx, tuple(metas))
        ctx._n_outputs = len(outputs)
        ctx._saved = tuple([_saved(ctx, t, inputs, seen) for t in to_save])  # comes last because hooks on saving may raise
    return results


def _mark_written(
    ctx: BackwardCFunction, tensor: Any, inputs: list[Any], outputs: tuple[Any, ...], recording: bool
) -> None:
    """Check that an input may be written in place and is among the outputs. Count the write. Warn if it is no input."""
    if not any(tensor is o for o in outputs):
        raise errors.FunctionError(
            "Some elements marked as dirty during the forward method were not returned as output. The inputs that are "
            "modified inplace must all be outputs of the Function."
        )
    if not any(tensor is t for t in inputs):
        warnings.warn(
            "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated should be "
            "passed to ctx.mark_dirty(). Hint: leave it out.", UserWarning, stacklevel=5,
        )
    bump(tensor)  # comes first because forward has written the tensor in any case
    if recording:
        check_dirty(tensor)
    if recording and tensor._is_view():
        if len(outputs) > 1:
            raise errors.FunctionError(
                "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return "
                "more than one Tensor. This is not supported by the current autograd engine. You should either make sure "
                "the input is not a view (using .clone() for example) or make your Function only return one Tensor "
                "(potentially splitting it into two Functions: one doing the inplace that returns a single Tensor and a "
                "second one that does the other operations)."
            )
        # rebase_history takes the written input to be the node's first one.
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
    """Return an output of forward as apply returns it."""
    if any(output is t for t in ctx.dirty_tensors):
        if differentiable:
            rebase_history(output, ctx, nr)
            output._grad = None  # a retained gradient belongs to the value before the write
        elif output._view is None and any(output is t for t in ctx.non_differentiable):
            output.detach_()
        return output
    is_input = again or any(output is t for t in inputs)
    if is_input or output._grad_fn is not None or output._requires_grad:
        # forward returned an input, or a tensor with its own history. The result is a new tensor on the same memory.
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
    """Save a tensor of save_for_backward as an output of the node, as an input of it, or as a tensor of neither kind."""
    if tensor is None:
        return None
    if id(tensor) in outputs and not any(tensor is t for t in inputs):
        return save(tensor, tensor._array, OUTPUT, outputs[id(tensor)])
    for i, t in enumerate(inputs):
        if t is tensor:
            if id(tensor) in outputs:  # it was written in place and returned, so its value is the output's
                return save(tensor, tensor._array, OUTPUT, outputs[id(tensor)])
            return save(tensor, tensor._array, INPUT, i)
    return save(tensor, tensor._array, INPUT, len(ctx._edges))


class _TwiceError(Node):
    """The node of a result that must not be differentiated. Running it raises _error."""

    _error: Exception

    def name(self) -> str:
        return "Error"

    def _run(self, cotangents: list[Any], create_graph: bool) -> list[Any]:
        raise self._error


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a backward that is not differentiable itself. A second derivative through it is an error.

    The backward runs without recording, so it may use operations that have no derivative.
    """

    @functools.wraps(backward)
    def wrapper(ctx: Any, *grads: Any) -> Any:
        with set_recording(False):
            results = backward(ctx, *grads)
        requires_grad = any(isinstance(g, TensorBase) and g.requires_grad for g in grads)
        if not grad_enabled() or not requires_grad:
            return results
        single = not isinstance(results, tuple)
        error = errors.NotDifferentiableError(
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )
        marked = forbid_differentiation((results,) if single else results, grads, error)
        return marked[0] if single else marked

    return wrapper


once_differentiable.__module__ = "wengert.autograd.function"


def forbid_differentiation(results: tuple[Any, ...], grads: tuple[Any, ...], error: Exception) -> tuple[Any, ...]:
    """Return the results of a backward on a new node, which raises error when it runs. Its edges lead to grads."""
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
