"""Products of Householder reflections, shared by householder_product and ormqr."""

from __future__ import annotations

from typing import Any

from wengert.ops.matrices import adjoint


def apply_reflections(F: Any, A: Any, tau: Any, X: Any, inverse: bool) -> Any:
    """H1 @ H2 @ ... @ Hk @ X, or if inverse Hk^H @ ... @ H1^H @ X, for the reflections Hi = I - tau_i v_i v_i^H.

    v_i is column i of A with zeros above the diagonal and 1 on it. tau: (..., k)."""
    k = tau.shape[-1]
    vectors = F.tril(F.narrow(A, -1, 0, k), diagonal=-1)
    vectors = vectors + F._eye_like(vectors)
    for i in range(k) if inverse else reversed(range(k)):
        v = F.narrow(vectors, -1, i, 1)
        factor = F.unsqueeze(F.narrow(tau, -1, i, 1), dim=-1)
        factor = F.conj(factor) if inverse else factor
        X = X - factor * F.matmul(v, F.matmul(adjoint(F, v), X))
    return X
