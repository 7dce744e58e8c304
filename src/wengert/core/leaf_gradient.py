"""What a leaf keeps of its gradients: .grad, and the dtype that gradients have there. Not compiled: read between passes."""

from __future__ import annotations

import warnings
from typing import Any

from wengert import dtypes, errors
from wengert.core.node import make_meta
from wengert.core.tensor import HAS_GRAD_DTYPE, RETAINS_GRAD, TensorBase, accumulator_of
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
        """What backward passes have accumulated for this leaf; None before the first. Assign None to reset it."""
        # _grad_fn, not grad_fn: of a view that may not be used any more, this much may be asked.
        if self._grad is None and self._requires_grad and self._grad_fn is not None and not self._flags & RETAINS_GRAD:
            warnings.warn(errors.non_leaf_grad(), stacklevel=2)
        held: TensorBase | None = self._grad
        return held

    @grad.setter
    def grad(self: Any, value: TensorBase | None) -> None:
        if value is not None:
            if not isinstance(value, TensorBase):
                raise errors.grad_assigned_type(type(value))
            if value is self:
                raise errors.grad_assigned_itself()
            if value._array.shape != self._array.shape:
                raise errors.grad_assigned_shape(value._array.shape, self._array.shape)
            if value._array.dtype != self._array.dtype or self._flags & HAS_GRAD_DTYPE:
                wanted = grad_dtype_of(self)
                if wanted is not None and value._array.dtype != wanted:
                    raise errors.grad_assigned_dtype(value._array.dtype, wanted)
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
            raise errors.grad_dtype_of_non_leaf("accessed")
        wanted = grad_dtype_of(self)
        return None if wanted is None else dtypes.from_numpy_dtype(wanted)

    @grad_dtype.setter
    def grad_dtype(self: Any, value: _dtype | None) -> None:
        if not self.is_leaf:
            raise errors.grad_dtype_of_non_leaf("set")
        if value is not None and not isinstance(value, _dtype):
            raise errors.grad_dtype_type(type(value))
        wanted = None if value is None else dtypes.as_numpy_dtype(value)
        if self._grad is not None and wanted is not None and self._grad._array.dtype != wanted:
            raise errors.grad_dtype_of_existing(wanted, self._grad._array.dtype)
        self.__dict__["_grad_dtype"] = wanted
        self._flags |= HAS_GRAD_DTYPE
        if self._requires_grad:
            accumulator_of(self)._meta = make_meta(self._array.shape, wanted)


def grad_dtype_of(tensor: Any) -> Any:
    """The NumPy dtype of a leaf's gradient; None: any."""
    return tensor.__dict__["_grad_dtype"] if tensor._flags & HAS_GRAD_DTYPE else tensor._array.dtype
