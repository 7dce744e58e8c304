"""Data sets: samples by index or in order, their combinations, and random_split.

>>> import wengert
>>> from wengert.utils.data import Subset, TensorDataset
>>> data = TensorDataset(wengert.arange(4), wengert.arange(4) * 10)
>>> data[2]
(tensor(2), tensor(20))
>>> len(Subset(data, [0, 3]))
2
"""

from __future__ import annotations

import math
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, islice
from typing import Any, Generic, TypeVar

import numpy

from wengert.backends.selection import beside
from wengert.core.tensor import wrap
from wengert.generator import Generator, default_generator, generator_of
from wengert.tensor import Tensor

__all__ = [
    "ChainDataset", "ConcatDataset", "Dataset", "IterableDataset", "StackDataset", "Subset", "TensorDataset", "random_split",
]  # fmt: skip

_T_co = TypeVar("_T_co", covariant=True)


class Dataset(Generic[_T_co]):
    """Base class of data sets that give a sample for an index.

    A subclass defines __getitem__, and __len__ for most samplers. If it defines __getitems__(indices), DataLoader calls it for
    all samples of a batch at once; the result is a list of samples. data + other is a ConcatDataset of both.
    """

    def __getitem__(self, index: Any) -> _T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[_T_co]) -> ConcatDataset[_T_co]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[_T_co], Iterable[_T_co]):
    """Base class of data sets that give their samples in order. A subclass defines __iter__, and __len__ if it knows its length.

    Each worker process of a DataLoader iterates over its own copy: get_worker_info() tells a copy which part to give.
    data + other is a ChainDataset of both.
    """

    def __add__(self, other: Dataset[_T_co]) -> Any:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Any, ...]]):
    """Data set of tensors with the same length: sample i is (tensor[i] for each tensor).

    Raises AssertionError if the lengths differ.
    """

    tensors: tuple[Any, ...]

    def __init__(self, *tensors: Any) -> None:
        if any(tensor.size(0) != tensors[0].size(0) for tensor in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        return tuple([tensor[index] for tensor in self.tensors])

    def __len__(self) -> int:
        return int(self.tensors[0].size(0))


class StackDataset(Dataset[Any]):
    """Data set of several data sets with the same length: sample i holds sample i of each.

    Samples are tuples, or dicts if the data sets are keyword arguments. Raises ValueError if the lengths differ.
    """

    datasets: tuple[Any, ...] | dict[str, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like input/output, but both types are "
                "given."
            )
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        self.datasets = args or kwargs
        self._length = len(self._all()[0])
        if any(len(dataset) != self._length for dataset in self._all()):
            raise ValueError("Size mismatch between datasets")

    def _all(self) -> list[Any]:
        return list(self.datasets.values() if isinstance(self.datasets, dict) else self.datasets)

    def _sample(self, parts: Iterable[Any]) -> Any:
        return dict(zip(self.datasets, parts)) if isinstance(self.datasets, dict) else tuple(parts)

    def __getitem__(self, index: Any) -> Any:
        return self._sample([dataset[index] for dataset in self._all()])

    def __getitems__(self, indices: list[Any]) -> list[Any]:
        """Return the samples at indices."""
        columns = [_samples(dataset, indices) for dataset in self._all()]
        for column in columns:
            if len(column) != len(indices):
                raise ValueError(f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(column)}")
        return [self._sample(row) for row in zip(*columns)]

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset[_T_co]):
    """Data set of the samples of several data sets, one data set after the other.

    datasets: data sets with lengths, at least one. cumulative_sizes: the index after the last sample of each.
    """

    datasets: list[Any]
    cumulative_sizes: list[int]

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """Return the cumulative sums of the lengths of a sequence's elements."""
        return list(accumulate([len(element) for element in sequence]))

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> _T_co:
        if index < 0:
            if -index > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            index += len(self)
        number = bisect_right(self.cumulative_sizes, index)
        found: _T_co = self.datasets[number][index - (self.cumulative_sizes[number - 1] if number else 0)]
        return found

    @property
    def cummulative_sizes(self) -> list[int]:
        """The older spelling of cumulative_sizes, with a FutureWarning."""
        warnings.warn("`cummulative_sizes` attribute is renamed to `cumulative_sizes`", FutureWarning, stacklevel=2)
        return self.cumulative_sizes


class ChainDataset(IterableDataset[_T_co]):
    """Iterable data set of the samples of several iterable data sets, one data set after the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = datasets

    def _checked(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield dataset

    def __iter__(self) -> Iterator[_T_co]:
        for dataset in self._checked():
            yield from dataset

    def __len__(self) -> int:
        return sum([len(dataset) for dataset in self._checked()])


class Subset(Dataset[_T_co]):
    """Data set of the samples of another data set at given indices. indices: a sequence."""

    dataset: Any
    indices: Sequence[Any]

    def __init__(self, dataset: Any, indices: Sequence[Any]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: list[Any]) -> list[Any]:
        """Return the samples at indices."""
        return _samples(self.dataset, [self.indices[i] for i in indices])

    def __len__(self) -> int:
        return len(self.indices)


def _samples(dataset: Any, indices: list[Any]) -> list[Any]:
    """Return the samples of a data set at indices, by one call if the data set can do so."""
    many = getattr(dataset, "__getitems__", None)
    found: list[Any] = many(indices) if many else [dataset[i] for i in indices]
    return found


def collated_rows(dataset: Any, indices: list[Any]) -> list[Any] | None:
    """Return what default_collate makes of dataset's samples at indices, with one copy of each tensor's rows.

    Returns None unless dataset is a TensorDataset, or a Subset of one, of plain tensors outside the graph, and the indices are
    ints in range. The caller then collates sample by sample.
    """
    while type(dataset) is Subset:
        try:
            indices = [dataset.indices[i] for i in indices]
        except (IndexError, TypeError):
            return None
        dataset = dataset.dataset
    if type(dataset) is not TensorDataset or not dataset.tensors or not indices or any(type(i) is not int for i in indices):
        return None
    length = len(dataset)
    if not -length <= min(indices) <= max(indices) < length:
        return None
    if any(type(tensor) is not Tensor or tensor.requires_grad for tensor in dataset.tensors):
        return None
    place = numpy.array(indices)
    if place.min() < 0:
        place %= length
    return [tensor.index_select(0, wrap(beside(place, tensor._array))) for tensor in dataset.tensors]


def random_split(
    dataset: Any, lengths: Sequence[int | float], generator: Generator | None = default_generator
) -> list[Subset[Any]]:
    """Split a data set at random into subsets that do not overlap.

    lengths: the lengths of the subsets, whose sum is len(dataset); or fractions whose sum is 1: each length is rounded down, and
    the remaining samples go to the first subsets, one each. generator: a Generator; the default one if not given.

    Raises ValueError for another sum or a negative fraction. Warns of an empty subset. The same seed gives torch's split.

    >>> import wengert
    >>> from wengert.utils.data import random_split
    >>> _ = wengert.manual_seed(0)
    >>> [part.indices for part in random_split(range(5), [3, 2])]
    [[4, 0, 1], [3, 2]]
    """
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _lengths_of_fractions(len(dataset), lengths)
    if sum(lengths) != len(dataset):
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = iter(generator_of(generator).permutation(int(sum(lengths))).tolist())
    return [Subset(dataset, list(islice(order, max(int(length), 0)))) for length in lengths]


def _lengths_of_fractions(size: int, fractions: Sequence[float]) -> list[int]:
    lengths = []
    for i, fraction in enumerate(fractions):
        if not 0 <= fraction <= 1:
            raise ValueError(f"Fraction at index {i} is not between 0 and 1")
        lengths.append(math.floor(size * fraction))
    for i in range(size - sum(lengths)):
        lengths[i % len(lengths)] += 1
    for i, length in enumerate(lengths):
        if length == 0:
            warnings.warn(f"Length of split at index {i} is 0. This might result in an empty dataset.", stacklevel=3)
    return lengths
