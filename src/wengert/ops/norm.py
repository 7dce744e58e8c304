"""Normalisation over batches, groups, instances and neighbouring channels."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from wengert import errors
from wengert.backends.selection import backend_of
from wengert.core.forward import fused
from wengert.core.watched import differs_on_arrays, into_array, of_arrays
from wengert.kernels import rows
from wengert.ops.blas import add_up
from wengert.ops.indices import raw
from wengert.ops.inplace import fill, unrecorded_write
from wengert.ops.registry import NONE, composite, general
from wengert.ops.windows import Windows

_PRIVATE: dict[str, Any] = {"method": False, "namespaces": ()}


# -- normalisation by the input's own mean and variance ----------------------------------------------------------------


def _broadcast_channels(F: Any, x: Any, ndim: int) -> Any:
    """Reshape a vector over channels so that it broadcasts against (n, channels, ...)."""
    return F.reshape(x, shape=(-1, *(1,) * (ndim - 2)))


def _scale_in_place(out: Any, weight: Any, bias: Any) -> Any:
    """Compute out * weight + bias in place. out: (n, channels, ...)."""
    shape = (-1, *(1,) * (out.ndim - 2))
    if weight is not None:
        out *= weight.reshape(shape)
    if bias is not None:
        out += bias.reshape(shape)
    return out


def _widen_half(xp: Any, x: Any) -> Any:
    return x.astype(xp.float32) if x.dtype.itemsize == 2 else x


def _grouped_shape(shape: tuple[int, ...], groups: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return (grouped, over): the shape to which the input is reshaped, and its dimensions over which to normalise."""
    if groups == 0:
        return shape, (0, *range(2, len(shape)))
    return (shape[0], groups, shape[1] // groups, prod(shape[2:])), (2, 3)


@general(own_precision=True, promote=NONE, outputs=("out", "mean", "rstd"), complex=False, **_PRIVATE)
def _standardize(xp, x, weight=None, bias=None, *, groups, eps, node):
    """Return ((x - mean) * rstd * weight + bias, mean, rstd), with rstd = 1 / sqrt(variance + eps).

    x: (n, channels, ...). groups: the channels of each item are split into this many groups, and each group is
    normalised; 0 normalises each channel over all items. weight, bias: (channels) or None. mean and rstd keep the reduced
    dimensions: (1, channels, 1, ...) for groups = 0, else (n, groups, 1, 1).

    Derivative: in x r (g - mean(g) - h mean(g h)), with g = ct * weight, r = rstd and h = (x - mean) * rstd; in weight
    the sum of ct * h, in bias the sum of ct."""
    found = rows.normalize(x, weight, bias, groups, eps)
    if found is not None:
        return found
    grouped, over = _grouped_shape(x.shape, groups)
    wide = _widen_half(xp, x).reshape(grouped)
    n = max(prod([grouped[d] for d in over]), 1)
    mean = add_up(xp, wide, over, True) / wide.dtype.type(n)
    out = wide - mean
    squares = rows.reduce(rows.SQUARES, out, over, True)
    if squares is None:
        squares = xp.add.reduce(out * out, axis=over, keepdims=True)
    rstd = 1 / xp.sqrt(squares / wide.dtype.type(n) + wide.dtype.type(eps))
    out *= rstd
    return _scale_in_place(out.reshape(x.shape), weight, bias).astype(x.dtype, copy=False), mean, rstd


@_standardize.vjp("x", "weight", "bias")
@differs_on_arrays
def _(F, ct, x, weight, mean, rstd, groups):
    xp = backend_of(ct)
    if not F.is_tensor and ct[0] is not None and ct[1] is None and ct[2] is None:
        found = rows.normalize_cotangent(xp.ascontiguousarray(ct[0]), xp.ascontiguousarray(x), mean, rstd, weight, groups)
        if found is not None:
            return found if weight is not None else (found[0], None, found[2])
    grouped, over = _grouped_shape(tuple(x.shape), groups)
    h = (F.reshape(x, shape=grouped) - mean) * rstd
    of_x = _standardize_cotangent(F, ct, x, weight, h, rstd, grouped, over)
    if ct[0] is None:
        return of_x, None, None
    of_weight = None if weight is None else _channel_sum(F, ct[0] * F.reshape(h, shape=x.shape))
    return of_x, of_weight, _channel_sum(F, ct[0])


def _standardize_cotangent(
    F: Any, ct: Any, x: Any, weight: Any, h: Any, rstd: Any, grouped: tuple[int, ...], over: tuple[int, ...]
) -> Any:
    """Cotangent of x. h: the normalised x, in the shape `grouped`; over: the dimensions of `grouped` that were reduced."""
    n = max(prod([grouped[d] for d in over]), 1)
    result = None
    if ct[0] is not None:
        g = ct[0] if weight is None else ct[0] * _broadcast_channels(F, weight, x.ndim)
        g = F.reshape(g, shape=grouped)
        of_mean, of_h = F.sum(g, dim=over, keepdim=True) / n, F.sum(g * h, dim=over, keepdim=True) / n
        result = (g - of_mean - h * of_h) * rstd
    # mean and rstd are outputs so that this rule, which reads them, is differentiable again.
    if ct[1] is not None:
        part = F.expand(ct[1] / n, shape=grouped)
        result = part if result is None else result + part
    if ct[2] is not None:
        part = h * (ct[2] * rstd * rstd / -n)
        result = part if result is None else result + part
    return None if result is None else F.reshape(result, shape=x.shape)


def _channel_sum(F: Any, x: Any) -> Any:
    return F.sum(x, dim=(0, *range(2, x.ndim)))


# -- normalisation by given means and variances ------------------------------------------------------------------------


@general(promote=NONE, node="NativeBatchNormBackward0", complex=False, **_PRIVATE)
def _rescale(xp, x, mean, rstd, weight=None, bias=None):
    """(x - mean) * rstd * weight + bias; mean, rstd, weight and bias: (channels). Derivative: that of the formula."""
    shape = (-1, *(1,) * (x.ndim - 2))
    out = (_widen_half(xp, x) - mean.reshape(shape)) * rstd.reshape(shape)
    return _scale_in_place(out, weight, bias).astype(x.dtype, copy=False)


@_rescale.vjp("x")
def _(F, ct, weight, rstd):
    factor = rstd if weight is None else weight * rstd
    return ct * _broadcast_channels(F, factor, ct.ndim)


@_rescale.vjp("weight")
def _(F, ct, x, mean, rstd):
    return _channel_sum(F, ct * ((x - _broadcast_channels(F, mean, x.ndim)) * _broadcast_channels(F, rstd, x.ndim)))


@_rescale.vjp("bias")
def _(F, ct):
    return _channel_sum(F, ct)


# -- torch's functions -------------------------------------------------------------------------------------------------


def _check_channels(channels: int, **vectors: Any) -> None:
    for name, vector in vectors.items():
        if vector is not None and (vector.ndim != 1 or vector.shape[0] != channels):
            raise errors.ShapeError(f"{name} should contain {channels} elements not {int(np.prod(vector.shape))}")


def _check_dtypes(x: Any, kernel: str, *others: Any) -> None:
    """Raise unless x is floating and the others have its dtype. If x has 16 bits, all others may be float32."""
    if x.dtype.kind not in "fV":
        raise errors.unsupported_dtype(kernel, x.dtype)
    found = {other.dtype for other in others if other is not None}
    if x.dtype.itemsize == 2 and np.dtype(np.float32) in found:
        if len(found) > 1:
            raise errors.PromotionError("mixed dtype (CPU): expect parameter to have scalar type of Float")
    elif found - {x.dtype}:
        raise errors.PromotionError("mixed dtype (CPU): all inputs must share same datatype.")


@into_array
def update_running(running: Any, value: Any, momentum: float) -> None:
    """Set running = (1 - momentum) * running + momentum * value in place. value: an array."""
    _store(running, fused(lambda old, new: old * (1 - momentum) + momentum * new.reshape(-1), raw(running), raw(value)))


@into_array
def store_mean(running: Any, rows: Any, n: int) -> None:
    """Set running to the mean of its n copies in rows, which follow each other."""
    _store(running, raw(rows).reshape(n, -1).mean(axis=0))


def _store(running: Any, values: Any) -> None:
    with unrecorded_write(running):
        fill(raw(running), values)


@of_arrays
def _unbiased_variance(rstd: Any, eps: float, n: int) -> Any:
    """Return the unbiased variance of n values, given 1 / sqrt(biased variance + eps)."""
    return fused(lambda rstd: (1 / rstd**2 - eps) * (n / max(n - 1, 1)), raw(rstd))


def _refuse_gradients(**running: Any) -> None:
    for name, vector in running.items():
        if vector is not None and getattr(vector, "requires_grad", False):
            raise errors.RequiresGradError(
                f"The function 'native_batch_norm' is not differentiable with respect to argument '{name}'. This input "
                "cannot have requires_grad True."
            )


def _batch_norm(
    F: Any, x: Any, running_mean: Any, running_var: Any, weight: Any, bias: Any, training: bool, momentum: float, eps: float
) -> Any:
    channels = x.shape[1] if x.ndim > 1 else 0
    if not training:
        for name, running in (("running_mean", running_mean), ("running_var", running_var)):
            if running is None:
                raise errors.ShapeError(f"{name} must be defined in evaluation mode")
    _check_channels(channels, running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    _refuse_gradients(running_mean=running_mean, running_var=running_var)
    if (running_mean is None) != (running_var is None):
        raise errors.ElementError("running_mean and running_var must either both be None or neither be None")
    array = raw(x)
    _check_dtypes(array, "batch_norm", *map(raw, (weight, bias, running_mean, running_var)))
    if not training:
        # A copy, because training before the backward pass may update the running tensors in place.
        mean, variance = (F.cast(r, dtype=_statistics_dtype(array)) for r in (running_mean, running_var))
        return F._rescale(x, F.clone(mean), 1 / F.sqrt(variance + eps), weight, bias)
    out, mean, rstd = F._standardize(x, weight, bias, groups=0, eps=eps, node="NativeBatchNormBackward0")
    if running_mean is not None:
        variance = _unbiased_variance(rstd, eps, array.size // max(channels, 1))
        update_running(running_mean, mean, momentum)
        update_running(running_var, variance, momentum)
    return out


def _statistics_dtype(array: Any) -> Any:
    return np.dtype(np.float32) if array.dtype.itemsize == 2 else array.dtype


@composite(name="nn.functional_batch_norm", namespaces=("nn.functional",))
def batch_norm(F, input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05):
    """Batch normalisation: (input - mean) / sqrt(variance + eps) * weight + bias for each channel.

    input: (n, channels, ...), floating. weight, bias, running_mean, running_var: (channels) or None. If training, mean
    and variance (biased) are those of the batch, and running_mean and running_var, if given, are updated in place to
    (1 - momentum) * running + momentum * batch, with the unbiased variance. Otherwise running_mean and running_var are
    the mean and variance. Raises ValueError if a training batch has one value per channel, RuntimeError for shapes that
    do not fit.

    Derivative: in training as `layer_norm`; otherwise that of a linear function."""
    if training:
        _check_batch(tuple(input.shape))
    return _batch_norm(F, input, running_mean, running_var, weight, bias, training, momentum, eps)


def _check_batch(shape: tuple[int, ...]) -> None:
    if prod([shape[0], *shape[2:]]) == 1:
        raise errors.ElementError(f"Expected more than 1 value per channel when training, got input size torch.Size({list(shape)})")


@composite(name="batch_norm")
def batch_norm_in_torch_order(
    F, input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled
):
    """`nn.functional.batch_norm` with its arguments in the order of torch.batch_norm.

    Derivative: as nn.functional.batch_norm."""
    return _batch_norm(F, input, running_mean, running_var, weight, bias, training, momentum, eps)


@composite(namespaces=("nn.functional", ""))
def group_norm(F, input, num_groups, weight=None, bias=None, eps=1e-05, cudnn_enabled=True):
    """Group normalisation: (input - mean) / sqrt(variance + eps) * weight + bias, over each group of channels of an item.

    input: (n, channels, ...), floating. num_groups: the channels are split into this many groups of equal size. weight,
    bias: (channels) or None. Raises RuntimeError for shapes that do not fit.

    Derivative: as `layer_norm`."""
    shape = tuple(input.shape)
    if len(shape) < 2:
        raise errors.ShapeError(f"Expected at least 2 dimensions for input tensor but received {len(shape)}")
    if num_groups <= 0 or shape[1] % num_groups:
        raise errors.group_norm_groups(shape, num_groups)
    if prod([shape[0] * shape[1] // num_groups, *shape[2:]]) == 1:
        raise errors.ElementError(f"Expected more than 1 value per channel when training, got input size torch.Size({list(shape)})")
    for name, vector in (("weight", weight), ("bias", bias)):
        if vector is not None and tuple(vector.shape) != (shape[1],):
            raise errors.ShapeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, but got {name} of shape "
                f"{list(vector.shape)} and input of shape {list(shape)}"
            )
    _check_dtypes(raw(input), "GroupNormKernelImpl", raw(weight), raw(bias))
    return F._standardize(input, weight, bias, groups=num_groups, eps=eps, node="NativeGroupNormBackward0")[0]


@composite(name="nn.functional_instance_norm", namespaces=("nn.functional",))
def instance_norm(
    F, input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-05
):
    """Instance normalisation: (input - mean) / sqrt(variance + eps) * weight + bias, over each channel of each item.

    input: (n, channels, ...), floating. If use_input_stats, running_mean and running_var, if given, are updated in place
    with the mean over the items, as in `batch_norm`. Otherwise running_mean and running_var are the mean and variance.
    Other arguments: as `batch_norm`.

    Derivative: as `batch_norm`."""
    if use_input_stats and prod(input.shape[2:]) == 1:
        raise errors.ElementError(
            f"Expected more than 1 spatial element when training, got input size torch.Size({list(input.shape)})"
        )
    return _instance_norm(F, input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


def _instance_norm(
    F: Any, x: Any, running_mean: Any, running_var: Any, weight: Any, bias: Any, use_input_stats: bool, momentum: float, eps: float
) -> Any:
    """batch_norm that treats each channel of each item as a channel. use_input_stats: use the input's own mean and variance."""
    shape = tuple(x.shape)
    if not use_input_stats and (running_mean is None or running_var is None):
        raise errors.ShapeError("Expected running_mean and running_var to be defined when use_input_stats is false")
    n, channels = shape[:2]
    _check_channels(channels, running_mean=running_mean, running_var=running_var)
    for name, vector in (("weight", weight), ("bias", bias)):
        if vector is not None and tuple(vector.shape) != (channels,):
            raise errors.ShapeError(f"{name} should contain {n * channels} elements not {n * prod(vector.shape)}")
    scale, shift, mean, variance = (
        None if v is None else F.repeat(v, repeats=(n,)) for v in (weight, bias, running_mean, running_var)
    )
    rows = F.reshape(x, shape=(1, n * channels, *shape[2:]))
    out = _batch_norm(F, rows, mean, variance, scale, shift, use_input_stats, momentum, eps)
    if use_input_stats and running_mean is not None:
        store_mean(running_mean, mean, n)
        store_mean(running_var, variance, n)
    return F.view(out, shape=shape)


@composite(name="instance_norm")
def instance_norm_in_torch_order(
    F, input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled
):
    """`nn.functional.instance_norm` with its arguments in the order of torch.instance_norm.

    Derivative: as nn.functional.instance_norm."""
    return _instance_norm(F, input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


@composite(namespaces=("nn.functional",))
def local_response_norm(F, input, size, alpha=0.0001, beta=0.75, k=1.0):
    """Local response normalisation: input / (k + alpha * mean of squares over `size` neighbouring channels)**beta.

    input: (n, channels, ...) with three dimensions or more, floating. Channels beyond the first and the last count as
    zeros. Raises ValueError for fewer dimensions.

    Derivative: that of the formula."""
    if input.ndim < 3:
        raise errors.ElementError(f"Expected 3D or higher dimensionality input (got {input.ndim} dimensions)")
    if 0 in input.shape:
        return input
    image = (input.shape[1], prod(input.shape[2:]))
    neighbours = Windows(image, (size, 1), image, (1, 1), (size // 2, 0), (1, 1))
    squares = F.reshape(input * input, shape=(input.shape[0], *image))
    means = F._avg_pool(squares, windows=neighbours, divisors=size, node="AvgPool2DBackward0")
    return input / F.pow(F.reshape(means, shape=tuple(input.shape)) * alpha + k, beta)
