"""Type promotion, by tables written by hand."""

import ast
import itertools
import random

import numpy as np
import pytest

from loops import each
from wengert import dtypes as D

# The type that two types promote to. "-": they do not combine.
PAIRS = """
           bool      uint8     int8      int16     int32     int64     uint16   float16   bfloat16  float32   float64   complex64  complex128
bool       bool      uint8     int8      int16     int32     int64     -        float16   bfloat16  float32   float64   complex64  complex128
uint8      uint8     uint8     int16     int16     int32     int64     -        float16   bfloat16  float32   float64   complex64  complex128
int8       int8      int16     int8      int16     int32     int64     -        float16   bfloat16  float32   float64   complex64  complex128
int16      int16     int16     int16     int16     int32     int64     -        float16   bfloat16  float32   float64   complex64  complex128
int32      int32     int32     int32     int32     int32     int64     -        float16   bfloat16  float32   float64   complex64  complex128
int64      int64     int64     int64     int64     int64     int64     -        float16   bfloat16  float32   float64   complex64  complex128
uint16     -         -         -         -         -         -         uint16   float16   bfloat16  float32   float64   complex64  complex128
float16    float16   float16   float16   float16   float16   float16   float16  float16   float32   float32   float64   complex64  complex128
bfloat16   bfloat16  bfloat16  bfloat16  bfloat16  bfloat16  bfloat16  bfloat16 float32   bfloat16  float32   float64   complex64  complex128
float32    float32   float32   float32   float32   float32   float32   float32  float32   float32   float32   float64   complex64  complex128
float64    float64   float64   float64   float64   float64   float64   float64  float64   float64   float64   float64   complex128 complex128
complex64  complex64 complex64 complex64 complex64 complex64 complex64 complex64 complex64 complex64 complex64 complex128 complex64 complex128
complex128 complex128 complex128 complex128 complex128 complex128 complex128 complex128 complex128 complex128 complex128 complex128 complex128 complex128
"""


def table():
    header, *rows = [line.split() for line in PAIRS.strip().splitlines()]
    for name, *results in rows:
        for other, result in zip(header, results, strict=True):
            yield name, other, result


@pytest.fixture
def default_dtype():
    """Lets a test set the default dtype."""
    before = D.get_default_dtype()
    yield D.set_default_dtype
    D.set_default_dtype(before)


def operand(text):
    """float32 for a vector of that dtype, float32() for a 0-d array, otherwise a Python number."""
    name = text.removesuffix("()")
    if name in {d.name for d in D.DTYPES}:
        return np.ones(() if text.endswith("()") else 2, dtype=D.as_dtype(name))
    return ast.literal_eval(text)


def resolve(kind, *texts):
    return D.from_numpy_dtype(D.resolve(kind, [operand(text) for text in texts])).name


@each(("a", "b", "result"), list(table()))
def test_pairs_of_types(a, b, result):
    if result == "-":
        with pytest.raises(RuntimeError, match="Promotion for uint16, uint32, uint64 types is not supported"):
            D.promote_types(D.as_dtype(a), D.as_dtype(b))
        with pytest.raises(RuntimeError, match="Promotion for uint16, uint32, uint64 types is not supported"):
            resolve(D.SAME, a, b)
    else:
        assert D.promote_types(a, b) is D.as_dtype(result)
        # Within each class of operands the same table holds.
        assert resolve(D.SAME, a, b) == result
        assert resolve(D.SAME, a + "()", b + "()") == result


@pytest.mark.parametrize("wide", [D.uint16, D.uint32, D.uint64])
def test_wide_unsigned_integers_promote_with_floats_only(wide):
    assert D.promote_types(wide, wide) is wide
    assert D.promote_types(wide, D.float16) is D.float16
    assert D.promote_types(D.complex64, wide) is D.complex64
    for other in {D.uint16, D.uint32, D.uint64, D.int64, D.bool_} - {wide}:
        with pytest.raises(RuntimeError, match=f"attempted to promote {wide.scalar_name} and {other.scalar_name}"):
            D.promote_types(wide, other)


# A lower class (0-d below dimensions, Python numbers below both) changes the result only by a higher category.
CLASSES = [
    ("float32", "2.5", "float32"),
    ("float16", "2.5", "float16"),
    ("float16", "2", "float16"),
    ("float32", "1j", "complex64"),
    ("float64", "1j", "complex128"),
    ("bfloat16", "1j", "complex64"),
    ("float16", "1j", "complex64"),  # torch: complex32
    ("int8", "1000", "int8"),
    ("uint8", "-1", "uint8"),
    ("int64", "2.5", "float32"),
    ("bool", "2", "int64"),
    ("bool", "True", "bool"),
    ("bool", "2.5", "float32"),
    ("bool", "1j", "complex64"),
    ("complex64", "2.5", "complex64"),
    ("uint16", "2", "uint16"),
    ("uint16", "2.5", "float32"),
    ("float32", "float64()", "float32"),
    ("float16", "complex128()", "complex64"),
    ("float32", "complex128()", "complex64"),
    ("float64", "complex64()", "complex128"),
    ("int8", "int64()", "int8"),
    ("int32", "float16()", "float16"),
    ("int32", "float64()", "float64"),
    ("bool", "uint8()", "uint8"),
    ("bool", "int64()", "int64"),
    ("complex64", "complex128()", "complex64"),
    ("uint16", "int64()", "uint16"),
    ("int64", "uint16()", "int64"),
    ("float64()", "2.5", "float64"),
    ("float16()", "2.5", "float16"),
    ("int8()", "2", "int8"),
    ("int8()", "2.5", "float32"),
    ("bool()", "2", "int64"),
    ("float64()", "1j", "complex128"),
]


@each(("higher", "lower", "result"), CLASSES)
def test_a_lower_class_changes_the_category_only(higher, lower, result):
    assert resolve(D.SAME, higher, lower) == result
    assert resolve(D.SAME, lower, higher) == result


@pytest.mark.parametrize(
    ("operands", "result"),
    [
        (("2", "2.5"), "float32"),
        (("True", "2"), "int64"),
        (("2.5", "1j"), "complex64"),
        (("True", "True"), "bool"),
        (("int8", "2.5", "float64()"), "float64"),
        (("int8", "float16()", "2.5"), "float16"),
        (("bool", "int16()", "2.5"), "float32"),
        (("int16", "uint8", "int8"), "int16"),
        (("uint8", "int8"), "int16"),
        (("float16", "bfloat16", "int64"), "float32"),
        (("int8", "int16()", "float64()", "1j"), "complex128"),
    ],
)
def test_many_operands(operands, result):
    for order in itertools.permutations(operands):
        assert resolve(D.SAME, *order) == result


def test_order_and_repetition_do_not_matter():
    rng = random.Random(0)
    names = ["bool", "uint8", "int8", "int64", "float16", "bfloat16", "float32", "float64", "complex64"]
    pool = [*names, *(name + "()" for name in names), "True", "2", "2.5", "1j"]
    for _ in range(300):
        chosen = rng.choices(pool, k=rng.randint(1, 6))
        assert resolve(D.SAME, *chosen) == resolve(D.SAME, *rng.sample(chosen * 3, 3 * len(chosen)))


def test_one_operand_keeps_its_type():
    for d in D.DTYPES:
        assert D.resolve(D.SAME, (np.ones(2, d),)) == d.dtype
        assert D.resolve(D.COMPARE, (np.ones((), d),)) == d.dtype


@pytest.mark.parametrize(
    ("scalar", "vector", "result"),
    [
        (np.float64(2), "float32", "float32"),
        (np.float64(2), "int64", "float32"),
        (np.float16(2), "int64", "float32"),
        (np.int64(2), "int8", "int8"),
        (np.int8(2), "bool", "int64"),
        (np.bool_(True), "bool", "bool"),
        (np.complex128(2), "float32", "complex64"),
        (np.longdouble(2), "float16", "float16"),
    ],
)
def test_numpy_scalars_count_as_python_numbers(scalar, vector, result):
    assert D.result_type(scalar, operand(vector)).name == result


def test_subclasses_of_numbers_promote_like_numbers():
    class Celsius(float):
        pass

    class Count(int):
        pass

    assert D.result_type(Celsius(2), np.ones(2, np.int8)) is D.float32
    assert D.result_type(Count(2), np.ones(2, np.int8)) is D.int8


def test_arrays_of_one_or_no_element_have_dimensions():
    assert D.result_type(np.ones(1, np.float64), np.ones((), np.float32)) is D.float64
    assert D.result_type(np.ones(1, np.float64), np.ones(2, np.float32)) is D.float64
    assert D.result_type(np.ones((0,), np.float64), np.ones(2, np.float32)) is D.float64


@pytest.mark.parametrize(
    ("kind", "operands", "result"),
    [
        (D.INT_TO_FLOAT, ("int64",), "float32"),
        (D.INT_TO_FLOAT, ("bool",), "float32"),
        (D.INT_TO_FLOAT, ("uint64",), "float32"),
        (D.INT_TO_FLOAT, ("float16",), "float16"),
        (D.INT_TO_FLOAT, ("complex128",), "complex128"),
        (D.INT_TO_FLOAT, ("int8", "2"), "float32"),
        (D.INT_TO_FLOAT, ("int8", "float64()"), "float64"),
        (D.INT_TO_INT64, ("bool",), "int64"),
        (D.INT_TO_INT64, ("int8",), "int64"),
        (D.INT_TO_INT64, ("uint64",), "int64"),
        (D.INT_TO_INT64, ("bfloat16",), "bfloat16"),
        (D.COMPARE, ("int8", "2.5"), "float32"),
        (D.COMPARE, ("float32", "float64"), "float64"),
    ],
)
def test_each_promotion_kind_gives_the_dtype(kind, operands, result):
    assert resolve(kind, *operands) == result


def test_kind_none_has_no_dtype():
    with pytest.raises(ValueError, match="NONE"):
        resolve(D.NONE, "float32")


def test_default_dtype_takes_effect_at_once(default_dtype):
    for d, partner in ((D.float64, "complex128"), (D.float16, "complex64"), (D.float32, "complex64")):
        default_dtype(d)
        for _ in range(2):  # the second time from the cache
            assert resolve(D.SAME, "int64", "2.5") == d.name
            assert resolve(D.INT_TO_FLOAT, "int64") == d.name
            assert resolve(D.SAME, "int64", "1j") == partner
            assert resolve(D.SAME, "float32", "2.5") == "float32"


@pytest.mark.parametrize("bad", [None, "2", [1.0], object(), np.array(["a"]), np.str_("a")])
def test_wrong_operands_of_a_promotion_raise(bad):
    with pytest.raises(TypeError):
        D.resolve(D.SAME, (np.ones(2), bad))


def test_no_operands_raise():
    with pytest.raises(TypeError, match="at least one operand"):
        D.resolve(D.SAME, ())


# ----------------------------------------------------------------------------------------------------------------------
# In place
# ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "operands", "result"),
    [
        (D.SAME, ("float32", "float64"), "float64"),
        (D.SAME, ("float16", "int64"), "float16"),
        (D.SAME, ("uint8", "int64"), "int64"),
        (D.SAME, ("int64", "2"), "int64"),
        (D.SAME, ("complex64", "float64"), "complex128"),
        (D.COMPARE, ("int64", "2.5"), "float32"),
        (D.INT_TO_FLOAT, ("float16", "int64"), "float16"),
    ],
)
def test_inplace_computes_in_the_common_type(kind, operands, result):
    assert D.from_numpy_dtype(D.resolve_inplace(kind, map(operand, operands))).name == result


@pytest.mark.parametrize(
    ("kind", "operands", "names"),
    [
        (D.SAME, ("int64", "float32"), ("Float", "Long")),
        (D.SAME, ("uint8", "2.5"), ("Float", "Byte")),
        (D.SAME, ("bool", "2"), ("Long", "Bool")),
        (D.SAME, ("float32", "1j"), ("ComplexFloat", "Float")),
        (D.INT_TO_FLOAT, ("int64", "2"), ("Float", "Long")),
    ],
)
def test_inplace_refuses_a_lower_category(kind, operands, names):
    text = f"^result type {names[0]} can't be cast to the desired output type {names[1]}$"
    with pytest.raises(RuntimeError, match=text):
        D.resolve_inplace(kind, map(operand, operands))


def test_can_cast_goes_up_the_categories():
    ranks = {d: (d.is_complex * 3) or (d.is_floating_point * 2) or (d is not D.bool_) * 1 for d in D.DTYPES}
    for a, b in itertools.product(D.DTYPES, repeat=2):
        assert D.can_cast(a, b) == (ranks[a] <= ranks[b])
    assert D.can_cast(np.float64, float)


@pytest.mark.parametrize("d", D.DTYPES, ids=repr)
def test_tensors_count_by_their_dtype(d):
    """An operand may have one of our dtypes in place of NumPy's."""

    class Vector:
        dtype, ndim = d, 1

    class Scalar:
        dtype, ndim = d, 0

    assert D.result_type(Vector()) is d
    assert D.result_type(Scalar(), True) is d
    assert D.result_type(Scalar(), np.ones(2, np.complex128)) is D.complex128
