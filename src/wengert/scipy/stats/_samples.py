"""Tests of samples and distances between samples of scipy.stats: shapiro, epps_singleton_2samp, wasserstein_distance_nd."""

from __future__ import annotations

from math import asin, pi, sqrt
from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.array_functions.table import detached, holds_tensor, linalg, w
from wengert.scipy._closures import with_values
from wengert.scipy._frame import operands
from wengert.scipy.optimize._linear import linprog
from wengert.scipy.stats._descriptive import iqr, wasserstein_distance
from wengert.scipy.stats._formulas import S
from wengert.scipy.stats._hypothesis_tests import SignificanceResult

__all__ = ["epps_singleton_2samp", "shapiro", "wasserstein_distance_nd"]

theirs: Any = import_late("scipy.stats")


def _shapiro_coefficients(n: int) -> Any:
    """The coefficients of the ordered sample in the numerator of W (P. Royston, Algorithm AS R94, 1995)."""
    if n == 3:
        return np.array([-sqrt(0.5), 0.0, sqrt(0.5)])
    m = theirs.norm.ppf((np.arange(1, n + 1) - 0.375) / (n + 0.25))
    square, root = float(m @ m), 1 / sqrt(n)
    last = np.polyval([-2.706056, 4.434685, -2.07119, -0.147981, 0.221157, m[-1] / sqrt(square)], root)
    ends = [last]
    if n > 5:
        ends.append(np.polyval([-3.582633, 5.682633, -1.752461, -0.293762, 0.042981, m[-2] / sqrt(square)], root))
    k = len(ends)
    rest = (square - 2 * float(m[-k:] @ m[-k:])) / (1 - 2 * sum(a * a for a in ends))
    found = m / sqrt(rest)
    found[-k:] = ends[::-1]
    found[:k] = -np.array(ends)
    return found


def shapiro(x):
    """W and its p-value. Derivative: that of W for a sample of different numbers, and of Royston's approximation of the p-value."""
    values = theirs.shapiro(detached(x))
    (x,) = operands(x)
    x = w.sort(x.reshape(-1))[0]
    n = len(x)
    away = x - w.mean(x)
    found = w.sum(w.as_tensor(_shapiro_coefficients(n)).to(x.dtype) * x) ** 2 / w.sum(away * away)
    short = w.log(1 - found)
    size = np.log(n)
    if n == 3:
        p = 6 / pi * (w.arcsin(w.sqrt(found)) - asin(sqrt(0.75)))
    elif n <= 11:
        mean = np.polyval([-6.714e-4, 0.025054, -0.39978, 0.5440], n)
        deviation = np.exp(np.polyval([-0.0020322, 0.062767, -0.77857, 1.3822], n))
        p = S.ndtr(-(-w.log(0.459 * n - 2.273 - short) - mean) / deviation)
    else:
        mean = np.polyval([0.0038915, -0.083751, -0.31082, -1.5861], size)
        p = S.ndtr(-(short - mean) / np.exp(np.polyval([0.0030302, -0.082676, -0.4803], size)))
    return SignificanceResult(with_values(found, np.asarray(values.statistic)), with_values(p, np.asarray(values.pvalue)))


def epps_singleton_2samp(x, y, t=(0.4, 0.8)):
    """The statistic of the empirical characteristic functions at the places t, and its p-value. x, y: vectors."""
    x, y = operands(x, y)
    if x.ndim != 1 or y.ndim != 1:
        return NotImplemented
    n, m = len(x), len(y)
    if min(n, m) < 5:
        raise ValueError(f"x and y should have at least 5 elements, but len(x) = {n} and len(y) = {m}.")
    places = np.asarray(detached(t), float)
    if holds_tensor([t]) or places.ndim != 1 or not np.all(places > 0):
        return NotImplemented
    scaled = w.as_tensor(places).to(x.dtype)[:, None] / (iqr(w.cat([x, y])) / 2)
    parts = [w.cat([w.cos(scaled * z), w.sin(scaled * z)]) for z in (x, y)]
    covariance = sum((n + m) / len(z) * w.cov(part, correction=0) for z, part in zip((x, y), parts, strict=True))
    away = w.mean(parts[0], 1) - w.mean(parts[1], 1)
    rank = int(np.linalg.matrix_rank(detached(covariance)))
    inverse = linalg.inv(covariance) if rank == len(away) else linalg.pinv(covariance)
    found = (n + m) * (away @ inverse @ away)
    if max(n, m) < 25:
        found = found / (1 + (n + m) ** -0.45 + 10.1 * (n**-1.7 + m**-1.7))
    return SignificanceResult(found, S.chdtrc(float(rank), found))


def wasserstein_distance_nd(u_values, v_values, u_weights=None, v_weights=None):
    """The least cost of moving one sample of points to the other.

    Derivative: that of a linear program, whose plan is constant in the points. Points that do not move have the derivative 0."""
    u, v, u_weights, v_weights = operands(u_values, v_values, u_weights, v_weights)
    if u.ndim == 1:
        return wasserstein_distance(u, v, u_weights, v_weights)
    n, m = len(u), len(v)
    away = u[:, None] - v
    square = w.sum(away * away, -1)
    cost = w.where(square == 0, 0.0, w.sqrt(w.where(square == 0, 1.0, square)))
    pairs = ((u, u_weights), (v, v_weights))
    masses = [w.ones(len(x), dtype=x.dtype) / len(x) if mass is None else mass / w.sum(mass) for x, mass in pairs]
    rows = np.concatenate([np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))])[:-1]  # the last one follows
    return linprog(cost.reshape(-1), A_eq=rows, b_eq=w.cat(masses)[:-1]).fun
