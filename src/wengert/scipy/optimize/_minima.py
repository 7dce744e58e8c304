"""Minima and fits. Their derivatives are those of the equation that the gradient is zero."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.array_functions.table import detached, linalg, tensor, w
from wengert.array_protocol import _signature as signature_of
from wengert.autograd.grad_mode import enable_grad
from wengert.scipy._closures import jacobian
from wengert.scipy.optimize._constrained import Limit, at_minimum, of_bounds, of_constraints
from wengert.scipy.optimize._roots import _tuple, _without_parameters
from wengert.scipy.optimize._traced import Traced, arrays, plain

scipy: Any = import_late("scipy.optimize")

_WITHOUT_SLOPES = ("nelder-mead", "powell", "cobyla", "cobyqa")
_WITH_HESSIANS = ("dogleg", "trust-exact")
_WITH_PRODUCTS = ("newton-cg", "trust-ncg", "trust-krylov", "trust-constr")


def minimize(
    fun: Any, x0: Any, args: Any = (), method: Any = None, jac: Any = None, hess: Any = None, hessp: Any = None, bounds: Any = None,
    constraints: Any = (), tol: Any = None, callback: Any = None, options: Any = None,
) -> Any:  # fmt: skip
    """Minimize fun(x, *args) as scipy.optimize.minimize, with the derivatives that the method takes by autograd.

    jac, hess, hessp: functions as SciPy's, if they are to be used instead. jac=True: fun returns (value, gradient). The result's
    x and fun are tensors if fun, the bounds or the constraints depend on tensors that are differentiated. Derivatives: see Note
    [Active constraints] in _constrained.py.
    """
    start, args = np.atleast_1d(np.asarray(detached(x0), float)), _tuple(args)
    theirs, limits = of_constraints(constraints, start)
    limits += of_bounds(bounds)
    more = {"bounds": _arrays_of_bounds(bounds), "constraints": theirs, "tol": tol, "callback": callback, "options": options}
    if jac is True:
        return _without_parameters(fun, start, args, lambda: scipy.minimize(
            plain(fun), start, arrays(args), method, True, plain(hess), plain(hessp), **more))  # fmt: skip
    traced = Traced(fun, start, args)
    slope, second, product = [_with_point(f, args) if callable(f) else f for f in (jac, hess, hessp)]
    name = method.lower() if isinstance(method, str) else "" if method is None else None
    if name is not None and name not in _WITHOUT_SLOPES and traced.is_traced and np.ndim(traced.value(start)) == 0:
        slope = traced.slope if jac is None else slope
        if hess is None and hessp is None and jac is None:
            second = traced.hessian if name in _WITH_HESSIANS else None
            product = traced.hessian_product if name in _WITH_PRODUCTS else None
    found = scipy.minimize(traced.value, start, (), method, slope, second, product, **more)
    return _minimum(traced, found, limits)


def _minimum(traced: Traced, found: Any, limits: list[Limit]) -> Any:
    """Return SciPy's result, with tensors in place of x and fun if they depend on tensors that are differentiated."""
    if traced.parameters or any(limit.parameters for limit in limits):
        traced.check_traced()
        found.x = at_minimum(traced.call, found.x, limits)
        found.fun = traced.call(found.x)
    return found


def _with_point(function: Any, args: tuple[Any, ...]) -> Any:
    """Return jac, hess or hessp as SciPy calls them, with arrays in place of tensors."""
    return lambda x, *p: plain(function)(x, *p, *arrays(args))


def _arrays_of_bounds(bounds: Any) -> Any:
    """Return bounds, or pairs of numbers and tensors, without tensors."""
    if bounds is None or isinstance(bounds, scipy.Bounds):
        return bounds if bounds is None else scipy.Bounds(*arrays((bounds.lb, bounds.ub)), bounds.keep_feasible)
    return [tuple([None if x is None else np.asarray(detached(x)).item() for x in pair]) for pair in bounds]


def minimize_scalar(fun: Any, bracket: Any = None, bounds: Any = None, args: Any = (), *settings: Any, **options: Any) -> Any:
    """Minimize a function of a number as scipy.optimize.minimize_scalar. The result's x and fun may be tensors, as minimize's."""
    args = _tuple(args)
    middle = float(np.mean(detached(tuple(bounds)))) if bounds is not None else float(bracket[0]) if bracket is not None else 0.5
    traced = Traced(fun, middle, args)
    pairs = None if bounds is None else [tuple(bounds)]
    found = scipy.minimize_scalar(traced.value, bracket, pairs and _arrays_of_bounds(pairs)[0], (), *settings, **options)
    return _minimum(traced, found, of_bounds(pairs))


def least_squares(
    fun: Any, x0: Any, jac: Any = "2-point", *settings: Any, args: Any = (), kwargs: Any = None, **options: Any
) -> Any:  # fmt: skip
    """Minimize the sum of squares of fun(x, *args) as scipy.optimize.least_squares, with the Jacobian by autograd.

    The result's x, fun and cost are tensors if fun or the bounds depend on tensors that are differentiated. loss: a name.
    Derivatives: see Note [Active constraints] in _constrained.py.
    """
    start = np.atleast_1d(np.asarray(detached(x0), float))
    traced = Traced(fun, start, _tuple(args), kwargs)
    slope = plain(jac)
    if callable(jac):
        slope = lambda x: plain(jac)(x, *arrays(_tuple(args)), **arrays(kwargs or {}))  # noqa: E731
    elif jac == "2-point" and traced.is_traced:
        slope = lambda x: np.atleast_2d(traced.slope(x))  # noqa: E731
    given = signature_of(scipy.least_squares).bind(fun, start, jac, *settings, **options).arguments
    limits = _box(given.get("bounds"))
    given |= {"fun": traced.value, "jac": slope} | ({"bounds": arrays(given["bounds"])} if "bounds" in given else {})
    found = scipy.least_squares(**given)
    if traced.parameters or any(limit.parameters for limit in limits):
        traced.check_traced()
        loss, scale = given.get("loss", "linear"), given.get("f_scale", 1.0)
        if loss not in _LOSSES:
            raise NotImplementedError(f"least_squares has a differentiable solution for the losses {', '.join(_LOSSES)}.")
        cost = lambda x: 0.5 * scale**2 * w.sum(_LOSSES[loss]((traced.call(x) / scale) ** 2))  # noqa: E731
        found.x = at_minimum(cost, found.x, limits)
        found.fun, found.cost = traced.call(found.x), cost(found.x)
    return found


# rho(z) of SciPy's losses, for the squares z of the residuals.
_LOSSES: dict[Any, Callable[[Any], Any]] = {
    "linear": lambda z: z,
    "soft_l1": lambda z: 2 * (w.sqrt(1 + z) - 1),
    "huber": lambda z: w.where(z <= 1, z, 2 * w.sqrt(w.where(z <= 1, 1.0, z)) - 1),
    "cauchy": lambda z: w.log1p(z),
    "arctan": lambda z: w.atan(z),
}


def _box(bounds: Any) -> list[Limit]:
    """Return the limits of bounds that are (low, high), numbers or vectors, or a Bounds."""
    if bounds is None or isinstance(bounds, scipy.Bounds):
        return of_bounds(bounds)
    return [Limit(lambda x: x, *bounds)]


def curve_fit(
    f: Any, xdata: Any, ydata: Any, p0: Any = None, sigma: Any = None, absolute_sigma: bool = False, check_finite: Any = None,
    bounds: Any = (-np.inf, np.inf), method: Any = None, jac: Any = None, *, full_output: bool = False, nan_policy: Any = None,
    **kwargs: Any,
) -> Any:  # fmt: skip
    """Fit f(xdata, *p) to ydata as scipy.optimize.curve_fit, with the Jacobian by autograd.

    popt and pcov are tensors if f, xdata, ydata, sigma or the bounds hold tensors that are differentiated. sigma: errors (N,), or
    their covariance (N, N). Derivatives: see Note [Active constraints] in _constrained.py.
    """
    places, values, scale = detached((xdata, ydata, sigma))

    @wraps(f)
    def model(x: Any, *p: Any) -> Any:
        found = f(x, *p)
        return detached(found) if not isinstance(found, np.ndarray) and hasattr(found, "detach") else found

    count = len(np.atleast_1d(detached(p0))) if p0 is not None else _count_parameters(f)
    start = np.ones(count) if p0 is None else np.atleast_1d(np.asarray(detached(p0), float))

    def residuals(p: Any) -> Any:
        found = tensor(f(xdata, *[p[i] for i in range(count)])) - tensor(ydata)
        if sigma is None:
            return found
        if np.ndim(scale) == 2:
            return linalg.solve_triangular(linalg.cholesky(tensor(sigma)), found[:, None], upper=False)[:, 0]
        return found / tensor(sigma)

    traced = Traced(residuals, start)
    fitted = Traced(lambda p: f(places, *[p[i] for i in range(count)]), start)
    slope = plain(jac)
    if jac is None and fitted.is_traced:
        slope = lambda x, *p: fitted.slope(np.array(p))  # noqa: E731
    found = scipy.curve_fit(model, places, values, detached(p0), scale, absolute_sigma, check_finite, arrays(bounds), method, slope,
                            full_output=full_output, nan_policy=nan_policy, **kwargs)  # fmt: skip
    limits = _box(bounds)
    if not traced.parameters and not any(limit.parameters for limit in limits):
        return found
    traced.check_traced()
    best = at_minimum(lambda p: 0.5 * w.sum(residuals(p) ** 2), found[0], limits)
    return (best, _covariance(residuals, best, sigma is not None and absolute_sigma), *found[2:])


def _covariance(residuals: Callable[[Any], Any], best: Any, absolute: bool) -> Any:
    """Return the covariance of fitted parameters, with its graph."""
    with enable_grad():
        found = residuals(best)
        slopes = jacobian(found, best)
    inverse = linalg.inv(slopes.mT @ slopes)
    return inverse if absolute else inverse * w.sum(found**2) / (found.numel() - best.numel())


def _count_parameters(f: Any) -> int:
    names = [p for p in signature_of(f).parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(names) < 2:
        raise ValueError("Unable to determine number of fit parameters.")
    return len(names) - 1


_OF_NUMBERS = ("fminbound", "brent", "golden")
_SEARCHING = (
    *_OF_NUMBERS, "fmin", "fmin_powell", "brute", "basinhopping", "differential_evolution", "shgo", "dual_annealing", "direct",
)  # fmt: skip


def _searching(name: str) -> Callable[..., Any]:
    """Return a function of SciPy that searches a minimum without derivatives, or in a whole region. Its minimum differentiates."""
    theirs = getattr(scipy, name)

    def run(*given: Any, **named: Any) -> Any:
        options = dict(signature_of(theirs).bind(*given, **named).arguments)
        args = options.pop("args", (options.get("minimizer_kwargs") or {}).get("args", ()))
        start = _first_point(options)
        traced = Traced(options["func"], float(start[0]) if name in _OF_NUMBERS else start, _tuple(args))
        limits = of_bounds(options.get("bounds"))
        options |= {"func": traced.value}
        if "bounds" in options:
            options["bounds"] = _arrays_of_bounds(options["bounds"])
        if "constraints" in options:
            options["constraints"], more = of_constraints(options["constraints"], start)
            limits += more
        result = theirs(**arrays(options))
        if isinstance(result, scipy.OptimizeResult):
            return _minimum(traced, result, limits)
        if not traced.parameters:
            return result
        traced.check_traced()
        if isinstance(result, tuple):
            return (at_minimum(traced.call, result[0], limits), *result[1:])
        return at_minimum(traced.call, result, limits)

    run.__name__ = name
    return run


def _first_point(options: dict[str, Any]) -> Any:
    """Return a point at which a function is tried: the start, or the middle of the region."""
    bounds = options.get("bounds", options.get("ranges"))
    if options.get("x0") is not None:
        start = detached(options["x0"])
    elif isinstance(bounds, scipy.Bounds):
        start = 0.5 * (detached(bounds.lb) + detached(bounds.ub))
    elif bounds is not None:
        start = [pair.start if isinstance(pair, slice) else np.mean(detached(tuple(pair))) for pair in bounds]
    else:
        start = detached(options.get("x1", 0.5))
    return np.atleast_1d(np.asarray(start, float))


FUNCTIONS: tuple[Any, ...] = (
    minimize, minimize_scalar, least_squares, curve_fit, *[_searching(name) for name in _SEARCHING],
)  # fmt: skip
