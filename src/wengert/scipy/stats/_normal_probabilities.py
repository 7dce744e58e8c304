"""Probabilities of the multivariate normal distribution, with derivatives in limits and covariance.

The derivative in a limit is the density of this component there, times the probability of the others given it (R. L. Plackett, A
reduction formula for normal multivariate integrals, 1954). The derivative in a correlation is the mixed second derivative in its
two limits. Both are probabilities of fewer components, so derivatives of any order exist.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.array_functions.table import detached, w
from wengert.autograd import Function
from wengert.core.tensor import wrap
from wengert.scipy.stats._formulas import S

theirs: Any = import_late("scipy.stats")


class _Below(Function):
    """The probability that standard normal variables with a correlation matrix are below limits. limits: (batch, d), d >= 2."""

    @staticmethod
    def forward(ctx: Any, limits: Any, correlation: Any, settings: dict[str, Any]) -> Any:
        ctx.settings = settings
        ctx.save_for_backward(limits, correlation)
        ctx.save_for_forward(limits, correlation)
        found = theirs.multivariate_normal.cdf(detached(limits), cov=detached(correlation), allow_singular=True, **settings)
        return wrap(np.array(found, float).reshape(limits.shape[:1]))

    @staticmethod
    def backward(ctx: Any, ct: Any) -> Any:
        limits, correlation = ctx.saved_tensors
        in_limits, in_correlation = [None] * 2
        if ctx.needs_input_grad[0]:
            in_limits = ct[:, None] * _slopes(limits, correlation, ctx.settings)
        if ctx.needs_input_grad[1]:
            in_correlation = 0.5 * w.sum(ct[:, None, None] * _mixed(limits, correlation, ctx.settings), 0)
        return in_limits, in_correlation, None

    @staticmethod
    def jvp(ctx: Any, limits_t: Any, correlation_t: Any, _: Any) -> Any:
        limits, correlation = ctx.saved_tensors
        found: Any = 0.0 * limits[:, 0]
        if limits_t is not None:
            found = found + w.sum(limits_t * _slopes(limits, correlation, ctx.settings), -1)
        if correlation_t is not None:
            found = found + 0.5 * w.sum(correlation_t * _mixed(limits, correlation, ctx.settings), (-2, -1))
        return found


def _below(limits: Any, correlation: Any, settings: dict[str, Any]) -> Any:
    """Return the probabilities (batch,) that standard normal variables are below limits (batch, d). correlation: (d, d)."""
    if limits.shape[-1] < 2:
        return w.prod(S.ndtr(limits), -1)
    return _Below.apply(limits, correlation, settings)


def _given(limits: Any, correlation: Any, i: int) -> tuple[Any, Any, Any]:
    """Return standardized limits and correlation, and deviations, of the other variables, given that variable i is at its limit."""
    others = [j for j in range(limits.shape[-1]) if j != i]
    factor = correlation[others, i]
    deviation = w.sqrt(1 - factor * factor)
    below = (limits[:, others] - factor * limits[:, i : i + 1]) / deviation
    rest = correlation[others][:, others] - factor[:, None] * factor
    return below, rest / (deviation[:, None] * deviation), deviation


def _density(x: Any) -> Any:
    return w.exp(-0.5 * x * x) / sqrt(2 * pi)


def _slopes(limits: Any, correlation: Any, settings: dict[str, Any]) -> Any:
    """Return the derivatives of the probability in the limits, (batch, d)."""
    found = []
    for i in range(limits.shape[-1]):
        below, rest, _ = _given(limits, correlation, i)
        found.append(_density(limits[:, i]) * _below(below, rest, settings))
    return w.stack(found, -1)


def _mixed(limits: Any, correlation: Any, settings: dict[str, Any]) -> Any:
    """Return the mixed second derivatives of the probability in pairs of limits, (batch, d, d). The diagonal is 0."""
    rows = []
    for i in range(limits.shape[-1]):
        below, rest, deviation = _given(limits, correlation, i)
        row = list(w.unbind(_density(limits[:, i : i + 1]) * _slopes(below, rest, settings) / deviation, -1))
        row.insert(i, w.zeros_like(limits[:, 0]))
        rows.append(w.stack(row, -1))
    return w.stack(rows, -2)


def normal_cdf(x: Any, mean: Any, cov: Any, lower_limit: Any, settings: dict[str, Any]) -> Any:
    """Return the probabilities (...) that a normal vector is below x (..., d), and above lower_limit unless it is None.

    mean: (d,), cov: (d, d), regular. settings: maxpts, abseps, releps and rng of SciPy's integration, which draws for d > 3.

    Derivative: in x, lower_limit, mean and cov, a symmetric matrix."""
    deviations = w.sqrt(w.diagonal(cov))
    correlation = cov / (deviations[:, None] * deviations)
    upper = (x - mean) / deviations
    if lower_limit is None:
        return _below(upper.reshape(-1, upper.shape[-1]), correlation, settings).reshape(upper.shape[:-1])
    upper, lower = w.broadcast_tensors(upper, (lower_limit - mean) / deviations)
    shape, d = upper.shape[:-1], upper.shape[-1]
    total: Any = 0.0
    for corner in np.ndindex(*(2,) * d):  # inclusion and exclusion over the corners of the box
        chosen = w.where(w.as_tensor(np.array(corner) == 1), lower, upper)
        infinite = np.isneginf(detached(chosen)).any(-1)
        safe = w.where(w.as_tensor(infinite)[..., None], 0.0, chosen)
        part = _below(safe.reshape(-1, d), correlation, settings).reshape(shape)
        total = total + (-1) ** sum(corner) * w.where(w.as_tensor(infinite), 0.0, part)
    return total
