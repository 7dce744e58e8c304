"""Pseudoinverse, rank, least squares, condition number, tensors as matrices, and functions that return info instead of raising."""

from __future__ import annotations

from math import inf, prod
from typing import Any

import numpy as np

from wengert import dtypes, errors, return_types
from wengert._forks import import_late
from wengert.backends.selection import backend_of
from wengert.ops.dims import as_dims, normalize_dim
from wengert.ops.indices import checked, raw
from wengert.ops.matrices import adjoint, check_matrix, check_square, each_matrix, lapack_function, zero_pivot
from wengert.ops.registry import bilinear, composite, general, nondifferentiable

_PRIVATE: dict[str, Any] = {"method": False, "namespaces": ()}
_LINALG: dict[str, Any] = {"namespaces": ("linalg",)}


# -- the pseudoinverse -------------------------------------------------------------------------------------------------


def _threshold(xp: Any, largest: Any, A: Any, atol: Any, rtol: Any) -> Any:
    """Threshold below which a singular value counts as zero: max(atol, rtol * largest).

    If neither atol > 0 nor rtol is given, rtol is the dtype's epsilon times the larger size of A."""
    atol = None if atol is None else getattr(atol, "_array", atol)
    rtol = None if rtol is None else getattr(rtol, "_array", rtol)
    if rtol is None:
        given = atol is not None and bool(xp.any(xp.asarray(atol) > 0))
        rtol = 0.0 if given else float(np.finfo(A.dtype).eps) * max(A.shape[-2:])
    return xp.maximum(0.0 if atol is None else atol, rtol * largest)


def _largest_value(xp: Any, S: Any) -> Any:
    """Largest singular value of each matrix, or 0."""
    return xp.max(S, axis=-1) if S.shape[-1] else xp.zeros(S.shape[:-1], S.dtype)


def _call_lapack(function: Any, A: Any, **arguments: Any) -> Any:
    """function(A). Raises torch's error if LAPACK fails."""
    xp = backend_of(A)
    try:
        return function(A, **arguments)
    except xp.linalg.LinAlgError:
        raise errors.svd_not_finite() from None


@general(node="LinalgPinvBackward0", **_PRIVATE)
def _pinv(xp, A, *, atol, rtol, hermitian):
    """linalg_pinv."""
    if hermitian:
        check_square("linalg.eigh", A)
        values, V = _call_lapack(xp.linalg.eigh, A)
        S = xp.abs(values)
        left, right = V, xp.swapaxes(V.conj(), -1, -2)
    else:
        check_matrix("linalg.pinv", A)
        U, values, Vh = _call_lapack(xp.linalg.svd, A, full_matrices=False)
        S = values
        left, right = xp.swapaxes(Vh.conj(), -1, -2), xp.swapaxes(U.conj(), -1, -2)
    keep = xp.asarray(_threshold(xp, _largest_value(xp, S), A, atol, rtol))[..., None] < S
    inverse = xp.where(keep, xp.reciprocal(values), values.dtype.type(0))
    return xp.matmul(left * inverse[..., None, :], right)


@_pinv.vjp("A")
def _(F, ct, A, out):
    ct_h, out_h = adjoint(F, ct), adjoint(F, out)
    # (I - A P) ct^H P P^H and P^H P ct^H (I - P A), in an order in which no product is larger than A.
    inner = F.matmul(ct_h, out)
    inner = F.matmul(inner - F.matmul(A, F.matmul(out, inner)), out_h)
    outer = F.matmul(out, ct_h)
    outer = F.matmul(out_h, outer - F.matmul(F.matmul(outer, out), A))
    return inner + outer - F.matmul(F.matmul(out_h, ct), out_h)


@composite(**_LINALG, aliases={"input": "A"})
def linalg_pinv(F, A, rcond=None, hermitian=False, *, atol=None, rtol=None):
    """Moore-Penrose pseudoinverse P of a matrix, or of each matrix of a batch. A: (..., m, n); returns (..., n, m).

    Singular values up to max(atol, rtol * largest) count as zero. If neither is given, rtol is the dtype's epsilon times
    max(m, n). rcond: an older name for rtol. hermitian: A is Hermitian, and only its lower triangle is read.

    Derivative: -P^H ct P^H + (I - A P) ct^H P P^H + P^H P ct^H (I - P A), if the rank is constant around A (G. Golub and
    V. Pereyra, 1973)."""
    return F._pinv(A, atol=atol, rtol=rcond if rtol is None else rtol, hermitian=hermitian)


@composite(**_LINALG, aliases={"input": "A"})
def linalg_matrix_rank(F, A, tol=None, hermitian=False, *, atol=None, rtol=None):
    """Rank of a matrix: the number, as int64, of singular values above max(atol, rtol * largest). A: (..., m, n).

    atol, rtol, hermitian: as in `linalg.pinv`. tol: an older name for atol. Not differentiable."""
    return F._matrix_rank(A, atol=tol if atol is None else atol, rtol=rtol, hermitian=hermitian)


@nondifferentiable(**_PRIVATE)
def _matrix_rank(xp, A, *, atol, rtol, hermitian):
    """linalg_matrix_rank."""
    check_matrix("linalg.matrix_rank", A)
    S = xp.abs(_call_lapack(xp.linalg.eigvalsh, A)) if hermitian else _call_lapack(xp.linalg.svd, A, compute_uv=False)
    limit = xp.asarray(_threshold(xp, _largest_value(xp, S), A, atol, rtol))
    return xp.asarray(xp.count_nonzero(limit[..., None] < S, axis=-1)).astype(xp.int64)


# -- least squares -----------------------------------------------------------------------------------------------------

_DRIVERS = {None: "gelsy", "gelsy": "gelsy", "gelsd": "gelsd", "gelss": "gelss", "gels": "gelsy"}


@general(outputs=("solution", "rank", "singular_values"), node="LinalgLstsqBackward0", **_PRIVATE)
def _lstsq(xp, A, B, *, rcond, driver):
    """linalg_lstsq of A and B with the same batch dimensions."""
    lstsq = import_late("scipy.linalg").lstsq
    if A.dtype.kind not in "fc" or A.dtype.itemsize == 2:
        raise errors.UnsupportedDtypeError("This function doesn't handle types other than float and double")
    limit = np.finfo(A.dtype).eps * max(A.shape[-2:]) if rcond is None else rcond
    k = min(A.shape[-2:])
    real = A.real.dtype

    def solve(a: Any, b: Any) -> tuple[Any, Any, Any]:
        if not a.size or not b.size:
            return xp.zeros((a.shape[1], b.shape[1]), a.dtype), xp.int64(0), xp.zeros(k, real)
        x, _, rank, values = lstsq(a, b, limit, lapack_driver=_DRIVERS[driver], check_finite=False)
        return x, xp.int64(rank), xp.zeros(k, real) if values is None else values

    return each_matrix(solve, A.shape[:-2], A, B)


@nondifferentiable(**_PRIVATE)
def _detached_copy(xp, x):
    """A copy of x that is not differentiable."""
    return x.copy()


@_lstsq.vjp("A", "B")
def _(F, ct, A, B):
    inverse = F.linalg_pinv(A)
    of_solution = ct[0]
    # The derivative of pinv(A) @ B.
    of_B = F.matmul(adjoint(F, inverse), of_solution)
    residual = B - F.matmul(A, F.matmul(inverse, B))
    of_A = -F.matmul(of_B, adjoint(F, F.matmul(inverse, B)))
    of_A = of_A + F.matmul(residual, F.matmul(adjoint(F, of_solution), F.matmul(inverse, adjoint(F, inverse))))
    beyond = of_solution - F.matmul(adjoint(F, A), of_B)
    of_A = of_A + F.matmul(
        adjoint(F, inverse), F.matmul(F.matmul(inverse, B), adjoint(F, beyond))
    )
    return of_A, of_B


@composite(**_LINALG)
def linalg_lstsq(F, A, B, rcond=None, *, driver=None):
    """Least squares: the X that minimises |A @ X - B|, and |X| among these.

    A: (..., m, n). B: (..., m, k), or (..., m), a vector for each matrix. rcond: singular values up to rcond times the
    largest count as zero. driver: the LAPACK routine, "gelsy" (the default), "gelsd", "gelss" or "gels". Raises RuntimeError
    for shapes and drivers that do not fit.

    Returns a named tuple (solution, residuals, rank, singular_values). residuals: (..., k), the sums of squares, if m > n,
    all ranks are full and the driver is not gelsy; else empty. rank: int64, empty for gels. singular_values: empty unless
    the driver is gelsd or gelss.

    Derivative: that of pinv(A) @ B, if the rank is constant around A."""
    if A.ndim < 2:
        raise errors.ShapeError("torch.linalg.lstsq: input must have at least 2 dimensions.")
    if driver not in _DRIVERS:
        raise errors.ShapeError("torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    vector = B.ndim == A.ndim - 1
    if B.ndim < 1 or A.shape[-2] != B.shape[-1 if vector else -2]:
        raise errors.ShapeError(f"torch.linalg.lstsq: input.size(-2) should match other.size({-1 if vector else -2})")
    B = F.unsqueeze(B, dim=-1) if vector else B
    batch = np.broadcast_shapes(tuple(A.shape[:-2]), tuple(B.shape[:-2]))
    A, B = F.expand(A, shape=(*batch, *A.shape[-2:])), F.expand(B, shape=(*batch, *B.shape[-2:]))
    X, rank, values = F._lstsq(A, B, rcond=rcond, driver=driver)
    m, n = A.shape[-2:]
    residuals = F.reshape(F.abs(F.narrow(X, -1, 0, 0)), shape=(0,))
    if driver not in (None, "gelsy") and m > n and bool((rank == n).all()):
        residuals = F.sum(F.square(F.abs(F.matmul(A, X) - B)), dim=-2)
    values = F._detached_copy(values) if driver in ("gelsd", "gelss") else F._no_elements(values)
    X = F.squeeze(X, dim=-1) if vector else X
    return return_types.linalg_lstsq((X, residuals, F._no_elements(rank) if driver == "gels" else rank, values))


# -- condition ---------------------------------------------------------------------------------------------------------


@composite(**_LINALG)
def linalg_cond(F, A, p=None):
    """Condition number |A| * |A^-1| in the norm p. Infinite for a singular A, or huge if rounding makes A regular.

    For p = -2 it is 0 for a singular A. For p = None, 2 or -2 it is NaN for a matrix of zeros.

    p: None or 2, the quotient of the largest and the smallest singular value; -2, the inverse quotient; "fro", "nuc", inf,
    -inf, 1 or -1. A: (..., n, n), or (..., m, n) if p is None, 2 or -2. Raises RuntimeError for another p or shape.

    Derivative: that of the quotient, or of the product of the norms."""
    if A.ndim < 2:
        raise errors.ShapeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if 0 in A.shape[-2:] and (p in (None, 2, -2) or A.shape[-1] == A.shape[-2]):
        return F.new_zeros(A, size=A.shape[:-2])
    if p in (None, 2, -2):
        S = F.linalg_svdvals(A)
        largest, smallest = F.narrow(S, -1, 0, 1), F.narrow(S, -1, S.shape[-1] - 1, 1)
        return F.squeeze(smallest / largest if p == -2 else largest / smallest, dim=-1)
    if p not in ("fro", "nuc", inf, -inf, 1, -1):
        raise errors.ShapeError(f"linalg.cond got an invalid norm type: {p}")
    if A.shape[-1] != A.shape[-2]:
        raise errors.square_matrix(f"linalg.cond(ord={p})", A.shape)
    inverse, info = F.linalg_inv_ex(A)
    found = F.linalg_matrix_norm(A, p) * F.linalg_matrix_norm(inverse, p)
    return F.where(info != 0, inf, found)


# -- forms that report -------------------------------------------------------------------------------------------------


@nondifferentiable(**_PRIVATE)
def _zero_pivots(xp, A):
    """Index of the first zero pivot in the LU decomposition of each matrix, counted from 1, or 0: int32."""
    check_square("linalg.inv", A)
    return each_matrix(lambda matrix: (xp.int32(zero_pivot(matrix) if matrix.size else 0),), A.shape[:-2], A)[0]


@nondifferentiable(**_PRIVATE)
def _indefinite_minors(xp, A):
    """Order of the first leading minor of each matrix that is not positive definite, or 0: int32."""
    check_square("linalg.cholesky", A)
    factor = lapack_function("potrf", A.dtype)
    return each_matrix(lambda a: (xp.int32(max(0, factor(a, lower=1)[1]) if a.size else 0),), A.shape[:-2], A)[0]


def _any_failed(info: Any) -> bool:
    """Whether an info is nonzero: some matrix failed."""
    xp = backend_of(info)
    return bool(xp.count_nonzero(raw(info)))


def _replace_failed(F: Any, A: Any, info: Any) -> Any:
    """Return (A with the identity in place of each failed matrix, whether each matrix failed: (..., 1, 1))."""
    bad = F.unsqueeze(F.unsqueeze(info != 0, dim=-1), dim=-1)
    return F.where(bad, F._identity(A), A), bad


@composite(**_LINALG)
def linalg_inv_ex(F, A, *, check_errors=False):
    """`linalg.inv` that raises for a singular matrix only if check_errors: a named tuple (inverse, info).

    A: (..., n, n). info: (...), int32: 0, or the index of the zero pivot, counted from 1. The inverse of a singular matrix is
    NaN.

    Derivative: as in `linalg.inv`."""
    info = F._zero_pivots(checked("linalg_inv_ex", A, "A"))
    if check_errors or not _any_failed(info):
        return return_types.linalg_inv_ex((F.linalg_inv(A), info))
    regular, bad = _replace_failed(F, A, info)
    return return_types.linalg_inv_ex((F.where(bad, float("nan"), F.linalg_inv(regular)), info))


@composite(**_LINALG)
def linalg_solve_ex(F, A, B, *, left=True, check_errors=False):
    """`linalg.solve` that raises for a singular matrix only if check_errors: a named tuple (result, info).

    A, B, left: as in `linalg.solve`. info: as in `linalg.inv_ex`. The result of a singular matrix is NaN.

    Derivative: as in `linalg.solve`."""
    info = F._zero_pivots(checked("linalg_solve_ex", A, "A"))
    if check_errors or not _any_failed(info):
        return return_types.linalg_solve_ex((F.linalg_solve(A, B, left=left), info))
    regular, bad = _replace_failed(F, A, info)
    result = F.linalg_solve(regular, B, left=left)
    bad = F.squeeze(bad, dim=-1) if result.ndim < A.ndim else bad
    return return_types.linalg_solve_ex((F.where(bad, float("nan"), result), info))


@composite(**_LINALG)
def linalg_cholesky_ex(F, A, *, upper=False, check_errors=False):
    """`linalg.cholesky` that raises only if check_errors: a named tuple (L, info).

    A, upper: as in `linalg.cholesky`. info: (...), int32: 0, or the order of the first leading minor that is not positive
    definite; L is NaN then.

    Derivative: as in `linalg.cholesky`."""
    info = F._indefinite_minors(checked("linalg_cholesky_ex", A))
    if check_errors or not _any_failed(info):
        return return_types.linalg_cholesky_ex((F.linalg_cholesky(A, upper=upper), info))
    regular, bad = _replace_failed(F, A, info)
    return return_types.linalg_cholesky_ex((F.where(bad, float("nan"), F.linalg_cholesky(regular, upper=upper)), info))


# -- tensors as matrices -----------------------------------------------------------------------------------------------


@composite(**_LINALG)
def linalg_tensorinv(F, A, ind=2):
    """Inverse of A as a linear map from its last dimensions to its first `ind` dimensions.

    tensordot(tensorinv(A), A, ind) is the identity. A: the product of its first `ind` sizes equals the product of the others,
    else RuntimeError.

    Derivative: as in `linalg.inv`."""
    if ind < 1:
        raise errors.ShapeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    rows, columns = tuple(A.shape[:ind]), tuple(A.shape[ind:])
    if prod(rows) != prod(columns):
        raise errors.ShapeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got "
            f"{prod(columns)} != {prod(rows)}"
        )
    return F.reshape(F.linalg_inv(F.reshape(A, shape=(prod(rows), prod(columns)))), shape=(*columns, *rows))


@composite(**_LINALG)
def linalg_tensorsolve(F, A, B, dims=None):
    """X with tensordot(A, X, X.ndim) = B.

    A: of shape B.shape + X.shape, after dims are moved to its end. B and X have equally many elements, else RuntimeError.

    Derivative: as in `linalg.solve`."""
    if dims is not None:
        dims = as_dims(dims)
        A = F.movedim(A, dims, tuple(range(-len(dims), 0)))
    rows, columns = prod(A.shape[: B.ndim]), prod(A.shape[B.ndim :])
    if rows != columns:
        raise errors.ShapeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but "
            f"got {columns} != {rows}"
        )
    X = F.linalg_solve(F.reshape(A, shape=(rows, columns)), F.reshape(B, shape=(rows,)))
    return F.reshape(X, shape=tuple(A.shape[B.ndim :]))


# -- others ------------------------------------------------------------------------------------------------------------


@composite(**_LINALG)
def linalg_vander(F, x, *, N=None):
    """Vandermonde matrix: the powers 0, 1, ..., N - 1 of each element. x: (..., n); returns (..., n, N).

    N: n unless given; RuntimeError if N < 2.

    Derivative: the sum of ct[k] * k * x**(k - 1) over k."""
    N = (x.shape[-1] if x.ndim else 1) if N is None else N
    if N < 2:
        raise errors.ShapeError("N must be greater than 1.")
    if x.dtype in (np.bool_, dtypes.bool_):
        raise errors.UnsupportedDtypeError("linalg.vander supports floating point, complex, and integer tensors, but got Bool")
    return F._vander(x, N)


@composite(namespaces=())
def _vander(F, x, N):
    """linalg_vander of any dtype."""
    column = F.unsqueeze(x, dim=-1) if x.ndim else F.reshape(x, shape=(1, 1))  # a 0-d x counts as a vector of one element
    powers = F.cumprod(F.expand(column, shape=(*column.shape[:-1], N - 1)), dim=-1)
    return F.cat([F.ones_like(column), powers], dim=-1)


_NEXT_COMPONENT = np.array([1, 2, 0])
_FEW_ELEMENTS = 4096  # below this size, fewer NumPy calls matter more than fewer copies


@bilinear(node="LinalgCrossBackward0", **_PRIVATE)
def _cross(xp, x, y, *, dim):
    """linalg_cross."""
    if x.ndim != y.ndim:
        raise errors.ShapeError("linalg.cross: inputs must have the same number of dimensions.")
    given, dim = dim, normalize_dim(dim, x.ndim)
    if x.shape[dim] != 3 or y.shape[dim] != 3:
        raise errors.ShapeError(f"linalg.cross: inputs dimension {given} must have length 3. Got {x.shape[dim]} and {y.shape[dim]}")
    if x.size + y.size < _FEW_ELEMENTS and isinstance(x, np.ndarray):  # a fourth of the calls, but take() copies the arrays
        return (x * y.take(_NEXT_COMPONENT, dim) - x.take(_NEXT_COMPONENT, dim) * y).take(_NEXT_COMPONENT, dim)
    before = (slice(None),) * dim
    (a, b, c), (u, v, w) = ([z[(*before, i)] for i in range(3)] for z in (x, y))
    first = b * w  # has the dtype of the result, and its shape without dim
    out = xp.empty((*first.shape[:dim], 3, *first.shape[dim:]), first.dtype)
    out[(*before, 0)] = first - c * v
    out[(*before, 1)] = c * u - a * w
    out[(*before, 2)] = a * v - b * u
    return out


@_cross.vjp("x")
def _(F, ct, y, dim):
    return F._cross(F.conj(y), ct, dim=dim)


@_cross.vjp("y")
def _(F, ct, x, dim):
    return F._cross(ct, F.conj(x), dim=dim)


@composite(**_LINALG)
def linalg_cross(F, input, other, *, dim=-1):
    """Cross product of vectors of three elements along dim. input, other: equally many dimensions, with broadcasting.

    Raises RuntimeError for another size along dim. Derivative: cross(conj(other), ct) in input, cross(ct, conj(input)) in
    other."""
    return F._cross(input, other, dim=dim)


@composite(**_LINALG)
def linalg_diagonal(F, A, *, offset=0, dim1=-2, dim2=-1):
    """View of the diagonals of the matrices in dim1 and dim2, the last two dimensions unless given: (..., k).

    offset: > 0 for a diagonal above the main one, < 0 for one below.

    Derivative: the cotangent on the diagonals, 0 elsewhere."""
    return F.diagonal(A, offset=offset, dim1=dim1, dim2=dim2)


@composite(**_LINALG)
def linalg_matmul(F, input, other):
    """Matrix product: `matmul`. Derivative: as in `matmul`."""
    return F.matmul(input, other)
