"""What is said of the arguments of a call that fails inside. An argument that an operation takes is never called wrong."""

from __future__ import annotations

import numpy as np
import pytest

import wengert
from op_samples.cases import CASES, Case
from wengert import Tensor
from wengert.nn import functional as F
from wengert.ops.arguments import explained_function, explained_operation
from wengert.ops.registry import Operation, Plain


def explained(case: Case) -> Exception | None:
    """Return the error that a call of the sample raises in place of a RuntimeError from inside, or None."""
    op, inputs, error = case.op, case.tensors(np.float64), RuntimeError("inside")
    if isinstance(op, Operation):
        return explained_operation(op, inputs, case.params, error)
    return explained_function(op.name, op.fn, 0 if isinstance(op, Plain) else 1, inputs, case.params, error)


def test_no_valid_argument_is_called_wrong():
    found = {case.id: error for case in CASES if (error := explained(case)) is not None}
    assert not found


@pytest.mark.parametrize("call", [lambda x, out: F.dropout(x, training=False, out=out), lambda x, out: Tensor.conj_physical(x, out=out)])
@pytest.mark.parametrize("x", ["abc", np.float64(2.0), object()])
def test_functions_that_return_their_argument_want_a_tensor(call, x):
    with pytest.raises(TypeError, match=r"argument 'input' \(position 1\) must be Tensor, not (str|float64|object)"):
        call(x, wengert.zeros(3))


@pytest.mark.parametrize("call", [lambda x: F.dropout(x, training=False), lambda x: F.dropout(x, 0.0), wengert.chain_matmul])
def test_nothing_but_a_tensor_comes_back_unchanged(call):
    with pytest.raises(TypeError, match=r"argument '(input|matrices)' \(position 1\) must be Tensor, not str"):
        call("abc")
