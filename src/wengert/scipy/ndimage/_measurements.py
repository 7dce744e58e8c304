"""Statistics of labelled regions of an image."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.array_functions.table import detached, tensor, w
from wengert.scipy.ndimage._filters import image_of

__all__ = [
    "center_of_mass", "extrema", "labeled_comprehension", "maximum", "mean", "median", "minimum", "standard_deviation", "sum",
    "sum_labels", "variance",
]  # fmt: skip


class _Regions:
    """The regions that index names among labels. A missing label stands for all elements, a missing index for all labels but 0."""

    def __init__(self, input: Any, labels: Any, index: Any) -> None:
        shape = tuple(input.shape)
        if labels is None:
            if index is not None:
                raise ValueError("index without defined labels")
            self.places: list[Any] = [np.arange(input.numel())]
            self.shape: tuple[int, ...] = ()
            return
        labels = np.broadcast_to(detached(labels), shape).ravel()
        if index is None:
            self.places, self.shape = [np.flatnonzero(labels > 0)], ()
            return
        index = np.asarray(detached(index))
        self.places = [np.flatnonzero(labels == i) for i in index.ravel()]
        self.shape = index.shape

    def each(self, x: Any, function: Any) -> Any:
        """Return function(the elements of a region) for each region, in the shape of index."""
        flat = w.reshape(x, (-1,))
        found = w.stack([function(flat[w.as_tensor(place)]) for place in self.places])
        return w.reshape(found, self.shape)


def sum_labels(input, labels=None, index=None):
    input = image_of(input)
    return _Regions(input, labels, index).each(input, w.sum)


def sum(input, labels=None, index=None):
    return sum_labels(input, labels, index)


def mean(input, labels=None, index=None):
    input = image_of(input)
    return _Regions(input, labels, index).each(input, w.mean)


def variance(input, labels=None, index=None):
    input = image_of(input)
    return _Regions(input, labels, index).each(input, _variance)


def _variance(x: Any) -> Any:
    centred = x - w.mean(x)
    return w.mean(w.real(centred * w.conj(centred)))


def standard_deviation(input, labels=None, index=None):
    return w.sqrt(variance(input, labels, index))


def _ranked(input: Any, labels: Any, index: Any, choose: Any) -> Any:
    input = image_of(input)
    return _Regions(input, labels, index).each(input, lambda x: choose(x) if x.numel() else w.zeros((), dtype=x.dtype))


def minimum(input, labels=None, index=None):
    return _ranked(input, labels, index, lambda x: x[int(np.argmin(detached(x)))])


def maximum(input, labels=None, index=None):
    return _ranked(input, labels, index, lambda x: x[int(np.argmax(detached(x)))])


def median(input, labels=None, index=None):
    def middle(x: Any) -> Any:
        order = np.argsort(detached(x), kind="stable")
        low, high = order[(len(order) - 1) // 2], order[len(order) // 2]
        return (x[int(low)] + x[int(high)]) / 2

    return _ranked(input, labels, index, middle)


def center_of_mass(input, labels=None, index=None):
    input = image_of(input)
    regions = _Regions(input, labels, index)
    mass = regions.each(input, w.sum)
    grids = w.as_tensor(np.indices(tuple(input.shape), dtype=np.float64)).to(input.dtype)
    centres = [regions.each(input * grid, w.sum) / mass for grid in grids]
    if not regions.shape:
        return tuple(centres)
    flat = [w.reshape(c, (-1,)) for c in centres]
    return [tuple([c[i] for c in flat]) for i in range(len(regions.places))]


def extrema(input, labels=None, index=None):
    places = import_late("scipy.ndimage").extrema(*detached((input, labels, index)))[2:]
    return minimum(input, labels, index), maximum(input, labels, index), *places


def labeled_comprehension(input, labels, index, func, out_dtype, default, pass_positions=False):
    input = image_of(input)
    regions = _Regions(input, labels, index)
    flat = w.reshape(input, (-1,))
    found = []
    for place in regions.places:
        if not len(place):
            found.append(w.as_tensor(np.asarray(default)).to(input.dtype))
            continue
        values = flat[w.as_tensor(place)]
        found.append(tensor(func(values, place) if pass_positions else func(values)).reshape(()).to(input.dtype))
    return w.reshape(w.stack(found), regions.shape)
