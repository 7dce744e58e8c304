"""Padding layers. padding: a number for all sides, or pairs of numbers, last dimension first."""

from __future__ import annotations

from typing import Any

from wengert.nn import functional as F
from wengert.nn.modules.module import Module
from wengert.nn.modules.utils import _ntuple

__all__ = [
    "CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d",
    "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d",
    "ReplicationPad3d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d",
]  # fmt: skip


class _PadNd(Module):
    """Base of paddings: `_ndim` dimensions are padded, in the mode of F.pad that `_mode` names."""

    __constants__ = ["padding"]
    _ndim: int
    _mode: str

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = _ntuple(2 * self._ndim)(padding)

    def forward(self, input: Any) -> Any:
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _CircularPadNd(_PadNd):
    _mode = "circular"

    def forward(self, input: Any) -> Any:
        self._check_input_dim(input)
        return super().forward(input)

    def _check_input_dim(self, input: Any) -> None:
        if input.ndim not in (self._ndim + 1, self._ndim + 2):
            raise ValueError(f"expected {self._ndim + 1}D or {self._ndim + 2}D input (got {input.ndim}D input)")


class CircularPad1d(_CircularPadNd):
    """Pad sequences as if they were periodic."""

    _ndim = 1


class CircularPad2d(_CircularPadNd):
    """Pad images as if they were periodic."""

    _ndim = 2


class CircularPad3d(_CircularPadNd):
    """Pad volumes as if they were periodic."""

    _ndim = 3


class _ConstantPadNd(_PadNd):
    __constants__ = ["padding", "value"]
    _mode = "constant"

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Any) -> Any:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """Pad sequences with a value."""

    _ndim = 1


class ConstantPad2d(_ConstantPadNd):
    """Pad images with a value."""

    _ndim = 2


class ConstantPad3d(_ConstantPadNd):
    """Pad volumes with a value."""

    _ndim = 3


class _ReflectionPadNd(_PadNd):
    _mode = "reflect"


class ReflectionPad1d(_ReflectionPadNd):
    """Pad sequences with their reflection, without the last element."""

    _ndim = 1


class ReflectionPad2d(_ReflectionPadNd):
    """Pad images with their reflection, without the last elements."""

    _ndim = 2


class ReflectionPad3d(_ReflectionPadNd):
    """Pad volumes with their reflection, without the last elements."""

    _ndim = 3


class _ReplicationPadNd(_PadNd):
    _mode = "replicate"


class ReplicationPad1d(_ReplicationPadNd):
    """Pad sequences with their last elements."""

    _ndim = 1


class ReplicationPad2d(_ReplicationPadNd):
    """Pad images with their last elements."""

    _ndim = 2


class ReplicationPad3d(_ReplicationPadNd):
    """Pad volumes with their last elements."""

    _ndim = 3


class ZeroPad1d(ConstantPad1d):
    """Pad sequences with 0."""

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad2d(ConstantPad2d):
    """Pad images with 0."""

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad3d(ConstantPad3d):
    """Pad volumes with 0."""

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"
