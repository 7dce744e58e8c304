"""Layer, group and RMS norms, and local response normalisation."""

from __future__ import annotations

import numbers
from typing import Any

from wengert.nn import functional as F, init
from wengert.nn.modules.module import Module
from wengert.nn.modules.utils import empty_parameter
from wengert.ops import function

_tensor: Any = function("", "tensor")

__all__ = ["CrossMapLRN2d", "GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]


def _shape_of(normalized_shape: Any) -> tuple[int, ...]:
    return (int(normalized_shape),) if isinstance(normalized_shape, numbers.Integral) else tuple(normalized_shape)


class LocalResponseNorm(Module):
    """Divide each channel by a power of the mean square of `size` neighbouring channels. See
    nn.functional.local_response_norm."""

    __constants__ = ["size", "alpha", "beta", "k"]

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Any) -> Any:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(LocalResponseNorm):
    """Divide each channel of images, (N, C, H, W), by a power of a sum of squares of neighbouring channels.

    torch sums the squares in a window that moves along the channels. Channel 0 never leaves the window, which is kept here."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__(size, alpha, beta, k)

    def forward(self, input: Any) -> Any:
        squares = (input * input).flatten(2)
        sums = (self._windows(input.shape[1]).to(input.dtype) @ squares).reshape(input.shape)
        return input * (sums * (self.alpha / self.size) + self.k) ** -self.beta

    def _windows(self, channels: int) -> Any:
        """Return a matrix of 0 and 1, (channels, channels): row c selects the squares whose sum belongs to channel c."""
        ahead = (self.size - 1) // 2 + 1
        rows, window = [], set(range(min(ahead, channels)))
        for channel in range(channels):
            if channel > 0:
                window |= {channel + ahead - 1} & set(range(channels))
            if channel > ahead:
                window -= {channel - ahead}
            rows.append([float(other in window) for other in range(channels)])
        return _tensor(rows)


class LayerNorm(Module):
    """Normalise the last dimensions, of shape normalized_shape, to mean 0 and variance 1. See nn.functional.layer_norm.

    weight, which starts at 1, and bias, which starts at 0, have that shape."""

    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape_of(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        for name, is_there in (("weight", elementwise_affine), ("bias", elementwise_affine and bias)):
            self.register_parameter(name, empty_parameter(self.normalized_shape, device, dtype) if is_there else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set weight to 1 and bias to 0."""
        if self.elementwise_affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def forward(self, input: Any) -> Any:
        own = self._parameters  # see Note [Weights in forward] in module.py
        if "weight" in own and "bias" in own:
            return F.layer_norm(input, self.normalized_shape, own["weight"], own["bias"], self.eps)
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class GroupNorm(Module):
    """Normalise each of num_groups groups of channels to mean 0 and variance 1. See nn.functional.group_norm.

    weight, which starts at 1, and bias, which starts at 0, have shape (num_channels)."""

    __constants__ = ["num_groups", "num_channels", "eps", "affine"]

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        for name, is_there in (("weight", affine), ("bias", affine and bias)):
            self.register_parameter(name, empty_parameter(num_channels, device, dtype) if is_there else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set weight to 1 and bias to 0."""
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def forward(self, input: Any) -> Any:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """Divide the last dimensions, of shape normalized_shape, by their root mean square. See nn.functional.rms_norm.

    weight, which starts at 1, has that shape."""

    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]

    def __init__(
        self,
        normalized_shape: Any,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape_of(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        weight = empty_parameter(self.normalized_shape, device, dtype) if elementwise_affine else None
        self.register_parameter("weight", weight)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set weight to 1."""
        if self.elementwise_affine:
            init.ones_(self.weight)

    def forward(self, x: Any) -> Any:
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
