"""Gradients of convolutions in their input and their weight, as functions."""

from __future__ import annotations

from typing import Any

from wengert.autograd import grad as _grad
from wengert.nn import functional as F
from wengert.ops import function

_zeros: Any = function("", "zeros")


def _of_input(conv: Any, input_size: Any, weight: Any, grad_output: Any, *options: Any) -> Any:
    x = _zeros(tuple(input_size), dtype=weight.dtype, requires_grad=True)
    return _grad(conv(x, weight, None, *options), x, grad_output)[0]


def _of_weight(conv: Any, input: Any, weight_size: Any, grad_output: Any, *options: Any) -> Any:
    weight = _zeros(tuple(weight_size), dtype=input.dtype, requires_grad=True)
    return _grad(conv(input, weight, None, *options), weight, grad_output)[0]


def conv1d_input(
    input_size: Any, weight: Any, grad_output: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Any:
    """Return the gradient of conv1d in its input, of shape input_size."""
    return _of_input(F.conv1d, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv1d_weight(
    input: Any, weight_size: Any, grad_output: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Any:
    """Return the gradient of conv1d in its weight, of shape weight_size."""
    return _of_weight(F.conv1d, input, weight_size, grad_output, stride, padding, dilation, groups)


def conv2d_input(
    input_size: Any, weight: Any, grad_output: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Any:
    """Return the gradient of conv2d in its input, of shape input_size."""
    return _of_input(F.conv2d, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv2d_weight(
    input: Any, weight_size: Any, grad_output: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Any:
    """Return the gradient of conv2d in its weight, of shape weight_size."""
    return _of_weight(F.conv2d, input, weight_size, grad_output, stride, padding, dilation, groups)


def conv3d_input(
    input_size: Any, weight: Any, grad_output: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Any:
    """Return the gradient of conv3d in its input, of shape input_size."""
    return _of_input(F.conv3d, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv3d_weight(
    input: Any, weight_size: Any, grad_output: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Any:
    """Return the gradient of conv3d in its weight, of shape weight_size."""
    return _of_weight(F.conv3d, input, weight_size, grad_output, stride, padding, dilation, groups)
