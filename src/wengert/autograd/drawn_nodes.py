"""DrawnNode: what a picture of a graph tells of a node, or of several that are drawn as one. It holds no part of the graph."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from wengert.autograd.memory_view import saved_arrays
from wengert.autograd.profiler_table import format_bytes, format_time
from wengert.core.node import AccumulateGrad, Node, OpNode, Saved, count_outputs, meta_at
from wengert.core.saved_names import names_of_places

NAMES_SHOWN = 2  # of parameters that are drawn as one
VALUES_SHOWN = 6  # of a saved tensor


class SavedValue:
    """What a picture tells of a saved tensor: name, shape, dtype, bytes, statistics ({} where there are none), values."""

    def __init__(self, name: str, array: Any) -> None:
        self.name = name
        self.shape = list(array.shape)
        self.dtype = str(array.dtype)
        self.bytes: int = array.nbytes
        self.statistics = statistics_of(array)
        self.values = [format_value(x) for x in array.flat[:VALUES_SHOWN].tolist()]
        if array.size > VALUES_SHOWN:
            self.values.append("...")


def statistics_of(array: Any) -> dict[str, float]:
    """min, max, mean of the finite elements, and how many are zero, nan and inf, where any are."""
    if array.size == 0 or array.dtype.kind not in "fiubV":
        return {}
    with np.errstate(all="ignore"):
        if array.dtype.kind in "fV":
            finite = np.isfinite(array)
            kept = array if finite.all() else array[finite]
        else:
            kept = array
        found = {}
        if kept.size:
            found = {"min": float(kept.min()), "max": float(kept.max()), "mean": float(kept.mean(dtype=np.float64))}
        counts = {"zero": array.size - np.count_nonzero(array)}
        if kept is not array:
            counts |= {"nan": np.count_nonzero(np.isnan(array)), "inf": np.count_nonzero(np.isinf(array))}
        return found | {name: int(n) for name, n in counts.items() if n}


def format_value(x: Any) -> str:
    """An element, short."""
    return f"{x:.5g}" if isinstance(x, float | complex) else str(x)


class DrawnNode:
    """One box: an operation, or a parameter; or several of a kind, where repeated structure is folded.

    name; shapes, of the outputs, with dtypes; source, the line of the call; bytes, that it saved; count, how many it stands
    for; inputs, {number of the box: how many edges come from there}; is_leaf; saved, a SavedValue for each tensor that the
    first of them keeps. Where they were measured: forward_us and backward_us, microseconds of all together; gradient_norm,
    the largest norm of the gradients that arrive.
    """

    def __init__(self, number: int, node: Node) -> None:
        self.number = number
        self.is_leaf = isinstance(node, AccumulateGrad)
        self.name = "leaf" if self.is_leaf else node.name()
        metas = [meta_at(node, nr) for nr in range(count_outputs(node))]
        self.shapes = [f"{meta.dtype} {list(meta.shape)}" for meta in metas]
        self.source = node._source()
        self.bytes = 0
        self.count = 0
        self.parameters: list[str] = []
        self.inputs: dict[int, int] = {}
        self.saved = [SavedValue(name, array) for name, array in named_arrays(node)]
        self.forward_us: float | None = None
        self.backward_us: float | None = None
        self.gradient_norm: float | None = None

    def include(self, node: Node, times: tuple[float | None, float | None], norm: float | None) -> None:
        """Counts one more node as part of the box. times: of its forward and its backward."""
        self.count += 1
        self.bytes += sum([array.nbytes for array in saved_arrays(node)])
        forward, backward = times
        if forward is not None:
            self.forward_us = (self.forward_us or 0.0) + forward
        if backward is not None:
            self.backward_us = (self.backward_us or 0.0) + backward
        if norm is not None and (self.gradient_norm is None or not norm <= self.gradient_norm):  # nan counts as the largest
            self.gradient_norm = norm

    @property
    def time_us(self) -> float | None:
        """Microseconds, forward and backward together; None where nothing was measured."""
        times = [us for us in (self.forward_us, self.backward_us) if us is not None]
        return sum(times) if times else None

    @property
    def title(self) -> str:
        """What stands first in the box."""
        names = self.parameters
        if len(names) > NAMES_SHOWN:
            names = [names[0], "...", names[-1]]
        title = ", ".join(names) or self.name
        return title if self.count == 1 else f"{title} x{self.count}"

    def measures(self) -> list[str]:
        """What was measured, a text each."""
        found = [f"saved {format_bytes(self.bytes)}"] if self.bytes else []
        if self.time_us is not None:
            found.append(f"took {format_time(self.time_us)}")
        if self.gradient_norm is not None:
            found.append(f"gradient norm {self.gradient_norm:.3g}")
        return found

    def lines(self) -> list[str]:
        """What stands in the box."""
        lines = [self.title, *self.shapes, *self.measures()]
        if self.source is not None:
            lines.append(f"{os.path.basename(self.source)}")
        return lines

    def __repr__(self) -> str:
        return f"<DrawnNode {self.number} {self.title}>"


def named_arrays(node: Node) -> Iterator[tuple[str, Any]]:
    """The arrays that a node keeps, each with the name under which the node shows it (_saved_<name>)."""
    names = names_of_places(node) if isinstance(node, OpNode) else {}
    inner: Any = getattr(node, "_inner", None)  # of a write into a view, the write's own node
    for holder in (node, inner):
        for place, value in enumerate(getattr(holder, "_saved", None) or ()):
            yield from arrays_under(names.get(place, f"saved {place}"), value)


def arrays_under(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The arrays of a saved value; those of a tuple with their numbers."""
    if isinstance(value, Saved):
        array = getattr(value, "_data", None)
        if hasattr(array, "nbytes"):
            yield name, array
    elif isinstance(value, tuple):
        for i, part in enumerate(value):
            yield from arrays_under(f"{name}[{i}]", part)
