"""scipy.linalg with derivatives. See _frame.py.

Signs, phases and permutations are SciPy's. A function that reads one triangle of a matrix has derivatives in this triangle alone.
Matrices with a structure (toeplitz, block_diag ...) are in _structured.py, equations and functions of matrices in _equations.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.array_functions.table import detached, linalg as _ours, w as _w
from wengert.ops.faces import tensor_face
from wengert.ops.matrix_equations import transposed_bands
from wengert.scipy import _decompositions, _equations, _structured, _subspaces
from wengert.scipy._frame import Submodule as _Submodule, matched, operands

_F: Any = tensor_face
_module = _Submodule("linalg", globals())
__getattr__, __dir__ = _module.lookups()
_structured.register(_module)
_equations.register(_module)
_subspaces.register(_module)
_decompositions.register(_module)


def _finite(check: bool, *values: Any) -> None:
    """Raise ValueError, as SciPy does, if an argument has an element that is infinite or NaN."""
    if check:
        for x in values:
            if x is not None:
                np.asarray_chkfinite(detached(x))


def hermitian(a: Any, lower: bool) -> Any:
    """Return the Hermitian matrices whose lower or upper triangles are those of a. Diagonals lose their imaginary parts."""
    part = _w.tril(a, -1) if lower else _w.triu(a, 1)
    diagonal = _w.diagonal(a, 0, -2, -1)
    return part + part.mH + _w.diag_embed((diagonal.real + 0 * diagonal) if a.is_complex() else diagonal)


def _square(a: Any) -> Any:
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"expected square matrix, but got the shape {tuple(a.shape)}")
    return a


def _signs(found: Any, theirs: Any, axis: int) -> Any:
    """Factors of modulus 1 that turn the vectors along an axis of `found` into SciPy's. They are constants."""
    product = np.sum(np.conj(detached(found)) * theirs, axis=axis, keepdims=True)
    size = np.abs(product)
    signs = np.where(size > 0, product / np.where(size > 0, size, 1), 1)
    return _w.as_tensor(signs.astype(detached(found).dtype) if found.is_complex() else np.sign(signs.real).astype(theirs.dtype))


def _fixed_phase(v: Any, theirs: Any, place: Any) -> Any:
    """Return vectors, the columns of v, of length 1 and with SciPy's phase: the phase of their elements at `place` is constant.

    place: row for each column, an array; None for real vectors, where only the sign is free."""
    v = v / _ours.vector_norm(v, 2, -2, True)
    if v.is_complex() and place is not None:
        element = _w.take_along_dim(v, _w.as_tensor(np.broadcast_to(place, (*v.shape[:-2], 1, v.shape[-1])).copy()), -2)
        v = v * element.conj() / _w.abs(element)
    return v * _signs(v, theirs, -2)


# -- solves ------------------------------------------------------------------------------------------------------------


def _solved(a: Any, b: Any) -> Any:
    return _ours.solve(a, b[..., None])[..., 0] if b.ndim == 1 else _ours.solve(a, b)


@_module.differentiates()
def _solve(a, b, lower=False, overwrite_a=False, overwrite_b=False, check_finite=True, assume_a=None, transposed=False):
    """Solution of a x = b. a: (..., n, n); b: (n,) or (..., n, k). assume_a: structure of a; "sym", "her", "pos" read a triangle.

    Derivative: with G, the solution of a^H G = ct: G in b, -G x^H in a. Raises LinAlgError if a is singular."""
    _finite(check_finite, a, b)
    a, b = operands(a, b)
    _square(a)
    kind = "gen" if assume_a is None else assume_a
    if kind in ("sym", "symmetric") and a.is_complex():
        part = _w.tril(a, -1) if lower else _w.triu(a, 1)
        a = part + part.mT + _w.diag_embed(_w.diagonal(a, 0, -2, -1))
    elif kind in ("sym", "symmetric", "her", "hermitian", "pos", "positive definite"):
        a = hermitian(a, lower)
    elif kind == "diagonal":
        a = _w.diag_embed(_w.diagonal(a, 0, -2, -1))
    elif kind == "tridiagonal":
        a = _w.tril(_w.triu(a, -1), 1)
    elif kind in ("upper triangular", "lower triangular"):
        a = _w.triu(a) if kind[0] == "u" else _w.tril(a)
    elif kind not in ("gen", "general", "banded"):
        raise ValueError(f"{kind} is not a recognized matrix structure")
    return _solved(a.mT if transposed else a, b)


@_module.differentiates()
def _solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, check_finite=True):
    """Solution of a x = b for triangular a. trans: 1 or "T" for a^T, 2 or "C" for a^H. Derivative: in the triangle of a, and b."""
    _finite(check_finite, a, b)
    a, b = operands(a, b)
    _square(a)
    if trans not in (0, 1, 2, "N", "T", "C"):
        raise ValueError(f"trans must be 0, 1, 2, 'N', 'T' or 'C', but it is {trans!r}")
    turned = trans not in (0, "N")
    if turned:
        a = a.mT if trans in (1, "T") else a.mH
    rows = b[..., None] if b.ndim == 1 else b
    found = _ours.solve_triangular(a, rows, upper=bool(lower) == turned, unitriangular=unit_diagonal)
    return found[..., 0] if b.ndim == 1 else found


@_module.differentiates()
def _solve_banded(l_and_u, ab, b, overwrite_ab=False, overwrite_b=False, check_finite=True):
    """Solution of a x = b for a banded matrix a, whose diagonals are the rows of ab. b: (n,) or (n, k).

    Derivative: with G, the solution of a^H G = ct: G in b; in ab the elements of -G x^H on the diagonals."""
    _finite(check_finite, ab, b)
    ab, b = operands(ab, b)
    lower, upper = [int(x) for x in l_and_u]
    if ab.shape[-1] != b.shape[0]:
        raise ValueError(f"shapes of ab {tuple(ab.shape)} and b {tuple(b.shape)} are not compatible")
    if lower + upper + 1 != ab.shape[0]:
        raise ValueError(f"invalid values for the number of lower and upper diagonals: l+u+1 ({lower + upper + 1}) "
                         f"does not equal ab.shape[0] ({ab.shape[0]})")  # fmt: skip
    return _banded(ab, b, lower, upper)


def _banded(ab: Any, b: Any, lower: int, upper: int) -> Any:
    found = _F._solve_banded(ab, b.reshape(b.shape[0], -1), lower=lower, upper=upper)
    return found.reshape(b.shape)


def _both_bands(ab: Any, lower: bool) -> Any:
    """Return the bands of the Hermitian matrix whose lower or upper bands are ab. The main diagonal is real."""
    count = ab.shape[0] - 1
    main = ab[:1] if lower else ab[count:]
    main = main.real + 0 * main if ab.is_complex() else main
    if lower:
        above = transposed_bands(_F, ab, count, 0)[:count].conj()
        return _w.cat([above, main, ab[1:]], 0)
    below = transposed_bands(_F, ab, 0, count)[1:].conj()
    return _w.cat([ab[:count], main, below], 0)


@_module.differentiates()
def _solveh_banded(ab, b, overwrite_ab=False, overwrite_b=False, lower=False, check_finite=True):
    """Solution of a x = b for a positive definite banded matrix, whose lower or upper diagonals are the rows of ab."""
    _finite(check_finite, ab, b)
    ab, b = operands(ab, b)
    return _banded(_both_bands(ab, lower), b, ab.shape[0] - 1, ab.shape[0] - 1)


@_module.differentiates()
def _inv(a, overwrite_a=False, check_finite=True, *, assume_a=None, lower=False):
    """Inverse. Derivative: -inv^H ct inv^H. Raises LinAlgError if a is singular."""
    _finite(check_finite, a)
    (a,) = operands(a)
    if assume_a not in (None, "gen", "general"):
        return _solve(a, _w.eye(_square(a).shape[-1], dtype=a.dtype), lower=lower, assume_a=assume_a)
    return _ours.inv(_square(a))


@_module.differentiates()
def _det(a, overwrite_a=False, check_finite=True):
    """Determinant. Derivative: the matrix of cofactors, also for singular matrices."""
    _finite(check_finite, a)
    return _ours.det(_square(*operands(a)))


@_module.differentiates()
def _lstsq(a, b, cond=None, overwrite_a=False, overwrite_b=False, check_finite=True, lapack_driver=None):
    """Least squares: (x, residues, rank, singular values). The rank has no derivative."""
    _finite(check_finite, a, b)
    theirs = _module.scipy.lstsq(detached(a), detached(b), cond=cond, lapack_driver=lapack_driver)
    a, b = operands(a, b)
    m, n = a.shape[-2:]
    if cond is None:
        cond = np.finfo(_w.empty(0, dtype=a.dtype).real.numpy().dtype).eps
    x = _w.matmul(_ours.pinv(a, rtol=cond), b)
    residues = _w.as_tensor(np.asarray(theirs[1]))
    if residues.numel() and theirs[2] == n and m > n:
        difference = b - _w.matmul(a, x)
        residues = _w.sum(_w.square(_w.abs(difference)), 0)
    return x, residues, theirs[2], None if theirs[3] is None else _ours.svdvals(a)


@_module.differentiates()
def _pinv(a, *, atol=None, rtol=None, return_rank=False, check_finite=True):
    """Pseudo-inverse. Singular values below atol + rtol times the largest count as 0."""
    return _pseudo_inverse(a, atol, rtol, return_rank, check_finite, None)


@_module.differentiates()
def _pinvh(a, atol=None, rtol=None, lower=True, return_rank=False, check_finite=True):
    """Pseudo-inverse of a Hermitian matrix, of which one triangle is read."""
    return _pseudo_inverse(a, atol, rtol, return_rank, check_finite, lower)


def _pseudo_inverse(a: Any, atol: Any, rtol: Any, return_rank: bool, check: bool, lower: bool | None) -> Any:
    _finite(check, a)
    (a,) = operands(a)
    a = a if lower is None else hermitian(_square(a), lower)
    values = np.linalg.svd(detached(a), compute_uv=False)
    relative = max(a.shape[-2:]) * np.finfo(values.dtype).eps if rtol is None else rtol
    threshold = (0.0 if atol is None else atol) + relative * values.max(axis=-1, initial=0.0)
    found = _ours.pinv(a, atol=float(threshold) if np.ndim(threshold) == 0 else _w.as_tensor(threshold), rtol=0.0)
    return (found, int(np.sum(values > threshold))) if return_rank else found


# -- Cholesky ----------------------------------------------------------------------------------------------------------


@_module.differentiates()
def _cholesky(a, lower=False, overwrite_a=False, check_finite=True):
    """Cholesky factor of a positive definite matrix, of which one triangle is read. LinAlgError if it is not one."""
    _finite(check_finite, a)
    found = _ours.cholesky(hermitian(_square(*operands(a)), lower))
    return found if lower else found.mH


@_module.differentiates()
def _cho_factor(a, lower=False, overwrite_a=False, check_finite=True):
    """Cholesky factor for cho_solve: (factor, lower). The other triangle holds the elements of a."""
    found = _cholesky(a, lower, check_finite=check_finite)
    (a,) = operands(a)
    return found + (_w.triu(a, 1) if lower else _w.tril(a, -1)), lower


@_module.differentiates()
def _cho_solve(c_and_lower, b, overwrite_b=False, check_finite=True):
    """Solution of a x = b by the Cholesky factor of a. Derivative: in the triangle of the factor, and b."""
    c, lower = c_and_lower
    _finite(check_finite, c, b)
    c, b = operands(c, b)
    first = _solve_triangular(c, b, 0 if lower else 2, lower)
    return _solve_triangular(c, first, 2 if lower else 0, lower)


@_module.differentiates()
def _cholesky_banded(ab, overwrite_ab=False, lower=False, check_finite=True):
    """Cholesky factor of a banded matrix, as bands. The matrix is made dense for it: the cost is n**3."""
    _finite(check_finite, ab)
    (ab,) = operands(ab)
    bands = _structured.to_bands(_cholesky(_structured.from_bands(ab, lower), lower), ab.shape[0] - 1, lower)
    return bands + _structured.outside(ab, lower)  # SciPy leaves the places outside the matrix as they are


@_module.differentiates()
def _cho_solve_banded(cb_and_lower, b, overwrite_b=False, check_finite=True):
    """Solution of a x = b by the banded Cholesky factor of a."""
    c, lower = cb_and_lower
    _finite(check_finite, c, b)
    c, b = operands(c, b)
    count = c.shape[0] - 1
    below = c if lower else transposed_bands(_F, c, 0, count).conj()
    above = transposed_bands(_F, c, count, 0).conj() if lower else c
    return _banded(above, _banded(below, b, count, 0), 0, count)


# -- LU, QR, LDL -------------------------------------------------------------------------------------------------------


@_module.differentiates()
def _lu(a, permute_l=False, overwrite_a=False, check_finite=True, p_indices=False):
    """LU decomposition a = P L U. Derivative: that of L and U; the permutation is constant."""
    _finite(check_finite, a)
    permutation, lower, upper = _ours.lu(*operands(a))
    if permute_l:
        return _w.matmul(permutation, lower), upper
    if p_indices:
        return _w.argmax(permutation.real, -1).to(_w.tensor(np.zeros(0, np.int32)).dtype), lower, upper
    return permutation.real if permutation.is_complex() else permutation, lower, upper


@_module.differentiates()
def _lu_factor(a, overwrite_a=False, check_finite=True):
    """LU decomposition for lu_solve: (L and U in one matrix, pivots counted from 0)."""
    _finite(check_finite, a)
    lu, pivots = _ours.lu_factor(*operands(a))
    return lu, pivots - 1


@_module.differentiates()
def _lu_solve(lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True):
    """Solution of a x = b by the LU decomposition of a. trans: 1 for a^T, 2 for a^H."""
    lu, pivots = lu_and_piv
    _finite(check_finite, lu, b)
    lu, b = operands(lu, b)
    order = np.arange(lu.shape[-1])
    for i, j in enumerate(np.asarray(detached(pivots))):
        order[[i, j]] = order[[j, i]]
    if trans == 0:
        return _solve_triangular(lu, _solve_triangular(lu, b[order], 0, True, True), 0, False)
    found = _solve_triangular(lu, _solve_triangular(lu, b, trans, False), trans, True, True)
    return found[np.argsort(order)]


@_module.differentiates()
def _qr(a, overwrite_a=False, lwork=None, mode="full", pivoting=False, check_finite=True):
    """QR decomposition. mode: "full", "r", "economic"; pivoting: also return the permutation of the columns, which is constant."""
    _finite(check_finite, a)
    if mode not in ("full", "r", "economic"):
        return NotImplemented
    (a,) = operands(a)
    more: tuple[Any, ...] = ()
    if pivoting:
        order = _module.scipy.qr(detached(a), mode="r", pivoting=True)[-1]
        a, more = a[..., order], (_w.as_tensor(order),)
    if mode == "r" and a.shape[-2] > a.shape[-1]:
        upper = _ours.qr(a)[1]
        rest = _w.zeros((*a.shape[:-2], a.shape[-2] - a.shape[-1], a.shape[-1]), dtype=a.dtype)
        return (_w.cat([upper, rest], -2), *more)
    q, r = _ours.qr(a, "complete" if mode == "full" else "reduced")
    return (r, *more) if mode == "r" else (q, r, *more)


@_module.differentiates()
def _rq(a, overwrite_a=False, lwork=None, mode="full", check_finite=True):
    """RQ decomposition a = R Q of a matrix with at most as many rows as columns; of square ones if mode is "full"."""
    _finite(check_finite, a)
    (a,) = operands(a)
    m, n = a.shape
    if m > n or (mode != "economic" and m != n):
        return NotImplemented
    q, r = _ours.qr(_w.flip(a, (0,)).mH)
    r, q = _w.flip(r.mH, (0, 1)), _w.flip(q.mH, (0,))
    signs = _signs(q, _module.scipy.rq(detached(a), mode=mode)[1], -1)
    return (r * signs.conj().mT, q * signs) if mode != "r" else r * signs.conj().mT


@_module.differentiates()
def _ldl(A, lower=True, hermitian=True, overwrite_a=False, check_finite=True):
    """Block LDL decomposition (factor, blocks, permutation). The pivots, of one and of two rows, are SciPy's and constant."""
    _finite(check_finite, A)
    _, blocks, order = _module.scipy.ldl(detached(A), lower, hermitian)
    (a,) = operands(A)
    n = a.shape[-1]
    flip = hermitian and a.is_complex()
    part = _w.tril(a, -1) if lower else _w.triu(a, 1)
    diagonal = _w.diagonal(a)
    a = part + (part.mH if flip else part.mT) + _w.diag(diagonal.real + 0 * diagonal if flip else diagonal)
    if not lower:  # the factor is upper triangular: eliminate from the last row on
        order = order[::-1]
    rest = a[order][:, order]
    pairs = np.abs(np.diag(blocks, -1 if lower else 1))
    pairs = pairs if lower else pairs[::-1]
    columns, pivots, k = [], [], 0
    while k < n:
        size = 2 if k < n - 1 and pairs[k] != 0 else 1
        pivot = rest[:size, :size]
        below = _ours.solve(pivot.mT, rest[size:, :size].mT).mT
        eye = _w.eye(size, dtype=a.dtype)
        columns.append(_w.cat([_w.zeros((k, size), dtype=a.dtype), eye, below], 0))
        pivots.append(pivot)
        rest = rest[size:, size:] - _w.matmul(_w.matmul(below, pivot), below.mH if flip else below.mT)
        k += size
    factor, middle = _w.cat(columns, 1), _w.block_diag(*pivots)
    places = np.argsort(order)
    if lower:
        return factor[places], middle, _w.as_tensor(order)
    return _w.flip(factor, (1,))[places], _w.flip(middle, (0, 1)), _w.as_tensor(order[::-1].copy())


# -- eigenvalues and singular values -----------------------------------------------------------------------------------


@_module.differentiates()
def _svd(a, full_matrices=True, compute_uv=True, overwrite_a=False, check_finite=True, lapack_driver="gesdd"):
    """Singular value decomposition. Derivative: of complex matrices only for functions that do not depend on the phases."""
    _finite(check_finite, a)
    (a,) = operands(a)
    if not compute_uv:
        return _ours.svdvals(a)
    u, s, vh = _ours.svd(a, full_matrices)
    theirs = _module.scipy.svd(detached(a), full_matrices=full_matrices, lapack_driver=lapack_driver)
    k = s.shape[-1]
    if full_matrices and (u.shape[-1] > k or vh.shape[-2] > k):
        return u, s, vh
    signs = _signs(u, theirs[0], -2)
    return u * signs, s, vh * signs.conj().mT


@_module.differentiates()
def _svdvals(a, overwrite_a=False, check_finite=True):
    """Singular values, the largest first."""
    _finite(check_finite, a)
    return _ours.svdvals(*operands(a))


@_module.differentiates()
def _eigh(
    a, b=None, *, lower=True, eigvals_only=False, overwrite_a=False, overwrite_b=False, type=1, check_finite=True,
    subset_by_index=None, subset_by_value=None, driver=None,
):  # fmt: skip
    """Eigenvalues and vectors of a Hermitian matrix, of which one triangle is read, or of a pair of matrices (type 1, 2, 3).

    Derivative: that of LAPACK's signs. Complex vectors have the phase that LAPACK gives them: one element is real."""
    _finite(check_finite, a, b)
    if subset_by_index is not None and subset_by_value is not None:
        raise ValueError("Either index or value subset can be requested.")
    given = [None if x is None else detached(x) for x in (a, b)]
    a, b = operands(a, b)
    a = hermitian(_square(a), lower)
    if b is None:
        values, vectors = (_ours.eigvalsh(a), a) if eigvals_only else _ours.eigh(a)
    else:
        factor = _ours.cholesky(hermitian(_square(b), lower))
        if type == 1:
            half = _ours.solve_triangular(factor, a, upper=False)
            reduced = _ours.solve_triangular(factor, half.mH, upper=False)
        elif type in (2, 3):
            reduced = _w.matmul(_w.matmul(factor.mH, a), factor)
        else:
            raise ValueError('"type" keyword only accepts 1, 2, and 3.')
        values, vectors = _ours.eigh(0.5 * (reduced + reduced.mH))
        vectors = _w.matmul(factor, vectors) if type == 3 else _ours.solve_triangular(factor.mH, vectors, upper=True)
    chosen = slice(None)
    if subset_by_index is not None:
        chosen = slice(int(subset_by_index[0]), int(subset_by_index[1]) + 1)
    elif subset_by_value is not None:
        numbers = detached(values)
        places = np.flatnonzero((numbers > subset_by_value[0]) & (numbers <= subset_by_value[1]))
        chosen = slice(int(places[0]), int(places[-1]) + 1) if places.size else slice(0, 0)
    values = values[..., chosen]
    if eigvals_only:
        return values
    theirs = _module.scipy.eigh(
        *given, lower=lower, type=type, subset_by_index=subset_by_index, subset_by_value=subset_by_value, driver=driver
    )[1]
    vectors = vectors[..., chosen]
    if not vectors.is_complex():
        return values, vectors * _signs(vectors, theirs, -2)
    size = _ours.vector_norm(vectors, 2, -2, True)
    row = np.argmin(np.abs(theirs.imag).sum(axis=-1), axis=-1)[..., None, None]  # the row that LAPACK makes real
    return values, size * _fixed_phase(vectors, theirs, row)


@_module.differentiates()
def _eigvalsh(
    a, b=None, *, lower=True, overwrite_a=False, overwrite_b=False, type=1, check_finite=True, subset_by_index=None,
    subset_by_value=None, driver=None,
):  # fmt: skip
    """Eigenvalues of a Hermitian matrix, of which one triangle is read, or of a pair of matrices, in ascending order."""
    settings = {"subset_by_index": subset_by_index, "subset_by_value": subset_by_value}
    return _eigh(a, b, lower=lower, eigvals_only=True, type=type, check_finite=check_finite, **settings)


@_module.differentiates()
def _eig(a, b=None, left=False, right=True, overwrite_a=False, overwrite_b=False, check_finite=True, homogeneous_eigvals=False):
    """Eigenvalues and vectors of a matrix, or of a x = value b x. Vectors have length 1, and their largest element is real."""
    _finite(check_finite, a, b)
    if homogeneous_eigvals:
        return NotImplemented
    theirs = _module.scipy.eig(detached(a), None if b is None else detached(b), left=left, right=right)
    a, b = operands(a, b)
    values, vectors = _ours.eig(_square(a) if b is None else _ours.solve(b, a))
    if not left and not right:
        return values[matched(detached(values), theirs)]
    first = theirs[0]
    order = matched(detached(values), first)
    values, vectors = values[order], vectors[:, order]
    found = [values]
    if left:  # the rows of the inverse are the conjugate left vectors
        rows = _ours.inv(vectors if b is None else _w.matmul(b.to(vectors.dtype), vectors))
        found.append(_fixed_phase(rows.mH, theirs[1], _largest(theirs[1])))
    if right:
        found.append(_fixed_phase(vectors, theirs[-1], _largest(theirs[-1])))
    real = [x.dtype.kind != "c" for x in theirs]
    return tuple([x.real if is_real else x for x, is_real in zip(found, real, strict=True)])


def _largest(vectors: Any) -> Any:
    return np.argmax(np.abs(vectors), axis=0)[None, :]


@_module.differentiates()
def _eigvals(a, b=None, overwrite_a=False, check_finite=True, homogeneous_eigvals=False):
    """Eigenvalues of a matrix, or of a x = value b x; complex."""
    return _eig(a, b, False, False, check_finite=check_finite, homogeneous_eigvals=homogeneous_eigvals)


def _selection(select: Any, select_range: Any) -> dict[str, Any]:
    if select in ("a", "all", 0):
        return {}
    name = "subset_by_value" if select in ("v", "value", 1) else "subset_by_index"
    return {name: select_range}


@_module.differentiates()
def _eig_banded(
    a_band, lower=False, eigvals_only=False, overwrite_a_band=False, select="a", select_range=None, max_ev=0, check_finite=True
):
    """Eigenvalues and vectors of a Hermitian banded matrix. The matrix is made dense."""
    _finite(check_finite, a_band)
    (bands,) = operands(a_band)
    full = _structured.from_bands(bands, lower)
    found = _eigh(full, lower=lower, eigvals_only=eigvals_only, **_selection(select, select_range))
    if eigvals_only:
        return found
    theirs = _module.scipy.eig_banded(detached(a_band), lower, select=select, select_range=select_range)[1]
    return found[0], found[1] * _signs(found[1], theirs, -2)


@_module.differentiates()
def _eigvals_banded(a_band, lower=False, overwrite_a_band=False, select="a", select_range=None, check_finite=True):
    """Eigenvalues of a Hermitian banded matrix. The matrix is made dense."""
    return _eig_banded(a_band, lower, True, select=select, select_range=select_range, check_finite=check_finite)


@_module.differentiates()
def _eigh_tridiagonal(d, e, eigvals_only=False, select="a", select_range=None, check_finite=True, tol=0.0, lapack_driver="auto"):
    """Eigenvalues and vectors of a real symmetric tridiagonal matrix with the diagonal d and the off-diagonal e."""
    _finite(check_finite, d, e)
    given = detached(d), detached(e)
    d, e = operands(d, e)
    found = _eigh(_w.diag(d) + _w.diag(e, -1), eigvals_only=eigvals_only, **_selection(select, select_range))
    if eigvals_only:
        return found
    theirs = _module.scipy.eigh_tridiagonal(*given, select=select, select_range=select_range, lapack_driver=lapack_driver)[1]
    return found[0], found[1] * _signs(found[1], theirs, -2)


@_module.differentiates()
def _eigvalsh_tridiagonal(d, e, select="a", select_range=None, check_finite=True, tol=0.0, lapack_driver="auto"):
    """Eigenvalues of a real symmetric tridiagonal matrix with the diagonal d and the off-diagonal e."""
    return _eigh_tridiagonal(d, e, True, select, select_range, check_finite)


@_module.differentiates()
def _polar(a, side="right"):
    """Polar decomposition (u, p): a = u p, or p u if side is "left", p positive semidefinite."""
    (a,) = operands(a)
    if side not in ("right", "left"):
        raise ValueError("`side` must be either 'right' or 'left'")
    u, s, vh = _ours.svd(a, False)
    values = s[..., None, :]
    middle = _w.matmul(vh.mH * values, vh) if side == "right" else _w.matmul(u * values, u.mH)
    return _w.matmul(u, vh), middle


@_module.differentiates()
def _norm(a, ord=None, axis=None, keepdims=False, check_finite=True):
    """Norm of a vector or matrix. Derivative: 0 at 0 for the 2-norm and the Frobenius norm."""
    _finite(check_finite, a)
    (a,) = operands(a)
    if axis is None and ord is None:
        found = _ours.vector_norm(a)
        return found.reshape((1,) * a.ndim) if keepdims else found
    if ord == "fro" and axis is None and a.ndim == 1:
        raise ValueError("Invalid norm order 'fro' for vectors")
    return _ours.norm(a, ord, axis if axis is None or isinstance(axis, int) else tuple(axis), keepdims)


@_module.differentiates()
def _subspace_angles(A, B):
    """Angles between the column spaces of two matrices of full rank, the largest first."""
    A, B = operands(A, B)
    qa, qb = _ours.qr(A)[0], _ours.qr(B)[0]
    if qa.shape[1] < qb.shape[1]:
        qa, qb = qb, qa
    product = _w.matmul(qa.mH, qb)
    cosines = _ours.svdvals(product)
    sines = _w.flip(_w.clamp(_ours.svdvals(qb - _w.matmul(qa, product)), -1.0, 1.0), (0,))
    small = cosines.detach() ** 2 >= 0.5
    angles = _w.where(small, _w.arcsin(_w.where(small, sines, 0.5)), _w.arccos(_w.where(small, 0.5, _w.clamp(cosines, -1.0, 1.0))))
    return _w.flip(angles, (0,))


@_module.differentiates()
def _orthogonal_procrustes(A, B, check_finite=True):
    """Orthogonal matrix nearest to mapping A to B, and the sum of the singular values of A^H B."""
    _finite(check_finite, A, B)
    A, B = operands(A, B)
    u, s, vh = _ours.svd(_w.matmul(B.mT, A.conj()).mT, False)
    return _w.matmul(u, vh), _w.sum(s, -1)


_TABLES = """
    bandwidth dft find_best_blas_type get_blas_funcs get_lapack_funcs hadamard helmert hilbert invhilbert invpascal ishermitian
    issymmetric pascal
"""
_module.constant("The result is a condition, a size or a table of numbers.", *_TABLES.split())
_module.refuse("It takes matrices that stay unitary: use svd of a block.", "cossin")
