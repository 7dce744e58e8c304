"""send, recv and their like: one rank sends a tensor, another receives it. Arrays travel as MPI's buffers, without pickling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wengert import errors
from wengert.distributed.collectives import root_of
from wengert.distributed.memory import as_bytes, check_tensor, readable, received, writable
from wengert.distributed.process_group import ProcessGroup, get_rank, member_group
from wengert.distributed.work import Work

__all__ = ["P2POp", "batch_isend_irecv", "irecv", "isend", "recv", "send"]


def _send(call: str, tensor: Any, dst: int | None, group: Any, tag: int, group_dst: int | None, is_async: bool) -> Work | None:
    check_tensor(tensor, "tensor")
    found = member_group(group, call)
    if found is None:
        return None
    target = root_of(call, found, dst, group_dst)
    if target == found.rank():
        raise ValueError("Invalid destination rank: destination rank should not be the same as the rank of the current process.")
    array = as_bytes(readable(tensor))
    return Work(found, call, lambda: [found.comm.Isend(array, target, tag)], is_async=is_async)


class _Reception(Work):
    """The handle of irecv."""

    def __init__(self, group: ProcessGroup, call: str, tensor: Any, source: int, tag: int, is_async: bool) -> None:
        self._status = group.mpi.Status()
        self._array, self._written = received(tensor)
        super().__init__(
            group,
            call,
            lambda: [group.comm.Irecv(as_bytes(self._array), source, tag)],
            self._end,
            tensors=[tensor],
            is_async=is_async,
        )

    def _test(self, requests: list[Any]) -> bool:
        return requests[0].Test(self._status)

    def _end(self) -> None:
        found = self._status.Get_count(self.group.mpi.BYTE)
        if found != self._array.nbytes:
            raise errors.DistBackendError(
                f"{self.name}: rank {self._source()} sent {found} bytes, and the tensor takes {self._array.nbytes}."
            )
        self._written()

    def _source(self) -> int:
        return self.group.ranks[self._status.Get_source()]

    def source_rank(self) -> int:
        """Wait, and return the global rank of the sender."""
        self.wait()
        return self._source()


def _receive(
    call: str, tensor: Any, src: int | None, group: Any, tag: int, group_src: int | None, is_async: bool
) -> _Reception | None:
    check_tensor(tensor, "tensor")
    found = member_group(group, call)
    if found is None:
        return None
    source = found.mpi.ANY_SOURCE if src is None and group_src is None else root_of(call, found, src, group_src)
    if source == found.rank():
        raise ValueError("Invalid source rank: source rank should not be the same as the rank of the current process.")
    writable(tensor, call)
    return _Reception(found, call, tensor, source, tag, is_async)


def send(tensor: Any, dst: int | None = None, group: Any = None, tag: int = 0, group_dst: int | None = None) -> None:
    """Send a tensor to rank dst, and return when its memory can be written again. Raises ValueError for this rank itself."""
    work = _send("send", tensor, dst, group, tag, group_dst, False)
    if work is not None:
        work.wait()


def recv(tensor: Any, src: int | None = None, group: Any = None, tag: int = 0, group_src: int | None = None) -> int:
    """Write into tensor what rank src sends, or any rank if None. Return the sender's global rank, or -1 outside the group.

    Raises DistBackendError if the message has not the tensor's number of bytes.
    """
    work = _receive("recv", tensor, src, group, tag, group_src, False)
    return -1 if work is None else work.source_rank()


def isend(tensor: Any, dst: int | None = None, group: Any = None, tag: int = 0, group_dst: int | None = None) -> Any:
    """As send, but return a Work at once. The tensor must not be written before its wait()."""
    return _send("isend", tensor, dst, group, tag, group_dst, True)


def irecv(tensor: Any, src: int | None = None, group: Any = None, tag: int = 0, group_src: int | None = None) -> Any:
    """As recv, but return a Work at once. The tensor must not be used before its wait()."""
    return _receive("irecv", tensor, src, group, tag, group_src, True)


class P2POp:
    """One isend or irecv of batch_isend_irecv. op: torch.distributed.isend or irecv."""

    def __init__(
        self,
        op: Callable[..., Any],
        tensor: Any,
        peer: int | None = None,
        group: Any = None,
        tag: int = 0,
        group_peer: int | None = None,
    ) -> None:
        if op not in (isend, irecv):
            raise ValueError(
                "Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or ``torch.distributed.irecv``."
            )
        check_tensor(tensor, "tensor")
        self.op, self.tensor, self.peer, self.group, self.tag, self.group_peer = op, tensor, peer, group, tag, group_peer

    def __repr__(self) -> str:
        what = f"{self.tensor.shape}, {self.tensor.dtype}"
        return f"P2POp({self.op.__name__} pg={self.group}, rank={get_rank(self.group)}, peer={self.peer}, {what})"


def batch_isend_irecv(p2p_op_list: Sequence[P2POp]) -> list[Any]:
    """Start several sends and receptions, and return their handles."""
    if not p2p_op_list or not all(isinstance(op, P2POp) for op in p2p_op_list):
        raise ValueError("Invalid call to batch_isend_irecv. Please provide a list of P2POp.")
    return [op.op(op.tensor, op.peer, op.group, op.tag, op.group_peer) for op in p2p_op_list]
