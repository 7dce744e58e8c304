"""Loss functions. reduction: "mean" of all losses, their "sum", or "none" for the unreduced losses.

The older parameters size_average and reduce give the reduction too, with a warning.
"""

from __future__ import annotations

import warnings
from math import prod
from typing import Any

import numpy as np

from wengert import errors
from wengert.backends.selection import backend_of, check_later, is_array, others
from wengert.core.stacks import user_level
from wengert.core.tensor import wrap
from wengert.kernels import losses as kernels, places, rows
from wengert.ops.blas import row_maxima, row_sums
from wengert.ops.faces import array_face
from wengert.ops.indices import Along, are_inside, are_surely_inside, private_index, raw
from wengert.ops.reductions import check_floating, reduce_losses, reduction_of
from wengert.ops.registry import NONE, composite, general, nondifferentiable
from wengert.ops.values import number_of

_PRIVATE: dict[str, Any] = {"method": False, "namespaces": ()}


def _reduce_array(xp: Any, losses: Any, reduction: str) -> Any:
    """Reduce an array of losses to their mean or sum, or return the losses."""
    if reduction == "none":
        return losses
    total = xp.add.reduce(losses, axis=None)
    return total / losses.size if reduction == "mean" else total


def _unreduced_cotangent(ct: Any, shape: tuple[int, ...], reduction: str) -> Any:
    """Cotangent of the unreduced losses, given the cotangent of the reduced loss. It broadcasts to `shape`."""
    return ct / prod(shape) if reduction == "mean" else ct


def _warn_sizes(input: Any, target: Any) -> None:
    """Warn if input and target differ in shape."""
    if input.shape != target.shape:
        warnings.warn(
            f"Using a target size (torch.Size({list(target.shape)})) that is different to the input size "
            f"(torch.Size({list(input.shape)})). This will likely lead to incorrect results due to broadcasting. Please "
            "ensure they have the same size.",
            stacklevel=user_level(),
        )


# -- distances ---------------------------------------------------------------------------------------------------------


@composite(namespaces=("nn.functional",))
def mse_loss(F, input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """Squared error: (input - target)**2. input, target: floating, shapes that broadcast; different shapes give a warning.

    weight: of input's shape, a factor for each loss. The mean is then the sum of the losses divided by the sum of weight.

    Derivative: 2 * (input - target) in input, its negative in target."""
    _warn_sizes(input, target)
    reduction = reduction_of(size_average, reduce, reduction)
    if weight is None:
        return F._mse_loss(input, target, reduction=reduction)
    losses = F._mse_loss(input, target, reduction="none") * weight
    return F.sum(losses) / F.sum(weight) if reduction == "mean" else reduce_losses(F, losses, reduction)


@general(node="MseLossBackward0", complex=False, **_PRIVATE)
def _mse_loss(xp, x, y, *, reduction):
    """mse_loss without weights."""
    check_floating("mse_cpu", x)
    difference = xp.subtract(x, y)
    if reduction == "none" or not is_array(difference) or difference.dtype.itemsize == 2:
        return _reduce_array(xp, difference * difference, reduction)
    flat = difference.reshape(-1)
    total = xp.dot(flat, flat)
    return total / difference.size if reduction == "mean" else total


def _mse_cotangent(ct: Any, x: Any, y: Any, reduction: str, sign: float) -> Any:
    """sign * (x - y) * (cotangent of each loss)."""
    difference = x - y
    return difference * (_unreduced_cotangent(ct, difference.shape, reduction) * sign)


@_mse_loss.vjp("x")
def _(F, ct, x, y, reduction):
    return _mse_cotangent(ct, x, y, reduction, 2.0)


@_mse_loss.vjp("y")
def _(F, ct, x, y, reduction):
    return _mse_cotangent(ct, x, y, reduction, -2.0)


@composite(namespaces=("nn.functional",))
def l1_loss(F, input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """Absolute error: |input - target|. input, target: floating or complex, shapes that broadcast.

    Different shapes give a warning. weight: as in `mse_loss`.

    Derivative: sgn(input - target) in input, its negative in target; 0 where input equals target."""
    _warn_sizes(input, target)
    reduction = reduction_of(size_average, reduce, reduction)
    losses = F.abs(input - target)
    if weight is None:
        return reduce_losses(F, losses, reduction)
    losses = losses * weight
    return F.sum(losses) / F.sum(weight) if reduction == "mean" else reduce_losses(F, losses, reduction)


@composite(namespaces=("nn.functional",))
def smooth_l1_loss(F, input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    """(input - target)**2 / (2 * beta) where |input - target| < beta, else |input - target| - beta / 2.

    beta=0 gives `l1_loss`; beta < 0 raises RuntimeError.

    Derivative in input: (input - target) / beta where |input - target| < beta, else sgn(input - target). In target: the
    negative."""
    _warn_sizes(input, target)
    reduction = reduction_of(size_average, reduce, reduction)
    if beta < 0:
        raise errors.ShapeError("smooth_l1_loss does not support negative values for beta.")
    if beta == 0:
        return reduce_losses(F, F.abs(input - target), reduction)
    return F._smooth_l1_loss(input, target, delta=beta, scale=1.0 / beta, reduction=reduction)


@composite(namespaces=("nn.functional",))
def huber_loss(F, input, target, reduction="mean", delta=1.0, weight=None):
    """(input - target)**2 / 2 where |input - target| <= delta, else delta * (|input - target| - delta / 2).

    weight: of input's shape, a factor for each loss. The mean is divided by the number of losses, not by the sum of weight.
    delta <= 0 raises RuntimeError.

    Derivative in input: input - target where |input - target| <= delta, else delta * sgn(input - target). In target: the
    negative."""
    _warn_sizes(input, target)
    reduction = reduction_of(None, None, reduction)
    delta = number_of(delta)
    if delta <= 0:
        raise errors.ShapeError("huber_loss does not support non-positive values for delta.")
    if weight is None:
        return F._huber_loss(input, target, delta=delta, scale=1.0, reduction=reduction)
    losses = F._huber_loss(input, target, delta=delta, scale=1.0, reduction="none") * weight
    return reduce_losses(F, losses, reduction)


def _huber_losses(xp: Any, x: Any, y: Any, delta: float, scale: float, reduction: str) -> Any:
    """Reduced losses scale * (d**2 / 2 where d <= delta, else delta * (d - delta / 2)), with d = |x - y|."""
    check_floating("huber_cpu", x)
    found = kernels.rounded_distances(x, y, delta, scale, reduction != "none")
    if found is not None:
        return found if reduction == "none" else xp.asarray(found / x.size if reduction == "mean" else found, x.dtype)
    distance = xp.absolute(x - y)
    near = xp.minimum(distance, delta)
    return _reduce_array(xp, scale * near * (distance - 0.5 * near), reduction)


def _huber_cotangent(F: Any, ct: Any, x: Any, y: Any, delta: float, scale: float, reduction: str) -> Any:
    """Cotangent of x in _huber_losses."""
    if not F.is_tensor and ct.ndim == 0 and x.ndim and type(ct) not in others:
        found = kernels.rounded_slopes(x, y, delta, float(_unreduced_cotangent(ct, x.shape, reduction)) * scale)
        if found is not None:
            return found
    difference = x - y
    return F.clamp(difference, min=-delta, max=delta) * (_unreduced_cotangent(ct, difference.shape, reduction) * scale)


@general(node="SmoothL1LossBackward0", complex=False, **_PRIVATE)
def _smooth_l1_loss(xp, x, y, *, delta, scale, reduction):
    """smooth_l1_loss with beta > 0."""
    return _huber_losses(xp, x, y, delta, scale, reduction)


@general(node="HuberLossBackward0", complex=False, **_PRIVATE)
def _huber_loss(xp, x, y, *, delta, scale, reduction):
    """huber_loss without weights."""
    return _huber_losses(xp, x, y, delta, scale, reduction)


for _op in (_smooth_l1_loss, _huber_loss):

    @_op.vjp("x")
    def _(F, ct, x, y, delta, scale, reduction):
        return _huber_cotangent(F, ct, x, y, delta, scale, reduction)

    @_op.vjp("y")
    def _(F, ct, x, y, delta, scale, reduction):
        return _huber_cotangent(F, ct, x, y, delta, -scale, reduction)


# -- binary cross entropy ----------------------------------------------------------------------------------------------


@composite(namespaces=("nn.functional",))
def binary_cross_entropy(F, input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """-(target * log(input) + (1 - target) * log(1 - input)), with logarithms of at least -100.

    input: 0 <= input <= 1, else RuntimeError. target: of input's shape, else ValueError; 0 <= target <= 1, else RuntimeError.
    weight: a factor for each loss, broadcasts to input's shape.

    Derivative: (input - target) / max(input * (1 - input), 1e-12) in input; log(1 - input) - log(input) in target."""
    reduction = reduction_of(size_average, reduce, reduction)
    if tuple(target.shape) != tuple(input.shape):
        raise errors.ElementError(
            f"Using a target size (torch.Size({list(target.shape)})) that is different to the input size "
            f"(torch.Size({list(input.shape)})) is deprecated. Please ensure they have the same size."
        )
    if getattr(weight, "requires_grad", False):
        return reduce_losses(F, F._binary_cross_entropy(input, target, reduction="none") * weight, reduction)
    return F._binary_cross_entropy(input, target, weight, reduction=reduction)


def _weighted(value: Any, weight: Any) -> Any:
    """value * weight. None stands for a weight of 1."""
    return value if weight is None else value * weight


@general(node="BinaryCrossEntropyBackward0", complex=False, **_PRIVATE)
def _binary_cross_entropy(xp, x, y, weight=None, *, reduction):
    """binary_cross_entropy with constant weights."""
    check_floating("binary_cross_entropy", x)
    for name, given in (("input", x), ("target", y)):
        outside, message = ~xp.all((given >= 0) & (given <= 1)), f"all elements of {name} should be between 0 and 1"
        if type(outside) in others:
            check_later(outside, message)
        elif outside:
            raise errors.ShapeError(message)
    losses = (y - 1) * xp.maximum(xp.log1p(-x), -100) - y * xp.maximum(xp.log(x), -100)
    return _reduce_array(xp, _weighted(losses, weight), reduction)


@_binary_cross_entropy.vjp("x")
def _(F, ct, x, y, weight, reduction):
    return _weighted((x - y) / F.clamp(x * (1.0 - x), min=1e-12, max=None), weight) * _unreduced_cotangent(ct, x.shape, reduction)


@_binary_cross_entropy.vjp("y")
def _(F, ct, x, weight, reduction):
    return _weighted(F.log1p(-x) - F.log(x), weight) * _unreduced_cotangent(ct, x.shape, reduction)


@composite(namespaces=("nn.functional",))
def binary_cross_entropy_with_logits(
    F, input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None
):
    """`binary_cross_entropy` of sigmoid(input), accurate also for large |input|.

    target: of input's shape, else ValueError. weight: a factor for each loss. pos_weight: a factor for the term
    target * log(sigmoid(input)). Both broadcast to input's shape.

    Derivative: without weights, sigmoid(input) - target in input, -input in target."""
    reduction = reduction_of(size_average, reduce, reduction)
    if tuple(target.shape) != tuple(input.shape):
        raise errors.ElementError(
            f"Target size (torch.Size({list(target.shape)})) must be the same as input size (torch.Size({list(input.shape)}))"
        )
    if not any(getattr(w, "requires_grad", False) for w in (weight, pos_weight)):
        return F._bce_with_logits(input, target, weight, pos_weight, reduction=reduction)
    positive = 1.0 if pos_weight is None else pos_weight
    losses = (1.0 - target) * input + (1.0 + (positive - 1.0) * target) * F._softplus(-input)
    return reduce_losses(F, _weighted(losses, weight), reduction)


@general(node="BinaryCrossEntropyWithLogitsBackward0", complex=False, **_PRIVATE)
def _bce_with_logits(xp, x, y, weight=None, pos_weight=None, *, reduction):
    """binary_cross_entropy_with_logits with constant weights."""
    check_floating("binary_cross_entropy_with_logits", x)
    log_sigmoid = xp.minimum(x, 0) - xp.log1p(xp.exp(-xp.absolute(x)))
    losses = (1 - y) * x - (log_sigmoid if pos_weight is None else (1 + (pos_weight - 1) * y) * log_sigmoid)
    return _reduce_array(xp, _weighted(losses, weight), reduction)


@_bce_with_logits.vjp("x")
def _(F, ct, x, y, weight, pos_weight, reduction):
    if pos_weight is None:
        slope = F.sigmoid(x) - y
    else:
        slope = 1.0 - y - (1.0 + (pos_weight - 1.0) * y) * F.sigmoid(-x)
    return _weighted(slope, weight) * _unreduced_cotangent(ct, x.shape, reduction)


@_bce_with_logits.vjp("y")
def _(F, ct, x, weight, pos_weight, reduction):
    slope = -x if pos_weight is None else (pos_weight - 1.0) * F._softplus(-x) - x
    return _weighted(slope, weight) * _unreduced_cotangent(ct, x.shape, reduction)


@composite(namespaces=("nn.functional",))
def kl_div(F, input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """Kullback-Leibler divergence: target * (log(target) - input), where input is a log-probability.

    log_target: target is a log-probability too; the loss is exp(target) * (target - input). reduction may also be
    "batchmean", the sum divided by the size of the first dimension. A target of 0 gives a loss of 0.

    Derivative: in input -target, or -exp(target) if log_target; in target that of the formula."""
    reduction = reduction_of(size_average, reduce, reduction, ("batchmean",))
    if reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size. 'batchmean' divides "
            "only by the batch size, and aligns with the KL div math definition. 'mean' will be changed to behave the same "
            "as 'batchmean' in the next major release.",
            stacklevel=user_level(),
        )
    if input.is_complex() or target.is_complex():
        raise errors.UnsupportedDtypeError("kl_div: Complex inputs not supported.")
    if log_target:
        losses = F.exp(target) * (target - input)
    else:
        losses = F.xlogy(target, target) - target * input
    if reduction == "batchmean":
        return F.sum(losses) / input.shape[0] if input.ndim else F.sum(losses)
    return reduce_losses(F, losses, reduction)


# -- negative log likelihood -------------------------------------------------------------------------------------------
#
# Note [Class targets]
# The classes are dimension 1 of the input, or dimension 0 of a 1-D input. The target has the other dimensions. The mean of
# losses with class weights w is sum(w[target] * loss) / sum(w[target]). A target equal to ignore_index has loss 0 and weight
# 0. If all weights are 0, the mean is NaN.


def _class_dim(ndim: int) -> int:
    """Dimension of the classes in an input with ndim dimensions."""
    return 1 if ndim > 1 else 0


def _check_classes(x: Any, target: Any, weight: Any) -> None:
    """Raise torch's errors for a target or weights that do not fit x. See Note [Class targets]."""
    if x.ndim == 0:
        raise errors.ElementError("Expected 1 or more dimensions (got 0)")
    if target.dtype.kind not in "iu":
        raise errors.UnsupportedDtypeError(f"expected target dtype to be Long or Byte, but got {errors.scalar_name(target.dtype)}")
    dim = _class_dim(x.ndim)
    expected = x.shape[:dim] + x.shape[dim + 1 :]
    if target.shape != expected and not (x.ndim == 1 and target.shape == (1,)):
        if x.ndim > 1 and target.ndim and target.shape[0] != x.shape[0]:
            raise errors.ElementError(
                f"Expected input batch_size ({x.shape[0]}) to match target batch_size ({target.shape[0]})."
            )
        if x.ndim <= 2:
            raise errors.ShapeError("0D or 1D target tensor expected, multi-target not supported")
        raise errors.ShapeError(f"Expected target size {list(expected)}, got {list(target.shape)}")
    if weight is not None:
        if weight.shape != (x.shape[dim],):
            raise errors.ShapeError(
                f"weight tensor should be defined either for all {x.shape[dim]} classes or no classes but got weight "
                f"tensor of shape: {list(weight.shape)}"
            )
        if weight.dtype != x.dtype:
            raise errors.UnsupportedDtypeError(
                f"expected scalar type {errors.scalar_name(x.dtype)} but found {errors.scalar_name(weight.dtype)}"
            )


def _class_index(xp: Any, target: Any, classes: int, ignore_index: int) -> tuple[Any, Any]:
    """Return (target with class 0 in place of ignore_index, whether target is ignore_index or None if nowhere).

    Raises IndexError for a target that is no class."""
    if not 0 <= ignore_index < classes and are_surely_inside(target, 0, classes):
        return target, None
    ignored = target == ignore_index
    index = xp.where(ignored, 0, target)
    if not are_inside(index, 0, classes):
        outside = (index < 0) | (index >= classes)
        raise errors.TensorIndexError(f"Target {int(index[outside].reshape(-1)[0])} is out of bounds.")
    return index, ignored


def _loss_weights(xp: Any, index: Any, ignored: Any, weight: Any, dtype: Any) -> Any:
    """Weight of each loss: the weight of its class, and 0 where ignored; None if all weights are 1."""
    if ignored is None:
        return None if weight is None else weight[index]
    counts = ~ignored
    return counts.astype(dtype) if weight is None else xp.where(counts, weight[index], dtype.type(0))


def _class_element_index(xp: Any, index: Any, dim: int) -> tuple[Any, ...]:
    """NumPy index that names, for each element of index, one element along dim of an array with one dimension more."""
    grid = [xp.arange(n).reshape((n,) + (1,) * (index.ndim - d - 1)) for d, n in enumerate(index.shape)]
    return private_index((*grid[:dim], index, *grid[dim:]))


def _with_class_dim(index: Any, dim: int) -> Any:
    """Insert the class dimension, of size 1, into index."""
    return index.reshape(*index.shape[:dim], 1, *index.shape[dim:])


def _total_weight(xp: Any, index: Any, counts: Any) -> Any:
    """Sum of the weights of the losses. counts: the weights, or None if all are 1."""
    return index.size if counts is None else counts.sum()


def _zero_ignored(ignored: Any, values: Any) -> Any:
    """Write 0 into values where ignored, also over NaN, and return values. ignored: a bool array or None."""
    if ignored is not None:
        backend_of(values).copyto(values, 0, where=ignored.reshape(ignored.shape + (1,) * (values.ndim - ignored.ndim)))
    return values


def _mean_or_nan(total: Any, n: Any) -> Any:
    """total / n, and NaN if n is 0."""
    if type(n) in others:
        wide = np.float32 if total.dtype.itemsize == 2 else total.dtype  # a count may exceed what 16 bits hold
        return (total / n.astype(wide)).astype(total.dtype)  # the total of no losses is 0, and 0 / 0 is NaN
    return total / n if n else total * float("nan")


@general(
    promote=NONE, node=lambda inputs, params: _nll_node(inputs[0].ndim, params["reduction"]), complex=False, **_PRIVATE
)
def _nll_loss(xp, x, target, weight=None, *, ignore_index, reduction):
    """-weight[target] * x[target] along the class dimension. See Note [Class targets]."""
    check_floating("nll_loss_out_frame", x)
    _check_classes(x, target, weight)
    dim = _class_dim(x.ndim)
    target = target.reshape(x.shape[:dim] + x.shape[dim + 1 :])
    scores = None
    if not 0 <= ignore_index < x.shape[dim]:
        scores = places.take_along(x, _with_class_dim(target, dim), dim, False)  # None also if a target is no class
    if scores is not None:
        index, ignored, losses = target, None, -scores.reshape(target.shape)
    else:
        index, ignored = _class_index(xp, target, x.shape[dim], ignore_index)
        losses = -x[_class_element_index(xp, index, dim)]
    counts = _loss_weights(xp, index, ignored, weight, x.dtype)
    if counts is not None:
        losses = _zero_ignored(ignored, xp.asarray(losses * counts))
    if reduction == "none":
        return losses
    total = xp.add.reduce(losses, axis=None)
    return _mean_or_nan(total, _total_weight(xp, index, counts)) if reduction == "mean" else total


def _nll_node(ndim: int, reduction: str) -> str:
    if ndim <= 2:
        return "NllLossBackward0"
    return "ViewBackward0" if reduction == "none" and ndim != 4 else "NllLoss2DBackward0"


@_nll_loss.vjp("x", flat=True)
def _(F, ct, x_shape, target, weight, ignore_index, reduction):
    if not F.is_tensor:
        values, index = _nll_cotangent_values(backend_of(ct), ct, target, weight, x_shape, ignore_index, reduction)
        return F.read_cotangent(values, shape=x_shape, index=index)
    return F._nll_cotangent(ct, target, weight, shape=x_shape, ignore_index=ignore_index, reduction=reduction)


@general(promote=NONE, node="NllLossBackwardBackward0", complex=False, **_PRIVATE)
def _nll_cotangent(xp, ct, target, weight=None, *, shape, ignore_index, reduction):
    """Cotangent of x, of the given shape, given ct, the cotangent of _nll_loss(x, target, weight)."""
    out = xp.zeros(shape, ct.dtype)
    values, index = _nll_cotangent_values(xp, ct, target, weight, shape, ignore_index, reduction)
    array_face.add_at(out, index, values, False)
    return out


def _nll_cotangent_values(
    xp: Any, ct: Any, target: Any, weight: Any, shape: tuple[int, ...], ignore_index: int, reduction: str
) -> tuple[Any, Along]:
    """Return the nonzero values of the cotangent of x, one number or one for each target, and their index in x."""
    dim = _class_dim(len(shape))
    target = target.reshape(shape[:dim] + shape[dim + 1 :])
    index, ignored = _class_index(xp, target, shape[dim], ignore_index)
    counts = _loss_weights(xp, index, ignored, weight, ct.dtype)
    if reduction == "mean":
        ct = _mean_or_nan(ct, _total_weight(xp, index, counts))
    values = xp.asarray(-ct if counts is None else _zero_ignored(ignored, xp.asarray(-ct * counts)))
    index = _with_class_dim(index, dim)
    return values.reshape(index.shape) if values.ndim else values, Along(index, dim)


@_nll_cotangent.vjp("ct")
def _(F, ct_, target, weight, ignore_index, reduction):
    return F._nll_loss(ct_, target, weight, ignore_index=ignore_index, reduction=reduction)


@_nll_cotangent.vjp("weight")
def _(F, ct_, ct, target, weight, ignore_index, reduction):
    return _weight_cotangent(F, ct, ct_, target, weight, ignore_index, reduction)


@_nll_loss.vjp("weight")
def _weight_cotangent(F, ct, x, target, weight, ignore_index, reduction):
    """Cotangent of weight: the sum of the losses of each class, or for a mean of their differences from the mean.

    torch has no derivative here."""
    xp = backend_of(ct)
    dim, wrapped = _class_dim(x.ndim), wrap if F.is_tensor else xp.asarray
    shape = x.shape[:dim] + x.shape[dim + 1 :]
    index, ignored = _class_index(xp, raw(target).reshape(shape).astype(np.int64), x.shape[dim], ignore_index)

    def without(values: Any) -> Any:
        return values if ignored is None else F._zero_where(values, wrapped(ignored))

    losses = without(-F.reshape(F.gather(x, dim, wrapped(xp.expand_dims(index, dim))), shape=shape))
    if reduction == "mean":
        counts = without(F.reshape(F.index_select(weight, 0, wrapped(index.reshape(-1))), shape=shape))
        n = F.sum(counts)
        losses = without((losses - F.sum(losses * counts) / n) / n)
    places = (index.reshape(-1),)
    return F.read_cotangent(F.reshape(ct * losses, shape=(-1,)), shape=(x.shape[dim],), index=places, repeats=True)


@composite(namespaces=("nn.functional",))
def nll_loss(F, input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    """Negative log-likelihood: -input[i, target[i]] for each item i.

    input: log-probabilities, (n, classes, ...) or (classes), floating. target: class indices, (n, ...) or (), integers.
    weight: (classes), a factor for the losses of each class; the mean is then the sum of the losses divided by the sum of
    their weights. Targets equal to ignore_index are left out. Raises IndexError for a target that is no class.

    Derivative: in input minus the weight at the target's class, 0 elsewhere. In weight the sum of the losses of each class;
    torch has no derivative in weight."""
    reduction = reduction_of(size_average, reduce, reduction)
    return F._nll_loss(input, target, weight, ignore_index=number_of(ignore_index), reduction=reduction)


# -- cross entropy -----------------------------------------------------------------------------------------------------


@composite(namespaces=("nn.functional",))
def cross_entropy(
    F,
    input,
    target,
    weight=None,
    size_average=None,
    ignore_index=-100,
    reduce=None,
    reduction="mean",
    label_smoothing=0.0,
):
    """`nll_loss` of log_softmax(input): the usual loss of a classifier.

    input: scores, (n, classes, ...) or (classes), floating. target: class indices, (n, ...) or (), as in `nll_loss`; or
    class probabilities of input's shape. label_smoothing: the part of each target that is divided evenly among all classes;
    RuntimeError unless 0 <= label_smoothing <= 1. weight, ignore_index: as in `nll_loss`.

    Derivative: softmax(input) minus the target's probabilities, times the weight of the loss.

    >>> import wengert
    >>> scores = wengert.tensor([[0.0, 0.0]])
    >>> wengert.nn.functional.cross_entropy(scores, wengert.tensor([1]))
    tensor(0.6931)
    """
    if size_average is not None or reduce is not None or reduction not in ("mean", "sum", "none"):
        reduction = reduction_of(size_average, reduce, reduction)
    if not 0.0 <= label_smoothing <= 1.0:
        raise errors.ShapeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    if weight is None and label_smoothing == 0.0 and input.ndim == 2 and target.ndim == 1:
        return F._cross_entropy(input, target, ignore_index=ignore_index, reduction=reduction)[0]
    ignore_index = number_of(ignore_index)
    log_probs = F.log_softmax(input, dim=_class_dim(input.ndim))
    if target.shape == input.shape and not str(target.dtype).removeprefix("torch.").startswith(("int", "uint")):
        return _soft_cross_entropy(F, log_probs, target, weight, reduction, label_smoothing)
    loss = F._nll_loss(log_probs, target, weight, ignore_index=ignore_index, reduction=reduction)
    if label_smoothing == 0.0:
        return loss
    return _smooth_labels(F, loss, log_probs, target, weight, ignore_index, reduction, label_smoothing)


def _broadcast_class_weights(F: Any, weight: Any, ndim: int) -> Any:
    """Reshape class weights so that they broadcast along the class dimension."""
    return F.reshape(weight, shape=(-1,) + (1,) * (ndim - 1 - _class_dim(ndim)))


def _soft_cross_entropy(F: Any, log_probs: Any, target: Any, weight: Any, reduction: str, smoothing: float) -> Any:
    """cross_entropy of log-probabilities with class probabilities as target."""
    dim = _class_dim(log_probs.ndim)
    classes = log_probs.shape[dim]
    if smoothing:
        target = target * (1.0 - smoothing) + smoothing / classes
    if weight is not None:
        target = target * _broadcast_class_weights(F, weight, log_probs.ndim)
    if reduction == "none":
        return -F.sum(log_probs * target, dim=dim)
    total = -F.sum(log_probs * target)
    # As in torch, the mean is not divided by the sum of the weights, unlike the mean for class indices.
    return total / (prod(log_probs.shape) // classes) if reduction == "mean" else total


def _smooth_labels(
    F: Any, loss: Any, log_probs: Any, target: Any, weight: Any, ignore_index: int, reduction: str, smoothing: float
) -> Any:
    """(1 - smoothing) * loss + smoothing * (the loss of a target that is uniform over all classes)."""
    dim = _class_dim(log_probs.ndim)
    classes = log_probs.shape[dim]
    weighted = log_probs if weight is None else log_probs * _broadcast_class_weights(F, weight, log_probs.ndim)
    counted = F._target_weights(log_probs, target, None, ignore_index=ignore_index) > 0
    losses = F.where(counted, -F.sum(weighted, dim=dim), 0.0)
    if reduction == "mean":
        losses = F.sum(losses) / F.sum(F._target_weights(log_probs, target, weight, ignore_index=ignore_index))
    elif reduction == "sum":
        losses = F.sum(losses)
    return loss * (1.0 - smoothing) + losses * (smoothing / classes)


@nondifferentiable(promote=NONE, **_PRIVATE)
def _target_weights(xp, x, target, weight=None, *, ignore_index):
    """Weight of the loss of each target, in x's dtype: the weight of its class, and 0 where ignored."""
    dim = _class_dim(x.ndim)
    index, ignored = _class_index(xp, target.reshape(x.shape[:dim] + x.shape[dim + 1 :]), x.shape[dim], ignore_index)
    counts = _loss_weights(xp, index, ignored, weight, x.dtype)
    return xp.ones(index.shape, x.dtype) if counts is None else counts


@general(promote=NONE, outputs=("loss", "probabilities", "places"), node="NllLossBackward0", complex=False, **_PRIVATE)
def _cross_entropy(xp, x, target, *, ignore_index, reduction):
    """Cross entropy of scores x, (n, classes), with class indices as target.

    Returns (loss, softmax(x), indices in the flattened x of the targets that are not ignored). The derivative needs the last
    two. This is one operation because it ends most training steps: it takes few passes over x and one node."""
    check_floating("log_softmax_lastdim_kernel_impl", x)
    _check_classes(x, target, None)
    index, ignored = _class_index(xp, target, x.shape[1], ignore_index)
    places = xp.arange(index.size) * x.shape[1] + index
    wide = x.astype(xp.float32) if x.dtype.itemsize == 2 else x
    losses, probabilities = rows.cross_entropy(wide, index) or _losses_and_probabilities(xp, wide, places)
    losses = _zero_ignored(ignored, losses)
    if ignored is not None and type(places) not in others:  # on a device, the number of those that are left is not known
        places = places[~ignored]
    if reduction != "none":
        losses = xp.add.reduce(losses)
        losses = _mean_or_nan(losses, _count_of(places, ignored)) if reduction == "mean" else losses
    return xp.asarray(losses, x.dtype), probabilities.astype(x.dtype, copy=False), places


def _count_of(places: Any, ignored: Any) -> Any:
    """Return how many losses are not ignored."""
    return (~ignored).sum() if type(places) in others and ignored is not None else places.size


def _losses_and_probabilities(xp: Any, x: Any, places: Any) -> tuple[Any, Any]:
    """Return (-log(softmax(x)) at the flat indices places, softmax(x)). x: (n, classes)."""
    shifted = x - row_maxima(xp, x)[:, None] if x.size else x.copy()
    of_target = shifted.reshape(-1)[places]
    probabilities = xp.exp(shifted, shifted)
    totals = row_sums(xp, probabilities)
    probabilities /= totals[:, None]
    return xp.log(totals) - of_target, probabilities


@_cross_entropy.vjp("x")
def _(F, ct, probabilities, places, target, ignore_index, reduction):
    result = None
    if ct[0] is not None:
        options = {"ignore_index": ignore_index, "reduction": reduction}
        result = F._cross_entropy_cotangent(ct[0], probabilities, places, target, **options)
    if ct[1] is not None:  # a second derivative: this rule reads probabilities itself
        through = F._softmax_cotangent(ct[1], probabilities, dim=1)
        result = through if result is None else result + through
    return result


@general(promote=NONE, node="NllLossBackwardBackward0", complex=False, **_PRIVATE)
def _cross_entropy_cotangent(xp, ct, probabilities, places, target, *, ignore_index, reduction):
    """Cotangent of the scores: (probabilities minus 1 at the target) * (cotangent of each loss)."""
    ignored: Any = None if places.size == target.size and type(places) not in others else target == ignore_index
    if reduction == "mean":
        ct = _mean_or_nan(ct, _count_of(places, ignored))
    out = xp.empty(probabilities.shape, probabilities.dtype)
    xp.multiply(probabilities, ct[:, None] if reduction == "none" else ct, out=out)
    flat = out.reshape(-1)
    flat[places] -= ct if places.size == target.size or reduction != "none" else ct[~ignored]
    return _zero_ignored(ignored, out)


@_cross_entropy_cotangent.vjp("ct", "probabilities")
def _(F, ct_, ct, probabilities, target, ignore_index, reduction):
    options = {"ignore_index": ignore_index, "reduction": reduction}
    mean = F.sum(ct_ * probabilities, dim=1, keepdim=True)
    each = -F.sum(F._nll_cotangent(ct, target, None, shape=probabilities.shape, **options), dim=1, keepdim=True)
    return F._nll_loss(ct_ - mean, target, None, **options), ct_ * each
