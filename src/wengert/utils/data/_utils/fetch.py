"""Fetchers: what reads the samples of a batch from a data set and collates them, in the main process or in a worker."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.utils.data._utils.collate import default_collate
from wengert.utils.data.dataset import collated_rows

__all__: list[str] = []


class _BaseDatasetFetcher:
    """Reads batches, or single samples if auto_collation is False."""

    def __init__(self, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool) -> None:
        self.dataset = dataset
        self.auto_collation = auto_collation
        self.collate_fn = collate_fn
        self.drop_last = drop_last

    def fetch(self, index: Any) -> Any:
        """Return the batch of a list of indices, or the sample of an index."""
        raise NotImplementedError


class _IterableDatasetFetcher(_BaseDatasetFetcher):
    """Reads a data set in order. Of a list of indices only the length counts. Raises StopIteration at the end."""

    def __init__(self, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool) -> None:
        super().__init__(dataset, auto_collation, collate_fn, drop_last)
        self.dataset_iter = iter(dataset)
        self.ended = False

    def fetch(self, index: Any) -> Any:
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return self.collate_fn(next(self.dataset_iter))
        data = []
        for _ in index:
            try:
                data.append(next(self.dataset_iter))
            except StopIteration:
                self.ended = True
                break
        if not data or (self.drop_last and len(data) < len(index)):
            raise StopIteration
        return self.collate_fn(data)


class _MapDatasetFetcher(_BaseDatasetFetcher):
    """Reads the samples of a data set at indices."""

    def fetch(self, index: Any) -> Any:
        if not self.auto_collation:
            return self.collate_fn(self.dataset[index])
        if self.collate_fn is default_collate:
            found = collated_rows(self.dataset, index)
            if found is not None:
                return found
        many = getattr(self.dataset, "__getitems__", None)
        return self.collate_fn(many(index) if many else [self.dataset[i] for i in index])


class _DatasetKind:
    """The two kinds of data sets."""

    Map = 0
    Iterable = 1

    @staticmethod
    def create_fetcher(kind: int, dataset: Any, auto_collation: bool, collate_fn: Any, drop_last: bool) -> _BaseDatasetFetcher:
        """Return the fetcher of a data set of this kind."""
        fetcher = _MapDatasetFetcher if kind == _DatasetKind.Map else _IterableDatasetFetcher
        return fetcher(dataset, auto_collation, collate_fn, drop_last)
