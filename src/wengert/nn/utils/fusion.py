"""Fusion of a layer and the batch norm after it into one layer, for inference."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from wengert.nn.parameter import Parameter

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]


def _check_eval(*modules: Any) -> None:
    if any(module.training for module in modules):
        raise AssertionError("Fusion only for eval!")


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """Return a copy of a convolution that does what conv and then bn do. transpose: conv is a transposed one.

    Raises AssertionError unless both are in evaluation mode."""
    _check_eval(conv, bn)
    fused = deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose
    )
    return fused


def fuse_conv_bn_weights(
    conv_w: Any, conv_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any, transpose: bool = False
) -> tuple[Any, Any]:
    """Return (weight, bias) of a convolution that includes a batch norm with these statistics, weight and bias."""
    scale = (bn_rv + bn_eps).rsqrt()
    if bn_w is not None:
        scale = scale * bn_w
    shape = [1] * conv_w.ndim
    shape[1 if transpose else 0] = -1
    shift = -bn_rm if conv_b is None else conv_b - bn_rm
    bias = shift * scale
    if bn_b is not None:
        bias = bias + bn_b
    weight = (conv_w * scale.reshape(shape)).to(conv_w.dtype)
    requires_grad = conv_w.requires_grad if conv_b is None else conv_b.requires_grad
    return Parameter(weight.detach(), conv_w.requires_grad), Parameter(bias.detach().to(conv_w.dtype), requires_grad)


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """Return a copy of a Linear that does what linear and then bn do. Raises AssertionError unless both are in evaluation
    mode, and if bn has another number of features, unless it is 1."""
    _check_eval(linear, bn)
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError("To fuse, linear.out_features == bn.num_features or bn.num_features == 1")
    fused = deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused


def fuse_linear_bn_weights(
    linear_w: Any, linear_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any
) -> tuple[Any, Any]:
    """Return (weight, bias) of a Linear that includes a batch norm with these statistics, weight and bias."""
    return fuse_conv_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)
