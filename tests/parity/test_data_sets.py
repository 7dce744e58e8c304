"""Data sets, samplers and collate functions against torch: values, orders of a seed, errors and warnings."""

from __future__ import annotations

import array
import datetime
import decimal
import enum
import types
from collections import ChainMap, Counter, OrderedDict, UserDict, UserList, defaultdict, deque, namedtuple

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import wengert  # noqa: E402
from outcomes import assert_same_outcomes  # noqa: E402

Point = namedtuple("Point", "x y")


def counting(torch, length=None, n=5):
    """An IterableDataset of 0, ..., n - 1 that reports a length unless it is None."""

    class Counting(torch.utils.data.IterableDataset):
        def __iter__(self):
            return iter(range(n))

    class Sized(Counting):
        def __len__(self):
            return length

    return Counting() if length is None else Sized()


def datasets(torch, note):
    data = torch.utils.data
    a = torch.arange(10)
    pair = data.TensorDataset(a, a * 2)

    class Bare(data.Dataset):
        pass

    note(lambda: Bare()[0])
    note(lambda: len(Bare()))
    note(lambda: Bare().unknown)
    note(lambda: data.Dataset[int])
    note(lambda: [type(x).__name__ for x in (pair + pair, counting(torch) + counting(torch))])
    note(lambda: (pair + pair)[13])
    for tensors in ((a, a[:3]), (), ([1, 2],), (a,), (a, a.reshape(10, 1))):
        note(lambda tensors=tensors: data.TensorDataset(*tensors)[3])
        note(lambda tensors=tensors: len(data.TensorDataset(*tensors)))
    for i in (0, -1, 10, slice(1, 3), [1, 4], a[2:4], a > 7):
        note(lambda i=i: pair[i])


def stacks(torch, note):
    data = torch.utils.data

    class Short(data.Dataset):
        def __len__(self):
            return 3

        def __getitem__(self, i):
            return i

        def __getitems__(self, indices):
            return [1]

    note(data.StackDataset)
    note(lambda: data.StackDataset([1], x=[1]))
    note(lambda: data.StackDataset([1], [1, 2]))
    note(lambda: data.StackDataset(a=[1], b=[1, 2]))
    for stack in (data.StackDataset([1, 2, 3], [4, 5, 6]), data.StackDataset(x=[1, 2, 3], y=torch.arange(3)), data.StackDataset([1, 2])):
        note(lambda stack=stack: (len(stack), stack[1], stack.__getitems__([0, 1]), stack[-1]))
        note(lambda stack=stack: stack[7])
    note(lambda: data.StackDataset(Short())[1])
    note(lambda: data.StackDataset(Short()).__getitems__([0, 1]))
    note(lambda: data.StackDataset(x=Short()).__getitems__([0, 1]))


def concatenations(torch, note):
    data = torch.utils.data
    note(lambda: data.ConcatDataset([]))
    note(lambda: data.ConcatDataset([counting(torch)]))
    both = data.ConcatDataset([[1, 2], [], [3, 4, 5]])
    for i in (0, 1, 2, 4, -1, -5, 5, -6):
        note(lambda i=i: both[i])
    note(lambda: (len(both), both.cumulative_sizes))
    note(lambda: both.cummulative_sizes)
    note(lambda: data.ConcatDataset.cumsum([[1], [2, 3]]))
    note(lambda: data.ConcatDataset(iter([[1], [2]]))[1])
    for parts in ([counting(torch), counting(torch, 3)], [counting(torch, 3), counting(torch, 4)], [[1]], []):
        note(lambda parts=parts: list(data.ChainDataset(parts)))
        note(lambda parts=parts: len(data.ChainDataset(parts)))


def subsets(torch, note):
    data = torch.utils.data
    a = torch.arange(10)
    pair = data.TensorDataset(a, a * 2)
    part = data.Subset(pair, [3, 4, 5])
    for i in (1, -1, 9, [0, 1], slice(0, 2), (0,)):
        note(lambda i=i: part[i])
    note(lambda: (len(part), part.__getitems__([0, 1])))
    note(lambda: data.Subset(data.ConcatDataset([[1, 2], [3]]), [1, 2]).__getitems__([0, 1]))
    note(lambda: data.Subset(range(5), torch.tensor([3, 4]))[1])
    for lengths in (
        [5, 5], [3, 3], [0.5, 0.5], [0.3, 0.3, 0.4], [0.5, 0.6], [0.5, -0.1, 0.6], [0, 10], [0.0, 1.0], [0.5, 0.25], [10, 0], [11, -1],
        [0.99, 0.01], [1 / 3, 1 / 3, 1 / 3], [0.1] * 10, [1.0], [], ["a"],
    ):  # fmt: skip
        note(lambda lengths=lengths: [x.indices for x in data.random_split(pair, lengths, generator=torch.Generator().manual_seed(0))])
    torch.manual_seed(3)
    note(lambda: [x.indices for x in data.random_split(range(11), [1 / 3, 1 / 3, 1 / 3])])
    note(lambda: [x.indices for x in data.random_split(range(4), [1, 3])])
    note(lambda: data.random_split(counting(torch), [1, 2]))
    note(lambda: torch.randint(100, (3,)))


def simple_samplers(torch, note):
    data = torch.utils.data

    class Old(data.Sampler):
        def __init__(self):
            super().__init__(1)

    note(lambda: data.Sampler(1))
    note(Old)
    note(lambda: iter(data.Sampler()))
    note(lambda: len(data.Sampler()))
    note(lambda: data.Sampler[int])
    note(lambda: (list(data.SequentialSampler("abc")), len(data.SequentialSampler("abc")), data.SequentialSampler("abc").data_source))
    note(lambda: len(data.SequentialSampler(counting(torch))))
    batches = [(range(10), 3, False), (range(10), 3, True), (range(9), 3, True), (range(10), 0, True), (range(10), True, True),
               (range(10), 3, 1), (range(10), 2.0, True), (range(10), -1, False), (range(10), "a", False), ([], 3, False), (3, 3, False),
               (iter("abc"), 2, False), ([[1], [2]], 2, False)]  # fmt: skip
    for arguments in batches:
        note(lambda arguments=arguments: list(data.BatchSampler(*arguments)))
        note(lambda arguments=arguments: len(data.BatchSampler(*arguments)))


def random_samplers(torch, note):
    data = torch.utils.data
    R = range(10)
    options = [{}, {"replacement": True}, {"num_samples": 4}, {"num_samples": 25}, {"num_samples": 20}, {"replacement": True, "num_samples": 70},
               {"replacement": True, "num_samples": 64}, {"num_samples": 0}, {"num_samples": -1}, {"num_samples": 1.5},
               {"replacement": 1}, {"replacement": "a"}, {"num_samples": True}]  # fmt: skip
    for o in options:
        torch.manual_seed(5)
        note(lambda o=o: (list(data.RandomSampler(R, **o)), len(data.RandomSampler(R, **o))))
        note(lambda: torch.randint(100, (3,)))
        g = torch.Generator().manual_seed(0)
        note(lambda o=o, g=g: (list(data.RandomSampler(R, generator=g, **o)), torch.randint(1000, (3,), generator=g)))
    note(lambda: data.RandomSampler([]))
    note(lambda: list(data.RandomSampler([], num_samples=3)))
    note(lambda: list(data.RandomSampler([], replacement=True, num_samples=3)))
    torch.manual_seed(6)
    s = data.RandomSampler(R)
    note(lambda: (list(s), list(s), s.num_samples, {type(i) for i in s}))
    note(lambda: list(data.RandomSampler(range(100000)))[:20])
    note(lambda: (next(iter(s)), torch.randint(100, (3,))))
    for indices in ([5, 6, 7, 8], torch.tensor([5, 6, 7, 8]), "abcd", []):
        note(lambda indices=indices: (list(data.SubsetRandomSampler(indices)), len(data.SubsetRandomSampler(indices))))
    note(lambda: list(data.SubsetRandomSampler(range(9), torch.Generator().manual_seed(3))))


def weighted_samplers(torch, note):
    data = torch.utils.data
    W = [0.1, 0.4, 0.0, 0.5]
    for arguments in (
        (W, 6), (W, 6, False), (W, 2, False), (torch.tensor(W), 5), (W, 0), (W, 1.5), (W, True), (W, 2, 1), ([W], 2), ([], 2),
        ([0.0, 0.0], 2), (np.array(W), 3), (range(5), 4), ([1], 3), (torch.ones(1000), 500, False),
    ):  # fmt: skip
        torch.manual_seed(0)
        note(lambda arguments=arguments: list(data.WeightedRandomSampler(*arguments)))
        note(lambda: torch.randint(100, (3,)))
        note(lambda arguments=arguments: list(data.WeightedRandomSampler(*arguments, generator=torch.Generator().manual_seed(3))))
    note(lambda: (data.WeightedRandomSampler(W, 2).weights, len(data.WeightedRandomSampler(W, 2))))


def distributed_samplers(torch, note):
    data = torch.utils.data

    def parts(size, epoch=0, **options):
        sampler = data.DistributedSampler(range(size), **options)
        sampler.set_epoch(epoch)
        return list(sampler), len(sampler), sampler.total_size

    for size in (10, 9, 3, 2, 0):
        for replicas in (1, 2, 3, 4):
            for drop_last in (False, True):
                for shuffle in (False, True):
                    o = {"num_replicas": replicas, "rank": replicas - 1, "drop_last": drop_last, "shuffle": shuffle}
                    note(lambda size=size, o=o: parts(size, **o))
    note(lambda: parts(10, num_replicas=3, rank=2, seed=7))
    note(lambda: parts(10, 2, num_replicas=3, rank=1))
    for rank in (3, -1):
        note(lambda rank=rank: parts(10, num_replicas=3, rank=rank))
    note(lambda: parts(10))
    note(lambda: parts(10, num_replicas=2))


@pytest.mark.parametrize(
    "program",
    [datasets, stacks, concatenations, subsets, simple_samplers, random_samplers, weighted_samplers, distributed_samplers],
)
def test_data_sets_and_samplers_are_those_of_torch(program):
    assert_same_outcomes(program, wengert, torch)


# -- collate -----------------------------------------------------------------------------------------------------------


class OwnList(list):
    pass


class OwnTuple(tuple):
    __slots__ = ()


class OwnDict(dict):
    def __init__(self, *, q=1):
        super().__init__(q=q)


class FixedList(list):
    def __init__(self):
        super().__init__([1, 2])


class Unknown:
    def __repr__(self):
        return "Unknown"


Colour = enum.IntEnum("Colour", "RED BLUE")


def batches(torch):
    a = torch.arange(3.0)
    return [
        [a, a], [a, torch.arange(2.0)], [torch.tensor(1), torch.tensor(2)], [a.double(), a], [torch.ones(2, 0)] * 2,
        [np.arange(3), np.arange(3)], [np.arange(3), np.arange(2)], [np.float32(1), np.float32(2)], [np.int8(1)], [np.bool_(True)],
        [np.float16(1)], [np.complex64(1)], [np.array("s")], [np.array(["a"])], [np.array([None])], [np.datetime64("2020")], [np.array(3)],
        [np.uint16(3)], [np.float32(1), 2.5], [np.int8(1), np.int64(500)], [np.float64(1), 2.0], [np.arange(3), [1, 2, 3]], [np.arange(3), 1],
        [np.str_("a"), np.str_("b")], [np.bytes_(b"a")],
        [1.5, 2], [1, 2], [1, 2.5], [True, False], [1, True], [True, 2], [1, 2**40], [2**70], [float("nan")], [Colour.RED],
        ["a", "b"], [b"a", b"b"], ["a", 1], ["", ""], [1j], [None], [Ellipsis], [{1}], [Unknown()], [object], [slice(1)],
        [decimal.Decimal(1)], [datetime.date(2020, 1, 1)], [{"a": 1}.keys()],
        [{"a": 1, "b": 2.0}, {"a": 3, "b": 4}], [{"a": 1}, {"b": 1}], [{"a": 1}, {"a": 1, "b": 2}], [{"a": 1}, 3], [{}, {}],
        [OrderedDict(a=1), OrderedDict(a=2)], [defaultdict(int, a=1)], [Counter("ab")], [OwnDict(), OwnDict()], [UserDict(a=1)],
        [types.MappingProxyType({"a": 1})], [ChainMap({"a": 1}, {"b": 2})],
        [Point(1, 2), Point(3, 4.0)], [(1, 2), (3, 4)], [[1, 2], [3, 4]], [[1, 2], [3]], [(1,), (2, 3)], [(1, 2), 3], [[]], [()],
        [OwnList([1, 2]), OwnList([3, 4])], [OwnTuple((1, 2)), OwnTuple((3, 4))], [FixedList(), FixedList()], [UserList([1, 2])],
        [range(3), range(3)], [deque([1, 2])], [bytearray(b"x")], [array.array("i", [1, 2])], [torch.Size([1, 2])],
        [[a, {"z": (1, "s")}], [a, {"z": (2, "t")}]], [Point(np.ones(2), {"k": [1, 2.0]})] * 2,
        [], 5, None, (1, 2), "ab", {"a": 1},
    ]  # fmt: skip


def described(x):
    """Repr of a value with the class of containers, which a repr may not show."""
    inner = list(x) if isinstance(x, (list, tuple)) else []
    return f"{type(x).__name__} {getattr(x, 'dtype', '')} {x!r} {[type(y).__name__ for y in inner]}"


def collated(torch, note):
    for batch in batches(torch):
        note(lambda batch=batch: described(torch.utils.data.default_collate(batch)))


def converted(torch, note):
    known = (np.datetime64, np.bytes_)  # other texts of as_tensor's errors
    for sample in [*batches(torch), np.int64(3), [np.arange(2), "s"], np.arange(3), Point(np.array(1), 2), 1.5, np.array(["a"])]:
        if not (isinstance(sample, list) and sample and isinstance(sample[0], known)):
            note(lambda sample=sample: described(torch.utils.data.default_convert(sample)))
    array = np.arange(3)
    note(lambda: torch.utils.data.default_convert(array).data_ptr() == array.ctypes.data)


def own_collate_functions(torch, note):
    from importlib import import_module

    library = import_module(f"{torch.__name__}.utils.data._utils.collate")

    def total(batch, *, collate_fn_map=None):
        return sum(batch)

    def joined(batch, *, collate_fn_map=None):
        return "".join(str(x) for x in batch) + str(sorted(c.__name__ for c in collate_fn_map))

    note(lambda: library.collate([1, 2]))
    note(lambda: library.collate([1, 2], collate_fn_map={int: total}))
    note(lambda: library.collate([(1, "a"), (2, "b")], collate_fn_map={int: total, str: joined}))
    note(lambda: library.collate([True, True], collate_fn_map={int: total}))
    note(lambda: library.collate([Unknown(), 1], collate_fn_map={(Unknown, int): lambda batch, *, collate_fn_map: "both"}))
    library.default_collate_fn_map[Unknown] = lambda batch, *, collate_fn_map=None: len(batch)
    try:
        note(lambda: library.default_collate([(Unknown(), 1), (Unknown(), 2)]))
    finally:
        del library.default_collate_fn_map[Unknown]
    note(lambda: library.default_collate([(Unknown(), 1), (Unknown(), 2)]))
    note(lambda: library.default_collate_err_msg_format)


@pytest.mark.parametrize("program", [collated, converted, own_collate_functions])
def test_collate_functions_are_those_of_torch(program):
    assert_same_outcomes(program, wengert, torch)
