"""The reference page of torch 0.2 and 0.3: its signatures, its example, and each rule that it states."""

import warnings

import pytest

import wengert
from cells import run_cells
from wengert.autograd import Function, Variable, backward, grad

EXAMPLE = [
    (1, "import torch\nfrom torch.autograd import Variable", ""),
    (2, "v = Variable(torch.Tensor([0, 0, 0]), requires_grad=True)", ""),
    (3, "h = v.register_hook(lambda grad: grad * 2)  # double the gradient", ""),
    (4, "v.backward(torch.Tensor([1, 1, 1]))", ""),
    (5, "v.grad.data", "tensor([2., 2., 2.])"),  # today's form of the page's column of 2s
    (6, "h.remove()  # removes the hook", ""),
]


@pytest.mark.parametrize("number", [n for n, *_ in EXAMPLE])
def test_example_shows(number):
    cells = run_cells(EXAMPLE)
    assert cells[number].shown == EXAMPLE[number - 1][2] and cells[number].warned == []


def leaf(*values):
    return Variable(wengert.Tensor(values), requires_grad=True)


# -- backward and grad -----------------------------------------------------------------------------------------------------


def test_none_is_taken_for_scalars_and_for_tensors_without_gradient():
    x = leaf(1, 2)
    backward([x.sum(), (x * 2)], [None, wengert.ones(2)])
    backward([x.sum(), x.sum()])
    assert x.grad.tolist() == [5.0, 5.0]


def test_retain_graph_defaults_to_create_graph():
    """Row A6."""
    x = leaf(3)
    y = x * x
    grad(y, x, create_graph=True)
    grad(y, x)
    with pytest.raises(RuntimeError, match="second time"):
        grad(y, x)


def test_create_graph_defaults_to_whether_a_gradient_has_history():
    """Rows A7, A8, A10: create_graph=None, and tensors without history as gradients."""
    x, w = leaf(3), leaf(1)
    with_history, = grad([x * x], [x], [w], None, None, True)
    without, = grad([x * x], [x], [wengert.ones(1)], None, None, True)
    assert with_history.requires_grad and not without.requires_grad
    assert grad(with_history, w)[0].item() == 6.0


def test_grad_accumulates_nothing():
    x, y = leaf(1), leaf(2)
    assert grad([x * y, x], [x])[0].item() == 3.0
    assert x.grad is None and y.grad is None


def test_only_inputs_false():
    """Row A11: the gradients of the other leaves are added into their .grad."""
    x, y = leaf(1), leaf(2)
    with pytest.warns(FutureWarning, match="only_inputs"):
        (found,) = grad(x * y, x, only_inputs=False)
    assert found.item() == 2.0 and y.grad.item() == 1.0 and x.grad is None


def test_an_unused_input_is_an_error():
    """Row A12."""
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        grad(leaf(1) * 2, leaf(1))


# -- Variable --------------------------------------------------------------------------------------------------------------


def test_variables_take_the_place_of_tensors():
    """Row A47: an operation takes both, and so does one expression."""
    x, t = leaf(1, 2), wengert.Tensor([3, 4])
    assert (x + t).tolist() == (t + x).tolist() == [4.0, 6.0]
    assert wengert.dot(x, t).item() == 11.0 and isinstance(t, Variable) and isinstance(x, wengert.Tensor)


def test_a_write_that_would_falsify_a_gradient_is_an_error():
    """Row A45: if a pass raises nothing, its gradients are right."""
    x = leaf(1, 2)
    y = x * 1
    z = y.exp()
    y.add_(1)  # exp has saved its result, not y
    z.sum().backward()
    assert x.grad.tolist() == pytest.approx([2.7182818, 7.3890561])
    y = x * 1
    z = y * y
    y.add_(1)
    with pytest.raises(RuntimeError, match="one of the variables needed for gradient computation has been modified"):
        z.sum().backward()


def test_a_leaf_is_not_written():
    """Row A46."""
    with pytest.raises(RuntimeError, match="^a leaf Variable that requires grad is being used in an in-place operation"):
        leaf(1).add_(1)


def test_attributes():
    """Rows A22, A23, A24, A30, A31."""
    x = leaf(1, 2)
    y = x * 2
    y.sum().backward()
    assert x.grad_fn is None and x.is_leaf and y.grad_fn.name() == "MulBackward0" and not y.is_leaf
    assert x.grad.shape == x.shape and x.grad.dtype is x.dtype
    with pytest.warns(UserWarning, match="not a leaf Tensor"):
        assert y.grad is None  # the page says zero; None is what was printed
    with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf variables"):
        y.requires_grad = False


def test_flags_by_keyword():
    with pytest.warns(DeprecationWarning, match="no_grad"):
        assert Variable(data=wengert.ones(1), volatile=True, requires_grad=False).volatile


def test_backward_of_a_variable():
    """Rows A32 and A33: every name that the gradient had."""
    x = leaf(1, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        (x * 2).backward(gradient=wengert.ones(2), retain_variables=False)
        (x * 2).backward(grad_variables=wengert.ones(2), retain_graph=None, create_graph=None)
    assert x.grad.tolist() == [4.0, 4.0]


def test_detach_of_a_volatile_variable():
    with pytest.warns(DeprecationWarning, match="volatile"):
        v = Variable(wengert.ones(1), volatile=True)
    assert v.detach().volatile and not leaf(1).detach().volatile


def test_hooks_are_called_with_every_gradient():
    """Row A37."""
    seen = []
    x = leaf(1)
    handle = x.register_hook(lambda g: seen.append(g.item()))
    for factor in (2, 3):
        (x * factor).backward()
    handle.remove()
    (x * 4).backward()
    assert seen == [2.0, 3.0] and x.grad.item() == 9.0


def test_a_stochastic_node_needs_a_reward():
    p = leaf(0.5)
    with pytest.raises(RuntimeError, match="^differentiating stochastic functions requires providing a reward"):
        p.bernoulli().backward()


def test_retain_grad():
    """Row A44."""
    x = leaf(3)
    y = x * 2
    y.retain_grad()
    (y * y).backward()
    assert y.grad.item() == 12.0


# -- Function --------------------------------------------------------------------------------------------------------------


class Power(Function):
    @staticmethod
    def forward(ctx, x, n):
        ctx.n = n
        ctx.save_for_backward(x)
        return x**n

    @staticmethod
    def backward(ctx, grad_output):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            (x,) = ctx.saved_variables
        return grad_output * ctx.n * x ** (ctx.n - 1), None


def test_saved_variables_have_history():
    """Row A55: so a backward made of operations can be differentiated again."""
    x = leaf(2)
    (first,) = grad(Power.apply(x, 3), x, create_graph=True)
    (second,) = grad(first, x)
    assert (first.item(), second.item()) == (12.0, 12.0)


def test_attributes_of_a_function():
    """Rows A51, A56, A57."""
    y = Power.apply(leaf(2), 3)
    node = y.grad_fn
    assert node.needs_input_grad == (True, False) and (node.num_inputs, node.num_outputs) == (2, 1)
    assert node.requires_grad and [t.item() for t in node.saved_tensors] == [2.0]


def test_a_function_object_is_used_once():
    """Row A65."""

    class Twice(Function):
        def forward(self, x):
            return x * 2

        def backward(self, grad_output):
            return grad_output * 2

    f = Twice()
    with pytest.warns(DeprecationWarning, match="Twice.apply"):
        f(leaf(1))
    with pytest.warns(DeprecationWarning, match="Twice.apply"), pytest.raises(RuntimeError, match="^each Twice can be used once"):
        f(leaf(1))


def test_nodes_run_in_topological_order_the_newest_first():
    """Row A92: a guarantee."""
    order = []
    x = leaf(1)
    a, b = x * 2, x * 3
    c = a + b
    for name, tensor in (("a", a), ("b", b), ("c", c)):
        tensor.register_hook(lambda g, name=name: order.append(name))
    c.backward()
    assert order == ["c", "b", "a"]
