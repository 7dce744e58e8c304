"""Arithmetic of two and three operands: sums, products, quotients, powers, and combinations of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import dtypes, errors
from wengert.backends.selection import backend_of, is_array, may_hold, others
from wengert.core.tensor import TensorBase
from wengert.core.writing import write
from wengert.ops.registry import INT_TO_FLOAT, alias, composite, plain, pointwise
from wengert.ops.values import is_complex, is_number, kind_of, log_of

_PRIVATE = {"method": False, "namespaces": ()}
_ZERO_DIVISION = "ZeroDivisionError"  # torch's whole message for an integer division by zero
_INTEGER_ADDCDIV = (
    "Integer division with addcdiv is no longer supported. Hint: for a true division use input + value * tensor1 / "
    "tensor2, for one that rounds towards zero input + value * torch.div(tensor1, tensor2, rounding_mode='trunc')."
)
_INTEGER_POWER = "Integers to negative integer powers are not allowed."

# -- sums and differences ----------------------------------------------------------------------------------------------


@pointwise(inplace=True, operator="add")
def add(xp, x, y, *, alpha=1):
    """x + alpha * y, with broadcasting. x, y: tensors or numbers of any dtype.

    alpha: a number; an int if x and y are integers, else RuntimeError.

    Derivative: 1 in x, alpha in y."""
    return xp.add(x, y) if alpha == 1 else xp.add(x, _times_alpha(x, y, alpha))


@add.vjp("x")
def _(F, ct):
    return ct


@add.vjp("y")
def _(F, ct, alpha):
    return ct if alpha == 1 else ct * F.conj(alpha)


def _times_alpha(x, y, alpha):
    """alpha * y. x gives the operands' dtype. Raises RuntimeError if alpha is of a higher category than this dtype."""
    xp = backend_of(x)
    kind = x.dtype.kind
    if kind in "biu":
        if isinstance(alpha, (float, complex)):
            raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
        if isinstance(alpha, bool) and kind != "b":
            raise RuntimeError("Boolean alpha only supported for Boolean results.")
    elif isinstance(alpha, complex) and kind != "c":
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex number.")
    if kind == "b":
        return y & bool(alpha)
    return y * xp.asarray(alpha).astype(y.dtype) if kind == "u" else y * alpha  # alpha = -1 wraps to 255 in uint8


def _refuse_bool(operands):
    """Raise RuntimeError if an operand is bool."""
    kinds = ["b" if isinstance(x, bool) else kind_of(x) for x in operands]
    if "b" in kinds:
        if kinds == ["b", "b"]:
            raise errors.UnsupportedDtypeError(
                "Subtraction, the `-` operator, with two bool tensors is not supported. "
                "Use the `^` or `logical_xor()` operator instead."
            )
        raise errors.UnsupportedDtypeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. "
            "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."
        )


@pointwise(inplace=True, operator="sub", check=_refuse_bool)
def sub(xp, x, y, *, alpha=1):
    """x - alpha * y, with broadcasting. x, y: tensors or numbers. alpha: as in `add`. Raises RuntimeError for bools.

    Derivative: 1 in x, -alpha in y."""
    return xp.subtract(x, y) if alpha == 1 else xp.subtract(x, _times_alpha(x, y, alpha))


@sub.vjp("x")
def _(F, ct):
    return ct


@sub.vjp("y")
def _(F, ct, alpha):
    return -ct if alpha == 1 else ct * F.conj(-alpha)


@pointwise(
    operator="__rsub__",
    method=False,
    check=_refuse_bool,
    node=lambda inputs, params: "RsubBackward0" if isinstance(inputs[1], TensorBase) else "RsubBackward1",
)
def rsub(xp, x, y, *, alpha=1):
    """y - alpha * x: `sub` with the operands exchanged.

    Derivative: -alpha in x, 1 in y."""
    return xp.subtract(y, x if alpha == 1 else _times_alpha(x, x, alpha))


@rsub.vjp("x")
def _(F, ct, alpha):
    return -ct if alpha == 1 else ct * F.conj(-alpha)


@rsub.vjp("y")
def _(F, ct):
    return ct


# -- products and quotients --------------------------------------------------------------------------------------------


@pointwise(inplace=True, operator="mul")
def mul(xp, x, y):
    """x * y, with broadcasting. x, y: tensors or numbers of any dtype.

    Derivative: y in x, x in y."""
    return xp.multiply(x, y)


@mul.vjp("x")
def _(F, ct, y):
    return ct * F.conj(y)


@mul.vjp("y")
def _(F, ct, x):
    return ct * F.conj(x)


@pointwise(promote=INT_TO_FLOAT, inplace="_div_", operator="truediv", **_PRIVATE)
def _div(xp, x, y):
    """x / y, with broadcasting: div without rounding_mode.

    Derivative: 1 / y in x, -x / y**2 in y."""
    return xp.true_divide(x, y)


@_div.vjp("x")
def _(F, ct, y):
    return ct / F.conj(y)


@_div.vjp("y")
def _(F, ct, x, y):
    return -ct * F.conj(x / y / y)  # recomputed: the output is often written in place, so it must not be saved


@pointwise(node="DivBackward2", inplace="_div_rounded_", complex=False, **_PRIVATE)
def _div_rounded(xp, x, y, *, rounding_mode):
    """x / y rounded to an integer, in the operands' dtype: div with rounding_mode.

    Derivative: 0."""
    if rounding_mode == "floor":
        return _floor_divide(xp, x, y)
    if rounding_mode != "trunc":
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    if kind_of(x) not in ("i", "u"):
        return xp.trunc(xp.true_divide(x, y))
    quotient = _floor_divide(xp, x, y)
    return quotient + ((quotient * y != x) & ((x < 0) != (y < 0)))


@_div_rounded.vjp("x")
def _(F, ct):
    return F._zeros(ct)


@_div_rounded.vjp("y")
def _(F, ct):
    return F._zeros(ct)


def _floor_divide(xp, x, y):
    _check_divisor(xp, y, "floor_divide")
    return xp.floor_divide(x, y)


def _check_divisor(xp, y, op):
    """Raise RuntimeError if y is bool, or if y is integral and holds a zero."""
    kind = kind_of(y)
    if kind == "b":
        raise errors.unsupported_dtype(op, y.dtype)
    if kind in ("i", "u") and type(y) not in others and not xp.all(y):
        raise RuntimeError(_ZERO_DIVISION)


@plain(method=True)
def div(input, other, *, rounding_mode=None, out=None):
    """input / other, with broadcasting. input, other: tensors or numbers; integers give the default float dtype.

    rounding_mode: "floor" rounds the quotient down, as Python's //; "trunc" rounds it towards zero, as C's /; None does
    not round. If the quotient is rounded, integers give integers, and an integer division by zero raises RuntimeError.

    Derivative: 1 / other in input, -input / other**2 in other; 0 with a rounding_mode.

    >>> import wengert
    >>> wengert.div(wengert.tensor([-7, 7]), 2), wengert.div(wengert.tensor([-7, 7]), 2, rounding_mode="floor")
    (tensor([-3.5000,  3.5000]), tensor([-4,  3]))
    """
    if rounding_mode is None:
        return _div.function(input, other) if out is None else _div.function(input, other, out=out)
    return _div_rounded.function(input, other, rounding_mode=rounding_mode, out=out)


@plain(name="div_", method=True, namespaces=())
def div_(self, other, *, rounding_mode=None):
    """In-place form of div."""
    if rounding_mode is None:
        return write(_div, (self, other), None)
    return write(_div_rounded, (self, other), {"rounding_mode": rounding_mode})


@pointwise(inplace=True, operator="floordiv", complex=False)
def floor_divide(xp, x, y):
    """x / y rounded down, with broadcasting; integers give integers. Raises RuntimeError for an integer division by zero.

    Derivative: 0."""
    return _floor_divide(xp, x, y)


@floor_divide.vjp("x")
def _(F, ct):
    return F._zeros(ct)


@floor_divide.vjp("y")
def _(F, ct):
    return F._zeros(ct)


def _node_by_second_operand(name):
    """Return the function that names the node: suffix 1 if the second operand is a tensor, 0 if it is a number."""
    return lambda inputs, params: f"{name}Backward{int(isinstance(inputs[1], TensorBase))}"


@pointwise(inplace=True, operator="mod", complex=False, node=_node_by_second_operand("Remainder"))
def remainder(xp, x, y):
    """x - y * floor(x / y), as Python's %: the result has the sign of y. Raises RuntimeError for an integer division by zero.

    Derivative: 1 in x, -floor(x / y) in y."""
    _check_divisor(xp, y, "remainder")
    return xp.remainder(x, y)


@remainder.vjp("x")
def _(F, ct):
    return ct


@remainder.vjp("y")
def _(F, ct, x, y):
    return -ct * F.floor_divide(x, y)


@pointwise(inplace=True, complex=False, node=_node_by_second_operand("Fmod"))
def fmod(xp, x, y):
    """x - y * trunc(x / y), as C's fmod: the result has the sign of x. Raises RuntimeError for an integer division by zero.

    Derivative: 1 in x, -trunc(x / y) in y."""
    _check_divisor(xp, y, "fmod")
    return xp.fmod(x, y)


@fmod.vjp("x")
def _(F, ct):
    return ct


@fmod.vjp("y")
def _(F, ct, x, y):
    return -ct * F.trunc(x / y)


# -- powers ------------------------------------------------------------------------------------------------------------


def _refuse_negative_power(operands):
    """Raise RuntimeError if the base is integral and the exponent a negative int."""
    x, exponent = operands
    if isinstance(exponent, int) and exponent < 0 and kind_of(x) in ("i", "u"):
        raise RuntimeError(_INTEGER_POWER)


def _pow_node(inputs, params):
    if isinstance(inputs[1], TensorBase):
        return "PowBackward1" if isinstance(inputs[0], TensorBase) else "PowBackward2"
    return "PowBackward0"


@pointwise(inplace=True, operator="pow", domain=(0.2, 2.0), node=_pow_node, check=_refuse_negative_power)
def pow(xp, x, exponent):
    """x ** exponent, with broadcasting. x, exponent: tensors or numbers.

    If x is integral, a negative int as exponent raises RuntimeError. A tensor of integers as exponent may be negative:
    the power is then 0 for all bases but 1 and -1.

    Derivative: in x exponent * x**(exponent - 1), and 0 where exponent is 0. In exponent x**exponent * log(x), and 0
    where x is 0 and exponent >= 0."""
    if is_number(exponent):
        # NumPy's power is slow for 3, 4 and -2, and inexact for -0.5. ndarray.__pow__ is fast for 2, 0.5 and -1.
        if exponent == 3:
            return x * x * x
        if exponent == 4:
            x = xp.square(x)
            return xp.square(x)
        if exponent == -2:
            return xp.reciprocal(xp.square(x))
        if exponent == -0.5:
            return xp.reciprocal(xp.sqrt(x))
    elif exponent.dtype.kind in "biu":
        return _integer_power(xp, x, exponent)
    elif exponent.ndim == 0 and not is_number(x):
        return pow.forward(xp, x, exponent.item())
    elif is_number(x) and not isinstance(x, complex):
        return xp.power(exponent.dtype.type(x), exponent)  # Python's power of a negative number is complex
    return x**exponent


def _integer_power(xp, x, exponent):
    """x ** exponent for an integer array as exponent. A negative exponent gives 1, -1 or 0, as integer division would."""
    if exponent.dtype.kind == "b":
        raise errors.unsupported_dtype("pow", exponent.dtype)
    negative = exponent < 0
    if not may_hold(negative):
        return xp.power(x, exponent)
    sign = xp.where(exponent & 1, x, 1)
    inverse = xp.where((x == 1) | (x == -1), sign, 0)
    return xp.where(negative, inverse, xp.power(x, xp.where(negative, 0, exponent))).astype(exponent.dtype)


@pow.vjp("x")
def _(F, ct, x, exponent):
    if is_array(exponent) and exponent.ndim == 0:
        exponent = exponent.item()
    if is_number(exponent):
        if exponent == 0:
            return F._zeros(ct)
        if exponent == 2:
            return ct * F.conj(2 * x)
        return ct * F.conj(exponent * F.pow(x, exponent - 1))
    return F._zero_where(ct * F.conj(exponent * x ** (exponent - 1)), exponent == 0)


@pow.vjp("exponent")
def _(F, ct, x, exponent, out):
    if is_number(x) and x != 0:
        if is_complex(x) or is_complex(exponent):
            import cmath  # a shared library: opened only by programs that need it

            return ct * F.conj(out * cmath.log(x))
        return ct * F.conj(out * log_of(F, x))
    ct = ct * F.conj(out * log_of(F, x))
    return F._zero_where(ct, (x == 0) & (F.real(exponent) >= 0))


@composite(method=True, inplace=True)
def float_power(F, input, exponent):
    """input ** exponent, computed in float64, or in complex128 if either is complex.

    Derivative: as in `pow`."""
    dtype = np.dtype(np.complex128 if is_complex(input) or is_complex(exponent) else np.float64)
    numbers: Any = (int, float, complex, np.generic)
    operands = [dtype.type(x).item() if isinstance(x, numbers) else F.cast(x, dtype=dtype) for x in (input, exponent)]
    return F.pow(*operands)


# -- three operands ----------------------------------------------------------------------------------------------------


@pointwise(inplace=True)
def addcmul(xp, x, tensor1, tensor2, *, value=1):
    """x + value * tensor1 * tensor2, with broadcasting. value: a number, truncated to an integer if x is integral.

    Derivative: 1 in x, value * tensor2 in tensor1, value * tensor1 in tensor2."""
    if x.dtype.kind == "b":
        raise errors.unsupported_dtype("addcmul", x.dtype)
    product = xp.multiply(tensor1, tensor2)
    if x.dtype.kind in "iu":
        value = dtypes.checked_scalar(value, x.dtype)
    return xp.add(x, product if value == 1 else product * value)


@addcmul.vjp("x")
def _(F, ct):
    return ct


@addcmul.vjp("tensor1")
def _(F, ct, tensor2, value):
    return ct * F.conj(tensor2 if value == 1 else tensor2 * value)


@addcmul.vjp("tensor2")
def _(F, ct, tensor1, value):
    return ct * F.conj(tensor1 if value == 1 else tensor1 * value)


def _refuse_integer_division(operands):
    """Raise RuntimeError if numerator and denominator are integers."""
    if all(isinstance(x, int) or kind_of(x) in ("b", "i", "u") for x in operands[1:]):
        raise RuntimeError(_INTEGER_ADDCDIV)


@pointwise(inplace=True, check=_refuse_integer_division)
def addcdiv(xp, x, tensor1, tensor2, *, value=1):
    """x + value * tensor1 / tensor2, with broadcasting. value: a number.

    Raises RuntimeError if tensor1 and tensor2 are integers.

    Derivative: 1 in x, value / tensor2 in tensor1, -value * tensor1 / tensor2**2 in tensor2."""
    if x.dtype.kind in "biu":
        raise RuntimeError(_INTEGER_ADDCDIV)
    quotient = xp.true_divide(tensor1, tensor2)
    return xp.add(x, quotient if value == 1 else quotient * value)


@addcdiv.vjp("x")
def _(F, ct):
    return ct


@addcdiv.vjp("tensor1")
def _(F, ct, tensor2, value):
    return ct * F.conj(value / tensor2)


@addcdiv.vjp("tensor2")
def _(F, ct, tensor1, tensor2, value):
    return -ct * F.conj(value * tensor1 / (tensor2 * tensor2))


@pointwise(
    inplace=True,
    node=lambda inputs, params: "LerpBackward1" if isinstance(inputs[2], TensorBase) else "LerpBackward0",
)
def lerp(xp, x, end, weight):
    """x + weight * (end - x): exactly x at weight 0, exactly end at weight 1. x, end: floating or complex.

    weight: a number or a tensor.

    Derivative: 1 - weight in x, weight in end, end - x in weight."""
    if x.dtype.kind in "biu":
        raise errors.unsupported_dtype("lerp", x.dtype)
    span = end - x
    if weight.ndim == 0:
        return x + weight * span if abs(weight) < 0.5 else end - (1 - weight) * span
    return xp.where(xp.abs(weight) < 0.5, x + weight * span, end - (1 - weight) * span)


@lerp.vjp("x")
def _(F, ct, weight):
    return ct * F.conj(1 - weight)


@lerp.vjp("end")
def _(F, ct, weight):
    return ct * F.conj(weight)


@lerp.vjp("weight")
def _(F, ct, x, end):
    return ct * F.conj(end - x)


add.adds_product = "alpha", 1, "", addcmul.name
sub.adds_product = "alpha", -1, "", addcmul.name
addcmul.adds_product = "value", 1, "mul", addcmul.name
addcdiv.adds_product = "value", 1, "_div", addcmul.name

alias("subtract", sub)
alias("multiply", mul)
alias("divide", div)
alias("true_divide", div)
alias("divide_", div_)
alias("true_divide_", div_)
