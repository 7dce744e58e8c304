"""Fit the polynomials of the vector maths in multiple precision, and write src/wengert/kernels/vm_polynomials.h.

    python tools/fit_polynomials.py        # needs mpmath

Each polynomial interpolates a smooth function at Chebyshev nodes, so its error is close to the least possible. If errors count
more in one place than in another, the function has a weight, and the polynomial has the least maximum of the weighted error.
The coefficients are rounded to the type of their use. The errors written beside them include this rounding.
"""

from __future__ import annotations

from pathlib import Path

import mpmath as mp
import numpy as np

mp.mp.dps = 60
HEADER = Path(__file__).parents[1] / "src" / "wengert" / "kernels" / "vm_polynomials.h"


def exp_rest(r):  # exp(r) = 1 + r + r**2 * this
    return (mp.expm1(r) - r) / r**2 if abs(r) > 1e-20 else mp.mpf(1) / 2


def log_rest(z):  # log((1 + s) / (1 - s)) = 2 s + s z this, z = s**2
    s = mp.sqrt(z)
    return (mp.log((1 + s) / (1 - s)) / s - 2) / z


def sin_rest(z):  # sin(x) = x + x z this, z = x**2
    x = mp.sqrt(z)
    return (mp.sin(x) / x - 1) / z


def cos_rest(z):  # cos(x) = 1 - z / 2 + z**2 this
    return (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2


def asin_rest(z):  # asin(x) = x + x z this
    x = mp.sqrt(z)
    return (mp.asin(x) / x - 1) / z


def atan_rest(z):  # atan(x) = x + x z this
    x = mp.sqrt(z)
    return (mp.atan(x) / x - 1) / z


def erf_slope(z):  # erf(x) = x this
    x = mp.sqrt(z)
    return mp.erf(x) / x


ERFC_POLE = 3


def erfc_scaled(t):  # exp(a**2) erfc(a) (1 + 2 a), with t = (a - ERFC_POLE) / (a + ERFC_POLE)
    a = ERFC_POLE * (1 + t) / (1 - t)
    if a > 1000:
        tail = 1 - 1 / (2 * a**2) + 3 / (4 * a**4) - 15 / (8 * a**6)
        return tail / (a * mp.sqrt(mp.pi)) * (1 + 2 * a)
    return mp.exp(a * a) * mp.erfc(a) * (1 + 2 * a)


def erfc_root(a):  # erfc(a) = this**-8
    return mp.erfc(a) ** (mp.mpf(-1) / 8)


def erfc_root_weight(a):  # what a relative error of the root is in erf
    return 8 * mp.erfc(a)


ERFINV_MIDDLE = mp.mpf("2.5")
ERFINV_FAR = mp.mpf("4.2")


def erfinv_near(t):  # erfinv(x) = x this, t = w - ERFINV_MIDDLE, w = -log(1 - x**2)
    w = t + ERFINV_MIDDLE
    x = mp.sqrt(-mp.expm1(-w))
    return mp.erfinv(x) / x if w > 1e-30 else mp.sqrt(mp.pi) / 2


def erfinv_far(t):  # the same, t = sqrt(w) - ERFINV_FAR
    x = mp.sqrt(-mp.expm1(-((t + ERFINV_FAR) ** 2)))
    return mp.erfinv(x) / x


DIGAMMA_ROOT = mp.findroot(mp.digamma, 1.46)


def digamma_slope(t):  # digamma(x) = (x - DIGAMMA_ROOT) this, t = x - 1.5
    x = t + mp.mpf("1.5")
    return mp.digamma(x) / (x - DIGAMMA_ROOT) if x != DIGAMMA_ROOT else mp.psi(1, x)


LN2 = mp.log(2)
Z_LOG = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2
Z_ATAN = (mp.sqrt(2) - 1) ** 2
QUARTER = (mp.pi / 4) ** 2
# name, function, interval, degree, type, and the weight of a relative error, where there is one
FITS = [
    ("exp_rest", exp_rest, (-LN2 / 2, LN2 / 2), 10, "double"),
    ("log_rest", log_rest, (0, Z_LOG), 6, "double"),
    ("sin_rest", sin_rest, (0, QUARTER), 6, "double"),
    ("cos_rest", cos_rest, (0, QUARTER), 6, "double"),
    ("asin_rest", asin_rest, (0, mp.mpf(1) / 4), 12, "double"),
    ("atan_rest", atan_rest, (0, Z_ATAN), 11, "double"),
    ("erf_slope", erf_slope, (0, 1), 11, "double"),
    ("erfc_scaled", erfc_scaled, (-1, mp.mpf("0.87")), 24, "double"),
    ("erfinv_near", erfinv_near, (-ERFINV_MIDDLE, ERFINV_MIDDLE), 12, "double"),
    ("erfinv_far", erfinv_far, (-2, 2), 17, "double"),
    ("digamma_slope", digamma_slope, (-mp.mpf(1) / 2, mp.mpf(1) / 2), 21, "double"),
    ("exp_rest", exp_rest, (-LN2 / 2, LN2 / 2), 4, "float"),
    ("log_rest", log_rest, (0, Z_LOG), 2, "float"),
    ("sin_rest", sin_rest, (0, QUARTER), 3, "float"),
    ("cos_rest", cos_rest, (0, QUARTER), 2, "float"),
    ("erf_slope", erf_slope, (0, 1), 6, "float"),
    ("erfc_root", erfc_root, (mp.mpf("0.98"), 4), 7, "float", erfc_root_weight),
]


def chebyshev(function, low, high, degree):
    """Return the coefficients, from the lowest, of the polynomial that interpolates function at the Chebyshev nodes."""
    nodes = [mp.cos(mp.pi * (2 * i + 1) / (2 * degree + 2)) for i in range(degree + 1)]
    points = [(low + high) / 2 + (high - low) / 2 * t for t in nodes]
    matrix = mp.matrix(degree + 1, degree + 1)
    right = mp.matrix(degree + 1, 1)
    for i, x in enumerate(points):
        right[i] = function(x)
        for j in range(degree + 1):
            matrix[i, j] = x**j
    return list(mp.lu_solve(matrix, right))


def weighted(function, weight, low, high, degree, count=800, rounds=40):
    """Return the coefficients of the polynomial with the least weighted relative error (Lawson's iteration, in float64)."""
    nodes = np.cos(np.pi * (np.arange(count) + 0.5) / count)
    points = [(low + high) / 2 + (high - low) / 2 * t for t in nodes]
    values = np.array([float(function(x)) for x in points])
    weights = np.array([float(weight(x)) for x in points]) / np.abs(values)
    basis = np.polynomial.chebyshev.chebvander(nodes, degree)
    shares, least = np.ones(count), np.inf
    for _ in range(rounds):
        scale = np.sqrt(shares) * weights
        series = np.linalg.lstsq(basis * scale[:, None], values * scale, rcond=None)[0]
        errors = np.abs(basis @ series - values) * weights
        if errors.max() < least:
            least, best = errors.max(), series
        shares *= (errors / errors.mean() + 1e-3) ** 0.7
    domain = [float(low), float(high)]
    return list(np.polynomial.Chebyshev(best, domain).convert(kind=np.polynomial.Polynomial).coef)


def fit(function, low, high, degree, ctype, weight=None):
    """Return the coefficients rounded to C's type, and the largest relative error, weighted if there is a weight."""
    exact = weighted(function, weight, low, high, degree) if weight else chebyshev(function, low, high, degree)
    rounded = [mp.mpf(float(np.float32(float(c))) if ctype == "float" else float(c)) for c in exact]
    points = [low + (high - low) * (mp.mpf(i) + mp.mpf("0.3")) / 400 for i in range(400)]
    errors = [abs(sum(c * x**i for i, c in enumerate(rounded)) / function(x) - 1) for x in points]
    worst = max(e * weight(x) for e, x in zip(errors, points, strict=True)) if weight else max(errors)
    return rounded, worst


def main():
    lines = [
        "/* Written by tools/fit_polynomials.py. Each comment says where it fits, and how well (relative error). */",
    ]
    for name, function, (low, high), degree, ctype, *weight in FITS:
        coefficients, worst = fit(function, mp.mpf(low), mp.mpf(high), degree, ctype, *weight)
        suffix, fma, letter = ("f32", "VM_FMAF", "f") if ctype == "float" else ("f64", "VM_FMA", "")
        print(name, suffix, mp.nstr(worst, 3))
        lines.append(f"/* [{mp.nstr(low, 6)}, {mp.nstr(high, 6)}]: {mp.nstr(worst, 3)} */")
        lines.append(f"WK_INLINE {ctype} vm_{name}_{suffix}({ctype} x) {{")
        texts = [repr(float(c)) if ctype == "double" else str(np.float32(float(c))) for c in coefficients]
        texts = [t if any(mark in t for mark in ".en") else t + ".0" for t in texts]
        lines.append(f"    {ctype} p = {texts[-1]}{letter};")
        lines += [f"    p = {fma}(p, x, {t}{letter});" for t in texts[-2::-1]]
        lines += ["    return p;", "}"]
    HEADER.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
