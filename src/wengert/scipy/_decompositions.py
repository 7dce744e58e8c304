"""Schur and Hessenberg forms, and changes of QR decompositions, of scipy.linalg: SciPy's values, with derivatives.

Note [Columns by their flags]
The columns of a Schur basis span the same spaces as the first eigenvectors. So a QR decomposition of the eigenvectors, in SciPy's
order, gives them up to phases. LAPACK does not fix the phase of a complex column: here it is orthogonal to its derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.array_functions.table import detached, linalg as _ours, w as _w
from wengert.scipy._closures import with_values
from wengert.scipy._equations import expm_frechet
from wengert.scipy._frame import Submodule, matched, operands

_scipy: Any = None


def _turned(columns: Any, wanted: Any) -> Any:
    """Return orthonormal columns with the phases of SciPy's. See Note [Columns by their flags]."""
    overlap = _w.sum(_w.as_tensor(np.conj(wanted)) * columns, 0)
    return columns * (overlap.conj() / _w.abs(overlap))


def _flags(vectors: Any, wanted: Any) -> Any:
    """Return orthonormal columns that span the same spaces as the first vectors, with the phases of SciPy's."""
    return _turned(_ours.qr(vectors if np.iscomplexobj(wanted) else vectors.real)[0], wanted)


def _ordered(a: Any, wanted: Any) -> Any:
    """Return the eigenvectors of a matrix in the order of the wanted eigenvalues."""
    values, vectors = _ours.eig(a)
    return vectors[:, matched(detached(values), wanted)]


# -- Schur forms ---------------------------------------------------------------------------------------------------------------


def schur(
    a: Any, output: str = "real", lwork: Any = None, overwrite_a: bool = False, sort: Any = None, check_finite: bool = True
) -> Any:  # fmt: skip
    """Schur form T and unitary Z with a = Z T Z^H. Derivative: for matrices whose eigenvalues are different.

    In a real T, a pair of complex eigenvalues has a block with two equal elements on the diagonal. The block must not be normal."""
    if sort is not None:
        return NotImplemented
    triangle, unitary = _scipy.schur(detached(a), output, check_finite=check_finite)
    (a,) = operands(a)
    pairs: Any = [] if np.iscomplexobj(triangle) else np.flatnonzero(np.diag(triangle, -1))
    wanted = np.diag(triangle).astype(complex)
    for j in pairs:
        half = np.sqrt(-triangle[j, j + 1] * triangle[j + 1, j])
        wanted[j : j + 2] += np.array([1j, -1j]) * half
    vectors = _ordered(a, wanted)
    if len(pairs):
        Z = _real_pairs(a, vectors, pairs, unitary)
    else:
        Z = _flags(vectors, unitary)
    return with_values(_w.matmul(_w.matmul(Z.mH, a.to(Z.dtype)), Z), triangle), with_values(Z, unitary)


def _real_pairs(a: Any, vectors: Any, pairs: Any, unitary: Any) -> Any:
    """Return the columns of a real Schur basis. Each pair is turned until its block has equal elements on the diagonal."""
    columns = [vectors[:, j - 1].imag if j - 1 in pairs else vectors[:, j].real for j in range(len(unitary))]
    basis = list(_w.unbind(_ours.qr(_w.stack(columns, 1))[0], 1))
    for j in pairs:
        first, second = basis[j], basis[j + 1]
        b = [[_w.sum(x * _w.matmul(a, y)) for y in (first, second)] for x in (first, second)]
        across, along = b[0][1] + b[1][0], b[1][1] - b[0][0]
        size = float(detached(_w.hypot(across, along)))
        if size < 100 * np.finfo(unitary.dtype).eps * float(detached(_w.abs(b[0][1]))):
            raise NotImplementedError("A real Schur form with a normal block has no derivative. Hint: use output='complex'.")
        angle = 0.5 * _w.atan2(along, across)
        cosine, sine = _w.cos(angle), _w.sin(angle)
        turned = [cosine * first + sine * second, cosine * second - sine * first]
        is_turned = abs(unitary[:, j] @ detached(turned[0])) < 0.5**0.5
        basis[j : j + 2] = turned[::-1] if is_turned else turned
    return _turned(_w.stack(basis, 1), unitary)


def rsf2csf(T: Any, Z: Any, check_finite: bool = True) -> Any:
    """Complex Schur form of a real one. Derivative: in the blocks of T, whose eigenvalues must be different, and in Z."""
    triangle, unitary = _scipy.rsf2csf(detached(T), detached(Z), check_finite=check_finite)
    T, Z = operands(T, Z)
    turn = _flags(_ordered(T, np.diag(triangle)), detached(Z).conj().T @ unitary)
    T, Z = T.to(turn.dtype), Z.to(turn.dtype)
    return with_values(_w.matmul(_w.matmul(turn.mH, T), turn), triangle), with_values(_w.matmul(Z, turn), unitary)


def _generalised(A: Any, B: Any, triangles: Any, bases: Any) -> tuple[Any, ...]:
    """Return (AA, BB, Q, Z) with A = Q AA Z^H and B = Q BB Z^H. The diagonal of BB is real and positive. B must be regular."""
    A, B = operands(A, B)
    if not np.iscomplexobj(triangles[0]) and np.any(np.diag(triangles[0], -1)):
        raise NotImplementedError("A real form with complex eigenvalues has no derivative. Hint: use output='complex'.")
    Z = _flags(_ordered(_ours.solve(B, A), np.diag(triangles[0]) / np.diag(triangles[1])), bases[1])
    A, B = A.to(Z.dtype), B.to(Z.dtype)
    Q, upper = _ours.qr(_w.matmul(B, Z))
    diagonal = _w.diagonal(upper)
    Q = Q * (diagonal / _w.abs(diagonal))
    found = [_w.matmul(_w.matmul(Q.mH, x), Z) for x in (A, B)]
    return tuple([with_values(x, value) for x, value in zip((*found, Q, Z), (*triangles, *bases), strict=True)])


def qz(A: Any, B: Any, output: str = "real", *, check_finite: bool = True) -> Any:
    """Generalised Schur form (AA, BB, Q, Z) of two matrices. Derivative: for a regular B and different eigenvalues.

    A real form must have real eigenvalues."""
    found = _scipy.qz(detached(A), detached(B), output, check_finite=check_finite)
    return _generalised(A, B, found[:2], found[2:])


def ordqz(A: Any, B: Any, sort: Any = "lhp", output: str = "real", *, check_finite: bool = True) -> Any:
    """Generalised Schur form in an order of eigenvalues: (AA, BB, alpha, beta, Q, Z). Derivative: as qz."""
    found = _scipy.ordqz(detached(A), detached(B), sort, output, check_finite=check_finite)
    first, second, Q, Z = _generalised(A, B, found[:2], found[4:])
    alpha, beta = [_w.diagonal(x).to(_w.as_tensor(v).dtype) for x, v in ((first, found[2]), (second, found[3]))]
    return first, second, with_values(alpha, found[2]), with_values(beta, found[3]), Q, Z


def cdf2rdf(w: Any, v: Any) -> Any:
    """Real block diagonal form of complex eigenvalues w: (..., n) and vectors v: (..., n, n), which are conjugate pairs."""
    values, vectors = operands(w, v)
    _scipy.cdf2rdf(detached(values), detached(vectors))  # raises ValueError for shapes and values that do not fit
    n = values.shape[-1]
    places = np.iscomplex(detached(values))
    first = places & (np.cumsum(places, -1) % 2 == 1)
    stack, j = np.nonzero(first)[:-1], np.nonzero(first)[-1]
    k = np.nonzero(places & ~first)[-1]
    pairs, turn = np.zeros((*values.shape, n)), np.zeros((*values.shape, n), complex)
    turn[..., range(n), range(n)] = 1.0
    pairs[(*stack, j, k)] = pairs[(*stack, k, j)] = 1.0
    turn[(*stack, j, j)], turn[(*stack, j, k)], turn[(*stack, k, j)], turn[(*stack, k, k)] = 0.5j, 0.5, -0.5j, 0.5
    blocks = _w.diag_embed(_w.real(values))
    if values.is_complex():
        blocks = blocks + values.imag[..., :, None] * _w.as_tensor(pairs)
    return blocks, _w.real(_w.matmul(vectors.to(_w.as_tensor(turn).dtype), _w.as_tensor(turn)))


# -- Hessenberg's form, and balancing --------------------------------------------------------------------------------------------


def hessenberg(a: Any, calc_q: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """Hessenberg form H of a matrix, and Q with a = Q H Q^H if calc_q, by Householder's reflections as LAPACK's."""
    theirs = _scipy.hessenberg(detached(a), True, check_finite=check_finite)
    (H,) = operands(a)
    n = H.shape[0]
    Q = _w.eye(n, dtype=H.dtype)
    for k in range(n - 1 if H.is_complex() else n - 2):
        x = H[k + 1 :, k]
        if not np.any(detached(x)[1:]) and not detached(x)[0].imag:
            continue
        size = _ours.vector_norm(x)
        end = size * (-1.0 if detached(x)[0].real >= 0 else 1.0)  # what the first element becomes: a real number
        v = _w.cat([_w.ones(1, dtype=H.dtype), x[1:] / (x[0] - end)])
        v = _w.cat([_w.zeros(k + 1, dtype=H.dtype), v])
        reflection = _w.eye(n, dtype=H.dtype) - (end - x[0]) / end * v[:, None] * v.conj()
        H, Q = _w.matmul(_w.matmul(reflection.mH, H), reflection), _w.matmul(Q, reflection)
    H = with_values(_w.triu(H, -1), theirs[0])
    return (H, with_values(Q, theirs[1])) if calc_q else H


def matrix_balance(A: Any, permute: bool = True, scale: bool = True, separate: bool = False, overwrite_a: bool = False) -> Any:
    """Balanced matrix B = T^-1 A T, and the permuted diagonal T of powers of 2, which is constant."""
    _, (sizes, order) = _scipy.matrix_balance(detached(A), permute, scale, True)
    (A,) = operands(A)
    balanced = A[order][:, order] * _w.as_tensor((sizes / sizes[:, None]).astype(detached(A).dtype))
    if separate:
        return balanced, (_w.as_tensor(sizes), _w.as_tensor(order))
    return balanced, _w.as_tensor(np.diag(sizes)[np.argsort(order), :].astype(detached(A).dtype))


def expm_cond(A: Any, check_finite: bool = True) -> Any:
    """Relative condition number of the exponential of a matrix, by the matrix of its derivative. The cost is n**5."""
    if check_finite:
        np.asarray_chkfinite(detached(A))
    (A,) = operands(A)
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ValueError("expected a square matrix")
    n = A.shape[0]
    directions = _w.eye(n * n, dtype=A.dtype).reshape(n * n, n, n)
    exponential, slopes = expm_frechet(_w.broadcast_to(A, directions.shape), directions)
    size = _ours.matrix_norm(slopes.reshape(n * n, n * n), 2)
    return size * _ours.vector_norm(A) / _ours.vector_norm(exponential[0])


# -- changes of QR decompositions --------------------------------------------------------------------------------------------------


def qr_multiply(
    a: Any, c: Any, mode: str = "right", pivoting: bool = False, conjugate: bool = False, overwrite_a: bool = False,
) -> Any:  # fmt: skip
    """Return (c Q, R), or (Q c, R) if mode is "left", and the permutation if pivoting. conjugate: for the conjugate of Q."""
    _scipy.qr_multiply(detached(a), detached(c), mode, pivoting, conjugate)  # raises ValueError for bad arguments
    a, c = operands(a, c)
    more: tuple[Any, ...] = ()
    if pivoting:
        order = _scipy.qr(detached(a), mode="r", pivoting=True)[-1]
        a, more = a[:, order], (_w.as_tensor(order),)
    Q, R = _ours.qr(a)
    Q = Q.conj() if conjugate else Q
    return _w.matmul(Q, c) if mode == "left" else _w.matmul(c, Q), R, *more


def _decomposed(changed: Any, theirs: Any) -> Any:
    """Return the QR decomposition of a changed matrix, with SciPy's signs."""
    rows, columns = changed.shape
    if changed.is_complex() or (theirs[0].shape[1] == rows and rows > columns):
        raise NotImplementedError("A QR decomposition has a derivative for real matrices, and columns of Q that are those of A. "
                                  "Hint: begin with qr(A, mode='economic').")  # fmt: skip
    Q = _turned(_ours.qr(changed)[0], theirs[0])
    return with_values(Q, theirs[0]), with_values(_w.matmul(Q.mT, changed), theirs[1])


def qr_insert(Q: Any, R: Any, u: Any, k: Any, which: str = "row", rcond: Any = None, *, check_finite: bool = True) -> Any:
    """QR decomposition of Q R with one or more rows or columns u inserted before the k-th."""
    theirs = _scipy.qr_insert(*[detached(x) for x in (Q, R, u)], k, which, rcond, check_finite=check_finite)
    Q, R, u = operands(Q, R, u)
    A = _w.matmul(Q, R)
    k = k if k >= 0 else k + A.shape[which == "col"]
    if which == "row":
        return _decomposed(_w.cat([A[:k], u.reshape(-1, A.shape[1]), A[k:]]), theirs)
    return _decomposed(_w.cat([A[:, :k], u.reshape(A.shape[0], -1), A[:, k:]], 1), theirs)


def qr_delete(Q: Any, R: Any, k: Any, p: int = 1, which: str = "row", *, check_finite: bool = True) -> Any:
    """QR decomposition of Q R without p rows or columns, from the k-th on."""
    theirs = _scipy.qr_delete(detached(Q), detached(R), k, p, which, check_finite=check_finite)
    A = _w.matmul(*operands(Q, R))
    k = k if k >= 0 else k + A.shape[which == "col"]
    return _decomposed(_w.cat([A[:k], A[k + p :]]) if which == "row" else _w.cat([A[:, :k], A[:, k + p :]], 1), theirs)


def qr_update(Q: Any, R: Any, u: Any, v: Any, *, check_finite: bool = True) -> Any:
    """QR decomposition of Q R + u v^T. u: (m,) or (m, k), v: (n,) or (n, k)."""
    theirs = _scipy.qr_update(*[detached(x) for x in (Q, R, u, v)], check_finite=check_finite)
    Q, R, u, v = operands(Q, R, u, v)
    return _decomposed(_w.matmul(Q, R) + _w.matmul(u.reshape(u.shape[0], -1), v.reshape(v.shape[0], -1).mH), theirs)


def clarkson_woodruff_transform(input_matrix: Any, sketch_size: Any, rng: Any = None) -> Any:
    """Sketch of a matrix: its product with a random matrix of elements -1, 0 and 1."""
    (x,) = operands(input_matrix)
    sketch = _scipy.clarkson_woodruff_transform(np.eye(x.shape[-2]), sketch_size, rng)
    return _w.matmul(_w.as_tensor(sketch).to(x.dtype), x)


def register(module: Submodule) -> None:
    """Register the functions of this module."""
    global _scipy
    _scipy = module.scipy
    for function in (
        schur, rsf2csf, qz, ordqz, cdf2rdf, hessenberg, matrix_balance, expm_cond, qr_multiply, qr_insert, qr_delete, qr_update,
        clarkson_woodruff_transform,
    ):  # fmt: skip
        module.differentiates()(function)
