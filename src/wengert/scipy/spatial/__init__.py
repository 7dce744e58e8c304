"""scipy.spatial with derivatives. See _frame.py."""

from __future__ import annotations

from typing import Any as _Any

from wengert.array_functions.table import linalg as _linalg, w as _w
from wengert.scipy._frame import Submodule as _Submodule, operands as _operands
from wengert.scipy.spatial import distance as distance, transform as transform

_module = _Submodule("spatial", globals())
__getattr__, __dir__ = _module.lookups()


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


_module.constant("The result is an index or a triangulation.", "tsearch")
