"""Creation, worked by hand: dtypes that data get, sizes, what is shared and what copied, errors."""

import numpy as np
import pytest

import wengert as torch


def values(tensor):
    return tensor.detach().numpy().tolist()


# -- from data ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("data", "dtype"), [
    (1, torch.int64), (1.5, torch.float32), (True, torch.bool), (1j, torch.complex64), ([1, 2], torch.int64),
    ([1, 2.5], torch.float32),
    ([True, 2], torch.int64), ([True, False], torch.bool), ([1, 2j], torch.complex64), ([], torch.float32),
    ([[], []], torch.float32),
    (range(3), torch.int64), ((1.0, 2.0), torch.float32), (np.float64(1.5), torch.float64),
    ([np.float64(1.5)], torch.float64),
    ([np.float32(1), 2], torch.float32), (np.ones(2, np.int16), torch.int16), ([np.ones(2), [1, 2]], torch.float64),
    ([1.0, np.float64(2)], torch.float64), ([np.int32(1)], torch.int32),
])  # fmt: skip
def test_dtype_of_data(data, dtype):
    assert torch.tensor(data).dtype is dtype
    assert torch.as_tensor(data).dtype is dtype


def test_floats_get_the_default_dtype():
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.tensor(1.5).dtype is torch.float64 and torch.tensor([1j]).dtype is torch.complex128
        assert torch.zeros(1).dtype is torch.arange(1.0).dtype is torch.rand(1).dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


def test_python_integers_that_require_grad_become_floats():
    """In torch they raise; the documents of torch 1.0 show them running."""
    x = torch.tensor([1], requires_grad=True)
    assert x.dtype is torch.float32
    y = x * 2
    y.backward()
    assert values(x.grad) == [2]
    assert torch.tensor(1, requires_grad=True).dtype is torch.float32
    assert torch.tensor([[1, 2], [3, 4]], requires_grad=True).requires_grad


@pytest.mark.parametrize("make", [
    lambda: torch.tensor([1], dtype=torch.int64, requires_grad=True),
    lambda: torch.tensor(np.array([1]), requires_grad=True),
    lambda: torch.tensor([True], requires_grad=True), lambda: torch.zeros(2, dtype=torch.int32, requires_grad=True),
    lambda: torch.arange(3, requires_grad=True), lambda: torch.full((2,), 1, requires_grad=True),
    lambda: torch.tensor([np.int64(1)], requires_grad=True),
])  # fmt: skip
def test_other_integers_cannot_require_grad(make):
    with pytest.raises(RuntimeError, match="Only Tensors of floating point and complex dtype can require gradients"):
        make()


def test_nested_data():
    assert values(torch.tensor([[1, 2], [3, 4]])) == [[1, 2], [3, 4]]
    assert values(torch.tensor([torch.tensor(1.0), 2])) == [1, 2]
    assert values(torch.tensor([torch.ones(1), torch.ones(1)])) == [1, 1]
    assert values(torch.tensor([[np.ones(2), [1, 2]]])) == [[[1, 1], [1, 2]]]


@pytest.mark.parametrize(("data", "error", "message"), [
    ([[1, 2], [3]], ValueError, r"expected sequence of length 2 at dim 1 \(got 1\)"),
    ([[[1], [2]], [[3], [4, 5]]], ValueError, r"expected sequence of length 1 at dim 2 \(got 2\)"),
    ([1, [2]], TypeError, "at dim 1"), ("a", TypeError, "new\\(\\): invalid data type 'str'"),
    (None, RuntimeError, "Could not infer dtype of NoneType"),
    ([None], RuntimeError, "Could not infer dtype of NoneType"),
    ({1: 2}, RuntimeError, "Could not infer dtype of dict"), (2**63, ValueError, "Overflow when unpacking long long"),
    (np.array(["a"]), TypeError, "can't convert np.ndarray of type numpy.str_"),
    (np.array([1], ">i4"), ValueError, "byte order different from the native byte order"),
])  # fmt: skip
def test_data_that_no_tensor_can_hold(data, error, message):
    with pytest.raises(error, match=message):
        torch.tensor(data)


@pytest.mark.parametrize(("data", "dtype", "wanted"), [
    ([1.5, -1.5], torch.int32, [1, -1]), ([1, 2], float, [1.0, 2.0]), ([0, 2], bool, [False, True]),
    ([1e40], torch.float32, [float("inf")]),
    ([1, 2], np.float64, [1.0, 2.0]), ([1], "int16", [1]), (np.array([1.7]), int, [1]),
    (np.array([1 + 1j]), torch.float32, [1.0]),
])  # fmt: skip
def test_dtypes_that_are_asked_for(data, dtype, wanted):
    x = torch.tensor(data, dtype=dtype)
    assert values(x) == wanted and x.dtype == torch.tensor(wanted, dtype=dtype).dtype


@pytest.mark.parametrize(
    ("data", "dtype"), [([300], torch.uint8), (float("nan"), torch.int64), ([float("inf")], torch.int32)]
)
def test_values_that_do_not_fit_their_dtype(data, dtype):
    with pytest.raises(RuntimeError, match=r"value cannot be converted to type u?int\d+ without overflow"):
        torch.tensor(data, dtype=dtype)


def test_complex_data_is_not_made_real():
    with pytest.raises(TypeError, match="must be real number, not complex"):
        torch.tensor([1j], dtype=torch.float32)


# -- memory ------------------------------------------------------------------------------------------------------------


def test_tensor_copies_and_from_numpy_and_as_tensor_share():
    array = np.zeros(3)
    copy, shared, also = torch.tensor(array), torch.from_numpy(array), torch.as_tensor(array)
    array[0] = 5
    assert values(copy) == [0, 0, 0] and values(shared) == values(also) == [5, 0, 0]
    shared[1] = 7
    assert array.tolist() == [5, 7, 0]


def test_as_tensor_of_a_tensor_is_the_tensor():
    x = torch.ones(2, requires_grad=True)
    assert torch.as_tensor(x) is x and torch.asarray(x) is x
    y = torch.as_tensor(x, dtype=torch.float64)
    y.sum().backward()
    assert values(x.grad) == [1, 1]


def test_tensor_of_a_tensor_copies_with_a_warning():
    x = torch.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="To copy construct from a tensor, it is recommended to use"):
        y = torch.tensor(x)
    assert not y.requires_grad and y.is_leaf and not np.shares_memory(x.detach().numpy(), y.numpy())


def test_asarray_copies_as_it_is_told():
    array = np.zeros(2)
    assert np.shares_memory(torch.asarray(array).numpy(), array)
    assert not np.shares_memory(torch.asarray(array, copy=True).numpy(), array)
    with pytest.raises(ValueError, match="copy=False"):
        torch.asarray(array, dtype=torch.float32, copy=False)
    with pytest.raises(ValueError, match="copy=False"):
        torch.asarray([1, 2], copy=False)


def test_from_numpy_takes_arrays_only():
    with pytest.raises(TypeError, match=r"expected np.ndarray \(got list\)"):
        torch.from_numpy([1])
    assert values(torch.from_numpy(np.arange(3)[::-1])) == [2, 1, 0]  # torch has no negative strides


def test_tensors_from_dlpack_and_buffers():
    assert values(torch.from_dlpack(np.arange(2))) == [0, 1]
    array = np.arange(2)
    torch.from_dlpack(array, copy=True)[0] = 5
    assert array[0] == 0
    torch.from_dlpack(array, device="cpu", copy=False)[0] = 5
    assert array[0] == 5
    assert values(torch.frombuffer(bytearray(b"ab"), dtype=torch.uint8)) == [97, 98]
    assert torch.scalar_tensor(3).dtype is torch.float32


# -- of a size ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [torch.zeros, torch.ones, torch.empty, torch.rand, torch.randn])
def test_ways_to_give_a_size(make):
    for x in (
        make(2, 3),
        make((2, 3)),
        make([2, 3]),
        make(torch.Size((2, 3))),
        make(size=(2, 3)),
        make(2, np.int64(3)),
    ):
        assert x.shape == (2, 3)
    assert make(()).shape == () and make(0).shape == (0,) and make(torch.tensor(2)).shape == (2,)
    for wrong in (-1, (2, -1)):
        with pytest.raises(RuntimeError, match="Dimension size must be non-negative"):
            make(wrong)
    with pytest.raises(TypeError, match=r"\(\): argument 'size' \(position 1\) must be tuple of ints, not float"):
        make(2.0)
    with pytest.raises(TypeError, match="missing 1 required positional arguments"):
        make()
    with pytest.raises(TypeError, match="got an unexpected keyword argument 'names'"):
        make(2, names=("a",))


@pytest.mark.parametrize("make", [torch.zeros, torch.ones, torch.empty, torch.rand, torch.randn])
def test_creation_options(make):
    x = make(2, dtype=torch.float64, device="cpu", layout=None, pin_memory=False, requires_grad=True)
    assert x.dtype is torch.float64 and x.requires_grad and x.is_leaf
    with pytest.raises(RuntimeError, match=r"no backend for device cuda: .*Hint"):
        make(2, device="cuda")


def test_out_of_creation():
    out = torch.zeros(3)
    assert torch.ones(3, out=out) is out and values(out) == [1, 1, 1]


@pytest.mark.parametrize(
    ("value", "dtype"), [(1, torch.int64), (1.0, torch.float32), (True, torch.bool), (1j, torch.complex64)]
)
def test_full_has_the_dtype_of_its_value(value, dtype):
    assert torch.full((2,), value).dtype is dtype
    assert torch.full((2,), value, dtype=torch.complex128).dtype is torch.complex128


def test_full_errors():
    with pytest.raises(TypeError, match=r"full\(\): argument 'size' \(position 1\) must be tuple of ints, not int"):
        torch.full(2, 1)
    with pytest.raises(RuntimeError, match="value cannot be converted to type uint8_t without overflow"):
        torch.full((2,), 300, dtype=torch.uint8)


def test_creation_like_another_tensor():
    x = torch.ones(2, 3, dtype=torch.float64).t()
    for y in (torch.zeros_like(x), torch.ones_like(x), torch.empty_like(x), torch.full_like(x, 7), torch.rand_like(x)):
        assert y.shape == (3, 2) and y.dtype is torch.float64 and not y.requires_grad
    assert torch.zeros_like(x).stride() == x.stride()
    assert torch.ones_like(x, dtype=torch.int32, requires_grad=False).dtype is torch.int32
    assert values(torch.full_like(x, 7)) == [[7, 7]] * 3


def test_new_tensors_have_the_dtype_of_the_old():
    x = torch.ones(2, dtype=torch.int64)
    assert values(x.new_tensor([1.5])) == [1] and x.new_zeros(2, 3).dtype is torch.int64
    assert x.new_full((2,), 3).dtype is torch.int64 and x.new_ones((2,), dtype=torch.float64).dtype is torch.float64
    assert x.new_empty(3).shape == (3,) and values(x.new([1, 2])) == [1, 2]


def test_eye():
    assert values(torch.eye(2, 3)) == [[1, 0, 0], [0, 1, 0]]
    with pytest.raises(RuntimeError, match="n must be greater or equal to 0, got -1"):
        torch.eye(-1)


# -- ranges ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("arguments", "wanted", "dtype"), [
    ((3,), [0, 1, 2], torch.int64), ((3.0,), [0, 1, 2], torch.float32), ((1, 4), [1, 2, 3], torch.int64),
    ((1, 2, 0.25), [1, 1.25, 1.5, 1.75], torch.float32), ((3, 0, -1), [3, 2, 1], torch.int64), ((0,), [], torch.int64),
    ((np.int64(2),), [0, 1], torch.int64), ((True,), [0], torch.int64),
])  # fmt: skip
def test_arange(arguments, wanted, dtype):
    x = torch.arange(*arguments)
    assert values(x) == wanted and x.dtype is dtype


def test_arange_is_exact_to_the_end():
    x = torch.arange(0, 1000, 0.1)
    assert x.shape == (10000,) and x[-1].item() == pytest.approx(999.9, abs=1e-4)
    assert torch.arange(start=1, end=3).shape == (2,) and torch.arange(0.5, 5, dtype=torch.int64).shape == (5,)


@pytest.mark.parametrize(("arguments", "message"), [
    ((5, 0), "upper bound and lower bound inconsistent with step sign"), ((0, 5, 0), "step must be nonzero"),
    ((float("inf"),), "unsupported range"),
])  # fmt: skip
def test_arange_errors(arguments, message):
    with pytest.raises(RuntimeError, match=message):
        torch.arange(*arguments)


def test_linspace_and_logspace():
    assert values(torch.linspace(0, 1, 5)) == [0, 0.25, 0.5, 0.75, 1] and torch.linspace(0, 1, 5).dtype is torch.float32
    assert values(torch.linspace(0, 10, 5, dtype=torch.int64)) == [0, 2, 5, 7, 10]
    assert values(torch.linspace(3, 9, 1)) == [3] and values(torch.linspace(3, 9, 0)) == []
    x = torch.linspace(-0.1, 0.1, 3)
    assert x[0].item() == np.float32(-0.1) and x[2].item() == np.float32(0.1), "both ends are met exactly"
    assert values(torch.logspace(0, 2, 3)) == [1, 10, 100] and values(torch.logspace(0, 2, 3, base=2)) == [1, 2, 4]
    with pytest.raises(RuntimeError, match="number of steps must be non-negative"):
        torch.linspace(0, 1, -1)


def test_triangle_indices():
    assert values(torch.tril_indices(2, 3)) == [[0, 1, 1], [0, 0, 1]]
    assert values(torch.triu_indices(2, 3, 1)) == [[0, 0, 1], [1, 2, 2]]


# -- legacy constructors -----------------------------------------------------------------------------------------------


def test_legacy_constructors():
    assert (
        torch.Tensor(2, 3).shape == (2, 3)
        and torch.Tensor().shape == (0,)
        and torch.Tensor(torch.Size([2])).shape == (2,)
    )
    x = torch.Tensor([1, 2])
    assert values(x) == [1.0, 2.0] and x.dtype is torch.float32 and type(x) is torch.Tensor
    assert values(torch.Tensor((2, 3))) == [2.0, 3.0]
    assert torch.LongTensor([1, 2]).dtype is torch.int64 and values(torch.LongTensor([1.5])) == [1]
    assert torch.DoubleTensor(2).dtype is torch.float64 and torch.ByteTensor([1]).dtype is torch.uint8
    assert isinstance(x, torch.FloatTensor) and not isinstance(x, torch.DoubleTensor)
    for wrong in (True, 1.5):
        with pytest.raises(TypeError, match=r"new\(\): data must be a sequence"):
            torch.Tensor(wrong)
