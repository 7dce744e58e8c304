"""Members of Tensor for its subclasses: how they are made, and how results of operations become theirs. Not compiled.

See Note [Overrides]. Operations return tensors of class Tensor. The __torch_function__ that subclasses inherit runs a call with
overrides of subclasses switched off, and makes its results views of the subclass, as torch does.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from wengert import errors
from wengert.core.dispatch import call1
from wengert.core.op import Op
from wengert.core.override import (
    DisableTorchFunction,
    DisableTorchFunctionSubclass,
    begin_overriding,
    disabled_torch_function,
    is_plain_tensor,
)
from wengert.core.tensor import IS_INFERENCE, TensorBase, counter_of, is_differentiable, wrap_as

_alias: list[Any] = []  # the operation that makes a view of a whole tensor, and class Tensor


def set_alias(op: Op, cls: type) -> None:
    """Install the operation that makes a view of a whole tensor, and class Tensor. wengert.tensor calls it, once, at import."""
    _alias[:] = [op, cls]


@cache
def not_wrapped(cls: Any) -> tuple[Any, ...]:
    """Return the functions whose results Tensor.__torch_function__ leaves as they are. cls: Tensor."""
    begin_overriding()  # which gives Tensor its final members
    return cls.grad.__get__, cls._base.__get__


class SubclassMembers:
    """Members of Tensor that concern subclasses."""

    __slots__ = ()

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        """Run func(*args, **kwargs) and return its result with tensors made tensors of cls.

        types: the classes of the arguments that take calls over. Returns NotImplemented if cls is no subclass of all of them.
        """
        if not all(issubclass(cls, kind) for kind in types):
            return NotImplemented
        with DisableTorchFunctionSubclass():
            result = func(*args, **(kwargs or {}))
            return result if func in not_wrapped(_alias[1]) else convert(result, cls)

    def as_subclass(self: Any, cls: type) -> Any:
        """Return a view of this tensor that is of class cls, a subclass of Tensor. The derivative passes through it.

        Raises TypeError if cls is no class of tensors.
        """
        if not (isinstance(cls, type) and issubclass(cls, SubclassMembers)):
            raise TypeError(
                "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. Make sure your "
                "class inherits from Tensor."
            )
        result = call1(_alias[0], self)
        if type(result) is cls:
            return result
        prepare(cls)
        try:
            result.__class__ = cls
        except TypeError:  # the class has slots
            result = _moved(result, cls)
        return result

    @staticmethod
    def _make_subclass(cls: Any, data: Any, require_grad: bool = False, **_: Any) -> Any:
        """Return a leaf of class cls that shares the memory and the version counter of data."""
        if not isinstance(data, TensorBase):
            raise AttributeError(f"{type(data).__name__!r} object has no attribute 'detach'")
        if require_grad and not is_differentiable(data._array):
            raise errors.integer_requires_grad(dtype=data._array.dtype)
        held: Any = data
        with DisableTorchFunction():
            data = held.resolve_conj().resolve_neg()
        result = wrap_as(cls, data._array)
        prepare(cls)
        result._counter = counter_of(data)
        result._flags = data._flags & IS_INFERENCE
        result._requires_grad = bool(require_grad)
        return result

    @staticmethod
    def _make_wrapper_subclass(cls: Any, *args: Any, **options: Any) -> Any:
        """Raise TypeError: a tensor without memory needs __torch_dispatch__, which this package does not call."""
        if not hasattr(cls, "__torch_dispatch__"):
            raise TypeError(f"{cls.__name__} must define __torch_dispatch__")
        raise errors.MissingFeatureError(
            "Tensors without memory (_make_wrapper_subclass) need __torch_dispatch__, which wengert does not call. "
            "Hint: keep the wrapped tensors as attributes of a class with __torch_function__."
        )


def _moved(tensor: Any, cls: Any) -> Any:
    """Return a tensor of class cls in the place of a new view."""
    result = wrap_as(cls, tensor._array)
    for name in ("_requires_grad", "_flags", "_output_nr", "_grad_fn", "_counter", "_view"):
        setattr(result, name, getattr(tensor, name))
    return result


def prepare(cls: Any) -> None:
    """Begin overriding if cls, of which a tensor was made, takes calls over."""
    if not is_plain_tensor(cls) and cls.__torch_function__ is not disabled_torch_function:
        begin_overriding()


def convert(result: Any, cls: Any) -> Any:
    """Return a result with its tensors, also those in tuples and lists, made tensors of cls."""
    if isinstance(result, TensorBase):
        held: Any = result
        return held if isinstance(held, cls) or is_plain_tensor(cls) else held.as_subclass(cls)
    if isinstance(result, (tuple, list)) and any(isinstance(x, (TensorBase, tuple, list)) for x in result):
        parts = [convert(x, cls) for x in result]
        return type(result)(parts) if type(result) in (tuple, list) else _rebuilt(result, parts)
    return result


def _rebuilt(result: Any, parts: list[Any]) -> Any:
    make = getattr(type(result), "_make", None)  # of a named tuple
    return type(result)(parts) if make is None else make(parts)
