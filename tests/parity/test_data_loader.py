"""DataLoader in one process against torch: batches, orders of a seed, options that exclude each other, errors and warnings."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import wengert  # noqa: E402
from outcomes import assert_same_outcomes  # noqa: E402

R = range(10)


def sources(torch):
    """Two classes of iterable data sets, without and with a length."""

    class Counting(torch.utils.data.IterableDataset):
        def __iter__(self):
            return iter(range(5))

        def __repr__(self):
            return "Counting"

    class Sized(Counting):
        def __len__(self):
            return 3

    return Counting, Sized


def options(torch, note):
    data = torch.utils.data
    S, B = data.SequentialSampler(R), data.BatchSampler(R, 2, False)
    for o in (
        {}, {"num_workers": -1}, {"timeout": -1}, {"timeout": 1}, {"prefetch_factor": 2}, {"num_workers": 1, "prefetch_factor": -1},
        {"persistent_workers": True}, {"shuffle": True, "sampler": S}, {"shuffle": False, "sampler": S}, {"batch_sampler": B, "batch_size": 2},
        {"batch_sampler": B, "shuffle": True}, {"batch_sampler": B, "sampler": S}, {"batch_sampler": B, "drop_last": True},
        {"batch_sampler": B}, {"batch_size": None, "drop_last": True}, {"batch_size": None}, {"batch_size": None, "shuffle": True},
        {"batch_size": 0}, {"batch_size": -1}, {"batch_size": 2.5}, {"batch_size": "a"}, {"batch_size": True},
        {"batch_size": 3, "drop_last": 1}, {"multiprocessing_context": "fork"}, {"num_workers": 1, "multiprocessing_context": "xx"},
        {"num_workers": 1, "multiprocessing_context": 3}, {"num_workers": 1, "multiprocessing_context": "spawn"}, {"in_order": False},
        {"pin_memory": True}, {"pin_memory_device": "cuda"}, {"shuffle": 1}, {"shuffle": "a"}, {"sampler": 3}, {"sampler": [[1, 2], [3]]},
        {"sampler": "ab"}, {"batch_sampler": [[1, 2], (3,)]}, {"collate_fn": list}, {"worker_init_fn": 3}, {"num_workers": "a"},
        {"timeout": "a"}, {"batch_size": 3, "drop_last": True}, {"batch_size": 4, "shuffle": True, "drop_last": True}, {"batch_size": 100},
        {"sampler": torch.tensor([3, 1])}, {"batch_sampler": torch.tensor([[3, 1], [2, 2]])}, {"sampler": iter([1, 2])},
    ):  # fmt: skip
        torch.manual_seed(2)
        note(lambda o=o: len(data.DataLoader(R, **o)))
        if not o.get("num_workers"):
            note(lambda o=o: list(data.DataLoader(R, **o)))
        note(lambda: torch.randint(100, (3,)))


def iterables(torch, note):
    data = torch.utils.data
    S, B = data.SequentialSampler(R), data.BatchSampler(R, 2, False)
    for kind in sources(torch):
        for o in (
            {}, {"shuffle": True}, {"shuffle": False}, {"sampler": S}, {"batch_sampler": B}, {"batch_size": 2, "drop_last": True},
            {"batch_size": None}, {"batch_size": 4}, {"batch_size": 5, "drop_last": True},
        ):  # fmt: skip
            note(lambda o=o, kind=kind: str(list(data.DataLoader(kind(), **o))).replace(repr(S), "S").replace(repr(B), "B"))
            note(lambda o=o, kind=kind: len(data.DataLoader(kind(), **o)))

            def both(o=o, kind=kind):
                loader = data.DataLoader(kind(), **o)
                return len(loader), list(loader), list(loader)

            note(both)


def samples(torch, note):
    data = torch.utils.data
    x, y = torch.arange(12.0).reshape(6, 2), torch.arange(6)
    pair = data.TensorDataset(x, y)

    class Many(data.Dataset):
        def __len__(self):
            return 6

        def __getitem__(self, i):
            raise AssertionError("not asked")

        def __getitems__(self, indices):
            return [(i, "s") for i in indices]

    class Doubled(data.TensorDataset):
        def __getitem__(self, i):
            return tuple(2 * x for x in super().__getitem__(i))

    class Named(data.Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            return {"x": np.full(2, i), "name": f"n{i}", "y": float(i)}

    class OwnSubset(data.Subset):
        def __getitem__(self, i):
            return "own"

        __getitems__ = None

    everything = [
        pair, Many(), Doubled(x, y), Named(), data.Subset(pair, [5, 0, 2]), data.Subset(data.Subset(pair, [5, 0, 2]), [1, 2]),
        data.ConcatDataset([pair, pair]), data.StackDataset(pair, pair), data.StackDataset(a=pair, b="abcdef"), OwnSubset(pair, [1, 2]),
        data.TensorDataset(x), data.TensorDataset(x, y, y > 2), data.TensorDataset(x[:0]), data.TensorDataset(torch.ones(3, 0)), [1.5, 2.5],
        "abc", {0: 1, 1: 2}, {"a": 1}, (x, y), x, data.TensorDataset(), [], None, iter([1, 2]),
        data.TensorDataset(x.to(torch.complex64), x.to(torch.bfloat16)), data.TensorDataset(x.clone().requires_grad_(), y),
        data.Subset(pair, torch.tensor([3, 1])), data.Subset(pair, [-1, 0]), data.Subset(pair, [0, 9]), data.Subset(range(3), "ab"),
    ]  # fmt: skip
    for dataset in everything:
        for o in ({}, {"batch_size": 2}, {"batch_size": None}, {"batch_size": 4, "shuffle": True}):
            torch.manual_seed(1)
            note(lambda dataset=dataset, o=o: list(data.DataLoader(dataset, **o)))
    for sampler in ([0, -1], [0, 6], [-7], [True, False], [torch.tensor(1), torch.tensor(2)], [np.int64(3)], [1.5], [slice(0, 2)], [None]):
        note(lambda sampler=sampler: list(data.DataLoader(pair, batch_size=2, sampler=sampler)))
    note(lambda: [[a.is_contiguous(), a.is_leaf, a.requires_grad] for a, _ in data.DataLoader(pair, batch_size=2)])
    note(lambda: [a.fill_(7) for a, _ in data.DataLoader(pair, batch_size=6)] and x.sum())


def orders(torch, note):
    data = torch.utils.data
    for n in (1, 7, 100):
        torch.manual_seed(n)
        loader = data.DataLoader(range(n), shuffle=True, batch_size=3)
        note(lambda loader=loader: (list(loader), list(loader)))
        note(lambda: torch.rand(2))
        g = torch.Generator().manual_seed(n)
        loader = data.DataLoader(range(n), shuffle=True, batch_size=3, generator=g)
        note(lambda loader=loader: (list(loader), list(loader)))
        note(lambda g=g: torch.rand(2, generator=g))
        torch.manual_seed(n)
        note(lambda n=n: iter(data.DataLoader(range(n), shuffle=True)) and torch.rand(2))
        weighted = data.WeightedRandomSampler(torch.arange(n) + 1.0, 10)
        note(lambda weighted=weighted, n=n: list(data.DataLoader(range(n), 4, sampler=weighted)))


def attributes(torch, note):
    data = torch.utils.data
    loader = data.DataLoader(R)
    for name in (
        "batch_size", "sampler", "drop_last", "batch_sampler", "dataset", "persistent_workers", "num_workers", "unknown", "shuffle",
        "multiprocessing_context", "timeout", "collate_fn",
    ):  # fmt: skip
        note(lambda name=name: setattr(loader, name, None))

    class Own(data.DataLoader):
        def __init__(self):
            super().__init__(R, batch_size=4)
            self.batch_size = 3

    note(Own)

    class Repeated(data.DataLoader):
        def __init__(self):
            super().__init__(R, batch_size=4)
            self._DataLoader__initialized = False
            self.batch_sampler = [[1, 2]]
            self._DataLoader__initialized = True

    note(lambda: list(Repeated()))
    loader = data.DataLoader(R, 4)
    note(lambda: (loader.batch_size, loader.num_workers, loader.prefetch_factor, loader.drop_last, loader.timeout, loader.generator))
    note(lambda: (loader.multiprocessing_context, loader.pin_memory, loader.persistent_workers, loader.in_order, loader._auto_collation))
    note(lambda: [type(x).__name__ for x in (loader.sampler, loader.batch_sampler, loader.collate_fn, loader._index_sampler)])
    note(lambda: (loader.collate_fn.__name__, data.DataLoader(R, None).collate_fn.__name__))
    iterator = iter(loader)
    note(lambda: (len(iterator), iter(iterator) is iterator, next(iterator), len(iterator)))
    note(lambda: pickle.dumps(iterator))
    note(lambda: [list(iterator), list(iterator)])
    note(lambda: list(pickle.loads(pickle.dumps(data.DataLoader(data.TensorDataset(torch.arange(3)), 2)))))
    note(lambda: data.get_worker_info())
    note(lambda: data.DataLoader[int])


def errors(torch, note):
    data = torch.utils.data

    class Failing(data.Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            if i == 1:
                raise ValueError("sample 1")
            return i

    iterator = iter(data.DataLoader(Failing()))
    for _ in range(5):
        note(lambda: next(iterator, "end"))
    note(lambda: list(data.DataLoader(Failing(), 4)))
    note(lambda: list(data.DataLoader([1, "a", None])))
    note(lambda: list(data.DataLoader([torch.ones(2), torch.ones(3)], 2)))
    note(lambda: list(data.DataLoader([], shuffle=True)))


@pytest.mark.parametrize("program", [options, iterables, samples, orders, attributes, errors])
def test_loaders_are_those_of_torch(program):
    assert_same_outcomes(program, wengert, torch)
