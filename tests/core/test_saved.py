"""Saved values of nodes: no more than the rules need, checked against later writes, and released by a pass."""

import gc
import weakref

import numpy as np
import pytest

import wengert
from lines import line_of
from snapshots import Unchanged, nodes_behind
from wengert.autograd import grad


def leaf(*numbers):
    return wengert.tensor(list(numbers), dtype=wengert.float64, requires_grad=True)


def numbers(*values):
    return wengert.tensor(list(values), dtype=wengert.float64)


MODIFIED = r"^one of the variables needed for gradient computation has been modified by an inplace operation: "


# -- writes after saving -----------------------------------------------------------------------------------------------------

SAVES_INPUT = {
    "x * y": lambda x, y: x * y,
    "x ** 3": lambda x, y: x**3,
    "sin": lambda x, y: x.sin(),
    "dot": lambda x, y: (x * 1) @ x,
    "x * x": lambda x, y: x * x,
}

SAVES_OUTPUT = {
    "exp": lambda x: x.exp(),
    "tanh": lambda x: x.tanh(),
    "sigmoid": lambda x: x.sigmoid(),
    "sqrt": lambda x: x.sqrt(),
}

SAVES_NOTHING_WRITTEN = {
    "x + y": lambda x, y: x + y,
    "x - y": lambda x, y: x - y,
    "2 * x": lambda x, y: 2 * x,
    "-x": lambda x, y: -x,
    "sum": lambda x, y: x.sum(),
    "x[0]": lambda x, y: x[0] * 1,
    "mean": lambda x, y: x.mean(),
    "clone": lambda x, y: x.clone(),
}


@pytest.mark.parametrize("case", SAVES_INPUT)
def test_a_write_into_a_saved_input_is_an_error(case):
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    a = x + 0
    z = SAVES_INPUT[case](a, y).sum()
    a.add_(1)
    with Unchanged(x, y), pytest.raises(RuntimeError, match=MODIFIED):
        z.backward()


@pytest.mark.parametrize("case", SAVES_OUTPUT)
def test_a_write_into_a_saved_output_is_an_error(case):
    x = leaf(1.0, 2.0)
    y = SAVES_OUTPUT[case](x)
    z = y.sum()
    y.add_(1)
    with pytest.raises(RuntimeError, match=MODIFIED):
        z.backward()


@pytest.mark.parametrize("case", SAVES_NOTHING_WRITTEN)
def test_a_write_into_an_unsaved_tensor_is_no_error(case):
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    a = x + 0
    z = SAVES_NOTHING_WRITTEN[case](a, y).sum()
    a.add_(1)
    z.backward()


def test_only_the_input_that_a_gradient_needs_is_saved():
    """x * constant needs the constant for x, and would need x only for the constant."""
    x = leaf(1.0, 2.0)
    a = x + 0
    constant = numbers(3.0, 4.0)
    z = (a * constant).sum()
    a.add_(1)
    z.backward(retain_graph=True)
    assert x.grad.tolist() == [3.0, 4.0]
    constant.add_(1)
    with pytest.raises(RuntimeError, match=MODIFIED):
        z.backward()


def test_a_write_before_saving_is_no_error():
    x = leaf(1.0, 2.0)
    a = x + 0
    a.mul_(2)
    z = (a * a).sum()
    z.backward()
    assert x.grad.tolist() == [8.0, 16.0]


WRITES = {
    "add_": lambda t: t.add_(1),
    "mul_": lambda t: t.mul_(2),
    "zero_": lambda t: t.zero_(),
    "fill_": lambda t: t.fill_(3.0),
    "copy_": lambda t: t.copy_(numbers(5.0, 6.0)),
    "+=": lambda t: t.__iadd__(1),
    "[0] =": lambda t: t.__setitem__(0, 7.0),
    "[:] =": lambda t: t.__setitem__(slice(None), 7.0),
    "[mask] =": lambda t: t.__setitem__(t > 0, 7.0),
    "view add_": lambda t: t.view(2, 1).add_(1),
    "select add_": lambda t: t[0].add_(1),
    "detached add_": lambda t: t.detach().add_(1),
    "view of view": lambda t: t.view(2, 1)[0].add_(1),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("recorded", [True, False], ids=["recorded", "no_grad"])
def test_every_way_to_write_is_noticed(write, recorded):
    x = leaf(1.0, 2.0)
    a = x + 0
    z = (a * a).sum()
    with wengert.set_grad_enabled(recorded):
        WRITES[write](a)
    with pytest.raises(RuntimeError, match=MODIFIED):
        z.backward()


def test_a_write_into_a_base_is_noticed_by_a_node_that_saved_a_view():
    x = leaf(1.0, 2.0)
    a = x + 0
    z = (a.view(2, 1) ** 2).sum()
    a.add_(1)
    with pytest.raises(RuntimeError, match=MODIFIED):
        z.backward()


def test_a_write_into_a_sibling_view_is_noticed():
    x = leaf(1.0, 2.0)
    a = x + 0
    first, second = a[:1], a[1:]
    z = (first**2).sum()
    second.add_(1)
    with pytest.raises(RuntimeError, match=MODIFIED):
        z.backward()


def test_out_is_a_write():
    x = leaf(1.0, 2.0)
    constant = numbers(3.0, 4.0)
    z = (x * constant).sum()
    wengert.add(numbers(1.0, 1.0), numbers(1.0, 1.0), out=constant)
    with pytest.raises(RuntimeError, match=MODIFIED):
        z.backward()


def test_a_broadcast_or_promoted_input_is_noticed():
    x = leaf(1.0, 2.0)
    a = wengert.ones(1, dtype=wengert.float64)
    z = (x * a).sum()
    a.add_(1)
    with pytest.raises(RuntimeError, match=MODIFIED):
        z.backward()


def test_a_cast_copy_is_the_nodes_own():
    """No user can write into a copy that promotion made: a write into the input leaves the gradient right, or is noticed."""
    x = leaf(1.0, 2.0)
    small = wengert.ones(2, dtype=wengert.float32)
    z = (x * small).sum()
    small.add_(1)
    try:
        z.backward()
    except RuntimeError as error:
        assert str(error).startswith("one of the variables needed for gradient computation has been modified")
    else:
        assert x.grad.tolist() == [1.0, 1.0]


# -- the message -----------------------------------------------------------------------------------------------------------


def test_the_message_is_torchs_with_the_lines_added():
    x = leaf(1.0, 2.0)
    a = x + 1
    z = a * a  # the save
    a.add_(1)  # the write
    with pytest.raises(RuntimeError) as caught:
        z.sum().backward()
    first, *more = str(caught.value).splitlines()
    assert first == (
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        "[torch.DoubleTensor [2]], which is output 0 of Add, is at version 1; expected version 0 instead. "
        "Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
        "torch.autograd.set_detect_anomaly(True, check_nan=False)."
    )
    name = "test_the_message_is_torchs_with_the_lines_added"
    assert more == [
        f"It was saved by MulBackward0 at {line_of(__file__, 'the save')}, in {name}.",
        f"It was last written at {line_of(__file__, 'the write')}, in {name}.",
    ]


def test_the_message_for_a_leaf_names_no_operation():
    x = leaf(1.0, 2.0)
    z = x * x
    with wengert.no_grad():
        x.add_(1)
    with pytest.raises(RuntimeError, match=MODIFIED + r"\[torch\.DoubleTensor \[2\]\] is at version 1; expected version 0"):
        z.sum().backward()


def test_the_message_counts_all_writes():
    x = leaf(1.0, 2.0)
    a = (x + 1).add_(1)
    z = a * a
    for _ in range(3):
        a.add_(1)
    with pytest.raises(RuntimeError, match="is at version 4; expected version 1 instead"):
        z.sum().backward()


def test_the_message_names_a_saved_output_by_its_own_node():
    x = wengert.ones(2, 3, requires_grad=True)
    y = x.exp()
    y.mul_(2)
    with pytest.raises(RuntimeError, match=r"\[torch\.FloatTensor \[2, 3\]\], which is output 0 of Exp, is at version 1"):
        y.sum().backward()


def write_from_elsewhere(tensor):
    tensor.add_(1)  # the write elsewhere


def test_the_message_names_the_lines_of_the_calling_functions():
    x = leaf(1.0)
    a = x + 1
    z = a * a
    write_from_elsewhere(a)
    with pytest.raises(RuntimeError) as caught:
        z.backward()
    assert f"written at {line_of(__file__, 'the write elsewhere')}, in write_from_elsewhere" in str(caught.value)


# -- versions --------------------------------------------------------------------------------------------------------------


def test_versions_count_writes():
    x = wengert.ones(3)
    versions = [x._version]
    for write in (lambda: x.add_(1), lambda: x.mul_(2), lambda: x.zero_(), lambda: x.__setitem__(0, 5.0)):
        write()
        versions.append(x._version)
    assert versions == [0, 1, 2, 3, 4]


def test_views_and_detached_tensors_share_the_version():
    x = wengert.ones(4)
    view, part, detached = x.view(2, 2), x[1:], x.detach()
    view.add_(1)
    assert [t._version for t in (x, view, part, detached)] == [1] * 4
    detached.add_(1)
    part[0].add_(1)
    assert [t._version for t in (x, view, part, detached)] == [3] * 4


def test_data_and_clones_have_versions_of_their_own():
    x = wengert.ones(4)
    x.add_(1)
    assert x.data._version == 0 and x.clone()._version == 0
    x.data.add_(1)
    assert x._version == 1 and x.tolist() == [3.0] * 4


def test_a_failed_write_does_not_count():
    x = wengert.ones(3)
    with pytest.raises(RuntimeError):
        x.add_(wengert.ones(2, 3))
    with pytest.raises(RuntimeError):
        wengert.ones(2, dtype=wengert.int64).add_(1.5)
    assert x._version == 0 and x.tolist() == [1.0] * 3


# -- release ---------------------------------------------------------------------------------------------------------------


def memory_of(tensor):
    """A weak reference to the array itself."""
    return weakref.ref(tensor._array)


def test_a_pass_releases_saved_values():
    x = leaf(1.0, 2.0)
    a = x + 0
    b = x + 1
    z = (a * b).exp().sum()
    saved = [memory_of(a), memory_of(b)]
    gc.disable()
    try:
        del a, b
        assert all(s() is not None for s in saved)
        z.backward()
        assert [s() for s in saved] == [None, None]
    finally:
        gc.enable()


def test_a_pass_with_retain_graph_keeps_it():
    x = leaf(1.0, 2.0)
    a = x + 0
    z = (a * a).sum()
    saved = memory_of(a)
    del a
    z.backward(retain_graph=True)
    assert saved() is not None
    z.backward()
    assert saved() is None


def test_inputs_without_a_use_in_the_backward_pass_are_not_kept():
    x = leaf(1.0, 2.0)
    a = x + 0
    memory = memory_of(a)
    z = (a * 3 + 1 - a).sum()
    gc.disable()
    try:
        del a
        assert memory() is None
    finally:
        gc.enable()
    z.backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_memory_falls_while_the_pass_goes_on():
    x = leaf(*[0.5] * 4)
    y = x
    memories, alive = [], []
    for _ in range(20):
        y = y.tanh()  # saves its output
        memories.append(memory_of(y))
        y.register_hook(lambda g: alive.append(sum(m() is not None for m in memories)))
    total = y.sum()
    del y
    gc.disable()
    try:
        total.backward()
    finally:
        gc.enable()
    assert alive == list(range(20, 0, -1)) and not any(m() is not None for m in memories)


def test_a_failed_pass_keeps_no_cotangents():
    x = leaf(1.0, 2.0)
    a = x * 2
    b = a * 3
    c = b + a
    seen = []

    def hook(g):
        seen.append(memory_of(g))
        raise KeyError

    a.register_hook(lambda g: None)
    b.register_hook(hook)
    try:
        c.backward(numbers(1.0, 10.0), retain_graph=True)
    except KeyError:
        pass
    gc.collect()
    assert len(seen) == 1 and seen[0]() is None


# -- saved values as tensors -------------------------------------------------------------------------------------------------


def test_a_saved_leaf_is_the_leaf():
    x = leaf(1.0, 2.0)
    y = x**3
    (g,) = grad(y.sum(), x, create_graph=True)
    (accumulate,) = [node for node in nodes_behind(g) if type(node).__name__ == "AccumulateGrad"]
    assert accumulate.variable is x


def test_a_saved_input_keeps_its_place_in_the_graph():
    x = leaf(2.0)
    a = x * x
    b = a**3  # 3 a^2 = 3 x^4
    (ga,) = grad(b, a, create_graph=True)
    (gx,) = grad(ga, x)
    assert gx.item() == 12 * 2.0**3


def test_a_saved_output_keeps_its_place_in_the_graph():
    x = leaf(0.5)
    y = x.exp()
    (g,) = grad(y, x, create_graph=True)
    del y
    assert g.grad_fn is not None
    (h,) = grad(g, x)
    np.testing.assert_allclose(h.item(), np.exp(0.5))


def test_a_saved_leaf_written_before_the_second_pass_is_noticed():
    x = leaf(2.0)
    y = x**3
    (g,) = grad(y, x, create_graph=True)
    with wengert.no_grad():
        x.add_(1)
    with pytest.raises(RuntimeError, match=MODIFIED):
        grad(g, x)
