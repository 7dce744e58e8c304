"""Derivatives of minima under bounds and constraints.

Note [Active constraints]
At a minimum the gradient of the objective is a combination of the gradients of the constraints that hold it there. The factors are
Lagrange's multipliers. Together with these constraints, taken as equations, this is a system for x and the multipliers (the
conditions of Karush, Kuhn and Tucker), and the solution differentiates as an implicit function. An inequality belongs to the system
if SciPy's solution is near its limit and the multiplier is positive and larger than the distance: the product of both is zero at
an exact solution. Where a multiplier is zero although the constraint is touched, the solution has two one-sided derivatives: the
result is that without the constraint.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.array_functions.table import detached, holds_tensor, tensor, w
from wengert.array_protocol import _is_differentiated as is_differentiated
from wengert.autograd import grad
from wengert.autograd.grad_mode import enable_grad
from wengert.core.tensor import wrap
from wengert.scipy._closures import implicit, jacobian
from wengert.scipy.optimize._traced import Traced, arrays, plain

scipy: Any = import_late("scipy.optimize")

_NEAR = 1e-3  # how far SciPy's solutions may be from a constraint that holds them, relative to 1 + |limit|
_POSITIVE = 1e-6  # the smallest multiplier, relative to 1 + |gradient|


class Limit:
    """low <= function(x) <= high. function: of a tensor, with a vector as result. low, high: arrays or tensors.

    parameters: whether it depends on tensors that are differentiated.
    """

    def __init__(self, function: Callable[[Any], Any], low: Any, high: Any, parameters: bool = False) -> None:
        self.function, self.low, self.high = function, low, high
        self.parameters = parameters or is_differentiated((low, high))

    def values(self, x: Any) -> Any:
        return w.reshape(tensor(self.function(x)), (-1,))


def of_bounds(bounds: Any) -> list[Limit]:
    """Return the limits of SciPy's bounds: a Bounds, or pairs of numbers or tensors, in which None stands for no bound."""
    if bounds is None:
        return []
    if isinstance(bounds, scipy.Bounds):
        return [Limit(lambda x: x, bounds.lb, bounds.ub)]
    low, high = zip(*bounds, strict=True)
    return [Limit(lambda x: x, _joined(low, -np.inf), _joined(high, np.inf))]


def _joined(values: tuple[Any, ...], end: float) -> Any:
    """Return a vector of numbers and tensors. end: the value of None."""
    values = tuple([end if x is None else x for x in values])
    if not holds_tensor(values):
        return np.array(values, float)
    return w.stack([w.reshape(tensor(x), ()).double() for x in values])


def of_constraints(constraints: Any, start: Any) -> tuple[Any, list[Limit]]:
    """Return (constraints as SciPy takes them, with Jacobians by autograd where none is given; their limits)."""
    if isinstance(constraints, (list, tuple)):
        found = [of_constraints(one, start) for one in constraints]
        return [theirs for theirs, _ in found], [limit for _, limits in found for limit in limits]
    if isinstance(constraints, dict):
        args = constraints.get("args", ())
        args = args if isinstance(args, tuple) else (args,)
        traced = Traced(constraints["fun"], start, args)
        theirs = {**constraints, "fun": traced.value, "args": ()}
        if constraints.get("jac") is not None:
            jac = constraints["jac"]
            theirs["jac"] = (lambda x, *_: plain(jac)(x, *arrays(args))) if callable(jac) else jac
        elif traced.is_traced:
            theirs["jac"] = traced.slope
        return theirs, [Limit(traced.call, 0.0, 0.0 if theirs["type"] == "eq" else np.inf, bool(traced.parameters))]
    if isinstance(constraints, scipy.NonlinearConstraint):
        traced = Traced(constraints.fun, start)
        jac = traced.slope if constraints.jac == "2-point" and traced.is_traced else plain(constraints.jac)
        theirs = scipy.NonlinearConstraint(
            traced.value, *arrays((constraints.lb, constraints.ub)), jac, plain(constraints.hess), constraints.keep_feasible,
            constraints.finite_diff_rel_step, constraints.finite_diff_jac_sparsity,
        )  # fmt: skip
        return theirs, [Limit(traced.call, constraints.lb, constraints.ub, bool(traced.parameters))]
    if isinstance(constraints, scipy.LinearConstraint):
        matrix = constraints.A.toarray() if hasattr(constraints.A, "toarray") else np.asarray(constraints.A)
        return constraints, [Limit(lambda x: w.matmul(w.as_tensor(matrix), x), constraints.lb, constraints.ub)]
    return constraints, []


class _Active:
    """The constraints that hold a solution, as functions that are zero there and positive inside."""

    def __init__(self, limits: list[Limit], x: Any, slope: Any) -> None:
        leaf = wrap(x.copy()).requires_grad_()
        self.rows: list[tuple[Limit, int, int]] = []  # (limit, number of the value, 1 at the low end and -1 at the high end)
        normals, are_equations, distances = [], [], []
        for limit in limits:
            with enable_grad():
                found = limit.values(leaf)
            values, slopes = detached(found), detached(jacobian(found, leaf))
            low, high = [np.broadcast_to(np.asarray(detached(x), float).reshape(-1), values.shape) for x in (limit.low, limit.high)]
            for sign, distance, end in ((1, values - low, low), (-1, high - values, high)):
                near = np.isfinite(end) & (distance <= _NEAR * (1 + np.abs(end)))
                for i in np.flatnonzero(near if sign > 0 else near & (low != high)):
                    self.rows.append((limit, int(i), sign))
                    normals.append(sign * slopes[i])
                    are_equations.append(low[i] == high[i])
                    distances.append(distance[i])
        self.multipliers = np.zeros(0)
        if self.rows:
            matrix, equal = np.array(normals), np.array(are_equations)
            self.multipliers = scipy.lsq_linear(matrix.T, slope, (np.where(equal, -np.inf, 0.0), np.inf), tol=1e-14).x
            held = equal | (self.multipliers > np.maximum(distances, _POSITIVE * (1 + np.abs(slope).max(initial=0.0))))
            held = self._independent(matrix, equal, held)
            self.rows = [row for row, kept in zip(self.rows, held, strict=True) if kept]
            self.multipliers = self.multipliers[held]

    @staticmethod
    def _independent(matrix: Any, equal: Any, held: Any) -> Any:
        """Keep constraints with independent gradients, equations first: the others say nothing new."""
        kept: list[int] = []
        for i in sorted(np.flatnonzero(held), key=lambda i: not equal[i]):
            if np.linalg.matrix_rank(matrix[[*kept, i]], 1e-9 * max(1.0, np.abs(matrix).max())) > len(kept):
                kept.append(int(i))
        found = np.zeros(len(held), bool)
        found[kept] = True
        return found

    def values(self, x: Any) -> Any:
        """The values of the constraints at a tensor: a vector, or None without constraints."""
        known: dict[int, Any] = {}
        found = []
        for limit, i, sign in self.rows:
            if id(limit) not in known:
                known[id(limit)] = limit.values(x)
            end = limit.low if sign > 0 else limit.high
            value = known[id(limit)]
            if np.ndim(detached(end)):
                end = tensor(end).reshape(-1)[i if np.size(detached(end)) > 1 else 0]
            found.append(sign * (value[i] - end))
        return w.stack(found) if found else None


def at_minimum(objective: Callable[[Any], Any], solution: Any, limits: list[Limit]) -> Any:
    """Return the minimum of an objective within limits as a tensor that depends on their tensors. See Note [Active constraints].

    objective: a function of a tensor with one value. solution: an array, SciPy's.
    """
    x = np.asarray(solution, float)
    flat = x.reshape(-1)

    def gradient(x: Any, held: Any = None) -> Any:
        """The gradient of the objective less what is held: the sum of the constraints times their multipliers. It has its graph."""
        total = w.sum(tensor(objective(x.reshape(np.shape(solution)))))
        total = total if held is None else total - held
        if not total.requires_grad:
            return w.zeros_like(x) * x
        return grad(total, x, create_graph=True, allow_unused=True, materialize_grads=True)[0]

    with enable_grad():
        slope = gradient(wrap(flat.copy()).requires_grad_())
    active, size = _Active(limits, flat, detached(slope)), flat.size

    def residual(z: Any) -> Any:
        with enable_grad():
            point = z[:size]
            values = active.values(point)
            return gradient(point) if values is None else w.cat([gradient(point, w.sum(z[size:] * values)), values])

    return implicit(residual, np.concatenate([flat, active.multipliers]))[:size].reshape(np.shape(solution))
