"""Functions of scipy.special as sums and integrals on tensors, which differentiate in orders, degrees and other parameters.

Note [Derivatives in parameters]
The table of ops/scipy_derivatives.py has no rule for the derivative of a Bessel function in its order, or of a hypergeometric
function in its parameters: these derivatives are no functions of SciPy. They are those of a series or an integral, computed on
tensors. The value stays SciPy's. A formula holds where its docstring says, for real arguments; elsewhere there is an ArgumentError.
Formulas are those of the NIST Digital Library of Mathematical Functions (DLMF), with the section.

FORMULAS[name] is a function of tensors of one floating dtype. It returns a tuple if SciPy's function does. INTEGER_PLACES[name] has
the places of arguments that are integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import errors
from wengert._forks import import_late
from wengert.array_functions.table import detached, linalg, w
from wengert.autograd import grad
from wengert.autograd.grad_mode import enable_grad
from wengert.scipy._closures import variable
from wengert.scipy._rules import gauss_rule, half_line_rule

S: Any = import_late("scipy.special")  # SciPy's ufuncs, called on tensors

_MOST_TERMS = 4000

Formula = Callable[..., Any]


def _require(condition: Any, where: str) -> None:
    """Raise ArgumentError if a condition does not hold for all elements. where: the region in words."""
    if not np.all(condition):
        raise errors.ArgumentError(f"The derivative in a parameter is known for {where}. Hint: detach the parameters.")


def _columns(*values: Any) -> list[Any]:
    """Return the tensors broadcast against each other, with another axis of size 1 at the end."""
    return [x[..., None] for x in w.broadcast_tensors(*values)]


def _gauss(n: int, dtype: Any) -> list[Any]:
    """Return Gauss' places and weights on (0, 1) as tensors of a dtype."""
    return [w.as_tensor(x).to(dtype) for x in gauss_rule(n)]


def _largest(x: Any) -> float:
    """Return the largest absolute value, on which the number of terms depends."""
    return float(np.max(np.abs(detached(x)), initial=0.0))


# -- sums over Poisson probabilities ---------------------------------------------------------------------------------------


def poisson_mixture(mean: Any, terms: Callable[[Any], Any]) -> Any:
    """The logarithm of the sum over j of the Poisson probability of j times exp(terms(j)). All j that count are summed."""
    largest = float(np.max(detached(mean), initial=0.0))
    smallest = float(np.min(detached(mean), initial=largest))
    first, last = max(0, int(smallest - 12 * math.sqrt(smallest) - 20)), int(largest + 14 * math.sqrt(largest) + 60)
    j = w.as_tensor(np.arange(first, last + 1.0)).to(mean.dtype)
    weight = S.xlogy(j, mean[..., None]) - mean[..., None] - S.gammaln(j + 1)
    return w.logsumexp(weight + terms(j), -1)


def log_mass(f: Any) -> Any:
    """Logarithm of a probability, -inf where it is 0."""
    zero = w.as_tensor(detached(f) <= 0)
    return w.where(zero, -np.inf, w.log(w.where(zero, 1.0, f)))


def _chndtr(x: Any, df: Any, nc: Any) -> Any:
    x, df, nc = w.broadcast_tensors(x, df, nc)
    return w.exp(poisson_mixture(nc / 2, lambda j: log_mass(S.gammainc(df[..., None] / 2 + j, x[..., None] / 2))))


def _ncfdtr(dfn: Any, dfd: Any, nc: Any, f: Any) -> Any:
    dfn, dfd, nc, f = w.broadcast_tensors(dfn, dfd, nc, f)
    share = (dfn * f / (dfd + dfn * f))[..., None]
    return w.exp(poisson_mixture(nc / 2, lambda j: log_mass(S.betainc(dfn[..., None] / 2 + j, dfd[..., None] / 2, share))))


# -- Student's noncentral distribution: an integral over the deviation ------------------------------------------------------


def over_deviations(df: Any, function: Callable[[Any], Any]) -> Any:
    """The expectation of function(s) for the deviation s of a sample: df s**2 has the chi-squared distribution of df degrees.

    df: (...,). function: of a tensor (..., places)."""
    df = df[..., None]
    narrow = w.as_tensor(detached(df) > 10)
    total: Any = 0.0
    u, weights = gauss_rule(120)
    y, long_weights = half_line_rule()
    near = (y > 1e-130) & (y < 400)  # beyond, the density vanishes and powers of the places overflow
    for used, places, factor in ((narrow, u, weights), (~narrow, y[near], long_weights[near])):
        if not detached(used).any():
            continue
        n = w.where(used, df, 20.0 if used is narrow else 2.0)
        if used is narrow:  # a window of ten deviations around 1
            reach = 10 / np.sqrt(2 * detached(n))
            low = np.maximum(1 - reach, 0.0)
            s = w.as_tensor(low + (1 + reach - low) * places)
            factor = w.as_tensor((1 + reach - low) * factor)
        else:
            s, factor = w.as_tensor(places + 0 * detached(n)), w.as_tensor(factor)
        density = w.exp(math.log(2) + n / 2 * w.log(n / 2) - S.gammaln(n / 2) + (n - 1) * w.log(s) - n * s * s / 2)
        total = total + w.where(used[..., 0], w.sum(factor * density * function(s), -1), 0.0)
    return total


def _nctdtr(df: Any, nc: Any, t: Any) -> Any:
    df, nc, t = w.broadcast_tensors(df, nc, t)
    return over_deviations(df, lambda s: S.ndtr(t[..., None] * s - nc[..., None]))


# -- Kolmogorov's and Smirnov's distributions -------------------------------------------------------------------------------


def _kolmogorov(y: Any) -> Any:
    k = w.as_tensor(np.arange(1.0, 21)).to(y.dtype)
    y = y[..., None]
    small = w.as_tensor(detached(y) < 1)
    low, high = w.where(small, y, 1.0), w.where(small, 1.0, y)
    below = 1 - math.sqrt(2 * math.pi) * w.sum(w.exp(-((2 * k - 1) ** 2) * math.pi**2 / (8 * low * low)) / low, -1)
    above = 2 * w.sum(w.as_tensor(np.resize([1.0, -1.0], 20)).to(y.dtype) * w.exp(-2 * (k * high) ** 2), -1)
    return w.where(small[..., 0], below, above)


def _smirnov(n: Any, d: Any) -> Any:
    """The sum of A. Dempster (1959), whose terms are positive. 0 < d < 1."""
    n, d = _columns(n.detach(), d)
    j = w.as_tensor(np.arange(_largest(n) + 1)).to(d.dtype)
    inside = w.as_tensor((detached(j) < detached(n) * (1 - detached(d))) & (detached(d) > 0))
    j = w.where(inside, j, 0.0)
    d = w.where(w.as_tensor((detached(d) > 0) & (detached(d) < 1)), d, 0.5)
    logs = S.gammaln(n + 1) - S.gammaln(j + 1) - S.gammaln(n - j + 1) + w.log(d) + (j - 1) * w.log(d + j / n)
    return w.sum(w.where(inside, w.exp(logs + (n - j) * w.log(1 - d - j / n)), 0.0), -1)


# -- Bessel functions of real order, z > 0 (DLMF 10.9, 10.32) ---------------------------------------------------------------


def _cutoff(rate: Any, z: Any) -> Any:
    """Where z (cosh t - 1) - rate t exceeds 45, as an array: integrands of exp(rate t - z cosh t) vanish from there on."""
    rate, z = np.abs(detached(rate)), detached(z)
    end = np.arccosh(1 + 45 / z)
    for _ in range(12):
        end = np.arccosh(1 + (45 + rate * end) / z)
    return end


def _first_and_second(v: Any, z: Any) -> tuple[Any, Any]:
    """J and Y for v >= 0 (DLMF 10.9.6, 10.9.7), J by its series where that has no cancellation (DLMF 10.2.2)."""
    v, z = _columns(v, z)
    u, weights = _gauss(min(600, 90 + int(_largest(v) + _largest(z))), z.dtype)
    angle = z * w.sin(math.pi * u) - v * (math.pi * u)
    first, second = w.sum(weights * w.cos(angle), -1), w.sum(weights * w.sin(angle), -1)
    u, weights = _gauss(160, z.dtype)
    end = w.as_tensor(_cutoff(v, z)).to(z.dtype)
    t = end * u
    falling = w.exp(-z * w.sinh(t) - v * t)
    turn = math.pi * v[..., 0]
    first = first - w.sin(turn) / math.pi * w.sum(weights * end * falling, -1)
    second = second - w.sum(weights * end * (w.exp(v * t - z * w.sinh(t)) + w.cos(math.pi * v) * falling), -1) / math.pi
    short = w.as_tensor((detached(z) < 8) | (detached(z) ** 2 < 4 * detached(v) + 4))
    series = _ascending(w.where(short, v, 1.0), w.where(short, z, 1.0), -1.0)
    return w.where(short[..., 0], series, first), second


def _ascending(v: Any, z: Any, sign: float) -> Any:
    """The sum over k of (sign z**2 / 4)**k (z / 2)**v / (k! gamma(v + k + 1))."""
    k = w.as_tensor(np.arange(1.0, 60 + 2 * _largest(z))).to(z.dtype)
    terms = w.cumprod(sign * z * z / 4 / (k * (v + k)), -1)
    return w.exp(v * w.log(z / 2) - S.gammaln(v + 1))[..., 0] * (1 + w.sum(terms, -1))


def _bessel(part: str) -> Formula:
    """The functions J, Y and their complex combinations, for orders of both signs (DLMF 10.4.6)."""

    def formula(v: Any, z: Any) -> Any:
        _require(detached(z) > 0, "z > 0")
        order = w.abs(v)
        J, Y = _first_and_second(order, z)
        turn = math.pi * order
        below = detached(v) < 0
        if below.any():
            cosine, sine, is_below = w.cos(turn), w.sin(turn), w.as_tensor(below)
            J, Y = w.where(is_below, cosine * J - sine * Y, J), w.where(is_below, sine * J + cosine * Y, Y)
        if part in "JY":
            return J if part == "J" else Y
        sign = 1 if part[1] == "1" else -1
        found = w.complex(J, sign * Y)
        return found if len(part) == 2 else found * w.exp(w.complex(0 * z, -sign * z))

    return formula


def _scaled_i(v: Any, z: Any) -> Any:
    """exp(-z) I for v >= 0: the series (DLMF 10.25.2), and the integral (DLMF 10.32.4) for z > 100."""
    v, z = _columns(v, z)
    large = w.as_tensor(detached(z) > 100)
    near, far = w.where(large, 1.0, z), w.where(large, z, 200.0)
    k = w.as_tensor(np.arange(0.0, 80 + 1.2 * _largest(near))).to(z.dtype)
    logs = (2 * k + v) * w.log(near / 2) - S.gammaln(k + 1) - S.gammaln(v + k + 1) - near
    u, weights = _gauss(120, z.dtype)
    reach = w.as_tensor(12 / np.sqrt(detached(far)))
    angles = reach * u
    integral = w.sum(weights * reach * w.exp(-2 * far * w.sin(angles / 2) ** 2) * w.cos(v * angles), -1) / math.pi
    return w.where(large[..., 0], integral, w.sum(w.exp(logs), -1))


def _scaled_k(v: Any, z: Any) -> Any:
    """exp(z) K (DLMF 10.32.9). z > 0."""
    _require(detached(z) > 0, "z > 0")
    v, z = _columns(v, z)
    end = w.as_tensor(_cutoff(v, z)).to(z.dtype)
    u, weights = _gauss(200, z.dtype)
    t = end * u
    fall = -2 * z * w.sinh(t / 2) ** 2
    return 0.5 * w.sum(weights * end * (w.exp(fall + v * t) + w.exp(fall - v * t)), -1)


def _modified_i(v: Any, z: Any) -> Any:
    """exp(-z) I for orders of both signs (DLMF 10.27.2)."""
    _require(detached(z) > 0, "z > 0")
    order = w.abs(v)
    found = _scaled_i(order, z)
    below = detached(v) < 0
    if not below.any():
        return found
    other = 2 / math.pi * w.sin(math.pi * order) * w.exp(-2 * z) * _scaled_k(order, z)
    return w.where(w.as_tensor(below), found + other, found)


def _struve(sign: float) -> Formula:
    """The series (DLMF 11.2.1, 11.2.2), for 0 < z < 15, and z < 100 if its terms have one sign."""

    end = 15 if sign < 0 else 100

    def formula(v: Any, z: Any) -> Any:
        _require((detached(z) > 0) & (detached(z) < end) & (detached(v) > -1.5), f"v > -3/2 and 0 < z < {end}")
        v, z = _columns(v, z)
        k = w.as_tensor(np.arange(1.0, 60 + 2 * _largest(z))).to(z.dtype)
        terms = w.cumprod(sign * z * z / 4 / ((k + 0.5) * (k + v + 0.5)), -1)
        first = w.exp((v + 1) * w.log(z / 2) - S.gammaln(v + 1.5)) / math.gamma(1.5)
        return first[..., 0] * (1 + w.sum(terms, -1))

    return formula


# -- hypergeometric functions (DLMF 13, 15, 16.2) ---------------------------------------------------------------------------


def _series(tops: list[Any], bottoms: list[Any], z: Any, count: int) -> Any:
    """The sum of the products of (a)_k of the tops over those of the bottoms, times z**k / k!, for k < count."""
    given = _columns(z, *tops, *bottoms)
    z, tops, bottoms = given[0], given[1 : 1 + len(tops)], given[1 + len(tops) :]
    k = w.as_tensor(np.arange(0.0, count)).to(z.dtype)
    ratio = z / (k + 1)
    for a in tops:
        ratio = ratio * (a + k)
    for b in bottoms:
        ratio = ratio / (b + k)
    return 1 + w.sum(w.cumprod(ratio, -1), -1)


def _hyp0f1(v: Any, z: Any) -> Any:
    _require(detached(z) > -60, "z > -60")
    return _series([], [v], z, 60 + int(4 * math.sqrt(_largest(z))))


def _hyp1f1(a: Any, b: Any, z: Any) -> Any:
    """Kummer's transformation has terms of one sign for z < 0 (DLMF 13.2.39). |z| < 500."""
    _require(np.abs(detached(z)) < 500, "|z| < 500")
    a, b, z = w.broadcast_tensors(a, b, z)
    below = z < 0
    first = w.where(below, b - a, a)
    found = _series([first], [b], w.abs(z), 80 + int(2 * _largest(z) + _largest(first)))
    return w.where(below, w.exp(w.where(below, z, 0.0)), 1.0) * found


def _hyp2f1(a: Any, b: Any, c: Any, z: Any) -> Any:
    """The series, for z < 0 after Pfaff's transformation (DLMF 15.8.1). z < 0.98."""
    _require(detached(z) < 0.98, "z < 0.98")
    a, b, c, z = w.broadcast_tensors(a, b, c, z)
    below = z < 0
    place = w.where(below, z / (z - 1), z)
    largest = max(_largest(place), 1e-3)
    count = 40 + int(_largest(a) + _largest(b) + _largest(c) + 40 / -math.log(largest))
    _require(count < _MOST_TERMS, "places where the series takes few terms")
    found = _series([a, w.where(below, c - b, b)], [c], place, count)
    return w.where(below, w.exp(-a * w.log1p(-w.where(below, z, 0.0))), 1.0) * found


def _hyperu(a: Any, b: Any, x: Any) -> Any:
    """The integral (DLMF 13.4.4) for a > 0, after Kummer's transformation (DLMF 13.2.40) for a - b + 1 > 0."""
    a, b, x = w.broadcast_tensors(a, b, x)
    turned = w.as_tensor(detached(a) <= 0)
    _require((detached(x) > 0) & ((detached(a) > 0) | (detached(a - b) > -1)), "x > 0, and a > 0 or a - b + 1 > 0")
    first, second = w.where(turned, a - b + 1, a)[..., None], w.where(turned, 2 - b, b)[..., None]
    y, weights = half_line_rule()
    near = np.abs(np.log(y)) < 300
    scale = 1 / detached(x)[..., None]
    t = w.as_tensor(scale * y[near]).to(x.dtype)
    logs = -x[..., None] * t + (first - 1) * w.log(t) + (second - first - 1) * w.log1p(t) - S.gammaln(first)
    found = w.sum(w.as_tensor(scale * weights[near]).to(x.dtype) * w.exp(logs), -1)
    return w.where(turned, w.exp((1 - b) * w.log(x)), 1.0) * found


def _wright_bessel(a: Any, b: Any, x: Any) -> Any:
    """The series of x**k / (k! gamma(a k + b)) (DLMF 10.46.1), whose terms are positive. x < 300."""
    _require((detached(x) >= 0) & (detached(x) < 300), "0 <= x < 300")
    a, b, x = _columns(a, b, x)
    k = w.as_tensor(np.arange(0.0, 80 + 3 * _largest(x))).to(x.dtype)
    place = a * k + b
    return w.sum(place * w.exp(S.xlogy(k, x) - S.gammaln(k + 1) - S.gammaln(place + 1)), -1)


# -- orthogonal polynomials as hypergeometric functions (DLMF 18.5) ---------------------------------------------------------


def _terminating(n: Any, second: Any, third: Any, z: Any) -> Any:
    """2F1(-n, second; third; z). For integers n that are constant the series ends."""
    if n.requires_grad or not np.all(detached(n) % 1 == 0):
        return _hyp2f1(-n, second, third, z)
    return _series([-n, second], [third], z, int(_largest(n)) + 1)


def _log_binomial(n: Any, a: Any) -> Any:
    return S.gammaln(n + a + 1) - S.gammaln(n + 1) - S.gammaln(a + 1)


def _eval_jacobi(n: Any, alpha: Any, beta: Any, x: Any) -> Any:
    return w.exp(_log_binomial(n, alpha)) * _terminating(n, n + alpha + beta + 1, alpha + 1, (1 - x) / 2)


def _eval_gegenbauer(n: Any, alpha: Any, x: Any) -> Any:
    first = w.exp(S.gammaln(n + 2 * alpha) - S.gammaln(2 * alpha) - S.gammaln(n + 1))
    return first * _terminating(n, n + 2 * alpha, alpha + 0.5, (1 - x) / 2)


def _second_chebyshev(n: Any, x: Any) -> Any:
    return w.sin((n + 1) * w.acos(x)) / w.sin(w.acos(x))


def _eval_sh_jacobi(n: Any, p: Any, q: Any, x: Any) -> Any:
    return _eval_jacobi(n, p - q, q - 1, 2 * x - 1) / w.exp(_log_binomial(n, n + p - 1))


def _reciprocal_gamma(z: Any) -> Any:
    """1 / gamma(z), by reflection for z < 1/2, so that its derivatives hold at the zeros."""
    low = w.as_tensor(detached(z) < 0.5)
    near, far = w.where(low, z, 0.0), w.where(low, 1.0, z)
    return w.where(low, w.sin(math.pi * near) / math.pi * w.exp(S.gammaln(1 - near)), w.exp(-S.gammaln(far)))


def _lpmv(m: Any, v: Any, x: Any) -> Any:
    """Legendre's function of real degree v > -1 (DLMF 14.3.1, 15.1.2), for orders m >= 0 and -0.96 < x < 1."""
    _require((detached(m) >= 0) & (detached(v) > -1), "m >= 0 and v > -1")
    _require((detached(x) > -0.96) & (detached(x) < 1), "-0.96 < x < 1")
    m, v, x = w.broadcast_tensors(m.detach(), v, x)
    sign = w.as_tensor(np.where(detached(m) % 2 == 0, 1.0, -1.0))
    size = w.exp(S.gammaln(v + m + 1) - S.gammaln(m + 1) + 0.5 * m * (w.log1p(-x * x) - math.log(4))) * _reciprocal_gamma(v - m + 1)
    return sign * size * _hyp2f1(m - v, m + v + 1, m + 1, (1 - x) / 2)


def _parabolic_cylinder(kind: str) -> Formula:
    """U or V of the parameter a = -v - 1/2 and its slope, by the even and the odd solution (DLMF 12.2.6 to 12.2.9, 12.4)."""

    def formula(v: Any, x: Any) -> tuple[Any, Any]:
        _require(np.abs(detached(x)) <= 5, "|x| <= 5")
        v, x = w.broadcast_tensors(v, x)
        half, z = -0.5 * v - 0.25, x * x / 2  # half: a / 2
        first, second = half + 0.25, half + 0.75
        b = [0 * z + value for value in (0.5, 1.5, 2.5)]
        fall = w.exp(-z / 2)
        one, other = _hyp1f1(first, b[0], z), _hyp1f1(second, b[1], z)
        even, odd = fall * one, x * fall * other
        even_slope = x * fall * (2 * first * _hyp1f1(first + 1, b[1], z) - one / 2)
        odd_slope = fall * (other + x * x * (second / 1.5 * _hyp1f1(second + 1, b[2], z) - other / 2))
        if kind == "U":
            value = math.sqrt(math.pi) * w.exp2(-half - 0.25) * _reciprocal_gamma(second)
            slope = -math.sqrt(math.pi) * w.exp2(0.25 - half) * _reciprocal_gamma(first)
        else:
            value = math.pi * w.exp2(half + 0.25) * _reciprocal_gamma(0.75 - half) ** 2 * _reciprocal_gamma(first)
            slope = math.pi * w.exp2(half + 0.75) * _reciprocal_gamma(0.25 - half) ** 2 * _reciprocal_gamma(second)
        return value * even + slope * odd, value * even_slope + slope * odd_slope

    return formula


def _eval_genlaguerre(n: Any, alpha: Any, x: Any) -> Any:
    n, alpha, x = w.broadcast_tensors(n, alpha, x)
    return w.exp(_log_binomial(n, alpha)) * _hyp1f1(-n, alpha + 1, x)


# -- characteristic values: eigenvalues of tridiagonal matrices (DLMF 28.4, 30.8) --------------------------------------------


def _eigenvalue(diagonal: Any, beside: Any, number: Any) -> Any:
    """The eigenvalue with a number, in ascending order, of symmetric matrices. diagonal: (..., n), beside: (..., n - 1)."""
    matrix = w.diag_embed(diagonal) + w.diag_embed(beside, 1) + w.diag_embed(beside, -1)
    return w.take_along_dim(linalg.eigvalsh(matrix), w.as_tensor(number.astype(np.int64)), -1)[..., 0]


def _eigenvector(diagonal: Any, beside: Any, number: Any) -> Any:
    """The unit eigenvector with a number, of any sign: (..., n)."""
    matrix = w.diag_embed(diagonal) + w.diag_embed(beside, 1) + w.diag_embed(beside, -1)
    chosen = np.broadcast_to(number.astype(np.int64)[..., None], (*matrix.shape[:-1], 1))
    return w.take_along_dim(linalg.eigh(matrix)[1], w.as_tensor(chosen.copy()), -1)[..., 0]


def _mathieu_bands(kind: str, m: Any, q: Any) -> tuple[Any, Any, Any, Any]:
    """Return (diagonal, bands beside it, number of the eigenvalue, frequencies) of the matrix of Mathieu's equation."""
    order = detached(m)
    odd = order % 2
    k = np.arange(30 + int(_largest(m)) + int(2 * math.sqrt(_largest(q))))
    roots = 2 * k + odd + (0 if kind == "a" else 2 * (odd == 0))
    corner = np.where((k == 0) & (odd == 1), 1.0 if kind == "a" else -1.0, 0.0)
    diagonal = w.as_tensor(roots**2).to(q.dtype) + w.as_tensor(corner) * q
    first = math.sqrt(2) if kind == "a" else 1.0
    beside = w.as_tensor(np.where((k[:-1] == 0) & (odd == 0), first, 1.0)) * q
    number = order // 2 if kind == "a" else np.where(odd == 1, order // 2, order // 2 - 1)
    return diagonal, beside, number, roots


def _mathieu(kind: str) -> Formula:
    def formula(m: Any, q: Any) -> Any:
        m, q = _columns(m.detach(), q)
        return _eigenvalue(*_mathieu_bands(kind, m, q)[:3])

    return formula


def _mathieu_angular(kind: str) -> Formula:
    """The function and its slope: Fourier series whose coefficients are an eigenvector (DLMF 28.4). x is in degrees."""

    def formula(m: Any, q: Any, x: Any) -> tuple[Any, Any]:
        _require(detached(q) >= 0, "q >= 0")
        m, q, x = _columns(m.detach(), q, x)
        diagonal, beside, number, roots = _mathieu_bands(kind, m, q)
        factors = np.where(roots == 0, math.sqrt(0.5), 1.0) * np.ones_like(roots)
        amplitudes = _eigenvector(diagonal, beside, number) * w.as_tensor(factors)
        roots = w.as_tensor(roots.astype(float))
        amplitudes = amplitudes * w.sign(w.sum(amplitudes * (1.0 if kind == "a" else roots), -1, keepdim=True)).detach()
        angle = roots * (x * (math.pi / 180))
        wave, slope = (w.cos(angle), -w.sin(angle)) if kind == "a" else (w.sin(angle), w.cos(angle))
        return w.sum(amplitudes * wave, -1), w.sum(amplitudes * roots * slope, -1)

    return formula


def _spheroidal_bands(sign: float, m: Any, n: Any, c: Any) -> tuple[Any, Any, Any, Any]:
    """Return (diagonal, bands beside it, number of the eigenvalue, degrees) for normalized Legendre functions.

    The matrix is that of -d/dx (1 - x**2) d/dx + m**2 / (1 - x**2) + sign c**2 x**2."""
    order, degree = detached(m), detached(n)
    odd = (degree - order) % 2
    k = np.arange(30 + int(_largest(n)) + int(_largest(c)))
    degrees = order + odd + 2 * k

    def factor(j: Any) -> Any:
        return np.sqrt((j * j - order**2) / (4 * j * j - 1))

    square = sign * c * c
    diagonal = w.as_tensor(degrees * (degrees + 1.0)) + square * w.as_tensor(factor(degrees) ** 2 + factor(degrees + 1) ** 2)
    beside = square * w.as_tensor((factor(degrees + 1) * factor(degrees + 2))[..., :-1])
    return diagonal, beside, (degree - order) // 2, degrees


def _spheroidal(sign: float) -> Formula:
    def formula(m: Any, n: Any, c: Any) -> Any:
        m, n, c = _columns(m.detach(), n.detach(), c)
        return _eigenvalue(*_spheroidal_bands(sign, m, n, c)[:3])

    return formula


def _spheroidal_angular(sign: float) -> Formula:
    """The function of the first kind and its slope, a series of Legendre functions (DLMF 30.8).

    The value at x = 0, or the slope for odd n - m, is that of Legendre's function, without the sign (-1)**m."""

    def formula(m: Any, n: Any, c: Any, x: Any) -> tuple[Any, Any]:
        _require(np.abs(detached(x)) < 1, "|x| < 1")
        m, n, c, x = _columns(m.detach(), n.detach(), c, x)
        diagonal, beside, number, degrees = _spheroidal_bands(sign, m, n, c)
        order, special = detached(m), import_late("scipy.special")
        sizes = np.exp(0.5 * (np.log(degrees + 0.5) + special.gammaln(degrees - order + 1) - special.gammaln(degrees + order + 1)))
        share = _eigenvector(diagonal, beside, number) * w.as_tensor(sizes)
        even = (detached(n) - order) % 2 == 0

        def at_zero(d: Any) -> Any:
            return np.where(even, special.lpmv(order, d, 0.0), (d + order) * special.lpmv(order, d - 1, 0.0))

        phase = np.where(order % 2 == 0, 1.0, -1.0)
        share = share * w.as_tensor(phase * at_zero(detached(n))) / w.sum(share * w.as_tensor(at_zero(degrees)), -1, keepdim=True)
        d = w.as_tensor(degrees)
        legendre, below = S.lpmv(m, d, x), S.lpmv(m, w.clamp(d - 1, min=0.0), x)
        slope = (d * x * legendre - (d + m) * w.where(d > m, below, 0.0)) / (x * x - 1)
        return w.sum(share * legendre, -1), w.sum(share * slope, -1)

    return formula


# -- inverses ------------------------------------------------------------------------------------------------------------------


def slope_at(function: Formula, x: Any, arguments: Any) -> Any:
    """Return the derivative of a function, element by element, at x, with its graph. arguments: what else it depends on."""
    with variable(x) as place, enable_grad():
        records = any(a.requires_grad for a in (x, *arguments))
        return grad(w.sum(function(place)), place, create_graph=records)[0]


def inverse(name: str, places: tuple[int | None, ...]) -> Formula:
    """Return the inverse of a formula in one of its arguments, from SciPy's value by Newton's steps.

    places: for each argument of the inverse, its place among those of the formula; None for the value. Each of the steps leaves the
    value as it is and doubles the number of derivatives that are right: none before the first one, three after the second one.
    """

    def formula(value: Any, *arguments: Any) -> Any:
        def reached(x: Any) -> Any:
            full: list[Any] = [x] * len(places)
            for at, given in zip(places, arguments, strict=True):
                if at is not None:
                    full[at] = given
            return FORMULAS[name](*full)

        found = w.as_tensor(np.array(value))
        for _ in range(2):
            found = found - (reached(found) - arguments[places.index(None)]) / slope_at(reached, found, arguments)
        return found

    return formula


# Inverses: the name of the formula, and the places of the arguments. See inverse.
INVERSES: dict[str, tuple[str, tuple[int | None, ...]]] = {
    "chndtridf": ("chndtr", (0, None, 2)), "chndtrix": ("chndtr", (None, 1, 2)), "chndtrinc": ("chndtr", (0, 1, None)),
    "ncfdtri": ("ncfdtr", (0, 1, 2, None)), "ncfdtridfn": ("ncfdtr", (None, 1, 2, 3)), "ncfdtridfd": ("ncfdtr", (0, None, 2, 3)),
    "ncfdtrinc": ("ncfdtr", (0, 1, None, 3)), "nctdtrit": ("nctdtr", (0, 1, None)), "nctdtridf": ("nctdtr", (None, 1, 2)),
    "nctdtrinc": ("nctdtr", (0, None, 2)), "kolmogi": ("kolmogorov", (None,)), "smirnovi": ("smirnov", (0, None)),
    "tklmbda": ("_tukey", (None, 1)),
}  # fmt: skip

FORMULAS: dict[str, Formula] = {
    "jv": _bessel("J"), "jn": _bessel("J"), "jve": _bessel("J"), "yv": _bessel("Y"), "yve": _bessel("Y"), "hankel1": _bessel("H1"),
    "hankel2": _bessel("H2"), "hankel1e": _bessel("H1e"), "hankel2e": _bessel("H2e"), "ive": _modified_i, "kve": _scaled_k,
    "iv": lambda v, z: w.exp(z) * _modified_i(v, z), "kv": lambda v, z: w.exp(-z) * _scaled_k(v, z),
    "struve": _struve(-1.0), "modstruve": _struve(1.0), "hyp0f1": _hyp0f1, "hyp1f1": _hyp1f1, "hyp2f1": _hyp2f1, "hyperu": _hyperu,
    "wright_bessel": _wright_bessel, "log_wright_bessel": lambda a, b, x: w.log(_wright_bessel(a, b, x)), "chndtr": _chndtr,
    "ncfdtr": _ncfdtr, "nctdtr": _nctdtr, "kolmogorov": _kolmogorov, "smirnov": _smirnov, "eval_jacobi": _eval_jacobi,
    "eval_legendre": lambda n, x: _terminating(n, n + 1, w.ones_like(x), (1 - x) / 2), "eval_gegenbauer": _eval_gegenbauer,
    "eval_genlaguerre": _eval_genlaguerre, "eval_laguerre": lambda n, x: _hyp1f1(-n, w.ones_like(x), x),
    "eval_chebyt": lambda n, x: w.cos(n * w.acos(x)), "eval_chebyu": lambda n, x: _second_chebyshev(n, x),
    "eval_chebyc": lambda n, x: 2 * w.cos(n * w.acos(x / 2)), "eval_chebys": lambda n, x: _second_chebyshev(n, x / 2),
    "eval_sh_chebyt": lambda n, x: w.cos(n * w.acos(2 * x - 1)), "eval_sh_chebyu": lambda n, x: _second_chebyshev(n, 2 * x - 1),
    "eval_sh_legendre": lambda n, x: _terminating(n, n + 1, w.ones_like(x), 1 - x), "eval_sh_jacobi": _eval_sh_jacobi,
    "lpmv": _lpmv, "pbdv": _parabolic_cylinder("U"), "pbvv": _parabolic_cylinder("V"),
    "mathieu_cem": _mathieu_angular("a"), "mathieu_sem": _mathieu_angular("b"),
    "pro_ang1": _spheroidal_angular(1.0), "obl_ang1": _spheroidal_angular(-1.0),
    "mathieu_a": _mathieu("a"), "mathieu_b": _mathieu("b"), "pro_cv": _spheroidal(1.0), "obl_cv": _spheroidal(-1.0),
    "_tukey": lambda p, lam: S.boxcox(p, lam) - S.boxcox(1 - p, lam),
}  # fmt: skip

INTEGER_PLACES: dict[str, tuple[int, ...]] = {
    "smirnov": (0,), "smirnovi": (0,), "mathieu_a": (0,), "mathieu_b": (0,), "pro_cv": (0, 1), "obl_cv": (0, 1),
    "lpmv": (0,), "mathieu_cem": (0,), "mathieu_sem": (0,), "pro_ang1": (0, 1), "obl_ang1": (0, 1),
}  # fmt: skip
