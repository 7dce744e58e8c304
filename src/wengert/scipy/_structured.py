"""Matrices with a structure, of scipy.linalg: each element is an element of the arguments, or 0 or 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.array_functions.table import linalg as _ours, w as _w
from wengert.scipy._frame import Submodule, operands


def placed(values: Any, places: Any) -> Any:
    """Return values[places] for an array of places, and 0 where places is -1. values: 1-d."""
    padded = _w.cat([values, _w.zeros(1, dtype=values.dtype)])
    return padded[_w.as_tensor(np.asarray(places))]


def from_bands(ab: Any, lower: bool) -> Any:
    """Return the matrix whose lower or upper diagonals are the rows of ab. Elements of its other triangle are 0."""
    count, n = ab.shape[0] - 1, ab.shape[1]
    i, j = np.indices((n, n))
    rows = i - j if lower else count + i - j
    return placed(ab.reshape(-1), np.where((rows >= 0) & (rows <= count) & ((i >= j) == lower) | (i == j), rows * n + j, -1))


def to_bands(a: Any, count: int, lower: bool) -> Any:
    """Return the main diagonal and `count` lower or upper diagonals of a matrix, as rows."""
    n = a.shape[0]
    r, j = np.indices((count + 1, n))
    i = j + r if lower else j + r - count
    return placed(a.reshape(-1), np.where((i >= 0) & (i < n), i * n + j, -1))


def outside(ab: Any, lower: bool) -> Any:
    """Return the elements of bands that lie outside the matrix, and 0 elsewhere."""
    r, j = np.indices(tuple(ab.shape))
    i = j + r if lower else j + r - (ab.shape[0] - 1)
    return _w.where(_w.as_tensor((i < 0) | (i >= ab.shape[1])), ab, 0.0)


def _vectors(*values: Any) -> list[Any]:
    return [None if x is None else x.reshape(-1) for x in operands(*values)]


def toeplitz(c, r=None):
    """Toeplitz matrix with the first column c and the first row r, whose first element is not used; r = conj(c) if None."""
    c, r = _vectors(c, r)
    r = c.conj() if r is None else r
    i, j = np.indices((c.numel(), r.numel()))
    return _w.cat([c, r])[_w.as_tensor(np.where(i >= j, i - j, c.numel() + j - i))]


def hankel(c, r=None):
    """Hankel matrix with the first column c and the last row r, whose first element is not used; 0 if r is None."""
    c, r = _vectors(c, r)
    r = _w.zeros_like(c) if r is None else r
    i, j = np.indices((c.numel(), r.numel()))
    return _w.cat([c, r[1:]])[_w.as_tensor(i + j)]


def circulant(c):
    """Circulant matrix with the first column c: (..., n) to (..., n, n)."""
    (c,) = operands(c)
    i, j = np.indices((c.shape[-1], c.shape[-1]))
    return c[..., _w.as_tensor((i - j) % c.shape[-1])]


def companion(a):
    """Companion matrix of the polynomial with the coefficients a, the highest first."""
    (a,) = operands(a)
    if a.shape[-1] < 2 or a.ndim != 1:
        raise ValueError("The length of `a` must be at least 2." if a.ndim == 1 else "`a` must be one-dimensional.")
    return _w.cat([(-a[1:] / a[0])[None], _w.eye(a.numel() - 2, a.numel() - 1, dtype=a.dtype)])


def fiedler_companion(a):
    """Fiedler's companion matrix, with five diagonals, of the polynomial with the coefficients a, the highest first."""
    (a,) = operands(a)
    if a.ndim != 1:
        return NotImplemented
    if a.numel() <= 2:
        return (-a[1:] / a[0])[:, None] if a.numel() == 2 else a[:0]
    if a[0] == 0:
        raise ValueError("Leading coefficient is zero.")
    n = a.numel() - 1
    places = np.full((n, n), -1)  # of 1 at the end, and of the coefficients
    places[range(3, n, 2), range(1, n - 2, 2)] = places[range(0, n - 2, 2), range(2, n, 2)] = places[1, 0] = n
    places[range(2, n, 2), range(1, n - 1, 2)] = range(2, n, 2)
    places[range(0, n - 1, 2), range(1, n, 2)] = range(1, n, 2)
    places[0, 0] = 0
    return placed(_w.cat([-a[1:] / a[0], _w.ones(1, dtype=a.dtype)]), places)


def leslie(f, s):
    """Leslie matrix of fecundities f: (n,) and survivals s: (n - 1,)."""
    f, s = operands(f, s)
    if f.shape[-1] != s.shape[-1] + 1:
        raise ValueError(f"Incorrect lengths for f and s: f has {f.shape[-1]} elements, s {s.shape[-1]}, expected one less")
    return _w.cat([f[None], _w.cat([_w.diag(s), _w.zeros((s.numel(), 1), dtype=s.dtype)], 1)])


def fiedler(a):
    """Matrix of the differences |a_i - a_j|. Derivative: the sign of the difference."""
    (a,) = operands(a)
    return _w.abs(a[..., :, None] - a[..., None, :])


def convolution_matrix(a, n, mode="full"):
    """Matrix whose product with a vector of n elements is its convolution with a. mode: "full", "same" or "valid"."""
    (a,) = operands(a)
    if mode not in ("full", "same", "valid"):
        raise ValueError("'mode' argument must be one of ('full', 'valid', 'same')")
    m, n = a.numel(), int(n)
    i, j = np.indices((m + n - 1, n))
    if mode == "same":
        trim = min(n, m) - 1
        start = trim // 2
        i, j = i[start : start + max(m, n)], j[start : start + max(m, n)]
    elif mode == "valid":
        trim = min(n, m) - 1
        i, j = i[trim : m + n - 1 - trim], j[trim : m + n - 1 - trim]
    return placed(a, np.where((i >= j) & (i - j < m), i - j, -1))


def diagsvd(s, M, N):
    """Matrix (M, N) with the singular values s on the diagonal."""
    (s,) = operands(s)
    i, j = np.indices((int(M), int(N)))
    return placed(s, np.where(i == j, i, -1))


def block_diag(*arrs):
    """Matrix with these matrices on its diagonal. An empty list counts as (1, 0)."""
    found = operands(*arrs)
    return _w.block_diag(*[x[None] if x.ndim == 1 else x for x in found])


def khatri_rao(a, b):
    """Kronecker product of each column of a with that of b."""
    a, b = operands(a, b)
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[1]:
        raise ValueError("The number of columns for both arrays should be equal.")
    return (a[:, None, :] * b[None, :, :]).reshape(-1, a.shape[1])


def _column_and_row(c_or_cr: Any) -> tuple[Any, Any]:
    return c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, None)


def solve_toeplitz(c_or_cr, b, check_finite=True):
    """Solution of T x = b for a Toeplitz matrix. It is solved as a dense matrix. Derivative: in c, r and b."""
    c, r = _column_and_row(c_or_cr)
    values = operands(*[x for x in (c, r, b) if x is not None])
    matrix, b = toeplitz(*values[:-1]), values[-1]
    return _ours.solve(matrix, b[:, None])[:, 0] if b.ndim == 1 else _ours.solve(matrix, b)


def matmul_toeplitz(c_or_cr, x, check_finite=False, workers=None):
    """Product of a Toeplitz matrix and x: (n,) or (n, k)."""
    c, r = _column_and_row(c_or_cr)
    values = operands(*[v for v in (c, r, x) if v is not None])
    return _w.matmul(toeplitz(*values[:-1]), values[-1])


def solve_circulant(c, b, singular="raise", tol=None, caxis=-1, baxis=0, outaxis=0):
    """Solution of C x = b for a circulant matrix with the first column c. Axes other than the default ones are not taken here."""
    if singular != "raise" or tol is not None or (caxis, baxis, outaxis) != (-1, 0, 0):
        return NotImplemented
    c, b = operands(c, b)
    if c.ndim != 1:
        return NotImplemented
    matrix = circulant(c)
    return _ours.solve(matrix, b[:, None])[:, 0] if b.ndim == 1 else _ours.solve(matrix, b)


def register(module: Submodule) -> None:
    """Register the functions of this module."""
    for function in (
        toeplitz, hankel, circulant, companion, fiedler_companion, leslie, fiedler, convolution_matrix, diagsvd, block_diag,
        khatri_rao, solve_toeplitz, matmul_toeplitz, solve_circulant,
    ):  # fmt: skip
        module.differentiates()(function)
