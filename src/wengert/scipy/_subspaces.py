"""Bases of subspaces, and functions of matrices by their eigenvectors, of scipy.linalg."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.array_functions.table import detached, linalg as _ours, w as _w
from wengert.ops.faces import tensor_face
from wengert.scipy._closures import with_values
from wengert.scipy._frame import Submodule, operands

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


def register(module: Submodule) -> None:
    """Register the functions of this module."""
    global _scipy
    _scipy = module.scipy
    for function in (null_space, orth, funm):
        module.differentiates()(function)
