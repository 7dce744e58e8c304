"""Histograms of points with several coordinates."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert import errors, return_types
from wengert.backends.selection import backend_of
from wengert.core.tensor import wrap
from wengert.ops.indices import raw
from wengert.ops.registry import plain


@plain()
def histogramdd(input, bins, *, range=None, weight=None, density=False):
    """Number of points in each box of a grid, or the sum of their weights, as a named tuple (hist, bin_edges).

    input: (..., d), floating: points with d coordinates. bins: the number of intervals, an int for all coordinates or a list
    with one for each; or a list of d vectors of edges. range: (low, high, low, high, ...), the bounds of the intervals; the
    extreme coordinates unless given. weight: (...), one for each point. density: divide by the total and by the volume of
    each box. bin_edges: a tuple of d tensors. Raises RuntimeError for arguments that do not fit. Not differentiable."""
    xp = backend_of(input)
    points, weights = raw(input), raw(weight)
    if points.ndim < 2:
        raise errors.ShapeError("torch.histogramdd: input tensor should have at least 2 dimensions")
    if points.dtype.kind in "biuc":
        raise errors.unsupported_dtype("histogramdd", points.dtype)
    if weights is not None:
        _check_weights(points, weights)
        weights = weights.reshape(-1).astype(np.float64)
    dims = points.shape[-1]
    rows = points.reshape(-1, dims)
    if isinstance(bins, (list, tuple)) and any(hasattr(b, "ndim") for b in bins):
        edges = _checked_edges([raw(b) for b in bins], points)
    else:
        edges = _equal_intervals(rows, [bins] * dims if isinstance(bins, int) else list(bins), range)
    hist = _count_in_boxes(rows, edges, weights)
    if density:
        volumes = math.prod(xp.ix_(*[xp.diff(e.astype(np.float64)) for e in edges]))
        hist = hist / volumes / hist.sum()
    bin_edges: Any = tuple([wrap(e) for e in edges])
    return return_types.histogramdd((wrap(hist.astype(points.dtype)), bin_edges))


def _check_weights(points: Any, weights: Any) -> None:
    """Raise RuntimeError if the weights' shape or dtype does not fit the points."""
    if weights.shape != points.shape[:-1]:
        raise errors.ShapeError(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor excluding "
            f"its innermost dimension, but got input with shape {list(points.shape)} and weight with shape "
            f"{list(weights.shape)}"
        )
    if weights.dtype != points.dtype:
        raise errors.ShapeError(
            "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same dtype, "
            f"but got input({errors.scalar_name(points.dtype).lower()}), and "
            f"weight({errors.scalar_name(weights.dtype).lower()})"
        )


def _checked_edges(edges: list[Any], points: Any) -> list[Any]:
    """Return copies of the edges. Raises RuntimeError if their number, dtype or dimensions do not fit the points."""
    dims = points.shape[-1]
    if len(edges) != dims:
        raise errors.ShapeError(
            f"torch.histogramdd: expected {dims} sequences of bin edges for a {dims}-dimensional histogram but got "
            f"{len(edges)}"
        )
    for i, e in enumerate(edges):
        if e.dtype != points.dtype:
            raise errors.ShapeError(
                "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input with dtype "
                f"{errors.scalar_name(points.dtype).lower()} and bins for dimension {i} with dtype "
                f"{errors.scalar_name(e.dtype).lower()}"
            )
        if e.ndim != 1:
            raise errors.ShapeError(
                f"torch.histogramdd: bins tensor should have one dimension, but got {e.ndim} dimensions in the bins tensor "
                f"for dimension {i}"
            )
    return [e.copy() for e in edges]


def _equal_intervals(rows: Any, numbers: list[int], range: Any) -> list[Any]:
    """Edges of numbers[i] equal intervals along each dimension i, between the bounds in range or the extreme coordinates."""
    xp = backend_of(rows)
    dims = rows.shape[1]
    if len(numbers) != dims:
        raise errors.ShapeError("histogramdd: The size of bins must be equal to the innermost dimension of the input.")
    if range is not None and len(range) != 2 * dims:
        raise errors.ShapeError(
            f"torch.histogramdd: for a {dims}-dimensional histogram range should have {2 * dims} elements, but got "
            f"{len(range)}"
        )
    edges = []
    for i, number in enumerate(numbers):
        if number <= 0:
            raise errors.ShapeError(f"torch.histogram(): bins must be > 0, but got {number} for dimension {i}")
        if range is not None:
            low, high = float(range[2 * i]), float(range[2 * i + 1])
        else:
            low, high = (float(rows[:, i].min()), float(rows[:, i].max())) if len(rows) else (0.0, 1.0)
        if not (math.isfinite(low) and math.isfinite(high)):
            raise errors.ShapeError(f"torch.histogramdd: dimension {i}'s range [{low:g}, {high:g}] is not finite")
        if low > high:
            raise errors.ShapeError(
                f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} for dimension {i}"
            )
        if low == high:
            low, high = low - 0.5, high + 0.5
        edges.append(xp.linspace(low, high, number + 1).astype(rows.dtype))
    return edges


def _count_in_boxes(rows: Any, edges: list[Any], weights: Any) -> Any:
    """Number of rows in each box, or the sum of their weights. An interval includes its lower end, the last one both ends."""
    xp = backend_of(rows)
    shape = [e.size - 1 for e in edges]
    inside = xp.ones(len(rows), bool)
    box = xp.zeros(len(rows), np.intp)
    for x, e, size in zip(rows.T, edges, shape, strict=True):
        inside &= (x >= e[0]) & (x <= e[-1])
        place = xp.searchsorted(e, x, side="right") - 1
        box = box * size + xp.where(x == e[-1], size - 1, place)
    chosen = None if weights is None else weights[inside]
    return xp.bincount(box[inside], chosen, math.prod(shape)).reshape(shape).astype(np.float64)
