"""Samples of wengert.ops.linalg, einsum and factor."""

from __future__ import annotations

import numpy as np

from op_samples import Data, Sample


class Regular(Data):
    """Square matrices that are far from singular, in every layout except the layout that makes all rows equal."""

    def __init__(self, *shape):
        super().__init__(*shape, distinct=True)

    def make(self, rng, dtype):
        return np.asarray(super().make(rng, dtype) + 4 * np.eye(self.shape[-1]), dtype)


class Positive(Data):
    """Hermitian, positive definite matrices. Cholesky looks at one triangle only, which finite differences would show:
    tests/explicit checks its derivative."""

    def __init__(self, *shape):
        super().__init__(*shape, distinct=True, grad=False)

    def make(self, rng, dtype):
        factor = super().make(rng, dtype)
        return np.asarray(np.matmul(factor, np.swapaxes(factor.conj(), -1, -2)) + np.eye(self.shape[-1]), dtype)


_PRODUCTS = [
    Sample((2, 3), (3, 4)),
    Sample((2, 3), (3,)),
    Sample((3,), (3, 4)),
    Sample((3,), (3,)),
    Sample((2, 3, 4), (4, 2)),
    Sample((2, 3, 4), (2, 4, 2)),
    Sample((2, 1, 3, 4), (3, 4, 2)),
    Sample((2, 3, 4), (4,)),
    Sample((4,), (2, 4, 3)),
    Sample((3, 4), (2, 4, 2)),
    Sample((0, 3), (3, 4)),
    Sample((2, 0), (0, 4)),
    Sample((2, 0, 3), (3, 2)),
    Sample((1, 1), (1, 1)),
]
_EINSUMS = {
    "ij,jk->ik": [(2, 3), (3, 4)],
    "ij,jk->ki": [(2, 3), (3, 4)],
    "ij,kj": [(2, 3), (4, 3)],
    "ij,jk->i": [(2, 3), (3, 4)],
    "bij,bjk->bik": [(2, 3, 4), (2, 4, 2)],
    "bij,bjk->ki": [(2, 3, 4), (2, 4, 2)],
    "i,i": [(3,), (3,)],
    "i,j->ji": [(3,), (2,)],
    "i,i->i": [(3,), (3,)],
    "ii->i": [(3, 3)],
    "ii": [(3, 3)],
    "ij->": [(2, 3)],
    "ij->ji": [(2, 3)],
    "ij->ij": [(2, 3)],
    "...j->...": [(2, 3, 2)],
    "...ij,...jk->...ik": [(2, 3, 4), (4, 2)],
    "i,ij,j->": [(2,), (2, 3), (3,)],
    "ab,bc,cd->ad": [(2, 3), (3, 4), (4, 2)],
    "ij,ij,ij->i": [(2, 3), (2, 3), (2, 3)],
    "iij,jk->ik": [(3, 3, 2), (2, 4)],
    "ij,kl->": [(2, 3), (2, 2)],
    "bhid,bhjd->bhij": [(2, 1, 3, 2), (2, 1, 4, 2)],
    ",ij->ij": [(), (2, 3)],
    "ij,jk -> ik": [(0, 3), (3, 2)],
    "ji, jk -> i k": [(0, 3), (0, 2)],
}

_SQUARE = [Sample(Regular(3, 3)), Sample(Regular(1, 1)), Sample(Regular(2, 2, 2)), Sample(Regular(0, 2, 2))]
_MATRIX_NORMS = ("fro", 1, -1, float("inf"), float("-inf"))

SAMPLES = {
    "matmul": _PRODUCTS,
    "mm": [Sample((2, 3), (3, 4)), Sample((2, 0), (0, 3)), Sample((1, 3), (3, 1))],
    "mv": [Sample((2, 3), (3,)), Sample((0, 3), (3,))],
    "dot": [Sample((3,), (3,)), Sample((0,), (0,))],
    "vdot": [Sample((3,), (3,))],
    "bmm": [Sample((2, 3, 4), (2, 4, 2)), Sample((0, 3, 4), (0, 4, 2))],
    "addmm": [
        Sample((2, 4), (2, 3), (3, 4)),
        Sample((4,), (2, 3), (3, 4)),
        Sample((2, 1), (2, 3), (3, 4), beta=0.5, alpha=-2),
        Sample((), (2, 3), (3, 4), beta=2),
        Sample((2, 4), (2, 3), (3, 4), beta=0),
    ],
    "addmv": [Sample((2,), (2, 3), (3,)), Sample((), (2, 3), (3,), beta=0.5, alpha=-2)],
    "baddbmm": [Sample((2, 3, 2), (2, 3, 4), (2, 4, 2)), Sample((3, 1), (2, 3, 4), (2, 4, 2), beta=0.5, alpha=-2)],
    "addbmm": [Sample((3, 2), (2, 3, 4), (2, 4, 2)), Sample((2,), (2, 3, 4), (2, 4, 2), beta=0.5, alpha=-2)],
    "addr": [Sample((2, 3), (2,), (3,)), Sample((3,), (2,), (3,), beta=0.5, alpha=-2)],
    "outer": [Sample((2,), (3,)), Sample((0,), (3,))],
    "inner": [Sample((3,), (3,)), Sample((2, 3), (4, 3)), Sample((2, 2, 3), (3,)), Sample((2, 3), ())],
    "tensordot": [
        Sample((2, 3), (2, 3)),
        Sample((2, 3), (3, 4), dims=1),
        Sample((2, 3), (4,), dims=0),
        Sample((2, 3, 4), (4, 2, 5), dims=([0, 2], [1, 0])),
        Sample((2, 3, 4), (5, 3), dims=((-2,), (1,))),
    ],
    "trace": [Sample((3, 3)), Sample((2, 3))],
    "kron": [Sample((2, 3), (3, 2)), Sample((2,), (2, 3)), Sample((), (2,)), Sample((2, 1, 2), (2,))],
    "_on_diagonal": [Sample((), shape=(2, 3))],
    # factor.py
    "linalg_inv": _SQUARE,
    "inverse": _SQUARE[:2],
    "linalg_solve": [
        Sample(Regular(3, 3), (3,)),
        Sample(Regular(3, 3), (3, 2)),
        Sample(Regular(2, 3, 3), (2, 3)),
        Sample(Regular(2, 3, 3), (3, 2)),
        Sample(Regular(3, 3), (2, 3), left=False),
    ],
    "det": _SQUARE,
    "slogdet": _SQUARE,
    "logdet": [Sample(Regular(3, 3)), Sample(Regular(2, 2, 2))],
    "linalg_cholesky": [Sample(Positive(3, 3)), Sample(Positive(2, 2, 2))],
    "matrix_power": [Sample(Regular(2, 2), n=n) for n in (0, 1, 2, 5, -1, -3)],
    "linalg_multi_dot": [
        Sample([Data(2, 3), Data(3, 4), Data(4, 2)]),
        Sample([Data(3), Data(3, 2), Data(2, 4), Data(4)]),
    ],
    "linalg_vecdot": [Sample((2, 3), (3,)), Sample((2, 3), (2, 3), dim=0)],
    "linalg_svdvals": [Sample(Data(3, 2)), Sample(Regular(2, 2)), Sample(Data(2, 2, 3))],
    "linalg_svd": [Sample(Data(3, 2, distinct=True, grad=False)), Sample(Data(2, 2, distinct=True, grad=False))],
    "linalg_matrix_norm": [
        *[Sample((2, 3), ord=p) for p in _MATRIX_NORMS],
        Sample((2, 3, 2), ord=1, dim=(0, 2), keepdim=True),
        *[Sample((2, 3), ord=p) for p in ("nuc", 2, -2)],
    ],
    "linalg_norm": [
        Sample((2, 3)),
        Sample((3,), ord=3, complex=False),
        Sample((2, 3), ord=1, dim=1),
        Sample((2, 3), ord="fro"),
        Sample((2, 3), ord=1),
        Sample((2, 2, 3), ord=float("inf"), dim=(0, 2)),
    ],
    "einsum": [Sample(equation, *shapes) for equation, shapes in _EINSUMS.items()],
}


def _add_scaled(product):
    return lambda x, a, b, beta=1, alpha=1: (beta * x if beta else 0) + alpha * product(a, b)


def _solve(a, b, left=True):
    if b.ndim == 1 or b.shape == a.shape[:-1]:
        return np.linalg.solve(a, b[..., None])[..., 0]
    return np.matmul(np.linalg.inv(a), b) if left else np.matmul(b, np.linalg.inv(a))


ORACLES = {
    "linalg_inv": np.linalg.inv,
    "inverse": np.linalg.inv,
    "linalg_solve": _solve,
    "det": np.linalg.det,
    "slogdet": lambda a: tuple(np.linalg.slogdet(a)),
    "logdet": lambda a: np.log(np.linalg.det(a)),
    "linalg_cholesky": np.linalg.cholesky,
    "matrix_power": np.linalg.matrix_power,
    "linalg_multi_dot": np.linalg.multi_dot,
    "linalg_vecdot": lambda x, y, dim=-1: (x.conj() * y).sum(axis=dim),
    "linalg_svd": lambda a: tuple(np.linalg.svd(a)),
    "linalg_svdvals": lambda a: np.linalg.svd(a, compute_uv=False),
    "linalg_matrix_norm": lambda a, ord, dim=(-2, -1), keepdim=False: np.linalg.norm(a, ord, dim, keepdim),
    "linalg_norm": lambda a, ord=None, dim=None: np.linalg.norm(a, ord, dim),
    "matmul": np.matmul,
    "mm": lambda x, y: (x[:, :, None] * y).sum(axis=1),
    "mv": lambda x, y: (x * y).sum(axis=1),
    "dot": lambda x, y: (x * y).sum(),
    "vdot": lambda x, y: (x.conj() * y).sum(),
    "bmm": lambda x, y: np.stack([a.dot(b) for a, b in zip(x, y, strict=True)]) if len(x) else np.zeros((0, 3, 2)),
    "addmm": _add_scaled(np.matmul),
    "addmv": _add_scaled(np.matmul),
    "baddbmm": _add_scaled(np.matmul),
    "addbmm": _add_scaled(lambda a, b: np.matmul(a, b).sum(axis=0)),
    "addr": _add_scaled(np.multiply.outer),
    "outer": np.multiply.outer,
    "tensordot": lambda a, b, dims=2: np.tensordot(a, b, dims),
    "einsum": lambda equation, *operands: np.einsum(equation, *operands),
}
