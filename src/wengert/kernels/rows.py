"""Kernels with several passes over their rows: matrix products, reductions, softmax, cross entropy, norms.

Each function returns one or several new arrays. It returns None for arguments that it does not take (dtypes other than float32
and float64, memory with gaps, empty reductions), and always without compiled kernels. The caller then uses NumPy.

Arrays in; `axes` as NumPy's reductions take them, counted from the front.

matmul(x, y), of matrices or batches of one shape; reduce(kind, x, axes, keepdims);
variance(x, axes, keepdims, freedom): with the mean, whose dims are kept;
logsumexp(x, axes, keepdims), over the last dims; softmax(logs, axis, x), and softmax(logs, axis, ct, out), the cotangent of x;
cross_entropy(x, target): losses and probabilities; standardize(x, weight, bias, n, eps): result, means and reciprocals of the
deviations of rows of n elements; standardize_cotangent(ct, x, mean, rstd, weight, needs): of x, weight, bias (bits 1, 2, 4);
normalize(x, weight, bias, groups, eps), of x (items, channels, ...): the same result, means and reciprocals over groups of
an item's channels, or with groups 0 over each channel; normalize_cotangent(ct, x, mean, rstd, weight, groups): of x, weight, bias;
solve_triangular(a, b, upper, unit): a^-1 @ b, of batches of one shape and matrices of up to 256 rows; qr(x): Q and R of matrices
of up to 40,000 elements, whose squares are ordinary numbers;
distances(x, y, kind), kind 1, 2 or 3 for the norm of order 1, 2 or infinity: between the rows of two matrices, or with y None
of all pairs of x's rows; distances_cotangent(ct, x, y, distances, kind): that of x.
"""

from __future__ import annotations

from wengert.kernels import compiled, native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Kinds of reductions, as wk_rows.h numbers them.
SUM, SQUARES, SIZES, LARGEST, SMALLEST, MEAN, NORM = 0, 1, 2, 5, 6, 7, 8

COMPILED = native is not None

matmul: Any = compiled("matmul")
reduce: Any = compiled("reduce")
variance: Any = compiled("variance")
logsumexp: Any = compiled("logsumexp")
softmax: Any = compiled("softmax")
cross_entropy: Any = compiled("cross_entropy")
standardize: Any = compiled("standardize")
standardize_cotangent: Any = compiled("standardize_cotangent")
normalize: Any = compiled("normalize")
normalize_cotangent: Any = compiled("normalize_cotangent")
solve_triangular: Any = compiled("solve_triangular")
qr: Any = compiled("qr")
distances: Any = compiled("distances")
distances_cotangent: Any = compiled("distances_cotangent")
