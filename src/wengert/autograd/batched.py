"""grad(is_grads_batched=True): one backward pass for each entry of a batch of cotangents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert import errors
from wengert.core.tensor import TensorBase, wrap
from wengert.ops import OPS


def grad_of_batch(
    outputs: tuple[Any, ...], inputs: Any, grad_outputs: Sequence[Any], run: Callable[[list[Any], bool], tuple[Any, ...]]
) -> tuple[Any, ...]:
    """Run one backward pass for each entry along dimension 0 of grad_outputs, and stack the gradients.

    run(cotangents, is_last): runs one pass and returns the gradients of inputs.
    """
    size = _batch_size(outputs, grad_outputs)
    passes = [run([ct[i] for ct in grad_outputs], i + 1 == size) for i in range(size)]
    if not passes:
        given: Any = (inputs,) if isinstance(inputs, TensorBase) else inputs
        return tuple([wrap(np.zeros((0, *x._array.shape), x._array.dtype)) for x in given])
    stack = OPS["stack"].function
    return tuple([None if found[0] is None else stack(found) for found in zip(*passes, strict=True)])


def _batch_size(outputs: tuple[Any, ...], grad_outputs: Sequence[Any]) -> int:
    """Return the size of dimension 0, which all cotangents share."""
    sizes = []
    for i, (output, ct) in enumerate(zip(outputs, grad_outputs, strict=True)):
        if not isinstance(ct, TensorBase) or not ct._array.ndim:
            raise errors.ElementError(
                "is_grads_batched=True needs a grad_output, with a batch dimension in front, for every output"
            )
        shape = ct._array.shape[1:]
        expected = getattr(output, "shape", None)  # a GradientEdge has no shape; the pass itself checks it
        if expected is not None and shape != expected:
            raise errors.GradientError(
                "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension. "
                "The sizes of the remaining dimensions are expected to match the shape of corresponding output, but a "
                f"mismatch was detected: grad_output[{i}] has a shape of torch.Size({list(shape)}) and output[{i}] has a "
                f"shape of torch.Size({list(expected)}). If you only want some tensors in `grad_output` to be considered "
                "batched, consider using vmap."
            )
        sizes.append(ct._array.shape[0])
    if len(set(sizes)) > 1:
        raise errors.mapped_sizes(sizes)
    return int(sizes[0])
