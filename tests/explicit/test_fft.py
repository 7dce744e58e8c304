"""Fourier transforms worked by hand, their arguments, and what they refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest

import wengert
from wengert import fft


def test_a_transform_of_four_numbers():
    assert fft.fft(wengert.tensor([1.0, 2.0, 3.0, 4.0])).tolist() == [10, -2 + 2j, -2, -2 - 2j]
    assert fft.rfft(wengert.tensor([1.0, 2.0, 3.0, 4.0])).tolist() == [10, -2 + 2j, -2]
    assert fft.ifft(wengert.tensor([10, -2 + 2j, -2, -2 - 2j])).tolist() == [1, 2, 3, 4]
    assert fft.irfft(wengert.tensor([10, -2 + 2j, -2])).tolist() == [1, 2, 3, 4]


def test_each_norm_divides_by_its_power_of_the_length():
    x = wengert.ones(4)
    for norm, first in (("backward", 4.0), (None, 4.0), ("ortho", 2.0), ("forward", 1.0)):
        assert fft.fft(x, norm=norm)[0].item() == first
        assert fft.ifft(fft.fft(x, norm=norm), norm=norm).real.tolist() == [1.0] * 4


def test_gradient_of_one_frequency_is_its_wave():
    x = wengert.zeros(4, requires_grad=True)
    fft.fft(x)[1].real.backward()
    np.testing.assert_allclose(x.grad, [1, 0, -1, 0], atol=1e-7)  # cos(2 pi j / 4)
    x.grad = None
    fft.rfft(x)[1].imag.backward()
    np.testing.assert_allclose(x.grad, [0, -1, 0, 1], atol=1e-7)  # -sin(2 pi j / 4)


def test_a_frequency_between_first_and_middle_counts_twice_in_the_real_signal():
    spectrum = wengert.zeros(3, dtype=wengert.complex128, requires_grad=True)
    fft.irfft(spectrum)[0].backward()
    assert spectrum.grad.tolist() == [0.25, 0.5, 0.25]


def test_a_signal_and_its_spectrum_have_the_same_energy_whose_gradient_is_twice_the_signal():
    x = wengert.tensor([1.0, -2.0, 3.0, 0.5, 4.0], dtype=wengert.float64, requires_grad=True)
    energy = (fft.fft(x, norm="ortho").abs() ** 2).sum()
    energy.backward()
    assert energy.item() == pytest.approx((x**2).sum().item(), rel=1e-14)
    np.testing.assert_allclose(x.grad, 2 * x.detach().numpy(), rtol=1e-13)


def test_integers_and_bools_give_the_default_complex_dtype_and_doubles_the_wide_one():
    assert fft.fft(wengert.arange(3)).dtype is wengert.complex64
    assert fft.rfft(wengert.tensor([True, False])).dtype is wengert.complex64
    assert fft.fft(wengert.ones(3, dtype=wengert.float64)).dtype is wengert.complex128
    assert fft.irfft(wengert.ones(3)).dtype is wengert.float32


def test_a_large_transform_agrees_with_numpy():
    x = np.random.default_rng(0).normal(size=(64, 1024))
    np.testing.assert_allclose(fft.fft2(wengert.tensor(x)), np.fft.fft2(x), rtol=1e-9, atol=1e-9)


def test_no_dims_transform_nothing():
    x = wengert.ones(2, 3)
    assert fft.fftn(x, dim=()).tolist() == [[1 + 0j] * 3] * 2
    assert fft.fftn(wengert.tensor(2.0)).item() == 2 + 0j


def test_nothing_has_a_transform():
    assert fft.fft(wengert.ones(0, 3)).shape == (0, 3)
    assert fft.rfft(wengert.ones(0, 4)).shape == (0, 3)
    assert fft.irfft(wengert.ones(0, 3)).shape == (0, 4)


def test_frequencies():
    assert fft.fftfreq(5, d=0.5).tolist() == pytest.approx([0, 0.4, 0.8, -0.8, -0.4])
    assert fft.fftfreq(4, dtype=wengert.float64).tolist() == [0, 0.25, -0.5, -0.25]
    assert fft.rfftfreq(4, 0.5).tolist() == [0, 0.5, 1.0]
    assert fft.fftfreq(0).tolist() == []
    assert math.isnan(fft.fftfreq(3, d=0)[0].item()) and fft.fftfreq(3, d=0)[1].item() == math.inf
    assert fft.fftfreq(3, requires_grad=True).requires_grad


def test_shifts_undo_each_other_at_odd_length():
    x = wengert.arange(5)
    assert fft.fftshift(x).tolist() == [3, 4, 0, 1, 2]
    assert fft.ifftshift(fft.fftshift(x)).tolist() == x.tolist()


x = wengert.ones(2, 3)


@pytest.mark.parametrize(("call", "kind", "text"), [
    (lambda: fft.fft(x, n=0), RuntimeError, "Invalid number of data points (0) specified"),
    (lambda: fft.irfft(wengert.ones(2, 1)), RuntimeError, "Invalid number of data points (0) specified"),
    (lambda: fft.fftn(x, s=(-2, 3)), RuntimeError, "Invalid number of data points (-2) specified"),
    (lambda: fft.fft(x, norm="mean"), RuntimeError, 'Invalid normalization mode: "mean"'),
    (lambda: fft.fft(wengert.tensor(1.0)), IndexError, "Dimension specified as -1 but tensor has no dimensions"),
    (lambda: fft.fftn(x, s=(2, 3, 4)), RuntimeError, "Got shape with 3 values but input tensor only has 2 dimensions."),
    (lambda: fft.fftn(x, s=(2, 3), dim=(0,)), RuntimeError, "When given, dim and shape arguments must have the same length"),
    (lambda: fft.fftn(x, dim=(0, -2)), RuntimeError, "FFT dims must be unique"),
    (lambda: fft.rfftn(x, dim=()), RuntimeError, "rfftn must transform at least one axis"),
    (lambda: fft.hfftn(x, dim=()), RuntimeError, "hfftn must transform at least one axis"),
    (lambda: fft.rfft(x + 0j), RuntimeError, "rfft expects a real input tensor, but got ComplexFloat"),
    (lambda: fft.rfftn(x + 0j), RuntimeError, "rfftn expects a real-valued input tensor, but got ComplexFloat"),
    (lambda: fft.ihfftn(x + 0j), RuntimeError, "Only supports floating-point dtypes, but found: ComplexFloat"),
    (lambda: fft.fft(x.half()), RuntimeError, "Unsupported dtype Half"),
    (lambda: fft.fftfreq(3, dtype=wengert.int64), RuntimeError, "fftfreq requires a floating point or complex dtype"),
    (lambda: fft.fft(None), TypeError, "fft_fft(): argument 'input' (position 1) must be Tensor, not NoneType"),
])  # fmt: skip
def test_wrong_calls_are_refused_with_a_message(call, kind, text):
    with pytest.raises(kind) as error:
        call()
    assert str(error.value) == text
    assert isinstance(error.value, wengert.errors.WengertError)
