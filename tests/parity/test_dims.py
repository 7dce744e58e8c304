"""Wrong values of `dim` in every operation and method that has one, on torch and wengert: what raises, and with which words.

Where torch takes no more than an int, and says so in a TypeError, wengert may take a tuple as well.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import wengert
from loops import each
from op_samples.cases import CASES, Case, flatten
from parity.test_ops import to_torch, torch_function
from wengert.errors import WengertError

torch = pytest.importorskip("torch")

NAMES = ("dim", "dims", "dim0", "dim1", "dim2", "start_dim", "end_dim", "axis0", "axis1", "dimension", "source", "destination")

# (operation, what is wrong): why torch's words are others.
DIFFERENCES = {
    ("logsumexp", "empty"): "no dims are all dims; torch fails over the shape of its result",
    ("permute", "any"): "torch names a function for sparse tensors",
    ("permute_copy", "any"): "torch names a function for sparse tensors",
    ("tensordot", "empty"): "torch fails unpacking the two lists",
    ("tensordot", "in a list"): "torch fails unpacking the two lists",
    ("narrow_copy", "too large"): "torch ends in an internal check",
    ("tile", "any"): "torch shows the product of the number and the size",
    ("cummax", "too large"): "torch has words of its own for 0-d tensors",
    ("linalg_tensorsolve", "any"): "torch compares with the number of elements of the right-hand side",
}


# Truth values as dims, and what torch makes of them.
TRUTH_VALUES = {
    **dict.fromkeys(("var", "std", "var_mean", "std_mean"), "given by name too, it is `unbiased`"),
    "tensordot": "a number of dims, or lists of them",
}


def wrong_values(ndim: int) -> dict[str, list[Any]]:
    return {
        "too large": [ndim, 5],
        "too small": [-ndim - 1],
        "repeated": [(0, 0), (-1, ndim - 1), [0, 0]],
        "one too large": [(0, ndim)],
        "empty": [()],
        "in a list": [[0], (-1,)],
        "negative": [-1],
        "no integer": [0.5, "x"],
    }


def with_dims() -> list[Any]:
    """One case for each operation, parameter, kind of value and number of dimensions."""
    found: dict[tuple[Any, ...], Any] = {}
    for case in CASES:
        if (case.op.namespaces or case.op.method) and torch_function(case.op) is not None:
            for name in [n for n in NAMES if n in case.sample.params]:
                ndim = next((x.ndim for x in flatten(case.values(np.float64)) if isinstance(x, np.ndarray)), None)
                key = (case.name, name, type(case.sample.params[name]).__name__, ndim)
                if ndim is not None:
                    found.setdefault(key, pytest.param(case, name, ndim, id="-".join(map(str, key))))
    return list(found.values())


def outcome(function: Any, inputs: list[Any], params: dict[str, Any]) -> Any:
    """The shapes of the results, or the exception."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [tuple(x.shape) for x in flatten(function(*inputs, **params)) if hasattr(x, "shape")]
    except Exception as error:
        return error


def words(error: Exception) -> str:
    return str(error).splitlines()[0].split(" Hint: ")[0].replace("dim=", "dim ").rstrip(". ")


@each(("case", "name", "ndim"), with_dims())
@each("value", [True, False])
def test_truth_values_are_no_dims(case: Case, name: str, ndim: int, value: Any):
    """torch takes none where it looks at them itself; its masked functions, written in Python, take them for 0 and 1."""
    ours = outcome(case.op.function, case.tensors(np.float64, requires_grad=False), {**case.params, name: value})
    if case.name in TRUTH_VALUES:
        assert not isinstance(ours, Exception), "a known difference is gone"
    else:
        assert isinstance(ours, (WengertError, TypeError)), f"{ours!r}"


@each("value", [np.int64(0), np.int32(-1)])
@each(("case", "name", "ndim"), [p for p in with_dims() if p.values[0].name != "permute"])  # a sequence only
def test_integers_of_numpy_are_dims(case: Case, name: str, ndim: int, value: Any):
    """Wherever an int is one; so are tensors of one integer."""
    inputs = case.tensors(np.float64, requires_grad=False)
    outcomes = [outcome(case.op.function, inputs, {**case.params, name: form})
                for form in (int(value), value, wengert.tensor(int(value)))]
    kinds = [type(found) if isinstance(found, Exception) else found for found in outcomes]
    assert kinds == [kinds[0]] * 3, f"{outcomes}"


def test_dims_that_are_not_integers_are_refused_with_their_type():
    x = wengert.ones(2, 3)
    for call, kind in (
        (lambda: x.softmax((0, 1)), "tuple"), (lambda: x.sum(dim="x"), "str"), (lambda: x.cumsum(0.5), "float"),
        (lambda: x.sum(dim=True), "bool"), (lambda: x.max(dim=(0, 1)), "tuple"), (lambda: x.transpose(0, True), "bool"),
    ):
        with pytest.raises(TypeError, match=rf"argument 'dim'( \(position 2\))? must be int, not {kind}"):
            call()


def complaint(ours: Any, theirs: Any) -> str | None:
    """Describe how an outcome differs from torch's, or None."""
    if isinstance(theirs, TypeError):
        fine = not isinstance(ours, Exception) or isinstance(ours, (WengertError, TypeError))
        return None if fine else f"{ours!r}, torch: {theirs}"
    if not isinstance(theirs, Exception):
        return None if ours == theirs else f"{ours!r}, torch: {theirs}"
    kind = next(k for k in type(theirs).__mro__ if k.__module__ == "builtins")
    if not isinstance(ours, kind):
        return f"{ours!r}, torch: {theirs!r}"
    mine, torchs = words(ours), words(theirs)
    return None if mine.startswith(torchs) or torchs.startswith(mine) else f"{mine!r}, torch: {torchs!r}"


def complaints(case: Case, name: str, ndim: int) -> dict[str, list[str]]:
    """Return the complaints about each kind of value."""
    inputs = case.tensors(np.float64, requires_grad=False)
    twins = [[to_torch(y) for y in x] if isinstance(x, list) else to_torch(x) for x in inputs]
    params = {k: to_torch(v) for k, v in case.sample.params.items()}
    function, found = torch_function(case.op), {}
    for what, values in wrong_values(ndim).items():
        for value in values:
            ours = outcome(case.op.function, inputs, {**case.params, name: value})
            wrong = complaint(ours, outcome(function, twins, {**params, name: value}))
            if wrong:
                found.setdefault(what, []).append(f"{name}={value!r}: {wrong}")
    return found


@each(("case", "name", "ndim"), with_dims())
def test_wrong_dims_are_refused_in_torchs_words(case: Case, name: str, ndim: int):
    found = complaints(case, name, ndim)
    unexplained = [x for what in found for x in found[what] if not {(case.name, what), (case.name, "any")} & DIFFERENCES.keys()]
    assert not unexplained, "\n".join(unexplained)


@pytest.mark.parametrize("known", DIFFERENCES, ids=lambda known: "-".join(known))
def test_known_differences_are_still_there(known):
    found = [complaints(*p.values) for p in with_dims() if p.values[0].name == known[0]]
    assert any(f if known[1] == "any" else known[1] in f for f in found)
