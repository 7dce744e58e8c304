"""Errors of arguments of a wrong kind: they name the operation and the argument, in torch's words."""

from __future__ import annotations

import numpy as np
import pytest

import wengert
from loops import each
from wengert.nn import functional as F


class Refuses:
    """An object whose special methods raise."""

    def __bool__(self):
        raise ZeroDivisionError("no")

    __len__ = __index__ = __float__ = __iter__ = __bool__


X, Y = wengert.ones(2, 3), wengert.ones(3, 2)
WRONG = [
    (lambda: wengert.exp(None), "exp(): argument 'input' (position 1) must be Tensor, not NoneType"),
    (lambda: F.relu6("a"), "relu6(): argument 'input' (position 1) must be Tensor, not str"),
    (lambda: F.hinge_embedding_loss("a", X), "hinge_embedding_loss(): argument 'input' (position 1) must be Tensor, not str"),
    (lambda: F.adaptive_avg_pool1d(None, 2), "adaptive_avg_pool1d(): argument 'input' (position 1) must be Tensor, not NoneType"),
    (lambda: wengert.flip(X, None), "flip(): argument 'dims' (position 2) must be tuple of ints, not NoneType"),
    (lambda: wengert.sum(X, 0, keepdim=Refuses()), "sum(): argument 'keepdim' must be bool, not Refuses"),
    (lambda: wengert.roll(X, wengert.float32), "roll(): argument 'shifts' (position 2) must be tuple of ints, not dtype"),
    (lambda: wengert.triu(X, "a"), "triu(): argument 'diagonal' (position 2) must be int, not str"),
    (lambda: wengert.Tensor.gt_(3, X), "descriptor 'gt_' for 'torch._C.TensorBase' objects doesn't apply to a 'int' object"),
    (lambda: wengert.unsafe_split(X, "a"), "unsafe_split(): argument 'split_size' (position 2) must be tuple of ints, not str"),
]


@each(("call", "text"), WRONG)
def test_the_error_names_the_operation_and_the_argument(call, text):
    with pytest.raises(TypeError) as caught:
        call()
    assert str(caught.value) == text


@each("call", [
    lambda: wengert.addmm(wengert.ones(2, 2), X, Y, beta=(1, 2)), lambda: wengert.addmv(wengert.ones(2), X, Y[:, 0], alpha="a"),
    lambda: wengert.add(X, X, alpha=np.array("a")), lambda: wengert.linspace(0, 1, object()), lambda: wengert.arange({1}, 2),
    lambda: wengert.linalg.solve_triangular(wengert.eye(2), Y.T[:2, :2], upper=Refuses()),
])  # fmt: skip
def test_an_argument_of_a_wrong_kind_is_a_type_error(call):
    with pytest.raises(TypeError, match=r"\(\)"):
        call()


@each("call", [
    lambda: wengert.diagonal(X, 2**70), lambda: wengert.transpose(X, 2**70, 1), lambda: X.transpose(0, 2**63),
    lambda: wengert.diagonal(X, -(2**64)),
])  # fmt: skip
def test_an_int_beyond_64_bits_is_a_value_error(call):
    with pytest.raises(ValueError, match="Overflow when unpacking long long"):
        call()


def test_errors_of_the_users_functions_are_left_alone():
    def fail(*_):
        raise AttributeError("of the user")

    with pytest.raises(AttributeError, match="of the user"):
        wengert.ones(2).apply_(fail)


def test_a_mistake_inside_keeps_its_traceback():
    class Odd:
        ndim = 2

    with pytest.raises(TypeError) as caught:
        wengert.cov(Odd())
    assert "cov()" in str(caught.value)
