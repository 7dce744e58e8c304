"""B-splines: their values as sums of basis functions, and interpolation by them."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import errors
from wengert._forks import import_late
from wengert.array_functions.table import detached, holds_tensor, w
from wengert.scipy._sparse_products import Pattern, solve
from wengert.scipy.interpolate._piecewise import along_first, double, kept, outside, placed, wrapped

scipy: Any = import_late("scipy.interpolate")


def _places(t: Any, k: int, x: Any) -> Any:
    """Return i with t[i] <= x < t[i + 1] for each x, of the pieces between t[k] and t[-k - 1]."""
    t = detached(t)
    return np.clip(np.searchsorted(t, detached(x), side="right") - 1, k, max(k, int(np.searchsorted(t, t[-k - 1])) - 1))


def basis(t: Any, k: int, x: Any, place: Any) -> list[Any]:
    """Return the k + 1 basis functions of degree k that do not vanish in the pieces, at x, by the recursion of Cox and de Boor."""
    found = [w.ones_like(x)]
    for degree in range(1, k + 1):
        left = [x - t[place + 1 - degree + r] for r in range(degree)]
        right = [t[place + 1 + r] - x for r in range(degree)]
        parts = [part / (right[r] + left[r]) for r, part in enumerate(found)]
        found = [right[0] * parts[0], *[left[r - 1] * parts[r - 1] + right[r] * parts[r] for r in range(1, degree)],
                 left[-1] * parts[-1]]  # fmt: skip
    return found


def _differences(t: Any, c: Any, k: int) -> Any:
    """Return the coefficients of the derivative over the same knots, for the degree k - 1. The first is 0."""
    n = len(c)
    steps = t[k + 1 : n + k] - t[1:n]
    empty = w.as_tensor(detached(steps) == 0)
    found = k * (c[1:] - c[:-1]) / along_first(w.where(empty, 1.0, steps), c.ndim)
    return w.cat([w.zeros_like(c[:1]), w.where(along_first(empty, c.ndim), 0.0, found)])


def evaluate(t: Any, c: Any, k: int, x: Any, nu: int, extrapolate: Any) -> Any:
    """Return the spline's derivative of order nu at x. Shape: x.shape + c.shape[1:]."""
    t, c, x = double(t), double(c), double(x)
    c = c[: len(t) - k - 1]
    flat = x.reshape(-1)
    if extrapolate == "periodic":
        flat, extrapolate = wrapped(t[[k, len(t) - k - 1]], flat), False
    place = _places(t, k, flat)
    shape = tuple(x.shape) + tuple(c.shape[1:])
    if nu > k:
        return w.zeros(shape, dtype=c.dtype) + 0.0 * w.sum(x)
    for j in range(nu):
        c = _differences(t, c, k - j)
    terms = [along_first(b, c.ndim) * c[place - (k - nu) + r] for r, b in enumerate(basis(t, k - nu, flat, place))]
    found = sum(terms[1:], terms[0])
    lost = np.isnan(detached(flat)) if extrapolate else outside(detached(t)[[k, len(t) - k - 1]], flat)
    if lost.any():
        found = w.where(along_first(w.as_tensor(lost), found.ndim), float("nan"), found)
    return w.reshape(found, shape)


def _with_knot(t: Any, c: Any, k: int, x: Any) -> tuple[Any, Any]:
    """Return (knots, coefficients) of the same spline with one knot more, by W. Boehm's rule (1980)."""
    values, at = detached(t), float(detached(x))
    if not values[k] <= at <= values[-k - 1]:
        raise ValueError(f"Cannot insert knot at {at}.")
    place = int(_places(t, k, x))
    first = np.arange(place - k + 1, place + 1)
    share = along_first((x - t[first]) / (t[first + k] - t[first]), c.ndim)
    inner = share * c[first] + (1 - share) * c[first - 1]
    return w.cat([t[: place + 1], x.reshape(1), t[place + 1 :]]), w.cat([c[: place - k + 1], inner, c[place:]])


class BSpline(scipy.BSpline):
    """SciPy's BSpline with derivatives in the knots t, the coefficients c and the points of evaluation."""

    t: Any = kept("t")
    c: Any = kept("c")

    def __init__(self, t: Any, c: Any, k: int, extrapolate: Any = True, axis: int = 0) -> None:
        super().__init__(detached(t), detached(c), k, extrapolate, axis)
        if holds_tensor((t, c)):
            self.t, self.c = double(t), w.movedim(double(c), self.axis, 0)

    @property
    def _differentiates(self) -> bool:
        return holds_tensor((self.t, self.c))

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        """Evaluate the spline, or its derivative of order nu. x: any shape. With tensors the result is one."""
        if not self._differentiates and not holds_tensor((x,)):
            return super().__call__(x, nu, extrapolate)
        x = double(x)
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        return placed(evaluate(self.t, self.c, self.k, x, nu, extrapolate), x.ndim, self.axis)

    def _like(self, t: Any, c: Any, k: int, extrapolate: Any) -> BSpline:
        found = BSpline(t, c, k, extrapolate)
        found.axis = self.axis
        return found

    def derivative(self, nu: int = 1) -> Any:
        """Return the derivative of order nu, a BSpline."""
        if not self._differentiates:
            return super().derivative(nu)
        if nu < 0:
            return self.antiderivative(-nu)
        t, c, k = self.t, self.c[: len(self.t) - self.k - 1], self.k
        for _ in range(min(nu, k)):
            t, c, k = t[1:-1], _differences(t, c, k)[1:], k - 1
        return self._like(t, c if nu <= self.k else w.zeros_like(c), k, self.extrapolate)

    def antiderivative(self, nu: int = 1) -> Any:
        """Return an antiderivative of order nu, a BSpline."""
        if not self._differentiates:
            return super().antiderivative(nu)
        t, c, k = self.t, self.c[: len(self.t) - self.k - 1], self.k
        for _ in range(nu):
            widths = along_first(t[k + 1 :] - t[: -k - 1], c.ndim)
            c = w.cat([w.zeros_like(c[:1]), w.cumsum(c * widths, 0) / (k + 1)])
            t, k = w.cat([t[:1], t, t[-1:]]), k + 1
        return self._like(t, c, k, False if self.extrapolate == "periodic" else self.extrapolate)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        """Return the integral from a to b. Without extrapolation, the spline is 0 outside of its base interval."""
        if not self._differentiates and not holds_tensor((a, b)):
            return super().integrate(a, b, extrapolate)
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        if extrapolate == "periodic":
            raise errors.no_array_of("Tensor that requires grad", "scipy.interpolate.BSpline.integrate of a periodic spline")
        t, c = double(self.t), double(self.c)
        whole, a, b = self._like(t, c, self.k, True).antiderivative(), double(a), double(b)
        if not extrapolate:
            a, b = [w.minimum(w.maximum(x, t[self.k]), t[len(t) - self.k - 1]) for x in (a, b)]
        return whole(b) - whole(a)

    def insert_knot(self, x: Any, m: int = 1) -> Any:
        """Return the same spline with the knot x m times more."""
        if not self._differentiates and not holds_tensor((x,)):
            return super().insert_knot(x, m)
        t, c = double(self.t), double(self.c)[: len(self.t) - self.k - 1]
        for _ in range(m):
            t, c = _with_knot(t, c, self.k, double(x))
        return self._like(t, c, self.k, self.extrapolate)


def knots_of(x: Any, k: int, given: Any) -> Any:
    """Return the knots that SciPy chooses for interpolation as formulas in x. given: SciPy's values of the knots."""
    n = len(x)
    values, points = detached(x), np.asarray(given)
    found = np.searchsorted(values, points)
    exact = values[np.minimum(found, n - 1)] == points
    lower = np.clip(found - 1, 0, n - 2)
    share = np.where(exact, 0.0, (points - values[lower]) / (values[lower + 1] - values[lower]))
    place = np.where(exact, np.minimum(found, n - 1), lower)
    between = w.as_tensor(np.round(share, 12))  # 1/2, for splines of even degree
    beyond = (points < values[0]) | (points > values[-1])  # given with the limits of the spline
    return w.where(w.as_tensor(beyond), w.as_tensor(points), x[place] * (1 - between) + x[np.minimum(place + 1, n - 1)] * between)


def _end_conditions(bc_type: Any) -> list[list[tuple[int, Any]]]:
    """Return (order, value) pairs of the derivatives that are given at the two ends."""
    names: dict[Any, Any] = {"natural": [(2, 0.0)], "clamped": [(1, 0.0)], "not-a-knot": [], None: []}
    ends = (bc_type, bc_type) if bc_type is None or isinstance(bc_type, str) else bc_type
    return [names[end] if end is None or isinstance(end, str) else list(end) for end in ends]


def make_interp_spline(x: Any, y: Any, k: int = 3, t: Any = None, bc_type: Any = None, axis: int = 0) -> BSpline:
    """Return the B-spline of degree k through the points, as a solution of a banded system."""
    theirs = scipy.make_interp_spline(*detached((x, y)), k, detached(t), detached(bc_type), axis)
    if bc_type == "periodic":
        raise errors.no_array_of("Tensor that requires grad", "scipy.interpolate.make_interp_spline with bc_type='periodic'",
                                 "Use CubicSpline(x, y, bc_type='periodic').")  # fmt: skip
    x, y = double(x), w.movedim(double(y), axis, 0)
    knots = double(t) if t is not None else knots_of(x, k, theirs.t)
    left, right = _end_conditions(bc_type)
    size, n = len(knots) - k - 1, len(x)
    rows, cols, data, sides = [], [], [], []

    def add(row: Any, at: Any, nu: int, value: Any) -> None:
        """Add the equations: derivative nu of the spline at these points is the value."""
        place = _places(knots, k, at)
        for r, part in enumerate(_basis_slopes(knots, k, at, place, nu)):
            rows.append(row)
            cols.append(place - k + r)
            data.append(part)
        sides.append(value)

    for i, (order, value) in enumerate(left):
        add(np.array([i]), x[:1], order, w.broadcast_to(double(value), y.shape[1:])[None])
    add(np.arange(n) + len(left), x, 0, y)
    for i, (order, value) in enumerate(right):
        add(np.array([len(left) + n + i]), x[-1:], order, w.broadcast_to(double(value), y.shape[1:])[None])
    side = w.cat([s.to(y.dtype) for s in sides])
    pattern = Pattern(np.concatenate(rows), np.concatenate(cols), (size, size))
    c = solve(pattern, w.cat(data), side.reshape(size, -1)).reshape(side.shape)
    found = BSpline(knots, c, k, theirs.extrapolate)
    found.axis = theirs.axis
    return found


def _basis_slopes(t: Any, k: int, x: Any, place: Any, nu: int) -> list[Any]:
    """Return the derivatives of order nu of the k + 1 basis functions that do not vanish in the pieces."""
    if nu == 0:
        return basis(t, k, x, place)
    lower = [w.zeros_like(x), *_basis_slopes(t, k - 1, x, place, nu - 1), w.zeros_like(x)]
    slopes = []
    for r in range(k + 1):
        i = place - k + r
        parts = [lower[0]]
        if r > 0:
            parts.append(k * lower[r] / (t[i + k] - t[i]))
        if r < k:
            parts.append(-k * lower[r + 1] / (t[i + k + 1] - t[i + 1]))
        slopes.append(sum(parts[1:], parts[0]))
    return slopes


# -- tensor products ---------------------------------------------------------------------------------------------------------


def product_values(knots: list[Any], c: Any, degrees: list[int], x: Any, orders: list[int]) -> Any:
    """Return the values of a tensor product of splines at points: (points,) + c.shape[ndim:].

    c: the coefficients, an axis for each of the ndim vectors of knots first. x: (points, ndim). orders: of the derivatives.
    """
    at = np.arange(len(x))
    found: Any = None
    for d, (t, k, nu) in enumerate(zip(knots, degrees, orders, strict=True)):
        place, parts = _places(t, k, x[:, d]), []
        for r, part in enumerate(_basis_slopes(t, k, x[:, d], place, nu)):
            taken = c[place - k + r] if found is None else found[at, place - k + r]
            parts.append(along_first(part, taken.ndim) * taken)
        found = sum(parts[1:], parts[0])
    return found


class NdBSpline(scipy.NdBSpline):
    """SciPy's NdBSpline with derivatives in the knots, the coefficients and the points of evaluation."""

    def __init__(self, t: Any, c: Any, k: Any, *, extrapolate: Any = None) -> None:
        super().__init__(tuple(detached(tuple(t))), detached(c), k, extrapolate=extrapolate)
        self._data = ([double(x) for x in t], double(c)) if holds_tensor((*t, c)) else None

    def __call__(self, xi: Any, *, nu: Any = None, extrapolate: Any = None) -> Any:
        """Evaluate the spline, or its derivative of the orders nu, at points xi: (..., ndim)."""
        if self._data is None and not holds_tensor((xi,)):
            return super().__call__(xi, nu=nu, extrapolate=extrapolate)
        knots, c = self._data or ([double(t) for t in self.t], double(self.c))
        x = double(xi)
        flat = x.reshape(-1, len(knots))
        orders = [0] * len(knots) if nu is None else [int(n) for n in np.broadcast_to(nu, len(knots))]
        found = product_values(knots, c, [int(k) for k in self.k], flat, orders)
        lost = np.isnan(detached(flat)).any(1)
        if not (self.extrapolate if extrapolate is None else extrapolate):
            for d, (t, k) in enumerate(zip(knots, self.k, strict=True)):
                lost |= outside(detached(t)[[k, len(t) - k - 1]], flat[:, d])
        if lost.any():
            found = w.where(along_first(w.as_tensor(lost), found.ndim), float("nan"), found)
        return w.reshape(found, tuple(x.shape[:-1]) + tuple(c.shape[len(knots) :]))


FUNCTIONS = (make_interp_spline,)
CLASSES = (BSpline, NdBSpline) if hasattr(scipy, "NdBSpline") else (BSpline,)
