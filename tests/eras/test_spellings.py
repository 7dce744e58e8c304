"""Names that torch 0.1 to 0.4 had and torch 2.13 has not: they work beside today's, and say which those are."""

import warnings
from collections import OrderedDict

import pytest

import wengert as torch
from wengert.autograd import Variable, backward, grad


def leaf(*values):
    return Variable(torch.tensor(values), requires_grad=True)


def ours(caught, text):
    """The one warning, which names this file."""
    assert [(w.category, w.filename) for w in caught] == [(DeprecationWarning, __file__)]
    assert str(caught[0].message) == text


# -- the graph -------------------------------------------------------------------------------------------------------------


def test_creator():
    x = leaf(1.0)
    y = x * 2
    with pytest.warns(DeprecationWarning, match="old spelling|torch 0.1 to 0.3 had") as caught:
        assert y.creator is y.grad_fn
    ours(caught, ".creator is an old spelling of .grad_fn")
    with pytest.warns(DeprecationWarning, match="old spelling|torch 0.1 to 0.3 had"):
        assert x.creator is None


def test_previous_functions():
    x = leaf(1.0)
    y = x * 2
    z = y + torch.ones(1)
    with pytest.warns(DeprecationWarning, match="old spelling|torch 0.1 to 0.3 had") as caught:
        entries = z.grad_fn.previous_functions
    ours(caught, ".previous_functions is an old spelling of .next_functions")
    assert entries == z.grad_fn.next_functions == ((y.grad_fn, 0), (None, 0))
    assert entries[0].function is y.grad_fn and entries[0].index == 0
    with pytest.warns(DeprecationWarning, match="old spelling|torch 0.1 to 0.3 had"):
        (end, number) = entries[0].function.previous_functions[0]
    assert end.variable is x and number == 0


def test_numbers_of_inputs_and_outputs():
    x = leaf(1.0, 2.0)
    assert (x + 1).grad_fn.num_inputs == 2 and (x + 1).grad_fn.num_outputs == 1
    assert x.exp().grad_fn.num_inputs == 1
    assert torch.cat([x, x, x]).grad_fn.num_inputs == 3
    assert x.unbind(0)[0].grad_fn.num_outputs == 2
    accumulate = x.exp().grad_fn.next_functions[0][0]
    assert (accumulate.num_inputs, accumulate.num_outputs) == (0, 1)


def test_requires_grad_of_nodes():
    x = leaf(1.0)
    y = x * 2
    assert y.grad_fn.requires_grad and y.grad_fn.next_functions[0][0].requires_grad


def test_facts_about_a_function_of_ones_own():
    class Both(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor, y):
            return x * factor, y * factor, "no tensor"

        @staticmethod
        def backward(ctx, grad_x, grad_y, _):
            return grad_x, None, grad_y

    a, b, _ = Both.apply(leaf(1.0), 3.0, torch.ones(1))
    node = a.grad_fn
    assert (node.num_inputs, node.num_outputs, node.requires_grad) == (3, 3, True)
    assert node.needs_input_grad == (True, False, False)


def test_ctx_is_the_users_own():
    class Counting(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.num_inputs, ctx.num_outputs = "mine", "too"
            return x * 2

        @staticmethod
        def backward(ctx, g):
            assert (ctx.num_inputs, ctx.num_outputs) == ("mine", "too")
            return g * 2

    x = leaf(1.0)
    Counting.apply(x).backward()
    assert x.grad.item() == 2.0


# -- arguments -------------------------------------------------------------------------------------------------------------


def square(x):
    return (x * x).sum()


def test_retain_variables():
    x = leaf(3.0)
    y = square(x)
    with pytest.warns(DeprecationWarning, match="old spelling|torch 0.1 to 0.3 had") as caught:
        y.backward(retain_variables=True)
    ours(caught, "retain_variables= is an old spelling of retain_graph=")
    with pytest.warns(DeprecationWarning, match="old spelling|torch 0.1 to 0.3 had") as caught:
        backward([y], [None], retain_variables=True)
    ours(caught, "retain_variables= is an old spelling of retain_graph=")
    y.backward()
    assert x.grad.item() == 18.0
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


def test_the_third_argument_by_position():
    x = leaf(3.0)
    y = square(x)
    backward([y], [torch.ones(())], True)
    y.backward(None, True)
    y.backward(torch.ones(()), False)
    assert x.grad.item() == 18.0


def test_variables_and_grad_variables():
    x = leaf(1.0, 2.0)
    with pytest.warns((DeprecationWarning, FutureWarning)) as caught:
        backward(variables=[x * 2, x * 3], grad_variables=[torch.ones(2), torch.ones(2)])
    assert {(w.category, w.filename) for w in caught} == {(DeprecationWarning, __file__), (FutureWarning, __file__)}
    assert x.grad.tolist() == [5.0, 5.0]


@pytest.mark.parametrize("name", ["gradient", "grad_variables", "grad_tensors"])
def test_names_of_the_gradient_in_the_method(name):
    x = leaf(1.0, 2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if name != "gradient" else "error", DeprecationWarning)
        (x * 2).backward(**{name: torch.tensor([1.0, 10.0])})
    assert x.grad.tolist() == [2.0, 20.0]


def test_a_sequence_of_one_gradient_in_the_method():
    x = leaf(1.0, 2.0)
    (x * 2).backward([torch.ones(2)])
    assert x.grad.tolist() == [2.0, 2.0]


@pytest.mark.parametrize(("call", "text"), [
    (lambda y: y.backward(retain_graph=True, retain_variables=True), "only one of retain_graph and retain_variables"),
    (lambda y: y.backward(retain_graph=False, retain_variables=False), "only one of retain_graph and retain_variables"),
    (lambda y: y.backward(torch.ones(()), grad_variables=torch.ones(())), "only one of gradient and grad_variables"),
    (lambda y: y.backward(gradient=torch.ones(()), grad_tensors=torch.ones(())), "only one of gradient and grad_tensors"),
    (lambda y: backward([y], [None], True, retain_variables=True), "only one of retain_graph and retain_variables"),
    (lambda y: backward(y, tensors=y, variables=y), "only one of tensors and variables"),
    (lambda y: backward(y, variables=y), "only one of tensors and variables"),
    (lambda y: backward(y, torch.ones(()), grad_variables=torch.ones(())), "`grad_tensors` and `grad_variables`"),
])  # fmt: skip
def test_both_spellings_at_once_are_refused(call, text):
    x = leaf(3.0)
    y = square(x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(TypeError, match=f"^{text}") as caught:
            call(y)
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, RuntimeError)  # each was raised once
    assert x.grad is None
    y.backward()


def test_unknown_names_are_still_refused():
    y = square(leaf(1.0))
    for call in (lambda: y.backward(retain=True), lambda: backward(y, retain=True), lambda: grad(y, y, retain=True)):
        with pytest.raises(TypeError, match="retain"):
            call()


# -- create_graph, only_inputs ---------------------------------------------------------------------------------------------


def test_create_graph_none_asks_the_given_gradients():
    x = leaf(3.0)
    weight = leaf(1.0)
    (first,) = grad(x * x, x, weight, create_graph=None)
    assert first.requires_grad and grad(first, weight)[0].item() == 6.0
    (plain,) = grad(x * x, x, torch.ones(1), create_graph=None)
    (without,) = grad(x * x, x, create_graph=None)
    assert not plain.requires_grad and not without.requires_grad
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (x * x).backward(torch.ones(1), create_graph=None)
    assert not x.grad.requires_grad


def test_retain_graph_none_defaults_to_create_graph():
    x = leaf(3.0)
    y = x * x
    grad(y, x, leaf(1.0), retain_graph=None, create_graph=None)
    grad(y, x)
    with pytest.raises(RuntimeError, match="second time"):
        grad(y, x)


# -- zeroing, and numbers out of tensors -----------------------------------------------------------------------------------


@pytest.mark.parametrize("zero", [
    lambda w: w.grad.data.zero_(), lambda w: w.grad.zero_(), lambda w: setattr(w, "grad", None),
    lambda w: w.grad.data.fill_(0), lambda w: w.__delattr__("grad"), lambda w: w.grad.detach_().zero_(),
])  # fmt: skip
def test_zeroing_idioms(zero):
    w = leaf(2.0)
    for _ in range(3):
        square(w).backward()
        assert w.grad.item() == 4.0
        zero(w)
    square(w).backward()
    square(w).backward()
    assert w.grad.item() == 8.0


def test_a_loss_is_read_by_data_0():
    loss = square(leaf(3.0))
    with pytest.warns(DeprecationWarning, match="old spelling|torch 0.1 to 0.3 had") as caught:
        value = loss.data[0]
    ours(caught, "indexing a tensor of no dimensions with 0 is what torch 0.1 to 0.3 had; use .item()")
    assert float(value) == 9.0 and f"{value:.2f}" == "9.00" and f"{value:.1f}" == "9.0"
    x = leaf(3.0)
    with pytest.warns(DeprecationWarning, match="old spelling|torch 0.1 to 0.3 had"):
        square(x)[0].backward()
    assert x.grad.item() == 6.0
    with pytest.raises(IndexError, match="invalid index of a 0-dim tensor"):
        loss.data[1]


# -- hooks by their dictionary ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [lambda: leaf(1.0), lambda: leaf(1.0) * 1], ids=["leaf", "result"])
def test_backward_hooks_can_be_assigned_and_indexed(make):
    x, seen = make(), []
    assert x._backward_hooks is None
    x._backward_hooks = OrderedDict({7: lambda g: seen.append(g.item())})
    (x * 3).backward()
    assert seen == [3.0] and list(x._backward_hooks) == [7]
    x._backward_hooks[7](torch.ones(1))
    x._backward_hooks = None
    (x * 3).backward()
    assert seen == [3.0, 1.0] and not x._backward_hooks
    handle = x.register_hook(lambda g: seen.append("registered"))
    (x * 3).backward()
    handle.remove()
    assert seen == [3.0, 1.0, "registered"]


# -- factors by position, as before torch 1.5 ------------------------------------------------------------------------------


def test_factors_among_the_operands():
    x, y, z = torch.tensor([1.0, 2.0]), torch.tensor([10.0, 20.0]), torch.tensor([2.0, 4.0])
    m = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    found = {
        "add": (torch.add(x, 0.5, y), x.add(0.5, y), x + 0.5 * y),
        "sub": (torch.sub(x, 2, y), x.sub(2, y), x - 2 * y),
        "addcmul": (torch.addcmul(x, 0.5, y, z), x.addcmul(0.5, y, z), x + 0.5 * y * z),
        "addcdiv": (torch.addcdiv(x, 2, y, z), x.addcdiv(2, y, z), x + 2 * y / z),
        "addmm": (torch.addmm(0.5, m, 2, m, m), m.addmm(0.5, 2, m, m), 0.5 * m + 2 * (m @ m)),
        "addmm, beta alone": (torch.addmm(0.5, m, m, m), m.addmm(0.5, m, m), 0.5 * m + m @ m),
        "addmv": (torch.addmv(0.5, x, 2, m, y), x.addmv(0.5, 2, m, y), 0.5 * x + 2 * (m @ y)),
        "addr": (torch.addr(0.5, m, 2, x, y), m.addr(0.5, 2, x, y), 0.5 * m + 2 * x.view(2, 1) * y),
    }
    for name, (function, method, expected) in found.items():
        assert function.tolist() == method.tolist() == expected.tolist(), name


def test_in_place_steps_of_old_optimisers():
    p, step = torch.tensor([1.0, 2.0]), torch.tensor([10.0, 20.0])
    assert p.add_(-0.1, step) is p and p.tolist() == [0.0, 0.0]
    assert p.addcmul_(0.5, step, step).tolist() == [50.0, 200.0]
    assert p.addcdiv_(-1, step, torch.tensor([1.0, 2.0])).tolist() == [40.0, 190.0]


def test_too_many_operands_are_still_refused():
    x = torch.ones(2)
    for call in (lambda: torch.add(x, x, x), lambda: torch.add(x, 2, 3), lambda: torch.add(x, 1, 2, x), lambda: torch.mul(x, 2, x)):
        with pytest.raises(TypeError, match=r"takes 2 positional arguments but \d were given"):
            call()
