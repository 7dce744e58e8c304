"""memory_summary: the bytes that a graph holds for its backward pass, by node and by source line, and at the peak."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from html import escape
from typing import Any

from wengert import errors
from wengert.autograd.html_table import html_table, linear_bars
from wengert.autograd.profiler_table import format_bytes
from wengert.core.node import AccumulateGrad, Node, Saved, count_outputs, edge_at, meta_at
from wengert.core.tensor import TensorBase, gradient_edge
from wengert.kernels.memory import owner_of

__all__ = ["MemorySummary", "NodeMemory", "memory_summary"]


class NodeMemory:
    """Memory of one node: name, source line, bytes. The bytes of an array that several nodes hold count for the oldest."""

    __slots__ = ("bytes", "name", "node", "shapes", "source")

    def __init__(self, node: Node) -> None:
        self.node = node
        self.name = node.name()
        self.source = node._source()
        self.bytes = 0
        self.shapes: list[list[int]] = []

    def __repr__(self) -> str:
        return f"<NodeMemory {self.name} {format_bytes(self.bytes)} at {self.source}>"


class MemorySummary:
    """Memory of a graph.

    total: bytes of all saved arrays, each counted once, without the leaves. leaves: bytes of the leaves that nodes hold.
    nodes: a NodeMemory for each node that holds an array, the largest first. lines: {source line: bytes}. peak: the
    largest number of bytes, of saved arrays and gradients together, during a backward pass. peak_at: the node that runs
    at the peak.
    """

    def __init__(self, nodes: list[NodeMemory], leaves: int, peak: int, peak_at: Node | None) -> None:
        self.nodes = sorted(nodes, key=lambda n: -n.bytes)
        self.total = sum([n.bytes for n in nodes])
        self.leaves = leaves
        self.peak = peak
        self.peak_at = peak_at
        lines: dict[str, int] = {}
        for n in self.nodes:
            line = n.source or "no source line"
            lines[line] = lines.get(line, 0) + n.bytes
        self.lines = dict(sorted(lines.items(), key=lambda item: -item[1]))

    def as_dict(self) -> dict[str, Any]:
        """Return the summary as a dict of plain values."""
        nodes = [{"name": n.name, "source": n.source, "bytes": n.bytes, "shapes": n.shapes} for n in self.nodes]
        return {"total": self.total, "leaves": self.leaves, "peak": self.peak, "lines": self.lines, "nodes": nodes}

    def _head(self) -> list[str]:
        at = "" if self.peak_at is None else f", in {self.peak_at.name()} ({self.peak_at._source() or 'no source line'})"
        return [
            f"held by the graph: {format_bytes(self.total)}, and of leaves {format_bytes(self.leaves)}",
            f"at the peak of a backward pass: {format_bytes(self.peak)}{at}",
        ]

    def __str__(self) -> str:
        lines = self._head()
        for line, total in self.lines.items():
            lines.append(f"{format_bytes(total):>12}  {line}")
            lines += [
                f"{format_bytes(n.bytes):>16}  {n.name} {n.shapes}" for n in self.nodes if (n.source or "no source line") == line
            ]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = [[n.name, format_bytes(n.bytes), str(n.shapes), n.source or ""] for n in self.nodes]
        table = html_table(["node", "bytes", "saved", "source"], rows, linear_bars([n.bytes for n in self.nodes]))
        return f"<p>{'<br>'.join([escape(line) for line in self._head()])}</p>{table}"


def memory_summary(loss: Any) -> MemorySummary:
    """Return the memory that the graph of a tensor holds for its backward pass: by node, by line, and at the peak.

    Values that saved tensor hooks keep in other forms are not counted. The peak is computed from the shapes of saved
    arrays and gradients, in the order in which a pass runs. Raises RuntimeError for a tensor without a graph.

    >>> import wengert
    >>> x = wengert.ones(256, requires_grad=True)
    >>> summary = wengert.autograd.graph.memory_summary((x * 2).exp().sum())
    >>> summary.total, [node.name for node in summary.nodes]
    (1024, ['ExpBackward0'])
    """
    if not isinstance(loss, TensorBase):
        raise errors.wrong_argument_type("memory_summary", "loss", 0, type(loss))
    if loss.grad_fn is None:
        raise errors.no_graph(0)
    root: Any = gradient_edge(loss)
    order = running_order(root.node)
    own = {id(owner_of(node._variable._array)): node._variable._array for node in order if isinstance(node, AccumulateGrad)}
    held: list[NodeMemory] = []
    seen: set[int] = set()
    leaves: dict[int, int] = {}
    for node in reversed(order):  # the oldest first
        memory = NodeMemory(node)
        for array in saved_arrays(node):
            owner = owner_of(array)
            memory.shapes.append(list(array.shape))
            if id(owner) in own:
                leaves[id(owner)] = owner.nbytes
            elif id(owner) not in seen:
                seen.add(id(owner))
                memory.bytes += owner.nbytes
        if memory.shapes:
            held.append(memory)
    peak, peak_at = find_peak(order, {memory.node: memory.bytes for memory in held})
    return MemorySummary(held, sum(leaves.values()), peak, peak_at)


def running_order(root: Node) -> list[Node]:
    """Return the nodes in the order in which a pass runs them."""
    waiting: dict[Node, int] = {root: 0}
    stack = [root]
    while stack:
        for behind in nodes_behind(stack.pop()):
            if behind not in waiting:
                waiting[behind] = 0
                stack.append(behind)
            waiting[behind] += 1
    order: list[Node] = []
    ready = [(-root._seq, 0, root)]
    pushed = 0
    while ready:
        node = heappop(ready)[2]
        order.append(node)
        for behind in nodes_behind(node):
            waiting[behind] -= 1
            if waiting[behind] == 0:
                pushed += 1
                heappush(ready, (-behind._seq, pushed, behind))
    return order


def nodes_behind(node: Node) -> list[Node]:
    """Return the next node of each edge of a node."""
    edges = [edge_at(node, i) for i in range(node._n_edges)]
    return [edge.node for edge in edges if edge is not None]


def saved_arrays(node: Any) -> Iterator[Any]:
    """Yield the arrays that a node saves."""
    inner = getattr(node, "_inner", None)  # the node of the operation, if this is a node of a write into a view
    for holder in (node, inner):
        yield from arrays_among(getattr(holder, "_saved", None) or ())


def arrays_among(values: Any) -> Iterator[Any]:
    """Yield the arrays in a node's saved values."""
    for value in values:
        if isinstance(value, Saved):
            array = getattr(value, "_data", None)
            if hasattr(array, "nbytes"):
                yield array
        elif isinstance(value, tuple):
            yield from arrays_among(value)


def find_peak(order: list[Node], held: dict[Node, int]) -> tuple[int, Node | None]:
    """Return (largest number of bytes of saved arrays and gradients during a pass, node that then runs or None)."""
    size: Callable[[Node], int] = gradient_bytes
    now = sum(held.values()) + size(order[0])
    peak, peak_at = now, None
    arrived = {order[0]}
    for node in order:
        for behind in nodes_behind(node):
            if behind not in arrived:
                arrived.add(behind)
                now += size(behind)
        if now > peak:
            peak, peak_at = now, node
        now -= held.get(node, 0)
        if not isinstance(node, AccumulateGrad):  # the gradient of a leaf outlives the pass
            now -= size(node)
    return peak, peak_at


def gradient_bytes(node: Node) -> int:
    """Return the size in bytes of the gradients that arrive at a node."""
    total = 0
    for nr in range(count_outputs(node)):
        meta = meta_at(node, nr)
        n = meta.dtype.itemsize
        for length in meta.shape:
            n *= length
        total += n
    return total
