"""Groups of a graph's nodes that a page folds: loops and their steps, layers, and ranges of the remaining nodes.

The steps of a loop are found by repetition: in the order of the forward, the same operations of the same lines repeat.
Layers are found by the names of parameters ("layers.0.weight" and "layers.0.bias" belong to "layers.0"). A group has few
more than FAN_OUT children, so that each group can be laid out and read by itself, however large the graph is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import ceil, sqrt
from typing import Any

import numpy as np

from wengert.autograd.drawn_nodes import DrawnNode

FAN_OUT = 40
LEAST_STEPS = 3  # fewer repetitions are no loop
LEAST_OPERATIONS = 8  # operations in all steps of a loop; fewer are shown one by one
TURNS = ("TBackward0", "TransposeBackward0", "PermuteBackward0", "ViewBackward0", "UnsqueezeBackward0", "ExpandBackward0")
DEEPEST_LOOPS = 4  # levels of nested loops
LONGEST_STEP = 2000  # operations


class Group:
    """Nodes that are folded together. children: numbers of nodes, or groups. kind: graph, loop, step, layer or range."""

    def __init__(self, kind: str, label: str, children: list[Any]) -> None:
        self.kind = kind
        self.label = label
        self.children = children

    def operations(self) -> Iterator[int]:
        """Yield the numbers of all nodes in the group."""
        for child in self.children:
            if isinstance(child, Group):
                yield from child.operations()
            else:
                yield child

    def as_dict(self) -> dict[str, Any]:
        """Return the group as a dict of plain values."""
        children = [child.as_dict() if isinstance(child, Group) else child for child in self.children]
        return {"kind": self.kind, "label": self.label, "children": children}


def make_groups(nodes: Sequence[DrawnNode]) -> Group:
    """Group the nodes of a graph; return the outermost group. nodes: in the order of a backward pass."""
    operations = [node.number for node in reversed(nodes) if not node.is_leaf]
    scopes = scopes_of(nodes)
    children = group_layers(find_loops(nodes, operations), scopes)
    graph = Group("graph", "graph", children)
    refine_groups(graph, scopes)
    place_leaves(graph, nodes)
    return graph


def refine_groups(group: Group, scopes: dict[int, str]) -> None:
    """Group the contents of steps by layers, name steps by their parameters, and split groups that are too large."""
    for child in group.children:
        if isinstance(child, Group):
            if child.kind == "step":
                named = {scopes[i] for i in child.operations() if i in scopes}
                if len(named) > 1:
                    child.children = group_layers(child.children, scopes)
                elif named and len(scopes_within(group, scopes)) > 1:
                    child.label = named.pop()
            refine_groups(child, scopes)
    while len(group.children) > FAN_OUT:
        group.children = split_into_ranges(group)


def scopes_within(group: Group, scopes: dict[int, str]) -> set[str]:
    """Return the layers whose parameters are used in a group."""
    return {scopes[i] for i in group.operations() if i in scopes}


# -- loops -----------------------------------------------------------------------------------------------------------------


def find_loops(nodes: Sequence[DrawnNode], operations: list[int]) -> list[Any]:
    """Return operations, which are in the order of the forward, with the operations of each loop replaced by a group."""
    kinds: dict[Any, int] = {}
    lines = [line_of(nodes[i].source) for i in operations]
    tokens = np.array([kinds.setdefault((nodes[i].name, nodes[i].source), len(kinds)) for i in operations])
    children: list[Any] = list(operations)
    for _ in range(DEEPEST_LOOPS):  # each round finds the loops around those of the previous round
        before = len(children)
        period = 1
        while period <= min(len(tokens) // LEAST_STEPS, LONGEST_STEP):
            for start, count in reversed(find_repeats(tokens, lines, period)):
                end = start + count * period
                steps = [
                    Group("step", f"step {k + 1}", children[at : at + period])
                    for k, at in enumerate(range(start, end, period))
                ]
                loop = Group("loop", f"loop ×{count}", steps)
                if sum([1 for _ in loop.operations()]) < LEAST_OPERATIONS:
                    continue
                kind = kinds.setdefault(("loop", tuple(tokens[start : start + period].tolist())), len(kinds))
                children[start:end] = [loop]
                lines[start:end] = [lines[start]]
                tokens = np.concatenate([tokens[:start], [kind], tokens[end:]])
            period += 1
        if len(children) == before:
            break
    return children


def find_repeats(tokens: Any, lines: list[tuple[str, int]], period: int) -> list[tuple[int, int]]:
    """Return (start, count) of each run of at least LEAST_STEPS repetitions of `period` tokens."""
    same = np.concatenate([[False], tokens[:-period] == tokens[period:], [False]])
    edges = np.flatnonzero(same[1:] != same[:-1])
    found = []
    for start, end in edges.reshape(-1, 2)[edges[1::2] - edges[::2] >= (LEAST_STEPS - 1) * period].tolist():
        end += period
        # Start the loop at its first line: the operations before it may look like the end of a further step.
        first = lines[start : start + period]
        shift = min(range(period), key=lambda i: first[i][1]) if len({file for file, _ in first}) == 1 else 0
        if (end - start - shift) // period < LEAST_STEPS:
            shift = 0
        found.append((start + shift, (end - start - shift) // period))
    return found


def line_of(source: str | None) -> tuple[str, int]:
    """Return (file, line number) of a node's source; ("", 0) if it is unknown."""
    match = re.match(r"(.*):(\d+), in ", source or "")
    return (match[1], int(match[2])) if match else ("", 0)


# -- layers and ranges -----------------------------------------------------------------------------------------------------


def scopes_of(nodes: Sequence[DrawnNode]) -> dict[int, str]:
    """Return the layer of each operation that uses the parameters of one layer, directly or through a view."""
    scopes: dict[int, str] = {}
    for node in reversed(nodes):  # the inputs of a node come first
        names = {name.rpartition(".")[0] for name in node.parameters}
        if not node.is_leaf:
            names = {scopes[i] for i in node.inputs if i in scopes and (nodes[i].is_leaf or nodes[i].name in TURNS)}
        if len(names) == 1 and "" not in names:
            scopes[node.number] = names.pop()
    return scopes


def group_layers(children: list[Any], scopes: dict[int, str]) -> list[Any]:
    """Return children, with those from the first to the last one of a layer replaced by a group of the layer's name."""
    places: dict[str, list[int]] = {}
    for place, child in enumerate(children):
        if not isinstance(child, Group) and child in scopes:
            places.setdefault(scopes[child], []).append(place)
    grouped: list[Any] = []
    done = 0
    for scope, found in places.items():
        start, end = found[0], found[-1] + 1
        inside = children[start:end]
        if start < done or end - start < 2 or any(isinstance(c, Group) or scopes.get(c, scope) != scope for c in inside):
            continue
        grouped += children[done:start]
        grouped.append(Group("layer", scope, inside))
        done = end
    return grouped + children[done:] if len(grouped) + len(children) - done > 1 else children


def split_into_ranges(group: Group) -> list[Group]:
    """Split a group's children into ranges of neighbours."""
    children = group.children
    size = min(FAN_OUT, ceil(sqrt(len(children))))
    ranges = []
    count = 0  # operations in the ranges so far
    for start in range(0, len(children), size):
        part = Group("range", "", children[start : start + size])
        first, last = part.children[0], part.children[-1]
        inside = sum([1 for _ in part.operations()])
        if group.kind == "loop" and first.kind == "step":
            part.label = f"steps {start + 1}–{start + len(part.children)}"
        elif group.kind == "loop":
            part.label = f"{first.label.split('–')[0]}–{last.label.split('–')[-1]}"
        else:
            part.label = f"operations {count + 1}–{count + inside}"
        count += inside
        ranges.append(part)
    return ranges


# -- leaves ----------------------------------------------------------------------------------------------------------------


def place_leaves(graph: Group, nodes: Sequence[DrawnNode]) -> None:
    """Put each leaf into the innermost group that contains all its users."""
    path_of: dict[int, tuple[Group, ...]] = {}
    stack: list[tuple[Group, tuple[Group, ...]]] = [(graph, ())]
    while stack:
        group, outer = stack.pop()
        path = (*outer, group)
        for child in group.children:
            if isinstance(child, Group):
                stack.append((child, path))
            else:
                path_of[child] = path
    common: dict[int, tuple[Group, ...]] = {}
    for node in nodes:
        for i in node.inputs:
            if nodes[i].is_leaf:
                path = path_of[node.number]
                before = common.get(i, path)
                depth = 0
                while depth < min(len(before), len(path)) and before[depth] is path[depth]:
                    depth += 1
                common[i] = path[:depth]
    for node in reversed(nodes):
        if node.is_leaf:
            common.get(node.number, (graph,))[-1].children.insert(0, node.number)
