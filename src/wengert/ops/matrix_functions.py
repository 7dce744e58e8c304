"""Linear algebra in the top-level namespace and as methods: older forms of the functions of wengert.linalg.

They are composed of the operations of wengert.linalg, which are registered at the first call.
"""

from __future__ import annotations

from wengert import errors, return_types
from wengert.ops.indices import checked, raw
from wengert.ops.matrices import check_lu_pivots, check_matrix, each_matrix, lapack_function
from wengert.ops.registry import composite, general


@composite(method=True)
def cholesky(F, input, upper=False):
    """`linalg.cholesky`: lower triangular L with L @ L^H = input, or L^H if upper. Derivative: as linalg.cholesky."""
    return F.linalg_cholesky(input, upper=upper)


@composite(method=True, aliases={"input": "B", "input2": "L"})
def cholesky_solve(F, B, L, upper=False):
    """Solve A @ X = B for X, given the Cholesky factor L of A: A = L @ L^H, or L^H @ L if upper.

    B: (..., n, k), L: (..., n, n); returns (..., n, k). Derivative: that of two triangular systems."""
    half = F.linalg_solve_triangular(F.adjoint(L) if upper else L, B, upper=False)
    return F.linalg_solve_triangular(L if upper else F.adjoint(L), half, upper=True)


@composite(method=True, aliases={"input": "L"})
def cholesky_inverse(F, L, upper=False):
    """Return the inverse of A, given its Cholesky factor L: A = L @ L^H, or L^H @ L if upper. L: (..., n, n).

    Derivative: that of two triangular systems."""
    return F.cholesky_solve(F._identity(L), L, upper)


@composite(method=True)
def matrix_exp(F, A):
    """`linalg.matrix_exp`: the exponential of a matrix. Derivative: as linalg.matrix_exp."""
    return F.linalg_matrix_exp(A)


@composite(method=True)
def pinverse(F, input, rcond=1e-15):
    """`linalg.pinv`: the pseudo-inverse. Singular values <= rcond times the largest one count as zero.

    Derivative: as linalg.pinv."""
    return F.linalg_pinv(input, rcond)


@composite(method=True)
def qr(F, input, some=True):
    """`linalg.qr` as a named tuple (Q, R), reduced if some, else complete. Derivative: as linalg.qr."""
    return return_types.qr(F.linalg_qr(input, "reduced" if some else "complete"))


@composite(method=True)
def svd(F, input, some=True, compute_uv=True):
    """`linalg.svd` as a named tuple (U, S, V), with V in place of V^H.

    some: reduced matrices; otherwise full ones. If compute_uv is False, U and V are zeros. Derivative: as linalg.svd."""
    if compute_uv:
        U, S, Vh = F._svd_with_vectors(input, full_matrices=not some)
        return return_types.svd((U, S, F.adjoint(Vh)))
    m, n = input.shape[-2:]
    S = F.linalg_svdvals(input)
    U, V = [F.new_zeros(input, size=(*input.shape[:-2], size, size)) for size in (m, n)]
    return return_types.svd((U, S, V))


@composite(method=True)
def cross(F, input, other, dim=None):
    """`linalg.cross`: the cross product along dim. Derivative: as linalg.cross.

    dim: if None, the first dimension of size 3. Raises RuntimeError if there is no such dimension."""
    if dim is None:
        dim = next((d for d, size in enumerate(input.shape) if size == 3), None)
        if dim is None:
            raise errors.ShapeError("no dimension of size 3 in input")
    return F.linalg_cross(input, other, dim=dim)


@composite()
def vander(F, x, N=None, increasing=False):
    """Vandermonde matrix of a vector: `linalg.vander` with its columns reversed, powers falling, unless increasing.

    x: (n); returns (n, N), with N = n if None. Derivative: as linalg.vander."""
    if x.ndim != 1:
        raise errors.ShapeError("x must be a one-dimensional tensor.")
    N = x.shape[0] if N is None else N
    if N < 2:
        return F.cumprod(F.narrow(F.unsqueeze(F.ones_like(x), dim=-1), -1, 0, N), dim=-1)
    found = F._vander(x, N)
    return found if increasing else F.flip(found, dims=(-1,))


@composite()
def chain_matmul(F, *matrices):
    """`linalg.multi_dot` with each matrix as an argument of its own. One matrix alone is returned as it is.

    Derivative: that of the products."""
    if len(matrices) == 1:
        return checked("chain_matmul", matrices[0], "matrices")
    return F.linalg_multi_dot(list(matrices))


# -- LU and Householder ------------------------------------------------------------------------------------------------


@composite(method=True)
def lu(F, A, pivot=True, get_infos=False):
    """`linalg.lu_factor_ex` as a tuple (LU, pivots), or (LU, pivots, info) if get_infos. Derivative: as linalg.lu."""
    LU, pivots, info = F.linalg_lu_factor_ex(A, pivot=pivot)
    return (LU, pivots, info) if get_infos else (LU, pivots)


@composite(method=True)
def lu_solve(F, input, LU_data, LU_pivots):
    """`linalg.lu_solve` with the right-hand sides as the first argument. Derivative: as linalg.lu_solve."""
    return F.linalg_lu_solve(LU_data, LU_pivots, input)


@composite()
def lu_unpack(F, LU_data, LU_pivots, unpack_data=True, unpack_pivots=True):
    """Return a named tuple (P, L, U) with A = P @ L @ U, given LU_data and LU_pivots from `linalg.lu_factor` of A.

    L and U are empty unless unpack_data, P is empty unless unpack_pivots. Raises RuntimeError for pivots that
    `linalg.lu_factor` does not return: they are int32 and count from 1. Derivative: in LU_data the cotangents of L and U,
    each in its triangle."""
    nothing = F._no_elements(checked("lu_unpack", LU_data, "LU_data"))
    if LU_data.ndim < 2:
        raise errors.square_matrix("torch.lu_unpack", raw(LU_data).shape)
    if unpack_pivots:
        check_lu_pivots("torch.lu_unpack", raw(LU_data), raw(checked("lu_unpack", LU_pivots, "LU_pivots")))
    P = F._permutation(LU_data, LU_pivots) if unpack_pivots else nothing
    if not unpack_data:
        return return_types.lu_unpack((P, nothing, nothing))
    m, n = LU_data.shape[-2:]
    left = F.narrow(LU_data, -1, 0, min(m, n))
    L = F.tril(left, diagonal=-1) + F._eye_like(left)
    return return_types.lu_unpack((P, L, F.triu(F.narrow(LU_data, -2, 0, min(m, n)), diagonal=0)))


@general(outputs=("a", "tau"), node="GeqrfBackward0", method=False, namespaces=())
def _geqrf(xp, A):
    """geqrf. Not differentiable."""
    check_matrix("geqrf", A)
    factor = lapack_function("geqrf", A.dtype)
    k = min(A.shape[-2:])

    def factorise(a):
        return factor(a)[:2] if a.size else (a.copy(), xp.zeros(k, a.dtype))

    return each_matrix(factorise, A.shape[:-2], A)


@_geqrf.vjp("A")
def _(F, ct):
    raise errors.MissingDerivativeError("the derivative for 'geqrf: self' is not implemented.")


@composite(method=True)
def geqrf(F, input):
    """LAPACK's QR decomposition, as a named tuple (a, tau): a of input's shape (..., m, n), tau of shape (..., min(m, n)).

    The upper triangle of a holds R. Below it, a holds the vectors of the Householder reflections, and tau their factors;
    see `linalg.householder_product`. Has no derivative: the backward pass raises. `linalg.qr` has one."""
    return return_types.geqrf(F._geqrf(input))


@composite(method=True, aliases={"input2": "tau"})
def orgqr(F, input, tau):
    """`linalg.householder_product`: the first columns of Q, given the reflections of `geqrf`.

    Derivative: as linalg.householder_product."""
    return F.linalg_householder_product(input, tau)


@composite(method=True, aliases={"input2": "tau", "input3": "other"})
def ormqr(F, input, tau, other, left=True, transpose=False):
    """Compute Q @ other, or other @ Q if not left, for the square Q of a QR decomposition; with Q^H if transpose.

    input, tau: the Householder reflections whose product is Q, as `geqrf` returns them. Raises RuntimeError for shapes
    that do not fit.

    Derivative: that of the products."""
    from wengert.ops.householder import apply_reflections, check_reflections

    if input.ndim < 2:
        raise errors.ShapeError("torch.ormqr: input must have at least 2 dimensions.")
    if other.ndim < 2:
        raise errors.ShapeError("torch.ormqr: other must have at least 2 dimensions.")
    side = -2 if left else -1
    if other.shape[side] != input.shape[-2]:
        raise errors.ShapeError(f"torch.ormqr: other.shape[{side}] must be equal to input.shape[-2]")
    if tau.ndim and tau.shape[-1] != min(other.shape[side], input.shape[-1]):
        raise errors.ShapeError(f"torch.ormqr: tau.shape[-1] must be equal to min(other.shape[{side}], input.shape[-1])")
    check_reflections("torch.ormqr", input, tau)

    if left:
        return apply_reflections(F, input, tau, other, transpose)
    return F.adjoint(apply_reflections(F, input, tau, F.adjoint(other), not transpose))
