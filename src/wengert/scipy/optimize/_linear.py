"""Linear problems under bounds: their solutions solve linear equations, whose rows are the constraints that hold them."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.array_functions.table import detached, linalg, w
from wengert.scipy._closures import with_values
from wengert.scipy._frame import operands
from wengert.scipy.optimize._traced import arrays

scipy: Any = import_late("scipy.optimize")

_NEAR = 1e-9  # how far a solution may be from a constraint that holds it, relative to 1 + |limit|


def _fitted(a: Any, b: Any, low: Any, high: Any, x: Any) -> Any:
    """Return SciPy's least squares solution x of a x = b between bounds, as a tensor. Components at a bound are the bound."""
    at_low, at_high = [np.isfinite(end) & (np.abs(x - end) <= _NEAR * (1 + np.abs(end))) for end in detached((low, high))]
    free = np.flatnonzero(~at_low & ~at_high)
    ends = w.where(w.as_tensor(at_low), low, w.where(w.as_tensor(at_high), high, 0.0)) + 0.0 * w.as_tensor(x)
    part = a[:, w.as_tensor(free)]
    inner = w.matmul(linalg.pinv(part), b - w.matmul(a, ends))
    place = np.zeros((len(x), len(free)))
    place[free, np.arange(len(free))] = 1.0
    return with_values(ends + w.matmul(w.as_tensor(place), inner), x)


def nnls(A: Any, b: Any, *, maxiter: Any = None) -> Any:
    """Least squares solution of A x = b with x >= 0, and the norm of the residual. A: (m, n), b: (m,).

    Derivative: that of the least squares solution in the components that are positive. The others are constant."""
    x = scipy.nnls(detached(A), detached(b), maxiter=maxiter)[0]
    A, b = [value.double() for value in operands(A, b)]
    found = _fitted(A, b, w.as_tensor(np.zeros(())), w.as_tensor(np.full((), np.inf)), x)
    return found, linalg.vector_norm(w.matmul(A, found) - b)


def lsq_linear(A: Any, b: Any, bounds: Any = (-np.inf, np.inf), *settings: Any, **options: Any) -> Any:
    """Least squares solution of A x = b within bounds, as scipy.optimize.lsq_linear. The result's x, fun and cost are tensors.

    Derivative: that of the least squares solution in the components inside of their bounds; the others are their bounds."""
    ends = (bounds.lb, bounds.ub) if isinstance(bounds, scipy.Bounds) else bounds
    found = scipy.lsq_linear(detached(A), detached(b), arrays(tuple(ends)), *settings, **options)
    A, b, low, high = [value.double() for value in operands(A, b, *ends)]
    found.x = _fitted(A, b, low, high, found.x)
    found.fun = w.matmul(A, found.x) - b
    found.cost = 0.5 * w.sum(found.fun**2)
    return found


def linprog(
    c: Any, A_ub: Any = None, b_ub: Any = None, A_eq: Any = None, b_eq: Any = None, bounds: Any = (0, None), method: Any = "highs",
    callback: Any = None, options: Any = None, x0: Any = None, integrality: Any = None,
) -> Any:  # fmt: skip
    """Minimize c x for A_ub x <= b_ub, A_eq x = b_eq and bounds, as scipy.optimize.linprog.

    The result's x, fun, slack and con are tensors.

    Derivative: the solution is a vertex, where n constraints meet. It does not change with c, and with A and b as the solution of
    these n equations. Components that integrality makes integers are constant. Raises NotImplementedError at other solutions."""
    n = len(detached(c))
    given = [None if x is None else w.atleast_1d(operands(x)[0].double()) for x in (c, A_ub, b_ub, A_eq, b_eq)]
    pairs = _pairs(bounds, n)
    plain = [None if x is None else detached(x) for x in given]
    limits = [tuple([None if x is None else float(np.asarray(detached(x))) for x in pair]) for pair in pairs]
    found = scipy.linprog(*plain, limits, method, callback, options, x0, integrality)
    if found.x is None:
        return found
    c, A_ub, b_ub, A_eq, b_eq = given
    rows = _rows(given, pairs, limits, integrality, found)
    kept: list[int] = []
    for i in sorted(range(len(rows)), key=lambda i: not rows[i][0]):
        if np.linalg.matrix_rank(np.array([detached(rows[k][1]) for k in (*kept, i)])) > len(kept):
            kept.append(i)
    if len(kept) < n:
        raise NotImplementedError("linprog has a derivative if its solution is a vertex. Hint: method='highs-ds' finds vertices.")
    matrix, right = w.stack([rows[i][1] for i in kept]), w.stack([rows[i][2].reshape(()) for i in kept])
    found.x = with_values(linalg.solve(matrix, right), found.x)
    found.fun = w.sum(c * found.x)
    found.slack = found.slack if A_ub is None else b_ub - w.matmul(A_ub, found.x)
    found.con = found.con if A_eq is None else b_eq - w.matmul(A_eq, found.x)
    return found


def _rows(given: list[Any], pairs: list[Any], limits: list[Any], integrality: Any, found: Any) -> list[tuple[bool, Any, Any]]:
    """Return the constraints that hold a solution: (whether the multiplier is not zero, the row of the matrix, the right side)."""
    c, A_ub, b_ub, A_eq, b_eq = given
    n = len(found.x)
    rows: list[tuple[bool, Any, Any]] = []
    if A_eq is not None:
        rows += [(True, A_eq[i], b_eq[i]) for i in range(len(b_eq))]
    if A_ub is not None:
        near = found.slack <= _NEAR * (1 + np.abs(detached(b_ub)))
        rows += [(bool(found.ineqlin.marginals[i] != 0), A_ub[i], b_ub[i]) for i in np.flatnonzero(near)]
    eye = w.eye(n, dtype=c.dtype)
    for i in range(n):
        if integrality is not None and np.broadcast_to(integrality, n)[i] in (1, 3):
            rows.append((True, eye[i], w.as_tensor(found.x[i])))
            continue
        for marginals, end, value in zip((found.lower.marginals, found.upper.marginals), pairs[i], limits[i], strict=True):
            if value is not None and abs(found.x[i] - value) <= _NEAR * (1 + abs(value)):
                rows.append((bool(marginals[i] != 0), eye[i], operands(end)[0].double()))
    return rows


def _pairs(bounds: Any, n: int) -> list[Any]:
    """Return a pair of bounds for each component: None stands for (0, None), one pair for all."""
    if bounds is None:
        return [(0.0, None)] * n
    is_pair = len(bounds) == 2 and all(x is None or np.ndim(detached(x)) == 0 for x in bounds)
    if is_pair or (len(bounds) == 1 and n != 1):
        return [tuple(bounds if is_pair else bounds[0])] * n
    return [tuple(pair) for pair in bounds]


def isotonic_regression(y: Any, *, weights: Any = None, increasing: bool = True) -> Any:
    """The nearest monotone sequence to y, as scipy.optimize.isotonic_regression. The result's x and weights are tensors.

    Derivative: each block of equal values is the mean of its part of y."""
    found = scipy.isotonic_regression(detached(y), weights=None if weights is None else detached(weights), increasing=increasing)
    y, weights = operands(y, 1.0 if weights is None else weights)
    weights = w.broadcast_to(weights, y.shape)
    ends = found.blocks
    number = w.as_tensor(np.repeat(np.arange(len(ends) - 1), np.diff(ends)))
    zeros = w.zeros(len(ends) - 1, dtype=y.dtype)
    total = zeros.index_add(0, number, weights)
    found.x = with_values((zeros.index_add(0, number, weights * y) / total)[number], found.x)
    found.weights = total
    return found


def milp(c: Any, *, integrality: Any = None, bounds: Any = None, constraints: Any = None, options: Any = None) -> Any:
    """Minimize c x with integers among x, as scipy.optimize.milp. The result's x and fun are tensors. bounds, constraints: SciPy's,
    or (lb, ub) and (A, lb, ub) with tensors.

    Derivative: that of linprog with the same integers, which are constant."""
    given = [] if constraints is None else list(constraints) if _is_list(constraints) else [constraints]
    parts = [(one.A, one.lb, one.ub) if isinstance(one, scipy.LinearConstraint) else (*one, *(-np.inf, np.inf)[len(one) - 1 :])
             for one in given]  # fmt: skip
    ends = (0.0, np.inf) if bounds is None else (bounds.lb, bounds.ub) if isinstance(bounds, scipy.Bounds) else bounds
    plain = [scipy.LinearConstraint(*arrays(tuple(one))) for one in parts]
    box = scipy.Bounds(*arrays(tuple(ends)))
    found = scipy.milp(arrays(c), integrality=integrality, bounds=box, constraints=plain, options=options)
    if found.x is None:
        return found
    sides: dict[bool, list[Any]] = {True: [], False: []}  # whether they are equations -> (row, right side)
    for A, lb, ub in parts:
        A = A.toarray() if hasattr(A, "toarray") else A
        A, lb, ub = [x.double() for x in operands(A, lb, ub)]
        A = w.atleast_2d(A)
        lb, ub = [w.broadcast_to(x, (len(A),)) for x in (lb, ub)]
        for row, low, high in zip(A, lb, ub, strict=True):
            if float(low.detach()) == float(high.detach()):
                sides[True].append((row, high))
                continue
            sides[False] += [(sign * row, sign * end) for sign, end in ((1, high), (-1, low)) if np.isfinite(float(end.detach()))]
    stacked = [w.stack([part[k] for part in sides[kind]]) if sides[kind] else None for kind in (False, True) for k in (0, 1)]
    low, high = [w.broadcast_to(x.double(), (len(found.x),)) for x in operands(*ends)]
    pairs = [tuple([x if np.isfinite(float(x.detach())) else None for x in pair]) for pair in zip(low, high, strict=True)]
    A_ub, b_ub, A_eq, b_eq = stacked
    same = linprog(operands(c)[0], A_ub, b_ub, A_eq, b_eq, pairs, integrality=integrality)
    if not np.allclose(detached(same.x), found.x, rtol=1e-6, atol=1e-6):
        raise NotImplementedError("milp has a derivative if its solution is the only one.")
    found.x = with_values(same.x, found.x)
    found.fun = w.sum(operands(c)[0].double() * found.x)
    return found


def _is_list(constraints: Any) -> bool:
    """Return whether constraints are a list of them, and not the arguments (A, lb, ub) of one."""
    return not isinstance(constraints, scipy.LinearConstraint) and all(
        isinstance(one, scipy.LinearConstraint) or (isinstance(one, (tuple, list)) and len(one) and np.ndim(detached(one[0])) == 2)
        for one in constraints
    )


def quadratic_assignment(A: Any, B: Any, method: str = "faq", options: Any = None) -> Any:
    """Find an assignment as scipy.optimize.quadratic_assignment. The result's fun, the sum of A * B in this order, is a tensor."""
    found = scipy.quadratic_assignment(*detached((A, B)), method, arrays(options))
    A, B = operands(A, B)
    found.fun = w.sum(A * B[found.col_ind][:, found.col_ind])
    return found


FUNCTIONS: tuple[Any, ...] = (nnls, lsq_linear, linprog, milp, isotonic_regression, quadratic_assignment)
