"""Samples of wengert.ops.linalg and einsum."""

from __future__ import annotations

import numpy as np
from op_samples import Sample

_PRODUCTS = [
    Sample((2, 3), (3, 4)), Sample((2, 3), (3,)), Sample((3,), (3, 4)), Sample((3,), (3,)), Sample((2, 3, 4), (4, 2)),
    Sample((2, 3, 4), (2, 4, 2)), Sample((2, 1, 3, 4), (3, 4, 2)), Sample((2, 3, 4), (4,)), Sample((4,), (2, 4, 3)),
    Sample((3, 4), (2, 4, 2)), Sample((0, 3), (3, 4)), Sample((2, 0), (0, 4)), Sample((2, 0, 3), (3, 2)), Sample((1, 1), (1, 1)),
]  # fmt: skip
_EINSUMS = {
    "ij,jk->ik": [(2, 3), (3, 4)], "ij,jk->ki": [(2, 3), (3, 4)], "ij,kj": [(2, 3), (4, 3)], "ij,jk->i": [(2, 3), (3, 4)],
    "bij,bjk->bik": [(2, 3, 4), (2, 4, 2)], "bij,bjk->ki": [(2, 3, 4), (2, 4, 2)], "i,i": [(3,), (3,)], "i,j->ji": [(3,), (2,)],
    "i,i->i": [(3,), (3,)], "ii->i": [(3, 3)], "ii": [(3, 3)], "ij->": [(2, 3)], "ij->ji": [(2, 3)], "ij->ij": [(2, 3)],
    "...j->...": [(2, 3, 2)], "...ij,...jk->...ik": [(2, 3, 4), (4, 2)], "i,ij,j->": [(2,), (2, 3), (3,)],
    "ab,bc,cd->ad": [(2, 3), (3, 4), (4, 2)], "ij,ij,ij->i": [(2, 3), (2, 3), (2, 3)], "iij,jk->ik": [(3, 3, 2), (2, 4)],
    "ij,kl->": [(2, 3), (2, 2)], "bhid,bhjd->bhij": [(2, 1, 3, 2), (2, 1, 4, 2)], ",ij->ij": [(), (2, 3)],
    "ij,jk -> ik": [(0, 3), (3, 2)], "ji, jk -> i k": [(0, 3), (0, 2)],
}  # fmt: skip

SAMPLES = {
    "matmul": _PRODUCTS,
    "mm": [Sample((2, 3), (3, 4)), Sample((2, 0), (0, 3)), Sample((1, 3), (3, 1))],
    "mv": [Sample((2, 3), (3,)), Sample((0, 3), (3,))],
    "dot": [Sample((3,), (3,)), Sample((0,), (0,))],
    "vdot": [Sample((3,), (3,))],
    "bmm": [Sample((2, 3, 4), (2, 4, 2)), Sample((0, 3, 4), (0, 4, 2))],
    "addmm": [
        Sample((2, 4), (2, 3), (3, 4)), Sample((4,), (2, 3), (3, 4)), Sample((2, 1), (2, 3), (3, 4), beta=0.5, alpha=-2),
        Sample((), (2, 3), (3, 4), beta=2), Sample((2, 4), (2, 3), (3, 4), beta=0),
    ],  # fmt: skip
    "addmv": [Sample((2,), (2, 3), (3,)), Sample((), (2, 3), (3,), beta=0.5, alpha=-2)],
    "baddbmm": [Sample((2, 3, 2), (2, 3, 4), (2, 4, 2)), Sample((3, 1), (2, 3, 4), (2, 4, 2), beta=0.5, alpha=-2)],
    "addbmm": [Sample((3, 2), (2, 3, 4), (2, 4, 2)), Sample((2,), (2, 3, 4), (2, 4, 2), beta=0.5, alpha=-2)],
    "addr": [Sample((2, 3), (2,), (3,)), Sample((3,), (2,), (3,), beta=0.5, alpha=-2)],
    "outer": [Sample((2,), (3,)), Sample((0,), (3,))],
    "ger": [Sample((2,), (3,))],
    "inner": [Sample((3,), (3,)), Sample((2, 3), (4, 3)), Sample((2, 2, 3), (3,)), Sample((2, 3), ())],
    "tensordot": [
        Sample((2, 3), (2, 3)), Sample((2, 3), (3, 4), dims=1), Sample((2, 3), (4,), dims=0),
        Sample((2, 3, 4), (4, 2, 5), dims=([0, 2], [1, 0])), Sample((2, 3, 4), (5, 3), dims=((-2,), (1,))),
    ],  # fmt: skip
    "trace": [Sample((3, 3)), Sample((2, 3))],
    "kron": [Sample((2, 3), (3, 2)), Sample((2,), (2, 3)), Sample((), (2,)), Sample((2, 1, 2), (2,))],
    "einsum": [Sample(equation, *shapes) for equation, shapes in _EINSUMS.items()],
}


def _add_scaled(product):
    return lambda x, a, b, beta=1, alpha=1: (beta * x if beta else 0) + alpha * product(a, b)


ORACLES = {
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
    "ger": np.multiply.outer,
    "tensordot": lambda a, b, dims=2: np.tensordot(a, b, dims),
    "einsum": lambda equation, *operands: np.einsum(equation, *operands),
}
