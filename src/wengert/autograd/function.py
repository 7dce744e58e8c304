"""Function: operations whose forward and backward the user writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert import errors
from wengert.autograd.function_node import BackwardCFunction, FunctionCtx, attach_outputs, once_differentiable
from wengert.autograd.legacy_function import call_instance, run_instance
from wengert.core.dispatch import propagate_volatile
from wengert.core.legacy import is_volatile
from wengert.core.modes import DUAL, PROFILE, flags, grad_enabled, set_recording
from wengert.core.node import next_sequence_nr, record_position
from wengert.core.tensor import TensorBase, gradient_edge

__all__ = ["BackwardCFunction", "Function", "FunctionCtx", "FunctionMeta", "once_differentiable"]


def _missing_backward() -> Exception:
    return errors.FunctionNotImplementedError(
        "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
        "backward mode AD."
    )


class FunctionMeta(type):
    """Give every Function a class of nodes: ExpBackward for Exp."""

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        super().__init__(name, bases, namespace)
        cls._forward_cls = cls  # for an instance Function, which is its own node
        cls._backward_cls = type(
            name + "Backward", (BackwardCFunction,), {"_forward_cls": cls, "__module__": "torch.autograd.function"}
        )


class Function(BackwardCFunction, metaclass=FunctionMeta):
    """Base class of operations with a user-defined derivative: write forward and backward, then call apply.

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
    boxed_grads_call = False  # True: backward(ctx, grads) gets one list, and may remove gradients from it
    clear_saved_tensors_on_access = False  # True: ctx.saved_tensors can be read once, and ctx drops its references

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs: forward(ctx, *args), or forward(*args) with a setup_context.

        It runs without recording, and returns a tensor or a tuple.
        """
        raise errors.FunctionNotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Save the tensors that backward needs, if forward takes no ctx."""
        raise NotImplementedError("setup_context is not implemented.")

    # Type checkers let the rules of a subclass have other parameters, because these take *args and **kwargs.
    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any, **kwargs: Any) -> Any:
        """Return one gradient (or None) for each argument of forward, given one for each output."""
        raise _missing_backward()

    @staticmethod
    def vjp(ctx: Any, *grad_outputs: Any, **kwargs: Any) -> Any:
        """Compute the gradients: another name for backward."""
        raise _missing_backward()

    @staticmethod
    def jvp(ctx: Any, *tangents: Any, **kwargs: Any) -> Any:
        """Return the tangents of the outputs, given one tangent (or None) for each argument."""
        raise errors.FunctionNotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """Apply the Function to a batch: the rule for torch.vmap."""
        raise errors.FunctionNotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
            "generate_vmap_rule=True.\nThis version of the package calls neither: vmap does not reach custom Functions."
        )

    @classmethod
    def _find_backward(cls) -> Callable[..., Any]:
        """Return backward, or vjp if the Function defines that."""
        has_backward = cls.backward is not Function.backward
        has_vjp = cls.vjp is not Function.vjp
        if has_backward and has_vjp:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement "
                "one of them."
            )
        return cls.vjp if has_vjp else cls.backward

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run forward on args. Record the application if a tensor among them requires grad."""
        if flags() & DUAL:
            from wengert.autograd.function_jvp import apply_dual

            return apply_dual(cls, args, kwargs)
        ctx = cls._backward_cls()
        result = cls._applied(ctx, args, kwargs)
        ctx.__dict__.pop("saved_for_forward", None)  # ctx must not keep the tensors: see attach_outputs
        return result

    @classmethod
    def _applied(cls, ctx: BackwardCFunction, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run forward with a new ctx, and record the application if a tensor among the arguments requires grad."""
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
        results = attach_outputs(ctx, inputs, outputs, recording)
        if volatile:
            propagate_volatile(inputs, tuple([r for r in results if isinstance(r, TensorBase)]))
        return results[0] if single else tuple(results)

    # In torch 0.1 to 0.3 programs called an instance, which was its own node: Scale(2)(x). See legacy_function.py.

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run forward on args, if forward is no static method. Use apply in new code."""
        if kwargs or isinstance(_static_attribute(type(self), "forward"), staticmethod):
            raise errors.FunctionError(
                "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd "
                "function with static forward method. Hint: call .apply(...) of the class, not an instance."
            )
        return call_instance(self, args)

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The saved tensors, without history. Raises RuntimeError if one was written since, or a pass released them."""
        return tuple([None if t is None else t.detach() for t in self._unpacked()])

    def _run(self, cotangents: list[Any], create_graph: bool) -> list[Any]:
        return run_instance(self, cotangents, create_graph)


class InplaceFunction(Function):
    """Base of instance Functions that write their result into their input if self.inplace is True."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class NestedIOFunction(Function):
    """Base of instance Functions whose inputs and results are tensors in tuples, lists and dicts of any depth.

    forward_extended and backward_extended take the place of forward and backward. Their arguments and results are
    nested. save_for_backward, mark_dirty and mark_non_differentiable take nested tensors too, and saved_tensors has the
    nesting that save_for_backward got.
    """

    _inputs: Any = None  # the nesting of the inputs, with a number in the place of each tensor
    _results: Any = None  # likewise of the results
    _saved_nest: Any = ()  # likewise of the saved tensors

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        """Run forward_extended on inputs. Raises TypeError if a leaf of the nesting is no tensor."""
        tensors: list[Any] = []
        self._inputs = _numbered(inputs, tensors)
        result = super().__call__(*tensors, **kwargs)
        return _filled(self._results, result if isinstance(result, tuple) else (result,))

    def forward(self, *tensors: Any) -> Any:  # type: ignore[override]  # of an instance
        results: list[Any] = []
        self._results = _numbered(self.forward_extended(*_filled(self._inputs, tensors)), results)
        return tuple(results)

    def backward(self, *grads: Any) -> Any:  # type: ignore[override]  # of an instance
        found: list[Any] = []
        nest = _filled(self._results, grads)
        nested = self.backward_extended(*(nest if isinstance(nest, tuple) else (nest,)))
        _numbered(nested, found)
        return tuple(found)

    def forward_extended(self, *inputs: Any) -> Any:
        """Return the nested results of nested inputs."""
        raise NotImplementedError("a NestedIOFunction needs forward_extended")

    def backward_extended(self, *grad_outputs: Any) -> Any:
        """Return the gradients of the inputs, in their nesting, given those of the results."""
        raise NotImplementedError("a NestedIOFunction needs backward_extended")

    def save_for_backward(self, *tensors: Any) -> None:
        found: list[Any] = []
        self._saved_nest = _numbered(tensors, found)
        super().save_for_backward(*found)

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The saved tensors, in the nesting that save_for_backward got, without history."""
        nest: tuple[Any, ...] = _filled(self._saved_nest, super().saved_tensors)
        return nest

    def mark_dirty(self, *tensors: Any) -> None:
        found: list[Any] = []
        _numbered(tensors, found)
        super().mark_dirty(*found)

    def mark_non_differentiable(self, *outputs: Any) -> None:
        found: list[Any] = []
        _numbered(outputs, found)
        super().mark_non_differentiable(*found)


def _numbered(nest: Any, found: list[Any]) -> Any:
    """Return nest with each leaf replaced by its number, and append the leaves to found.

    A leaf is anything but a tuple, list or dict.
    """
    if isinstance(nest, (tuple, list)):
        return type(nest)([_numbered(x, found) for x in nest])
    if isinstance(nest, dict):
        return {key: _numbered(x, found) for key, x in nest.items()}
    found.append(nest)
    return len(found) - 1


def _filled(nest: Any, values: tuple[Any, ...]) -> Any:
    """Return a nest of _numbered with each number replaced by its value."""
    if isinstance(nest, (tuple, list)):
        return type(nest)([_filled(x, values) for x in nest])
    if isinstance(nest, dict):
        return {key: _filled(x, values) for key, x in nest.items()}
    return values[nest]


def _forward_block(cls: type[Function]) -> Any:
    """Context manager for a Function's forward. It stops recording, and measures the forward if a profiler is on."""
    if flags() & PROFILE:
        from wengert.core.recorder import measured_forward

        return measured_forward(cls.__name__)
    return set_recording(False)


def _static_attribute(cls: type, name: str) -> Any:
    """Return a class attribute as the class body has it: a static method stays a staticmethod object."""
    return next((base.__dict__[name] for base in cls.__mro__ if name in base.__dict__), None)


def _with_defaults(
    forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return (args, kwargs) of a call of forward with its defaults filled in. Arguments are positional if possible."""
    code = getattr(forward, "__code__", None)
    if code is not None and not kwargs and len(args) == code.co_argcount and not code.co_kwonlyargcount:
        return args, kwargs
    from inspect import signature

    bound = signature(forward).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args, bound.kwargs


def __dir__() -> list[str]:
    return sorted(__all__)
