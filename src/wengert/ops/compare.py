"""Comparisons. Their results are bool tensors and have no derivative."""

from __future__ import annotations

from wengert.backends.selection import together
from wengert.dtypes import COMPARE
from wengert.ops.indices import raw
from wengert.ops.registry import alias, composite, nondifferentiable


@nondifferentiable(promote=COMPARE, inplace=True, operator="__eq__")
def eq(xp, x, y):
    """Whether x equals y, element by element, with broadcasting: a bool tensor. NaN differs from every value, also NaN."""
    return xp.equal(x, y)


@nondifferentiable(promote=COMPARE, inplace=True, operator="__ne__")
def ne(xp, x, y):
    """Whether x differs from y, element by element, with broadcasting: a bool tensor."""
    return xp.not_equal(x, y)


@nondifferentiable(promote=COMPARE, inplace=True, complex=False, operator="__lt__")
def lt(xp, x, y):
    """Whether x is less than y, element by element, with broadcasting: a bool tensor."""
    return xp.less(x, y)


@nondifferentiable(promote=COMPARE, inplace=True, complex=False, operator="__le__")
def le(xp, x, y):
    """Whether x is less than or equal to y, element by element, with broadcasting: a bool tensor."""
    return xp.less_equal(x, y)


@nondifferentiable(promote=COMPARE, inplace=True, complex=False, operator="__gt__")
def gt(xp, x, y):
    """Whether x is greater than y, element by element, with broadcasting: a bool tensor."""
    return xp.greater(x, y)


@nondifferentiable(promote=COMPARE, inplace=True, complex=False, operator="__ge__")
def ge(xp, x, y):
    """Whether x is greater than or equal to y, element by element, with broadcasting: a bool tensor."""
    return xp.greater_equal(x, y)


alias("not_equal", ne)
alias("less", lt)
alias("less_equal", le)
alias("greater", gt)
alias("greater_equal", ge)


@nondifferentiable(promote=COMPARE, keyword_only=())
def isclose(xp, x, y, *, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether |x - y| <= atol + rtol * |y| or x equals y, element by element, with broadcasting: a bool tensor.

    An infinity is close to itself only. rtol, atol: not negative, else RuntimeError. equal_nan: whether NaN is close to NaN."""
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if tolerance < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {tolerance}")
    close = xp.equal(x, y)
    if equal_nan:
        close = close | ((x != x) & (y != y))
    if x.dtype.kind in "biu":
        x, y = x.astype(xp.float64), y.astype(xp.float64)
    distance = xp.abs(x - y)
    return close | ((distance <= atol + rtol * xp.abs(y)) & xp.isfinite(distance))


@composite(method=True)
def allclose(F, input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether all elements of input and other are close: all(isclose(...)) as a Python bool. Parameters as in `isclose`."""
    return bool(raw(F.isclose(input, other, rtol=rtol, atol=atol, equal_nan=equal_nan)).all())


@composite(method=True)
def equal(F, input, other):
    """Whether input and other have the same shape and equal elements: a Python bool.

    >>> import wengert
    >>> wengert.equal(wengert.tensor([1.0, 2.0]), wengert.tensor([1.0, 2.0]))
    True
    """
    x, y = together([raw(input), raw(other)])
    return x.shape == y.shape and bool((x == y).all())
