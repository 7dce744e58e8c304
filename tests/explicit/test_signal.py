"""Windows against SciPy's, and what stft, istft and the writes by index refuse."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import windows as oracle

import wengert
from loops import each
from wengert.signal import windows

CASES = [
    ("bartlett", {}), ("blackman", {}), ("cosine", {}), ("exponential", {"tau": 2.0}), ("gaussian", {"std": 1.5}),
    ("general_cosine", {"a": [0.5, 0.3, 0.2]}), ("general_hamming", {"alpha": 0.6}), ("hamming", {}), ("hann", {}),
    ("kaiser", {"beta": 7.0}), ("nuttall", {}),
]  # fmt: skip


@each("sym", [True, False])
@each("n", [0, 1, 2, 5, 8])
@each(("name", "params"), CASES)
def test_windows(name, params, n, sym):
    found = getattr(windows, name)(n, sym=sym, dtype=wengert.float64, **params)
    np.testing.assert_allclose(found.numpy(), getattr(oracle, name)(n, sym=sym, **params), atol=1e-14)
    assert getattr(windows, name)(n, **params).dtype is wengert.float32


@pytest.mark.parametrize("periodic", [True, False])
@pytest.mark.parametrize(("name", "params"), [("bartlett", ()), ("blackman", ()), ("hamming", ()), ("hann", ()), ("kaiser", (12.0,))])
def test_windows_of_the_package(name, params, periodic):
    found = getattr(wengert, f"{name}_window")(6, periodic, dtype=wengert.float64)
    np.testing.assert_allclose(found.numpy(), oracle.get_window((name, *params), 6, periodic), atol=1e-14)


def test_exponential_of_a_periodic_window_has_its_center_where_it_is_told():
    assert windows.exponential(3, center=1.0, sym=False).tolist() == pytest.approx([np.exp(-1), 1.0, np.exp(-1)])


ONES = wengert.ones(8)
SPECTRUM = wengert.stft(ONES, 4, return_complex=True)


@pytest.mark.parametrize(("call", "kind", "text"), [
    (lambda: windows.hann(-1), ValueError, "general_cosine requires non-negative window length, got M=-1"),
    (lambda: windows.hann(3, dtype=wengert.int64), ValueError, "general_cosine expects float32 or float64 dtypes, got: torch.int64"),
    (lambda: windows.kaiser(5, beta=-1.0), ValueError, "beta must be non-negative, got: -1.0 instead."),
    (lambda: windows.gaussian(5, std=-1.0), ValueError, "Standard deviation must be positive, got: -1.0 instead."),
    (lambda: windows.exponential(5, tau=-1.0), ValueError, "Tau must be positive, got: -1.0 instead."),
    (lambda: windows.exponential(5, center=1.0), ValueError, "Center must be None for symmetric windows"),
    (lambda: windows.general_cosine(5, a=[]), ValueError, "Coefficients cannot be empty"),
    (lambda: windows.general_cosine(5, a=3), TypeError, "Coefficients must be a list/tuple"),
    (lambda: wengert.hann_window(-1), RuntimeError, "hann_window requires non-negative window_length, got window_length=-1"),
    (lambda: wengert.stft(ONES, 4), RuntimeError, "stft requires the return_complex parameter be given for real inputs, and "
     "will further require that return_complex=True in a future PyTorch release."),
    (lambda: wengert.stft(ONES + 0j, 4, onesided=True), RuntimeError, "Cannot have onesided output if window or input is complex"),
    (lambda: wengert.stft(ONES, 4, 0, return_complex=True), RuntimeError, "stft(): expected hop_length > 0, but got hop_length=0"),
    (lambda: wengert.stft(ONES, 40, center=False, return_complex=True), RuntimeError, "stft(): expected 0 < n_fft < 8, but got n_fft=40"),
    (lambda: wengert.stft(ONES, 4, win_length=5, return_complex=True), RuntimeError,
     "stft(): expected 0 < win_length <= n_fft, but got win_length=5"),
    (lambda: wengert.stft(ONES, 4, window=wengert.ones(3), return_complex=True), RuntimeError,
     "stft(): expected a 1D window tensor of size equal to win_length=4, but got window with size [3]"),
    (lambda: wengert.stft(ONES.long(), 4, return_complex=True), RuntimeError,
     "stft(): expected a tensor of floating point or complex values"),
    (lambda: wengert.stft(ONES, 4, align_to_window=True, return_complex=True), RuntimeError,
     "stft align_to_window should only be set when center = false"),
    (lambda: wengert.istft(wengert.view_as_real(SPECTRUM), 4), RuntimeError,
     "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."),
    (lambda: wengert.istft(SPECTRUM, 6), RuntimeError, "istft(): expected the frequency dimension (3rd to the last) of the "
     "input tensor to match n_fft / 2 + 1 when onesided=True, but got 3"),
    (lambda: wengert.istft(SPECTRUM, 4, window=wengert.hann_window(4), center=False), RuntimeError,
     "istft(): window overlap add min: 1. Hint: somewhere no window reaches; pieces nearer to each other, or center=True."),
    (lambda: ONES.index_reduce(0, wengert.tensor([0]), ONES, "mean"), RuntimeError,
     "index_reduce_(): Number of indices (1) should be equal to source.size(dim): (8), for dim: 0"),
    (lambda: ONES.index_reduce(0, wengert.tensor([0]), ONES, "sum"), RuntimeError,
     "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got sum."),
    (lambda: ONES.index_reduce(0, wengert.tensor([9]), ONES[:1], "mean"), IndexError, "index out of range in self"),
    (lambda: ONES.index_reduce(0, wengert.tensor([1]), ONES[:1].double(), "mean"), RuntimeError,
     "index_reduce_(): self (Float) and source (Double) must have the same scalar type"),
    (lambda: wengert.as_strided_scatter(ONES, ONES, (2, 2), (1, 2)), RuntimeError,
     "expected src to have a size equal to the slice of self. src size = [8], slice size = [2, 2]"),
])  # fmt: skip
def test_errors(call, kind, text):
    with pytest.raises(kind) as error:
        call()
    assert str(error.value) == text


def test_fill_diagonal():
    assert wengert.zeros(4, 3).fill_diagonal_(2).tolist() == [[2, 0, 0], [0, 2, 0], [0, 0, 2], [0, 0, 0]]
    tall = wengert.zeros(7, 3).fill_diagonal_(1, wrap=True)
    assert tall.argmax(1).tolist() == [0, 1, 2, 0, 0, 1, 2] and tall.sum() == 6
    assert wengert.zeros(3, 3, 3).fill_diagonal_(2).sum() == 6
    x = wengert.ones(2, 2, requires_grad=True)
    (x * 3).fill_diagonal_(5).sum().backward()
    assert x.grad.tolist() == [[0, 3], [3, 0]]
    with pytest.raises(RuntimeError, match="dimensions must larger than 1"):
        wengert.zeros(3).fill_diagonal_(1)
    with pytest.raises(RuntimeError, match="all dimensions of input must be of equal length"):
        wengert.zeros(2, 3, 4).fill_diagonal_(1)
