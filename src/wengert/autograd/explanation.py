"""explain: the reason why each parameter has its gradient, or none."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import pairwise
from types import TracebackType
from typing import Any

import numpy as np

from wengert import errors
from wengert.autograd.html_table import digits, html_table, logarithmic_bars
from wengert.backends.selection import beside, to_host
from wengert.core import recorder
from wengert.core.anomaly import array_of
from wengert.core.engine import run_backward
from wengert.core.node import Edge, Node, blocks, cuts, edge_at, locate, meta_at
from wengert.core.tensor import UNRECORDED_IN, TensorBase, gradient_edge, wrap

__all__ = ["Explanation", "ParameterRecord", "explain"]

# The status of a parameter.
GRADIENT, ZERO, NOT_FINITE, VANISHING, EXPLODING = "gradient", "zero", "not finite", "vanishing", "exploding"
NONE, UNREACHED, NO_GRAD_WANTED, UNKNOWN = "none", "unreached", "requires no grad", "not measured"

CUTS_SHOWN = 3
PATH_SHOWN = 12


class ParameterRecord:
    """Result of explain for one parameter.

    name; status: "gradient", "zero", "not finite", "vanishing", "exploding", "none" (a Function returned None),
    "unreached", "requires no grad" or "not measured"; reason: a text; norm: of the gradient, or None; where: the source
    lines that cause the status; path: (node's name, source line, norm of the gradient that arrives at the node) for each
    node from the loss to the parameter.
    """

    def __init__(self, name: str, shape: tuple[int, ...]) -> None:
        self.name = name
        self.shape = shape
        self.status = GRADIENT
        self.reason = ""
        self.norm: float | None = None
        self.where: list[str] = []
        self.path: list[tuple[str, str | None, float | None]] = []

    def blame(self, status: str, reason: str, where: Iterable[str | None] = ()) -> None:
        """Set status, reason and source lines."""
        self.status = status
        self.reason = reason
        self.where = [place for place in where if place is not None]

    def as_dict(self) -> dict[str, Any]:
        """Return the record as a dict of plain values."""
        return {
            "name": self.name, "shape": list(self.shape), "status": self.status, "reason": self.reason, "norm": self.norm,
            "where": self.where, "path": [list(step) for step in self.path],
        }  # fmt: skip

    def __repr__(self) -> str:
        return f"<ParameterRecord {self.name}: {self.status}>"


class Explanation(Sequence[ParameterRecord]):
    """Result of explain: a sequence of ParameterRecords, indexed by position or name. Prints as text; a notebook shows a table.

    failure: the error that prevented measuring gradients, or None.
    """

    def __init__(self, records: list[ParameterRecord], failure: Exception | None) -> None:
        self.records = records
        self.failure = failure

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return next(record for record in self.records if record.name == key)
        return self.records[key]

    def __len__(self) -> int:
        return len(self.records)

    def as_dicts(self) -> list[dict[str, Any]]:
        """Return the records as dicts of plain values."""
        return [record.as_dict() for record in self.records]

    def __str__(self) -> str:
        lines = []
        if self.failure is not None:
            lines.append(f"The backward pass fails: {self.failure}".replace("\n", "\n  "))
            lines += [f"  {note}" for note in getattr(self.failure, "__notes__", ())]
        width = max([len(record.name) for record in self.records], default=0)
        for record in self.records:
            norm = "" if record.norm is None else f", norm {record.norm:.3g}"
            lines.append(f"{record.name:<{width}}  {record.status}{norm}{': ' if record.reason else ''}{record.reason}")
            if record.status in (VANISHING, EXPLODING):
                lines += [f"{'':<{width}}    {step}" for step in path_lines(record.path)]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = [[r.name, "" if r.norm is None else digits(r.norm), r.status, r.reason] for r in self.records]
        bars = logarithmic_bars([record.norm for record in self.records])
        failure = "" if self.failure is None else f"<pre>The backward pass fails: {escape(str(self.failure))}</pre>"
        faults = [record.status != GRADIENT for record in self.records]
        return failure + html_table(["parameter", "norm of the gradient", "status", "why"], rows, bars, faults)


def path_lines(path: list[tuple[str, str | None, float | None]]) -> list[str]:
    """Return the lines of text of a path, one for each step; the middle of a long path is left out."""
    lines = [f"{'?' if norm is None else f'{norm:.3g}':>9}  {name} ({place or 'no source line'})" for name, place, norm in path]
    if len(lines) > PATH_SHOWN:
        half = PATH_SHOWN // 2
        lines[half:-half] = [f"... {len(lines) - 2 * half} more ..."]
    return lines


def explain(loss: Any, params: Any, *, vanishing: float = 1e-6, exploding: float = 1e6) -> Explanation:
    """Explain, for each parameter, whether it gets a gradient from the loss, and if not, which line cuts it off.

    loss: a tensor; one of more than one element is summed. params: a tensor, a sequence of tensors, (name, tensor) pairs
    such as module.named_parameters(), or a dict by name. Gradients are measured by a backward pass that keeps the graph,
    changes no .grad and runs hooks. If the graph is freed already, only its structure is examined. vanishing, exploding:
    a gradient is called so if its norm is below or above this factor times the norm of the loss's own gradient.

    Cuts by detach(), .data, numpy(), item(), tolist(), casts to integers, comparisons and other operations without a
    derivative are found if only a few operations lie between the parameter and the cut. The last 1000 cuts are known. For
    no_grad, the last block that used the parameter is known.

    If the loss requires no grad, the result's failure says so, and gradients are not measured.

    >>> import wengert
    >>> w, b = wengert.ones(2, requires_grad=True), wengert.ones(2, requires_grad=True)
    >>> loss = (w * 3).sum()
    >>> print(wengert.explain(loss, {"w": w, "b": b}))
    w  gradient, norm 4.24
    b  unreached: no recorded operation that leads to the loss uses it
    """
    if not isinstance(loss, TensorBase):
        raise errors.wrong_argument_type("explain", "loss", 0, type(loss))
    named = name_parameters(params)
    if not loss.requires_grad:
        records = [explain_without_graph(name, p) for name, p in named]
        return Explanation(records, errors.no_graph(0))
    root = gradient_edge(loss)
    graph = Graph(root.node)  # type: ignore[union-attr]  # the loss requires grad
    probe = Probe()
    failure = probe.run(root, loss, [p for _, p in named if graph.node_of(p) is not None], graph)
    return Explanation([explain_one(name, p, graph, probe, vanishing, exploding) for name, p in named], failure)


def name_parameters(params: Any, function: str = "explain") -> list[tuple[str, TensorBase]]:
    """Return (name, parameter) pairs. A parameter without a name is called params[i]."""
    if isinstance(params, TensorBase):
        params = [params]
    if not isinstance(params, Iterable):
        raise errors.wrong_argument_type(function, "params", 1, type(params), "Tensor, or several of them")
    pairs = list(params.items()) if isinstance(params, Mapping) else list(params)
    named = []
    for i, pair in enumerate(pairs):
        name, tensor = pair if isinstance(pair, tuple) and len(pair) == 2 else (f"params[{i}]", pair)
        if not isinstance(tensor, TensorBase):
            raise errors.wrong_argument_type(function, "params", 1, type(tensor))
        named.append((str(name), tensor))
    return named


# -- the graph -------------------------------------------------------------------------------------------------------------


class Graph:
    """All nodes of the graph behind a loss, with the edges that lead to each."""

    def __init__(self, root: Node) -> None:
        self.root = root
        self.users: dict[Node, list[tuple[Node, int]]] = {root: []}  # for each node: (a node that uses it, number of the input)
        queue = [root]
        for node in queue:
            for i in range(node._n_edges):
                edge = edge_at(node, i)
                if edge is None:
                    continue
                if edge.node not in self.users:
                    self.users[edge.node] = []
                    queue.append(edge.node)
                self.users[edge.node].append((node, i))

    def node_of(self, parameter: TensorBase) -> Node | None:
        """Return the node at which the parameter's gradient arrives, or None if it is not in the graph."""
        if not parameter.requires_grad:
            return None
        edge: Any = gradient_edge(parameter)
        return edge.node if edge.node in self.users else None

    def path_to(self, node: Node) -> list[Node]:
        """Return a path of nodes from the root to a node."""
        path = [node]
        seen = {node}
        while path[-1] is not self.root:
            # Prefer the newest user, because the operation that ran last is nearest to the loss.
            users = [user for user, _ in self.users[path[-1]] if user not in seen]
            path.append(max(users, key=lambda user: user._seq))
            seen.add(path[-1])
        return path[::-1]


# -- measuring -------------------------------------------------------------------------------------------------------------


class Probe:
    """Measures, in a backward pass, the norms of the cotangents that arrive at each node and of the node's results."""

    def __init__(self) -> None:
        self.arrived: dict[Node, float] = {}
        self.results: dict[tuple[Node, int], float | None] = {}  # by node and number of the input
        self.gradients: dict[Node, float | None] = {}  # norms of the parameters' gradients, by their nodes
        self.measured = False
        self.thread = threading.get_ident()
        self.other: Any = None

    def run(self, root: Any, loss: Any, params: list[TensorBase], graph: Graph) -> Exception | None:
        """Run the pass. Returns the error that it raised, or None."""
        if not params:
            return None
        edges: list[Edge] = [gradient_edge(p) for p in params]  # type: ignore[misc]  # they are part of the graph
        meta = meta_at(root.node, root.input_nr)
        before = recorder.get_anomaly()
        self.other = before[0]
        recorder.set_anomaly(self, before[1])
        try:
            one = wrap(beside(np.ones(meta.shape, meta.dtype), loss._array))
            found: Any = run_backward([root], [one], True, False, edges, False)
        except Exception as error:
            return error.with_traceback(None)  # the frames of the traceback would keep the graph alive
        finally:
            recorder.set_anomaly(*before)
        self.measured = True
        for edge, gradient in zip(edges, found, strict=True):
            self.gradients[edge.node] = None if gradient is None else norm_of(gradient)
        return None

    # The methods that recorder.run_watched calls.

    def begin(self, roots: list[Any]) -> Any:
        """Return the observer of a pass: this probe, or for another thread the observer that was set before."""
        if threading.get_ident() == self.thread:
            return self
        return None if self.other is None else self.other.begin(roots)

    def watching(self, node: Node) -> Probe:
        """Return the context manager in whose block the node is evaluated."""
        return self

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        pass

    def check(self, node: Node, results: Sequence[Any], cotangents: Sequence[Any]) -> None:
        """Store the norms at a node."""
        self.arrived[node] = sum([norm_of(ct) ** 2 for ct in cotangents if ct is not None]) ** 0.5
        for i, result in enumerate(results):
            self.results[node, i] = None if result is None else norm_of(result)


def norm_of(x: Any) -> float:
    """Return the Euclidean norm of a tensor, in float64."""
    array = to_host(array_of(x))
    if array is None:
        return 0.0
    with np.errstate(all="ignore"):
        return float(np.linalg.norm(np.abs(array).astype(np.float64).reshape(-1)))


# -- explanations ----------------------------------------------------------------------------------------------------------


def explain_one(name: str, p: TensorBase, graph: Graph, probe: Probe, vanishing: float, exploding: float) -> ParameterRecord:
    """Return the record of one parameter."""
    node = graph.node_of(p)
    if node is None:
        return explain_without_graph(name, p)
    record = ParameterRecord(name, p._array.shape)
    path = graph.path_to(node)
    record.path = [(n.name(), n._source(), probe.arrived.get(n, probe.gradients.get(n))) for n in path]
    if not probe.measured:
        record.norm = None if p._grad is None else norm_of(p._grad)
        record.blame(UNKNOWN, "the graph leads to it, but no backward pass can be run to measure its gradient")
        return record
    norm = probe.gradients.get(node)
    record.norm = norm
    start = probe.arrived.get(graph.root, 1.0) or 1.0
    if norm is None or norm == 0.0:
        explain_missing_gradient(record, node, graph, probe)
    elif not np.isfinite(norm):
        culprits = first_bad_nodes(node, graph, lambda user, i: not is_finite(probe.results.get((user, i))), probe, is_finite)
        record.blame(NOT_FINITE, "not finite since " + list_nodes(culprits), [n._source() for n in culprits])
    elif norm < vanishing * start:
        record.blame(VANISHING, describe_steepest_step(record.path, min), [])
    elif norm > exploding * start:
        record.blame(EXPLODING, describe_steepest_step(record.path, max), [])
    return record


def is_finite(norm: float | None) -> bool:
    """Whether a norm is finite; None, the norm of no value, is."""
    return norm is None or bool(np.isfinite(norm))


def explain_missing_gradient(record: ParameterRecord, node: Node, graph: Graph, probe: Probe) -> None:
    """Set the reason of a gradient that is zero or missing."""
    culprits = first_bad_nodes(
        node, graph, lambda user, i: not probe.results.get((user, i)), probe, lambda norm: bool(norm)
    )
    silent = [
        user for user in culprits for n, i in inputs_of(user) if probe.results.get((user, i)) is None and n in graph.users
    ]
    places = [n._source() for n in culprits]
    if silent and len(silent) >= len(culprits):
        record.blame(NONE, f"{list_nodes(culprits)} returned None for it", places)
    elif culprits:
        record.blame(ZERO, f"exactly zero since {list_nodes(culprits)}", places)
    else:
        record.blame(ZERO, "exactly zero, as the gradient of the loss itself is", [])


def inputs_of(node: Node) -> list[tuple[Node, int]]:
    """Return (next node, number of the input) for each edge of a node."""
    found = []
    for i in range(node._n_edges):
        edge = edge_at(node, i)
        if edge is not None:
            found.append((edge.node, i))
    return found


def first_bad_nodes(node: Node, graph: Graph, is_bad_result: Any, probe: Probe, is_good: Any) -> list[Node]:
    """Return the nodes on paths to this one that got a good cotangent and returned a bad one, nearest to the loss first."""
    found: dict[Node, None] = {}
    seen = {node}
    queue = [node]
    for behind in queue:
        for user, i in graph.users[behind]:
            if not is_bad_result(user, i):
                continue
            if user in probe.arrived and is_good(probe.arrived[user]):
                found[user] = None
            elif user not in seen:
                seen.add(user)
                queue.append(user)
    return sorted(found, key=lambda n: -n._seq)


def list_nodes(found: list[Node]) -> str:
    """Return a list of nodes and their lines as part of a sentence."""
    texts = [f"{n.name()} at {n._source() or 'no source line'}" for n in found[:CUTS_SHOWN]]
    return " and ".join(texts) + (f" and {len(found) - CUTS_SHOWN} others" if len(found) > CUTS_SHOWN else "")


def describe_steepest_step(path: list[tuple[str, str | None, float | None]], choose: Any) -> str:
    """Describe the step of a path with the smallest or largest quotient of norms. choose: min or max."""
    steps = []
    for before, after in pairwise(path):
        if before[2] and after[2]:
            steps.append((after[2] / before[2], before[0], before[1]))
    if not steps:
        return ""
    quotient, name, place = choose(steps, key=lambda step: step[0])
    return f"over {len(path) - 1} steps; most at {name} ({place}), by a factor of {quotient:.3g}"


def explain_without_graph(name: str, p: TensorBase) -> ParameterRecord:
    """Return the record of a parameter to which the loss's graph does not lead."""
    record = ParameterRecord(name, p._array.shape)
    if not p._requires_grad:
        kind = p._array.dtype.kind
        if kind in "iub":
            record.blame(NO_GRAD_WANTED, f"its dtype is {p._array.dtype}: only floating and complex tensors have gradients")
        else:
            record.blame(NO_GRAD_WANTED, "requires_grad is False")
        return record
    found: dict[str, None] = {}
    places: dict[str | None, None] = {}
    for kind, code, lasti, leaves in reversed(cuts):
        if any(is_cut_from(p, reference()) for reference in (leaves if isinstance(leaves, list) else (leaves,))):
            place = locate(code, lasti)
            by = kind if kind[-1] == ")" or kind[0] == "." or " " in kind else f"no_grad, in which {kind.lstrip('_')}() ran,"
            found[f"{by} at {place}"] = None
            places[place] = None
    block = p._flags >> UNRECORDED_IN
    if block:
        place = locate(*blocks[block])
        found[f"no_grad, in which it was used, at {place}"] = None
        places[place] = None
    if found:
        shown = list(found)[:CUTS_SHOWN]
        more = f" and {len(found) - CUTS_SHOWN} earlier ones" if len(found) > CUTS_SHOWN else ""
        record.blame(UNREACHED, "cut off by " + "; by ".join(shown) + more, list(places)[:CUTS_SHOWN])
    elif p._grad_fn is None and p._accumulator is not None and p._accumulator() is not None:
        record.blame(UNREACHED, "recorded operations use it, but none of them leads to the loss")
    else:
        record.blame(UNREACHED, "no recorded operation that leads to the loss uses it")
    return record


def is_cut_from(p: TensorBase, leaf: Any) -> bool:
    """Whether a cut tensor came from the parameter p: leaf is p, or, if p is no leaf, a tensor with p's array."""
    return leaf is p or (leaf is not None and p._grad_fn is not None and leaf._array is p._array)

