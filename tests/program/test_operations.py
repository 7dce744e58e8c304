"""Every operation's samples, compiled: values, gradients and errors are those of the eager call."""

from __future__ import annotations

import warnings

import pytest

import wengert as torch
from compiled_samples import inputs_of, others_of, outcome_of, program_of
from loops import each
from op_samples.cases import CASES, Case, is_public

# Operations whose first sample runs eagerly, and why. One that is recorded after all does not belong here.
_UNKNOWN = "an array is used that no recorded operation has made"
_ARRAY = "a NumPy array is an operand"
_CONJUGATE = "a conjugate or negative view is used"
EAGER = {
    "as_strided_scatter": _ARRAY,
    "embedding_bag": _ARRAY,
    "ctc_loss": "a parameter is of type States",
    "fft_hfft2": _CONJUGATE,
    "fft_hfftn": _CONJUGATE,
    "fft_ifft": _CONJUGATE,
    "fft_ihfft": _CONJUGATE,
    "fractional_max_pool2d": _UNKNOWN,
    "fractional_max_pool2d_with_indices": _UNKNOWN,
    "fractional_max_pool3d": _UNKNOWN,
    "fractional_max_pool3d_with_indices": _UNKNOWN,
    "native_batch_norm": _UNKNOWN,
    "segment_reduce": _UNKNOWN,
}


def check(case: Case, with_gradient: bool) -> str:
    """Compare compiled with eager calls. Return "replayed", or why the case runs eagerly."""
    program = program_of(case, with_gradient)
    compiled = torch.compile(program)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in (0, 1, 2, 1):
            expected = outcome_of(program, inputs_of(case, number, with_gradient))
            found = outcome_of(compiled, inputs_of(case, number, with_gradient))
            for x, y in others_of(expected, found):
                assert x == y or x != x or not isinstance(x, (int, float, str))
    if any(recording.runs for recording in compiled.recordings):
        return "replayed"
    return compiled.refusals[0].split(" (")[0] if compiled.refusals else "fails"


@pytest.mark.slow
@each("case", [case for case in CASES if is_public(case.op) and case.number == 0])
def test_a_sample_of_each_operation(case):
    found = check(case, with_gradient=True)
    assert found.startswith(EAGER.get(case.op.name, "replayed")), found


def test_the_table_of_operations_that_run_eagerly_names_operations():
    assert EAGER.keys() <= {case.op.name for case in CASES if is_public(case.op) and case.number == 0}


@pytest.mark.exhaustive
@pytest.mark.parametrize("with_gradient", [False, True])
@each("case", CASES)
def test_all_samples(case, with_gradient):
    check(case, with_gradient)
