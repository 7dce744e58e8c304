"""Normalisations with their statistics, norms and samplers under the names that torch's own layer uses for them."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from wengert import errors
from wengert.backends.selection import backend_of
from wengert.core.tensor import wrap
from wengert.ops.dims import normalize_dim
from wengert.ops.indices import raw
from wengert.ops.registry import composite


@composite()
def native_layer_norm(F, input, normalized_shape, weight, bias, eps):
    """Return (layer_norm, mean, 1 / sqrt(variance + eps)). The last two have the normalised dims with size 1.

    Derivative: as layer_norm, also for the last two results."""
    shape = tuple(normalized_shape)
    if not shape or tuple(input.shape[-len(shape) :]) != shape:
        raise errors.layer_norm_input(shape, input.shape)
    for name, tensor in (("weight", weight), ("bias", bias)):
        if tensor is not None and tuple(tensor.shape) != shape:
            raise errors.layer_norm_parameter(name, tensor.shape, shape)
    return F._layer_norm(input, weight, bias, dims=len(shape), eps=eps)


@composite()
def native_group_norm(F, input, weight, bias, N, C, HxW, group, eps):
    """Return (group_norm, mean, 1 / sqrt(variance + eps)). The last two have the shape (N, group).

    N, C, HxW: number of items, channels, and elements per channel. Derivative: as group_norm, also for the last two results."""
    if C % group or prod(input.shape) != N * C * HxW:
        raise errors.group_norm_groups(tuple(input.shape), group)
    shape = tuple(input.shape)
    x = input if len(shape) > 1 and shape[:2] == (N, C) else F.reshape(input, shape=(N, C, HxW))
    out, mean, rstd = F._standardize(x, weight, bias, groups=group, eps=eps, node="NativeGroupNormBackward0")
    return out if x is input else F.reshape(out, shape=shape), F.reshape(mean, shape=(N, group)), F.reshape(rstd, shape=(N, group))


@composite()
def native_batch_norm(F, input, weight, bias, running_mean, running_var, training, momentum, eps):
    """Return (batch_norm, mean, 1 / sqrt(variance + eps)). The last two have the shape (C,) in training; otherwise they are empty.

    Derivative: as batch_norm."""
    xp = backend_of(input)
    out = F.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, True)
    array = raw(input)
    kind = np.dtype(np.float32) if array.dtype.itemsize == 2 else array.dtype
    if not training:
        return out, wrap(xp.zeros(0, kind)), wrap(xp.zeros(0, kind))
    over = (0, *range(2, array.ndim))
    variance = array.astype(kind).var(axis=over)
    return out, wrap(array.astype(kind).mean(axis=over)), wrap((1 / xp.sqrt(variance + eps)).astype(kind))


@composite()
def native_dropout(F, input, p, train):
    """Return (dropout, mask). The mask is True where an element was kept. Derivative: the factor of each element."""
    if train is False or p == 0:
        return input.clone(), F.cast(F.ones_like(input), dtype=np.dtype(np.bool_))
    noise = F._dropout_noise(input, p=p)
    return input * noise, noise != 0


@composite()
def native_channel_shuffle(F, input, groups):
    """Return channel_shuffle(input, groups). Derivative: the cotangent with the channels in their old order."""
    return F.channel_shuffle(input, groups)


@composite()
def frobenius_norm(F, input, dim=None, keepdim=False):
    """Square root of the sum of squares over dim: norm(input, "fro", dim). Derivative: as norm."""
    return F.norm(input, "fro", dim, keepdim)


@composite()
def nuclear_norm(F, input, dim=None, keepdim=False):
    """Sum of the singular values of matrices in two dims, by default the last two. Derivative: as linalg.matrix_norm with "nuc"."""
    dim = (-2, -1) if dim is None else dim if isinstance(dim, (tuple, list)) else (dim, dim)  # a single dim is refused, as in torch
    return F.linalg_matrix_norm(input, "nuc", dim, keepdim)


@composite()
def norm_except_dim(F, v, pow=2, dim=0):
    """Norm of order pow over all dims except dim. The reduced dims keep size 1. dim -1 means the norm of all elements.

    Derivative: as norm."""
    if dim == -1:
        return F.norm(v, pow)
    others = tuple([d for d in range(v.ndim) if d != normalize_dim(dim, v.ndim)])
    return F.norm(v, pow, others, True) if others else F.norm(F.unsqueeze(v, dim=-1), pow, -1)


def _sampler(F: Any, dims: int, input: Any, grid: Any, modes: tuple[int, int], align_corners: bool) -> Any:
    if input.ndim != dims + 2:
        raise errors.ShapeError(f"grid_sampler_{dims}d(): Expected input with {dims + 2} dimensions, but got {input.ndim}")
    return F.grid_sampler(input, grid, *modes, align_corners)


@composite()
def grid_sampler_2d(F, input, grid, interpolation_mode, padding_mode, align_corners):
    """Return grid_sample() of images. Modes are numbers: see grid_sampler. Derivative: as grid_sample."""
    return _sampler(F, 2, input, grid, (interpolation_mode, padding_mode), align_corners)


@composite()
def grid_sampler_3d(F, input, grid, interpolation_mode, padding_mode, align_corners):
    """Return grid_sample() of volumes. Modes are numbers: see grid_sampler. Derivative: as grid_sample."""
    return _sampler(F, 3, input, grid, (interpolation_mode, padding_mode), align_corners)


@composite()
def affine_grid_generator(F, theta, size, align_corners):
    """Return nn.functional.affine_grid, without default arguments. Derivative: as nn.functional.affine_grid."""
    return F.affine_grid(theta, size, align_corners)
