"""Views made from sizes and steps alone: they are NumPy's, and so are the cotangents that come back through them."""

from __future__ import annotations

import numpy as np
import pytest

import wengert
from loops import each

ARRAYS = {
    "0-d": np.array(3.0),
    "vector": np.arange(6.0),
    "matrix": np.arange(12.0).reshape(3, 4),
    "transposed": np.arange(12.0).reshape(3, 4).T,
    "sliced": np.arange(48.0).reshape(4, 12)[1:, ::3],
    "backwards": np.arange(12.0).reshape(3, 4)[::-1],
    "broadcast": np.broadcast_to(np.arange(4.0), (3, 4)).copy()[:1],
    "ones": np.arange(3.0).reshape(1, 3, 1),
    "all ones": np.ones((1, 1)),
    "cube": np.arange(24.0).reshape(2, 3, 4),
    "empty": np.zeros((0, 3)),
    "float32": np.arange(4, dtype=np.float32).reshape(2, 2),
    "big-endian": np.arange(4, dtype=">f8").reshape(2, 2),
}
SHAPES = [(), (1,), (-1,), (12,), (3, 4), (2, -1), (-1, 1), (-1, -1), (4, 3, 1), (5, -1), (0, 3), (0, -1), (6, 4), (1, 2**62, 4), (-2, 6)]


def swapped(x, dim0, dim1):
    return x.swapaxes(dim0, dim1)


def unsqueezed(x, dim):
    return np.expand_dims(x, dim)


def squeezed(x, dim):
    return x.squeeze(dim) if x.shape[dim] == 1 else x


def expanded(x, *shape):
    if any(size < -1 for size in shape) or (x.ndim < len(shape) and -1 in shape[: len(shape) - x.ndim]):
        raise ValueError
    kept = (None,) * (len(shape) - x.ndim) + x.shape
    return np.broadcast_to(x, [held if size == -1 else size for size, held in zip(shape, kept, strict=True)])


# method, the view by NumPy, calls
VIEWS = {
    "view": (lambda x, *shape: x.reshape(shape, copy=False) if min(shape, default=0) > -2 else 1 / 0, SHAPES),
    "transpose": (swapped, [(0, 1), (1, 0), (-1, 0), (0, 0), (-1, -3), (2, 0), (0, 7), (-9, 0)]),
    "permute": (lambda x, *dims: x.transpose(dims), [(), (0,), (1, 0), (-1, 0), (2, 0, 1), (0, -1, 1), (0, 0), (0, 5), (1, -1)]),
    "t": (lambda x: x.T if x.ndim <= 2 else 1 / 0, [()]),
    "unsqueeze": (unsqueezed, [(0,), (1,), (-1,), (-2,), (3,), (-4,), (9,)]),
    "squeeze": (squeezed, [(0,), (1,), (-1,), (2,), (-3,), (7,)]),
    "expand": (expanded, [*[shape for shape in SHAPES if 2**62 not in shape], (5, 3, 4), (2, -1, -1), (3, 3, 1), (2, 3, 5), (4, 4), (2, 1, 3, 7), (2, 0)]),
}


def ask(tensor, method, call):
    return getattr(tensor, method)(call) if method in ("view", "permute", "expand") and not call else getattr(tensor, method)(*call)


def steps_of(array):
    return [step for step, size in zip(array.strides, array.shape, strict=True) if size > 1]


CASES = [(name, method, call) for name in ARRAYS for method, (_, calls) in VIEWS.items() for call in calls]


@each(("name", "method", "call"), CASES)
def test_view_is_numpys(name, method, call):
    array = ARRAYS[name]
    tensor = wengert.tensor([0.0])
    tensor._array = array
    try:
        expected = VIEWS[method][0](array, *call)
    except (ValueError, IndexError, ZeroDivisionError):
        if array.ndim == 0 and method in ("transpose", "squeeze") and set(call) <= {0, -1}:
            pytest.skip("to a 0-d tensor torch grants a dimension, NumPy does not")
        with pytest.raises((RuntimeError, IndexError)):
            ask(tensor, method, call)
        return
    view = ask(tensor, method, call).numpy()
    np.testing.assert_array_equal(view, expected)
    assert view.shape == expected.shape and view.dtype == expected.dtype
    assert view.size == 0 or (steps_of(view) == steps_of(expected) and np.shares_memory(view, array))
    assert view.flags.c_contiguous == expected.flags.c_contiguous and view.flags.aligned == expected.flags.aligned
    assert view.flags.writeable == array.flags.writeable


def test_a_view_of_a_read_only_tensor_is_read_only():
    array = np.arange(4.0)
    array.flags.writeable = False
    tensor = wengert.tensor([0.0])
    tensor._array = array
    for view in (tensor.view(2, 2), tensor.unsqueeze(0), tensor.expand(3, 4), tensor.t()):
        assert not view.numpy().flags.writeable


@each(
    ("shape", "method", "call"),
    [
        ((3, 4), "view", (2, -1)), ((3, 4), "reshape", (4, 3)), ((3, 4), "transpose", (0, -1)), ((2, 3, 4), "permute", (2, 0, 1)),
        ((2, 3, 4), "permute", (-1, 0, -2)), ((3, 4), "t", ()), ((4,), "t", ()), ((3, 4), "unsqueeze", (-2,)), ((3, 1, 4), "squeeze", (1,)),
        ((1, 3, 1), "squeeze", ()), ((3, 1), "expand", (2, 3, 4)), ((2, 3, 4), "flatten", (1,)), ((2, 3, 4), "movedim", (0, 2)),
    ],
)  # fmt: skip
@each("order", ["C", "F", "strided"])
def test_cotangent_comes_back_through_the_view(shape, method, call, order):
    """The derivative of sum(weight * view(x)) is weight where each element went, whatever weight's order in memory."""
    rng = np.random.default_rng(0)
    x = wengert.tensor(rng.uniform(-1, 1, shape), requires_grad=True)
    places = wengert.tensor(np.arange(x.numel(), dtype=float).reshape(shape))
    view = getattr(x, method)(*call)
    weight = rng.uniform(-1, 1, view.shape)
    weight = np.copy(weight, order="F") if order == "F" else np.repeat(weight, 2, -1)[..., ::2] if order == "strided" else weight
    expected = np.zeros(x.numel())
    np.add.at(expected, getattr(places, method)(*call).numpy().astype(int).ravel(), weight.ravel())
    for create_graph in (False, True):
        (found,) = wengert.autograd.grad(view, x, wengert.tensor(weight), retain_graph=True, create_graph=create_graph)
        np.testing.assert_array_equal(found.detach().numpy(), expected.reshape(shape))


@each("dim", [None, (), 0, -1, 2, (0, 2), (-1, 1), (0, 1, 2)])
@each("keepdim", [False, True])
@each("reduction", ["sum", "mean"])
def test_cotangent_of_a_sum_goes_to_each_element_that_went_into_it(dim, keepdim, reduction):
    rng = np.random.default_rng(0)
    values = rng.uniform(-1, 1, (2, 3, 4))
    x = wengert.tensor(values, requires_grad=True)
    y = getattr(x, reduction)(dim, keepdim) if dim is not None else getattr(x, reduction)(dim=None, keepdim=keepdim)
    axes = tuple(range(3)) if dim in (None, ()) else tuple(d % 3 for d in np.atleast_1d(dim).tolist())
    weight = rng.uniform(-1, 1, y.shape)
    each = weight if keepdim else np.expand_dims(weight, axes)
    count = np.prod([values.shape[d] for d in axes]) if reduction == "mean" else 1
    for ct in (weight, np.copy(weight, order="F")):
        for create_graph in (False, True):
            (found,) = wengert.autograd.grad(y, x, wengert.tensor(ct), retain_graph=True, create_graph=create_graph)
            np.testing.assert_allclose(found.detach().numpy(), np.broadcast_to(each / count, values.shape), rtol=1e-15)


def test_cotangent_of_a_sum_of_nothing_and_of_a_number():
    for shape in ((0, 3), ()):
        x = wengert.zeros(shape, requires_grad=True)
        for dim in (None, 0, -1):
            for keepdim in (False, True):
                y = x.sum(dim=dim, keepdim=keepdim)
                (found,) = wengert.autograd.grad(y, x, wengert.ones(y.shape))
                np.testing.assert_array_equal(found.numpy(), np.ones(shape))


def test_parameters_that_only_equal_ints_are_not_taken_for_them():
    """Calls are remembered by their ints; True and 1.0 equal 1."""
    x = wengert.zeros(2, 3)
    assert x.unsqueeze(1).shape == (2, 1, 3)
    with pytest.raises(TypeError):
        x.unsqueeze(True)
    with pytest.raises(TypeError):
        x.unsqueeze(1.0)
    assert x.unsqueeze(1).shape == (2, 1, 3)
    assert x.transpose(np.int64(1), 0).shape == (3, 2)
    assert x.sum(1).shape == (2,)
    with pytest.raises(TypeError):
        x.sum(True)


def test_sizes_of_another_tensor_are_sizes():
    x, y = wengert.arange(6.0), wengert.zeros(2, 3)
    assert x.view(y.size()).shape == x.reshape(y.shape).shape == x.view([2, 3]).shape == (2, 3)
    assert x[:3].expand(y.size()).shape == (2, 3)


def test_many_calls_are_remembered_rightly():
    """More of them than an operation remembers."""
    x = wengert.arange(1000.0)
    for repeat in range(2):
        for i in range(1, 400):
            assert x[: 2 * i].view(2, i).shape == (2, i) and x[:i].unsqueeze(0).expand(i % 7 + 1, i).shape == (i % 7 + 1, i), repeat
