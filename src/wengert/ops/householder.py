"""Products of Householder reflections, shared by householder_product and ormqr."""

from __future__ import annotations

from typing import Any

from wengert import errors
from wengert.ops.matrices import adjoint


def check_reflections(op: str, A: Any, tau: Any) -> None:
    """Raise RuntimeError unless tau has A's dtype, A's batch dimensions, and at most one factor for each column of A."""
    if tau.ndim != A.ndim - 1:
        raise errors.ShapeError(
            f"{op}: Expected tau to have one dimension less than input, but got tau.ndim equal to {tau.ndim} and input.ndim is "
            f"equal to {A.ndim}"
        )
    if tau.shape[-1] > A.shape[-1]:
        raise errors.ShapeError(f"{op}: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    if tuple(tau.shape[:-1]) != tuple(A.shape[:-2]):
        raise errors.ShapeError(
            f"{op}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got {list(tau.shape[:-1])}"
        )
    if tau.dtype != A.dtype:
        raise errors.PromotionError(f"{op}: tau dtype {tau.dtype} does not match input dtype {A.dtype}")


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
