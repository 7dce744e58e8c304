"""grad(is_grads_batched=True): one backward pass for each of a batch of cotangents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wengert.core.tensor import TensorBase
from wengert.errors import functional as errors


def grad_of_batch(
    outputs: tuple[Any, ...],
    inputs: Any,
    grad_outputs: Sequence[Any],
    retain_graph: bool | None,
    create_graph: bool | None,
    allow_unused: bool | None,
    materialize_grads: bool,
) -> tuple[Any, ...]:
    """autograd.grad for each entry along the first dimension of grad_outputs; the results are stacked."""
    from wengert import stack, zeros
    from wengert.autograd import grad

    size = _batch_size(outputs, grad_outputs)
    keep = create_graph if retain_graph is None else retain_graph
    passes = [
        grad(
            outputs,
            inputs,
            [ct[i] for ct in grad_outputs],
            retain_graph=bool(keep) or i + 1 < size,
            create_graph=create_graph,
            allow_unused=allow_unused,
            materialize_grads=materialize_grads,
        )
        for i in range(size)
    ]
    if not passes:
        given: Any = (inputs,) if isinstance(inputs, TensorBase) else inputs
        return tuple([zeros((0, *x.shape), dtype=x.dtype) for x in given])
    return tuple([None if found[0] is None else stack(found) for found in zip(*passes, strict=True)])


def _batch_size(outputs: tuple[Any, ...], grad_outputs: Sequence[Any]) -> int:
    """The size of the dimension in front, which all cotangents have."""
    sizes = []
    for i, (output, ct) in enumerate(zip(outputs, grad_outputs, strict=True)):
        if not isinstance(ct, TensorBase) or not ct._array.ndim:
            raise errors.batch_missing()
        shape = ct._array.shape[1:]
        expected = getattr(output, "shape", None)  # a GradientEdge has none; the pass itself looks at it
        if expected is not None and shape != expected:
            raise errors.batched_gradient_shape(i, f"torch.Size({list(shape)})", f"torch.Size({list(expected)})")
        sizes.append(ct._array.shape[0])
    if len(set(sizes)) > 1:
        raise errors.batch_sizes(sizes)
    return int(sizes[0])
