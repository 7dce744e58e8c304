"""Communication hooks for DistributedDataParallel.register_comm_hook: means in the gradients' dtype, or in 16 bits.

The first argument of a hook is its process group; None is the default one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.core.tensor import wrap
from wengert.distributed.buckets import GradBucket
from wengert.distributed.collectives import all_gather_into_tensor, all_reduce, all_to_all_single
from wengert.distributed.process_group import default_group
from wengert.dtypes import as_numpy_dtype, bfloat16, dtype, float16
from wengert.futures import Future

__all__ = ["allreduce_hook", "bf16_compress_hook", "bf16_compress_wrapper", "fp16_compress_hook", "fp16_compress_wrapper"]

Hook = Callable[[Any, GradBucket], Future[Any]]


def allreduce_hook(process_group: Any, bucket: GradBucket) -> Future[Any]:
    """Take the mean over the ranks, as without a hook."""
    group = default_group() if process_group is None else process_group
    buffer = bucket.buffer()
    buffer._array[...] /= group.size()
    return all_reduce(buffer, group=group, async_op=True).get_future().then(lambda done: done.value()[0])


def fp16_compress_hook(process_group: Any, bucket: GradBucket) -> Future[Any]:
    """Take the mean over the ranks, of gradients that travel as float16. Each rank adds one part of the vector, in float32."""
    return _mean_of_halves(process_group, bucket, float16)


def bf16_compress_hook(process_group: Any, bucket: GradBucket) -> Future[Any]:
    """Take the mean over the ranks, of gradients that travel as bfloat16. Each rank adds one part of the vector, in float32."""
    return _mean_of_halves(process_group, bucket, bfloat16)


def _mean_of_halves(process_group: Any, bucket: GradBucket, kind: dtype) -> Future[Any]:
    """Exchange parts of the vector, add the part of this rank, and gather the sums.

    MPI adds no floats of 16 bits, and an all-reduce of float32 would send twice as many bytes."""
    group = default_group() if process_group is None else process_group
    size, half = group.size(), as_numpy_dtype(kind)
    vector = bucket.buffer()
    count = vector.numel()
    length = -(-count // size)
    sent = np.zeros(size * length, half)
    np.divide(vector._array, size, out=sent[:count], casting="unsafe")
    parts = wrap(np.empty(size * length, half))

    def add(done: Future[Any]) -> Any:
        done.value()  # raises the error of the exchange
        rows = parts._array.reshape(size, length)
        sums = wrap(np.empty(size * length, half))
        all_gather_into_tensor(sums, wrap(rows.astype(np.float32).sum(0).astype(half)), group)
        vector._array[...] = sums._array[:count]
        return vector

    return all_to_all_single(parts, wrap(sent), group=group, async_op=True).get_future().then(add)


def fp16_compress_wrapper(hook: Hook) -> Hook:
    """Return a hook that calls another one with gradients in float16, and writes its result back in their own dtype."""
    return _compressed(hook, float16)


def bf16_compress_wrapper(hook: Hook) -> Hook:
    """Return a hook that calls another one with gradients in bfloat16, and writes its result back in their own dtype."""
    return _compressed(hook, bfloat16)


def _compressed(hook: Hook, kind: dtype) -> Hook:
    def compressed_hook(state: Any, bucket: GradBucket) -> Future[Any]:
        vector = bucket.buffer()
        bucket.set_buffer(vector.to(kind))

        def decompress(done: Future[Any]) -> Any:
            found = done.value()
            found = found[0] if isinstance(found, (list, tuple)) else found
            vector._array[...] = found._array
            return vector

        return hook(state, bucket).then(decompress)

    return compressed_hook


def __dir__() -> list[str]:
    return sorted(__all__)
