"""First and second derivatives of functions of one number, against mpmath, relative to their own size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wengert as W
from loops import each

mp = pytest.importorskip("mpmath")
S, N = W.special, W.nn.functional
ALL, POSITIVE, UNIT = (-50.0, 50.0), (1e-6, 50.0), (-0.999, 0.999)


def logistic(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x))


# Each function, the same in mpmath, and where it is tried.
FUNCTIONS: dict[str, tuple[Any, Any, tuple[float, float]]] = {
    "sigmoid": (W.sigmoid, logistic, (-700, 700)),
    "tanh": (W.tanh, mp.tanh, (-300, 300)),
    "log_sigmoid": (N.logsigmoid, lambda x: -mp.log1p(mp.exp(-x)) if x > 0 else x - mp.log1p(mp.exp(x)), (-700, 700)),
    "softplus": (N.softplus, lambda x: mp.log1p(mp.exp(x)), (-300, 19)),
    "silu": (N.silu, lambda x: x * logistic(x), (-300, 300)),
    "mish": (N.mish, lambda x: x * mp.tanh(mp.log1p(mp.exp(x))), (-300, 300)),
    "gelu": (N.gelu, lambda x: x * mp.ncdf(x), (-30, 30)),
    "gelu_tanh": (
        lambda x: N.gelu(x, approximate="tanh"),
        lambda x: x / 2 * (1 + mp.tanh(mp.sqrt(2 / mp.pi) * (x + mp.mpf(0.044715) * x**3))),
        (-30, 30),
    ),
    "tanhshrink": (N.tanhshrink, lambda x: x - mp.tanh(x), (-300, 300)),
    "softsign": (N.softsign, lambda x: x / (1 + abs(x)), ALL),
    "elu": (N.elu, lambda x: x if x > 0 else mp.expm1(x), ALL),
    "exp": (W.exp, mp.exp, ALL),
    "expm1": (W.expm1, mp.expm1, ALL),
    "exp2": (W.exp2, lambda x: mp.mpf(2) ** x, ALL),
    "log": (W.log, mp.log, POSITIVE),
    "log1p": (W.log1p, mp.log1p, (-0.999, 50)),
    "log2": (W.log2, lambda x: mp.log(x, 2), POSITIVE),
    "log10": (W.log10, mp.log10, POSITIVE),
    "sqrt": (W.sqrt, mp.sqrt, POSITIVE),
    "rsqrt": (W.rsqrt, lambda x: 1 / mp.sqrt(x), POSITIVE),
    "reciprocal": (W.reciprocal, lambda x: 1 / x, POSITIVE),
    "sin": (W.sin, mp.sin, ALL),
    "cos": (W.cos, mp.cos, ALL),
    "tan": (W.tan, mp.tan, ALL),
    "sinh": (W.sinh, mp.sinh, ALL),
    "cosh": (W.cosh, mp.cosh, ALL),
    "asin": (W.asin, mp.asin, UNIT),
    "acos": (W.acos, mp.acos, UNIT),
    "atan": (W.atan, mp.atan, ALL),
    "asinh": (W.asinh, mp.asinh, ALL),
    "acosh": (W.acosh, mp.acosh, (1.0001, 50)),
    "atanh": (W.atanh, mp.atanh, UNIT),
    "erf": (W.erf, mp.erf, (-25, 25)),
    "erfc": (W.erfc, mp.erfc, (-25, 25)),
    "erfinv": (W.erfinv, mp.erfinv, UNIT),
    "erfcx": (S.erfcx, lambda x: mp.exp(x * x) * mp.erfc(x), (-5, 50)),
    "ndtr": (S.ndtr, mp.ncdf, (-35, 35)),
    "log_ndtr": (S.log_ndtr, lambda x: mp.log(mp.ncdf(x)), (-100, 35)),
    "ndtri": (S.ndtri, lambda p: mp.sqrt(2) * mp.erfinv(2 * p - 1), (1e-6, 0.999)),
    "logit": (W.logit, lambda x: mp.log(x / (1 - x)), (1e-6, 0.999)),
    "lgamma": (W.lgamma, mp.loggamma, POSITIVE),
    "digamma": (W.digamma, mp.digamma, POSITIVE),
    "sinc": (W.sinc, lambda x: mp.sincpi(x), ALL),
    "entr": (S.entr, lambda x: -x * mp.log(x), POSITIVE),
    "i0": (W.i0, lambda x: mp.besseli(0, x), ALL),
    "i0e": (S.i0e, lambda x: mp.besseli(0, x) * mp.exp(-abs(x)), (-300, 300)),
    "i1": (S.i1, lambda x: mp.besseli(1, x), ALL),
    "i1e": (S.i1e, lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), (-300, 300)),
    "square": (W.square, lambda x: x * x, ALL),
}
# Derivatives that are computed from the result, as torch computes them, lose digits where the result is almost 1, or -1: what is lost is
# small, and docs/accuracy.md says how small. So does gelu for large negative numbers. (function, order of the derivative)
FROM_RESULTS = {
    ("sigmoid", 1), ("sigmoid", 2), ("tanh", 1), ("tanh", 2), ("expm1", 1), ("expm1", 2), ("gelu", 1), ("log_ndtr", 2),
}  # fmt: skip


def points(low: float, high: float, count: int) -> np.ndarray:
    """Numbers that are spread evenly, near 0, and near the ends."""
    rng = np.random.default_rng(0)
    small = 10.0 ** rng.uniform(-8, np.log10(max(-low, high)), count) * rng.choice([1, -1], count)
    ends = (high - low) * 10.0 ** rng.uniform(-8, 0, count)
    found = np.concatenate([rng.uniform(low, high, count), small, high - ends, low + ends])
    return np.unique(found[(low < found) & (found < high) & (found != 0)])


def check(name: str, count: int) -> None:
    """Check the derivatives at about 4 * count points. Their error may be 1e-12, and grow with the condition of the function."""
    function, exact, (low, high) = FUNCTIONS[name]
    at = points(low, high, count)
    x = W.tensor(at, requires_grad=True)
    (first,) = W.autograd.grad(function(x).sum(), x, create_graph=True)
    (second,) = W.autograd.grad(first.sum(), x)
    with mp.workdps(40):
        for i, number in enumerate(at.tolist()):
            series = [mp.re(c) for c in mp.taylor(exact, mp.mpf(number), 3)]
            derivatives = [series[1], 2 * series[2], 6 * series[3]]
            for order, found in ((1, first[i].item()), (2, second[i].item())):
                expected, change = derivatives[order - 1 : order + 1]
                if (name, order) in FROM_RESULTS or not 1e-290 < abs(expected) < 1e300:
                    continue
                error, condition = abs(found - expected) / abs(expected), abs(number * change / expected)
                assert error <= 1e-12 + 4e-16 * condition, (
                    f"{name}, order {order} at {number}: {found}, not {mp.nstr(expected, 17)}"
                )


def test_the_page_on_accuracy_names_the_exceptions():
    page = (Path(__file__).parents[2] / "docs" / "accuracy.md").read_text(encoding="utf-8")
    assert f"derivatives of {len(FUNCTIONS)} functions" in page
    part = page.split("## Derivatives")[1]
    assert [name for name, _ in FROM_RESULTS if f"`{name}`" not in part] == []


@each("name", ["log_sigmoid", "softplus", "silu", "mish", "gelu_tanh", "tanhshrink", "erfcx", "atan", "logit"])
def test_derivatives_are_accurate(name):
    check(name, 3)


@each("name, end", [("asin", 1.0), ("asin", -1.0), ("acos", 1.0), ("acos", -1.0), ("atanh", 1.0), ("atanh", -1.0), ("acosh", 1.0)])
def test_derivatives_keep_their_digits_beside_a_singularity(name, end):
    """The number is known exactly there, so the condition of the function is no excuse."""
    function, exact, (_, high) = FUNCTIONS[name]
    at = end + (1 if high > 1 else -end) * 10.0 ** np.random.default_rng(0).uniform(-14, -3, 20)
    x = W.tensor(at, requires_grad=True)
    (first,) = W.autograd.grad(function(x).sum(), x, create_graph=True)
    (second,) = W.autograd.grad(first.sum(), x)
    with mp.workdps(60):
        series = [mp.taylor(exact, mp.mpf(number), 2) for number in at.tolist()]
    np.testing.assert_allclose(first.detach().numpy(), [float(mp.re(c[1])) for c in series], rtol=1e-14)
    np.testing.assert_allclose(second.numpy(), [float(2 * mp.re(c[2])) for c in series], rtol=1e-14)


@pytest.mark.exhaustive
@each("name", FUNCTIONS)
def test_derivatives_are_accurate_at_many_points(name):
    check(name, 100)
