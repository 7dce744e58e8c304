"""Windows for signal processing: wengert.signal.windows, and the older functions such as hann_window.

In the formulas k = 0, ..., M - 1 is the index of an element and t = 2 pi k / (M - 1). A periodic window (sym=False) of M
elements is the symmetric window of M + 1 elements without its last.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import Any

import numpy as np

from wengert import dtypes, errors
from wengert.ops.options import numpy_dtype, tensor_from
from wengert.ops.registry import creation

_NAMESPACE: tuple[str, ...] = ("signal.windows",)


def _make_window(name: str, M: Any, sym: bool, dtype: Any, options: dict[str, Any], shape: Any) -> Any:
    """Return the tensor of a window of M elements. shape(n): the symmetric window of n elements, an array."""
    n = _checked_length(name, "window length", "M", M, errors.ElementError)
    kind = numpy_dtype(dtype)
    if kind not in (np.float32, np.float64):
        raise errors.ElementError(f"{name} expects float32 or float64 dtypes, got: {dtypes.from_numpy_dtype(kind)!r}")
    return tensor_from(name, _window_values(n, sym, shape).astype(kind), options)


def _checked_length(op: str, what: str, argument: str, value: Any, error: Any) -> int:
    try:
        n = index(value)
    except TypeError:
        raise errors.wrong_argument_type(op, argument, 0, type(value), "int") from None
    if n < 0:
        raise error(f"{op} requires non-negative {what}, got {argument}={n}")
    return n


def _window_values(n: int, sym: bool, shape: Any) -> Any:
    if n < 2:
        return np.ones(n)
    return shape(n) if sym else shape(n + 1)[:n]


def _cosines(n: int, a: Iterable[float]) -> Any:
    """a[0] - a[1] cos t + a[2] cos 2t - ... at n points from t = 0 to 2 pi."""
    turn = 2 * np.pi * np.arange(n) / (n - 1)
    return sum([(-1) ** i * factor * np.cos(i * turn) for i, factor in enumerate(a)])


def _triangle(n: int) -> Any:
    return 1 - np.abs(2 * np.arange(n) / (n - 1) - 1)


def _kaiser(n: int, beta: float) -> Any:
    return np.i0(beta * np.sqrt(1 - (2 * np.arange(n) / (n - 1) - 1) ** 2)) / np.i0(beta)


# -- signal.windows ----------------------------------------------------------------------------------------------------


@creation(name="signal.windows_bartlett", namespaces=_NAMESPACE)
def bartlett(M, *, sym=True, dtype=None, **options):
    """Bartlett window, a triangle: 1 - |2k / (M - 1) - 1|.

    M: number of elements. sym: False makes a periodic window, the first M elements of the symmetric one of M + 1. dtype:
    float32 or float64, the default dtype if None. Raises ValueError for a negative M and for another dtype."""
    return _make_window("bartlett", M, sym, dtype, options, _triangle)


@creation(name="signal.windows_general_cosine", namespaces=_NAMESPACE)
def general_cosine(M, *, a, sym=True, dtype=None, **options):
    """Window of cosines: a[0] - a[1] cos t + a[2] cos 2t - ..., with t = 2 pi k / (M - 1).

    a: a sequence of numbers. Raises TypeError if a is no sequence, ValueError if it is empty. Other arguments: as
    bartlett."""
    if not isinstance(a, Iterable):
        raise errors.ArgumentError("Coefficients must be a list/tuple")
    factors = list(a)
    if not factors:
        raise errors.ElementError("Coefficients cannot be empty")
    return _make_window("general_cosine", M, sym, dtype, options, lambda n: _cosines(n, factors))


@creation(name="signal.windows_general_hamming", namespaces=_NAMESPACE)
def general_hamming(M, *, alpha=0.54, sym=True, dtype=None, **options):
    """General Hamming window: alpha - (1 - alpha) cos t, with t = 2 pi k / (M - 1). Other arguments: as bartlett."""
    return general_cosine.fn(M, a=[alpha, 1.0 - alpha], sym=sym, dtype=dtype, **options)


@creation(name="signal.windows_hamming", namespaces=_NAMESPACE)
def hamming(M, *, sym=True, dtype=None, **options):
    """Hamming window: 0.54 - 0.46 cos t, with t = 2 pi k / (M - 1). Arguments: as bartlett."""
    return general_cosine.fn(M, a=[0.54, 0.46], sym=sym, dtype=dtype, **options)


@creation(name="signal.windows_hann", namespaces=_NAMESPACE)
def hann(M, *, sym=True, dtype=None, **options):
    """Hann window: (1 - cos t) / 2, with t = 2 pi k / (M - 1). Arguments: as bartlett."""
    return general_cosine.fn(M, a=[0.5, 0.5], sym=sym, dtype=dtype, **options)


@creation(name="signal.windows_blackman", namespaces=_NAMESPACE)
def blackman(M, *, sym=True, dtype=None, **options):
    """Blackman window: 0.42 - 0.5 cos t + 0.08 cos 2t, with t = 2 pi k / (M - 1). Arguments: as bartlett."""
    return _make_window("blackman", M, sym, dtype, options, lambda n: _cosines(n, [0.42, 0.5, 0.08]))


@creation(name="signal.windows_nuttall", namespaces=_NAMESPACE)
def nuttall(M, *, sym=True, dtype=None, **options):
    """Nuttall window: 0.3635819 - 0.4891775 cos t + 0.1365995 cos 2t - 0.0106411 cos 3t, with t = 2 pi k / (M - 1).

    Arguments: as bartlett."""
    return general_cosine.fn(M, a=[0.3635819, 0.4891775, 0.1365995, 0.0106411], sym=sym, dtype=dtype, **options)


@creation(name="signal.windows_cosine", namespaces=_NAMESPACE)
def cosine(M, *, sym=True, dtype=None, **options):
    """Cosine window, half a wave: sin(pi (k + 1/2) / M). Arguments: as bartlett."""
    return _make_window("cosine", M, sym, dtype, options, lambda n: np.sin(np.pi * (np.arange(n) + 0.5) / n))


@creation(name="signal.windows_gaussian", namespaces=_NAMESPACE)
def gaussian(M, *, std=1.0, sym=True, dtype=None, **options):
    """Gaussian window: exp(-(k - (M - 1) / 2)**2 / (2 std**2)). Raises ValueError unless std > 0.

    Other arguments: as bartlett."""
    if std <= 0:
        raise errors.ElementError(f"Standard deviation must be positive, got: {std} instead.")
    return _make_window(
        "gaussian", M, sym, dtype, options, lambda n: np.exp(-0.5 * ((np.arange(n) - (n - 1) / 2) / std) ** 2)
    )


@creation(name="signal.windows_exponential", namespaces=_NAMESPACE)
def exponential(M, *, center=None, tau=1.0, sym=True, dtype=None, **options):
    """Exponential window: exp(-|k - center| / tau).

    center: the middle of the window if None; may be given for a periodic window (sym=False) only. Raises ValueError
    unless tau > 0, and for a center if sym. Other arguments: as bartlett."""
    if tau <= 0:
        raise errors.ElementError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise errors.ElementError("Center must be None for symmetric windows")
    return _make_window(
        "exponential", M, sym, dtype, options,
        lambda n: np.exp(-np.abs(np.arange(n) - ((n - 1) / 2 if center is None else center)) / tau),
    )  # fmt: skip


@creation(name="signal.windows_kaiser", namespaces=_NAMESPACE)
def kaiser(M, *, beta=12.0, sym=True, dtype=None, **options):
    """Kaiser window: I0(beta sqrt(1 - (2k / (M - 1) - 1)**2)) / I0(beta). Raises ValueError for a negative beta.

    Other arguments: as bartlett."""
    if beta < 0:
        raise errors.ElementError(f"beta must be non-negative, got: {beta} instead.")
    return _make_window("kaiser", M, sym, dtype, options, lambda n: _kaiser(n, beta))


# -- older functions ---------------------------------------------------------------------------------------------------


def _make_older_window(name: str, window_length: Any, periodic: bool, dtype: Any, options: dict[str, Any], shape: Any) -> Any:
    n = _checked_length(name, "window_length", "window_length", window_length, errors.ShapeError)
    kind = numpy_dtype(dtype)
    if not dtypes.is_floating_point(kind) and kind.kind != "c":
        raise errors.ShapeError(f"{name} expects floating point dtypes, got: {dtypes.from_numpy_dtype(kind)!r}")
    return tensor_from(name, _window_values(n, not periodic, shape).astype(kind), options)


@creation()
def bartlett_window(window_length, periodic=True, *, dtype=None, **options):
    """Bartlett window of window_length elements, periodic unless periodic=False; see signal.windows.bartlett.

    dtype: floating or complex, the default dtype if None. Raises RuntimeError for a negative length or another dtype."""
    return _make_older_window("bartlett_window", window_length, periodic, dtype, options, _triangle)


@creation()
def blackman_window(window_length, periodic=True, *, dtype=None, **options):
    """Blackman window, 0.42 - 0.5 cos t + 0.08 cos 2t; see signal.windows.blackman. Arguments: as bartlett_window."""
    return _make_older_window("blackman_window", window_length, periodic, dtype, options, lambda n: _cosines(n, [0.42, 0.5, 0.08]))


@creation()
def hamming_window(window_length, periodic=True, alpha=0.54, beta=0.46, *, dtype=None, **options):
    """Hamming window, alpha - beta cos t; see signal.windows.hamming. Other arguments: as bartlett_window."""
    return _make_older_window("hamming_window", window_length, periodic, dtype, options, lambda n: _cosines(n, [alpha, beta]))


@creation()
def hann_window(window_length, periodic=True, *, dtype=None, **options):
    """Hann window, (1 - cos t) / 2; see signal.windows.hann. Arguments: as bartlett_window."""
    return _make_older_window("hann_window", window_length, periodic, dtype, options, lambda n: _cosines(n, [0.5, 0.5]))


@creation()
def kaiser_window(window_length, periodic=True, beta=12.0, *, dtype=None, **options):
    """Kaiser window, I0(beta sqrt(1 - x**2)) / I0(beta) with x from -1 to 1; see signal.windows.kaiser.

    Other arguments: as bartlett_window."""
    return _make_older_window("kaiser_window", window_length, periodic, dtype, options, lambda n: _kaiser(n, beta))
