"""Roots and fixed points. Their derivatives are those of the implicit function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.array_functions.table import detached
from wengert.scipy.optimize._traced import Traced, arrays, plain

scipy: Any = import_late("scipy.optimize")


def _tuple(args: Any) -> tuple[Any, ...]:
    return args if isinstance(args, tuple) else (args,)


def root(fun: Any, x0: Any, args: Any = (), method: str = "hybr", jac: Any = None, tol: Any = None, **more: Any) -> Any:
    """Solve fun(x, *args) = 0 as scipy.optimize.root. The methods hybr and lm get the Jacobian by autograd.

    The result's x is a tensor if fun depends on tensors that are differentiated.
    """
    if jac is True:
        return _without_parameters(fun, x0, _tuple(args), lambda: scipy.root(
            plain(fun), detached(x0), arrays(args), method, jac, tol, **more))  # fmt: skip
    traced = Traced(fun, np.atleast_1d(np.asarray(detached(x0))), _tuple(args))
    if jac is None and traced.is_traced and method in ("hybr", "lm"):
        slope: Any = traced.slope
    else:
        given = plain(jac)
        slope = (lambda x, *_: given(x, *_tuple(arrays(args)))) if callable(jac) else jac
    found = scipy.root(traced.value, detached(x0), (), method, slope, tol, **more)
    found.x = traced.solved(found.x)
    return found


def _without_parameters(fun: Any, x0: Any, args: tuple[Any, ...], run: Callable[[], Any]) -> Any:
    """Run SciPy on a function that computes its own derivative. Raises NotImplementedError if it depends on tensors."""
    traced = Traced(lambda x: fun(x, *args)[0], np.atleast_1d(np.asarray(detached(x0))))
    if traced.parameters:
        raise NotImplementedError("With jac=True there is no differentiable solution. Hint: leave it out.")
    return run()


def fsolve(func: Any, x0: Any, args: Any = (), fprime: Any = None, full_output: int = 0, *settings: Any, **options: Any) -> Any:
    """Solve func(x, *args) = 0 as scipy.optimize.fsolve, with the Jacobian by autograd."""
    traced = Traced(func, np.atleast_1d(np.asarray(detached(x0))), _tuple(args))
    col_deriv = settings[0] if settings else options.get("col_deriv", 0)
    if fprime is None and traced.is_traced:
        slope: Any = (lambda x: traced.slope(x).T) if col_deriv else traced.slope
    else:
        given = plain(fprime)
        slope = None if fprime is None else lambda x: given(x, *_tuple(arrays(args)))
    found = scipy.fsolve(traced.value, detached(x0), (), slope, full_output, *settings, **options)
    return (traced.solved(found[0]), *found[1:]) if full_output else traced.solved(found)


def root_scalar(
    f: Any, args: Any = (), method: Any = None, bracket: Any = None, fprime: Any = None, fprime2: Any = None, x0: Any = None,
    x1: Any = None, **more: Any,
) -> Any:  # fmt: skip
    """Solve f(x, *args) = 0 for a number x as scipy.optimize.root_scalar.

    The methods newton and halley get their derivatives by autograd.
    """
    start = detached(bracket)[0] if bracket is not None else 0.0 if x0 is None else detached(x0)
    traced = Traced(f, float(np.asarray(start)), _tuple(args))
    slopes = [None if d is None else d if d is True else _with_args(d, args) for d in (fprime, fprime2)]
    function = _with_args(f, args) if fprime is True or fprime2 is True else traced.value
    if traced.is_traced and fprime is None and method in ("newton", "halley"):
        slopes[0] = lambda x: traced.slope(x).item()
    if traced.is_traced and fprime2 is None and method == "halley":
        slopes[1] = lambda x: traced.hessian(x).item()
    found = scipy.root_scalar(function, (), method, detached(bracket), *slopes, detached(x0), detached(x1), **more)
    found.root = traced.solved(found.root)
    return found


def _with_args(function: Any, args: Any) -> Any:
    return lambda x: plain(function)(x, *_tuple(arrays(args)))


def _bracketing(name: str) -> Callable[..., Any]:
    theirs = getattr(scipy, name)

    def solve(f: Any, a: Any, b: Any, args: Any = (), *settings: Any, **options: Any) -> Any:
        a, b = float(np.asarray(detached(a))), float(np.asarray(detached(b)))
        traced = Traced(f, 0.5 * (a + b), _tuple(args))
        found = theirs(traced.value, a, b, (), *settings, **options)
        return (traced.solved(found[0]), found[1]) if isinstance(found, tuple) else traced.solved(found)

    solve.__name__ = name
    return solve


def newton(func: Any, x0: Any, fprime: Any = None, args: Any = (), *settings: Any, **options: Any) -> Any:
    """Find roots near x0 as scipy.optimize.newton: by the secant method, or with the derivatives that are given."""
    traced = Traced(func, detached(x0), _tuple(args))
    if options.get("fprime2") is not None:
        options["fprime2"] = _with_args(options["fprime2"], args)
    slope = None if fprime is None else _with_args(fprime, args)
    found = scipy.newton(traced.value, detached(x0), slope, (), *settings, **options)
    if isinstance(found, tuple) and not hasattr(found, "root"):
        return (traced.solved(found[0]), *found[1:])
    return traced.solved(found)


def fixed_point(func: Any, x0: Any, args: Any = (), xtol: float = 1e-8, maxiter: int = 500, method: str = "del2") -> Any:
    """Find x with func(x, *args) = x as scipy.optimize.fixed_point."""
    traced = Traced(func, detached(x0), _tuple(args))
    found = scipy.fixed_point(traced.value, detached(x0), (), xtol, maxiter, method)
    return traced.solved(found, lambda x: x - traced.call(x))


FUNCTIONS: tuple[Any, ...] = (
    root, fsolve, root_scalar, newton, fixed_point,
    *[_bracketing(name) for name in ("brentq", "brenth", "bisect", "ridder", "toms748")],
)  # fmt: skip
