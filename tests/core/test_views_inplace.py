"""Views and writing in place: what is shared, what is refused, and the gradients through writes.

Expected gradients are worked by hand: a write of c * x into part of a copy of x leaves the rest with factor one.
"""

import gc
import tracemalloc
import weakref

import numpy as np
import pytest

import wengert
from snapshots import Unchanged
from wengert.autograd import grad
from wengert.kernels import native


def leaf(*numbers):
    return wengert.tensor(list(numbers), dtype=wengert.float64, requires_grad=True)


def numbers(*values):
    return wengert.tensor(list(values), dtype=wengert.float64)


def matrix(rows, columns):
    return wengert.arange(float(rows * columns), dtype=wengert.float64).view(rows, columns).clone().requires_grad_()


WEIGHTS = [1.0, 10.0, 100.0, 1000.0]


def weighed(tensor):
    """Return a scalar whose gradient has a different value for each element."""
    return (tensor * numbers(*WEIGHTS[: tensor.numel()]).view(tensor.shape)).sum()


# -- views -----------------------------------------------------------------------------------------------------------------

VIEWS = {
    "view": lambda x: x.view(2, 2),
    "reshape": lambda x: x.reshape(2, 2),
    "slice": lambda x: x[1:3],
    "select": lambda x: x[2],
    "unsqueeze": lambda x: x.unsqueeze(0),
    "expand": lambda x: x.expand(3, 4),
    "permute": lambda x: x.view(2, 2).permute(1, 0),
    "t": lambda x: x.view(2, 2).t(),
    "flatten": lambda x: x.view(2, 2).flatten(),
    "narrow": lambda x: x.narrow(0, 1, 2),
    "unbind": lambda x: x.unbind(0)[1],
    "split": lambda x: x.split(2)[1],
    "chunk": lambda x: x.chunk(2)[0],
    "diagonal": lambda x: x.view(2, 2).diagonal(),
    "squeeze": lambda x: x.view(1, 4).squeeze(0),
    "detach": lambda x: x.detach(),
    "[None]": lambda x: x[None],
    "[...]": lambda x: x[...],
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_shares_memory_and_version(name):
    x = numbers(1.0, 2.0, 3.0, 4.0)
    view = VIEWS[name](x)
    assert np.shares_memory(view.numpy(), x.numpy())
    x.add_(1)
    assert view._version == x._version == 1
    assert view.tolist() == VIEWS[name](numbers(2.0, 3.0, 4.0, 5.0)).tolist()


@pytest.mark.parametrize("name", [n for n in VIEWS if n != "detach"])
def test_a_view_knows_its_base(name):
    x = numbers(1.0, 2.0, 3.0, 4.0)
    view = VIEWS[name](x)
    assert view._is_view() and view._base is x and not x._is_view() and x._base is None


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_of_a_recorded_tensor_is_recorded(name):
    x = leaf(1.0, 2.0, 3.0, 4.0)
    view = VIEWS[name](x)
    assert view.requires_grad is (name != "detach")


COPIES = {
    "clone": lambda x: x.clone(),
    "mask": lambda x: x[x > 0],
    "index": lambda x: x[wengert.tensor([0, 1])],
    "contiguous of a transpose": lambda x: x.view(2, 2).t().contiguous(),
    "reshape of a transpose": lambda x: x.view(2, 2).t().reshape(4),
    "flip": lambda x: x.flip(0),
    "+ 0": lambda x: x + 0,
}


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_shares_nothing(name):
    x = numbers(1.0, 2.0, 3.0, 4.0)
    copy = COPIES[name](x)
    assert not np.shares_memory(copy.numpy(), x.numpy())
    x.add_(1)
    assert copy._version == 0 and not copy._is_view()


def test_operations_without_effect_return_the_tensor_or_a_view():
    x = numbers(1.0, 2.0)
    assert x.contiguous() is x and x.double() is x and x.to(wengert.float64) is x


def test_a_view_of_a_view_has_the_first_base():
    x = numbers(1.0, 2.0, 3.0, 4.0)
    view = x.view(2, 2)[1][0]
    assert view._base is x


def test_a_base_lives_as_long_as_its_views():
    x = numbers(1.0, 2.0, 3.0, 4.0)
    reference = weakref.ref(x)
    view = x[1:]
    gc.disable()
    try:
        del x
        assert reference() is view._base
        del view
        assert reference() is None
    finally:
        gc.enable()


# -- what is refused ---------------------------------------------------------------------------------------------------------

LEAF = r"^a leaf Variable that requires grad is being used in an in-place operation\."
LEAF_VIEW = r"^a view of a leaf Variable that requires grad is being used in an in-place operation\."

WRITES = {
    "add_": lambda t: t.add_(1),
    "mul_": lambda t: t.mul_(2),
    "zero_": lambda t: t.zero_(),
    "fill_": lambda t: t.fill_(1.0),
    "copy_": lambda t: t.copy_(numbers(1.0).expand(t.shape)),
    "exp_": lambda t: t.exp_(),
    "setitem": lambda t: t.__setitem__(..., 1.0),
}


@pytest.mark.parametrize("write", WRITES)
def test_a_leaf_that_requires_grad_is_not_written(write):
    x = leaf(1.0, 2.0)
    with Unchanged(x), pytest.raises(RuntimeError, match=LEAF):
        WRITES[write](x)


@pytest.mark.parametrize("write", WRITES)
def test_a_view_of_such_a_leaf_is_not_written(write):
    x = leaf(1.0, 2.0)
    view = x[1:]
    with Unchanged(x, view), pytest.raises(RuntimeError, match=LEAF_VIEW):
        WRITES[write](view)


def test_setting_elements_of_a_leaf():
    x = leaf(1.0, 2.0)
    with Unchanged(x), pytest.raises(RuntimeError, match=LEAF + "|" + LEAF_VIEW):
        x[0] = 5.0


@pytest.mark.parametrize("write", WRITES)
def test_under_no_grad_leaves_are_written(write):
    x = leaf(1.0, 2.0)
    with wengert.no_grad():
        WRITES[write](x)
        WRITES[write](x[1:])
    assert x.is_leaf and x.requires_grad and x._version == 2


def test_a_leaf_becomes_requiring_grad_through_a_view():
    """Writing something that requires grad into a view of a leaf that does not is fine."""
    x, base = leaf(5.0), numbers(1.0, 2.0, 3.0)
    base[1] = x[0] * 2
    assert base.requires_grad and not base.is_leaf and base.tolist() == [1.0, 10.0, 3.0]
    weighed(base).backward()
    assert x.grad.item() == 20.0


def test_an_output_of_several_is_not_written():
    x = leaf(1.0, 2.0, 3.0, 4.0)
    for function, name in ((lambda t: t.unbind(0)[1], "Unbind"), (lambda t: t.split(2)[1], "Split")):
        view = function(x * 1)
        with pytest.raises(
            RuntimeError,
            match=rf"^Output 1 of {name}\w* is a view and is being modified inplace\. This view is the output of a function "
            r"that returns multiple views\. Such functions do not allow the output views to be modified inplace\.",
        ):
            view.add_(1)


def test_an_output_of_several_is_written_where_nothing_is_recorded():
    x = numbers(1.0, 2.0)
    a, b = x.unbind(0)
    a.add_(5)
    assert x.tolist() == [6.0, 2.0]
    y = leaf(1.0, 2.0) * 1
    with wengert.no_grad():
        y.unbind(0)[0].add_(5)
    assert y.tolist() == [6.0, 2.0]


def test_a_view_made_under_no_grad_is_not_written_with_recording_on():
    base = leaf(1.0, 2.0) * 1
    with wengert.no_grad():
        view = base[0:1]
    with pytest.raises(RuntimeError, match=r"^A view was created in no_grad mode and is being modified inplace with grad"):
        view.add_(1)
    assert base.tolist() == [1.0, 2.0]
    with wengert.no_grad():
        view.add_(1)
    assert base.tolist() == [2.0, 2.0]


def test_a_view_made_under_no_grad_of_a_tensor_without_gradient_may_be_written():
    base = numbers(1.0, 2.0)
    with wengert.no_grad():
        view = base[0:1]
    view.add_(1)
    assert base.tolist() == [2.0, 2.0]


def test_a_write_that_broadcasts_beyond_its_target_is_refused():
    x = numbers(1.0, 2.0, 3.0)
    with Unchanged(x), pytest.raises(RuntimeError, match=r"output with shape \[3\] doesn't match the broadcast shape \[2, 3\]"):
        x.add_(wengert.ones(2, 3, dtype=wengert.float64))


@pytest.mark.parametrize(
    "write",
    [
        lambda a, b: a.add_(b), lambda a, b: a.mul_(b), lambda a, b: a.add_(b, alpha=2), lambda a, b: a.copy_(b),
        lambda a, b: a.addcmul_(b, b), lambda a, b: wengert.add(a, b, out=wengert.ones(1)),
    ],
)  # fmt: skip
def test_shapes_that_do_not_broadcast_are_refused(write):
    a, b = wengert.ones(3, 2), wengert.ones(2, 3)
    with (
        Unchanged(a, b),
        pytest.raises(RuntimeError, match=r"^The size of tensor a \(2\) must match the size of tensor b \(3\) at non-sing"),
    ):
        write(a, b)


def test_a_write_of_a_higher_kind_is_refused():
    x = wengert.ones(2, dtype=wengert.int64)
    with Unchanged(x), pytest.raises(RuntimeError, match=r"^result type \w+ can't be cast to the desired output type \w+"):
        x.add_(1.5)
    y = numbers(1.0)
    with Unchanged(y), pytest.raises(RuntimeError, match=r"^result type \w+ can't be cast to the desired output type \w+"):
        y.mul_(1j)


@pytest.mark.parametrize(
    "write",
    [lambda a, b: a.add_(b), lambda a, b: a.__isub__(b), lambda a, b: a.mul_(0.5), lambda a, b: a.div_(b), lambda a, b: a.exp_()],
)  # fmt: skip
@pytest.mark.parametrize("recorded", [False, True])
def test_a_write_makes_no_array_on_the_way(write, recorded):
    a, b = wengert.zeros(1000, 1000), wengert.ones(1000, 1000)
    if recorded:
        a = wengert.zeros((), requires_grad=True) + a
    tracemalloc.start()
    try:
        write(a, b)
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


SUMS_OF_PRODUCTS = [
    (lambda a, b: a.add_(b, alpha=0.5), lambda a, b: a + 0.5 * b),
    (lambda a, b: a.sub_(b, alpha=2), lambda a, b: a - 2 * b),
    (lambda a, b: a.addcmul_(b, b), lambda a, b: a + b * b),
    (lambda a, b: a.addcmul_(b, a, value=0.5), lambda a, b: a + b * a * 0.5),
    (lambda a, b: a.addcdiv_(a, b, value=-0.5), lambda a, b: a - a / b * 0.5),
]


@pytest.mark.parametrize(("write", "expected"), SUMS_OF_PRODUCTS)
@pytest.mark.parametrize("other", [lambda a: a.t(), lambda a: a[::1] * 2 + 1, lambda a: a[0], lambda a: a[:, :1]])
def test_sums_of_products_in_place(write, expected, other):
    a = wengert.rand(50, 50) + 1
    before, b = a.numpy().copy(), other(a).numpy().copy()
    version = a._version
    assert write(a, other(a)) is a
    assert a._version == version + 1
    np.testing.assert_allclose(a.numpy(), expected(before, b), rtol=1e-6)


@pytest.mark.skipif(native is None, reason="no kernels are compiled here")
@pytest.mark.parametrize("write", [write for write, _ in SUMS_OF_PRODUCTS[:3]])
def test_an_unrecorded_sum_of_products_makes_no_array_on_the_way(write):
    a, b = wengert.zeros(1000, 1000), wengert.ones(1000, 1000)
    write(a, b)
    tracemalloc.start()
    try:
        write(a, b)
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


def test_a_write_keeps_the_targets_dtype():
    x = wengert.ones(2, dtype=wengert.float32)
    x.add_(numbers(1.0, 2.0))
    assert x.dtype is wengert.float32 and x.tolist() == [2.0, 3.0]


def test_a_read_only_array_is_not_written():
    array = np.ones(2)
    array.flags.writeable = False
    x = wengert.as_tensor(array)
    for write in (lambda: x.add_(1), lambda: x.zero_(), lambda: x.__setitem__(0, 5.0), lambda: x[1:].mul_(3)):
        with pytest.raises(ValueError, match="read-only"):
            write()
    assert array.tolist() == [1.0, 1.0] and x._version == 0


def test_expanded_memory_is_not_written():
    x = numbers(1.0).expand(3)
    with pytest.raises(RuntimeError, match=r"^unsupported operation: more than one element of the written-to tensor refers"):
        x.add_(1)


# -- writes into tensors that are no views -------------------------------------------------------------------------------------

ON_WHOLE = {
    "add_": (lambda a: a.add_(1), 1.0),
    "mul_": (lambda a: a.mul_(3), 3.0),
    "neg_": (lambda a: a.neg_(), -1.0),
    "sub_": (lambda a: a.sub_(1), 1.0),
    "div_": (lambda a: a.div_(4), 0.25),
    "+=": (lambda a: a.__iadd__(1), 1.0),
    "*=": (lambda a: a.__imul__(3), 3.0),
    "zero_": (lambda a: a.zero_(), 0.0),
    "fill_": (lambda a: a.fill_(7.0), 0.0),
    "copy_": (lambda a: a.copy_(numbers(5.0, 6.0)), 0.0),
    "[...] =": (lambda a: a.__setitem__(..., 5.0), 0.0),
    "twice": (lambda a: a.mul_(3).mul_(5), 15.0),
}


@pytest.mark.parametrize("write", ON_WHOLE)
def test_a_write_into_a_whole_tensor(write):
    function, factor = ON_WHOLE[write]
    x = leaf(1.0, 2.0)
    a = x * 2
    function(a)
    assert a._version > 0 and a.requires_grad and not a.is_leaf
    weighed(a).backward()
    assert x.grad.tolist() == [2 * factor, 20 * factor]


def test_a_write_returns_the_tensor_itself():
    a = leaf(1.0, 2.0) * 2
    assert a.add_(1) is a and a.mul_(2) is a and a.zero_() is a


def test_a_write_gives_its_operand_a_gradient():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    a = x * 1
    a.mul_(y)
    weighed(a).backward()
    assert x.grad.tolist() == [3.0, 40.0] and y.grad.tolist() == [1.0, 20.0]


def test_copy_broadcasts_and_casts():
    x = wengert.ones(1, dtype=wengert.float32, requires_grad=True)
    a = numbers(1.0, 2.0, 3.0)
    a.copy_(x)
    assert a.requires_grad and a.dtype is wengert.float64
    weighed(a).backward()
    assert x.grad.dtype is wengert.float32 and x.grad.tolist() == [111.0]


def test_a_constant_becomes_dependent_by_a_write():
    x, a = leaf(1.0, 2.0), numbers(5.0, 5.0)
    a.add_(x)
    assert a.requires_grad and not a.is_leaf
    weighed(a).backward()
    assert x.grad.tolist() == [1.0, 10.0]


def test_earlier_uses_see_the_earlier_value():
    x = leaf(1.0, 2.0)
    a = x * 2
    before = a + 0
    a.mul_(5)
    (before + a).sum().backward()
    assert x.grad.tolist() == [12.0, 12.0]


def test_nonlinear_writes():
    x = leaf(0.5, 1.5)
    a = x * 1
    a.pow_(2)
    a.mul_(3)
    a.exp_()
    a.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 6 * np.array([0.5, 1.5]) * np.exp(3 * np.array([0.5, 1.5]) ** 2))


def test_a_write_of_a_tensor_into_itself():
    x = leaf(2.0, 3.0)
    a = x * 1
    a.mul_(a)
    a.sum().backward()
    assert x.grad.tolist() == [4.0, 6.0]


OVERLAPPING = {
    # a starts as (x0, x1, x2); the sum of a afterwards, its gradient at (1, 2, 3), worked by hand
    "shifted": (lambda a: a[:2].mul_(a[1:]), [2.0, 6.0, 3.0], [2.0, 1.0 + 3.0, 2.0 + 1.0]),
    "an element of itself": (lambda a: a.mul_(a[1:2]), [2.0, 4.0, 6.0], [2.0, 1.0 + 4.0 + 3.0, 2.0]),
    "another view of the same": (lambda a: a.mul_(a.view(3)), [1.0, 4.0, 9.0], [2.0, 4.0, 6.0]),
    "reversed": (lambda a: a.mul_(a.flip(0)), [3.0, 4.0, 3.0], [6.0, 4.0, 2.0]),
    "base into its view": (lambda a: a[:1].mul_(a.sum()), [6.0, 2.0, 3.0], [6.0 + 1.0, 1.0 + 1.0, 1.0 + 1.0]),
    "added": (lambda a: a[:2].add_(a[1:]), [3.0, 5.0, 3.0], [1.0, 2.0, 2.0]),
    "copied": (lambda a: a[:2].copy_(a[1:]), [2.0, 3.0, 3.0], [0.0, 1.0, 2.0]),
    "assigned": (lambda a: a.__setitem__(slice(0, 2), a[1:]), [2.0, 3.0, 3.0], [0.0, 1.0, 2.0]),
}


@pytest.mark.parametrize("case", OVERLAPPING)
def test_a_write_whose_source_overlaps_with_its_target(case):
    """torch refuses most of these writes. A write that is allowed must not give wrong gradients."""
    write, values, gradient = OVERLAPPING[case]
    x = leaf(1.0, 2.0, 3.0)
    a = x * 1
    write(a)
    assert a.tolist() == values
    a.sum().backward()
    assert x.grad.tolist() == gradient


@pytest.mark.parametrize("written", ["view", "base"])
@pytest.mark.parametrize("write", ["mul_", "add_", "copy_", "setitem"])
def test_a_view_that_was_read_by_the_write_sees_it(write, written):
    """u is a view of the written memory and an operand of the write. After the write it depends on the written values."""
    x = leaf(2.0, 3.0)
    a = x * 1
    u = a[1:]
    target = a[:2] if written == "view" else a
    if write == "setitem":
        target[...] = u
    else:
        getattr(target, write)(u)
    u.sum().backward()
    # u is now x1 * x1, x1 + x1 or x1
    assert x.grad.tolist() == [0.0, {"mul_": 6.0, "add_": 2.0, "copy_": 1.0, "setitem": 1.0}[write]]


def test_second_derivatives_through_a_write():
    x = leaf(2.0)
    a = x * x
    a.mul_(x)  # x^3
    (g,) = grad(a, x, create_graph=True)
    (h,) = grad(g, x)
    assert (g.item(), h.item()) == (12.0, 12.0)


# -- writes into views -------------------------------------------------------------------------------------------------------

INTO_VIEWS = {
    "slice": (lambda a: a[1:3].mul_(5), [1.0, 50.0, 500.0, 1000.0]),
    "select": (lambda a: a[2].mul_(5), [1.0, 10.0, 500.0, 1000.0]),
    "view": (lambda a: a.view(2, 2)[1].mul_(5), [1.0, 10.0, 500.0, 5000.0]),
    "transpose": (lambda a: a.view(2, 2).t()[0].mul_(5), [5.0, 10.0, 500.0, 1000.0]),
    "step": (lambda a: a[::2].mul_(5), [5.0, 10.0, 500.0, 1000.0]),
    "diagonal": (lambda a: a.view(2, 2).diagonal().mul_(5), [5.0, 10.0, 100.0, 5000.0]),
    "zero": (lambda a: a[:2].zero_(), [0.0, 0.0, 100.0, 1000.0]),
    "[0] = number": (lambda a: a.__setitem__(0, 9.0), [0.0, 10.0, 100.0, 1000.0]),
    "[1:3] = number": (lambda a: a.__setitem__(slice(1, 3), 9.0), [1.0, 0.0, 0.0, 1000.0]),
    "[index] = number": (lambda a: a.__setitem__(wengert.tensor([0, 3]), 9.0), [0.0, 10.0, 100.0, 0.0]),
    "[mask] = number": (lambda a: a.__setitem__(a > 2, 9.0), [1.0, 10.0, 0.0, 0.0]),
    "augmented": (lambda a: a.__setitem__(1, a[1] * 5), [1.0, 50.0, 100.0, 1000.0]),
    "twice, apart": (lambda a: (a[:1].mul_(5), a[2:].mul_(7)), [5.0, 10.0, 700.0, 7000.0]),
    "twice, overlapping": (lambda a: (a[:3].mul_(5), a[1:].mul_(7)), [5.0, 350.0, 3500.0, 7000.0]),
    "copied within": (lambda a: a[:2].copy_(a[2:]), [0.0, 0.0, 101.0, 1010.0]),
    "whole, as a view": (lambda a: a[:].mul_(5), [5.0, 50.0, 500.0, 5000.0]),
    "view, then base": (lambda a: (a[:2].mul_(5), a.mul_(2)), [10.0, 100.0, 200.0, 2000.0]),
}


@pytest.mark.parametrize("case", INTO_VIEWS)
def test_a_write_into_a_view_of_a_tensor(case):
    function, expected = INTO_VIEWS[case]
    x = leaf(1.0, 2.0, 3.0, 4.0)
    a = x * 1
    function(a)
    weighed(a).backward()
    assert x.grad.tolist() == expected


@pytest.mark.parametrize("case", INTO_VIEWS)
def test_the_value_after_a_write_into_a_view(case):
    """Compare with the same writes in NumPy on the same memory layout."""
    function, _ = INTO_VIEWS[case]
    recorded, constant = leaf(1.0, 2.0, 3.0, 4.0) * 1, numbers(1.0, 2.0, 3.0, 4.0)
    function(recorded)
    function(constant)
    assert recorded.tolist() == constant.tolist()


def test_a_view_that_was_written_has_its_own_gradient():
    x = leaf(1.0, 2.0, 3.0, 4.0)
    a = x * 1
    view = a[1:3]
    view.mul_(5)
    assert view.grad_fn is not None and a.grad_fn.name() == "torch::autograd::CopySlices"
    weighed(view).backward()
    assert x.grad.tolist() == [0.0, 5.0, 50.0, 0.0]


def test_other_views_become_dependent():
    x = leaf(1.0, 2.0, 3.0, 4.0)
    a = x * 1
    other = a[2:]
    before = other.grad_fn
    a[1:3].mul_(5)
    assert other.grad_fn is not before
    weighed(other).backward()
    assert x.grad.tolist() == [0.0, 0.0, 5.0, 10.0]


def test_a_view_of_a_constant_becomes_dependent_when_another_view_is_written():
    x, a = leaf(5.0), numbers(1.0, 2.0, 3.0)
    first, rest = a[:1], a[1:]
    rest.mul_(x)
    assert a.requires_grad and first.requires_grad
    first.sum().backward(retain_graph=True)
    assert x.grad.item() == 0.0
    rest.sum().backward()
    assert x.grad.item() == 5.0


UNRECORDED = {
    "[0] = number": lambda v: v.__setitem__(0, 9.0),
    "[...] = number": lambda v: v.__setitem__(..., 9.0),
    "[mask] = number": lambda v: v.__setitem__(v > 100, 9.0),
    "[index] = tensor": lambda v: v.__setitem__(wengert.tensor([0]), numbers(9.0)),
    "add_": lambda v: v.add_(1),
    "copy_": lambda v: v.copy_(numbers(9.0, 9.0)),
    "zero_": lambda v: v.zero_(),
    "fill_": lambda v: v.fill_(9.0),
    "masked_fill_": lambda v: v.masked_fill_(v > 100, 9.0),
    "index_add_": lambda v: v.index_add_(0, wengert.tensor([0]), numbers(9.0)),
    "out=": lambda v: wengert.add(numbers(1.0, 1.0), 1, out=v),
    "increment_version": lambda v: wengert.autograd.graph.increment_version(v),
}


@pytest.mark.parametrize("write", UNRECORDED)
def test_an_unrecorded_write_into_a_view_keeps_the_history_of_the_base(write):
    """The view has not been looked at since its base became dependent on x."""
    x = leaf(2.0, 3.0)
    base = numbers(1.0, 1.0)
    view = base[:]
    base.mul_(x)
    with wengert.no_grad():
        UNRECORDED[write](view)
    assert view.requires_grad and not view.is_leaf
    view.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_a_view_made_before_the_base_was_written():
    x = leaf(1.0, 2.0)
    a = x * 1
    view = a.view(2, 1)
    a.mul_(3)
    assert view.tolist() == [[3.0], [6.0]]
    (view * numbers(1.0, 10.0).view(2, 1)).sum().backward()
    assert x.grad.tolist() == [3.0, 30.0]


def test_a_view_of_a_view_that_is_written():
    x = matrix(3, 4)
    a = x * 1
    a[1].view(2, 2)[0].mul_(5)
    (a * 1).sum().backward()
    expected = np.ones((3, 4))
    expected[1, :2] = 5
    np.testing.assert_array_equal(x.grad.numpy(), expected)


def test_written_values_get_their_gradient_from_the_written_region():
    x, y = matrix(2, 3), leaf(1.0, 2.0, 3.0)
    a = x * 1
    a[0] = y * 2
    weights = wengert.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=wengert.float64)
    (a * weights).sum().backward()
    assert y.grad.tolist() == [2.0, 4.0, 6.0] and x.grad.tolist() == [[0.0, 0.0, 0.0], [4.0, 5.0, 6.0]]


def test_a_written_value_that_broadcasts():
    x, y = matrix(2, 3), leaf(7.0)
    a = x * 1
    a[:, 1] = y
    a.sum().backward()
    assert y.grad.tolist() == [2.0] and x.grad.tolist() == [[1.0, 0.0, 1.0], [1.0, 0.0, 1.0]]


def test_a_written_value_at_an_index():
    y = leaf(7.0, 8.0)
    a = numbers(1.0, 2.0, 3.0, 4.0)
    a[wengert.tensor([3, 0])] = y
    assert a.tolist() == [8.0, 2.0, 3.0, 7.0]
    weighed(a).backward()
    assert y.grad.tolist() == [1000.0, 1.0]


def test_a_written_value_under_a_mask():
    x, y = leaf(1.0, -2.0, 3.0), leaf(7.0)
    a = x * 1
    a[a < 0] = y
    weighed(a).backward()
    assert x.grad.tolist() == [1.0, 0.0, 100.0] and y.grad.tolist() == [10.0]


def test_second_derivatives_through_a_write_into_a_view():
    x = leaf(2.0, 3.0)
    a = x * x
    a[0].mul_(x[0])  # x0^3, x1^2
    (g,) = grad(a.sum(), x, create_graph=True)
    assert g.tolist() == [12.0, 6.0]
    (h,) = grad(g.sum(), x)
    assert h.tolist() == [12.0, 2.0]


def test_a_recurrence_written_step_by_step():
    """s[i + 1] = s[i] * x: s[n] = x^n."""
    x = leaf(2.0)
    s = wengert.zeros(5, dtype=wengert.float64)
    s[0] = 1.0
    for i in range(4):
        s[i + 1] = s[i].clone() * x[0]
    assert s.tolist() == [1.0, 2.0, 4.0, 8.0, 16.0]
    s[4].backward()
    assert x.grad.item() == 32.0


def test_a_saved_view_that_was_overwritten_is_an_error():
    x = leaf(2.0)
    s = wengert.zeros(3, dtype=wengert.float64)
    s[0] = 1.0
    for i in range(2):
        s[i + 1] = s[i] * x[0]
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        s[2].backward()


def test_gradients_do_not_reach_overwritten_values():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    a = x * 1
    a.copy_(y * 2)
    a.sum().backward()
    assert y.grad.tolist() == [2.0, 2.0] and (x.grad is None or x.grad.tolist() == [0.0, 0.0])


def test_writes_make_no_reference_cycles():
    x = leaf(1.0, 2.0, 3.0)
    gc.disable()
    try:
        a = x * 1
        view = a[1:]
        view.exp_()
        a.tanh_()
        view.mul_(2)
        assert view.grad_fn is not None and a.grad_fn is not None
        reference = weakref.ref(a.grad_fn)
        tensors = [weakref.ref(a), weakref.ref(view)]
        del a, view
        assert reference() is None and [t() for t in tensors] == [None, None]
    finally:
        gc.enable()


def test_a_detached_view_is_no_part_of_the_graph():
    x = leaf(1.0, 2.0)
    a = x * 1
    a.detach()[0] = 9.0
    assert a.tolist() == [9.0, 2.0] and a.grad_fn.name() == "MulBackward0"
    a.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_requires_grad_of_a_view():
    x = numbers(1.0, 2.0)
    view = x[:1]
    view.requires_grad_()
    assert view.is_leaf and view.requires_grad and not x.requires_grad
    (view * 3).sum().backward()
    assert view.grad.tolist() == [3.0]


# -- out= --------------------------------------------------------------------------------------------------------------------


def test_out_is_written_and_returned():
    out = numbers(0.0, 0.0)
    assert wengert.add(numbers(1.0, 2.0), 1, out=out) is out and out.tolist() == [2.0, 3.0] and out._version == 1


def test_out_is_refused_where_gradients_are_recorded():
    x, out = leaf(1.0, 2.0), numbers(0.0, 0.0)
    text = r"^add\(\): functions with out=\.\.\. arguments don't support automatic differentiation, but one of the arguments"
    with Unchanged(x, out), pytest.raises(RuntimeError, match=text):
        wengert.add(x, 1, out=out)
    with Unchanged(x, out), pytest.raises(RuntimeError, match=text):
        wengert.add(out, 1, out=x)
    with wengert.no_grad():
        wengert.add(x, 1, out=out)
    assert out.tolist() == [2.0, 3.0]


LAYOUTS = {
    "vector": lambda a: a.reshape(-1),
    "contiguous": lambda a: a,
    "transposed": lambda a: a.transpose(2, 0, 1),
    "reversed": lambda a: a[::-1, :, ::-1],
    "every other": lambda a: a[:, ::2, 1::2],
    "broadcast": lambda a: np.broadcast_to(a[:1], (3, *a.shape[1:])),
    "Fortran": np.asfortranarray,
    "unaligned": lambda a: np.frombuffer(b"\0" + a.tobytes(), np.uint8)[1:].view(a.dtype).reshape(a.shape),
    "complex": lambda a: a + 1j,
    "empty rows": lambda a: a[:, :0],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_element_or_row_is_the_view_that_numpy_gives(layout):
    array = LAYOUTS[layout](np.arange(24, dtype=np.float64).reshape(2, 3, 4))
    tensor = wengert.from_numpy(array)
    for i in (0, 1, -1, -len(array)):
        row, expected = tensor[i]._array, array[i, ...]
        assert (row.shape, row.strides, row.dtype) == (expected.shape, expected.strides, expected.dtype)
        assert row.ctypes.data == expected.ctypes.data and str(row.flags) == str(expected.flags)
        np.testing.assert_array_equal(row, expected)
    assert [t._array.ctypes.data for t in tensor.unbind()] == [array[i, ...].ctypes.data for i in range(len(array))]
    for i in (len(array), -len(array) - 1, 2**70):
        with pytest.raises(IndexError, match="out of bounds for dimension 0"):
            tensor[i]
