"""Linear algebra under its names in wengert itself and as methods: older forms of what wengert.linalg has.

Made of the operations of wengert.linalg, which are registered when one of these is first called.
"""

from __future__ import annotations

from wengert import errors, return_types
from wengert.ops.registry import composite, general


@composite(method=True)
def cholesky(F, input, upper=False):
    """`linalg.cholesky`: L, lower triangular, with L @ L^H = input; its adjoint if upper.

    Derivative: as of linalg.cholesky."""
    return F.linalg_cholesky(input, upper=upper)


@composite(method=True)
def cholesky_solve(F, B, L, upper=False):
    """X with A @ X = B, where L is the Cholesky factor of A: A = L @ L^H, or L^H @ L if upper.

    B: (..., n, k), L: (..., n, n). Derivative: as of two triangular systems."""
    half = F.linalg_solve_triangular(F.adjoint(L) if upper else L, B, upper=False)
    return F.linalg_solve_triangular(L if upper else F.adjoint(L), half, upper=True)


@composite(method=True)
def cholesky_inverse(F, L, upper=False):
    """The inverse of A, where L is its Cholesky factor: A = L @ L^H, or L^H @ L if upper. L: (..., n, n).

    Derivative: as of two triangular systems."""
    return F.cholesky_solve(F._identity(L), L, upper)


@composite(method=True)
def matrix_exp(F, A):
    """`linalg.matrix_exp`: the exponential of a matrix. Derivative: as of linalg.matrix_exp."""
    return F.linalg_matrix_exp(A)


@composite(method=True)
def pinverse(F, input, rcond=1e-15):
    """`linalg.pinv`, where singular values up to rcond times the largest count as zero.

    Derivative: as of linalg.pinv."""
    return F.linalg_pinv(input, rcond)


@composite(method=True)
def qr(F, input, some=True):
    """`linalg.qr`, as a named tuple (Q, R): reduced if some, else complete. Derivative: as of linalg.qr."""
    return return_types.qr(F.linalg_qr(input, "reduced" if some else "complete"))


@composite(method=True)
def svd(F, input, some=True, compute_uv=True):
    """`linalg.svd`, as a named tuple (U, S, V) with V in place of V^H: reduced if some, else with full matrices; zeros in
    place of U and V unless compute_uv. Derivative: as of linalg.svd."""
    if compute_uv:
        U, S, Vh = F._svd(input, full_matrices=not some)
        return return_types.svd((U, S, F.adjoint(Vh)))
    m, n = input.shape[-2:]
    S = F.linalg_svdvals(input)
    U, V = [F.zeros_like(F.expand(F.narrow(input, -1, 0, 1), shape=(*input.shape[:-2], m, m))),
            F.zeros_like(F.expand(F.narrow(input, -2, 0, 1), shape=(*input.shape[:-2], n, n)))]  # fmt: skip
    return return_types.svd((U, S, V))


@composite(method=True)
def cross(F, input, other, dim=None):
    """`linalg.cross`: the cross product along dim, which is by default the first of three elements (RuntimeError where
    there is none). Derivative: as of linalg.cross."""
    if dim is None:
        dim = next((d for d, size in enumerate(input.shape) if size == 3), None)
        if dim is None:
            raise errors.cross_no_dim()
    return F.linalg_cross(input, other, dim=dim)


@composite()
def vander(F, x, N=None, increasing=False):
    """The Vandermonde matrix of a vector, with falling powers unless increasing: `linalg.vander` with its columns turned
    round. x: (n); returns (n, N), N by default n. Derivative: as of linalg.vander."""
    if x.ndim != 1:
        raise errors.vander_ndim()
    N = x.shape[0] if N is None else N
    if N < 2:
        return F.cumprod(F.narrow(F.unsqueeze(F.ones_like(x), dim=-1), -1, 0, N), dim=-1)
    found = F._vander(x, N)
    return found if increasing else F.flip(found, dims=(-1,))


@composite()
def chain_matmul(F, *matrices):
    """`linalg.multi_dot` of matrices, each an argument. Derivative: that of the products."""
    return F.linalg_multi_dot(list(matrices))


# -- LU and Householder ------------------------------------------------------------------------------------------------


@composite(method=True)
def lu(F, A, pivot=True, get_infos=False):
    """`linalg.lu_factor_ex` as a tuple (LU, pivots), or (LU, pivots, info). Derivative: as of linalg.lu."""
    LU, pivots, info = F.linalg_lu_factor_ex(A, pivot=pivot)
    return (LU, pivots, info) if get_infos else (LU, pivots)


@composite(method=True)
def lu_solve(F, B, LU, pivots):
    """`linalg.lu_solve` of LU and pivots, with B first. Derivative: as of linalg.lu_solve."""
    return F.linalg_lu_solve(LU, pivots, B)


@composite()
def lu_unpack(F, LU, pivots, unpack_data=True, unpack_pivots=True):
    """P, L and U with A = P @ L @ U, from the LU and pivots of A's `linalg.lu_factor`, as a named tuple; empty where not
    asked for. Derivative: the cotangents of L and U, each in its triangle."""
    nothing = F._nothing(LU)
    P = F._permutation(LU, pivots) if unpack_pivots else nothing
    if not unpack_data:
        return return_types.lu_unpack((P, nothing, nothing))
    m, n = LU.shape[-2:]
    left = F.narrow(LU, -1, 0, min(m, n))
    L = F.tril(left, diagonal=-1) + F._eye_like(left)
    return return_types.lu_unpack((P, L, F.triu(F.narrow(LU, -2, 0, min(m, n)), diagonal=0)))


@general(outputs=("a", "tau"), node="GeqrfBackward0", method=False, namespaces=())
def _geqrf(xp, A):
    """geqrf. Derivative: none."""
    from scipy.linalg import get_lapack_funcs

    from wengert.ops.matrices import check_matrix, each_matrix

    check_matrix("geqrf", A)
    (factor,) = get_lapack_funcs(("geqrf",), (A,))
    k = min(A.shape[-2:])

    def factorise(a):
        return factor(a)[:2] if a.size else (a.copy(), xp.zeros(k, a.dtype))

    return each_matrix(factorise, A.shape[:-2], A)


@_geqrf.vjp("A")
def _(F, ct):
    raise errors.missing_derivative("geqrf", "self")


@composite(method=True)
def geqrf(F, input):
    """LAPACK's QR, as a named tuple (a, tau): R in the upper triangle of a, and below it the vectors of the Householder
    reflections whose factors are tau; see `linalg.householder_product`. Not differentiable: `linalg.qr` is."""
    return return_types.geqrf(F._geqrf(input))


@composite(method=True)
def orgqr(F, input, tau):
    """`linalg.householder_product`. Derivative: as of that."""
    return F.linalg_householder_product(input, tau)


@composite(method=True)
def ormqr(F, input, tau, other, left=True, transpose=False):
    """Q @ other, or other @ Q if not left, where Q is the (square) product of the Householder reflections in input and
    tau, as `geqrf` returns them; with Q^H if transpose. Raises RuntimeError for shapes that do not fit.

    Derivative: that of the products."""
    from wengert.ops.householder import reflected

    if input.ndim < 2:
        raise errors.ormqr("input must have at least 2 dimensions.")
    if other.ndim < 2:
        raise errors.ormqr("other must have at least 2 dimensions.")
    if tau.ndim != input.ndim - 1:
        raise errors.ormqr(
            f"Expected tau to have one dimension less than input, but got tau.ndim equal to {tau.ndim} and input.ndim is "
            f"equal to {input.ndim}"
        )
    side = -2 if left else -1
    if other.shape[side] != input.shape[-2]:
        raise errors.ormqr(f"other.shape[{side}] must be equal to input.shape[-2]")
    if tau.shape[-1] != min(other.shape[side], input.shape[-1]):
        raise errors.ormqr(f"tau.shape[-1] must be equal to min(other.shape[{side}], input.shape[-1])")

    if left:
        return reflected(F, input, tau, other, transpose)
    return F.adjoint(reflected(F, input, tau, F.adjoint(other), not transpose))
