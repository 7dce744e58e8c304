"""The printed form of tensors, by expected strings."""

import threading

import numpy as np
import pytest

from wengert import dtypes as D
from wengert.printing import format_tensor, get_printoptions, printoptions, set_printoptions

INF, NAN = float("inf"), float("nan")


@pytest.fixture(autouse=True)
def _restore():
    yield
    set_printoptions(profile="default")
    D.set_default_dtype(D.float32)


def show(values, dtype="float32", **kwargs):
    return format_tensor(np.array(values, D.as_numpy_dtype(dtype)), **kwargs)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (3.0, "tensor(3.)"),
        (2.5, "tensor(2.5000)"),
        (-0.0, "tensor(-0.)"),
        (NAN, "tensor(nan)"),
        (-INF, "tensor(-inf)"),
        (1e-5, "tensor(1.0000e-05)"),
        ([1.0, 2.0], "tensor([1., 2.])"),
        ([1.0, -20.0], "tensor([  1., -20.])"),
        ([0.1, -20.25], "tensor([  0.1000, -20.2500])"),
        ([0.0, 0.0], "tensor([0., 0.])"),
        ([1.0, NAN], "tensor([1., nan])"),
        ([1.5, NAN, -INF], "tensor([1.5000,    nan,   -inf])"),
        ([NAN, INF], "tensor([nan, inf])"),
        ([0.0, -INF], "tensor([0., -inf])"),
        ([1e8], "tensor([100000000.])"),
        ([1e8 + 1], "tensor([1.0000e+08])"),
        ([99999.0, 100.0], "tensor([99999.,   100.])"),
        ([1.0, 1000.0], "tensor([   1., 1000.])"),
        ([1.0, 1001.0], "tensor([1.0000e+00, 1.0010e+03])"),
        ([0.5, 501.0], "tensor([5.0000e-01, 5.0100e+02])"),
        ([1e-4, 1e-3], "tensor([0.0001, 0.0010])"),
        ([9e-5, 1e-3], "tensor([9.0000e-05, 1.0000e-03])"),
        ([0.0, 9e-5], "tensor([0.0000e+00, 9.0000e-05])"),
        ([1e-30, 1e30], "tensor([1.0000e-30, 1.0000e+30])"),
    ],
)
def test_floats(values, text):
    # Of 1e-4 in float32 only the nearest number exists, so thresholds are asked for in float64.
    D.set_default_dtype(D.float64)
    assert show(values, "float64") == text


@pytest.mark.parametrize(
    ("values", "dtype", "text"),
    [
        ([1, -20], "int64", "tensor([  1, -20])"),
        (7, "int64", "tensor(7)"),
        ([True, False], "bool", "tensor([ True, False])"),
        ([True, True], "bool", "tensor([True, True])"),
        ([1, 2], "int32", "tensor([1, 2], dtype=torch.int32)"),
        ([255], "uint8", "tensor([255], dtype=torch.uint8)"),
        ([2**64 - 1], "uint64", "tensor([18446744073709551615], dtype=torch.uint64)"),
        ([1.0], "float64", "tensor([1.], dtype=torch.float64)"),
        ([0.1], "float16", "tensor([0.1000], dtype=torch.float16)"),
        ([0.1], "bfloat16", "tensor([0.1001], dtype=torch.bfloat16)"),
        ([1 + 2j, -1.5 - 1j], "complex64", "tensor([ 1.0000+2.j, -1.5000-1.j])"),
        ([1 + 0.5j], "complex128", "tensor([1.+0.5000j], dtype=torch.complex128)"),
        (1e10 + 1j, "complex64", "tensor(1.0000e+10+1.j)"),
        ([complex(NAN, -INF), 0], "complex64", "tensor([nan-infj, 0.+0.j])"),
        ([complex(1, -0.0)], "complex64", "tensor([1.-0.j])"),
    ],
)
def test_dtypes(values, dtype, text):
    assert show(values, dtype) == text


def test_default_dtype_needs_no_suffix():
    D.set_default_dtype(D.float64)
    assert show([1.0], "float64") == "tensor([1.])"
    assert show([1.0], "float32") == "tensor([1.], dtype=torch.float32)"
    assert show([1j], "complex128") == "tensor([0.+1.j])"
    assert show([1j], "complex64") == "tensor([0.+1.j], dtype=torch.complex64)"


@pytest.mark.parametrize(
    ("shape", "dtype", "text"),
    [
        ((0,), "float32", "tensor([])"),
        ((0, 3), "float32", "tensor([], size=(0, 3))"),
        ((2, 0), "int64", "tensor([], size=(2, 0), dtype=torch.int64)"),
        ((0,), "bool", "tensor([], dtype=torch.bool)"),
        ((0,), "complex64", "tensor([], dtype=torch.complex64)"),
    ],
)
def test_empty(shape, dtype, text):
    assert format_tensor(np.zeros(shape, dtype)) == text


def test_more_dimensions_are_aligned_and_apart():
    assert show([[1, 2], [3, 40]], "int64") == "tensor([[ 1,  2],\n        [ 3, 40]])"
    assert format_tensor(np.ones((2, 1, 2), np.float32)) == "tensor([[[1., 1.]],\n\n        [[1., 1.]]])"
    assert format_tensor(np.ones((2, 1, 1, 1), np.int64)) == "tensor([[[[1]]],\n\n\n        [[[1]]]])"


def test_memory_layout_does_not_show():
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert (
        format_tensor(array.T)
        == format_tensor(array.T.copy())
        == ("tensor([[0., 3.],\n        [1., 4.],\n        [2., 5.]])")
    )
    assert format_tensor(array[:, ::-1]) == "tensor([[2., 1., 0.],\n        [5., 4., 3.]])"


def test_vectors_are_broken_into_lines():
    assert format_tensor(np.arange(30)) == (
        "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n"
        "        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29])"
    )


def test_large_arrays_are_summarised():
    assert format_tensor(np.arange(1000)).count(",") == 999
    assert format_tensor(np.arange(1001)) == "tensor([   0,    1,    2,  ...,  998,  999, 1000])"
    row = "        [1., 1., 1.,  ..., 1., 1., 1.]"
    assert format_tensor(np.ones((40, 40), np.float32)) == (
        f"tensor([{row[8:]},\n{row},\n{row},\n        ...,\n{row},\n{row},\n{row}])"
    )
    # Only long dimensions lose their middle.
    assert format_tensor(np.zeros((2, 501), np.int64)) == (
        "tensor([[0, 0, 0,  ..., 0, 0, 0],\n        [0, 0, 0,  ..., 0, 0, 0]])"
    )


def test_elided_elements_do_not_change_the_printed_format():
    array = np.ones(2000, np.float32)
    array[1000] = 1e30
    assert format_tensor(array) == "tensor([1., 1., 1.,  ..., 1., 1., 1.])"


def test_summary_of_a_huge_array_is_cheap():
    array = np.broadcast_to(np.float32(1), (7, 10**9))
    assert format_tensor(array).startswith("tensor([[1., 1., 1.,  ..., 1., 1., 1.],\n")


@pytest.mark.parametrize(
    ("kwargs", "text"),
    [
        ({"requires_grad": True}, "tensor([1.], requires_grad=True)"),
        ({"requires_grad": True, "grad_fn_name": "AddBackward0"}, "tensor([1.], grad_fn=<AddBackward0>)"),
        ({"device": "cuda:0"}, "tensor([1.], device='cuda:0')"),
        (
            {"device": "cuda:0", "grad_fn_name": "CopyBackwards"},
            "tensor([1.], device='cuda:0', grad_fn=<CopyBackwards>)",
        ),
        ({"tangent": "tensor([2.])"}, "tensor([1.], tangent=tensor([2.]))"),
        ({"requires_grad": True, "is_parameter": True}, "Parameter containing:\ntensor([1.], requires_grad=True)"),
        ({"prefix": "Image("}, "Image([1.])"),
    ],
)
def test_printed_suffixes(kwargs, text):
    assert show([1.0], **kwargs) == text


def test_order_of_suffixes():
    assert format_tensor(np.ones((0, 2), np.float16), requires_grad=True, device="cuda:0") == (
        "tensor([], device='cuda:0', size=(0, 2), dtype=torch.float16,\n       requires_grad=True)"
    )


def test_prefix_sets_the_indent():
    assert format_tensor(np.ones((2, 1), np.float32), prefix="T(") == "T([[1.],\n   [1.]])"


def test_suffix_goes_to_a_new_line_where_the_last_is_full():
    assert show([1.0] * 16, requires_grad=True, dtype="float64") == (
        "tensor([1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1.],\n"
        "       dtype=torch.float64, requires_grad=True)"
    )


# ----------------------------------------------------------------------------------------------------------------------
# Options
# ----------------------------------------------------------------------------------------------------------------------


def test_precision():
    set_printoptions(precision=2)
    assert show([1.234, 10.0]) == "tensor([ 1.23, 10.00])"
    assert show([1.0, 2.0]) == "tensor([1., 2.])"
    set_printoptions(precision=0)
    assert show([1.4, 10.6]) == "tensor([ 1, 11])"


def test_sci_mode():
    set_printoptions(sci_mode=True)
    assert show([1.0, 2.5]) == "tensor([1.0000e+00, 2.5000e+00])"
    assert show([0.0]) == "tensor([0.])"
    set_printoptions(sci_mode=False)
    assert show([0.5, 2e6]) == "tensor([      0.5000, 2000000.0000])"
    set_printoptions()
    assert get_printoptions()["sci_mode"] is None


def test_profiles():
    set_printoptions(profile="short")
    assert show([1.234]) == "tensor([1.23])"
    assert format_tensor(np.arange(2000)) == "tensor([   0,    1,  ..., 1998, 1999])"
    set_printoptions(profile="full")
    assert format_tensor(np.arange(2000)).count(",") == 1999
    set_printoptions(profile="short", precision=3)
    assert get_printoptions() == {
        "precision": 3, "threshold": 1000, "edgeitems": 2, "linewidth": 80, "sci_mode": None,
    }  # fmt: skip
    set_printoptions(profile="default")
    assert get_printoptions() == {
        "precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None,
    }  # fmt: skip


def test_threshold_edgeitems_and_linewidth():
    set_printoptions(threshold=5, edgeitems=1, linewidth=20)
    assert format_tensor(np.arange(6)) == "tensor([0,  ..., 5])"
    assert format_tensor(np.arange(5)) == "tensor([0, 1, 2, 3,\n        4])"
    set_printoptions(edgeitems=0)
    assert format_tensor(np.arange(6)) == "tensor([...],\n       size=(6,))"


@pytest.mark.parametrize(
    "options",
    [{"profile": "long"}, {"precision": -1}, {"precision": 1.5}, {"edgeitems": -3}, {"linewidth": "80"},
     {"threshold": NAN}, {"threshold": -1}],
)  # fmt: skip
def test_bad_options_raise_and_change_nothing(options):
    before = get_printoptions()
    with pytest.raises(ValueError, match=next(iter(options))):
        set_printoptions(**{"sci_mode": True, **options})
    assert get_printoptions() == before


def test_printoptions_is_for_a_block():
    set_printoptions(precision=3, sci_mode=True)
    before = get_printoptions()

    def print_and_fail():
        with printoptions(precision=1):
            assert show([1.25]) == "tensor([1.2e+00])"
            raise KeyError

    with pytest.raises(KeyError):
        print_and_fail()
    assert get_printoptions() == before


def test_a_thread_sees_options_whole():
    """Two profiles alternate in one thread. Another thread always prints one of the two forms."""
    forms = set()
    stop = threading.Event()

    def alternate():
        while not stop.is_set():
            set_printoptions(precision=2, edgeitems=1, threshold=4)
            set_printoptions(precision=3, edgeitems=2, threshold=4)

    thread = threading.Thread(target=alternate)
    thread.start()
    try:
        for _ in range(2000):
            forms.add(show([0.5] * 5))
    finally:
        stop.set()
        thread.join()
    assert forms <= {
        "tensor([0.50,  ..., 0.50])", "tensor([0.500, 0.500,  ..., 0.500, 0.500])",
        "tensor([0.5000, 0.5000, 0.5000, 0.5000, 0.5000])",
    }  # fmt: skip
