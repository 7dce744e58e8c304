"""Samples of wengert.ops.margin_loss. The oracles are the formulas, item by item where that is clearest."""

from __future__ import annotations

import numpy as np
from scipy import special, stats

from op_samples import Data, Sample

_SIGNS = np.array([1, -1, 1, -1])
_LABELS = np.array([[3, 0, -1, 1], [1, -1, 2, 3], [-1, 0, 1, 2]])
_CLASSES = np.array([1, 0, 3])


def _three(*inputs: object, **params: object) -> list[Sample]:
    return [Sample(*inputs, reduction=how, **params) for how in ("mean", "sum", "none")]


def _weight(*shape: int) -> Data:
    return Data(*shape, low=0.5, high=2.0, grad=False)


def _above(*shape: int) -> Data:
    return Data(*shape, low=0.3, high=2.0)


SAMPLES = {
    "poisson_nll_loss": [
        *_three((4,), _above(4)),
        *_three(_above(4), _above(4), log_input=False, eps=0.1),
        *_three((4,), Data(4, low=1.5, high=3.0), full=True),
        Sample((4,), Data(4, low=0.0, high=3.0, grad=False), full=True),
    ],
    "gaussian_nll_loss": [
        *_three((3, 2), (3, 2), _above(3, 2)),
        Sample((3, 2), (3, 2), _above(3), full=True),
        Sample((3, 2), (3, 2), _above(3, 1)),
        Sample((3, 2), (3, 2), 0.7),
    ],
    "hinge_embedding_loss": [*_three((4,), _SIGNS), Sample(Data(4, low=-2.0, high=-0.1), _SIGNS, margin=0.5)],
    "margin_ranking_loss": [*_three((4,), (4,), _SIGNS), Sample((4,), (4,), _SIGNS, margin=0.5)],
    "cosine_embedding_loss": [
        *_three((4, 3), (4, 3), _SIGNS),
        Sample((4, 3), (4, 3), _SIGNS, margin=-0.4),
        Sample((3,), (3,), np.array(-1)),
    ],
    "triplet_margin_loss": [
        *_three((3, 4), (3, 4), (3, 4)),
        Sample((3, 4), (3, 4), (3, 4), margin=5.0, swap=True),
        Sample((3, 4), (3, 4), (3, 4), 0.5, 3.0, 1e-3),
        Sample((4,), (4,), (4,), margin=9.0),
    ],
    "triplet_margin_with_distance_loss": [
        *_three((3, 4), (3, 4), (3, 4)),
        Sample((3, 4), (3, 4), (3, 4), margin=5.0, swap=True),
    ],
    "soft_margin_loss": [*_three((4,), _SIGNS), Sample((3, 4), Data(4, grad=False))],
    "_soft_margin_loss": [Sample((4,), (4,), reduction="none")],
    "multilabel_soft_margin_loss": [
        *_three((3, 4), Data(3, 4, low=0.0, high=1.0)),
        Sample((3, 4), Data(3, 4, low=0.0, high=1.0), _weight(4)),
    ],
    "multi_margin_loss": [
        *_three((3, 4), _CLASSES),
        *_three((3, 4), _CLASSES, 2),
        Sample((3, 4), _CLASSES, 1, 0.5, _weight(4)),
        Sample((3, 4), _CLASSES, 2, 0.5, _weight(4), reduction="none"),
        Sample((4,), np.array(2)),
        Sample((4,), np.array(2), reduction="none"),
    ],
    "multilabel_margin_loss": [*_three((3, 4), _LABELS), Sample((4,), _LABELS[0]), Sample((4,), _LABELS[0], reduction="none")],
}
for _name in SAMPLES:
    for _sample in SAMPLES[_name]:
        _sample.complex = False


def _reducing(losses_of):
    """A function that gives the losses one by one, as one with a reduction."""

    def oracle(*args, reduction="mean", **params):
        losses = np.asarray(losses_of(*args, **params))
        return losses if reduction == "none" else losses.sum() if reduction == "sum" else losses.mean()

    return oracle


def _poisson(x, y, log_input=True, full=False, eps=1e-8):
    rate = np.exp(x) if log_input else x + eps
    losses = rate - y * np.log(rate) - (0 if log_input else eps)
    large = np.maximum(y, 1)
    stirling = large * np.log(large) - large + np.log(2 * np.pi * large) / 2
    return losses + (y > 1) * stirling if full else losses


def _gaussian(x, y, var, full=False):
    var = np.reshape(var, (-1, 1)) * np.ones_like(x) if np.ndim(var) < 2 else var
    losses = -stats.norm.logpdf(y, x, np.sqrt(var))
    return losses if full else losses - np.log(2 * np.pi) / 2


def _hinge(x, y, margin=1.0):
    return np.where(y == 1, x, np.maximum(0, margin - x))


def _cosine(x, y, target, margin=0):
    x, y = np.atleast_2d(x), np.atleast_2d(y)
    cos = np.array([a @ b / np.sqrt((a @ a + 1e-12) * (b @ b + 1e-12)) for a, b in zip(x, y)]).reshape(target.shape)
    return np.where(target == 1, 1 - cos, np.maximum(0, cos - margin))


def _triplet(a, b, c, margin=1.0, p=2.0, eps=1e-6, swap=False):
    def far(x, y):
        return np.linalg.norm(x - y + eps, p, axis=-1)

    return np.maximum(0, margin + far(a, b) - (np.minimum(far(a, c), far(b, c)) if swap else far(a, c)))


def _multilabel_soft(x, y, weight=1.0):
    p = special.expit(x)
    return -(weight * (y * np.log(p) + (1 - y) * np.log(1 - p))).mean(axis=-1)


def _multi_margin(x, target, p=1, margin=1.0, weight=None):
    if x.ndim == 1:
        return _multi_margin(x[None], target[None], p, margin, weight)[0]
    weight = np.ones(x.shape[1]) if weight is None else weight
    return [
        weight[t] * sum(max(0.0, margin - row[t] + v) ** p for j, v in enumerate(row) if j != t) / len(row)
        for row, t in zip(x, target)
    ]


def _multilabel(x, target):
    if x.ndim == 1:
        return _multilabel(x[None], target[None])[0]
    found = []
    for row, labels in zip(x, target.tolist()):
        own = labels[: labels.index(-1)]
        others = [v for j, v in enumerate(row) if j not in own]
        found.append(sum(max(0.0, 1 - row[j] + v) for j in own for v in others) / len(row))
    return found


ORACLES = {
    "poisson_nll_loss": _reducing(_poisson),
    "gaussian_nll_loss": _reducing(_gaussian),
    "hinge_embedding_loss": _reducing(_hinge),
    "margin_ranking_loss": _reducing(lambda x, y, target, margin=0: np.maximum(0, -target * (x - y) + margin)),
    "cosine_embedding_loss": _reducing(_cosine),
    "triplet_margin_loss": _reducing(_triplet),
    "triplet_margin_with_distance_loss": _reducing(_triplet),
    "soft_margin_loss": _reducing(lambda x, y: np.log(1 + np.exp(-y * x))),
    "multilabel_soft_margin_loss": _reducing(_multilabel_soft),
    "multi_margin_loss": _reducing(_multi_margin),
    "multilabel_margin_loss": _reducing(_multilabel),
}
