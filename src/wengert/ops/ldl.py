"""LDL decomposition of symmetric or Hermitian matrices, which may be indefinite, and linear equations solved by it."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import errors, return_types
from wengert.backends.selection import backend_of
from wengert.ops.indices import raw
from wengert.ops.matrices import check_square, each_matrix, lapack_function
from wengert.ops.registry import NONE, composite, general, nondifferentiable

_PRIVATE: dict[str, Any] = {"method": False, "namespaces": ()}


def _lapack_routine(name: str, dtype: Any, hermitian: bool) -> Any:
    """Return LAPACK's sytrf, sytrs, hetrf or hetrs for a dtype. name: "trf" or "trs"."""
    return lapack_function(("he" if hermitian and dtype.kind == "c" else "sy") + name, dtype)


@nondifferentiable(promote=NONE, outputs=("LD", "pivots", "info"), **_PRIVATE)
def _ldl(xp, A, *, hermitian):
    """linalg.ldl_factor_ex."""
    check_square("torch.linalg.ldl_factor_ex", A)
    factorise = _lapack_routine("trf", A.dtype, hermitian)

    def factor(a: Any) -> tuple[Any, Any, Any]:
        if not a.size:
            return a.copy(), xp.zeros(0, np.int32), np.int32(0)
        LD, pivots, info = factorise(a, lower=1)
        # The pivots are LAPACK's: they count from 1, and negative ones mark 2 x 2 blocks.
        return xp.tril(LD), xp.asarray(pivots, np.int32), np.int32(info)

    return each_matrix(factor, A.shape[:-2], A)


@composite(namespaces=("linalg",))
def linalg_ldl_factor_ex(F, A, *, hermitian=False, check_errors=False):
    """LDL decomposition of symmetric matrices, or of Hermitian ones if hermitian, as a named tuple (LD, pivots, info).

    A: (..., n, n), of which only the lower triangle is read. LD: L and D packed into one lower triangle. pivots: as LAPACK's
    sytrf (hetrf) returns them. info: 0, or nonzero if D is singular. check_errors: raise RuntimeError if an info is not 0.

    The factors have no derivative; `linalg.ldl_solve` has one in B."""
    LD, pivots, info = F._ldl(A, hermitian=hermitian)
    if check_errors and bool((info != 0).any()):
        raise errors.SingularMatrixError(
            "torch.linalg.ldl_factor: a block of D is singular, so the factors solve no equations. Hint: "
            "linalg.ldl_factor_ex returns them all the same."
        )
    return return_types.linalg_ldl_factor_ex((LD, pivots, info))


@composite(namespaces=("linalg",))
def linalg_ldl_factor(F, A, *, hermitian=False):
    """`linalg.ldl_factor_ex` without info: a named tuple (LD, pivots). Raises RuntimeError if D is singular.

    A, hermitian: as in `linalg.ldl_factor_ex`."""
    return return_types.linalg_ldl_factor(F.linalg_ldl_factor_ex(A, hermitian=hermitian, check_errors=True)[:2])


def _checked_pivots(pivots: Any) -> Any:
    """Return a copy of the pivots of one matrix, as LAPACK takes them. Raises RuntimeError if LAPACK cannot have returned them.

    A pivot p > 0 stands for a 1 x 1 block of D, whose row was exchanged with row p. Two equal pivots -p < 0 stand for a
    2 x 2 block, whose second row was exchanged with row p. LAPACK checks nothing, and would write outside of B."""
    xp = backend_of(pivots)
    found = xp.array(pivots, np.int64)
    n, i = found.size, 0
    given = found.tolist()
    while i < n:
        p = given[i]
        if not 1 <= abs(p) <= n or (p < 0 and given[i + 1 : i + 2] != [p]):
            raise errors.ShapeError(
                f"torch.linalg.ldl_solve: pivots[{i}] = {p} is no pivot of a {n} x {n} matrix. Expected 1 to {n}, or twice the "
                f"same number of -1 to -{n}. Did you properly pass the result of ldl_factor? Hint: pivots count from 1"
            )
        i += 1 if p > 0 else 2
    return found.astype(np.int32)


@general(promote=NONE, **_PRIVATE)
def _ldl_solve(xp, B, LD, pivots, *, hermitian):
    """linalg.ldl_solve. Derivative: in B, the solution for ct with the adjoint matrix."""
    solve = _lapack_routine("trs", LD.dtype, hermitian)
    batch = xp.broadcast_shapes(LD.shape[:-2], B.shape[:-2])
    LD, B = xp.broadcast_to(LD, batch + LD.shape[-2:]), xp.broadcast_to(B, batch + B.shape[-2:])
    pivots = xp.broadcast_to(pivots, batch + pivots.shape[-1:])
    if not B.size:
        return xp.zeros(B.shape, B.dtype)
    return each_matrix(lambda a, p, b: (solve(a, _checked_pivots(p), b, lower=1)[0],), batch, LD, pivots, B)[0]


@_ldl_solve.vjp("B")
def _(F, ct, LD, pivots, hermitian):
    # A^-H @ ct: the adjoint of a Hermitian A is A, the adjoint of a symmetric A is conj(A).
    if hermitian:
        return F._ldl_solve(ct, LD, pivots, hermitian=True)
    return F.conj(F._ldl_solve(F.conj(ct), LD, pivots, hermitian=False))


@composite(namespaces=("linalg",))
def linalg_ldl_solve(F, LD, pivots, B, *, hermitian=False):
    """X with A @ X = B, given LD and pivots from `linalg.ldl_factor` of A. LD: (..., n, n), pivots: (..., n), B: (..., n, k).

    hermitian: as in `linalg.ldl_factor`. Raises RuntimeError for shapes and dtypes that do not fit, and for
    pivots that `linalg.ldl_factor` does not return.

    Derivative: A^-H @ ct in B; none in the factors."""
    check_square("torch.linalg.ldl_solve", raw(LD))
    if B.ndim < 2 or B.shape[-2] != LD.shape[-1]:
        raise errors.equation_shapes("torch.linalg.ldl_solve", tuple(LD.shape), tuple(B.shape), True)
    if tuple(pivots.shape) != tuple(LD.shape[:-1]):
        raise errors.ShapeError(
            "torch.linalg.ldl_solve: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
            f"{list(pivots.shape)} instead"
        )
    if raw(pivots).dtype.kind not in "iu":
        raise errors.UnsupportedDtypeError(
            f"torch.linalg.ldl_solve: Expected pivots to be integers. Got {errors.scalar_name(raw(pivots).dtype)}"
        )
    if LD.dtype != B.dtype:
        raise errors.PromotionError(
            f"torch.linalg.ldl_solve: Expected LD and B to have the same data type, but got {LD.dtype} and {B.dtype}"
        )
    return F._ldl_solve(B, LD.detach(), pivots, hermitian=hermitian)
