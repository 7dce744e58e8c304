"""Piecewise polynomials, and the cubic ones that interpolate. Coefficients are formulas in the data, so all data differentiate.

SciPy's constructors check the arguments and compute the values that decide: the order of the points and which branch is taken.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import dtypes
from wengert._forks import import_late
from wengert.array_functions.table import detached, holds_tensor, tensor, w
from wengert.core.tensor import TensorBase
from wengert.scipy._closures import implicit
from wengert.scipy._sparse_products import Pattern, solve

scipy: Any = import_late("scipy.interpolate")


def double(x: Any) -> Any:
    """Return x as a tensor of dtype float64 or complex128."""
    x = tensor(x if isinstance(x, TensorBase) or holds_tensor((x,)) else np.asarray(x))
    return x.to(dtypes.complex128 if x.is_complex() else dtypes.float64)


def along_first(x: Any, ndim: int) -> Any:
    """Return a vector as a tensor of ndim dimensions that varies along the first."""
    return w.reshape(x, (-1,) + (1,) * (ndim - 1))


def intervals(breaks: Any, x: Any) -> Any:
    """Return the number of the piece that each element of x lies in. breaks: increasing or decreasing."""
    breaks, x = detached(breaks), detached(x)
    if breaks[-1] < breaks[0]:
        breaks, x = -breaks, -x
    return np.clip(np.searchsorted(breaks, x, side="right") - 1, 0, len(breaks) - 2)


def outside(breaks: Any, x: Any) -> Any:
    """Whether each element of x lies outside of the breaks, or is NaN."""
    ends, x = np.sort(detached(breaks)[[0, -1]]), detached(x)
    return ~((x >= ends[0]) & (x <= ends[1]))


def wrapped(breaks: Any, x: Any) -> Any:
    """Return x in the first period of a periodic function."""
    return breaks[0] + w.remainder(x - breaks[0], breaks[-1] - breaks[0])


def placed(found: Any, x_ndim: int, axis: int) -> Any:
    """Move the axes of the evaluation points, which come first, to the axis of interpolation."""
    axes = list(range(found.ndim))
    return w.permute(found, axes[x_ndim : x_ndim + axis] + axes[:x_ndim] + axes[x_ndim + axis :]) if axis else found


def _scaled(c: Any, factors: Any) -> Any:
    return c * along_first(w.as_tensor(np.asarray(factors, float)), c.ndim)


def slope_coefficients(c: Any, nu: int) -> Any:
    """Return the coefficients of the derivative of order nu. c: highest power first."""
    powers = np.arange(len(c) - 1, -1, -1.0)
    for _ in range(nu):
        if len(c) == 1:
            return w.zeros_like(c)
        c, powers = _scaled(c[:-1], powers[:-1]), powers[1:]
    return c


def evaluate(c: Any, breaks: Any, x: Any, nu: int, extrapolate: Any) -> Any:
    """Return the values at x of a piecewise polynomial, of shape x.shape + c.shape[2:]. c: (powers, pieces, ...)."""
    c, breaks, x = double(c), double(breaks), double(x)
    flat = x.reshape(-1)
    if isinstance(extrapolate, str):
        flat = wrapped(breaks, flat)
    place = intervals(breaks, flat)
    step = along_first(flat - breaks[place], c.ndim - 1)
    found: Any = None
    for part in slope_coefficients(c, nu):
        found = part[place] if found is None else found * step + part[place]
    lost = np.isnan(detached(flat)) if extrapolate else outside(breaks, flat)
    if lost.any():
        found = w.where(along_first(w.as_tensor(lost), found.ndim), float("nan"), found)
    return w.reshape(found, tuple(x.shape) + tuple(c.shape[2:]))


def kept(name: str) -> Any:
    """Return a property for an attribute of SciPy's class that is to hold a tensor, which SciPy's would make an array.

    Since SciPy 1.18 the attribute is a property there, which is read until ours is assigned."""
    place = f"_{name}"

    def read(self: Any) -> Any:
        if place in vars(self):
            return vars(self)[place]
        theirs = next(vars(c)[name] for c in type(self).__mro__ if c.__module__.startswith("scipy.") and name in vars(c))
        return theirs.__get__(self)

    return property(read, lambda self, value: vars(self).__setitem__(place, value))


class Piecewise:
    """What our subclasses of PPoly and its relatives have in common. self.c, self.x: tensors, or arrays without a derivative."""

    c: Any = kept("c")
    x: Any = kept("x")
    axis: int
    extrapolate: Any

    @property
    def _differentiates(self) -> bool:
        return holds_tensor((self.c, self.x))

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        """Evaluate the function, or its derivative of order nu. x: any shape. With tensors the result is one."""
        if not self._differentiates and not holds_tensor((x,)):
            return super().__call__(x, nu, extrapolate)  # type: ignore[misc]
        if nu < 0:
            return self.antiderivative(-nu)(x, 0, extrapolate)
        x = double(x)
        return placed(evaluate(self.c, self.x, x, nu, self._extrapolates(extrapolate)), x.ndim, self.axis)

    def _extrapolates(self, extrapolate: Any) -> Any:
        return self.extrapolate if extrapolate is None else extrapolate

    def derivative(self, nu: int = 1) -> Any:
        """Return the derivative of order nu, a PPoly."""
        if nu < 0:
            return self.antiderivative(-nu)
        return piecewise(slope_coefficients(double(self.c), nu), self.x, self.extrapolate, self.axis, self._differentiates)

    def antiderivative(self, nu: int = 1) -> Any:
        """Return the antiderivative of order nu that is 0 at the first break, a PPoly."""
        if nu <= 0:
            return self.derivative(-nu)
        c, breaks = double(self.c), double(self.x)
        steps = along_first(breaks[1:] - breaks[:-1], c.ndim - 1)
        for _ in range(nu):
            c = _scaled(c, 1.0 / np.arange(len(c), 0, -1.0))
            rise = c[0]
            for part in c[1:]:
                rise = rise * steps + part
            sums = w.cumsum(rise * steps, 0)
            c = w.cat([c, w.cat([w.zeros_like(sums[:1]), sums[:-1]])[None]])
        extrapolate = False if isinstance(self.extrapolate, str) else self.extrapolate
        return piecewise(c, self.x, extrapolate, self.axis, self._differentiates)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        """Return the integral from a to b, numbers or tensors without dimensions."""
        if not self._differentiates and not holds_tensor((a, b)):
            return super().integrate(a, b, extrapolate)  # type: ignore[misc]
        whole, ends = self.antiderivative(), double(self.x)[[0, -1]]
        extrapolate = self._extrapolates(extrapolate)
        if not isinstance(extrapolate, str):
            return whole(b, 0, extrapolate) - whole(a, 0, extrapolate)

        def up_to(t: Any) -> Any:
            turns = w.floor((double(t) - ends[0]) / (ends[1] - ends[0])).detach()
            return whole(wrapped(ends, double(t))) + turns * whole(ends[1])

        return up_to(b) - up_to(a)

    def solve(self, y: Any = 0.0, discontinuity: bool = True, extrapolate: Any = None) -> Any:
        """Return the places where a function of one value is y. Derivative: that of the implicit function."""
        if not self._differentiates and not holds_tensor((y,)):
            return super().solve(y, discontinuity, extrapolate)  # type: ignore[misc]
        if self.c.ndim > 2:
            raise NotImplementedError("With tensors, solve and roots are for functions with one value.")
        plain = scipy.PPoly(detached(double(self.c)), detached(self.x), self._extrapolates(None))
        places = plain.solve(float(np.asarray(detached(y))), discontinuity, extrapolate)
        slope = self.derivative()
        return implicit(lambda x: self(x, 0, True) - y, places, lambda x, _: w.diag(double(slope(x, 0, True))))

    def roots(self, discontinuity: bool = True, extrapolate: Any = None) -> Any:
        """Return the roots of a function of one value. Derivative: that of the implicit function."""
        return self.solve(0, discontinuity, extrapolate)


def piecewise(c: Any, breaks: Any, extrapolate: Any, axis: int, differentiates: bool) -> Any:
    """Return a PPoly of tensors, or of arrays if nothing differentiates."""
    if not differentiates:
        c, breaks = detached(c), detached(breaks)
    found = PPoly(c, breaks, extrapolate)
    found.axis = axis
    return found


class PPoly(Piecewise, scipy.PPoly):
    """SciPy's PPoly with derivatives in the coefficients c, the breaks x and the points of evaluation.

    At a break the derivative is that of the piece on its right.
    """

    def __init__(self, c: Any, x: Any, extrapolate: Any = None, axis: int = 0) -> None:
        super().__init__(detached(c), detached(x), extrapolate, axis)
        if holds_tensor((c, x)):
            c = double(c)
            self.c, self.x = (w.movedim(c, (self.axis, self.axis + 1), (0, 1)) if self.axis else c), double(x)


class BPoly(Piecewise, scipy.BPoly):
    """SciPy's BPoly with derivatives in the points of evaluation, and in coefficients and breaks."""

    def __init__(self, c: Any, x: Any, extrapolate: Any = None, axis: int = 0) -> None:
        super().__init__(detached(c), detached(x), extrapolate, axis)
        if holds_tensor((c, x)):
            c = double(c)
            self.c, self.x = (w.movedim(c, (self.axis, self.axis + 1), (0, 1)) if self.axis else c), double(x)

    def _powers(self) -> Any:
        """Return the same function as a PPoly."""
        comb = import_late("scipy.special").comb
        c, breaks = double(self.c), double(self.x)
        degree, steps = len(c) - 1, along_first(breaks[1:] - breaks[:-1], c.ndim - 1)
        parts: list[Any] = []
        for power in range(degree, -1, -1):
            terms = [(-1) ** (power - j) * comb(degree, power) * comb(power, j) * c[j] for j in range(power + 1)]
            parts.append(sum(terms[1:], terms[0]) / steps**power)
        return piecewise(w.stack(parts), self.x, self.extrapolate, self.axis, True)

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        """Evaluate the function, or its derivative of order nu."""
        if not self._differentiates and not holds_tensor((x,)):
            return scipy.BPoly.__call__(self, x, nu, extrapolate)
        return self._powers()(x, nu, extrapolate)

    def derivative(self, nu: int = 1) -> Any:
        """Return the derivative of order nu: a BPoly, or a PPoly if it has tensors."""
        return self._powers().derivative(nu) if self._differentiates else scipy.BPoly.derivative(self, nu)

    def antiderivative(self, nu: int = 1) -> Any:
        """Return the antiderivative of order nu: a BPoly, or a PPoly if it has tensors."""
        return self._powers().antiderivative(nu) if self._differentiates else scipy.BPoly.antiderivative(self, nu)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        """Return the integral from a to b."""
        if self._differentiates or holds_tensor((a, b)):
            return self._powers().integrate(a, b, extrapolate)
        return scipy.BPoly.integrate(self, a, b, extrapolate)


# -- cubic interpolants ----------------------------------------------------------------------------------------------------


class Hermite(Piecewise):
    """A cubic interpolant that is given by its slopes at the points."""

    def _fit(self, x: Any, y: Any, axis: int, slopes: Any) -> None:
        """Compute the coefficients. slopes: a function of (x, y, h, secants), or a tensor."""
        x, y = double(x), w.movedim(double(y), axis, 0)
        h = along_first(x[1:] - x[:-1], y.ndim)
        secants = (y[1:] - y[:-1]) / h
        s = slopes(x, y, h, secants) if callable(slopes) else slopes
        t = (s[:-1] + s[1:] - 2 * secants) / h
        self.c, self.x = w.stack([t / h, (secants - s[:-1]) / h - t, s[:-1], y[:-1]]), x


class CubicHermiteSpline(Hermite, scipy.CubicHermiteSpline):
    """SciPy's CubicHermiteSpline with derivatives in x, y, dydx and the points of evaluation."""

    def __init__(self, x: Any, y: Any, dydx: Any, axis: int = 0, extrapolate: Any = None) -> None:
        super().__init__(*detached((x, y, dydx)), axis, extrapolate)
        if holds_tensor((x, y, dydx)):
            self._fit(x, y, axis, w.movedim(double(dydx), axis, 0))


class CubicSpline(Hermite, scipy.CubicSpline):
    """SciPy's CubicSpline with derivatives in x, y, the values of bc_type and the points of evaluation."""

    def __init__(self, x: Any, y: Any, axis: int = 0, bc_type: Any = "not-a-knot", extrapolate: Any = None) -> None:
        super().__init__(*detached((x, y)), axis, detached(bc_type), extrapolate)
        if holds_tensor((x, y, bc_type)):
            ends = (bc_type, bc_type) if isinstance(bc_type, str) else tuple(bc_type)
            self._fit(x, y, axis, lambda x, y, h, secants: _spline_slopes(x, y, h, secants, ends))


def _spline_slopes(x: Any, y: Any, h: Any, secants: Any, ends: tuple[Any, ...]) -> Any:
    """Return the slopes at the points: the solution of a tridiagonal system, with two equations for the ends."""
    n, steps = len(x), x[1:] - x[:-1]
    if "periodic" in ends:
        return _periodic_slopes(steps, h, secants)
    ends = tuple([{"clamped": (1, 0.0), "natural": (2, 0.0)}.get(e, e) if isinstance(e, str) else e for e in ends])
    if n == 2:
        ends = tuple([(1, secants[0]) if isinstance(e, str) else e for e in ends])
    k = np.arange(1, n - 1)
    rows, cols = [k, k, k], [k - 1, k, k + 1]
    data = [steps[1:], 2 * (steps[:-1] + steps[1:]), steps[:-1]]
    right = [3 * (h[1:] * secants[:-1] + h[:-1] * secants[1:])]
    parabola = n == 3 and all(isinstance(e, str) for e in ends)
    for end, place, inner, sign in ((ends[0], 0, 1, 1), (ends[1], n - 1, n - 2, -1)):
        first, second = (0, 1) if place == 0 else (-1, -2)
        if parabola:
            own, next_, value = w.ones_like(steps[0]), w.ones_like(steps[0]), 2 * secants[first]
        elif isinstance(end, str):  # not-a-knot: the two pieces at the end are one polynomial
            a, b = steps[first], steps[second]
            own, next_ = b, a + b
            value = ((a + 2 * (a + b)) * b * secants[first] + a * a * secants[second]) / (a + b)
        elif end[0] == 1:
            own, next_, value = w.ones_like(steps[0]), w.zeros_like(steps[0]), double(end[1])
        else:
            own, next_ = 2 * steps[first], steps[first]
            value = 3 * steps[first] * secants[first] - sign * 0.5 * double(end[1]) * steps[first] ** 2
        rows.append(np.array([place, place]))
        cols.append(np.array([place, inner]))
        data.append(w.stack([own, next_]))
        value = w.broadcast_to(value, y.shape[1:])[None].to(y.dtype)
        right = [value, *right] if place == 0 else [*right, value]
    return _solved(rows, cols, data, w.cat(right), n)


def _periodic_slopes(steps: Any, h: Any, secants: Any) -> Any:
    n = len(steps)
    if n == 1:
        return w.cat([secants, secants])
    if n == 2:
        mean = w.sum(secants / h, 0) / w.sum(1.0 / h, 0)
        return w.stack([mean] * 3)
    k = np.arange(n)
    before = w.roll(steps, 1, 0)
    data = [steps, 2 * (before + steps), before]
    right = 3 * (h * w.roll(secants, 1, 0) + w.roll(h, 1, 0) * secants)
    found = _solved([k, k, k], [(k - 1) % n, k, (k + 1) % n], data, right, n)
    return w.cat([found, found[:1]])


def _solved(rows: Any, cols: Any, data: Any, right: Any, n: int) -> Any:
    pattern = Pattern(np.concatenate(rows), np.concatenate(cols), (n, n))
    return solve(pattern, w.cat(data), right.reshape(n, -1)).reshape(right.shape)


class PchipInterpolator(Hermite, scipy.PchipInterpolator):
    """SciPy's PchipInterpolator with derivatives in x, y and the points of evaluation.

    A slope is 0 where the data turn, and so is its derivative; at ties of the conditions SciPy's branch is differentiated.
    """

    def __init__(self, x: Any, y: Any, axis: int = 0, extrapolate: Any = None) -> None:
        super().__init__(*detached((x, y)), axis, extrapolate)
        if holds_tensor((x, y)):
            self._fit(x, y, axis, _monotone_slopes)


def _monotone_slopes(x: Any, y: Any, h: Any, secants: Any) -> Any:
    if len(x) == 2:
        return w.cat([secants, secants])
    m = detached(secants)
    flat = w.as_tensor((np.sign(m[1:]) != np.sign(m[:-1])) | (m[1:] == 0) | (m[:-1] == 0))
    left, right = w.where(flat, 1.0, secants[:-1]), w.where(flat, 1.0, secants[1:])
    one, two = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    inner = w.where(flat, 0.0, (one + two) / (one / left + two / right))

    def end(h0: Any, h1: Any, m0: Any, m1: Any) -> Any:
        found = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
        d, a, b = detached(found), detached(m0), detached(m1)
        turned = np.sign(d) != np.sign(a)
        steep = (np.sign(a) != np.sign(b)) & (abs(d) > 3 * abs(a)) & ~turned
        return w.where(w.as_tensor(turned), 0.0, w.where(w.as_tensor(steep), 3 * m0, found))

    first = end(h[0], h[1], secants[0], secants[1])[None]
    return w.cat([first, inner, end(h[-1], h[-2], secants[-1], secants[-2])[None]])


class Akima1DInterpolator(Hermite, scipy.Akima1DInterpolator):
    """SciPy's Akima1DInterpolator with derivatives in x, y and the points of evaluation.

    Where slopes are equal, the weights have kinks: the absolute value has derivative 0 there.
    """

    def __init__(self, x: Any, y: Any, axis: int = 0, *, method: str = "akima", extrapolate: Any = None) -> None:
        super().__init__(*detached((x, y)), axis, method=method, extrapolate=extrapolate)
        if holds_tensor((x, y)):
            self._fit(x, y, axis, lambda *data: _akima_slopes(data[3], method))


def _akima_slopes(secants: Any, method: str) -> Any:
    if len(secants) == 1:
        return w.cat([secants, secants])
    m = secants
    before, after = 2 * m[0] - m[1], 2 * m[-1] - m[-2]
    m = w.cat([(2 * before - m[0])[None], before[None], m, after[None], (2 * after - m[-1])[None]])
    change = w.abs(m[1:] - m[:-1])
    if method == "makima":
        change = change + 0.5 * w.abs(m[1:] + m[:-1])
    right, left = change[2:], change[:-2]
    total = right + left
    values = detached(total)
    flat = w.as_tensor(values <= 1e-9 * values.max(initial=-np.inf))  # SciPy's limit: there the weights say nothing
    weighted = m[1:-2] + (left / w.where(flat, 1.0, total)) * (m[2:-1] - m[1:-2])
    return w.where(flat, 0.5 * (m[3:] + m[:-3]), weighted)


CLASSES = (PPoly, BPoly, CubicHermiteSpline, CubicSpline, PchipInterpolator, Akima1DInterpolator)
