"""Joining and splitting, worked by hand."""

import pytest

import wengert as torch


def values(tensor):
    return tensor.detach().numpy().tolist()


def test_cat_gives_each_tensor_its_part_of_the_gradient():
    a, b = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([3.0], requires_grad=True)
    y = torch.cat([a, b, a])
    assert values(y) == [1, 2, 3, 1, 2]
    (y * torch.tensor([1.0, 10.0, 100.0, 1000.0, 10000.0])).sum().backward()
    assert values(a.grad) == [1001, 10010] and values(b.grad) == [100]


def test_cat_promotes_and_casts_the_gradient_back():
    a = torch.tensor([1.0], requires_grad=True)
    y = torch.cat([a, torch.tensor([2.0], dtype=torch.float64), torch.tensor([3])])
    assert y.dtype is torch.float64
    y.sum().backward()
    assert a.grad.dtype is torch.float32 and values(a.grad) == [1]


def test_cat_passes_over_empty_vectors():
    x = torch.ones(2, 3, requires_grad=True)
    empty = torch.zeros(0, requires_grad=True)
    y = torch.cat([empty, x, empty], dim=1)
    assert y.shape == (2, 3)
    y.sum().backward()
    assert values(empty.grad) == [] and values(x.grad) == [[1, 1, 1]] * 2


@pytest.mark.parametrize(("make", "error", "message"), [
    (lambda: torch.cat([]), ValueError, r"torch.cat\(\): expected a non-empty list of Tensors"),
    (lambda: torch.cat([torch.zeros(2, 3), torch.zeros(2, 4)]), RuntimeError, "Expected size 3 but got size 4"),
    (lambda: torch.cat([torch.zeros(2, 3), torch.zeros(3)]), RuntimeError, "same number of dimensions: got 2 and 1"),
    (lambda: torch.cat([torch.tensor(1.0)]), RuntimeError, r"zero-dimensional tensor \(at position 0\)"),
    (lambda: torch.cat([torch.zeros(2)], 1), IndexError, r"Dimension out of range .*\[-1, 0\], but got 1"),
    (lambda: torch.cat(torch.zeros(2)), TypeError, r"\(position 1\) must be tuple of Tensors, not Tensor"),
    (lambda: torch.cat([torch.zeros(2), 1]), TypeError, "expected Tensor as element 1 in argument 0, but got int"),
    (lambda: torch.stack([]), RuntimeError, "stack expects a non-empty TensorList"),
    (lambda: torch.stack([torch.zeros(2), torch.zeros(3)]), RuntimeError, r"got \[2\] at entry 0 and \[3\] at entry 1"),
    (lambda: torch.cat([torch.zeros(2)] * 2, 2**70), IndexError, r"Dimension out of range .*\[-1, 0\], but got 1180591620717411303424"),
    (lambda: torch.stack([torch.zeros(2)], 2), IndexError, r"\[-2, 1\], but got 2"),
])  # fmt: skip
def test_errors_of_joining(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_stack_adds_a_dimension():
    a, b = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([3.0, 4.0])
    y = torch.stack([a, b], dim=1)
    assert values(y) == [[1, 3], [2, 4]]
    (y * torch.tensor([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
    assert values(a.grad) == [1, 3]


def test_out():
    out = torch.zeros(0)
    assert torch.cat([torch.tensor([1.0]), torch.tensor([2.0])], out=out) is out
    assert values(out) == [1, 2]
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        torch.cat([torch.ones(1, requires_grad=True)], out=torch.zeros(1))


def test_split_gives_views_and_joins_the_gradients():
    x = torch.arange(1.0, 6.0).requires_grad_()
    a, b, c = x.split(2)
    assert [values(part) for part in (a, b, c)] == [[1, 2], [3, 4], [5]] and a._base is x
    (a.sum() + 10 * c.sum()).backward()
    assert values(x.grad) == [1, 1, 0, 0, 10]


def test_parts_may_not_be_written_while_gradients_are_recorded():
    x = torch.zeros(4, requires_grad=True) * 1
    for parts in (x.split(2), x.chunk(2), x.split([1, 3])):
        with pytest.raises(RuntimeError, match="returns multiple views"):
            parts[0].zero_()
    unsafe = x.unsafe_split(2)
    unsafe[0].add_(1)
    assert values(x) == [1, 1, 0, 0] and values(unsafe[0]) == [1, 1]


def test_parts_of_a_tensor_without_gradient_may_be_written():
    x = torch.zeros(4)
    x.split(2)[1].add_(1)
    assert values(x) == [0, 0, 1, 1]


@pytest.mark.parametrize(("make", "message"), [
    (lambda x: x.split([1, 1]), r"expects split_sizes to sum exactly to 3 .* but got split_sizes=\[1, 1\]"),
    (lambda x: x.split([4, -1]), "split_with_sizes expects split_sizes have only non-negative entries"),
    (lambda x: x.split(-1), "split expects split_size be non-negative, but got split_size=-1"),
    (lambda x: x.split(0), "split_size can only be 0 if dimension size is 0, but got dimension size of 3"),
    (lambda x: x.chunk(0), "chunk expects `chunks` to be greater than 0, got: 0"),
    (lambda x: x[0].split(1), "split expects at least a 1-dimensional tensor"),
    (lambda x: x.hsplit(2), "the size of the dimension 3 is not divisible by the split_size 2"),
])  # fmt: skip
def test_errors_of_splitting(make, message):
    with pytest.raises(RuntimeError, match=message):
        make(torch.zeros(3))


def test_chunks_are_at_most_as_many_as_asked_for():
    assert [p.shape[0] for p in torch.zeros(5).chunk(4)] == [2, 2, 1]
    assert [p.shape[0] for p in torch.zeros(5).tensor_split(4)] == [2, 1, 1, 1]
    assert [p.shape[0] for p in torch.zeros(0).chunk(3)] == [0, 0, 0]


def test_block_diag_and_products():
    a = torch.tensor([[1.0, 2.0]], requires_grad=True)
    y = torch.block_diag(a, torch.tensor(3.0))
    assert values(y) == [[1, 2, 0], [0, 0, 3]]
    (y * 2).sum().backward()
    assert values(a.grad) == [[2, 2]]
    assert values(torch.cartesian_prod(torch.tensor([1, 2]), torch.tensor([3, 4]))) == [[1, 3], [1, 4], [2, 3], [2, 4]]
    assert values(torch.combinations(torch.tensor([1, 2, 3]))) == [[1, 2], [1, 3], [2, 3]]


def test_meshgrid():
    x, y = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([3.0, 4.0, 5.0])
    a, b = torch.meshgrid(x, y, indexing="ij")
    assert values(a) == [[1, 1, 1], [2, 2, 2]] and values(b) == [[3, 4, 5]] * 2
    (a * b).sum().backward()
    assert values(x.grad) == [12, 12]
    a, b = torch.meshgrid(x, y, indexing="xy")
    assert values(a) == [[1, 2]] * 3 and values(b) == [[3, 3], [4, 4], [5, 5]]
    with pytest.warns(UserWarning, match="it will be required to pass the indexing argument"):
        torch.meshgrid(x, y)
    with pytest.raises(RuntimeError, match='indexing must be one of "xy" or "ij", but received: aa'):
        torch.meshgrid(x, indexing="aa")
