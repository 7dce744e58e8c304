"""Inverses, linear equations, determinants, Cholesky factors, matrix powers and matrix norms."""

from __future__ import annotations

from functools import lru_cache
from math import inf
from typing import Any

import numpy as np

from wengert import dtypes, errors, return_types
from wengert.core.watched import differs_on_arrays
from wengert.ops.dims import as_dims, normalize_dim
from wengert.ops.matrices import (
    adjoint,
    batch_element,
    check_square,
    cholesky_cotangent,
    cholesky_factor,
    finite_part,
    first_failing,
    identity_like,
    zero_pivot,
)
from wengert.ops.registry import NONE, composite, general, nondifferentiable
from wengert.ops.values import number_of

_PRIVATE: dict[str, Any] = {"method": False, "namespaces": ()}
_LINALG: dict[str, Any] = {"method": False, "namespaces": ("linalg",)}


# -- inverse and linear equations --------------------------------------------------------------------------------------


@general(node="LinalgInvExBackward0", **_LINALG)
def linalg_inv(xp, A):
    """Inverse of a matrix, or of each matrix of a batch. A: (..., n, n), floating or complex.

    Raises RuntimeError if a matrix is singular.

    Derivative: -out^H @ ct @ out^H."""
    check_square("linalg.inv", A)
    try:
        try:
            return xp.linalg.inv(A)
        except xp.linalg.LinAlgError:
            A, finite = finite_part(xp, A)
            return xp.where(finite, xp.linalg.inv(A), A.dtype.type(xp.nan))
    except xp.linalg.LinAlgError:
        batch, order = first_failing(xp, A, zero_pivot)
        raise errors.SingularMatrixError(
            f"linalg.inv: {batch_element(batch)}The diagonal element {order} is zero, the inversion could not be completed "
            "because the input matrix is singular."
        ) from None


@linalg_inv.vjp("A")
def _(F, ct, out):
    inverse = adjoint(F, out)
    return -F.matmul(F.matmul(inverse, ct), inverse)


@linalg_inv.jvp("A")
def _(F, A_t, out):
    return -F.matmul(F.matmul(out, A_t), out)


@composite(method=True)
def inverse(F, input):
    """Inverse of a matrix, or of each matrix of a batch: `linalg.inv`.

    Derivative: as in `linalg.inv`."""
    return F.linalg_inv(input)


@composite(namespaces=("linalg",))
def linalg_solve(F, A, B, *, left=True):
    """X with A @ X = B, or X @ A = B if not left.

    A: (..., n, n). B: (..., n, k), or (..., k, n) if not left, or (..., n), a vector for each matrix. Raises RuntimeError
    for a singular A and for shapes that do not fit.

    Derivative: G = A^-H @ ct in B, -G @ X^H in A. If not left, G = ct @ A^-H and -X^H @ G."""
    vector = B.ndim == 1 or (B.ndim == A.ndim - 1 and tuple(B.shape) == tuple(A.shape[:-1]))
    return F._solve(A, B, vector=vector, left=left)


@general(promote=NONE, node="LinalgSolveExBackward0", **_PRIVATE)
def _solve(xp, x, y, *, vector=False, left=True):
    """linalg_solve with A = x and B = y. vector: whether y holds vectors."""
    check_square("linalg.solve", x)
    if x.dtype != y.dtype:
        raise errors.matmul_dtypes(x.dtype, y.dtype)
    y = y[..., None] if vector else y
    if y.ndim < 2 or y.shape[-2 if left else -1] != x.shape[-1]:
        raise errors.ShapeError(
            f"linalg.solve: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} "
            f"({'x'.join(map(str, x.shape[-2:]))} and {'x'.join(map(str, y.shape[-2:]))})"
        )
    if not left:
        x, y = xp.swapaxes(x, -1, -2), xp.swapaxes(y, -1, -2)
    if x.shape[:-2] != y.shape[:-2]:  # CuPy does not broadcast
        batch = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
        x, y = [xp.broadcast_to(z, (*batch, *z.shape[-2:])) for z in (x, y)]
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


@general(namespaces=("", "linalg"), node="LinalgDetBackward0", aliases={"input": "A"})
def det(xp, A):
    """Determinant of a matrix, or of each matrix of a batch. A: (..., n, n), floating or complex; returns (...).

    Derivative: the conjugate cofactors; conj(det) * A^-H if A is regular. First and second derivatives are right also if A
    is singular; a third derivative raises RuntimeError then.

    >>> import wengert
    >>> wengert.det(wengert.tensor([[2.0, 1.0], [0.0, 3.0]]))
    tensor(6.)
    """
    check_square("linalg.det", A)
    return _nan_where_not_finite(xp, A, xp.asarray(xp.linalg.det(A)), 0)


def _nan_where_not_finite(xp: Any, A: Any, out: Any, suspect: float) -> Any:
    """Replace elements of out that equal suspect by NaN if their matrix is not finite.

    LAPACK gives the value suspect for a matrix with infinities or NaN."""
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
    """Conjugates of the cofactors of a matrix: the derivative of det. Computed from singular values, which may be zero."""
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
    """Conjugate of the derivative of a matrix's cofactors along G: the second derivative of det, bilinear.

    With A = U S V^H and E = U^H G V, the result is computed from M, the same derivative at S along E. With p_ij the product
    of all singular values but the i-th and the j-th, M_ij = -p_ij E_ji off the diagonal, and M_ii is the sum of p_ik E_kk
    over k. Singular values may be zero."""
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
    """Products of all n values but the i-th and the j-th, and 0 where i = j: (..., n, n)."""
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
    """slogdet as a plain tuple."""
    check_square("linalg.slogdet", A)
    sign, logabsdet = xp.linalg.slogdet(A)
    return sign, _nan_where_not_finite(xp, A, xp.asarray(logabsdet), -inf)


@_slogdet.vjp("A")
def _(F, ct, A, sign):
    of_sign, of_log = ct
    factor = of_log
    if of_sign is not None:
        turn = F.conj(of_sign) * sign
        turn = 0.5 * (F.conj(turn) - turn)  # 0 for a real sign, which is constant
        factor = turn if of_log is None else of_log + turn
    return F.unsqueeze(F.unsqueeze(factor, dim=-1), dim=-1) * adjoint(F, F.linalg_inv(A))


@composite(method=True, namespaces=("", "linalg"), aliases={"input": "A"})
def slogdet(F, A):
    """Sign and natural logarithm of the absolute value of the determinant, as a named tuple (sign, logabsdet).

    A: (..., n, n), floating or complex. Returns two tensors (...). A singular matrix has sign 0 and logarithm -inf.

    Derivative: A^-H of the logarithm. A complex sign has the derivative of its phase; a real sign is constant."""
    return return_types.slogdet(F._slogdet(A))


@composite(method=True)
def logdet(F, input):
    """Natural logarithm of the determinant; NaN where a real determinant is negative.

    input: (..., n, n), floating or complex; returns (...).

    Derivative: input^-H."""
    sign, logabsdet = F._slogdet(input)
    if input.is_complex():
        return F.log(sign) + logabsdet
    return F.where(sign < 0, float("nan"), logabsdet)


# -- Cholesky ----------------------------------------------------------------------------------------------------------


@composite(namespaces=("linalg",))
def linalg_cholesky(F, A, *, upper=False):
    """Cholesky factor: the lower triangular L with L @ L^H = A, or L^H if upper.

    A: (..., n, n), Hermitian, positive definite, else RuntimeError. Only its lower triangle is read.

    Derivative: the Hermitian part of L^-H @ P @ L^-1, with P the lower triangle of L^H @ ct, its diagonal halved."""
    L = F._cholesky(A)
    return adjoint(F, L) if upper else L


@general(node="LinalgCholeskyExBackward0", **_PRIVATE)
def _cholesky(xp, A):
    """linalg_cholesky, lower."""
    return cholesky_factor(xp, A)


@_cholesky.vjp("A")
@differs_on_arrays
def _(F, ct, out):
    return cholesky_cotangent(F, ct, out)


@_cholesky.jvp("A")
def _(F, A_t, out):
    lower = {"upper": False, "left": True, "unitriangular": False}
    left = F._solve_triangular(out, 0.5 * (A_t + adjoint(F, A_t)), **lower)
    inner = adjoint(F, F._solve_triangular(out, adjoint(F, left), **lower))
    return F.matmul(out, 0.5 * (F.tril(inner, diagonal=0) + F.tril(inner, diagonal=-1)))


# -- powers and chains -------------------------------------------------------------------------------------------------


@nondifferentiable(**_PRIVATE)
def _identity(xp, x):
    """Identity matrices of x's shape, (..., n, n)."""
    return identity_like(x)


@general(method=False, namespaces=(), node="CopyBackwards")
def _constant_eye(xp, x):
    """Matrices of x's shape with ones on the diagonal, as the value of a product without factors. Derivative: 0."""
    return identity_like(x)


@_constant_eye.vjp("x")
def _(F, ct):
    return ct * 0


@composite(method=True, namespaces=("", "linalg"), aliases={"input": "A"})
def matrix_power(F, A, n):
    """A @ A @ ... @ A with n factors; the identity for n = 0, a power of the inverse for n < 0. A: (..., k, k).

    Raises RuntimeError if A is not square, or singular with n < 0.

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
    """Product of two or more matrices, multiplied in the order with the fewest operations.

    tensors: matrices of one dtype; the first and the last may be vectors. Raises RuntimeError for shapes and dtypes that do
    not fit, and for fewer than two.

    Derivative: that of the products."""
    for t in tensors:
        if not hasattr(t, "ndim"):
            raise errors.wrong_argument_type("linalg_multi_dot", "tensors", 0, type(t), "tuple of Tensors")
    if len(tensors) < 2:
        raise errors.ShapeError(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    first, *middle, last = tensors
    shapes = [tuple(t.shape) for t in tensors]
    _check_chain(tensors, shapes)
    ends = (shapes[0][:-1], shapes[-1][1:])  # () for a vector
    if len(shapes[0]) == 1:
        first = F.unsqueeze(first, dim=0)
    if len(shapes[-1]) == 1:
        last = F.unsqueeze(last, dim=-1)
    factors = [first, *middle, last]
    sizes = (factors[0].shape[0], *[t.shape[1] for t in factors])
    return F.view(_chain_product(F, factors, _cheapest_cuts(sizes), 0, len(factors) - 1), shape=ends[0] + ends[1])


def _check_chain(tensors: Any, shapes: list[tuple[int, ...]]) -> None:
    """Raise RuntimeError for dimensions, dtypes and sizes of multi_dot that do not fit."""
    for i, shape in enumerate(shapes):
        at_an_end = i in (0, len(shapes) - 1)
        if len(shape) != 2 and not at_an_end:
            raise errors.ShapeError(f"multi_dot(): tensor {i} must be 2D but got {len(shape)}D")
        if len(shape) not in (1, 2):
            which = "last" if i else "first"
            raise errors.ShapeError(f"multi_dot(): the {which} tensor must be 1D or 2D but got {len(shape)}D")
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
    """For each chain of factors i to j, the last factor of its left part, such that the products take the fewest operations.

    sizes: factor i has shape (sizes[i], sizes[i + 1])."""
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
    """Product of the factors i to j, cut where cuts say."""
    if i == j:
        return factors[i]
    k = cuts[i, j]
    return F.matmul(_chain_product(F, factors, cuts, i, k), _chain_product(F, factors, cuts, k + 1, j))


@composite(namespaces=("linalg",))
def linalg_vecdot(F, x, y, *, dim=-1):
    """Sum of conj(x) * y over one dimension. x, y: floating or complex, shapes that broadcast.

    Derivative: conj(ct) * y in x, ct * x in y."""
    for tensor in (x, y):
        if not (tensor.is_floating_point() or tensor.is_complex()):
            raise errors.norm_dtype("linalg.vecdot", tensor.dtype)
    return F.sum(F.conj(x) * y, dim=dim)


# -- matrix norms ------------------------------------------------------------------------------------------------------


@composite(namespaces=("linalg",))
def linalg_matrix_norm(F, A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None):
    """Norm of a matrix, or of each matrix of a batch.

    ord: "fro", the root of the sum of squares; "nuc", the sum of the singular values; inf or -inf, the largest or smallest
    row sum of |A|; 1 or -1, the largest or smallest column sum of |A|; 2 or -2, the largest or smallest singular value.
    Raises RuntimeError for another ord. A: at least 2-D, floating or complex. dim: the two dimensions of rows and columns.

    Derivative: that of the formula, shared evenly among ties."""
    if A.ndim < 2:
        raise errors.square_matrix("linalg.matrix_norm", A.shape)
    dim = as_dims(dim)
    if len(dim) != 2:
        raise errors.ShapeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(str(d) for d in dim)}")
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
        raise errors.ShapeError(f"linalg.matrix_norm: Order {ord} not supported.")
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
    """Maximum over dims for ord > 0, minimum for ord < 0. x >= 0; the maximum of no elements is 0."""
    if ord < 0:
        return F.amin(x, dim=dims, keepdim=keepdim)
    empty = any(x.shape[d] == 0 for d in dims)
    return (F.sum if empty else F.amax)(x, dim=dims, keepdim=keepdim)


@composite(namespaces=("linalg",), aliases={"input": "A"})
def linalg_norm(F, A, ord=None, dim=None, keepdim=False, *, dtype=None):
    """Norm of vectors or matrices.

    If ord is None, the root of the sum of squares over dim, or over all dimensions. Else two dims give a matrix norm
    (`linalg.matrix_norm`) and one dim a vector norm (`linalg.vector_norm`). If dim is None, a 2-D A is a matrix and a 1-D A
    a vector; more dimensions raise RuntimeError.

    Derivative: as in `linalg.matrix_norm` and `linalg.vector_norm`."""
    if isinstance(dim, (tuple, list)) and len(dim) not in (1, 2):
        raise errors.ShapeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dim)}")
    if ord is None:
        return F.norm(A, 2, dim, keepdim, dtype)
    if dim is None and A.ndim > 2:
        raise errors.ShapeError(f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {A.ndim}D.")
    if isinstance(ord, str) or (A.ndim == 2 if dim is None else isinstance(dim, (tuple, list)) and len(dim) == 2):
        return F.linalg_matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    return F.norm(A, ord, dim, keepdim, dtype)
