"""Shapes and views, worked by hand: what is a view and what a copy, sizes, errors, and a gradient of each kind."""

import numpy as np
import pytest

import wengert as torch


def values(tensor):
    return tensor.detach().numpy().tolist()


def leaf(*shape):
    """1, 2, 3, ... of a shape, requiring grad."""
    return torch.tensor(np.arange(1.0, np.prod(shape) + 1, dtype=np.float32).reshape(shape), requires_grad=True)


# -- view and reshape --------------------------------------------------------------------------------------------------


def test_view_shares_memory_and_reshape_does_where_it_can():
    x = torch.arange(6)
    assert x.view(2, 3)._base is x
    assert x.reshape(2, 3)._base is x
    x.view(2, 3)[1, 2] = 50
    assert values(x) == [0, 1, 2, 3, 4, 50]


def test_reshape_copies_if_no_view_is_possible():
    x = torch.arange(6).view(2, 3).t()
    y = x.reshape(6)
    y[0] = 50
    assert values(y) == [50, 3, 1, 4, 2, 5] and values(x) == [[0, 3], [1, 4], [2, 5]]
    assert not y._is_view()


def test_view_refuses_shapes_that_need_a_copy():
    with pytest.raises(RuntimeError, match=r"view size is not compatible .* Use .reshape\(...\) instead"):
        torch.zeros(2, 3).t().view(6)


@pytest.mark.parametrize(
    ("sizes", "shape"), [((2, 3), (2, 3)), (((2, 3),), (2, 3)), (([2, 3],), (2, 3)), ((-1,), (6,)), ((3, -1), (3, 2))]
)
def test_ways_to_give_sizes(sizes, shape):
    assert torch.zeros(6).view(*sizes).shape == shape
    assert torch.zeros(6).reshape(*sizes).shape == shape


@pytest.mark.parametrize(("sizes", "message"), [
    ((4, 2), r"shape '\[4, 2\]' is invalid for input of size 6"), ((-1, -1), "only one dimension can be inferred"),
    ((4, -1), r"shape '\[4, -1\]' is invalid for input of size 6"), ((-2, 3), "invalid shape dimension -2 at index 0"),
])  # fmt: skip
def test_sizes_that_do_not_fit(sizes, message):
    for method in (torch.zeros(6).view, torch.zeros(6).reshape, torch.zeros(3, 2).t().reshape):
        with pytest.raises(RuntimeError, match=message):
            method(*sizes)


def test_view_reads_memory_as_another_dtype():
    x = torch.tensor([1.0, 2.0])
    bits = x.view(torch.int32)
    assert values(bits) == [0x3F800000, 0x40000000] and bits._base is x
    assert not leaf(2).view(torch.int32).requires_grad
    with pytest.raises(RuntimeError, match=r"self.size\(-1\) must be divisible by 2 to view Float as Double"):
        torch.zeros(3).view(torch.float64)


def test_gradient_passes_through_shapes():
    x = leaf(2, 3)
    (x.view(6)[4] + 10 * x.t().reshape(6)[1] + 100 * x.flatten()[0]).backward()
    assert values(x.grad) == [[100, 0, 0], [10, 1, 0]]


def test_contiguous_is_the_tensor_itself_or_a_row_major_copy():
    x = leaf(2, 3)
    assert x.contiguous() is x
    y = x.t().contiguous()
    assert y.is_contiguous() and y.stride() == (2, 1) and type(y.grad_fn).__name__ == "CloneBackward0"
    (y * torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])).sum().backward()
    assert values(x.grad) == [[1, 3, 5], [2, 4, 6]]


def test_flatten_of_a_vector_is_the_vector_and_of_a_number_is_not():
    x = torch.zeros(3)
    assert x.flatten() is x
    assert torch.tensor(1.0).flatten().shape == (1,)
    assert torch.zeros(2, 3, 4).flatten(1).shape == (2, 12)
    with pytest.raises(RuntimeError, match="start_dim cannot come after end_dim"):
        torch.zeros(2, 3).flatten(1, 0)


def test_unflatten_errors():
    with pytest.raises(RuntimeError, match=r"Provided sizes \[2, 2\] don't multiply up to the size of dim 0 \(6\)"):
        torch.zeros(6).unflatten(0, (2, 2))


# -- order of dimensions -----------------------------------------------------------------------------------------------


def test_transposes_are_views():
    x = torch.tensor([[0, 1, 2], [3, 4, 5]])
    for y in (x.t(), x.T, x.mT, x.transpose(0, 1), x.permute(1, 0), x.movedim(0, 1), x.swapaxes(0, 1)):
        assert values(y) == [[0, 3], [1, 4], [2, 5]] and y._base is x


def test_permute_permutes_the_gradient_back():
    x = leaf(1, 2, 3)
    y = x.permute(2, 0, 1)
    assert y.shape == (3, 1, 2)
    (y * torch.tensor([[[1.0, 2.0]], [[3.0, 4.0]], [[5.0, 6.0]]])).sum().backward()
    assert values(x.grad) == [[[1, 3, 5], [2, 4, 6]]]


def test_permute_errors():
    with pytest.raises(RuntimeError, match="number of dimensions in the tensor input does not match"):
        torch.zeros(2, 3).permute(0)
    with pytest.raises(RuntimeError, match="duplicate dims are not allowed"):
        torch.zeros(2, 3).permute(0, 0)
    with pytest.raises(IndexError, match=r"expected to be in range of \[-2, 1\], but got 2"):
        torch.zeros(2, 3).permute(0, 2)


def test_t_is_for_matrices():
    with pytest.raises(RuntimeError, match=r"t\(\) expects a tensor with <= 2 dimensions, but self is 3D"):
        torch.zeros(1, 2, 3).t()


def test_a_number_has_a_dimension_to_transpose():
    assert torch.tensor(3.0).transpose(0, -1).item() == 3.0
    with pytest.raises(IndexError, match="but got 1"):
        torch.tensor(3.0).transpose(0, 1)


# -- sizes of 1, expanding ---------------------------------------------------------------------------------------------


def test_expand_repeats_no_memory_and_sums_the_gradient():
    x = torch.tensor([[1.0], [2.0]], requires_grad=True)
    y = x.expand(3, 2, 4)
    assert y.shape == (3, 2, 4) and y.stride() == (0, 1, 0) and y._base is x
    y.sum().backward()
    assert values(x.grad) == [[12], [12]]


@pytest.mark.parametrize(("sizes", "message"), [
    ((3, 4), r"The expanded size of the tensor \(3\) must match the existing size \(2\) at non-singleton dimension 0"),
    ((4,), r"the number of sizes provided \(1\) must be greater or equal to the number of dimensions"),
    ((-1, 2, 4), r"The expanded size of the tensor \(-1\) isn't allowed in a leading, non-existing dimension 0"),
])  # fmt: skip
def test_expand_errors(sizes, message):
    with pytest.raises(RuntimeError, match=message):
        torch.zeros(2, 1).expand(*sizes)


def test_expand_of_a_number_takes_no_minus_one():
    assert values(torch.tensor(2.0).expand(2)) == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="isn't allowed in a leading"):
        torch.tensor(2.0).expand(-1)


@pytest.mark.parametrize("make", [lambda x: x.t(), lambda x: x[::2], lambda x: x.to(torch.bfloat16)])
def test_expand_of_unusual_memory(make):
    x = make(torch.arange(4.0).view(2, 2)).unsqueeze(0)
    assert values(x.expand(2, *x.shape[1:]).to(torch.float32)) == 2 * values(x.to(torch.float32))


def test_an_expanded_tensor_cannot_be_written():
    for write in (lambda x: x.__setitem__(0, 1.0), lambda x: x.masked_fill_(x == 0, 1.0)):
        with pytest.raises(
            RuntimeError, match="more than one element of the written-to tensor refers to a single memory location"
        ):
            write(torch.zeros(1, 3).expand(2, 2, 3))
    x = torch.zeros(1, 3)
    x.expand(2, 3)[0] = 1.0  # a part that shows each element once
    assert values(x) == [[1, 1, 1]]


def test_squeeze_and_unsqueeze():
    x = torch.zeros(1, 3, 1)
    assert x.squeeze().shape == (3,) and x.squeeze(1).shape == (1, 3, 1) and x.squeeze((0, 2)).shape == (3,)
    assert x.unsqueeze(-1).shape == (1, 3, 1, 1) and x.unsqueeze(3).shape == (1, 3, 1, 1)
    with pytest.raises(IndexError, match=r"\[-4, 3\], but got 4"):
        x.unsqueeze(4)


def test_broadcast_tensors_and_shapes():
    a, b = torch.broadcast_tensors(torch.zeros(3, 1), torch.zeros(2))
    assert a.shape == b.shape == (3, 2)
    assert torch.broadcast_shapes((3, 1), (2,), 1) == (3, 2)
    with pytest.raises(RuntimeError, match=r"The size of tensor a \(3\) must match the size of tensor b \(2\)"):
        torch.broadcast_tensors(torch.zeros(3), torch.zeros(2))


def test_sum_to_size_undoes_broadcasting():
    x = leaf(2, 3)
    y = x.sum_to_size(1, 3)
    assert values(y) == [[5, 7, 9]]
    (y * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert values(x.grad) == [[1, 2, 3], [1, 2, 3]]
    assert x.sum_to_size(2, 3) is x
    assert torch.ones(3, dtype=torch.uint8).sum_to_size(1).dtype is torch.int64
    with pytest.raises(RuntimeError, match=r"size \{\[2\]\} is not expandable to size \{\[2, 3\]\}"):
        x.sum_to_size(2)


# -- several views, strides --------------------------------------------------------------------------------------------


def test_unbind_gives_each_slice_its_own_gradient():
    x = leaf(2, 3)
    a, b, c = x.unbind(1)
    assert values(b) == [2, 5]
    (a.sum() + 10 * c[0]).backward()
    assert values(x.grad) == [[1, 0, 10], [1, 0, 0]]


def test_one_slice_of_many():
    x = leaf(3)
    (7 * x.unbind()[1]).backward()
    assert values(x.grad) == [0, 7, 0]


def test_iterating_is_unbinding():
    x = leaf(3)
    total = sum(x)  # 0 + x[0] + x[1] + x[2]
    total.backward()
    assert total.item() == 6 and values(x.grad) == [1, 1, 1]


def test_slices_of_unbind_may_not_be_written_while_gradients_are_recorded():
    parts = (leaf(2, 2) * 1).unbind()
    with pytest.raises(RuntimeError, match="This view is the output of a function that returns multiple views"):
        parts[0].add_(1)


def test_unbind_of_a_number():
    with pytest.raises(IndexError, match="Dimension specified as 0 but tensor has no dimensions"):
        torch.tensor(1.0).unbind()


def test_diagonal_is_a_view_that_can_be_written():
    x = torch.zeros(2, 3)
    x.diagonal(1)[...] = 5.0
    assert values(x) == [[0, 5, 0], [0, 0, 5]]
    y = leaf(2, 2)
    (y.diagonal() * torch.tensor([3.0, 4.0])).sum().backward()
    assert values(y.grad) == [[3, 0], [0, 4]]
    with pytest.raises(RuntimeError, match="diagonal dimensions cannot be identical 0, 0"):
        x.diagonal(0, 0, 0)


def test_overlapping_windows_add_their_gradients():
    x = leaf(4)
    windows = x.unfold(0, 3, 1)
    assert values(windows) == [[1, 2, 3], [2, 3, 4]] and windows._base is x
    windows.sum().backward()
    assert values(x.grad) == [1, 2, 2, 1]
    with pytest.raises(RuntimeError, match="maximum size for tensor at dimension 0 is 4 but size is 5"):
        x.unfold(0, 5, 1)


def test_as_strided_shows_memory_more_than_once():
    x = leaf(4)
    y = x.as_strided((3, 2), (1, 1))
    assert values(y) == [[1, 2], [2, 3], [3, 4]]
    y.sum().backward()
    assert values(x.grad) == [1, 2, 2, 1]


def test_as_strided_reaches_beyond_a_view_into_its_memory():
    memory = torch.arange(6.0)
    assert values(memory[2:4].as_strided((2,), (1,))) == [2, 3]
    assert values(memory[2:4].as_strided((3,), (2,), 1)) == [1, 3, 5]
    x = torch.arange(6.0).requires_grad_()
    y = x[2:4]
    (y.as_strided((4,), (1,), 1) * torch.tensor([1.0, 10.0, 100.0, 1000.0])).sum().backward()
    assert values(x.grad) == [0, 0, 10, 100, 0, 0]  # what lies outside of y is not y's
    with pytest.raises(RuntimeError, match="are out of bounds for storage of size 48"):
        torch.arange(6).as_strided((4,), (2,))


# -- copies in another order -------------------------------------------------------------------------------------------


def test_flip_roll_and_turn():
    x = leaf(2, 2)  # 1 2 / 3 4
    assert values(x.flip(0)) == [[3, 4], [1, 2]] and values(x.flip(0, 1)) == [[4, 3], [2, 1]]
    assert values(x.roll(1)) == [[4, 1], [2, 3]] and values(x.roll(1, 1)) == [[2, 1], [4, 3]]
    assert values(x.rot90()) == [[2, 4], [1, 3]]
    weights = torch.tensor([[1.0, 10.0], [100.0, 1000.0]])
    (x.roll(1) * weights).sum().backward()
    assert values(x.grad) == [[10, 100], [1000, 1]]


def test_repeat_sums_the_gradients_of_the_copies():
    x = leaf(2)
    y = x.repeat(2, 3)
    assert values(y) == [[1, 2, 1, 2, 1, 2]] * 2
    y.sum().backward()
    assert values(x.grad) == [6, 6]
    with pytest.raises(RuntimeError, match="Number of dimensions of repeat dims can not be smaller"):
        torch.zeros(2, 2).repeat(2)


@pytest.mark.parametrize("wrong", [True, 2.0, "2"])
def test_numbers_of_copies_are_ints(wrong):
    """As in torch the first tells; a NumPy integer is one."""
    x = leaf(2)
    for op, argument in [("repeat", "repeats"), ("tile", "dims")]:
        message = rf"^{op}\(\): argument '{argument}' \(position 1\) must be tuple of ints, not {type(wrong).__name__}$"
        with pytest.raises(TypeError, match=message):
            getattr(x, op)(wrong)
    assert values(x.repeat(np.int64(2))) == values(x.tile(np.int64(2))) == [1, 2, 1, 2]
    assert tuple(x.repeat(2, True).shape) == (2, 2)


def test_large_arrangements_are_numpys():
    """From some ten thousand elements on these are copied by kernels, on all threads."""
    x = np.arange(300 * 400, dtype=np.float32).reshape(300, 400)
    for shift in (-1, 7, 401):
        for dim in (0, 1):
            np.testing.assert_array_equal(torch.roll(torch.tensor(x), shift, dim).numpy(), np.roll(x, shift, dim))
        np.testing.assert_array_equal(torch.roll(torch.tensor(x), shift).numpy(), np.roll(x, shift))
    np.testing.assert_array_equal(torch.roll(torch.tensor(x), (3, -5), (1, 0)).numpy(), np.roll(x, (3, -5), (1, 0)))
    for dims in ((0,), (1,), (0, 1)):
        np.testing.assert_array_equal(torch.flip(torch.tensor(x), dims).numpy(), np.flip(x, dims))
    np.testing.assert_array_equal(torch.rot90(torch.tensor(x), 3).numpy(), np.rot90(x, 3))
    np.testing.assert_array_equal(torch.tensor(x).repeat(2, 1, 3).numpy(), np.tile(x, (2, 1, 3)))
    np.testing.assert_array_equal(torch.cat([torch.tensor(x)[:, 100:], torch.tensor(x)[:, :50]], 1).numpy(), np.hstack([x[:, 100:], x[:, :50]]))


def test_repeat_interleave():
    x = leaf(3)
    y = x.repeat_interleave(torch.tensor([2, 0, 1]))
    assert values(y) == [1, 1, 3]
    y.sum().backward()
    assert values(x.grad) == [2, 0, 1]
    assert values(torch.repeat_interleave(torch.tensor([1, 2]))) == [0, 1, 1]
    with pytest.raises(RuntimeError, match="repeats must have the same size as input along dim"):
        x.repeat_interleave(torch.tensor([1, 2]))


def test_diag_goes_both_ways():
    x = leaf(2)
    (x.diag() * torch.tensor([[3.0, 5.0], [5.0, 4.0]])).sum().backward()
    assert values(x.grad) == [3, 4]
    assert values(leaf(2, 2).diag()) == [1, 4]
    with pytest.raises(RuntimeError, match=r"diag\(\): Supports 1D or 2D tensors. Got 3D"):
        torch.zeros(1, 1, 1).diag()


def test_triangles():
    x = leaf(2, 2)
    (x.tril() + 10 * x.triu(1)).sum().backward()
    assert values(x.grad) == [[1, 10], [1, 1]]
    with pytest.raises(RuntimeError, match="tril: input tensor must have at least 2 dimensions"):
        torch.zeros(3).tril()
