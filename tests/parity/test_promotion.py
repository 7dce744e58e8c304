"""Promotion against torch: every pair of types in every pair of classes, by torch's own rule and by its operations."""

import itertools
import warnings

import numpy as np
import pytest

from wengert import dtypes as D

torch = pytest.importorskip("torch")

WIDE_UNSIGNED = {"uint16", "uint32", "uint64"}


@pytest.fixture(params=["float32", "float64", "float16"])
def default_dtype(request):
    """Both libraries with each default dtype in turn."""
    torch.set_default_dtype(getattr(torch, request.param))
    D.set_default_dtype(D.as_dtype(request.param))
    yield request.param
    torch.set_default_dtype(torch.float32)
    D.set_default_dtype(D.float32)


def operands():
    """(torch's, ours, dtype name) for each dtype, with dimensions and without, and for each kind of Python number."""
    for d in D.DTYPES:
        for shape in ((2,), ()):
            yield torch.ones(shape, dtype=getattr(torch, d.name)), np.ones(shape, d), d.name
    for number in (True, 2, 2.0, 2j):
        yield number, number, type(number).__name__


def outcome(function):
    """The dtype's name that function gives, or None where the types do not combine. complex32 we do not have."""
    try:
        return repr(function()).removeprefix("torch.").replace("complex32", "complex64")
    except RuntimeError as error:
        assert "Promotion for uint16, uint32, uint64 types is not supported" in str(error)
        return None


def test_result_type(default_dtype):
    different = []
    for (theirs_a, ours_a, name_a), (theirs_b, ours_b, name_b) in itertools.product(operands(), repeat=2):
        expected = outcome(lambda a=theirs_a, b=theirs_b: torch.result_type(a, b))
        got = outcome(lambda a=ours_a, b=ours_b: D.result_type(a, b))
        # Ours also combines wide unsigned integers with complex types, and with vectors of bools.
        more = expected is None and WIDE_UNSIGNED & {name_a, name_b}
        if more and got is not None:
            assert "complex" in name_a + name_b or "bool" in (name_a, name_b)
        elif got != expected:
            different.append((theirs_a, theirs_b, expected, got))
    assert not different


def test_promote_types_and_can_cast():
    for a, b in itertools.product(D.DTYPES, repeat=2):
        theirs_a, theirs_b = getattr(torch, a.name), getattr(torch, b.name)
        expected = outcome(lambda a=theirs_a, b=theirs_b: torch.promote_types(a, b))
        got = outcome(lambda a=a, b=b: D.promote_types(a, b))
        assert got == expected or (expected is None and "complex" in a.name + b.name)
        assert D.can_cast(a, b) == torch.can_cast(theirs_a, theirs_b)


@pytest.mark.parametrize(
    ("op", "kind"),
    [
        ("add", D.SAME), ("sub", D.SAME), ("mul", D.SAME), ("div", D.INT_TO_FLOAT), ("pow", D.SAME), ("eq", D.COMPARE),
        ("maximum", D.SAME), ("atan2", D.INT_TO_FLOAT), ("remainder", D.SAME),
    ],
)  # fmt: skip
def test_binary_operations(op, kind, default_dtype):
    function = getattr(torch, op)
    compared = 0
    for (theirs_a, ours_a, _), (theirs_b, ours_b, _) in itertools.product(operands(), repeat=2):
        if not isinstance(theirs_a, torch.Tensor):
            continue  # torch's functions want a tensor first
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of experimental complex32
                result = function(theirs_a, theirs_b)
        except (RuntimeError, TypeError):
            continue  # not implemented for these types
        got = D.from_numpy_dtype(D.resolve(kind, (ours_a, ours_b))).name
        if kind == D.COMPARE:
            assert result.dtype == torch.bool
        else:
            assert got == outcome(lambda result=result: result.dtype)
        compared += 1
    assert compared > 200


@pytest.mark.parametrize(
    ("op", "kind"),
    [("sin", D.INT_TO_FLOAT), ("sigmoid", D.INT_TO_FLOAT), ("sum", D.INT_TO_INT64), ("prod", D.INT_TO_INT64)],
)
def test_unary_operations(op, kind, default_dtype):
    for d in D.DTYPES:
        for shape in ((2,), ()):
            try:
                expected = getattr(torch, op)(torch.ones(shape, dtype=getattr(torch, d.name))).dtype
            except RuntimeError:
                continue
            assert repr(D.from_numpy_dtype(D.resolve(kind, (np.ones(shape, d),)))) == repr(expected)


@pytest.mark.parametrize(("op", "kind"), [("add", D.SAME), ("div", D.INT_TO_FLOAT), ("mul", D.SAME)])
def test_inplace_operations_allow_and_refuse_the_same(op, kind):
    for (theirs_a, ours_a, a), (theirs_b, ours_b, b) in itertools.product(operands(), repeat=2):
        if not isinstance(theirs_a, torch.Tensor) or theirs_a.dim() == 0 or WIDE_UNSIGNED & {a, b}:
            continue
        try:
            getattr(theirs_a.clone(), op + "_")(theirs_b)
            expected = None
        except RuntimeError as error:
            expected = str(error)
            if "can't be cast" not in expected:
                continue
        try:
            D.resolve_inplace(kind, (ours_a, ours_b))
            got = None
        except RuntimeError as error:
            got = str(error)
        if expected is None or got is None:
            assert got == expected
        else:
            assert got == expected.replace("ComplexHalf", "ComplexFloat")


VALUES = [0, 1, -1, 300, -300, 2**31, 2**63, -(2**63), 2**64 - 1, 1.5, -1.5, 1e10, 1e300, float("inf"), 2j, 1 + 0j]


@pytest.mark.parametrize("d", [d for d in D.DTYPES if d.name not in WIDE_UNSIGNED | {"bfloat16"}], ids=repr)
def test_stored_numbers(d):
    """checked_scalar against fill_: the same numbers fit, to the same values."""
    for value in [*VALUES, float("nan")]:
        expected = got = None
        tensor = torch.zeros(2, dtype=getattr(torch, d.name))
        try:
            expected = tensor.fill_(value)[0].numpy()
        except RuntimeError as error:
            text = str(error)
            assert "overflow" in text
        try:
            got = D.checked_scalar(value, d.dtype)
        except RuntimeError:
            assert expected is None, (value, d)
            continue
        assert expected is not None, (value, d)
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(
    "d", [D.uint8, D.int8, D.int16, D.int32, D.int64, D.float16, D.float32, D.float64], ids=repr
)  # complex arithmetic has its own ideas of infinity
def test_numbers_as_operands(d):
    """scalar_to_array against zeros + number."""
    for value in VALUES:
        if D.python_number_dtype(value).category > d.category:
            continue
        expected = (torch.zeros(2, dtype=getattr(torch, d.name)) + value)[0].numpy()
        got = np.zeros(2, d) + D.scalar_to_array(value, d.dtype)
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got[0], expected, err_msg=f"{value} as {d}")


@pytest.mark.parametrize("d", D.DTYPES, ids=repr)
def test_attributes_and_limits(d):
    theirs = getattr(torch, d.name)
    for name in ("itemsize", "is_floating_point", "is_complex", "is_signed"):
        assert getattr(d, name) == getattr(theirs, name)
    assert repr(d.to_real()) == repr(theirs.to_real())
    for ours_info, theirs_info in ((D.finfo, torch.finfo), (D.iinfo, torch.iinfo)):
        try:
            expected = theirs_info(theirs)
        except TypeError:
            with pytest.raises(TypeError):
                ours_info(d)
            continue
        got = ours_info(d)
        assert repr(got) == repr(expected)
        for name in ("bits", "max", "min", "dtype", "eps", "tiny", "resolution"):
            if hasattr(expected, name):
                assert getattr(got, name) == getattr(expected, name)
