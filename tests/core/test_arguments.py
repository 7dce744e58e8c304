"""Errors of arguments of a wrong kind: they name the operation and the argument, in torch's words."""

from __future__ import annotations

import os
import subprocess
import sys

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
    lambda: wengert.set_num_threads(2**70),
])  # fmt: skip
def test_an_int_beyond_64_bits_is_a_value_error(call):
    with pytest.raises(ValueError, match="Overflow when unpacking long long"):
        call()


@each("call", [
    lambda array: wengert.zeros_like(array), lambda array: F.embedding(wengert.tensor([0]), array), lambda array: F.softmax(array, 0),
    lambda array: wengert.ones(1).copy_(array), lambda array: wengert.exp(array), lambda array: wengert.ones(1) + array,
])  # fmt: skip
@each("array", [np.array([object()]), np.array(["a"]), np.array(["2020-01-01"], "M8[D]"), np.ones(1, ">f8"), np.ones(1, ">i4")])
def test_arrays_that_no_tensor_can_hold_are_refused(call, array):
    with pytest.raises((TypeError, ValueError), match="can't convert|byte order"):
        call(array)


def test_numbers_of_several_elements_are_refused_as_in_torch():
    for convert in (int, float, complex):
        with pytest.raises(ValueError, match="only one element tensors can be converted to Python scalars"):
            convert(wengert.tensor([1, 2]))
    with pytest.raises(RuntimeError, match="a Tensor with 2 elements cannot be converted to Scalar"):
        wengert.tensor([1, 2]).item()


def test_targets_of_binary_cross_entropy_are_probabilities():
    with pytest.raises(RuntimeError, match="all elements of target should be between 0 and 1"):
        F.binary_cross_entropy(wengert.tensor([0.5]), wengert.tensor([2.0]))


def test_negative_sizes_do_not_broadcast():
    with pytest.raises(ValueError, match="negative length"):
        wengert.broadcast_shapes((-1, -1))


def test_linalg_has_torchs_name_of_its_error():
    with pytest.raises(wengert.linalg.LinAlgError):
        wengert.linalg.inv(wengert.zeros(2, 2))


def test_an_enormous_number_of_threads_in_the_environment_is_taken():
    code = "import wengert; wengert.ones(3).sum()"
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "WENGERT_NUM_THREADS": "9" * 23}, check=True)


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
