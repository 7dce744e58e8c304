"""Samples of wengert.ops.attention and distance."""

from __future__ import annotations

import numpy as np
from scipy import special
from scipy.spatial import distance

from op_samples import Data, Sample

_SEEN = np.array([[True, False, True, True], [False, False, False, False], [True, True, False, False]])
_ADDED = np.where(_SEEN, 0.5, -np.inf)
_INF = float("inf")

SAMPLES = {
    "scaled_dot_product_attention": [
        Sample((2, 3, 4), (2, 4, 4), (2, 4, 2)),
        Sample((3, 4), (4, 4), (4, 2)),
        Sample((2, 3, 4), (2, 4, 4), (2, 4, 2), is_causal=True),
        Sample((2, 3, 4), (2, 4, 4), (2, 4, 2), _SEEN),
        Sample((2, 3, 4), (2, 4, 4), (2, 4, 2), Data(3, 4)),
        Sample((2, 3, 4), (2, 4, 4), (2, 4, 2), scale=0.3),
        Sample((1, 4, 2, 3), (1, 2, 4, 3), (1, 2, 4, 2), enable_gqa=True),
        Sample((1, 2, 2, 3), (1, 2, 4, 3), (1, 2, 4, 2), Data(2, 1, 4)),
    ],
    "pairwise_distance": [
        Sample((3, 4), (3, 4)),
        Sample((3, 4), (4,), 1.0, keepdim=True),
        Sample((4,), (4,), 3.0),
        Sample(Data(3, 4, distinct=True), Data(3, 4), _INF),
    ],
    "cdist": [
        Sample((3, 4), (2, 4)),
        Sample((2, 3, 4), (2, 4)),
        *[Sample((3, 4), (2, 4), p) for p in (1.0, 1.5, 3.0, 0.0)],
        Sample((3, 4), (2, 4), _INF),
        Sample((3, 4), (2, 4), compute_mode="use_mm_for_euclid_dist"),
        Sample((26, 2), (1, 2)),
        Sample((0, 4), (2, 4)),
    ],
    "_cdist": [Sample((3, 4), (2, 4), p=2.0, as_products=False, node="CdistBackward0")],
    "pdist": [*[Sample((4, 3), p) for p in (2.0, 1.0, 2.5, 0.0)], Sample((4, 3), _INF), Sample((1, 3))],
}
for _name in SAMPLES:
    for _sample in SAMPLES[_name]:
        _sample.complex = False


def _attention(q, k, v, mask=None, is_causal=False, scale=None, enable_gqa=False):
    if enable_gqa:
        k, v = (np.repeat(x, q.shape[-3] // x.shape[-3], axis=-3) for x in (k, v))
    scores = np.einsum("...in,...jn->...ij", q, k) * (1 / np.sqrt(q.shape[-1]) if scale is None else scale)
    seen = np.ones(scores.shape, bool)
    if is_causal:
        seen = np.tril(seen)
    elif mask is not None and mask.dtype.kind == "b":
        seen &= mask
    elif mask is not None:
        scores = scores + mask
    weights = special.softmax(np.where(seen, scores, -np.inf), axis=-1)
    return np.einsum("...ij,...jm->...im", np.where(np.isnan(weights), 0, weights), v)


def _metric(p):
    """SciPy's name of a norm, and its arguments."""
    if p in (0, _INF):
        return {"metric": (lambda a, b: float(np.count_nonzero(a - b))) if p == 0 else "chebyshev"}
    return {"metric": "minkowski", "p": p}


def _cdist(x, y, p=2.0, compute_mode=None):
    if not x.size or x.ndim == 2:
        return distance.cdist(x, y, **_metric(p)) if x.size else np.zeros((len(x), len(y)))
    return np.array([_cdist(item, y, p) for item in x])


ORACLES = {
    "scaled_dot_product_attention": _attention,
    "pairwise_distance": lambda x, y, p=2.0, keepdim=False: np.linalg.norm(x - y + 1e-6, p, -1, keepdim),
    "cdist": _cdist,
    "pdist": lambda x, p=2.0: distance.pdist(x, **_metric(p)),
}
