"""Resampling along one dimension: each output is a weighted sum of a few inputs.

Interpolation, adaptive averages, and paddings that repeat the input resample one dimension after the other. A table
lists the inputs and weights of each output. The transposed table resamples cotangents.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from wengert.kernels import windows as kernels
from wengert.ops.windows import Windows

__all__ = ["Table", "averaging_table", "resample", "resample_at_once", "window_tables", "window_tables_transposed"]


class Table:
    """The inputs and weights of each output: output rows[t][j] has, as its t-th term, weight[t][j] * input[index[t][j]].

    rows[t]: the outputs with more than t terms, as an array, or a slice if all outputs have. weight: None if all weights
    are 1."""

    __slots__ = ("_flat", "_transposed", "index", "rows", "size", "source", "weight")

    def __init__(self, source: int, size: int, rows: list[Any], index: list[Any], weight: list[Any] | None) -> None:
        self.source, self.size = source, size  # number of inputs, number of outputs
        self.rows, self.index, self.weight = rows, index, weight
        self._transposed: Table | None = None
        self._flat: dict[Any, tuple[Any, Any, Any]] = {}

    def __repr__(self) -> str:
        return f"Table({self.source} -> {self.size})"

    @staticmethod
    def of_entries(source: int, size: int, outputs: Any, inputs: Any, weights: Any) -> Table:
        """Make a table of entries (outputs[i], inputs[i], weights[i]), in any order. weights: None if all are 1."""
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
        """The transposed table, which maps cotangents of the outputs to cotangents of the inputs."""
        if self._transposed is None:
            outputs, inputs, weights = self.entries()
            found = Table.of_entries(self.size, self.source, inputs, outputs, None if self.weight is None else weights)
            found._transposed = self
            self._transposed = found
        return self._transposed

    def entries(self) -> tuple[Any, Any, Any]:
        """Return (outputs, inputs, weights) of all entries; weights is empty if all are 1."""
        all_outputs, empty = np.arange(self.size), np.zeros(0, np.intp)
        outputs = np.concatenate([empty, *[all_outputs[rows] for rows in self.rows]])
        return outputs, np.concatenate([empty, *self.index]), np.concatenate([np.zeros(0), *(self.weight or ())])

    def flat(self, dtype: Any) -> tuple[Any, Any, Any]:
        """Return (starts, inputs, weights of this dtype or None), entries sorted by output, as the kernels take them.

        starts: (size + 1), the index of the first entry of each output."""
        found = self._flat.get(dtype)
        if found is None:
            outputs, inputs, weights = self.entries()
            order = np.argsort(outputs, kind="stable")
            starts = np.concatenate([[0], np.cumsum(np.bincount(outputs, minlength=self.size))]).astype(np.int64)
            found = starts, inputs[order].astype(np.int64), None if self.weight is None else weights[order].astype(dtype)
            self._flat[dtype] = found
        return found

    def in_fixed_point(self) -> tuple[Table, int]:
        """Return (table, bits): the table with its weights times 2**bits, rounded to integers.

        bits is the largest number for which the weights fit into 16 bits. Entries of the same input and output are added
        up first."""
        outputs, inputs, weights = self.entries()
        places, which = np.unique(outputs * self.source + inputs, return_inverse=True)
        weights = np.bincount(which, weights)
        bits = max([b for b in range(1, 23) if int(0.5 + weights.max() * 2**b) < 2**15], default=0)
        scaled = np.trunc(weights * 2**bits + np.copysign(0.5, weights))
        return Table.of_entries(self.source, self.size, places // self.source, places % self.source, scaled), bits


def resample(xp: Any, x: Any, axis: int, table: Table) -> Any:
    """Resample x along an axis into a new array. x: floating or complex, or of any dtype if all weights are 1."""
    after = (1,) * (x.ndim - axis - 1)
    out = None
    for t, rows in enumerate(table.rows):
        part = xp.take(x, xp.asarray(table.index[t]), axis=axis)
        if table.weight is not None:
            part *= xp.asarray(table.weight[t].reshape(-1, *after).astype(x.real.dtype))
        if out is None:
            if isinstance(rows, slice):
                out = part
                continue
            out = xp.zeros((*x.shape[:axis], table.size, *x.shape[axis + 1 :]), x.dtype)
        where = (slice(None),) * axis
        out[(*where, rows if isinstance(rows, slice) else xp.asarray(rows))] += part
    return xp.zeros((*x.shape[:axis], table.size, *x.shape[axis + 1 :]), x.dtype) if out is None else out


def resample_at_once(x: Any, tables: tuple[Table | None, ...], divisor: int = 1) -> Any:
    """Resample x along its last dimensions and divide by a number. Returns None if no kernel takes x."""
    return kernels.resample(x, _flat(tables, x.dtype), divisor)


@lru_cache(maxsize=512)
def _flat(tables: tuple[Table | None, ...], dtype: Any) -> tuple[Any, ...]:
    return tuple([None if table is None else table.flat(dtype) for table in tables])


def averaging_table(source: int, size: int) -> Table:
    """Table of the means over `size` regions that cover the inputs; see adaptive_avg_pool1d."""
    all_outputs = np.arange(size)
    first, last = all_outputs * source // max(size, 1), -(-(all_outputs + 1) * source // max(size, 1))
    outputs = np.repeat(all_outputs, last - first)
    inputs = np.arange(outputs.size) - np.repeat(np.cumsum(last - first) - last, last - first)
    return Table.of_entries(source, size, outputs, inputs, 1.0 / (last - first)[outputs])


def _window_table(n: int, kernel: int, count: int, stride: int, padding: int) -> Table:
    """Table of the sums over windows along one dimension of n elements."""
    taps = np.arange(count)[:, None] * stride - padding + np.arange(kernel)
    outputs = np.broadcast_to(np.arange(count)[:, None], taps.shape)
    inside = (taps >= 0) & (taps < n)
    return Table.of_entries(n, count, outputs[inside], taps[inside], None)


@lru_cache(maxsize=256)
def window_tables(windows: Windows) -> tuple[Table, ...]:
    """Tables of the sums over windows of dilation 1, one for each dimension. Elements outside the array count as 0."""
    rows = zip(windows.size, windows.kernel, windows.count, windows.stride, windows.padding, strict=True)
    return tuple([_window_table(*row) for row in rows])


@lru_cache(maxsize=256)
def window_tables_transposed(windows: Windows) -> tuple[Table, ...]:
    """Transposed tables, which add the cotangent of each sum to all elements of its window."""
    return tuple([table.transposed for table in window_tables(windows)])
