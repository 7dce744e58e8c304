"""FITPACK's functions and classes: splines (t, c, k) that go through their points or near them."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import errors
from wengert._forks import import_late
from wengert.array_functions.table import detached, holds_tensor, w as _w
from wengert.scipy._closures import implicit
from wengert.scipy.interpolate._b_splines import BSpline, evaluate
from wengert.scipy.interpolate._fits import fitted
from wengert.scipy.interpolate._piecewise import double, outside

scipy: Any = import_late("scipy.interpolate")


def _number(x: Any) -> Any:
    """Return a number in place of a tensor without dimensions."""
    return x if x is None else float(np.asarray(detached(x)))


def _padded(c: Any, k: int, last: Any = 0.0) -> Any:
    """Return coefficients with the numbers that FITPACK keeps at their end: k + 1 times the last one."""
    return _w.cat([c, last * _w.ones(k + 1, dtype=c.dtype)])


def _refuse_periodic(per: Any, name: str) -> None:
    if per:
        raise errors.no_array_of("Tensor that requires grad", f"scipy.interpolate.{name} with per=True",
                                 "Use CubicSpline(x, y, bc_type='periodic').")  # fmt: skip


def _knots_given(t: Any, ends: Any, k: int) -> Any:
    """Return all knots of a spline with these knots inside."""
    return None if t is None else _w.cat([double(ends[0]).expand(k + 1), double(t), double(ends[1]).expand(k + 1)])


# -- fits ------------------------------------------------------------------------------------------------------------------


def splrep(
    x: Any, y: Any, w: Any = None, xb: Any = None, xe: Any = None, k: int = 3, task: int = 0, s: Any = None, t: Any = None,
    full_output: int = 0, per: int = 0, quiet: int = 1,
) -> Any:  # fmt: skip
    """Return (t, c, k) of a spline through points, or near them. See Note [Smoothing splines] in _fits.py.

    Derivative: in x, y, w, s, and in t with task=-1."""
    _refuse_periodic(per, "splrep")
    ends = [_number(end) for end in (xb, xe)]
    tck, *more = scipy.splrep(*detached((x, y, w)), *ends, k, task, _number(s), detached(t), 1, per, quiet)
    x, y = double(x), double(y)
    usual = 0.0 if w is None else len(x) - np.sqrt(2 * len(x))
    ends = [x[0] if xb is None else xb, x[-1] if xe is None else xe]
    given = _knots_given(t if task == -1 else None, ends, k)
    knots, c = fitted(x, y[:, None], w, (tck[0], tck[1][: -k - 1, None], k), usual if s is None else s, given)
    found = knots, _padded(c[:, 0], k), k
    return (found, *more) if full_output else found


def _lengths(points: Any) -> Any:
    """Return the share of the length of a polygon at each of its points: (m,). points: (m, dimensions)."""
    steps = _w.sqrt(_w.sum((points[1:] - points[:-1]) ** 2, 1))
    sums = _w.cumsum(steps, 0)
    return _w.cat([_w.zeros(1, dtype=sums.dtype), sums / sums[-1]])


def splprep(
    x: Any, w: Any = None, u: Any = None, ub: Any = None, ue: Any = None, k: int = 3, task: int = 0, s: Any = None, t: Any = None,
    full_output: int = 0, nest: Any = None, per: int = 0, quiet: int = 1,
) -> Any:  # fmt: skip
    """Return ([t, c, k], u) of a curve through points, or near them. x: a vector for each coordinate; c: one for each, too."""
    _refuse_periodic(per, "splprep")
    columns = [double(one) for one in x]
    (tck, places), *more = scipy.splprep([detached(one) for one in columns], *detached((w, u)), _number(ub), _number(ue), k, task,
                                         _number(s), detached(t), 1, nest, per, quiet)  # fmt: skip
    points = _w.stack(columns, 1)
    u = _lengths(points) if u is None else double(u)
    count = len(places)
    usual = count - np.sqrt(2 * count)
    given = _knots_given(t if task == -1 else None, (u[0] if ub is None else ub, u[-1] if ue is None else ue), k)
    values = np.stack([c[: len(tck[0]) - k - 1] for c in tck[1]], 1)
    knots, c = fitted(u, points, w, (tck[0], values, k), usual if s is None else s, given)
    found = [knots, list(_w.unbind(c, 1)), k], u
    return (found, *more) if full_output else found


def make_splrep(
    x: Any, y: Any, *, w: Any = None, xb: Any = None, xe: Any = None, k: int = 3, s: Any = 0, t: Any = None, nest: Any = None,
    bc_type: Any = None,
) -> Any:  # fmt: skip
    """Return the BSpline through points, or near them. See Note [Smoothing splines] in _fits.py."""
    _refuse_periodic(bc_type == "periodic", "make_splrep")
    options = {} if bc_type is None else {"bc_type": bc_type}
    theirs = scipy.make_splrep(*detached((x, y)), w=detached(w), xb=_number(xb), xe=_number(xe), k=k, s=_number(s), t=detached(t),
                               nest=nest, **options)  # fmt: skip
    return BSpline(*_of_columns(x, double(y)[:, None], w, theirs, s, t), k, theirs.extrapolate)


def _of_columns(x: Any, y: Any, weights: Any, theirs: Any, s: Any, t: Any) -> tuple[Any, Any]:
    values = theirs.c[: len(theirs.t) - theirs.k - 1]
    knots, c = fitted(x, y, weights, (theirs.t, values.reshape(len(values), -1), theirs.k), s, t)
    return knots, c.reshape(values.shape)


def make_splprep(
    x: Any, *, w: Any = None, u: Any = None, ub: Any = None, ue: Any = None, k: int = 3, s: Any = 0, t: Any = None,
    nest: Any = None, bc_type: Any = None,
) -> Any:  # fmt: skip
    """Return the BSpline of a curve through points, or near them, and the places of the points. x: a vector for each coordinate."""
    _refuse_periodic(bc_type == "periodic", "make_splprep")
    points = _w.stack([double(one) for one in x], 1)
    options = {} if bc_type is None else {"bc_type": bc_type}
    ends = {"ub": _number(ub), "ue": _number(ue)}
    theirs, _ = scipy.make_splprep(detached(points).T, w=detached(w), u=detached(u), **ends, k=k, s=_number(s), t=detached(t),
                                   nest=nest, **options)  # fmt: skip
    u = _lengths(points) if u is None else double(u)
    rows = theirs.c.shape[0] != len(theirs.t) - k - 1  # SciPy's coefficients have the coordinates first
    flat = BSpline(theirs.t, theirs.c.T if rows else theirs.c, k)
    knots, c = _of_columns(u, points, w, flat, s, t)
    found = BSpline(knots, c, k, theirs.extrapolate)
    found.axis = theirs.axis
    return found, u


# -- what is done with splines -----------------------------------------------------------------------------------------------


def _parts(tck: Any) -> Any:
    return (tck.t, tck.c, tck.k) if isinstance(tck, scipy.BSpline) else tck


def _for_each(tck: Any, function: Any) -> Any:
    """Return function(t, c, k) of a spline, or a list of its results for each coordinate of a curve."""
    t, c, k = _parts(tck)
    if isinstance(c, (list, tuple)) and np.ndim(detached(c[0])):
        return [function(t, one, k) for one in c]
    return function(t, c, k)


def splev(x: Any, tck: Any, der: int = 0, ext: int = 0) -> Any:
    """Return the values of a spline, or of its derivative; a list of them for a curve.

    ext: outside of the knots, 0 extrapolates, 1 gives 0, 2 raises ValueError, and 3 gives the value at the border.
    """
    if not 0 <= der <= _parts(tck)[2]:
        raise ValueError(f"0<=der={der}<=k={_parts(tck)[2]} must hold")
    if ext not in (0, 1, 2, 3):
        raise ValueError(f"ext = {ext} not in (0, 1, 2, 3) ")
    return _for_each(tck, lambda t, c, k: _values(double(x), double(t), c, k, der, ext))


def _values(x: Any, t: Any, c: Any, k: int, der: int, ext: int) -> Any:
    if ext == 3:
        x = _w.minimum(_w.maximum(x, t[k]), t[len(t) - k - 1])
    found = evaluate(t, c, k, x, der, True)
    lost = outside(detached(t)[[k, len(t) - k - 1]], x)
    if ext == 2 and lost.any():
        raise ValueError("Found x value not in the domain")
    return _w.where(_w.as_tensor(lost), 0.0, found) if ext == 1 else found


def splint(a: Any, b: Any, tck: Any, full_output: int = 0) -> Any:
    """Return the integral of a spline from a to b; a list of them for a curve. It is 0 outside of the knots."""
    found = _for_each(tck, lambda t, c, k: BSpline(t, c, k, False).integrate(a, b))
    if not full_output:
        return found
    return found, _w.as_tensor(scipy.splint(_number(a), _number(b), detached(_parts(tck)), 1)[1])


def spalde(x: Any, tck: Any) -> Any:
    """Return the value and all k derivatives of a spline at x: a vector for a number, else a list of one for each."""
    def all_orders(t: Any, c: Any, k: int) -> Any:
        found = _w.stack([evaluate(t, c, k, places, nu, True) for nu in range(k + 1)], -1)
        return found if found.ndim == 1 else list(found)

    places = double(x)
    return _for_each(tck, all_orders)


def roots_of(t: Any, c: Any, k: int, places: Any) -> Any:
    """Return the roots of a spline at these places. Derivative: that of the implicit function, minus ds / s'(x)."""
    slopes = lambda x, _: _w.diag(evaluate(t, c, k, x, 1, True))  # noqa: E731
    return implicit(lambda x: evaluate(t, c, k, x, 0, True), places, slopes)


def sproot(tck: Any, mest: int = 10) -> Any:
    """Return the roots of a cubic spline; a list of vectors for a curve. Derivative: at simple roots."""
    def roots(t: Any, c: Any, k: int) -> Any:
        return roots_of(t, c, k, scipy.sproot((detached(t), detached(c), k), mest))

    return _for_each(tck, roots)


def _like_given(tck: Any, change: Any, goes_on: bool = False) -> Any:
    """Return a changed spline in the form of the given one: a BSpline, or (t, c, k) with FITPACK's numbers at the end of c.

    goes_on: these numbers are the last coefficient, not 0."""
    t, c, k = _parts(tck)
    if isinstance(c, (list, tuple)) and np.ndim(detached(c[0])):
        c = _w.stack([double(one)[: len(t) - k - 1] for one in c], 1)
        found = change(BSpline(t, c, k))
        return found.t, [_padded(one, found.k, one[-1] if goes_on else 0.0) for one in _w.unbind(found.c, 1)], found.k
    found = change(tck if isinstance(tck, BSpline) else BSpline(t, c, k))
    if isinstance(tck, scipy.BSpline):
        return found
    return found.t, _padded(found.c, found.k, found.c[-1] if goes_on else 0.0), found.k


def splder(tck: Any, n: int = 1) -> Any:
    """Return the derivative of order n of a spline, a spline."""
    if n > _parts(tck)[2]:
        raise ValueError(f"Order of derivative (n = {n!r}) must be <= order of spline (k = {_parts(tck)[2]!r})")
    return _like_given(tck, lambda spline: spline.derivative(n))


def splantider(tck: Any, n: int = 1) -> Any:
    """Return the antiderivative of order n of a spline, a spline."""
    return _like_given(tck, lambda spline: spline.antiderivative(n), goes_on=True)


def insert(x: Any, tck: Any, m: int = 1, per: int = 0) -> Any:
    """Return the same spline with the knot x m times more."""
    _refuse_periodic(per, "insert")
    return _like_given(tck, lambda spline: spline.insert_knot(x, m))


# -- classes -----------------------------------------------------------------------------------------------------------------

_EXT = {"extrapolate": 0, "zeros": 1, "raise": 2, "const": 3}


class Univariate:
    """What our subclasses of UnivariateSpline have in common. self._tck: (t, c, k) with tensors, or None."""

    _tck: Any = None
    _eval_args: Any
    ext: Any

    def _fit(self, x: Any, y: Any, w: Any, bbox: Any, k: int, s: Any, t: Any = None) -> None:
        values = self._eval_args
        x = double(x)
        size = len(values[0]) - k - 1
        ends = [x[i] if end is None else end for i, end in ((0, bbox[0]), (-1, bbox[1]))]
        knots, c = fitted(x, double(y)[:, None], w, (values[0], values[1][:size, None], k), s, _knots_given(t, ends, k))
        self._tck = knots, c[:, 0], k

    def _of(self, tck: Any) -> Any:
        """Return the spline (t, c, k) with tensors."""
        found = UnivariateSpline._from_tck(detached(tuple(tck)), self.ext)
        found._tck = tck
        return found

    @property
    def _any_tck(self) -> Any:
        return self._tck or self._eval_args

    def __call__(self, x: Any, nu: int = 0, ext: Any = None) -> Any:
        """Evaluate the spline, or its derivative of order nu. With tensors the result is one."""
        if self._tck is None and not holds_tensor((x,)):
            return super().__call__(x, nu, ext)  # type: ignore[misc]
        ext = self.ext if ext is None else ext
        if ext not in (*_EXT, *_EXT.values()):
            raise ValueError(f"Unknown extrapolation mode {ext}.")
        return splev(x, self._any_tck, nu, _EXT.get(ext, ext))

    def derivative(self, n: int = 1) -> Any:
        """Return the derivative of order n, a UnivariateSpline."""
        return super().derivative(n) if self._tck is None else self._of(splder(self._tck, n))  # type: ignore[misc]

    def antiderivative(self, n: int = 1) -> Any:
        """Return an antiderivative of order n, a UnivariateSpline."""
        return super().antiderivative(n) if self._tck is None else self._of(splantider(self._tck, n))  # type: ignore[misc]

    def derivatives(self, x: Any) -> Any:
        """Return the value and all k derivatives at a number x."""
        if self._tck is None and not holds_tensor((x,)):
            return super().derivatives(x)  # type: ignore[misc]
        return spalde(x, self._any_tck)

    def integral(self, a: Any, b: Any) -> Any:
        """Return the integral from a to b. The spline is 0 outside of its knots."""
        if self._tck is None and not holds_tensor((a, b)):
            return super().integral(a, b)  # type: ignore[misc]
        return splint(a, b, self._any_tck)

    def roots(self) -> Any:
        """Return the roots of a cubic spline."""
        found = super().roots()  # type: ignore[misc]
        if self._tck is None:
            return found
        t, c, k = self._tck
        return roots_of(t, c, k, found)

    def get_coeffs(self) -> Any:
        """Return the coefficients."""
        if self._tck is None:
            return super().get_coeffs()  # type: ignore[misc]
        return self._tck[1][: len(self._tck[0]) - self._tck[2] - 1]

    def get_knots(self) -> Any:
        """Return the knots inside, and the two ends."""
        if self._tck is None:
            return super().get_knots()  # type: ignore[misc]
        k = self._tck[2]
        return self._tck[0][k : len(self._tck[0]) - k]

    def set_smoothing_factor(self, s: Any) -> None:
        """Fit again with another smoothing factor, as SciPy. Make another spline if there are tensors."""
        if self._tck is not None:
            raise NotImplementedError("With tensors the smoothing factor does not change. Hint: make another UnivariateSpline.")
        super().set_smoothing_factor(s)  # type: ignore[misc]


class UnivariateSpline(Univariate, scipy.UnivariateSpline):
    """SciPy's UnivariateSpline with derivatives in x, y, w, s and the points of evaluation. See Note [Smoothing splines]."""

    def __init__(
        self, x: Any, y: Any, w: Any = None, bbox: Any = (None, None), k: int = 3, s: Any = None, ext: Any = 0,
        check_finite: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(*detached((x, y, w)), [_number(end) for end in bbox], k, _number(s), ext, check_finite)
        if holds_tensor((x, y, w, s)):
            self._fit(x, y, w, bbox, k, len(x) if s is None else s)


class InterpolatedUnivariateSpline(Univariate, scipy.InterpolatedUnivariateSpline):
    """SciPy's InterpolatedUnivariateSpline with derivatives in x, y and the points of evaluation."""

    def __init__(
        self, x: Any, y: Any, w: Any = None, bbox: Any = (None, None), k: int = 3, ext: Any = 0, check_finite: bool = False
    ) -> None:  # fmt: skip
        super().__init__(*detached((x, y, w)), [_number(end) for end in bbox], k, ext, check_finite)
        if holds_tensor((x, y, w)):
            self._fit(x, y, None, bbox, k, 0.0)


class LSQUnivariateSpline(Univariate, scipy.LSQUnivariateSpline):
    """SciPy's LSQUnivariateSpline with derivatives in x, y, t, w and the points of evaluation."""

    def __init__(
        self, x: Any, y: Any, t: Any, w: Any = None, bbox: Any = (None, None), k: int = 3, ext: Any = 0, check_finite: bool = False
    ) -> None:  # fmt: skip
        super().__init__(*detached((x, y, t, w)), [_number(end) for end in bbox], k, ext, check_finite)
        if holds_tensor((x, y, t, w)):
            self._fit(x, y, w, bbox, k, 0.0, t)


CLASSES = (UnivariateSpline, InterpolatedUnivariateSpline, LSQUnivariateSpline)
FUNCTIONS = tuple([
    f for f in (splrep, splprep, make_splrep, make_splprep, splev, splint, spalde, sproot, splder, splantider, insert)
    if hasattr(scipy, f.__name__)
])  # fmt: skip
