"""Initial values of parameters. Each function fills a tensor in place, unrecorded, and returns it."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from typing import Any

from wengert.core.modes import set_recording
from wengert.ops import function as _function

__all__ = [
    "calculate_gain", "uniform_", "normal_", "trunc_normal_", "constant_", "ones_", "zeros_", "eye_", "dirac_",
    "xavier_uniform_", "xavier_normal_", "kaiming_uniform_", "kaiming_normal_", "orthogonal_", "sparse_", "uniform", "normal",
    "constant", "eye", "dirac", "xavier_uniform", "xavier_normal", "kaiming_uniform", "kaiming_normal", "orthogonal", "sparse",
]  # fmt: skip

_GAINS: dict[str, float] = {
    **dict.fromkeys(("linear", "conv1d", "conv2d", "conv3d"), 1),
    **dict.fromkeys(("conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "sigmoid"), 1),
    "tanh": 5.0 / 3,
    "relu": math.sqrt(2.0),
    "selu": 3.0 / 4,
}


def calculate_gain(nonlinearity: str, param: Any = None) -> float:
    """Return the factor by which weights before this nonlinearity are scaled. param: negative_slope of leaky_relu.

    Raises ValueError for a nonlinearity that has no gain here, or a slope that is no number."""
    if nonlinearity in _GAINS:
        return _GAINS[nonlinearity]
    if nonlinearity != "leaky_relu":
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    if param is None:
        param = 0.01
    elif isinstance(param, bool) or not isinstance(param, (int, float)):
        raise ValueError(f"negative_slope {param} not a valid number")
    return math.sqrt(2.0 / (1 + param**2))


def uniform_(tensor: Any, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Any:
    """Fill the tensor with numbers of the uniform distribution on [a, b)."""
    with set_recording(False):
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor: Any, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Any:
    """Fill the tensor with numbers of the normal distribution of this mean and standard deviation."""
    with set_recording(False):
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(
    tensor: Any, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> Any:
    """Fill the tensor with numbers of the normal distribution that is cut off outside [a, b]."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be incorrect.",
            stacklevel=2,
        )
    low, high = (0.5 * (1 + math.erf((x - mean) / (std * math.sqrt(2.0)))) for x in (a, b))
    with set_recording(False):
        tensor.uniform_(2 * low - 1, 2 * high - 1, generator=generator)
        return tensor.erfinv_().mul_(std * math.sqrt(2.0)).add_(mean).clamp_(min=a, max=b)


def constant_(tensor: Any, val: float) -> Any:
    """Fill the tensor with val."""
    with set_recording(False):
        return tensor.fill_(val)


def ones_(tensor: Any) -> Any:
    """Fill the tensor with 1."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Any) -> Any:
    """Fill the tensor with 0."""
    return constant_(tensor, 0.0)


def eye_(tensor: Any) -> Any:
    """Fill a matrix with the identity. Raises ValueError for anything but a matrix."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with set_recording(False):
        tensor.zero_().diagonal().fill_(1)
    return tensor


def dirac_(tensor: Any, groups: int = 1) -> Any:
    """Fill the weight of a convolution so that it passes on as many of its input channels as possible, in each group.

    tensor: (outputs, inputs, *kernel) with a kernel of 1 to 3 dimensions. Raises ValueError for another shape, or if groups
    does not divide the number of outputs."""
    if tensor.ndim not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.shape[0] % groups:
        raise ValueError("dim 0 must be divisible by groups")
    outputs = tensor.shape[0] // groups
    center = tuple([size // 2 for size in tensor.shape[2:]])
    with set_recording(False):
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(outputs, tensor.shape[1])):
                tensor[(group * outputs + channel, channel, *center)] = 1
    return tensor


def _calculate_fan_in_and_fan_out(tensor: Any) -> tuple[int, int]:
    """Return the number of inputs and of outputs of one unit. Raises ValueError for less than 2 dimensions."""
    if tensor.ndim < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    outputs, inputs, *kernel = tensor.shape
    field = math.prod(kernel)
    return inputs * field, outputs * field


def _calculate_correct_fan(tensor: Any, mode: str) -> int:
    """Return the number that `mode` names: "fan_in" or "fan_out". Raises ValueError for another mode."""
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _calculate_fan_in_and_fan_out(tensor)[mode == "fan_out"]


def xavier_uniform_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    """Fill the tensor from U(-a, a) with a = gain * sqrt(6 / (fan_in + fan_out)), as Glorot and Bengio do (2010)."""
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    """Fill the tensor from N(0, std**2) with std = gain * sqrt(2 / (fan_in + fan_out)), as Glorot and Bengio do (2010)."""
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor))), generator)


def _kaiming_std(tensor: Any, a: float, mode: str, nonlinearity: str) -> float | None:
    """Return gain / sqrt(fan), or None, with a warning, for a tensor without elements."""
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
        return None
    fan = _calculate_correct_fan(tensor, mode)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_uniform_(
    tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Any:
    """Fill the tensor from U(-b, b) with b = gain * sqrt(3 / fan), as He et al. do (2015). a: slope of leaky_relu.

    mode: "fan_in" keeps the variance in forward passes, "fan_out" in backward passes. Raises ValueError for another."""
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    if std is None:
        return tensor
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Any:
    """Fill the tensor from N(0, std**2) with std = gain / sqrt(fan), as He et al. do (2015). See kaiming_uniform_."""
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else normal_(tensor, 0.0, std, generator)


def orthogonal_(tensor: Any, gain: float = 1, generator: Any = None) -> Any:
    """Fill the tensor, as a matrix of shape (first size, product of the others), with gain times an orthogonal matrix.

    Raises ValueError for less than 2 dimensions."""
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.shape[0]
    with set_recording(False):
        flat = tensor.new_empty((rows, tensor.numel() // rows)).normal_(0, 1, generator=generator)
        is_wide = rows < flat.shape[1]
        q, r = _function("linalg", "qr")(flat.t() if is_wide else flat)  # type: ignore[misc]
        q = q * r.diagonal().sign()  # makes the distribution uniform, as Mezzadri shows (2007)
        tensor.copy_((q.t() if is_wide else q).reshape(tensor.shape)).mul_(gain)
    return tensor


def sparse_(tensor: Any, sparsity: float, std: float = 0.01, generator: Any = None) -> Any:
    """Fill a matrix from N(0, std**2) and set this fraction of each column to 0. Raises ValueError for no matrix."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    randperm: Any = _function("", "randperm")
    with set_recording(False):
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            tensor[randperm(rows)[:zeros], column] = 0
    return tensor


# Helpers of torch that programs call.


def _no_grad_uniform_(tensor: Any, a: float, b: float, generator: Any = None) -> Any:
    return uniform_(tensor, a, b, generator)


def _no_grad_normal_(tensor: Any, mean: float, std: float, generator: Any = None) -> Any:
    return normal_(tensor, mean, std, generator)


def _no_grad_trunc_normal_(tensor: Any, mean: float, std: float, a: float, b: float, generator: Any = None) -> Any:
    return trunc_normal_(tensor, mean, std, a, b, generator)


def _no_grad_fill_(tensor: Any, val: float) -> Any:
    return constant_(tensor, val)


def _no_grad_zero_(tensor: Any) -> Any:
    return zeros_(tensor)


def _make_deprecate(meth: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function under its old name, without the underscore. Calls warn."""
    new = meth.__name__
    old = new[:-1]

    @functools.wraps(meth)
    def deprecated(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(f"`nn.init.{old}` is now deprecated in favor of `nn.init.{new}`.", FutureWarning, stacklevel=2)
        return meth(*args, **kwargs)

    deprecated.__name__ = old
    deprecated.__doc__ = f"Call {new}, with a warning: this is its old name."
    return deprecated


uniform = _make_deprecate(uniform_)
normal = _make_deprecate(normal_)
constant = _make_deprecate(constant_)
eye = _make_deprecate(eye_)
dirac = _make_deprecate(dirac_)
xavier_uniform = _make_deprecate(xavier_uniform_)
xavier_normal = _make_deprecate(xavier_normal_)
kaiming_uniform = _make_deprecate(kaiming_uniform_)
kaiming_normal = _make_deprecate(kaiming_normal_)
orthogonal = _make_deprecate(orthogonal_)
sparse = _make_deprecate(sparse_)


def __dir__() -> list[str]:
    return sorted(__all__)
