"""allow_mutation_on_saved_tensors: inside it, writing into what was saved gives the node a copy."""

import gc
import threading
import weakref

import numpy as np
import pytest

import wengert
from wengert.autograd import Function, grad
from wengert.autograd.graph import allow_mutation_on_saved_tensors, increment_version, saved_tensors_hooks


def leaf(*numbers):
    return wengert.tensor(list(numbers), dtype=wengert.float64, requires_grad=True)


def numbers(*values):
    return wengert.tensor(list(values), dtype=wengert.float64)


WRITES = {
    "mul_": lambda t: t.mul_(5),
    "zero_": lambda t: t.zero_(),
    "copy_": lambda t: t.copy_(numbers(7.0, 8.0, 9.0)),
    "[0] =": lambda t: t.__setitem__(0, 7.0),
    "[:] =": lambda t: t.__setitem__(slice(None), 7.0),
    "[list] =": lambda t: t.__setitem__([0, 2], 7.0),
    "[mask] =": lambda t: t.__setitem__(t > 0, 7.0),
    "view": lambda t: t.view(3, 1).add_(1),
    "part": lambda t: t[1:].add_(1),
    "detached": lambda t: t.detach().add_(1),
    "index_put_": lambda t: t.index_put_((wengert.tensor([1]),), numbers(4.0)),
    "uniform_": lambda t: t.uniform_(),
    "out=": lambda t: wengert.add(numbers(1.0, 1.0, 1.0), 1, out=t),
    "augmented": lambda t: t.__iadd__(1),
    "data": lambda t: t.data.mul_(5),
    "twice": lambda t: t.add_(1).mul_(2),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("view", [False, True], ids=["", "a view was saved"])
def test_saved_values_stay_as_they_were(write, view):
    w = leaf(1.0, 1.0, 1.0)
    x = numbers(1.0, 2.0, 3.0)
    with allow_mutation_on_saved_tensors():
        y = (w[1:] * x[1:]).sum() if view else (w * x).sum()
        WRITES[write](x)
        y.backward()
    assert w.grad.tolist() == [0.0 if view else 1.0, 2.0, 3.0]
    if write == "data":
        return  # nobody counts what is written through it
    # Outside the block the same is an error.
    x = numbers(1.0, 2.0, 3.0)
    y = (w[1:] * x[1:]).sum() if view else (w * x).sum()
    WRITES[write](x)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_outputs_and_leaves():
    w = leaf(1.0, 2.0)
    with allow_mutation_on_saved_tensors():
        y = w.exp()
        z = (y * 1).sum()
        y.zero_()
        squares = (w * w).sum()
        with wengert.no_grad():
            w.mul_(10)
        (z + squares).backward()
    np.testing.assert_allclose(w.grad.tolist(), np.add(np.exp([1.0, 2.0]), [2.0, 4.0]))


def test_a_value_saved_many_times_between_writes():
    w = leaf(1.0)
    x = numbers(1.0)
    with allow_mutation_on_saved_tensors():
        total = w * 0
        for i in range(4):
            total = total + w * x * 10**i
            x.add_(1)
        total.backward()
    assert w.grad.item() == 4321.0


def test_derivatives_of_derivatives():
    w = leaf(2.0)
    with allow_mutation_on_saved_tensors():
        y = w * w * w
        with wengert.no_grad():
            w.mul_(100)
        (first,) = grad(y, w, create_graph=True)
        (second,) = grad(first, w)
    assert (first.item(), second.item()) == (12.0, 12.0)


def test_tensors_saved_by_a_function_keep_their_values():
    class Scale(Function):
        @staticmethod
        def forward(ctx, x, scale):
            ctx.save_for_backward(scale)
            return x * scale

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0], None

    w, scale = leaf(1.0), numbers(3.0)
    with allow_mutation_on_saved_tensors():
        y = Scale.apply(w, scale)
        scale.zero_()
        y.backward()
    assert w.grad.item() == 3.0


def test_blocks_do_not_nest():
    with (
        allow_mutation_on_saved_tensors(),
        pytest.raises(RuntimeError, match="^allow_mutation_on_saved_tensors contexts cannot be nested$"),
        allow_mutation_on_saved_tensors(),
    ):
        pass
    with allow_mutation_on_saved_tensors():
        pass


def test_the_backward_pass_belongs_inside():
    w = leaf(1.0)
    with allow_mutation_on_saved_tensors():
        y = w.exp()
    with pytest.raises(AssertionError, match="^Trying to backward outside of the 'allow_mutation_on_saved_tensors'"):
        y.backward()


def test_tensors_saved_before_the_block_are_checked_for_writes():
    w, x = leaf(1.0), numbers(2.0)
    y, z = w * x, w * x
    with allow_mutation_on_saved_tensors():
        y.backward()
        x.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            z.backward()


def test_writes_by_others_are_found():
    w, x = leaf(1.0), numbers(2.0)
    with allow_mutation_on_saved_tensors():
        y = w * x
        increment_version(x)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.backward()


def test_a_write_on_another_thread_is_found():
    w, x = leaf(1.0), numbers(2.0)
    with allow_mutation_on_saved_tensors():
        y = w * x
        thread = threading.Thread(target=lambda: x.add_(1))
        thread.start()
        thread.join()
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.backward()


def test_inner_hooks_are_checked_as_ever():
    w, x = leaf(1.0), numbers(2.0)
    with allow_mutation_on_saved_tensors():
        with saved_tensors_hooks(lambda t: t, lambda t: t):
            y = w * x
        x.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.backward()


def test_nothing_is_copied_without_need():
    w, x = leaf(1.0), numbers(2.0)
    with allow_mutation_on_saved_tensors() as keeper:
        y = w * x
        assert y.grad_fn._saved_other.data_ptr() == x.data_ptr()
        del y
        gc.collect()
        y = w * x
        y.backward()
        x.add_(1)
        assert not keeper.by_owner


def test_copies_die_with_their_graph():
    w, x = leaf(1.0), numbers(2.0)
    with allow_mutation_on_saved_tensors():
        y = w * x
        x.add_(1)
        kept = weakref.ref(y.grad_fn._raw_saved_other.data)
        assert kept() is not None
        del y
        assert kept() is None
