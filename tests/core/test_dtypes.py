"""dtypes: names, conversion from and to NumPy, the default dtype, limits, and Python numbers as arrays."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

from wengert import dtypes as D

NAMES = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64",
    "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip


@pytest.fixture
def default_dtype():
    """Lets a test set the default dtype."""
    before = D.get_default_dtype()
    yield D.set_default_dtype
    D.set_default_dtype(before)


# ----------------------------------------------------------------------------------------------------------------------
# Names and identity
# ----------------------------------------------------------------------------------------------------------------------


def test_there_is_one_dtype_of_each_name_and_it_prints_as_torchs():
    assert [repr(d) for d in D.DTYPES] == [f"torch.{name}" for name in NAMES]
    assert [str(d) for d in D.DTYPES] == [f"torch.{name}" for name in NAMES]


@pytest.mark.parametrize(
    ("alias", "name"),
    [("short", "int16"), ("int_", "int32"), ("long", "int64"), ("half", "float16"), ("float_", "float32"),
     ("double", "float64"), ("cfloat", "complex64"), ("cdouble", "complex128"), ("bool_", "bool")],
)  # fmt: skip
def test_aliases_are_the_same_objects(alias, name):
    assert getattr(D, alias) is D.as_dtype(name)


@pytest.mark.parametrize("d", D.DTYPES, ids=repr)
def test_copies_and_pickles_are_the_same_object(d):
    assert copy.copy(d) is d
    assert copy.deepcopy({"a": [d]})["a"][0] is d
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(d, protocol)) is d


@pytest.mark.parametrize("d", D.DTYPES, ids=repr)
def test_equal_to_numpys_dtype_and_scalar_type_from_either_side(d):
    numpy_dtype = d.dtype
    assert d == numpy_dtype
    assert numpy_dtype == d
    assert d == numpy_dtype.type
    assert numpy_dtype.type == d
    other = np.dtype("datetime64[s]")
    assert d != other
    assert other != d


def test_not_equal_to_others():
    assert D.float32 != D.float64
    assert D.float32 != np.float64
    assert D.float64 != float  # noqa: E721 - as in torch: a Python type is no dtype
    assert D.float32 != "float32"
    assert D.float32 != object  # noqa: E721


def test_finds_numpys_dtype_in_a_dict_and_the_other_way_round():
    assert {np.dtype("float32"): 1}[D.float32] == 1
    assert {D.int64: 2}[np.dtype("int64")] == 2


@pytest.mark.parametrize("d", D.DTYPES, ids=repr)
def test_attributes(d):
    array = np.zeros(1, dtype=d)  # NumPy takes it for a dtype
    assert array.itemsize == d.itemsize
    assert d.is_complex == np.iscomplexobj(array)
    assert d.is_floating_point == (d in (D.float16, D.bfloat16, D.float32, D.float64))
    assert d.is_signed == (d.name not in ("bool", "uint8", "uint16", "uint32", "uint64"))


def test_real_and_complex_partners():
    assert D.complex64.to_real() is D.float32
    assert D.complex128.to_real() is D.float64
    assert D.bfloat16.to_real() is D.bfloat16
    assert D.int32.to_real() is D.int32
    assert D.float64.to_complex() is D.complex128
    assert D.complex64.to_complex() is D.complex64
    assert [d.to_complex() for d in (D.float16, D.bfloat16, D.float32)] == [D.complex64] * 3
    with pytest.raises(RuntimeError, match="Unknown Complex ScalarType for Int"):
        D.int32.to_complex()


def run_python(code):
    """Return the output of a fresh interpreter."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()


def test_ml_dtypes_is_loaded_only_for_bfloat16():
    code = """
import sys
import numpy as np
from wengert import dtypes as D
D.resolve(D.SAME, (np.ones(2), 1.5)); hash(D.bfloat16); D.bfloat16 == D.float32; D.finfo(D.bfloat16)
D.bfloat16 == np.float32; repr(D.bfloat16); D.promote_types(D.bfloat16, D.float16)
print("ml_dtypes" in sys.modules)
print(np.zeros(1, D.bfloat16).dtype)
print("ml_dtypes" in sys.modules)
"""
    assert run_python(code) == ["False", "bfloat16", "True"]


def test_bfloat16_arrays_made_elsewhere_are_known_at_once():
    code = """
import ml_dtypes
import numpy as np
from wengert import dtypes as D
array = np.ones(2, ml_dtypes.bfloat16)
print(D.resolve(D.SAME, (array, np.ones((), np.float32), ml_dtypes.bfloat16(2))))
print(D.is_differentiable(array.dtype), D.from_numpy_dtype(array.dtype) is D.bfloat16)
"""
    assert run_python(code) == ["bfloat16", "True", "True"]


# ----------------------------------------------------------------------------------------------------------------------
# From NumPy
# ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", D.DTYPES, ids=repr)
def test_from_numpy_dtype(d):
    assert D.from_numpy_dtype(d.dtype) is d
    assert D.from_numpy_dtype(np.dtype(d.dtype, metadata={"unit": "m"})) is d


def test_c_types_of_equal_size_are_one_dtype():
    assert D.from_numpy_dtype(np.dtype("long")) is D.from_numpy_dtype(np.dtype("longlong")) is D.int64


@pytest.mark.parametrize(
    ("array", "name"),
    [
        (np.array(["a"]), "numpy.str_"),
        (np.array([None]), "numpy.object_"),
        (np.array(["2020-01-01"], "M8[D]"), "numpy.datetime64"),
        (np.ones(1, np.longdouble), "numpy.longdouble"),
        (np.ones(1, "i4,i4"), "numpy.void"),
    ],
)
def test_unsupported_numpy_dtypes_raise_naming_the_type(array, name):
    with pytest.raises(TypeError, match=rf"can't convert np.ndarray of type {name}\. The only supported types are: "):
        D.from_numpy_dtype(array.dtype)


@pytest.mark.skipif(sys.byteorder != "little", reason="the foreign byte order is the other one")
def test_foreign_byte_order_raises_with_a_hint():
    with pytest.raises(ValueError, match=r"byte order different from the native.*newbyteorder"):
        D.from_numpy_dtype(np.dtype(">f4"))
    assert D.from_numpy_dtype(np.dtype("<f4")) is D.float32
    assert D.from_numpy_dtype(np.dtype(">u1")) is D.uint8  # one byte has no order


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (D.int8, D.int8),
        (np.dtype("float16"), D.float16),
        (np.uint16, D.uint16),
        (float, D.float64),
        (int, D.int64),
        (bool, D.bool_),
        (complex, D.complex128),
        (None, D.float32),
        ("complex64", D.complex64),
        ("torch.bfloat16", D.bfloat16),
    ],
)
def test_as_dtype_takes_every_name_of_a_dtype(given, expected):
    assert D.as_dtype(given) is expected
    assert D.as_numpy_dtype(given) == expected.dtype
    assert isinstance(D.as_numpy_dtype(given), np.dtype)


@pytest.mark.parametrize("given", [3, "f4", "float99", object, str, [], 1.5])
def test_as_dtype_refuses_others(given):
    with pytest.raises(TypeError, match="dtype"):
        D.as_dtype(given)


# ----------------------------------------------------------------------------------------------------------------------
# Default dtype
# ----------------------------------------------------------------------------------------------------------------------


def test_default_dtype_is_float32_and_can_be_set(default_dtype):
    assert D.get_default_dtype() is D.float32
    for given, expected in ((D.float64, D.float64), (np.float16, D.float16), (np.dtype("float32"), D.float32)):
        default_dtype(given)
        assert D.get_default_dtype() is expected


def test_default_complex_dtype_follows(default_dtype):
    assert D.get_default_complex_dtype() is D.complex64
    default_dtype(D.float64)
    assert D.get_default_complex_dtype() is D.complex128


@pytest.mark.parametrize("given", [D.int32, D.bool_, D.complex64, np.int64])
def test_default_dtype_must_be_floating(given):
    with pytest.raises(TypeError, match=r"^only floating-point types are supported as the default type$"):
        D.set_default_dtype(given)
    assert D.get_default_dtype() is D.float32


@pytest.mark.parametrize("given", [float, "float64", 3, None])
def test_default_dtype_must_be_a_dtype(given):
    with pytest.raises(
        TypeError, match=r"^invalid dtype object: only floating-point types are supported as the default"
    ):
        D.set_default_dtype(given)


def test_python_numbers_have_dtypes(default_dtype):
    numbers = [True, 1, 1.0, 1j, np.bool_(True), np.int8(1), np.float64(1), np.complex64(1)]
    plain = [D.bool_, D.int64, D.float32, D.complex64]
    assert [D.python_number_dtype(x) for x in numbers] == plain * 2
    default_dtype(D.float64)
    assert [D.python_number_dtype(x) for x in numbers[:4]] == [D.bool_, D.int64, D.float64, D.complex128]


# ----------------------------------------------------------------------------------------------------------------------
# Limits
# ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_finfo_agrees_with_numpy(name):
    ours, numpys = D.finfo(D.as_dtype(name)), np.finfo(name)
    assert (ours.bits, ours.eps, ours.max, ours.min) == (numpys.bits, numpys.eps, numpys.max, numpys.min)
    assert ours.tiny == ours.smallest_normal == numpys.tiny
    assert ours.resolution == pytest.approx(float(numpys.resolution), rel=1e-3)
    assert ours.dtype == name


def test_finfo_of_bfloat16_agrees_with_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    ours, theirs = D.finfo(D.bfloat16), ml_dtypes.finfo(ml_dtypes.bfloat16)
    assert (ours.eps, ours.max, ours.tiny) == (float(theirs.eps), float(theirs.max), float(theirs.tiny))
    assert (ours.bits, ours.resolution) == (16, 0.01)


def test_finfo_of_complex_describes_its_parts_and_finfo_of_nothing_the_default_dtype():
    assert D.finfo(D.complex128) == D.finfo(D.float64)
    assert D.finfo() == D.finfo(D.float32)
    assert D.finfo(np.float16) == D.finfo(D.float16)
    assert D.finfo(D.float16) != D.finfo(D.float32)
    assert hash(D.finfo()) == hash(D.finfo(D.float32))


@pytest.mark.parametrize("name", ["uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"])
def test_iinfo_agrees_with_numpy(name):
    ours, numpys = D.iinfo(D.as_dtype(name)), np.iinfo(name)
    assert (ours.bits, ours.min, ours.max, ours.dtype) == (numpys.bits, numpys.min, numpys.max, name)
    assert ours == D.iinfo(np.dtype(name))


def test_limits_print_as_torchs():
    assert repr(D.finfo(D.float32)) == (
        "finfo(resolution=1e-06, min=-3.40282e+38, max=3.40282e+38, eps=1.19209e-07, smallest_normal=1.17549e-38, "
        "tiny=1.17549e-38, dtype=float32)"
    )
    assert repr(D.iinfo(D.uint8)) == "iinfo(min=0, max=255, dtype=uint8)"
    assert repr(D.iinfo(D.int64)) == "iinfo(min=-9.22337e+18, max=9.22337e+18, dtype=int64)"


def test_limits_of_the_wrong_kind_raise():
    with pytest.raises(TypeError, match=r"torch.finfo\(\) requires a floating point input type. Use torch.iinfo"):
        D.finfo(D.int32)
    with pytest.raises(TypeError, match=r"torch.iinfo\(\) requires an integer input type. Use torch.finfo"):
        D.iinfo(D.float32)
    with pytest.raises(TypeError, match=r"torch.bool is not supported by torch.iinfo"):
        D.iinfo(D.bool_)
    with pytest.raises(TypeError, match=r"finfo\(\): argument 'type' \(position 1\) must be torch.dtype, not int"):
        D.finfo(3)


# ----------------------------------------------------------------------------------------------------------------------
# Questions about types
# ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", D.DTYPES, ids=repr)
def test_questions_about_numpy_dtypes(d):
    assert D.is_floating_point(d.dtype) == d.is_floating_point
    assert D.is_complex(d.dtype) == d.is_complex
    assert D.is_differentiable(d.dtype) == (d.is_floating_point or d.is_complex)


def test_legacy_type_names():
    assert D.legacy_type_name(D.float32) == "torch.FloatTensor"
    assert D.legacy_type_name(np.dtype("int64")) == "torch.LongTensor"
    assert D.legacy_type_name(D.bfloat16, "cuda") == "torch.cuda.BFloat16Tensor"


# ----------------------------------------------------------------------------------------------------------------------
# Python numbers as arrays
# ----------------------------------------------------------------------------------------------------------------------


def assert_scalar(array, value, dtype):
    assert isinstance(array, np.ndarray)
    assert (array.shape, array.dtype) == ((), np.dtype(dtype))
    assert array.item() == value


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (2.5, "float32", 2.5),
        (0.1, "float32", float(np.float32(0.1))),
        (-1, "uint8", 255),
        (300, "uint8", 44),
        (1000, "int8", -24),
        (2**63, "int64", -(2**63)),
        (2**64 - 1, "int64", -1),
        (-(2**63), "int64", -(2**63)),
        (2**64 - 1, "uint64", 2**64 - 1),
        (1e10, "float16", np.inf),
        (-1e300, "float32", -np.inf),
        (2**80, "float64", float(2**80)),
        (True, "int32", 1),
        (True, "bool", True),
        (2, "complex64", 2),
        (1 + 2j, "complex64", 1 + 2j),
        (1e300j, "complex64", complex(0, np.inf)),
        (np.int64(300), "uint8", 44),
        (np.float64(1e10), "float16", np.inf),
    ],
)
def test_operands_wrap_around_or_become_infinite(value, dtype, expected):
    assert_scalar(D.scalar_to_array(value, np.dtype(dtype)), expected, dtype)


def test_operand_nan_stays_nan():
    assert np.isnan(D.scalar_to_array(float("nan"), np.dtype("float16")))


def test_operand_in_bfloat16():
    assert float(D.scalar_to_array(1.0039, D.bfloat16.dtype)) == 1.0
    assert float(D.scalar_to_array(1e300, D.bfloat16.dtype)) == np.inf


@pytest.mark.parametrize("value", [2**64, -(2**63) - 1])
def test_operand_beyond_64_bits_raises(value):
    with pytest.raises(OverflowError):
        D.scalar_to_array(value, np.dtype("int64"))


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (1.9, "int64", 1),
        (-1.9, "int8", -1),
        (-1, "uint8", 255),
        (-255, "uint8", 1),
        (127.0, "int8", 127),
        (2.5, "bool", True),
        (float("nan"), "bool", True),
        (0.0, "bool", False),
        (float("inf"), "float16", np.inf),
        (65504, "float16", 65504.0),
        (3 + 0j, "float32", 3.0),
        (3 + 0j, "int32", 3),
        (2j, "complex64", 2j),
        (2**64 - 1, "uint64", 2**64 - 1),
    ],
)
def test_stored_numbers_that_fit(value, dtype, expected):
    assert_scalar(D.checked_scalar(value, np.dtype(dtype)), expected, dtype)


@pytest.mark.parametrize(
    ("value", "dtype", "c_name"),
    [
        (300, "uint8", "uint8_t"),
        (-256, "uint8", "uint8_t"),
        (-1.5, "uint8", "uint8_t"),
        (200, "int8", "int8_t"),
        (127.5, "int8", "int8_t"),
        (2**40, "int32", "int"),
        (1e30, "int64", "int64_t"),
        (float("nan"), "int64", "int64_t"),
        (float("inf"), "int16", "int16_t"),
        (2**63, "int64", "int64_t"),
        (1e10, "float16", "c10::Half"),
        (1e300, "float32", "float"),
        (1j, "float32", "float"),
        (1j, "int64", "int64_t"),
        (1e300j, "complex64", r"c10::complex<float>"),
    ],
)
def test_stored_numbers_that_do_not_fit_raise(value, dtype, c_name):
    with pytest.raises(RuntimeError, match=f"^value cannot be converted to type {c_name} without overflow$") as caught:
        D.checked_scalar(value, np.dtype(dtype))
    assert isinstance(caught.value, OverflowError)  # what NumPy and Python raise


def test_a_dtype_equals_no_abstract_class():
    assert D.float64 != np.floating and D.int64 != np.integer and D.float64 == np.float64
