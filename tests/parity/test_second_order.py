"""Which gradients carry a graph under create_graph=True, and where it leads, on torch and wengert: every operation and sample."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from op_samples.cases import Case, flatten, over_samples, tensors_in  # noqa: E402
from parity.test_ops import Pair, random_like, torch_function, unlike  # noqa: E402
from wengert.autograd import grad  # noqa: E402
from wengert.core.tensor import wrap  # noqa: E402

VALUE, NONE, NO_GRAPH, UNUSED, NO_DERIVATIVE = "value", "None", "no graph", "unused", "torch has no derivative"

# What differs, and why. The aspects are "graph" (g.requires_grad), "reach" (a value, None or an error) and "value".
_ONE_FUNCTION = "torch computes the cotangents of input, weight and bias by one function; the bias' reaches nothing there either"
_STEPS = "made of other operations, whose derivatives do not look at the input"
_SMALL = "torch has a shorter formula for this size"
_SHORT = "depends on nothing; torch computes it by a quotient or product that cancels but for rounding"
KNOWN: dict[tuple[str, str], str] = {
    **dict.fromkeys([(f"conv{t}{n}d", "graph") for t in ("", "_transpose") for n in "123"], _ONE_FUNCTION),
    **dict.fromkeys([(name, "graph") for name in (
        "convolution", "native_batch_norm", "nn.functional_batch_norm", "batch_norm", "nn.functional_instance_norm",
        "instance_norm")], _ONE_FUNCTION),
    **dict.fromkeys([(f"fractional_max_pool{n}d{end}", "graph") for n in "23" for end in ("", "_with_indices")], _STEPS),
    **dict.fromkeys([("segment_reduce", "graph"), ("grid_sample", "graph")], _STEPS),
    **dict.fromkeys([(name, "graph") for name in ("prod", "cumprod", "det", "linalg_vander")], _SMALL),
    **dict.fromkeys([(name, "reach") for name in ("polar", "scatter_reduce", "index_reduce")], _SHORT),
    **dict.fromkeys([("cdist", "graph"), ("pdist", "graph")], "torch has a graph here, but no derivative"),
    ("linalg_lstsq", "reach"): "the residuals are 0 here, and constant in torch",
    ("norm", "first"): "the gradient of a norm of order 0 is 0 here, and None in torch",
    ("linalg_vector_norm", "first"): "the gradient of a norm of order 0 is 0 here, and None in torch",
    ("polar", "value"): "torch's derivative is right only where abs is positive, as it should be",
    ("celu", "value"): "torch divides by alpha in single precision",
    ("cholesky_solve", "value"): "the triangle that is looked at has a gradient; torch gives one to the whole factor",
    ("cholesky_inverse", "value"): "the triangle that is looked at has a gradient; torch gives one to the whole factor",
    ("masked_norm", "value"): "what is masked does not count under a negative order either; torch counts it as 0",
    ("masked_logaddexp", "value"): "the second derivative at -inf is 0, its limit; torch's is NaN",
}  # fmt: skip


def second(function: Any, g: Any, x: Any, allow_unused: bool) -> tuple[str, Any]:
    """Return (kind, value) of the gradient of a gradient."""
    try:
        (found,) = function(abs(g).sum() if g.is_complex() else g.sum(), [x], retain_graph=True, allow_unused=allow_unused)
    except RuntimeError as error:
        text = str(error)
        if "does not require grad" in text:
            return NO_GRAPH, None
        if "not have been used" in text:
            return UNUSED, None
        if "is not implemented" in text:
            return NO_DERIVATIVE, None
        raise
    return (NONE, None) if found is None else (VALUE, found)


def findings(pair: Pair) -> Iterator[tuple[str, str]]:
    """(aspect, text) of each difference in the graphs of the gradients of one call."""
    ours, theirs = pair.differentiable()
    inputs = [x for x in tensors_in(pair.ours) if x.requires_grad]
    twins = [x for x in flatten(pair.theirs) if isinstance(x, torch.Tensor) and x.requires_grad]
    if not ours or not inputs:
        return
    cotangents = random_like([x._array for x in ours], 3)
    starts = [torch.from_numpy(c.copy()) for c in cotangents]
    try:
        wanted = torch.autograd.grad(theirs, twins, starts, create_graph=True, allow_unused=True)
    except RuntimeError:  # torch has no derivative
        return
    found = grad(ours, inputs, [wrap(c) for c in cotangents], create_graph=True, allow_unused=True)
    for i, (a, b) in enumerate(zip(found, wanted, strict=True)):
        if (a is None) != (b is None):
            yield "first", f"gradient {i}: {'None' if a is None else 'a value'}"
        elif a is not None and a.requires_grad != b.requires_grad:
            yield "graph", f"gradient {i} requires grad: {a.requires_grad}, torch {b.requires_grad}"
        elif a is not None and a.requires_grad:
            for j, (x, twin) in enumerate(zip(inputs, twins, strict=True)):
                for allow_unused in (True, False):
                    kind, value = second(grad, a, x, allow_unused)
                    their_kind, their_value = second(torch.autograd.grad, b, twin, allow_unused)
                    if their_kind == NO_DERIVATIVE:
                        continue  # ours has one
                    if kind != their_kind:
                        yield "reach", f"gradient {i} in input {j}: {kind}, torch {their_kind}"
                    elif kind == VALUE and (text := unlike(value, their_value)):
                        yield "value", f"gradient {i} in input {j}: {text}"


def comparable(case: Case) -> bool:
    """Whether torch has the operation, it may be differentiable, and there are elements: for none, torch ends early."""
    public = (case.op.method or case.op.namespaces) and not any(0 in d.shape for d in case.data())
    return bool(public) and case.op.kind not in ("nondifferentiable", "creation") and torch_function(case.op) is not None


@over_samples(comparable, quick=1)
def test_gradients_carry_the_graph_that_torchs_carry(case):
    pair = Pair(case, case.values(np.float64))
    if not pair.failed:
        unknown = [text for aspect, text in findings(pair) if (case.name, aspect) not in KNOWN]
        assert not unknown, f"{case.id}: {unknown}"
