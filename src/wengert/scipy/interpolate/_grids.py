"""Interpolation of data on a line and on rectangular grids."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from wengert import errors
from wengert._forks import import_late
from wengert.array_functions.table import detached, holds_tensor, w
from wengert.scipy.interpolate._b_splines import BSpline, make_interp_spline
from wengert.scipy.interpolate._piecewise import along_first, double, evaluate, placed

scipy: Any = import_late("scipy.interpolate")


class interp1d(scipy.interp1d):  # SciPy's name
    """SciPy's interp1d with derivatives in x, y and the points of evaluation. kinds without slopes differentiate in y."""

    def __init__(
        self, x: Any, y: Any, kind: Any = "linear", axis: int = -1, copy: bool = True, bounds_error: Any = None,
        fill_value: Any = np.nan, assume_sorted: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(*detached((x, y)), kind, axis, copy, bounds_error, detached(fill_value), assume_sorted)
        self._data: Any = None
        self._fill = fill_value
        if holds_tensor((x, y, fill_value)):
            order = slice(None) if assume_sorted else np.argsort(detached(x), kind="mergesort")
            self._data = double(x)[order], w.movedim(double(y), axis, 0)[order]

    def __call__(self, x: Any) -> Any:
        """Evaluate the interpolant. x: any shape."""
        if self._data is None and not holds_tensor((x,)):
            return super().__call__(x)
        places, y = self._data or (double(self.x), w.movedim(double(self.y), self.axis, 0))
        new = double(x)
        below, above = self._check_bounds(detached(new).reshape(-1))
        found = self._values(places, y, new.reshape(-1))
        fills = self._fill if isinstance(self._fill, tuple) else (self._fill, self._fill)
        if isinstance(self._fill, str):  # "extrapolate": what comes before the first point has no previous one
            fills = (np.nan if self._kind == "previous" else None, np.nan if self._kind == "next" else None)
        for lost, fill in zip((below, above), fills, strict=True):
            if fill is not None and lost.any():
                found = w.where(along_first(w.as_tensor(lost), y.ndim), double(fill), found)
        return placed(w.reshape(found, tuple(new.shape) + tuple(y.shape[1:])), new.ndim, self.axis)

    def _values(self, x: Any, y: Any, new: Any) -> Any:
        kind, points, at = self._kind, detached(x), detached(new)
        last = len(points) - 1
        degree = int(self._spline.k) if kind not in ("linear", "nearest", "nearest-up", "previous", "next") else -1
        if kind == "linear":
            secants = (y[1:] - y[:-1]) / along_first(x[1:] - x[:-1], y.ndim)
            return evaluate(w.stack([secants, y[:-1]]), x, new, 0, True)
        if kind in ("nearest", "nearest-up"):
            middles = (points[1:] + points[:-1]) / 2.0
            return y[np.clip(np.searchsorted(middles, at, side="left" if kind == "nearest" else "right"), 0, last)]
        if kind == "previous" or degree == 0:
            return y[np.clip(np.searchsorted(points, at, side="right") - 1, 0, last)]
        if kind == "next":
            return y[np.clip(np.searchsorted(points, at, side="left"), 0, last)]
        return make_interp_spline(x, y, degree)(new)


def _coordinates(xi: Any, ndim: int) -> Any:
    """Return the points of evaluation as a tensor (..., ndim): given as one array, or as a tuple of an array for each axis."""
    if isinstance(xi, tuple):
        return w.stack(w.broadcast_tensors(*[double(x) for x in xi]), -1)
    found = double(xi)
    return found.reshape(-1, ndim) if found.ndim == 1 else found


class RegularGridInterpolator(scipy.RegularGridInterpolator):
    """SciPy's RegularGridInterpolator with derivatives in the values, the grid and the points of evaluation.

    For method="linear" and "nearest". Other methods run without tensors only.
    """

    def __init__(self, points: Any, values: Any, method: str = "linear", *args: Any, **options: Any) -> None:
        super().__init__(tuple([detached(p) for p in points]), detached(values), method, *detached(args), **options)
        self._data: Any = None
        if holds_tensor((*points, values)):
            grid, found = [double(p) for p in points], double(values)
            for d, axis in enumerate(grid):
                if len(axis) > 1 and detached(axis)[0] > detached(axis)[-1]:
                    grid[d], found = w.flip(axis, (0,)), w.flip(found, (d,))
            self._data = grid, found

    def __call__(self, xi: Any, method: Any = None, **options: Any) -> Any:
        """Interpolate at the points xi: (..., ndim), or a tuple of arrays."""
        if self._data is None and not holds_tensor((xi,)):
            return super().__call__(xi, method, **options)
        method = self.method if method is None else method
        if method not in ("linear", "nearest"):
            name = f"scipy.interpolate.RegularGridInterpolator with method={method!r}"
            raise errors.no_array_of("Tensor that requires grad", name, "Use method='linear', or RectBivariateSpline.")
        grid, values = self._data or ([double(g) for g in self.grid], double(self.values))
        places = _coordinates(xi, len(grid))
        if places.shape[-1] != len(grid):
            raise ValueError(
                f"The requested sample points xi have dimension {places.shape[-1]} but this RegularGridInterpolator has "
                f"dimension {len(grid)}"
            )
        flat = places.reshape(-1, len(grid))
        lost, lower, shares = np.isnan(detached(flat)).any(1), [], []
        for d, axis in enumerate(grid):
            points, at = detached(axis), detached(flat[:, d])
            out = (at < points[0]) | (at > points[-1])
            if self.bounds_error and out.any():
                raise ValueError(f"One of the requested xi is out of bounds in dimension {d}")
            lost |= out if self.fill_value is not None else False
            i = np.clip(np.searchsorted(points, at, side="right") - 1, 0, len(points) - 2)
            lower.append(i)
            shares.append((flat[:, d] - axis[i]) / (axis[i + 1] - axis[i]))
        found = self._mixed(values, lower, shares, method)
        if lost.any():
            fill = np.nan if self.fill_value is None else self.fill_value
            found = w.where(along_first(w.as_tensor(lost), found.ndim), double(fill), found)
        return w.reshape(found, tuple(places.shape[:-1]) + tuple(values.shape[len(grid) :]))

    @staticmethod
    def _mixed(values: Any, lower: list[Any], shares: list[Any], method: str) -> Any:
        if method == "nearest":
            return values[tuple([np.where(detached(t) <= 0.5, i, i + 1) for i, t in zip(lower, shares, strict=True)])]
        found: Any = 0.0
        for corner in product((0, 1), repeat=len(lower)):
            weight: Any = 1.0
            for bit, share in zip(corner, shares, strict=True):
                weight = weight * (share if bit else 1 - share)
            part = values[tuple([i + bit for i, bit in zip(lower, corner, strict=True)])]
            found = found + along_first(weight, part.ndim) * part
        return found


def interpn(points: Any, values: Any, xi: Any, method: str = "linear", bounds_error: bool = True, fill_value: Any = np.nan) -> Any:
    """Interpolate values on a rectangular grid at the points xi."""
    return RegularGridInterpolator(points, values, method, bounds_error=bounds_error, fill_value=fill_value)(xi)


class RectBivariateSpline(scipy.RectBivariateSpline):
    """SciPy's RectBivariateSpline with derivatives in z and the points of evaluation: for s=0, odd degrees and no bbox."""

    def __init__(self, x: Any, y: Any, z: Any, *args: Any, **options: Any) -> None:
        super().__init__(*detached((x, y, z)), *args, **options)
        self._c: Any = None
        if holds_tensor((x, y, z)):
            kx, ky = self.degrees
            if args or not set(options) <= {"kx", "ky"} or not (kx % 2 and ky % 2):
                name = "scipy.interpolate.RectBivariateSpline with s, bbox or even degrees"
                raise errors.no_array_of("Tensor that requires grad", name)
            rows = make_interp_spline(double(x), double(z), kx)
            cols = make_interp_spline(double(y), rows.c.mT, ky)
            self._c = rows.t, cols.t, cols.c.mT

    def __call__(self, x: Any, y: Any, dx: int = 0, dy: int = 0, grid: bool = True) -> Any:
        """Evaluate the spline, or a derivative, on the grid of x and y, or at the points (x, y)."""
        if self._c is None and not holds_tensor((x, y)):
            return super().__call__(x, y, dx, dy, grid)
        kx, ky = self.degrees
        tx, ty, c = self._c or (double(self.tck[0]), double(self.tck[1]), double(self.tck[2]))
        c = c.reshape(len(tx) - kx - 1, len(ty) - ky - 1)
        x, y = [w.clamp(double(at), float(detached(t)[0]), float(detached(t)[-1])) for at, t in ((x, tx), (y, ty))]
        if grid:
            found = BSpline(tx, c, kx)(w.atleast_1d(x), dx)
            return BSpline(ty, found.mT, ky)(w.atleast_1d(y), dy).mT
        x, y = w.broadcast_tensors(x, y)
        rows = BSpline(tx, w.eye(c.shape[0], dtype=c.dtype), kx)(x.reshape(-1), dx)
        cols = BSpline(ty, w.eye(c.shape[1], dtype=c.dtype), ky)(y.reshape(-1), dy)
        return w.reshape(w.sum((rows @ c) * cols, -1), x.shape)

    def ev(self, xi: Any, yi: Any, dx: int = 0, dy: int = 0) -> Any:
        """Evaluate the spline at the points (xi, yi)."""
        return self(xi, yi, dx, dy, grid=False)

    def integral(self, xa: Any, xb: Any, ya: Any, yb: Any) -> Any:
        """Return the integral over a rectangle."""
        if self._c is None and not holds_tensor((xa, xb, ya, yb)):
            return super().integral(xa, xb, ya, yb)
        kx, ky = self.degrees
        tx, ty, c = self._c or (double(self.tck[0]), double(self.tck[1]), double(self.tck[2]))
        c = c.reshape(len(tx) - kx - 1, len(ty) - ky - 1)
        return BSpline(ty, BSpline(tx, c, kx).integrate(xa, xb, False), ky).integrate(ya, yb, False)


CLASSES = (interp1d, RegularGridInterpolator, RectBivariateSpline)
FUNCTIONS = (interpn,)
