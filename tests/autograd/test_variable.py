"""Variable, the wrapper of torch 0.1 to 0.3, and the module of the same name."""

import sys

import numpy as np
import pytest

import wengert
from wengert.autograd import Variable, variable


def test_a_variable_is_a_tensor_and_a_tensor_is_a_variable():
    a = Variable(wengert.ones(2))
    assert type(a) is wengert.Tensor and isinstance(a, Variable) and isinstance(wengert.ones(1), Variable)
    assert not isinstance(np.ones(1), Variable) and not isinstance(1.0, Variable)


def test_a_variable_shares_the_data():
    data = wengert.Tensor([1, 2])
    a = Variable(data, requires_grad=True)
    assert a is not data and a.data_ptr() == data.data_ptr() and not data.requires_grad
    data[0] = 5.0
    assert a.tolist() == [5.0, 2.0]


@pytest.mark.parametrize("given", [{}, {"requires_grad": False}, {"requires_grad": True}])
def test_requires_grad(given):
    a = Variable(wengert.ones(1), **given)
    assert a.requires_grad is given.get("requires_grad", False) and a.is_leaf and a.grad_fn is None and a.grad is None


def test_flags_and_data_by_position_or_name():
    assert Variable(wengert.ones(1), True).requires_grad
    assert Variable(data=wengert.ones(1), requires_grad=True).tolist() == [1.0]


def test_a_variable_of_a_result_starts_a_history_of_its_own():
    x = wengert.ones(2, requires_grad=True)
    y = x * 3
    a = Variable(y, requires_grad=True)
    (a * 2).sum().backward()
    assert a.is_leaf and a.grad.tolist() == [2.0, 2.0] and x.grad is None


def test_variable_without_data_is_empty():
    assert Variable().shape == (0,) and Variable(None).shape == (0,)


@pytest.mark.parametrize("data", [[1.0], 1.0, np.ones(2), "a"])
def test_only_tensors_can_be_wrapped(data):
    with pytest.raises(TypeError, match=rf"^Variable data has to be a tensor, but got {type(data).__name__}"):
        Variable(data)


def test_integers_cannot_require_grad():
    with pytest.raises(RuntimeError, match=r"(?i)^only Tensors of floating point and complex dtype can require gradients"):
        Variable(wengert.LongTensor([1]), requires_grad=True)
    assert not Variable(wengert.LongTensor([1])).requires_grad


def test_unknown_flags_are_refused():
    with pytest.raises(TypeError):
        Variable(wengert.ones(1), unknown=True)


def test_the_modules_two_faces():
    """`from torch.autograd import variable` was a module, then a function: it is a module that can be called."""
    assert variable is sys.modules["wengert.autograd.variable"] is wengert.autograd.variable
    assert variable.Variable is Variable and isinstance(Variable, variable.VariableMeta)
    with pytest.warns(DeprecationWarning, match=r"torch\.autograd\.variable\(\.\.\.\) is deprecated, use torch\.tensor") as caught:
        x = variable([1.0, 2.0], requires_grad=True)
    assert caught[0].filename == __file__ and x.requires_grad and x.tolist() == [1.0, 2.0]


def test_wrapping_is_no_step_of_a_computation():
    x = wengert.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="does not require grad"):
        (Variable(x) * 2).sum().backward()
