"""Samples and oracles of wengert.ops.low_rank and ldl."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from op_samples import Sample

_REAL = {"complex": False}
_TRIANGLE = np.array([[2.0, 1.0, 0.5], [0.0, 1.5, -1.0], [0.0, 0.0, 3.0]], np.float32)
_SYMMETRIC = np.array([[0.0, 0.0, 1.0], [0.0, 2.0, 3.0], [1.0, 3.0, 4.0]])
_LD = np.array([[4.0, 0.0, 0.0], [0.75, -0.25, 0.0], [0.25, -0.75, -0.25]])  # of _SYMMETRIC
_PIVOTS = np.array([3, -3, -3], np.int32)

OTHER_STEPS = {"triangular_solve"}

SAMPLES = {
    "triangular_solve": [
        Sample((3, 2), _TRIANGLE, **_REAL), Sample((3, 2), _TRIANGLE.T.copy(), False, **_REAL),
        Sample((3, 1), _TRIANGLE, True, True, True, **_REAL),
    ],
    "linalg_ldl_factor": [Sample(_SYMMETRIC), Sample(np.stack([_SYMMETRIC, np.eye(3)]))],
    "linalg_ldl_factor_ex": [Sample(_SYMMETRIC)],
}  # fmt: skip


def _triangular(b, A, upper=True, transpose=False, unitriangular=False):
    return solve_triangular(A, b, trans=int(transpose), lower=not upper, unit_diagonal=unitriangular), A


def _ldl(A):
    """The factors worked out above. The factors of the identity are the identity."""
    found = [(_LD, _PIVOTS) if a[0, 2] else (np.eye(3), np.arange(1, 4, dtype=np.int32)) for a in A.reshape(-1, 3, 3)]
    LD, pivots = (np.stack(x) for x in zip(*found))
    return LD.reshape(A.shape), pivots.reshape(A.shape[:-1])


ORACLES = {
    "triangular_solve": _triangular,
    "linalg_ldl_factor": _ldl,
    "linalg_ldl_factor_ex": lambda A: (*_ldl(A), np.int32(0)),
}
