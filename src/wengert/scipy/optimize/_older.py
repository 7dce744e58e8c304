"""SciPy's older functions for minima, fits and roots, which return arrays and tuples. Their solutions differentiate, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.array_functions.table import detached, holds_tensor, tensor, w
from wengert.array_protocol import _signature as signature_of
from wengert.core.tensor import TensorBase
from wengert.scipy.optimize._constrained import Limit, at_minimum, of_bounds
from wengert.scipy.optimize._minima import _arrays_of_bounds
from wengert.scipy.optimize._roots import _tuple, _with_args, _without_parameters
from wengert.scipy.optimize._traced import Traced, arrays, plain

scipy: Any = import_late("scipy.optimize")

_PAIRS = ("fmin_l_bfgs_b", "fmin_tnc")  # their functions may return (value, gradient)
_STEP = float(np.sqrt(np.finfo(float).eps))


def _starting(point: Any) -> Any:
    return np.atleast_1d(np.asarray(detached(point), float))


def _with_slopes(name: str) -> Callable[..., Any]:
    """Return one of SciPy's older functions for minima, with the gradient by autograd. The minimum differentiates."""
    theirs = getattr(scipy, name)

    def run(*given: Any, **named: Any) -> Any:
        options = dict(signature_of(theirs).bind_partial(*given, **named).arguments)  # fprime may be missing
        key = "f" if "f" in options else "func"
        function, args, start = options.pop(key), _tuple(options.pop("args", ())), _starting(options["x0"])
        options["x0"] = start
        if options.get("bounds"):
            limits = of_bounds(options["bounds"])
            options["bounds"] = _arrays_of_bounds(options["bounds"])
        else:
            limits = []
        pairs = name in _PAIRS and options.get("fprime") is None and not options.get("approx_grad")
        if pairs and isinstance(function(start, *args), tuple):
            options |= {key: plain(function), "args": arrays(args)}
            return _without_parameters(function, start, args, lambda: theirs(**options))
        traced = Traced(function, start, args)
        limits += _CONSTRAINTS.get(name, lambda *_: [])(options, start, args)
        if "fprime" in signature_of(theirs).parameters and not options.get("approx_grad"):
            slope = options.get("fprime")
            options["fprime"] = _with_args(slope, args) if callable(slope) else traced.slope if traced.is_traced else slope
        found = theirs(**{key: traced.value}, **arrays(options))
        if not traced.parameters and not any(limit.parameters for limit in limits):
            return found
        traced.check_traced()
        if not isinstance(found, tuple):
            return at_minimum(traced.call, found, limits)
        x = at_minimum(traced.call, found[0], limits)
        return (x, *found[1:]) if name == "fmin_tnc" else (x, traced.call(x), *found[2:])

    run.__name__ = name
    return run


def _of_slsqp(options: dict[str, Any], start: Any, args: tuple[Any, ...]) -> list[Limit]:
    """Return the limits of fmin_slsqp, and put functions of arrays with their Jacobians in place of its constraints."""
    limits = []
    for name, high in (("eqcons", 0.0), ("ieqcons", np.inf)):
        traced = [Traced(function, start, args) for function in options.get(name, ())]
        limits += [Limit(one.call, 0.0, high, bool(one.parameters)) for one in traced]
        options[name] = [one.value for one in traced]
        if options.get(f"f_{name}") is not None:
            whole = Traced(options[f"f_{name}"], start, args)
            limits.append(Limit(whole.call, 0.0, high, bool(whole.parameters)))
            options[f"f_{name}"] = whole.value
            if options.get(f"fprime_{name}") is not None:
                options[f"fprime_{name}"] = _with_args(options[f"fprime_{name}"], args)
            elif whole.is_traced:
                options[f"fprime_{name}"] = whole.slope
    return limits


def _of_cobyla(options: dict[str, Any], start: Any, args: tuple[Any, ...]) -> list[Limit]:
    """Return the limits of fmin_cobyla, and put functions of arrays in place of its constraints."""
    given = options["cons"]
    own = args if options.get("consargs") is None else _tuple(options["consargs"])
    traced = [Traced(function, start, own) for function in (given if isinstance(given, (list, tuple)) else [given])]
    options |= {"cons": [one.value for one in traced], "consargs": ()}
    return [Limit(one.call, 0.0, np.inf, bool(one.parameters)) for one in traced]


_CONSTRAINTS: dict[str, Callable[..., list[Limit]]] = {"fmin_slsqp": _of_slsqp, "fmin_cobyla": _of_cobyla}


def leastsq(func: Any, x0: Any, args: Any = (), Dfun: Any = None, *settings: Any, **options: Any) -> Any:
    """Minimize the sum of squares of func(x, *args) as scipy.optimize.leastsq, with the Jacobian by autograd.

    The solution is a tensor if func depends on tensors that are differentiated."""
    start, args = _starting(x0), _tuple(args)
    traced = Traced(func, start, args)
    given = signature_of(scipy.leastsq).bind(func, start, (), None, *settings, **options).arguments
    slope = _with_args(Dfun, args) if Dfun is not None else None
    if Dfun is None and traced.is_traced:
        slope = (lambda x: np.atleast_2d(traced.slope(x)).T) if given.get("col_deriv") else lambda x: np.atleast_2d(traced.slope(x))
    found = scipy.leastsq(**(given | {"func": traced.value, "Dfun": slope}))
    if not traced.parameters:
        return found
    traced.check_traced()
    return (at_minimum(lambda x: 0.5 * w.sum(tensor(traced.call(x)) ** 2), found[0], []), *found[1:])


def _solving(name: str) -> Callable[..., Any]:
    """Return one of SciPy's solvers for many equations (F, xin, ...). The root differentiates."""
    theirs = getattr(scipy, name)

    def run(F: Any, xin: Any, *settings: Any, **options: Any) -> Any:
        start = np.asarray(detached(xin))
        traced = Traced(F, start)
        return traced.solved(theirs(traced.value, start, *settings, **options))

    run.__name__ = name
    return run


# -- derivatives by differences, and the function of Rosenbrock -----------------------------------------------------------------


def approx_fprime(xk: Any, f: Any, epsilon: Any = _STEP, *args: Any) -> Any:
    """Forward differences of f(x, *args) at xk: a vector, or a matrix (values, n). With tensors they are one, and differentiate."""
    if not holds_tensor((xk, *args)) and not isinstance(f(np.asarray(xk, float), *args), TensorBase):
        return scipy.approx_fprime(xk, f, epsilon, *args)
    x = w.atleast_1d(tensor(xk)).double()
    steps = np.broadcast_to(np.asarray(detached(epsilon), float), len(x))
    here = tensor(f(x, *args))
    moved = [tensor(f(x + w.as_tensor(step), *args)) for step in np.diag(steps)]
    return w.stack([(there - here) / float(size) for there, size in zip(moved, steps, strict=True)], -1)


def check_grad(func: Any, grad: Any, x0: Any, *args: Any, **options: Any) -> float:
    """The norm of the difference between grad and forward differences of func at x0, a number, as scipy.optimize.check_grad."""
    return float(scipy.check_grad(plain(func), plain(grad), arrays(x0), *arrays(args), **options))


def rosen(x: Any) -> Any:
    """The function of Rosenbrock: the sum of 100 (x[i + 1] - x[i]**2)**2 + (1 - x[i])**2 over the first axis."""
    x = tensor(x).double()
    return w.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2, 0)


def rosen_der(x: Any) -> Any:
    """The gradient of rosen: (n,)."""
    x = tensor(x).double()
    gaps, zero = 200.0 * (x[1:] - x[:-1] ** 2), w.zeros_like(x[:1])
    return w.cat([zero, gaps]) - w.cat([2 * gaps * x[:-1] + 2 * (1 - x[:-1]), zero])


def rosen_hess(x: Any) -> Any:
    """The matrix of second derivatives of rosen: (n, n)."""
    x = w.atleast_1d(tensor(x).double())
    zero = w.zeros_like(x[:1])
    middle = w.cat([zero, w.full_like(x[1:], 200.0)]) + w.cat([1200.0 * x[:-1] ** 2 - 400.0 * x[1:] + 2, zero])
    return w.diag(middle) - w.diag(400.0 * x[:-1], 1) - w.diag(400.0 * x[:-1], -1)


def rosen_hess_prod(x: Any, p: Any) -> Any:
    """The product of rosen_hess(x) with p: (n,)."""
    return rosen_hess(x) @ tensor(p).double()


MINIMA = ("fmin_bfgs", "fmin_cg", "fmin_ncg", "fmin_l_bfgs_b", "fmin_tnc", "fmin_slsqp", "fmin_cobyla")
SOLVERS = ("anderson", "broyden1", "broyden2", "diagbroyden", "excitingmixing", "linearmixing", "newton_krylov")
ALWAYS: tuple[Any, ...] = (
    leastsq, approx_fprime, check_grad, *[_with_slopes(name) for name in MINIMA], *[_solving(name) for name in SOLVERS],
)  # fmt: skip
FUNCTIONS = (rosen, rosen_der, rosen_hess, rosen_hess_prod)
