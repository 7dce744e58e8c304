"""DistributedSampler: the part of a data set that one of several processes reads."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from wengert._forks import import_late
from wengert.generator import Generator
from wengert.utils.data.sampler import Sampler

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler[Any]):
    """Yield every num_replicas-th index of a data set, beginning at `rank`, so that the processes share the samples.

    num_replicas, rank: number of processes, and the number of this one; those of the default process group if None.
    shuffle: draw a new order in each epoch, from seed + epoch; call set_epoch before each pass. drop_last: leave out the last
    samples if the length is no multiple of num_replicas; otherwise the first samples occur again at the end.

    Raises ValueError if one is None and there is no process group, or for a rank that is not in [0, num_replicas).
    """

    def __init__(
        self,
        dataset: Any,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None or rank is None:
            distributed = import_late("wengert.distributed")
            num_replicas = distributed.get_world_size() if num_replicas is None else num_replicas
            rank = distributed.get_rank() if rank is None else rank
        if not 0 <= rank < num_replicas:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        size = len(dataset)
        self.num_samples = size // num_replicas if drop_last else math.ceil(size / num_replicas)
        self.total_size = self.num_samples * num_replicas
        self.shuffle = shuffle
        self.seed = seed

    def __iter__(self) -> Iterator[Any]:
        size = len(self.dataset)
        indices = Generator().manual_seed(self.seed + self.epoch).permutation(size).tolist() if self.shuffle else list(range(size))
        if not self.drop_last and indices:
            indices *= -(-self.total_size // len(indices))
        return iter(indices[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of the next pass. With shuffle, each epoch has its own order, the same in all processes."""
        self.epoch = epoch
