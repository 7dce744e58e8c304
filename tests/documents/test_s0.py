"""The notes on torch 0.1.12: signatures, the one example, and each rule that they state."""

import pytest

import wengert
from cells import run_cell, run_cells
from wengert.autograd import Function, Variable, backward

EXAMPLE = [
    (1, "import torch\nfrom torch.autograd import Variable", ""),
    (2, "v = Variable(torch.Tensor([0,0,0]),requires_grad=True)", ""),
    (3, "h = v.register_hook(lambda grad:grad * 2)", ""),
    (4, "v.backward(torch.Tensor([1,1,1]))", ""),
    (5, "print(v.grad.data)", "tensor([2., 2., 2.])"),
    (6, "h.remove()", ""),
]


@pytest.fixture(scope="module")
def notebook():
    return run_cells(EXAMPLE)


@pytest.mark.parametrize(("number", "shown"), [(n, shown) for n, _, shown in EXAMPLE])
def test_example_shows(notebook, number, shown):
    """Row A39: the hook doubles the gradient before it is accumulated."""
    assert notebook[number].shown == shown and notebook[number].warned == []


def test_after_remove_the_hook_is_gone():
    """Rows A38 and A98: a handle, and nothing but a handle, removes it; more than once does nothing."""
    names = {}
    for _, source, _ in EXAMPLE:
        run_cell(source, names)
    names["v"].grad = None
    names["h"].remove()
    assert run_cell("v.backward(torch.Tensor([1,1,1]))\nprint(v.grad.data)", names).shown == "tensor([1., 1., 1.])"


def leaf(*values):
    return Variable(wengert.Tensor(values), requires_grad=True)


def test_backward_of_variables():
    """Row A1: backward(variables, grad_variables, retain_variables=False): the sum of the gradients; None is returned."""
    x, y = leaf(1, 2), leaf(3)
    roots = [x * 2, (y * y)]
    assert backward(roots, [wengert.Tensor([1, 10]), None], True) is None
    backward(roots, [wengert.Tensor([1, 10]), None], False)
    assert x.grad.tolist() == [4.0, 40.0] and y.grad.tolist() == [12.0]
    with pytest.raises(RuntimeError, match="second time"):
        backward(roots, [wengert.Tensor([1, 10]), None])


def test_a_non_scalar_needs_its_gradient_and_lengths_match():
    """Rows A3 and A34."""
    x = leaf(1, 2)
    with pytest.raises(RuntimeError, match="^grad can be implicitly created only for scalar outputs"):
        backward([x * 2], [None])
    with pytest.raises(RuntimeError, match="got 1 tensors and 2 gradients"):
        backward([x * 2], [wengert.ones(2), None])
    with pytest.raises(RuntimeError, match="^Mismatch in shape"):
        (x * 2).backward(wengert.ones(3))
    (x * 2).backward(wengert.ones(2).double())  # another floating dtype is cast
    assert x.grad.dtype is wengert.float32


def test_attributes_of_a_variable():
    """Rows A19, A21, A22, A24, A29: data, grad, requires_grad, volatile and creator."""
    data = wengert.Tensor([1, 2])
    x = Variable(data, requires_grad=True)
    y = x * 2
    assert x.data.data_ptr() == data.data_ptr() and not x.data.requires_grad
    assert x.grad is None and not x.volatile and y.requires_grad
    with pytest.warns(DeprecationWarning, match="grad_fn"):
        assert x.creator is None
    with pytest.warns(DeprecationWarning, match="grad_fn"):
        assert y.creator is y.grad_fn
    y.sum().backward()
    assert type(x.grad) is type(x) and x.grad.shape == x.shape and x.grad.dtype is x.dtype


def test_gradients_accumulate():
    """Row A4: zero them before the next call."""
    x = leaf(3)
    for expected in (6.0, 12.0):
        (x * x).backward()
        assert x.grad.item() == expected
    x.grad.data.zero_()
    (x * x).backward()
    assert x.grad.item() == 6.0


def test_retain_variables():
    """Rows A5 and A32: the buffers stay for another pass."""
    x = leaf(3)
    y = x * x
    with pytest.warns(DeprecationWarning, match="retain_graph"):
        y.backward(None, retain_variables=True)
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_detach():
    """Row A35: the same memory, no gradient, volatile if the input was; a write is seen by the check."""
    x = leaf(1, 2)
    y = x.exp()
    d = y.detach()
    assert not d.requires_grad and d.is_leaf and d.data_ptr() == y.data_ptr() and not d.volatile
    d.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    with pytest.warns(DeprecationWarning, match="volatile is what"):
        assert Variable(wengert.ones(1), volatile=True).detach().volatile


def test_detach_in_place():
    """Row A36 (the page's death_ is a misprint, and no name)."""
    x = leaf(1)
    y = x * 2
    assert y.detach_() is y and y.is_leaf and y.grad_fn is None and not y.requires_grad
    assert not hasattr(y, "death_")


def test_reinforce_takes_a_reward_of_the_same_shape():
    """Row A42."""
    s = leaf(0.5, 0.5).bernoulli()
    with pytest.warns(DeprecationWarning, match="reinforce"), pytest.raises(ValueError, match=r"size \[3\].*size \[2\]"):
        s.reinforce(wengert.ones(3))
    with pytest.warns(DeprecationWarning, match="reinforce"):
        s.reinforce(wengert.ones(2))
    s.backward(wengert.ones(2))


class Both(Function):
    """In the style of the notes."""

    def forward(self, x, y):
        self.save_for_backward(x, y)
        whole = x.round()
        self.mark_non_differentiable(whole)
        return x * y, whole

    def backward(self, grad_product, grad_whole):
        assert grad_whole is None
        x, y = self.saved_tensors
        return grad_product * y, grad_product * x


def test_attributes_of_a_function():
    """Rows A48, A50, A53, A54, A56, A57, A61, A63."""
    x, y = leaf(2), leaf(5)
    f = Both()
    with pytest.warns(DeprecationWarning, match="Both.apply"):
        product, whole = f(x * 1, y)
    assert f.needs_input_grad == (True, True) and (f.num_inputs, f.num_outputs) == (2, 2) and f.requires_grad
    with pytest.warns(DeprecationWarning, match="next_functions"):
        entries = f.previous_functions
    assert len(entries) == f.num_inputs and entries[1].function.variable is y and entries[0].index == 0
    assert [t.item() for t in f.saved_tensors] == [2.0, 5.0]
    product.backward()
    assert (x.grad.item(), y.grad.item()) == (5.0, 2.0) and not whole.requires_grad


def test_backward_gets_one_gradient_an_output_and_returns_one_an_input():
    """Row A94."""

    class Broken(Function):
        def forward(self, x, y):
            return x * y

        def backward(self, grad_output):
            return grad_output

    with pytest.warns(DeprecationWarning, match="Broken.apply"):
        z = Broken()(leaf(1), leaf(2))
    with pytest.raises(RuntimeError, match=r"^function Broken returned an incorrect number of gradients \(expected 2, got 1\)"):
        z.backward()


def test_mark_dirty():
    """Row A62: a write in forward is checked like any other write."""

    class Double(Function):
        def forward(self, x):
            self.mark_dirty(x)
            return x.mul_(2)

        def backward(self, grad_output):
            return grad_output * 2

    x = leaf(3)
    y = x * 1
    square = y * y
    with pytest.warns(DeprecationWarning, match="Double.apply"):
        z = Double()(y)
    assert z is y and z._version > 0
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        square.backward()
    z.backward()
    assert x.grad.item() == 2.0
