"""Uses of DataLoader that programs have invented, against torch: each prints the same after the same seed."""

from __future__ import annotations

import os
import random
from functools import partial

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import wengert  # noqa: E402
from outcomes import assert_same_outcomes  # noqa: E402

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _few_processors_do_not_warn(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(64)))


def lists(loader):
    return [batch.tolist() for batch in loader]


class Repeated:
    """A sampler that begins again for ever."""

    def __init__(self, sampler):
        self.sampler = sampler

    def __iter__(self):
        while True:
            yield from iter(self.sampler)


def loaders_without_end(torch, note):
    """The workers of these loaders live through all epochs: the batch sampler is replaced after the loader is made."""
    data = torch.utils.data

    class Infinite(data.DataLoader):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            object.__setattr__(self, "batch_sampler", Repeated(self.batch_sampler))
            self.iterator = super().__iter__()

        def __len__(self):
            return len(self.batch_sampler.sampler)

        def __iter__(self):
            for _ in range(len(self)):
                yield next(self.iterator)

    class ManyEpochs(Infinite):
        def __init__(self, *args, **kwargs):
            data.DataLoader.__init__(self, *args, **kwargs)
            self._DataLoader__initialized = False
            self.batch_sampler = Repeated(self.batch_sampler)
            self._DataLoader__initialized = True
            self.iterator = data.DataLoader.__iter__(self)

    for kind in (Infinite, ManyEpochs):
        for workers in (0, 2):
            torch.manual_seed(0)
            loader = kind(range(7), batch_size=3, shuffle=True, num_workers=workers)
            note(lambda loader=loader: [lists(loader) for _ in range(3)])
    loader = data.DataLoader(range(10), 2, num_workers=2, persistent_workers=True)

    def left(loader=loader):
        found = []
        for _ in range(3):
            for i, batch in enumerate(loader):
                found.append(batch.tolist())
                if i == 1:
                    break
        return found, lists(loader)

    note(left)


def batches_of_indices(torch, note):
    data = torch.utils.data

    class Buckets(data.Sampler):
        def __iter__(self):
            order = torch.randperm(8).tolist()
            for i in range(0, 8, 3):
                yield order[i : i + 3]

        def __len__(self):
            return 3

    class Rows(data.Dataset):
        def __init__(self):
            self.x = torch.arange(10.0)

        def __len__(self):
            return 10

        def __getitem__(self, indices):
            return self.x[indices]

    torch.manual_seed(1)
    note(lambda: lists(data.DataLoader(range(8), batch_sampler=Buckets())))
    batches = data.BatchSampler(data.RandomSampler(range(10)), 4, False)
    for workers in (0, 1):
        note(lambda workers=workers: lists(data.DataLoader(Rows(), batch_size=None, sampler=batches, num_workers=workers)))
    note(lambda: lists(data.DataLoader(Rows(), sampler=data.BatchSampler(data.SequentialSampler(range(4)), 2, False))))
    note(lambda: lists(data.DataLoader(range(6), 3, sampler=torch.randperm(6, generator=torch.Generator().manual_seed(0)))))
    note(lambda: lists(data.DataLoader(torch.arange(6).view(3, 2), 2)))


def batches_of_other_kinds(torch, note):
    data = torch.utils.data

    class Holes(data.Dataset):
        def __len__(self):
            return 6

        def __getitem__(self, i):
            return None if i % 2 else (i, float(i))

    def without_holes(batch):
        batch = [x for x in batch if x is not None]
        return data.default_collate(batch) if batch else []

    def padded(batch):
        xs, ys = zip(*sorted(batch, key=lambda pair: -len(pair[0])))
        return torch.nn.utils.rnn.pad_sequence(xs, batch_first=True), torch.tensor([len(x) for x in xs]), torch.stack(ys)

    sequences = [(torch.arange(n + 1.0), torch.tensor(n)) for n in range(5)]
    for workers in (0, 2):
        note(lambda workers=workers: list(data.DataLoader(Holes(), 2, collate_fn=without_holes, num_workers=workers)))
        note(lambda workers=workers: list(data.DataLoader(sequences, 2, collate_fn=padded, num_workers=workers)))
    note(lambda: list(data.DataLoader(["a b", "c", "d"], 2)))
    labels = torch.tensor([0, 0, 0, 1])
    weights = 1.0 / torch.bincount(labels).float()
    torch.manual_seed(0)
    sampler = data.WeightedRandomSampler(weights[labels], 8)
    note(lambda: list(data.DataLoader(data.TensorDataset(labels), 4, sampler=sampler)))
    train, rest = data.random_split(data.TensorDataset(torch.arange(10)), [0.8, 0.2], generator=torch.Generator().manual_seed(42))
    note(lambda: list(data.DataLoader(train, 3, shuffle=True, generator=torch.Generator().manual_seed(1))))
    note(lambda: (train.indices, rest.indices, train.dataset is rest.dataset))


def numbers_in_workers(torch, note):
    data = torch.utils.data

    class Drawn(data.Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            return np.random.rand(2), random.random(), torch.rand(1)  # noqa: NPY002

    def seed(worker):
        np.random.seed(torch.initial_seed() % 2**32)  # noqa: NPY002
        random.seed(torch.initial_seed() % 2**32)

    for init in (None, seed):
        g = torch.Generator().manual_seed(0)
        note(lambda g=g, init=init: list(data.DataLoader(Drawn(), 2, num_workers=2, worker_init_fn=init, generator=g)))

    class Range(data.IterableDataset):
        def __init__(self, start, end):
            self.start, self.end = start, end

        def __iter__(self):
            return iter(range(self.start, self.end))

    def divide(worker):
        info = data.get_worker_info()
        whole = info.dataset
        size = -(-(whole.end - whole.start) // info.num_workers)
        whole.start += worker * size
        whole.end = min(whole.start + size, whole.end)

    note(lambda: sorted(lists(data.DataLoader(Range(0, 7), num_workers=2, worker_init_fn=divide))))
    note(lambda: lists(data.DataLoader(data.ChainDataset([Range(0, 2), Range(5, 7)]), 3)))

    class Nested(data.Dataset):
        def __len__(self):
            return 2

        def __getitem__(self, i):
            return sum(x.item() for x in data.DataLoader(range(3)))

    note(lambda: lists(data.DataLoader(Nested(), num_workers=1)))


def training(torch, note):
    data, nn = torch.utils.data, torch.nn
    torch.manual_seed(0)
    x = torch.randn(64, 5)
    pairs = data.TensorDataset(x, (x.sum(1, keepdim=True) > 0).float())
    model = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters(), 0.05)
    for workers in (0, 0, 1):
        for inputs, targets in data.DataLoader(pairs, 16, shuffle=True, num_workers=workers):
            optimizer.zero_grad()
            loss = nn.functional.binary_cross_entropy_with_logits(model(inputs), targets)
            loss.backward()
            optimizer.step()
        note(partial(round, loss.item(), 4))
    g = torch.Generator().manual_seed(5)
    loader = data.DataLoader(range(6), 2, shuffle=True, generator=g)
    state = g.get_state()
    first = lists(loader)
    g.set_state(state)
    note(lambda: (first, lists(loader) == first))


@pytest.mark.parametrize(
    "program", [loaders_without_end, batches_of_indices, batches_of_other_kinds, numbers_in_workers, training]
)
def test_programs_print_what_they_print_on_torch(program):
    assert_same_outcomes(program, wengert, torch)
