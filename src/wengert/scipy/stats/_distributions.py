"""SciPy's distributions with derivatives: stats.norm, stats.gamma and their like, and frozen distributions.

Each method is made of the formula of its standard form, which _formulas.py or SciPy has, or of another method: the cumulative
distribution of 1 less the survival function, quantiles by inverting the cumulative distribution. Values outside the support are
SciPy's, with derivatives of 0; results for invalid shapes are NaN.

Note [Quantiles]
A quantile that has no formula starts from SciPy's value, a number. Each Newton step on cdf(x) = q leaves the value as it is, and
doubles the number of derivatives that are right: none before the first step, one after it, three after the second one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from math import comb
from typing import Any

import numpy as np

from wengert import dtypes, errors
from wengert.array_functions.table import detached, holds_tensor, w
from wengert.array_protocol import _is_differentiated as is_differentiated, _tensor as as_tensor
from wengert.scipy._closures import with_values
from wengert.scipy._frame import operands
from wengert.scipy._parameters import log_mass
from wengert.scipy.stats import _expectations, _fits
from wengert.scipy.stats._formulas import OURS, THEIRS, S, known

_NEWTON_STEPS = 2
_MOST_TERMS = 1e5  # of sums over the numbers of a discrete distribution

# Methods whose result lies on the axis of x, and those whose result is a density on it.
_QUANTILES = ("ppf", "isf")
_DENSITIES = ("pdf", "logpdf")
# The result below and above the support.
_OUTSIDE = {
    "pdf": (0.0, 0.0), "logpdf": (-np.inf, -np.inf), "cdf": (0.0, 1.0), "logcdf": (-np.inf, 0.0), "sf": (1.0, 0.0),
    "logsf": (0.0, -np.inf),
}  # fmt: skip


@cache
def _theirs(method: str) -> frozenset[str]:
    """The families whose method of SciPy runs on tensors."""
    return frozenset(THEIRS.get(method, "").split())


def wide(*values: Any) -> list[Any]:
    """Return the values as tensors of float64, in which SciPy computes distributions."""
    return [x.to(dtypes.float64) for x in operands(*values)]


class Distribution:
    """What continuous and discrete distributions have in common. theirs: SciPy's distribution, which has all other attributes."""

    methods: tuple[str, ...] = ()

    def __init__(self, theirs: Any) -> None:
        self.theirs = theirs
        self.__doc__ = theirs.__doc__

    def __getattr__(self, name: str) -> Any:
        return getattr(self.theirs, name)

    def __repr__(self) -> str:
        return f"<wengert.scipy.stats.{self.theirs.name}>"

    def __call__(self, *args: Any, **kwds: Any) -> Frozen:
        """Return the distribution with these shapes, loc and scale."""
        return Frozen(self, args, kwds)

    freeze = __call__

    def no_derivative(self, method: str, hint: str | None = None) -> Exception:
        return errors.no_array_of("a Tensor that is differentiated", f"scipy.stats.{self.theirs.name}.{method}", hint)

    def parameters(self, args: Any, kwds: Any) -> tuple[list[Any], Any, Any]:
        """Return (shapes, loc, scale) of a call as tensors of float64. Discrete distributions have the scale 1."""
        shapes, loc, scale = self.theirs._parse_args(*args, **kwds)
        *found, loc, scale = wide(*shapes, loc, scale)
        return found, loc, scale

    def plain(self, method: str, *args: Any, **kwds: Any) -> Any:
        """Call a method of SciPy on the memory of tensors. Arrays in the result become tensors."""
        found = getattr(self.theirs, method)(*[detached(x) for x in args], **{name: detached(x) for name, x in kwds.items()})
        return as_tensor(np.asarray(found)) if holds_tensor((*args, *kwds.values())) else found

    def valid(self, shapes: list[Any], scale: Any) -> Any:
        """Whether the shapes and the scale are allowed, as an array."""
        found = np.asarray(self.theirs._argcheck(*[detached(s) for s in shapes])) != 0
        return found & (detached(scale) > 0)

    def has(self, method: str) -> bool:
        """Whether there is a formula for a method."""
        return method in OURS.get(self.theirs.name, ()) or self.theirs.name in _theirs(method)

    def formula(self, method: str) -> Callable[..., Any]:
        """Return the formula of a method in standard form."""
        ours = OURS.get(self.theirs.name, {}).get(method)
        return getattr(self.theirs, "_" + method) if ours is None else ours

    def arguments(self, shapes: list[Any]) -> list[Any]:
        """Return shapes as arrays, as SciPy's public methods take them."""
        return [detached(s) for s in shapes]

    # -- moments: functions of the parameters alone

    def moments(self, shapes: list[Any]) -> tuple[Any, Any]:
        """Return (mean, variance) in standard form."""
        if self.has("stats"):
            found = self.formula("stats")(*shapes)
            return found[0], found[1]
        if not any(is_differentiated([s]) for s in shapes):
            return tuple(wide(*self.theirs.stats(*[detached(s) for s in shapes], moments="mv")))
        return self._computed_moments(shapes)

    def _computed_moments(self, shapes: list[Any]) -> tuple[Any, Any]:
        """Return (mean, variance) in standard form, without a formula."""
        raise self.no_derivative("stats")

    def _computed_entropy(self, shapes: list[Any]) -> Any:
        """Return the entropy in standard form, without a formula."""
        raise self.no_derivative("entropy")

    def mean(self, *args: Any, **kwds: Any) -> Any:
        if not holds_tensor((*args, *kwds.values())):
            return self.theirs.mean(*args, **kwds)
        shapes, loc, scale = self.parameters(args, kwds)
        return self._where_valid(shapes, scale, loc + scale * self.moments(shapes)[0])

    def var(self, *args: Any, **kwds: Any) -> Any:
        if not holds_tensor((*args, *kwds.values())):
            return self.theirs.var(*args, **kwds)
        shapes, loc, scale = self.parameters(args, kwds)
        return self._where_valid(shapes, scale, scale * scale * self.moments(shapes)[1] + 0.0 * loc)

    def median(self, *args: Any, **kwds: Any) -> Any:
        return self.ppf(0.5, *args, **kwds)

    def interval(self, confidence: Any, *args: Any, **kwds: Any) -> Any:
        """The ends of the interval with equal areas around the median."""
        return self.ppf((1 - confidence) / 2, *args, **kwds), self.ppf((1 + confidence) / 2, *args, **kwds)

    def std(self, *args: Any, **kwds: Any) -> Any:
        found = self.var(*args, **kwds)
        return w.sqrt(found) if holds_tensor([found]) else np.sqrt(found)

    def stats(self, *args: Any, moments: str = "mv", **kwds: Any) -> Any:
        if not holds_tensor((*args, *kwds.values())):
            return self.theirs.stats(*args, moments=moments, **kwds)
        ways = {"m": self.mean, "v": self.var, "s": self._skewness, "k": self._excess}
        found = [ways[m](*args, **kwds) for m in "mvsk" if m in moments]
        return found[0] if len(found) == 1 else tuple(found)

    def _skewness(self, *args: Any, **kwds: Any) -> Any:
        return self._standardized(3, "s", args, kwds)

    def _excess(self, *args: Any, **kwds: Any) -> Any:
        return self._standardized(4, "k", args, kwds)

    def _standardized(self, order: int, kind: str, args: Any, kwds: Any) -> Any:
        """The skewness or the excess kurtosis, with SciPy's values. They do not depend on loc and scale."""
        shapes, loc, scale = self.parameters(args, kwds)
        values = np.asarray(self.theirs.stats(*self.arguments(shapes), moments=kind), np.float64)
        constant = w.as_tensor(values) + 0.0 * (loc + scale)
        if any(is_differentiated([s]) for s in shapes) and np.isfinite(values).any():
            constant = constant + with_values(self._central(order, shapes), values) - w.as_tensor(values)
        return self._where_valid(shapes, scale, constant)

    def _central(self, order: int, shapes: list[Any]) -> Any:
        """The expectation of ((x - mean) / deviation)**order in standard form."""
        return _expectations.standardized_moment(self._parts("stats", shapes, order), order)

    def _parts(self, method: str, shapes: list[Any], order: int) -> list[_expectations.Share]:
        """Return places of the support and their probabilities, for moments up to an order. method: the one that asks for them."""
        raise self.no_derivative(method)

    def entropy(self, *args: Any, **kwds: Any) -> Any:
        if not holds_tensor((*args, *kwds.values())):
            return self.theirs.entropy(*args, **kwds)
        shapes, loc, scale = self.parameters(args, kwds)
        return self._where_valid(shapes, scale, self._entropy(shapes) + w.log(scale) + 0.0 * loc)

    def _entropy(self, shapes: list[Any]) -> Any:
        """The entropy in standard form."""
        if self.has("entropy"):
            return self.formula("entropy")(*shapes)
        if any(is_differentiated([s]) for s in shapes):
            return self._computed_entropy(shapes)
        return wide(np.asarray(self.theirs.entropy(*self.arguments(shapes))))[0]

    def _where_valid(self, shapes: list[Any], scale: Any, found: Any) -> Any:
        valid = self.valid(shapes, scale)
        return found if valid.all() else w.where(w.as_tensor(valid), found, np.nan)

    def _refused(self, method: str, args: Any, kwds: Any) -> Any:
        if is_differentiated((*args, *kwds.values())):
            raise self.no_derivative(method)
        return self.plain(method, *args, **kwds)

    def moment(self, order: Any, *args: Any, **kwds: Any) -> Any:
        """The expectation of x**order, order an integer: a sum of the moments in standard form, with SciPy's values."""
        if not is_differentiated((order, *args, *kwds.values())):
            return self.plain("moment", order, *args, **kwds)
        if is_differentiated([order]):
            raise self.no_derivative("moment in its order")
        values = self.theirs.moment(detached(order), *map(detached, args), **{name: detached(x) for name, x in kwds.items()})
        shapes, loc, scale = self.parameters(args, kwds)
        n = int(detached(order))
        found = loc**n + 0.0 * scale
        for k in range(1, n + 1):
            found = found + comb(n, k) * scale**k * loc ** (n - k) * self._raw_moment(k, shapes)
        return self._where_valid(shapes, scale, _expectations.with_finite_values(found, values))

    def _raw_moment(self, k: int, shapes: list[Any]) -> Any:
        """The expectation of x**k in standard form, 0 in place of infinity."""
        if k <= 2:
            mean, variance = self.moments(shapes)
            found = mean if k == 1 else variance + mean * mean
            return w.where(w.as_tensor(np.isfinite(detached(found))), found, 0.0)
        values = np.asarray(self.theirs.moment(k, *self.arguments(shapes)), np.float64)
        values = np.where(np.isfinite(values), values, 0.0)
        if not values.any() or not any(is_differentiated([s]) for s in shapes):
            return w.as_tensor(values)
        return with_values(_expectations.expected(self._parts("moment", shapes, k), lambda x: x**k), values)

    def rvs(self, *args: Any, **kwds: Any) -> Any:
        return self._refused("rvs", args, kwds)

    def support(self, *args: Any, **kwds: Any) -> Any:
        """The ends of the support, (low, high). Infinite ends have no derivative."""
        if not is_differentiated((*args, *kwds.values())):
            return self.plain("support", *args, **kwds)
        shapes, loc, scale = self.parameters(args, kwds)
        differ = any(is_differentiated([s]) for s in shapes)
        if differ and self.theirs.name in _expectations.BY_QUANTILES:
            raise self.no_derivative("support")
        ends = wide(*self.theirs._get_support(*(shapes if differ else map(detached, shapes))))
        return tuple([w.where(w.isinf(end), end.detach(), loc + scale * end) for end in ends])


class Continuous(Distribution):
    """A continuous distribution: pdf, cdf, sf, ppf and their like differentiate in x, loc, scale and shapes."""

    methods = ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")

    def pdf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        return self._evaluated("pdf", x, args, kwds)

    def logpdf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        return self._evaluated("logpdf", x, args, kwds)

    def cdf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        return self._evaluated("cdf", x, args, kwds)

    def logcdf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        return self._evaluated("logcdf", x, args, kwds)

    def sf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        return self._evaluated("sf", x, args, kwds)

    def logsf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        return self._evaluated("logsf", x, args, kwds)

    def ppf(self, q: Any, *args: Any, **kwds: Any) -> Any:
        return self._evaluated("ppf", q, args, kwds)

    def isf(self, q: Any, *args: Any, **kwds: Any) -> Any:
        return self._evaluated("isf", q, args, kwds)

    def nnlf(self, theta: Any, x: Any) -> Any:
        """The negative log-likelihood of theta = (*shapes, loc, scale), summed over x. It is inf if it is not finite."""
        if not holds_tensor((theta, x)):
            return self.theirs.nnlf(theta, x)
        theta = list(theta)
        found = -w.sum(self.logpdf(x, *theta[:-2], loc=theta[-2], scale=theta[-1]))
        return found if np.isfinite(detached(found)) else w.where(w.as_tensor(False), found, np.inf)

    def fit(self, data: Any, *args: Any, **kwds: Any) -> Any:
        """The parameters (*shapes, loc, scale) of the largest likelihood. Derivative: in the sample."""
        if is_differentiated([data]):
            return _fits.fit(self, data, args, kwds)
        found = self.theirs.fit(detached(data), *detached(args), **{name: detached(x) for name, x in kwds.items()})
        return tuple(map(w.as_tensor, found)) if holds_tensor([data]) else found

    def _evaluated(self, method: str, x: Any, args: Any, kwds: Any) -> Any:
        if not holds_tensor((x, *args, *kwds.values())):
            return getattr(self.theirs, method)(x, *args, **kwds)
        if not is_differentiated((x, *args, *kwds.values())):
            return self.plain(method, x, *args, **kwds)
        shapes, loc, scale = self.parameters(args, kwds)
        (x,) = wide(x)
        return self._quantile(method, x, shapes, loc, scale) if method in _QUANTILES else self._value(method, x, shapes, loc, scale)

    def _value(self, method: str, x: Any, shapes: list[Any], loc: Any, scale: Any) -> Any:
        y = (x - loc) / scale
        standard, arrays = detached(y), [detached(s) for s in shapes]
        valid = self.valid(shapes, scale) & ~np.isnan(standard)
        low, high = self.theirs._get_support(*arrays)
        is_density = method in _DENSITIES
        below, above = (standard < low, standard > high) if is_density else (standard <= low, standard >= high)
        inside = valid & ~below & ~above
        if not inside.all():
            shapes = self._with_valid_shapes(shapes, valid)
            middle = self.theirs.ppf(0.5, *[detached(s) for s in shapes])
            y = w.where(w.as_tensor(inside), y, w.as_tensor(np.asarray(middle)))
        found = self._standard(method)(y, *shapes)
        if method == "logpdf":
            found = found - w.log(scale)
        elif method == "pdf":
            found = found / scale
        if not inside.all():
            under, over = _OUTSIDE[method]
            found = w.where(w.as_tensor(inside), found, w.as_tensor(np.where(valid, np.where(below, under, over), np.nan)))
        return found

    def _with_valid_shapes(self, shapes: list[Any], valid: Any) -> list[Any]:
        """Return shapes with valid ones in the place of others, whose results are not used."""
        if valid.all() or not shapes:
            return shapes
        good = self.theirs._argcheck(*[detached(s) for s in shapes])
        if np.all(good):
            return shapes
        if not np.any(good):
            raise ValueError(f"Domain error in arguments of scipy.stats.{self.theirs.name}: no shapes are valid.")
        arrays = np.broadcast_arrays(good, *[detached(s) for s in shapes])
        place = np.unravel_index(int(np.argmax(arrays[0])), arrays[0].shape)
        return [w.where(w.as_tensor(arrays[0]), s, float(a[place])) for s, a in zip(shapes, arrays[1:], strict=True)]

    def _quantile(self, method: str, q: Any, shapes: list[Any], loc: Any, scale: Any) -> Any:
        levels, arrays = detached(q), [detached(s) for s in shapes]
        valid = self.valid(shapes, scale)
        inside = valid & (levels > 0) & (levels < 1)
        safe = q if inside.all() else w.where(w.as_tensor(inside), q, 0.5)
        if not inside.all():
            shapes = self._with_valid_shapes(shapes, valid)
        found = self._standard(method)(safe, *shapes) * scale + loc
        if not inside.all():
            ends = getattr(self.theirs, method)(levels, *arrays, loc=detached(loc), scale=detached(scale))
            found = w.where(w.as_tensor(inside), found, w.as_tensor(np.asarray(ends)))
        return found

    def _standard(self, method: str) -> Callable[..., Any]:
        """Return a method in standard form: a formula, or made of others."""
        if self.has(method):
            return self.formula(method)
        return {
            "pdf": self._pdf_of_logpdf, "logpdf": self._logpdf_of_pdf, "cdf": self._mass, "sf": self._mass_above,
            "logcdf": lambda x, *shapes: log_mass(self._standard("cdf")(x, *shapes)),
            "logsf": lambda x, *shapes: log_mass(self._standard("sf")(x, *shapes)),
            "ppf": lambda q, *shapes: self._inverted("ppf", "cdf", 1, q, shapes),
            "isf": lambda q, *shapes: self._inverted("isf", "sf", -1, q, shapes),
        }[method]  # fmt: skip

    @cached_property
    def has_density(self) -> bool:
        return self.has("pdf") or self.has("logpdf")

    def _pdf_of_logpdf(self, x: Any, *shapes: Any) -> Any:
        if not self.has_density:
            raise self.no_derivative("pdf")
        return w.exp(self.formula("logpdf")(x, *shapes))

    def _logpdf_of_pdf(self, x: Any, *shapes: Any) -> Any:
        if not self.has_density:
            raise self.no_derivative("logpdf")
        return log_mass(self.formula("pdf")(x, *shapes))

    def _mass(self, x: Any, *shapes: Any) -> Any:
        if self.has("logcdf"):
            return w.exp(self.formula("logcdf")(x, *shapes))
        if self.has("sf") or self.has("logsf"):
            return 1 - self._standard("sf")(x, *shapes)
        return self._known("cdf", 1, x, shapes)

    def _mass_above(self, x: Any, *shapes: Any) -> Any:
        if self.has("logsf"):
            return w.exp(self.formula("logsf")(x, *shapes))
        if self.has("cdf") or self.has("logcdf"):
            return 1 - self._standard("cdf")(x, *shapes)
        return self._known("sf", -1, x, shapes)

    def _known(self, method: str, sign: int, x: Any, shapes: tuple[Any, ...]) -> Any:
        """SciPy's value of cdf or sf. Its slope in x is the density. See Note [Integrals over densities] for shapes."""
        if not self.has_density:
            raise self.no_derivative(method)
        value = np.asarray(getattr(self.theirs, method)(detached(x), *[detached(s) for s in shapes]))
        if any(is_differentiated([s]) for s in shapes):
            return with_values(_expectations.mass(self, x, list(shapes), above=sign < 0), value)
        return known(value, [x], [lambda y: sign * self._standard("pdf")(y, *shapes)])

    def _computed_moments(self, shapes: list[Any]) -> tuple[Any, Any]:
        if not self.has_density:
            raise self.no_derivative("stats")
        return _expectations.mean_and_variance(self, shapes)

    def _parts(self, method: str, shapes: list[Any], order: int) -> list[_expectations.Share]:
        if not self.has_density:
            raise self.no_derivative(method)
        return _expectations.shares(self, shapes, order)

    def expect(
        self, func: Any = None, args: Any = (), loc: Any = 0, scale: Any = 1, lb: Any = None, ub: Any = None,
        conditional: bool = False, **options: Any,
    ) -> Any:  # fmt: skip
        """The expectation of func(x), by scipy.integrate.quad. func: a function of a number; it may close over tensors.

        Derivative: the integral of func times the derivative of the density, and the integrand at the ends of the support and the
        bounds, if they move. Raises ArgumentError if such an end has an infinite density."""
        given = (*args, loc, scale)
        if not holds_tensor((*given, lb, ub)) and not _expectations.gives_tensors(func, self.theirs.median(*given)):
            return self.theirs.expect(func, args, loc, scale, lb, ub, conditional, **options)
        return _expectations.expect(self, func, (args, loc, scale), (lb, ub), conditional, options)

    def _computed_entropy(self, shapes: list[Any]) -> Any:
        if not self.has_density:
            raise self.no_derivative("entropy")
        return _expectations.entropy(self, shapes)

    def _inverted(self, method: str, mass: str, sign: int, q: Any, shapes: tuple[Any, ...]) -> Any:
        """Quantiles. See Note [Quantiles]."""
        x = w.as_tensor(np.asarray(getattr(self.theirs, method)(detached(q), *[detached(s) for s in shapes])))
        for _ in range(_NEWTON_STEPS):
            x = x - sign * (self._standard(mass)(x, *shapes) - q) / self._standard("pdf")(x, *shapes)
        return x


class Discrete(Distribution):
    """A discrete distribution: pmf, cdf, sf and their like differentiate in the shapes. The derivative in k and loc is 0."""

    methods = ("pmf", "logpmf", "cdf", "logcdf", "sf", "logsf")

    def pmf(self, k: Any, *args: Any, **kwds: Any) -> Any:
        return self._evaluated("pmf", k, args, kwds)

    def logpmf(self, k: Any, *args: Any, **kwds: Any) -> Any:
        return self._evaluated("logpmf", k, args, kwds)

    def cdf(self, k: Any, *args: Any, **kwds: Any) -> Any:
        return self._evaluated("cdf", k, args, kwds)

    def logcdf(self, k: Any, *args: Any, **kwds: Any) -> Any:
        return self._evaluated("logcdf", k, args, kwds)

    def sf(self, k: Any, *args: Any, **kwds: Any) -> Any:
        return self._evaluated("sf", k, args, kwds)

    def logsf(self, k: Any, *args: Any, **kwds: Any) -> Any:
        return self._evaluated("logsf", k, args, kwds)

    def ppf(self, q: Any, *args: Any, **kwds: Any) -> Any:
        return self.plain("ppf", q, *args, **kwds)

    def isf(self, q: Any, *args: Any, **kwds: Any) -> Any:
        return self.plain("isf", q, *args, **kwds)

    def nnlf(self, theta: Any, x: Any) -> Any:
        """The negative log-likelihood of theta = (*shapes, loc), summed over x."""
        if not holds_tensor((theta, x)):
            return self.theirs.nnlf(theta, x)
        theta = list(theta)
        return -w.sum(self.logpmf(x, *theta[:-1], loc=theta[-1]))

    def _computed_moments(self, shapes: list[Any]) -> tuple[Any, Any]:
        k, mass = self._probabilities("stats", shapes)
        mean = w.sum(k * mass, 0)
        return mean, w.sum((k - mean) ** 2 * mass, 0)

    def _parts(self, method: str, shapes: list[Any], order: int) -> list[_expectations.Share]:
        return [self._probabilities(method, shapes)]

    def expect(
        self, func: Any = None, args: Any = (), loc: Any = 0, lb: Any = None, ub: Any = None, conditional: bool = False,
        **options: Any,
    ) -> Any:  # fmt: skip
        """The expectation of func(k), the sum over the numbers that count. func: of an array; it may close over tensors."""
        places = self.theirs.median(*detached(args), loc=detached(loc))
        if not holds_tensor((*args, loc)) and not _expectations.gives_tensors(func, places):
            return self.theirs.expect(func, args, loc, lb, ub, conditional, **options)
        shapes, loc, _ = self.parameters(args, {"loc": loc})
        k, mass = self._probabilities("expect", shapes)
        places = detached(k + loc)
        inside = (places >= (-np.inf if lb is None else detached(lb))) & (places <= (np.inf if ub is None else detached(ub)))
        values, mass = (places if func is None else func(places))[inside], mass[w.as_tensor(inside)]
        found = w.sum(w.as_tensor(values) * mass)
        return found / w.sum(mass) if conditional else found

    def _computed_entropy(self, shapes: list[Any]) -> Any:
        _, mass = self._probabilities("entropy", shapes)
        return w.sum(S.entr(mass), 0)

    def _probabilities(self, method: str, shapes: list[Any]) -> tuple[Any, Any]:
        """Return (numbers, their probabilities) along a first axis, of all numbers that count."""
        low, high = self.theirs._get_support(*[detached(s) for s in shapes])
        ends = [np.asarray(self.theirs.ppf(level, *self.arguments(shapes)), np.float64) for level in (1e-17, 1 - 1e-16)]
        first, last = float(np.min(ends[0])) - 1, float(np.max(ends[1])) + 1
        if not last - first < _MOST_TERMS:
            raise self.no_derivative(method)
        first, last = max(first, float(np.min(low))), min(last, float(np.max(high)))
        ndim = max([s.ndim for s in shapes], default=0)
        k = w.as_tensor(np.arange(first, last + 1)).reshape((-1,) + (1,) * ndim)
        inside = w.as_tensor((detached(k) >= low) & (detached(k) <= high))
        mass = self._standard("pmf")(w.where(inside, k, w.as_tensor(np.asarray(np.maximum(low, first), np.float64))), *shapes)
        return k, w.where(inside, mass, 0.0)

    def _evaluated(self, method: str, k: Any, args: Any, kwds: Any) -> Any:
        if not is_differentiated((*args, *kwds.values())):
            return self.plain(method, k, *args, **kwds)
        shapes, loc, scale = self.parameters(args, kwds)
        arrays, y = [detached(s) for s in shapes], np.asarray(detached(k), np.float64) - detached(loc)
        valid = self.valid(shapes, scale) & ~np.isnan(y)
        low, high = self.theirs._get_support(*arrays)
        is_mass = method in ("pmf", "logpmf")
        if is_mass:
            below = above = (y < low) | (y > high) | (y != np.floor(y))
        else:
            below, above = y < low, y >= high
        inside = valid & ~below & ~above
        # Any number of the support will do for the others.
        place = np.where(inside, np.floor(y), np.where(np.isfinite(low), low, 0.0))
        found = self._standard(method)(w.as_tensor(place), *shapes)
        if inside.all():
            return found
        under, over = _OUTSIDE[method.replace("pmf", "pdf")]
        return w.where(w.as_tensor(inside), found, w.as_tensor(np.where(valid, np.where(below, under, over), np.nan)))

    def _standard(self, method: str) -> Callable[..., Any]:
        if self.has(method):
            return self.formula(method)
        return {
            "pmf": lambda k, *shapes: w.exp(self._log_mass_at(k, *shapes)),
            "logpmf": self._log_mass_at,
            "cdf": self._summed,
            "sf": lambda k, *shapes: 1 - self._standard("cdf")(k, *shapes),
            "logcdf": lambda k, *shapes: log_mass(self._standard("cdf")(k, *shapes)),
            "logsf": lambda k, *shapes: log_mass(self._standard("sf")(k, *shapes)),
        }[method]

    def _log_mass_at(self, k: Any, *shapes: Any) -> Any:
        if self.has("logpmf"):
            return self.formula("logpmf")(k, *shapes)
        if not self.has("pmf"):
            raise self.no_derivative("logpmf")
        return log_mass(self.formula("pmf")(k, *shapes))

    def _summed(self, k: Any, *shapes: Any) -> Any:
        """The sum of the probabilities up to k, from the beginning of the support or where they vanish."""
        if self.has("sf"):
            return 1 - self.formula("sf")(k, *shapes)
        arrays = [detached(s) for s in shapes]
        low = self.theirs._get_support(*arrays)[0]
        start = float(np.min(np.where(np.isfinite(low), low, self.theirs.ppf(1e-18, *arrays) - 1)))
        count = int(float(np.max(detached(k))) - start) + 1
        terms = w.as_tensor(start + np.arange(count)).reshape((count,) + (1,) * max(k.ndim, *[s.ndim for s in shapes], 0))
        counted = (terms <= k) & w.as_tensor(terms.numpy() >= low)
        return w.sum(w.where(counted, self._standard("pmf")(w.where(counted, terms, k), *shapes), 0.0), 0)


class PoissonBinomial(Discrete):
    """The number of successes of trials with different probabilities. SciPy's methods take the probabilities as the array p."""

    def arguments(self, shapes: list[Any]) -> list[Any]:
        return [np.stack([detached(s) for s in shapes], -1)]

    def expect(self, func: Any = None, args: Any = (), loc: Any = 0, *bounds: Any, **options: Any) -> Any:
        """The expectation of func(k). args: (p,), or the probabilities one by one."""
        if len(args) != 1:
            args = (w.stack(wide(*args), -1) if holds_tensor(args) else np.stack(args, -1),)
        return super().expect(func, args, loc, *bounds, **options)


class Frozen:
    """A distribution with its shapes, loc and scale: what scipy.stats.norm(loc, scale) returns, for tensors too."""

    def __init__(self, dist: Any, args: tuple[Any, ...], kwds: dict[str, Any]) -> None:
        self.dist, self.args, self.kwds = dist, args, kwds
        if isinstance(dist, Distribution):
            dist.theirs._parse_args(*args, **kwds)  # raises TypeError for arguments that the distribution does not have

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self.dist, name)
        if not callable(found):
            return found

        def call(*given: Any, **settings: Any) -> Any:
            return found(*given, *self.args, **settings, **self.kwds)

        return call

    def moment(self, order: Any = None) -> Any:
        return self.dist.moment(order, *self.args, **self.kwds)

    def expect(self, func: Any = None, lb: Any = None, ub: Any = None, conditional: bool = False, **options: Any) -> Any:
        shapes, loc, scale = self.dist.theirs._parse_args(*self.args, **self.kwds)
        place = {"loc": loc, "scale": scale} if isinstance(self.dist, Continuous) else {"loc": loc}
        return self.dist.expect(func, shapes, lb=lb, ub=ub, conditional=conditional, **place, **options)

    def rvs(self, size: Any = None, random_state: Any = None) -> Any:
        return self.dist.rvs(*self.args, **self.kwds, size=size, random_state=random_state)

    def stats(self, moments: str = "mv") -> Any:
        return self.dist.stats(*self.args, **self.kwds, moments=moments)
