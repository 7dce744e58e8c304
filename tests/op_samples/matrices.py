"""Samples and oracles of wengert.ops.eigen, decomposition, least_squares and matrix_functions.

Factors with free signs or phases, and those that look at one triangle, are not differentiated here, where finite
differences would show it: tests/explicit/test_factorisations.py does so, of functions that do not depend on these.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from op_samples import Data, Sample
from op_samples.linalg import Positive, Regular

_INF = float("inf")
_ORDERS = np.array([[3, 3, 3], [2, 3, 3]], np.int32)


class Fixed(Data):
    """Matrices that are far from rank deficient, in every layout except the layout that makes all rows equal."""

    def __init__(self, *shape, grad=True):
        super().__init__(*shape, distinct=True, grad=grad)

    def make(self, rng, dtype):
        return np.asarray(super().make(rng, dtype) + 3 * np.eye(*self.shape[-2:]), dtype)


def _fixed(*shapes, **params):
    return [Sample(Fixed(*shape), **params) for shape in shapes]


_NOT_DIFFERENTIATED = [Sample(Fixed(3, 3, grad=False)), Sample(Fixed(2, 2, 2, grad=False)), Sample(Fixed(0, 2, 2, grad=False))]
_ANY_SHAPE = [(3, 3), (4, 2), (2, 4), (2, 3, 2), (0, 2, 2)]
_TRIANGULAR = [
    Sample(Regular(3, 3), (3, 2), upper=True),
    Sample(Regular(3, 3), (3, 2), upper=False),
    Sample(Regular(3, 3), (2, 3), upper=True, left=False),
    Sample(Regular(2, 3, 3), (2, 3, 1), upper=False, unitriangular=True),
    Sample(Regular(2, 2), (3, 2, 1), upper=True, unitriangular=True),
]

# Operations composed differently here than in torch. The last part names the node, so its name differs.
OTHER_STEPS = {
    "cholesky_solve", "cholesky_inverse", "vander", "lu_solve", "lu_unpack", "orgqr", "ormqr", "linalg_lu_solve",
    "linalg_householder_product", "linalg_lstsq", "linalg_cond", "linalg_tensorinv",
}  # fmt: skip

SAMPLES = {
    # eigen.py
    "linalg_eigh": _NOT_DIFFERENTIATED,
    "linalg_eigvalsh": _NOT_DIFFERENTIATED,
    "linalg_eig": _NOT_DIFFERENTIATED[:2],
    "linalg_eigvals": [*_fixed((3, 3), (2, 2, 2)), _NOT_DIFFERENTIATED[2]],
    "linalg_matrix_exp": [Sample((3, 3)), Sample((2, 2, 2)), Sample((1, 1)), Sample((0, 2, 2))],
    "matrix_exp": [Sample((3, 3))],
    "_limit": [Sample((2, 3), (2, 3), np.ones((2, 3), bool), np.zeros((2, 3), bool))],
    # decomposition.py
    "linalg_solve_triangular": _TRIANGULAR,
    "linalg_qr": [
        *_fixed(*_ANY_SHAPE), Sample(Fixed(4, 2, grad=False), mode="complete"), *_fixed((2, 4), mode="complete"),
        *_fixed((4, 2), (2, 3), mode="r"),
    ],
    "qr": [*_fixed((4, 2), (3, 3)), *_fixed((2, 3), some=False)],
    "linalg_lu": _fixed(*_ANY_SHAPE),
    "linalg_lu_factor": _fixed(*_ANY_SHAPE),
    "linalg_lu_factor_ex": _fixed((3, 3), (2, 3)),
    "lu": [*_fixed((3, 3)), *_fixed((2, 3), get_infos=True)],
    "lu_unpack": [
        Sample(Regular(3, 3), _ORDERS[0]), Sample(Data(2, 3, 4), _ORDERS), Sample(Data(3, 2), _ORDERS[0, :2]),
        Sample(Regular(3, 3), _ORDERS[0], unpack_pivots=False),
    ],
    "linalg_lu_solve": [
        Sample(Regular(3, 3), _ORDERS[0], (3, 2)),
        Sample(Regular(2, 3, 3), _ORDERS, (2, 3, 1), adjoint=True),
        Sample(Regular(3, 3), _ORDERS[0], (2, 3), left=False),
        Sample(Regular(3, 3), _ORDERS[0], (2, 3), left=False, adjoint=True),
    ],
    "lu_solve": [Sample((3, 2), Regular(3, 3), _ORDERS[0])],
    "linalg_householder_product": [Sample((4, 3), (3,)), Sample((2, 3, 3), (2, 2))],
    "orgqr": [Sample((4, 3), (3,))],
    "ormqr": [
        Sample((3, 2), (2,), (3, 4)), Sample((3, 2), (2,), (3, 4), transpose=True),
        Sample((3, 2), (2,), (4, 3), left=False), Sample((3, 2), (2,), (4, 3), left=False, transpose=True),
    ],
    "geqrf": [Sample(Fixed(3, 2, grad=False)), Sample(Fixed(2, 2, 3, grad=False))],
    "_permutation": [Sample(Data(3, 3), _ORDERS[0])],
    # least_squares.py
    "linalg_pinv": [
        *_fixed((3, 3), (4, 2), (2, 3), (2, 3, 2)), Sample(Fixed(2, 3), rtol=1e-3),
        Sample(Fixed(3, 3, grad=False), hermitian=True), Sample((0, 3)),
    ],
    "pinverse": _fixed((3, 2)),
    "linalg_matrix_rank": [Sample(Fixed(4, 3)), Sample(Data(2, 3, 3), atol=1.5), Sample(Fixed(2, 2, 2), rtol=0.5)],
    "linalg_lstsq": [
        Sample(Fixed(4, 2), (4, 3)), Sample(Fixed(2, 4), (2, 3)), Sample(Fixed(3, 3), (3,)), Sample(Fixed(2, 4, 2), (2, 4, 1)),
        Sample(Fixed(4, 2), (4, 3), driver="gelsd"), Sample(Fixed(4, 2), (4, 3), driver="gels"), Sample(Fixed(2, 4, 2), (2, 4)),
    ],
    "linalg_cond": [
        Sample(Regular(3, 3)), Sample(Regular(2, 2, 2), p=-2), *[Sample(Regular(3, 3), p=p) for p in ("fro", "nuc")],
        *[Sample(Data(3, 3, low=-1.3, high=2.2, distinct=True), p=p) for p in (1, -1, _INF)],
    ],
    "linalg_inv_ex": [Sample(Regular(3, 3)), Sample(Regular(2, 2, 2))],
    "linalg_solve_ex": [Sample(Regular(3, 3), (3, 2)), Sample(Regular(3, 3), (3,)), Sample(Regular(2, 2), (3, 2), left=False)],
    "linalg_cholesky_ex": [Sample(Positive(3, 3)), Sample(Positive(2, 2, 2), upper=True)],
    "linalg_tensorinv": [Sample(Data(2, 3, 6, distinct=True)), Sample(Data(4, 2, 2, distinct=True), ind=1)],
    "linalg_tensorsolve": [
        Sample(Data(2, 3, 6, distinct=True), (2, 3)), Sample(Data(3, 2, 2, 3, distinct=True), (2, 3), dims=(0, 2)),
    ],
    "linalg_vander": [Sample((3,)), Sample((2, 3), N=4), Sample((2, 1), N=2)],
    "vander": [Sample((3,)), Sample((3,), N=2, increasing=True), Sample((3,), N=5), Sample((3,), N=1)],
    "linalg_cross": [Sample((2, 3), (2, 3)), Sample((3, 2), (1, 3), dim=0), Sample((3,), (3,))],
    "cross": [Sample((2, 3), (2, 3)), Sample((3, 3), (3, 3)), Sample((3, 2), (3, 1), dim=0)],
    "linalg_diagonal": [Sample((2, 3)), Sample((2, 3, 4), offset=1), Sample((2, 3, 4), dim1=0, dim2=2)],
    "linalg_matmul": [Sample((2, 3), (3, 2)), Sample((2, 2, 3), (3,))],
    # matrix_functions.py
    "cholesky": [Sample(Positive(3, 3)), Sample(Positive(2, 2, 2), upper=True)],
    "cholesky_solve": [Sample((3, 2), Regular(3, 3)), Sample((2, 3, 1), Regular(2, 3, 3), upper=True)],
    "cholesky_inverse": [Sample(Regular(3, 3)), Sample(Regular(2, 2, 2), upper=True)],
    "svd": [
        Sample(Fixed(3, 2, grad=False)), Sample(Fixed(2, 3, grad=False), some=False), Sample(Fixed(3, 2), compute_uv=False),
    ],
    "chain_matmul": [Sample((2, 3), (3, 4), (4, 2)), Sample((2, 3), (3, 2))],
}  # fmt: skip
SAMPLES["linalg_cross"][1] = Sample((3, 2), (3, 1), dim=0)


def _each(function, *arrays):
    """function of each matrix of a batch, by a plain loop."""
    batch = arrays[0].shape[:-2]
    if not batch:
        return function(*arrays)
    rows = [_each(function, *[a[i] for a in arrays]) for i in range(batch[0])]
    if not rows:
        found = function(*[np.random.default_rng(0).normal(size=a.shape[len(batch) :]).astype(a.dtype) for a in arrays])
        found = found if isinstance(found, tuple) else (found,)
        rows = [np.zeros((*batch, *np.shape(x)), np.asarray(x).dtype) for x in found]
        return tuple(rows) if len(rows) > 1 else rows[0]
    return tuple(map(np.stack, zip(*rows, strict=True))) if isinstance(rows[0], tuple) else np.stack(rows)


def _triangular(a, b, upper, left=True, unitriangular=False):
    a = np.triu(a) if upper else np.tril(a)
    if unitriangular:
        a = a - a * np.eye(a.shape[-1]) + np.eye(a.shape[-1])
    return np.linalg.solve(a, b) if left else np.matmul(b, np.linalg.inv(a))


def _lu(a):
    def factors(a):
        return scipy.linalg.lu(a) if a.size else (np.eye(len(a)), a, a)

    return _each(factors, a)


def _lu_factor(a, get_infos=True):
    def factor(a):
        packed, pivots = scipy.linalg.lu_factor(a)
        return packed, (pivots + 1).astype(np.int32), np.int32(0)

    return _each(factor, a)[: 3 if get_infos else 2]


def _unpacked(packed, pivots, unpack_pivots=True):
    def unpack(packed, pivots):
        m, n = packed.shape
        P = np.eye(m, dtype=packed.dtype)
        for i, j in enumerate(np.ravel(pivots)):
            P[[i, j - 1]] = P[[j - 1, i]]
        k = min(m, n)
        return P.T, np.tril(packed[:, :k], -1) + np.eye(m, k), np.triu(packed[:k])

    P, L, U = _each(unpack, packed, pivots[..., None])
    return (P if unpack_pivots else np.zeros(0, packed.dtype)), L, U


def _lu_solve(packed, pivots, b, left=True, adjoint=False):
    P, L, U = _unpacked(packed, pivots)
    a = P @ L @ U
    a = np.swapaxes(a.conj(), -1, -2) if adjoint else a
    return np.linalg.solve(a, b) if left else np.matmul(b, np.linalg.inv(a))


def _householder(a, tau, columns=None):
    def product(a, tau):
        tau = tau.ravel()
        m, n = a.shape
        Q = np.eye(m, dtype=a.dtype)
        for i in range(tau.size):
            v = np.concatenate([np.zeros(i), [1.0], a[i + 1 :, i]])
            Q = Q @ (np.eye(m) - tau[i] * np.outer(v, v.conj()))
        return Q[:, : columns or n]

    return _each(product, a, tau[..., None])


def _ormqr(a, tau, c, left=True, transpose=False):
    Q = _householder(a, tau, a.shape[0])
    Q = Q.conj().T if transpose else Q
    return Q @ c if left else c @ Q


def _geqrf(a):
    return _each(lambda a: scipy.linalg.lapack.get_lapack_funcs("geqrf", (a,))(a)[:2], a)


def _lstsq(a, b, driver=None):
    vector = b.ndim < a.ndim
    b = b[..., None] if vector else b
    x = np.matmul(np.linalg.pinv(a), b)
    residuals = (np.abs(np.matmul(a, x) - b) ** 2).sum(axis=-2)
    rank = np.linalg.matrix_rank(a)
    empty = np.zeros(0, a.real.dtype)
    values = np.linalg.svd(a, compute_uv=False) if driver == "gelsd" else empty
    rank = np.zeros(0, int) if driver == "gels" else rank
    return x[..., 0] if vector else x, residuals if driver in ("gelsd", "gels") else empty, rank, values


def _eig(a):
    values, vectors = np.linalg.eig(a)
    return values.astype(np.result_type(a, np.complex64)), vectors.astype(np.result_type(a, np.complex64))


def _qr(a, mode="reduced"):
    if mode == "r":
        return np.zeros(0, a.dtype), np.linalg.qr(a, "r")
    return tuple(np.linalg.qr(a, mode))


def _svd(a, some=True, compute_uv=True):
    if not compute_uv:
        m, n = a.shape
        return np.zeros((m, m), a.dtype), np.linalg.svd(a, compute_uv=False), np.zeros((n, n), a.dtype)
    U, S, Vh = np.linalg.svd(a, full_matrices=not some)
    return U, S, np.swapaxes(Vh.conj(), -1, -2)


def _cholesky(a, upper=False):
    L = np.linalg.cholesky(a)
    return np.swapaxes(L.conj(), -1, -2) if upper else L


def _of_factor(L, upper=False):
    """The matrix whose Cholesky factor this is."""
    factor = np.triu(L) if upper else np.tril(L)
    adjoint = np.swapaxes(factor.conj(), -1, -2)
    return np.matmul(adjoint, factor) if upper else np.matmul(factor, adjoint)


def _of_lower(a):
    """The Hermitian matrix with this lower triangle."""
    below = np.tril(a, -1)
    return below + below.conj().T + np.diag(np.diag(a).real)


def _tensorsolve(a, b, dims=None):
    return np.linalg.tensorsolve(a, b, dims)


def _cross(x, y, dim=-1):
    return np.cross(x, y, axis=dim)


def _first_cross(x, y, dim=None):
    return np.cross(x, y, axis=x.shape.index(3) if dim is None else dim)


ORACLES = {
    "linalg_eigh": lambda a: tuple(np.linalg.eigh(a)),
    "linalg_eigvalsh": np.linalg.eigvalsh,
    "linalg_eig": _eig,
    "linalg_eigvals": lambda a: _eig(a)[0],
    "linalg_matrix_exp": lambda a: _each(scipy.linalg.expm, a),
    "matrix_exp": scipy.linalg.expm,
    "linalg_solve_triangular": _triangular,
    "linalg_qr": _qr,
    "qr": lambda a, some=True: _qr(a, "reduced" if some else "complete"),
    "linalg_lu": _lu,
    "linalg_lu_factor": lambda a: _lu_factor(a, False),
    "linalg_lu_factor_ex": _lu_factor,
    "lu": lambda a, get_infos=False: _lu_factor(a, get_infos),
    "lu_unpack": _unpacked,
    "linalg_lu_solve": _lu_solve,
    "lu_solve": lambda b, packed, pivots: _lu_solve(packed, pivots, b),
    "linalg_householder_product": _householder,
    "orgqr": _householder,
    "ormqr": _ormqr,
    "geqrf": _geqrf,
    "linalg_pinv": lambda a, rtol=None, hermitian=False: (
        np.linalg.pinv(_of_lower(a) if hermitian else a, rcond=rtol or 1e-12)
        if a.size else np.zeros(a.shape[::-1])
    ),
    "pinverse": np.linalg.pinv,
    "linalg_matrix_rank": lambda a, atol=None, rtol=None: (
        (np.linalg.svd(a, compute_uv=False) > max(atol or 0, 1e-12)).sum(-1) if rtol is None
        else (lambda s: (s > rtol * s[..., :1]).sum(-1))(np.linalg.svd(a, compute_uv=False))
    ),
    "linalg_lstsq": _lstsq,
    "linalg_cond": np.linalg.cond,
    "linalg_inv_ex": lambda a: (np.linalg.inv(a), np.zeros(a.shape[:-2], np.int32)),
    "linalg_solve_ex": lambda a, b, left=True: (
        np.linalg.solve(a, b) if left else np.matmul(b, np.linalg.inv(a)), np.zeros(a.shape[:-2], np.int32),
    ),
    "linalg_cholesky_ex": lambda a, upper=False: (_cholesky(a, upper), np.zeros(a.shape[:-2], np.int32)),
    "linalg_tensorinv": lambda a, ind=2: np.linalg.tensorinv(a, ind),
    "linalg_tensorsolve": _tensorsolve,
    "linalg_vander": lambda x, N=None: x[..., None] ** np.arange(N or x.shape[-1]),
    "vander": np.vander,
    "linalg_cross": _cross,
    "cross": _first_cross,
    "linalg_diagonal": lambda a, offset=0, dim1=-2, dim2=-1: np.diagonal(a, offset, dim1, dim2),
    "linalg_matmul": np.matmul,
    "cholesky": _cholesky,
    "cholesky_solve": lambda b, L, upper=False: np.linalg.solve(_of_factor(L, upper), b),
    "cholesky_inverse": lambda L, upper=False: np.linalg.inv(_of_factor(L, upper)),
    "svd": _svd,
    "chain_matmul": lambda *matrices: np.linalg.multi_dot(matrices),
}  # fmt: skip
