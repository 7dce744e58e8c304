"""Parameter and Buffer: the tensors that a Module registers when they become its attributes.

A Parameter is a Tensor of its own class. A Buffer is an ordinary tensor with a mark, as in torch. A tensor of a user's
subclass becomes a Parameter by a mark, too, and keeps its class.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from wengert.backends.selection import device_name, move
from wengert.core.override import DisableTorchFunctionSubclass, disabled_torch_function
from wengert.core.subclass import SubclassMembers
from wengert.core.tensor import TensorBase, wrap
from wengert.dtypes import as_numpy_dtype, get_default_dtype
from wengert.ops.options import place_of
from wengert.tensor import Tensor

__all__ = [
    "Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "UninitializedTensorMixin", "is_lazy",
]  # fmt: skip


_make_subclass = SubclassMembers._make_subclass


def _empty() -> Any:
    return wrap(np.empty(0, as_numpy_dtype(get_default_dtype())))


class _ParameterMeta(type(Tensor)):  # type: ignore[misc]
    """Make calls construct by __new__, and isinstance(x, Parameter) true for tensors that are marked as parameters."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if type.__instancecheck__(cls, instance):
            return True
        return cls is Parameter and isinstance(instance, TensorBase) and getattr(instance, "_is_param", False)


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A leaf tensor that a Module registers as a parameter when it becomes an attribute.

    data: a tensor, whose memory the parameter shares; None makes an empty one. requires_grad: whether the parameter
    requires a gradient. Raises RuntimeError if it does and the dtype is not floating or complex. Results of operations are
    ordinary tensors.

    >>> import wengert
    >>> wengert.nn.Parameter(wengert.ones(2))
    Parameter containing:
    tensor([1., 1.], requires_grad=True)
    """

    __torch_function__ = disabled_torch_function

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Self:
        if data is None:
            data = _empty()
        if type(data) in (Tensor, Parameter) or not isinstance(data, Tensor):
            return _make_subclass(cls, data, requires_grad)
        result = _make_subclass(type(data), data, requires_grad)
        result._is_param = True
        return result

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.data.clone(), self.requires_grad)
        return memo[id(self)]

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()

    __str__ = __repr__


class _BufferMeta(type(Tensor)):  # type: ignore[misc]
    """Make calls construct by __new__, and isinstance(x, Buffer) true for tensors that are marked as buffers."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if type.__instancecheck__(cls, instance):
            return True
        return cls is Buffer and isinstance(instance, TensorBase) and getattr(instance, "_is_buffer", False)


class Buffer(Tensor, metaclass=_BufferMeta):
    """A tensor that a Module registers as a buffer when it becomes an attribute: state that is no parameter.

    data: a tensor, whose memory the buffer shares; None makes an empty one. persistent: whether state_dict holds the
    buffer. The result is an ordinary tensor, for which isinstance(result, Buffer) is True.
    """

    persistent: bool
    __torch_function__ = disabled_torch_function

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Self:
        if data is None:
            data = _empty()
        result = _make_subclass(type(data) if isinstance(data, Tensor) else cls, data, getattr(data, "requires_grad", False))
        result.persistent = persistent
        result._is_buffer = True
        return result


def _no_access(what: str) -> RuntimeError:
    return RuntimeError(
        f"Can't access the {what} of an uninitialized parameter or buffer. This error usually happens in `load_state_dict` "
        "when trying to load an uninitialized parameter into an initialized one. Call `forward` to initialize the "
        "parameters before accessing their attributes."
    )


_NEED_NO_VALUES = frozenset({
    "size", "copy_", "is_complex", "is_floating_point", "half", "float", "double", "char", "short", "int", "long", "cuda", "cpu",
    "to", "get_device", "requires_grad_", "__repr__", "__deepcopy__",
})  # fmt: skip


class UninitializedTensorMixin:
    """A parameter or buffer of a lazy module before its shape is known. `materialize` gives it memory."""

    cls_to_become: Any = None
    _array: Any
    data: Any

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Give the tensor uninitialised memory of this shape and dtype, and its final class, Parameter or Tensor."""
        wanted = self._array.dtype if dtype is None else as_numpy_dtype(dtype)
        where = device_name(self._array) if device is None else place_of(device)
        self.data = wrap(move(np.empty(tuple(shape), wanted), where))
        self.__class__ = self.cls_to_become

    @property
    def shape(self) -> Any:
        """Raise RuntimeError: the shape is not known yet."""
        raise _no_access("shape")

    def share_memory_(self) -> Any:
        """Raise RuntimeError: there is no memory yet."""
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters before "
            "calling `module.share_memory()`."
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    __str__ = __repr__

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run what needs no values: reading attributes, and casts. Raise ValueError for other operations."""
        if type(func).__name__ == "method-wrapper" or getattr(func, "__name__", "") in _NEED_NO_VALUES:
            with DisableTorchFunctionSubclass():
                return func(*args, **(kwargs or {}))
        raise ValueError(
            f"Attempted to use an uninitialized parameter in {func}. This error happens when you are using a `LazyModule` or "
            f"explicitly manipulating `torch.nn.parameter.{cls.__name__}` objects. When using LazyModules Call `forward` "
            "with a dummy batch to initialize the parameters before calling torch functions"
        )


def is_lazy(param: Any) -> bool:
    """Whether param is a parameter or buffer that is not initialised yet."""
    return isinstance(param, UninitializedTensorMixin)


def _uninitialized(cls: type, requires_grad: bool, device: Any, dtype: Any) -> Any:
    array = np.empty(0, as_numpy_dtype(get_default_dtype() if dtype is None else dtype))
    return _make_subclass(cls, wrap(move(array, place_of(device))), requires_grad)


class UninitializedParameter(UninitializedTensorMixin, Parameter):  # type: ignore[misc]
    """A parameter whose shape is found at the first forward of its lazy module."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        return _uninitialized(cls, requires_grad, device, dtype)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, dtype=self.dtype)
        return memo[id(self)]


class UninitializedBuffer(UninitializedTensorMixin, Tensor, metaclass=_BufferMeta):
    """A buffer whose shape is found at the first forward of its lazy module."""

    cls_to_become = Tensor

    def __new__(
        cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True
    ) -> Any:
        result = _uninitialized(cls, requires_grad, device, dtype)
        result.persistent = persistent
        result._is_buffer = True
        return result


def __dir__() -> list[str]:
    return sorted(__all__)
