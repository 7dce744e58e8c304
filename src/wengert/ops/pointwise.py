"""Element-wise functions of one number. Special functions are in special.py, operations on bools and bits in logic.py."""

from __future__ import annotations

import math

from wengert import errors
from wengert.backends.selection import backend_of, move
from wengert.ops.registry import INT_TO_FLOAT, NONE, alias, composite, linear, pointwise
from wengert.ops.values import is_complex, kind_of

_PRIVATE = {"method": False, "namespaces": ()}
_SPECIAL = ("", "special")
_LN2 = math.log(2.0)
_LN10 = math.log(10.0)

# -- signs, copies -----------------------------------------------------------------------------------------------------


def _refuse_bool(operands):
    if kind_of(operands[0]) == "b":
        raise errors.UnsupportedDtypeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the "
            "`~` or `logical_not()` operator instead."
        )


@pointwise(inplace=True, operator="neg", check=_refuse_bool)
def neg(xp, x):
    """Negative of each element, -x. Raises RuntimeError for bool x.

    x: any shape and dtype. Derivative: -1."""
    return xp.negative(x)


@neg.vjp("x")
def _(F, ct):
    return -ct


@composite(method=True)
def positive(F, input):
    """Return the tensor itself, +input. Raises RuntimeError for a bool tensor.

    Derivative: 1."""
    if getattr(input.dtype, "name", "") == "bool":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


@composite(name="__pos__", method=True, namespaces=())
def pos(F, input):
    """Return the tensor itself, +input. Raises RuntimeError for a bool tensor.

    Derivative: 1."""
    return positive.function(input)


@pointwise(inplace=True, operator="abs")
def abs(xp, x):
    """Absolute value of each element; the real magnitude for complex x.

    x: any shape and dtype. Derivative: sign(x), for complex x x / abs(x); 0 at 0."""
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
    """Sign of each element: -1 if x < 0, 1 if x > 0, 0 if x is 0 or NaN. Raises RuntimeError for complex x; see `sgn`.

    x: any shape, real. Derivative: 0."""
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
    """Sign of real and complex numbers: x / abs(x), 0 at 0.

    x: any shape and dtype. Derivative: 0 for real x. For complex x the component of the cotangent orthogonal to x,
    divided by abs(x); 0 at 0."""
    return _sign(xp, x)


@sgn.vjp("x")
def _(F, ct, x, out):
    if not is_complex(x):
        return F._zeros(ct)
    magnitude = F.abs(x)
    return F._zero_where((ct - out * F.real(ct * F.conj(out))) / magnitude, magnitude == 0)


@linear(promote=NONE, moves=True)
def clone(xp, x, *, memory_format=None):
    """Copy x into new memory of the same layout. memory_format is accepted and has no effect.

    Derivative: 1."""
    return x.copy("K")


@clone.vjp("x")
def _(F, ct):
    return ct


def _cast_array(x, dtype):
    return backend_of(x).cast(x, dtype)


@linear(promote=NONE, node="CopyBackwards", array=_cast_array, keyword_only=(), moves=True, **_PRIVATE)
def cast(xp, x, *, dtype):
    """x cast to a NumPy dtype, as to() does. A real dtype takes the real part of complex numbers.

    Derivative: the cotangent, cast back to x's dtype."""
    return xp.cast(x, dtype)


@cast.vjp("x")
def _(F, ct):
    return ct


@linear(promote=NONE, node="CopyBackwards", moves=True, **_PRIVATE)
def _to_device(xp, x, *, place, source, non_blocking=False):
    """x on the device `place`, "cpu" or "cuda:0". source: the device of x. non_blocking: as of selection.move.

    Derivative: the cotangent, on x's device."""
    return move(x, place, non_blocking)


@_to_device.vjp("x")
def _(F, ct, place, source):
    return F._to_device(ct, place=source, source=place)


alias("negative", neg)
alias("absolute", abs)

# -- roots, squares, reciprocals ---------------------------------------------------------------------------------------


@pointwise(inplace=True, node="PowBackward0")
def square(xp, x):
    """Square of each element, x * x; bools become int64.

    x: any shape and dtype. Derivative: 2 * x."""
    return xp.square(x) if x.dtype.kind != "b" else x.astype(xp.int64)


@square.vjp("x")
def _(F, ct, x):
    return ct * F.conj(2 * x)


@pointwise(promote=INT_TO_FLOAT, inplace=True, domain=(0.1, 3.0))
def sqrt(xp, x):
    """Square root of each element; NaN for negative real x.

    x: any shape and dtype; bools and integers become the default float dtype. Derivative: 1 / (2 * out); inf at 0."""
    return xp.sqrt(x)


@sqrt.vjp("x")
def _(F, ct, out):
    return ct / F.conj(2 * out)


@pointwise(promote=INT_TO_FLOAT, inplace=True, domain=(0.1, 3.0))
def rsqrt(xp, x):
    """Reciprocal square root, 1 / sqrt(x); inf at 0.

    x: any shape and dtype; bools and integers become the default float dtype. Derivative: -out**3 / 2."""
    return xp.reciprocal(xp.sqrt(x))


@rsqrt.vjp("x")
def _(F, ct, out):
    return -0.5 * ct * F.conj(out * out * out)


@pointwise(promote=INT_TO_FLOAT, inplace=True, domain=(0.3, 3.0))
def reciprocal(xp, x):
    """Reciprocal of each element, 1 / x.

    x: any shape and dtype; bools and integers become the default float dtype. Derivative: -out**2."""
    return xp.reciprocal(x)


@reciprocal.vjp("x")
def _(F, ct, out):
    return -ct * F.conj(out * out)


# -- exponentials and logarithms ---------------------------------------------------------------------------------------


@pointwise(promote=INT_TO_FLOAT, inplace=True)
def exp(xp, x):
    """Exponential of each element, e**x.

    x: any shape and dtype; bools and integers become the default float dtype. Derivative: the output itself."""
    return xp.exp(x)


@exp.vjp("x")
def _(F, ct, out):
    return ct * F.conj(out)


@pointwise(promote=INT_TO_FLOAT, inplace=True, namespaces=_SPECIAL)
def exp2(xp, x):
    """Power of two, 2**x.

    x: any shape and dtype; bools and integers become the default float dtype. Derivative: log(2) * out."""
    return xp.exp(x * _LN2) if x.dtype.kind == "c" else xp.exp2(x)


@exp2.vjp("x")
def _(F, ct, out):
    return ct * F.conj(out * _LN2)


@pointwise(promote=INT_TO_FLOAT, inplace=True, namespaces=_SPECIAL)
def expm1(xp, x):
    """e**x - 1, accurate near x = 0 too.

    x: any shape and dtype; bools and integers become the default float dtype. Derivative: out + 1."""
    return xp.expm1(x)


@expm1.vjp("x")
def _(F, ct, out):
    return ct * F.conj(out + 1)


@pointwise(promote=INT_TO_FLOAT, inplace=True, domain=(0.1, 3.0))
def log(xp, x):
    """Natural logarithm; -inf at 0, NaN for negative real x.

    x: any shape and dtype; bools and integers become the default float dtype. Derivative: 1 / x."""
    return xp.log(x)


@log.vjp("x")
def _(F, ct, x):
    return ct / F.conj(x)


@pointwise(promote=INT_TO_FLOAT, inplace=True, domain=(0.1, 3.0))
def log2(xp, x):
    """Logarithm to base 2; -inf at 0, NaN for negative real x.

    x: any shape and dtype; bools and integers become the default float dtype. Derivative: 1 / (x * log(2))."""
    return xp.log2(x)


@log2.vjp("x")
def _(F, ct, x):
    return ct / F.conj(x * _LN2)


@pointwise(promote=INT_TO_FLOAT, inplace=True, domain=(0.1, 3.0))
def log10(xp, x):
    """Logarithm to base 10; -inf at 0, NaN for negative real x.

    x: any shape and dtype; bools and integers become the default float dtype. Derivative: 1 / (x * log(10))."""
    return xp.log10(x)


@log10.vjp("x")
def _(F, ct, x):
    return ct / F.conj(x * _LN10)


@pointwise(promote=INT_TO_FLOAT, inplace=True, domain=(-0.8, 3.0), node="Log1PBackward0", namespaces=_SPECIAL)
def log1p(xp, x):
    """log(1 + x), accurate near x = 0 too.

    x: any shape and dtype; bools and integers become the default float dtype. Derivative: 1 / (1 + x)."""
    return xp.log1p(x)


@log1p.vjp("x")
def _(F, ct, x):
    return ct / F.conj(x + 1)


@pointwise(promote=INT_TO_FLOAT, inplace=True, namespaces=("", "nn.functional"))
def sigmoid(xp, x):
    """Logistic sigmoid, 1 / (1 + exp(-x)), accurate for all x.

    x: any shape and dtype; bools and integers become the default float dtype. Derivative: out * (1 - out)."""
    # If exp(-x) overflows to inf, the reciprocal is 0, which is the correctly rounded sigmoid.
    return xp.reciprocal(1 + xp.exp(-x))


@sigmoid.vjp("x")
def _(F, ct, out):
    return ct * F.conj((1 - out) * out)
