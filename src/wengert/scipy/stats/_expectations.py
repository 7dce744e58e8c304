"""Integrals over the densities of continuous distributions, in standard form, which differentiate in the shapes.

Note [Integrals over densities]
Moments, entropies and masses that have no formula are integrals of the density, which has one. Rules of double exponential type
compute them on both sides of the median, where many densities have a kink. The ends of the support may depend on the shapes, so
the places do too. The values are SciPy's: the integrals give the derivatives. Places with a negligible share are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from wengert import errors
from wengert.array_functions.table import detached, holds_tensor, w
from wengert.array_protocol import _is_differentiated as is_differentiated
from wengert.autograd.grad_mode import no_grad
from wengert.scipy._closures import with_values
from wengert.scipy._rules import half_line_rule, unit_rule
from wengert.scipy.integrate import quad

_NEGLIGIBLE = 1e-22

# Families whose support has no formula on tensors: their integrals run over the quantiles.
BY_QUANTILES = frozenset({"genpareto", "kappa4", "tukeylambda"})
# Places inside the support where the density has a kink, other than the median.
_KINKS: dict[str, Callable[..., tuple[Any, ...]]] = {
    "crystalball": lambda beta, m: (-beta,), "trapezoid": lambda c, d: (c, d), "triang": lambda c: (c,),
    "loglaplace": lambda c: (w.ones_like(c),), "skewcauchy": lambda a: (w.zeros_like(a),),
    "laplace_asymmetric": lambda kappa: (w.zeros_like(kappa),),
}  # fmt: skip

Share = tuple[Any, Any]  # (places, their probabilities), along a first axis


def _piece(density: Callable[[Any], Any], low: Any, high: Any, scale: Any, order: int, inner: Any) -> Share:
    """Return the places in (low, high) and their probabilities. One of the ends may be infinite, in all elements.

    scale: a length, from the places near the finite end to those far from it. order: powers of the places up to this one are
    integrated. inner: a point of the support, in place of the others.
    """
    ends = np.asarray(detached(low)), np.asarray(detached(high))
    infinite = [np.isinf(end) for end in ends]
    if any(flags.any() != flags.all() for flags in infinite):
        raise NotImplementedError("Some shapes have a finite support and others an infinite one. Hint: call them one by one.")
    count = max(ends[0].ndim, ends[1].ndim, np.ndim(scale))
    places, weights = [
        x.reshape((-1,) + (1,) * count) for x in (half_line_rule() if infinite[0].any() or infinite[1].any() else unit_rule())
    ]

    def at(kept: Any) -> tuple[Any, Any]:
        u = w.as_tensor(places[kept])
        if infinite[1].any():
            return low + scale * u, scale * weights[kept]
        if infinite[0].any():
            return high - scale * u, scale * weights[kept]
        # The nearer end comes first, so that small distances from it keep their digits.
        near = w.as_tensor(places[kept] < 0.5)
        rest = w.as_tensor(places[::-1][kept])
        return w.where(near, low + (high - low) * u, high - (high - low) * rest), (high - low) * w.as_tensor(weights[kept])

    with no_grad(), np.errstate(all="ignore"):
        x, lengths = at(slice(None))
        shares = detached(density(x)) * detached(lengths)
        size = np.abs(detached(x) / scale)
        counted = shares * (1 + size**order)
        counted = np.where(np.isfinite(counted) & (shares > 0), counted, 0.0)
        kept = (counted > _NEGLIGIBLE * np.max(counted, initial=0.0)).reshape(len(places), -1).any(1)
    x, lengths = at(kept)
    good = w.as_tensor(counted[kept] > 0)
    return x, w.where(good, density(w.where(good, x, inner)) * lengths, 0.0)


def _outline(dist: Any, shapes: list[Any]) -> tuple[Callable[[Any], Any], tuple[Any, Any], Any, Any]:
    """Return the density, the ends of the support, the distance between the quartiles, and the median."""
    arrays = [detached(s) for s in shapes]
    quarter, middle, other = [np.asarray(dist.theirs.ppf(q, *arrays)) for q in (0.25, 0.5, 0.75)]
    density = lambda x: dist._standard("pdf")(x, *shapes)  # noqa: E731
    return density, dist.theirs._get_support(*shapes), other - quarter, w.as_tensor(middle)


def shares(dist: Any, shapes: list[Any], order: int) -> list[Share]:
    """Return the places on the support and their probabilities, in pieces. See Note [Integrals over densities]."""
    name = dist.theirs.name
    if name in BY_QUANTILES:
        levels, weights = [x.reshape((-1,) + (1,) * max([s.ndim for s in shapes])) for x in unit_rule()]
        inside = ((levels > 1e-14) & (levels < 1 - 1e-14)).reshape(-1)
        q, chance = w.as_tensor(levels[inside]), w.as_tensor(weights[inside])
        return [(dist._standard("ppf")(q, *shapes), chance)]
    density, (low, high), scale, inner = _outline(dist, shapes)
    kinks = _KINKS.get(name, lambda *_: (inner,))(*shapes)
    ends = [low, *kinks, high]
    return [_piece(density, a, b, scale, order, inner) for a, b in pairwise(ends)]


def expected(parts: list[Share], function: Callable[[Any], Any]) -> Any:
    """Return the expectation of a function of the places."""
    return sum(w.sum(function(x) * chance, 0) for x, chance in parts)


def with_finite_values(found: Any, values: Any) -> Any:
    """Return SciPy's values with the derivatives of a tensor. Where the value is infinite or NaN, it is a constant."""
    values = np.asarray(values, np.float64)
    finite = np.isfinite(values)
    if finite.all():
        return with_values(found, values)
    return w.where(w.as_tensor(finite), with_values(found, np.where(finite, values, 0.0)), w.as_tensor(values))


def mean_and_variance(dist: Any, shapes: list[Any]) -> tuple[Any, Any]:
    """Return the mean and the variance, with SciPy's values. Infinite ones are constants."""
    values = np.asarray(dist.theirs.stats(*[detached(s) for s in shapes], moments="mv"), np.float64)
    nothing = 0.0 * sum(shapes)
    if not np.isfinite(values[0]).any():
        return w.as_tensor(values[0]) + nothing, w.as_tensor(values[1]) + nothing
    mean = expected(shares(dist, shapes, 1), lambda x: x)
    if not np.isfinite(values[1]).any():
        return with_finite_values(mean, values[0]), w.as_tensor(values[1]) + nothing
    parts = shares(dist, shapes, 2)
    center = expected(parts, lambda x: x)
    variance = expected(parts, lambda x: (x - center) ** 2)
    return with_finite_values(mean, values[0]), with_finite_values(variance, values[1])


def standardized_moment(parts: list[Share], order: int) -> Any:
    """Return the expectation of ((x - mean) / deviation)**order."""
    mean = expected(parts, lambda x: x)
    variance = expected(parts, lambda x: (x - mean) ** 2)
    return expected(parts, lambda x: (x - mean) ** order) / variance ** (0.5 * order)


def gives_tensors(func: Any, place: Any) -> bool:
    """Whether a function of the user's, or None, returns a tensor at a place."""
    return func is not None and holds_tensor([func(place)])


def expect(dist: Any, func: Any, given: tuple[Any, Any, Any], bounds: tuple[Any, Any], conditional: bool, options: Any) -> Any:
    """Return the expectation of func(x) between two bounds, None for the ends of the support. given: (shapes, loc, scale)."""
    args, loc, scale = given
    place, numbers = {"loc": loc, "scale": scale}, [detached(x) for x in (*args, loc, scale)]
    low, high = [end if bound is None else bound for end, bound in zip(dist.support(*args, **place), bounds, strict=True)]
    ends = [detached(end) if np.isinf(detached(end)) else end for end in (low, high)]
    for end in ends:
        if is_differentiated([end]) and not np.isfinite(dist.theirs.pdf(detached(end), *numbers)):
            raise errors.ArgumentError("The density is infinite at an end that is differentiated. Hint: detach loc and scale.")

    def weighted(x: Any) -> Any:
        return (x if func is None else func(x)) * dist.pdf(x, *args, **place)

    mass = dist.cdf(ends[1], *args, **place) - dist.cdf(ends[0], *args, **place)
    below = dist.theirs.cdf(detached(ends[0]), *numbers)
    inner = [dist.theirs.ppf(below + level * detached(mass), *numbers) for level in (0.05, 0.95)]
    found = sum(quad(weighted, a, b, **options)[0] for a, b in pairwise([ends[0], *inner, ends[1]]))
    return w.as_tensor(found / mass if conditional else found)


def entropy(dist: Any, shapes: list[Any]) -> Any:
    """Return the entropy, with SciPy's values."""
    values = dist.theirs.entropy(*[detached(s) for s in shapes])
    found = -expected(shares(dist, shapes, 0), lambda x: dist._standard("logpdf")(x, *shapes))
    return with_finite_values(found, values)


def mass(dist: Any, x: Any, shapes: list[Any], above: bool) -> Any:
    """Return the probability below x, or above it, by the integral over the side without the median."""
    density, (low, high), scale, inner = _outline(dist, shapes)
    is_low = w.as_tensor(detached(x) < detached(inner))
    sides = []
    for ends, is_used in (((low, w.where(is_low, x, inner)), is_low), ((w.where(is_low, inner, x), high), ~is_low)):
        if detached(is_used).any():
            sides.append(w.where(is_used, w.sum(_piece(density, *ends, scale, 0, inner)[1], 0), 0.0))
    found = sum(sides)
    return w.where(is_low == (not above), found, 1 - found)
