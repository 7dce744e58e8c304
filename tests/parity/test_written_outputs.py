"""Writing into the result of an operation before the backward pass, on torch and wengert: where torch allows it, so does wengert.

A result is written so often (y = a / b; y += 1) that saving it for the derivative must not surprise.
"""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import wengert  # noqa: E402
from loops import each  # noqa: E402
from op_samples.cases import Case, first_cases, flatten, is_public  # noqa: E402


def is_found_wrong(library, out):
    """Whether a pass fails because the first result was written; None where there is nothing to write or to differentiate."""
    outputs = [o for o in flatten(out) if isinstance(o, library.Tensor) and o.requires_grad]
    if not outputs or outputs[0]._is_view():
        return None
    total = sum((o.abs() if o.is_complex() else o).sum() for o in outputs)
    with library.no_grad():
        outputs[0].zero_()
    try:
        total.backward()
    except RuntimeError as error:
        return "modified by an inplace operation" in str(error)
    return False


def twin(x):
    """Return torch's copies of our tensors, in the same lists and tuples."""
    if isinstance(x, (list, tuple)):
        return type(x)(twin(y) for y in x)
    if not isinstance(x, wengert.Tensor):
        return x
    return torch.tensor(x.detach().numpy()).requires_grad_(x.requires_grad)


def torch_function(op):
    for home in (torch, torch.nn.functional, torch.special, torch.linalg, torch.Tensor):
        name = op.name.removeprefix(f"{home.__name__.removeprefix('torch.')}_")
        if hasattr(home, name):
            return getattr(home, name)
    return None


# torch refuses these before anything could be written: a derivative of this copy, operands of two dtypes.
REFUSED = {"view_as_complex_copy", "triangular_solve"}

CASES = {
    name: case
    for name, case in first_cases().items()
    if is_public(case.op) and not case.is_random and torch_function(case.op) and "dtype" not in case.sample.params
    and name not in REFUSED
}


@pytest.mark.filterwarnings("ignore")
@each("case", [pytest.param(case, id=name) for name, case in CASES.items()])
def test_a_written_result_is_an_error_only_where_it_is_in_torch(case: Case):
    ours = case.wrapped(case.values(np.float64, writable=True), requires_grad=True)
    theirs = [twin(x) for x in ours]
    found = is_found_wrong(wengert, case.call(ours))
    if found:
        params = {name: twin(value) for name, value in case.params.items()}
        assert is_found_wrong(torch, torch_function(case.op)(*theirs, **params)) is not False
