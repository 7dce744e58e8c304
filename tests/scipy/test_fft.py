"""wengert.scipy.fft: values, and derivatives, against SciPy and its finite differences."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import wengert
import wengert.scipy.fft as fft
from loops import each
from scipy_checks import check_call
from wengert.autograd import grad

_rng = np.random.default_rng(3)
X = _rng.normal(size=6)
M = _rng.normal(size=(4, 5))
C = M + 1j * _rng.normal(size=(4, 5))

ROWS: list[tuple[Any, ...]] = [
    *[(name, lambda f, x, k=settings: f(x, **k), x)
      for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
      for settings in ({}, {"n": 3, "axis": 0}, {"n": 8, "norm": "ortho"}, {"norm": "forward", "workers": 1})
      for x in ((M,) if name in ("rfft", "ihfft") else (M, C))],
    *[(name, lambda f, x, k=settings: f(x, **k), x)
      for stem in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft") for name in (f"{stem}2", f"{stem}n")
      for settings in ({}, {"s": (3, 6), "norm": "ortho"}, {"axes": (1, 0), "norm": "forward"})
      for x in ((M,) if stem in ("rfft", "ihfft") else (C,))],
    *[(name, lambda f, x, t=type, k=settings: f(x, t, **k), x)
      for name in ("dct", "idct", "dst", "idst") for type in (1, 2, 3, 4)
      for settings in ({}, {"norm": "ortho"}, {"norm": "forward", "axis": 0, "n": 3}, {"norm": "ortho", "orthogonalize": False, "n": 8},
                       {"orthogonalize": True})
      for x in ((M,) if "orthogonalize" in settings else (M, C))],
    *[(f"{name}n", lambda f, x, t=type, k=settings: f(x, t, **k), M)
      for name, type in product(("dct", "idct", "dst", "idst"), (1, 2, 3, 4))
      for settings in ({}, {"s": (3, 6), "norm": "ortho"}, {"axes": 0})],
    ("fftshift", lambda f, x: f(x), M), ("ifftshift", lambda f, x: f(x, axes=1), C),
    *[(name, lambda f, x, b=bias: f(x, 0.3, 0.5, 0.1, b), X) for name in ("fht", "ifht") for bias in (0.0, 0.2)],
]  # fmt: skip
STEPS: dict[str, tuple[float, float]] = {}


def one_call(name: str, call: Any, *arrays: Any, **settings: Any) -> None:
    check_call("fft", name, call, *arrays, value_rtol=1e-12, **settings)


@each("name, arguments", [(row[0], row[1:]) for row in ROWS])
def test_values_and_derivatives(name, arguments):
    one_call(name, *arguments, step=1e-1, order=1)


@each("name", ["fft", "dct", "dst", "fht"])
def test_second_derivatives_of_a_power_spectrum(name):
    """The second derivative of a quadratic form y = |F x|^2 is constant: 2 F^T F."""
    arguments = (0.3, 0.5) if name == "fht" else ()
    x = wengert.tensor(X, requires_grad=True)
    power = (getattr(fft, name)(x, *arguments).abs() ** 2).sum()
    (slope,) = grad(power, x, create_graph=True)
    (second,) = grad(slope.sum(), x)
    np.testing.assert_allclose(second.numpy(), _second(name, arguments))


def _second(name: str, arguments: tuple[float, ...]) -> np.ndarray:
    import scipy.fft

    matrix = np.stack([getattr(scipy.fft, name)(row, *arguments) for row in np.eye(6)], axis=1)
    return 2 * (matrix.conj().T @ matrix).real @ np.ones(6)


def test_each_function_has_a_row():
    assert set(fft._module.functions) - {row[0] for row in ROWS} == set()


def test_bad_calls_are_refused():
    x = wengert.tensor(M, requires_grad=True)
    for call, error, text in [
        (lambda: fft.fft(x, norm="half"), ValueError, "norm"), (lambda: fft.dct(x, norm="half"), ValueError, "norm"),
        (lambda: fft.fft(x, n=0), ValueError, "data points"), (lambda: fft.dct(x, n=0), ValueError, "data points"),
        (lambda: fft.dct(x, type=5), ValueError, "type"), (lambda: fft.dct(x[:, :1], type=1), ValueError, "data points"),
        (lambda: fft.rfft(wengert.tensor(C, requires_grad=True)), TypeError, "real sequence"),
        (lambda: fft.fft(x, axis=2), IndexError, "axis"), (lambda: fft.fft2(x, axes=(0, 0)), ValueError, "unique"),
        (lambda: fft.fftn(x, s=(2,), axes=(0, 1)), ValueError, "same length"),
        (lambda: fft.dctn(x, s=(2,), axes=(0, 1)), ValueError, "same length"),
    ]:  # fmt: skip
        with pytest.raises(error, match=text):
            call()


def test_complex_numbers_take_no_argument_that_scipy_leaves_out():
    with pytest.raises(wengert.errors.ArgumentError):
        fft.dct(wengert.tensor(C, requires_grad=True), norm="ortho", orthogonalize=False)
    assert isinstance(fft.dct(wengert.tensor(C), norm="ortho", orthogonalize=False), wengert.Tensor)


def test_float32_stays_float32():
    x = wengert.tensor(M.astype(np.float32), requires_grad=True)
    for name in ("dct", "dst", "idct", "dctn"):
        found = getattr(fft, name)(x, norm="ortho")
        assert found.dtype == wengert.float32
        (slope,) = grad(found.sum(), x)
        assert slope.dtype == wengert.float32
    assert fft.fft(x).dtype == wengert.complex64


def test_sizes_and_frequencies_are_scipys():
    assert fft.next_fast_len(7) == 7 and fft.prev_fast_len(23) == 22
    np.testing.assert_allclose(fft.fftfreq(4), [0, 0.25, -0.5, -0.25])
