"""The tensor classes of old: FloatTensor and its like as constructors, as types to ask for, and as types to cast to."""

import numpy as np
import pytest

import wengert as torch
from wengert.autograd import Variable

TYPES = {
    "FloatTensor": "float32", "DoubleTensor": "float64", "HalfTensor": "float16", "BFloat16Tensor": "bfloat16",
    "LongTensor": "int64", "IntTensor": "int32", "ShortTensor": "int16", "CharTensor": "int8", "ByteTensor": "uint8",
    "BoolTensor": "bool",
}  # fmt: skip


@pytest.mark.parametrize("name", TYPES)
def test_constructors(name):
    cls, dtype = getattr(torch, name), getattr(torch, TYPES[name])
    for x, shape in (
        (cls(), (0,)), (cls(2, 3), (2, 3)), (cls(torch.Size([2, 3])), (2, 3)), (cls([1, 0]), (2,)),
        (cls([[1, 0], [0, 1]]), (2, 2)), (cls(np.array([1, 0, 1])), (3,)),
    ):  # fmt: skip
        assert x.shape == shape and x.dtype is dtype and x.type() == f"torch.{name}"
        assert isinstance(x, cls) and isinstance(x, torch.Tensor) and isinstance(x, Variable)
        assert sum(isinstance(x, getattr(torch, other)) for other in TYPES) == 1
    assert cls([1, 0]).tolist() == [1, 0]


@pytest.mark.parametrize("name", TYPES)
def test_casts(name):
    x = torch.Tensor([0, 1])
    for wanted in (f"torch.{name}", getattr(torch, name), getattr(torch, TYPES[name])):
        assert x.type(wanted).type() == f"torch.{name}" and x.type(wanted).tolist() == [0, 1]
    assert x.type_as(getattr(torch, name)(1)).type() == f"torch.{name}"


def test_casts_are_differentiable():
    x = torch.ones(2, requires_grad=True)
    x.type(torch.DoubleTensor).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0] and x.grad.dtype is torch.float32


def test_arguments_of_old_are_accepted():
    x = torch.ones(2)
    assert x.type("torch.DoubleTensor", **{"async": True}).dtype is torch.float64
    assert x.cpu(**{"async": True}) is x


def test_tensor_of_sizes_and_of_values():
    assert torch.Tensor(2, 3).shape == (2, 3) and torch.Tensor([2, 3]).tolist() == [2.0, 3.0]
    assert torch.Tensor().shape == (0,) and torch.Tensor(torch.Size((4,))).shape == (4,)
    assert torch.ones(2, dtype=torch.float64).new(3).dtype is torch.float64


def test_types_on_a_gpu_can_be_named():
    """Programs ask before they use them."""
    assert not torch.cuda.is_available() and torch.cuda.device_count() == 0
    torch.cuda.manual_seed(1)
    torch.cuda.manual_seed_all(1)
    assert not isinstance(torch.ones(1), torch.cuda.FloatTensor)
    with pytest.raises(TypeError, match=r"^type torch\.cuda\.FloatTensor not available"):
        torch.cuda.FloatTensor(2)
    for move in (lambda x: x.cuda(**{"async": True}), lambda x: x.cuda(0), lambda x: x.to("cuda:0")):
        with pytest.raises(RuntimeError, match=r"no backend for device cuda: .*Hint"):
            move(torch.ones(1))
    with pytest.raises(AttributeError, match=r"wengert\.cuda.*'Streem'"):
        _ = torch.cuda.Streem
