"""Margin losses, and the losses of Poisson and Gaussian models."""

from __future__ import annotations

from math import log, pi
from typing import Any

from wengert import errors
from wengert.backends.selection import backend_of, check_later, others
from wengert.core.watched import of_arrays
from wengert.kernels import losses as kernels
from wengert.ops.indices import are_inside, raw
from wengert.ops.reductions import check_floating, reduce_losses, reduction_of
from wengert.ops.registry import NONE, composite, general, nondifferentiable
from wengert.ops.values import number_of

_PRIVATE: dict[str, Any] = {"method": False, "namespaces": ()}
_FUNCTIONAL = ("nn.functional",)


def _reduce_array(xp: Any, losses: Any, reduction: str) -> Any:
    if reduction == "none":
        return losses
    total = xp.add.reduce(losses, axis=None)
    return xp.asarray(total / losses.size if reduction == "mean" else total, losses.dtype)


def _unreduced_cotangent(ct: Any, count: int, reduction: str) -> Any:
    """Cotangent of the unreduced losses, `count` in number, given the cotangent of the reduced loss."""
    return ct / max(count, 1) if reduction == "mean" else ct


def _positive_part(F: Any, x: Any) -> Any:
    return F.clamp_min(x, 0)


# -- models ------------------------------------------------------------------------------------------------------------


@composite(namespaces=_FUNCTIONAL)
def poisson_nll_loss(
    F, input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean"
):
    """Negative log likelihood of the counts target under Poisson rates exp(input), or input if log_input is False.

    input, target: floating, shapes that broadcast. full: add Stirling's approximation of log(target!) where target > 1.
    eps: added to the rates before their logarithm is taken; unused if log_input is True. reduction: "mean", "sum" or
    "none".

    Derivative: in input exp(input) - target, or 1 - target / (input + eps); in target that of the formula."""
    reduction = reduction_of(size_average, reduce, reduction)
    losses = F.exp(input) - target * input if log_input else input - target * F.log(input + eps)
    if full:
        large = raw(target) > 1
        counts = F.where(large, target, 1)  # so that the logarithm and its derivative are finite for every count
        stirling = counts * F.log(counts) - counts + 0.5 * F.log(2 * pi * counts)
        losses = losses + F.where(large, stirling, 0)
    return reduce_losses(F, losses, reduction)


@of_arrays
def _missing_variance(var: Any, eps: float) -> Any:
    """Return what variances lack to eps, or 0. Raises ValueError for a negative variance."""
    negative = (var < 0).any()
    if type(negative) in others:
        check_later(negative, "var has negative entry/entries")
    elif negative:
        raise errors.ElementError("var has negative entry/entries")
    xp = backend_of(var)
    return xp.maximum(xp.asarray(eps, var.dtype) - var, 0)


@composite(namespaces=_FUNCTIONAL)
def gaussian_nll_loss(F, input, target, var, full=False, eps=1e-6, reduction="mean"):
    """Negative log likelihood of target under normal distributions with mean input and variance var.

    input, target: floating. var: a number, or a tensor of input's shape whose last dimension may be 1 or missing.
    full: add the constant log(2 pi) / 2. eps: lower bound of the variance. reduction: "mean", "sum" or "none". Raises
    ValueError if var is negative or its shape does not fit.

    Derivative, with v = max(var, eps): (input - target) / v in input, its negative in target, and
    (1 - (input - target)**2 / v) / (2 v) in var, also where var < eps."""
    if isinstance(var, (int, float)):
        if var < 0:
            raise errors.ElementError("var has negative entry/entries")
        var = var * F.ones_like(input)
    elif tuple(var.shape) != tuple(input.shape):
        if tuple(var.shape) == tuple(input.shape[:-1]):
            var = F.unsqueeze(var, dim=-1)
        elif var.ndim != input.ndim or any(m not in (n, 1) for n, m in zip(input.shape, var.shape, strict=True)):
            raise errors.ElementError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise errors.ElementError(f"{reduction} is not valid")
    var = var + _missing_variance(raw(var), eps)
    losses = 0.5 * (F.log(var) + (input - target) ** 2 / var)
    if full:
        losses = losses + 0.5 * log(2 * pi)
    return reduce_losses(F, losses, reduction)


# -- losses of pairs and triples ---------------------------------------------------------------------------------------


@composite(namespaces=_FUNCTIONAL)
def hinge_embedding_loss(F, input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    """Loss of distances: input where target is 1 (a like pair), max(0, margin - input) where target is -1 (an unlike pair).

    input, target: shapes that broadcast. reduction: "mean", "sum" or "none".

    Derivative: 1 where target is 1; where target is -1, -1 for input <= margin and 0 beyond."""
    reduction = reduction_of(size_average, reduce, reduction)
    unlike = F.where(target != 1, _positive_part(F, float(margin) - input), 0)
    like = F.where(target != -1, input, 0)
    return reduce_losses(F, unlike + like, reduction)


@composite(namespaces=_FUNCTIONAL)
def margin_ranking_loss(F, input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """Ranking loss max(0, -target * (input1 - input2) + margin).

    target: 1 where input1 should be larger, -1 where input2 should be larger. reduction: "mean", "sum" or "none". Raises
    RuntimeError unless input1, input2 and target have equally many dimensions.

    Derivative: -target in input1, target in input2; 0 where the loss is clipped, but not at its kink."""
    reduction = reduction_of(size_average, reduce, reduction)
    if not input1.ndim == input2.ndim == target.ndim:
        raise errors.ShapeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
            f"torch.Size({list(input1.shape)}), input2: torch.Size({list(input2.shape)}), target: "
            f"torch.Size({list(target.shape)}) "
        )
    return reduce_losses(F, _positive_part(F, -target * (input1 - input2) + float(margin)), reduction)


@composite(namespaces=_FUNCTIONAL)
def cosine_embedding_loss(F, input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """Cosine loss of pairs of rows: 1 - cos where target is 1, max(0, cos - margin) where target is -1.

    cos is the cosine of the angle between the rows. input1, input2: (n, m) with target (n), or (m) with a 0-d target.
    reduction: "mean", "sum" or "none". Raises RuntimeError for other shapes.

    Derivative: that of the formula."""
    reduction = reduction_of(size_average, reduce, reduction)
    fits = input1.ndim == input2.ndim == target.ndim + 1  # first, so that arguments that are no tensors are refused as such
    if target.ndim > 1:
        raise errors.ShapeError("0D or 1D target tensor expected, multi-target not supported")
    if not fits:
        raise errors.ShapeError(
            f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors, but found inputs with sizes "
            f"{list(input1.shape)} and {list(input2.shape)}."
        )
    squares = (F.sum(input1 * input1, dim=-1) + 1e-12) * (F.sum(input2 * input2, dim=-1) + 1e-12)
    cosine = F.sum(input1 * input2, dim=-1) / F.sqrt(squares)
    like = F.where(target == 1, 1 - cosine, 0)
    unlike = F.where(target == -1, _positive_part(F, cosine - number_of(margin)), 0)
    return reduce_losses(F, like + unlike, reduction)


def _triplet_loss(F: Any, distances: tuple[Any, Any, Any], margin: float, reduction: str) -> Any:
    """Reduced triplet loss. distances: (anchor to positive, anchor to negative, positive to negative or None)."""
    to_positive, to_negative, between = distances
    if between is not None:
        to_negative = F.minimum(to_negative, between)
    return reduce_losses(F, _positive_part(F, margin + to_positive - to_negative), reduction)


def _check_triplet(anchor: Any, positive: Any, negative: Any, margin: float) -> None:
    if margin <= 0:
        raise errors.ElementError(f"margin must be greater than 0, got {margin}")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise errors.ShapeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {anchor.ndim}D, positive {positive.ndim}D, and negative {negative.ndim}D inputs"
        )


@composite(namespaces=_FUNCTIONAL)
def triplet_margin_loss(
    F, anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None, reduce=None, reduction="mean"
):
    """Triplet loss max(0, margin + |anchor - positive| - |anchor - negative|).

    The distances are p-norms over the last dimension, as in `pairwise_distance` with its p and eps. swap: replace
    |anchor - negative| by |positive - negative| where the latter is smaller. reduction: "mean", "sum" or "none". Raises
    RuntimeError unless the inputs have equally many dimensions, and ValueError if margin <= 0.

    Derivative: that of the formula."""
    reduction = reduction_of(size_average, reduce, reduction)
    _check_triplet(anchor, positive, negative, margin)
    between = F.pairwise_distance(positive, negative, p, eps) if swap else None
    to_positive, to_negative = (F.pairwise_distance(anchor, x, p, eps) for x in (positive, negative))
    return _triplet_loss(F, (to_positive, to_negative, between), margin, reduction)


@composite(namespaces=_FUNCTIONAL)
def triplet_margin_with_distance_loss(
    F, anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"
):
    """`triplet_margin_loss` with a distance function of two tensors.

    distance_function: `pairwise_distance` if None. The other arguments are those of `triplet_margin_loss`.

    Derivative: that of the formula."""
    reduction = reduction_of(None, None, reduction)
    _check_triplet(anchor, positive, negative, margin)
    distance = F.pairwise_distance if distance_function is None else distance_function
    between = distance(positive, negative) if swap else None
    return _triplet_loss(F, (distance(anchor, positive), distance(anchor, negative), between), margin, reduction)


# -- losses of classes -------------------------------------------------------------------------------------------------


@composite(namespaces=_FUNCTIONAL)
def soft_margin_loss(F, input, target, size_average=None, reduce=None, reduction="mean"):
    """Logistic loss log(1 + exp(-target * input)), computed without overflow.

    input, target: floating, shapes that broadcast; target is 1 or -1. reduction: "mean", "sum" or "none".

    Derivative: -target / (1 + exp(target * input)) in input."""
    return F._soft_margin_loss(input, target, reduction=reduction_of(size_average, reduce, reduction))


@general(node="SoftMarginLossBackward0", complex=False, **_PRIVATE)
def _soft_margin_loss(xp, x, y, *, reduction):
    """soft_margin_loss. reduction: "mean", "sum" or "none"."""
    check_floating("soft_margin_loss", x)
    return _reduce_array(xp, xp.logaddexp(x.dtype.type(0), -x * y).astype(x.dtype, copy=False), reduction)


def _soft_margin_slope(F: Any, ct: Any, x: Any, y: Any, reduction: str) -> Any:
    product = x * y
    count = 1
    for n in product.shape:
        count *= n
    return -_unreduced_cotangent(ct, count, reduction) * F.sigmoid(-product)


@_soft_margin_loss.vjp("x")
def _(F, ct, x, y, reduction):
    return _soft_margin_slope(F, ct, x, y, reduction) * y


@_soft_margin_loss.vjp("y")
def _(F, ct, x, y, reduction):
    return _soft_margin_slope(F, ct, x, y, reduction) * x


@composite(namespaces=_FUNCTIONAL)
def multilabel_soft_margin_loss(F, input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """Mean over classes of the binary cross entropies of scores input with labels target.

    input, target: (..., classes); target is 0 or 1. weight: (classes), the factor of each class, or None. reduction:
    "mean", "sum" or "none"; the unreduced losses have shape (...).

    Derivative: weight * (sigmoid(input) - target) / classes in input."""
    reduction = reduction_of(size_average, reduce, reduction)
    losses = -(target * F.logsigmoid(input) + (1 - target) * F.logsigmoid(-input))
    if weight is not None:
        losses = losses * weight
    return reduce_losses(F, F.sum(losses, dim=-1) / input.shape[-1], reduction)


@composite(namespaces=_FUNCTIONAL)
def multi_margin_loss(
    F, input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"
):
    """Multi-class hinge loss: the sum over classes j != target of max(0, margin - input[target] + input[j])**p / classes.

    input: (n, classes), (classes) or 0-d, floating. target: int64 class numbers, (n) or 0-d. p: 1 or 2. weight:
    (classes), the factor of each target class, or None. reduction: "mean", "sum" or "none". Raises ValueError for other p,
    and RuntimeError for shapes that do not fit and class numbers out of range.

    Derivative: that of the formula; 0 at the margin."""
    reduction = reduction_of(size_average, reduce, reduction)
    if p not in (1, 2):
        raise errors.ElementError("only p == 1 and p == 2 supported")
    if weight is not None and getattr(weight, "requires_grad", False):
        raise errors.RequiresGradError(
            "the derivative for 'weight' is not implemented. Hint: detach() the weight of multi_margin_loss."
        )
    shape, classes = tuple(input.shape), raw(target)
    _check_class_numbers(shape, classes, weight)
    weights = None if weight is None else raw(weight)[classes.reshape(-1)]
    return F._multi_margin_loss(input, target, weights, p=p, margin=margin, reduction=reduction)


def _check_class_numbers(shape: tuple[int, ...], classes: Any, weight: Any) -> None:
    if len(shape) > 2 or 0 in shape[-1:]:
        raise errors.ShapeError(f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(shape)}")
    rows = shape[0] if len(shape) == 2 else 1
    if classes.size != rows or classes.ndim > 1:
        raise errors.ShapeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch size). "
            f"Expected target size [{rows}], but got {list(classes.shape)}. Input has shape {list(shape)}."
        )
    count = shape[-1] if shape else 1
    if weight is not None and weight.ndim != 1:
        raise errors.ElementError("weight must be one-dimensional")
    if weight is not None and tuple(weight.shape) != (count,):
        raise errors.ShapeError(f"inconsistent weight size, expected {count} but got {list(weight.shape)}")
    if classes.dtype != "int64":
        raise errors.UnsupportedDtypeError(f"expected scalar type Long but found {errors.scalar_name(classes.dtype)}")
    if not are_inside(classes, 0, count):
        raise errors.ShapeError("target out of range")


def _margin_excess(F: Any, x: Any, target: Any, margin: float) -> tuple[Any, Any]:
    """Return (excess, index): max(0, margin - x[target] + x) for each class, 0 for the target; target as an (n, 1) index.

    x: (n, classes)."""
    xp = backend_of(x)
    index = F.reshape(target, shape=(-1, 1))
    others = xp.arange(x.shape[1]) != raw(target).reshape(-1, 1)
    gap = margin - F._pick(x, index, dim=1) + x
    return _positive_part(F, gap * others.astype(raw(x).dtype)), index


@general(promote=NONE, complex=False, node="MultiMarginLossBackward0", **_PRIVATE)
def _multi_margin_loss(xp, x, target, weights=None, *, p, margin, reduction):
    """multi_margin_loss. weights: (n), the factor of each item, or None."""
    check_floating("multi_margin_loss", x)
    rows = x if x.ndim == 2 else x.reshape(1, -1)
    index = target.reshape(-1)
    found = kernels.class_margins(rows, index, weights, margin, p == 2, None)
    if found is not None:
        return _reduce_array(xp, found if x.ndim == 2 or target.ndim else found[0, ...], reduction)
    gap = xp.maximum(margin - rows[xp.arange(len(rows)), index][:, None] + rows, 0)
    gap[xp.arange(len(rows)), index] = 0
    losses = xp.add.reduce(gap if p == 1 else gap * gap, axis=1) / rows.shape[1]
    if weights is not None:
        losses *= weights
    losses = losses.astype(x.dtype, copy=False)
    return _reduce_array(xp, losses if x.ndim == 2 or target.ndim else losses[0, ...], reduction)


@_multi_margin_loss.vjp("x", flat=True)
def _(F, ct, x, target, weights, p, margin, reduction):
    xp = backend_of(ct)
    rows = x if x.ndim == 2 else F.reshape(x, shape=(1, -1))
    if not F.is_tensor:
        loss_ct = xp.asarray(_unreduced_cotangent(ct, rows.shape[0], reduction), x.dtype)
        found = kernels.class_margins(rows, target.reshape(-1), weights, margin, p == 2, loss_ct)
        if found is not None:
            return found.reshape(x.shape)
    excess, index = _margin_excess(F, rows, target, margin)
    slopes = F._is_nonzero(excess) if p == 1 else 2 * excess
    loss_ct = F.reshape(_unreduced_cotangent(ct, rows.shape[0], reduction), shape=(-1, 1)) / rows.shape[1]
    if weights is not None:
        loss_ct = loss_ct * F.reshape(weights, shape=(-1, 1))
    slopes = slopes * loss_ct
    back = F._place(F.sum(slopes, dim=1, keepdim=True), index, dim=1, size=rows.shape[1])
    return F.reshape(slopes - back, shape=x.shape)


@composite(namespaces=_FUNCTIONAL)
def multilabel_margin_loss(F, input, target, size_average=None, reduce=None, reduction="mean"):
    """Multi-label hinge loss: the sum of max(0, 1 - input[label] + input[other]) / classes over labels and other classes.

    input: (n, classes) or (classes), floating. target: int64 of input's shape; each row lists the labels of its item and
    ends at the first -1. reduction: "mean", "sum" or "none". Raises RuntimeError for shapes that do not fit and class
    numbers out of range.

    Derivative: that of the formula; 0 at the margin."""
    reduction = reduction_of(size_average, reduce, reduction)
    shape, labels = tuple(input.shape), raw(target)
    if len(shape) > 2 or 0 in shape[-1:]:
        raise errors.ShapeError(f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(shape)}")
    if tuple(labels.shape) != shape:
        raise errors.ShapeError(f"inconsistent target size: {list(labels.shape)} for input of size: {list(shape)}")
    if not are_inside(labels, -1, shape[-1] if shape else 1):
        raise errors.ShapeError("argument #2 'target' is out of range")
    return F._multilabel_margin_loss(input, target, reduction=reduction)


def _label_counts(xp: Any, target: Any, dtype: Any) -> Any:
    """Count how often each class is among the labels of each item. target: (n, classes); returns that shape."""
    n, classes = target.shape
    valid = xp.logical_and.accumulate(target >= 0, axis=1)
    counts = xp.zeros((n, classes), dtype)
    rows = xp.broadcast_to(xp.arange(n)[:, None], target.shape)
    xp.add.at(counts, (rows[valid], target[valid]), 1)
    return counts


def _label_gaps(xp: Any, x: Any, counts: Any) -> Any:
    """Return max(0, 1 - x[label] + x[other]), times the label's count, of shape (items, labels, others)."""
    gaps = xp.maximum(1 - x[:, :, None] + x[:, None, :], 0)
    return gaps * counts[:, :, None] * (counts == 0)[:, None, :]


@general(promote=NONE, complex=False, node="MultilabelMarginLossBackward0", **_PRIVATE)
def _multilabel_margin_loss(xp, x, target, *, reduction):
    """multilabel_margin_loss. reduction: "mean", "sum" or "none"."""
    check_floating("multilabel_margin_loss", x)
    rows, labels = (a if a.ndim == 2 else a.reshape(1, -1) for a in (x, target))
    losses = kernels.label_margins(rows, labels, None)
    if losses is not None:
        return _reduce_array(xp, losses if x.ndim == 2 else losses[0, ...], reduction)
    gaps = _label_gaps(xp, rows, _label_counts(xp, labels, x.dtype))
    losses = (xp.add.reduce(gaps, axis=(1, 2)) / rows.shape[1]).astype(x.dtype, copy=False)
    return _reduce_array(xp, losses if x.ndim == 2 else losses[0, ...], reduction)


@nondifferentiable(promote=NONE, **_PRIVATE)
def _multilabel_slopes(xp, x, target):
    """Derivative of each item's multilabel margin loss, (n, classes). It is piecewise constant in x."""
    rows, labels = (a if a.ndim == 2 else a.reshape(1, -1) for a in (x, target))
    counts = _label_counts(xp, labels, x.dtype)
    active = (_label_gaps(xp, rows, counts) > 0) * counts[:, :, None]
    slopes = xp.add.reduce(active, axis=1) - xp.add.reduce(active, axis=2)
    return (slopes / rows.shape[1]).astype(x.dtype, copy=False)


@_multilabel_margin_loss.vjp("x", flat=True)
def _(F, ct, x, target, reduction):
    xp = backend_of(ct)
    if not F.is_tensor:
        rows, labels = (a if a.ndim == 2 else a.reshape(1, -1) for a in (x, target))
        found = kernels.label_margins(rows, labels, xp.asarray(_unreduced_cotangent(ct, rows.shape[0], reduction), x.dtype))
        if found is not None:
            return found.reshape(x.shape)
    slopes = F._multilabel_slopes(x, target)
    loss_ct = F.reshape(_unreduced_cotangent(ct, slopes.shape[0], reduction), shape=(-1, 1))
    return F.reshape(slopes * loss_ct, shape=x.shape)
