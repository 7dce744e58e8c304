"""DataLoader with worker processes against torch: orders, seeds of the workers, data sets in parts, errors."""

from __future__ import annotations

import os
import random
import signal

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import wengert  # noqa: E402
from outcomes import assert_same_outcomes  # noqa: E402

pytestmark = pytest.mark.slow
R = range(8)


@pytest.fixture(autouse=True)
def _few_processors_do_not_warn(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(64)))


@pytest.fixture(autouse=True)
def _time_limit():
    def stop(*_):
        raise TimeoutError("the test hangs")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(120)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def items(batch):
    return batch


def seeds(torch, note):
    data = torch.utils.data

    class Seeds(data.Dataset):
        def __len__(self):
            return 6

        def __getitem__(self, i):
            info = data.get_worker_info()
            drawn = random.random(), int(np.random.randint(1 << 30)), int(torch.randint(1 << 30, ()))  # noqa: NPY002
            return i, info.id, info.num_workers, info.seed, torch.initial_seed(), torch.get_num_threads(), info.dataset is self, drawn

    torch.manual_seed(0)
    loader = data.DataLoader(Seeds(), num_workers=2, collate_fn=items)
    note(lambda: (list(loader), list(loader)))
    note(lambda: torch.randint(100, (3,)))
    g = torch.Generator().manual_seed(1)
    loader = data.DataLoader(Seeds(), 2, True, num_workers=2, collate_fn=items, generator=g)
    note(lambda: list(loader))
    note(lambda: torch.randint(100, (3,), generator=g))
    torch.manual_seed(3)
    loader = data.DataLoader(Seeds(), 2, True, num_workers=2, collate_fn=items, persistent_workers=True)
    note(lambda: (list(loader), list(loader)))
    note(lambda: torch.randint(100, (3,)))

    def reseed(i):
        torch.manual_seed(100 + i)
        random.seed(i)
        np.random.seed(i)  # noqa: NPY002

    note(lambda: list(data.DataLoader(Seeds(), num_workers=2, collate_fn=items, worker_init_fn=reseed)))


def orders(torch, note):
    data = torch.utils.data
    x = torch.arange(40.0).reshape(20, 2)
    pair = data.TensorDataset(x, torch.arange(20))
    for o in (
        {"batch_size": 3, "shuffle": True}, {"batch_size": None, "prefetch_factor": 1}, {"batch_size": 7, "drop_last": True},
        {"prefetch_factor": 7, "sampler": [3, 1], "multiprocessing_context": "fork", "timeout": 60}, {"batch_sampler": [[1, 2], [3]]},
        {"shuffle": True, "persistent_workers": True, "batch_size": 4},
    ):  # fmt: skip
        torch.manual_seed(7)
        loader = data.DataLoader(pair, num_workers=2, **o)
        note(lambda loader=loader: (len(loader), list(loader), list(loader)))
        note(lambda: torch.rand(2))
    note(lambda: sorted(data.DataLoader(R, num_workers=2, in_order=False, collate_fn=items)))
    loader = data.DataLoader(R, num_workers=2, persistent_workers=True)
    first = iter(loader)
    note(lambda: [next(first), next(first)])
    second = iter(loader)
    note(lambda: (first is second, list(second), list(second), len(second)))
    note(lambda: next(first))
    loader = data.DataLoader(R, num_workers=1)
    iterator = iter(loader)
    note(lambda: next(iterator))
    iterator._shutdown_workers()
    note(lambda: next(iterator))
    note(lambda: list(loader)[2:4])
    note(lambda: list(data.DataLoader([], num_workers=1)))


def parts(torch, note):
    data = torch.utils.data

    class Parts(data.IterableDataset):
        def __init__(self, sizes, length=None):
            self.sizes, self.length = sizes, length

        def __iter__(self):
            info = data.get_worker_info()
            return iter([(info.id, i) for i in range(self.sizes[info.id])])

        def __len__(self):
            return self.length

        def __repr__(self):
            return "Parts"

    for sizes in ((1, 5, 3), (0, 0, 2)):
        for o in ({}, {"batch_size": 2, "drop_last": True}, {"batch_size": None, "prefetch_factor": 1}):
            note(lambda sizes=sizes, o=o: list(data.DataLoader(Parts(sizes), num_workers=3, collate_fn=items, **o)))
    loader = data.DataLoader(Parts((1, 4)), num_workers=2, collate_fn=items, persistent_workers=True)
    note(lambda: (list(loader), list(loader)))
    note(lambda: sorted(data.DataLoader(Parts((4, 1)), num_workers=2, collate_fn=items, in_order=False)))
    for length in (3, 8):
        loader = data.DataLoader(Parts((2, 3), length), num_workers=2, collate_fn=items)
        note(lambda loader=loader: (len(loader), list(loader)))


class OwnError(Exception):
    def __init__(self, a, b):
        super().__init__(a)


class MessageError(Exception):
    message = "m"

    def __init__(self, message):
        super().__init__(f"[{message}]")


def errors(torch, note):
    data = torch.utils.data

    class Failing(data.Dataset):
        def __init__(self, error):
            self.error = error

        def __len__(self):
            return 4

        def __getitem__(self, i):
            if i == 1:
                raise self.error
            return i

    class Started(data.IterableDataset):
        def __init__(self, at_once):
            self.at_once = at_once

        def __iter__(self):
            if self.at_once:
                raise ValueError("in iter")
            yield 1
            raise ValueError("in next")

    def text(loader):
        """What the passes raise: the first two lines and the last ones, without the frames of the library."""
        iterator, found = iter(loader), []
        for _ in range(6):
            try:
                found.append(next(iterator, "end"))
            except Exception as error:
                lines = str(error).splitlines()
                own = [line.split(": ", 1)[-1] for line in lines[2:] if not line.startswith("  ")]  # our classes have other names
                name = next(c.__name__ for c in type(error).__mro__ if c.__module__ in ("builtins", __name__))
                found.append((name, lines[:2], own, any("Failing" in x or "raise self.error" in x or "in next" in x for x in lines)))
        return found

    for error in (ValueError("bad"), KeyError("k"), IndexError("i"), OwnError("x", 3), MessageError("q"), UnicodeDecodeError("utf8", b"x", 0, 1, "r"),
                  FileNotFoundError(2, "no", "f"), StopIteration(), AssertionError()):  # fmt: skip
        note(lambda error=error: text(data.DataLoader(Failing(error), num_workers=1)))
    note(lambda: text(data.DataLoader(Failing(ValueError("bad")), num_workers=2)))
    note(lambda: text(data.DataLoader(Started(False), num_workers=1)))
    note(lambda: text(data.DataLoader([1, None], num_workers=1)))


@pytest.mark.parametrize("program", [seeds, orders, parts, errors])
def test_workers_are_those_of_torch(program):
    assert_same_outcomes(program, wengert, torch)
