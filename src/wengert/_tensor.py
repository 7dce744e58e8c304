"""torch._tensor: the private module in which torch defines Tensor."""

from wengert.tensor import Tensor as Tensor

__all__ = ["Tensor"]
