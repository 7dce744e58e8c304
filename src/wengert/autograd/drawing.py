"""draw: the graph behind a tensor as a picture, for Graphviz, for Mermaid, as SVG and as text."""

from __future__ import annotations

import os
from collections.abc import Callable
from html import escape
from typing import Any

from wengert import errors
from wengert.autograd.explanation import inputs_of, name_parameters
from wengert.autograd.memory_view import running_order, saved_arrays
from wengert.autograd.profiler_table import format_bytes
from wengert.core.node import AccumulateGrad, Node, count_outputs, meta_at
from wengert.core.tensor import TensorBase, gradient_edge

__all__ = ["DrawnNode", "Drawing", "draw"]

NAMES_SHOWN = 2  # of parameters that are drawn as one


class DrawnNode:
    """One box: an operation, or a parameter; or several of a kind, where repeated structure is folded.

    name; shapes, of the outputs, with dtypes; source, the line of the call; bytes, that it saved; count, how many it stands
    for; inputs, {number of the box: how many edges come from there}; is_leaf.
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

    @property
    def title(self) -> str:
        """What stands first in the box."""
        names = self.parameters
        if len(names) > NAMES_SHOWN:
            names = [names[0], "...", names[-1]]
        title = ", ".join(names) or self.name
        return title if self.count == 1 else f"{title} x{self.count}"

    def lines(self) -> list[str]:
        """What stands in the box."""
        lines = [self.title, *self.shapes]
        if self.bytes:
            lines.append(f"saved {format_bytes(self.bytes)}")
        if self.source is not None:
            lines.append(f"{os.path.basename(self.source)}")
        return lines

    def __repr__(self) -> str:
        return f"<DrawnNode {self.number} {self.title}>"


class Drawing:
    """A graph as a picture. dot and mermaid are its text for these programs, svg() the picture, print(...) a list.

    nodes: the boxes, a DrawnNode each, the one of the tensor that was drawn first. A notebook shows the picture where
    Graphviz is installed, else the list.
    """

    def __init__(self, nodes: list[DrawnNode]) -> None:
        self.nodes = nodes

    @property
    def dot(self) -> str:
        """The picture in Graphviz's language. Arrows lead the way values flow, from parameters to the loss."""
        lines = ["digraph {", "  rankdir=TB;", '  node [shape=box, style="rounded,filled", fillcolor=white, fontname=Helvetica];']
        for node in self.nodes:
            color = ", fillcolor=lightblue" if node.is_leaf else ""
            label = "\\n".join([line.replace("\\", "\\\\").replace('"', '\\"') for line in node.lines()])
            lines.append(f'  n{node.number} [label="{label}"{color}];')
        for node in self.nodes:
            for number, times in node.inputs.items():
                label = f' [label="x{times}"]' if times > 1 else ""
                lines.append(f"  n{number} -> n{node.number}{label};")
        return "\n".join([*lines, "}", ""])

    @property
    def mermaid(self) -> str:
        """The picture in Mermaid's language, which code hosts and notebooks draw."""
        lines = ["flowchart TB"]
        for node in self.nodes:
            label = "<br/>".join([escape(line, quote=False).replace('"', "#quot;") for line in node.lines()])
            opened, closed = ("([", "])") if node.is_leaf else ("[", "]")
            lines.append(f'  n{node.number}{opened}"{label}"{closed}')
        for node in self.nodes:
            for number, times in node.inputs.items():
                arrow = f"-- x{times} -->" if times > 1 else "-->"
                lines.append(f"  n{number} {arrow} n{node.number}")
        return "\n".join([*lines, ""])

    def svg(self) -> str:
        """The picture as SVG, laid out by Graphviz: needs the package graphviz and the program dot.

        MissingFeatureError, a NotImplementedError, where one of them is not installed.
        """
        try:
            import graphviz
        except ImportError:
            raise errors.graphviz_missing() from None
        try:
            picture: str = graphviz.Source(self.dot).pipe(format="svg", encoding="utf-8")
        except (graphviz.ExecutableNotFound, graphviz.CalledProcessError) as error:
            raise errors.graphviz_missing() from error
        return picture

    def save(self, path: Any) -> None:
        """Writes the picture: a .svg, .dot, .mmd (Mermaid) or .txt file. ValueError for another ending."""
        forms: dict[str, Callable[[], str]] = {
            ".svg": self.svg, ".dot": lambda: self.dot, ".mmd": lambda: self.mermaid, ".txt": lambda: f"{self}\n",
        }  # fmt: skip
        ending = os.path.splitext(path)[1]
        if ending not in forms:
            raise errors.drawing_format(ending, forms)
        text = forms[ending]()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def __str__(self) -> str:
        rows = []
        for node in self.nodes:
            inputs = ", ".join([f"{number}" + f" x{n}" * (n > 1) for number, n in node.inputs.items()])
            saved = format_bytes(node.bytes) if node.bytes else ""
            came = f"<- {inputs}" if inputs else ""
            rows.append([str(node.number), node.title, ", ".join(node.shapes), saved, came, node.source or ""])
        widths = [max([len(row[i]) for row in rows]) for i in range(5)]
        return "\n".join(
            ["  ".join([*[cell.ljust(width) for cell, width in zip(row, widths, strict=False)], row[5]]).rstrip() for row in rows]
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        try:
            return self.svg()
        except errors.MissingFeatureError:
            return f"<pre>{escape(str(self))}</pre>"


def draw(loss: Any, params: Any = (), *, fold: bool = True) -> Drawing:
    """The graph behind a tensor as a picture: operations, shapes, dtypes, source lines, bytes saved, names of parameters.

    params: what gives leaves names: a dict by name, or (name, tensor) pairs such as module.named_parameters(). fold: draws
    operations of one line that have the same name and shapes as one box, with their number: so a loop of a thousand steps
    takes no more room than one. RuntimeError for a tensor that requires no gradient; a leaf is a picture of itself.

    >>> import wengert
    >>> w = wengert.ones(2, requires_grad=True)
    >>> drawing = wengert.autograd.graph.draw((w * 3).sum(), {"w": w})
    >>> [node.title for node in drawing.nodes]
    ['SumBackward0', 'MulBackward0', 'w']
    """
    if not isinstance(loss, TensorBase):
        raise errors.wrong_argument_type("draw", "loss", 0, type(loss))
    if not loss.requires_grad:
        raise errors.no_graph(0)
    names: dict[Node, str] = {}
    for name, p in name_parameters(params):
        if p.requires_grad:
            edge: Any = gradient_edge(p)
            names.setdefault(edge.node, name)
    root: Any = gradient_edge(loss)
    order = running_order(root.node)
    boxes: dict[Any, DrawnNode] = {}
    box_of: dict[Node, DrawnNode] = {}
    uses: dict[Node, set[Any]] = {}  # of each node: (what kind of node uses it, as which input)
    for node in order:  # what uses a node comes before it
        key = kind_of_node(node, uses.get(node, set())) if fold else node
        for behind, i in inputs_of(node):
            uses.setdefault(behind, set()).add((key, i))
        if key not in boxes:
            boxes[key] = DrawnNode(len(boxes), node)
        box = box_of[node] = boxes[key]
        box.count += 1
        box.bytes += sum([array.nbytes for array in saved_arrays(node)])
        if node in names:
            box.parameters.append(names[node])
    for box in boxes.values():
        box.parameters.reverse()  # in the order of the forward
    for node in order:
        inputs = box_of[node].inputs
        for behind, _ in inputs_of(node):
            number = box_of[behind].number
            inputs[number] = inputs.get(number, 0) + 1
    return Drawing(list(boxes.values()))


def kind_of_node(node: Node, uses: set[Any]) -> Any:
    """What nodes have in common that are drawn as one: of operations name, line and shapes; of leaves shape and use."""
    shapes = tuple([(meta_at(node, nr).shape, str(meta_at(node, nr).dtype)) for nr in range(count_outputs(node))])
    if isinstance(node, AccumulateGrad):
        return ("leaf", frozenset(uses), shapes)
    return (node.name(), node._source(), shapes)
