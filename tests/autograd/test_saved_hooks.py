"""Hooks on what operations save: saved_tensors_hooks, save_on_cpu, disable_saved_tensors_hooks, and hooks on one value."""

import gc
import threading
import weakref

import numpy as np
import pytest

import wengert
from lines import line_of
from wengert.autograd import Function, SavedTensor, grad
from wengert.autograd.graph import disable_saved_tensors_hooks, save_on_cpu, saved_tensors_hooks


def leaf(*numbers):
    return wengert.tensor(list(numbers), dtype=wengert.float64, requires_grad=True)


def same(x):
    return x


class Recording:
    """Hooks that note each call. They keep NumPy arrays, so no part of the original tensor survives."""

    def __init__(self):
        self.packed, self.unpacked = [], []

    def pack(self, tensor):
        array = tensor.detach().numpy().copy()
        self.packed.append(array.tolist())
        return array

    def unpack(self, array):
        self.unpacked.append(array.tolist())
        return wengert.from_numpy(array)

    def __enter__(self):
        self.block = saved_tensors_hooks(self.pack, self.unpack)
        self.block.__enter__()
        return self

    def __exit__(self, *error):
        self.block.__exit__(*error)


# Program, and number of calls of hooks for it.
PROGRAMS = {
    "x * y": (lambda x, y: x * y, 2),
    "x * x": (lambda x, y: x * x, 2),
    "exp": (lambda x, y: x.exp(), 1),
    "x + y": (lambda x, y: x + y, 0),
    "x * 2": (lambda x, y: x * 2, 0),
    "sum": (lambda x, y: x.sum(), 0),
    "x ** 3": (lambda x, y: x**3, 1),
    "x ** y": (lambda x, y: x.abs() ** y, 4),  # abs saves x; base, exponent and result
    "einsum": (lambda x, y: wengert.einsum("i,i->", x, y), 2),
    "softmax": (lambda x, y: x.softmax(0), 1),
    "in place": (lambda x, y: (x * 1).exp_(), 1),
    "in place of a view": (lambda x, y: written(x * 1), 1),
    "in place, both": (lambda x, y: (x * 1).mul_(y), 2),
    "setitem": (lambda x, y: assigned(x * 1, y), 0),
    "matmul": (lambda x, y: x @ y, 2),
}


def written(t):
    t[:1].exp_()
    return t


def assigned(t, y):
    t[0] = y[0]
    return t


@pytest.mark.parametrize("case", PROGRAMS)
def test_gradients_agree_with_a_run_without_hooks(case):
    program, calls = PROGRAMS[case]
    x, y = leaf(0.5, -2.0), leaf(3.0, 1.5)
    expected = grad(program(x, y).sum(), (x, y), allow_unused=True)
    with Recording() as hooks:
        z = program(x, y)
    found = grad(z.sum(), (x, y), allow_unused=True)
    assert [None if g is None else g.tolist() for g in found] == [None if g is None else g.tolist() for g in expected]
    assert len(hooks.packed) == calls
    assert sorted(hooks.unpacked) == sorted(hooks.packed)


def test_the_output_of_a_write_is_packed_after_it_was_written():
    x = leaf(0.0, 1.0)
    with Recording() as hooks:
        (x * 1).exp_()
    np.testing.assert_allclose(hooks.packed, [np.exp([0.0, 1.0])])


def test_each_pass_unpacks_anew():
    x = leaf(2.0)
    with Recording() as hooks:
        y = x.exp() * x
    y.backward(retain_graph=True)
    y.backward()
    assert len(hooks.packed) == 3
    assert len(hooks.unpacked) == 6
    np.testing.assert_allclose(x.grad.tolist(), [2 * 3 * np.exp(2)])


def test_gradient_is_computed_from_the_result_of_unpack():
    x = leaf(2.0, 3.0)
    with saved_tensors_hooks(same, lambda t: t * 10):
        y = (x * x).sum()
    y.backward()
    assert x.grad.tolist() == [40.0, 60.0]


def test_derivatives_of_any_order_pass_through_hooks():
    x = leaf(2.0)
    with Recording():
        y = x**3
        (first,) = grad(y, x, create_graph=True)
        (second,) = grad(first, x, create_graph=True)
        (third,) = grad(second, x)
    assert [first.item(), second.item(), third.item()] == [12.0, 12.0, 6.0]


def test_the_innermost_block_is_used():
    log = []
    x = leaf(1.0)

    def hooks(name):
        return saved_tensors_hooks(lambda t: (log.append("pack " + name), t)[1], lambda t: (log.append("unpack " + name), t)[1])

    with hooks("outer"):
        with hooks("inner"):
            y = x.exp()
        z = y.exp()
    z.backward()
    assert log == ["pack inner", "pack outer", "unpack outer", "unpack inner"]


def test_hooks_end_with_their_block_also_after_an_error():
    x = leaf(1.0)
    with pytest.raises(ZeroDivisionError), saved_tensors_hooks(lambda t: 1 / 0, same):
        x.exp()
    x.exp().backward()
    assert x.grad is not None


def test_hooks_are_the_threads_own():
    x = leaf(1.0)
    with Recording() as hooks:
        thread = threading.Thread(target=lambda: x.exp())
        thread.start()
        thread.join()
    assert hooks.packed == []


def test_pack_sees_leaves_themselves_and_records_nothing():
    x, y = leaf(1.0), leaf(2.0)
    seen = []

    def pack(t):
        seen.append((t is x, t.requires_grad, t.grad_fn is not None, wengert.is_grad_enabled(), (t * t).requires_grad))
        return t

    with saved_tensors_hooks(pack, same):
        (y + 1) * x
    # x's rule needs y + 1, the other's needs x.
    assert sorted(seen) == [(False, True, True, False, False), (True, True, False, False, False)]


def test_hooks_see_tensors_in_their_own_dtype():
    x = wengert.tensor([1.0, 2.0], requires_grad=True)
    y = leaf(3.0, 4.0)
    seen = []
    with saved_tensors_hooks(lambda t: (seen.append(t.dtype), t.detach())[1], same):
        z = x * y
    z.sum().backward()
    assert set(seen) == {wengert.float32, wengert.float64}
    assert x.grad.tolist() == [3.0, 4.0]
    assert y.grad.tolist() == [1.0, 2.0]
    assert (x.grad.dtype, y.grad.dtype) == (wengert.float32, wengert.float64)


def test_a_pack_hook_must_not_write():
    x = leaf(1.0)
    for t in (x, x * 1):
        with (
            saved_tensors_hooks(lambda t: t.mul_(2), same),
            pytest.raises(RuntimeError, match="^A saved tensor pack hook is modifying its input in place"),
        ):
            t * t


def test_an_unpack_hook_must_return_a_tensor():
    x = leaf(1.0)
    with saved_tensors_hooks(same, lambda t: 0):
        y = x.exp()
    with pytest.raises(TypeError, match="^Output of saved tensor unpack_hook expected to be a Tensor but got .* int"):
        y.backward()


def test_an_error_in_an_unpack_hook_tells_the_forward_line():
    x = leaf(1.0)
    with saved_tensors_hooks(same, lambda t: 1 / 0):
        y = x.exp()  # failing unpack
    with pytest.raises(ZeroDivisionError) as caught:
        y.backward()
    assert line_of(__file__, "failing unpack") in "".join(caught.value.__notes__)


@pytest.mark.parametrize("arguments", [(1, same), (same, None)])
def test_hooks_must_be_callable(arguments):
    with pytest.raises(TypeError, match="^hooks on saved tensors must be callable"), saved_tensors_hooks(*arguments):
        pass


def test_numpy_warnings_are_the_users_inside_unpack_hooks():
    x = leaf(1.0)

    def unpack(t):
        with pytest.warns(RuntimeWarning, match="divide by zero"):
            np.log(np.zeros(1))
        return t

    with saved_tensors_hooks(same, unpack):
        y = x.exp() * x
    y.backward()


def test_backward_inside_an_unpack_hook():
    x, w = leaf(2.0), leaf(3.0)
    with saved_tensors_hooks(same, lambda t: (inner.backward(), t)[1]):
        y = x.exp()
    with wengert.enable_grad():
        inner = (w * w).sum()
    y.backward()
    assert w.grad.tolist() == [6.0]


# -- writes ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pack", [same, lambda t: t.detach(), lambda t: t[:]], ids=["itself", "detached", "view"])
def test_a_write_into_memory_that_hooks_share_is_found(pack):
    x = leaf(1.0, 2.0)
    a = x + 0
    with saved_tensors_hooks(pack, same):
        y = a * a
    a.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


@pytest.mark.parametrize("pack", [lambda t: t.clone(), lambda t: t.tolist()], ids=["clone", "numbers"])
def test_a_write_that_hooks_made_harmless_is_no_error(pack):
    x = leaf(1.0, 2.0)
    a = x + 0
    with saved_tensors_hooks(pack, lambda v: wengert.as_tensor(v, dtype=wengert.float64)):
        y = a * a
    a.add_(1)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


# -- memory ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("program", [lambda x: x.exp(), lambda x: (x * 1).exp_(), lambda x: x * x], ids=["output", "write", "input"])
@pytest.mark.parametrize("hooks", [lambda: saved_tensors_hooks(same, same), save_on_cpu], ids=["same", "save_on_cpu"])
def test_a_graph_with_hooks_dies_by_reference_count(program, hooks):
    x = leaf(1.0)
    gc.disable()
    try:
        with hooks():
            y = program(x)
        node = weakref.ref(y.grad_fn)
        del y
        assert node() is None
    finally:
        gc.enable()


def test_packed_values_are_released_by_the_pass():
    class Box:
        def __init__(self, tensor):
            self.tensor = tensor.detach()

    boxes = []
    x = leaf(1.0)
    with saved_tensors_hooks(lambda t: (box := Box(t), boxes.append(weakref.ref(box)))[0], lambda box: box.tensor):
        y = x.exp()
    assert boxes[0]() is not None
    y.backward()
    assert boxes[0]() is None


# -- save_on_cpu, disable_saved_tensors_hooks ---------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [{}, {"pin_memory": True}, {"device_type": "cuda"}])
def test_save_on_cpu(arguments):
    x = leaf(1.0, 2.0)
    with save_on_cpu(**arguments):
        y = (x.exp() * x).sum()
    y.backward()
    np.testing.assert_allclose(x.grad.tolist(), np.exp([1, 2]) * [2, 3])


def test_hooks_can_be_refused():
    with disable_saved_tensors_hooks("outer"):
        with disable_saved_tensors_hooks("inner"), pytest.raises(RuntimeError, match="^inner$"), save_on_cpu():
            pass
        with pytest.raises(RuntimeError, match="^outer$"), saved_tensors_hooks(same, same):
            pass
        leaf(1.0).exp().grad_fn._raw_saved_result.register_hooks(same, same)
    with saved_tensors_hooks(same, same):
        pass


def test_hooks_cannot_be_refused_inside_their_block():
    with saved_tensors_hooks(same, same), pytest.raises(RuntimeError, match="^now$"), disable_saved_tensors_hooks("now"):
        pass
    with saved_tensors_hooks(same, same):
        pass


@disable_saved_tensors_hooks("not in here")
def refusing():
    with saved_tensors_hooks(same, same):
        pass


def test_refusing_hooks_is_a_decorator_too():
    with pytest.raises(RuntimeError, match="^not in here$"):
        refusing()


# -- what nodes show -------------------------------------------------------------------------------------------------------


def test_saved_values_are_attributes():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    a = x + 0
    product = (a * y).grad_fn
    assert product._saved_self.tolist() == [1.0, 2.0]
    assert product._saved_self.grad_fn is a.grad_fn
    assert product._saved_other is y
    exponential = a.exp()
    assert exponential.grad_fn._saved_result.grad_fn is exponential.grad_fn
    assert a.exp().grad_fn._saved_result.tolist() == exponential.tolist()


def test_values_that_are_no_tensors():
    x = wengert.ones(2, 3, requires_grad=True)
    assert x.sum(dim=1, keepdim=True).grad_fn._saved_dim == 1
    assert x.sum(dim=1, keepdim=True).grad_fn._saved_self_sym_sizes == (2, 3)
    assert (x * 2.5).grad_fn._saved_other.item() == 2.5
    assert (x**2).grad_fn._saved_exponent == 2
    indices = x.max(dim=1).indices.grad_fn, x.max(dim=1)[0].grad_fn
    assert indices[0] is None
    assert indices[1]._saved_indices.tolist() == [0, 0]
    assert not indices[1]._saved_indices.requires_grad


def test_saved_attributes_without_a_use_are_none():
    x = leaf(1.0)
    node = (x * leaf(2.0).detach()).grad_fn
    assert node._saved_self is None
    assert node._saved_other.item() == 2.0
    with pytest.raises(RuntimeError, match="^Calling register_hooks on a saved tensor with value None is forbidden$"):
        node._raw_saved_self.register_hooks(same, same)


def test_only_names_of_saved_values_are_attributes():
    node = leaf(1.0).exp().grad_fn
    for name in ("_saved_self", "_raw_saved_self", "_saved_", "saved", "_saved_dim", "result"):
        assert not hasattr(node, name)
    with pytest.raises(AttributeError, match="^'ExpBackward0' object has no attribute '_saved_nothing'$"):
        _ = node._saved_nothing
    assert not hasattr(wengert.ones(2, requires_grad=True).sum(0).grad_fn, "_raw_saved_dim")


def test_dir_lists_saved_values():
    x = leaf(1.0)
    names = dir((x * x).grad_fn)
    assert {"_saved_self", "_saved_other", "_raw_saved_self", "_raw_saved_other", "name", "next_functions"} <= {*names}


def test_tuples_of_saved_tensors():
    x = wengert.arange(6.0).reshape(2, 3).requires_grad_()
    y = x[wengert.tensor([1, 0]), wengert.tensor([2, 2])]
    first, second = y.grad_fn._saved_indices
    assert (first.tolist(), second.tolist()) == ([1, 0], [2, 2])
    raw = y.grad_fn._raw_saved_indices
    raw[1].register_hooks(same, lambda t: t - 1)
    y.sum().backward()
    assert x.grad.tolist() == [[0, 1, 0], [0, 1, 0]]


def test_saved_values_are_gone_after_a_pass():
    x = leaf(1.0)
    y = x.exp()
    y.backward()
    for look in (lambda node: node._saved_result, lambda node: node._raw_saved_result.unpack()):
        with pytest.raises(RuntimeError, match=r"Trying to backward .* directly access saved tensors after"):
            look(y.grad_fn)
    with pytest.raises(RuntimeError, match="^Calling register_hooks on a saved tensor after it has been freed"):
        y.grad_fn._raw_saved_result.register_hooks(same, same)


def test_saved_values_stay_with_retain_graph():
    x = leaf(1.0)
    y = x.exp()
    y.backward(retain_graph=True)
    assert y.grad_fn._saved_result.tolist() == y.tolist()


def test_looking_at_saved_values_runs_hooks_and_finds_writes():
    x = leaf(1.0)
    with Recording() as hooks:
        y = x.exp()
    assert y.grad_fn._saved_result.tolist() == y.tolist()
    assert len(hooks.unpacked) == 1
    z = x.exp()
    z.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        _ = z.grad_fn.next_functions[0][0]._saved_result


# -- hooks on one value ------------------------------------------------------------------------------------------------------


def test_hooks_on_one_saved_tensor():
    x, y = leaf(2.0), leaf(5.0)
    z = x * y
    raw = z.grad_fn._raw_saved_self
    assert raw.unpack_hook is None
    raw.register_hooks(lambda t: t.item(), unpack := lambda number: wengert.tensor([number * 100]))
    assert raw.data == 2.0
    assert raw.unpack_hook is unpack
    assert raw.unpack().tolist() == [200.0]
    z.backward()
    assert (x.grad.item(), y.grad.item()) == (5.0, 200.0)


def test_only_one_pair_of_hooks():
    x = leaf(2.0)
    node = (x * x).grad_fn
    node._raw_saved_self.register_hooks(same, same)
    node._raw_saved_other.register_hooks(same, same)
    with pytest.raises(RuntimeError, match="whose hooks have already been set. Hint: only one pair"):
        node._raw_saved_self.register_hooks(same, same)
    with saved_tensors_hooks(same, same):
        node = x.exp().grad_fn
    with pytest.raises(RuntimeError, match="whose hooks have already been set"):
        node._raw_saved_result.register_hooks(same, same)


@pytest.mark.parametrize("pack", [lambda: 1, lambda t: 1 / 0, lambda t: t.add_(1)], ids=["arity", "error", "write"])
def test_a_pack_hook_that_fails_leaves_the_value_alone(pack):
    a = leaf(2.0) + 0
    y = a.exp()
    with pytest.raises((TypeError, ZeroDivisionError, RuntimeError)):
        y.grad_fn._raw_saved_result.register_hooks(pack, same)
    assert y.grad_fn._raw_saved_result.unpack_hook is None


@pytest.mark.parametrize("hooks", [(1, same), (same, 1)])
def test_hooks_on_one_value_must_be_callable(hooks):
    node = leaf(2.0).exp().grad_fn
    with pytest.raises(TypeError, match="^hooks on saved tensors must be callable"):
        node._raw_saved_result.register_hooks(*hooks)


def test_saved_tensors_cannot_be_made():
    with pytest.raises(RuntimeError, match="^Trying to create a SavedTensor object from Python is forbidden.$"):
        SavedTensor()


# -- custom Functions --------------------------------------------------------------------------------------------------------


class Product(Function):
    @staticmethod
    def forward(ctx, x, y):
        result = x * y
        ctx.save_for_backward(x, y, None, result, wengert.ones(1))
        return result

    @staticmethod
    def backward(ctx, g):
        x, y, nothing, _, _ = ctx.saved_tensors
        assert nothing is None
        return g * y, g * x


def test_hooks_on_tensors_that_a_function_saves():
    x, y = leaf(2.0), leaf(3.0)
    with Recording() as hooks:
        z = Product.apply(x, y)
    assert hooks.packed == [[2.0], [3.0], [6.0], [1.0]]
    z.backward()
    assert (x.grad.item(), y.grad.item()) == (3.0, 2.0)
    assert len(hooks.unpacked) == 4


def test_a_functions_saved_tensors_stand_where_they_stood():
    x, y = leaf(2.0), leaf(3.0)
    with saved_tensors_hooks(same, same):
        z = Product.apply(x, y)
    assert z.grad_fn.saved_tensors[0] is x
    assert z.grad_fn.saved_tensors[3].grad_fn is z.grad_fn


def test_hooks_on_one_value_of_a_function():
    x, y = leaf(2.0), leaf(3.0)
    z = Product.apply(x, y)
    first, _, nothing, _, _ = z.grad_fn._raw_saved_tensors
    first.register_hooks(lambda t: t * 10, same)
    with pytest.raises(RuntimeError, match="with value None is forbidden"):
        nothing.register_hooks(same, same)
    z.backward()
    assert (x.grad.item(), y.grad.item()) == (3.0, 20.0)
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        _ = z.grad_fn._raw_saved_tensors
