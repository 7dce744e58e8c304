"""The calls that send Python objects: pickled into uint8 tensors, which go the way of all tensors. Only for what one trusts."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from wengert.core.tensor import wrap
from wengert.distributed.collectives import all_gather_into_tensor, broadcast, check_roots_list, root_of, scatter
from wengert.distributed.point_to_point import recv, send
from wengert.distributed.process_group import ProcessGroup, member_group

__all__ = [
    "all_gather_object", "broadcast_object_list", "gather_object", "recv_object_list", "scatter_object_list", "send_object_list",
]  # fmt: skip


def _pickled(obj: Any) -> Any:
    return np.frombuffer(pickle.dumps(obj), np.uint8)


def _lengths(size: int) -> Any:
    return wrap(np.zeros(size, np.int64))


def _gather_pickles(obj: Any, group: ProcessGroup) -> list[Any]:
    """Return the pickles of all ranks' objects: arrays of bytes."""
    mine = _pickled(obj)
    lengths = _lengths(group.size())
    all_gather_into_tensor(lengths, wrap(np.array([mine.size])), group)
    longest = max(lengths.tolist())
    rows = wrap(np.zeros((group.size(), longest), np.uint8))
    all_gather_into_tensor(rows, wrap(np.pad(mine, (0, longest - mine.size))), group)
    return [row[:length] for row, length in zip(rows.numpy(), lengths.tolist())]


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """Write the objects of all ranks into object_list on every rank: one entry a rank."""
    found = member_group(group, "all_gather_object")
    if found is None:
        return
    _check_length(object_list, found.size())
    object_list[:] = [pickle.loads(row) for row in _gather_pickles(obj, found)]


def gather_object(
    obj: Any, object_gather_list: list[Any] | None = None, dst: int | None = None, group: Any = None, group_dst: int | None = None
) -> None:
    """Write the objects of all ranks into object_gather_list on rank dst: one entry a rank. The others give None."""
    found = member_group(group, "gather_object")
    if found is None:
        return
    is_root = found.rank() == root_of("gather_object", found, dst, group_dst, 0)
    check_roots_list(object_gather_list, is_root, "gather_list", "destination")
    if is_root:
        _check_length(object_gather_list, found.size())
    rows = _gather_pickles(obj, found)
    if object_gather_list:
        object_gather_list[:] = [pickle.loads(row) for row in rows]


def broadcast_object_list(
    object_list: list[Any], src: int | None = None, group: Any = None, device: Any = None, group_src: int | None = None
) -> None:
    """Replace the entries of object_list on every rank by those of rank src, 0 if None. All lists have one length."""
    found = member_group(group, "broadcast_object_list")
    if found is None:
        return
    root = root_of("broadcast_object_list", found, src, group_src, 0)
    is_root = found.rank() == root
    _check_list("broadcast_object_list", object_list, (list, tuple) if is_root else list)
    mine = _pickled(object_list) if is_root else None
    length = wrap(np.array([len(object_list), mine.size] if mine is not None else [0, 0]))
    broadcast(length, group=found, group_src=root)
    data = wrap(np.empty(length.tolist()[1], np.uint8) if mine is None else mine)
    broadcast(data, group=found, group_src=root)
    _check_length(object_list, length.tolist()[0], (list, tuple) if is_root else list)  # after both calls, so that no rank waits
    if not is_root:
        object_list[:] = pickle.loads(data.numpy())


def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: list[Any] | None = None,
    src: int | None = None,
    group: Any = None,
    group_src: int | None = None,
) -> None:
    """Write into the first entry of the output list, on rank r, entry r of the input list of rank src, 0 if None."""
    found = member_group(group, "scatter_object_list")
    if found is None:
        return
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise ValueError("Expected argument scatter_object_output_list to be a list of size at least 1.")
    root = root_of("scatter_object_list", found, src, group_src, 0)
    is_root = found.rank() == root
    lengths, rows = _lengths(found.size()), []
    if is_root:
        if scatter_object_input_list is None:
            raise ValueError("source rank must provide non-None scatter_object_input_list")
        _check_length(scatter_object_input_list, found.size(), (list, tuple))
        rows = [_pickled(obj) for obj in scatter_object_input_list]
        lengths = wrap(np.array([row.size for row in rows]))
    broadcast(lengths, group=found, group_src=root)
    longest = max(lengths.tolist())
    mine = wrap(np.empty(longest, np.uint8))
    padded = [wrap(np.pad(row, (0, longest - row.size))) for row in rows]
    scatter(mine, padded or None, group=found, group_src=root)
    scatter_object_output_list[0] = pickle.loads(mine.numpy()[: lengths.tolist()[found.rank()]])


def send_object_list(
    object_list: list[Any],
    dst: int | None = None,
    group: Any = None,
    device: Any = None,
    group_dst: int | None = None,
    use_batch: bool = False,
) -> None:
    """Send the entries of a list to rank dst, which calls recv_object_list with a list of the same length."""
    found = member_group(group, "send_object_list")
    if found is None:
        return
    _check_list("send_object_list", object_list, (list, tuple))
    data = _pickled(object_list)
    for part in (np.array([len(object_list), data.size]), data):
        send(wrap(part), dst, found, group_dst=group_dst)


def recv_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: Any = None,
    device: Any = None,
    group_src: int | None = None,
    use_batch: bool = False,
) -> int:
    """Replace the entries of a list by those that rank src sends, or any rank if None. Return the sender's rank.

    Outside the group the result is -1."""
    found = member_group(group, "recv_object_list")
    if found is None:
        return -1
    _check_list("recv_object_list", object_list)
    length = _lengths(2)
    source = recv(length, src, found, group_src=group_src)
    data = wrap(np.empty(length.tolist()[1], np.uint8))
    recv(data, source, found)
    _check_length(object_list, length.tolist()[0])  # after both messages, so that the next call gets the next ones
    object_list[:] = pickle.loads(data.numpy())
    return source


def _check_list(call: str, objects: Any, kinds: Any = list) -> None:
    """Raise TypeError unless a call got a list. kinds: list, or (list, tuple) where it is only read."""
    if not isinstance(objects, kinds):
        raise TypeError(f"{call}: expected a list of objects, got {type(objects).__name__}")


def _check_length(objects: Any, length: int, kinds: Any = list) -> None:
    if not isinstance(objects, kinds) or len(objects) != length:
        found = len(objects) if isinstance(objects, (list, tuple)) else type(objects).__name__
        raise ValueError(f"expected a list of {length} objects, found {found}")
