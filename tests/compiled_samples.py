"""Samples of operations as programs for compile."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as torch
from op_samples.cases import Case, flatten


def inputs_of(case: Case, number: int, requires_grad: bool) -> list[Any]:
    """The inputs of a case; other numbers for each `number`, of the same shapes."""
    return Case(case.op, case.sample, case.number + 5000 * number).tensors(np.float64, requires_grad=requires_grad)


def program_of(case: Case, with_gradient: bool) -> Any:
    """Return a function of the inputs: the operation's results, and the gradients of their sum."""
    function, params = case.op.function, case.params

    def program(*inputs):
        results = function(*inputs, **params)
        leaves = [x for x in flatten(inputs) if isinstance(x, torch.Tensor) and x.requires_grad]
        tensors = [x for x in flatten(results) if isinstance(x, torch.Tensor) and x.requires_grad and not x.is_complex()]
        if not with_gradient or not leaves or not tensors:
            return [x.detach() if isinstance(x, torch.Tensor) else x for x in flatten(results)]
        total = sum((x * x).sum() for x in tensors)
        found = torch.autograd.grad(total, leaves, allow_unused=True)
        return [*[x.detach() if isinstance(x, torch.Tensor) else x for x in flatten(results)], *found]

    return program


def outcome_of(program: Any, inputs: list[Any]) -> Any:
    """Run a program, and return its results as arrays, or its error."""
    torch.manual_seed(7)
    try:
        found = program(*inputs)
    except Exception as error:
        return type(error), str(error)
    return [x.resolve_conj().resolve_neg().numpy() if isinstance(x, torch.Tensor) else x for x in found]


def others_of(expected: Any, found: Any) -> list[tuple[Any, Any]]:
    """Check that the arrays of two outcomes are the same but for rounding. Return the pairs of other results, for the test to compare."""
    assert len(expected) == len(found)
    others = []
    for x, y in zip(expected, found, strict=True):
        if isinstance(x, np.ndarray):
            assert x.dtype == y.dtype
            np.testing.assert_allclose(y, x, rtol=1e-12, atol=1e-13)
        else:
            assert type(x) is type(y)
            others.append((x, y))
    return others
