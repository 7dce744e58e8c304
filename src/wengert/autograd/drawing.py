"""draw: the graph behind a tensor as a picture: for Graphviz, for Mermaid, as SVG, as text and as a page to look around in."""

from __future__ import annotations

import os
from collections.abc import Callable
from html import escape
from typing import Any

from wengert import errors
from wengert.autograd.drawn_nodes import DrawnNode
from wengert.autograd.explanation import Graph, Probe, inputs_of, name_parameters
from wengert.autograd.memory_view import running_order
from wengert.autograd.profiler_util import EventList
from wengert.core.node import AccumulateGrad, Node, count_outputs, meta_at
from wengert.core.tensor import TensorBase, gradient_edge

__all__ = ["DrawnNode", "Drawing", "draw"]

LEAF_EVENT = "torch::autograd::AccumulateGrad"
PAGE_LIMIT = 20_000  # nodes; the page of a larger graph shows what is folded as one


class Drawing:
    """A graph as a picture: dot and mermaid are its text for these programs, svg() the picture, to_html() a page.

    nodes: the boxes, a DrawnNode each, the one of the tensor that was drawn first. print(...) shows a list of them. A
    notebook shows the picture where Graphviz is installed, else the list. The graph itself is not held: a drawing shows
    what there was when it was made.
    """

    def __init__(self, nodes: list[DrawnNode], every_node: list[DrawnNode], folded: bool) -> None:
        self.nodes = nodes
        self._every_node = every_node  # what the page shows: it folds by itself
        self._folded = folded

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
            raise _graphviz_missing() from None
        try:
            picture: str = graphviz.Source(self.dot).pipe(format="svg", encoding="utf-8")
        except (graphviz.ExecutableNotFound, graphviz.CalledProcessError) as error:
            raise _graphviz_missing() from error
        return picture

    def to_html(self, path: Any = None) -> str | None:
        """The graph as one page that needs no network, for a browser: written to path, or returned where that is None.

        There a person can zoom and move about, fold and unfold layers and loops, search, click a node to see what it saved,
        its source line, times and gradient norm, and colour nodes by time, memory or gradient norm. Of more than 20,000
        nodes, the page shows the boxes of this drawing. Needs the package XStatic-Dagre (pip install wengert[viz]):
        MissingFeatureError, a NotImplementedError, where it is not installed. OSError where path cannot be written.
        """
        from wengert.autograd.drawn_page import make_page

        page = make_page(self._every_node, self._folded)
        if path is None:
            return page
        with open(os.fspath(path), "w", encoding="utf-8") as file:  # fspath: a number would be a file that is open already
            file.write(page)
        return None

    def save(self, path: Any) -> None:
        """Writes the picture: a .svg, .html, .dot, .mmd (Mermaid) or .txt file. ValueError for another ending."""
        forms: dict[str, Callable[[], Any]] = {
            ".svg": self.svg, ".html": self.to_html, ".dot": lambda: self.dot, ".mmd": lambda: self.mermaid,
            ".txt": lambda: f"{self}\n",
        }  # fmt: skip
        ending = os.path.splitext(path)[1]
        if ending not in forms:
            raise errors.OptionError(f"a drawing is saved as one of {', '.join(forms)}, but got {ending!r}")
        text = forms[ending]()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def __str__(self) -> str:
        rows = []
        for node in self.nodes:
            inputs = ", ".join([f"{number}" + f" x{n}" * (n > 1) for number, n in node.inputs.items()])
            saved = ", ".join([text.removeprefix("saved ") for text in node.measures()])
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


def _graphviz_missing() -> Exception:
    return errors.MissingFeatureError(
        "an SVG is laid out by Graphviz: it needs the package graphviz and the program dot, and one of them is not installed, "
        "or does not run. Hint: pip install graphviz, and install Graphviz itself; or use .mermaid, .dot or print(...), which "
        "need nothing."
    )


def draw(loss: Any, params: Any = (), *, fold: bool = True, profile: Any = None, gradients: bool = False) -> Drawing:
    """The graph behind a tensor as a picture: operations, shapes, dtypes, source lines, bytes saved, names of parameters.

    params: what gives leaves names: a dict by name, or (name, tensor) pairs such as module.named_parameters(). fold: draws
    operations of one line that have the same name and shapes as one box, with their number: so a loop of a thousand steps
    takes no more room than one. profile: a finished profiler.profile, of a block in which the graph was made, or a backward
    pass through it ran: tells how long each node took. gradients: measures the norms of the gradients, by a backward pass
    that keeps the graph and touches no .grad; hooks run in it.

    RuntimeError for a tensor that requires no gradient, for a profile that is not finished, and for gradients of a graph
    that is freed; a leaf is a picture of itself.

    >>> import wengert
    >>> w = wengert.ones(2, requires_grad=True)
    >>> drawing = wengert.autograd.graph.draw((w * 3).sum(), {"w": w}, gradients=True)
    >>> [(node.title, node.gradient_norm) for node in drawing.nodes if node.is_leaf]
    [('w', 4.242640687119285)]
    """
    if not isinstance(loss, TensorBase):
        raise errors.wrong_argument_type("draw", "loss", 0, type(loss))
    if not loss.requires_grad:
        raise errors.no_graph(0)
    names: dict[Node, str] = {}
    for name, p in name_parameters(params, "draw"):
        if p.requires_grad:
            edge: Any = gradient_edge(p)
            names.setdefault(edge.node, name)
    root: Any = gradient_edge(loss)
    facts = Facts(running_order(root.node), names, times_of(profile), norms_of(loss) if gradients else {})
    boxes = facts.boxes(fold)
    every_node = facts.boxes(False) if fold and len(facts.order) <= PAGE_LIMIT else boxes
    return Drawing(boxes, every_node, fold)


class Facts:
    """What is known of a graph's nodes: order, as a pass runs them; names, times and norms, of those that have some."""

    def __init__(self, order: list[Node], names: dict[Node, str], times: Times, norms: dict[Node, float]) -> None:
        self.order = order
        self.names = names
        self.times = times
        self.norms = norms

    def boxes(self, fold: bool) -> list[DrawnNode]:
        """A box for each node, or for all of a kind."""
        boxes: dict[Any, DrawnNode] = {}
        box_of: dict[Node, DrawnNode] = {}
        uses: dict[Node, set[Any]] = {}  # of each node: (what kind of node uses it, as which input)
        for node in self.order:  # what uses a node comes before it
            key = kind_of_node(node, uses.get(node, set())) if fold else node
            for behind, i in inputs_of(node):
                uses.setdefault(behind, set()).add((key, i))
            if key not in boxes:
                boxes[key] = DrawnNode(len(boxes), node)
            box = box_of[node] = boxes[key]
            box.include(node, self.times.get(node._seq, (None, None)), self.norms.get(node))
            if node in self.names:
                box.parameters.append(self.names[node])
        for box in boxes.values():
            box.parameters.reverse()  # in the order of the forward
        for node in self.order:
            inputs = box_of[node].inputs
            for behind, _ in inputs_of(node):
                number = box_of[behind].number
                inputs[number] = inputs.get(number, 0) + 1
        return list(boxes.values())


Times = dict[int, tuple[float | None, float | None]]  # microseconds of the forward and the backward, by sequence number


def times_of(profile: Any) -> Times:
    """How long nodes took, of a profile. Nodes of leaves have no sequence number of their own, and so no time."""
    if profile is None:
        return {}
    events = profile.events() if hasattr(profile, "events") else getattr(profile, "function_events", profile)
    if not isinstance(events, EventList):
        raise errors.wrong_argument_type("draw", "profile", 2, type(profile), "profiler.profile")
    times: Times = {}
    for event in events:
        if event.sequence_nr >= 0 and event.name != LEAF_EVENT:
            forward, backward = times.get(event.sequence_nr, (None, None))
            if event.is_backward:
                backward = (backward or 0.0) + event.self_cpu_time_total
            else:
                forward = (forward or 0.0) + event.self_cpu_time_total
            times[event.sequence_nr] = (forward, backward)
    return times


def norms_of(loss: TensorBase) -> dict[Node, float]:
    """The norms of the gradients that arrive at the nodes, by a backward pass of their own."""
    root: Any = gradient_edge(loss)
    graph = Graph(root.node)
    probe = Probe()
    failure = probe.run(root, loss, [node._variable for node in graph.users if isinstance(node, AccumulateGrad)], graph)
    if failure is not None:
        try:
            raise failure
        finally:
            del failure  # its traceback has this frame, and the two would keep each other alive
    norms = dict(probe.arrived)
    norms.update({node: norm for node, norm in probe.gradients.items() if norm is not None})
    return norms


def kind_of_node(node: Node, uses: set[Any]) -> Any:
    """What nodes have in common that are drawn as one: of operations name, line and shapes; of leaves shape and use."""
    shapes = tuple([(meta_at(node, nr).shape, str(meta_at(node, nr).dtype)) for nr in range(count_outputs(node))])
    if isinstance(node, AccumulateGrad):
        return ("leaf", frozenset(uses), shapes)
    return (node.name(), node._source(), shapes)
