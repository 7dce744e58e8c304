"""Functions of two operands: atan2, hypot, logaddexp, xlogy, copysign, ldexp, gcd and the like."""

from __future__ import annotations

import math

from wengert import errors
from wengert.core.tensor import TensorBase
from wengert.ops.registry import INT_TO_FLOAT, alias, nondifferentiable, pointwise
from wengert.ops.values import integer_ufunc, is_complex, log_of


@pointwise(promote=INT_TO_FLOAT, inplace=True, complex=False)
def atan2(xp, x, y):
    """Angle of the point with abscissa y and ordinate x, in radians from -pi to pi.

    Derivative: y / (x**2 + y**2) in x, -x / (x**2 + y**2) in y; both 0 at the origin."""
    return xp.arctan2(x, y)


@atan2.vjp("x")
def _(F, ct, x, y):
    return ct * y * _reciprocal_square(F, x, y)


@atan2.vjp("y")
def _(F, ct, x, y):
    return -ct * x * _reciprocal_square(F, x, y)


def _reciprocal_square(F, x, y):
    """1 / (x**2 + y**2), 0 at the origin."""
    square = x * x + y * y
    return F._zero_where(1 / square, square == 0)


@pointwise(promote=INT_TO_FLOAT, inplace=True, complex=False)
def hypot(xp, x, y):
    """sqrt(x**2 + y**2), without overflow in the squares.

    Derivative: x / out in x, y / out in y. At the origin first and second derivatives are 0, as for norms; torch has NaN."""
    return xp.hypot(x, y)


@hypot.vjp("x")
def _(F, ct, x, out):
    return F._zero_where(ct * (x / F.where(out == 0, 1.0, out)), out == 0)


@hypot.vjp("y")
def _(F, ct, y, out):
    return F._zero_where(ct * (y / F.where(out == 0, 1.0, out)), out == 0)


@pointwise(promote=INT_TO_FLOAT)
def logaddexp(xp, x, y):
    """log(exp(x) + exp(y)), without overflow in the exponentials.

    Derivative: sigmoid(x - y) in x, sigmoid(y - x) in y."""
    if is_complex(x) or is_complex(y):
        swap = xp.real(x) < xp.real(y)
        larger = xp.where(swap, y, x)
        return larger + xp.log1p(xp.exp(xp.where(swap, x, y) - larger))
    return xp.logaddexp(x, y)


@logaddexp.vjp("x")
def _(F, ct, x, y):
    return ct * F.conj(F.sigmoid(x - y))


@logaddexp.vjp("y")
def _(F, ct, x, y):
    return ct * F.conj(F.sigmoid(y - x))


@pointwise(promote=INT_TO_FLOAT, complex=False)
def logaddexp2(xp, x, y):
    """log2(2**x + 2**y), without overflow in the powers.

    Derivative: 1 / (1 + 2**(y - x)) in x, 1 / (1 + 2**(x - y)) in y."""
    return xp.logaddexp2(x, y)


@logaddexp2.vjp("x")
def _(F, ct, x, y):
    return ct / (1 + F.exp2(y - x))


@logaddexp2.vjp("y")
def _(F, ct, x, y):
    return ct / (1 + F.exp2(x - y))


def _xlogy_node(inputs, params):
    if isinstance(inputs[1], TensorBase):
        return "XlogyBackward0" if isinstance(inputs[0], TensorBase) else "XlogyBackward1"
    return "XlogyBackward2"


@pointwise(
    promote=INT_TO_FLOAT, inplace=True, complex=False, domain=(0.2, 3.0), node=_xlogy_node, namespaces=("", "special")
)
def xlogy(xp, x, y):
    """x * log(y); 0 where x is 0 and y is not NaN.

    Derivative: log(y) in x, and 0 where x is 0 and y <= 0; x / y in y."""
    product = xp.asarray(x * log_of(xp, y))
    xp.copyto(product, 0, where=(x == 0) & (y == y))
    return product


@xlogy.vjp("x")
def _(F, ct, x, y):
    return F._zero_where(ct * log_of(F, y), (x == 0) & (y <= 0))


@xlogy.vjp("y")
def _(F, ct, x, y):
    return ct * (x / y)


@pointwise(
    promote=INT_TO_FLOAT,
    inplace=True,
    complex=False,
    node=lambda inputs, params: "CopysignBackward0" if isinstance(inputs[1], TensorBase) else "CopysignBackward1",
)
def copysign(xp, x, y):
    """|x| with the sign of y, which may be a signed zero.

    Derivative: out / x, which is 1 or -1, in x, and 0 where x is 0; 0 in y."""
    return xp.copysign(x, y)


@copysign.vjp("x")
def _(F, ct, x, out):
    return F._zero_where(ct * (out / x), x == 0)


@copysign.vjp("y")
def _(F, ct):
    return F._zeros(ct)


@pointwise(promote=INT_TO_FLOAT, inplace=True)
def ldexp(xp, x, y):
    """x * 2**y, with broadcasting.

    Derivative: 2**y in x, log(2) * out in y."""
    return x * 2.0**y


@ldexp.vjp("x")
def _(F, ct, y):
    return ct * F.conj(2.0**y)


@ldexp.vjp("y")
def _(F, ct, out):
    return ct * F.conj(out) * math.log(2.0)


@nondifferentiable(inplace=True, complex=False)
def heaviside(xp, x, values):
    """0 where x < 0, 1 where x > 0, values where x is 0."""
    return xp.where(x == 0, values, x > 0).astype(x.dtype)


@pointwise(inplace=True, complex=False, own_precision=True)
def nextafter(xp, x, y):
    """The next floating-point number after x towards y. Raises RuntimeError for integers.

    Derivative: 1 in x where x differs from y, else 0; 0 in y."""
    if x.dtype.kind in "biu":
        raise errors.unsupported_dtype("nextafter", x.dtype)
    return xp.nextafter(x, y)


@nextafter.vjp("x")
def _(F, ct, x, y):
    return F._zero_where(ct, x == y)


@nextafter.vjp("y")
def _(F, ct):
    return F._zeros(ct)


@nondifferentiable(inplace=True, complex=False)
def gcd(xp, x, y):
    """Greatest common divisor. x, y: integers, else RuntimeError."""
    return integer_ufunc("gcd_cpu", xp.gcd, x, y)


@nondifferentiable(inplace=True, complex=False)
def lcm(xp, x, y):
    """Least common multiple. x, y: integers, else RuntimeError."""
    return integer_ufunc("lcm_cpu", xp.lcm, x, y)


alias("arctan2", atan2)
