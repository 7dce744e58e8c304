"""Values: every operation against an independent oracle (NumPy, SciPy), in every dtype and layout that it takes."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import scipy.special

from op_samples import collect
from op_samples.cases import CASES, LAYOUTS, Case, first_cases, flatten, is_public, naming, over_samples
from wengert.core.tensor import TensorBase, wrap
from wengert.ops.registry import OPS, Operation

ORACLES: dict[str, Callable[..., Any]] = collect("ORACLES")

# Public operations that no oracle is asked for, and why.
NO_ORACLE = {
    **{
        name: "writes in place: test_contracts compares it with the operation that does not"
        for name, op in OPS.items() if name.endswith("_") and name[:-1] in OPS
    },
    **dict.fromkeys(["__setitem__", "copy_", "fill_", "fill_diagonal_", "zero_"], "writes in place: tests/explicit"),
    **dict.fromkeys([
        "gesv", "potrf", "masked_copy_", "set_default_tensor_type", "typename", "apply_", "map_", "resize_", "resize_as_",
        "is_same_size",
    ], "of the first versions: tests/explicit/test_older.py"),
    "torch_ctc_loss": "nn.functional's, by the number of the reduction: tests/explicit/test_layers.py",
    "linalg_ldl_solve": "its factors come with it: tests/explicit/test_low_rank.py",
    "lobpcg": "the signs of eigenvectors are free: tests/explicit/test_low_rank.py",
    **dict.fromkeys([
        "is_complex", "is_floating_point", "is_signed", "is_inference", "is_nonzero", "is_conj", "is_neg", "get_device",
        "is_pinned", "is_shared", "is_set_to", "dim_order", "detach", "detach_", "to_dense", "pin_memory", "share_memory_",
        "map2_",
    ], "a question, or the tensor itself: tests/explicit/test_queries.py"),
    **dict.fromkeys(
        ["untyped_storage", "_typed_storage", "storage", "storage_type", "set_"],
        "gives or takes a storage: tests/core/test_storages.py",
    ),
    "histogramdd": "gives a tuple in a tuple: tests/explicit/test_histograms.py",
    "broadcast_shapes": "takes shapes, not tensors: tests/explicit/test_shape.py",
    "record_stream": "returns nothing: tests/core/test_streams.py",
}  # fmt: skip

# NumPy's and SciPy's spellings of parameters.
_SPELLINGS = {"dim": "axis", "keepdim": "keepdims"}


def find_oracle(name: str) -> Callable[..., Any] | None:
    """The oracle that a family gives, or else NumPy's or SciPy's function of that name."""
    found = ORACLES.get(name)
    if found is None:
        found = getattr(np, name, None) or getattr(scipy.special, name, None)
        return None if found is None else lambda *a, **k: found(*a, **{_SPELLINGS.get(n, n): v for n, v in k.items()})
    return found


def needs_oracle(op: Any) -> bool:
    """Whether the operation computes numbers that an oracle could: random ones and private ones have other tests."""
    return is_public(op) and op.kind != "creation" and not Case(op, None, 0).is_random


def test_every_public_operation_has_an_oracle():
    missing = [n for n, op in OPS.items() if needs_oracle(op) and n not in NO_ORACLE and find_oracle(n) is None]
    assert not missing, f"no oracle in tests/op_samples, and neither NumPy nor SciPy has: {', '.join(missing)}"


def test_every_public_operation_has_samples():
    sampled = {case.name for case in CASES}
    missing = [n for n, op in OPS.items() if needs_oracle(op) and n not in NO_ORACLE and n not in sampled]
    assert not missing, f"no samples in tests/op_samples: {', '.join(missing)}"


def test_nothing_is_excused_without_need():
    assert [name for name in NO_ORACLE if name not in OPS or name in ORACLES] == []


COMPARED = {n for n, op in OPS.items() if needs_oracle(op) and n not in NO_ORACLE and find_oracle(n)}


def has_oracle(case: Case) -> bool:
    return case.name in COMPARED


def has_oracle_and_data(case: Case) -> bool:
    return has_oracle(case) and any(True for _ in case.data())


def expected_of(case: Case, values: list[Any]) -> list[np.ndarray]:
    """Return the oracle's results for these arrays, as a list of arrays."""
    with np.errstate(all="ignore"):
        result = find_oracle(case.name)(*deepcopy(values), **case.sample.params)
    return [np.asarray(x) for x in flatten(result)]


def arrays_of(result: Any) -> list[np.ndarray]:
    return [x._array if isinstance(x, TensorBase) else np.asarray(x) for x in flatten(result)]


def assert_same(results: list[np.ndarray], expected: list[np.ndarray], rtol: float, atol: float) -> None:
    assert len(results) == len(expected)
    for result, wanted in zip(results, expected, strict=True):
        assert result.shape == wanted.shape
        np.testing.assert_allclose(result, wanted, rtol=rtol, atol=atol)


@over_samples(has_oracle)
def test_values_are_the_oracles(case):
    values = case.values(np.float64)
    results = arrays_of(case.call(case.wrapped(values)))
    expected = expected_of(case, values)
    assert [x.dtype.kind for x in results] == [x.dtype.kind for x in expected]
    assert_same(results, expected, 1e-11, 1e-12)


@over_samples(has_oracle_and_data)
def test_float32_is_computed_and_returned_in_float32(case):
    values = case.values(np.float32)
    in_double = arrays_of(case.call(case.tensors(np.float64)))
    results = arrays_of(case.call(case.wrapped(values)))
    narrow = {np.dtype(np.float64): np.float32, np.dtype(np.complex128): np.complex64}
    fixed = {"dtype"} & set(case.sample.params) or case.name == "float_power"
    assert [x.dtype for x in results] == [x.dtype if fixed else narrow.get(x.dtype, x.dtype) for x in in_double]
    assert_same(results, expected_of(case, widened(values)), 3e-5, 3e-5)


def widened(x: Any) -> Any:
    """Return the arrays in double precision."""
    if isinstance(x, list):
        return [widened(y) for y in x]
    return x.astype(np.float64) if isinstance(x, np.ndarray) and x.dtype == np.float32 else x


@over_samples(lambda case: has_oracle_and_data(case) and case.may_be_complex)
def test_values_of_complex_numbers_are_the_oracles(case):
    if case.takes_complex:
        values = case.values(np.complex128)
        assert_same(arrays_of(case.call(case.wrapped(values))), expected_of(case, values), 1e-10, 1e-11)


@over_samples(lambda case: has_oracle(case) and any(d.shape for d in case.data()) and not case.is_about_memory, quick=1)
def test_values_in_any_layout_are_the_oracles(case):
    for layout in LAYOUTS:
        if layout == "expanded" and case.has_distinct:
            continue  # an expanded input has equal elements
        with naming(layout):
            values = case.values(np.float64, layout)
            assert_same(arrays_of(case.call(case.wrapped(values))), expected_of(case, values), 1e-11, 1e-12)


# -- integers and bools --------------------------------------------------------------------------------------

SMALL = {
    "int64": np.array([[2, 1, 3], [1, 3, 2]]), "uint8": np.array([[2, 1, 3], [1, 3, 2]], np.uint8),
    "bool": np.array([[True, False, True], [True, True, False]]),
}  # fmt: skip

FIRST = first_cases()

_POINTWISE = [
    op for op in OPS.values()
    if isinstance(op, Operation) and op.kind in ("pointwise", "nondifferentiable") and is_public(op)
    and not op.required and op.variadic < 0 and find_oracle(op.name) and op.name in FIRST
    and all(not isinstance(x, np.ndarray) for x in FIRST[op.name].sample.inputs)
]  # fmt: skip


# Dtypes that an operation refuses, as torch does. It takes the others.
REFUSED: dict[str, tuple[str, ...]] = {
    **dict.fromkeys((
        "sub", "rsub", "floor_divide", "remainder", "fmod", "pow", "addcmul", "neg", "relu", "floor", "ceil", "trunc", "round",
        "argmax", "argmin",
    ), ("bool",)),
    **dict.fromkeys(("addcdiv", "lerp", "frac", "nextafter"), tuple(SMALL)),
}  # fmt: skip


@pytest.mark.parametrize("dtype", SMALL)
def test_integers_and_bools_are_taken_or_refused_by_name(dtype):
    array = SMALL[dtype]
    for op in _POINTWISE:
        case = Case(op, FIRST[op.name].sample, 0)
        values = [array for _ in case.sample.inputs]
        with naming(op.name):
            if dtype in REFUSED.get(op.name, ()):
                with pytest.raises(RuntimeError, match="not implemented for|not supported|not support bool|no longer supported"):
                    case.call(case.wrapped(values))
                continue
            results = arrays_of(case.call(case.wrapped(values)))
            floats = any(x.dtype.kind in "fc" for x in results)
            assert not floats or all(x.dtype == np.float32 for x in results), "integers become the default float dtype"
            expected = expected_of(case, [v.astype(np.float64) for v in values] if floats else values)
            assert_same(results, expected, 3e-5 if floats else 0, 3e-5 if floats else 0)


@pytest.mark.parametrize("number", [2, 2.5])
@pytest.mark.parametrize("is_first", [True, False], ids=["number-first", "number-second"])
def test_a_number_beside_integers(number, is_first):
    """A float makes them the default float dtype, an int leaves them as they are, on either side."""
    array = SMALL["int64"]
    for op in (op for op in _POINTWISE if op.kind == "pointwise" and len(op.input_names) == 2):
        inputs = (number, wrap(array)) if is_first else (wrap(array), number)
        with naming(op.name):
            if number == 2 and "int64" in REFUSED.get(op.name, ()):
                with pytest.raises(RuntimeError, match="not implemented for 'Long'"):
                    op.function(*inputs)
                continue
            (result,) = arrays_of(op.function(*inputs))
            if result.dtype.kind != "b":
                assert result.dtype in ((np.float32,) if isinstance(number, float) else (np.int64, np.float32))
            plain = find_oracle(op.name)(*((number, array) if is_first else (array, number)))
            np.testing.assert_allclose(result, plain, rtol=3e-5)
