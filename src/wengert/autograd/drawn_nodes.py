"""DrawnNode: a box in a picture of a graph, for one node or several. It holds no part of the graph."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from wengert.autograd.html_table import duration
from wengert.autograd.memory_view import saved_arrays
from wengert.autograd.profiler_table import format_bytes
from wengert.backends.selection import to_host
from wengert.core.node import AccumulateGrad, Node, OpNode, Saved, count_outputs, meta_at
from wengert.core.saved_names import names_of_places

NAMES_SHOWN = 2  # names of parameters in the title of one box
VALUES_SHOWN = 6  # elements of a saved tensor


class SavedValue:
    """Facts about a saved tensor: name, shape, dtype, bytes, statistics ({} if there are none), first values."""

    def __init__(self, name: str, array: Any) -> None:
        self.name = name
        self.shape = list(array.shape)
        self.dtype = str(array.dtype)
        self.bytes: int = array.nbytes
        array = to_host(array)
        self.statistics = statistics_of(array)
        self.values = [format_value(x) for x in array.flat[:VALUES_SHOWN].tolist()]
        if array.size > VALUES_SHOWN:
            self.values.append("...")


def statistics_of(array: Any) -> dict[str, float]:
    """Return min, max and mean of the finite elements, and the numbers of zeros, NaN and infinities if there are any."""
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
    """Format an element with at most five digits."""
    return f"{x:.5g}" if isinstance(x, float | complex) else str(x)


class DrawnNode:
    """One box of a picture: an operation or a parameter, or several of one kind if the graph is folded.

    name; shapes: of the outputs, with dtypes; source: the line of the call; bytes: memory of the saved tensors; count: the
    number of nodes in the box; inputs: {number of another box: number of edges from it}; is_leaf; saved: a SavedValue for
    each saved tensor of the first node. forward_us, backward_us: microseconds of all nodes together, and gradient_norm:
    the largest norm of an arriving gradient; each is None if it was not measured.
    """

    def __init__(self, number: int, node: Node | None) -> None:
        self.number = number
        if node is not None:
            self.is_leaf = isinstance(node, AccumulateGrad)
            self.name = "leaf" if self.is_leaf else node.name()
            metas = [meta_at(node, nr) for nr in range(count_outputs(node))]
            self.shapes = [f"{meta.dtype} {list(meta.shape)}" for meta in metas]
            self.source = node._source()
        self.bytes = 0
        self.count = 0
        self.parameters: list[str] = []
        self.inputs: dict[int, int] = {}
        self.saved = [] if node is None else [SavedValue(name, array) for name, array in named_arrays(node)]
        self.forward_us: float | None = None
        self.backward_us: float | None = None
        self.gradient_norm: float | None = None

    def include(self, node: Node, times: tuple[float | None, float | None], norm: float | None) -> None:
        """Add a node to the box. times: microseconds of its forward and its backward, or None."""
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
        """Microseconds of forward and backward together; None if neither was measured."""
        times = [us for us in (self.forward_us, self.backward_us) if us is not None]
        return sum(times) if times else None

    @property
    def title(self) -> str:
        """First line of the box."""
        names = self.parameters
        if len(names) > NAMES_SHOWN:
            names = [names[0], "...", names[-1]]
        title = ", ".join(names) or self.name
        return title if self.count == 1 else f"{title} x{self.count}"

    def measures(self) -> list[str]:
        """Return a text for each measured quantity."""
        found = [f"saved {format_bytes(self.bytes)}"] if self.bytes else []
        if self.time_us is not None:
            found.append(f"took {duration(self.time_us)}")
        if self.gradient_norm is not None:
            found.append(f"gradient norm {self.gradient_norm:.3g}")
        return found

    def lines(self) -> list[str]:
        """Return the lines of text in the box."""
        lines = [self.title, *self.shapes, *self.measures()]
        if self.source is not None:
            lines.append(f"{os.path.basename(self.source)}")
        return lines

    def __repr__(self) -> str:
        return f"<DrawnNode {self.number} {self.title}>"


def boxes_of(described: list[tuple[str, list[str], str, bool, list[int]]], fold: bool) -> list[DrawnNode]:
    """Return the boxes of a program.

    described: name, shapes, line, whether it is a leaf, and numbers of the inputs, of each instruction and each input of the
    program. fold: whether instructions of one name, line and shapes are one box."""
    boxes: dict[Any, DrawnNode] = {}
    places: list[DrawnNode] = []
    for i, (name, shapes, line, is_leaf, _) in enumerate(described):
        key = (name, line, *shapes) if fold and not is_leaf else i
        if key not in boxes:
            box = boxes[key] = DrawnNode(len(boxes), None)
            box.name, box.shapes, box.source, box.is_leaf = name, shapes, line or None, is_leaf
        places.append(boxes[key])
        places[-1].count += 1
    for box, (*_, inputs) in zip(places, described, strict=True):
        for i in inputs:
            number = places[i].number
            box.inputs[number] = box.inputs.get(number, 0) + 1
    return list(boxes.values())


def named_arrays(node: Node) -> Iterator[tuple[str, Any]]:
    """Yield (name, array) of the arrays that a node saves, named as in the node's attributes _saved_<name>."""
    names = names_of_places(node) if isinstance(node, OpNode) else {}
    inner: Any = getattr(node, "_inner", None)  # the node of the operation, if this is a node of a write into a view
    for holder in (node, inner):
        for place, value in enumerate(getattr(holder, "_saved", None) or ()):
            yield from arrays_under(names.get(place, f"saved {place}"), value)


def arrays_under(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield (name, array) of the arrays in a saved value; arrays in a tuple are named name[i]."""
    if isinstance(value, Saved):
        array = getattr(value, "_data", None)
        if hasattr(array, "nbytes"):
            yield name, array
    elif isinstance(value, tuple):
        for i, part in enumerate(value):
            yield from arrays_under(f"{name}[{i}]", part)
