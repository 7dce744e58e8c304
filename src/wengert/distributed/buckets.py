"""Buckets: gradients that travel together, in one vector. See Note [Buckets] in nn/parallel/distributed.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core.tensor import wrap
from wengert.distributed.reduce_op import compute_dtype
from wengert.distributed.work import Work

__all__ = ["Bucket", "GradBucket", "divide"]


class Bucket:
    """Parameters whose gradients travel together. places: parameter -> slice of the flat array."""

    def __init__(self, parameters: list[Any]) -> None:
        self.parameters = parameters
        ends = np.cumsum([p.numel() for p in parameters]).tolist()
        self.slices = [slice(end - p.numel(), end) for p, end in zip(parameters, ends)]
        self.dtype = parameters[0]._array.dtype
        self.flat: Any = np.zeros(ends[-1], compute_dtype(self.dtype))
        self.missing = len(parameters)
        self.work: Work | None = None
        self.future: Any = None  # what a hook has returned in place of the work

    def view(self, index: int) -> Any:
        """The part of the flat array that has the gradient of a parameter, in its shape."""
        return self.flat[self.slices[index]].reshape(self.parameters[index]._array.shape)


def divide(parameters: list[Any], first: float, cap: float) -> list[Bucket]:
    """Divide parameters into buckets of one dtype, each filled until it has `cap` bytes, the first one until it has `first`."""
    open_buckets: dict[Any, list[Any]] = {}
    sizes: dict[Any, int] = {}
    buckets: list[Bucket] = []
    for parameter in reversed(parameters):
        dtype = parameter._array.dtype
        open_buckets.setdefault(dtype, []).append(parameter)
        sizes[dtype] = sizes.get(dtype, 0) + parameter.nbytes
        if sizes[dtype] >= (cap if buckets else first):
            buckets.append(Bucket(open_buckets.pop(dtype)))
            del sizes[dtype]
    return buckets + [Bucket(rest) for rest in open_buckets.values()]


class GradBucket:
    """What a communication hook gets: gradients that travel together, in one vector."""

    def __init__(self, bucket: Bucket, index: int, is_last: bool) -> None:
        self._bucket, self._index, self._is_last = bucket, index, is_last
        self._buffer = wrap(bucket.flat)

    def buffer(self) -> Any:
        """Return the vector of all gradients of the bucket: those of this rank, not divided by the number of ranks."""
        return self._buffer

    def set_buffer(self, buffer: Any) -> None:
        """Replace the vector by another one of its shape."""
        self._buffer = buffer

    def gradients(self) -> list[Any]:
        """Return the gradients, in the shapes of their parameters: parts of the vector."""
        parameters = self._bucket.parameters
        return [self._buffer[part].view(p.shape) for part, p in zip(self._bucket.slices, parameters)]

    def parameters(self) -> list[Any]:
        """Return the parameters."""
        return list(self._bucket.parameters)

    def index(self) -> int:
        """Return the number of the bucket, which is the order in which they travel."""
        return self._index

    def is_last(self) -> bool:
        """Whether this is the last bucket of the pass."""
        return self._is_last
