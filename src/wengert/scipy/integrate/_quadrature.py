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
from wengert.array_functions.table import detached, holds_tensor, tensor, w
from wengert.array_protocol import _signature as signature_of
from wengert.autograd.forward_ad import detach_tangent
from wengert.autograd.grad_mode import enable_grad
from wengert.autograd.graph import get_gradient_edge
from wengert.core.dual import tangent_of
from wengert.core.tensor import TensorBase
from wengert.scipy._closures import Parameters, cut_off, stand_in, variable, vjp, with_rules, with_values

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
        ends = np.asarray(a).item(), np.asarray(b).item()

        def run(element: Callable[[float], Any], is_first: bool) -> tuple[Any, ...]:
            return scipy.quad(element, *ends, **(options if is_first else options | {"full_output": 0}))

        return _element_by_element(function, run)

    found, rest = _integral(rule, lambda x: func(x, *args), a, b)
    return found, *rest


def _element_by_element(function: Callable[[Any], Any], run: Callable[..., Any]) -> tuple[Any, tuple[Any, ...]]:
    """Return the integral of a function, which may be a vector, and what else the rule returns for its first element.

    run(function of a number, whether it is the first element): (integral, ...), by an adaptive rule for one value."""
    known: dict[float, Any] = {}  # derivatives are vectors: one integral an element, with common evaluations

    def element(x: float, i: int) -> Any:
        if x not in known:
            known[x] = function(x)
        found = known[x]
        return found if np.ndim(found) == 0 else found.reshape(-1)[i].item()

    value, *rest = run(lambda x: element(x, 0), True)
    sample = next(iter(known.values()), 0.0)
    if np.size(sample) <= 1:
        return np.full(np.shape(sample), value) if isinstance(sample, np.ndarray) else value, tuple(rest)
    others = [run(lambda x, i=i: element(x, i), False)[0] for i in range(1, np.size(sample))]
    return np.array([value, *others]), tuple(rest)


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


# -- functions of arrays of places ---------------------------------------------------------------------------------------------


def _place_between(a: Any, b: Any) -> Any:
    """Return a place between two limits."""
    if np.isinf(a):
        return np.asarray(0.0 if np.isinf(b) else b - 1.0)
    return np.asarray(a + 1.0 if np.isinf(b) else 0.5 * (a + b))


def tanhsinh(f: Any, a: Any, b: Any, *, args: Any = (), **options: Any) -> Any:
    """Integral by the rule of Takahasi and Mori, as scipy.integrate.tanhsinh. The result's integral is a tensor.

    f(x, *args): a function of an array. With tensors, a, b and args are numbers or tensors without dimensions.

    Derivatives: as quad, with the error relative to the integral itself."""
    args = args if isinstance(args, tuple) else (args,)
    ends = [np.asarray(x, float) for x in detached((a, b))]
    if any(np.ndim(x) for x in (*ends, *detached(args))):
        if holds_tensor((a, b, *args)):
            raise NotImplementedError("With tensors, scipy.integrate.tanhsinh has numbers as limits and args. Hint: use quad_vec.")
        return scipy.tanhsinh(f, a, b, args=args, **options)
    if not isinstance(f(_place_between(*ends), *args), TensorBase) and not holds_tensor((a, b)):
        return scipy.tanhsinh(f, *ends, args=detached(args), **options)
    if options.get("log") or options.get("callback") is not None:
        raise NotImplementedError("With tensors, scipy.integrate.tanhsinh has neither log=True nor a callback.")

    scale: list[float] = []  # of the integral: a derivative may be 0, which has no relative error

    def rule(function: Callable[[Any], Any], a: Any, b: Any) -> tuple[Any, tuple[Any, ...]]:
        more = {"atol": 1e-12 * scale[0]} if scale and not options.get("atol") else {}

        def single(element: Callable[[float], Any], _: bool) -> tuple[Any, Any]:
            def values(x: Any) -> Any:
                found = [element(float(place)) for place in np.asarray(x).reshape(-1)]
                return np.asarray(found, float).reshape(np.shape(x))

            found = scipy.tanhsinh(values, float(a), float(b), **(options | more))
            scale.append(abs(float(found.integral)) + 1e-300)
            return found.integral, found

        return _element_by_element(function, single)

    value, (found,) = _integral(rule, lambda x: f(np.asarray(x) if isinstance(x, float) else x, *args), a, b)
    found.integral = value
    return found


def _box_integral(rule: Rule, f: Callable[[Any], Any], a: Any, b: Any) -> tuple[Any, Any]:
    """Return the integral of f over a box, and what else the rule returns. Limits that are tensors are those of a unit box."""
    low, high = [np.asarray(x, float) for x in detached((a, b))]
    if not holds_tensor((a, b)):
        return _integral(rule, f, low, high)
    if np.isinf([low, high]).any():
        raise NotImplementedError("Limits that are tensors must be finite. Hint: give infinite limits as numbers.")
    a, b = [w.atleast_1d(tensor(x)).double() for x in (a, b)]
    return _integral(rule, lambda u: f(a + (b - a) * w.as_tensor(u)) * w.prod(b - a), np.zeros(len(a)), np.ones(len(a)))


def cubature(f: Any, a: Any, b: Any, *, args: Any = (), **options: Any) -> Any:
    """Integral over a box, as scipy.integrate.cubature. f(x, *args): x (points, ndim), with a value of any shape for each point.

    Derivatives: the integral of the derivative of f, by the same rule with its own error control; also in finite limits."""
    args = args if isinstance(args, tuple) else (args,)
    low, high = [np.atleast_1d(np.asarray(x, float)) for x in detached((a, b))]
    sample = f(np.array([[_place_between(*ends) for ends in zip(low, high, strict=True)]], float), *args)
    if not isinstance(sample, TensorBase) and not holds_tensor((a, b)):
        return scipy.cubature(f, low, high, args=args, **options)
    if options.get("points") is not None and holds_tensor((a, b)):
        raise NotImplementedError("With points=, scipy.integrate.cubature has no derivative in its limits. Hint: detach them.")

    def rule(function: Callable[[Any], Any], a: Any, b: Any) -> tuple[Any, tuple[Any, ...]]:
        found = scipy.cubature(lambda x: np.stack([np.asarray(function(place)) for place in x]), a, b, **options)
        return found.estimate, (found,)

    value, (found,) = _box_integral(rule, lambda x: f(x[None], *args)[0], a, b)
    found.estimate = value
    return found


def qmc_quad(func: Any, a: Any, b: Any, *, n_estimates: int = 8, n_points: int = 1024, qrng: Any = None, log: bool = False) -> Any:
    """Integral over a box by quasi-Monte Carlo quadrature, as scipy.integrate.qmc_quad. func(x): x (ndim, points).

    Derivatives: those of the mean over the points that were drawn; also in the limits."""
    low, high = [np.atleast_1d(np.asarray(x, float)) for x in detached((a, b))]
    drawn: list[Any] = []

    def values(x: Any) -> Any:
        drawn.append(x)
        return detached(func(x))

    found = scipy.qmc_quad(values, low, high, n_estimates=n_estimates, n_points=n_points, qrng=qrng, log=log)
    places = [x for x in drawn if np.shape(x) == (len(low), n_points)][-n_estimates:]
    sample = func(places[0])
    if not isinstance(sample, TensorBase) and not holds_tensor((a, b)):
        return found
    if log:
        raise NotImplementedError("With tensors, scipy.integrate.qmc_quad has no log=True.")
    a, b = [w.atleast_1d(tensor(x)).double()[:, None] for x in (a, b)]
    shares = [w.as_tensor((x - low[:, None]) / (high - low)[:, None]) for x in places]
    moved = [a + (b - a) * share for share in shares] if holds_tensor((a, b)) else places
    means = w.stack([w.mean(tensor(func(x))) for x in moved])
    return type(found)(with_values(w.mean(means) * w.prod(b - a), np.asarray(found.integral)), found.standard_error)


FUNCTIONS: tuple[Any, ...] = (quad, quad_vec, fixed_quad, nquad, dblquad, tplquad, cubature, qmc_quad, tanhsinh)
