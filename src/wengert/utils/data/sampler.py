"""Samplers: the order in which a DataLoader reads a data set. The same seed gives torch's order.

>>> from wengert.utils.data import BatchSampler, SequentialSampler
>>> list(BatchSampler(SequentialSampler(range(5)), batch_size=2, drop_last=False))
[[0, 1], [2, 3], [4]]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import islice
from typing import Any, Generic, TypeVar

from wengert.dtypes import float64
from wengert.generator import Generator, generator_of
from wengert.ops import function

__all__ = [
    "BatchSampler", "RandomSampler", "Sampler", "SequentialSampler", "SubsetRandomSampler", "WeightedRandomSampler",
]  # fmt: skip

_T_co = TypeVar("_T_co", covariant=True)
_randint: Any = function("", "randint")
_as_tensor: Any = function("", "as_tensor")
_DRAWN_AT_ONCE = 32  # indices that RandomSampler draws in one call with replacement


class Sampler(Generic[_T_co]):
    """Base class of samplers. A subclass defines __iter__, which yields indices or lists of indices, and mostly __len__."""

    def __iter__(self) -> Iterator[_T_co]:
        raise NotImplementedError


def draw_seed(generator: Generator | None = None) -> int:
    """Draw a seed from [0, 2**63), as the elements of random_() of int64."""
    return int(generator_of(generator).integers((), 2**63))


class SequentialSampler(Sampler[int]):
    """Yield 0, ..., len(data_source) - 1."""

    data_source: Sized

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """Yield indices of a data set in a random order.

    replacement: whether an index may occur again before all others have occurred. num_samples: how many indices to yield; None:
    len(data_source). generator: None draws a seed from the default generator for each pass.

    Raises TypeError for a replacement that is no bool, and ValueError for a number of samples that is not positive.
    """

    data_source: Sized
    replacement: bool

    def __init__(
        self, data_source: Sized, replacement: bool = False, num_samples: int | None = None, generator: Generator | None = None
    ) -> None:
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(self.replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={self.replacement}")
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={self.num_samples}")

    @property
    def num_samples(self) -> int:
        """Number of indices of a pass: the argument, or the present length of data_source."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        size = len(self.data_source)
        generator = Generator().manual_seed(draw_seed()) if self.generator is None else self.generator
        if self.replacement:
            whole, rest = divmod(self.num_samples, _DRAWN_AT_ONCE)
            for count in [*[_DRAWN_AT_ONCE] * whole, rest]:
                yield from _randint(size, (count,), generator=generator).tolist()
        else:
            generator = generator_of(generator)
            for _ in range(self.num_samples // size):
                yield from generator.permutation(size).tolist()
            yield from generator.permutation(size).tolist()[: self.num_samples % size]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """Yield the given indices in a random order. generator: None means the default generator."""

    indices: Sequence[int]

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        for i in generator_of(self.generator).permutation(len(self.indices)).tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Yield num_samples indices, drawn with probabilities proportional to weights, which need no sum of 1.

    weights: a sequence of numbers >= 0. replacement: whether an index may be drawn again. generator: None means the default one.
    Raises ValueError for a number of samples that is no positive int, a replacement that is no bool, or weights that are no vector.
    """

    weights: Any
    num_samples: int
    replacement: bool

    def __init__(
        self, weights: Sequence[float], num_samples: int, replacement: bool = True, generator: Generator | None = None
    ) -> None:
        if not isinstance(num_samples, int) or isinstance(num_samples, bool) or num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={num_samples}")
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        tensor = _as_tensor(weights, dtype=float64)
        if tensor.ndim != 1:
            raise ValueError(f"weights should be a 1d sequence but given weights have shape {tuple(tensor.shape)}")
        self.weights = tensor
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        yield from self.weights.multinomial(self.num_samples, self.replacement, generator=self.generator).tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Yield lists of batch_size indices of another sampler. drop_last: leave out a last list that is shorter.

    Raises ValueError for a batch_size that is no positive int, or a drop_last that is no bool.
    """

    def __init__(self, sampler: Sampler[int] | Iterable[int], batch_size: int, drop_last: bool) -> None:
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(islice(indices, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        size = len(self.sampler)  # type: ignore[arg-type]  # a sampler without a length raises TypeError
        return size // self.batch_size if self.drop_last else -(-size // self.batch_size)
