"""volatile, the inference flag of torch 0.1 to 0.3: one volatile input makes everything downstream volatile."""

import copy
import pickle
import warnings

import pytest

import wengert as torch
from wengert.autograd import Variable


def volatile(*values, dtype=torch.float32):
    data = torch.tensor(values, dtype=dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return Variable(data, volatile=True)


def weight(*values):
    return Variable(torch.tensor(values), requires_grad=True)


def test_the_flag_warns_once_a_place_and_names_its_successor():
    with pytest.warns(DeprecationWarning, match=r"use `with torch\.no_grad\(\):` instead") as caught:
        v = Variable(torch.ones(1), volatile=True)
    assert [w.filename for w in caught] == [__file__]
    assert v.volatile and not v.requires_grad and v.is_leaf and not Variable(torch.ones(1)).volatile


RESULTS = {
    "two tensors, volatile first": lambda v, w: v * w,
    "two tensors, volatile second": lambda v, w: w * v,
    "a number": lambda v, w: v + 1,
    "a number on the left": lambda v, w: 2 - v,
    "one input": lambda v, w: v.exp(),
    "a reduction": lambda v, w: v.sum(),
    "a dimension": lambda v, w: v.sum(0),
    "a matrix product": lambda v, w: w.view(2, 1) @ v.view(1, 2),
    "several inputs": lambda v, w: torch.cat([w, v]),
    "several outputs": lambda v, w: torch.max(v.view(1, 2), 1)[0],
    "the indices among several outputs": lambda v, w: torch.max(v.view(1, 2), 1)[1],
    "a comparison": lambda v, w: v > 0,
    "a comparison with a weight": lambda v, w: w < v,
    "argmax": lambda v, w: v.argmax(0),
    "a view": lambda v, w: v.view(2, 1),
    "an element": lambda v, w: v[0],
    "a slice": lambda v, w: v[:1],
    "chosen elements": lambda v, w: v[torch.tensor([1, 0])],
    "several views": lambda v, w: v.unbind(0)[1],
    "another dtype": lambda v, w: v.double(),
    "integers": lambda v, w: v.long(),
    "a function of nn": lambda v, w: torch.nn.functional.linear(w.view(1, 2), v.view(1, 2)),
    "a loss": lambda v, w: torch.nn.functional.mse_loss(w, v),
    "detach": lambda v, w: v.detach(),
    "clone": lambda v, w: v.clone(),
    "a sample": lambda v, w: torch.normal(v, 1.0),
    "in place": lambda v, w: w.clone().add_(v),
    "in place, of a tensor without gradient": lambda v, w: torch.zeros(2).copy_(v),
    "a function of your own": lambda v, w: Twice.apply(v),
}


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


@pytest.mark.parametrize("name", RESULTS)
def test_everything_downstream_is_volatile(name):
    y = RESULTS[name](volatile(0.25, 0.5), weight(2.0, 3.0))
    z = y.double() * torch.ones(1, dtype=torch.float64, requires_grad=True)
    for result in (y, z):
        assert result.volatile and not result.requires_grad and result.grad_fn is None and result.is_leaf


def test_values_of_volatile_results_are_computed_as_usual():
    assert (volatile(0.25, 0.5) * weight(2.0, 3.0)).tolist() == [0.5, 1.5]
    assert (volatile(1, 2, dtype=torch.int64) + 1).tolist() == [2, 3]


def test_without_a_volatile_input_nothing_is():
    w = weight(2.0, 3.0)
    assert not any(y.volatile for y in (w * 2, w > 0, w.view(2, 1), w.sum(), w.detach(), w.clone().add_(1)))
    assert (w * 2).requires_grad


def test_no_grad_keeps_volatile():
    with torch.no_grad():
        assert (volatile(1.0) * 2).exp().volatile


def test_integers_can_be_volatile():
    target = volatile(0, 1, dtype=torch.int64)
    loss = torch.nn.functional.nll_loss(weight(1.0, 2.0, 3.0, 4.0).view(2, 2), target)
    assert target.volatile and loss.item() == -2.5


@pytest.mark.parametrize("write", [
    lambda z, v: z.__setitem__(0, v[0]),
    lambda z, v: z.__setitem__(slice(None), v),
    lambda z, v: z.add_(v),
    lambda z, v: z.copy_(v),
    lambda z, v: z[:1].mul_(v[:1]),
    lambda z, v: z.masked_fill_(torch.tensor([True, False]), v[0]),
])  # fmt: skip
def test_writing_a_volatile_value_makes_the_target_volatile(write):
    for z in (torch.ones(2), weight(1.0, 2.0) * 1):
        look = z[1:]
        write(z, volatile(5.0, 6.0))
        assert z.volatile and not z.requires_grad and z.grad_fn is None
        assert look.requires_grad is False and (look * weight(1.0)).requires_grad is False


@pytest.mark.parametrize("use", [
    lambda look, w: look * w, lambda look, w: w + look, lambda look, w: look.exp(), lambda look, w: look[0], lambda look, w: torch.cat([w, look]),
])  # fmt: skip
def test_a_view_is_volatile_as_soon_as_its_base_is(use):
    """Also where an operation is the first to look at it."""
    base = torch.ones(2)
    look = base[1:]
    base.copy_(volatile(5.0, 6.0))
    y = use(look, weight(2.0))
    assert y.volatile and not y.requires_grad and y.grad_fn is None and 6.0 in (look * 1).tolist()


def test_data_is_no_variable_of_old():
    v = volatile(1.0)
    assert not v.data.volatile and (v.data * weight(2.0)).requires_grad


# -- what is refused -------------------------------------------------------------------------------------------------------


def test_backward_is_refused():
    w = weight(2.0)
    y = (volatile(1.0) * w).sum()
    for run in (y.backward, lambda: torch.autograd.backward([w * 1, y][1:]), lambda: torch.autograd.grad(y, w)):
        with pytest.raises(RuntimeError, match=r"^element 0 of tensors is volatile\. Hint: "):
            run()
    with pytest.raises(RuntimeError, match="^element 1 of tensors is volatile"):
        torch.autograd.backward([w * 1, y])
    assert w.grad is None


def test_hooks_are_refused():
    v = volatile(1.0)
    for y in (v, v * 2):
        with pytest.raises(RuntimeError, match="^cannot register a hook on a volatile tensor$"):
            y.register_hook(print)
        assert y._backward_hooks is None
    with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that doesn't require gradient"):
        torch.ones(1).register_hook(print)


def test_requiring_grad_as_well_is_refused():
    text = "^Variable can't be volatile and require_grad at the same time!$"
    with pytest.raises(RuntimeError, match=text), pytest.warns(DeprecationWarning, match="volatile is what"):
        Variable(torch.ones(1), requires_grad=True, volatile=True)
    v = volatile(1.0)
    with pytest.raises(RuntimeError, match=text):
        v.requires_grad = True
    assert v.volatile and not v.requires_grad
    v.requires_grad = False


def test_only_leaves_can_be_set():
    y = weight(1.0) * 2
    with pytest.raises(RuntimeError, match=r"^volatile can only be set on leaf variables\."), pytest.warns(DeprecationWarning, match="volatile is what"):
        y.volatile = True
    assert not y.volatile and y.requires_grad


def test_a_leaf_can_be_set_and_reset():
    w = weight(1.0)
    with pytest.warns(DeprecationWarning, match="volatile is what") as caught:
        w.volatile = True
    assert caught[0].filename == __file__
    assert w.volatile and not w.requires_grad and not (w * 2).requires_grad
    with pytest.warns(DeprecationWarning, match="volatile is what"):
        w.volatile = False
    assert not w.volatile and not w.requires_grad
    w.requires_grad = True
    assert (w * 2).requires_grad


# -- as data ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("transfer", [copy.deepcopy, lambda v: pickle.loads(pickle.dumps(v))], ids=["copy", "pickle"])
def test_copies_keep_the_flag(transfer):
    v, w = transfer(volatile(1.0)), transfer(weight(1.0))
    assert v.volatile and not v.requires_grad and v.tolist() == [1.0]
    assert not w.volatile and w.requires_grad


def test_detach_in_place_keeps_volatile():
    v = volatile(1.0)
    assert v.detach_() is v and v.volatile


def test_a_volatile_tensor_prints_as_plain_data():
    assert repr(volatile(1.0)) == "tensor([1.])"


def test_memory_is_not_held_by_results():
    """Inference with volatile inputs keeps no intermediate result: that was its purpose."""
    import weakref

    v = volatile(1.0, 2.0)
    y = v.exp()
    middle = weakref.ref(y)
    z = (y * weight(1.0, 1.0)).sum()
    del y
    assert middle() is None and z.volatile
