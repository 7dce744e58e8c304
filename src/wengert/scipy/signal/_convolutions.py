"""Convolutions and correlations of scipy.signal."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.array_functions.table import checked_axis, fft, ints, w
from wengert.ops.faces import tensor_face as F
from wengert.scipy._borders import extended
from wengert.scipy._frame import operands

__all__ = ["convolve", "convolve2d", "correlate", "correlate2d", "deconvolve", "fftconvolve", "oaconvolve"]


def convolve(in1, in2, mode="full", method="auto"):
    in1, in2 = operands(in1, in2)
    if in1.ndim == 0 and in2.ndim == 0:
        return in1 * in2
    if in1.ndim != in2.ndim:
        raise ValueError("volume and kernel should have the same dimensionality")
    if method not in ("auto", "direct", "fft"):
        raise ValueError("Acceptable method flags are 'auto', 'direct', or 'fft'.")
    return _cropped(_full(in1, in2, method), in1.shape, in2.shape, mode)


def correlate(in1, in2, mode="full", method="auto"):
    in1, in2 = operands(in1, in2)
    if in1.ndim == 0 and in2.ndim == 0:
        return in1 * w.conj(in2)
    if in1.ndim != in2.ndim:
        raise ValueError("in1 and in2 should have the same dimensionality")
    return _cropped(_full(in1, _reversed(in2), method), in1.shape, in2.shape, mode)


def fftconvolve(in1, in2, mode="full", axes=None):
    in1, in2 = operands(in1, in2)
    if in1.ndim == 0 and in2.ndim == 0:
        return in1 * in2
    if in1.ndim != in2.ndim:
        raise ValueError("in1 and in2 should have the same dimensionality")
    if not in1.numel() or not in2.numel():
        return w.zeros(0, dtype=in1.dtype)
    if axes is None:
        return _cropped(_full(in1, in2, "fft"), in1.shape, in2.shape, mode)
    chosen = sorted({checked_axis(int(d), in1.ndim) for d in ints(axes)})
    for d, (n, m) in enumerate(zip(in1.shape, in2.shape, strict=True)):
        if d not in chosen and n != m and 1 not in (n, m):
            raise ValueError(f"incompatible shapes for in1 and in2: {tuple(in1.shape)} and {tuple(in2.shape)}")
    shape = [in1.shape[d] + in2.shape[d] - 1 for d in chosen]
    if in1.is_complex():
        found = fft.ifftn(fft.fftn(in1, shape, chosen) * fft.fftn(in2, shape, chosen), shape, chosen)
    else:
        found = fft.irfftn(fft.rfftn(in1, shape, chosen) * fft.rfftn(in2, shape, chosen), shape, chosen)
    # Along the other axes the operands are broadcast, and nothing is cropped.
    first = [n if d in chosen else full for d, (n, full) in enumerate(zip(in1.shape, found.shape, strict=True))]
    second = [m if d in chosen else 1 for d, m in enumerate(in2.shape)]
    return _cropped(found, first, second, mode)


def oaconvolve(in1, in2, mode="full", axes=None):
    return fftconvolve(in1, in2, mode, axes)


def convolve2d(in1, in2, mode="full", boundary="fill", fillvalue=0):
    in1, in2 = _planes(in1, in2)
    return _of_planes(in1, in2, mode, boundary, fillvalue)


def correlate2d(in1, in2, mode="full", boundary="fill", fillvalue=0):
    in1, in2 = _planes(in1, in2)
    swapped = mode == "valid" and _is_within(in1.shape, in2.shape)
    if swapped:
        in1, in2 = in2, in1
    if mode == "same":  # the correlation is centred at the other one of the two elements in the middle of a kernel of even size
        full = _of_planes(in1, _reversed(in2), "full", boundary, fillvalue)
        return full[tuple([slice(m // 2, m // 2 + n) for n, m in zip(in1.shape, in2.shape, strict=True)])]
    found = _of_planes(in1, _reversed(in2), mode, boundary, fillvalue)
    return _reversed(found) if swapped else found


def deconvolve(signal, divisor):
    num, den = operands(signal, divisor)
    if num.ndim > 1:
        raise ValueError("signal must be 1-D.")
    if den.ndim > 1:
        raise ValueError("divisor must be 1-D.")
    steps = len(num) - len(den) + 1
    if steps < 1:
        return w.zeros(0, dtype=num.dtype), num
    quotient = F._all_pole_filter(den, num[:steps])
    return quotient, num - _full(den, quotient, "auto")


# -- shapes ------------------------------------------------------------------------------------------------------------


def _full(a: Any, b: Any, method: str) -> Any:
    """The full convolution. The operation is fastest if its second operand is the shorter one."""
    if not a.numel() or not b.numel():
        return w.zeros(0, dtype=a.dtype)
    return F._full_convolution(b, a, method=method) if b.numel() > a.numel() else F._full_convolution(a, b, method=method)


def _reversed(x: Any) -> Any:
    return w.conj(w.flip(x, tuple(range(x.ndim))))


def _is_within(small: Any, large: Any) -> bool:
    return all(n <= m for n, m in zip(small, large, strict=True)) and tuple(small) != tuple(large)


def _cropped(full: Any, first: Any, second: Any, mode: str) -> Any:
    """Return the part of a full convolution that a mode asks for. first, second: shapes of its operands."""
    if mode == "full" or not full.numel():
        return full
    if mode == "same":
        sizes = list(first)
    elif mode == "valid":
        if not (all(n >= m for n, m in zip(first, second, strict=True)) or all(n <= m for n, m in zip(first, second, strict=True))):
            raise ValueError("For 'valid' mode, one must be at least as large as the other in every dimension")
        sizes = [abs(n - m) + 1 for n, m in zip(first, second, strict=True)]
    else:
        raise ValueError("Acceptable mode flags are 'valid', 'same', or 'full'.")
    starts = [(whole - size) // 2 for whole, size in zip(full.shape, sizes, strict=True)]
    return full[tuple([slice(start, start + size) for start, size in zip(starts, sizes, strict=True)])]


def _planes(in1: Any, in2: Any) -> Any:
    in1, in2 = operands(in1, in2)
    if not in1.ndim == in2.ndim == 2:
        raise ValueError("convolve2d inputs must both be 2-D arrays")
    return in1, in2


def _of_planes(in1: Any, in2: Any, mode: str, boundary: str, value: Any) -> Any:
    if boundary not in ("fill", "pad", "wrap", "circular", "symm", "symmetric"):
        raise ValueError("Acceptable boundary flags are 'fill', 'circular' (or 'wrap'), and 'symmetric' (or 'symm').")
    if mode == "valid" or (boundary in ("fill", "pad") and not np.any(value)):
        return _cropped(_full(in1, in2, "direct"), in1.shape, in2.shape, mode)
    name = {"pad": "fill", "circular": "wrap", "symm": "symmetric"}.get(boundary, boundary)
    wide = in1
    for axis, m in enumerate(in2.shape):
        wide = extended(wide, axis, m - 1, m - 1, name, value)
    found = F._valid_correlation(wide, _reversed(in2), method="direct")
    return _cropped(found, in1.shape, in2.shape, mode)
