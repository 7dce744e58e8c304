"""Operations under the names that the first versions of torch had, and those that work on elements or on the memory."""

import numpy as np
import pytest

import wengert as torch

A = torch.tensor([[4.0, 1.0], [1.0, 3.0]], dtype=torch.float64)


def test_gesv():
    b = torch.tensor([[1.0], [2.0]], dtype=torch.float64, requires_grad=True)
    with pytest.warns(DeprecationWarning, match=r"^gesv\(B, A\) is an old spelling of linalg\.solve\(A, B\)$") as caught:
        x, lu = torch.gesv(b, A)
    assert caught[0].filename == __file__ and not lu.requires_grad
    np.testing.assert_allclose(x.detach().numpy(), [[1 / 11], [7 / 11]])
    np.testing.assert_allclose(lu.numpy(), [[4.0, 1.0], [0.25, 2.75]])
    x.sum().backward()
    np.testing.assert_allclose(b.grad.numpy(), [[2 / 11], [3 / 11]])
    with pytest.warns(DeprecationWarning, match="gesv"):
        assert b.gesv(A)[0].tolist() == x.tolist()


def test_potrf():
    with pytest.warns(DeprecationWarning, match=r"linalg\.cholesky"):
        upper = A.potrf()
    with pytest.warns(DeprecationWarning, match=r"linalg\.cholesky"):
        lower = torch.potrf(A, upper=False)
    np.testing.assert_allclose(upper.numpy(), [[2.0, 0.5], [0.0, 2.75**0.5]])
    np.testing.assert_allclose(lower.numpy(), upper.numpy().T)


def test_masked_copy():
    x = torch.zeros(3)
    with pytest.warns(DeprecationWarning, match="masked_scatter_"):
        assert x.masked_copy_(torch.ByteTensor([1, 0, 1]).bool(), torch.tensor([5.0, 6.0])) is x
    assert x.tolist() == [5.0, 0.0, 6.0]


def test_apply_and_map():
    x = torch.tensor([[1, 2], [3, 4]])
    before = x._version
    assert x.apply_(lambda v: v * v + (1 if type(v) is int else 0)) is x
    assert x.tolist() == [[2, 5], [10, 17]] and x._version == before + 1
    assert x.t()[0].map_(torch.tensor([100, 200]), lambda a, b: a + b).tolist() == [102, 210]
    assert x.tolist() == [[102, 5], [210, 17]]
    x.map_(torch.tensor(1), lambda a, b: a - b)
    assert x.tolist() == [[101, 4], [209, 16]]
    assert torch.zeros(0).apply_(lambda v: 1 / 0).shape == (0,)


def test_apply_is_refused_where_it_could_not_be_differentiated():
    w = torch.ones(2, requires_grad=True)
    for call in (
        lambda: w.apply_(abs), lambda: (w * 1).apply_(abs), lambda: w.map_(torch.ones(2), max), lambda: torch.ones(2).map_(w, max),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match=r"^Can't call (apply_|map_)\(\) on Variable that requires grad\."):
            call()
    assert w.tolist() == [1.0, 1.0]


def test_resize():
    x = torch.arange(6.0)
    memory = x.data_ptr()
    assert x.resize_(2, 3) is x and x.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] and x.data_ptr() == memory
    assert x.resize_((2, 2)).tolist() == [[0.0, 1.0], [2.0, 3.0]] and x.data_ptr() == memory
    x.resize_(3, 2)
    assert x.shape == (3, 2) and x[:2].tolist() == [[0.0, 1.0], [2.0, 3.0]] and x.data_ptr() == memory
    assert x.resize_(0).shape == (0,)
    assert torch.ones(1).new().resize_as_(x).zero_().shape == (0,)


def test_resize_is_noticed_and_refused():
    w = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="^cannot resize variables that require grad$"):
        w.resize_(3)
    factor = torch.full((2,), 3.0)
    y = w * factor
    factor.resize_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_is_same_size():
    assert torch.ones(2, 3).is_same_size(torch.zeros(2, 3)) and not torch.ones(2, 3).is_same_size(torch.ones(3, 2))


@pytest.mark.parametrize("name", ["torch.DoubleTensor", torch.DoubleTensor])
def test_set_default_tensor_type(name):
    try:
        with pytest.warns(UserWarning, match=r"please use torch\.set_default_dtype"):
            torch.set_default_tensor_type(name)
        assert torch.ones(1).dtype is torch.float64 and torch.Tensor(1).dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    with pytest.raises(ValueError, match="invalid type: 'torch.LingTensor'"), pytest.warns(UserWarning, match="set_default"):
        torch.set_default_tensor_type("torch.LingTensor")
    assert torch.get_default_dtype() is torch.float32


def test_typename():
    assert torch.typename(torch.ones(1)) == "torch.FloatTensor" and torch.typename(torch.LongTensor(1)) == "torch.LongTensor"
    assert torch.typename(3) == "int" and torch.typename(np.ones(1)) == "numpy.ndarray"


@pytest.mark.parametrize(("use", "expected"), [
    (lambda x, m: x.masked_fill(m, 0), [0.0, 2.0, 0.0]),
    (lambda x, m: x.clone().masked_fill_(m, 0), [0.0, 2.0, 0.0]),
    (lambda x, m: x.masked_select(m), [1.0, 3.0]),
    (lambda x, m: torch.masked_select(x, m), [1.0, 3.0]),
    (lambda x, m: x.masked_scatter(m, torch.tensor([7.0, 8.0])), [7.0, 2.0, 8.0]),
    (lambda x, m: x.clone().masked_scatter_(m, torch.tensor([7.0, 8.0])), [7.0, 2.0, 8.0]),
])  # fmt: skip
def test_masks_of_bytes(use, expected):
    """Comparisons returned such masks up to torch 1.1."""
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    with pytest.warns(DeprecationWarning, match="with a mask of dtype torch.uint8") as caught:
        y = use(x, torch.ByteTensor([1, 0, 2]))
    assert y.tolist() == expected and y.requires_grad and [w.filename for w in caught] == [__file__]
    for mask in (torch.IntTensor([1, 0, 1]), torch.ones(3)):
        with pytest.raises(RuntimeError, match="mask"):
            use(x, mask)
