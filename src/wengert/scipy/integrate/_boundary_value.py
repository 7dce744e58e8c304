"""Boundary value problems. SciPy chooses the mesh and solves; the collocation equations on that mesh give the derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.array_functions.table import detached, holds_tensor, tensor, w
from wengert.core.leaving import has_tangent
from wengert.core.tensor import TensorBase
from wengert.scipy._closures import implicit

scipy: Any = import_late("scipy.integrate")


def _rows(found: Any) -> Any:
    """Return the result of a function of the user's as a tensor: a list of rows, an array or a tensor."""
    return found if isinstance(found, TensorBase) else tensor(found if holds_tensor((found,)) else np.asarray(found, float))


def solve_bvp(fun: Any, bc: Any, x: Any, y: Any, p: Any = None, S: Any = None, fun_jac: Any = None, bc_jac: Any = None,
              tol: float = 1e-3, *settings: Any, **options: Any) -> Any:  # fmt: skip
    """Solve dy/dx = fun(x, y[, p]) + S y / (x - a) with bc(y(a), y(b)[, p]) = 0, as scipy.integrate.solve_bvp.

    If fun or bc depends on tensors that are differentiated, the result's y (n, m), yp and p are tensors. sol(x) returns
    tensors. Then fun and bc get their arguments as tensors, and S is refused.

    Derivatives: those of the solution of the collocation equations on SciPy's mesh, by the implicit function theorem. They differ
    from those of the exact solution by the size of tol.
    """
    uses_tensors = False

    def for_scipy(function: Any) -> Any:
        """Return a function of the user's whose arguments and results are arrays. It gets tensors if the functions use tensors."""

        def run(*arguments: Any) -> Any:
            found = function(*[w.as_tensor(a) for a in arguments] if uses_tensors else arguments)
            return detached(_rows(found)) if holds_tensor((found,)) else found

        return run if callable(function) else function

    mesh, start = np.asarray(detached(x), float), np.asarray(detached(y))
    extra = () if p is None else (np.asarray(detached(p)),)
    samples = (fun(mesh, start, *extra), bc(start[:, 0], start[:, -1], *extra))
    uses_tensors = holds_tensor(samples)
    found = scipy.solve_bvp(for_scipy(fun), for_scipy(bc), mesh, start, *(extra or (None,)), detached(S), for_scipy(fun_jac),
                            for_scipy(bc_jac), tol, *settings, **options)  # fmt: skip
    if not uses_tensors or found.status == 2:
        return found
    n, m = found.y.shape
    places, steps = w.as_tensor(found.x), w.as_tensor(np.diff(found.x))
    middles = w.as_tensor(found.x[:-1] + 0.5 * np.diff(found.x))

    def parts(z: Any) -> tuple[Any, tuple[Any, ...]]:
        return z[: n * m].reshape(n, m), () if found.p is None else (z[n * m :],)

    def residual(z: Any) -> Any:
        """The equations of SciPy's method: Simpson's rule with the derivative of a cubic spline in the middle."""
        y, p = parts(z)
        f = _rows(fun(places, y, *p))
        middle = 0.5 * (y[:, 1:] + y[:, :-1]) - 0.125 * steps * (f[:, 1:] - f[:, :-1])
        rule = f[:, :-1] + f[:, 1:] + 4.0 * _rows(fun(middles, middle, *p))
        return w.cat([(y[:, 1:] - y[:, :-1] - steps / 6.0 * rule).reshape(-1), _rows(bc(y[:, 0], y[:, -1], *p)).reshape(-1)])

    solution = implicit(residual, np.concatenate([found.y.reshape(-1), *([] if found.p is None else [found.p])]))
    if not solution.requires_grad and not has_tangent(solution):
        return found
    if S is not None:
        raise NotImplementedError("solve_bvp has no derivative with a singular term. Hint: leave S out, or detach the tensors.")
    y, p = parts(solution)
    found.y, found.p = y, (p[0] if p else None)
    found.yp = _rows(fun(places, y, *p))
    found.sol = import_late("wengert.scipy.interpolate").CubicHermiteSpline(found.x, y, found.yp, axis=1)
    return found


FUNCTIONS: tuple[Any, ...] = (solve_bvp,)
