"""Interpolation of data on a line and on rectangular grids."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from wengert import errors
from wengert._forks import import_late
from wengert.array_functions.table import detached, holds_tensor, linalg, w
from wengert.scipy._closures import with_values
from wengert.scipy.interpolate._b_splines import BSpline, knots_of, make_interp_spline, product_values
from wengert.scipy.interpolate._piecewise import PchipInterpolator, along_first, double, evaluate, intervals, placed

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


_DEGREES = {"slinear": 1, "cubic": 3, "quintic": 5}


def _by_splines(grid: list[Any], values: Any, x: Any, degree: int) -> Any:
    """Return the values at points of the tensor product of splines through values on a grid."""
    knots, c = [], values
    for d, axis in enumerate(grid):
        spline = make_interp_spline(axis, w.movedim(c, d, 0), degree)
        knots.append(spline.t)
        c = w.movedim(spline.c, 0, d)
    return product_values(knots, c, [degree] * len(grid), x, [0] * len(grid))


def _by_pchip(grid: list[Any], values: Any, x: Any) -> Any:
    """Return the values at points of monotone interpolants: along the last axis at first, then of these values, as SciPy."""
    at, found, count = np.arange(len(x)), values, len(grid)
    for d in range(count - 1, -1, -1):
        spline = PchipInterpolator(grid[d], w.movedim(found, d if d == count - 1 else d + 1, 0))
        place = intervals(grid[d], x[:, d])
        c = spline.c[:, place] if d == count - 1 else spline.c[:, place, at]
        step = along_first(x[:, d] - grid[d][place], c.ndim - 1)
        found = ((c[0] * step + c[1]) * step + c[2]) * step + c[3]  # the points first, and then the axes before d
    return found


class RegularGridInterpolator(scipy.RegularGridInterpolator):
    """SciPy's RegularGridInterpolator with derivatives in the values, the grid and the points of evaluation."""

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
        if method not in (*_DEGREES, "linear", "nearest", "pchip"):
            raise ValueError(f"Method '{method}' is not defined")
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
        if method in _DEGREES:
            found = _by_splines(grid, values, flat, _DEGREES[method])
            exact = super().__call__(detached(flat), method, **options)  # SciPy's solver of the coefficients stops early
            found = found + w.as_tensor(np.nan_to_num(exact - detached(found)))
        elif method == "pchip":
            found = _by_pchip(grid, values, flat)
        else:
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


# -- surfaces --------------------------------------------------------------------------------------------------------------


def _surface(tck: Any, x: Any, y: Any, dx: int, dy: int) -> Any:
    """Return the values of a surface (tx, ty, c, kx, ky) at points (x, y), vectors. Outside it goes on as at its border."""
    tx, ty, c, kx, ky = tck
    tx, ty = double(tx), double(ty)
    c = double(c).reshape(len(tx) - kx - 1, len(ty) - ky - 1)
    at = [w.clamp(double(z), float(detached(t)[k]), float(detached(t)[-k - 1])) for z, t, k in ((x, tx, kx), (y, ty, ky))]
    return product_values([tx, ty], c, [kx, ky], w.stack(at, 1), [dx, dy])


def _on_grid(tck: Any, x: Any, y: Any, dx: int, dy: int) -> Any:
    """Return the values of a surface on the grid of the vectors x and y: (len(x), len(y))."""
    x, y = w.atleast_1d(double(x)), w.atleast_1d(double(y))
    rows, cols = w.broadcast_tensors(x[:, None], y[None])
    return _surface(tck, rows.reshape(-1), cols.reshape(-1), dx, dy).reshape(len(x), len(y))


def _volume(tck: Any, xa: Any, xb: Any, ya: Any, yb: Any) -> Any:
    """Return the integral of a surface over a rectangle."""
    tx, ty, c, kx, ky = tck
    c = double(c).reshape(len(tx) - kx - 1, len(ty) - ky - 1)
    return BSpline(ty, BSpline(tx, c, kx).integrate(xa, xb, False), ky).integrate(ya, yb, False)


def bisplev(x: Any, y: Any, tck: Any, dx: int = 0, dy: int = 0) -> Any:
    """Return the values of a surface (tx, ty, c, kx, ky), or of a derivative, on the grid of x and y."""
    found = _on_grid(tck, x, y, dx, dy)
    if found.shape[0] > 1:
        return found
    return found[0] if found.shape[1] > 1 else found[0, 0]


def _fitted_surface(x: Any, y: Any, z: Any, weights: Any, tck: Any, name: str) -> Any:
    """Return a surface that SciPy fitted to scattered points as tensors, if it is the least squares surface with its knots."""
    tx, ty, values, kx, ky = tck
    x, y, z = double(x), double(y), double(z)
    weights = w.ones_like(x) if weights is None else double(weights)
    tx, ty = [_moving(t, k, at) for t, k, at in ((tx, kx, x), (ty, ky, y))]
    rows = [BSpline(t, w.eye(len(t) - k - 1, dtype=x.dtype), k)(at) for t, k, at in ((tx, kx, x), (ty, ky, y))]
    matrix = (weights[:, None, None] * rows[0][:, :, None] * rows[1][:, None]).reshape(len(x), -1)
    plain, right = detached(matrix), detached(weights * z)
    residual = plain.T @ (plain @ values - right)
    if np.linalg.matrix_rank(plain) < plain.shape[1] or np.abs(residual).max() > 1e-7 * (1 + np.abs(plain.T @ right).max()):
        raise NotImplementedError(
            f"{name} has a derivative if it is the least squares surface with its knots. Hint: a larger s, or RBFInterpolator."
        )
    return tx, ty, with_values(linalg.lstsq(matrix, (weights * z)[:, None])[0][:, 0], np.asarray(values)), kx, ky


def _moving(t: Any, k: int, x: Any) -> Any:
    """Return knots as tensors. The ends that are the smallest or the largest of x move with it."""
    values, found = detached(x), double(t)
    low, high = int(values.argmin()), int(values.argmax())
    parts = [x[low].expand(k + 1) if values[low] == t[k] else found[: k + 1], found[k + 1 : len(t) - k - 1],
             x[high].expand(k + 1) if values[high] == t[-k - 1] else found[len(t) - k - 1 :]]  # fmt: skip
    return w.cat(parts)


def bisplrep(
    x: Any, y: Any, z: Any, w: Any = None, xb: Any = None, xe: Any = None, yb: Any = None, ye: Any = None, kx: int = 3, ky: int = 3,
    task: int = 0, s: Any = None, eps: float = 1e-16, tx: Any = None, ty: Any = None, full_output: int = 0, nxest: Any = None,
    nyest: Any = None, quiet: int = 1,
) -> Any:  # fmt: skip
    """Return the surface [tx, ty, c, kx, ky] near scattered points. Derivative: in x, y, z, w, if it is a least squares surface."""
    tck, *more = scipy.bisplrep(*detached((x, y, z, w)), xb, xe, yb, ye, kx, ky, task, s, eps, tx, ty, 1, nxest, nyest, quiet)
    found = list(_fitted_surface(x, y, z, w, tck, "scipy.interpolate.bisplrep"))
    return (found, *more) if full_output else found


class Surface:
    """What our subclasses of BivariateSpline have in common. self._surface: (tx, ty, c, kx, ky) with tensors, or None."""

    _surface: Any = None
    tck: Any
    degrees: Any

    @property
    def _any(self) -> Any:
        return self._surface or (*self.tck, *self.degrees)

    def __call__(self, x: Any, y: Any, dx: int = 0, dy: int = 0, grid: bool = True) -> Any:
        """Evaluate the spline, or a derivative, on the grid of x and y, or at the points (x, y)."""
        if self._surface is None and not holds_tensor((x, y)):
            return super().__call__(x, y, dx, dy, grid)  # type: ignore[misc]
        if grid:
            return _on_grid(self._any, x, y, dx, dy)
        x, y = w.broadcast_tensors(double(x), double(y))
        return _surface(self._any, x.reshape(-1), y.reshape(-1), dx, dy).reshape(x.shape)

    def ev(self, xi: Any, yi: Any, dx: int = 0, dy: int = 0) -> Any:
        """Evaluate the spline at the points (xi, yi)."""
        return self(xi, yi, dx, dy, grid=False)

    def integral(self, xa: Any, xb: Any, ya: Any, yb: Any) -> Any:
        """Return the integral over a rectangle."""
        if self._surface is None and not holds_tensor((xa, xb, ya, yb)):
            return super().integral(xa, xb, ya, yb)  # type: ignore[misc]
        return _volume(self._any, xa, xb, ya, yb)


class RectBivariateSpline(Surface, scipy.RectBivariateSpline):
    """SciPy's RectBivariateSpline with derivatives in x, y, z and the points of evaluation: for s=0."""

    def __init__(
        self, x: Any, y: Any, z: Any, bbox: Any = (None,) * 4, kx: int = 3, ky: int = 3, s: Any = 0, **options: Any
    ) -> None:  # fmt: skip
        super().__init__(*detached((x, y, z)), list(bbox), kx, ky, s, **options)
        if holds_tensor((x, y, z)):
            if s or any(end is not None for end in bbox):
                name = "scipy.interpolate.RectBivariateSpline with s or bbox"
                raise errors.no_array_of("Tensor that requires grad", name)
            x, y = double(x), double(y)
            tx, ty = knots_of(x, kx, self.tck[0]), knots_of(y, ky, self.tck[1])
            rows = make_interp_spline(x, double(z), kx, tx)
            cols = make_interp_spline(y, rows.c.mT, ky, ty)
            self._surface = tx, ty, with_values(cols.c.mT.reshape(-1), self.tck[2]), kx, ky


class SmoothBivariateSpline(Surface, scipy.SmoothBivariateSpline):
    """SciPy's SmoothBivariateSpline with derivatives in x, y, z, w and the points of evaluation.

    The surface has to be the least squares surface with its knots, as it is for a large s."""

    def __init__(
        self, x: Any, y: Any, z: Any, w: Any = None, bbox: Any = (None,) * 4, kx: int = 3, ky: int = 3, s: Any = None,
        eps: float = 1e-16,
    ) -> None:  # fmt: skip
        super().__init__(*detached((x, y, z, w)), list(bbox), kx, ky, s, eps)
        if holds_tensor((x, y, z, w)):
            self._surface = _fitted_surface(x, y, z, w, (*self.tck, kx, ky), "scipy.interpolate.SmoothBivariateSpline")


class LSQBivariateSpline(Surface, scipy.LSQBivariateSpline):
    """SciPy's LSQBivariateSpline with derivatives in x, y, z, w and the points of evaluation."""

    def __init__(
        self, x: Any, y: Any, z: Any, tx: Any, ty: Any, w: Any = None, bbox: Any = (None,) * 4, kx: int = 3, ky: int = 3,
        eps: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(*detached((x, y, z, tx, ty, w)), list(bbox), kx, ky, eps)
        if holds_tensor((x, y, z, w)):
            self._surface = _fitted_surface(x, y, z, w, (*self.tck, kx, ky), "scipy.interpolate.LSQBivariateSpline")


CLASSES = (interp1d, RegularGridInterpolator, RectBivariateSpline, SmoothBivariateSpline, LSQBivariateSpline)
FUNCTIONS = (interpn, bisplev, bisplrep)
