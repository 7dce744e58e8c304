"""Samples of wengert.ops.bags."""

from __future__ import annotations

import numpy as np

from op_samples import Data, Sample

_INDICES = np.array([0, 2, 2, 3, 1])
_OFFSETS = np.array([0, 3, 3])
_ENDS = np.array([0, 3, 3, 5])
_MATRIX = np.array([[0, 2], [1, 1]])


def _weight() -> Data:
    return Data(4, 3, distinct=True)


SAMPLES = {
    "embedding_bag": [
        *[Sample(_INDICES, _weight(), _OFFSETS, mode=mode) for mode in ("sum", "mean", "max")],
        *[Sample(_MATRIX, _weight(), mode=mode) for mode in ("sum", "mean", "max")],
        Sample(_INDICES, _weight(), _ENDS, include_last_offset=True),
        *[Sample(_INDICES, _weight(), _OFFSETS, mode=mode, padding_idx=2) for mode in ("sum", "mean", "max")],
        Sample(_INDICES, _weight(), _OFFSETS, None, 2, False, "sum", False, Data(5)),
        Sample(_INDICES, _weight(), _OFFSETS, None, 2, False, "sum", False, Data(5), False, -2),
        Sample(_MATRIX, _weight(), None, None, 2, False, "sum", False, Data(2, 2)),
        Sample(_INDICES[:0], _weight(), np.array([0, 0])),
    ],
    "alpha_dropout": [Sample((3, 4), 0.4, True), Sample((3, 4)), Sample((3, 4), 1.0, True)],
    "feature_alpha_dropout": [Sample((2, 3, 4), 0.4, True)],
}
for _name in SAMPLES:
    for _sample in SAMPLES[_name]:
        _sample.complex = False


def _bags(indices, weight, offsets=None, max_norm=None, norm_type=2, scale=False, mode="mean", sparse=False,
          per_sample_weights=None, include_last_offset=False, padding_idx=None):  # fmt: skip
    """Bag by bag, element by element."""
    factors = np.ones(indices.shape) if per_sample_weights is None else per_sample_weights
    if indices.ndim == 2:
        bags = [list(zip(*pair)) for pair in zip(indices, factors)]
    else:
        ends = offsets[1:] if include_last_offset else [*offsets[1:], len(indices)]
        bags = [list(zip(indices[a:b], factors[a:b])) for a, b in zip(offsets, ends)]
    out = np.zeros((len(bags), weight.shape[1]))
    for row, bag in zip(out, bags):
        rows = [weight[i] * f for i, f in bag if padding_idx is None or i != padding_idx % len(weight)]
        if rows:
            row[:] = {"sum": np.sum, "mean": np.mean, "max": np.max}[mode](rows, axis=0)
    return out


ORACLES = {"embedding_bag": _bags}
