"""Parameters that are numbers may be given as NumPy's numbers, and as tensors without dimensions: the result is the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert
from op_samples.cases import CASES, Case, flatten, naming


def with_numbers() -> list[tuple[Case, str]]:
    """One case for each public operation and parameter that is a number."""
    found: dict[tuple[str, str, type], tuple[Case, str]] = {}
    for case in CASES:
        if (case.op.namespaces or case.op.method) and not case.is_random:
            for name, value in case.sample.params.items():
                if isinstance(value, int | float) and not isinstance(value, bool):
                    key = (case.name, name, type(value))
                    found.setdefault(key, (case, name))
    return list(found.values())


def results(case: Case, **params: Any) -> list[Any]:
    values = case.op.function(*case.tensors(np.float64, requires_grad=False), **{**case.params, **params})
    return [x._array if hasattr(x, "_array") else x for x in flatten(values)]


@pytest.mark.filterwarnings("ignore")
def test_a_number_may_be_numpys_or_a_tensor():
    for case, name in with_numbers():
        value = case.sample.params[name]
        with naming(f"{case.id}, {name}={value!r}"):
            expected = results(case)
            for form in (np.array(value)[()], wengert.tensor(value, dtype=wengert.float64 if isinstance(value, float) else None)):
                for array, same in zip(results(case, **{name: form}), expected, strict=True):
                    np.testing.assert_allclose(array, same, rtol=1e-12)
                    assert np.asarray(array).dtype == np.asarray(same).dtype
