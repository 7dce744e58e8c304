"""Matrix equations, square roots of matrices and banded solves, computed by scipy.linalg. torch has none of these.

The derivative of a solution is the solution of an equation of the same kind. Batches are loops.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.ops.matrices import adjoint
from wengert.ops.registry import INT_TO_FLOAT, general

_SETTINGS: dict[str, Any] = {"promote": INT_TO_FLOAT, "method": False, "namespaces": ()}


def _scipy(name: str) -> Any:
    return getattr(import_late("scipy.linalg"), name)


def _over_batch(function: Any, *matrices: Any) -> Any:
    """Return function(*matrices) for each element of a batch, whose dimensions broadcast. The last two are those of matrices."""
    batch = np.broadcast_shapes(*[a.shape[:-2] for a in matrices])
    if not batch:
        return np.asarray(function(*matrices))
    wide = [np.broadcast_to(a, batch + a.shape[-2:]) for a in matrices]
    found = [function(*[a[i] for a in wide]) for i in np.ndindex(batch)]
    return np.reshape(np.stack(found), batch + found[0].shape) if found else np.zeros(batch + matrices[-1].shape[-2:])


def _summed(F: Any, ct: Any, shape: Any) -> Any:
    """Sum a cotangent over the dimensions of the batch that its input lacks."""
    return F.sum_to_size(ct, tuple(shape)) if F.is_tensor is False else ct.sum_to_size(tuple(shape))


# -- Sylvester's equation ------------------------------------------------------------------------------------------------------


@general(**_SETTINGS)
def _sylvester(xp, A, B, Q):
    """Solution X of A X + X B = Q. A: (..., m, m), B: (..., n, n), Q: (..., m, n).

    Derivative: with G, which solves A^H G + G B^H = ct: G in Q, -G X^H in A, -X^H G in B."""
    return _over_batch(_scipy("solve_sylvester"), A, B, Q).astype(xp.result_type(A, B, Q))


@_sylvester.vjp("A", "B", "Q")
def _(F, ct, A, B, out, A_shape, B_shape, Q_shape):
    G = F._sylvester(adjoint(F, A), adjoint(F, B), ct)
    of_A, of_B = -F.matmul(G, adjoint(F, out)), -F.matmul(adjoint(F, out), G)
    return _summed(F, of_A, A_shape), _summed(F, of_B, B_shape), _summed(F, G, Q_shape)


# -- Riccati's equations -------------------------------------------------------------------------------------------------------


@general(**_SETTINGS)
def _care(xp, A, G, Q, X):
    """Solution X of A^H X + X A - X G X + Q = 0, which is given. G, Q: Hermitian.

    Derivative: with the closed loop C = A - G X and L, which solves C L + L C^H = -ct: X (L + L^H) in A, -X L X in G, L in Q."""
    return X.astype(xp.result_type(A, G, Q))


@_care.vjp("A", "G", "Q")
def _(F, ct, A, G, out):
    C = A - F.matmul(G, out)
    L = F._sylvester(C, adjoint(F, C), -ct)
    return F.matmul(out, L + adjoint(F, L)), -F.matmul(F.matmul(out, L), out), L


@general(**_SETTINGS)
def _stein(xp, A, Q):
    """Solution X of A X A^H - X + Q = 0.

    Derivative: with L, which solves A^H L A - L + ct = 0: L in Q, L A X^H + L^H A X in A."""
    found = _over_batch(lambda a, q: _scipy("solve_discrete_lyapunov")(a, q), A, Q)
    return found.astype(xp.result_type(A, Q))


@_stein.vjp("A", "Q")
def _(F, ct, A, out, A_shape, Q_shape):
    L = F._stein(adjoint(F, A), ct)
    of_A = F.matmul(F.matmul(L, A), adjoint(F, out)) + F.matmul(F.matmul(adjoint(F, L), A), out)
    return _summed(F, of_A, A_shape), _summed(F, L, Q_shape)


@general(**_SETTINGS)
def _dare(xp, A, B, Q, R, X):
    """Solution X of A^H X A - X - A^H X B (R + B^H X B)^-1 B^H X A + Q = 0, which is given. Q, R: Hermitian.

    Derivative: with K = (R + B^H X B)^-1 B^H X A, the closed loop C = A - B K and L, which solves C L C^H - L + ct = 0:
    X C (L + L^H) in A, -X C (L + L^H) K^H in B, L in Q, K L K^H in R."""
    return X.astype(xp.result_type(A, B, Q, R))


@_dare.vjp("A", "B", "Q", "R")
def _(F, ct, A, B, R, out):
    XB = F.matmul(out, B)
    K = F.linalg_solve(R + F.matmul(adjoint(F, B), XB), F.matmul(adjoint(F, XB), A))
    C = A - F.matmul(B, K)
    L = F._stein(C, ct)
    of_A = F.matmul(F.matmul(out, C), L + adjoint(F, L))
    return of_A, -F.matmul(of_A, adjoint(F, K)), L, F.matmul(F.matmul(K, L), adjoint(F, K))


# -- square roots -----------------------------------------------------------------------------------------------------


@general(**_SETTINGS)
def _sqrtm(xp, A):
    """Principal square root X of a square matrix; complex where it must be.

    Derivative: G, the solution of X^H G + G X^H = ct. It holds on the branch cut, too."""
    found = _over_batch(_scipy("sqrtm"), A)
    return found.astype(np.result_type(A, np.complex64 if found.dtype.kind == "c" else np.float32))


@_sqrtm.vjp("A")
def _(F, ct, out):
    H = adjoint(F, out)
    return F._sylvester(H, H, ct)


# -- banded matrices -----------------------------------------------------------------------------------------------------------


@general(**_SETTINGS)
def _solve_banded(xp, ab, b, *, lower, upper):
    """Solution x of A x = b for a matrix with `lower` diagonals below the main one and `upper` above.

    ab: (lower + upper + 1, n), ab[upper + i - j, j] = A[i, j]. b: (n, k). Derivative: in b G, the solution of A^H G = ct; in ab
    the elements of -G x^H on the diagonals."""
    return _scipy("solve_banded")((lower, upper), ab, b).astype(xp.result_type(ab, b))


@_solve_banded.vjp("ab", "b")
def _(F, ct, ab, out, lower, upper):
    G = F._solve_banded(F.conj(transposed_bands(F, ab, lower, upper)), ct, lower=upper, upper=lower)
    x = F.conj(out)
    rows = [-F.sum(shifted(F, G, k) * x, dim=-1) for k in range(-upper, lower + 1)]
    return F.stack(rows, dim=0), G


def shifted(F: Any, x: Any, k: int) -> Any:
    """Return y with y[j] = x[j + k] along the first dimension, 0 where there is none. |k| <= n."""
    n = x.shape[0]
    if k == 0:
        return x
    if k > 0:
        return F.cat([x[k:], 0.0 * x[: min(k, n)]], dim=0)
    return F.cat([0.0 * x[n - min(-k, n) :], x[: n + k]], dim=0)


def transposed_bands(F: Any, ab: Any, lower: int, upper: int) -> Any:
    """Return the bands of the transposed matrix, whose lower and upper diagonals are exchanged."""
    return F.stack([shifted(F, ab[upper - k], k) for k in range(-lower, upper + 1)], dim=0)
