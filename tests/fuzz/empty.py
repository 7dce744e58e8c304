"""Every operation with sizes of 0, compared with torch: the shapes and dtypes of results and gradients, or that both refuse.

One call takes an operation with one of its samples, and sets one size to 0: wherever it occurs, or in one dimension of one input.
The derivative is called as well.
"""

from __future__ import annotations

import random
import re
import warnings
from typing import Any

import numpy as np

from op_samples import Data
from op_samples.cases import CASES, flatten, tensors_in
from wengert.autograd import grad

CALLS = 400
needs_torch = True
# torch computes what its own words refuse, or gives a result of the wrong shape: images without channels, kernels without taps,
# offsets beyond the data, weights of other sizes for no channels, indices beyond a dimension of size 0, matrices that are not square or pivots that
# do not fit if nothing is in them.
LENIENT_IN_TORCH = (
    "adaptive_(avg|max)_pool|segment_reduce|pixel_unshuffle|^pad$|scatter_reduce|^conv|lu_unpack|multi_head_attention|"
    "scaled_dot_product_attention|index_add|addmv|cholesky|linalg_pinv|pinverse|fractional_max_pool|trapezoid|trapz|"
    "^cross_entropy$|interpolate|linalg_cond|batch_norm|instance_norm"
)
TORCH_CRASHES = {  # on tables without rows or columns, on factors, states or heads without elements
    "embedding_bag", "nn.functional_embedding_bag", "lstm", "lu_unpack", "scaled_dot_product_attention",
}  # fmt: skip


def run(seed: int, calls: int) -> None:
    """Compare `calls` drawn calls. Raises AssertionError with the call if one differs."""
    for number in range(calls):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            problem = compare(seed * 1_000_003 + number)
        assert problem is None, f"compare({seed * 1_000_003 + number}): {problem}"


def compare(seed: int) -> str | None:
    """Return a description of how one drawn call differs from torch's, or None."""
    from parity.test_ops import Pair, torch, torch_function  # this import looks for torch

    draw = random.Random(seed)
    case = draw.choice(CASES)
    sizes = sorted({n for d in case.data() for n in d.shape})
    if not sizes or torch_function(case.op) is None or case.is_random or case.name in TORCH_CRASHES:
        return None
    size, everywhere = draw.choice(sizes), draw.random() < 0.7
    values = emptied(case.values(np.float64), case.sample.inputs, size, everywhere, draw)
    pair = Pair(case, values)
    call = f"{case.name} of {[x.shape if isinstance(x, np.ndarray) else x for x in flatten(values)]} with {case.sample.params}"
    ours, theirs = pair.result, pair.wanted
    if isinstance(ours, Exception):
        if isinstance(ours, (RuntimeError, ValueError, TypeError)) and re.search(LENIENT_IN_TORCH, case.name):
            return None
        if not isinstance(theirs, Exception):
            return f"{call} raises {type(ours).__name__}: {ours}; torch has a result"
        inside = isinstance(ours, (AssertionError, AttributeError, KeyError, SystemError, ZeroDivisionError))
        return f"{call} raises {type(ours).__name__}: {ours}, torch {theirs}" if inside else None
    if isinstance(theirs, Exception):
        return None  # what torch refuses may have a result here
    for a, b in [] if re.search(LENIENT_IN_TORCH, case.name) else pair.outputs():
        if tuple(a.shape) != tuple(b.shape) or a._array.dtype != b.detach().resolve_conj().numpy().dtype:
            return f"{call} is {a.dtype} {tuple(a.shape)}, in torch {b.dtype} {tuple(b.shape)}"
    leaves = [x for x in tensors_in(pair.ours) if x.requires_grad]
    results = [x for x in tensors_in(ours) if x.requires_grad]
    if leaves and results:
        try:
            found = grad([x.sum() for x in results], leaves, allow_unused=True)
        except Exception as error:
            twins = [x for x in flatten(pair.theirs) if isinstance(x, torch.Tensor) and x.requires_grad]
            try:
                torch.autograd.grad([x.sum() for x in flatten(theirs) if isinstance(x, torch.Tensor) and x.requires_grad], twins)
            except Exception:
                return None
            return f"the derivative of {call} raises {type(error).__name__}: {error}"
        for x, g in zip(leaves, found, strict=True):
            if g is not None and (g.shape != x.shape or g.dtype != x.dtype):
                return f"the derivative of {call} is {g.dtype} {tuple(g.shape)}, of a {x.dtype} {tuple(x.shape)}"
    return None


def emptied(values: list[Any], specs: Any, size: int, everywhere: bool, draw: random.Random) -> list[Any]:
    """Return the inputs of a case with a size of 0 in place of `size`, in all dimensions of that size or in one."""
    places = [(x, d) for x in flatten(list(specs)) if isinstance(x, Data) for d, n in enumerate(x.shape) if n == size]
    chosen = draw.choice(places)

    def change(x: Any, spec: Any) -> Any:
        if isinstance(x, list):
            return [change(y, s) for y, s in zip(x, spec, strict=True)]
        if not isinstance(x, np.ndarray):
            return x
        cut = [n == size if everywhere else spec is chosen[0] and d == chosen[1] for d, n in enumerate(x.shape)]
        return x[(*[slice(0) if c else slice(None) for c in cut], ...)]

    return [change(x, spec) for x, spec in zip(values, specs, strict=True)]
