"""draw: pictures of the graph behind a tensor, as SVG, as an interactive page, as text, and for Graphviz and Mermaid."""

from __future__ import annotations

import os
from collections.abc import Callable
from html import escape
from typing import Any

from wengert import errors
from wengert.autograd.drawn_nodes import DrawnNode, boxes_of
from wengert.autograd.explanation import Graph, Probe, inputs_of, name_parameters
from wengert.autograd.memory_view import running_order
from wengert.autograd.profiler_util import EventList
from wengert.core.node import AccumulateGrad, Node, count_outputs, meta_at
from wengert.core.tensor import TensorBase, gradient_edge

__all__ = ["DrawnNode", "Drawing", "draw"]

LEAF_EVENT = "torch::autograd::AccumulateGrad"
SHOWN = 300  # boxes of a picture in a notebook
PAGE_LIMIT = 20_000  # nodes; the page of a larger graph shows the folded boxes only


class Drawing:
    """Picture of a graph. svg(): an image; html(): an interactive page; dot(), mermaid(): text for Graphviz and Mermaid.

    nodes: the boxes, a DrawnNode each, starting with the box of the drawn tensor. print(...) shows them as a list. A
    notebook shows the image; of more than 300 boxes, the list. A drawing does not hold the graph: it shows the state in
    which the graph was when it was drawn.
    """

    def __init__(self, nodes: list[DrawnNode], every_node: list[DrawnNode], folded: bool) -> None:
        self.nodes = nodes
        self._every_node = every_node  # for the page, which folds nodes itself
        self._folded = folded

    def dot(self) -> str:
        """Return the picture in Graphviz's language. Arrows point in the direction of the forward, from parameters to the loss."""
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

    def mermaid(self) -> str:
        """Return the picture in Mermaid's language, which code hosts and notebooks render."""
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
        """Return the picture as SVG, which a browser shows in the text colour of the page around it."""
        from wengert.autograd.drawn_svg import picture

        return picture(self.nodes)

    def html(self) -> str:
        """Return the graph as one page for a browser, which needs no network.

        The page can be zoomed and moved. Layers and loops can be folded and unfolded. Nodes can be searched, and coloured
        by time, memory or gradient norm; a click on a node shows its saved tensors, source line, times and gradient norm.
        For more than 20,000 nodes, the page shows the boxes of this drawing only. Needs the package XStatic-Dagre (pip
        install wengert[viz]); raises MissingFeatureError, a NotImplementedError, if it is not installed.
        """
        from wengert.autograd.drawn_page import make_page

        return make_page(self._every_node, self._folded)

    def save(self, path: Any) -> None:
        """Write the picture to a .svg, .html, .dot, .mmd (Mermaid) or .txt file.

        Raises ValueError for another ending, and OSError if path cannot be written.
        """
        forms: dict[str, Callable[[], str]] = {
            ".svg": self.svg, ".html": self.html, ".dot": self.dot, ".mmd": self.mermaid, ".txt": lambda: f"{self}\n",
        }  # fmt: skip
        path = os.fspath(path)  # open() would take an int as a file descriptor
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
        return self.svg() if len(self.nodes) <= SHOWN else f"<pre>{escape(str(self))}</pre>"


def draw(loss: Any, params: Any = (), *, fold: bool = True, profile: Any = None, gradients: bool = False) -> Drawing:
    """Draw the graph behind a tensor: operations, shapes, dtypes, source lines, saved bytes, names of parameters.

    loss: a tensor, or a program of a compiled function, whose instructions are drawn then; the other arguments have no meaning for
    it, but for fold.

    params: names of leaves, a dict by name or (name, tensor) pairs such as module.named_parameters(). fold: draw
    operations of one source line with equal names and shapes as one box with their number, so that a loop of a thousand
    steps takes as much room as one step. profile: a finished profiler.profile of the block that recorded the graph or ran
    a backward pass through it; adds the time of each node. gradients: add the norms of the gradients, measured by a
    backward pass that keeps the graph, changes no .grad and runs hooks.

    Raises RuntimeError for a tensor that requires no gradient, for a profile that is not finished, and for gradients of a
    graph that is freed. The picture of a leaf is one box.

    >>> import wengert
    >>> w = wengert.ones(2, requires_grad=True)
    >>> drawing = wengert.autograd.graph.draw((w * 3).sum(), {"w": w}, gradients=True)
    >>> [(node.title, node.gradient_norm) for node in drawing.nodes if node.is_leaf]
    [('w', 4.242640687119285)]
    """
    if hasattr(loss, "boxes"):
        described = loss.boxes()
        every_box = boxes_of(described, False)
        return Drawing(boxes_of(described, True) if fold else every_box, every_box, fold)
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
    """Facts about a graph's nodes. order: all nodes in the order of a pass; names, times, norms: of the nodes that have them."""

    def __init__(self, order: list[Node], names: dict[Node, str], times: Times, norms: dict[Node, float]) -> None:
        self.order = order
        self.names = names
        self.times = times
        self.norms = norms

    def boxes(self, fold: bool) -> list[DrawnNode]:
        """Return one box for each node, or, if fold, one for all nodes of a kind."""
        boxes: dict[Any, DrawnNode] = {}
        box_of: dict[Node, DrawnNode] = {}
        uses: dict[Node, set[Any]] = {}  # for each node: (kind of a node that uses it, number of the input)
        for node in self.order:  # the users of a node come before it
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
            box.parameters.reverse()  # to the order of the forward
        for node in self.order:
            inputs = box_of[node].inputs
            for behind, _ in inputs_of(node):
                number = box_of[behind].number
                inputs[number] = inputs.get(number, 0) + 1
        return list(boxes.values())


Times = dict[int, tuple[float | None, float | None]]  # (forward, backward) in microseconds, by sequence number


def times_of(profile: Any) -> Times:
    """Return the times of nodes in a profile. Nodes of leaves have no sequence number of their own, hence no time."""
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
    """Run a backward pass and return the norms of the gradients that arrive at the nodes."""
    root: Any = gradient_edge(loss)
    graph = Graph(root.node)
    probe = Probe()
    failure = probe.run(root, loss, [node._variable for node in graph.users if isinstance(node, AccumulateGrad)], graph)
    if failure is not None:
        try:
            raise failure
        finally:
            del failure  # the traceback refers to this frame: without del, the two are a reference cycle
    norms = dict(probe.arrived)
    norms.update({node: norm for node, norm in probe.gradients.items() if norm is not None})
    return norms


def kind_of_node(node: Node, uses: set[Any]) -> Any:
    """Key of the nodes that are drawn as one box: name, line and shapes of operations; shapes and users of leaves."""
    shapes = tuple([(meta_at(node, nr).shape, str(meta_at(node, nr).dtype)) for nr in range(count_outputs(node))])
    if isinstance(node, AccumulateGrad):
        return ("leaf", frozenset(uses), shapes)
    return (node.name(), node._source(), shapes)
