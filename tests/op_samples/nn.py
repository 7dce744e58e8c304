"""Samples of wengert.ops.nn, activation and loss."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy import special

from op_samples import Data, Sample

_UNIT = {"low": 0.05, "high": 0.95}
_SHAPES = ((3, 4), (), (0, 3))
_ROWS = np.array([[0, 2, 2], [1, 0, 2]])
_CLASSES = np.array([0, 3, 2])
_SOME_IGNORED = np.array([0, -100, 2])
_WEIGHT = Data(4, low=0.5, high=2.0, grad=False)


def _beyond(*kinks: float) -> list[Sample]:
    """Points on both sides of each kink, none near one."""
    low, high = min(kinks) - 1.5, max(kinks) + 1.5
    bounds = [low, *kinks, high]
    parts = [Data(3, low=a + 0.1 * (b - a), high=b - 0.1 * (b - a)) for a, b in pairwise(bounds)]
    return [Sample(part) for part in parts] + [Sample((0, 3))]


def _with(samples: list[Sample], **params: object) -> list[Sample]:
    return [Sample(*s.inputs, complex=s.complex, **s.params, **params) for s in samples]


def _losses(*inputs: object, **params: object) -> list[Sample]:
    return [Sample(*inputs, reduction=how, **params) for how in ("mean", "sum", "none")]


_SMOOTH = [Sample(Data(3, 4)), Sample(()), Sample((0, 3))]
_LAYERS = [
    Sample((2, 3), (4, 3), (4,)),
    Sample((2, 3), (4, 3)),
    Sample((3,), (4, 3), (4,)),
    Sample((2, 2, 3), (4, 3), (4,)),
    Sample((2, 2, 3), (4, 3), None),
    Sample((2, 3), (3,)),
    Sample((3,), (3,)),
    Sample((2, 2, 3), (3,)),
    Sample((0, 3), (4, 3), (4,)),
]
_SCORES = [
    *_losses((3, 4), _CLASSES),
    *_losses((3, 4), _SOME_IGNORED),
    *_losses((3, 4), _CLASSES, ignore_index=3),
    *_losses((3, 4), _CLASSES, _WEIGHT),
    *_losses((3, 4), _SOME_IGNORED, _WEIGHT),
    *_losses((2, 4, 3), np.array([[0, 3, -100], [1, 1, 2]])),
    *_losses((4,), np.array(2)),
    Sample((2, 4, 2, 2), np.array([[[0, 3], [1, 1]], [[2, 2], [0, 1]]])),
]
_FAR = Data(3, 4, low=3.0, high=5.0)

SAMPLES = {
    # nn.py
    "linear": _LAYERS,
    "bilinear": [Sample((2, 3), (2, 2), (4, 3, 2)), Sample((2, 3), (2, 2), (4, 3, 2), (4,))],
    "embedding": [Sample(_ROWS, (4, 3)), Sample(np.array(2), (4, 3)), Sample(_ROWS[:0], (4, 3))],
    "_scatter_rows": [Sample((2, 3, 2), _ROWS, rows=4)],
    "one_hot": [Sample(_ROWS), Sample(_ROWS, num_classes=5)],
    "dropout": [Sample((3, 4)), Sample((3, 4), p=0.25), Sample((3, 4), p=1.0), Sample((3, 4), training=False)],
    "dropout1d": [Sample((2, 3, 4))],
    "dropout2d": [Sample((2, 3, 2, 2))],
    "dropout3d": [Sample((2, 3, 2, 2, 2))],
    "normalize": [Sample((3, 4)), Sample((3, 4), p=3.0, dim=0), Sample((4,), dim=0)],
    "cosine_similarity": [Sample((3, 4), (3, 4)), Sample((3, 4), (4,)), Sample((3, 4), (3, 4), dim=0)],
    "layer_norm": [
        Sample((3, 4), 4, Data(4), Data(4)),
        Sample((3, 4), normalized_shape=(4,)),
        Sample((2, 3, 4), normalized_shape=[3, 4]),
        Sample((3, 4), 4, Data(4), eps=0.1),
    ],
    "_layer_norm": [Sample((3, 4), (4,), (4,), dims=1, eps=0.1), Sample((2, 3, 4), None, None, dims=2, eps=0.0)],
    "rms_norm": [Sample((3, 4), normalized_shape=(4,), eps=0.1), Sample((2, 3, 4), normalized_shape=(3, 4))],
    # activation.py
    "leaky_relu": [*_beyond(0.0), *_with(_beyond(0.0), negative_slope=0.3)],
    "elu": [*_beyond(0.0), *_with(_beyond(0.0), alpha=0.7)],
    "selu": _beyond(0.0),
    "celu": [*_beyond(0.0), *_with(_beyond(0.0), alpha=1.3)],
    "prelu": [
        Sample(Data(3, 4, low=0.5), Data(1)),
        Sample(Data(2, 3, 2, high=-0.5), Data(3)),
        Sample(Data(low=0.5), Data()),
    ],
    "hardtanh": [*_beyond(-1.0, 1.0), *_with(_beyond(-0.5, 2.0), min_val=-0.5, max_val=2.0)],
    "nn.functional_relu": _beyond(0.0),
    "relu6": _beyond(0.0, 6.0),
    "threshold": _with(_beyond(0.3), threshold=0.3, value=5.0),
    "gelu": [*_SMOOTH, *_with(_SMOOTH, approximate="tanh")],
    "silu": _SMOOTH,
    "mish": _SMOOTH,
    "softplus": [*_SMOOTH, *_with(_SMOOTH, beta=2.0), *_with([Sample(_FAR)], threshold=2.5)],
    "logsigmoid": _SMOOTH,
    "softsign": _beyond(0.0),
    "tanhshrink": _SMOOTH,
    "glu": [Sample((3, 4)), Sample((2, 3), dim=0), Sample((0, 4))],
    "hardswish": _beyond(-3.0, 3.0),
    "hardsigmoid": _beyond(-3.0, 3.0),
    "softshrink": [*_beyond(-0.5, 0.5), *_with(_beyond(-1.5, 1.5), lambd=1.5)],
    "hardshrink": [*_beyond(-0.5, 0.5), *_with(_beyond(-1.5, 1.5), lambd=1.5)],
    # loss.py
    "mse_loss": [
        *_losses((3, 4), (3, 4)),
        *_losses((3, 4), (4,)),
        *[Sample((3, 4), (3, 4), None, None, how, Data(3, 4, low=0.5, grad=False)) for how in ("mean", "sum", "none")],
    ],
    "l1_loss": _losses(_FAR, (3, 4), complex=False),
    "smooth_l1_loss": [
        *_losses(_FAR, (3, 4)),
        *_losses(Data(3, 4, **_UNIT), Data(3, 4, **_UNIT)),
        *_losses(_FAR, (3, 4), beta=0.0),
    ],
    "huber_loss": [*_losses(_FAR, (3, 4)), *_losses(Data(3, 4, **_UNIT), Data(3, 4, **_UNIT), delta=1.5)],
    "binary_cross_entropy": [
        *_losses(Data(3, 4, **_UNIT), Data(3, 4, **_UNIT)),
        Sample(Data(3, 4, **_UNIT), Data(3, 4, **_UNIT), _WEIGHT),
    ],
    "binary_cross_entropy_with_logits": [
        *_losses((3, 4), Data(3, 4, **_UNIT)),
        Sample((3, 4), Data(3, 4, **_UNIT), _WEIGHT),
        Sample((3, 4), Data(3, 4, **_UNIT), None, None, None, "sum", _WEIGHT),
    ],
    "kl_div": [
        *[Sample((3, 4), Data(3, 4, **_UNIT), reduction=how) for how in ("sum", "none", "batchmean")],
        Sample((3, 4), (3, 4), reduction="sum", log_target=True),
    ],
    "nll_loss": _SCORES,
    "cross_entropy": [
        *_SCORES,
        *_losses((3, 4), Data(3, 4, **_UNIT)),
        *_losses((3, 4), _SOME_IGNORED, label_smoothing=0.2),
        Sample((3, 4), Data(3, 4, **_UNIT), _WEIGHT, label_smoothing=0.2),
        *_losses((3, 4), _CLASSES, _WEIGHT, label_smoothing=0.2),
    ],
    "_nll_cotangent": [
        Sample((), _CLASSES, None, shape=(3, 4), ignore_index=-100, reduction="mean"),
        Sample((), _CLASSES, Data(4, low=0.5, high=2.0), shape=(3, 4), ignore_index=-100, reduction="mean"),
        Sample((3,), _SOME_IGNORED, Data(4, low=0.5, high=2.0), shape=(3, 4), ignore_index=-100, reduction="none"),
    ],
    "_cross_entropy": [Sample((3, 4), _CLASSES, ignore_index=-100, reduction="mean")],
    "_cross_entropy_cotangent": [
        Sample((), (3, 4), np.array([0, 7, 10]), _CLASSES, ignore_index=-100, reduction="mean"),
        Sample((3,), (3, 4), np.array([0, 10]), _SOME_IGNORED, ignore_index=-100, reduction="none"),
    ],
}
for _name in SAMPLES:
    for _sample in SAMPLES[_name]:
        _sample.complex = _name in ("linear", "bilinear")


# -- oracles -----------------------------------------------------------------------------------------------------------


def _linear(x, weight, bias=None):
    out = np.einsum("...k,nk->...n" if weight.ndim == 2 else "...k,k->...", x, weight)
    return out if bias is None else out + bias


def _bilinear(x, y, weight, bias=None):
    return np.einsum("bi,kij,bj->bk", x, weight, y) + (0 if bias is None else bias)


def _normalize(x, p=2.0, dim=1):
    return x / np.sum(abs(x) ** p, axis=dim, keepdims=True) ** (1 / p)


def _cosine(x, y, dim=1):
    lengths = np.sqrt(np.sum(x * x, axis=dim, keepdims=True)) * np.sqrt(
        np.sum(y * y, axis=dim if y.ndim > 1 else 0, keepdims=True)
    )
    return np.sum(x * y / lengths, axis=dim)


def _layer_norm(x, normalized_shape, weight=1.0, bias=0.0, eps=1e-5):
    n = 1 if isinstance(normalized_shape, int) else len(normalized_shape)
    axis = tuple(range(-n, 0))
    return (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True) + eps) * weight + bias


def _rms_norm(x, normalized_shape, eps=None):
    axis = tuple(range(-len(normalized_shape), 0))
    return x / np.sqrt(np.mean(x**2, axis, keepdims=True) + (np.finfo(x.dtype).eps if eps is None else eps))


def _elu(x, alpha=1.0, scale=1.0, slope=1.0):
    return scale * np.where(x > 0, x, alpha * (np.exp(slope * x) - 1))


def _gelu(x, approximate="none"):
    if approximate == "tanh":
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return x * special.ndtr(x)


def _reduce(losses, reduction):
    return losses if reduction == "none" else losses.sum() if reduction == "sum" else losses.mean()


def _weighted(function):
    def oracle(x, y, size_average=None, reduce=None, reduction="mean", weight=None, **params):
        losses = function(x, y, **params)
        if weight is None:
            return _reduce(losses, reduction)
        return (losses * weight).sum() / weight.sum() if reduction == "mean" else _reduce(losses * weight, reduction)

    return oracle


def _mean_of_weighted(function):
    """Oracle of losses whose mean divides by the number of elements, not by the sum of weights."""

    def oracle(x, y, reduction="mean", weight=None, **params):
        return _reduce(function(x, y, **params) * (1 if weight is None else weight), reduction)

    return oracle


def _huber(x, y, delta=1.0):
    off = abs(x - y)
    return np.where(off < delta, off**2 / 2, delta * (off - delta / 2))


def _smooth_l1(x, y, beta=1.0):
    return abs(x - y) if beta == 0 else _huber(x, y, beta) / beta


def _bce(p, y, weight=1.0, size_average=None, reduce=None, reduction="mean", pos_weight=1.0):
    weight = 1.0 if weight is None else weight
    return _reduce(-weight * (pos_weight * y * np.log(p) + (1 - y) * np.log(1 - p)), reduction)


def _kl_div(x, y, reduction, log_target=False):
    losses = np.exp(y) * (y - x) if log_target else y * (np.log(y) - x)
    return losses.sum() / len(x) if reduction == "batchmean" else _reduce(losses, reduction)


def _nll(x, target, weight=None, ignore_index=-100, reduction="mean"):
    """Loss by loss."""
    if x.ndim == 1:
        x, target, single = x[None], target[None], True
    else:
        single = False
    losses, total = np.zeros(target.shape), 0.0
    for place in np.ndindex(target.shape):
        c = target[place]
        if c != ignore_index:
            w = 1.0 if weight is None else weight[c]
            losses[place] = -w * x[(place[0], c, *place[1:])]
            total += w
    if reduction == "none":
        return losses[0] if single else losses
    return losses.sum() / total if reduction == "mean" else losses.sum()


def _cross_entropy(x, target, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    dim = 1 if x.ndim > 1 else 0
    logs = x - special.logsumexp(x, axis=dim, keepdims=True)
    classes = x.shape[dim]
    weights = np.ones(classes) if weight is None else weight
    if target.dtype.kind == "f":
        target = target * (1 - label_smoothing) + label_smoothing / classes
        return _reduce(-(logs * target * weights).sum(axis=1), reduction)
    hard = _nll(logs, target, weight, ignore_index, reduction)
    if label_smoothing == 0:
        return hard
    counted = target != ignore_index
    soft = -(logs * weights).sum(axis=1) * counted
    if reduction != "none":
        soft = soft.sum() / (weights[target[counted]].sum() if reduction == "mean" else 1)
    return (1 - label_smoothing) * hard + label_smoothing / classes * soft


ORACLES = {
    "linear": _linear,
    "bilinear": _bilinear,
    "embedding": lambda index, weight: weight[index],
    "one_hot": lambda index, num_classes=3: np.eye(num_classes, dtype=int)[index],
    "normalize": _normalize,
    "cosine_similarity": _cosine,
    "layer_norm": _layer_norm,
    "rms_norm": _rms_norm,
    "leaky_relu": lambda x, negative_slope=0.01: np.where(x > 0, x, negative_slope * x),
    "elu": _elu,
    "selu": lambda x: _elu(x, 1.6732632423543772, 1.0507009873554805),
    "celu": lambda x, alpha=1.0: _elu(x, alpha, 1.0, 1 / alpha),
    "prelu": lambda x, w: np.where(x > 0, x, x * (w[:, None] if w.ndim and w.size > 1 else w)),
    "hardtanh": lambda x, min_val=-1.0, max_val=1.0: np.clip(x, min_val, max_val),
    "nn.functional_relu": lambda x: np.maximum(x, 0),
    "relu6": lambda x: np.clip(x, 0, 6),
    "threshold": lambda x, threshold, value: np.where(x > threshold, x, value),
    "gelu": _gelu,
    "silu": lambda x: x * special.expit(x),
    "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    "softplus": lambda x, beta=1.0, threshold=20.0: np.where(
        beta * x > threshold, x, np.log1p(np.exp(beta * x)) / beta
    ),
    "logsigmoid": special.log_expit,
    "softsign": lambda x: x / (1 + abs(x)),
    "tanhshrink": lambda x: x - np.tanh(x),
    "glu": lambda x, dim=-1: np.split(x, 2, dim)[0] * special.expit(np.split(x, 2, dim)[1]),
    "hardswish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "hardsigmoid": lambda x: np.clip(x + 3, 0, 6) / 6,
    "softshrink": lambda x, lambd=0.5: np.sign(x) * np.maximum(abs(x) - lambd, 0),
    "hardshrink": lambda x, lambd=0.5: x * (abs(x) > lambd),
    "mse_loss": _weighted(lambda x, y: (x - y) ** 2),
    "l1_loss": _weighted(lambda x, y: abs(x - y)),
    "smooth_l1_loss": _weighted(_smooth_l1),
    "huber_loss": _mean_of_weighted(_huber),
    "binary_cross_entropy": _bce,
    "binary_cross_entropy_with_logits": lambda x, *rest, **params: _bce(special.expit(x), *rest, **params),
    "kl_div": _kl_div,
    "nll_loss": _nll,
    "cross_entropy": _cross_entropy,
}
