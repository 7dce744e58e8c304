"""The collectives as functions of tensors that return new ones and are differentiable, also twice.

The loss that is differentiated is the sum of what all ranks call backward on. So each derivative is a collective, too, the
transpose of the call: all ranks of the group must call backward, in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wengert import distributed, errors
from wengert.autograd.function import Function
from wengert.distributed.collectives import split_lengths
from wengert.distributed.memory import check_list
from wengert.distributed.process_group import ProcessGroup, default_group, resolve
from wengert.distributed.reduce_op import ReduceOp
from wengert.ops import OPS

__all__ = [
    "all_gather", "all_reduce", "all_to_all", "all_to_all_single", "broadcast", "gather", "reduce", "reduce_scatter", "scatter",
]  # fmt: skip

_empty_like = OPS["empty_like"].function
_zeros_like = OPS["zeros_like"].function


def _group(given: Any, call: str) -> ProcessGroup:
    found = resolve(given)
    if found is None:
        raise errors.DistError(f"{call}: rank {default_group().rank()} is not in the group, so there is nothing to return.")
    return found


# The combinations that are no sums, as operations on the ranks' tensors: their derivatives are those of the operations.
_COMBINED = {ReduceOp.PRODUCT: "prod", ReduceOp.MIN: "amin", ReduceOp.MAX: "amax"}


def _is_sum(call: str, op: Any) -> bool:
    """Whether a combination is a sum or mean. Raises MissingFeatureError for one without a derivative."""
    if op not in _COMBINED and op not in (ReduceOp.SUM, ReduceOp.AVG):
        raise errors.MissingFeatureError(f"{call} has no derivative for {op}: bits of integers have none.")
    return op not in _COMBINED


def _combine(tensors: Sequence[Any], op: Any) -> Any:
    return OPS[_COMBINED[op]].function(OPS["stack"].function(list(tensors)), 0)


class _AllReduce(Function):
    @staticmethod
    def forward(ctx: Any, tensor: Any, op: Any, group: Any) -> Any:
        ctx.op, ctx.group = op, group
        result = tensor.clone()
        distributed.all_reduce(result, op, group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return _AllReduce.apply(grad, ctx.op, ctx.group), None, None


class _Reduce(Function):
    @staticmethod
    def forward(ctx: Any, tensor: Any, root: int, op: Any, group: Any) -> Any:
        ctx.root, ctx.op, ctx.group = root, op, group
        result = tensor.clone()
        distributed.reduce(result, root, op, group)
        return result if distributed.get_rank() == root else _zeros_like(result)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        grad = _Broadcast.apply(grad, ctx.root, ctx.group)
        return grad / ctx.group.size() if ctx.op is ReduceOp.AVG else grad, None, None, None


class _Broadcast(Function):
    @staticmethod
    def forward(ctx: Any, tensor: Any, root: int, group: Any) -> Any:
        ctx.root, ctx.group = root, group
        result = tensor.clone()
        distributed.broadcast(result, root, group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return _Reduce.apply(grad, ctx.root, ReduceOp.SUM, ctx.group), None, None


class _AllToAll(Function):
    @staticmethod
    def forward(ctx: Any, group: Any, shapes: Any, *tensors: Any) -> Any:
        ctx.group, ctx.shapes = group, [tensor.shape for tensor in tensors]
        outputs = [tensors[0].new_empty(shape) for shape in shapes]
        distributed.all_to_all(outputs, list(tensors), group)
        return tuple(outputs)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return (None, None, *_AllToAll.apply(ctx.group, ctx.shapes, *grads))


class _AllGather(Function):
    @staticmethod
    def forward(ctx: Any, tensor: Any, group: Any) -> Any:
        ctx.group = group
        outputs = [_empty_like(tensor) for _ in range(group.size())]
        distributed.all_gather(outputs, tensor, group)
        return tuple(outputs)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return _ReduceScatter.apply(ReduceOp.SUM, ctx.group, *grads), None


class _ReduceScatter(Function):
    @staticmethod
    def forward(ctx: Any, op: Any, group: Any, *tensors: Any) -> Any:
        ctx.op, ctx.group = op, group
        output = _empty_like(tensors[group.rank()])
        distributed.reduce_scatter(output, list(tensors), op, group)
        return output

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        grads = _AllGather.apply(grad, ctx.group)
        if ctx.op is ReduceOp.AVG:
            grads = [each / ctx.group.size() for each in grads]
        return (None, None, *grads)


class _Gather(Function):
    @staticmethod
    def forward(ctx: Any, tensor: Any, root: int, group: Any) -> Any:
        ctx.root, ctx.group = root, group
        outputs = [_zeros_like(tensor) for _ in range(group.size())]
        distributed.gather(tensor, outputs if distributed.get_rank() == root else None, root, group)
        return tuple(outputs)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return _Scatter.apply(ctx.root, ctx.group, *grads), None, None


class _Scatter(Function):
    @staticmethod
    def forward(ctx: Any, root: int, group: Any, *tensors: Any) -> Any:
        ctx.root, ctx.group = root, group
        output = _empty_like(tensors[group.rank()])
        distributed.scatter(output, list(tensors) if distributed.get_rank() == root else None, root, group)
        return output

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return (None, None, *_Gather.apply(grad, ctx.root, ctx.group))


def all_reduce(tensor: Any, op: Any = ReduceOp.SUM, group: Any = None) -> Any:
    """Return the sum, mean, product, minimum or maximum over the ranks, on every rank.

    Derivative: of a sum or mean, the same combination of the cotangents of all ranks; else that of prod, amin or amax of the ranks'
    tensors, which all ranks get. Raises MissingFeatureError for bitwise combinations."""
    if not _is_sum("all_reduce", op):
        return _combine(all_gather(tensor, group), op)
    return _AllReduce.apply(tensor, op, _group(group, "all_reduce"))


def reduce(tensor: Any, dst: int, op: Any = ReduceOp.SUM, group: Any = None) -> Any:
    """Return the sum, mean, product, minimum or maximum over the ranks on rank dst, and zeros on the others.

    Derivative: of a sum or mean, the cotangent of rank dst, on every rank; else that of prod, amin or amax of the ranks' tensors.
    Raises MissingFeatureError for bitwise combinations."""
    if not _is_sum("reduce", op):
        return _combine(gather(tensor, dst, group), op)
    return _Reduce.apply(tensor, dst, op, _group(group, "reduce"))


def broadcast(tensor: Any, src: int, group: Any = None) -> Any:
    """Return the tensor of rank src on every rank. All ranks give a tensor of its shape and dtype.

    Derivative: on rank src, the sum of the cotangents of all ranks; zeros on the others."""
    return _Broadcast.apply(tensor, src, _group(group, "broadcast"))


def gather(tensor: Any, dst: int = 0, group: Any = None) -> tuple[Any, ...]:
    """Return the tensors of all ranks on rank dst, one a rank, and zeros on the others.

    Derivative: the part of rank dst's cotangents that belongs to this rank's tensor."""
    return _Gather.apply(tensor, dst, _group(group, "gather"))


def scatter(tensors: Sequence[Any], src: int = 0, group: Any = None) -> Any:
    """Return this rank's part of the tensors of rank src. All ranks give one tensor a rank, all of one shape and dtype.

    Derivative: on rank src, the cotangent of each rank; zeros on the others."""
    found = _group(group, "scatter")
    check_list("scatter", tensors, tensors[0] if tensors else None, found, "input")
    return _Scatter.apply(src, found, *tensors)


def all_gather(tensor: Any, group: Any = None) -> tuple[Any, ...]:
    """Return the tensors of all ranks, one a rank, on every rank.

    Derivative: the sum over the ranks of the cotangents of this rank's tensor."""
    return _AllGather.apply(tensor, _group(group, "all_gather"))


def reduce_scatter(output: Any, input_list: Sequence[Any], op: Any = ReduceOp.SUM, group: Any = None) -> Any:
    """Return, on rank r, the sum, mean, product, minimum or maximum over the ranks of input_list[r].

    output: a tensor of the result's shape, not written.
    Derivative: of a sum or mean, the cotangents of all ranks, one for each tensor of input_list; else that of prod, amin or amax of
    the ranks' tensors. Raises RuntimeError for a list that has not one tensor a rank."""
    found = _group(group, "reduce_scatter")
    check_list("reduce_scatter", input_list, output, found, "input")
    if not _is_sum("reduce_scatter", op):
        return _combine(all_to_all([output] * found.size(), input_list, found), op)
    return _ReduceScatter.apply(op, found, *input_list)


def all_to_all(output_tensor_list: Sequence[Any], input_tensor_list: Sequence[Any], group: Any = None) -> tuple[Any, ...]:
    """Return, on rank r, the tensors input_tensor_list[r] of all ranks.

    output_tensor_list: tensors of the results' shapes, not written.
    Derivative: the cotangents, sent back where the tensors came from."""
    shapes = [tensor.shape for tensor in output_tensor_list]
    return _AllToAll.apply(_group(group, "all_to_all"), shapes, *input_tensor_list)


def all_to_all_single(
    output: Any,
    input: Any,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: Any = None,
) -> Any:
    """Divide input along its first dimension, send part r to rank r, and return the parts that come, joined.

    output: a tensor of the result's shape, not written. The split sizes are as in distributed.all_to_all_single.
    Derivative: the cotangent's parts, sent back where the elements came from."""
    found = _group(group, "all_to_all_single")
    takes, gives = split_lengths(output, output_split_sizes, found), split_lengths(input, input_split_sizes, found)
    parts = all_to_all(output.split(takes), input.split(gives), found)
    return OPS["cat"].function(parts, dim=0)
