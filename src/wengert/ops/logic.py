"""Predicates of floating-point numbers, logical operations and bitwise operations. None has a derivative."""

from __future__ import annotations

from typing import Any

from wengert.ops.registry import NONE, nondifferentiable, plain
from wengert.ops.values import integer_ufunc

# -- kinds of numbers --------------------------------------------------------------------------------------------------


@nondifferentiable(promote=NONE)
def isnan(xp, x):
    """Whether each element is NaN: a bool tensor."""
    return xp.isnan(x)


@nondifferentiable(promote=NONE)
def isinf(xp, x):
    """Whether each element is infinite: a bool tensor."""
    return xp.isinf(x)


@nondifferentiable(promote=NONE)
def isfinite(xp, x):
    """Whether each element is neither infinite nor NaN: a bool tensor."""
    return xp.isfinite(x)


@nondifferentiable(promote=NONE, complex=False)
def isposinf(xp, x):
    """Whether each element is +inf: a bool tensor."""
    return x == xp.inf


@nondifferentiable(promote=NONE, complex=False)
def isneginf(xp, x):
    """Whether each element is -inf: a bool tensor."""
    return x == -xp.inf


@nondifferentiable(promote=NONE, complex=False)
def signbit(xp, x):
    """Whether each element is negative, -0.0 included: a bool tensor."""
    return xp.signbit(x) if x.dtype.kind != "b" else xp.zeros(x.shape, bool)


# -- bools -------------------------------------------------------------------------------------------------------------


def _truth(x: Any) -> Any:
    """Return x, or whether its elements are nonzero if they are complex: CuPy's logical functions take no complex numbers."""
    return x != 0 if getattr(x, "dtype", None) is not None and x.dtype.kind == "c" else x


@nondifferentiable(promote=NONE, inplace=True)
def logical_not(xp, x):
    """Whether each element is 0: a bool tensor."""
    return xp.logical_not(_truth(x))


@nondifferentiable(promote=NONE, inplace=True)
def logical_and(xp, x, y):
    """Whether x and y are both nonzero, element by element, with broadcasting: a bool tensor."""
    return xp.logical_and(_truth(x), _truth(y))


@nondifferentiable(promote=NONE, inplace=True)
def logical_or(xp, x, y):
    """Whether x or y is nonzero, element by element, with broadcasting: a bool tensor."""
    return xp.logical_or(_truth(x), _truth(y))


@nondifferentiable(promote=NONE, inplace=True)
def logical_xor(xp, x, y):
    """Whether exactly one of x and y is nonzero, element by element, with broadcasting: a bool tensor."""
    return xp.logical_xor(_truth(x), _truth(y))


# -- bits of integers; bools count as one bit --------------------------------------------------------------------------


@nondifferentiable(inplace=True, complex=False)
def bitwise_not(xp, x):
    """Invert every bit. x: integers or bools, else RuntimeError."""
    return integer_ufunc("bitwise_not_cpu", xp.bitwise_not, x)


@plain(name="__invert__", method=True, namespaces=())
def invert(self):
    """~x: invert every bit. x: integers or bools, else TypeError."""
    if self._array.dtype.kind not in "biu":
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return bitwise_not.function(self)


@nondifferentiable(inplace=True, complex=False, operator="and")
def bitwise_and(xp, x, y):
    """Bits that are set in x and in y, with broadcasting. x, y: integers or bools, else RuntimeError."""
    return integer_ufunc("bitwise_and_cpu", xp.bitwise_and, x, y)


@nondifferentiable(inplace=True, complex=False, operator="or")
def bitwise_or(xp, x, y):
    """Bits that are set in x or in y, with broadcasting. x, y: integers or bools, else RuntimeError."""
    return integer_ufunc("bitwise_or_cpu", xp.bitwise_or, x, y)


@nondifferentiable(inplace=True, complex=False, operator="xor")
def bitwise_xor(xp, x, y):
    """Bits that are set in exactly one of x and y, with broadcasting. x, y: integers or bools, else RuntimeError."""
    return integer_ufunc("bitwise_xor_cpu", xp.bitwise_xor, x, y)


@nondifferentiable(inplace=True, complex=False, operator="lshift")
def bitwise_left_shift(xp, x, y):
    """Shift the bits of x left by y; 0 where y < 0 or y >= the number of bits. x, y: integers or bools, else RuntimeError."""
    return integer_ufunc("lshift_cpu", xp.left_shift, x, y)


@nondifferentiable(inplace=True, complex=False, operator="rshift")
def bitwise_right_shift(xp, x, y):
    """Shift the bits of x right by y, keeping the sign. x, y: integers or bools, else RuntimeError."""
    return integer_ufunc("rshift_cpu", xp.right_shift, x, y)
