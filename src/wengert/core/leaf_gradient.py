"""Gradients of a leaf: .grad, and the dtype that gradients have there. Not compiled: read between passes."""

from __future__ import annotations

import warnings
from typing import Any
from weakref import WeakValueDictionary

from wengert import dtypes, errors
from wengert.backends.selection import device_name, others
from wengert.core.node import make_meta
from wengert.core.stacks import user_level
from wengert.core.tensor import HAS_GRAD_DTYPE, RETAINS_GRAD, TensorBase, accumulator_of, attach
from wengert.dtypes import dtype as _dtype


class GradientMembers:
    """Members of Tensor. See Note [Gradients of another dtype]."""

    # Note [Gradients of another dtype]
    # The dtype of a gradient is that of the edge it arrives by, and the edges to a leaf end in its AccumulateGrad. So a
    # leaf with HAS_GRAD_DTYPE gives that node another dtype than its own: None lets any pass. The choice itself is in
    # the tensor's __dict__, as few leaves ever have one.

    __slots__ = ()

    @property
    def grad(self: Any) -> TensorBase | None:
        """Gradient that backward passes have accumulated for this leaf. None before the first pass. Assign None to reset it."""
        # _grad_fn, not grad_fn: of a view that may not be used any more, this much may be asked.
        if self._grad is None and self._requires_grad and self._grad_fn is not None and not self._flags & RETAINS_GRAD:
            warnings.warn(
                "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
                "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf "
                "Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make "
                "sure you access the leaf Tensor instead.",
                stacklevel=user_level(),
            )
        held: TensorBase | None = self._grad
        return held

    @grad.setter
    def grad(self: Any, value: TensorBase | None) -> None:
        if value is not None:
            if not isinstance(value, TensorBase):
                raise errors.GradientTypeError(
                    f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}"
                )
            if value is self:
                raise errors.GradientError("can't assign Variable as its own grad")
            if value._array.shape != self._array.shape:
                raise errors.GradientError(
                    f"attempting to assign a gradient of size '{list(value._array.shape)}' to a tensor of size "
                    f"'{list(self._array.shape)}'. Please ensure that the gradient and the tensor are the same size"
                )
            if others and device_name(value._array) != device_name(self._array):
                raise errors.GradientError(
                    f"attempting to assign a gradient with device type '{device_name(value._array)}' to a tensor with device type "
                    f"'{device_name(self._array)}'. Please ensure that the gradient and the tensor are on the same device"
                )
            if value._array.dtype != self._array.dtype or self._flags & HAS_GRAD_DTYPE:
                wanted = grad_dtype_of(self)
                if wanted is not None and value._array.dtype != wanted:
                    raise errors.GradientError(
                        f"attempting to assign a gradient with dtype '{errors.c_name(value._array.dtype)}' to a tensor "
                        f"with grad_dtype '{errors.scalar_name(wanted)}'. The gradient must match the tensor's grad_dtype "
                        "(defaults to the tensor's dtype). You can set the tensor's grad_dtype attribute with a specific "
                        "dtype, or None to allow any dtype. Set grad_dtype with caution. Diverging the dtypes of a tensor "
                        "and its gradient may break downstream systems that assume they match."
                    )
            if value._grad_fn is not None:
                attach(self)
        self._grad = value

    @grad.deleter
    def grad(self: Any) -> None:
        self._grad = None

    @property
    def grad_dtype(self: Any) -> _dtype | None:
        """The dtype to which gradients of this leaf are cast: its own, unless another one was assigned; None lets any pass.

        Raises RuntimeError for a tensor that is no leaf, for what is no dtype, and while .grad has another dtype.

        >>> import wengert
        >>> x = wengert.ones(2, requires_grad=True)
        >>> x.grad_dtype = wengert.float64
        >>> (3 * x).sum().backward()
        >>> x.grad
        tensor([3., 3.], dtype=torch.float64)
        """
        if not self.is_leaf:
            raise errors.GradientError("grad_dtype can only be accessed on leaf tensors.")
        wanted = grad_dtype_of(self)
        return None if wanted is None else dtypes.from_numpy_dtype(wanted)

    @grad_dtype.setter
    def grad_dtype(self: Any, value: _dtype | None) -> None:
        if not self.is_leaf:
            raise errors.GradientError("grad_dtype can only be set on leaf tensors.")
        if value is not None and not isinstance(value, _dtype):
            raise errors.GradientError(f"grad_dtype must be a torch.dtype or None, but got {type(value).__name__}")
        wanted = None if value is None else dtypes.as_numpy_dtype(value)
        if self._grad is not None and wanted is not None and self._grad._array.dtype != wanted:
            raise errors.GradientError(
                f"Cannot set grad_dtype to '{errors.scalar_name(wanted)}' because there is already a gradient with dtype "
                f"'{errors.c_name(self._grad._array.dtype)}'. Please clear the gradient (.grad = None) before changing "
                "grad_dtype, or ensure the new grad_dtype matches the existing gradient's dtype."
            )
        self.__dict__["_grad_dtype"] = wanted
        self._flags |= HAS_GRAD_DTYPE
        if self._requires_grad:
            accumulator_of(self)._meta = make_meta(self._array, wanted)


_aside: WeakValueDictionary[int, Any] = WeakValueDictionary()  # by the leaf's id: what set_accumulator_aside has replaced


def set_accumulator_aside(leaf: TensorBase) -> None:
    """Let the next use of a leaf, whose shape or dtype changes, make a new AccumulateGrad.

    Graphs that exist hold the old one, which expects gradients of the old shape and dtype."""
    node = None if leaf._accumulator is None else leaf._accumulator()
    if node is not None:
        _aside[id(leaf)] = node
    leaf._accumulator = None


def accumulator_aside(leaf: TensorBase) -> Any:
    """The AccumulateGrad that set_accumulator_aside replaced, if graphs hold it and the leaf was not used since, or None."""
    node = _aside.get(id(leaf)) if leaf._accumulator is None else None
    is_its_own = node is not None and node._variable is leaf and node._meta.dtype == leaf._array.dtype
    return node if is_its_own else None


def grad_dtype_of(tensor: Any) -> Any:
    """The NumPy dtype of a leaf's gradient; None: any."""
    return tensor.__dict__["_grad_dtype"] if tensor._flags & HAS_GRAD_DTYPE else tensor._array.dtype
