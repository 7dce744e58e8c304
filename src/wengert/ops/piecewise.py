"""Piecewise functions of one number: relu, rounding, nan_to_num; and the conversion of angles."""

from __future__ import annotations

import math

from wengert import errors
from wengert.ops.registry import INT_TO_FLOAT, alias, pointwise
from wengert.ops.values import is_complex, kind_of

_LARGE = 4096  # elements
_LONG_ROW = 64


def _refuse_bool_relu(operands):
    if kind_of(operands[0]) == "b":
        raise RuntimeError("Boolean inputs not supported for relu")


@pointwise(inplace=True, complex=False, check=_refuse_bool_relu)
def relu(xp, x):
    """Rectified linear unit: x where x > 0, else 0; NaN stays NaN.

    x: any shape, real, not bool (RuntimeError). Derivative: 1 where x > 0 or x is NaN, else 0."""
    if x.size < _LARGE or x.shape[-1] < _LONG_ROW or x.dtype.char != "f":
        return xp.maximum(x, 0)
    # NumPy takes half the time if both operands of maximum are arrays.
    return xp.maximum(x, xp.zeros(x.shape[-1], x.dtype))


@relu.vjp("x", flat="ThresholdBackwardBackward0")
def _(F, ct, out):
    return F._zero_where(ct, out <= 0)


def _round_by(xp, x, name):
    """Round x by NumPy's function of this name; copy x if it has integers. Raises RuntimeError for bools."""
    if x.dtype.kind == "b":
        raise errors.unsupported_dtype(name, x.dtype)
    return x.copy() if x.dtype.kind in "iu" else getattr(xp, name)(x)


@pointwise(inplace=True, complex=False)
def floor(xp, x):
    """Largest integer <= x, in x's dtype.

    x: any shape, real, not bool (RuntimeError). Derivative: 0."""
    return _round_by(xp, x, "floor")


@floor.vjp("x")
def _(F, ct):
    return F._zeros(ct)


@pointwise(inplace=True, complex=False)
def ceil(xp, x):
    """Smallest integer >= x, in x's dtype.

    x: any shape, real, not bool (RuntimeError). Derivative: 0."""
    return _round_by(xp, x, "ceil")


@ceil.vjp("x")
def _(F, ct):
    return F._zeros(ct)


@pointwise(inplace=True, complex=False)
def trunc(xp, x):
    """Round x towards zero, in x's dtype.

    x: any shape, real, not bool (RuntimeError). Derivative: 0."""
    return _round_by(xp, x, "trunc")


@trunc.vjp("x")
def _(F, ct):
    return F._zeros(ct)


@pointwise(
    inplace=True,
    complex=False,
    keyword_only=frozenset({"decimals"}),
    node=lambda inputs, params: "RoundBackward1" if params and params["decimals"] else "RoundBackward0",
    namespaces=("", "special"),
)
def round(xp, x, *, decimals=0):
    """Round x to the nearest integer, halves to even; with decimals, to the nearest multiple of 10**-decimals.

    x: any shape, real, not bool (RuntimeError). Derivative: 0."""
    return xp.round(x, decimals) if decimals else _round_by(xp, x, "rint")


@round.vjp("x")
def _(F, ct):
    return F._zeros(ct)


@pointwise(inplace=True, complex=False)
def frac(xp, x):
    """Fractional part x - trunc(x), with the sign of x. Raises RuntimeError for integers and bools.

    x: any shape, floating. Derivative: 1."""
    if x.dtype.kind in "biu":
        raise errors.unsupported_dtype("frac", x.dtype)
    return x - xp.trunc(x)


@frac.vjp("x")
def _(F, ct):
    return ct


@pointwise(inplace=True, own_precision=True)
def nan_to_num(xp, x, *, nan=0.0, posinf=None, neginf=None):
    """Replace NaN by nan, inf by posinf and -inf by neginf; in a complex x in each part.

    nan: None means 0. posinf, neginf: None means the largest and the lowest finite number of the dtype.

    x: any shape. Derivative: 1; 0 where an element, or its part, was replaced."""
    return xp.nan_to_num(x, nan=0.0 if nan is None else nan, posinf=posinf, neginf=neginf)


def _is_replaced(x):
    """Return the untaken mask of nan_to_num: True where x, or both parts of a complex x, were replaced."""
    if is_complex(x):
        return ~((abs(x.real) < math.inf) | (abs(x.imag) < math.inf))
    return ~(abs(x) < math.inf)


@nan_to_num.vjp("x", untaken=_is_replaced)
def _(F, ct, x):
    if is_complex(x):
        parts = [F._zero_where(part(ct), ~F.isfinite(part(x))) for part in (F.real, F.imag)]
        return parts[0] + 1j * parts[1]
    return F._zero_where(ct, ~F.isfinite(x))


@pointwise(promote=INT_TO_FLOAT, inplace=True, complex=False, node="Deg2RadBackward0")
def deg2rad(xp, x):
    """Convert degrees to radians.

    x: any shape, real; bools and integers become the default float dtype. Derivative: pi / 180."""
    return xp.deg2rad(x)


@deg2rad.vjp("x")
def _(F, ct):
    return ct * (math.pi / 180)


@pointwise(promote=INT_TO_FLOAT, inplace=True, complex=False, node="Rad2DegBackward0")
def rad2deg(xp, x):
    """Convert radians to degrees.

    x: any shape, real; bools and integers become the default float dtype. Derivative: 180 / pi."""
    return xp.rad2deg(x)


@rad2deg.vjp("x")
def _(F, ct):
    return ct * (180 / math.pi)


alias("fix", trunc)
