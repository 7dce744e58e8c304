"""Inverses, determinants, linear equations, matrix powers and norms: what needs a factorisation.

Note [Equal values]
Where two singular values (or eigenvalues, in eigen.py) are equal, their vectors are determined as a plane only, and
the formula for the vectors' derivative divides by the difference of the values. Functions that do not depend on the
choice within the plane get a factor 0 there, which the quotient would make NaN. So 1 / (a - b) is taken for 0 where
a = b: right for functions of the values, and of the spaces that equal ones span, and finite for all. A function of the
matrix as a whole, V f(values) V^H, needs the limit of (f(a) - f(b)) / (a - b) as well, which no rule for the vectors knows:
its derivative between vectors of equal values is left out.
"""

from __future__ import annotations

from functools import lru_cache
from math import inf
from typing import Any

from wengert import dtypes, errors, return_types
from wengert.ops.dims import as_dims, normalize_dim
from wengert.ops.matrices import adjoint, check_square, finite_part, first_failing, identity_like, zero_pivot
from wengert.ops.registry import NONE, composite, general, nondifferentiable, pointwise
from wengert.ops.values import number_of

_PRIVATE: dict[str, Any] = {"method": False, "namespaces": ()}
_LINALG: dict[str, Any] = {"method": False, "namespaces": ("linalg",)}


# -- inverse and linear equations --------------------------------------------------------------------------------------


@general(node="LinalgInvExBackward0", **_LINALG)
def linalg_inv(xp, A):
    """Inverse of a matrix or of each of a batch. A: (..., n, n), floating or complex. Raises RuntimeError if singular.

    Derivative: -out^H @ ct @ out^H."""
    check_square("linalg.inv", A)
    try:
        try:
            return xp.linalg.inv(A)
        except xp.linalg.LinAlgError:
            A, finite = finite_part(xp, A)
            return xp.where(finite, xp.linalg.inv(A), A.dtype.type(xp.nan))
    except xp.linalg.LinAlgError:
        raise errors.singular_inverse(*first_failing(xp, A, zero_pivot)) from None


@linalg_inv.vjp("A")
def _(F, ct, out):
    inverse = adjoint(F, out)
    return -F.matmul(F.matmul(inverse, ct), inverse)


@linalg_inv.jvp("A")
def _(F, A_t, out):
    return -F.matmul(F.matmul(out, A_t), out)


@composite(method=True)
def inverse(F, input):
    """Inverse of a square matrix or of each of a batch: `linalg.inv`.

    Derivative: as linalg.inv."""
    return F.linalg_inv(input)


@composite(namespaces=("linalg",))
def linalg_solve(F, A, B, *, left=True):
    """X with A @ X = B, or X @ A = B if not left.

    A: (..., n, n). B: (..., n, k), or (..., n): a vector for each matrix.

    Raises RuntimeError for a singular A and for shapes that do not fit.

    Derivative: G = A^-H @ ct in B, -G @ X^H in A (the products turned round if not left)."""
    vector = B.ndim == 1 or (B.ndim == A.ndim - 1 and tuple(B.shape) == tuple(A.shape[:-1]))
    return F._solve(A, B, vector=vector, left=left)


@general(promote=NONE, node="LinalgSolveExBackward0", **_PRIVATE)
def _solve(xp, x, y, *, vector=False, left=True):
    """linalg_solve of x and y; vector: whether y holds vectors."""
    check_square("linalg.solve", x)
    if x.dtype != y.dtype:
        raise errors.matmul_dtypes(x.dtype, y.dtype)
    y = y[..., None] if vector else y
    if y.ndim < 2 or y.shape[-2 if left else -1] != x.shape[-1]:
        raise errors.solve_shapes(x.shape, y.shape, left)
    if not left:
        x, y = xp.swapaxes(x, -1, -2), xp.swapaxes(y, -1, -2)
    try:
        try:
            out = xp.linalg.solve(x, y)
        except xp.linalg.LinAlgError:
            x, finite = finite_part(xp, x)
            out = xp.where(finite, xp.linalg.solve(x, y), x.dtype.type(xp.nan))
    except xp.linalg.LinAlgError:
        raise errors.SingularMatrixError("torch.linalg.solve: The solver failed because the input matrix is singular.") from None
    out = out if left else xp.swapaxes(out, -1, -2)
    return (out[..., 0] if vector else out).copy()


@_solve.vjp("x", "y")
def _(F, ct, x, out, vector, left):
    of_y = F._solve(adjoint(F, x), ct, vector=vector, left=left)
    a, b = (F.unsqueeze(of_y, dim=-1), F.unsqueeze(out, dim=-1)) if vector else (of_y, out)
    return -(F.matmul(a, adjoint(F, b)) if left else F.matmul(adjoint(F, b), a)), of_y


@_solve.jvp("x", "y")
def _(F, x_t, y_t, x, out, vector, left):
    right = y_t
    if x_t is not None:
        X = F.unsqueeze(out, dim=-1) if vector else out
        product = F.matmul(x_t, X) if left else F.matmul(X, x_t)
        product = F.squeeze(product, dim=-1) if vector else product
        right = -product if y_t is None else y_t - product
    return F._solve(x, right, vector=vector, left=left)


# -- determinants ------------------------------------------------------------------------------------------------------


@general(namespaces=("", "linalg"), node="LinalgDetBackward0")
def det(xp, A):
    """Determinant of a matrix or of each of a batch. A: (..., n, n), floating or complex; returns (...).

    Derivative: the cofactors, conj(det) A^-H where A is regular; right also where it is singular, for first and second
    derivatives. Third ones raise RuntimeError there.

    >>> import wengert
    >>> wengert.det(wengert.tensor([[2.0, 1.0], [0.0, 3.0]]))
    tensor(6.)
    """
    check_square("linalg.det", A)
    return _nan_where_not_finite(xp, A, xp.asarray(xp.linalg.det(A)), 0)


def _nan_where_not_finite(xp: Any, A: Any, out: Any, suspect: float) -> Any:
    """out, with NaN where it is what LAPACK makes of infinities and NaN in a matrix."""
    if (out == suspect).any() and not xp.isfinite(A).all():
        return xp.where((out == suspect) & ~xp.isfinite(A).all(axis=(-1, -2)), out.dtype.type(xp.nan), out)
    return out


@det.vjp("A")
def _(F, ct, A, out):
    if bool(F._any_zero(out)):
        return F._cofactors(A) * F.unsqueeze(F.unsqueeze(ct, dim=-1), dim=-1)
    factor = F.unsqueeze(F.unsqueeze(ct * F.conj(out), dim=-1), dim=-1)
    return factor * adjoint(F, F.linalg_inv(A))


@general(**_PRIVATE)
def _cofactors(xp, A):
    """The conjugates of a matrix's cofactors: det's derivative, from singular values, which may be zero."""
    n = A.shape[-1]
    if n == 0:
        return A.copy()
    A, finite = finite_part(xp, A)
    U, S, Vh = xp.linalg.svd(A)
    others = xp.stack([xp.multiply.reduce(xp.delete(S, i, axis=-1), axis=-1) for i in range(n)], axis=-1)
    sign = (xp.linalg.det(U) * xp.linalg.det(Vh)).conj()
    return xp.where(finite, sign[..., None, None] * xp.matmul(U * others[..., None, :], Vh), A.dtype.type(xp.nan))


@_cofactors.vjp("A")
def _(F, ct, A):
    return F._second_cofactors(A, ct)


@general(**_PRIVATE)
def _second_cofactors(xp, A, G):
    """The conjugate of the derivative of a matrix's cofactors along G: det's second derivative, which is bilinear.

    With A = U S V^H and E = U^H G V it is that of det S, whose off-diagonal part is -p_ij E_ji and whose diagonal is the sum
    of p_ik E_kk, with p_ij the product of all singular values but the i-th and the j-th: these may be zero."""
    n = A.shape[-1]
    A, finite = finite_part(xp, A)
    U, S, Vh = xp.linalg.svd(A)
    others = _products_without_two(xp, S)
    E = xp.matmul(xp.matmul(U.conj().swapaxes(-1, -2), G), Vh.conj().swapaxes(-1, -2))
    along_diagonal = xp.matmul(others, xp.diagonal(E, axis1=-2, axis2=-1)[..., None])[..., 0]
    M = -others * E.swapaxes(-1, -2)
    M[..., range(n), range(n)] = along_diagonal
    sign = (xp.linalg.det(U) * xp.linalg.det(Vh)).conj()
    found = sign[..., None, None] * xp.matmul(xp.matmul(U, M.conj()), Vh)
    return xp.where(finite, found, A.dtype.type(xp.nan))


def _products_without_two(xp: Any, S: Any) -> Any:
    """(..., n, n): the products of all n values but the i-th and the j-th, 0 where i is j."""
    n = S.shape[-1]
    left_out = xp.eye(n, dtype=bool)
    values = xp.where(left_out[:, None] | left_out[None], S.dtype.type(1), S[..., None, None, :])
    return xp.where(left_out, S.dtype.type(0), xp.multiply.reduce(values, axis=-1))


@_second_cofactors.vjp("G")
def _(F, ct, A):
    return F._second_cofactors(A, ct)


@_second_cofactors.vjp("A")
def _(F, ct):
    raise errors.NotDifferentiableError("det is differentiable only twice at a singular matrix")


@_cofactors.jvp("A")
def _(F, A_t, A):
    return F._second_cofactors(A, A_t)


@general(outputs=("sign", "logabsdet"), node="LinalgSlogdetBackward0", **_PRIVATE)
def _slogdet(xp, A):
    """Sign and log of the absolute value of the determinant."""
    check_square("linalg.slogdet", A)
    sign, logabsdet = xp.linalg.slogdet(A)
    return sign, _nan_where_not_finite(xp, A, xp.asarray(logabsdet), -inf)


@_slogdet.vjp("A")
def _(F, ct, A, sign):
    of_sign, of_log = ct
    factor = of_log
    if of_sign is not None:
        turn = F.conj(of_sign) * sign
        turn = 0.5 * (F.conj(turn) - turn)  # a real sign is constant: this is 0
        factor = turn if of_log is None else of_log + turn
    return F.unsqueeze(F.unsqueeze(factor, dim=-1), dim=-1) * adjoint(F, F.linalg_inv(A))


@composite(method=True, namespaces=("", "linalg"))
def slogdet(F, A):
    """Sign and natural logarithm of the absolute value of the determinant, as a named tuple (sign, logabsdet).

    A: (..., n, n), floating or complex. A singular matrix has sign 0 and logarithm -inf.

    Derivative: of the logarithm A^-H; of a complex sign its turn."""
    return return_types.slogdet(F._slogdet(A))


@composite(method=True)
def logdet(F, input):
    """Natural logarithm of the determinant; NaN where that is negative. input: (..., n, n), floating or complex.

    Derivative: input^-H."""
    sign, logabsdet = F._slogdet(input)
    if input.is_complex():
        return F.log(sign) + logabsdet
    return F.where(sign < 0, float("nan"), logabsdet)


# -- Cholesky ----------------------------------------------------------------------------------------------------------


@composite(namespaces=("linalg",))
def linalg_cholesky(F, A, *, upper=False):
    """L, lower triangular, with L @ L^H = A; its adjoint if upper. A: (..., n, n), Hermitian, positive definite.

    Only the lower triangle is looked at. Raises RuntimeError where A is not positive definite.

    Derivative: S = L^-H @ P @ L^-1, made Hermitian, with P the lower triangle of L^H @ ct, its diagonal halved."""
    L = F._cholesky(A)
    return adjoint(F, L) if upper else L


@general(node="LinalgCholeskyExBackward0", **_PRIVATE)
def _cholesky(xp, A):
    """linalg_cholesky, lower."""
    check_square("linalg.cholesky", A)
    try:
        return xp.linalg.cholesky(A)
    except xp.linalg.LinAlgError:
        raise errors.not_positive_definite(*first_failing(xp, A, lambda matrix: _first_indefinite_minor(xp, matrix))) from None


def _first_indefinite_minor(xp: Any, matrix: Any) -> int:
    """The order of the first leading minor that is not positive definite; 0 if all are."""
    for n in range(1, len(matrix) + 1):
        try:
            xp.linalg.cholesky(matrix[:n, :n])
        except xp.linalg.LinAlgError:
            return n
    return 0


@_cholesky.vjp("A")
def _(F, ct, out):
    product = F.matmul(adjoint(F, out), ct)
    inner = 0.5 * (F.tril(product, diagonal=0) + F.tril(product, diagonal=-1))
    upper = {"upper": True, "left": True, "unitriangular": False}
    left = F._solve_triangular(adjoint(F, out), inner, **upper)
    found = adjoint(F, F._solve_triangular(adjoint(F, out), adjoint(F, left), **upper))
    return 0.5 * (found + adjoint(F, found))


@_cholesky.jvp("A")
def _(F, A_t, out):
    lower = {"upper": False, "left": True, "unitriangular": False}
    left = F._solve_triangular(out, 0.5 * (A_t + adjoint(F, A_t)), **lower)
    inner = adjoint(F, F._solve_triangular(out, adjoint(F, left), **lower))
    return F.matmul(out, 0.5 * (F.tril(inner, diagonal=0) + F.tril(inner, diagonal=-1)))


# -- powers and chains -------------------------------------------------------------------------------------------------


@nondifferentiable(**_PRIVATE)
def _identity(xp, x):
    """Identity matrices in the shape of x, (..., n, n)."""
    return identity_like(x)


@general(method=False, namespaces=(), node="CopyBackwards")
def _constant_eye(xp, x):
    """Ones on the diagonals of matrices in the shape of x: what is left of a product without factors. Derivative: 0."""
    return identity_like(x)


@_constant_eye.vjp("x")
def _(F, ct):
    return ct * 0


@composite(method=True, namespaces=("", "linalg"))
def matrix_power(F, A, n):
    """A @ A @ ... @ A, n times; the identity for n = 0, a power of the inverse for n < 0. A: (..., k, k).

    Derivative: that of the products."""
    if A.ndim < 2 or A.shape[-1] != A.shape[-2]:
        raise errors.square_matrix("linalg.matrix_power", A.shape)
    if n == 0:
        return F._constant_eye(A)
    square = A if n > 0 else F.linalg_inv(A)
    result = None
    bits = abs(n)
    while bits:
        if bits & 1:
            result = square if result is None else F.matmul(result, square)
        bits >>= 1
        square = F.matmul(square, square) if bits else square
    return F.clone(result) if abs(n) == 1 and n > 0 else result


@composite(namespaces=("linalg",))
def linalg_multi_dot(F, tensors):
    """Product of two or more matrices, in the order that takes least work; the first and last may be vectors.

    Derivative: that of the products."""
    for t in tensors:
        if not hasattr(t, "ndim"):
            raise errors.wrong_argument_type("linalg_multi_dot", "tensors", 0, type(t), "tuple of Tensors")
    if len(tensors) < 2:
        raise errors.ShapeError(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    first, *middle, last = tensors
    shapes = [tuple(t.shape) for t in tensors]
    _check_chain(tensors, shapes)
    ends = (shapes[0][:-1], shapes[-1][1:])  # which have no elements for vectors
    if len(shapes[0]) == 1:
        first = F.unsqueeze(first, dim=0)
    if len(shapes[-1]) == 1:
        last = F.unsqueeze(last, dim=-1)
    factors = [first, *middle, last]
    sizes = (factors[0].shape[0], *[t.shape[1] for t in factors])
    return F.view(_chain_product(F, factors, _cheapest_cuts(sizes), 0, len(factors) - 1), shape=ends[0] + ends[1])


def _check_chain(tensors: Any, shapes: list[tuple[int, ...]]) -> None:
    for i, shape in enumerate(shapes):
        at_an_end = i in (0, len(shapes) - 1)
        if len(shape) != 2 and not (at_an_end and len(shape) == 1):
            raise errors.multi_dot_dims("tensor" if not at_an_end else "first" if i == 0 else "last", i, len(shape))
        if tensors[i].dtype != tensors[0].dtype:
            raise errors.UnsupportedDtypeError(
                f"multi_dot(): all tensors must have be the same dtype but tensor 0 is {errors.c_name(tensors[0].dtype)} "
                f"and tensor {i} {errors.c_name(tensors[i].dtype)}"
            )
    for i in range(len(shapes) - 1):
        if shapes[i][-1] != shapes[i + 1][0]:
            raise errors.ShapeError(
                f"multi_dot(): tensors {i} and {i + 1} with shapes {list(shapes[i])} and {list(shapes[i + 1])} cannot be "
                "multiplied"
            )


@lru_cache(maxsize=256)
def _cheapest_cuts(sizes: tuple[int, ...]) -> dict[tuple[int, int], int]:
    """For each chain of factors i to j, the last factor of its left half, so that all products take least work.

    sizes: factor i is (sizes[i], sizes[i + 1])."""
    n = len(sizes) - 1
    work = {(i, i): 0 for i in range(n)}
    cuts = {}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            work[i, j], cuts[i, j] = min(
                [(work[i, k] + work[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)]
            )
    return cuts


def _chain_product(F: Any, factors: list[Any], cuts: dict[tuple[int, int], int], i: int, j: int) -> Any:
    if i == j:
        return factors[i]
    k = cuts[i, j]
    return F.matmul(_chain_product(F, factors, cuts, i, k), _chain_product(F, factors, cuts, k + 1, j))


@composite(namespaces=("linalg",))
def linalg_vecdot(F, x, y, *, dim=-1):
    """Sum of conj(x) * y over one dimension. x, y: shapes that broadcast.

    Derivative: ct* y in x, ct x in y."""
    for tensor in (x, y):
        if not (tensor.is_floating_point() or tensor.is_complex()):
            raise errors.norm_dtype("linalg.vecdot", tensor.dtype)
    return F.sum(F.conj(x) * y, dim=dim)


# -- matrix norms ------------------------------------------------------------------------------------------------------


@pointwise(complex=False, **_PRIVATE)
def _masked_reciprocal(xp, x):
    """1 / x, and 0 where x is 0. See Note [Equal values].

    Derivative: -out**2."""
    return xp.where(x == 0, x.dtype.type(0), xp.reciprocal(x))


@_masked_reciprocal.vjp("x")
def _(F, ct, out):
    return -ct * out * out


def _leading_columns(F: Any, U: Any, of_U: Any, k: int) -> tuple[Any, Any]:
    """The first k columns of a unitary matrix, and their cotangent. The others span what these leave, so their projection
    is I minus that of these, and they turn by what these turn into them."""
    rest = U.shape[-1] - k
    first = F.narrow(U, -1, 0, k)
    if of_U is None or not rest:
        return first, of_U
    others, of_others = F.narrow(U, -1, k, rest), F.narrow(of_U, -1, k, rest)
    return first, F.narrow(of_U, -1, 0, k) - F.matmul(others, F.matmul(adjoint(F, of_others), first))


@general(outputs=("U", "S", "Vh"), node="LinalgSvdBackward0", **_PRIVATE)
def _svd(xp, A, *, full_matrices=False):
    """Singular value decomposition."""
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
    if full_matrices and m != n:
        U, of_U = _leading_columns(F, U, of_U, min(m, n))
        V, of_V = _leading_columns(F, adjoint(F, Vh), None if of_Vh is None else adjoint(F, of_Vh), min(m, n))
        Vh, of_Vh = adjoint(F, V), None if of_V is None else adjoint(F, of_V)
    # left @ Vh + outer is the result; left begins with U @ diag(of_S).
    left = None if of_S is None else U * F.unsqueeze(of_S, dim=-2)
    outer = None
    columns, rows = F.unsqueeze(S, dim=-2), F.unsqueeze(S, dim=-1)
    identity = F._identity(columns * rows)
    # Twice the cotangents of the turn that U and V have in common, which takes 1 / (s_j - s_i), and of that by which they
    # differ, which takes 1 / (s_j + s_i): so of equal values only the first, the choice of vectors, is lost.
    common = difference = None
    if of_U is not None:
        turn = F.matmul(adjoint(F, U), of_U)
        common = difference = turn - adjoint(F, turn)
        # The diagonal is a turn of phases, which is all put on U.
        left = _add_optional(left, F.matmul(U, common * F._masked_reciprocal(2.0 * rows * identity)))
        if m > n:
            outer = F.matmul((of_U - F.matmul(U, turn)) / columns, Vh)
    if of_Vh is not None:
        V, of_V = adjoint(F, Vh), adjoint(F, of_Vh)
        turn = F.matmul(Vh, of_V)
        skew = turn - adjoint(F, turn)
        common, difference = _add_optional(common, skew), _add_optional(difference, -skew)
        if n > m:
            outer = _add_optional(outer, F.matmul(U, adjoint(F, (of_V - F.matmul(V, turn)) / columns)))
    if common is not None:
        inner = common * F._masked_reciprocal(columns - rows)  # 0 for equal values: see Note [Equal values]
        inner = inner + difference * F._masked_reciprocal((columns + rows) * (1.0 - identity))
        left = _add_optional(left, F.matmul(U, 0.5 * inner))
    return _add_optional(outer, F.matmul(left, Vh))


def _add_optional(a: Any, b: Any) -> Any:
    return b if a is None else a + b


@composite(namespaces=("linalg",))
def linalg_svd(F, A, full_matrices=True, *, driver=None):
    """Singular value decomposition: a named tuple (U, S, Vh) with A = U @ diag(S) @ Vh, S falling, U and Vh unitary.

    A: (..., m, n), floating or complex. U: (..., m, m), Vh: (..., n, n); (..., m, k), (..., k, n) with k = min(m, n)
    if not full_matrices. driver is accepted for its place.

    Derivative: of functions that do not depend on the signs (phases) of the vectors, nor on their choice where values
    are equal (Note [Equal values]), so of the vectors beyond the first k only in functions of the space they span
    (J. Townsend, Differentiating the singular value decomposition, 2016).
    """
    return return_types.linalg_svd(F._svd(A, full_matrices=full_matrices))


@composite(namespaces=("linalg",))
def linalg_svdvals(F, A, *, driver=None):
    """Singular values of a matrix or of each of a batch, falling. A: (..., n, m), floating or complex.

    Derivative: U @ diag(ct) @ V^H."""
    return F._svd(A)[1]


@composite(namespaces=("linalg",))
def linalg_matrix_norm(F, A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None):
    """Norm of a matrix or of each of a batch.

    ord: "fro" (root of the sum of squares), "nuc" (sum of singular values), inf or -inf (largest or smallest row sum of
    |A|), 1 or -1 (column sum), 2 or -2 (singular value).

    A: at least 2-D, floating or complex; dim: its rows and columns. Raises RuntimeError for another ord.

    Derivative: that of the formula; shared evenly among ties."""
    if A.ndim < 2:
        raise errors.square_matrix("linalg.matrix_norm", A.shape)
    dim = as_dims(dim)
    if len(dim) != 2:
        raise errors.norm_dims(dim)
    rows, columns = (normalize_dim(d, A.ndim) for d in dim)
    if rows == columns:
        raise errors.ShapeError(f"linalg.matrix_norm: dims must be different. Got {(rows, columns)}")
    if dtype is not None:
        A = F.cast(A, dtypes.as_numpy_dtype(dtype))
    if not (A.is_floating_point() or A.is_complex()):
        raise errors.norm_dtype("linalg.matrix_norm", A.dtype)
    ord = number_of(ord)
    if ord == "fro":
        return F._vector_norm(A, ord=2, dim=dim, keepdim=keepdim)
    if ord not in ("nuc", inf, -inf, 1, -1, 2, -2):
        raise errors.norm_order(ord)
    if ord not in ("nuc", 2, -2):
        summed = columns if abs(ord) == inf else rows
        sums = F.sum(F.abs(A), dim=summed, keepdim=True)
        return _extreme_value(F, sums, ord, (rows, columns), keepdim)
    others = [d for d in range(A.ndim) if d not in (rows, columns)]
    values = F._svd(F.permute(A, dims=(*others, rows, columns)))[1]
    result = F.sum(values, dim=-1) if ord == "nuc" else _extreme_value(F, values, ord, (-1,), False)
    if not keepdim:
        return result
    return F.reshape(result, shape=tuple([1 if d in (rows, columns) else n for d, n in enumerate(A.shape)]))


def _extreme_value(F: Any, x: Any, ord: Any, dims: tuple[int, ...], keepdim: bool) -> Any:
    """The largest of what is not negative, 0 of nothing; or for a negative ord the smallest."""
    if ord < 0:
        return F.amin(x, dim=dims, keepdim=keepdim)
    empty = any(x.shape[d] == 0 for d in dims)
    return (F.sum if empty else F.amax)(x, dim=dims, keepdim=keepdim)


@composite(namespaces=("linalg",))
def linalg_norm(F, A, ord=None, dim=None, keepdim=False, *, dtype=None):
    """Norm of a vector or of a matrix. ord None: the root of the sum of squares, over dim or all.

    Otherwise dim tells which: two dims a matrix norm (`linalg.matrix_norm`), one a vector norm (`linalg.vector_norm`);
    without dim A is a matrix if 2-D, a vector if 1-D.

    Derivative: as theirs."""
    if isinstance(dim, (tuple, list)) and len(dim) not in (1, 2):
        raise errors.ShapeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dim)}")
    if ord is None:
        return F.norm(A, 2, dim, keepdim, dtype)
    if dim is None and A.ndim > 2:
        raise errors.ShapeError(f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {A.ndim}D.")
    if isinstance(ord, str) or (A.ndim == 2 if dim is None else isinstance(dim, (tuple, list)) and len(dim) == 2):
        return F.linalg_matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    return F.norm(A, ord, dim, keepdim, dtype)
