"""Samples of wengert.ops.ctc. The oracle visits every path."""

from __future__ import annotations

from itertools import groupby, product

import numpy as np

from op_samples import Sample
from wengert.ops.ctc import States

_TARGETS = np.array([[1, 2], [2, 2]])
_STATES = States(np.array([[1, 2], [2, 0]]), np.array([2, 1]), np.array([4, 3]), 0)

SAMPLES = {
    "ctc_loss": [
        *[
            Sample((4, 2, 3), _TARGETS, input_lengths=(4, 3), target_lengths=(2, 2), reduction=how)
            for how in ("mean", "sum", "none")
        ],
        Sample((4, 2, 3), _TARGETS, input_lengths=(4, 4), target_lengths=(1, 0), reduction="none"),
        Sample((4, 2, 3), np.array([1, 2, 1]), np.array([4, 3]), np.array([2, 1])),
        Sample((4, 2, 3), np.array([[0, 2], [2, 0]]), blank=1, input_lengths=(4, 3), target_lengths=(2, 1)),
        Sample((4, 3), np.array([1, 2]), np.array(4), np.array(2)),
        Sample((2, 2, 3), _TARGETS, input_lengths=(2, 2), target_lengths=(2, 2), reduction="none", zero_infinity=True),
    ],
    "_ctc_loss": [Sample((4, 2, 3), states=_STATES)],
}
for _name in SAMPLES:
    for _sample in SAMPLES[_name]:
        _sample.complex = False


def _ctc(x, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    if x.ndim == 2:
        return _ctc(x[:, None], targets[None], [input_lengths], [target_lengths], blank, reduction, zero_infinity)
    losses, at = [], 0
    for i, (steps, count) in enumerate(zip(input_lengths, target_lengths)):
        wanted = (targets[at : at + count] if targets.ndim == 1 else targets[i, :count]).tolist()
        at += count
        total = 0.0
        for path in product(range(x.shape[2]), repeat=int(steps)):
            if [label for label, _ in groupby(path) if label != blank] == wanted:
                total += np.exp(sum(x[t, i, label] for t, label in enumerate(path)))
        losses.append(-np.log(total) if total else 0.0 if zero_infinity else np.inf)
    losses = np.array(losses)
    if reduction == "mean":
        return (losses / np.maximum(target_lengths, 1)).mean()
    return losses.sum() if reduction == "sum" else losses


ORACLES = {"ctc_loss": _ctc}
