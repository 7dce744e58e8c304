"""Indexing, worked by hand: torch's rules where they are not NumPy's, gradients of reads and writes, errors."""

import warnings

import numpy as np
import pytest

import wengert as torch


def values(tensor):
    return tensor.detach().numpy().tolist()


def grid():
    """1 2 3 / 4 5 6, requiring grad."""
    return torch.arange(1.0, 7.0).view(2, 3).detach().requires_grad_()


# -- reads: shapes, names ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("index", "shape", "name"), [
    (0, (3,), "SelectBackward0"), (slice(1, None), (1, 3), "SliceBackward0"), (slice(None), (2, 3), "SliceBackward0"),
    (None, (1, 2, 3), "UnsqueezeBackward0"), (..., (2, 3), "AliasBackward0"), ((), (2, 3), "AliasBackward0"),
    ((slice(None), slice(None)), (2, 3), "AliasBackward0"), ((0, 1), (), "SelectBackward0"), ((..., -1),
    (2,), "SelectBackward0"),
    ((0, slice(None, None, 2)), (2,), "SliceBackward0"), ((slice(None), None), (2, 1, 3), "UnsqueezeBackward0"),
    (np.int64(1), (3,), "SelectBackward0"), ([0, 1, 0], (3, 3), "IndexBackward0"), (True, (1, 2, 3), "IndexBackward0"),
    (False, (0, 2, 3), "IndexBackward0"), (np.array([1]), (1, 3), "IndexBackward0"), (range(2),
    (2, 3), "IndexBackward0"),
    ([], (0, 3), "IndexBackward0"), ([True, False], (1, 3), "IndexBackward0"),
])  # fmt: skip
def test_shape_and_node_name(index, shape, name):
    y = grid()[index]
    assert y.shape == shape and type(y.grad_fn).__name__ == name


def test_basic_indexing_looks_into_the_memory_and_advanced_copies():
    x = torch.arange(6).view(2, 3)
    for index in (0, slice(1, 2), (0, 1), (..., None), (slice(None), 2)):
        assert x[index]._base is x._base
    for index in ([0, 1], torch.tensor([0]), x > 2):
        assert not x[index]._is_view()


def test_an_int_beside_an_index_array_is_taken_first_unlike_in_numpy():
    x = torch.arange(24).view(2, 3, 4)
    assert x[0, :, [0, 3]].shape == (3, 2)  # NumPy: (2, 3)
    assert values(x[0, :, [0, 3]]) == [[0, 3], [4, 7], [8, 11]]
    assert x[[0, 1], :, [0, 3]].shape == (2, 3)


def test_a_0d_index_tensor_counts_as_an_int():
    x = grid()
    assert values(x[torch.tensor(1)]) == [4, 5, 6] and x[torch.tensor(1)]._base is x
    assert values(x[:, torch.tensor(-1)]) == [3, 6]
    assert values(x[torch.tensor(0) : torch.tensor(1)]) == [[1, 2, 3]]


def test_masks():
    x = grid()
    assert values(x[x > 3]) == [4, 5, 6]
    assert values(x[:, torch.tensor([True, False, True])]) == [[1, 3], [4, 6]]
    assert values(x[torch.tensor([False, True]), [0]]) == [4]
    assert values(x[torch.tensor(True)]) == [[[1, 2, 3], [4, 5, 6]]]
    with pytest.raises(
        IndexError, match=r"The shape of the mask \[3\] at index 0 does not match .* \[2, 3\] at index 0"
    ):
        x[torch.tensor([True, False, True])]


def test_uint8_masks_are_taken_with_a_warning():
    with pytest.warns(UserWarning, match="indexing with dtype torch.uint8 is now deprecated"):
        assert values(grid()[torch.tensor([0, 1], dtype=torch.uint8)]) == [[4, 5, 6]]


def test_a_list_of_sequences_is_a_tuple_with_a_warning():
    with pytest.warns(UserWarning, match="Using a non-tuple sequence for multidimensional indexing is deprecated"):
        assert values(grid()[[[0, 1], [2, 0]]]) == [3, 4]


@pytest.mark.parametrize(("index", "message"), [
    (2, "index 2 is out of bounds for dimension 0 with size 2"),
    (-3, "index -3 is out of bounds for dimension 0 with size 2"),
    ((0, 3), "index 3 is out of bounds for dimension 1 with size 3"),
    ((..., 3), "index 3 is out of bounds for dimension 1"),
    ((0, 0, 0), "too many indices for tensor of dimension 2"),
    ([0, 2], "index 2 is out of bounds for dimension 0 with size 2"),
    (([0, 1], [0, 1, 2]), r"indexing tensors could not be broadcast together with shapes \[2\], \[3\]"),
    (1.0, r"only integers, slices .* are valid indices \(got float\)"), ({1}, r"\(got set\)"),
    (np.array([0.0]), "tensors used as indices must be long, int, byte or bool tensors"),
])  # fmt: skip
def test_index_errors(index, message):
    with pytest.raises(IndexError, match=message):
        grid()[index]


def test_indexing_a_number():
    with pytest.raises(IndexError, match=r"invalid index of a 0-dim tensor\. Use `tensor.item"):
        torch.tensor(1.0)[1]
    assert torch.tensor(1.0)[None].shape == (1,)
    assert torch.tensor(1.0)[...].shape == ()


@pytest.mark.parametrize(
    ("step", "message"), [(0, "slice step cannot be zero"), (-1, "step must be greater than zero")]
)
def test_steps_are_positive(step, message):
    with pytest.raises(ValueError, match=message):
        grid()[::step]


# -- reads: gradients --------------------------------------------------------------------------------------------------


def test_the_cotangent_of_a_read_is_zero_elsewhere():
    x = grid()
    (2 * x[1, 0] + 3 * x[0, 1:].sum() + 5 * x[..., 2].sum()).backward()
    assert values(x.grad) == [[0, 3, 8], [2, 0, 5]]


def test_an_element_that_is_named_twice_gets_both_cotangents():
    x = grid()
    (x[[0, 0, 1], [2, 2, 0]] * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert values(x.grad) == [[0, 0, 11], [100, 0, 0]]


def test_reads_are_differentiable_to_any_order():
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    y = x[[0, 0]].prod() * x[1:].sum()  # x0^2 x1
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    (second,) = torch.autograd.grad(first[0], x, create_graph=True)  # of 2 x0 x1
    (third,) = torch.autograd.grad(second[1], x)  # of 2 x0
    assert values(first) == [12, 4] and values(second) == [6, 4] and values(third) == [2, 0]


def test_reading_leaves_nothing_to_free_and_advanced_indexing_does():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x[1]
    y.backward()
    y.backward()
    assert values(x.grad) == [0, 2]
    z = x[[0, 1]].sum()
    z.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        z.backward()


def test_an_index_that_is_written_after_the_read_is_noticed():
    x, index = torch.tensor([1.0, 2.0, 3.0], requires_grad=True), torch.tensor([0, 1])
    y = x[index]
    index[0] = 2
    with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
        y.sum().backward()


@pytest.mark.parametrize("width", [1, 2, 300])
def test_many_reads_of_rows_add_up(width):
    """The ways in which repeated rows are added (by element, by row, as a product), against np.add.at."""
    rng = np.random.default_rng(0)
    for rows, count in ((10, 3), (50, 400), (1000, 400)):
        index = rng.integers(-rows, rows, count)
        weights = rng.normal(size=(count, width))
        x = torch.zeros(rows, width, dtype=torch.float64, requires_grad=True)
        (x[index] * torch.from_numpy(weights)).sum().backward()
        wanted = np.zeros((rows, width))
        np.add.at(wanted, index, weights)
        np.testing.assert_allclose(x.grad.numpy(), wanted, atol=1e-12)


def test_reads_along_later_dimensions_add_up():
    rng = np.random.default_rng(0)
    index = rng.integers(0, 20, 300)
    weights = rng.normal(size=(2, 300, 3))
    x = torch.zeros(2, 20, 3, dtype=torch.float64, requires_grad=True)
    (x[:, index] * torch.from_numpy(weights)).sum().backward()
    wanted = np.zeros((2, 20, 3))
    np.add.at(wanted, (slice(None), index), weights)
    np.testing.assert_allclose(x.grad.numpy(), wanted, atol=1e-12)


# -- writes ------------------------------------------------------------------------------------------------------------


def test_assignment_takes_the_gradient_from_overwritten_elements():
    x, v = grid(), torch.tensor([7.0, 8.0], requires_grad=True)
    y = x * 2
    y[0, 1:] = v
    assert values(y) == [[2, 7, 8], [8, 10, 12]]
    (y * torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])).sum().backward()
    assert values(x.grad) == [[2, 0, 0], [8, 10, 12]] and values(v.grad) == [2, 3]


def test_assignment_at_index_arrays_and_masks():
    x, v = grid(), torch.tensor(7.0, requires_grad=True)
    y = x * 2
    y[[0, 1], [2, 0]] = v
    y[y > 11] = 0.0
    assert values(y) == [[2, 4, 7], [7, 10, 0]]
    y.sum().backward()
    assert values(x.grad) == [[2, 2, 0], [0, 2, 0]] and v.grad.item() == 2


def test_assignment_into_a_tensor_without_gradient_makes_it_require_one():
    x, y = torch.tensor([3.0], requires_grad=True), torch.zeros(2)
    y[0] = x[0] * x[0]
    y[1] = y[0] * 2
    assert y.requires_grad
    y.sum().backward()
    assert values(x.grad) == [18]


def test_augmented_assignment():
    x = grid()
    y = x * 1
    y[0] += 10
    y[1, :2] *= 3
    y[y > 12] -= 100
    assert values(y) == [[11, 12, -87], [12, -85, 6]]
    y.sum().backward()
    assert values(x.grad) == [[1, 1, 1], [3, 3, 1]]


def test_views_see_assignments_and_their_gradients():
    x = grid()
    y = x * 1
    row = y[0]
    y[0, 0] = 5.0
    row[1] = row[0] * 2
    assert values(y) == [[5, 10, 3], [4, 5, 6]]
    row.sum().backward()
    assert values(x.grad) == [[0, 0, 1], [0, 0, 0]]


def test_assignment_counts_as_one_write_and_is_noticed():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    z = y * y
    y[0] = 3.0
    assert y._version == 1
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0"):
        z.sum().backward()


def test_assignment_to_a_leaf_that_requires_grad():
    x = grid()
    for index in (0, [0, 1], x > 2):
        with pytest.raises(
            RuntimeError, match=r"a (view of a )?leaf Variable that requires grad is being used in an in-place"
        ):
            x[index] = 1.0
    with torch.no_grad():
        x[0] = 0.0
    assert values(x) == [[0, 0, 0], [4, 5, 6]]


def test_values_are_cast_and_broadcast():
    x = torch.zeros(2, 3, dtype=torch.int64)
    x[0] = torch.tensor([1.5, 2.5, -1.5])
    x[1] = torch.ones(1, 1, 3)
    x[:, 0] = np.array([7, 8])
    x[1, 1] = True
    assert values(x) == [[7, 2, -1], [8, 1, 1]]
    y = torch.zeros(2)
    y[0] = torch.tensor(2 + 1j)  # the real part
    assert values(y) == [2, 0]


def test_assignment_between_overlapping_regions_reads_first():
    x = torch.arange(4)
    x[1:] = x[:-1]
    assert values(x) == [0, 0, 1, 2]
    x[[0, 1, 2, 3]] = x[[3, 2, 1, 0]]
    assert values(x) == [2, 1, 0, 0]


@pytest.mark.parametrize(("index", "value", "error", "message"), [
    (0, [1.0, 2.0], TypeError, "can't assign a list to a torch.FloatTensor"), (0, "a", TypeError, "can't assign a str"),
    (0, None, TypeError, "can't assign a NoneType"), (5, 1.0, IndexError, "index 5 is out of bounds"),
    ((0, 5), 1.0, IndexError, "index 5 is out of bounds for dimension 1"),
    ([0, 5], 1.0, IndexError, "index 5 is out of bounds"),
    (0, 1j, RuntimeError, "value cannot be converted to type float without overflow"),
    (0, 1e300, RuntimeError, "value cannot be converted to type float without overflow"),
])  # fmt: skip
def test_assignment_errors(index, value, error, message):
    with pytest.raises(error, match=message):
        torch.zeros(2, 3)[index] = value


@pytest.mark.parametrize("grad", [False, True])
def test_assigned_values_of_another_shape_are_refused(grad):
    x = torch.zeros(2, 3, requires_grad=grad) * 1
    with pytest.raises(RuntimeError, match=r"The expanded size of the tensor \(3\) must match the existing size \(2\)"):
        x[0] = torch.ones(2)
    with pytest.raises(RuntimeError, match=r"shape \[2\] cannot be broadcast to .* shape \[2, 3\]"):
        x[[0, 1]] = torch.ones(2)
    mask = x > 1
    with pytest.raises(RuntimeError, match=r"shape \[2\] cannot be broadcast to .* result of shape \[0\]"):
        x[mask] = torch.ones(2)


def test_overflow_of_an_assigned_value():
    with pytest.raises(RuntimeError, match="value cannot be converted to type uint8_t without overflow"):
        torch.zeros(2, dtype=torch.uint8)[0] = 300


def test_a_read_only_array_is_not_written():
    array = np.zeros(3)
    array.flags.writeable = False
    x = torch.from_numpy(array)
    for index in (0, slice(0, 2), [0, 1]):
        with pytest.raises(ValueError, match="read-only"):
            x[index] = 1.0


# -- reads and writes with names ---------------------------------------------------------------------------------------


def test_gather_and_scatter_are_each_others_gradients():
    x = grid()
    index = torch.tensor([[2, 2], [0, 1]])
    y = x.gather(1, index)
    assert values(y) == [[3, 3], [4, 5]]
    (y * torch.tensor([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
    assert values(x.grad) == [[0, 0, 3], [3, 4, 0]]
    src = torch.tensor([[10.0, 20.0, 30.0], [40.0, 50.0, 60.0]], requires_grad=True)
    z = torch.zeros(2, 3).scatter_add(1, torch.tensor([[2, 2], [0, 1]]), src)
    assert values(z) == [[0, 0, 30], [40, 50, 0]]
    (z * torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])).sum().backward()
    assert values(src.grad) == [[3, 3, 0], [4, 5, 0]]  # torch refuses a source that is larger than the index


def test_a_row_of_values_is_added_at_a_matrix_of_indices():
    """np.add.at of a vector reads beyond the end of the row."""
    x, index = torch.zeros(2), torch.tensor([[-1, 1, -1], [-2, 1, 1], [0, -2, 0]])
    assert values(x.index_put((index,), torch.tensor([1.0, 2.0, 3.0]), accumulate=True)) == [7.0, 11.0]


def test_an_empty_index_may_be_larger_than_the_tensor():
    """Nothing is read or written, so no size has to fit."""
    x, index, source = torch.ones(0, 2, 3, requires_grad=True), torch.zeros(1, 0, 3, dtype=torch.int64), torch.ones(1, 0, 3)
    assert x.gather(1, index).shape == (1, 0, 3)
    for y in (x.scatter(1, index, source), x.scatter_add(1, index, source), x.scatter_reduce(1, index, source, "prod")):
        (found,) = torch.autograd.grad(y.sum(), x)
        assert y.shape == found.shape == (0, 2, 3)


def test_scatter_with_reduce_adds():
    x = torch.ones(3)
    assert values(x.scatter(0, torch.tensor([0, 0]), torch.tensor([2.0, 3.0]), reduce="add")) == [6, 1, 1]
    assert values(x.scatter_(0, torch.tensor([0, 2]), 5.0, reduce="add")) == [6, 1, 6]


def test_gather_errors():
    with pytest.raises(RuntimeError, match="index 7 is out of bounds for dimension 1 with size 3"):
        grid().gather(1, torch.tensor([[7]]))
    with pytest.raises(RuntimeError, match="index -1 is out of bounds for dimension 1 with size 3"):
        grid().gather(1, torch.tensor([[-1]]))
    with pytest.raises(RuntimeError, match="Index tensor must have the same number of dimensions as input tensor"):
        grid().gather(1, torch.tensor([0]))
    with pytest.raises(RuntimeError, match=r"gather\(\): Expected dtype int32/int64 for index"):
        grid().gather(1, torch.tensor([[0.0]]))


def test_index_select_and_its_errors():
    assert values(grid().index_select(1, torch.tensor([2, 2]))) == [[3, 3], [6, 6]]
    for wrong in (3, -1):
        with pytest.raises(IndexError, match="index out of range in self"):
            grid().index_select(1, torch.tensor([wrong]))
    with pytest.raises(IndexError, match="Index is supposed to be a vector"):
        grid().index_select(1, torch.tensor([[0]]))


@pytest.mark.parametrize("accumulate", [False, True])
def test_index_put_takes_0d_tensors_as_index_arrays(accumulate):
    def put(indices, value):
        return torch.zeros(3, 2).index_put_(indices, torch.tensor(value), accumulate).tolist()

    assert put((torch.tensor(1), torch.tensor([0])), 5.0) == [[0, 0], [5, 0], [0, 0]]
    assert put((torch.tensor([0, 2]), torch.tensor(-1)), [5.0, 6.0]) == [[0, 5], [0, 0], [0, 6]]
    assert put((torch.tensor(1), torch.tensor(1)), 5.0) == [[0, 0], [0, 5], [0, 0]]
    assert put((None, torch.tensor(1)), [1.0, 2.0, 3.0]) == [[0, 1], [0, 2], [0, 3]]
    assert put((torch.tensor(True), torch.tensor([1])), 5.0) == [[0, 0], [5, 5], [0, 0]]
    assert put((torch.tensor(False), torch.tensor([1])), 5.0) == [[0, 0], [0, 0], [0, 0]]


def test_gradients_of_index_put_with_0d_tensors():
    x, value = torch.ones(3, 2, requires_grad=True), torch.tensor([7.0], requires_grad=True)
    out = x.index_put((torch.tensor(1), torch.tensor([0])), value)
    (out * torch.arange(6.0).reshape(3, 2)).sum().backward()
    assert x.grad.tolist() == [[0, 1], [0, 3], [4, 5]]
    assert value.grad.tolist() == [2]
    ct = torch.arange(6.0).reshape(3, 2)
    value = torch.tensor(7.0, requires_grad=True)
    gradient = torch.autograd.grad(x.index_put((torch.tensor(1), torch.tensor(0)), value), value, ct)[0]
    gradient.add_(1)
    assert ct.tolist() == [[0, 1], [2, 3], [4, 5]]  # the gradient is no view of it


@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize("shape", [(1, 1, 3, 3, 1), (1, 3, 2, 3), (3, 2, 2)])
def test_index_put_refuses_values_that_do_not_broadcast(accumulate, shape):
    indices = (None, None, torch.tensor([-3, 2, 1]), torch.tensor([0]))  # np.add.at would read outside of the first values
    with pytest.raises(RuntimeError, match="shape mismatch: value tensor of shape"):
        torch.zeros(3, 2, 3, 1).index_put_(indices, torch.ones(shape), accumulate)


def test_a_0d_index_tensor_may_have_any_integer_dtype():
    for dtype in (torch.int8, torch.int16, torch.int32, torch.uint16):
        assert torch.arange(3)[torch.tensor(1, dtype=dtype)].item() == 1
    with pytest.raises(IndexError, match="tensors used as indices must be"):
        torch.arange(3)[torch.tensor([1], dtype=torch.int8)]


@pytest.mark.parametrize(("write", "wanted", "gradient"), [
    (lambda y: y.index_add_(0, torch.tensor([1, 1]), torch.ones(2, 3)), [[1, 2, 3], [6, 7, 8]], [[1, 1, 1], [1, 1, 1]]),
    (lambda y: y.index_copy_(1, torch.tensor([0]), torch.zeros(2, 1)), [[0, 2, 3], [0, 5, 6]], [[0, 1, 1], [0, 1, 1]]),
    (lambda y: y.index_fill_(1, torch.tensor([-1]), 9), [[1, 2, 9], [4, 5, 9]], [[1, 1, 0], [1, 1, 0]]),
    (lambda y: y.index_put_((torch.tensor([0]),), torch.tensor(8.0)), [[8, 8, 8], [4, 5, 6]], [[0, 0, 0], [1, 1, 1]]),
    (lambda y: y.index_put_((torch.tensor([0, 0]),), torch.tensor(1.0), True), [[3, 4, 5], [4, 5, 6]], [[1] * 3] * 2),
    (lambda y: y.scatter_(1, torch.tensor([[0], [1]]), 7.0), [[7, 2, 3], [4, 7, 6]], [[0, 1, 1], [1, 0, 1]]),
    (lambda y: y.scatter_add_(1, torch.tensor([[0], [1]]), torch.ones(2, 1)), [[2, 2, 3], [4, 6, 6]], [[1] * 3] * 2),
    (lambda y: y.masked_fill_(y > 4, 0), [[1, 2, 3], [4, 0, 0]], [[1, 1, 1], [1, 0, 0]]),
    (lambda y: y.masked_scatter_(y > 4, torch.tensor([8.0, 9.0])), [[1, 2, 3], [4, 8, 9]], [[1, 1, 1], [1, 0, 0]]),
    (lambda y: y.put_(torch.tensor([0, -1]), torch.tensor([8.0, 9.0])), [[8, 2, 3], [4, 5, 9]], [[0, 1, 1], [1, 1, 0]]),
])  # fmt: skip
def test_writes_in_place(write, wanted, gradient):
    x = grid()
    y = x * 1
    assert write(y) is y and values(y) == wanted and y._version == 1
    y.sum().backward()
    assert values(x.grad) == gradient
    plain = grid().detach()
    write(plain)
    assert values(plain) == wanted and plain._version == 1


def test_masked_select_of_a_broadcast_tensor_sums():
    x = torch.tensor([[1.0], [2.0]], requires_grad=True)
    y = x.masked_select(torch.tensor([[True, True], [False, True]]))
    assert values(y) == [1, 1, 2]
    (y * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert values(x.grad) == [[11], [100]]


def test_where_a_mask_must_be_a_mask():
    with pytest.raises(RuntimeError, match="masked_fill_ only supports boolean masks, but got mask with dtype float"):
        grid().masked_fill(torch.ones(2, 3), 0)
    with pytest.raises(
        RuntimeError, match=r"only supports a 0-dimensional value tensor, but got tensor with 1 dimension\(s\)"
    ):
        grid().masked_fill(torch.tensor(True), torch.ones(3))


def test_nonzero():
    x = torch.tensor([[0, 1], [2, 0]])
    assert values(x.nonzero()) == [[0, 1], [1, 0]]
    rows, columns = x.nonzero(as_tuple=True)
    assert values(rows) == [0, 1] and values(columns) == [1, 0]
    assert torch.tensor(3).nonzero().shape == (1, 0)


@pytest.mark.parametrize("recorded", [True, False])
def test_values_of_a_wrong_shape_at_a_mask_are_a_runtime_error(recorded):
    x = torch.zeros(4, 3, requires_grad=recorded) * 1
    text = r"^shape mismatch: value tensor of shape \[3, 5\] cannot be broadcast to indexing result of shape \[3\]$"
    with pytest.raises(RuntimeError, match=text):
        x[3, torch.ones(3) > 0] = torch.zeros(3, 5)


def test_nothing_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = torch.zeros(3)
        x[0] = torch.tensor(2 + 1j)
        x[[1]] = torch.tensor(2.0, dtype=torch.float64)
        x[2] = 3
    assert values(x) == [2, 2, 3]


def test_large_index_arrays_of_all_dimensions():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(7, 5, 3))
    places = [rng.integers(-n, n, (20, 10)) for n in values.shape]
    for dtype in (np.int64, np.int32):
        x = torch.tensor(values, requires_grad=True)
        given = [torch.tensor(i.astype(dtype)) for i in places]
        found = x[given[0], given[1], given[2]]
        np.testing.assert_array_equal(found.detach().numpy(), values[tuple(places)])
        weights = rng.normal(size=found.shape)
        found.backward(torch.tensor(weights))
        expected = np.zeros_like(values)
        np.add.at(expected, tuple(places), weights)
        np.testing.assert_allclose(x.grad.numpy(), expected)
    with pytest.raises(IndexError, match="is out of bounds for dimension 0 with size 7"):
        x[given[0] + 14, given[1], given[2]]


def test_extrema_of_complex_arrays_are_numpys():
    values = np.array([[1 + 2j, 3 - 1j, 3 + 0j], [2 + 1j, 2 + 1j, -1 + 5j]])
    for reduce, place in ((np.max, np.argmax), (np.min, np.argmin)):
        for axis in (None, 0, 1):
            x = torch.tensor(values, requires_grad=True)
            found = reduce(x, axis=axis)
            np.testing.assert_array_equal(found.detach().numpy(), reduce(values, axis=axis))
            found.real.sum().backward()
            expected = np.zeros(values.shape)
            if axis is None:
                expected.flat[place(values)] = 1
            else:
                np.put_along_axis(expected, place(values, axis, keepdims=True), 1, axis)
            np.testing.assert_array_equal(x.grad.numpy(), expected)
        assert reduce(x, axis=(0, 1), keepdims=True).shape == (1, 1)
