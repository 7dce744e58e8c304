"""Eigenvalues and eigenvectors, singular values and vectors, and the exponential of a matrix.

The derivatives follow M. Giles, An extended collection of matrix derivative results for forward and reverse mode algorithmic
differentiation, 2008.

See Note [Equal values] in equal_values.py.
"""

from __future__ import annotations

from functools import partial
from math import nan
from typing import Any

import numpy as np

from wengert import errors, return_types
from wengert._forks import import_late
from wengert.backends.selection import backend_of, beside, to_host
from wengert.core.tensor import wrap
from wengert.ops.equal_values import Quotients, record_if_equal, rounding_error, skew_matrix
from wengert.ops.indices import raw
from wengert.ops.matrices import adjoint, check_square
from wengert.ops.registry import NONE, composite, general

_PRIVATE: dict[str, Any] = {"method": False, "namespaces": ()}
_LINALG: dict[str, Any] = {"namespaces": ("linalg",)}


# -- equal values -----------------------------------------------------------------------------------------------------


@general(promote=NONE, **_PRIVATE)
def _limit(xp, x, y, known, open):
    """x where known, else NaN. x: limits of quotients, right for one value of their divisors y.

    Derivative: NaN in y where it is open, because there the limits are not known as functions of y."""
    return xp.where(known, x, x.dtype.type(xp.nan))


@_limit.vjp("x")
def _(F, ct, known):
    return ct * F.where(known, 1.0, nan)


@_limit.vjp("y")
def _(F, ct, open):
    return F.where(open, nan, 0.0 * ct)


# -- Hermitian matrices ------------------------------------------------------------------------------------------------


def _gaps_of_pairs(values: Any) -> Any:
    """values[j] - values[i] for each pair: (..., k, k)."""
    return values[..., None, :] - values[..., :, None]


def _rebuilt(left: Any, right: Any, values: Any) -> Any:
    """left @ diag(values) @ right, with as many columns and rows as there are values."""
    k = values.shape[-1]
    return (left[..., :k] * values[..., None, :]) @ right[..., :k, :]


@general(outputs=("eigenvalues", "eigenvectors"), node="LinalgEighBackward0", **_PRIVATE)
def _eigh(xp, A, *, UPLO="L"):
    """linalg_eigh."""
    check_square("linalg.eigh", A)
    if UPLO not in ("L", "U", "l", "u"):
        raise errors.ShapeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    try:
        return tuple(xp.linalg.eigh(A, UPLO))
    except xp.linalg.LinAlgError:
        raise errors.SingularMatrixError(
            "linalg.eigh: The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
            "repeated eigenvalues."
        ) from None


@_eigh.vjp("A")
def _(F, ct, eigenvalues, eigenvectors):
    of_values, of_vectors = ct
    record_if_equal(eigenvalues, eigenvectors, 0)
    left = None if of_values is None else eigenvectors * F.unsqueeze(of_values, dim=-2)
    if of_vectors is not None:
        turn = F.matmul(adjoint(F, eigenvectors), of_vectors)

        def turned(planes: Any) -> Any:
            V = raw(eigenvectors)
            turn = skew_matrix(planes, V.dtype)
            return [eigenvectors], [V @ turn], turn, turn

        rebuilt = partial(_rebuilt, raw(eigenvectors), raw(adjoint(F, eigenvectors)))
        quotient = Quotients(F, eigenvalues, of_values, [of_vectors], turned, rebuilt)
        skew = 0.5 * (turn - adjoint(F, turn))
        inner = quotient(turn, _gaps_of_pairs, pairs=True, vanishing=skew)
        inner = inner if of_values is None else inner + F.diag_embed(of_values)
        left = F.matmul(eigenvectors, quotient.checked(inner))
    return F.matmul(left, adjoint(F, eigenvectors))


@composite(**_LINALG)
def linalg_eigh(F, A, UPLO="L"):
    """Eigenvalues L and eigenvectors V of a Hermitian matrix A = V @ diag(L) @ V^H, as a named tuple.

    A: (..., n, n), floating or complex. Returns (eigenvalues, eigenvectors), (..., n), real and ascending, and (..., n, n).
    Only the lower triangle of A is read, or the upper one for UPLO="U". Raises RuntimeError for another UPLO, and if LAPACK
    does not converge.

    Derivative: V @ (diag(ct_L) + (V^H @ ct_V) / (l_j - l_i)) @ V^H. Where l_i = l_j, the quotient is its limit, or NaN if the
    function depends on the choice of vectors (docs/derivatives.md). The function must not depend on their signs (phases).
    """
    values, vectors = F._eigh(A, UPLO=UPLO)
    record_if_equal(values, vectors, 0)
    return return_types.linalg_eigh((values, vectors))


@composite(**_LINALG)
def linalg_eigvalsh(F, A, UPLO="L"):
    """Eigenvalues of a Hermitian matrix, real and ascending: (..., n). A and UPLO as in `linalg.eigh`.

    Derivative: V @ diag(ct) @ V^H."""
    return F._eigh(A, UPLO=UPLO)[0]


# -- other matrices ----------------------------------------------------------------------------------------------------


@general(outputs=("eigenvalues", "eigenvectors"), node="LinalgEigBackward0", **_PRIVATE)
def _eig(xp, A):
    """linalg_eig."""
    check_square("linalg.eig", A)
    if not xp.isfinite(A).all():
        raise errors.ShapeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    wanted = xp.result_type(A, xp.complex64)
    try:
        return tuple([xp.asarray(found, wanted) for found in xp.linalg.eig(A)])
    except xp.linalg.LinAlgError:
        raise errors.SingularMatrixError(
            "linalg.eig: The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
            "repeated eigenvalues."
        ) from None


@_eig.vjp("A")
def _(F, ct, eigenvalues, eigenvectors):
    xp = backend_of(ct)
    of_values, of_vectors = ct
    record_if_equal(eigenvalues, eigenvectors, 0)
    inner = None if of_values is None else F.diag_embed(of_values)
    V_h = adjoint(F, eigenvectors)
    if of_vectors is not None:
        # The eigenvectors have length 1, so the component of the cotangent along them is removed.
        turn = F.matmul(V_h, of_vectors)
        along = F.unsqueeze(F.real(F.diagonal(turn, dim1=-2, dim2=-1)), dim=-2)
        turn = turn - F.matmul(V_h, eigenvectors) * along

        def turned(planes: Any) -> Any:
            V, turn = raw(eigenvectors), skew_matrix(planes, raw(eigenvectors).dtype)
            stretch = (V.conj() * (V @ turn)).sum(axis=-2, keepdims=True).real  # of the lengths, which do not change
            turn = turn - stretch * xp.eye(turn.shape[-1])
            adjoint_turn = turn.conj().swapaxes(-1, -2)
            return [eigenvectors], [V @ turn], -adjoint_turn, -adjoint_turn

        quotient = Quotients(F, eigenvalues, of_values, [of_vectors], turned)
        quotient.error = quotient.error * beside(np.linalg.cond(to_host(raw(eigenvectors)), 1), raw(eigenvectors))[..., None, None]
        inner = _add_optional(inner, quotient(turn, lambda values: _gaps_of_pairs(values).conj(), pairs=True))
        inner = quotient.checked(inner)
    return F.linalg_solve(V_h, F.matmul(inner, V_h))


@composite(**_LINALG)
def linalg_eig(F, A):
    """Eigenvalues L and eigenvectors V of length 1 of a square matrix: A @ V = V @ diag(L).

    A: (..., n, n), floating or complex; RuntimeError if an element is not finite. Returns a named tuple (eigenvalues,
    eigenvectors), (..., n) and (..., n, n), both complex.

    Derivative: V^-H @ (diag(ct_L) + (V^H @ ct_V - V^H @ V @ diag(Re(diag(V^H @ ct_V)))) / conj(l_j - l_i)) @ V^H, and its
    real part for a real A (C. Boeddeker and others, On the computation of complex-valued gradients, 2017). Where l_i = l_j, the
    quotient is its limit, or NaN, as in `linalg.eigh`. The function must not depend on the phases of the vectors.
    """
    values, vectors = F._eig(A)
    record_if_equal(values, vectors, 0)
    return return_types.linalg_eig((values, vectors))


@composite(**_LINALG)
def linalg_eigvals(F, A):
    """Eigenvalues of a square matrix, complex, in no particular order: (..., n). A: as in `linalg.eig`.

    Derivative: V^-H @ diag(ct) @ V^H."""
    return F._eig(A)[0]


# -- singular values ----------------------------------------------------------------------------------------------------


def _leading_columns(F: Any, U: Any, of_U: Any, k: int) -> tuple[Any, Any]:
    """Return the first k columns of a unitary matrix U and their cotangent, given the cotangent of U or None.

    The other columns span the orthogonal complement of the first k. So their cotangent adds to that of the first k."""
    rest = U.shape[-1] - k
    first = F.narrow(U, -1, 0, k)
    if of_U is None or not rest:
        return first, of_U
    others, of_others = F.narrow(U, -1, k, rest), F.narrow(of_U, -1, k, rest)
    return first, F.narrow(of_U, -1, 0, k) - F.matmul(others, F.matmul(adjoint(F, of_others), first))


@general(outputs=("U", "S", "Vh"), node="LinalgSvdBackward0", **_PRIVATE)
def _svd(xp, A, *, full_matrices=False):
    """linalg_svd as a plain tuple."""
    if A.ndim < 2:
        raise errors.square_matrix("linalg.svd", A.shape)
    if A.dtype.kind not in "fc":
        raise errors.norm_dtype("linalg.svd", A.dtype)
    if A.dtype.itemsize == 2:
        raise errors.low_precision("linalg.svd", A.dtype)
    try:
        return tuple(xp.linalg.svd(A, full_matrices=full_matrices))
    except xp.linalg.LinAlgError:
        raise errors.svd_not_finite() from None


@_svd.vjp("A")
def _(F, ct, A_shape, U, S, Vh, full_matrices):
    of_U, of_S, of_Vh = ct
    m, n = A_shape[-2:]
    record_if_equal(S, U, 1, with_zeros=True)
    of_vectors = [x for x in (of_U, of_Vh) if x is not None]
    quotient = Quotients(F, S, of_S, of_vectors, partial(_turned, U, S, Vh), partial(_rebuilt, raw(U), raw(Vh)))
    V, of_V = adjoint(F, Vh), None if of_Vh is None else adjoint(F, of_Vh)
    if full_matrices and m != n:
        U, of_U = _leading_columns(F, U, of_U, min(m, n))
        V, of_V = _leading_columns(F, V, of_V, min(m, n))
    # The result is left @ V^H + outer.
    left = None if of_S is None else U * F.unsqueeze(of_S, dim=-2)
    outer = None
    if of_U is not None or of_V is not None:
        turn_U, turn_V = (None if of_X is None else F.matmul(adjoint(F, X), of_X) for X, of_X in ((U, of_U), (V, of_V)))
        skew_U, skew_V = (None if turn is None else turn - adjoint(F, turn) for turn in (turn_U, turn_V))
        # The skew parts are twice the cotangents of rotations. Their sum is that of the rotation that U and V share, their
        # difference that of the rotation by which U and V differ.
        common = _add_optional(skew_U, skew_V)
        difference = _add_optional(skew_U, None if skew_V is None else -skew_V)
        inner = quotient(common, _gaps_of_pairs, pairs=True)
        inner = 0.5 * (inner + quotient(difference, lambda S: S[..., None, :] + S[..., :, None], pairs=True))
        diagonal = of_S
        if skew_U is not None and raw(U).dtype.kind == "c":  # the diagonal is a change of phases, all of it attributed to U
            phases = F.unsqueeze(F.diagonal(skew_U, dim1=-2, dim2=-1), dim=-2)
            diagonal = _add_optional(diagonal, F.squeeze(quotient(phases, lambda S: 2.0 * S[..., None, :]), dim=-2))
        inner = inner if diagonal is None else inner + F.diag_embed(diagonal)
        left = F.matmul(U, quotient.checked(inner))
        if of_U is not None and m > n:
            outer = F.matmul(quotient(of_U - F.matmul(U, turn_U), lambda S: S[..., None, :]), adjoint(F, V))
        if of_V is not None and n > m:
            right = quotient(of_V - F.matmul(V, turn_V), lambda S: S[..., None, :])
            outer = _add_optional(outer, F.matmul(U, adjoint(F, right)))
    return _add_optional(outer, F.matmul(left, adjoint(F, V)))


def _turned(U: Any, S: Any, Vh: Any, planes: Any) -> Any:
    """Return U and Vh, their changes as the vectors of equal values turn, and the turns of U and V: equal unless values are 0."""
    xp = backend_of(U)
    u, s, vh = raw(U), raw(S), raw(Vh)
    k = s.shape[-1]
    together = skew_matrix(planes, u.dtype)
    zero = s <= rounding_error(s[..., None, :])[..., 0]
    apart = xp.where(zero[..., None, :] & zero[..., :, None], 2 * together, together)
    of_U, of_Vh = xp.zeros_like(u), xp.zeros_like(vh)
    of_U[..., :k] = u[..., :k] @ together
    of_Vh[..., :k, :] = apart.conj().swapaxes(-1, -2) @ vh[..., :k, :]
    return [U, Vh], [of_U, of_Vh], together, apart


def _add_optional(a: Any, b: Any) -> Any:
    """a + b. None stands for zeros."""
    return b if a is None else a if b is None else a + b


@composite(namespaces=("linalg",))
def linalg_svd(F, A, full_matrices=True, *, driver=None):
    """Singular value decomposition A = U @ diag(S) @ Vh, as a named tuple (U, S, Vh).

    A: (..., m, n), floating or complex. S: (..., k), descending, with k = min(m, n). U and Vh have orthonormal columns and
    rows: (..., m, m) and (..., n, n), or (..., m, k) and (..., k, n) if not full_matrices. driver is ignored.

    Derivative: right for functions that do not depend on the signs (phases) of the vectors. NaN if values are equal and the
    function depends on the choice of their vectors (docs/derivatives.md). The vectors beyond the first k count by the space that
    they span (J. Townsend, Differentiating the singular value decomposition, 2016).
    """
    return return_types.linalg_svd(F._svd_with_vectors(A, full_matrices=full_matrices))


@composite(**_PRIVATE)
def _svd_with_vectors(F, A, *, full_matrices):
    """The outputs of linalg_svd as a plain tuple, for a function that may read the vectors."""
    U, S, Vh = F._svd(A, full_matrices=full_matrices)
    record_if_equal(S, U, 1, with_zeros=True)
    return U, S, Vh


@composite(namespaces=("linalg",))
def linalg_svdvals(F, A, *, driver=None):
    """Singular values of a matrix, or of each matrix of a batch, descending: (..., min(m, n)).

    A: (..., m, n), floating or complex. driver is ignored.

    Derivative: U @ diag(ct) @ V^H."""
    return F._svd(A)[1]


# -- the exponential ---------------------------------------------------------------------------------------------------


@general(node="LinalgMatrixExpBackward0", method=False, namespaces=("linalg",))
def linalg_matrix_exp(xp, A):
    """Exponential of a matrix, the sum of A^k / k! over k >= 0. A: (..., n, n), floating or complex.

    Derivative: the upper right block of the exponential of [[A^H, ct], [0, A^H]] (R. Mathias, A chain rule for matrix
    functions and applications, 1996)."""
    wide = A.astype(xp.float32) if A.dtype.itemsize == 2 and A.dtype.kind not in "iu" else A
    check_square("linalg.matrix_exp", wide)
    return import_late("scipy.linalg").expm(wide).astype(A.dtype, copy=False) if A.size else A.copy()


@linalg_matrix_exp.vjp("A")
def _(F, ct, A):
    xp = backend_of(ct)
    n = A.shape[-1]
    A = adjoint(F, A)
    # The scaling inside expm is chosen by the largest element, so a large ct would cost A its accuracy.
    size = abs(raw(ct)).max(axis=(-1, -2), keepdims=True) if n else xp.ones(1, raw(ct).real.dtype)
    size = xp.where((size > 0) & xp.isfinite(size), size, 1).astype(size.dtype)
    size = wrap(size) if F.is_tensor else size
    upper = F.cat([A, ct / size], dim=-1)
    lower = F.cat([F._zeros(A), A], dim=-1)
    exponential = F.linalg_matrix_exp(F.cat([upper, lower], dim=-2))
    return F.narrow(F.narrow(exponential, -2, 0, n), -1, n, n) * size
