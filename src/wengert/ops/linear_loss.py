"""linear_cross_entropy: the last layer of a classifier and its loss in one function."""

from __future__ import annotations

from math import prod
from typing import Any

from wengert import errors
from wengert.ops.indices import raw
from wengert.ops.registry import composite
from wengert.ops.values import number_of


@composite(namespaces=("nn.functional",))
def linear_cross_entropy(
    F,
    input,
    linear_weight,
    target,
    *,
    linear_bias=None,
    weight=None,
    reduction="mean",
    ignore_index=None,
    label_smoothing=0.0,
    options=None,
):
    """cross_entropy(linear(input, linear_weight, linear_bias), target): the last layer of a classifier and its loss.

    input: (n, features) or (features). linear_weight: (classes, *k, features); the scores are (n, classes, *k). linear_bias:
    (classes, *k) or None. Other parameters as in `cross_entropy`. options is ignored. Raises RuntimeError for shapes that do
    not fit.

    Derivative: that of linear and cross_entropy."""
    if input.ndim not in (1, 2):
        raise errors.ShapeError(f"expected input with dimensionality 1 or 2, got {input.ndim}")
    _check_arguments(input, linear_weight, target, linear_bias, ignore_index)
    outputs, features = tuple(linear_weight.shape[:-1]), linear_weight.shape[-1]
    bias = None if linear_bias is None else F.reshape(linear_bias, shape=(-1,))
    scores = F.linear(input, F.reshape(linear_weight, shape=(prod(outputs), features)), bias)
    scores = F.reshape(scores, shape=(*input.shape[:-1], *outputs))
    ignored = -100 if ignore_index is None else number_of(ignore_index)
    return F.cross_entropy(
        scores, target, weight, ignore_index=ignored, reduction=reduction, label_smoothing=label_smoothing
    )


def _check_arguments(input: Any, linear_weight: Any, target: Any, linear_bias: Any, ignore_index: int | None) -> None:
    """Raise torch's errors for arguments that do not fit."""
    shape, outputs = tuple(linear_weight.shape), tuple(linear_weight.shape[:-1])
    if len(shape) < 2:
        raise errors.ShapeError(f"expected linear_weight with dimensionality at least 2, got {len(shape)}")
    if input.shape[-1] != shape[-1]:
        raise errors.ShapeError(
            f"expected equal input and linear_weight last dimensions (in_features), got {input.shape[-1]} and {shape[-1]}, "
            "respectively"
        )
    if ignore_index is not None and raw(target).dtype.kind == "f":
        raise errors.ShapeError("ignore_index cannot be specified when target contains probabilities")
    if len(shape) > 2 and input.ndim == 1:
        raise errors.ShapeError(
            f"K-dimensional loss defined by linear_weight shape {shape} requires batched input, (N, {shape[-1]}), got "
            f"unbatched input with shape {tuple(input.shape)}"
        )
    if linear_bias is not None and tuple(linear_bias.shape) != outputs:
        raise errors.ShapeError(f"expected linear_bias shape {outputs}, got {tuple(linear_bias.shape)}")
