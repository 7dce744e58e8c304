"""NumPy's differences, integrals, interpolation, convolutions, polynomials and ranges."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.array_functions.linear_algebra import eigenvalues
from wengert.array_functions.table import (
    checked_axis,
    detached,
    dtype_of,
    floating,
    ints,
    linalg,
    of,
    operand,
    part,
    promoted,
    tensor,
    w,
)


@of(np.diff)
def _diff(a, n=1, axis=-1, prepend=None, append=None):
    a = tensor(a)

    def border(x: Any) -> Any:
        if x is None:
            return None
        x = tensor(x).to(a.dtype)
        return w.broadcast_to(x, [1 if d == axis % a.ndim else m for d, m in enumerate(a.shape)]) if x.ndim == 0 else x

    return w.diff(a, n, axis, border(prepend), border(append))


@of(np.ediff1d)
def _ediff1d(ary, to_end=None, to_begin=None):
    x = w.ravel(tensor(ary))
    pieces = [None if to_begin is None else w.ravel(tensor(to_begin)).to(x.dtype), x[1:] - x[:-1],
              None if to_end is None else w.ravel(tensor(to_end)).to(x.dtype)]  # fmt: skip
    return w.cat([piece for piece in pieces if piece is not None], 0)


def _along(x: Any, axis: int, ndim: int) -> Any:
    """Return a vector as an array of ndim dimensions that varies along one axis."""
    return w.reshape(x, [-1 if d == axis else 1 for d in range(ndim)])


def _slopes(f: Any, spacing: Any, axis: int, edge_order: int) -> Any:
    """Derivatives along one axis: central differences, one-sided at the two edges."""
    size = f.shape[axis]
    if size < edge_order + 1:
        raise ValueError(
            "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are required."
        )
    spacing = floating(spacing)
    if spacing.ndim == 0:
        gaps = w.broadcast_to(spacing, (size - 1,))
    elif spacing.ndim > 1:
        raise ValueError("distances must be either scalars or 1d")
    elif len(spacing) != size:
        raise ValueError("when 1d, distances must match the length of the corresponding dimension")
    else:
        gaps = spacing[1:] - spacing[:-1]

    def at(k: int) -> Any:
        k %= size
        return part(f, axis, k, k + 1)

    left, right = _along(gaps[:-1], axis, f.ndim), _along(gaps[1:], axis, f.ndim)
    if spacing.ndim == 0:
        inner = (part(f, axis, 2, None) - part(f, axis, 0, -2)) / (2 * spacing)
    else:
        inner = (
            -right / (left * (left + right)) * part(f, axis, 0, -2)
            + (right - left) / (left * right) * part(f, axis, 1, -1)
            + left / (right * (left + right)) * part(f, axis, 2, None)
        )
    if edge_order == 1:
        first, last = (at(1) - at(0)) / gaps[0], (at(-1) - at(-2)) / gaps[-1]
    else:
        a, b = gaps[0], gaps[1]
        first = -(2 * a + b) / (a * (a + b)) * at(0) + (a + b) / (a * b) * at(1) - a / (b * (a + b)) * at(2)
        a, b = gaps[-2], gaps[-1]
        last = b / (a * (a + b)) * at(-3) - (b + a) / (a * b) * at(-2) + (2 * b + a) / (b * (a + b)) * at(-1)
    return w.cat([first, inner, last], axis)


@of(np.gradient)
def _gradient(f, *varargs, axis=None, edge_order=1):
    f = floating(f)
    axes = tuple(range(f.ndim)) if axis is None else tuple([checked_axis(d, f.ndim) for d in ints(axis)])
    if len(varargs) not in (0, 1, len(axes)) or (len(varargs) == 1 and len(axes) > 1 and tensor(operand(varargs[0])).ndim):
        raise TypeError("invalid number of arguments")
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    spacings = [1.0] * len(axes) if not varargs else list(varargs) * (len(axes) if len(varargs) == 1 else 1)
    found = [_slopes(f, operand(h), d, edge_order) for h, d in zip(spacings, axes, strict=True)]
    return found[0] if len(found) == 1 else tuple(found)


@of(np.trapezoid)
def _trapezoid(y, x=None, dx=1.0, axis=-1):
    y = tensor(y)
    axis = checked_axis(axis, y.ndim)
    if x is not None:
        x = tensor(x)
        x = _along(x, axis, y.ndim) if x.ndim == 1 else x
        place = axis - y.ndim  # from the last, as x may have fewer dimensions
        dx = part(x, place, 1, None) - part(x, place, 0, -1)
    return w.sum(dx * (part(y, axis, 1, None) + part(y, axis, 0, -1)) / 2.0, axis)


@of(np.interp)
def _interp(x, xp, fp, left=None, right=None, period=None):
    xp, fp = floating(operand(xp)), floating(operand(fp))
    x = floating(x) if not isinstance(x, (int, float)) else w.as_tensor(float(x), dtype=xp.dtype)
    if xp.ndim != 1 or fp.ndim != 1:
        raise ValueError("Data points must be 1-D sequences" if period is not None else "object too deep for desired array")
    if len(xp) != len(fp):
        raise ValueError("fp and xp are not of the same length.")
    if period is not None:
        if period == 0:
            raise ValueError("period must be a non-zero value")
        period, left, right = abs(period), None, None
        x, xp = w.remainder(x, period), w.remainder(xp, period)
        order = np.argsort(xp.numpy(force=True))
        xp, fp = xp[order], fp[order]
        xp = w.cat([xp[-1:] - period, xp, xp[:1] + period])
        fp = w.cat([fp[-1:], fp, fp[:1]])
    if len(xp) == 0:
        raise ValueError("array of sample points is empty")
    values, knots = x.numpy(force=True), xp.numpy(force=True)
    below, above = values < knots[0], values > knots[-1]
    if len(xp) > 1:
        place = np.clip(np.searchsorted(knots, values, side="right"), 1, len(knots) - 1)
        slope = (fp[1:] - fp[:-1]) / (xp[1:] - xp[:-1])
        found = fp[place - 1] + slope[place - 1] * (x - xp[place - 1])
        found = w.where(w.as_tensor(values == knots[-1]), fp[-1], found)
    else:
        found = fp[0] + 0.0 * x
    found = w.where(w.as_tensor(below), fp[0] if left is None else left, found)
    return w.where(w.as_tensor(above), fp[-1] if right is None else right, found)


# -- convolutions ------------------------------------------------------------------------------------------------------


def _full_correlation(a: Any, v: Any) -> Any:
    """Sum over n of a[n + k] * v[n], for all k for which they overlap."""
    size = len(v) - 1
    return w.conv1d(a[None, None], v[None, None], padding=size)[0, 0]


def _middle(full: Any, longer: int, shorter: int, mode: Any) -> Any:
    mode = {0: "valid", 1: "same", 2: "full"}.get(mode, mode)
    if mode == "full":
        return full
    if mode == "same":
        return full[(shorter - 1) // 2 : (shorter - 1) // 2 + longer]
    if mode == "valid":
        return full[shorter - 1 : longer]
    raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")


def _vectors(a: Any, v: Any) -> tuple[Any, Any]:
    a, v = [w.atleast_1d(x) for x in promoted(a, v)]
    if a.ndim > 1 or v.ndim > 1:
        raise ValueError("object too deep for desired array")
    for x, name in ((a, "a"), (v, "v")):
        if not len(x):
            raise ValueError(f"{name} cannot be empty")
    return a, v


@of(np.convolve)
def _convolve(a, v, mode="full"):
    a, v = _vectors(a, v)
    a, v = (v, a) if len(v) > len(a) else (a, v)
    return _middle(_full_correlation(a, w.flip(v, (0,))), len(a), len(v), mode)


@of(np.correlate)
def _correlate(a, v, mode="valid"):
    a, v = _vectors(a, v)
    v = w.conj(v)
    if len(v) > len(a):
        full = w.flip(_full_correlation(v, a), (0,))
        found = _middle(w.flip(full, (0,)), len(v), len(a), mode)
        return w.flip(found, (0,))
    return _middle(_full_correlation(a, v), len(a), len(v), mode)


# -- polynomials: the coefficient of the highest power comes first -------------------------------------------------------


@of(np.polyval)
def _polyval(p, x):
    p = tensor(p)
    x = x if isinstance(x, (int, float, complex)) else tensor(x)  # numbers are exact, and tensors of them float32
    found = w.zeros(np.shape(detached(x)), dtype=p.dtype)
    for coefficient in p:
        found = found * x + coefficient
    return found


@of(np.polyadd)
def _polyadd(a1, a2):
    return _polysum(a1, a2, 1)


@of(np.polysub)
def _polysub(a1, a2):
    return _polysum(a1, a2, -1)


def _polysum(a1: Any, a2: Any, sign: int) -> Any:
    a1, a2 = [w.atleast_1d(x) for x in promoted(a1, a2)]
    size = max(len(a1), len(a2))
    a1, a2 = (w.cat([w.zeros(size - len(x), dtype=x.dtype), x]) for x in (a1, a2))
    return a1 + sign * a2


@of(np.polymul)
def _polymul(a1, a2):
    return _convolve(a1, a2)


@of(np.polydiv)
def _polydiv(u, v):
    u, v = [w.atleast_1d(floating(x)) for x in promoted(u, v)]
    steps = len(u) - len(v) + 1
    if steps < 1:
        return w.zeros(1, dtype=u.dtype), u
    quotient, rest = [], u
    for k in range(steps):
        factor = rest[k] / v[0]
        quotient.append(factor)
        rest = w.cat([rest[:k], rest[k : k + len(v)] - factor * v, rest[k + len(v) :]])
    values = rest.numpy(force=True)
    first = steps
    while first < len(values) - 1 and np.allclose(values[first], 0, rtol=1e-14):
        first += 1
    return w.stack(quotient), rest[first:] if first < len(values) else w.zeros(1, dtype=u.dtype)


@of(np.polyder)
def _polyder(p, m=1):
    p = tensor(p)
    for _ in range(m):
        p = p[:-1] * w.as_tensor(np.arange(len(p) - 1, 0, -1)).to(p.dtype)
    return p


@of(np.polyint)
def _polyint(p, m=1, k=None):
    p = floating(p)
    constants = [0.0] * m if k is None else [k[0]] * m if np.ndim(k) and len(k) == 1 else [k] * m if np.ndim(k) == 0 else list(k)
    for constant in constants[:m]:
        p = w.cat([p / w.as_tensor(np.arange(len(p), 0, -1)).to(p.dtype), w.reshape(tensor(constant).to(p.dtype), (1,))])
    return p


@of(np.poly)
def _poly(seq_of_zeros):
    zeros = floating(seq_of_zeros)
    zeros = eigenvalues(zeros) if zeros.ndim == 2 else w.atleast_1d(zeros)
    found = w.ones(1, dtype=zeros.dtype)
    for zero in zeros:
        found = _convolve(found, w.stack([w.ones_like(zero), -zero]))
    if found.is_complex():
        roots = zeros.numpy(force=True)
        if np.all(np.sort(roots) == np.sort(roots.conjugate())):
            found = w.real(found)
    return found


@of(np.roots)
def _roots(p):
    p = w.atleast_1d(floating(p))
    nonzero = np.flatnonzero(p.numpy(force=True))
    if not len(nonzero):
        return p[:0]
    zeros = len(p) - int(nonzero[-1]) - 1
    p = p[int(nonzero[0]) : int(nonzero[-1]) + 1]
    if len(p) < 2:
        return w.zeros(zeros, dtype=p.dtype)
    below = w.as_tensor(np.eye(len(p) - 2, len(p) - 1), dtype=p.dtype)
    found = eigenvalues(w.cat([(-p[1:] / p[0])[None], below]))
    return w.cat([found, w.zeros(zeros, dtype=found.dtype)]) if zeros else found


@of(np.polyfit)
def _polyfit(x, y, deg):
    x, y = promoted(floating(x), floating(y))
    powers = w.stack([x**k for k in range(int(deg), -1, -1)], 1)
    scale = w.sqrt(w.sum(powers * powers, 0))
    found = w.matmul(linalg.pinv(powers / scale), y if y.ndim > 1 else y[:, None])
    found = found / scale[:, None]
    return found if y.ndim > 1 else found[:, 0]


@of(np.vander)
def _vander(x, N=None, increasing=False):
    x = tensor(x)
    powers = range(len(x) if N is None else N)
    if not len(powers):
        return w.zeros((len(x), 0), dtype=x.dtype)
    return w.stack([x**k for k in (powers if increasing else reversed(powers))], 1)


# -- ranges ------------------------------------------------------------------------------------------------------------


@of(np.linspace)
def _linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    start, stop = w.broadcast_tensors(*promoted(floating(start), floating(stop)))
    parts = num - 1 if endpoint else num
    steps = np.arange(num) / parts if parts > 0 else np.arange(num) * 1.0
    steps = w.as_tensor(steps.reshape((-1,) + (1,) * start.ndim), dtype=start.dtype)
    found = start * (1 - steps) + stop * steps
    if dtype is not None:
        found = found.to(dtype_of(dtype))
    found = w.movedim(found, 0, axis) if axis else found
    return (found, (stop - start) / parts if parts > 0 else w.full_like(start, np.nan)) if retstep else found


@of(np.logspace)
def _logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    found = w.pow(operand(base), _linspace(start, stop, num, endpoint, axis=axis))
    return found if dtype is None else found.to(dtype_of(dtype))


@of(np.geomspace)
def _geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    start, stop = promoted(floating(start), floating(stop))
    if bool((detached(start) == 0).any()) or bool((detached(stop) == 0).any()):
        raise ValueError("Geometric sequence cannot include zero")
    sign = w.sign(start.detach())
    found = sign * w.exp(_linspace(w.log(start * sign), w.log(stop * sign), num, endpoint, axis=axis))
    return found if dtype is None else found.to(dtype_of(dtype))
