"""Join: ranks with different numbers of batches. A rank that has no more answers the calls of the others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np

from wengert.core.tensor import wrap
from wengert.distributed.collectives import all_reduce
from wengert.distributed.work import Work

__all__ = ["Join", "JoinHook", "Joinable"]


class JoinHook:
    """What a rank does when it has no more batches. Both methods do nothing unless a subclass has its own."""

    def main_hook(self) -> None:
        """Answer the calls of one iteration of the other ranks. It runs until no rank has a batch."""

    def post_hook(self, is_last_joiner: bool) -> None:
        """Do what is left when no rank has a batch. is_last_joiner: whether this rank was among the last to have one."""


class _JoinConfig(NamedTuple):
    """The options of the Join that an object is in."""

    enable: bool
    throw_on_early_termination: bool
    is_first_joinable: bool


class Joinable(ABC):
    """What can be in a Join: a class whose iterations make calls among ranks.

    Its iteration calls Join.notify_join_context(self) before all other calls among ranks.
    """

    _join_config = _JoinConfig(False, False, False)

    @abstractmethod
    def join_hook(self, **kwargs: Any) -> JoinHook:
        """Return the hook for a Join. kwargs: those of the Join."""

    @property
    @abstractmethod
    def join_device(self) -> Any:
        """The device of the object's tensors."""

    @property
    @abstractmethod
    def join_process_group(self) -> Any:
        """The process group of the object's calls."""


class Join:
    """A context manager inside which ranks have different numbers of iterations.

    joinables: objects of one process group, on all ranks in the same order. enable: False does nothing.
    throw_on_early_termination: raise RuntimeError on all ranks when the first one has no more batches. kwargs: for the joinables.

    Raises ValueError without joinables, or for several process groups.
    """

    def __init__(
        self, joinables: Sequence[Joinable], enable: bool = True, throw_on_early_termination: bool = False, **kwargs: Any
    ) -> None:
        if not joinables:
            raise ValueError("The join context manager requires at least one joinable")
        for joinable in joinables:
            if not isinstance(joinable, Joinable):
                raise TypeError(f"Join takes objects of the class Joinable, got {type(joinable).__name__}")
        if any(joinable.join_process_group != joinables[0].join_process_group for joinable in joinables):
            raise ValueError("Using join context manager with multiple process groups")
        self._joinables = list(joinables)
        self._group = joinables[0].join_process_group
        self._enable = enable
        self._throws = throw_on_early_termination
        self._hooks = [joinable.join_hook(**kwargs) for joinable in joinables] if enable else []

    def __enter__(self) -> Join:
        for index, joinable in enumerate(self._joinables):
            joinable._join_config = _JoinConfig(self._enable, self._throws, index == 0)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        for joinable in self._joinables:
            joinable._join_config = Joinable._join_config
        if not self._enable or error is not None:
            return
        is_last = True
        while self._count_others() > 0:
            if self._throws:
                raise RuntimeError(f"Rank {self._group.rank()} exhausted all inputs.")
            is_last = False
            for hook in self._hooks:
                hook.main_hook()
        for hook in self._hooks:
            hook.post_hook(is_last)

    def _count_others(self) -> int:
        """Return the number of ranks that have a batch; this one has none."""
        count = wrap(np.zeros(1, np.int64))
        all_reduce(count, group=self._group)
        return int(count.item())

    @staticmethod
    def notify_join_context(joinable: Joinable) -> Work | None:
        """Tell the ranks that have no more batches that this one has. Return the handle of the call.

        Return None outside of a Join, and for all but the first object of one. Raises RuntimeError if another rank has no more
        batches and the Join has throw_on_early_termination.
        """
        config = joinable._join_config
        if not config.enable or not config.is_first_joinable:
            return None
        group = joinable.join_process_group
        work: Work = all_reduce(wrap(np.ones(1, np.int64)), group=group, async_op=True)
        if config.throw_on_early_termination and work.result()[0].item() < group.size():
            raise RuntimeError("Detected at least one rank that exhausted inputs. Throwing across all ranks.")
        return work
