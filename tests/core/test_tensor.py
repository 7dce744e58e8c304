"""Tensors: printing, Python numbers, NumPy and back, copies, dtypes, shapes, the constructors of old."""

import copy
import gc
import math
import pickle
import sys
import weakref

import numpy as np
import pytest
import scipy.integrate

import wengert
from loops import each


def leaf(*numbers):
    return wengert.tensor(list(numbers), requires_grad=True)


# -- printing --------------------------------------------------------------------------------------------------------------

PRINTED = [
    (lambda: wengert.ones(3), "tensor([1., 1., 1.])"),
    (lambda: wengert.tensor(1.5), "tensor(1.5000)"),
    (lambda: wengert.tensor([1, 2]), "tensor([1, 2])"),
    (lambda: wengert.tensor([True, False]), "tensor([ True, False])"),
    (lambda: wengert.tensor([1.0, 2.0], dtype=wengert.float64), "tensor([1., 2.], dtype=torch.float64)"),
    (lambda: wengert.tensor([1 + 2j]), "tensor([1.+2.j])"),
    (lambda: wengert.zeros(0), "tensor([])"),
    (lambda: wengert.zeros(2, 0), "tensor([], size=(2, 0))"),
    (lambda: leaf(1.0), "tensor([1.], requires_grad=True)"),
    (lambda: leaf(1.0) + 1, "tensor([2.], grad_fn=<AddBackward0>)"),
    (lambda: (leaf(1.0) + 1).detach(), "tensor([2.])"),
    (lambda: leaf(1.0).clone(), "tensor([1.], grad_fn=<CloneBackward0>)"),
    (lambda: wengert.zeros(2, 3).shape, "torch.Size([2, 3])"),
    (lambda: wengert.zeros(2).dtype, "torch.float32"),
    (lambda: wengert.zeros(2).device, "device(type='cpu')"),
    (lambda: wengert.ones(2, 3), "tensor([[1., 1., 1.],\n        [1., 1., 1.]])"),
    (lambda: (wengert.ones(1), None), "(tensor([1.]), None)"),
]


@pytest.mark.parametrize(("make", "text"), PRINTED, ids=[text[:40] for _, text in PRINTED])
def test_printed_form(make, text):
    assert repr(make()) == text


def test_str_is_repr():
    assert str(wengert.ones(2)) == repr(wengert.ones(2)) == f"{wengert.ones(2)}"


def test_format():
    assert f"{wengert.tensor(1.5):.3f}|{wengert.tensor(3):5d}|{leaf(1.0)[0]:.1f}" == "1.500|    3|1.0"
    with pytest.raises(TypeError):
        f"{wengert.ones(2):.3f}"


# -- Python numbers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [1.5, 3, True, 1 + 2j])
@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_item(value, shape):
    item = wengert.full(shape, value).item()
    assert item == value and type(item) is type(value)


@pytest.mark.parametrize("n", [0, 2])
def test_item_needs_one_element(n):
    with pytest.raises(RuntimeError, match=rf"^a Tensor with {n} elements cannot be converted to Scalar"):
        wengert.zeros(n).item()


def test_tolist():
    assert wengert.tensor([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    assert wengert.tensor(2.5).tolist() == 2.5
    assert wengert.zeros(0, 3).tolist() == [] and wengert.zeros(2, 0).tolist() == [[], []]
    assert leaf(1.0).tolist() == [1.0]
    assert type(wengert.tensor([1]).tolist()[0]) is int


def test_conversions():
    assert int(wengert.tensor(3.7)) == 3 and float(wengert.tensor(3)) == 3.0 and complex(wengert.tensor(3)) == 3
    assert int(wengert.tensor([[5]])) == 5 and type(float(wengert.tensor(3))) is float
    with pytest.raises(ValueError, match="NaN"):
        int(wengert.tensor(float("nan")))
    with pytest.raises(OverflowError, match="infinity"):
        int(wengert.tensor(float("inf")))
    for convert in (int, float, complex):
        with pytest.raises((ValueError, RuntimeError)):
            convert(wengert.ones(2))
    with pytest.raises((RuntimeError, TypeError)):
        float(wengert.tensor(1j))


def test_conversions_of_a_tensor_that_requires_grad():
    x = leaf(2.5)
    with pytest.warns(UserWarning, match="^Converting a tensor with requires_grad=True to a scalar"):
        assert float(x) == 2.5
    assert x.item() == 2.5 and int(x) == 2 and bool(x) is True


def test_truth_value_of_a_tensor():
    assert bool(wengert.tensor(0.5)) and not bool(wengert.tensor([0])) and bool(wengert.tensor(float("nan")))
    with pytest.raises(RuntimeError, match=r"^Boolean value of Tensor with more than one value is ambiguous"):
        bool(wengert.ones(2))
    with pytest.raises(RuntimeError, match=r"^Boolean value of Tensor with no values is ambiguous"):
        bool(wengert.ones(0))


def test_as_an_index_of_a_list():
    assert [10, 20, 30][wengert.tensor(1)] == 20 and [10, 20][wengert.tensor([1])] == 20
    assert list(range(wengert.tensor(3))) == [0, 1, 2]
    with pytest.raises(TypeError, match=r"^only integer tensors of a single element can be converted to an index"):
        [10, 20][wengert.tensor(1.0)]
    with pytest.raises(TypeError, match=r"^only integer tensors of a single element can be converted to an index"):
        [10, 20][wengert.tensor([1, 1])]


def test_length_and_iteration():
    assert len(wengert.ones(3, 2)) == 3 and len(wengert.ones(0)) == 0
    assert [row.tolist() for row in wengert.tensor([[1, 2], [3, 4]])] == [[1, 2], [3, 4]]
    assert [e.item() for e in reversed(wengert.tensor([1, 2]))] == [2, 1]
    with pytest.raises(TypeError, match=r"^len\(\) of a 0-d tensor"):
        len(wengert.tensor(1))
    with pytest.raises(TypeError, match=r"^iteration over a 0-d tensor"):
        iter(wengert.tensor(1))


def test_iteration_is_recorded():
    x = leaf(1.0, 2.0)
    a, b = x
    (a * 10 + b).backward()
    assert a.grad_fn is b.grad_fn and x.grad.tolist() == [10.0, 1.0]


def test_in_operator_looks_for_a_value():
    x = wengert.tensor([1, 2])
    assert 2 in x and 3 not in x and wengert.tensor(2) in x and 1.0 in x
    with pytest.raises(RuntimeError, match=r"^Tensor\.__contains__ only supports Tensor or scalar, but you passed in a"):
        "a" in x


# -- identity ----------------------------------------------------------------------------------------------------------------


def test_tensors_are_hashed_by_identity_and_compared_by_value():
    a, b = wengert.ones(2), wengert.ones(2)
    assert len({a: 1, b: 2}) == 2 and (a == b).tolist() == [True, True] and {a: 1}[a] == 1


def test_attributes_of_ones_own():
    x = wengert.ones(2)
    x.tag = "mine"
    assert x.tag == "mine" and not hasattr(x.clone(), "tag")


def test_weak_references():
    x = wengert.ones(2)
    reference = weakref.ref(x)
    gc.disable()
    try:
        assert reference() is x
        del x
        assert reference() is None
    finally:
        gc.enable()


def test_a_leaf_with_its_gradient_dies_by_reference_count():
    x = leaf(1.0)
    (x * x).sum().backward()
    references = [weakref.ref(x), weakref.ref(x.grad)]
    gc.disable()
    try:
        del x
        assert [r() for r in references] == [None, None]
    finally:
        gc.enable()


def test_is_tensor():
    assert wengert.is_tensor(wengert.ones(1)) and not wengert.is_tensor(np.ones(1)) and not wengert.is_tensor(1.0)


@pytest.mark.parametrize("name", ["data", "requires_grad", "_backward_hooks"])
def test_attributes_cannot_be_deleted(name):
    with pytest.raises((RuntimeError, AttributeError)):
        delattr(leaf(1.0), name)


@pytest.mark.parametrize("name", ["shape", "dtype", "device", "grad_fn", "is_leaf", "ndim"])
def test_read_only_attributes_cannot_be_set(name):
    with pytest.raises(AttributeError):
        setattr(leaf(1.0), name, None)


# -- NumPy and back ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.arange(6.0).reshape(2, 3).T,
        np.arange(12.0)[::2],
        np.arange(3),
        np.array([True, False]),
        np.array(2.5),
        np.zeros((0, 3)),
        np.array([1 + 2j]),
        np.arange(3, dtype=np.uint8),
    ],
)
def test_from_numpy_and_back_without_a_copy(array):
    x = wengert.from_numpy(array)
    assert tuple(x.shape) == array.shape and x.dtype is wengert.from_numpy(array.copy()).dtype
    back = x.numpy()
    assert type(back) is np.ndarray and back.dtype == array.dtype and back.strides == array.strides
    assert back.size == 0 or np.shares_memory(back, array)
    np.testing.assert_array_equal(back, array)


def test_writes_are_seen_on_both_sides():
    array = np.zeros(3)
    x = wengert.from_numpy(array)
    array[0] = 5.0
    x[1] = 6.0
    x.add_(1)
    assert array.tolist() == x.tolist() == [6.0, 7.0, 1.0]


def test_tensor_copies_and_as_tensor_does_not():
    array = np.zeros(3)
    assert not np.shares_memory(wengert.tensor(array).numpy(), array)
    assert np.shares_memory(wengert.as_tensor(array).numpy(), array)
    x = wengert.ones(2)
    assert wengert.as_tensor(x) is x


def test_numpy_of_a_tensor_that_requires_grad():
    text = r"^Can't call numpy\(\) on Tensor that requires grad\. Use tensor\.detach\(\)\.numpy\(\) instead\."
    x = leaf(1.0, 2.0)
    for convert in (lambda: x.numpy(), lambda: np.asarray(x), lambda: np.array(x), lambda: (x * 2).numpy()):
        with pytest.raises(RuntimeError, match=text):
            convert()
    assert x.detach().numpy().tolist() == x.numpy(force=True).tolist() == [1.0, 2.0]


def test_array_interface():
    x = wengert.ones(2, 3)
    assert np.shares_memory(np.asarray(x), x.numpy())
    assert np.asarray(x, dtype=np.float64).dtype == np.float64
    assert not np.shares_memory(np.array(x), x.numpy())
    assert np.array(x, copy=True).tolist() == [[1.0] * 3] * 2
    with pytest.raises(ValueError, match="copy"):
        np.array(x, dtype=np.float64, copy=False)
    assert np.sum(np.asarray(x)) == 6.0


def test_dlpack_out_and_in():
    x = wengert.arange(6.0).view(2, 3)
    array = np.from_dlpack(x)
    assert np.shares_memory(array, x.numpy()) and array.tolist() == x.tolist()
    y = wengert.from_dlpack(np.arange(4.0))
    assert y.tolist() == [0.0, 1.0, 2.0, 3.0]
    z = wengert.from_dlpack(x)
    z.add_(1)
    assert x[0, 0].item() == 1.0
    with pytest.raises(BufferError, match="requires? grad"):
        np.from_dlpack(leaf(1.0))


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python classes give buffers from 3.12 on")
def test_buffer_protocol():
    x = wengert.ones(2)
    view = memoryview(x)
    view[0] = 5.0
    assert x.tolist() == [5.0, 1.0]
    with pytest.raises(BufferError):
        memoryview(leaf(1.0))


def test_operators_between_arrays_and_tensors_give_tensors():
    x = leaf(1.0, 2.0)
    array = np.array([3.0, 4.0], dtype=np.float32)
    for result in (x * array, array * x, x + array, array - x, array / x):
        assert isinstance(result, wengert.Tensor) and result.requires_grad
    (array * x).sum().backward()
    assert x.grad.tolist() == [3.0, 4.0]
    assert isinstance(np.float64(2) * x, wengert.Tensor) and (np.float32(2) * x).tolist() == [2.0, 4.0]


# -- copies ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickling_a_leaf(protocol):
    for x in (leaf(1.0, 2.0), wengert.arange(6).view(2, 3), wengert.tensor(1.5), wengert.zeros(0)):
        y = pickle.loads(pickle.dumps(x, protocol))
        assert type(y) is wengert.Tensor and y.dtype is x.dtype and y.requires_grad is x.requires_grad and y.is_leaf
        assert y.tolist() == x.tolist() and y._version == 0 and not np.shares_memory(y.detach().numpy(), x.detach().numpy())


def test_pickling_keeps_attributes_and_not_the_gradient():
    x = leaf(1.0)
    x.tag = "mine"
    (x * 2).backward()
    y = pickle.loads(pickle.dumps(x))
    assert y.tag == "mine" and y.grad is None


def test_pickling_a_result_gives_a_leaf():
    """As in torch, where people save losses."""
    y = pickle.loads(pickle.dumps(leaf(1.0, 2.0) * 2))
    assert y.is_leaf and y.requires_grad and y.tolist() == [2.0, 4.0]


def test_an_unpickled_leaf_works():
    y = pickle.loads(pickle.dumps(leaf(1.0, 2.0)))
    (y * y).sum().backward()
    assert y.grad.tolist() == [2.0, 4.0]


def test_deepcopy_of_a_leaf():
    x = leaf(1.0, 2.0)
    (x * x).sum().backward()
    x.tag = ["mine"]
    y = copy.deepcopy(x)
    assert y.tolist() == x.tolist() and y.requires_grad and y.grad.tolist() == [2.0, 4.0] and y.grad is not x.grad
    assert y.tag == ["mine"] and y.tag is not x.tag
    with wengert.no_grad():
        y.add_(1)
    assert x.tolist() == [1.0, 2.0] and x._version == 0


def test_deepcopy_remembers():
    x = leaf(1.0)
    a, b = copy.deepcopy([x, x])
    assert a is b and a is not x


def test_deepcopy_keeps_the_layout():
    x = wengert.arange(6.0).view(2, 3).t()
    assert copy.deepcopy(x).stride() == x.stride()


def test_deepcopy_of_a_result_is_refused():
    with pytest.raises(
        RuntimeError,
        match=r"^Only Tensors created explicitly by the user \(graph leaves\) support the deepcopy protocol at the moment",
    ):
        copy.deepcopy(leaf(1.0) * 2)


def test_copy_shares_memory():
    x = leaf(1.0, 2.0)
    y = copy.copy(x)
    assert y is not x and y.data_ptr() == x.data_ptr() and y.requires_grad and y.is_leaf


def test_a_copy_of_a_result_has_its_own_memory_and_keeps_the_history():
    x = leaf(1.0, 2.0)
    y = x * 3
    z = copy.copy(y)
    assert z is not y and z.data_ptr() != y.data_ptr() and not z.is_leaf
    z.mul_(2)
    assert (y.tolist(), z.tolist()) == ([3.0, 6.0], [6.0, 12.0])
    (y + z).sum().backward()
    assert x.grad.tolist() == [9.0, 9.0]


@pytest.mark.filterwarnings("ignore:Converting a tensor")  # which SciPy does with its estimate of the error
@pytest.mark.parametrize("options", [{}, {"points": [0.5]}])
def test_scipy_integrates_a_function_of_a_tensor(options):
    x = wengert.tensor([1.0, 2.0], dtype=wengert.float64, requires_grad=True)
    value, _ = scipy.integrate.quad_vec(lambda t: t * x, 0, 1, **options)
    assert value.tolist() == pytest.approx([0.5, 1.0])
    value.sum().backward()
    assert x.grad.tolist() == pytest.approx([0.5, 0.5])


NUMBERS = {
    "float": lambda x: float(x), "complex": lambda x: complex(x), "math": lambda x: math.sin(x), "floor": lambda x: math.floor(x),
    "NumPy's number": lambda x: np.float64(x), "element": lambda x: np.zeros(2).__setitem__(0, x),
    "list": lambda x: wengert.tensor([x, 1.0]),
}  # fmt: skip


@each("name", NUMBERS)
def test_a_number_that_loses_a_gradient_warns_at_the_line(name):
    text = r"^Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior\.\nConsider using tensor\.detach\("
    for x in (leaf(0.5)[0], wengert.tensor(0.5, requires_grad=True)):
        with pytest.warns(UserWarning, match=text) as given:
            NUMBERS[name](x)
        assert {warning.filename for warning in given} == {__file__}
    with wengert.no_grad():
        NUMBERS[name](x)
    NUMBERS[name](x.detach())


def test_what_is_constant_between_jumps_does_not_warn():
    x = wengert.tensor(2.5, requires_grad=True)
    assert (int(x), bool(x), x.item(), x.tolist(), f"{x:.1f}") == (2, True, 2.5, 2.5, "2.5")


# -- dtype, device, shape ------------------------------------------------------------------------------------------------------

CASTS = {
    "double": "float64",
    "float": "float32",
    "half": "float16",
    "bfloat16": "bfloat16",
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "char": "int8",
    "byte": "uint8",
    "bool": "bool",
    "cfloat": "complex64",
    "cdouble": "complex128",
}


@pytest.mark.parametrize("method", CASTS)
def test_casts(method):
    x = wengert.tensor([0.0, 1.0, 2.0])
    y = getattr(x, method)()
    assert y.dtype is getattr(wengert, CASTS[method]) and [bool(v) for v in y.tolist()] == [False, True, True]
    assert getattr(y, method)() is y


def test_casts_are_recorded_and_undone():
    x = leaf(1.0, 2.0)
    y = x.double()
    (y * y).sum().backward()
    assert y.dtype is wengert.float64 and x.grad.dtype is wengert.float32 and x.grad.tolist() == [2.0, 4.0]
    assert not x.long().requires_grad


def test_to():
    x = wengert.ones(2)
    assert x.to("cpu") is x and x.to(wengert.float32) is x and x.to(wengert.device("cpu")) is x
    assert x.to(wengert.float64).dtype is wengert.float64
    assert x.to("cpu", wengert.int32).dtype is wengert.int32
    assert x.to(wengert.ones(1).double()).dtype is wengert.float64
    assert x.to(dtype=wengert.int64, non_blocking=True).tolist() == [1, 1]
    copied = x.to(wengert.float32, copy=True)
    assert copied is not x and not np.shares_memory(copied.numpy(), x.numpy())
    assert x.to(np.float64).dtype is wengert.float64 and x.to(float).dtype is wengert.float64


def test_other_devices_are_refused_clearly():
    for move in (lambda x: x.cuda(), lambda x: x.to("cuda"), lambda x: x.to(device="cuda:0")):
        with pytest.raises((RuntimeError, AssertionError), match="cuda|CUDA"):
            move(wengert.ones(2))
    with pytest.raises(RuntimeError, match="foo"):
        wengert.ones(2).to("foo")
    x = wengert.ones(2)
    assert x.cpu() is x and not x.is_cuda


def test_type():
    x = wengert.ones(2)
    assert x.type() == "torch.FloatTensor" and x.long().type() == "torch.LongTensor"
    assert x.type("torch.DoubleTensor").dtype is wengert.float64 and x.type(wengert.int64).dtype is wengert.int64
    assert x.type_as(wengert.ones(1).double()).dtype is wengert.float64
    with pytest.raises(ValueError, match="^invalid type: 'foo'"):
        x.type("foo")


def test_shape_and_strides():
    x = wengert.zeros(2, 3, 4)
    assert x.shape == (2, 3, 4) == x.size() and isinstance(x.shape, wengert.Size) and x.shape.numel() == 24
    assert (x.size(1), x.size(-1), x.dim(), x.ndim, x.numel(), x.nelement()) == (3, 4, 3, 3, 24, 24)
    assert x.stride() == (12, 4, 1) and x.stride(0) == 12 and x.is_contiguous()
    y = x.permute(2, 0, 1)
    assert y.shape == (4, 2, 3) and y.stride() == (1, 12, 4) and not y.is_contiguous()
    assert (x.element_size(), x.itemsize, x.nbytes) == (4, 4, 96)
    assert x[1, 2].storage_offset() == 20
    for bad in (3, -4):
        with pytest.raises(IndexError, match=r"^Dimension out of range \(expected to be in range of \[-3, 2\], but got"):
            x.size(bad)


def test_kinds_of_dtypes():
    x = wengert.zeros(1)
    assert x.is_floating_point() and not x.is_complex() and x.is_signed()
    assert wengert.zeros(1, dtype=wengert.complex64).is_complex() and not x.byte().is_signed()


def test_transposes():
    x = wengert.arange(6.0).view(2, 3)
    assert x.T.tolist() == x.mT.tolist() == [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]
    z = wengert.tensor([[1 + 2j, 3j]])
    assert z.H.tolist() == z.mH.tolist() == [[1 - 2j], [-3j]]
    with pytest.raises(RuntimeError):
        _ = wengert.ones(2).mT
    with pytest.raises(RuntimeError):
        _ = wengert.ones(2, 2, 2).H


# -- data ----------------------------------------------------------------------------------------------------------------------


def test_data_is_the_memory_without_history():
    x = leaf(1.0, 2.0)
    y = x * 2
    assert repr(y.data) == "tensor([2., 4.])" and y.data.data_ptr() == y.data_ptr() and not x.data.requires_grad


def test_assigning_data_keeps_the_tensor():
    x = leaf(1.0, 2.0)
    before, reference = id(x), x
    x.data = wengert.tensor([5.0, 6.0, 7.0])
    assert id(reference) == before and x.tolist() == [5.0, 6.0, 7.0] and x.requires_grad and x.is_leaf
    (x * x).sum().backward()
    assert x.grad.tolist() == [10.0, 12.0, 14.0]


def test_assigning_data_after_use_does_not_touch_the_old_graph():
    x = leaf(1.0, 2.0)
    y = (x * x).sum()
    x.data = wengert.tensor([5.0, 6.0])
    y.backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_assigning_data_of_another_shape_while_a_graph_is_alive():
    x = leaf(1.0, 2.0)
    old = x * 2
    x.data = wengert.tensor([5.0, 6.0, 7.0])
    (x * x).sum().backward()
    assert x.grad.tolist() == [10.0, 12.0, 14.0] and old.tolist() == [2.0, 4.0]


def test_wrong_data_is_refused():
    x = leaf(1.0)
    with pytest.raises(TypeError, match=r"^Variable data has to be a tensor, but got int"):
        x.data = 3
    with pytest.raises(RuntimeError, match=r"^data set to a tensor that requires gradients must be floating point"):
        x.data = wengert.tensor([1])
    assert x.tolist() == [1.0]


# -- constructors of old ---------------------------------------------------------------------------------------------------------


def test_legacy_tensor():
    assert wengert.Tensor([1, 2]).tolist() == [1.0, 2.0] and wengert.Tensor([1, 2]).dtype is wengert.float32
    assert wengert.Tensor(2, 3).shape == (2, 3) and wengert.Tensor().shape == (0,) and wengert.Tensor([]).shape == (0,)
    assert wengert.Tensor((1, 2)).tolist() == [1.0, 2.0] and wengert.Tensor(wengert.Size([2, 1])).shape == (2, 1)
    assert wengert.Tensor(np.arange(3)).tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(TypeError, match=r"^new\(\): data must be a sequence \(got float\)"):
        wengert.Tensor(1.5)


def test_legacy_typed_tensors():
    assert wengert.FloatTensor([1]).dtype is wengert.float32 and wengert.DoubleTensor(2).dtype is wengert.float64
    assert wengert.LongTensor([1, 2]).tolist() == [1, 2] and wengert.LongTensor([1]).dtype is wengert.int64
    assert wengert.ByteTensor([1]).dtype is wengert.uint8 and wengert.IntTensor(1, 2).shape == (1, 2)
    assert isinstance(wengert.ones(1), wengert.FloatTensor) and not isinstance(wengert.ones(1), wengert.DoubleTensor)


def test_sizes_as_numbers_list_or_tuple():
    for make in (wengert.ones, wengert.zeros, wengert.randn, wengert.rand, wengert.empty):
        assert make(2, 3).shape == make([2, 3]).shape == make((2, 3)).shape == make(wengert.Size([2, 3])).shape == (2, 3)
        assert make(3).shape == make([3]).shape == make((3,)).shape == (3,)
        assert make(1).dtype is wengert.float32 and make(2, requires_grad=True).requires_grad


def test_new():
    x = wengert.ones(2, dtype=wengert.float64)
    assert x.new(3).shape == (3,) and x.new(3).dtype is wengert.float64
    assert x.new_zeros(2, 1).tolist() == [[0.0], [0.0]] and x.new_ones((2,)).dtype is wengert.float64
    assert x.new_tensor([1, 2]).dtype in (wengert.float64, wengert.int64) and x.new_full((2,), 3).tolist() == [3.0, 3.0]


def test_a_subclass_can_be_made():
    class Mine(wengert.Tensor):
        pass

    x = Mine([1.0, 2.0])
    assert isinstance(x, Mine) and isinstance(x, wengert.Tensor) and x.tolist() == [1.0, 2.0]
    assert isinstance(x + 1, wengert.Tensor)
