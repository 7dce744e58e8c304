"""Bases of subspaces and decompositions that are not unique, of scipy.linalg: SciPy's choice, with derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.array_functions.table import detached, linalg as _ours, w as _w
from wengert.ops.faces import tensor_face
from wengert.scipy._closures import with_values
from wengert.scipy._frame import Submodule, matched, operands

_F: Any = tensor_face
_scipy: Any = None


def _projected(projector: Any, basis: Any) -> Any:
    """Return the orthonormal basis of a projector's range that is nearest to an array, the basis at this place."""
    start = _w.as_tensor(basis).to(projector.dtype)
    image = _w.matmul(projector, start)
    gram = _w.matmul(start.mH, image)
    return with_values(_w.matmul(image, _ours.inv(_F._sqrtm(gram))), basis)


def null_space(
    A: Any, rcond: Any = None, *, overwrite_a: bool = False, check_finite: bool = True, lapack_driver: str = "gesdd"
) -> Any:  # fmt: skip
    """Orthonormal basis of the null space of a matrix: (n, dimension). The basis is SciPy's.

    Derivative: -pinv(A) A' N, by which the basis does not turn inside of the space. The rank must not change nearby."""
    basis = _scipy.null_space(detached(A), rcond, check_finite=check_finite, lapack_driver=lapack_driver)
    (A,) = operands(A)
    return _projected(_w.eye(A.shape[-1], dtype=A.dtype) - _w.matmul(_inverse(A, rcond), A), basis)


def orth(A: Any, rcond: Any = None) -> Any:
    """Orthonormal basis of the range of a matrix: (m, rank). The basis is SciPy's.

    Derivative: (I - A pinv(A)) A' pinv(A) Q, by which the basis does not turn inside of the space. The rank must be constant."""
    basis = _scipy.orth(detached(A), rcond)
    (A,) = operands(A)
    return _projected(_w.matmul(A, _inverse(A, rcond)), basis)


def _inverse(A: Any, rcond: Any) -> Any:
    """Return the pseudoinverse. Singular values below rcond times the largest, SciPy's default if None, count as 0."""
    return _ours.pinv(A, rtol=float(np.finfo(detached(A).dtype).eps) * max(A.shape[-2:]) if rcond is None else rcond)


def funm(A: Any, func: Callable[[Any], Any], disp: bool = True) -> Any:
    """Function of a matrix with a basis of eigenvectors. func: of a vector of complex eigenvalues, made of operations of tensors.

    Derivative: by eigenvalues and vectors, so they must differ. The result is real if A is and the imaginary part vanishes."""
    (A,) = operands(A)
    values, vectors = _ours.eig(A)
    found = _w.matmul(vectors * func(values), _ours.inv(vectors))
    if not A.is_complex() and np.allclose(detached(found).imag, 0.0, atol=1000 * np.finfo(detached(A).dtype).eps):
        found = found.real
    return found if disp else (found, 0.0)


def schur(
    a: Any, output: str = "real", lwork: Any = None, overwrite_a: bool = False, sort: Any = None, check_finite: bool = True
) -> Any:  # fmt: skip
    """Schur form T and unitary Z with a = Z T Z^H. Derivative: for matrices whose eigenvalues, the diagonal of T, are different.

    The columns of Z come from the eigenvectors, in the order of SciPy's T. Each is orthogonal to its own derivative. A real T with
    blocks, which stand for pairs of complex eigenvalues, has no derivative: use output="complex"."""
    if sort is not None:
        return NotImplemented
    triangle, unitary = _scipy.schur(detached(a), output, check_finite=check_finite)
    (a,) = operands(a)
    if not np.iscomplexobj(triangle) and np.any(np.diag(triangle, -1)):
        raise NotImplementedError("A real Schur form with complex eigenvalues has no derivative. Hint: use output='complex'.")
    values, vectors = _ours.eig(a)
    order = matched(detached(values), np.diag(triangle))
    vectors = vectors[:, order] if np.iscomplexobj(triangle) else vectors[:, order].real
    Z = _ours.qr(vectors)[0]
    overlap = _w.sum(_w.as_tensor(unitary.conj()) * Z, 0)
    Z = Z * (overlap.conj() / _w.abs(overlap))
    return with_values(_w.matmul(_w.matmul(Z.mH, a.to(Z.dtype)), Z), triangle), with_values(Z, unitary)


def hessenberg(a: Any, calc_q: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """Hessenberg form H of a real matrix, and Q with a = Q H Q^T if calc_q, by Householder's reflections as LAPACK's."""
    theirs = _scipy.hessenberg(detached(a), True, check_finite=check_finite)
    (H,) = operands(a)
    if H.is_complex():
        return NotImplemented
    n = H.shape[0]
    Q = _w.eye(n, dtype=H.dtype)
    for k in range(n - 2):
        x = H[k + 1 :, k]
        if not np.any(detached(x)[1:]):
            continue
        first = np.zeros(n - k - 1)
        first[0] = -1.0 if detached(x)[0] >= 0 else 1.0
        v = x - _ours.vector_norm(x) * _w.as_tensor(first).to(H.dtype)
        v = _w.cat([_w.zeros(k + 1, dtype=H.dtype), v / _ours.vector_norm(v)])
        reflection = _w.eye(n, dtype=H.dtype) - 2 * v[:, None] * v
        H, Q = _w.matmul(_w.matmul(reflection, H), reflection), _w.matmul(Q, reflection)
    H = with_values(_w.triu(H, -1), theirs[0])
    return (H, with_values(Q, theirs[1])) if calc_q else H


def register(module: Submodule) -> None:
    """Register the functions of this module."""
    global _scipy
    _scipy = module.scipy
    for function in (null_space, orth, funm, schur, hessenberg):
        module.differentiates()(function)
