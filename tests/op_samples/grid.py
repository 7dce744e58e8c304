"""Samples of wengert.ops.grid. The oracle reads point by point, by the definitions."""

from __future__ import annotations

from itertools import product

import numpy as np

from op_samples import Data, Sample
from op_samples.resize import _hat, _keys


def _points(*shape: int, reach: float = 1.9) -> Data:
    return Data(*shape, low=-reach, high=reach)


SAMPLES = {
    "grid_sample": [
        *[
            Sample((1, 2, 3, 4), _points(1, 2, 3, 2), mode, padding, corners)
            for mode, padding, corners in product(
                ("bilinear", "bicubic"), ("zeros", "border", "reflection"), (True, False)
            )
        ],
        Sample((2, 2, 3, 4), _points(2, 2, 3, 2), "nearest", "zeros", False),
        Sample((2, 2, 3, 4), _points(2, 2, 3, 2), "nearest", "reflection", True),
        Sample((1, 2, 3, 4, 2), _points(1, 2, 1, 3, 3)),
        Sample((1, 2, 3, 4, 2), _points(1, 2, 1, 3, 3), padding_mode="reflection"),
        Sample((1, 1, 1, 3), _points(1, 2, 2, 2), "bilinear", "border", True),
    ],
    "grid_sampler": [Sample((1, 2, 3, 4), _points(1, 2, 3, 2), 0, 1, False)],
}
for _name in SAMPLES:
    for _sample in SAMPLES[_name]:
        _sample.complex = False


def _inside(place, n, padding, corners):
    """The position in the image that stands for one outside it."""
    if padding == "reflection":
        low, high = (0, n - 1) if corners else (-0.5, n - 0.5)
        while high > low and not low <= place <= high:
            place = 2 * low - place if place < low else 2 * high - place
        place = place if high > low else 0.0
    return place if padding == "zeros" else min(max(place, 0), n - 1)


def _grid_sample(x, grid, mode="bilinear", padding_mode="zeros", align_corners=False):
    size, dims = x.shape[2:], x.ndim - 2
    out = np.zeros((*x.shape[:2], *grid.shape[1:-1]))
    kernel, reach = (_keys(-0.75), 2) if mode == "bicubic" else (_hat, 1)
    for item, *place in np.ndindex(grid.shape[:-1]):
        point = grid[(item, *place)][::-1]
        where = [(p + 1) * (n - 1) / 2 if align_corners else ((p + 1) * n - 1) / 2 for p, n in zip(point, size)]
        if mode != "bicubic":
            where = [_inside(w, n, padding_mode, align_corners) for w, n in zip(where, size)]
        if mode == "nearest":
            where, kernel, reach = [np.rint(w) for w in where], (lambda t: float(t == 0)), 0
        steps = [range(int(np.floor(w)) - reach, int(np.floor(w)) + reach + 1) for w in where]
        for taps in product(*steps):
            weight = np.prod([kernel(w - t) for w, t in zip(where, taps)])
            if mode == "bicubic":
                taps = tuple([int(np.rint(_inside(t, n, padding_mode, align_corners))) for t, n in zip(taps, size)])
            if weight and all(0 <= t < n for t, n in zip(taps, size)):
                out[(item, slice(None), *place)] += weight * x[(item, slice(None), *taps)]
    assert dims in (2, 3)
    return out


ORACLES = {
    "grid_sample": _grid_sample,
    "grid_sampler": lambda x, grid, mode, padding, corners: _grid_sample(
        x, grid, ("bilinear", "nearest")[mode], ("zeros", "border", "reflection")[padding], corners
    ),
}
