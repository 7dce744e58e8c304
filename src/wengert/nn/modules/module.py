"""Module: the base class of layers and networks. It owns parameters, buffers and other modules.

state_dict and load_state_dict are in `_state`, calls with hooks in `_hooks`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, Self

from wengert.conversions import parse_to
from wengert.core.hooks import RemovableHandle, add_hook
from wengert.core.modes import set_recording
from wengert.core.tensor import TensorBase
from wengert.dtypes import as_dtype
from wengert.nn.modules import _hooks
from wengert.nn.modules._hooks import (
    _global_backward_hooks as _global_backward_hooks,
    _global_backward_pre_hooks as _global_backward_pre_hooks,
    _global_buffer_registration_hooks as _global_buffer_registration_hooks,
    _global_call_hooks,
    _global_forward_hooks as _global_forward_hooks,
    _global_forward_hooks_always_called as _global_forward_hooks_always_called,
    _global_forward_hooks_with_kwargs as _global_forward_hooks_with_kwargs,
    _global_forward_pre_hooks as _global_forward_pre_hooks,
    _global_module_registration_hooks as _global_module_registration_hooks,
    _global_parameter_registration_hooks as _global_parameter_registration_hooks,
    _has_any_global_hook as _has_any_global_hook,
    call_with_hooks,
    register_module_backward_hook as register_module_backward_hook,
    register_module_buffer_registration_hook as register_module_buffer_registration_hook,
    register_module_forward_hook as register_module_forward_hook,
    register_module_forward_pre_hook as register_module_forward_pre_hook,
    register_module_full_backward_hook as register_module_full_backward_hook,
    register_module_full_backward_pre_hook as register_module_full_backward_pre_hook,
    register_module_module_registration_hook as register_module_module_registration_hook,
    register_module_parameter_registration_hook as register_module_parameter_registration_hook,
)
from wengert.nn.modules._state import (
    _EXTRA_STATE_KEY_SUFFIX as _EXTRA_STATE_KEY_SUFFIX,
    StateMembers,
    _IncompatibleKeys as _IncompatibleKeys,
    _WrappedHook as _WrappedHook,
)
from wengert.nn.parameter import Buffer, Parameter, is_lazy
from wengert.ops import function as _function

__all__ = [
    "Module", "register_module_backward_hook", "register_module_buffer_registration_hook", "register_module_forward_hook",
    "register_module_forward_pre_hook", "register_module_full_backward_hook", "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook", "register_module_parameter_registration_hook",
]  # fmt: skip


# Note [Weights in forward]
# self.weight costs half a microsecond: Python looks through the class and the instance before it calls __getattr__. Layers
# that are called often read self._parameters instead. A weight that is computed, as parametrize and weight_norm have it, is
# not in there. It is an attribute of the class or the instance, and forward falls back on self.weight.


def _type_name(obj: Any) -> str:
    """Return the name of an object's type for messages: "torch.FloatTensor", "int"."""
    return _function("", "typename")(obj)  # type: ignore[misc]


def _addindent(text: str, spaces: int) -> str:
    """Indent all lines of the text but the first."""
    return text.replace("\n", "\n" + " " * spaces)


def _after_hooks(hooks: Any, module: Any, name: str, value: Any) -> Any:
    """Run the registration hooks. Return what shall be registered."""
    for hook in hooks.values():
        replaced = hook(module, name, value)
        if replaced is not None:
            value = replaced
    return value


def _forward_unimplemented(self: Any, *input: Any) -> None:
    """Compute the outputs. Every subclass defines it."""
    raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')


class Module(StateMembers):
    """Base class of all layers and networks.

    Parameters, buffers and modules that become attributes are registered: parameters() and state_dict() find them. A call
    runs forward, between the hooks if there are any.

    >>> import wengert
    >>> from wengert import nn
    >>> class Scale(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = nn.Parameter(wengert.ones(1))
    ...     def forward(self, x):
    ...         return x * self.factor
    >>> Scale()(wengert.ones(2))
    tensor([1., 1.], grad_fn=<MulBackward0>)
    """

    call_super_init = False
    training: bool
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _is_full_backward_hook: bool | None
    _compiled_call_impl: Any = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init:
            if kwargs:
                raise TypeError(f"{type(self).__name__}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'")
            if args:
                raise TypeError(f"{type(self).__name__}.__init__() takes 1 positional argument but {len(args) + 1} were given")
        self.__dict__.update(
            training=True,
            _parameters={},
            _buffers={},
            _non_persistent_buffers_set=set(),
            _backward_pre_hooks=OrderedDict(),
            _backward_hooks=OrderedDict(),
            _is_full_backward_hook=None,
            _forward_hooks=OrderedDict(),
            _forward_hooks_with_kwargs=OrderedDict(),
            _forward_hooks_always_called=OrderedDict(),
            _forward_pre_hooks=OrderedDict(),
            _forward_pre_hooks_with_kwargs=OrderedDict(),
            _state_dict_hooks=OrderedDict(),
            _state_dict_pre_hooks=OrderedDict(),
            _load_state_dict_pre_hooks=OrderedDict(),
            _load_state_dict_post_hooks=OrderedDict(),
            _modules={},
        )
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    forward: Callable[..., Any] = _forward_unimplemented

    # -- calls ---------------------------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if (
            self._forward_hooks
            or self._forward_pre_hooks
            or self._backward_hooks
            or self._backward_pre_hooks
            or _global_call_hooks
        ):
            return call_with_hooks(self, args, kwargs)
        return self.forward(*args, **kwargs)

    _call_impl = _wrapped_call_impl = __call__

    def _slow_forward(self, *input: Any, **kwargs: Any) -> Any:
        return self.forward(*input, **kwargs)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Accept the options of torch.compile without effect: calls run as before."""

    # -- registration --------------------------------------------------------------------------------------------------

    def _check_name(self, kind: str, name: Any, owned: str) -> None:
        """Raise unless a parameter, buffer or module of this name can be added. owned: name of the dict it goes to."""
        if owned not in self.__dict__:
            raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {_type_name(name)}")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain "."' + (f", got: {name}" if kind == "module" else ""))
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if name not in self.__dict__[owned] and hasattr(self, name):
            raise KeyError(f"attribute '{name}' already exists")

    def register_buffer(self, name: str, tensor: Any, persistent: bool = True) -> None:
        """Add a buffer: a tensor, or None. state_dict holds it if persistent.

        Raises KeyError for a name that is taken or has a dot, TypeError for anything but a tensor."""
        self._check_name("buffer", name, "_buffers")
        if tensor is not None and not isinstance(tensor, TensorBase):
            raise TypeError(
                f"cannot assign '{_type_name(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        self._buffers[name] = _after_hooks(_global_buffer_registration_hooks, self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def register_parameter(self, name: str, param: Any) -> None:
        """Add a parameter: a Parameter, or None.

        Raises KeyError for a name that is taken or has a dot, TypeError for anything but a Parameter, ValueError for one that
        is the result of an operation."""
        self._check_name("parameter", name, "_parameters")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{_type_name(param)}' object to parameter '{name}' (torch.nn.Parameter or None required)"
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. To "
                f"express '{name}' as a function of another Tensor, compute the value in the forward() method."
            )
        self._parameters[name] = _after_hooks(_global_parameter_registration_hooks, self, name, param)

    def add_module(self, name: str, module: Any) -> None:
        """Add a submodule: a Module, or None. Raises KeyError for a name that is taken or has a dot, TypeError for no Module."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{_type_name(module)} is not a Module subclass")
        self._check_name("module", name, "_modules")
        self._modules[name] = _after_hooks(_global_module_registration_hooks, self, name, module)

    def register_module(self, name: str, module: Any) -> None:
        """Add a submodule: add_module under another name."""
        self.add_module(name, module)

    def get_submodule(self, target: str) -> Module:
        """Return the submodule of a dotted name; "" is the module itself. Raises AttributeError if there is none."""
        module: Any = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Replace the submodule of a dotted name, or add it unless strict.

        Raises ValueError for an empty name or no Module, AttributeError if the owner is missing or the name belongs to
        something that is no module."""
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def _member(self, target: str) -> tuple[Module, str, Any]:
        """Return (owner, name, attribute) of a dotted name. Raises AttributeError if there is none."""
        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        if not hasattr(owner, name):
            raise AttributeError(f"{owner._get_name()} has no attribute `{name}`")
        return owner, name, getattr(owner, name)

    def get_parameter(self, target: str) -> Parameter:
        """Return the parameter of a dotted name. Raises AttributeError if there is none."""
        _, name, found = self._member(target)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Any:
        """Return the buffer of a dotted name. Raises AttributeError if there is none."""
        owner, name, found = self._member(target)
        if name not in owner._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return found

    # -- attributes ----------------------------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        for members in ("_parameters", "_modules", "_buffers"):
            if members in own and name in own[members]:
                return own[members][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        if isinstance(value, TensorBase):
            if isinstance(value, Parameter):
                self._forget(name, "parameters", "_parameters")
                return self.register_parameter(name, value)
            if isinstance(value, Buffer):
                self._forget(name, "buffer", "_buffers")
                return self.register_buffer(name, value, value.persistent)
        elif isinstance(value, Module):
            self._forget(name, "module", "_modules")
            self._modules[name] = _after_hooks(_global_module_registration_hooks, self, name, value)
            return None
        if name in own.get("_parameters", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{_type_name(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)"
                )
            return self.register_parameter(name, value)
        if name in own.get("_modules", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{_type_name(value)}' as child module '{name}' (torch.nn.Module or None expected)"
                )
            self._modules[name] = _after_hooks(_global_module_registration_hooks, self, name, value)
        elif name in own.get("_buffers", ()):
            if value is not None and not isinstance(value, TensorBase):
                raise TypeError(
                    f"cannot assign '{_type_name(value)}' as buffer '{name}' (torch.nn.Buffer, torch.Tensor or None expected)"
                )
            self._buffers[name] = _after_hooks(_global_buffer_registration_hooks, self, name, value)
        else:
            super().__setattr__(name, value)
        return None

    def _forget(self, name: str, kind: str, owned: str) -> None:
        """Remove what has this name, but from the dict `owned`. kind: of what takes the name, for the error."""
        own = self.__dict__
        if owned not in own:
            raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
        own.pop(name, None)
        for members in ("_parameters", "_buffers", "_modules"):
            if members != owned:
                own[members].pop(name, None)
        if owned != "_buffers":
            self._non_persistent_buffers_set.discard(name)

    def __delattr__(self, name: str) -> None:
        if name in self._parameters:
            del self._parameters[name]
        elif name in self._buffers:
            del self._buffers[name]
            self._non_persistent_buffers_set.discard(name)
        elif name in self._modules:
            del self._modules[name]
        else:
            super().__delattr__(name)

    def __dir__(self) -> list[str]:
        names = {*dir(type(self)), *self.__dict__, *self._parameters, *self._modules, *self._buffers}
        return sorted(name for name in names if not name[:1].isdigit())

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Modules that were pickled by an older version lack the dicts that came later.
        missing: dict[str, Any] = {name: OrderedDict() for name in _HOOK_DICTS if name not in state}
        self.__dict__.update({"_non_persistent_buffers_set": set(), "_is_full_backward_hook": None, **missing, **state})

    # -- members -------------------------------------------------------------------------------------------------------

    def _named_members(
        self, get_members_fn: Any, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Yield (dotted name, member) of the members of each module that are not None."""
        seen = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, member in get_members_fn(module):
                if member is None or id(member) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(member))
                yield f"{path}.{name}" if path else name, member

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Yield (dotted name, parameter). recurse: those of submodules too. remove_duplicate: each parameter once."""
        yield from self._named_members(lambda module: module._parameters.items(), prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Yield the parameters, each once. recurse: those of submodules too."""
        for _, param in self.named_parameters(recurse=recurse):
            yield param

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Yield (dotted name, buffer). recurse: those of submodules too. remove_duplicate: each buffer once."""
        yield from self._named_members(lambda module: module._buffers.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Any]:
        """Yield the buffers, each once. recurse: those of submodules too."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Yield (name, module) of the direct submodules, each module once."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Module]:
        """Yield the direct submodules, each once."""
        for _, module in self.named_children():
            yield module

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """Yield (dotted name, module) of this module and all below it. memo: the modules that were met already."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """Yield this module and all below it, each once if remove_duplicate."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def apply(self, fn: Callable[[Module], Any]) -> Any:
        """Call fn on each submodule, then on the module itself. Return the module."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True) -> Self:
        """Set `training` of this module and all below it. Raises ValueError unless mode is a bool. Return the module."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """Set `training` to False, in this module and all below it. Return the module."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set requires_grad of all parameters. Return the module."""
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset the gradients of all parameters: to None, or to zeros where there is one."""
        for param in self.parameters():
            if param.grad is None:
                continue
            if set_to_none:
                param.grad = None
            else:
                if param.grad.grad_fn is not None:
                    param.grad.detach_()
                else:
                    param.grad.requires_grad_(False)
                param.grad.zero_()

    # -- dtypes and devices --------------------------------------------------------------------------------------------

    def _apply(self, fn: Callable[[Any], Any], recurse: bool = True) -> Any:
        """Replace the memory of all parameters and their gradients, and all buffers, by what fn returns for them."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        for param in self._parameters.values():
            if param is None:
                continue
            with set_recording(False):
                param.data = fn(param)
                if param.grad is not None:
                    requires_grad = param.grad.requires_grad
                    param.grad = fn(param.grad).requires_grad_(requires_grad)
        for name, buffer in self._buffers.items():
            if is_lazy(buffer):
                buffer.data = fn(buffer)
            elif buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Change the dtype of all floating and complex parameters and buffers, or their device. Return the module.

        Call it as to(dtype), to(device), to(device, dtype) or to(tensor). Raises TypeError for an integer dtype."""
        dtype, device, _ = parse_to(args, kwargs.get("dtype"), kwargs.get("device"))
        if dtype is not None:
            dtype = as_dtype(dtype)
            if not (dtype.is_floating_point or dtype.is_complex):
                raise TypeError(f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}")

        def convert(tensor: Any) -> Any:
            is_inexact = tensor.is_floating_point() or tensor.is_complex()
            return tensor.to(device=device, dtype=dtype if is_inexact else None)

        return self._apply(convert)

    def to_empty(self, *, device: Any, recurse: bool = True) -> Any:
        """Give all parameters and buffers uninitialised memory. Return the module."""
        return self._apply(lambda tensor: _function("", "empty_like")(tensor, device=device), recurse)  # type: ignore[misc]

    def _cast(self, dtype: str) -> Any:
        return self._apply(lambda tensor: getattr(tensor, dtype)() if tensor.is_floating_point() else tensor)

    def type(self, dst_type: Any) -> Any:
        """Cast all parameters and buffers to a dtype. Return the module."""
        return self._apply(lambda tensor: tensor.type(dst_type))

    def float(self) -> Any:
        """Cast all floating parameters and buffers to float32. Return the module."""
        return self._cast("float")

    def double(self) -> Any:
        """Cast all floating parameters and buffers to float64. Return the module."""
        return self._cast("double")

    def half(self) -> Any:
        """Cast all floating parameters and buffers to float16. Return the module."""
        return self._cast("half")

    def bfloat16(self) -> Any:
        """Cast all floating parameters and buffers to bfloat16. Return the module."""
        return self._cast("bfloat16")

    def cpu(self) -> Any:
        """Return the module: its tensors are in main memory."""
        return self._apply(lambda tensor: tensor.cpu())

    def cuda(self, device: Any = None) -> Any:
        """Raise an error: there is no GPU backend in this version."""
        return self._apply(lambda tensor: tensor.cuda(device))

    ipu = xpu = mtia = cuda

    def share_memory(self) -> Any:
        """Call share_memory_ on all parameters and buffers. Return the module."""
        return self._apply(lambda tensor: tensor.share_memory_())

    # -- hooks ---------------------------------------------------------------------------------------------------------

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call hook(module, args) before forward. What it returns takes the arguments' place, in a tuple or alone.

        with_kwargs: call hook(module, args, kwargs), which returns None or (args, kwargs). prepend: before other hooks."""
        return add_hook(
            self._forward_pre_hooks, hook, prepend, kwargs=(self._forward_pre_hooks_with_kwargs, with_kwargs)
        )

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """Call hook(module, args, output) after forward. What it returns, unless None, takes the output's place.

        with_kwargs: call hook(module, args, kwargs, output). always_call: also after an error. prepend: before other hooks."""
        return add_hook(
            self._forward_hooks,
            hook,
            prepend,
            kwargs=(self._forward_hooks_with_kwargs, with_kwargs),
            always=(self._forward_hooks_always_called, always_call),
        )

    def _set_kind(self, is_full: bool) -> None:
        if self._is_full_backward_hook is (not is_full):
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only one of them."
            )
        self._is_full_backward_hook = is_full

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call hook(module, grad_output) when the gradients of the outputs are known. A returned tuple takes their place."""
        return add_hook(self._backward_pre_hooks, hook, prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call hook(module, grad_input, grad_output) when the gradients of the inputs are known.

        A returned tuple takes the place of grad_input. grad_input has an entry for each positional argument, None for one
        that is no tensor or requires no gradient."""
        self._set_kind(True)
        return add_hook(self._backward_hooks, hook, prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call hook(module, grad_input, grad_output) at the node that made the output. Deprecated in favour of
        register_full_backward_hook: grad_input is that of the last operation alone."""
        self._set_kind(False)
        return add_hook(self._backward_hooks, hook)

    def _get_backward_hooks(self) -> tuple[list[Any], list[Any]]:
        return _hooks.backward_hooks(self)

    def _get_backward_pre_hooks(self) -> list[Any]:
        return _hooks.backward_pre_hooks(self)

    def _maybe_warn_non_full_backward_hook(self, inputs: Any, result: Any, grad_fn: Any) -> None:
        _hooks.warn_non_full(inputs, result, grad_fn)

    # -- printing ------------------------------------------------------------------------------------------------------

    def _get_name(self) -> str:
        return self.__class__.__name__

    def extra_repr(self) -> str:
        """Text that repr shows in the parentheses. Layers give their arguments."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = [f"({name}): " + _addindent(repr(module), 2) for name, module in self._modules.items()]
        if not lines and "\n" not in extra:
            return f"{self._get_name()}({extra})"
        return f"{self._get_name()}(\n  " + "\n  ".join((extra.split("\n") if extra else []) + lines) + "\n)"


_HOOK_DICTS = [name for name in vars(Module()) if name.endswith(("_hooks", "_hooks_with_kwargs", "_hooks_always_called"))]
