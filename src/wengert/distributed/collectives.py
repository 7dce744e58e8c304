"""The calls that all ranks of a group make together. Arrays travel as MPI's buffers, without pickling.

All take `group`, the default group if None, and `async_op`: True returns a Work at once, whose wait() finishes the call; False
waits and returns None. Ranks that are not in the group return None with a warning. All raise DistBackendError on every rank if the
ranks make different calls, if one rank makes none until the group's time is over, or if a rank has ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np

from wengert import errors
from wengert.distributed.memory import (
    as_bytes,
    check_list,
    check_same,
    check_tensor,
    check_tensors,
    readable,
    received,
    writable,
    write,
)
from wengert.distributed.process_group import ProcessGroup, member_group, run
from wengert.distributed.reduce_op import ReduceOp, check_reduction, compute_dtype, mpi_operation

__all__ = [
    "all_gather", "all_gather_into_tensor", "all_reduce", "all_to_all", "all_to_all_single", "barrier", "broadcast", "gather",
    "monitored_barrier", "reduce", "reduce_scatter", "reduce_scatter_tensor", "scatter",
]  # fmt: skip


def root_of(call: str, group: ProcessGroup, rank: int | None, group_rank: int | None, default: int | None = None) -> int:
    """Return the rank in the group that a call names, by its global rank or the one in the group. Raises torch's errors.

    default: the global rank if the call names none; None if it must name one."""
    if rank is None and group_rank is None:
        rank = default
    if group_rank is not None:
        if rank is not None:
            raise ValueError("Can't specify both group_rank and global_rank")
        if not 0 <= group_rank < group.size():
            raise errors.DistError(f"{call}: invalid root rank: {group_rank}")
        return group_rank
    if rank is None:
        raise ValueError("Must specify global_rank or group_rank")
    if rank not in group.ranks:
        raise errors.DistError(f"{call}: invalid root rank: {rank}")
    return group.ranks.index(rank)


def check_roots_list(given: Any, is_root: bool, name: str, side: str) -> None:
    """Raise torch's ValueError unless the root gives a list, and no other rank does. side: what the root is, for the message."""
    if is_root and not given:
        raise ValueError(f"Argument ``{name}`` must be specified on {side} rank.")
    if given and not is_root:
        raise ValueError(f"Argument ``{name}`` must NOT be specified on non-{side} ranks.")


def _average(array: Any, op: Any, size: int) -> None:
    if op is ReduceOp.AVG:
        np.divide(array, size, out=array)


def all_reduce(tensor: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False) -> Any:
    """Replace tensor on every rank by the combination of the tensors of all ranks.

    tensor: any shape and dtype, the same on all ranks. float16 and bfloat16 are added in float32.
    """
    check_tensor(tensor, "tensor")
    check_reduction("all_reduce", op, tensor._array.dtype)
    found = member_group(group, "all_reduce")
    if found is None:
        return None
    writable(tensor, "all_reduce")
    array, finish = received(tensor, compute_dtype(tensor._array.dtype), keep=True)
    operation = mpi_operation(found.mpi, op, array.dtype)

    def end() -> None:
        _average(array, op, found.size())
        finish()

    return run(
        found, "all_reduce", lambda: [found.comm.Iallreduce(found.mpi.IN_PLACE, array, operation)], tensor.shape, tensor.dtype, op,
        finish=end, tensors=[tensor], async_op=async_op,
    )  # fmt: skip


def reduce(
    tensor: Any,
    dst: int | None = None,
    op: Any = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Any:
    """Replace tensor on rank dst by the combination of the tensors of all ranks. The others keep theirs.

    dst: a global rank; group_dst: a rank in the group, in its place.
    """
    check_tensor(tensor, "tensor")
    check_reduction("reduce", op, tensor._array.dtype)
    found = member_group(group, "reduce")
    if found is None:
        return None
    root = root_of("reduce", found, dst, group_dst)
    writable(tensor, "reduce")
    is_root = found.rank() == root
    dtype = compute_dtype(tensor._array.dtype)
    operation = mpi_operation(found.mpi, op, dtype)
    sent = readable(tensor, dtype)
    target = np.empty_like(sent) if is_root else None

    def end() -> None:
        if is_root:
            _average(target, op, found.size())
            write(tensor, target)

    return run(
        found, "reduce", lambda: [found.comm.Ireduce(sent, target, operation, root)], tensor.shape, tensor.dtype, op, root,
        finish=end, tensors=[tensor], async_op=async_op,
    )  # fmt: skip


def broadcast(tensor: Any, src: int | None = None, group: Any = None, async_op: bool = False, group_src: int | None = None) -> Any:
    """Replace tensor on every rank by that of rank src. src: a global rank; group_src: a rank in the group, in its place."""
    check_tensor(tensor, "tensor")
    found = member_group(group, "broadcast")
    if found is None:
        return None
    root = root_of("broadcast", found, src, group_src)
    is_root = found.rank() == root
    if not is_root:
        writable(tensor, "broadcast")
    array, finish = (readable(tensor), None) if is_root else received(tensor)
    return run(
        found, "broadcast", lambda: [found.comm.Ibcast(as_bytes(array), root)], tensor.shape, tensor.dtype, None, root,
        finish=finish, tensors=[tensor], async_op=async_op,
    )  # fmt: skip


def _rows(tensors: Sequence[Any]) -> Any:
    """The elements of tensors of one shape, one row a tensor."""
    return np.stack([tensor._array.reshape(-1) for tensor in tensors])


def _write_rows(tensors: Sequence[Any], rows: Any) -> None:
    for tensor, row in zip(tensors, rows):
        write(tensor, row)


def gather(
    tensor: Any,
    gather_list: list[Any] | None = None,
    dst: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Any:
    """Write the tensors of all ranks into gather_list on rank dst, 0 if neither dst nor group_dst is given.

    gather_list: on rank dst, one tensor a rank, of the shape and dtype of `tensor`; None on the others.
    """
    found, root, is_root = _rooted("gather", tensor, gather_list, ("gather_list", "destination", "output"), group, dst, group_dst)
    if found is None:
        return None
    sent = as_bytes(readable(tensor))
    rows = np.empty((found.size(), tensor.numel()), tensor._array.dtype) if is_root else None
    return run(
        found, "gather", lambda: [found.comm.Igather(sent, None if rows is None else as_bytes(rows), root)], tensor.shape,
        tensor.dtype, None, root, finish=lambda: _write_rows(gather_list or (), () if rows is None else rows),
        tensors=gather_list or (), async_op=async_op,
    )  # fmt: skip


def _rooted(
    call: str,
    tensor: Any,
    tensors: list[Any] | None,
    words: tuple[str, str, str],
    group: Any,
    rank: int | None,
    group_rank: int | None,
) -> tuple[Any, int, bool]:
    """Return the group, its rank that has the list, 0 if none is given, and whether this rank is it. Raises torch's errors.

    words: the name of the list, what its rank is, and what its tensors are. The group is None on ranks outside of it."""
    check_tensor(tensor, "tensor")
    found = member_group(group, call)
    if found is None:
        return None, 0, False
    root = root_of(call, found, rank, group_rank, 0)
    is_root = found.rank() == root
    name, side, word = words
    check_roots_list(tensors, is_root, name, side)
    if tensors:
        check_tensors(tensors, name)
        check_list(call, tensors, tensor, found, word)
    return found, root, is_root


def scatter(
    tensor: Any,
    scatter_list: list[Any] | None = None,
    src: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Any:
    """Write into tensor, on each rank, its part of the list of rank src, 0 if neither src nor group_src is given.

    scatter_list: on rank src, one tensor a rank, of the shape and dtype of `tensor`; None on the others.
    """
    found, root, is_root = _rooted("scatter", tensor, scatter_list, ("scatter_list", "source", "input"), group, src, group_src)
    if found is None:
        return None
    writable(tensor, "scatter")
    sent = as_bytes(_rows(scatter_list or ())) if is_root else None
    array, finish = received(tensor)
    return run(
        found, "scatter", lambda: [found.comm.Iscatter(sent, as_bytes(array), root)], tensor.shape, tensor.dtype, None, root,
        finish=finish, tensors=[tensor], async_op=async_op,
    )  # fmt: skip


def all_gather(tensor_list: list[Any], tensor: Any, group: Any = None, async_op: bool = False) -> Any:
    """Write the tensors of all ranks into tensor_list on every rank: one tensor a rank, of the shape and dtype of `tensor`."""
    check_tensors(tensor_list, "tensor_list")
    check_tensor(tensor, "tensor")
    found = member_group(group, "all_gather")
    if found is None:
        return None
    check_list("all_gather", tensor_list, tensor, found, "output")
    for output in tensor_list:
        writable(output, "all_gather")
    sent = as_bytes(readable(tensor))
    rows = np.empty((found.size(), tensor.numel()), tensor._array.dtype)
    return run(
        found, "all_gather", lambda: [found.comm.Iallgather(sent, as_bytes(rows))], tensor.shape, tensor.dtype,
        finish=lambda: _write_rows(tensor_list, rows), tensors=tensor_list, async_op=async_op,
    )  # fmt: skip


def all_gather_into_tensor(output_tensor: Any, input_tensor: Any, group: Any = None, async_op: bool = False) -> Any:
    """Write the tensors of all ranks into one tensor on every rank.

    output_tensor: the shape of input_tensor with the first dimension `size` times as long, or with a new first dimension of length
    `size`.
    """
    check_tensor(output_tensor, "output_tensor")
    check_tensor(input_tensor, "input_tensor")
    found = member_group(group, "all_gather_into_tensor")
    if found is None:
        return None
    _check_joined("all_gather_into_tensor", output_tensor, input_tensor, found)
    writable(output_tensor, "all_gather_into_tensor")
    sent = as_bytes(readable(input_tensor))
    array, finish = received(output_tensor)
    return run(
        found, "all_gather_into_tensor", lambda: [found.comm.Iallgather(sent, as_bytes(array))], input_tensor.shape,
        input_tensor.dtype, finish=finish, tensors=[output_tensor], async_op=async_op,
    )  # fmt: skip


def _check_joined(call: str, whole: Any, part: Any, group: ProcessGroup) -> None:
    """Raise an error unless `whole` is one tensor like `part` a rank, joined along the first dimension or stacked."""
    size, shape = group.size(), tuple(part.shape)
    joined = (size * shape[0], *shape[1:]) if shape else (size,)
    check_same(call, whole, (size, *shape) if tuple(whole.shape) == (size, *shape) else joined, part)


def reduce_scatter(output: Any, input_list: list[Any], op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False) -> Any:
    """Write into output, on rank r, the combination of the tensors input_list[r] of all ranks. All have the shape of output."""
    check_tensor(output, "output")
    check_tensors(input_list, "input_list")
    check_reduction("reduce_scatter", op, output._array.dtype)
    found = member_group(group, "reduce_scatter")
    if found is None:
        return None
    check_list("reduce_scatter", input_list, output, found, "input")
    return _reduce_scatter("reduce_scatter", output, _rows(input_list), op, found, async_op)


def reduce_scatter_tensor(output: Any, input: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False) -> Any:
    """Write into output, on rank r, part r of the combination of the tensors `input` of all ranks.

    input: the shape of output with the first dimension `size` times as long, or with a new first dimension of length `size`.
    """
    check_tensor(output, "output")
    check_tensor(input, "input")
    check_reduction("reduce_scatter_tensor", op, output._array.dtype)
    found = member_group(group, "reduce_scatter_tensor")
    if found is None:
        return None
    _check_joined("reduce_scatter_tensor", input, output, found)
    return _reduce_scatter("reduce_scatter_tensor", output, readable(input), op, found, async_op)


def _reduce_scatter(call: str, output: Any, rows: Any, op: Any, group: ProcessGroup, async_op: bool) -> Any:
    writable(output, call)
    dtype = compute_dtype(output._array.dtype)
    sent = np.ascontiguousarray(rows, dtype).reshape(-1)
    array, finish = received(output, dtype)
    operation = mpi_operation(group.mpi, op, dtype)

    def end() -> None:
        _average(array, op, group.size())
        finish()

    return run(
        group, call, lambda: [group.comm.Ireduce_scatter_block(sent, array, operation)], output.shape, output.dtype, op,
        finish=end, tensors=[output], async_op=async_op,
    )  # fmt: skip


def all_to_all(output_tensor_list: list[Any], input_tensor_list: list[Any], group: Any = None, async_op: bool = False) -> Any:
    """Write into output_tensor_list[s], on rank r, the tensor input_tensor_list[r] of rank s.

    The tensors of a list may have different shapes; what a rank sends must have the size and dtype that the other one expects.
    """
    check_tensors(output_tensor_list, "output_tensor_list")
    check_tensors(input_tensor_list, "input_tensor_list")
    found = member_group(group, "all_to_all")
    if found is None:
        return None
    for tensors, word in ((output_tensor_list, "output"), (input_tensor_list, "input")):
        if len(tensors) != found.size():
            raise errors.ShapeError(f"all_to_all: invalid {word} tensor list (expected length {found.size()}, got {len(tensors)})")
        for tensor in tensors:
            check_same("all_to_all", tensor, tensor.shape, input_tensor_list[0])
    for tensor in output_tensor_list:
        writable(tensor, "all_to_all")
    sent = np.concatenate([readable(tensor) for tensor in input_tensor_list])
    gives = [tensor.numel() for tensor in input_tensor_list]
    takes = [tensor.numel() for tensor in output_tensor_list]
    target = np.empty(sum(takes), sent.dtype)

    def end() -> None:
        _write_rows(output_tensor_list, np.split(target, np.cumsum(takes)[:-1]))

    return _exchange("all_to_all", sent, target, gives, takes, input_tensor_list[0].dtype, end, output_tensor_list, found, async_op)


def all_to_all_single(
    output: Any,
    input: Any,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: Any = None,
    async_op: bool = False,
) -> Any:
    """Divide input along its first dimension, send part r to rank r, and write the parts that come into output, by rank.

    output_split_sizes, input_split_sizes: lengths of the parts along the first dimension; equal ones if None.
    """
    check_tensor(output, "output")
    check_tensor(input, "input")
    found = member_group(group, "all_to_all_single")
    if found is None:
        return None
    check_same("all_to_all_single", output, output.shape, input)
    writable(output, "all_to_all_single")
    gives, takes = _counts(input, input_split_sizes, found), _counts(output, output_split_sizes, found)
    array, finish = received(output)
    return _exchange("all_to_all_single", readable(input), array, gives, takes, input.dtype, finish, [output], found, async_op)


def split_lengths(tensor: Any, sizes: Sequence[int] | None, group: ProcessGroup) -> list[int]:
    """Return the lengths of the ranks' parts of a tensor along its first dimension: sizes, or equal ones. Raises torch's errors."""
    length = tensor.shape[0] if tensor.ndim else 0
    if not sizes:
        if tensor.ndim == 0 or length % group.size():
            raise errors.ShapeError("Tensor's dim 0 does not divide equally across group size")
        sizes = [length // group.size()] * group.size()
    if len(sizes) != group.size():
        raise errors.ShapeError("Number of tensor splits not equal to group size")
    if sum(sizes) != length:
        raise errors.ShapeError("Split sizes doesn't match total dim 0 size")
    return list(sizes)


def _counts(tensor: Any, sizes: Sequence[int] | None, group: ProcessGroup) -> list[int]:
    """Return the numbers of elements of the ranks' parts of a tensor."""
    lengths = split_lengths(tensor, sizes, group)
    row = tensor.numel() // sum(lengths) if sum(lengths) else 0
    return [length * row for length in lengths]


def _exchange(
    call: str,
    sent: Any,
    target: Any,
    gives: list[int],
    takes: list[int],
    dtype: Any,
    finish: Any,
    tensors: Any,
    group: ProcessGroup,
    async_op: bool,
) -> Any:
    """Send gives[r] elements to rank r, and take takes[s] elements from rank s, after both have agreed on the numbers."""
    offered = np.empty(group.size(), np.int64)
    itemsize = sent.dtype.itemsize

    def start() -> list[Any]:
        data = [(as_bytes(a), [n * itemsize for n in counts]) for a, counts in ((sent, gives), (target, takes))]
        return [
            group.comm.Ialltoall(np.array(gives, np.int64), offered),
            group.comm.Ialltoallv(*data),
        ]

    def end() -> None:
        for rank, offer, take in zip(group.ranks, offered.tolist(), takes):
            if offer != take:
                raise errors.DistBackendError(f"{call}: rank {rank} sends {offer} elements, and {take} are expected.")
        finish()

    return run(group, call, start, (), dtype, finish=end, tensors=tensors, async_op=async_op)


def barrier(group: Any = None, async_op: bool = False, device_ids: Any = None, timeout: timedelta | None = None) -> Any:
    """Wait until all ranks of the group have called it. timeout: the group's if None."""
    found = member_group(group, "barrier")
    if found is None:
        return None
    seconds = None if timeout is None else timeout.total_seconds()
    return run(found, "barrier", list, async_op=async_op, timeout=seconds)


def monitored_barrier(group: Any = None, timeout: timedelta | None = None, wait_all_ranks: bool = False) -> None:
    """Wait until all ranks have called it, as barrier does. The error after the time says which ranks have not."""
    barrier(group, timeout=timeout)
