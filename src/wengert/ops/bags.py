"""embedding_bag: sums, means and maxima of rows of a weight by bag. alpha_dropout: dropout that keeps mean and variance."""

from __future__ import annotations

from math import sqrt
from typing import Any

from wengert import errors
from wengert.backends.selection import backend_of, device_name
from wengert.core.dispatch import propagate_volatile
from wengert.generator import generator_of
from wengert.ops.indices import is_index, raw
from wengert.ops.registry import NONE, composite, general, linear, nondifferentiable
from wengert.ops.row_norms import limit_rows

_PRIVATE: dict[str, Any] = {"method": False, "namespaces": ()}


# -- bags --------------------------------------------------------------------------------------------------------------


def _bag_starts(bags: Any) -> Any:
    """Index of the first element of each nonempty bag. bags: the bag number of each element, ascending."""
    xp = backend_of(bags)
    return xp.flatnonzero(xp.concatenate((xp.ones(min(bags.size, 1), bool), bags[1:] != bags[:-1])))


@linear(promote=NONE, node="EmbeddingBagBackward0", complex=False, **_PRIVATE)
def _bag_sums(xp, x, *, bags, rows):
    """Sums by bag of the rows of x, (n, m); returns (rows, m). Derivative: each row gets the cotangent of its bag."""
    out = xp.zeros((rows, x.shape[1]), x.dtype)
    if bags.size:
        starts = _bag_starts(bags)
        out[bags[starts]] = xp.add.reduceat(x, starts, axis=0)
    return out


@_bag_sums.vjp("x")
def _(F, ct, bags):
    return F._embedding(bags, ct, padding_idx=None, scale_grad_by_freq=False)


@general(promote=NONE, node="EmbeddingBagBackward0", outputs=("out", "indices"), complex=False, **_PRIVATE)
def _bag_maxima(xp, x, *, bags, rows):
    """Maxima by bag of the rows of x, (n, m), and the first row that attains each, both (rows, m); 0 and -1 for empty bags.

    Derivative: the row that attains the maximum gets the cotangent."""
    out = xp.zeros((rows, x.shape[1]), x.dtype)
    where = xp.full(out.shape, -1)
    if bags.size:
        starts = _bag_starts(bags)
        filled = bags[starts]
        out[filled] = xp.maximum.reduceat(x, starts, axis=0)
        numbers = xp.where((x == out[bags]) | (x != x), xp.arange(len(x))[:, None], len(x) - 1)
        where[filled] = xp.minimum.reduceat(numbers, starts, axis=0)
    return out, where


@_bag_maxima.vjp("x")
def _(F, ct, x_shape, indices):
    xp = backend_of(ct)
    if ct[0] is None:
        return None
    filled = xp.flatnonzero((raw(indices) >= 0).all(axis=1))
    index = (raw(indices)[filled], xp.arange(x_shape[1]))
    return F.read_cotangent(F._index_select(ct[0], filled, dim=0), shape=x_shape, index=index)


def _checked_bags(input: Any, offsets: Any, include_last_offset: bool) -> tuple[Any, Any, int]:
    """Return (indices as a vector, bag number of each index, number of bags). Raises torch's errors for bad arguments."""
    xp = backend_of(input)
    indices = raw(input)
    if indices.ndim == 2:
        if offsets is not None:
            raise errors.ElementError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
                f"sequences. However, found offsets of type {type(offsets)}"
            )
        return indices.reshape(-1), xp.repeat(xp.arange(len(indices)), indices.shape[1]), len(indices)
    if indices.ndim != 1:
        raise errors.ElementError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {indices.ndim}")
    if offsets is None:
        raise errors.ElementError("offsets has to be a 1D Tensor but got None")
    starts = xp.array(raw(offsets))
    if starts.ndim != 1:
        raise errors.ElementError("offsets has to be a 1D Tensor")
    if starts.size and starts[0] != 0:
        raise errors.ShapeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, got "
            f"{int(starts[0])}"
        )
    if starts.size and starts[-1] > indices.size:
        raise errors.ShapeError(
            f"offsets[-1] can not be greater than input's length {indices.size} but got offsets[-1] of {int(starts[-1])}"
        )
    if not is_index(starts):
        raise errors.UnsupportedDtypeError(
            "Expected tensor for argument #3 'offsets' to have one of the following scalar types: Long, Int; but got "
            f"{errors.tensor_type(starts.dtype)} instead (while checking arguments for embedding_bag)"
        )
    if (starts[1:] < starts[:-1]).any():
        raise errors.ShapeError(f"embedding_bag: offsets has to be ascending, but got {starts.tolist()}")
    ends = starts[1:] if include_last_offset else xp.append(starts[1:], indices.size)
    starts = starts[:-1] if include_last_offset else starts
    return indices[: int(ends[-1]) if ends.size else 0], xp.repeat(xp.arange(starts.size), ends - starts), starts.size


def _check_bag_options(input: Any, weights: Any, per_sample_weights: Any, mode: str, scale_grad_by_freq: bool) -> None:
    """Raise torch's errors for a mode, dtypes and weights that do not fit."""
    if mode not in ("sum", "mean", "max"):
        raise errors.ElementError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise errors.ElementError("max mode does not support scaling the gradient by the frequency")
    if not is_index(raw(input)):
        raise errors.UnsupportedDtypeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"{errors.tensor_type(raw(input).dtype)} instead (while checking arguments for embedding_bag)"
        )
    if raw(weights).dtype.kind not in "fV":
        raise errors.UnsupportedDtypeError(
            "Expected tensor for argument #1 'weight' to have one of the following scalar types: Half, BFloat16, Float, "
            f"Double; but got {errors.tensor_type(raw(weights).dtype)} instead (while checking arguments for embedding_bag)"
        )
    if per_sample_weights is not None:
        if tuple(per_sample_weights.shape) != tuple(input.shape):
            raise errors.ElementError(
                f"embedding_bag: If per_sample_weights (torch.Size({list(per_sample_weights.shape)})) is not None, then it "
                f"must have the same shape as the input (torch.Size({list(input.shape)}))"
            )
        if mode != "sum":
            raise errors.UnsupportedModeError(
                "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got "
                f"mode='{mode}')."
            )
        if raw(per_sample_weights).dtype != raw(weights).dtype:
            raise errors.PromotionError(
                "Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 "
                f"'per_sample_weights'; but type {errors.tensor_type(raw(weights).dtype)} does not equal "
                f"{errors.tensor_type(raw(per_sample_weights).dtype)} (while checking arguments for embedding_bag)"
            )


@composite(namespaces=("nn.functional",))
def embedding_bag(
    F, input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode="mean", sparse=False,
    per_sample_weights=None, include_last_offset=False, padding_idx=None,
):  # fmt: skip
    """Sum, mean or maximum of the rows of weight, (n, m), that each bag of input names: (bags, m).

    input: int64 or int32. Each row of a matrix is a bag. A vector is cut into bags, which begin at offsets; if
    include_last_offset, the last offset is the end of the last bag. mode: "sum", "mean" or "max"; an empty bag gives
    zeros. per_sample_weights: of input's shape, a factor for each row, for mode "sum" only. padding_idx: a row that is
    left out. max_norm: rows whose norm_type-norm is larger are scaled down to max_norm first, in place.
    scale_grad_by_freq: the gradient of each row is divided by how often input names the row. sparse is accepted, but
    gradients are dense.

    Derivative: each row of weight gets the sum of ct over the bags that contain the row, times the row's factor in each
    bag. per_sample_weights get the products of ct with the rows."""
    xp = backend_of(input)
    _check_bag_options(input, weight, per_sample_weights, mode, scale_grad_by_freq)
    indices, bags, count = _checked_bags(input, offsets, include_last_offset)
    if max_norm is not None:
        limit_rows(weight, indices, max_norm, norm_type)
    factors = None if per_sample_weights is None else F.reshape(per_sample_weights, shape=(-1, 1))
    if factors is not None and factors.shape[0] != indices.size:
        factors = factors[: indices.size]
    if padding_idx is not None:
        counted = xp.flatnonzero(indices != padding_idx % weight.shape[0])
        indices, bags = indices[counted], bags[counted]
        factors = None if factors is None else F._index_select(factors, counted, dim=0)
    rows = F._embedding(indices, weight, padding_idx=None, scale_grad_by_freq=scale_grad_by_freq)
    if mode == "max":
        result = F._bag_maxima(rows, bags=bags, rows=count)[0]
    else:
        if mode == "mean":
            factors = (1 / xp.maximum(xp.bincount(bags, minlength=count), 1))[bags][:, None].astype(raw(weight).dtype)
        result = F._bag_sums(rows if factors is None else rows * factors, bags=bags, rows=count)
    if F.is_tensor:
        propagate_volatile((input, offsets), (result,))
    return result


# -- dropout that keeps mean and variance ------------------------------------------------------------------------------

_SATURATION = -1.7580993408473766  # limit of selu at minus infinity: -scale * alpha


@nondifferentiable(**_PRIVATE)
def _random_mask(xp, x, *, p, dims):
    """Random 1 (probability 1 - p) or 0, of x's size in the first `dims` dimensions, of size 1 in the others."""
    shape = (*x.shape[:dims], *(1,) * (x.ndim - dims))
    drawn = generator_of(None, device_name(x)).uniform_like(x if dims == x.ndim else xp.empty(shape))
    return xp.asarray(drawn < 1 - p).astype(x.dtype)


def _alpha_dropout(F: Any, input: Any, p: float, training: bool, inplace: bool, dims: int) -> Any:
    if not 0 <= p <= 1:
        raise errors.ElementError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return input
    if p == 1:
        return input.mul_(0.0) if inplace else input * 0.0
    mask = F._random_mask(input, p=p, dims=dims)
    scale = 1 / sqrt((1 - p) * (1 + p * _SATURATION**2))
    shift = ((1 - mask) - p) * (_SATURATION * scale)
    return input.mul_(mask * scale).add_(shift) if inplace else input * (mask * scale) + shift


@composite(namespaces=("nn.functional", ""))
def alpha_dropout(F, input, p=0.5, training=False, inplace=False):
    """Set each element with probability p to the limit of `selu` at minus infinity, then scale and shift all elements.

    Scale and shift keep mean 0 and variance 1. Returns input itself if not training or p is 0, and zeros if p is 1.
    inplace: write into input and return it. Raises ValueError unless 0 <= p <= 1.

    Derivative: the scale, and 0 where the element was set."""
    return _alpha_dropout(F, input, p, training, inplace, input.ndim)


@composite(namespaces=("nn.functional", ""))
def feature_alpha_dropout(F, input, p=0.5, training=False, inplace=False):
    """`alpha_dropout` of whole channels. input: (n, channels, ...).

    Raises RuntimeError for fewer than two dimensions if training and 0 < p < 1.

    Derivative: as in `alpha_dropout`."""
    if input.ndim < 2 and training and 0 < p < 1:
        raise errors.ShapeError("Feature dropout requires at least 2 dimensions in the input")
    return _alpha_dropout(F, input, p, training, inplace, 2)
