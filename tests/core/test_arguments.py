"""What is said of the arguments of a call that fails inside. An argument that an operation takes is never called wrong."""

from __future__ import annotations

import numpy as np
import pytest

from op_samples.cases import CASES, Case
from wengert.ops.arguments import explained_function, explained_operation
from wengert.ops.registry import Operation, Plain


def explained(case: Case) -> Exception | None:
    """Return the error that a call of the sample raises in place of a RuntimeError from inside, or None."""
    op, inputs, error = case.op, case.tensors(np.float64), RuntimeError("inside")
    if isinstance(op, Operation):
        return explained_operation(op, inputs, case.params, error)
    return explained_function(op.name, op.fn, 0 if isinstance(op, Plain) else 1, inputs, case.params, error)


@pytest.mark.parametrize("name", sorted({case.name for case in CASES}))
def test_no_valid_argument_is_called_wrong(name):
    found = {case.id: explained(case) for case in CASES if case.name == name}
    assert not any(found.values()), found
