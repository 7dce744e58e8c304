"""Arithmetic, choosing and overwriting, with numbers worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

import wengert
from wengert import tensor

INF, NAN = math.inf, math.nan


def leaf(*values):
    return tensor(values if len(values) != 1 else values[0], dtype=wengert.float64, requires_grad=True)


def gradients(output, *inputs, create_graph=False):
    """The gradients of output, with a cotangent of ones, as lists."""
    found = wengert.autograd.grad(output, inputs, wengert.ones_like(output), create_graph=create_graph)
    return [g.tolist() for g in found]


def node_name(output):
    return output.grad_fn.name()


# -- sums, products, quotients -----------------------------------------------------------------------------------------


def test_sums_and_products():
    x, y = leaf(2.0, 3.0), leaf(5.0, -7.0)
    assert (x + y).tolist() == [7.0, -4.0]
    assert (x - y).tolist() == [-3.0, 10.0]
    assert (x * y).tolist() == [10.0, -21.0]
    assert (x / y).tolist() == [0.4, -3 / 7]
    assert gradients(x * y, x, y) == [[5.0, -7.0], [2.0, 3.0]]
    assert gradients(x - y, x, y) == [[1.0, 1.0], [-1.0, -1.0]]


def test_quotient():
    x, y = leaf(6.0), leaf(4.0)
    assert gradients(x / y, x, y) == [0.25, -0.375]


def test_alpha_scales_the_second_operand():
    x, y = leaf(2.0), leaf(5.0)
    assert wengert.add(x, y, alpha=3).item() == 17.0
    assert wengert.sub(x, y, alpha=3).item() == -13.0
    assert wengert.rsub(x, y, alpha=3).item() == -1.0
    assert gradients(wengert.rsub(x, y, alpha=3), x, y) == [-3.0, 1.0]


def test_numbers_on_the_left():
    x = leaf(4.0)
    assert [(1 + x).item(), (1 - x).item(), (3 * x).item()] == [5.0, -3.0, 12.0]
    assert [(2 / x).item(), (2**x).item()] == [0.5, 16.0]
    assert gradients(1 - x, x) == [-1.0]
    assert gradients(2 / x, x) == [-0.125]
    assert (9 // x).item() == 2.0 and (9 % x).item() == 1.0


def test_names_of_nodes():
    x = leaf(2.0)
    assert node_name(x + 1) == "AddBackward0"
    assert node_name(x - 1) == "SubBackward0"
    assert node_name(1 - x) == "RsubBackward1"
    assert node_name(wengert.rsub(x, x)) == "RsubBackward0"
    assert node_name(x * 2) == "MulBackward0"
    assert node_name(x / 2) == "DivBackward0"
    assert node_name(wengert.div(x, 2, rounding_mode="floor")) == "DivBackward2"
    assert [node_name(x**2), node_name(x**x), node_name(2**x)] == ["PowBackward0", "PowBackward1", "PowBackward2"]
    assert [node_name(x % 2), node_name(x % x)] == ["RemainderBackward0", "RemainderBackward1"]
    assert [node_name(x.clamp(0, 1)), node_name(x.clamp(x))] == ["ClampBackward1", "ClampBackward0"]


def test_integers_divide_to_floats():
    assert (tensor([7, -7]) / 2).tolist() == [3.5, -3.5]
    assert (tensor([7]) / tensor([2])).dtype is wengert.float32
    assert wengert.true_divide(tensor([7]), 2).item() == 3.5


def test_rounding_modes():
    x = tensor([7, -7, 7, -7])
    y = tensor([2, 2, -2, -2])
    assert wengert.div(x, y, rounding_mode="floor").tolist() == [3, -4, -4, 3]
    assert wengert.div(x, y, rounding_mode="trunc").tolist() == [3, -3, -3, 3]
    assert (x // y).tolist() == [3, -4, -4, 3]
    assert (x % y).tolist() == [1, 1, -1, -1]
    assert wengert.fmod(x, y).tolist() == [1, -1, 1, -1]


def test_rounded_quotients_have_derivative_zero():
    x = leaf(7.5)
    assert gradients(wengert.div(x, 2.0, rounding_mode="trunc"), x) == [0.0]
    assert gradients(x // 2, x) == [0.0]


def test_remainder():
    x, y = leaf(7.5), leaf(-2.0)
    assert wengert.remainder(x, y).item() == -0.5
    assert wengert.fmod(x, y).item() == 1.5
    assert gradients(wengert.remainder(x, y), x, y) == [1.0, 4.0]  # -floor(-3.75)
    assert gradients(wengert.fmod(x, y), x, y) == [1.0, 3.0]  # -trunc(-3.75)


def test_unknown_rounding_mode():
    with pytest.raises(RuntimeError, match="rounding_mode to be one of None, 'trunc', or 'floor' but found 'up'"):
        wengert.div(leaf(1.0), 2.0, rounding_mode="up")


@pytest.mark.parametrize("operation", [lambda x: x // 0, lambda x: x % 0, lambda x: wengert.fmod(x, 0)])
def test_integer_division_by_zero(operation):
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        operation(tensor([1, 2]))


def test_alpha_must_not_outrank_the_operands():
    with pytest.raises(RuntimeError, match="argument alpha must not be a floating point number"):
        wengert.add(tensor([1]), tensor([2]), alpha=0.5)
    with pytest.raises(RuntimeError, match="Boolean alpha only supported for Boolean results"):
        wengert.sub(tensor([1]), tensor([2]), alpha=False)
    with pytest.raises(RuntimeError, match="argument alpha must not be a complex number"):
        wengert.add(tensor([1.0]), tensor([2.0]), alpha=1j)


def test_bools_cannot_be_subtracted():
    mask = tensor([True, False])
    for operation in (lambda: mask - mask, lambda: True - mask):
        with pytest.raises(RuntimeError, match="with two bool tensors is not supported"):
            operation()
    for operation in (lambda: mask - 1, lambda: 1 - mask, lambda: tensor([1.0]) - mask):
        with pytest.raises(RuntimeError, match="with a bool tensor is not supported"):
            operation()


# -- powers ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("exponent", "value", "slope"),
    [
        (0, 1.0, 0.0),
        (1, 3.0, 1.0),
        (2, 9.0, 6.0),
        (3, 27.0, 27.0),
        (4, 81.0, 108.0),
        (5, 243.0, 405.0),
        (-2, 1 / 9, -2 / 27),
    ],
)
def test_integer_powers(exponent, value, slope):
    x = leaf(3.0)
    assert (x**exponent).item() == pytest.approx(value, rel=1e-15)
    assert gradients(x**exponent, x) == [pytest.approx(slope, rel=1e-15)]


def test_fractional_powers():
    x = leaf(4.0)
    assert (x**0.5).item() == 2.0 and (x**-0.5).item() == 0.5 and (x**1.5).item() == 8.0
    assert gradients(x**1.5, x) == [3.0]


def test_power_of_two_tensors():
    x, y = leaf(2.0), leaf(3.0)
    assert gradients(x**y, x, y) == [12.0, pytest.approx(8 * math.log(2), rel=1e-15)]


def test_powers_of_zero():
    x, y = leaf(0.0, 0.0, 0.0), leaf(0.0, 1.0, 2.0)
    assert (x**y).tolist() == [1.0, 0.0, 0.0]
    assert gradients(x**y, x, y) == [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    assert gradients(0.0**y, y) == [[0.0, 0.0, 0.0]]


def test_second_derivative_of_a_square():
    x = leaf(3.0)
    (slope,) = wengert.autograd.grad(x**2, x, create_graph=True)
    assert gradients(slope, x) == [2.0]


def test_powers_of_integers():
    assert (tensor([3, -2, 0]) ** 2).tolist() == [9, 4, 0]
    assert (2 ** tensor([3, 0])).tolist() == [8, 1]
    assert (tensor([3, -1, -1, 1]) ** tensor([-1, -1, -2, -5])).tolist() == [0, -1, 1, 1]
    assert (tensor([2, 4]) ** -1.0).tolist() == [0.5, 0.25]
    with pytest.raises(RuntimeError, match="Integers to negative integer powers are not allowed"):
        tensor([2, 3]) ** -1
    with pytest.raises(RuntimeError, match="Integers to negative integer powers are not allowed"):
        tensor([2, 3], dtype=wengert.uint8) ** -1


def test_float_power_is_computed_in_double():
    assert wengert.float_power(tensor([2, 3]), -1).dtype is wengert.float64
    assert wengert.float_power(tensor([2.0]), 0.5).item() == math.sqrt(2)


# -- in place ----------------------------------------------------------------------------------------------------------


def test_in_place_operators():
    x = leaf(2.0, 6.0)
    y = x * 1
    before = y
    y += 1
    y -= 2
    y *= 3
    y /= 2
    y **= 2
    assert y is before
    assert y.tolist() == [2.25, 56.25]  # (1.5 * (x - 1))**2
    assert gradients(y, x) == [[4.5, 22.5]]


def test_in_place_methods():
    assert tensor([7.0]).div_(2).item() == 3.5
    assert tensor([7.0]).div_(2, rounding_mode="floor").item() == 3.0
    assert tensor([7]).remainder_(4).item() == 3
    assert tensor([1.0]).add_(tensor([2.0]), alpha=2).item() == 5.0
    assert tensor([1.0]).lerp_(tensor([3.0]), 0.25).item() == 1.5


def test_integers_are_not_divided_in_place():
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        tensor([7]).div_(2)


# -- three operands, two numbers ---------------------------------------------------------------------------------------


def test_products_and_quotients_added():
    x, a, b = leaf(1.0), leaf(6.0), leaf(2.0)
    assert wengert.addcmul(x, a, b, value=3).item() == 37.0
    assert gradients(wengert.addcmul(x, a, b, value=3), x, a, b) == [1.0, 6.0, 18.0]
    assert wengert.addcdiv(x, a, b, value=3).item() == 10.0
    assert gradients(wengert.addcdiv(x, a, b, value=3), x, a, b) == [1.0, 1.5, -4.5]
    with pytest.raises(RuntimeError, match="Integer division with addcdiv is no longer supported"):
        wengert.addcdiv(tensor([1.0]), tensor([6]), tensor([2]))


def test_interpolation():
    x, end, weight = leaf(1.0), leaf(5.0), leaf(0.25)
    assert wengert.lerp(x, end, weight).item() == 2.0
    assert gradients(wengert.lerp(x, end, weight), x, end, weight) == [0.75, 0.25, 4.0]
    assert wengert.lerp(x, end, 1.0).item() == 5.0


def test_angle_of_a_point():
    y, x = leaf(3.0, 0.0), leaf(4.0, 0.0)
    assert wengert.atan2(y, x).tolist() == [math.atan2(3, 4), 0.0]
    assert gradients(wengert.atan2(y, x), y, x) == [[0.16, 0.0], [-0.12, 0.0]]


def test_hypotenuse():
    x, y = leaf(3.0), leaf(4.0)
    assert wengert.hypot(x, y).item() == 5.0
    assert gradients(wengert.hypot(x, y), x, y) == [0.6, 0.8]


def test_sum_of_exponentials():
    x, y = leaf(1000.0, 0.0), leaf(1000.0, math.log(3))
    assert wengert.logaddexp(x, y).tolist() == [1000 + math.log(2), pytest.approx(math.log(4))]
    assert gradients(wengert.logaddexp(x, y), x, y) == [[0.5, pytest.approx(0.25)], [0.5, pytest.approx(0.75)]]


def test_zero_times_a_logarithm():
    x, y = leaf(0.0, 0.0, 2.0, 0.0), leaf(0.0, 2.0, 1.0, NAN)
    assert wengert.xlogy(x, y).tolist()[:3] == [0.0, 0.0, 0.0]
    assert math.isnan(wengert.xlogy(x, y)[3].item())
    in_x, in_y = gradients(wengert.xlogy(x, y), x, y)
    assert in_x[:3] == [0.0, math.log(2), 0.0] and in_y[1:3] == [0.0, 2.0]


def test_sign_copied():
    x = leaf(2.0, -2.0, 0.0)
    result = wengert.copysign(x, -1.0)
    assert result.tolist() == [-2.0, -2.0, -0.0]
    assert gradients(result, x) == [[-1.0, 1.0, 0.0]]


# -- choosing ----------------------------------------------------------------------------------------------------------


def test_ties_of_maximum_are_split():
    x, y = leaf(1.0, 2.0, 3.0), leaf(2.0, 2.0, 2.0)
    assert gradients(wengert.maximum(x, y), x, y) == [[0.0, 0.5, 1.0], [1.0, 0.5, 0.0]]
    assert gradients(wengert.minimum(x, y), x, y) == [[1.0, 0.5, 0.0], [0.0, 0.5, 1.0]]


def test_fmax_passes_nan_over_and_gives_ties_to_the_first():
    x, y = leaf(NAN, 2.0, 3.0), leaf(1.0, 2.0, NAN)
    assert wengert.fmax(x, y).tolist() == [1.0, 2.0, 3.0]
    assert gradients(wengert.fmax(x, y), x, y) == [[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]]
    assert gradients(wengert.fmin(x, y), x, y) == [[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]]


def test_clamp_has_derivative_one_at_its_bounds():
    x = leaf(-2.0, -1.0, 0.0, 1.0, 2.0)
    assert x.clamp(-1, 1).tolist() == [-1.0, -1.0, 0.0, 1.0, 1.0]
    assert gradients(x.clamp(-1, 1), x) == [[0.0, 1.0, 1.0, 1.0, 0.0]]
    assert gradients(x.clamp(min=0), x) == [[0.0, 0.0, 1.0, 1.0, 1.0]]
    assert gradients(x.clamp(max=0), x) == [[1.0, 1.0, 1.0, 0.0, 0.0]]
    assert gradients(wengert.clip(x, 1, -1), x) == [[0.0] * 5]  # the upper bound wins


def test_clamp_with_tensor_bounds():
    x, low, high = leaf(0.0, 1.0, 2.0, 3.0), leaf(1.0, 1.0, 1.0, 4.0), leaf(2.0, 2.0, 1.5, 2.0)
    assert wengert.clamp(x, low, high).tolist() == [1.0, 1.0, 1.5, 2.0]
    assert gradients(wengert.clamp(x, low, high), x, low, high) == [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 1]]


def test_clamp_of_nan():
    x = leaf(NAN)
    assert math.isnan(x.clamp(0, 1).item())
    assert gradients(x.clamp(0, 1), x) == [0.0]


def test_clamp_without_bounds():
    with pytest.raises(RuntimeError, match="At least one of 'min' or 'max' must not be None"):
        wengert.clamp(leaf(1.0))


@pytest.mark.parametrize("n", [4, 4096])
def test_where_passes_infinite_cotangents_only_where_chosen(n):
    x = wengert.ones(n, dtype=wengert.float64, requires_grad=True)
    mask = wengert.arange(n) % 2 == 0
    (grad,) = wengert.autograd.grad(wengert.where(mask, x, 0.0), x, wengert.full((n,), INF, dtype=wengert.float64))
    assert grad.tolist() == [INF, 0.0] * (n // 2)


def test_where_promotes():
    mask = tensor([True, False])
    assert wengert.where(mask, 1, 0).dtype is wengert.int64
    assert wengert.where(mask, tensor([1, 2]), 2.5).tolist() == [1.0, 2.5]
    assert wengert.where(mask, tensor([1, 2]), 2.5).dtype is wengert.float32
    assert tensor([3.0, 4.0]).where(mask, 0.0).tolist() == [3.0, 0.0]


def test_where_wants_a_bool_condition():
    message = "where expected condition to be a boolean tensor, but got a tensor with dtype Long"
    with pytest.raises(RuntimeError, match=message):
        wengert.where(tensor([1, 0]), 1.0, 0.0)


# -- overwriting -------------------------------------------------------------------------------------------------------


def test_overwritten_values_get_no_gradient():
    x, value = leaf(1.0, 2.0), leaf(5.0)
    y = x * 3
    y.fill_(value)
    assert y.tolist() == [5.0, 5.0] and node_name(y) == "FillBackward3"
    assert gradients(y, x, value) == [[0.0, 0.0], 2.0]
    z = (x * 3).zero_()
    assert z.tolist() == [0.0, 0.0] and node_name(z) == "ZeroBackward0"
    assert gradients(z, x) == [[0.0, 0.0]]


def test_copy_broadcasts_and_casts():
    target = wengert.zeros(2, 3)
    source = leaf(1.0, 2.0, 3.0)
    target.copy_(source)
    assert target.dtype is wengert.float32 and target.tolist() == [[1.0, 2.0, 3.0]] * 2
    assert gradients(target, source) == [[2.0, 2.0, 2.0]]
    assert gradients(target, source, create_graph=True) == [[2.0, 2.0, 2.0]]


def test_copy_into_part_of_a_tensor():
    x, y = leaf(1.0, 2.0, 3.0), leaf(10.0)
    z = x * 2
    z[1:2].copy_(y)
    assert z.tolist() == [2.0, 10.0, 6.0]
    assert gradients(z, x, y) == [[2.0, 0.0, 2.0], 1.0]


def test_fill_and_copy_refuse_values_that_do_not_fit():
    with pytest.raises(RuntimeError, match="fill_ only supports 0-dimension value tensor but got tensor with 1 dim"):
        wengert.zeros(2).fill_(tensor([1.0, 2.0]))
    with pytest.raises(RuntimeError, match="value cannot be converted to type int64_t without overflow"):
        tensor([1]).fill_(NAN)
    with pytest.raises(RuntimeError, match="must match the size"):
        wengert.zeros(2).copy_(wengert.zeros(3))


def test_numpy_operands():
    x = leaf(1.0, 2.0)
    y = np.array([10.0, 20.0]) * x
    assert isinstance(y, wengert.Tensor) and y.tolist() == [10.0, 40.0]
    assert gradients(np.float64(3) - x, x) == [[-1.0, -1.0]]
