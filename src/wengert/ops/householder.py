"""Products of Householder reflections, one after the other; shared by householder_product and ormqr."""

from __future__ import annotations

from typing import Any

from wengert.ops.matrices import adjoint


def apply_reflections(F: Any, A: Any, tau: Any, X: Any, inverse: bool) -> Any:
    """H1 H2 ... Hk @ X, or with inverse Hk^H ... H1^H @ X, where H = I - tau v v^H has v below the diagonal of a column of
    A and 1 on it."""
    k = tau.shape[-1]
    vectors = F.tril(F.narrow(A, -1, 0, k), diagonal=-1)
    vectors = vectors + F._eye_like(vectors)
    for i in range(k) if inverse else reversed(range(k)):
        v = F.narrow(vectors, -1, i, 1)
        factor = F.unsqueeze(F.narrow(tau, -1, i, 1), dim=-1)
        factor = F.conj(factor) if inverse else factor
        X = X - factor * F.matmul(v, F.matmul(adjoint(F, v), X))
    return X
