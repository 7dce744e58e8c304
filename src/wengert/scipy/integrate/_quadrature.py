"""Integrals of functions: SciPy's adaptive rules compute the values, and the derivatives as integrals of the derivatives.

The integrand may use tensors, as arguments or closed over. See Note [Tensors of a closure] in _closures.py. Each derivative is an
integral by the same rule with its own error control; the fundamental theorem gives the derivatives in the limits.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.array_functions.table import detached, tensor, w
from wengert.array_protocol import _signature as signature_of
from wengert.autograd.forward_ad import detach_tangent
from wengert.autograd.grad_mode import enable_grad
from wengert.autograd.graph import get_gradient_edge
from wengert.core.dual import tangent_of
from wengert.core.tensor import TensorBase
from wengert.scipy._closures import Parameters, cut_off, stand_in, variable, vjp, with_rules

scipy: Any = import_late("scipy.integrate")

Rule = Callable[[Callable[[Any], Any], Any, Any], tuple[Any, tuple[Any, ...]]]  # (function, a, b) -> (value, further results)


def _integral(rule: Rule, function: Callable[[Any], Any], a: Any, b: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the integral of a function from a to b, as a tensor if it depends on tensors, and what else the rule returns."""
    parameters = Parameters()

    def values(x: Any) -> Any:
        found = function(x)
        parameters.collect(found)
        return detached(tensor(found)) if isinstance(found, (TensorBase, list, tuple)) else found

    value, rest = rule(values, detached(a), detached(b))
    for limit in (a, b):
        parameters.collect(limit)
    if not parameters:
        return value, rest
    limits: list[Any] = [(limit, sign) for limit, sign in ((a, -1), (b, 1)) if isinstance(limit, TensorBase)]

    def pullback(_: Any, ct: Any, edges: list[Any]) -> list[Any]:
        places = [stand_in(edge) for edge in edges]

        def slopes(x: Any) -> Any:
            with cut_off(edges):
                with enable_grad():
                    found = function(x)
                parts = vjp(found, edges, ct)
            return w.cat([_flat(g, place) for g, place in zip(parts, places, strict=True)])

        found = tensor(_integral(rule, slopes, a, b)[0])
        sizes = [place.numel() for place in places]
        cts = [part.reshape(place.shape) for part, place in zip(w.split(found, sizes), places, strict=True)]
        for limit, sign in limits:
            if limit.requires_grad:
                edge = get_gradient_edge(limit)
                k = next(i for i, e in enumerate(edges) if e[:2] == (edge.node, edge.output_nr))
                cts[k] = cts[k] + sign * w.sum(ct * _at(function, limit)).reshape(limit.shape)
        return [part.to(place.dtype) for part, place in zip(cts, places, strict=True)]

    def pushforward(_: Any) -> Any:
        def tangent(x: Any) -> Any:
            found = tensor(function(x))
            slope = tangent_of(found)
            return w.zeros_like(detach_tangent(found)[0]) if slope is None else slope

        ends = [detach_tangent(limit)[0] if isinstance(limit, TensorBase) else limit for limit in (a, b)]
        found = tensor(_integral(rule, tangent, *ends)[0])
        for limit, sign in limits:
            slope = tangent_of(limit)
            if slope is not None:
                found = found + sign * slope * detach_tangent(_at(function, detach_tangent(limit)[0]))[0]
        return found.reshape(np.shape(value))

    return with_rules(value, parameters, pullback, pushforward), rest


def _at(function: Callable[[Any], Any], limit: Any) -> Any:
    """Return the function's value at a limit. The function may be a derivative, for which its argument is no parameter."""
    with variable(limit) if limit.requires_grad else nullcontext(limit) as x:
        return tensor(function(x))


def _flat(ct: Any, place: Any) -> Any:
    return w.zeros(place.numel(), dtype=place.dtype) if ct is None else ct.reshape(-1)


def quad(func: Any, a: Any, b: Any, args: Any = (), *settings: Any, **options: Any) -> Any:
    """Integral of a function of one number, and an estimate of its error, as scipy.integrate.quad.

    func(x, *args): a number or a tensor of one element. a, b: numbers or tensors. The value is a tensor if it depends on tensors.

    Derivatives: the integral of the derivative of func, by the same rule; func(b) in b and -func(a) in a.
    """
    args = args if isinstance(args, tuple) else (args,)
    options = signature_of(scipy.quad).bind(func, a, b, (), *detached(settings), **options).arguments
    options = {name: x for name, x in options.items() if name not in ("func", "a", "b", "args")}
    if options.get("weight") is not None and any(isinstance(x, TensorBase) and x.requires_grad for x in (a, b)):
        raise NotImplementedError("scipy.integrate.quad with weight= has no derivative in its limits. Hint: detach them.")

    def rule(function: Callable[[Any], Any], a: Any, b: Any) -> tuple[Any, tuple[Any, ...]]:
        known: dict[float, Any] = {}  # derivatives are vectors: one integral an element, with common evaluations

        def element(x: float, i: int) -> Any:
            if x not in known:
                known[x] = function(x)
            found = known[x]
            return found if np.ndim(found) == 0 else found.reshape(-1)[i].item()

        ends = np.asarray(a).item(), np.asarray(b).item()
        first = scipy.quad(element, *ends, args=(0,), **options)
        sample = next(iter(known.values()), 0.0)
        if np.size(sample) <= 1:
            return np.full(np.shape(sample), first[0]) if isinstance(sample, np.ndarray) else first[0], first[1:]
        others = [scipy.quad(element, *ends, args=(i,), **(options | {"full_output": 0}))[0] for i in range(1, np.size(sample))]
        return np.array([first[0], *others]), first[1:]

    found, rest = _integral(rule, lambda x: func(x, *args), a, b)
    return found, *rest


def quad_vec(f: Any, a: Any, b: Any, *settings: Any, args: Any = (), **options: Any) -> Any:
    """Integral of a function of one number whose results are arrays or tensors, as scipy.integrate.quad_vec.

    Derivatives: as quad. The error of a derivative is controlled in the same norm.
    """
    args = args if isinstance(args, tuple) else (args,)

    def rule(function: Callable[[Any], Any], a: Any, b: Any) -> tuple[Any, tuple[Any, ...]]:
        found = scipy.quad_vec(function, np.asarray(a).item(), np.asarray(b).item(), *detached(settings), **options)
        return found[0], found[1:]

    found, rest = _integral(rule, lambda x: f(x, *args), a, b)
    return found, *rest


def fixed_quad(func: Any, a: Any, b: Any, args: Any = (), n: int = 5) -> tuple[Any, None]:
    """Integral by Gauss-Legendre quadrature of order n. func(x, *args): a function of a vector, whose last axis it keeps.

    Derivatives: those of the sum."""
    places, weights = import_late("scipy.special").roots_legendre(n)
    ends = detached((a, b))
    if np.isinf(ends[0]) or np.isinf(ends[1]):
        raise ValueError("Gaussian quadrature is only available for finite limits.")
    x = (b - a) * (w.as_tensor(places) if isinstance(a, TensorBase) or isinstance(b, TensorBase) else places + 0.0)
    x = 0.5 * x + 0.5 * (a + b)
    found = func(x, *args)
    if isinstance(found, TensorBase) or isinstance(b - a, TensorBase):
        return 0.5 * (b - a) * w.sum(tensor(found) * w.as_tensor(weights), -1), None
    return 0.5 * (b - a) * np.sum(weights * found, axis=-1), None


def nquad(func: Any, ranges: Any, args: Any = None, opts: Any = None, full_output: bool = False) -> Any:
    """Integral over several variables, as scipy.integrate.nquad: func(x0, ..., xn, *args), x0 the innermost.

    ranges: a pair of limits for each variable, or a function of the variables further out that returns one. opts: a dict of quad's
    options, or one (or a function that returns one) for each variable.
    """
    given = () if args is None else args if isinstance(args, tuple) else (args,)
    depth = len(ranges)
    settings: list[Any] = list(opts) if isinstance(opts, (list, tuple)) else [opts or {}] * depth
    error, calls = 0.0, 0

    def inner(*outer: Any, level: int) -> Any:
        """Integrate over the variable of this level. outer: the variables further out, the nearest first."""
        nonlocal error, calls
        low, high = ranges[level](*outer, *given) if callable(ranges[level]) else ranges[level]
        option = settings[level](*outer, *given) if callable(settings[level]) else settings[level]

        def integrand(x: Any) -> Any:
            nonlocal calls
            if level == 0:
                calls += 1
                return func(x, *outer, *given)
            return inner(x, *outer, level=level - 1)

        found, size, *_ = quad(integrand, low, high, **(option or {}))
        error = max(error, size)
        return found

    found = inner(level=depth - 1)
    return (found, error, {"neval": calls}) if full_output else (found, error)


def dblquad(
    func: Any, a: Any, b: Any, gfun: Any, hfun: Any, args: Any = (), epsabs: float = 1.49e-8, epsrel: float = 1.49e-8
) -> Any:  # fmt: skip
    """Integral of func(y, x, *args) over x from a to b and y from gfun(x) to hfun(x), as scipy.integrate.dblquad."""
    options = {"epsabs": epsabs, "epsrel": epsrel}

    def limits(*x: Any) -> list[Any]:
        return [f(x[0]) if callable(f) else f for f in (gfun, hfun)]

    return nquad(func, [limits, (a, b)], args, options)


def tplquad(
    func: Any, a: Any, b: Any, gfun: Any, hfun: Any, qfun: Any, rfun: Any, args: Any = (), epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
) -> Any:  # fmt: skip
    """Integral of func(z, y, x, *args) over a box whose limits may be functions, as scipy.integrate.tplquad."""

    def innermost(y: Any, x: Any, *_: Any) -> list[Any]:
        return [f(x, y) if callable(f) else f for f in (qfun, rfun)]

    def middle(x: Any, *_: Any) -> list[Any]:
        return [f(x) if callable(f) else f for f in (gfun, hfun)]

    return nquad(func, [innermost, middle, (a, b)], args, {"epsabs": epsabs, "epsrel": epsrel})


FUNCTIONS: tuple[Any, ...] = (quad, quad_vec, fixed_quad, nquad, dblquad, tplquad)
