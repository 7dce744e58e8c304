"""Every operation's samples, compiled: values, gradients and errors are those of the eager call."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import wengert as torch
from compiled_samples import inputs_of, outcome_of, program_of
from loops import each
from op_samples.cases import CASES, Case, is_public

# Why operations run eagerly. In a sample of each operation, no other reason is given.
REASONS = (
    "a result is a view of a tensor that exists before the call", "a NumPy array is an operand", "two results share memory",
    "an array is used that no recorded operation has made", "a parameter is of type Along", "a parameter is of type States",
    "a conjugate or negative view is used", "_bisect.bisect_left() is called", "fails",
)  # fmt: skip


def check(case: Case, with_gradient: bool) -> str:
    """Compare compiled with eager calls. Return "replayed", or why the case runs eagerly."""
    program = program_of(case, with_gradient)
    compiled = torch.compile(program)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in (0, 1, 2, 1):
            expected = outcome_of(program, inputs_of(case, number, with_gradient))
            found = outcome_of(compiled, inputs_of(case, number, with_gradient))
            assert len(expected) == len(found)
            for x, y in zip(expected, found, strict=True):
                if isinstance(x, np.ndarray):
                    assert x.dtype == y.dtype
                    np.testing.assert_allclose(y, x, rtol=1e-12, atol=1e-13)
                else:
                    assert type(x) is type(y) and (x == y or x != x or not isinstance(x, (int, float, str)))
    if any(recording.runs for recording in compiled.recordings):
        return "replayed"
    return compiled.refusals[0].split(" (")[0] if compiled.refusals else "fails"


@pytest.mark.slow
@each("case", [case for case in CASES if is_public(case.op) and case.number == 0])
def test_a_sample_of_each_operation(case):
    found = check(case, with_gradient=True)
    assert found == "replayed" or found.startswith(REASONS), found


@pytest.mark.exhaustive
@pytest.mark.parametrize("with_gradient", [False, True])
@each("case", CASES)
def test_all_samples(case, with_gradient):
    check(case, with_gradient)
