"""The page of Drawing.html: the graph as JSON, put into the HTML, CSS and JavaScript files in page/."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from html import escape
from importlib import metadata
from importlib.resources import files
from pathlib import Path
from typing import Any

from wengert import errors
from wengert.autograd.drawn_groups import make_groups
from wengert.autograd.drawn_nodes import DrawnNode

PROGRAM = ("graph.js", "paint.js", "heat.js", "panels.js")
# The heat maps, and the text that is shown if the data of one are missing.
MISSING = {
    "time": "no times: draw(loss, profile=prof), of a block that recorded or ran this graph",
    "memory": "the graph holds no memory: it is freed, or saves nothing",
    "gradient": "no gradient norms: draw(loss, gradients=True)",
}


def make_page(nodes: Sequence[DrawnNode], folded: bool) -> str:
    """Return the whole page. nodes: in the order of a backward pass. folded: whether large groups start folded."""
    folder = files("wengert.autograd") / "page"
    texts = {name: (folder / name).read_text(encoding="utf-8") for name in ("page.html", "page.css", *PROGRAM)}
    title = f"Graph of {nodes[0].title}" if nodes else "Graph"
    data = {
        "title": title,
        "folded": folded,
        "missing": missing_measures(nodes),
        "nodes": [facts_of(node) for node in nodes],
        "groups": make_groups(nodes).as_dict(),
    }
    parts = {
        "title": escape(title),
        "style": texts["page.css"],
        "layout": layout_program(),
        "program": "\n".join([texts[name] for name in PROGRAM]),
        "data": as_script(data),
    }
    # One substitution for all marks, because the user's strings may contain text that looks like a mark.
    return re.sub(r"\{\{(\w+)\}\}", lambda mark: parts[mark[1]], texts["page.html"])


def layout_program() -> str:
    """Return the source of dagre, which lays out boxes. Raises MissingFeatureError if XStatic-Dagre is not installed."""
    try:
        package = metadata.distribution("XStatic-Dagre")
    except metadata.PackageNotFoundError:
        raise errors.MissingFeatureError(
            "a page is laid out by dagre, and the package XStatic-Dagre, which brings it, is not installed. Hint: pip "
            "install wengert[viz]; or use svg(), mermaid() or print(...), which need nothing."
        ) from None
    return Path(str(package.locate_file("xstatic/pkg/dagre/data/dagre.min.js"))).read_text(encoding="utf-8")


def as_script(data: Any) -> str:
    """Return data as JSON that is safe inside a script element, whatever strings it contains."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def missing_measures(nodes: Sequence[DrawnNode]) -> dict[str, str]:
    """Return {heat map: reason} for the heat maps without data."""
    has = {
        "time": any(node.time_us is not None for node in nodes),
        "memory": any(node.bytes for node in nodes),
        "gradient": any(node.gradient_norm is not None for node in nodes),
    }
    return {name: MISSING[name] for name, there in has.items() if not there}


def facts_of(node: DrawnNode) -> dict[str, Any]:
    """Return a node as a dict of plain values, without those that are None, False or empty."""
    facts = {
        "title": node.title,
        "name": node.name,
        "leaf": node.is_leaf,
        "count": node.count,
        "parameters": node.parameters,
        "shapes": node.shapes,
        "source": node.source,
        "bytes": node.bytes,
        "forward": node.forward_us,
        "backward": node.backward_us,
        "gradient": as_json_number(node.gradient_norm),
        "saved": [
            {
                "name": value.name, "shape": value.shape, "dtype": value.dtype, "bytes": value.bytes, "values": value.values,
                "statistics": {name: as_json_number(x) for name, x in value.statistics.items()},
            }
            for value in node.saved
        ],
        "inputs": list(node.inputs.items()),
    }  # fmt: skip
    return {name: value for name, value in facts.items() if value is not None and value is not False and value != []}


def as_json_number(x: float | None) -> float | str | None:
    """Return x for JSON, with NaN and infinities as text, because JSON has no such numbers."""
    return x if x is None or math.isfinite(x) else str(x)
