"""Functions of one number, element by element. Special functions are in special.py, bools and bits in logic.py."""

from __future__ import annotations

import math

from wengert import errors
from wengert.backends import numpy as numpy_backend
from wengert.ops.registry import INT_TO_FLOAT, NONE, alias, composite, linear, pointwise
from wengert.ops.values import is_complex, kind_of

_PRIVATE = {"method": False, "namespaces": ()}
_LARGE = 4096  # elements
_LONG_ROW = 64
_SPECIAL = ("", "special")
_LN2 = math.log(2.0)
_LN10 = math.log(10.0)

# -- signs, copies -----------------------------------------------------------------------------------------------------


def _refuse_bool(operands):
    if kind_of(operands[0]) == "b":
        raise errors.bool_negation()


@pointwise(inplace=True, operator="neg", check=_refuse_bool)
def neg(xp, x):
    """-x. Raises RuntimeError for bool x.

    Derivative: -1."""
    return xp.negative(x)


@neg.vjp("x")
def _(F, ct):
    return -ct


@composite(method=True)
def positive(F, input):
    """+input: the tensor itself. Raises RuntimeError for a bool tensor.

    Derivative: 1."""
    if getattr(input.dtype, "name", "") == "bool":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


@composite(name="__pos__", method=True, namespaces=())
def pos(F, input):
    """+input: the tensor itself. Raises RuntimeError for a bool tensor.

    Derivative: 1."""
    return positive.function(input)


@pointwise(inplace=True, operator="abs")
def abs(xp, x):
    """The magnitude of each element; of a complex number a real one.

    Derivative: sign(x), which is 0 at 0; for complex x, x / abs(x)."""
    return xp.absolute(x)


@abs.vjp("x")
def _(F, ct, x):
    return ct * F.sgn(x)


def _sign(xp, x):
    if x.dtype.kind == "b":
        return x.copy()
    result = xp.asarray(xp.sign(x))
    if x.dtype.kind == "f":
        xp.copyto(result, 0, where=x != x)
    return result


@pointwise(inplace=True, complex=False)
def sign(xp, x):
    """-1, 0 or 1, as x is negative, zero (or NaN), or positive. Raises RuntimeError for complex x: see sgn.

    Derivative: 0."""
    if x.dtype.kind == "c":
        raise RuntimeError(
            "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead."
        )
    return _sign(xp, x)


@sign.vjp("x")
def _(F, ct):
    return F._zeros(ct)


@pointwise(inplace=True)
def sgn(xp, x):
    """x / abs(x), 0 at 0: sign for complex numbers as well.

    Derivative: 0 for real x; for complex x the cotangent's part at right angles to x, divided by abs(x), 0 at 0."""
    return _sign(xp, x)


@sgn.vjp("x")
def _(F, ct, x, out):
    if not is_complex(x):
        return F._zeros(ct)
    magnitude = F.abs(x)
    return F._zero_where((ct - out * F.real(ct * F.conj(out))) / magnitude, magnitude == 0)


@linear(promote=NONE)
def clone(xp, x, *, memory_format=None):
    """A copy in memory of its own, laid out as x. memory_format is accepted and has no effect.

    Derivative: 1."""
    return x.copy("K")


@clone.vjp("x")
def _(F, ct):
    return ct


@linear(promote=NONE, node="CopyBackwards", array=numpy_backend.cast, keyword_only=(), **_PRIVATE)
def cast(xp, x, *, dtype):
    """x in another dtype (a NumPy dtype): what to() does. A real dtype takes the real part of complex numbers.

    Derivative: 1, in x's own dtype."""
    return xp.cast(x, dtype)


@cast.vjp("x")
def _(F, ct):
    return ct


alias("negative", neg)
alias("absolute", abs)

# -- roots, squares, reciprocals ---------------------------------------------------------------------------------------


@pointwise(inplace=True, node="PowBackward0")
def square(xp, x):
    """x * x; bools become int64.

    Derivative: 2 * x."""
    return xp.square(x) if x.dtype.kind != "b" else x.astype(xp.int64)


@square.vjp("x")
def _(F, ct, x):
    return ct * F.conj(2 * x)


@pointwise(promote=INT_TO_FLOAT, inplace=True, domain=(0.1, 3.0))
def sqrt(xp, x):
    """The square root; NaN for negative real x.

    Derivative: 1 / (2 * out); infinite at 0."""
    return xp.sqrt(x)


@sqrt.vjp("x")
def _(F, ct, out):
    return ct / F.conj(2 * out)


@pointwise(promote=INT_TO_FLOAT, inplace=True, domain=(0.1, 3.0))
def rsqrt(xp, x):
    """1 / sqrt(x).

    Derivative: -out**3 / 2."""
    return xp.reciprocal(xp.sqrt(x))


@rsqrt.vjp("x")
def _(F, ct, out):
    return -0.5 * ct * F.conj(out * out * out)


@pointwise(promote=INT_TO_FLOAT, inplace=True, domain=(0.3, 3.0))
def reciprocal(xp, x):
    """1 / x.

    Derivative: -out**2."""
    return xp.reciprocal(x)


@reciprocal.vjp("x")
def _(F, ct, out):
    return -ct * F.conj(out * out)


# -- exponentials and logarithms ---------------------------------------------------------------------------------------


@pointwise(promote=INT_TO_FLOAT, inplace=True)
def exp(xp, x):
    """e**x.

    Derivative: the output itself."""
    return xp.exp(x)


@exp.vjp("x")
def _(F, ct, out):
    return ct * F.conj(out)


@pointwise(promote=INT_TO_FLOAT, inplace=True, namespaces=_SPECIAL)
def exp2(xp, x):
    """2**x.

    Derivative: log(2) * out."""
    return xp.exp(x * _LN2) if x.dtype.kind == "c" else xp.exp2(x)


@exp2.vjp("x")
def _(F, ct, out):
    return ct * F.conj(out * _LN2)


@pointwise(promote=INT_TO_FLOAT, inplace=True, namespaces=_SPECIAL)
def expm1(xp, x):
    """e**x - 1, exact also near 0.

    Derivative: out + 1."""
    return xp.expm1(x)


@expm1.vjp("x")
def _(F, ct, out):
    return ct * F.conj(out + 1)


@pointwise(promote=INT_TO_FLOAT, inplace=True, domain=(0.1, 3.0))
def log(xp, x):
    """The natural logarithm; -inf at 0, NaN for negative real x.

    Derivative: 1 / x."""
    return xp.log(x)


@log.vjp("x")
def _(F, ct, x):
    return ct / F.conj(x)


@pointwise(promote=INT_TO_FLOAT, inplace=True, domain=(0.1, 3.0))
def log2(xp, x):
    """The logarithm to base 2.

    Derivative: 1 / (x * log(2))."""
    return xp.log2(x)


@log2.vjp("x")
def _(F, ct, x):
    return ct / F.conj(x * _LN2)


@pointwise(promote=INT_TO_FLOAT, inplace=True, domain=(0.1, 3.0))
def log10(xp, x):
    """The logarithm to base 10.

    Derivative: 1 / (x * log(10))."""
    return xp.log10(x)


@log10.vjp("x")
def _(F, ct, x):
    return ct / F.conj(x * _LN10)


@pointwise(promote=INT_TO_FLOAT, inplace=True, domain=(-0.8, 3.0), node="Log1PBackward0", namespaces=_SPECIAL)
def log1p(xp, x):
    """log(1 + x), exact also near 0.

    Derivative: 1 / (1 + x)."""
    return xp.log1p(x)


@log1p.vjp("x")
def _(F, ct, x):
    return ct / F.conj(x + 1)


@pointwise(promote=INT_TO_FLOAT, inplace=True, namespaces=("", "nn.functional"))
def sigmoid(xp, x):
    """1 / (1 + exp(-x)), accurate for all x.

    Derivative: out * (1 - out)."""
    # Where exp(-x) overflows, its reciprocal is the 0 that the sigmoid rounds to.
    return xp.reciprocal(1 + xp.exp(-x))


@sigmoid.vjp("x")
def _(F, ct, out):
    return ct * F.conj((1 - out) * out)


# -- trigonometric functions, x in radians -----------------------------------------------------------------------------


@pointwise(promote=INT_TO_FLOAT, inplace=True)
def sin(xp, x):
    """The sine of x in radians.

    Derivative: cos(x)."""
    return xp.sin(x)


@sin.vjp("x")
def _(F, ct, x):
    return ct * F.conj(F.cos(x))


@pointwise(promote=INT_TO_FLOAT, inplace=True)
def cos(xp, x):
    """The cosine of x in radians.

    Derivative: -sin(x)."""
    return xp.cos(x)


@cos.vjp("x")
def _(F, ct, x):
    return -ct * F.conj(F.sin(x))


@pointwise(promote=INT_TO_FLOAT, inplace=True, domain=(-1.2, 1.2))
def tan(xp, x):
    """The tangent of x in radians.

    Derivative: 1 + out**2."""
    return xp.tan(x)


@tan.vjp("x")
def _(F, ct, out):
    return ct * F.conj(1 + out * out)


@pointwise(promote=INT_TO_FLOAT, inplace=True, domain=(-0.9, 0.9))
def asin(xp, x):
    """The angle in radians, from -pi/2 to pi/2, whose sine is x.

    Derivative: 1 / sqrt(1 - x**2)."""
    return xp.arcsin(x)


@asin.vjp("x")
def _(F, ct, x):
    return ct * F.conj(F.rsqrt(1 - x * x))


@pointwise(promote=INT_TO_FLOAT, inplace=True, domain=(-0.9, 0.9))
def acos(xp, x):
    """The angle in radians, from 0 to pi, whose cosine is x.

    Derivative: -1 / sqrt(1 - x**2)."""
    return xp.arccos(x)


@acos.vjp("x")
def _(F, ct, x):
    return -ct * F.conj(F.rsqrt(1 - x * x))


@pointwise(promote=INT_TO_FLOAT, inplace=True)
def atan(xp, x):
    """The angle in radians, from -pi/2 to pi/2, whose tangent is x.

    Derivative: 1 / (1 + x**2)."""
    return xp.arctan(x)


@atan.vjp("x")
def _(F, ct, x):
    return ct / F.conj(x * x + 1)


# The series of sinc's derivative, by powers of x**2: x times the sum of these.
_SINC_SLOPE = [(-1) ** k * math.pi ** (2 * k) * 2 * k / math.factorial(2 * k + 1) for k in range(1, 11)]


@pointwise(promote=INT_TO_FLOAT, inplace=True, namespaces=_SPECIAL)
def sinc(xp, x):
    """sin(pi * x) / (pi * x), and 1 at 0.

    Derivative: (cos(pi * x) - sinc(x)) / x, near 0 by its series; 0 at 0, where the second is -pi**2 / 3."""
    return xp.sinc(x).astype(x.dtype, copy=False)


@sinc.vjp("x")
def _(F, ct, x):
    near = F.abs(x) < 0.25
    slope = (F.cos(math.pi * x) - F.sinc(x)) / F.where(near, 1.0, x)
    square = F.where(near, x * x, 0.0)
    series = 0.0
    for factor in reversed(_SINC_SLOPE):  # near 0 the difference above has few digits left, and its derivative fewer
        series = series * square + factor
    return ct * F.conj(F.where(near, series * x, slope))


# -- hyperbolic functions ----------------------------------------------------------------------------------------------


@pointwise(promote=INT_TO_FLOAT, inplace=True)
def sinh(xp, x):
    """The hyperbolic sine.

    Derivative: cosh(x)."""
    return xp.sinh(x)


@sinh.vjp("x")
def _(F, ct, x):
    return ct * F.conj(F.cosh(x))


@pointwise(promote=INT_TO_FLOAT, inplace=True)
def cosh(xp, x):
    """The hyperbolic cosine.

    Derivative: sinh(x)."""
    return xp.cosh(x)


@cosh.vjp("x")
def _(F, ct, x):
    return ct * F.conj(F.sinh(x))


@pointwise(promote=INT_TO_FLOAT, inplace=True, namespaces=("", "nn.functional"))
def tanh(xp, x):
    """The hyperbolic tangent.

    Derivative: 1 - out**2."""
    return xp.tanh(x)


@tanh.vjp("x")
def _(F, ct, out):
    return ct * F.conj(1 - out * out)


@pointwise(promote=INT_TO_FLOAT, inplace=True)
def asinh(xp, x):
    """The number whose hyperbolic sine is x.

    Derivative: 1 / sqrt(x**2 + 1)."""
    return xp.arcsinh(x)


@asinh.vjp("x")
def _(F, ct, x):
    return ct * F.conj(F.rsqrt(x * x + 1))


@pointwise(promote=INT_TO_FLOAT, inplace=True, domain=(1.2, 4.0))
def acosh(xp, x):
    """The number of at least 0 whose hyperbolic cosine is x; NaN for real x below 1.

    Derivative: 1 / sqrt(x**2 - 1)."""
    return xp.arccosh(x)


@acosh.vjp("x")
def _(F, ct, x):
    if is_complex(x):  # where the root of the product would be on the wrong branch
        return ct * F.conj(F.rsqrt(x - 1) * F.rsqrt(x + 1))
    return ct * F.rsqrt(x * x - 1)


@pointwise(promote=INT_TO_FLOAT, inplace=True, domain=(-0.9, 0.9))
def atanh(xp, x):
    """The number whose hyperbolic tangent is x; infinite at 1 and -1.

    Derivative: 1 / (1 - x**2)."""
    return xp.arctanh(x)


@atanh.vjp("x")
def _(F, ct, x):
    return ct / F.conj(1 - x * x)


alias("arcsin", asin)
alias("arccos", acos)
alias("arctan", atan)
alias("arcsinh", asinh)
alias("arccosh", acosh)
alias("arctanh", atanh)

# -- pieces and steps --------------------------------------------------------------------------------------------------


def _refuse_bool_relu(operands):
    if kind_of(operands[0]) == "b":
        raise RuntimeError("Boolean inputs not supported for relu")


@pointwise(inplace=True, complex=False, check=_refuse_bool_relu, namespaces=("", "nn.functional"))
def relu(xp, x):
    """x where it is positive, else 0; NaN stays NaN.

    Derivative: 1 where x is positive (or NaN), else 0."""
    if x.size < _LARGE or x.shape[-1] < _LONG_ROW or x.dtype.char != "f":
        return xp.maximum(x, 0)
    # A row of zeros in place of the number: NumPy compares two arrays in half the time.
    return xp.maximum(x, xp.zeros(x.shape[-1], x.dtype))


@relu.vjp("x")
def _(F, ct, out):
    return F._zero_where(ct, out <= 0)


def _rounded(xp, x, name):
    """NumPy's rounding function of this name; integers are round already. Raises RuntimeError for bools."""
    if x.dtype.kind == "b":
        raise errors.unsupported_dtype(name, x.dtype)
    return x.copy() if x.dtype.kind in "iu" else getattr(xp, name)(x)


@pointwise(inplace=True, complex=False)
def floor(xp, x):
    """The largest integer not above x, in x's dtype.

    Derivative: 0."""
    return _rounded(xp, x, "floor")


@floor.vjp("x")
def _(F, ct):
    return F._zeros(ct)


@pointwise(inplace=True, complex=False)
def ceil(xp, x):
    """The smallest integer not below x, in x's dtype.

    Derivative: 0."""
    return _rounded(xp, x, "ceil")


@ceil.vjp("x")
def _(F, ct):
    return F._zeros(ct)


@pointwise(inplace=True, complex=False)
def trunc(xp, x):
    """x without its fraction, in x's dtype.

    Derivative: 0."""
    return _rounded(xp, x, "trunc")


@trunc.vjp("x")
def _(F, ct):
    return F._zeros(ct)


@pointwise(
    inplace=True,
    complex=False,
    keyword_only=frozenset({"decimals"}),
    node=lambda inputs, params: "RoundBackward1" if params and params["decimals"] else "RoundBackward0",
    namespaces=_SPECIAL,
)
def round(xp, x, *, decimals=0):
    """The nearest integer, of two equally near ones the even one; with decimals, the nearest multiple of 10**-decimals.

    Derivative: 0."""
    return xp.round(x, decimals) if decimals else _rounded(xp, x, "rint")


@round.vjp("x")
def _(F, ct):
    return F._zeros(ct)


@pointwise(inplace=True, complex=False)
def frac(xp, x):
    """x - trunc(x), which has the sign of x.

    Derivative: 1."""
    if x.dtype.kind in "biu":
        raise errors.unsupported_dtype("frac", x.dtype)
    return x - xp.trunc(x)


@frac.vjp("x")
def _(F, ct):
    return ct


@pointwise(inplace=True, complex=False, own_precision=True)
def nan_to_num(xp, x, *, nan=0.0, posinf=None, neginf=None):
    """x with NaN and the infinities replaced by numbers; None stands for the dtype's largest and smallest number.

    Derivative: 1, 0 where something was replaced."""
    return xp.nan_to_num(x, nan=0.0 if nan is None else nan, posinf=posinf, neginf=neginf)


@nan_to_num.vjp("x")
def _(F, ct, x):
    return F._zero_where(ct, ~F.isfinite(x))


@pointwise(promote=INT_TO_FLOAT, inplace=True, complex=False, node="Deg2RadBackward0")
def deg2rad(xp, x):
    """Degrees as radians.

    Derivative: pi / 180."""
    return xp.deg2rad(x)


@deg2rad.vjp("x")
def _(F, ct):
    return ct * (math.pi / 180)


@pointwise(promote=INT_TO_FLOAT, inplace=True, complex=False, node="Rad2DegBackward0")
def rad2deg(xp, x):
    """Radians as degrees.

    Derivative: 180 / pi."""
    return xp.rad2deg(x)


@rad2deg.vjp("x")
def _(F, ct):
    return ct * (180 / math.pi)


alias("fix", trunc)
