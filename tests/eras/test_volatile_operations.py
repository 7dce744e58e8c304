"""volatile through every operation of the registry: one volatile input, and every result is volatile and unrecorded."""

import numpy as np

from loops import each
from op_samples.cases import cases_where, tensors_in
from wengert.core.legacy import set_volatile

# Functions of each tensor by itself: only what came from the volatile one is.
ONE_BY_ONE = {"atleast_1d", "atleast_2d", "atleast_3d", "broadcast_tensors", "meshgrid"}
# What looks at arrays alone and gives counts, places or draws, through which no derivative leads. The results require no
# grad in any case; they can take part in a graph again, as after detach().
OUTSIDE_THE_GRAPH = {
    "binomial", "bincount", "bucketize", "histc", "histogram", "isin", "nonzero", "poisson", "repeat_interleave", "searchsorted", "unique",
    "unique_consecutive", "unravel_index",
}  # fmt: skip
# Operations with results that depend on nothing but the shape of what they are given, or on another input than the first,
# or that say where something was found.
WITH_CONSTANTS = {
    "svd", "vander", "native_batch_norm", "native_dropout", "triangular_solve", "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices", "fractional_max_pool3d", "fractional_max_pool3d_with_indices",
}  # fmt: skip


def volatile_inputs(case):
    """Inputs of the case. The first tensor among them is volatile, the others require grad if they can."""
    inputs = case.tensors(np.float64)
    set_volatile(tensors_in(inputs)[0], True)
    return inputs


@each("case", cases_where(lambda case: case.op.kind != "creation" and bool(tensors_in(case.tensors(np.float64)))))
def test_results_are_volatile(case):
    inputs = volatile_inputs(case)
    results = tensors_in(case.call(inputs))
    if case.name in ONE_BY_ONE:
        assert any(result.volatile for result in results)
        return
    for result in results:
        assert result.volatile or case.name in OUTSIDE_THE_GRAPH | WITH_CONSTANTS
        assert not result.requires_grad and result.grad_fn is None
