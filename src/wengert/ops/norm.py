"""Normalisation over batches, groups and instances, and over neighbouring channels."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from wengert import errors
from wengert.kernels import rows
from wengert.ops.blas import add_up
from wengert.ops.indices import raw
from wengert.ops.inplace import fill, unrecorded_write
from wengert.ops.registry import NONE, composite, general
from wengert.ops.windows import Windows

_PRIVATE: dict[str, Any] = {"method": False, "namespaces": ()}


# -- by the input's own mean and variance ------------------------------------------------------------------------------


def _per_channel(F: Any, x: Any, ndim: int) -> Any:
    """A vector over channels, so that it broadcasts against (n, channels, ...)."""
    return F.reshape(x, shape=(-1, *(1,) * (ndim - 2)))


def _scale(out: Any, weight: Any, bias: Any) -> Any:
    """out * weight + bias, in place. out: (n, channels, ...)."""
    shape = (-1, *(1,) * (out.ndim - 2))
    if weight is not None:
        out *= weight.reshape(shape)
    if bias is not None:
        out += bias.reshape(shape)
    return out


def _wide(xp: Any, x: Any) -> Any:
    return x.astype(xp.float32) if x.dtype.itemsize == 2 else x


def _looked_at(shape: tuple[int, ...], groups: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shape in which an array is looked at, and the dims of that shape over which mean and variance are."""
    if groups == 0:
        return shape, (0, *range(2, len(shape)))
    return (shape[0], groups, shape[1] // groups, prod(shape[2:])), (2, 3)


@general(promote=NONE, outputs=("out", "mean", "rstd"), complex=False, **_PRIVATE)
def _standardize(xp, x, weight=None, bias=None, *, groups, eps, node):
    """(x - mean) / sqrt(variance + eps) * weight + bias, the mean, and 1 / sqrt(variance + eps).

    x: (n, channels, ...). groups: into how many groups the channels of an item come, which mean and variance are of; 0
    for those of each channel over all items. weight, bias: (channels). Mean and factor have the dims that they are over
    as ones, in groups (n, groups, 1, 1).

    Derivative: r (g - mean(g) - h mean(g h)) with g = ct * weight, h the normalised input and r its factor; sums of ct
    * h in weight, of ct in bias."""
    found = rows.normalize(x, weight, bias, groups, eps)
    if found is not None:
        return found
    grouped, over = _looked_at(x.shape, groups)
    wide = _wide(xp, x).reshape(grouped)
    n = max(prod([grouped[d] for d in over]), 1)
    mean = add_up(xp, wide, over, True) / wide.dtype.type(n)
    out = wide - mean
    squares = rows.reduce(rows.SQUARES, out, over, True)
    if squares is None:
        squares = xp.add.reduce(out * out, axis=over, keepdims=True)
    rstd = 1 / xp.sqrt(squares / wide.dtype.type(n) + wide.dtype.type(eps))
    out *= rstd
    return _scale(out.reshape(x.shape), weight, bias).astype(x.dtype, copy=False), mean, rstd


@_standardize.vjp("x", "weight", "bias")
def _(F, ct, x, weight, mean, rstd, groups):
    if not F.is_tensor and ct[0] is not None and ct[1] is None and ct[2] is None:
        found = rows.normalize_cotangent(np.ascontiguousarray(ct[0]), np.ascontiguousarray(x), mean, rstd, weight, groups)
        if found is not None:
            return found if weight is not None else (found[0], None, found[2])
    grouped, over = _looked_at(tuple(x.shape), groups)
    h = (F.reshape(x, shape=grouped) - mean) * rstd
    of_x = _standardize_cotangent(F, ct, x, weight, h, rstd, grouped, over)
    if ct[0] is None:
        return of_x, None, None
    of_weight = None if weight is None else _channel_sum(F, ct[0] * F.reshape(h, shape=x.shape))
    return of_x, of_weight, _channel_sum(F, ct[0])


def _standardize_cotangent(
    F: Any, ct: Any, x: Any, weight: Any, h: Any, rstd: Any, grouped: tuple[int, ...], over: tuple[int, ...]
) -> Any:
    """The cotangent of x, of which h is the normalised in the shape grouped."""
    n = max(prod([grouped[d] for d in over]), 1)
    result = None
    if ct[0] is not None:
        g = ct[0] if weight is None else ct[0] * _per_channel(F, weight, x.ndim)
        g = F.reshape(g, shape=grouped)
        of_mean, of_h = F.sum(g, dim=over, keepdim=True) / n, F.sum(g * h, dim=over, keepdim=True) / n
        result = (g - of_mean - h * of_h) * rstd
    # Mean and rstd are outputs for second derivatives: this very rule uses them.
    if ct[1] is not None:
        part = F.expand(ct[1] / n, shape=grouped)
        result = part if result is None else result + part
    if ct[2] is not None:
        part = h * (ct[2] * rstd * rstd / -n)
        result = part if result is None else result + part
    return None if result is None else F.reshape(result, shape=x.shape)


def _channel_sum(F: Any, x: Any) -> Any:
    return F.sum(x, dim=(0, *range(2, x.ndim)))


# -- by given means and variances --------------------------------------------------------------------------------------


@general(promote=NONE, node="NativeBatchNormBackward0", complex=False, **_PRIVATE)
def _rescale(xp, x, mean, rstd, weight=None, bias=None):
    """(x - mean) * rstd * weight + bias, with arrays over channels. Derivative: that of this linear function."""
    shape = (-1, *(1,) * (x.ndim - 2))
    out = (_wide(xp, x) - mean.reshape(shape)) * rstd.reshape(shape)
    return _scale(out, weight, bias).astype(x.dtype, copy=False)


@_rescale.vjp("x")
def _(F, ct, weight, rstd):
    factor = rstd if weight is None else weight * rstd
    return ct * _per_channel(F, factor, ct.ndim)


@_rescale.vjp("weight")
def _(F, ct, x, mean, rstd):
    return _channel_sum(F, ct * ((x - _per_channel(F, mean, x.ndim)) * _per_channel(F, rstd, x.ndim)))


@_rescale.vjp("bias")
def _(F, ct):
    return _channel_sum(F, ct)


# -- torch's functions -------------------------------------------------------------------------------------------------


def _check_channels(channels: int, **vectors: Any) -> None:
    for name, vector in vectors.items():
        if vector is not None and (vector.ndim != 1 or vector.shape[0] != channels):
            raise errors.norm_channels(name, channels, int(np.prod(vector.shape)))


def _check_dtypes(x: Any, kernel: str, *others: Any) -> None:
    """Floating, and all of one dtype; beside half precision the others may be float32."""
    if x.dtype.kind not in "fV":
        raise errors.unsupported_dtype(kernel, x.dtype)
    found = {other.dtype for other in others if other is not None}
    if x.dtype.itemsize == 2 and np.dtype(np.float32) in found:
        if len(found) > 1:
            raise errors.norm_parameter_dtype()
    elif found - {x.dtype}:
        raise errors.norm_dtypes()


def _update(running: Any, value: Any, momentum: float) -> None:
    """running = (1 - momentum) * running + momentum * value, in place. value: an array."""
    _store(running, raw(running) * (1 - momentum) + momentum * value.reshape(-1))


def _store(running: Any, values: Any) -> None:
    with unrecorded_write(running):
        fill(raw(running), values)


def _refuse_gradients(**running: Any) -> None:
    for name, vector in running.items():
        if vector is not None and getattr(vector, "requires_grad", False):
            raise errors.norm_running_grad(name)


def _batch_norm(
    F: Any, x: Any, running_mean: Any, running_var: Any, weight: Any, bias: Any, training: bool, momentum: float, eps: float
) -> Any:
    channels = x.shape[1] if x.ndim > 1 else 0
    if not training:
        for name, running in (("running_mean", running_mean), ("running_var", running_var)):
            if running is None:
                raise errors.norm_missing(name)
    _check_channels(channels, running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    _refuse_gradients(running_mean=running_mean, running_var=running_var)
    if (running_mean is None) != (running_var is None):
        raise errors.norm_half_running()
    array = raw(x)
    _check_dtypes(array, "batch_norm", *map(raw, (weight, bias, running_mean, running_var)))
    if not training:
        # Copies: training in between may go on averaging into the tensors themselves.
        mean, variance = (raw(r).astype(_statistics_dtype(array)) for r in (running_mean, running_var))
        return F._rescale(x, mean, 1 / np.sqrt(variance + variance.dtype.type(eps)), weight, bias)
    out, mean, rstd = F._standardize(x, weight, bias, groups=0, eps=eps, node="NativeBatchNormBackward0")
    if running_mean is not None:
        n = array.size // max(channels, 1)
        variance = (1 / raw(rstd) ** 2 - eps) * (n / max(n - 1, 1))
        _update(running_mean, raw(mean), momentum)
        _update(running_var, variance, momentum)
    return out


def _statistics_dtype(array: Any) -> Any:
    return np.dtype(np.float32) if array.dtype.itemsize == 2 else array.dtype


@composite(name="nn.functional_batch_norm", namespaces=("nn.functional",))
def batch_norm(F, input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05):
    """(input - mean) / sqrt(variance + eps) * weight + bias, channel by channel. input: (n, channels, ...), floating.

    training: mean and variance are those of the batch, and running_mean and running_var, if given, are updated in
    place: (1 - momentum) times the old plus momentum times the batch's (the variance without bias). Otherwise they are
    what normalises. weight, bias, running_mean, running_var: (channels) or None. Raises ValueError for a batch of one
    value per channel, RuntimeError for shapes that do not fit.

    Derivative: in training as in `layer_norm`; otherwise that of a linear function."""
    if training:
        _check_batch(tuple(input.shape))
    return _batch_norm(F, input, running_mean, running_var, weight, bias, training, momentum, eps)


def _check_batch(shape: tuple[int, ...]) -> None:
    if prod([shape[0], *shape[2:]]) == 1:
        raise errors.norm_one_value(shape)


@composite(name="batch_norm")
def batch_norm_of_the_library(
    F, input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled
):
    """nn.functional.batch_norm, with the arguments in the order that torch.batch_norm has them in.

    Derivative: as there."""
    return _batch_norm(F, input, running_mean, running_var, weight, bias, training, momentum, eps)


@composite(namespaces=("nn.functional", ""))
def group_norm(F, input, num_groups, weight=None, bias=None, eps=1e-05, cudnn_enabled=True):
    """(input - mean) / sqrt(variance + eps) * weight + bias, with mean and variance over each item's groups of channels.

    input: (n, channels, ...), floating; weight, bias: (channels) or None. Raises RuntimeError for shapes that do not
    fit.

    Derivative: as in `layer_norm`."""
    shape = tuple(input.shape)
    if len(shape) < 2:
        raise errors.group_norm_dims(len(shape))
    if num_groups <= 0 or shape[1] % num_groups:
        raise errors.group_norm_groups(shape, num_groups)
    if prod([shape[0] * shape[1] // num_groups, *shape[2:]]) == 1:
        raise errors.norm_one_value(shape)
    for name, vector in (("weight", weight), ("bias", bias)):
        if vector is not None and tuple(vector.shape) != (shape[1],):
            raise errors.group_norm_vector(name, tuple(vector.shape), shape)
    _check_dtypes(raw(input), "GroupNormKernelImpl", raw(weight), raw(bias))
    return F._standardize(input, weight, bias, groups=num_groups, eps=eps, node="NativeGroupNormBackward0")[0]


@composite(name="nn.functional_instance_norm", namespaces=("nn.functional",))
def instance_norm(
    F, input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-05
):
    """(input - mean) / sqrt(variance + eps) * weight + bias, with mean and variance over each channel of each item.

    input: (n, channels, ...), floating. running_mean, running_var: updated in place with the means over the batch, or,
    without use_input_stats, what normalises; else as in `batch_norm`.

    Derivative: as in `batch_norm`."""
    if use_input_stats and prod(input.shape[2:]) == 1:
        raise errors.instance_norm_size(tuple(input.shape))
    return _instance_norm(F, input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


def _instance_norm(
    F: Any, x: Any, running_mean: Any, running_var: Any, weight: Any, bias: Any, own: bool, momentum: float, eps: float
) -> Any:
    """batch_norm with every channel of every item as a channel. own: whether by the input's own mean and variance."""
    shape = tuple(x.shape)
    if not own and (running_mean is None or running_var is None):
        raise errors.instance_norm_running()
    n, channels = shape[:2]
    _check_channels(channels, running_mean=running_mean, running_var=running_var)
    for name, vector in (("weight", weight), ("bias", bias)):
        if vector is not None and tuple(vector.shape) != (channels,):
            raise errors.norm_channels(name, n * channels, n * prod(vector.shape))
    scale, shift, mean, variance = (
        None if v is None else F.repeat(v, repeats=(n,)) for v in (weight, bias, running_mean, running_var)
    )
    rows = F.reshape(x, shape=(1, n * channels, *shape[2:]))
    out = _batch_norm(F, rows, mean, variance, scale, shift, own, momentum, eps)
    if own and running_mean is not None:
        _store(running_mean, raw(mean).reshape(n, channels).mean(axis=0))
        _store(running_var, raw(variance).reshape(n, channels).mean(axis=0))
    return F.view(out, shape=shape)


@composite(name="instance_norm")
def instance_norm_of_the_library(
    F, input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled
):
    """nn.functional.instance_norm, with the arguments in the order that torch.instance_norm has them in.

    Derivative: as there."""
    return _instance_norm(F, input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


@composite(namespaces=("nn.functional",))
def local_response_norm(F, input, size, alpha=0.0001, beta=0.75, k=1.0):
    """input / (k + alpha * mean of squares over `size` neighbouring channels)**beta; zeros beyond the first and last.

    input: (n, channels, ...) with three dims or more, floating. Raises ValueError for fewer dims.

    Derivative: that of the formula."""
    if input.ndim < 3:
        raise errors.response_norm_dims(input.ndim)
    if 0 in input.shape:
        return input
    image = (input.shape[1], prod(input.shape[2:]))
    neighbours = Windows(image, (size, 1), image, (1, 1), (size // 2, 0), (1, 1))
    squares = F.reshape(input * input, shape=(input.shape[0], *image))
    means = F._avg_pool(squares, windows=neighbours, divisors=size, node="AvgPool2DBackward0")
    return input / F.pow(F.reshape(means, shape=tuple(input.shape)) * alpha + k, beta)
