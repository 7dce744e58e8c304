"""A selection keeps what it did not select out of its derivative, also where that side's own derivative is infinite or NaN.

Each function of the table selects a constant at x[0] = 0 and something differentiable at x[1] = 4: so its derivatives, by
hand, are 0 and those of that something. docs/derivatives.md says what is done, and where it ends.
"""

from __future__ import annotations

import math
import threading
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import wengert
from loops import each
from wengert import func
from wengert.autograd import forward_ad, functional as autograd_functional, grad, gradcheck, gradgradcheck
from wengert.utils.checkpoint import checkpoint

inf = math.inf
POINT = [0.0, 4.0]
SQRT = (0.25, -1 / 32, 3 / 256)  # derivatives of sqrt at 4
LOG = (0.25, -1 / 16, 1 / 32)
INVERSE = (-1 / 16, 1 / 32, -3 / 128)


def leaf(data: Any, dtype: Any = wengert.float64) -> Any:
    return wengert.tensor(data, dtype=dtype, requires_grad=True)


def number(value: float) -> Any:
    return wengert.tensor(value, dtype=wengert.float64)


def assigned(x: Any) -> Any:
    y = x.log()
    y[x == 0] = 0.0
    return y


def assigned_tensor(x: Any) -> Any:
    y = x.log()
    y[x == 0] = wengert.zeros(1, dtype=wengert.float64)
    return y


def used_twice(x: Any) -> Any:
    y = x.sqrt()
    return wengert.where(x > 0, y, 0.0) + wengert.where(x > 1, y, 0.0)


@wengert.pointwise
def root(x: Any) -> Any:
    return wengert.sqrt(x) * 1.0


@wengert.pointwise
def selected_root(x: Any) -> Any:
    y = wengert.sqrt(x)
    return wengert.where(x > 0, y * 2, 0.0) - wengert.maximum(y, 1.0) + wengert.clamp(1 / x, max=7.0)


@wengert.pointwise
def replaced(x: Any) -> Any:
    return wengert.nan_to_num(4 / x, posinf=0.0) / 4


@wengert.pointwise
def value_of_zero(x: Any) -> Any:
    y = wengert.sqrt(x)
    return wengert.where(x > 1, y, 0.0) + y**2


def rows(x: Any) -> Any:
    """[[0, 0], [4, 4]] of [0, 4]."""
    return x.unsqueeze(1).expand(2, 2)


def read_twice(x: Any) -> Any:
    y = x.sqrt()
    return y[x > 0].sum() + y.masked_select(x > 1).sum() + wengert.where(x > 2, y, 0.0).sum()


def multiple(factor: float, derivatives: tuple[float, ...]) -> tuple[float, ...]:
    return tuple([factor * d for d in derivatives])


TABLE: dict[str, tuple[Callable[[Any], Any], tuple[float, ...]]] = {
    # which selection
    "where": (lambda x: wengert.where(x > 0, x.sqrt(), 0.0), SQRT),
    "where, other side": (lambda x: wengert.where(x == 0, 0.0, x.log()), LOG),
    "method where": (lambda x: x.sqrt().where(x > 0, x.new_zeros(2)), SQRT),
    "masked_fill": (lambda x: x.log().masked_fill(x == 0, 0.0), LOG),
    "masked_fill_": (lambda x: x.log().masked_fill_(x == 0, 0.0), LOG),
    "masked_fill with a tensor": (lambda x: x.log().masked_fill(x == 0, number(2.0)), LOG),
    "x[mask] = number": (assigned, LOG),
    "x[mask] = tensor": (assigned_tensor, LOG),
    "index_put": (lambda x: x.log().index_put((x == 0,), number(0.0)), LOG),
    "masked_scatter": (lambda x: x.log().masked_scatter(x == 0, wengert.zeros(2, dtype=wengert.float64)), LOG),
    "masked_scatter_": (lambda x: x.log().masked_scatter_(x == 0, wengert.zeros(2, dtype=wengert.float64)), LOG),
    "x[mask]": (lambda x: x.sqrt()[x > 0], SQRT),
    "x[mask, :]": (lambda x: rows(x).sqrt()[x > 0], multiple(2, SQRT)),
    "masked_select": (lambda x: x.sqrt().masked_select(x > 0), SQRT),
    "masked_select, broadcast": (lambda x: x.sqrt().masked_select(rows(x).T > 0), multiple(2, SQRT)),
    "clamp": (lambda x: x.sqrt().clamp(min=1.0), SQRT),
    "clamp between": (lambda x: x.log().clamp(-1.0, 3.0), LOG),
    "clamp with tensors": (lambda x: x.sqrt().clamp(min=number(1.0), max=number(3.0)), SQRT),
    "clamp_min": (lambda x: x.sqrt().clamp_min(1.0), SQRT),
    "clamp_max": (lambda x: (1 / x).clamp_max(5.0), INVERSE),
    "nan_to_num": (lambda x: (4 / x).nan_to_num(posinf=0.0) / 4, INVERSE),
    "nan_to_num in a pointwise program": (replaced, INVERSE),
    "maximum": (lambda x: wengert.maximum(x.sqrt(), number(1.0)), SQRT),
    "minimum": (lambda x: wengert.minimum(number(5.0), 1 / x), INVERSE),
    "fmax": (lambda x: wengert.fmax(x.log(), number(1.0)), LOG),
    "fmin": (lambda x: wengert.fmin(number(5.0), 1 / x), INVERSE),
    # what is between the selection and what is infinite
    "where in where": (lambda x: wengert.where(x >= 0, wengert.where(x > 0, x.log(), 1.0), 0.0), LOG),
    "elementwise chain": (lambda x: wengert.where(x > 0, -((2 * x.sqrt() + 1) / 2), 0.0), multiple(-1, SQRT)),
    "a factor of both": (lambda x: wengert.where(x > 0, wengert.log(x) * x.log().detach().exp() / 4, 0.0), LOG),
    "0-d factor": (lambda x: wengert.where(x > 0, number(2.0) * x.sqrt(), 0.0), multiple(2, SQRT)),
    "power": (lambda x: wengert.where(x > 0, x**0.5, 0.0), SQRT),
    "pointwise program": (lambda x: wengert.where(x > 0, root(x), 0.0), SQRT),
    "inside a pointwise program": (selected_root, tuple([a + b for a, b in zip(SQRT, INVERSE, strict=True)])),
    "views": (lambda x: wengert.where(rows(x).T > 0, x.sqrt().view(2, 1).expand(2, 2).permute(1, 0), 0.0), multiple(2, SQRT)),
    "slice": (lambda x: wengert.where((x > 0)[:1], x.sqrt()[:1], 0.0).sum() + x[1:].sqrt().sum(), SQRT),
    "reshape, flip, cat": (
        lambda x: wengert.where(wengert.cat([x, x]).flip(0) > 0, wengert.cat([x.sqrt(), x.log()]).flip(0), 0.0),
        tuple([a + b for a, b in zip(SQRT, LOG, strict=True)]),
    ),
    "stack": (lambda x: wengert.where(x > 0, wengert.stack([x.sqrt(), x.sqrt()]), 0.0), multiple(2, SQRT)),
    "sum": (lambda x: wengert.where(x > 0, rows(x).sqrt().sum(1), 0.0), multiple(2, SQRT)),
    "mean": (lambda x: wengert.where(x > 0, rows(x).sqrt().mean(1), 0.0), SQRT),
    "cumsum": (lambda x: wengert.where((x > 0).flip(0), x.sqrt().flip(0).cumsum(0), 0.0), SQRT),
    "gather": (lambda x: wengert.where(x > 0, x.sqrt()[wengert.tensor([0, 1])], 0.0), SQRT),
    "clone, cast, contiguous": (
        lambda x: wengert.where(x > 0, x.sqrt().clone().to(wengert.complex128).contiguous().real, 0.0), SQRT,
    ),
    "logsumexp": (lambda x: wengert.where(x > 0, wengert.logsumexp(rows(x).log(), 1), 0.0), LOG),
    "norm": (lambda x: wengert.where(x > 0, wengert.linalg.vector_norm(rows(x).sqrt(), dim=1), 0.0) / math.sqrt(2), SQRT),
    "prod": (lambda x: wengert.where(x > 0, wengert.stack([x.sqrt(), x * 0 + 1]).prod(0), 0.0), SQRT),
    # what is added up
    "two selections": (lambda x: wengert.where(x > 0, x.sqrt(), 0.0) + x.log().masked_fill(x == 0, 0.0),
                       tuple([a + b for a, b in zip(SQRT, LOG, strict=True)])),
    "reads by masks": (read_twice, multiple(3, SQRT)),
    "one branch selected from twice": (used_twice, multiple(2, SQRT)),
}  # fmt: skip


def derivatives(function: Callable[[Any], Any], x: Any, order: int) -> list[list[float]]:
    """The first derivatives of the sum of an elementwise function's results, up to an order."""
    found = []
    value = function(x).sum()
    for _ in range(order):
        (value,) = grad(value.sum(), x, create_graph=True)
        found.append(value.tolist())
    return found


@each("name", TABLE)
def test_elements_that_are_not_selected_have_the_derivative_0(name):
    function, expected = TABLE[name]
    x = leaf(POINT)
    value = function(x).sum()
    assert grad(value, x, retain_graph=True)[0].tolist() == pytest.approx([0.0, expected[0]])
    value.backward()
    assert x.grad.tolist() == pytest.approx([0.0, expected[0]])
    for found, wanted in zip(derivatives(function, x, 3), expected, strict=True):
        assert found == pytest.approx([0.0, wanted])


@each("name", TABLE)
def test_forward_mode_agrees(name):
    function, expected = TABLE[name]
    x = wengert.tensor(POINT, dtype=wengert.float64)
    ones = wengert.ones(2, dtype=wengert.float64)
    assert func.jvp(lambda x: function(x).sum(), (x,), (ones,))[1].item() == pytest.approx(expected[0])
    gradient = func.grad(lambda x: function(x).sum())
    assert func.jvp(gradient, (x,), (ones,))[1].tolist() == pytest.approx([0.0, expected[1]])  # forward over reverse


def test_a_zero_cotangent_that_is_a_value_stays_zero():
    assert math.isnan(derivatives(lambda x: x.sqrt() ** 2, leaf(POINT), 1)[0][0])  # as in torch
    assert math.isnan(derivatives(lambda x: x.sqrt() * 0, leaf(POINT), 1)[0][0])
    assert math.isnan(derivatives(lambda x: wengert.where(x >= 0, x.sqrt() * 0, 0.0), leaf(POINT), 1)[0][0])


BOUNDS: dict[str, Callable[[Any], Any]] = {
    "clamp": lambda x: x.sqrt().clamp(0, 1),
    "clamp min": lambda x: x.sqrt().clamp(min=3.0),
    "clamp with tensors": lambda x: x.sqrt().clamp(number(0.0), number(1.0)),
    "clamp_min": lambda x: x.sqrt().clamp_min(3.0),
    "clamp_max": lambda x: x.sqrt().clamp_max(1.0),
    "clip": lambda x: x.sqrt().clip(0, 1),
    "min": lambda x: number(5.0).clamp(min=x.sqrt()),
    "max": lambda x: number(1.0).clamp(max=x.sqrt()),
    "min and max": lambda x: number(1.0).clamp(number(0.0), x.sqrt()),
    "clamp_min's bound": lambda x: wengert.clamp_min(number(5.0), x.sqrt()),
    "clamp_max's bound": lambda x: wengert.clamp_max(number(1.0), x.sqrt()),
}


@each("name", BOUNDS)
def test_clamp_takes_a_nan_and_its_derivative(name):
    """clamp of NaN is NaN, so the branch that made the NaN is taken. At 4 another branch is."""
    for create_graph in (False, True):
        x = leaf([-1.0, 4.0])
        value = BOUNDS[name](x)
        assert math.isnan(value[0].item())
        (found,) = grad(value.sum(), x, create_graph=create_graph)
        assert math.isnan(found[0].item()) and found[1].item() == 0.0


def test_hooks_decide_together_which_elements_stay_untaken():
    def gradient(*hooks: Callable[[Any], Any]) -> list[float]:
        x = leaf(POINT)
        y = x.sqrt()
        for hook in hooks:
            y.register_hook(hook)
        return grad(wengert.where(x > 0, y, 0.0).sum(), x)[0].tolist()

    def in_place(g: Any) -> None:
        g.add_(1)

    assert gradient(lambda g: 2 * g) == [0.0, 0.5]
    assert gradient(lambda g: g + 1) == [inf, 0.5]
    assert gradient(in_place) == [inf, 0.5]  # a write in place counts as well
    assert gradient(lambda g: g + 1, lambda g: g - 1) == [0.0, 0.25]  # what the last one leaves counts


def test_a_zero_cotangent_that_is_a_value_stays_zero_in_programs():
    assert math.isnan(derivatives(value_of_zero, leaf(POINT), 1)[0][0])


def test_selected_elements_keep_an_infinite_derivative():
    def both(x):
        y = x.sqrt()
        return wengert.where(x > 0, y, 0.0) + y

    assert derivatives(both, leaf(POINT), 1)[0] == [inf, 0.5]
    assert derivatives(lambda x: both(x).flip(0), leaf(POINT), 1)[0] == [inf, 0.5]
    assert derivatives(lambda x: wengert.where(x >= 0, x.sqrt(), 0.0), leaf(POINT), 1)[0] == [inf, 0.25]


def test_only_common_untaken_places_stay_untaken():
    def function(x):
        y = x.sqrt()
        first = wengert.tensor([True, False, False])
        return wengert.where(first, y, 0.0) + wengert.where(~first & (x > 0), y, 0.0)

    assert derivatives(function, leaf([0.0, 0.0, 4.0]), 1)[0] == [inf, 0.0, 0.25]


def test_sums_of_broadcast_operands_are_finite():
    x, y, z = leaf(POINT), leaf(3.0), leaf([2.0])
    found = grad(wengert.where(x > 0, y * z / x, 0.0).sum(), (x, y, z), create_graph=True)
    assert [g.tolist() for g in found] == [[0.0, -6 / 16], 0.5, [0.75]]
    assert [g.tolist() for g in grad(found[0].sum(), (x, y, z))] == [[0.0, 12 / 64], -2 / 16, [-3 / 16]]


def test_an_operand_whose_every_use_is_untaken():
    x, scale = leaf(POINT), leaf(0.0)
    found = grad(wengert.where(x < 0, scale.sqrt() / x, 1.0).sum(), (x, scale))
    assert [g.tolist() for g in found] == [[0.0, 0.0], 0.0]


def test_an_unselected_number_blocks_all_gradients_behind_it():
    s = leaf(0.0)
    matrix = leaf([[0.0, 0.0], [0.0, 0.0]])
    assert grad(wengert.where(s > 0, s.sqrt(), 0.0), s)[0].item() == 0.0
    inverse = 1 / wengert.det(matrix)
    assert grad(wengert.where(inverse < inf, inverse.log(), 0.0), matrix)[0].tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_rows_of_attention_that_see_nothing():
    """softmax of nothing but -inf is NaN, and so is its derivative; a selection afterwards keeps both out."""
    scores = leaf([[1.0, 2.0], [3.0, 4.0]])
    seen = wengert.tensor([[True, True], [False, False]])
    weights = wengert.softmax(scores.masked_fill(~seen, -inf), -1).masked_fill(~seen, 0.0)
    (found,) = grad(weights[:, 0].sum(), scores)
    share = 1 / (1 + math.e)
    assert found.tolist()[0] == pytest.approx([share * (1 - share), -share * (1 - share)]) and found.tolist()[1] == [0.0, 0.0]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("create_graph", [False, True])
def test_every_dtype(dtype, create_graph):
    z = leaf(POINT, getattr(wengert, dtype))
    (found,) = grad(wengert.where(z != 0, z.log() / z, 0.0).sum(), z, wengert.ones((), dtype=z.dtype), create_graph=create_graph)
    few_roundings = 4 * wengert.finfo(z.dtype).eps
    assert found.tolist() == [0.0, pytest.approx((1 - math.log(4)) / 16, rel=few_roundings)]


@pytest.mark.parametrize("size", [7, 5000, 200_000])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_large_and_strided(size, dtype):
    x = leaf([[0.0, 4.0]] * size, getattr(wengert, dtype))
    for view in (x, x.T, x[::2]):
        (found,) = grad(wengert.where(view > 0, (2 * view).sqrt().exp().log(), 0.0).sum(), x)
        assert found[0].tolist() == [0.0, pytest.approx(1 / math.sqrt(8), rel=1e-5)]
        assert bool(found.isfinite().all())


# -- with the rest of the engine ---------------------------------------------------------------------------------------


def selected(x: Any) -> Any:
    return wengert.where(x > 0, x.sqrt(), 0.0)


def test_the_same_graph_twice():
    x = leaf(POINT)
    loss = selected(x).sum()
    loss.backward(retain_graph=True)
    loss.backward()
    assert x.grad.tolist() == [0.0, 0.5]


def test_hooks_see_finite_numbers_and_do_not_change_zeros():
    x = leaf(POINT)
    seen = []
    y = x.sqrt()
    y.register_hook(lambda g: seen.append(g.tolist()))
    y.retain_grad()
    y.grad_fn.register_prehook(lambda outputs: (outputs[0] * 2,))
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append(inputs[0].tolist()))
    wengert.where(x > 0, y, 0.0).sum().backward()
    assert seen == [[0.0, 1.0], [0.0, 0.5]]
    assert x.grad.tolist() == [0.0, 0.5] and y.grad.tolist() == [0.0, 1.0]


def test_a_hook_may_replace_a_gradient_of_0():
    x = leaf(POINT)
    for register in ("tensor", "prehook"):
        y = x.sqrt()
        if register == "tensor":
            y.register_hook(lambda g: g + 1)
        else:
            y.grad_fn.register_prehook(lambda outputs: (outputs[0] + 1,))
        assert grad(wengert.where(x > 0, y, 0.0).sum(), x)[0].tolist() == [inf, 0.5]
    y = x.sqrt() * 1
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] + 1, inputs[1]))
    assert grad(wengert.where(x > 0, y, 0.0).sum(), x)[0].tolist() == [inf, 0.5]


def test_anomaly_detection_finds_only_nan_that_stays():
    x = leaf(POINT)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with wengert.autograd.detect_anomaly():
            selected(x).sum().backward()
            with pytest.raises(RuntimeError, match="returned nan values"):
                (x.sqrt() ** 2).sum().backward()
    assert x.grad.tolist() == [0.0, 0.25]


def test_transforms():
    x = wengert.tensor(POINT, dtype=wengert.float64)

    def loss(x):
        return selected(x).sum()

    hessian = [[0.0, 0.0], [0.0, -1 / 32]]
    assert func.grad(loss)(x).tolist() == [0.0, 0.25]
    assert func.vjp(loss, x)[1](number(2.0))[0].tolist() == [0.0, 0.5]
    assert func.vmap(func.grad(selected))(x).tolist() == [0.0, 0.25]
    assert func.jacfwd(loss)(x).tolist() == [0.0, 0.25]
    for outer in (func.jacfwd, func.jacrev):
        for inner in (func.jacfwd, func.jacrev):
            assert outer(inner(loss))(x).abs().tolist() == [[0.0, 0.0], [0.0, 1 / 32]]
    assert func.hessian(loss)(x).tolist() == hessian
    assert autograd_functional.hessian(loss, x).tolist() == hessian
    assert autograd_functional.jacobian(selected, x).tolist() == [[0.0, 0.0], [0.0, 0.25]]


def test_gradients_of_tangents():
    x = leaf(POINT)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, wengert.ones(2, dtype=wengert.float64))
        tangent = forward_ad.unpack_dual(selected(dual).sum()).tangent
        assert tangent.item() == 0.25
        assert grad(tangent, x)[0].tolist() == [0.0, -1 / 32]


def test_gradcheck_where_the_other_branch_is_infinite():
    condition = wengert.tensor([False, True])
    inputs = (leaf(POINT), leaf(3.0))

    def function(x, y):
        return wengert.where(condition, x.sqrt() * y / x, 0.0)

    assert gradcheck(function, inputs, check_forward_ad=True)
    assert gradgradcheck(function, inputs, check_fwd_over_rev=True)


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_checkpoints(use_reentrant):
    x = leaf(POINT)
    checkpoint(selected, x, use_reentrant=use_reentrant).sum().backward()
    assert x.grad.tolist() == [0.0, 0.25]


def test_a_pass_inside_a_pass_and_passes_of_threads():
    x = leaf(POINT)
    y = x.sqrt()
    inner = []

    @y.register_hook
    @wengert.enable_grad()
    def pass_inside(ct):
        inner.append(grad(selected(x).sum(), x)[0].tolist())

    results: list[Any] = []
    loss = wengert.where(x > 0, y, 0.0).sum()
    threads = [
        threading.Thread(target=lambda: results.append(grad(loss, x, retain_graph=True)[0].tolist())) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[0.0, 0.25]] * 4 == inner


def test_graphs_are_released_at_once():
    x = leaf(POINT)
    y = x.sqrt()
    node = weakref.ref(y.grad_fn)
    loss = wengert.where(x > 0, y * 2, 0.0).sum()
    loss.backward()
    del loss, y
    assert node() is None


def test_a_long_loop_of_selections():
    """The untaken places of each step are made from the places of the next step. Neither computing nor freeing them may recurse."""
    x = leaf(POINT)
    keeps = wengert.tensor([False, True])
    for starts_infinite in (True, False):
        y = x.sqrt() if starts_infinite else x * 2.0
        for _ in range(20_000):
            y = wengert.where(keeps, y, 1.0)
        (found,) = grad(y.sum(), x)
        assert found.tolist() == [0.0, 0.25 if starts_infinite else 2.0]


def test_views_functions_and_matrix_products_still_multiply_by_0():
    """Documented limits: writes into views, custom Functions and matrix products see 0, and multiply it."""

    class Root(wengert.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sqrt()

        @staticmethod
        def backward(ctx, ct):
            (x,) = ctx.saved_tensors
            return ct / (2 * x.sqrt())

    x = leaf(POINT)
    assert math.isnan(grad(wengert.where(x > 0, Root.apply(x), 0.0).sum(), x)[0][0].item())
    product = wengert.eye(2, dtype=wengert.float64) @ x.sqrt()
    assert math.isnan(grad(wengert.where(x > 0, product, 0.0).sum(), x)[0][0].item())
    y = x.log()
    y[:1].masked_fill_(x[:1] == 0, 0.0)
    assert math.isnan(grad(y.sum(), x)[0][0].item())
