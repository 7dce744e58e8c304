"""Resampling along one dimension: each output is a weighted sum of a few inputs.

Interpolation, adaptive averages and paddings that repeat the input are this along one dimension after the other. A
table says which inputs and which weights; the table the other way round is the derivative's.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from wengert.kernels import windows as kernels
from wengert.ops.windows import Windows

__all__ = ["Table", "averaging", "resample", "resample_at_once", "window_tables", "window_tables_transposed"]


class Table:
    """Entry t of output j is input index[t][j] times weight[t][j], for the outputs rows[t] that have so many entries.

    rows: a slice where all have. weight: None where all are 1."""

    __slots__ = ("_flat", "_transposed", "index", "rows", "size", "source", "weight")

    def __init__(self, source: int, size: int, rows: list[Any], index: list[Any], weight: list[Any] | None) -> None:
        self.source, self.size = source, size  # how many inputs and outputs
        self.rows, self.index, self.weight = rows, index, weight
        self._transposed: Table | None = None
        self._flat: dict[Any, tuple[Any, Any, Any]] = {}

    def __repr__(self) -> str:
        return f"Table({self.source} -> {self.size})"

    @staticmethod
    def of_entries(source: int, size: int, outputs: Any, inputs: Any, weights: Any) -> Table:
        """From one array each of the entries' outputs, inputs and weights (None: all 1), in any order."""
        order = np.argsort(outputs, kind="stable")
        outputs, inputs = outputs[order], inputs[order]
        counts = np.bincount(outputs, minlength=size)
        rank = np.arange(outputs.size) - np.repeat(np.cumsum(counts) - counts, counts)
        rows: list[Any] = []
        index, weight = [], []
        for t in range(int(counts.max(initial=0))):
            chosen = rank == t
            found = outputs[chosen]
            rows.append(slice(None) if found.size == size else found)
            index.append(inputs[chosen])
            weight.append(None if weights is None else weights[order][chosen])
        return Table(source, size, rows, index, None if weights is None else weight)

    @property
    def transposed(self) -> Table:
        """The table of the derivative: from cotangents of the outputs to those of the inputs."""
        if self._transposed is None:
            outputs, inputs, weights = self.entries()
            found = Table.of_entries(self.size, self.source, inputs, outputs, None if self.weight is None else weights)
            found._transposed = self
            self._transposed = found
        return self._transposed

    def entries(self) -> tuple[Any, Any, Any]:
        """The outputs, inputs and weights of all entries; no weights where all are 1."""
        every, empty = np.arange(self.size), np.zeros(0, np.intp)
        outputs = np.concatenate([empty, *[every[rows] for rows in self.rows]])
        return outputs, np.concatenate([empty, *self.index]), np.concatenate([np.zeros(0), *(self.weight or ())])

    def flat(self, dtype: Any) -> tuple[Any, Any, Any]:
        """(starts, inputs, weights of a dtype or None), as kernels have it: one output's entries after the other's."""
        found = self._flat.get(dtype)
        if found is None:
            outputs, inputs, weights = self.entries()
            order = np.argsort(outputs, kind="stable")
            starts = np.concatenate([[0], np.cumsum(np.bincount(outputs, minlength=self.size))]).astype(np.int64)
            found = starts, inputs[order].astype(np.int64), None if self.weight is None else weights[order].astype(dtype)
            self._flat[dtype] = found
        return found

    def in_fixed_point(self) -> tuple[Table, int]:
        """The table with weights that are whole multiples of 2**-bits, multiplied by 2**bits, and the bits: as many as
        keep the weights within 16. Entries of the same input are one first."""
        outputs, inputs, weights = self.entries()
        places, which = np.unique(outputs * self.source + inputs, return_inverse=True)
        weights = np.bincount(which, weights)
        bits = max([b for b in range(1, 23) if int(0.5 + weights.max() * 2**b) < 2**15], default=0)
        scaled = np.trunc(weights * 2**bits + np.copysign(0.5, weights))
        return Table.of_entries(self.source, self.size, places // self.source, places % self.source, scaled), bits


def resample(xp: Any, x: Any, axis: int, table: Table) -> Any:
    """x resampled along an axis: a new array. x: floating or complex, or anything where all weights are 1."""
    after = (1,) * (x.ndim - axis - 1)
    out = None
    for t, rows in enumerate(table.rows):
        part = xp.take(x, table.index[t], axis=axis)
        if table.weight is not None:
            part *= table.weight[t].reshape(-1, *after).astype(x.real.dtype)
        if out is None:
            if isinstance(rows, slice):
                out = part
                continue
            out = xp.zeros((*x.shape[:axis], table.size, *x.shape[axis + 1 :]), x.dtype)
        where = (slice(None),) * axis
        out[(*where, rows)] += part
    return xp.zeros((*x.shape[:axis], table.size, *x.shape[axis + 1 :]), x.dtype) if out is None else out


def resample_at_once(x: Any, tables: tuple[Table | None, ...], divisor: int = 1) -> Any:
    """x resampled along its last dimensions, and divided by a number: None for what no kernel takes."""
    return kernels.resample(x, _flat(tables, x.dtype), divisor)


@lru_cache(maxsize=512)
def _flat(tables: tuple[Table | None, ...], dtype: Any) -> tuple[Any, ...]:
    return tuple([None if table is None else table.flat(dtype) for table in tables])


def averaging(source: int, size: int) -> Table:
    """The means over `size` stretches of the inputs as equal as can be; neighbours may share an input."""
    every = np.arange(size)
    first, last = every * source // max(size, 1), -(-(every + 1) * source // max(size, 1))
    outputs = np.repeat(every, last - first)
    inputs = np.arange(outputs.size) - np.repeat(np.cumsum(last - first) - last, last - first)
    return Table.of_entries(source, size, outputs, inputs, 1.0 / (last - first)[outputs])


def _window_table(n: int, kernel: int, count: int, stride: int, padding: int) -> Table:
    """The sums over windows along one dimension of n elements."""
    taps = np.arange(count)[:, None] * stride - padding + np.arange(kernel)
    outputs = np.broadcast_to(np.arange(count)[:, None], taps.shape)
    inside = (taps >= 0) & (taps < n)
    return Table.of_entries(n, count, outputs[inside], taps[inside], None)


@lru_cache(maxsize=256)
def window_tables(windows: Windows) -> tuple[Table, ...]:
    """The sums over windows, of dilation 1, along each dimension: zeros are what is outside."""
    rows = zip(windows.size, windows.kernel, windows.count, windows.stride, windows.padding, strict=True)
    return tuple([_window_table(*row) for row in rows])


@lru_cache(maxsize=256)
def window_tables_transposed(windows: Windows) -> tuple[Table, ...]:
    """The adjoint: each sum's cotangent is that of all elements of its window."""
    return tuple([table.transposed for table in window_tables(windows)])
