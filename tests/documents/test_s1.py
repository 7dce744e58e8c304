"""The reference page "torch.autograd" (torch 1.x): its signatures, examples and promises.

The examples are doctests. Where the page leaves out what an expression shows, it is filled in.
"""

import doctest
import inspect

import numpy as np
import pytest

import wengert

NO_GRAD = """
>>> x = torch.tensor([1], requires_grad=True)
>>> with torch.no_grad():
...   y = x * 2
>>> y.requires_grad
False
>>> @torch.no_grad()
... def doubler(x):
...     return x * 2
>>> z = doubler(x)
>>> z.requires_grad
False
"""

ENABLE_GRAD = """
>>> x = torch.tensor([1], requires_grad=True)
>>> with torch.no_grad():
...   with torch.enable_grad():
...     y = x * 2
>>> y.requires_grad
True
>>> y.backward()
>>> x.grad
tensor([2.])
>>> @torch.enable_grad()
... def doubler(x):
...     return x * 2
>>> with torch.no_grad():
...     z = doubler(x)
>>> z.requires_grad
True
"""

SET_GRAD_ENABLED = """
>>> x = torch.tensor([1], requires_grad=True)
>>> is_train = False
>>> with torch.set_grad_enabled(is_train):
...   y = x * 2
>>> y.requires_grad
False
>>> torch.set_grad_enabled(True)
torch.autograd.grad_mode.set_grad_enabled(mode=True)
>>> y = x * 2
>>> y.requires_grad
True
>>> torch.set_grad_enabled(False)
torch.autograd.grad_mode.set_grad_enabled(mode=False)
>>> y = x * 2
>>> y.requires_grad
False
"""


class Modes:
    """torch with the grad modes of torch.autograd, which are the same."""

    def __getattr__(self, name):
        return getattr(wengert.autograd, name, None) or getattr(wengert, name)


@pytest.mark.parametrize("example", [NO_GRAD, ENABLE_GRAD, SET_GRAD_ENABLED], ids=["no_grad", "enable_grad", "set_grad"])
@pytest.mark.parametrize("torch", [wengert, Modes()], ids=["torch.x", "torch.autograd.x"])
def test_example(example, torch, restored_grad_mode):
    test = doctest.DocTestParser().get_doctest(example, {"torch": torch}, "s1", None, 0)
    complaints = []
    failed, tried = doctest.DocTestRunner(verbose=False).run(test, out=complaints.append)
    assert failed == 0 and tried > 4, "".join(complaints)


@pytest.fixture
def restored_grad_mode():
    before = wengert.is_grad_enabled()
    yield
    wengert.set_grad_enabled(before)


def test_integer_data_with_requires_grad_becomes_the_default_float():
    x = wengert.tensor([1], requires_grad=True)
    assert x.dtype is wengert.float32 and x.requires_grad
    with pytest.raises(RuntimeError, match=r"^Only Tensors of floating point and complex dtype can require gradients"):
        wengert.tensor([1], dtype=wengert.int64, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"^only Tensors of floating point and complex dtype can require gradients"):
        wengert.tensor([1]).requires_grad_()


def test_signature_of_backward():
    parameters = inspect.signature(wengert.autograd.backward).parameters
    defaults = [(name, p.default) for name, p in parameters.items()][:5]
    assert defaults == [
        ("tensors", inspect.Parameter.empty),
        ("grad_tensors", None),
        ("retain_graph", None),
        ("create_graph", False),
        ("grad_variables", None),
    ]


def test_signature_of_grad():
    parameters = inspect.signature(wengert.autograd.grad).parameters
    assert list(parameters)[:7] == [
        "outputs", "inputs", "grad_outputs", "retain_graph", "create_graph", "only_inputs", "allow_unused",
    ]  # fmt: skip
    assert [parameters[name].default for name in ("grad_outputs", "retain_graph", "create_graph", "only_inputs")] == [
        None, None, False, True,
    ]  # fmt: skip
    assert not parameters["allow_unused"].default  # None or False


def test_backward_takes_a_tensor_or_a_sequence():
    x = wengert.tensor([1.0, 2.0], requires_grad=True)
    wengert.autograd.backward(x.sum())
    wengert.autograd.backward([x.sum(), (x * x).sum()])
    wengert.autograd.backward((x * x,), (wengert.tensor([1.0, 10.0]),))
    wengert.autograd.backward(x * x, wengert.tensor([1.0, 10.0]))
    np.testing.assert_array_equal(x.grad.numpy(), [1 + 1 + 2 + 2 + 2, 1 + 1 + 4 + 40 + 40])


def test_a_vector_needs_the_tensor_for_its_dot_product():
    x = wengert.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(RuntimeError, match=r"^grad can be implicitly created only for scalar outputs"):
        wengert.autograd.backward(x * x)
    with pytest.raises(RuntimeError, match=r"^Mismatch in shape: grad_output\[0\] has a shape of torch.Size\(\[3\]\)"):
        wengert.autograd.backward(x * x, wengert.ones(3))
    assert x.grad is None


def test_gradients_add_up_until_they_are_zeroed():
    x = wengert.tensor([3.0], requires_grad=True)
    for expected in (2.0, 4.0, 6.0):
        (x * 2).backward()
        assert x.grad.item() == expected
    for zero in (lambda: x.grad.data.zero_(), lambda: x.grad.zero_(), lambda: setattr(x, "grad", None)):
        zero()
        (x * 2).backward()
        assert x.grad.item() == 2.0


def test_the_graph_is_freed_unless_retained():
    x = wengert.tensor([3.0], requires_grad=True)
    y = x * x
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(RuntimeError, match=r"^Trying to backward through the graph a second time"):
        y.backward()
    assert x.grad.item() == 12.0


def test_create_graph_gives_higher_derivatives():
    x = wengert.tensor(2.0, requires_grad=True)
    (first,) = wengert.autograd.grad(x**4, x, create_graph=True)
    (second,) = wengert.autograd.grad(first, x, create_graph=True)
    (third,) = wengert.autograd.grad(second, x)
    assert (first.item(), second.item(), third.item()) == (32.0, 48.0, 48.0)  # 4 x^3, 12 x^2, 24 x


def test_grad_returns_a_tuple_and_leaves_grad_alone():
    x = wengert.tensor(2.0, requires_grad=True)
    result = wengert.autograd.grad(outputs=x * x, inputs=x)
    assert type(result) is tuple and result[0].item() == 4.0 and x.grad is None


def test_only_inputs_false_also_accumulates_into_other_leaves():
    """Row A11: torch 2.13 ignores it; the page's words hold here."""
    x = wengert.tensor(2.0, requires_grad=True)
    w = wengert.tensor(5.0, requires_grad=True)
    with pytest.warns(FutureWarning, match="only_inputs"):
        (grad,) = wengert.autograd.grad(x * w, x, only_inputs=False)
    assert grad.item() == 5.0 and w.grad.item() == 2.0


def test_unused_inputs():
    x = wengert.tensor(2.0, requires_grad=True)
    other = wengert.tensor(2.0, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"^The differentiated Tensor at index 1 appears to not have been used"):
        wengert.autograd.grad(x * x, [x, other])
    grads = wengert.autograd.grad(x * x, [x, other], allow_unused=True)
    assert grads[0].item() == 4.0 and grads[1] is None


def exp_function(torch):
    """The page's custom Function, word for word."""
    Function = torch.autograd.Function

    class Exp(Function):
        @staticmethod
        def forward(ctx, i):
            result = i.exp()
            ctx.save_for_backward(result)
            return result

        @staticmethod
        def backward(ctx, grad_output):
            (result,) = ctx.saved_tensors
            return grad_output * result

    return Exp


def test_exp_function():
    Exp = exp_function(wengert)
    x = wengert.tensor([0.0, 1.0], requires_grad=True)
    output = Exp.apply(x)
    assert repr(output) == "tensor([1.0000, 2.7183], grad_fn=<ExpBackward>)"
    output.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.exp([0.0, 1.0]), rtol=1e-6)


def test_exp_function_without_gradients():
    output = exp_function(wengert).apply(wengert.zeros(2))
    assert not output.requires_grad and output.grad_fn is None and output.tolist() == [1.0, 1.0]
