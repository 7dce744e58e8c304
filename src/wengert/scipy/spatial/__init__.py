"""scipy.spatial with derivatives. See _frame.py."""

from __future__ import annotations

from typing import Any as _Any

import numpy as _np

from wengert import dtypes as _dtypes
from wengert.array_functions.table import detached as _detached, holds_tensor as _holds_tensor, linalg as _linalg, w as _w
from wengert.scipy._frame import Submodule as _Submodule, operands as _operands
from wengert.scipy.spatial import distance as distance, transform as transform

_module = _Submodule("spatial", globals())
__getattr__, __dir__ = _module.lookups()
_scipy: _Any = _module.scipy


@_module.differentiates()
def _minkowski_distance_p(x: _Any, y: _Any, p: _Any = 2) -> _Any:
    """The p-th power of the Minkowski distance of points in the last axis."""
    x, y = _operands(x, y)
    gaps = _w.abs(x - y)
    return _w.amax(gaps, -1) if p == float("inf") else _w.sum(gaps if p == 1 else gaps**p, -1)


@_module.differentiates()
def _minkowski_distance(x: _Any, y: _Any, p: _Any = 2) -> _Any:
    """The Minkowski distance of points in the last axis. Where they are equal, the derivative is 0."""
    found = _minkowski_distance_p(*_operands(x, y), p)
    return found if p in (1, float("inf")) else distance._rooted(found, 1 / p)


@_module.differentiates()
def _distance_matrix(x: _Any, y: _Any, p: _Any = 2, threshold: int = 1000000) -> _Any:
    """The Minkowski distances between each two points of x (m, n) and y (k, n): (m, k)."""
    x, y = _operands(x, y)
    if x.shape[1] != y.shape[1]:
        raise ValueError(f"x contains {x.shape[1]}-dimensional vectors but y contains {y.shape[1]}-dimensional vectors")
    return _minkowski_distance(x[:, None], y[None], p)


@_module.differentiates()
def _procrustes(data1: _Any, data2: _Any) -> _Any:
    """Standardize two sets of points (m, n), and rotate and scale the second to the first: (data1, data2, disparity)."""
    a, b = [x.double() for x in _operands(data1, data2)]
    if a.ndim != 2 or b.ndim != 2:
        raise ValueError("Input matrices must be two-dimensional")
    if a.shape != b.shape:
        raise ValueError("Input matrices must be of same shape")
    if not a.numel():
        raise ValueError("Input matrices must be >0 rows and >0 cols")
    a, b = [x - _w.mean(x, 0) for x in (a, b)]
    sizes = [_linalg.matrix_norm(x) for x in (a, b)]
    if any(float(size.detach()) == 0 for size in sizes):
        raise ValueError("Input matrices must contain >1 unique points")
    a, b = [x / size for x, size in zip((a, b), sizes, strict=True)]
    u, s, vh = _linalg.svd(b.mT @ a, full_matrices=False)
    b = _w.sum(s) * (b @ (u @ vh))
    return a, b, _w.sum((a - b) ** 2)


@_module.differentiates()
def _geometric_slerp(start: _Any, end: _Any, t: _Any, tol: float = 1e-7) -> _Any:
    """Points of the great circle from start to end, unit vectors (n,): at shares t of the angle between them."""
    values = _np.asarray(_scipy.geometric_slerp(_detached(start), _detached(end), _detached(t), tol))
    start, end, t = [x.double() for x in _operands(start, end, t)]
    cosine = _w.sum(start * end)
    across = end - cosine * start
    sine = distance._rooted(_w.sum(across * across))
    if float(sine.detach()) == 0.0:
        return _w.as_tensor(values) + 0.0 * (start + end)
    angles = (_w.atan2(sine, cosine) * t)[..., None]
    return _w.cos(angles) * start + _w.sin(angles) * across / sine


class _Queries:
    """What our subclasses of KDTree and cKDTree have in common. self._points: the data as a tensor, or None."""

    _points: _Any = None

    def __init__(self, data: _Any, *settings: _Any, **options: _Any) -> None:
        super().__init__(_detached(data), *settings, **options)  # type: ignore[call-arg]  # SciPy's class, which comes next
        self._points = _operands(data)[0].to(_dtypes.float64) if _holds_tensor((data,)) else None

    def query(
        self, x: _Any, k: _Any = 1, eps: float = 0, p: float = 2, distance_upper_bound: float = _np.inf, workers: int = 1
    ) -> _Any:  # fmt: skip
        """Return (distances, indices) of the nearest points. The distances differentiate in x and in the data."""
        found, places = super().query(_detached(x), k, eps, p, distance_upper_bound, workers)  # type: ignore[misc]
        if self._points is None and not _holds_tensor((x,)):
            return found, places
        data = _w.as_tensor(_np.asarray(self.data)) if self._points is None else self._points  # type: ignore[attr-defined]
        x, is_found = _operands(x)[0].to(_dtypes.float64), _np.isfinite(found)
        x = x if _np.ndim(found) < x.ndim else x[..., None, :]
        gaps = _minkowski_distance(data[_np.where(is_found, places, 0)], x, p)
        return _w.where(_w.as_tensor(is_found), gaps, _np.inf), _w.as_tensor(places)


@_module.replaces
class KDTree(_Queries, _scipy.KDTree):
    """SciPy's KDTree, whose distances differentiate in the data and in the points of a query."""


@_module.replaces
class cKDTree(_Queries, _scipy.cKDTree):
    """SciPy's cKDTree, whose distances differentiate in the data and in the points of a query."""


@_module.replaces
class ConvexHull(_scipy.ConvexHull):
    """SciPy's ConvexHull, whose volume and area differentiate in the points. The facets are constants.

    In two dimensions the volume is the area inside, and the area is the length of the border."""

    def __init__(self, points: _Any, *settings: _Any, **options: _Any) -> None:
        super().__init__(_detached(points), *settings, **options)
        if not _holds_tensor((points,)):
            return
        points = _operands(points)[0].to(_dtypes.float64)
        corners = points[self.simplices]  # (facets, n, n)
        edges, size = corners[:, 1:] - corners[:, :1], points.shape[1]
        outward = self.equations[:, :-1]
        middle = _w.mean(points[self.vertices], 0)
        volumes = _linalg.det(corners - middle)
        signs = _np.sign(_np.einsum("ij,ij->i", outward, _detached(corners[:, 0] - middle))) * _np.sign(_detached(volumes))
        factorial = float(_np.prod(_np.arange(1.0, size)))
        self.volume = _w.sum(volumes * _w.as_tensor(signs)) / (factorial * size)
        self.area = _w.sum(distance._rooted(_linalg.det(edges @ edges.mT))) / factorial


_module.constant("The result is an index or a triangulation.", "tsearch")
_module.constant("The result is a picture.", "convex_hull_plot_2d", "delaunay_plot_2d", "voronoi_plot_2d")
