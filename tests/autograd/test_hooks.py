"""Hooks on tensors and nodes, retain_grad, post-accumulate hooks; detach, detach_ and requires_grad_."""

import gc
import warnings
import weakref

import numpy as np
import pytest

import wengert
from snapshots import Unchanged
from wengert.autograd import Function, grad
from wengert.utils.hooks import RemovableHandle


def leaf(*numbers):
    return wengert.tensor(list(numbers), dtype=wengert.float64, requires_grad=True)


def numbers(*values):
    return wengert.tensor(list(values), dtype=wengert.float64)


class WithoutGradient(Function):
    """Its backward returns None, so the gradient that arrives behind it is missing."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad_output):
        return None


# -- hooks on tensors ------------------------------------------------------------------------------------------------------


def test_a_hook_sees_the_gradient():
    x = leaf(1.0, 2.0)
    y = x * x
    seen = []
    y.register_hook(seen.append)
    x.register_hook(seen.append)
    (y * 3).sum().backward()
    assert [g.tolist() for g in seen] == [[3.0, 3.0], [6.0, 12.0]]
    assert all(isinstance(g, wengert.Tensor) and not g.requires_grad for g in seen)


def test_a_hook_runs_once_with_the_sum_of_all_paths():
    x = leaf(1.0)
    y = x * 2
    seen = []
    y.register_hook(lambda g: seen.append(g.item()))
    (y * 3 + y * 4).backward()
    assert seen == [7.0]


def test_a_hook_runs_in_every_pass():
    x = leaf(1.0)
    seen = []
    x.register_hook(lambda g: seen.append(g.item()))
    for factor in (1.0, 2.0, 3.0):
        (x * factor).backward()
    assert seen == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("on_leaf", [True, False])
def test_the_result_of_a_hook_replaces_the_gradient(on_leaf):
    x = leaf(1.0, 2.0)
    y = x * 2
    (x if on_leaf else y).register_hook(lambda g: g * 10)
    y.sum().backward()
    assert x.grad.tolist() == [20.0, 20.0]


def test_a_hook_that_returns_none_changes_nothing():
    x = leaf(1.0)
    x.register_hook(lambda g: None)
    x.sum().backward()
    assert x.grad.item() == 1.0


def test_hooks_run_in_the_order_of_registration_each_on_the_last_ones_result():
    x = leaf(1.0)
    x.register_hook(lambda g: g * 2)
    x.register_hook(lambda g: g + 1)
    x.sum().backward()
    assert x.grad.item() == 3.0


def test_the_old_example():
    """v = 0, hook doubles, gradient of ones: twos."""
    v = leaf(0.0, 0.0, 0.0)
    v.register_hook(lambda g: g * 2)
    v.backward(numbers(1.0, 1.0, 1.0))
    assert repr(v.grad.data) == "tensor([2., 2., 2.], dtype=torch.float64)"


def test_hooks_on_several_outputs_of_one_node():
    x = leaf(1.0, 2.0)
    a, b = (x * 1).unbind(0)
    seen = []
    a.register_hook(lambda g: seen.append(("a", g.item())))
    b.register_hook(lambda g: g * 100)
    (a * 3 + b * 5).backward()
    assert seen == [("a", 3.0)] and x.grad.tolist() == [3.0, 500.0]


def test_hooks_change_the_result_of_grad():
    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda g: g * 10)
    x.register_hook(lambda g: g + 0.5)
    assert grad(y * 3, x)[0].item() == 60.5
    y2 = x * 2
    y2.register_hook(lambda g: g * 10)
    assert [g.item() for g in grad(y2 * 3, [y2, x])] == [30.0, 60.5]


def test_under_create_graph_a_hook_is_recorded():
    x = leaf(2.0)
    seen = []

    def hook(g):
        seen.append((g.requires_grad, wengert.is_grad_enabled()))
        return g * x

    y = x * x
    y.register_hook(hook)
    (first,) = grad(y * y, x, create_graph=True)  # 2 y * x, then * 2 x: 4 x^4
    assert first.item() == 64.0 and seen == [(True, True)]
    # The second pass comes by the hook as well: 8 x y directly, and through y 4 x^2, times x by the hook, times 2 x.
    assert grad(first, x)[0].item() == 64.0 + 128.0


def test_without_create_graph_a_hook_is_not_recorded():
    x = leaf(2.0)
    seen = []
    x.register_hook(lambda g: seen.append(wengert.is_grad_enabled()))
    (x * x).backward()
    assert seen == [False]


def test_a_hook_may_keep_its_gradient():
    """A gradient that a hook kept does not change if .grad is written later."""
    x = leaf(1.0, 2.0)
    kept = []
    x.register_hook(kept.append)
    (x * 3).sum().backward()
    (x * 3).sum().backward()
    x.grad.zero_()
    assert [k.tolist() for k in kept] == [[3.0, 3.0]] * 2


def test_a_hooks_result_is_not_shared_with_grad():
    mine = numbers(5.0, 5.0)
    x = leaf(1.0, 2.0)
    x.register_hook(lambda g: mine)
    x.sum().backward()
    x.sum().backward()
    assert mine.tolist() == [5.0, 5.0] and x.grad.tolist() == [10.0, 10.0]


def test_a_hook_needs_requires_grad():
    x = numbers(1.0)
    with Unchanged(x), pytest.raises(RuntimeError, match=r"^cannot register a hook on a tensor that doesn't require gradient"):
        x.register_hook(print)


def failing(hook):
    x = leaf(1.0, 2.0)
    x.grad = numbers(0.5, 0.5)
    y = x * 2
    handle = y.register_hook(hook)
    return x, y.sum(), handle


def named(function):
    function.__name__ = "mine"
    return function


WRONG = {
    "a number": (lambda g: 3, TypeError, r"^expected Variable, but hook returned 'int'"),
    "a tuple": (lambda g: (g,), TypeError, r"^expected Variable, but hook returned 'tuple'"),
    "an array": (lambda g: np.ones(2), TypeError, r"^expected Variable, but hook returned 'ndarray'"),
    "another size": (named(lambda g: numbers(1.0)), RuntimeError, r"^hook 'mine' has changed the size of value"),
    "another dtype": (named(lambda g: g.float()), RuntimeError, r"^hook 'mine' has changed the type of value"),
    "an exception": (lambda g: {}["mine"], KeyError, "mine"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_hook_raises_and_changes_nothing(case):
    hook, kind, text = WRONG[case]
    x, y, handle = failing(hook)
    with Unchanged(x, y), pytest.raises(kind, match=text):
        y.backward(retain_graph=True)
    handle.remove()
    y.backward()
    assert x.grad.tolist() == [2.5, 2.5]


# -- handles ---------------------------------------------------------------------------------------------------------------


def test_remove_ends_a_hook_any_number_of_times():
    x = leaf(1.0)
    handle = x.register_hook(lambda g: g * 10)
    other = x.register_hook(lambda g: g + 1)
    assert isinstance(handle, RemovableHandle) and handle.id != other.id
    handle.remove()
    handle.remove()
    x.sum().backward()
    assert x.grad.item() == 2.0


def test_a_handle_is_a_context_manager():
    x = leaf(1.0)
    with x.register_hook(lambda g: g * 10) as handle:
        assert isinstance(handle, RemovableHandle)
        x.sum().backward()
    x.sum().backward()
    assert x.grad.item() == 11.0


def test_a_handle_may_outlive_its_tensor():
    x = leaf(1.0)
    handle = x.register_hook(print)
    del x
    handle.remove()


def test_a_hook_may_remove_itself_and_add_others_for_the_next_pass():
    x = leaf(1.0)
    log = []

    def first(g):
        log.append("first")
        handle.remove()
        x.register_hook(lambda g: log.append("added"))

    handle = x.register_hook(first)
    x.register_hook(lambda g: log.append("second"))
    x.sum().backward()
    assert log == ["first", "second"]
    x.sum().backward()
    assert log == ["first", "second", "second", "added"]


def test_the_hooks_of_a_tensor_can_be_seen():
    x = leaf(1.0)
    assert x._backward_hooks is None
    handle = x.register_hook(print)
    assert x._backward_hooks[handle.id] is print
    y = x * 1
    handle = y.register_hook(print)
    assert list(y._backward_hooks) == [handle.id]


# -- retain_grad -----------------------------------------------------------------------------------------------------------


def test_retain_grad_keeps_a_non_leafs_gradient():
    x = leaf(1.0, 2.0)
    y = x * x
    assert not y.retains_grad
    y.retain_grad()
    y.retain_grad()
    assert y.retains_grad
    (y * 3).sum().backward(retain_graph=True)
    assert y.grad.tolist() == [3.0, 3.0]
    (y * 3).sum().backward()
    assert y.grad.tolist() == [6.0, 6.0]


def test_retain_grad_on_a_leaf_does_nothing():
    x = leaf(1.0)
    x.retain_grad()
    assert not x.retains_grad
    (x * 2).backward()
    assert x.grad.item() == 2.0


def test_retain_grad_comes_after_the_hooks():
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: g * 10)
    y.backward()
    assert y.grad.item() == 10.0 and x.grad.item() == 20.0


def test_a_retained_gradient_is_a_copy():
    x = leaf(1.0, 2.0)
    y = x * 1
    y.retain_grad()
    (y + 0).sum().backward()
    y.grad.add_(5)
    assert x.grad.tolist() == [1.0, 1.0]


def test_retain_grad_needs_requires_grad():
    with pytest.raises(RuntimeError, match=r"^can't retain_grad on Tensor that has requires_grad=False"):
        numbers(1.0).retain_grad()


def test_retain_grad_makes_no_cycle():
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    (y * 3).backward()
    reference = weakref.ref(y)
    gc.disable()
    try:
        del y
        assert reference() is None
    finally:
        gc.enable()


def test_retain_grad_of_one_output_of_several():
    x = leaf(1.0, 2.0)
    a, b = (x * 1).unbind(0)
    b.retain_grad()
    (a * 3 + b * 5).backward()
    assert b.grad.item() == 5.0
    with pytest.warns(UserWarning, match="not a leaf"):
        assert a.grad is None


def test_grad_of_a_retained_tensor_in_a_create_graph_pass():
    x = leaf(2.0)
    y = x * x
    y.retain_grad()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (y * y).backward(create_graph=True)
    assert y.grad.item() == 8.0 and y.grad.requires_grad
    assert grad(y.grad, x)[0].item() == 8.0  # 2 y = 2 x^2
    x.grad = y.grad = None


# -- in-place operations -----------------------------------------------------------------------------------------------------


def test_hooks_registered_before_a_write_keep_seeing_the_old_gradient():
    x = leaf(1.0)
    y = x * 2
    seen = []
    y.register_hook(lambda g: seen.append(("before", g.item())))
    y.mul_(3)
    y.register_hook(lambda g: seen.append(("after", g.item())))
    (y * 5).backward()
    assert seen == [("after", 5.0), ("before", 15.0)]


def test_retain_grad_follows_a_write():
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    (y * 5).backward()
    assert y.grad.item() == 5.0 and x.grad.item() == 30.0


def test_retain_grad_of_a_base_follows_a_write_into_a_view():
    x = leaf(1.0, 2.0)
    base = x * 2
    base.retain_grad()
    base[0].mul_(3)
    (base * 5).sum().backward()
    assert base.grad.tolist() == [5.0, 5.0] and x.grad.tolist() == [30.0, 10.0]


def test_retain_grad_of_a_view_follows_a_write_into_its_base():
    x = leaf(1.0, 2.0)
    base = x * 2
    view = base[:1]
    view.retain_grad()
    base.mul_(3)
    (view * 5).sum().backward()
    assert view.grad.tolist() == [5.0] and x.grad.tolist() == [30.0, 0.0]


# -- post-accumulate hooks -----------------------------------------------------------------------------------------------------


def test_a_post_accumulate_hook_gets_the_leaf_with_its_gradient():
    x = leaf(1.0, 2.0)
    seen = []
    x.register_post_accumulate_grad_hook(lambda p: seen.append((p is x, p.grad.tolist())))
    (x * 3).sum().backward()
    (x * 3).sum().backward()
    assert seen == [(True, [3.0, 3.0]), (True, [6.0, 6.0])]


def test_a_post_accumulate_hook_may_step_and_clear():
    """An optimiser inside the backward pass."""
    x = leaf(1.0, 2.0)

    def step(p):
        with wengert.no_grad():
            p.sub_(p.grad * 0.5)
        p.grad = None

    handle = x.register_post_accumulate_grad_hook(step)
    (x * 3).sum().backward()
    assert x.tolist() == [-0.5, 0.5] and x.grad is None
    handle.remove()
    (x * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_a_post_accumulate_hook_runs_only_where_something_accumulates():
    x = leaf(1.0)
    seen = []
    x.register_post_accumulate_grad_hook(seen.append)
    grad(x * 3, x)
    assert seen == []


def test_post_accumulate_hooks_are_for_leaves_that_require_grad():
    x = leaf(1.0)
    with pytest.raises(RuntimeError, match=r"^post accumulate grad hooks cannot be registered on non-leaf tensors"):
        (x * 2).register_post_accumulate_grad_hook(print)
    with pytest.raises(RuntimeError, match=r"^cannot register a hook on a tensor that doesn't require gradient"):
        numbers(1.0).register_post_accumulate_grad_hook(print)


def test_a_post_accumulate_hook_must_return_none():
    x = leaf(1.0)
    x.register_post_accumulate_grad_hook(lambda p: 3)
    with pytest.raises((RuntimeError, TypeError)):
        (x * 2).backward()


# -- hooks on nodes ----------------------------------------------------------------------------------------------------------


def test_a_node_hook_sees_gradients_of_inputs_and_outputs():
    x, w = leaf(3.0), leaf(5.0)
    y = x * w
    seen = []
    y.grad_fn.register_hook(lambda gi, go: seen.append(([g.item() for g in gi], [g.item() for g in go])))
    (y * 2).backward()
    assert seen == [([10.0, 6.0], [2.0])]


def test_a_node_hook_gets_none_for_inputs_without_gradient():
    x = leaf(3.0)
    y = x * numbers(5.0)
    seen = []
    y.grad_fn.register_hook(lambda gi, go: seen.append((type(gi), len(gi), gi[1])))
    y.backward()
    assert seen == [(tuple, 2, None)]


def test_a_node_hook_replaces_the_gradients_of_inputs():
    x, w = leaf(3.0), leaf(5.0)
    y = x * w
    y.grad_fn.register_hook(lambda gi, go: (gi[0] * 100, gi[1]))
    y.backward()
    assert (x.grad.item(), w.grad.item()) == (500.0, 3.0)


def test_a_node_hook_may_return_none_gradients():
    x = leaf(3.0)
    y = x * 5
    y.grad_fn.register_hook(lambda gi, go: (None,) * len(gi))
    y.backward()
    assert x.grad is None


def test_a_hook_cannot_fill_in_a_missing_gradient():
    a = wengert.ones(2, requires_grad=True)
    y, z = a + 1, a + 2
    y.grad_fn.register_prehook(lambda grads: (wengert.ones(2),))
    z.register_hook(lambda grad: wengert.ones(2))
    for missing in (y, z):
        with pytest.raises(RuntimeError, match="^can't replace a None gradient with a non-None value"):
            WithoutGradient.apply(missing).sum().backward()
    assert a.grad is None


def test_a_node_prehook_replaces_the_gradients_of_outputs():
    x = leaf(3.0)
    y = x * 5
    seen = []
    handle = y.grad_fn.register_prehook(lambda go: seen.append(go[0].item()) or (go[0] * 100,))
    y.backward(retain_graph=True)
    assert seen == [1.0] and x.grad.item() == 500.0
    handle.remove()
    y.backward()
    assert seen == [1.0] and x.grad.item() == 505.0


def test_node_hooks_see_gradients_in_full():
    """Not as the cheap forms that the engine passes on: a read's cotangent, a number, a broadcast one."""
    x = leaf(1.0, 2.0, 3.0)
    y = x[1]
    seen = []
    y.grad_fn.register_hook(lambda gi, go: seen.append(gi[0].tolist()))
    y.backward()
    assert seen == [[0.0, 1.0, 0.0]] and x.grad.tolist() == [0.0, 1.0, 0.0]
    z = leaf(1.0).expand(3) * 1
    w = leaf(2.0)
    product = w * z
    product.grad_fn.register_hook(lambda gi, go: seen.append(tuple(gi[0].shape)))
    product.sum().backward()
    assert seen[-1] == (1,) and w.grad.tolist() == [3.0]


def test_hooks_on_the_node_of_several_outputs():
    x = leaf(1.0, 2.0)
    a, b = (x * 1).unbind(0)
    seen = []
    a.grad_fn.register_prehook(lambda go: seen.append([None if g is None else g.item() for g in go]))
    (b * 3).backward()
    assert seen == [[None, 3.0]] and x.grad.tolist() == [0.0, 3.0]


def test_hooks_on_an_accumulate_node():
    x = leaf(1.0)
    y = x * 2
    accumulate = y.grad_fn.next_functions[0][0]
    seen = []
    accumulate.register_prehook(lambda go: seen.append("pre") or (go[0] * 10,))
    accumulate.register_hook(lambda gi, go: seen.append(("post", gi, go[0].item(), x.grad.item())))
    y.backward()
    assert seen == ["pre", ("post", (), 20.0, 20.0)] and x.grad.item() == 20.0


WRONG_ON_NODES = {
    "prehook, number of values": (
        "register_prehook", lambda go: (go[0], go[0]), RuntimeError,
        r"has returned an incorrect number of values \(got 2, but expected 1\)",
    ),
    "prehook, a tensor": ("register_prehook", lambda go: go[0], TypeError, r"^expected tuple, but hook returned 'Tensor'"),
    "prehook, a number": ("register_prehook", lambda go: (3,), TypeError, r"^expected Variable, but hook returned 'int'"),
    "hook, number of values": (
        "register_hook", lambda gi, go: (gi[0],) * 3, RuntimeError,
        r"has returned an incorrect number of values \(got 3, but expected 2\)",
    ),
    "hook, a number": ("register_hook", lambda gi, go: (3, None), TypeError, r"^expected Variable, but hook returned 'int'"),
    "hook, no tuple": ("register_hook", lambda gi, go: 3, TypeError, r"^expected tuple, but hook returned 'int'"),
    "hook, another size": (
        "register_hook", lambda gi, go: (numbers(1.0, 2.0), None), RuntimeError, r"has changed the size of value",
    ),
    "hook, an exception": ("register_hook", lambda gi, go: {}["mine"], KeyError, "mine"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG_ON_NODES)
def test_a_wrong_node_hook_raises_and_changes_nothing(case):
    method, hook, kind, text = WRONG_ON_NODES[case]
    x = leaf(3.0)
    y = x * numbers(5.0)
    handle = getattr(y.grad_fn, method)(hook)
    with Unchanged(x, y), pytest.raises(kind, match=text):
        y.backward(retain_graph=True)
    handle.remove()
    y.backward()
    assert x.grad.item() == 5.0


# -- order -----------------------------------------------------------------------------------------------------------------


def test_the_order_of_all_hooks():
    log = []
    x = leaf(1.0, 2.0)
    y = x * 2
    y.grad_fn.register_hook(lambda gi, go: log.append("y node post"))
    y.grad_fn.register_prehook(lambda go: log.append("y node pre"))
    y.register_hook(lambda g: log.append("y tensor"))
    accumulate = y.grad_fn.next_functions[0][0]
    accumulate.register_hook(lambda gi, go: log.append("x node post"))
    x.register_post_accumulate_grad_hook(lambda p: log.append("x post accumulate"))
    accumulate.register_prehook(lambda go: log.append("x node pre"))
    x.register_hook(lambda g: log.append("x tensor"))
    y.sum().backward()
    assert log == [
        "y tensor", "y node pre", "y node post",
        "x tensor", "x node pre", "x post accumulate", "x node post",
    ]  # fmt: skip


def test_for_a_captured_tensor_only_its_own_hooks_run():
    """Its node does not run, and so the node's hooks do not either."""
    log = []
    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda g: log.append("tensor") or g * 10)
    y.grad_fn.register_prehook(lambda go: log.append("node pre") or (go[0] * 7,))
    y.grad_fn.register_hook(lambda gi, go: log.append("node post"))
    assert grad(y * 3, y)[0].item() == 30.0
    assert log == ["tensor"]


def test_a_hook_that_fails_after_a_leaf_got_no_gradient_is_reported():
    """The pass then takes first gradients off their leaves, and one leaf has none."""
    x, without = leaf(1.0), leaf(2.0)
    y = x * 2
    y.register_hook(lambda g: (g,))
    with pytest.raises(TypeError, match="expected Variable, but hook returned 'tuple'"):
        (WithoutGradient.apply(without) + y).backward()
    assert x.grad is None and without.grad is None


# -- cycles ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["tensor", "node", "prehook"])
def test_a_hook_that_holds_its_tensor_is_collectable(where):
    class Probe:
        pass

    def make():
        probe = Probe()
        y = leaf(1.0) * 2
        hook = lambda *grads: (probe, y, None)[2]  # noqa: E731 (a closure over y)
        if where == "tensor":
            y.register_hook(hook)
        elif where == "node":
            y.grad_fn.register_hook(hook)
        else:
            y.grad_fn.register_prehook(hook)
        y.backward()
        return weakref.ref(probe)

    reference = make()
    gc.collect()
    assert reference() is None
