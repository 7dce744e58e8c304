"""Leaves: how tensors become leaves (detach, detach_, requires_grad), and their .grad."""

import pickle
import warnings

import numpy as np
import pytest

import wengert
from snapshots import Unchanged


def leaf(*numbers):
    return wengert.tensor(list(numbers), dtype=wengert.float64, requires_grad=True)


def numbers(*values):
    return wengert.tensor(list(values), dtype=wengert.float64)


# -- detach, detach_, requires_grad_ -------------------------------------------------------------------------------------------


def test_detach_shares_memory_and_has_no_history():
    x = leaf(1.0, 2.0)
    y = x * 2
    z = y.detach()
    assert not z.requires_grad and z.is_leaf and z.grad_fn is None and z.data_ptr() == y.data_ptr()
    assert y.requires_grad
    (y * z).sum().backward()
    assert x.grad.tolist() == [4.0, 8.0]  # as if z were constant: 2 z


def test_a_write_into_the_detached_tensor_is_noticed():
    x = leaf(1.0, 2.0)
    y = x * 2
    z = y * y
    y.detach().zero_()
    assert y.tolist() == [0.0, 0.0] and y._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_a_write_through_data_is_not_noticed():
    x = leaf(1.0, 2.0)
    y = x * x
    x.data.zero_()
    assert x._version == 0 and x.tolist() == [0.0, 0.0]
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]


def test_detach_in_place_cuts_the_history():
    x = leaf(1.0, 2.0)
    y = x * 2
    assert y.detach_() is y
    assert not y.requires_grad and y.is_leaf and y.grad_fn is None
    y.requires_grad_()
    (y * 3).sum().backward()
    assert y.grad.tolist() == [3.0, 3.0] and x.grad is None


def test_detach_in_place_keeps_the_hooks():
    y = leaf(1.0, 2.0) * 2
    y.register_hook(lambda g: g * 10)
    y.detach_().requires_grad_()
    (y * 3).sum().backward()
    assert y.grad.tolist() == [30.0, 30.0]


def test_detach_in_place_of_a_leaf():
    x = leaf(1.0)
    x.detach_()
    assert not x.requires_grad


def test_detach_in_place_of_a_view_is_refused():
    x = leaf(1.0, 2.0)
    view = (x * 2)[0]
    with Unchanged(x, view), pytest.raises(RuntimeError, match=r"^Can't detach views in-place\. Use detach\(\) instead\."):
        view.detach_()


def test_requires_grad_in_place():
    x = numbers(1.0)
    assert x.requires_grad_() is x and x.requires_grad
    assert x.requires_grad_(False) is x and not x.requires_grad
    x.requires_grad = True
    assert (x * 2).requires_grad


def test_requires_grad_of_a_non_leaf_is_fixed():
    y = leaf(1.0) * 2
    assert y.requires_grad_() is y
    with (
        Unchanged(y),
        pytest.raises(
            RuntimeError,
            match=r"^you can only change requires_grad flags of leaf variables\. If you want to use a computed variable in a "
            r"subgraph that doesn't require differentiation use var_no_grad = var\.detach\(\)\.",
        ),
    ):
        y.requires_grad = False


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "bool"])
def test_integers_cannot_require_grad(dtype):
    x = wengert.ones(2, dtype=getattr(wengert, dtype))
    with pytest.raises(RuntimeError, match=r"^only Tensors of floating point( and complex)? dtype can require gradients"):
        x.requires_grad_()
    with pytest.raises(RuntimeError, match=r"^Only Tensors of floating point and complex dtype can require gradients"):
        wengert.ones(2, dtype=getattr(wengert, dtype), requires_grad=True)
    assert not x.requires_grad


def test_requires_grad_takes_bools_only():
    x = numbers(1.0)
    with pytest.raises(RuntimeError, match=r"^requires_grad must be a bool"):
        x.requires_grad = "yes"
    assert not x.requires_grad


def test_hooks_survive_switching_requires_grad_off_and_on():
    x = leaf(1.0)
    x.register_hook(lambda g: g * 10)
    x.requires_grad_(False)
    x.requires_grad_(True)
    x.sum().backward()
    assert x.grad.item() == 10.0


# -- .grad -----------------------------------------------------------------------------------------------------------------


def test_grad_can_be_assigned():
    x = leaf(1.0, 2.0)
    mine = numbers(5.0, 6.0)
    x.grad = mine
    assert x.grad is mine
    x.grad = None
    assert x.grad is None


GRAD_ERRORS = {
    "shape": (
        lambda x: numbers(1.0, 2.0, 3.0), RuntimeError,
        r"^attempting to assign a gradient of size '\[3\]' to a tensor of size '\[2\]'\. "
        r"Please ensure that the gradient and the tensor are the same size",
    ),
    "type": (lambda x: 3, TypeError, r"^assigned grad expected to be a Tensor or None but got grad of type int"),
    "array": (lambda x: np.ones(2), TypeError, r"^assigned grad expected to be a Tensor or None but got grad of type (numpy\.)?ndarray"),
    "dtype": (lambda x: wengert.ones(2), RuntimeError, r"^attempting to assign a gradient with dtype '"),
    "itself": (lambda x: x, RuntimeError, r"^can't assign Variable as its own grad"),
}  # fmt: skip


@pytest.mark.parametrize("case", GRAD_ERRORS)
def test_a_wrong_grad_is_refused(case):
    make, kind, text = GRAD_ERRORS[case]
    x = leaf(1.0, 2.0)
    x.grad = numbers(5.0, 6.0)
    with Unchanged(x), pytest.raises(kind, match=text):
        x.grad = make(x)


def test_gradients_can_have_another_dtype():
    x = wengert.ones(2, requires_grad=True)
    assert x.grad_dtype is wengert.float32
    x.grad_dtype = wengert.float64
    for _ in range(2):
        (3 * x).sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]
    assert x.grad.dtype is wengert.float64 and x.grad_dtype is wengert.float64
    with Unchanged(x), pytest.raises(RuntimeError, match=r"^Cannot set grad_dtype to 'Half' because there is already"):
        x.grad_dtype = wengert.float16
    x.grad = None
    x.grad_dtype = None
    assert x.grad_dtype is None
    x[0].backward()
    assert x.grad.tolist() == [1.0, 0.0] and x.grad.dtype is wengert.float32
    x.grad = wengert.ones(2, dtype=wengert.float16)
    assert x.grad.dtype is wengert.float16


def test_reading_grad_of_a_non_leaf_warns_at_the_reader():
    y = leaf(1.0) * 2
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert y.grad is None
    (warning,) = caught
    assert warning.category is UserWarning and warning.filename == __file__
    assert str(warning.message).startswith("The .grad attribute of a Tensor that is not a leaf Tensor is being accessed.")


def test_reading_grad_is_silent_where_it_makes_sense():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = leaf(1.0)
        y = x * 2
        y.retain_grad()
        assert x.grad is None and y.grad is None and numbers(1.0).grad is None and y.detach().grad is None


# -- hooks as attributes -----------------------------------------------------------------------------------------------------


def test_pickling_a_leaf_with_hooks_warns_unless_they_say_so():
    x = leaf(1.0)
    handle = x.register_hook(lambda g: g)
    with pytest.warns(UserWarning, match=r"^backward hook <function .* on tensor will not be serialized"):
        again = pickle.loads(pickle.dumps(x))
    assert again.requires_grad and not again._backward_hooks
    handle.remove()
    x.register_hook(wengert.utils.hooks.unserializable_hook(lambda g: g))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pickle.dumps(x)


def test_hooks_after_accumulation_as_an_attribute():
    x = leaf(1.0)
    assert x._post_accumulate_grad_hooks is None
    handle = x.register_post_accumulate_grad_hook(print)
    assert x._post_accumulate_grad_hooks == {handle.id: print}


def test_calling_a_leafs_node_adds_to_its_grad():
    x = leaf(1.0, 2.0)
    node = wengert.autograd.graph.get_gradient_edge(x).node
    for _ in range(2):
        assert node(numbers(1.0, 3.0)) == ()
    assert x.grad.tolist() == [2.0, 6.0] and node(None) == ()
    with pytest.raises(RuntimeError, match=r"got \[1\] but expected shape compatible with \[2\]"):
        node(numbers(1.0))
    with pytest.raises(TypeError, match="argument 0 is not a Variable"):
        node(1.0)


def test_a_leaf_that_no_longer_requires_grad_gets_none():
    x, y = leaf(1.0), leaf(2.0)
    z = x * y
    x.requires_grad_(False)
    z.backward()
    assert x.grad is None and y.grad.item() == 1.0
