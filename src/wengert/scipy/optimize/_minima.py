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
from wengert.scipy.optimize._roots import _tuple, _with_args, _without_parameters
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
    x and fun are tensors if fun depends on tensors that are differentiated, which constraints do not allow. A component of x that a
    bound holds is constant.
    """
    start, args = np.atleast_1d(np.asarray(detached(x0), float)), _tuple(args)
    more = {"bounds": bounds, "tol": tol, "callback": callback, "options": options}
    if jac is True:
        return _without_parameters(fun, start, args, lambda: scipy.minimize(
            plain(fun), start, arrays(args), method, True, plain(hess), plain(hessp), constraints=_constraints(constraints, start),
            **more))  # fmt: skip
    traced = Traced(fun, start, args)
    if traced.parameters and constraints not in ((), [], None):
        raise _constrained()
    slope, second, product = [_with_point(f, args) if callable(f) else f for f in (jac, hess, hessp)]
    name = method.lower() if isinstance(method, str) else "" if method is None else None
    if name is not None and name not in _WITHOUT_SLOPES and traced.is_traced and np.ndim(traced.value(start)) == 0:
        slope = traced.slope if jac is None else slope
        if hess is None and hessp is None and jac is None:
            second = traced.hessian if name in _WITH_HESSIANS else None
            product = traced.hessian_product if name in _WITH_PRODUCTS else None
    found = scipy.minimize(traced.value, start, (), method, slope, second, product,
                           constraints=_constraints(constraints, start), **more)  # fmt: skip
    if traced.parameters:
        free = _free(traced, found.x, bounds)
        found.x = traced.solved(found.x, lambda x: w.where(free, traced.gradient(x), x - x.detach()))
        found.fun = traced.call(found.x)
    return found


def _constrained() -> Exception:
    return NotImplementedError("minimize has no differentiable solution with constraints. Hint: detach the tensors, or use bounds.")


def _with_point(function: Any, args: tuple[Any, ...]) -> Any:
    """Return jac, hess or hessp as SciPy calls them, with arrays in place of tensors."""
    return lambda x, *p: plain(function)(x, *p, *arrays(args))


def _free(traced: Traced, x: Any, bounds: Any) -> Any:
    """Whether each component is inside of its bounds, or its bound does not hold it."""
    if bounds is None:
        return w.ones(np.shape(x), dtype=w.as_tensor(True).dtype)
    if isinstance(bounds, scipy.Bounds):
        low, high = np.broadcast_to(bounds.lb, x.shape), np.broadcast_to(bounds.ub, x.shape)
    else:
        low = np.array([-np.inf if pair[0] is None else pair[0] for pair in bounds], float)
        high = np.array([np.inf if pair[1] is None else pair[1] for pair in bounds], float)
    slope, near = traced.slope(x), 1e-8 * (1.0 + np.abs(x))
    return w.as_tensor(~(((x - low <= near) & (slope > 0)) | ((high - x <= near) & (slope < 0)) | (low == high)))


def _constraint(fun: Any, start: Any, args: tuple[Any, ...] = ()) -> Traced:
    traced = Traced(fun, start, args)
    if traced.parameters:
        raise _constrained()
    return traced


def _constraints(constraints: Any, start: Any) -> Any:
    """Return constraints with Jacobians by autograd where none is given."""
    if isinstance(constraints, dict):
        traced = _constraint(constraints["fun"], start, _tuple(constraints.get("args", ())))
        found = {**constraints, "fun": traced.value, "args": ()}
        if constraints.get("jac") is not None:
            jac = constraints["jac"]
            found["jac"] = _with_args(jac, constraints.get("args", ())) if callable(jac) else jac
        elif traced.is_traced:
            found["jac"] = traced.slope
        return found
    if isinstance(constraints, scipy.NonlinearConstraint):
        traced = _constraint(constraints.fun, start)
        jac = traced.slope if constraints.jac == "2-point" and traced.is_traced else plain(constraints.jac)
        return scipy.NonlinearConstraint(
            traced.value, *arrays((constraints.lb, constraints.ub)), jac, plain(constraints.hess), constraints.keep_feasible,
            constraints.finite_diff_rel_step, constraints.finite_diff_jac_sparsity,
        )  # fmt: skip
    if isinstance(constraints, (list, tuple)):
        return [_constraints(one, start) for one in constraints]
    return constraints


def minimize_scalar(fun: Any, bracket: Any = None, bounds: Any = None, args: Any = (), *settings: Any, **options: Any) -> Any:
    """Minimize a function of a number as scipy.optimize.minimize_scalar. The result's x and fun may be tensors, as minimize's."""
    args = _tuple(args)
    middle = float(np.mean(bounds)) if bounds is not None else float(bracket[0]) if bracket is not None else 0.5
    traced = Traced(fun, middle, args)
    found = scipy.minimize_scalar(traced.value, bracket, bounds, (), *settings, **options)
    if traced.parameters:
        free = _free(traced, np.atleast_1d(found.x), None if bounds is None else [tuple(bounds)])[0]
        found.x = traced.solved(found.x, lambda x: w.where(free, traced.gradient(x), x - x.detach()))
        found.fun = traced.call(found.x)
    return found


def least_squares(
    fun: Any, x0: Any, jac: Any = "2-point", *settings: Any, args: Any = (), kwargs: Any = None, **options: Any
) -> Any:  # fmt: skip
    """Minimize the sum of squares of fun(x, *args) as scipy.optimize.least_squares, with the Jacobian by autograd.

    The result's x is a tensor if fun depends on tensors that are differentiated: for loss="linear", and without active bounds.
    """
    start = np.atleast_1d(np.asarray(detached(x0), float))
    traced = Traced(fun, start, _tuple(args), kwargs)
    slope = plain(jac)
    if callable(jac):
        slope = lambda x: plain(jac)(x, *arrays(_tuple(args)), **arrays(kwargs or {}))  # noqa: E731
    elif jac == "2-point" and traced.is_traced:
        slope = lambda x: np.atleast_2d(traced.slope(x))  # noqa: E731
    found = scipy.least_squares(traced.value, start, slope, *settings, **options)
    if traced.parameters:
        given = signature_of(scipy.least_squares).bind(fun, start, jac, *settings, **options).arguments
        if given.get("loss", "linear") != "linear" or np.any(found.active_mask):
            raise NotImplementedError("least_squares has a differentiable solution for loss='linear' and without active bounds.")
        squares = Traced(lambda x: 0.5 * w.sum(traced.call(x) ** 2), start)
        found.x = traced.solved(found.x, squares.gradient)
        found.fun = traced.call(found.x)
        found.cost = 0.5 * w.sum(found.fun**2)
    return found


def curve_fit(
    f: Any, xdata: Any, ydata: Any, p0: Any = None, sigma: Any = None, absolute_sigma: bool = False, check_finite: Any = None,
    bounds: Any = (-np.inf, np.inf), method: Any = None, jac: Any = None, *, full_output: bool = False, nan_policy: Any = None,
    **kwargs: Any,
) -> Any:  # fmt: skip
    """Fit f(xdata, *p) to ydata as scipy.optimize.curve_fit, with the Jacobian by autograd.

    popt and pcov are tensors if f, xdata, ydata or sigma hold tensors that are differentiated: without bounds, and for sigma of one
    dimension.
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
        return found if sigma is None else found / tensor(sigma)

    traced = Traced(residuals, start)
    fitted = Traced(lambda p: f(places, *[p[i] for i in range(count)]), start)
    slope = plain(jac)
    if jac is None and fitted.is_traced:
        slope = lambda x, *p: fitted.slope(np.array(p))  # noqa: E731
    found = scipy.curve_fit(model, places, values, detached(p0), scale, absolute_sigma, check_finite, bounds, method, slope,
                            full_output=full_output, nan_policy=nan_policy, **kwargs)  # fmt: skip
    if not traced.parameters:
        return found
    if np.isfinite(np.asarray(bounds if not isinstance(bounds, scipy.Bounds) else (bounds.lb, bounds.ub), float)).any() or (
        sigma is not None and np.ndim(scale) == 2
    ):
        raise NotImplementedError("curve_fit has a differentiable fit without bounds, and for sigma of one dimension.")
    squares = Traced(lambda p: 0.5 * w.sum(residuals(p) ** 2), start)
    best = traced.solved(found[0], squares.gradient)
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


def _with_slopes(name: str) -> Callable[..., Any]:
    """Return one of SciPy's older functions (f, x0, fprime, ..., args) with the gradient by autograd."""
    theirs = getattr(scipy, name)

    def run(f: Any, x0: Any, fprime: Any = None, *settings: Any, args: Any = (), **options: Any) -> Any:
        traced = Traced(f, np.atleast_1d(np.asarray(detached(x0), float)), _tuple(args))
        if traced.parameters:
            raise NotImplementedError(f"scipy.optimize.{name} has no differentiable solution. Hint: use minimize.")
        slope = _with_args(fprime, args) if callable(fprime) else traced.slope if traced.is_traced else fprime
        return theirs(traced.value, detached(x0), slope, *settings, **options)

    run.__name__ = name
    return run


FUNCTIONS: tuple[Any, ...] = (
    minimize, minimize_scalar, least_squares, curve_fit, *[_with_slopes(name) for name in ("fmin_bfgs", "fmin_cg", "fmin_ncg")]
)  # fmt: skip
