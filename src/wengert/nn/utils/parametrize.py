"""Parametrisations: parameters that are functions of others, computed when they are read."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from wengert.core.modes import set_recording
from wengert.core.tensor import TensorBase
from wengert.nn.modules.container import ModuleDict, ModuleList
from wengert.nn.modules.module import Module
from wengert.nn.parameter import Parameter

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization", "remove_parametrizations",
    "transfer_parametrizations_and_params", "type_before_parametrizations",
]  # fmt: skip

_cache_enabled = 0
_cache: dict[tuple[int, str], Any] = {}


@contextmanager
def cached() -> Iterator[None]:
    """Compute each parametrised tensor once within a with block."""
    global _cache_enabled
    _cache_enabled += 1
    try:
        yield
    finally:
        _cache_enabled -= 1
        if not _cache_enabled:
            _cache.clear()


def _register(module: Module, name: str, tensor: Any) -> None:
    """Register the tensor as a parameter, or as a buffer if it is none."""
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


class ParametrizationList(ModuleList):
    """The parametrisations of one tensor, in the order in which they are applied, and the tensor or tensors that they start
    from: `original`, or `original0`, `original1` and so on."""

    original: Any
    unsafe: bool

    def __init__(self, modules: Sequence[Module], original: Any, unsafe: bool = False) -> None:
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        with set_recording(False):
            start: Any = original
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    try:
                        start = module.right_inverse(start)
                    except NotImplementedError:
                        pass
        self.is_tensor = isinstance(start, TensorBase)
        if not self.is_tensor and not isinstance(start, Sequence):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got "
                f"{type(start).__name__}"
            )
        self.ntensors = 1 if self.is_tensor else len(start)
        if self.is_tensor:
            if start is not original:
                original.data = start.detach()  # the parameter itself stays, so that optimizers go on with it
            _register(self, "original", original)
        else:
            for i, tensor in enumerate(start):
                if isinstance(original, Parameter):
                    tensor = Parameter(tensor, original.requires_grad)
                _register(self, f"original{i}", tensor)
        if not unsafe:
            _check_result(self(), original, "Registering a parametrization")

    def _originals(self) -> list[Any]:
        return [self.original] if self.is_tensor else [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def right_inverse(self, value: Any) -> None:
        """Set the originals so that the parametrised tensor becomes value. Raises RuntimeError if that is not known how."""
        with set_recording(False):
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
            for original, new in zip(self._originals(), [value] if self.is_tensor else value, strict=True):
                original.data = new.detach()

    def forward(self) -> Any:
        """Return the parametrised tensor."""
        first, *others = self
        result = first(*self._originals())
        for module in others:
            result = module(result)
        return result


def _check_result(result: Any, original: Any, action: str) -> None:
    """Raise ValueError unless the parametrised tensor has the original's dtype and shape."""
    if not isinstance(result, TensorBase):
        raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
    found: Any = result
    for what in ("dtype", "shape"):
        if getattr(found, what) != getattr(original, what):
            raise ValueError(
                f"{action} may not change the {what} of the tensor, unless `unsafe` flag is enabled.\n"
                f"unparametrized {what}: {getattr(original, what)}\nparametrized {what}: {getattr(found, what)}"
            )


def _no_pickle(self: Any) -> Any:
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict(). See:\n"
        "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
        "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
    )


def _deepcopy(self: Any, memo: dict[int, Any]) -> Any:
    if id(self) not in memo:
        memo[id(self)] = replica = self.__new__(type(self))
        replica.__dict__ = copy.deepcopy(self.__dict__, memo)
    return memo[id(self)]


def _inject_new_class(module: Module) -> None:
    """Give the module a class of its own, to which properties can be added."""
    cls = type(module)
    members: dict[str, Any] = {"__getstate__": _no_pickle, "__module__": cls.__module__}
    if not hasattr(cls, "__deepcopy__"):
        members["__deepcopy__"] = _deepcopy
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), members)


def _inject_property(module: Module, tensor_name: str) -> None:
    """Make the name a property: reading computes the tensor, writing sets the originals."""

    def read(self: Any) -> Any:
        if not _cache_enabled:
            return self.parametrizations[tensor_name]()
        key = (id(self), tensor_name)
        if key not in _cache:
            _cache[key] = self.parametrizations[tensor_name]()
        return _cache[key]

    def write(self: Any, value: Any) -> None:
        self.parametrizations[tensor_name].right_inverse(value)

    setattr(type(module), tensor_name, property(read, write))


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Make a parameter or buffer of the module the result of parametrization(original).

    The module gets a class of its own, and module.parametrizations.<tensor_name> holds the original. If parametrization has
    right_inverse, the original is that of the present value, and the tensor can be assigned to. A second parametrisation
    takes the result of the first. Raises ValueError if the result has another dtype or shape, unless `unsafe`, or if the
    module has no such tensor."""
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        parts: Any = module.parametrizations[tensor_name]
        if not unsafe:
            before = getattr(module, tensor_name)
            _check_result(parametrization(before), before, "Registering a parametrization")
            if hasattr(parametrization, "right_inverse"):
                inverse = parametrization.right_inverse(before)
                _check_result(inverse, before, "Registering a parametrization")
        parts.append(parametrization)
        parts.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        parts = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _inject_new_class(module)
            module.parametrizations = ModuleDict()
        _inject_property(module, tensor_name)
        module.parametrizations[tensor_name] = parts
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name '{tensor_name}'"
        )
    return module


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether the tensor of this name, or any tensor of the module if None, is parametrised."""
    found = getattr(module, "parametrizations", None)
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Make a parametrised tensor an ordinary one: with its present value, or the original's unless leave_parametrized.

    Raises ValueError if it is not parametrised, or has several originals and shall not keep its value."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    parts: Any = module.parametrizations[tensor_name]
    tensor: Any = parts.original if parts.is_tensor else None
    if leave_parametrized:
        value = getattr(module, tensor_name)
        if parts.is_tensor:
            tensor.data = value.detach()
        else:
            tensor = Parameter(value.detach()) if value.requires_grad else value
    elif not parts.is_tensor:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a sequence of "
            "tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, tensor)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """Return the class that the module had before parametrisations."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Give to_module the parametrisations of from_module, and their originals. Return to_module."""
    if not is_parametrized(from_module):
        return to_module
    for name in list(from_module.parametrizations) if tensor_name is None else [tensor_name]:
        parts = from_module.parametrizations[name]
        if not hasattr(to_module, name):
            _register(to_module, name, copy.deepcopy(parts._originals()[0]))
        for part in parts:
            register_parametrization(to_module, name, part, unsafe=parts.unsafe)
        for own in parts._parameters.keys() | parts._buffers.keys():
            setattr(to_module.parametrizations[name], own, getattr(parts, own))
    return to_module
