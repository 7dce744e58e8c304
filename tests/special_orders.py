"""Calls of functions of scipy.special whose results have an axis for orders: (name, call, the differentiated arguments)."""

from __future__ import annotations

import numpy as np

P, R = np.array([0.7, 1.6, 2.9]), np.array([-0.9, 0.35, 0.7])
_DEGREES, _SIGNED = np.array([3, 2, 1]), np.array([2, -1, 0])


def _number(x):
    """A number for SciPy, which takes no arrays of no dimension."""
    return x.item() if isinstance(x, np.ndarray) and x.ndim == 0 else x


ORDERS = [
    *[("legendre_p", lambda f, z, d=d: f(np.array([3, 0, 1]), z, diff_n=d), (R,)) for d in (0, 1, 2)],
    ("legendre_p", lambda f, z: f(4, z), (np.array([1.0, -1.0]),)),
    *[("legendre_p_all", lambda f, z, d=d: f(4, z, diff_n=d), (R,)) for d in (0, 2)],
    *[("assoc_legendre_p", lambda f, z, d=d, m=m, s=s: f(4, m, z, diff_n=d, norm=s), (R,)) for m in (0, 2, -1, 3) for d in (0, 2) for s in (True, False)],
    *[("assoc_legendre_p", lambda f, z, d=d, m=m, s=s: f(4, m, z, branch_cut=3, diff_n=d, norm=s), (P + 1,)) for m in (0, 1, -2, -3) for d in (0, 1) for s in (True, False)],
    *[("assoc_legendre_p_all", lambda f, z, d=d: f(3, 2, z, diff_n=d), (R,)) for d in (0, 2)],
    *[("sph_legendre_p", lambda f, z, d=d: f(_DEGREES, _SIGNED, z, diff_n=d), (P,)) for d in (0, 1, 2)],
    *[("sph_legendre_p_all", lambda f, z, d=d: f(3, 2, z, diff_n=d), (P,)) for d in (0, 2)],
    *[("sph_harm_y", lambda f, z, y, d=d: f(_DEGREES, _SIGNED, z, y, diff_n=d), (P, R)) for d in (0, 1, 2)],
    *[("sph_harm_y_all", lambda f, z, y, d=d: f(3, 2, z, y, diff_n=d), (P, R)) for d in (0, 2)],
    *[(name, lambda f, x, v=v: f(v, _number(x)), (np.array(x),)) for name, v, x in (
        ("lmbda", 2.5, 1.3), ("lmbda", 3, 0.7), ("pbdv_seq", 2.5, 1.3), ("pbdv_seq", 3, 0.3), ("pbvv_seq", 2.5, 1.3), ("pbvv_seq", 2, 1.3),
        ("pbdn_seq", 3, 1.3), ("riccati_jn", 3, 1.3), ("riccati_yn", 3, 1.3), ("lqn", 3, 0.3), ("lqn", 3, -0.6), ("lqn", 4, 1.7), ("lqn", 2, -1.7),
    )],
    ("modfresnelp", lambda f, x: f(x), (P,)), ("modfresnelm", lambda f, x: f(x), (P,)),
]  # fmt: skip
