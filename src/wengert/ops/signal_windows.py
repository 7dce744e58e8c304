"""Windows: what a piece of a signal is multiplied by before its Fourier transform."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import Any

import numpy as np

from wengert import dtypes, errors
from wengert.ops.options import finished, numpy_dtype
from wengert.ops.registry import creation

_NAMESPACE: tuple[str, ...] = ("signal.windows",)


def _made(name: str, M: Any, sym: bool, dtype: Any, options: dict[str, Any], shape: Any) -> Any:
    """The tensor of a window of M elements; shape(n) gives one of n that is its own mirror image.

    A periodic one (sym=False) is a symmetric one of an element more without its last."""
    n = _length(name, "window length", "M", M, errors.ElementError)
    kind = numpy_dtype(dtype)
    if kind not in (np.float32, np.float64):
        raise errors.ElementError(f"{name} expects float32 or float64 dtypes, got: {dtypes.from_numpy_dtype(kind)!r}")
    return finished(name, _symmetric(n, sym, shape).astype(kind), options)


def _length(op: str, what: str, argument: str, value: Any, error: Any) -> int:
    try:
        n = index(value)
    except TypeError:
        raise errors.wrong_argument_type(op, argument, 0, type(value), "int") from None
    if n < 0:
        raise error(f"{op} requires non-negative {what}, got {argument}={n}")
    return n


def _symmetric(n: int, sym: bool, shape: Any) -> Any:
    if n < 2:
        return np.ones(n)
    return shape(n) if sym else shape(n + 1)[:n]


def _cosines(n: int, a: Iterable[float]) -> Any:
    """a[0] - a[1] cos t + a[2] cos 2t - ..., over one turn."""
    turn = 2 * np.pi * np.arange(n) / (n - 1)
    return sum([(-1) ** i * factor * np.cos(i * turn) for i, factor in enumerate(a)])


def _triangle(n: int) -> Any:
    return 1 - np.abs(2 * np.arange(n) / (n - 1) - 1)


def _kaiser(n: int, beta: float) -> Any:
    return np.i0(beta * np.sqrt(1 - (2 * np.arange(n) / (n - 1) - 1) ** 2)) / np.i0(beta)


# -- signal.windows ----------------------------------------------------------------------------------------------------


@creation(name="signal.windows_bartlett", namespaces=_NAMESPACE)
def bartlett(M, *, sym=True, dtype=None, **options):
    """A triangle: 1 - |2k / (M - 1) - 1|. sym: False leaves out the last of M + 1, for periodic signals."""
    return _made("bartlett", M, sym, dtype, options, _triangle)


@creation(name="signal.windows_general_cosine", namespaces=_NAMESPACE)
def general_cosine(M, *, a, sym=True, dtype=None, **options):
    """a[0] - a[1] cos t + a[2] cos 2t - ..., with t over one turn. Raises TypeError, ValueError for no list, an empty one."""
    if not isinstance(a, Iterable):
        raise errors.ArgumentError("Coefficients must be a list/tuple")
    factors = list(a)
    if not factors:
        raise errors.ElementError("Coefficients cannot be empty")
    return _made("general_cosine", M, sym, dtype, options, lambda n: _cosines(n, factors))


@creation(name="signal.windows_general_hamming", namespaces=_NAMESPACE)
def general_hamming(M, *, alpha=0.54, sym=True, dtype=None, **options):
    """alpha - (1 - alpha) cos t, with t over one turn."""
    return general_cosine.fn(M, a=[alpha, 1.0 - alpha], sym=sym, dtype=dtype, **options)


@creation(name="signal.windows_hamming", namespaces=_NAMESPACE)
def hamming(M, *, sym=True, dtype=None, **options):
    """0.54 - 0.46 cos t, with t over one turn."""
    return general_cosine.fn(M, a=[0.54, 0.46], sym=sym, dtype=dtype, **options)


@creation(name="signal.windows_hann", namespaces=_NAMESPACE)
def hann(M, *, sym=True, dtype=None, **options):
    """(1 - cos t) / 2, with t over one turn."""
    return general_cosine.fn(M, a=[0.5, 0.5], sym=sym, dtype=dtype, **options)


@creation(name="signal.windows_blackman", namespaces=_NAMESPACE)
def blackman(M, *, sym=True, dtype=None, **options):
    """0.42 - 0.5 cos t + 0.08 cos 2t, with t over one turn."""
    return _made("blackman", M, sym, dtype, options, lambda n: _cosines(n, [0.42, 0.5, 0.08]))


@creation(name="signal.windows_nuttall", namespaces=_NAMESPACE)
def nuttall(M, *, sym=True, dtype=None, **options):
    """Nuttall's four cosines, of least side lobes."""
    return general_cosine.fn(M, a=[0.3635819, 0.4891775, 0.1365995, 0.0106411], sym=sym, dtype=dtype, **options)


@creation(name="signal.windows_cosine", namespaces=_NAMESPACE)
def cosine(M, *, sym=True, dtype=None, **options):
    """Half a wave: sin(pi (k + 1/2) / M)."""
    return _made("cosine", M, sym, dtype, options, lambda n: np.sin(np.pi * (np.arange(n) + 0.5) / n))


@creation(name="signal.windows_gaussian", namespaces=_NAMESPACE)
def gaussian(M, *, std=1.0, sym=True, dtype=None, **options):
    """exp(-(k - (M - 1) / 2)**2 / (2 std**2)). Raises ValueError unless std is positive."""
    if std <= 0:
        raise errors.ElementError(f"Standard deviation must be positive, got: {std} instead.")
    return _made(
        "gaussian", M, sym, dtype, options, lambda n: np.exp(-0.5 * ((np.arange(n) - (n - 1) / 2) / std) ** 2)
    )


@creation(name="signal.windows_exponential", namespaces=_NAMESPACE)
def exponential(M, *, center=None, tau=1.0, sym=True, dtype=None, **options):
    """exp(-|k - center| / tau), about the middle unless center says where, which only a periodic one may.

    Raises ValueError unless tau is positive, and for a center of a symmetric window."""
    if tau <= 0:
        raise errors.ElementError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise errors.ElementError("Center must be None for symmetric windows")
    return _made(
        "exponential", M, sym, dtype, options,
        lambda n: np.exp(-np.abs(np.arange(n) - ((n - 1) / 2 if center is None else center)) / tau),
    )  # fmt: skip


@creation(name="signal.windows_kaiser", namespaces=_NAMESPACE)
def kaiser(M, *, beta=12.0, sym=True, dtype=None, **options):
    """I0(beta sqrt(1 - (2k / (M - 1) - 1)**2)) / I0(beta). Raises ValueError for a negative beta."""
    if beta < 0:
        raise errors.ElementError(f"beta must be non-negative, got: {beta} instead.")
    return _made("kaiser", M, sym, dtype, options, lambda n: _kaiser(n, beta))


# -- the package's own -------------------------------------------------------------------------------------------------


def _older(name: str, window_length: Any, periodic: bool, dtype: Any, options: dict[str, Any], shape: Any) -> Any:
    n = _length(name, "window_length", "window_length", window_length, errors.ShapeError)
    kind = numpy_dtype(dtype)
    if not dtypes.is_floating_point(kind) and kind.kind != "c":
        raise errors.ShapeError(f"{name} expects floating point dtypes, got: {dtypes.from_numpy_dtype(kind)!r}")
    return finished(name, _symmetric(n, not periodic, shape).astype(kind), options)


@creation()
def bartlett_window(window_length, periodic=True, *, dtype=None, **options):
    """A triangle of window_length elements; periodic leaves out the last of one more: signal.windows.bartlett."""
    return _older("bartlett_window", window_length, periodic, dtype, options, _triangle)


@creation()
def blackman_window(window_length, periodic=True, *, dtype=None, **options):
    """0.42 - 0.5 cos t + 0.08 cos 2t, with t over one turn: signal.windows.blackman."""
    return _older("blackman_window", window_length, periodic, dtype, options, lambda n: _cosines(n, [0.42, 0.5, 0.08]))


@creation()
def hamming_window(window_length, periodic=True, alpha=0.54, beta=0.46, *, dtype=None, **options):
    """alpha - beta cos t, with t over one turn: signal.windows.hamming."""
    return _older("hamming_window", window_length, periodic, dtype, options, lambda n: _cosines(n, [alpha, beta]))


@creation()
def hann_window(window_length, periodic=True, *, dtype=None, **options):
    """(1 - cos t) / 2, with t over one turn: signal.windows.hann."""
    return _older("hann_window", window_length, periodic, dtype, options, lambda n: _cosines(n, [0.5, 0.5]))


@creation()
def kaiser_window(window_length, periodic=True, beta=12.0, *, dtype=None, **options):
    """I0(beta sqrt(1 - x**2)) / I0(beta), with x from -1 to 1: signal.windows.kaiser."""
    return _older("kaiser_window", window_length, periodic, dtype, options, lambda n: _kaiser(n, beta))
