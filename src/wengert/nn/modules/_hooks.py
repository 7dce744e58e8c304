"""Calls of modules that have hooks, and the hooks that apply to all modules.

`call_with_hooks` runs a module's forward between its hooks. Module.__call__ calls it only if there is a hook.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any

from wengert.autograd.function import Function
from wengert.autograd.grad_mode import is_grad_enabled
from wengert.core.hooks import RemovableHandle, add_hook
from wengert.core.tensor import TensorBase

_Hooks = OrderedDict[int, Callable[..., Any]]

_global_backward_pre_hooks: _Hooks = OrderedDict()
_global_backward_hooks: _Hooks = OrderedDict()
_global_is_full_backward_hook: bool | None = None
_global_forward_pre_hooks: _Hooks = OrderedDict()
_global_forward_hooks: _Hooks = OrderedDict()
_global_forward_hooks_always_called: OrderedDict[int, bool] = OrderedDict()
_global_forward_hooks_with_kwargs: OrderedDict[int, bool] = OrderedDict()
_global_buffer_registration_hooks: _Hooks = OrderedDict()
_global_module_registration_hooks: _Hooks = OrderedDict()
_global_parameter_registration_hooks: _Hooks = OrderedDict()

# Ids of the global hooks that calls of modules run. Module.__call__ tests this one dict.
_global_call_hooks: OrderedDict[int, bool] = OrderedDict()

_NON_FULL = "is deprecated and will be removed in future versions. This hook will be missing some"
_USE_FULL = "Please use register_full_backward_hook to get the documented behavior."


def _has_any_global_hook() -> bool:
    return bool(_global_call_hooks)


# -- hooks of all modules ----------------------------------------------------------------------------------------------


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call hook(module, name, buffer) when any module registers a buffer. A returned value takes the buffer's place."""
    return add_hook(_global_buffer_registration_hooks, hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call hook(module, name, submodule) when any module registers a submodule. A returned module takes its place."""
    return add_hook(_global_module_registration_hooks, hook)


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call hook(module, name, parameter) when any module registers a parameter. A returned value takes its place."""
    return add_hook(_global_parameter_registration_hooks, hook)


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call hook(module, args) before the forward of every module. See Module.register_forward_pre_hook."""
    return add_hook(_global_forward_pre_hooks, hook, call=(_global_call_hooks, True))


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call hook(module, args, output) after the forward of every module. See Module.register_forward_hook."""
    return add_hook(
        _global_forward_hooks,
        hook,
        call=(_global_call_hooks, True),
        kwargs=(_global_forward_hooks_with_kwargs, with_kwargs),
        always=(_global_forward_hooks_always_called, always_call),
    )


def _set_global_kind(is_full: bool) -> None:
    global _global_is_full_backward_hook
    if _global_is_full_backward_hook is (not is_full):
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module hook. Please use only one of them."
        )
    _global_is_full_backward_hook = is_full


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call hook(module, grad_input, grad_output) in backward passes of every module. See Module.register_backward_hook."""
    _set_global_kind(False)
    return add_hook(_global_backward_hooks, hook, call=(_global_call_hooks, True))


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call hook(module, grad_output) before the backward of every module. See Module.register_full_backward_pre_hook."""
    return add_hook(_global_backward_pre_hooks, hook, call=(_global_call_hooks, True))


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call hook(module, grad_input, grad_output) after the backward of every module. See Module.register_full_backward_hook."""
    _set_global_kind(True)
    return add_hook(_global_backward_hooks, hook, call=(_global_call_hooks, True))


# -- backward hooks ----------------------------------------------------------------------------------------------------


class BackwardHookFunction(Function):
    """Identity whose node carries the backward hooks of a module."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        ctx.mark_non_differentiable(*[arg for arg in args if not arg.requires_grad])
        return args

    @staticmethod
    def backward(ctx: Any, *args: Any) -> Any:
        return args


class BackwardHook:
    """The full backward hooks and pre-hooks of one call of a module.

    Two identities enclose the forward. The gradients that reach the one of the outputs are grad_output, those that leave
    the one of the inputs are grad_input.
    """

    def __init__(self, module: Any, hooks: list[Callable[..., Any]], pre_hooks: list[Callable[..., Any]]) -> None:
        self.module = module
        self.hooks = hooks
        self.pre_hooks = pre_hooks
        self.grad_outputs: Any = None
        self.n_inputs = 0
        self.has_input_node = False

    def _mark(self, values: tuple[Any, ...], install: Callable[[Any, list[int], int], None]) -> tuple[Any, ...]:
        """Pass the tensors among the values through an identity. `install` adds hooks to the identity's node."""
        places = [i for i, value in enumerate(values) if isinstance(value, TensorBase)]
        if not (is_grad_enabled() and any(values[i].requires_grad for i in places)):
            return values
        found = BackwardHookFunction.apply(*[values[i] for i in places])
        node = next((tensor.grad_fn for tensor in found if tensor.grad_fn is not None), None)
        if node is None:
            raise RuntimeError("Error while setting up backward hooks: grad_fn is None. Please open an issue.")
        install(node, places, len(values))
        result = list(values)
        for place, tensor in zip(places, found, strict=True):
            result[place] = tensor
        return tuple(result)

    def setup_input_hook(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments for forward, with the hooks on what made them."""
        self.n_inputs = len(args)
        return self._mark(args, self._watch_inputs)

    def setup_output_hook(self, result: Any) -> Any:
        """Return the result of forward, with the hooks on what made it."""
        is_tensor = isinstance(result, TensorBase)
        marked = self._mark((result,) if is_tensor else result, self._watch_outputs)
        return marked[0] if is_tensor else marked

    def _watch_inputs(self, node: Any, places: list[int], count: int) -> None:
        self.has_input_node = True

        def hook(grad_input: Any, _: Any) -> Any:
            if self.grad_outputs is None:  # no gradient has come to the outputs
                return None
            found = _pack(grad_input, places, count)
            for user_hook in self.hooks:
                returned = user_hook(self.module, found, self.grad_outputs)
                if returned is not None:
                    found = _replaced(returned, found, "Backward hook returned an invalid number of grad_input")
            self.grad_outputs = None
            return tuple([found[i] for i in places])

        node.register_hook(hook)

    def _watch_outputs(self, node: Any, places: list[int], count: int) -> None:
        def hook(grad_output: Any) -> Any:
            self.grad_outputs = _pack(grad_output, places, count)
            for user_hook in self.pre_hooks:
                returned = user_hook(self.module, self.grad_outputs)
                if returned is not None:
                    message = "Backward pre hook returned an invalid number of grad_output"
                    self.grad_outputs = _replaced(returned, self.grad_outputs, message)
            passed_on = tuple([self.grad_outputs[i] for i in places])
            if not self.has_input_node:
                self._call_without_inputs()
            return passed_on

        node.register_prehook(hook)

    def _call_without_inputs(self) -> None:
        """Call the hooks of a module none of whose inputs requires a gradient: all of grad_input is None."""
        if self.hooks:
            warnings.warn(
                "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs "
                "require gradients. See "
                "https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_hook "
                "for more details.",
                stacklevel=5,
            )
        grad_inputs = (None,) * self.n_inputs
        for user_hook in self.hooks:
            returned = user_hook(self.module, grad_inputs, self.grad_outputs)
            if returned is not None and not (isinstance(returned, tuple) and all(grad is None for grad in returned)):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always return None or None for all "
                    "gradients."
                )
        self.grad_outputs = None


def _pack(gradients: Any, places: list[int], count: int) -> tuple[Any, ...]:
    """Return a tuple of `count` entries: the gradients at the places of the tensors, None elsewhere."""
    result: list[Any] = [None] * count
    for place, gradient in zip(places, gradients, strict=True):
        result[place] = gradient
    return tuple(result)


def _replaced(returned: Any, gradients: tuple[Any, ...], message: str) -> tuple[Any, ...]:
    """Return the gradients that a hook returned as a tuple. Raise RuntimeError for another number of gradients."""
    if len(returned) != len(gradients):
        raise RuntimeError(f"{message}, got {len(returned)}, but expected {len(gradients)}")
    return tuple(returned)


def _all_tensors(values: Any) -> bool:
    return isinstance(values, tuple) and all(isinstance(value, TensorBase) for value in values)


def warn_non_full(inputs: Any, result: Any, grad_fn: Any) -> None:
    """Warn if hooks of the old kind, which stand on the result's node, do not get all gradients of the module."""
    result, inputs = ((x,) if isinstance(x, TensorBase) else x for x in (result, inputs))
    text = "Using non-full backward hooks on a Module that does not {} a single Tensor or a tuple of Tensors"
    if not _all_tensors(result):
        text, gradient = text.format("return"), "of the grad_output"
    elif not _all_tensors(inputs):
        text, gradient = text.format("take as input"), "of the grad_input"
    else:
        nodes = {x.grad_fn for x in result if x.grad_fn is not None}
        if len(nodes) > 1 or (len(nodes) == 1 and grad_fn not in nodes):
            text, gradient = "Using a non-full backward hook when outputs are generated by different autograd Nodes", "grad_output"
        elif {x.grad_fn for x in inputs if x.grad_fn is not None} != {edge[0] for edge in grad_fn.next_functions}:
            text, gradient = "Using a non-full backward hook when the forward contains multiple autograd Nodes", "grad_input"
        else:
            return
    warnings.warn(f"{text} {_NON_FULL} {gradient}. {_USE_FULL}", FutureWarning, stacklevel=4)


def backward_hooks(module: Any) -> tuple[list[Callable[..., Any]], list[Callable[..., Any]]]:
    """Return (full, non-full) backward hooks that apply to the module."""
    full: list[Callable[..., Any]] = []
    other: list[Callable[..., Any]] = []
    for hooks, is_full in (
        (_global_backward_hooks, _global_is_full_backward_hook),
        (module._backward_hooks, module._is_full_backward_hook),
    ):
        (full if is_full else other).extend(hooks.values())
    return full, other


def backward_pre_hooks(module: Any) -> list[Callable[..., Any]]:
    """Return the full backward pre-hooks that apply to the module."""
    return [*_global_backward_pre_hooks.values(), *module._backward_pre_hooks.values()]


# -- calls -------------------------------------------------------------------------------------------------------------


def call_with_hooks(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run the module's forward between its hooks. Return what forward, or the last hook that replaced it, returned."""
    called: set[int] = set()  # ids of the hooks for which always_call is settled
    try:
        return _run(module, args, kwargs, called)
    except Exception:
        _call_remaining(module, args, kwargs, called)
        raise


def _run(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], called: set[int]) -> Any:
    full, non_full = backward_hooks(module)
    pre_hooks = backward_pre_hooks(module)
    args, kwargs = _run_pre_hooks(module, args, kwargs)
    enclosing = BackwardHook(module, full, pre_hooks) if full or pre_hooks else None
    if enclosing is not None:
        args = enclosing.setup_input_hook(args)
    result = module.forward(*args, **kwargs)
    for number, hook, takes_kwargs, _ in _forward_hooks(module):
        called.add(number)
        replaced = hook(module, args, kwargs, result) if takes_kwargs else hook(module, args, result)
        if replaced is not None:
            result = replaced
    if enclosing is not None:
        if isinstance(result, (TensorBase, tuple)):
            result = enclosing.setup_output_hook(result)
        else:
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received "
                f"{type(result)}",
                stacklevel=4,
            )
    if non_full:
        _add_to_node(module, non_full, args, result)
    return result


def _run_pre_hooks(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Run the forward pre-hooks. Return the arguments for forward."""
    takes_kwargs = module._forward_pre_hooks_with_kwargs
    for number, hook in (*_global_forward_pre_hooks.items(), *module._forward_pre_hooks.items()):
        if number in takes_kwargs:
            returned = hook(module, args, kwargs)
            if returned is not None:
                if not isinstance(returned, tuple) or len(returned) != 2:
                    raise RuntimeError(
                        f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {returned}."
                    )
                args, kwargs = returned
        else:
            returned = hook(module, args)
            if returned is not None:
                args = returned if isinstance(returned, tuple) else (returned,)
    return args, kwargs


def _forward_hooks(module: Any) -> Iterable[tuple[int, Callable[..., Any], bool, bool]]:
    """Return (id, hook, takes kwargs, is always called) for each forward hook that applies to the module."""
    found = []
    for hooks, takes_kwargs, always in (
        (_global_forward_hooks, _global_forward_hooks_with_kwargs, _global_forward_hooks_always_called),
        (module._forward_hooks, module._forward_hooks_with_kwargs, module._forward_hooks_always_called),
    ):
        found += [(number, hook, number in takes_kwargs, number in always) for number, hook in hooks.items()]
    return found


def _call_remaining(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], called: set[int]) -> None:
    """After an error, call the forward hooks that were registered with always_call and were not called yet."""
    result = None
    for number, hook, takes_kwargs, always in _forward_hooks(module):
        if not always or number in called:
            continue
        try:
            replaced = hook(module, args, kwargs, result) if takes_kwargs else hook(module, args, result)
            result = result if replaced is None else replaced
        except Exception as error:
            kind = "module forward hook" if number in module._forward_hooks else "global module forward hook"
            warnings.warn(
                f"{kind} with ``always_call=True`` raised an exception that was silenced as another error was raised in "
                f"forward: {error}",
                stacklevel=4,
            )


def _add_to_node(module: Any, hooks: list[Callable[..., Any]], args: tuple[Any, ...], result: Any) -> None:
    """Put backward hooks of the old kind on the node of the first tensor of the result."""
    tensor = result
    while not isinstance(tensor, TensorBase):
        if isinstance(tensor, dict):
            tensor = next(value for value in tensor.values() if isinstance(value, TensorBase))
        else:
            tensor = tensor[0]
    node = tensor.grad_fn
    if node is None:
        return
    for hook in hooks:
        node.register_hook(_bound(hook, module))
    module._maybe_warn_non_full_backward_hook(args, result, node)


def _bound(hook: Callable[..., Any], module: Any) -> Callable[..., Any]:
    return lambda grad_input, grad_output: hook(module, grad_input, grad_output)


def pop_pre_hook(module: Any, is_wanted: Callable[[Any], bool]) -> Any:
    """Remove the first pre-hook of a module for which is_wanted(hook) is true. Return the hook, or None if there is none."""
    for number, hook in module._forward_pre_hooks.items():
        if is_wanted(hook):
            return module._forward_pre_hooks.pop(number)
    return None
