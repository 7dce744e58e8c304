"""autograd.grad: what it returns, what it leaves alone, higher derivatives."""

import warnings

import numpy as np
import pytest

import wengert
from snapshots import Unchanged, values
from wengert.autograd import Function, grad
from wengert.autograd.graph import GradientEdge, get_gradient_edge


def leaf(*numbers):
    return wengert.tensor(list(numbers), dtype=wengert.float64, requires_grad=True)


def scalar(number):
    return wengert.tensor(number, dtype=wengert.float64, requires_grad=True)


def numbers(*values):
    return wengert.tensor(list(values), dtype=wengert.float64)


# -- results ---------------------------------------------------------------------------------------------------------------


def test_returns_a_tuple_also_for_one_input():
    x = scalar(3.0)
    result = grad(x * x, x)
    assert type(result) is tuple and len(result) == 1 and result[0].item() == 6.0


def test_results_come_in_the_order_of_inputs():
    x, w = scalar(3.0), scalar(5.0)
    y = x * x * w
    assert [g.item() for g in grad(y, [w, x])] == [9.0, 30.0]
    y = x * x * w
    assert [g.item() for g in grad(y, (x, w))] == [30.0, 9.0]


def test_no_grad_attribute_is_touched():
    x, w = scalar(3.0), scalar(5.0)
    x.grad = wengert.tensor(0.5, dtype=wengert.float64)
    y = x * w
    with Unchanged(x, w, y):
        grad(y, x)
    assert w.grad is None


def test_results_do_not_require_grad():
    x = scalar(3.0)
    (g,) = grad(x * x, x)
    assert not g.requires_grad and g.is_leaf


def test_grad_outputs_weigh_the_elements():
    x = leaf(1.0, 2.0)
    (g,) = grad(x * x, x, numbers(1.0, 10.0))
    assert g.tolist() == [2.0, 40.0]
    (g,) = grad([x * x, x * 3], [x], grad_outputs=[numbers(1.0, 10.0), numbers(1.0, 1.0)])
    assert g.tolist() == [5.0, 43.0]


def test_outputs_add_up():
    x = scalar(3.0)
    (g,) = grad([x * x, x * 5], x)
    assert g.item() == 11.0
    y = x * x
    (g,) = grad([y, y], x)
    assert g.item() == 12.0


def test_one_input_several_times():
    x = scalar(3.0)
    assert [g.item() for g in grad(x * x, [x, x])] == [6.0, 6.0]
    first, second = grad(x * x, [x, x])
    assert first is not second and not np.shares_memory(first.numpy(), second.numpy())


def test_an_output_as_input():
    x = leaf(1.0, 2.0)
    given = numbers(5.0, 7.0)
    (g,) = grad(x, x, given)
    assert g.tolist() == [5.0, 7.0] and not np.shares_memory(g.numpy(), given.numpy())
    y = x * x
    assert [g.tolist() for g in grad(y, [y, x], given)] == [[5.0, 7.0], [10.0, 28.0]]


def test_interior_inputs():
    x = scalar(3.0)
    y = x * x
    z = y * y
    assert [g.item() for g in grad(z, [y], retain_graph=True)] == [18.0]
    assert [g.item() for g in grad(z, [x, y])] == [108.0, 18.0]
    assert x.grad is None


def test_an_interior_input_of_a_node_with_several_outputs():
    x = leaf(1.0, 2.0, 3.0)
    a, b, c = (x * x).unbind(0)
    ga, gc = grad(a * c, [a, c])
    assert (ga.item(), gc.item()) == (9.0, 1.0)
    a, b, c = (x * x).unbind(0)
    (gx,) = grad(a * c, x)
    assert gx.tolist() == [2.0 * 9.0, 0.0, 1.0 * 6.0]


def test_results_share_no_memory():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    gx, gw = grad((x + w).sum(), [x, w])
    assert not np.shares_memory(gx.numpy(), gw.numpy())
    gx.add_(1)
    assert gw.tolist() == [1.0, 1.0]


def test_dtype_and_shape_are_the_inputs():
    x = wengert.zeros(3, 1, dtype=wengert.float32, requires_grad=True)
    (g,) = grad((x + wengert.ones(2, 3, 4, dtype=wengert.float64)).sum(), x)
    assert g.dtype is wengert.float32 and g.tolist() == [[8.0], [8.0], [8.0]]


def test_nodes_that_no_input_needs_do_not_run():
    class Explodes(Function):
        @staticmethod
        def forward(ctx, a):
            return a * 1

        @staticmethod
        def backward(ctx, g):
            raise AssertionError("must not run")

    x, w = scalar(3.0), scalar(5.0)
    y = x * Explodes.apply(w)
    assert [g.item() for g in grad(y, x)] == [5.0]
    # Behind an interior input nothing runs either.
    middle = Explodes.apply(w) * 2
    assert [g.item() for g in grad(middle * middle, middle)] == [20.0]


def test_hooks_of_other_leaves_do_not_run():
    x, w = scalar(3.0), scalar(5.0)
    seen = []
    w.register_hook(lambda g: seen.append("w"))
    x.register_hook(lambda g: seen.append("x"))
    grad(x * w, x)
    assert seen == ["x"]


def test_grad_under_no_grad():
    x = scalar(3.0)
    y = x * x
    with wengert.no_grad():
        assert grad(y, x)[0].item() == 6.0


def test_create_graph_under_no_grad_still_records():
    x = scalar(3.0)
    y = x * x * x
    with wengert.no_grad():
        (g,) = grad(y, x, create_graph=True)
    assert g.requires_grad
    assert grad(g, x)[0].item() == 18.0


# -- edges -----------------------------------------------------------------------------------------------------------------


def test_gradient_edges_as_outputs_and_inputs():
    x = leaf(1.0, 2.0)
    y = x * x
    z = y.sum()
    assert grad(get_gradient_edge(z), x, retain_graph=True)[0].tolist() == [2.0, 4.0]
    assert grad(z, get_gradient_edge(x), retain_graph=True)[0].tolist() == [2.0, 4.0]
    assert grad([get_gradient_edge(z)], [get_gradient_edge(y)], retain_graph=True)[0].tolist() == [1.0, 1.0]
    assert grad(GradientEdge(y.grad_fn, 0), x, numbers(1.0, 0.0))[0].tolist() == [2.0, 0.0]


def test_an_edge_outlives_its_tensor():
    x = scalar(3.0)
    y = x * x
    edge = get_gradient_edge(y)
    z = y * y
    del y
    assert grad(z, edge)[0].item() == 18.0


# -- unused inputs ---------------------------------------------------------------------------------------------------------


def test_an_unused_input_is_an_error():
    x, other = scalar(3.0), scalar(5.0)
    y = x * x
    with (
        Unchanged(x, other, y),
        pytest.raises(
            RuntimeError,
            match=r"^The differentiated Tensor at index 1 appears to not have been used in the graph\. "
            r"Set allow_unused=True if this is the desired behavior\.",
        ),
    ):
        grad(y, [x, other], retain_graph=True)
    assert grad(y, x)[0].item() == 6.0


def test_allow_unused_gives_none():
    x, other = scalar(3.0), leaf(1.0, 2.0)
    gx, unused = grad(x * x, [x, other], allow_unused=True)
    assert gx.item() == 6.0 and unused is None


def test_materialize_grads_gives_zeros():
    x, other = scalar(3.0), leaf(1.0, 2.0)
    gx, zeros = grad(x * x, [x, other], materialize_grads=True)
    assert gx.item() == 6.0 and zeros.tolist() == [0.0, 0.0] and zeros.dtype is wengert.float64


def test_materialize_grads_refuses_allow_unused_false():
    x = scalar(3.0)
    y = x * x
    with Unchanged(x, y), pytest.raises(ValueError, match=r"^Expected allow_unused to be True or not passed when"):
        grad(y, x, allow_unused=False, materialize_grads=True)
    assert grad(y, x)[0].item() == 6.0


def test_materialize_grads_refuses_an_edge_that_is_not_reached():
    x, other = scalar(3.0), scalar(5.0)
    with pytest.raises(RuntimeError, match=r"^materialize_grads cannot be used when the given input is a GradientEdge"):
        grad(x * x, get_gradient_edge(other), materialize_grads=True)


def test_a_version_of_the_input_after_the_output_is_unused():
    x = scalar(3.0)
    y = x * x
    later = y * 2
    with pytest.raises(RuntimeError, match=r"^The differentiated Tensor at index 0 appears to not have been used"):
        grad(y, later)


# -- only_inputs -----------------------------------------------------------------------------------------------------------


def test_only_inputs_true_is_the_default():
    x, w = scalar(3.0), scalar(5.0)
    grad(x * w, x, only_inputs=True)
    assert w.grad is None


def test_only_inputs_false_accumulates_into_the_other_leaves():
    x, w = scalar(3.0), scalar(5.0)
    y = x * x
    with pytest.warns(FutureWarning, match="only_inputs argument is deprecated") as caught:
        assert grad(y * w, y, only_inputs=False)[0].item() == 5.0
    assert caught[0].filename == __file__
    assert w.grad.item() == 9.0 and x.grad.item() == 30.0


# -- higher derivatives ----------------------------------------------------------------------------------------------------


def test_derivatives_of_a_power_to_the_fourth():
    """x^5 at 2: 80, 160, 240, 240; 120 then no x is left."""
    x = scalar(2.0)
    y = x**5
    found = []
    for _ in range(4):
        (y,) = grad(y, x, create_graph=True)
        found.append(y.item())
    assert found == [80.0, 160.0, 240.0, 240.0]
    (fifth,) = grad(y, x)
    assert fifth.item() == 120.0


def test_derivatives_of_sine_to_the_fourth():
    x = leaf(0.3, -1.2)
    y = x.sin()
    expected = [np.cos, lambda a: -np.sin(a), lambda a: -np.cos(a), np.sin]
    for f in expected:
        (y,) = grad(y.sum(), x, create_graph=True)
        np.testing.assert_allclose(values(y), f(np.array([0.3, -1.2])), rtol=1e-14)


def test_mixed_derivatives():
    """f = x^2 y^3: f_xy = 6 x y^2 = f_yx."""
    x, y = scalar(2.0), scalar(3.0)
    f = x**2 * y**3
    fx, fy = grad(f, [x, y], create_graph=True)
    (fxy,) = grad(fx, y, retain_graph=True)
    (fyx,) = grad(fy, x)
    assert fxy.item() == fyx.item() == 6 * 2 * 9


def test_hessian_of_a_quadratic_form():
    a = np.array([[2.0, 1.0], [1.0, 5.0]])
    x = leaf(0.5, -1.0)
    (g,) = grad(x @ wengert.from_numpy(a) @ x, x, create_graph=True)
    rows = [grad(g[i], x, retain_graph=True)[0] for i in range(2)]
    np.testing.assert_allclose([values(r) for r in rows], 2 * a)


def test_a_gradient_is_part_of_a_loss():
    """Gradient penalty: d/dw (d/dx w x^2)^2 = d/dw 4 w^2 x^2 = 8 w x^2."""
    x, w = scalar(3.0), scalar(0.5)
    (gx,) = grad(w * x * x, x, create_graph=True)
    (gx * gx).backward()
    assert w.grad.item() == 8 * 0.5 * 9


def test_second_derivative_with_respect_to_the_cotangent():
    """J^T v is linear in v: its derivative is J v'."""
    x = leaf(1.0, 2.0)
    v = leaf(3.0, 4.0)
    (g,) = grad(x * x, x, v, create_graph=True)
    assert g.tolist() == [6.0, 16.0]
    (back,) = grad(g, v, numbers(1.0, 10.0))
    assert back.tolist() == [2.0, 40.0]


def test_create_graph_of_a_linear_function_gives_a_constant():
    x = scalar(3.0)
    (g,) = grad(x * 5, x, create_graph=True)
    assert g.item() == 5.0 and not g.requires_grad
    with pytest.raises(RuntimeError, match=r"^element 0 of tensors does not require grad"):
        grad(g, x)


def test_create_graph_keeps_the_graph():
    x = scalar(3.0)
    y = x * x
    grad(y, x, create_graph=True)
    grad(y, x, create_graph=True)
    grad(y, x, retain_graph=False)
    with pytest.raises(RuntimeError, match=r"^Trying to backward through the graph a second time"):
        grad(y, x)


def test_create_graph_with_retain_graph_false_frees_the_first_graph():
    x = scalar(3.0)
    y = x * x * x
    (g,) = grad(y, x, create_graph=True, retain_graph=False)
    assert g.item() == 27.0
    with pytest.raises(RuntimeError, match=r"^Trying to backward through the graph a second time"):
        grad(y, x)


def test_no_warning_about_cycles():
    x = scalar(3.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        grad(x * x, x, create_graph=True)


# -- errors leave everything as it was ---------------------------------------------------------------------------------------

ERRORS = {
    "no inputs": (lambda x, y: grad(y, []), RuntimeError, r"^`inputs` argument to `grad\(\)` cannot be empty\."),
    "input without requires_grad": (
        lambda x, y: grad(y, [x, numbers(1.0)], numbers(1.0, 1.0)),
        RuntimeError,
        r"^One of the differentiated Tensors does not require grad",
    ),
    "input of a wrong type": (
        lambda x, y: grad(y, [3], numbers(1.0, 1.0)),
        RuntimeError,
        r"^all inputs have to be Tensors or GradientEdges, but got int",
    ),
    "non-scalar": (lambda x, y: grad(y, x), RuntimeError, r"^grad can be implicitly created only for scalar outputs"),
    "shape": (lambda x, y: grad(y, x, numbers(1.0)), RuntimeError, r"^Mismatch in shape: grad_output\[0\]"),
    "gradient of a wrong type": (
        lambda x, y: grad([y], x, [1.0]),
        TypeError,
        r"^gradients can be either Tensors or None, but got float",
    ),
    "too many gradients": (
        lambda x, y: grad(y, x, [numbers(1.0, 1.0)] * 2),
        RuntimeError,
        r"^got 1 tensors and 2 gradients",
    ),
    "output without graph": (
        lambda x, y: grad(numbers(1.0), x),
        RuntimeError,
        r"^element 0 of tensors does not require grad and does not have a grad_fn",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_error_leaves_everything_as_it_was(case):
    provoke, kind, text = ERRORS[case]
    x = leaf(1.0, 2.0)
    x.grad = numbers(0.5, 0.25)
    y = x * x
    with Unchanged(x, y), pytest.raises(kind, match=text):
        provoke(x, y)
    assert grad(y, x, numbers(1.0, 1.0))[0].tolist() == [2.0, 4.0]


def test_get_gradient_edge_needs_requires_grad():
    with pytest.raises(RuntimeError, match=r"^It is not possible to get the gradient edge for a Tensor that does not"):
        get_gradient_edge(numbers(1.0))


# -- batches of cotangents -------------------------------------------------------------------------------------------


def test_a_batch_of_cotangents_gives_a_jacobian():
    x = wengert.tensor([1.0, 2.0], requires_grad=True)
    y = x**2
    (found,) = grad(y, x, wengert.eye(2), is_grads_batched=True, retain_graph=True)
    assert found.tolist() == [[2.0, 0.0], [0.0, 4.0]]
    (recorded,) = grad(y, x, wengert.eye(2), is_grads_batched=True, create_graph=True)
    assert grad(recorded.sum(), x)[0].tolist() == [2.0, 2.0]
    other = wengert.ones(1, requires_grad=True)
    both = grad((y, y.sum()), (x, other), (wengert.ones(3, 2), wengert.ones(3)), is_grads_batched=True, allow_unused=True)
    assert both[0].tolist() == [[4.0, 8.0]] * 3
    assert both[1] is None
    with pytest.raises(RuntimeError, match="a second time"):  # freed by the last pass of the batch
        grad(y, x, wengert.ones(2))


def test_batches_that_do_not_fit():
    x = wengert.tensor([1.0, 2.0], requires_grad=True)
    y = x**2
    message = r"first dimension of each grad_output as the batch dimension.*grad_output\[0\] has a shape of torch.Size\(\[3\]\)"
    with pytest.raises(RuntimeError, match=message):
        grad(y, x, wengert.ones(3, 3), is_grads_batched=True)
    with pytest.raises(ValueError, match=r"same size in the mapped dimension, got sizes \[3, 4\]"):
        grad((y, y), x, (wengert.ones(3, 2), wengert.ones(4, 2)), is_grads_batched=True)
    with pytest.raises(ValueError, match="needs a grad_output, with a batch dimension in front, for every output"):
        grad(y.sum(), x, is_grads_batched=True)
