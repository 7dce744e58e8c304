"""Derivatives of eigenvectors and singular vectors at equal values.

Note [Equal values]
If two eigenvalues (or singular values) are equal, only the plane of their vectors is determined. The derivative of the vectors
divides by the difference of the values. If the function does not depend on the choice of vectors in the plane, the numerator N is
0, and the quotient 0 / 0 has a limit: the derivative of N as the values part, divided by that of their difference (l'Hopital). For
a function of the vectors alone it is 0. For V f(values) V^H it is f' times an element of the cotangent. N is made of cotangents, so
its derivative is of the second order. It is found by differentiating the pass itself: passes that lead to vectors of equal values
are recorded, as if create_graph were given (core/recorded_passes.py).
The values part because the matrix A changes, by V diag(step) V^H. So N is differentiated along this change of A as well, if other
paths lead to A. Vectors of A do not change. A function that mixes the vectors with values from another call thus gets NaN, because
this node knows one part of the result only, and that part depends on the choice of vectors. See docs/adr/0027.
The result must not depend on the choice of vectors. So N, and its derivative as the vectors turn in their plane, must be 0 up to
rounding, and the result's coordinates must turn with the vectors; else they are NaN. They are also NaN if the cotangents do not
come from the outputs, as in forward mode, and so are derivatives of the limit.
LAPACK returns equal values with rounding errors, so values count as equal if they differ by rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from math import inf, nan
from typing import Any

import numpy as np

from wengert.backends.selection import backend_of
from wengert.core.jvp import directional_derivative
from wengert.core.node import edge_at, make_edge
from wengert.core.recorded_passes import leads_to, nodes_beside, record_passes_to
from wengert.core.tensor import gradient_edge, wrap
from wengert.ops.indices import raw


def rounding_error(*arrays: Any) -> Any:
    """Bound of the rounding errors of each matrix, given the largest element of these arrays, (..., m, n): (..., 1, 1).

    Clusters of equal eigenvalues of random matrices differ by up to 25 epsilons of the largest one, slowly more for large ones."""
    found = [abs(raw(x)) for x in arrays]
    xp = backend_of(found[0])
    bounds = [x.max(axis=(-2, -1), keepdims=True) if x.size else xp.zeros((*x.shape[:-2], 1, 1), x.dtype) for x in found]
    largest = reduce(xp.maximum, bounds)
    return largest * ((32 + arrays[0].shape[-1]) * np.finfo(largest.dtype).eps)


class Quotients:
    """Quotients by differences and sums of values, and their limits where a divisor is 0. See Note [Equal values].

    values: (..., k). of_values: their cotangent, or None. of_vectors: the cotangents of the matrices of vectors, without None.
    rebuilt: takes values; returns the matrix with these values and the same vectors. None: other paths to the matrix do not count.
    turn: takes the mask of pairs of equal values. Returns the outputs that hold vectors, their changes as the vectors of equal
    values turn, and matrices X and Y: the result's coordinates M change by M @ Y - X @ M."""

    def __init__(
        self, F: Any, values: Any, of_values: Any, of_vectors: list[Any], turn: Callable[[Any], Any],
        rebuilt: Callable[[Any], Any] | None = None,
    ) -> None:  # fmt: skip
        self.F = F
        self.values = values
        self.error = rounding_error(raw(values)[..., None, :])
        self.xp = backend_of(raw(values))
        self.of_vectors = of_vectors
        self.turn = turn
        self.rebuilt = rebuilt
        self.has_limits = False
        # Cotangents that are leaves do not come from the outputs, as in forward mode.
        self.is_recorded = F.is_tensor and values.requires_grad
        for ct in (of_values, *of_vectors):
            self.is_recorded = self.is_recorded and not (ct is not None and ct.is_leaf and ct.requires_grad)

    def __call__(self, numerator: Any, divisor: Callable[[Any], Any], pairs: bool = False, vanishing: Any = None) -> Any:
        """numerator / divisor(values). pairs: the divisors are those of pairs of values. The diagonal of the quotients is 0.

        vanishing: the part of the numerator that matters where the divisor is 0, if not all of it does."""
        F = self.F
        y = divisor(self.values)
        zero = abs(raw(y)) <= self.error
        if pairs:
            diagonal = self.xp.eye(zero.shape[-1], dtype=bool)
            zero &= ~diagonal
            y = F.where(diagonal, inf, y)
        if not zero.any():
            return numerator * F.reciprocal(y)
        if not self.is_recorded:
            return numerator * F.reciprocal(F.where(zero, nan, y))
        quotient = numerator * F.reciprocal(F.where(zero, inf, y))
        return quotient + self.limits(numerator if vanishing is None else vanishing, y, divisor, zero)

    def limits(self, N: Any, y: Any, divisor: Callable[[Any], Any], zero: Any) -> Any:
        """Limits of N / y where y counts as 0 (zero), and 0 elsewhere."""
        F = self.F
        self.has_limits = True
        values = raw(self.values)
        xp = self.xp
        zero = xp.broadcast_to(zero, N.shape)
        step = xp.broadcast_to(xp.arange(1, values.shape[-1] + 1), values.shape).astype(values.dtype)
        change = self.change_along(N, step)
        scale = rounding_error(*self.of_vectors)
        known = ~(abs(raw(N)) > 16 * scale)
        outputs, tangents, *_ = self.turn(self.planes())
        turned = directional_derivative(N, outputs, [wrap(t) for t in tangents])
        if turned is not None:
            scale = xp.maximum(scale, rounding_error(turned, N if change is None else change))
            known &= abs(raw(turned)) <= scale / float(np.finfo(scale.dtype).eps) ** 0.5
        if change is None:
            return F.where(zero & ~known, nan, 0.0)
        of_step = xp.where(zero, divisor(step), 1).astype(raw(N).dtype)
        return F._limit(F.where(zero, change / wrap(of_step), 0.0), y, known | ~zero, zero)

    def change_along(self, N: Any, step: Any) -> Any:
        """Derivative of N as the values change by step and the vectors stay, or None if N does not depend on the values."""
        node = self.values.grad_fn
        beside: Any = nodes_beside(node)
        nodes, matrix = [node, *[other for other, _ in beside]], edge_at(node, 0)
        inputs, tangents = [self.values, *[make_edge(other, nr) for other, nr in beside]], [wrap(step)] * len(nodes)
        if self.rebuilt is None or not leads_to(gradient_edge(N), matrix, nodes):
            return directional_derivative(N, inputs, tangents)
        # What arrives at a decomposition of this matrix goes no further: its values are among the inputs, and its vectors stay.
        handles = [other.register_prehook(lambda grads: (None,) * len(grads)) for other in nodes]
        try:
            return directional_derivative(N, [*inputs, matrix], [*tangents, wrap(self.rebuilt(step))])
        finally:
            for handle in handles:
                handle.remove()

    def planes(self) -> Any:
        """Mask of the pairs of equal values: (..., k, k)."""
        values = raw(self.values)
        return abs(values[..., None, :] - values[..., :, None]) <= self.error

    def checked(self, M: Any) -> Any:
        """Return the coordinates M of the result, (..., k, k), with NaN in planes where M depends on the choice of vectors."""
        if not self.has_limits:
            return M
        planes = self.planes()
        outputs, tangents, X, Y = self.turn(planes)
        change = directional_derivative(M, outputs, [wrap(t) for t in tangents])
        xp = self.xp
        found = xp.zeros_like(raw(M)) if change is None else raw(change)
        values = raw(self.values)
        size = abs(values).max(axis=-1)[..., None, None] if values.shape[-1] else xp.zeros((), values.dtype)
        limit = xp.maximum(rounding_error(raw(M), found), rounding_error(*self.of_vectors) / xp.where(size == 0, inf, size))
        wrong = ~(abs(found - (raw(M) @ Y - X @ raw(M))) <= limit / float(np.finfo(limit.dtype).eps) ** 0.5)
        return self.F.where(planes & wrong, nan, M)


def skew_matrix(planes: Any, dtype: Any) -> Any:
    """Matrices whose exponential turns the planes of equal values, (..., k, k), by unequal angles. planes: mask of pairs."""
    xp = backend_of(planes)
    k = planes.shape[-1]
    angles = xp.cos(xp.arange(1.0, k * k + 1)).reshape(k, k).astype(dtype)
    if angles.dtype.kind == "c":
        angles = angles + 1j * angles[::-1]
    turn = xp.where(planes, angles, 0).astype(dtype)
    return turn - turn.conj().swapaxes(-1, -2)


def record_if_equal(values: Any, vectors: Any, output: int, with_zeros: bool = False) -> None:
    """Have the passes recorded that lead to vectors of which some have equal values. See Note [Equal values].

    values: (..., k), the output of a decomposition with the number `output`. vectors: another output. with_zeros: whether a value
    of 0 counts as well. Does nothing for arrays, and for tensors without a graph."""
    xp = backend_of(values)
    node = getattr(vectors, "grad_fn", None)
    if node is None:
        return
    array = raw(values)
    error = rounding_error(array[..., None, :])[..., 0]
    gaps = _gaps(array) if array.dtype.kind == "c" else array[..., 1:] - array[..., :-1]
    if (xp.abs(gaps) <= error).any() or (with_zeros and (array <= error).any()):
        record_passes_to(node, output)


def _gaps(values: Any) -> Any:
    """Differences of all pairs of values: (..., k (k - 1) / 2)."""
    xp = backend_of(values)
    first, second = xp.triu_indices(values.shape[-1], 1)
    return values[..., first] - values[..., second]
