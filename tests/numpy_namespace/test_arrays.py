"""ndarray: indexing, views, writes and conversions as NumPy has them, and one graph with tensors."""

import copy
import pickle

import numpy
import pytest

import wengert
import wengert.numpy as np
from loops import each

INDICES = [
    "0", "-1", "(1, 2)", "slice(None)", "slice(None, None, -1)", "(slice(3, 0, -2), ..., 1)", "None", "(None, 0, None)", "...", "()",
    "[0, 2]", "([0, 2], [1, 1])", "(slice(None), [1, 0, 1])", "(0, [1, 2])", "([[0], [2]], [1, 2])", "(slice(None), None, [0])",
    "([0, 1], slice(None), None)", "True", "False", "(True, 0)", "np.array([True, False, True])", "np.ones((3, 4), bool)",
    "(np.array([True, False, True]), 1)", "(slice(None), np.array([True, False, True, False]))", "np.array(2)", "np.array([], int)",
    "np.int64(1)", "np.array([[0, 1], [2, 2]], dtype=np.uint8)", "[True, False, True]", "(np.array(1), np.array([0, 3]))",
]  # fmt: skip
WRONG = ["3", "(0, 4)", "(0, 0, 0)", "1.0", "'a'", "[3]", "[0.5]", "np.array([True, False])", "(..., ...)", "slice(None, None, 0)"]


@each("index", INDICES)
def test_reads_and_writes_follow_the_rules_of_numpy(index):
    values = numpy.arange(12.0).reshape(3, 4)
    ours, theirs = eval(index, {"np": np}), eval(index, {"np": numpy})
    for requires_grad in (False, True):
        x = np.array(values)
        x.requires_grad = requires_grad
        numpy.testing.assert_array_equal(numpy.asarray(x[ours].detach()), values[theirs], strict=True)
        y, expected = np.zeros((3, 4)), numpy.zeros((3, 4))
        new = x[ours] + 1
        y[ours] = new
        expected[theirs] = values[theirs] + 1
        numpy.testing.assert_array_equal(numpy.asarray(y.detach()), expected)
        if requires_grad and expected.any():  # an element that is written several times has the last value
            y.sum().backward()
            assert numpy.asarray(x.grad).tolist() == (expected != 0).astype(float).tolist()
            x.grad = None
            x[ours].sum().backward()
            times = numpy.zeros((3, 4))
            numpy.add.at(times, theirs, 1.0)
            assert numpy.asarray(x.grad).tolist() == times.tolist()


@each("index", WRONG)
def test_a_wrong_index_is_refused_in_the_words_of_numpy(index):
    ours, theirs = eval(index, {"np": np}), eval(index, {"np": numpy})
    with pytest.raises((IndexError, ValueError)) as expected:
        numpy.zeros((3, 4))[theirs]
    for requires_grad in (False, True):
        with pytest.raises(expected.type) as found:
            np.zeros((3, 4)).requires_grad_(requires_grad)[ours]
        assert str(found.value) == str(expected.value)


VIEWS = [
    "x[1:]", "x[::-1]", "x.T", "x.reshape(4, 3)", "x.ravel()", "x.swapaxes(0, 1)", "x[None]", "np.flip(x)", "x.view()", "x.diagonal()",
    "np.moveaxis(x, 0, 1)", "np.split(x, 3)[1]", "np.expand_dims(x, 0)", "np.squeeze(x)", "x.real", "np.rot90(x)", "np.asarray(x)",
    "x[0]", "np.atleast_3d(x)", "np.transpose(x)", "np.unstack(x)[0]", "np.rollaxis(x, 1)",
]  # fmt: skip


@each("source", VIEWS)
def test_views_share_memory_and_history(source):
    x, plain = np.zeros((3, 4)), numpy.zeros((3, 4))
    view, expected = eval(source, {"np": np, "x": x}), eval(source, {"np": numpy, "x": plain})
    assert numpy.shares_memory(view._tensor.numpy(), x._tensor.numpy())
    if expected.flags.writeable:
        expected[...] = numpy.arange(expected.size).reshape(expected.shape)
    else:
        plain[...] = numpy.diag([0.0, 1.0, 2.0, 0])[:3]
    factor = np.array(1.0).requires_grad_()
    view[...] = np.arange(view.size).reshape(view.shape) * factor
    numpy.testing.assert_array_equal(numpy.asarray(x.detach()), plain)
    x.sum().backward()
    assert factor.grad == plain.sum()


def test_copies_do_not_share_memory():
    x = np.zeros(3)
    for found in (x.copy(), x.flatten(), np.array(x), x[[0, 1]], x.astype(float), copy.copy(x), copy.deepcopy(x), +x):
        found[...] = 1.0
    assert x.tolist() == [0.0, 0.0, 0.0]
    assert x.astype(float, copy=False) is x
    assert np.asarray(x) is x


def test_views_of_other_dtypes():
    x = np.array([1.0, -2.0])
    bits = x.view(np.uint64)
    bits[0] |= numpy.uint64(1 << 63)
    assert x.tolist() == [-1.0, -2.0]
    x.requires_grad = True
    with pytest.raises(TypeError, match="has no derivative"):
        x.view(np.int64)


def test_one_graph_with_tensors():
    t = wengert.tensor([1.0, 2.0, 3.0], dtype=wengert.float64, requires_grad=True)
    x = np.asarray(t)
    assert wengert.asarray(x) is t
    assert wengert.as_tensor(x) is t
    y = wengert.sin(x) * t + x.max(axis=0)
    assert type(y) is np.ndarray
    for mixed in (x * t, t * x, wengert.mul(t, x), np.multiply(t, x), numpy.multiply(t, x)):
        assert mixed.tolist() == [1.0, 4.0, 9.0]
    y.sum().backward()
    expected = numpy.cos([1, 2, 3]) * [1, 2, 3] + numpy.sin([1, 2, 3]) + [0, 0, 3]
    numpy.testing.assert_allclose(t.grad.numpy(), expected)
    assert x.grad.tolist() == t.grad.tolist()


def test_functions_of_numpy_and_torch_take_ndarrays():
    x = np.array([1.0, 2.0]).requires_grad_()
    for found in (numpy.sin(x), numpy.concatenate([x, x]), numpy.add.reduce(x), wengert.exp(x), wengert.cat([x, x]), numpy.sum(x)):
        assert type(found) is np.ndarray
        assert found.requires_grad


def test_autograd_gives_ndarrays_where_arguments_are():
    x = np.array([1.0, 2.0]).requires_grad_()
    (found,) = wengert.autograd.grad((x**3).sum(), x, create_graph=True)
    assert type(found) is np.ndarray
    (second,) = wengert.autograd.grad(found.sum(), [x])
    assert second.tolist() == [6.0, 12.0]
    wengert.autograd.backward((x * x).sum())
    assert x.grad.tolist() == [2.0, 4.0]


def test_hooks_leaves_and_gradients():
    x = np.array([1.0, 2.0]).requires_grad_()
    y = x * 2
    assert x.is_leaf
    assert not y.is_leaf
    y.retain_grad()
    y.register_hook(lambda grad: grad * 10)
    y.backward([1.0, 2.0])
    assert y.grad.tolist() == [10.0, 20.0]
    assert x.grad.tolist() == [20.0, 40.0]
    x.grad = None
    assert x.grad is None
    assert not y.detach().requires_grad
    with wengert.no_grad():
        assert not (x * 2).requires_grad
        x -= 0.5
    assert x.tolist() == [0.5, 1.5]


def test_in_place_operators_cast_as_numpy_does():
    x = np.array([1, 2, 3])
    x += 1
    x *= np.array([1, 2, 3])
    x **= 2
    assert x.tolist() == [4, 36, 144]
    assert x.dtype == numpy.int64
    with pytest.raises(TypeError, match="same_kind"):
        x += 0.5
    with pytest.raises(TypeError, match="same_kind"):
        x += np.array(0.5).requires_grad_()
    y = np.ones(2, dtype="f4").requires_grad_() * 1
    y /= np.array([2.0, 4.0])
    assert y.dtype == numpy.float32
    with pytest.raises(ValueError, match="non-broadcastable"):
        y += np.ones((2, 2)).requires_grad_()


def test_conversions_to_python():
    x = np.array([[1.0, 2.0]])
    assert x.tolist() == [[1.0, 2.0]]
    assert x.item(1) == 2.0
    assert float(x[0, 1]) == 2.0
    assert int(np.array(3)) == 3
    assert complex(np.array(1j)) == 1j
    assert [10, 20][np.array(1)] == 20
    assert f"{np.array(1.25):.1f}" == "1.2"
    assert 2.0 in x
    assert 3.0 not in x
    assert len(x) == 1
    assert [row.tolist() for row in x] == [[1.0, 2.0]]
    assert list(x.flat) == [1.0, 2.0]
    assert round(np.array(1.26), 1) == 1.3
    assert bool(np.array([1]))
    with pytest.raises(ValueError, match="truth value of an array with more than one element is ambiguous"):
        bool(x)
    with pytest.raises(TypeError, match="unhashable"):
        hash(x)


def test_printing():
    x = np.array([1.0, 2.0])
    assert repr(x) == "array([1., 2.])"
    assert str(x) == "[1. 2.]"
    x.requires_grad = True
    assert repr(x) == "array([1., 2.], requires_grad=True)"
    assert repr(x * 2) == "array([2., 4.], grad_fn=<MulBackward0>)"


def test_pickles_and_copies():
    x = np.array([1.0, 2.0]).requires_grad_()
    for found in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert type(found) is np.ndarray
        assert found.requires_grad
        assert found.tolist() == [1.0, 2.0]
    assert pickle.loads(pickle.dumps(np.add)) is np.add


def test_methods_that_write():
    x = np.array([3.0, 1.0, 2.0])
    x.sort()
    assert x.tolist() == [1.0, 2.0, 3.0]
    x.fill(7)
    x.put([0], 1.0)
    x.shape = (3, 1)
    assert x.tolist() == [[1.0], [7.0], [7.0]]
    x.resize((2, 2))
    assert x.tolist() == [[1.0, 7.0], [7.0, 0.0]]
    y = (np.array([3.0, 1.0, 2.0]).requires_grad_() * 1)[...]
    y.sort()
    assert y.tolist() == [1.0, 2.0, 3.0]
    assert y.requires_grad


def test_out_of_numpys_own_functions_is_returned_as_it_is():
    values, out = numpy.arange(6.0).reshape(2, 3), np.zeros((2, 3))
    x = np.array(values).requires_grad_()
    for found in (numpy.exp(values, out=out), values.clip(1, 2, out=out), numpy.add(x, 1, out=out), np.add(x, 1, out=(out,))):
        assert found is out
    parts = np.zeros((2, 3)), np.zeros((2, 3))
    found = numpy.modf(values, out=parts)
    assert found[0] is parts[0] and found[1] is parts[1]


def test_reshape_without_a_copy():
    x = np.array([[1.0, 5.0, 9.0], [0.0, 2.0, 3.0]])
    for array in (x, np.array(x).requires_grad_()):
        assert np.shares_memory(np.reshape(array, (3, 2), copy=False).detach(), array.detach())
        with pytest.raises(ValueError, match=r"Unable to avoid creating a copy while reshaping\."):
            np.reshape(array, (3, 2), order="F", copy=False)


def test_bounds_of_slices_are_ints():
    x = np.zeros(4)
    assert x[: np.array(2)].shape == (2,)
    with pytest.raises(TypeError, match="slice indices must be integers or None or have an __index__ method"):
        x[:1.0]


def test_results_with_names_are_compared():
    np.testing.assert_equal(np.linalg.slogdet(np.eye(2)), numpy.linalg.slogdet(numpy.eye(2)))
