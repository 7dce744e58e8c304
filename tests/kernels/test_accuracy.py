"""Errors of the vector maths against exact values, in units in the last place. docs/accuracy.md lists the limits."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from wengert import kernels

native = kernels.native
pytestmark = pytest.mark.skipif(native is None, reason="nothing is compiled here")

# Each function in a wider type: float64 for float32, 80 bits for float64.
WIDER = {
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p,
    "tanh": np.tanh, "sinh": np.sinh, "cosh": np.cosh, "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin,
    "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x), "reciprocal": lambda x: 1 / x,
}  # fmt: skip
CLAIMS = Path(__file__).parents[2] / "docs" / "accuracy.md"
LIMITS = {
    name: (float(single), float(double))
    for name, single, double in re.findall(r"^\| (\w+) \| ([\d.]+) \| ([\d.]+) \|", CLAIMS.read_text(), re.MULTILINE)
}


def points(dtype, n=40_000):
    """Bit patterns of all kinds, numbers of ordinary sizes, and those around 0, 1 and the ends of the range."""
    rng = np.random.default_rng(0)
    info = np.finfo(dtype)
    bits = np.uint32 if dtype == np.float32 else np.uint64
    wide = 110 if dtype == np.float32 else 800
    parts = [
        rng.integers(0, np.iinfo(bits).max, n, dtype=bits).view(dtype),
        *[rng.uniform(-size, size, n) for size in (1, 5, 30, 4000, wide)],
        rng.normal(0, 1e-3, n), 1 + rng.normal(0, 1e-2, n), np.exp(rng.uniform(-3, 3, n)),
        [0.0, -0.0, np.inf, -np.inf, np.nan, info.tiny, -info.tiny, info.smallest_subnormal, info.max, -info.max, 1.0, -1.0],
    ]  # fmt: skip
    with np.errstate(all="ignore"):
        return np.concatenate([np.asarray(p).astype(dtype) for p in parts])


def errors_in_ulp(found, exact, dtype):
    """Distances in ulps of the exact value. Infinities and NaN must agree exactly."""
    with np.errstate(all="ignore"):
        rounded = exact.astype(dtype)
        finite = np.isfinite(rounded) & np.isfinite(found)
        # If the exact value rounds to infinity but is within an ulp of the largest number, both results are right.
        same = (found == rounded) | (np.isnan(found) & np.isnan(rounded))
        assert (finite | same).all(), found[~(finite | same)][:5]
        distance = np.abs(found.astype(np.longdouble) - exact.astype(np.longdouble)) / np.spacing(np.abs(rounded)).astype(np.longdouble)
    return np.where(finite, distance, 0)


def test_every_function_of_the_vector_maths_is_claimed():
    used = set(re.findall(r"VM\((\w+)\)", (Path(__file__).parents[2] / "src" / "wengert" / "kernels" / "table.h").read_text()))
    assert used <= set(LIMITS)
    assert max(max(pair) for pair in LIMITS.values()) <= 4


@pytest.mark.slow
@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="no wider type to compare float64 with")
@pytest.mark.parametrize(("position", "dtype"), list(enumerate([np.float32, np.float64])))
@pytest.mark.parametrize("name", list(WIDER))
def test_errors_are_within_the_claimed_limits(name, position, dtype):
    x = points(dtype)
    with np.errstate(all="ignore"):
        exact = WIDER[name](x.astype(np.float64 if dtype == np.float32 else np.longdouble))
    found = native.apply(native.find(name), (x,))
    assert errors_in_ulp(found, exact, dtype).max() <= LIMITS[name][position]


def exact_values(mpmath, function, x):
    """Values of a function of mpmath, with the digits of a longdouble."""
    with mpmath.workprec(120):
        terms = [function(mpmath.mpf(float(v))) for v in x]
        return np.array([np.longdouble(float(t)) + np.longdouble(float(t - mpmath.mpf(float(t)))) for t in terms])


@pytest.mark.parametrize("name", ["erf", "erfc"])
def test_error_functions(name):
    mpmath = pytest.importorskip("mpmath")
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.uniform(-6, 6, 800), rng.uniform(-1.1, 1.1, 400), rng.normal(0, 1e-5, 100), rng.uniform(6, 26, 100)])
    for position, dtype in enumerate([np.float32, np.float64]):
        x = values.astype(dtype)
        if dtype == np.float32:
            x = x[x < 9]
        exact = exact_values(mpmath, getattr(mpmath, name), x)
        found = native.apply(native.find(name), (x,))
        assert errors_in_ulp(found, exact, dtype).max() <= LIMITS[name][position]


def _gamma_points(rng):
    return np.concatenate([rng.uniform(1e-3, 4, 800), 1.4616321 + rng.normal(0, 1e-3, 100), rng.uniform(4, 100, 400),
                           1 + rng.normal(0, 1e-3, 100), 2 + rng.normal(0, 1e-3, 100), 10 ** rng.uniform(-30, 30, 100)])  # fmt: skip


def _erfinv_points(rng):
    close = 1 - 10.0 ** -rng.uniform(0, 15.5, 400)
    return np.concatenate([rng.uniform(-1, 1, 800), close, -close, rng.normal(0, 1e-5, 100), rng.uniform(0.8, 0.9, 200)])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "draw"), [("erfinv", _erfinv_points), ("lgamma", _gamma_points), ("digamma", _gamma_points)])
def test_inverse_error_function_and_gamma_functions(name, draw):
    mpmath = pytest.importorskip("mpmath")
    function = {"lgamma": lambda v: mpmath.log(mpmath.gamma(v))}.get(name) or getattr(mpmath, name)
    for position, dtype in enumerate([np.float32, np.float64]):
        x = draw(np.random.default_rng(0)).astype(dtype)
        x = x[abs(x) < 1] if name == "erfinv" else x
        exact = exact_values(mpmath, function, x)
        found = native.apply(native.find(name), (x,))
        assert errors_in_ulp(found, exact, dtype).max() <= LIMITS[name][position]


@pytest.mark.parametrize("name", ["lgamma", "digamma"])
def test_gamma_functions_of_negative_numbers(name):
    mpmath = pytest.importorskip("mpmath")
    function = {"lgamma": lambda v: mpmath.log(abs(mpmath.gamma(v)))}.get(name) or getattr(mpmath, name)
    rng = np.random.default_rng(0)
    for dtype, tolerance in [(np.float32, 1.2e-7), (np.float64, 4e-15)]:
        x = np.concatenate([rng.uniform(-4, 0, 400), rng.uniform(-60, -4, 400)]).astype(dtype)
        with mpmath.workprec(120):
            exact = np.array([float(function(mpmath.mpf(float(v)))) for v in x])
        np.testing.assert_allclose(native.apply(native.find(name), (x,)), exact, rtol=tolerance, atol=tolerance if dtype is np.float64 else 0)


@pytest.mark.parametrize(("dtype", "smallest"), [(np.float32, -15), (np.float64, -150)])
def test_trigamma_is_within_six_units_of_the_last_place(dtype, smallest):
    mpmath = pytest.importorskip("mpmath")
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(1e-3, 12, 800), 10.0 ** rng.uniform(smallest, -smallest / 10, 200), rng.uniform(-20, 0, 500)])
    x = x.astype(dtype)
    exact = exact_values(mpmath, lambda v: mpmath.psi(1, v), x)
    assert errors_in_ulp(native.apply(native.find("trigamma"), (x,)), exact, dtype).max() <= 6
    poles = np.array([0, -1, -2], dtype)
    assert np.all(native.apply(native.find("trigamma"), (poles,)) == np.inf)
    assert native.apply(native.find("trigamma"), (np.array([np.inf], dtype),))[0] == 0


def test_powers_and_angles():
    rng = np.random.default_rng(0)
    x, y = rng.uniform(0, 20, 40_000).astype(np.float32), rng.uniform(-20, 20, 40_000).astype(np.float32)
    for name, function, operands in [("pow", np.power, (x, y)), ("atan2", np.arctan2, (y, x))]:
        exact = function(*[v.astype(np.float64) for v in operands])
        found = native.apply(native.find(name), operands)
        assert errors_in_ulp(found, exact, np.float32).max() <= LIMITS[name][0]
        exact = function(*[v.astype(np.longdouble) for v in operands])
        found = native.apply(native.find(name), tuple([v.astype(np.float64) for v in operands]))
        assert errors_in_ulp(found, exact, np.float64).max() <= LIMITS[name][1]
