"""numpy.fft on arrays with a history: what it has, under the same names."""

from __future__ import annotations

from typing import Any

from numpy import fft as _theirs

from wengert.numpy.functions import lookups
from wengert.numpy.holding import wrapped

__all__ = [name for name in dir(_theirs) if not name.startswith("_")]
__getattr__, __dir__ = lookups(_theirs, globals())


def fftfreq(n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None) -> Any:
    """Return the frequencies of the results of fft. n: their number. d: the time between samples. dtype: float64 by default."""
    return _of_dtype(wrapped(_theirs.fftfreq(n, d, device=device)), dtype)


def rfftfreq(n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None) -> Any:
    """Return the frequencies of the results of rfft. n: the number of samples. d: the time between them."""
    return _of_dtype(wrapped(_theirs.rfftfreq(n, d, device=device)), dtype)


def _of_dtype(frequencies: Any, dtype: Any) -> Any:
    return frequencies if dtype is None else frequencies.astype(dtype)
