"""torch.multiprocessing: Python's multiprocessing, and `spawn`, which runs a function in several processes.

Tensors that go through queues and pipes arrive as copies: a process does not see what another one writes later.

>>> import wengert
>>> from wengert.multiprocessing import get_context
>>> receiver, sender = get_context().Pipe(duplex=False)
>>> sender.send(wengert.ones(2))
>>> receiver.recv()
tensor([1., 1.])
"""

import multiprocessing as _multiprocessing
from multiprocessing import *  # noqa: F403
from multiprocessing.reduction import ForkingPickler as _ForkingPickler
from typing import Any as _Any

from wengert.multiprocessing.spawn import (
    ProcessContext as ProcessContext,
    ProcessExitedException as ProcessExitedException,
    ProcessRaisedException as ProcessRaisedException,
    SpawnContext as SpawnContext,
    spawn as spawn,
    start_processes as start_processes,
)
from wengert.tensor import Tensor as _Tensor

__all__ = [  # noqa: PLE0604
    *_multiprocessing.__all__, "ProcessContext", "ProcessExitedException", "ProcessRaisedException", "SpawnContext",
    "get_all_sharing_strategies", "get_sharing_strategy", "set_sharing_strategy", "spawn", "start_processes",
]  # fmt: skip

_strategy = "file_descriptor"


def get_all_sharing_strategies() -> set[str]:
    """Return the names that set_sharing_strategy accepts."""
    return {"file_descriptor", "file_system"}


def get_sharing_strategy() -> str:
    """Return the name that was set last."""
    return _strategy


def set_sharing_strategy(new_strategy: str) -> None:
    """Accept the name of a way to share memory, which has no effect: tensors are copied. Raises AssertionError for another name."""
    global _strategy
    strategies = get_all_sharing_strategies()
    if new_strategy not in strategies:
        raise AssertionError(f"invalid sharing strategy {new_strategy!r}, expected one of {sorted(strategies)}")
    _strategy = new_strategy


def _reduce_tensor(tensor: _Any) -> _Any:
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support crossing process "
            "boundaries.  If you just want to transfer the data, call detach() on the tensor before serializing (e.g., putting "
            "it on the queue)."
        )
    return tensor.__reduce_ex__(5)


_ForkingPickler.register(_Tensor, _reduce_tensor)
