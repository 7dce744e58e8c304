"""Filters of scipy.signal: recursive, zero-phase and smoothing ones, and those that choose by rank."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from wengert import errors
from wengert._forks import import_late
from wengert.array_functions.table import checked_axis, detached, linalg, w
from wengert.ops.faces import tensor_face as F
from wengert.scipy._borders import extended
from wengert.scipy._frame import operands
from wengert.scipy._ranks import chosen_by_rank

__all__ = [
    "detrend", "filtfilt", "lfilter", "lfilter_zi", "lfiltic", "medfilt", "medfilt2d", "order_filter", "savgol_filter", "sosfilt",
    "sosfilt_zi", "sosfiltfilt", "wiener",
]  # fmt: skip

theirs = import_late("scipy.signal")


# -- recursive filters -------------------------------------------------------------------------------------------------


def lfilter(b, a, x, axis=-1, zi=None):
    b, a, x, zi = operands(b, a, x, zi)
    b, a = w.atleast_1d(b), w.atleast_1d(a)
    if b.ndim > 1 or a.ndim > 1:
        raise ValueError("object of too small depth for desired array")
    if not float(abs(detached(a)[0])):
        raise ValueError("The first element of a must be nonzero." if len(a) > 1 else "a[0] must be nonzero")
    axis = checked_axis(axis, x.ndim)
    order = max(len(a), len(b)) - 1
    lines = w.movedim(x, axis, -1)
    if zi is not None:
        zi = _states(zi, axis, x.shape, order)
    y, zf = _filtered(b, a, lines, zi, order)
    y = w.movedim(y, -1, axis)
    return y if zi is None else (y, w.movedim(zf, -1, axis))


def _states(zi: Any, axis: int, shape: Any, order: int) -> Any:
    """Return the initial states with the states last, broadcast against the lines of the signal."""
    expected = [order if d == axis else n for d, n in enumerate(shape)]
    if zi.ndim != len(shape) or any(n not in (1, m) for n, m in zip(zi.shape, expected, strict=True)) or zi.shape[axis] != order:
        raise ValueError(f"Unexpected shape for zi: expected {tuple(expected)}, found {tuple(zi.shape)}.")
    return w.movedim(w.broadcast_to(zi, expected), axis, -1)


def _filtered(b: Any, a: Any, x: Any, zi: Any, order: int) -> tuple[Any, Any]:
    """Return (the filtered signal, the final states or None), for signals along the last axis.

    The states of SciPy's filter, in transposed direct form, are what is added to the next outputs of the moving average."""
    b, a = b / a[0], a / a[0]
    size = x.shape[-1]
    average = F._full_convolution(x, w.reshape(b, (1,) * (x.ndim - 1) + (-1,))) if x.numel() else x
    added = average[..., :size]
    if zi is not None and order:
        added = added + _fitted(zi, size)
    y = F._all_pole_filter(a, added) if len(a) > 1 else added
    if zi is None:
        return y, None
    if not order:
        return y, zi
    # What would be added to the outputs that follow the last one.
    zf = _fitted(average[..., size:], order)
    recent = y[..., max(0, size - order) :]
    if len(a) > 1 and recent.numel():
        feedback = F._full_convolution(recent, w.reshape(a, (1,) * (x.ndim - 1) + (-1,)))
        zf = zf - _fitted(feedback[..., recent.shape[-1] :], order)
    if size < order:
        zf = zf + _fitted(zi[..., size:], order)
    return y, zf


def _fitted(x: Any, size: int) -> Any:
    """Return x with its last axis cut to a size, or filled with zeros up to it."""
    return x[..., :size] if x.shape[-1] >= size else extended(x, -1, 0, size - x.shape[-1], "constant")


def lfilter_zi(b, a):
    b, a = operands(b, a)
    if b.ndim != 1:
        raise ValueError("Numerator b must be 1-D.")
    if a.ndim != 1:
        raise ValueError("Denominator a must be 1-D.")
    leading = np.flatnonzero(detached(a))
    a = a[int(leading[0]) if len(leading) else 0 :]
    if not len(a):
        raise ValueError("There must be at least one nonzero `a` coefficient.")
    b, a = b / a[0], a / a[0]
    size = max(len(a), len(b))
    b, a = _fitted(b, size), _fitted(a, size)
    if size == 1:
        return b[1:]
    shift = w.as_tensor(np.eye(size - 1, k=1)).to(a.dtype)
    companion = shift - w.cat([a[1:, None], w.zeros((size - 1, size - 2), dtype=a.dtype)], 1)  # transposed, without the first row
    return linalg.solve(w.eye(size - 1, dtype=a.dtype) - companion, b[1:] - a[1:] * b[0])


def lfiltic(b, a, y, x=None):
    b, a, y, x = operands(b, a, y, x)
    b, a = w.atleast_1d(b), w.atleast_1d(a)
    order = max(len(a), len(b)) - 1
    y = _fitted(w.atleast_1d(y), len(a) - 1)
    x = w.zeros(len(b) - 1, dtype=b.dtype) if x is None else _fitted(w.atleast_1d(x), len(b) - 1)
    states = []
    for m in range(order):
        outputs = w.sum(a[m + 1 :] * y[: max(0, len(a) - m - 1)])
        states.append(w.sum(b[m + 1 :] * x[: max(0, len(b) - m - 1)]) - outputs)
    return w.stack(states) / a[0] if states else w.zeros(0, dtype=a.dtype)


def filtfilt(b, a, x, axis=-1, padtype="odd", padlen=None, method="pad"):
    b, a, x = operands(b, a, x)
    b, a = w.atleast_1d(b), w.atleast_1d(a)
    if method == "gust":
        raise errors.ArgumentError("scipy.signal.filtfilt has no derivative with method='gust'. Hint: use method='pad'.")
    if method != "pad":
        raise ValueError("method must be 'pad' or 'gust'.")
    axis = checked_axis(axis, x.ndim)
    lines, edge = _with_ends(w.movedim(x, axis, -1), padtype, padlen, 3 * max(len(a), len(b)))
    zi, order = lfilter_zi(b, a), max(len(a), len(b)) - 1

    def run(lines: Any) -> Any:
        return _filtered(b, a, lines, zi * lines[..., :1], order)[0]

    return _forward_and_back(run, lines, edge, axis)


def _forward_and_back(run: Any, lines: Any, edge: int, axis: int) -> Any:
    y = w.flip(run(w.flip(run(lines), (-1,))), (-1,))
    return w.movedim(y[..., edge : y.shape[-1] - edge], -1, axis)


def _with_ends(x: Any, padtype: Any, padlen: Any, usual: int) -> tuple[Any, int]:
    """Return (the signal with both ends continued, how far)."""
    if padtype not in ("even", "odd", "constant", None):
        raise ValueError(f"Unknown value '{padtype}' given to padtype. padtype must be 'even', 'odd', 'constant', or None.")
    edge = 0 if padtype is None else usual if padlen is None else int(padlen)
    if x.shape[-1] <= edge:
        raise ValueError(f"The length of the input vector x must be greater than padlen, which is {edge}.")
    if edge == 0:
        return x, 0
    if padtype == "constant":
        return extended(x, -1, edge, edge, "edge"), edge
    left, right = w.flip(x[..., 1 : edge + 1], (-1,)), w.flip(x[..., -edge - 1 : -1], (-1,))
    if padtype == "odd":
        left, right = 2 * x[..., :1] - left, 2 * x[..., -1:] - right
    return w.cat([left, x, right], -1), edge


def _sections(sos: Any) -> Any:
    if sos.ndim != 2 or sos.shape[1] != 6:
        raise ValueError("sos array must be shape (n_sections, 6)")
    if not (detached(sos)[:, 3] == 1).all():
        raise ValueError("sos[:, 3] should be all ones")
    return list(sos)


def sosfilt(sos, x, axis=-1, zi=None):
    sos, x, zi = operands(sos, x, zi)
    sections, axis = _sections(sos), checked_axis(axis, x.ndim)
    if zi is not None:
        expected = [len(sections), *[2 if d == axis else n for d, n in enumerate(x.shape)]]
        if list(zi.shape) != expected:
            raise ValueError(f"Invalid zi shape. Expected {tuple(expected)!r}, found {tuple(zi.shape)!r}.")
        zi = w.movedim(zi, axis + 1, -1)
    y, zf = _cascade(sections, w.movedim(x, axis, -1), zi)
    y = w.movedim(y, -1, axis)
    return y if zi is None else (y, w.movedim(zf, -1, axis + 1))


def _cascade(sections: list[Any], x: Any, zi: Any) -> tuple[Any, Any]:
    states = []
    for k, section in enumerate(sections):
        x, zf = _filtered(section[:3], section[3:], x, None if zi is None else zi[k], 2)
        states.append(zf)
    return x, None if zi is None else w.stack(states)


def sosfilt_zi(sos):
    (sos,) = operands(sos)
    states, scale = [], 1.0
    for section in _sections(sos):
        states.append(scale * lfilter_zi(section[:3], section[3:]))
        scale = scale * w.sum(section[:3]) / w.sum(section[3:])
    return w.stack(states)


def sosfiltfilt(sos, x, axis=-1, padtype="odd", padlen=None):
    sos, x = operands(sos, x)
    sections, axis = _sections(sos), checked_axis(axis, x.ndim)
    taps = 2 * len(sections) + 1 - min(int((detached(sos)[:, 2] == 0).sum()), int((detached(sos)[:, 5] == 0).sum()))
    lines, edge = _with_ends(w.movedim(x, axis, -1), padtype, padlen, 3 * taps)
    zi = w.reshape(sosfilt_zi(sos), (len(sections),) + (1,) * (x.ndim - 1) + (2,))

    def run(lines: Any) -> Any:
        return _cascade(sections, lines, zi * lines[..., :1])[0]

    return _forward_and_back(run, lines, edge, axis)


# -- smoothing ---------------------------------------------------------------------------------------------------------


def savgol_filter(x, window_length, polyorder, deriv=0, delta=1.0, axis=-1, mode="interp", cval=0.0):
    (x,) = operands(x)
    if mode not in ("mirror", "constant", "nearest", "interp", "wrap"):
        raise ValueError("mode must be 'mirror', 'constant', 'nearest' 'wrap' or 'interp'.")
    axis, half = checked_axis(axis, x.ndim), window_length // 2
    before = window_length - 1 - half
    weights = theirs.savgol_coeffs(window_length, polyorder, deriv=deriv, delta=delta, use="dot")
    lines = w.movedim(x, axis, -1)
    kernel = w.as_tensor(weights).to(x.dtype).reshape([1] * (x.ndim - 1) + [-1])
    if mode != "interp":
        wide = extended(lines, -1, before, half, mode, cval)
        return w.movedim(F._valid_correlation(wide, kernel), -1, axis)
    if window_length > x.shape[axis]:
        raise ValueError("If mode is 'interp', window_length must be less than or equal to the size of x.")
    # The polynomials at both ends, as a matrix: the response to each element of one window.
    whole = theirs.savgol_filter(np.eye(window_length), window_length, polyorder, deriv, delta, axis=0)
    matrix = w.as_tensor(whole.T.copy()).to(x.dtype)
    left, right = lines[..., :window_length] @ matrix[:, :half], lines[..., -window_length:] @ matrix[:, window_length - half :]
    found = w.cat([left, F._valid_correlation(lines, kernel)[..., half - before :], right], -1)
    return w.movedim(found, -1, axis)


def detrend(data, axis=-1, type="linear", bp=0):
    (data,) = operands(data)
    axis = checked_axis(axis, data.ndim)
    if type in ("constant", "c"):
        return data - w.mean(data, axis, keepdim=True)
    if type not in ("linear", "l"):
        raise ValueError("Trend type must be 'linear' or 'constant'.")
    size = data.shape[axis]
    breaks = np.unique(np.r_[0, bp, size])
    if (breaks > size).any():
        raise ValueError("Breakpoints must be less than length of data along given axis.")
    lines, found = w.movedim(data, axis, -1), []
    for start, end in pairwise(breaks):
        trend = np.column_stack([np.arange(1, end - start + 1) / (end - start), np.ones(end - start)])
        basis = w.as_tensor(np.linalg.qr(trend)[0]).to(data.dtype)
        piece = lines[..., int(start) : int(end)]
        found.append(piece - (piece @ basis) @ basis.T)
    return w.movedim(w.cat(found, -1), -1, axis)


def wiener(im, mysize=None, noise=None):
    im, noise = operands(im, noise)
    size = np.broadcast_to(3 if mysize is None else mysize, im.ndim)
    kernel = w.ones([int(n) for n in size], dtype=im.dtype)

    def mean(x: Any) -> Any:
        for axis, n in enumerate(kernel.shape):
            x = extended(x, axis, n - 1 - (n - 1) // 2, (n - 1) // 2, "constant")
        return F._valid_correlation(x, kernel, method="direct") / kernel.numel()

    local = mean(im)
    variance = mean(im * im) - local * local
    noise = w.mean(variance) if noise is None else noise
    return w.where(variance < noise, local, (im - local) * (1 - noise / variance) + local)


# -- ranks -------------------------------------------------------------------------------------------------------------


def medfilt(volume, kernel_size=None):
    (volume,) = operands(volume)
    size = np.broadcast_to(3 if kernel_size is None else kernel_size, volume.ndim)
    if (size % 2 != 1).any():
        raise ValueError("Each element of kernel_size should be odd.")
    return order_filter(volume, np.ones(size), int(np.prod(size)) // 2)


def medfilt2d(input, kernel_size=3):
    (input,) = operands(input)
    if input.ndim != 2:
        raise ValueError("input array must have two dimensions")
    return medfilt(input, kernel_size)


def order_filter(a, domain, rank):
    (a,) = operands(a)
    domain = np.asarray(detached(domain))
    if domain.ndim != a.ndim or any(n % 2 != 1 for n in domain.shape):
        raise ValueError("Each dimension of domain argument should have an odd number of elements.")
    return chosen_by_rank(a, domain.astype(bool), int(rank), "constant", 0.0)
