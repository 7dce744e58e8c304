"""Sorting and searching, worked by hand; scatter_reduce."""

import pytest

import wengert as torch

NAN = float("nan")


def values(tensor):
    return tensor.detach().numpy().tolist()


def test_sort_puts_the_gradient_back_in_the_old_order():
    x = torch.tensor([3.0, 1.0, 2.0], requires_grad=True)
    result = x.sort()
    assert values(result.values) == [1, 2, 3] and values(result.indices) == [1, 2, 0]
    assert not result.indices.requires_grad
    (result.values * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert values(x.grad) == [100, 1, 10]


def test_equal_elements_keep_their_order():
    x = torch.tensor([2, 1, 2, 1])
    assert values(x.argsort()) == [1, 3, 0, 2]
    assert values(x.argsort(descending=True)) == [0, 2, 1, 3]


def test_nan_is_larger_than_every_number():
    x = torch.tensor([1.0, NAN, float("inf")])
    assert values(x.argsort()) == [0, 2, 1] and values(x.argsort(descending=True)) == [1, 2, 0]
    assert values(x.topk(2).indices) == [1, 2]


def test_topk_and_kthvalue():
    x = torch.tensor([[3.0, 1.0, 2.0], [4.0, 6.0, 5.0]], requires_grad=True)
    top = x.topk(2)
    assert values(top.values) == [[3, 2], [6, 5]] and values(top.indices) == [[0, 2], [1, 2]]
    assert values(x.topk(1, dim=0, largest=False)[0]) == [[3, 1, 2]]
    third = x.kthvalue(3)
    assert values(third.values) == [3, 6]
    (top.values.sum() + 10 * third.values[1]).backward()
    assert values(x.grad) == [[1, 0, 1], [0, 11, 1]]


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda x: x.topk(3), RuntimeError, "selected index k out of range"),
    (lambda x: x.kthvalue(3), RuntimeError, "selected number k out of range for dimension 0"),
    (lambda x: x[:0].kthvalue(1), IndexError, "Expected reduction dim 0 to have non-zero size"),
    (lambda x: x.to(torch.complex64).sort(), RuntimeError, "Sort does not support complex dtypes on CPU"),
    (lambda x: x.sort(1), IndexError, r"\[-1, 0\], but got 1"),
])  # fmt: skip
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call(torch.zeros(2))


def test_searchsorted_with_a_sorter():
    edges = torch.tensor([[1.0, 3.0, 2.0], [5.0, 4.0, 3.0]])
    found = torch.searchsorted(edges, torch.tensor([[2.5], [3.5]]), sorter=edges.argsort(-1))
    assert values(found) == [[2], [1]]
    empty = torch.zeros(0)
    assert values(torch.searchsorted(empty, empty, sorter=torch.zeros(0, dtype=torch.int64))) == []


@pytest.mark.parametrize(("sorter", "message"), [
    (torch.tensor([0, 2]), r"boundary and sorter must have the same size, but got boundary tensor \[3\]and got sorter tensor \[2\]"),
    (torch.tensor([0, 2, 1], dtype=torch.int32), "sorter must be a tensor of long dtype but got dtype Int"),
    (torch.tensor([0, 2, 5]), "sorter index out of range"),
    (torch.tensor([0, -1, 1]), "sorter index out of range"),
])  # fmt: skip
def test_searchsorted_refuses_a_wrong_sorter(sorter, message):
    with pytest.raises(RuntimeError, match=message):
        torch.searchsorted(torch.tensor([1.0, 3.0, 2.0]), torch.tensor([2.5]), sorter=sorter)


def test_unique_consecutive_of_empty_tensors():
    x = torch.zeros(5, 0, 4)
    found, inverse, counts = torch.unique_consecutive(x, return_inverse=True, return_counts=True, dim=1)
    assert found.shape == (5, 0, 4) and inverse.shape == counts.shape == (0,)
    with pytest.raises(RuntimeError, match="There are 0 sized dimensions, and they aren't selected, so unique cannot be applied"):
        torch.unique_consecutive(x, dim=0)


def test_searching():
    edges = torch.tensor([1, 3, 5])
    assert values(torch.searchsorted(edges, torch.tensor([3, 4]))) == [1, 2]
    assert values(torch.bucketize(torch.tensor([3, 4]), edges, right=True)) == [2, 2]
    assert values(torch.isin(torch.tensor([1, 2]), edges)) == [True, False]


def test_unique():
    x = torch.tensor([3, 1, 3, 3])
    assert [values(t) for t in x.unique(return_inverse=True, return_counts=True)] == [[1, 3], [1, 0, 1, 1], [1, 3]]
    assert [values(t) for t in x.unique_consecutive(return_counts=True)] == [[3, 1, 3], [1, 1, 2]]
    assert values(torch.tensor([1, 1, 3]).bincount()) == [0, 2, 0, 1]


@pytest.mark.parametrize(("reduce", "result", "x_grad", "src_grad"), [
    ("sum", [6, 5], [1, 1], [1, 1, 1]), ("mean", [2, 2.5], [1 / 3, 0.5], [1 / 3, 1 / 3, 0.5]),
    ("prod", [6, 4], [6, 4], [3, 2, 1]),
    ("amax", [3, 4], [0, 0], [0, 1, 1]), ("amin", [1, 1], [1, 1], [0, 0, 0]),
])  # fmt: skip
def test_scatter_reduce(reduce, result, x_grad, src_grad):
    x, src = torch.ones(2, requires_grad=True), torch.tensor([2.0, 3.0, 4.0], requires_grad=True)
    y = x.scatter_reduce(0, torch.tensor([0, 0, 1]), src, reduce)
    assert values(y) == result
    y.sum().backward()
    assert values(x.grad) == pytest.approx(x_grad) and values(src.grad) == pytest.approx(src_grad)


def test_a_product_with_zeros():
    x, src = torch.ones(1, requires_grad=True), torch.tensor([0.0, 3.0], requires_grad=True)
    y = x.scatter_reduce(0, torch.tensor([0, 0]), src, "prod")
    y.backward()
    assert values(src.grad) == [3, 0] and values(x.grad) == [0]
    with pytest.raises(RuntimeError, match="Double backward is unsupported"):
        torch.autograd.grad(x.scatter_reduce(0, torch.tensor([0, 0]), src, "prod").sum(), src, create_graph=True)


def test_elements_that_attain_an_extremum_share_its_gradient():
    x, src = torch.tensor([2.0], requires_grad=True), torch.tensor([2.0, 1.0], requires_grad=True)
    x.scatter_reduce(0, torch.tensor([0, 0]), src, "amax").backward()
    assert values(x.grad) == [0.5] and values(src.grad) == [0.5, 0]
