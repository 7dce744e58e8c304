"""Values: every operation against an independent oracle (NumPy, SciPy), in every dtype and layout that it takes."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import scipy.special

from op_samples import collect
from op_samples.cases import CASES, LAYOUTS, Case, cases_where, first_cases, flatten, is_public
from wengert.core.tensor import TensorBase, wrap
from wengert.errors import WengertError
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
    "histogramdd": "gives a tuple in a tuple: tests/explicit/test_histograms.py",
    "broadcast_shapes": "takes shapes, not tensors: tests/explicit/test_shape.py",
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


def with_oracle(condition: Callable[[Case], bool] = lambda case: True) -> list[Any]:
    compared = {n for n, op in OPS.items() if needs_oracle(op) and n not in NO_ORACLE and find_oracle(n)}
    return cases_where(lambda case: case.name in compared and condition(case))


def expected_of(case: Case, values: list[Any]) -> list[np.ndarray]:
    """What the oracle says of these arrays, as a list of arrays."""
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


@pytest.mark.parametrize("case", with_oracle())
def test_float64(case):
    values = case.values(np.float64)
    results = arrays_of(case.call(case.wrapped(values)))
    expected = expected_of(case, values)
    assert [x.dtype.kind for x in results] == [x.dtype.kind for x in expected]
    assert_same(results, expected, 1e-11, 1e-12)


@pytest.mark.parametrize("case", with_oracle(lambda case: any(True for _ in case.data())))
def test_float32_is_computed_and_returned_in_float32(case):
    values = case.values(np.float32)
    in_double = arrays_of(case.call(case.tensors(np.float64)))
    results = arrays_of(case.call(case.wrapped(values)))
    narrow = {np.dtype(np.float64): np.float32, np.dtype(np.complex128): np.complex64}
    fixed = {"dtype"} & set(case.sample.params) or case.name == "float_power"
    assert [x.dtype for x in results] == [x.dtype if fixed else narrow.get(x.dtype, x.dtype) for x in in_double]
    assert_same(results, expected_of(case, widened(values)), 3e-5, 3e-5)


def widened(x: Any) -> Any:
    """The same numbers in double precision."""
    if isinstance(x, list):
        return [widened(y) for y in x]
    return x.astype(np.float64) if isinstance(x, np.ndarray) and x.dtype == np.float32 else x


@pytest.mark.parametrize("case", with_oracle(lambda case: case.takes_complex and any(True for _ in case.data())))
def test_complex128(case):
    values = case.values(np.complex128)
    assert_same(arrays_of(case.call(case.wrapped(values))), expected_of(case, values), 1e-10, 1e-11)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("case", with_oracle(lambda case: any(d.shape for d in case.data())))
def test_layout(case, layout):
    if case.has_distinct and layout == "expanded":
        pytest.skip("an expanded input has equal elements")
    if case.is_about_memory:
        pytest.skip("a function of the memory's layout")
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


@pytest.mark.parametrize("dtype", SMALL)
@pytest.mark.parametrize("op", [pytest.param(op, id=op.name) for op in _POINTWISE])
def test_integers_and_bools_are_taken_or_refused_by_name(op, dtype):
    """What it refuses it refuses as an error of ours; tests/parity says whether torch does too."""
    array = SMALL[dtype]
    case = Case(op, FIRST[op.name].sample, 0)
    values = [array for _ in case.sample.inputs]
    try:
        results = arrays_of(case.call(case.wrapped(values)))
    except (WengertError, RuntimeError):
        return
    floats = any(x.dtype.kind in "fc" for x in results)
    assert not floats or all(x.dtype == np.float32 for x in results), "integers become the default float dtype"
    expected = expected_of(case, [v.astype(np.float64) for v in values] if floats else values)
    assert_same(results, expected, 3e-5 if floats else 0, 3e-5 if floats else 0)


_BINARY = [op for op in _POINTWISE if op.kind == "pointwise" and len(op.input_names) == 2]


@pytest.mark.parametrize("number", [2, 2.5])
@pytest.mark.parametrize("first", [True, False], ids=["number-first", "number-second"])
@pytest.mark.parametrize("op", [pytest.param(op, id=op.name) for op in _BINARY])
def test_a_number_beside_integers(op, first, number):
    """A float makes them the default float dtype, an int leaves them as they are, on either side."""
    array = SMALL["int64"]
    try:
        (result,) = arrays_of(op.function(number, wrap(array)) if first else op.function(wrap(array), number))
    except (WengertError, RuntimeError):
        return
    if result.dtype.kind != "b":
        assert result.dtype in ((np.float32,) if isinstance(number, float) else (np.int64, np.float32))
    plain = find_oracle(op.name)(*((number, array) if first else (array, number)))
    np.testing.assert_allclose(result, plain, rtol=3e-5)
