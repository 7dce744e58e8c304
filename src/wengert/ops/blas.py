"""Products, sums and maxima in the forms that NumPy and its BLAS run fastest, for families of operations to use.

Note [Sums by BLAS]
Where no kernels are compiled: NumPy adds contiguous floats pairwise, eight at a time; a product with a vector of ones adds
with the full width of the registers, in a third of the time, on all threads. It does not add pairwise, so rows are cut to at
most _BLOCK elements, and the blocks' sums are added pairwise: the error stays about that of NumPy's own sum.

Note [Few rows]
x @ w^T with few rows of x and a large w, a layer's output or the cotangent of its input, is slow in OpenBLAS, whose
kernels would rather have few columns: it takes a quarter less time, on several threads half, as (w @ x^T)^T, where the
result, which is small, is copied into the usual layout.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from wengert.kernels import rows
from wengert.kernels.memory import new_array

__all__ = ["LARGE_FACTOR", "add_up", "batched_product", "matrix_product", "row_maxima", "row_sums"]

_BLOCK = 2048  # elements that BLAS may add up by itself
_SHORTEST_BLOCK = 128
_LONG = 32768  # elements of a full sum from which cutting it into blocks pays
_FEW = 16  # columns up to which it pays to reduce a transposed copy: NumPy's cost is then that of starting each row

_LARGE_PRODUCT = 16384  # elements of a result from which its memory costs more than a longer call
LARGE_FACTOR = 32768  # elements of a right factor from which matrix_product has anything to gain
_FEW_ROWS = 64


def matrix_product(xp: Any, x: Any, y: Any) -> Any:
    """Return xp.dot(x, y) of two matrices of one dtype."""
    product = rows.matmul(x, y)
    if product is not None:
        return product
    if x.shape[0] * y.shape[1] >= _LARGE_PRODUCT and x.dtype.char in "fd" and x.shape[1]:
        # Into memory that is there already; and where dot() sets its result to zeros before BLAS does, matmul() does not.
        return xp.matmul(x, y, out=new_array((x.shape[0], y.shape[1]), x.dtype, x))
    if y.size >= LARGE_FACTOR and x.shape[0] <= _FEW_ROWS and y.flags.f_contiguous:
        n, k = x.shape
        if k >= 128 and n > 1 and y.shape[1] >= 2 * n and not y.flags.c_contiguous:  # See Note [Few rows]
            return xp.ascontiguousarray(xp.dot(y.T, x.T).T)
    return xp.dot(x, y)


def batched_product(xp: Any, x: Any, y: Any) -> Any:
    """Return xp.matmul(x, y) of batches of matrices."""
    product = rows.matmul(x, y)
    return xp.matmul(_blas_ready(xp, x), _blas_ready(xp, y)) if product is None else product


def _blas_ready(xp: Any, x: Any) -> Any:
    """Return x, or a contiguous copy if BLAS cannot take its layout: NumPy multiplies such batches in slow loops."""
    if x.ndim == 1 or x.dtype.itemsize in x.strides[-2:]:
        return x
    return xp.ascontiguousarray(x)


def add_up(xp: Any, x: Any, axis: tuple[int, ...] | None, keepdims: bool) -> Any:
    """Return xp.add.reduce(x, axis, keepdims=keepdims) of a floating or complex x of at least 32 bits.

    axis: None, or a sorted tuple with 0 <= axis < ndim."""
    total = rows.reduce(rows.SUM, x, axis, keepdims)
    if total is not None:
        return total
    if x.size >= _LONG and x.dtype.char in "fd" and x.flags.c_contiguous:
        if axis is None or len(axis) == x.ndim:
            total = _long_sum(xp, x.reshape(-1))
            return total.reshape((1,) * x.ndim) if keepdims else total
        if axis == (x.ndim - 1,):
            totals = row_sums(xp, x.reshape(-1, x.shape[-1])).reshape(x.shape[:-1])
            return totals[..., None] if keepdims else totals
    return xp.add.reduce(x, axis=axis, keepdims=keepdims)


def _long_sum(xp: Any, x: Any) -> Any:
    """Sum of a long contiguous vector. See Note [Sums by BLAS]."""
    n = x.size // _BLOCK * _BLOCK
    total = xp.add.reduce(xp.dot(x[:n].reshape(-1, _BLOCK), _ones(xp, xp.current_device(), _BLOCK, x.dtype)))
    return total + xp.add.reduce(x[n:]) if n < x.size else total


def row_sums(xp: Any, x: Any) -> Any:
    """Sums of the rows of a contiguous real matrix. x: (n, m); returns (n,). See Note [Sums by BLAS]."""
    n, m = x.shape
    sums = rows.reduce(rows.SUM, x, 1, False)
    if sums is not None:
        return sums
    block = m if m <= _BLOCK else _block_of(m)
    if block == 0 or x.dtype.char not in "fd" or not m:
        return xp.add.reduce(x, axis=1)
    if block == m:
        return xp.dot(x, _ones(xp, xp.current_device(), m, x.dtype))
    return xp.add.reduce(xp.dot(x.reshape(-1, block), _ones(xp, xp.current_device(), block, x.dtype)).reshape(n, -1), axis=1)


@lru_cache(maxsize=64)
def _ones(xp: Any, device: int, size: int, dtype: Any) -> Any:
    """Return a cached vector of ones on the current device, whose number is `device`. Callers must not write into it."""
    return xp.ones(size, dtype)


@lru_cache(maxsize=256)
def _block_of(size: int) -> int:
    """Largest divisor of size that is a permitted length of a block, or 0."""
    return next((size // k for k in range(-(-size // _BLOCK), size // _SHORTEST_BLOCK + 1) if size % k == 0), 0)


def row_maxima(xp: Any, x: Any) -> Any:
    """Maxima of the rows of a matrix. x: (n, m), m > 0; returns (n,). A row with a NaN gives NaN."""
    maxima = rows.reduce(rows.LARGEST, x, 1, False)
    if maxima is not None:
        return maxima
    if x.shape[1] <= _FEW:
        return xp.ascontiguousarray(x.T).max(axis=0)
    return x.max(axis=1)
