"""Kernels with several passes over their rows: matrix products, reductions, softmax, cross entropy, norms.

Each function returns one or several new arrays. It returns None for arguments that it does not accept (dtypes other than float32
and float64, memory with gaps, empty reductions), and always without compiled kernels. The caller then uses NumPy.

`axes` is None, an int or a tuple of ints, as NumPy's reductions take them, with 0 <= axis < ndim.

- matmul(x, y): x @ y of matrices, or of batches of one shape.
- reduce(kind, x, axes, keepdims): a reduction; see the kinds below.
- variance(x, axes, keepdims, freedom): the variance, and the mean with its dims kept.
- logsumexp(x, axes, keepdims): logsumexp over the last dims.
- softmax(logs, axis, x): log_softmax if logs, else softmax. softmax(logs, axis, ct, out): the cotangent of x.
- log_softmax_base(sums, out): the cotangent of x where that of log_softmax is 0, given the sums of the latter along the last dim.
- cross_entropy(x, target): losses and probabilities.
- standardize(x, weight, bias, n, eps): the result, and means and reciprocal deviations of rows of n elements.
- standardize_cotangent(ct, x, mean, rstd, weight, needs): cotangents of x, weight and bias (bits 1, 2, 4 of needs).
- normalize(x, weight, bias, groups, eps): the same for x: (items, channels, ...), over groups of the channels of an item, or over
  each channel if groups is 0.
- normalize_cotangent(ct, x, mean, rstd, weight, groups): cotangents of x, weight and bias.
- solve_triangular(a, b, upper, unit): a^-1 @ b, for batches of one shape and matrices of up to 256 rows.
- qr(x): Q and R of matrices of up to 40,000 elements, whose squares neither overflow nor underflow.
- distances(x, y, kind): norms of the differences between the rows of x and y, or of all pairs of rows of x if y is None. kind 1, 2
  and 3: the norm of order 1, 2 and infinity.
- distances_cotangent(ct, x, y, distances, kind): the cotangent of x.
"""

from __future__ import annotations

from wengert.kernels import compiled, native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Kinds of reductions, as wk_rows.h numbers them.
SUM, SQUARES, ABSOLUTES, LARGEST, SMALLEST, MEAN, NORM = 0, 1, 2, 5, 6, 7, 8

COMPILED = native is not None

matmul: Any = compiled("matmul")
reduce: Any = compiled("reduce")
variance: Any = compiled("variance")
logsumexp: Any = compiled("logsumexp")
softmax: Any = compiled("softmax")
log_softmax_base: Any = compiled("log_softmax_base")
cross_entropy: Any = compiled("cross_entropy")
standardize: Any = compiled("standardize")
standardize_cotangent: Any = compiled("standardize_cotangent")
normalize: Any = compiled("normalize")
normalize_cotangent: Any = compiled("normalize_cotangent")
solve_triangular: Any = compiled("solve_triangular")
qr: Any = compiled("qr")
distances: Any = compiled("distances")
distances_cotangent: Any = compiled("distances_cotangent")
