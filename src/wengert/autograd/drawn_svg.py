"""Drawing.svg: boxes in layers, parameters at the top and the loss at the bottom, in the text colour of the page around it.

The layers are those of Sugiyama's method. A box is one layer below the lowest of its inputs. Arrows that pass through other layers
have a point in each. Boxes and points of a layer are ordered by the means of their neighbours, and then moved next to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import pairwise

from wengert.autograd.drawn_nodes import DrawnNode

SWEEPS = 8  # down and up through the layers, to order them and to place the boxes
LETTER, BOLD = 6.6, 7.6  # pixels: mean width of a letter, and of a bold one
LINE, PADDING = 15.0, 8.0  # pixels: height of a line, and between text and border
GAP, RISE = 22.0, 34.0  # pixels between boxes of a layer, and between layers


class _Place:
    """A box, or a point of an arrow that passes through a layer. above, below: the neighbours in the next layers."""

    def __init__(self, node: DrawnNode | None) -> None:
        self.node = node
        lines = [] if node is None else node.lines()
        widths = [len(line) * (LETTER if number else BOLD) for number, line in enumerate(lines)]
        self.width = max(widths) + 2 * PADDING if lines else 4.0
        self.height = len(lines) * LINE + (2 * PADDING if lines else 0.0)
        self.x = self.y = 0.0
        self.above: list[_Place] = []
        self.below: list[_Place] = []


def picture(nodes: Sequence[DrawnNode]) -> str:
    """Return the picture as an SVG element. nodes: each before its inputs, as a backward pass runs them."""
    places = {node.number: _Place(node) for node in nodes}
    rank = _ranks(nodes)
    layers: list[list[_Place]] = [[] for _ in range(max(rank.values(), default=0) + 1)]
    for node in reversed(nodes):
        layers[rank[node.number]].append(places[node.number])
    arrows: list[tuple[list[_Place], int]] = []
    for node in nodes:
        for number, times in node.inputs.items():
            first, last = rank[number], rank[node.number]
            points = [_Place(None) for _ in range(first + 1, last)]
            for layer, point in zip(layers[first + 1 : last], points, strict=False):
                layer.append(point)
            route = [places[number], *points, places[node.number]]
            arrows.append((route, times))
            if first < last:
                for upper, lower in pairwise(route):
                    upper.below.append(lower)
                    lower.above.append(upper)
    _arrange(layers)
    return _draw(layers, arrows)


def _ranks(nodes: Sequence[DrawnNode]) -> dict[int, int]:
    """Layer of each box, from 0 at the top. A leaf stands just above its first user.

    In a folded picture, boxes of a loop lead to each other: an arrow to a box that comes later in the forward does not count.
    """
    rank: dict[int, int] = {}
    users: dict[int, list[int]] = {}
    for node in reversed(nodes):
        rank[node.number] = max([rank[number] + 1 for number in node.inputs if number in rank], default=0)
        for number in node.inputs:
            users.setdefault(number, []).append(node.number)
    for node in nodes:
        if not node.inputs and node.number in users:
            rank[node.number] = max(0, min(rank[user] for user in users[node.number]) - 1)
    return rank


def _arrange(layers: list[list[_Place]]) -> None:
    """Order each layer, and set x and y of all places."""
    for layer in layers:
        _spread(layer, [0.0] * len(layer))
    for sweep in range(SWEEPS):
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            wanted = {}
            for place in layer:
                neighbours = place.above if sweep % 2 == 0 else place.below
                wanted[place] = sum(other.x for other in neighbours) / len(neighbours) if neighbours else place.x
            layer.sort(key=wanted.__getitem__)
            _spread(layer, [wanted[place] for place in layer])
    left = min(place.x - place.width / 2 for layer in layers for place in layer)
    y = 0.0
    for layer in layers:
        height = max(place.height for place in layer)
        for place in layer:
            place.x += 4 - left
            place.y = y + height / 2
        y += height + RISE


def _spread(layer: list[_Place], wanted: list[float]) -> None:
    """Set x of the places of a layer as near to the wanted values as their widths allow, in the sense of least squares."""
    offsets, at = [], 0.0
    for number, place in enumerate(layer):
        at += place.width / 2 + (GAP + layer[number - 1].width / 2 if number else 0.0)
        offsets.append(at)
    # Places that would overlap form blocks, which stand at the mean of what their places want.
    blocks: list[list[float]] = []  # (sum, number of places)
    for x, offset in zip(wanted, offsets, strict=True):
        blocks.append([x - offset, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            total, count = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += count
    starts = [total / count for total, count in blocks for _ in range(int(count))]
    for place, offset, start in zip(layer, offsets, starts, strict=True):
        place.x = start + offset


def _draw(layers: list[list[_Place]], arrows: list[tuple[list[_Place], int]]) -> str:
    """The SVG of places and arrows."""
    boxes = [place for layer in layers for place in layer if place.node is not None]
    width = max(place.x + place.width / 2 for layer in layers for place in layer) + 4
    height = max(place.y + place.height / 2 for place in boxes) + 4
    parts = [_arrow(route, times, width) for route, times in arrows]
    for place in boxes:
        node = place.node
        assert node is not None
        left, top = place.x - place.width / 2, place.y - place.height / 2
        fill = "#4a90d9" if node.is_leaf else "currentColor"
        parts.append(
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{place.width:.1f}" height="{place.height:.1f}" rx="6" fill="{fill}" '
            f'fill-opacity="{0.25 if node.is_leaf else 0.05}" stroke="currentColor" stroke-opacity="0.5"/>'
        )
        for number, line in enumerate(node.lines()):
            style = ' font-weight="bold"' if number == 0 else ' fill-opacity="0.75"'
            y = top + PADDING + LINE * (number + 0.75)
            parts.append(f'<text x="{place.x:.1f}" y="{y:.1f}"{style}>{escape(line, quote=False)}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 -4 {width:.0f} {height + 4:.0f}" width="{width:.0f}" '
        f'style="max-width:100%;height:auto" font-family="sans-serif" font-size="12" text-anchor="middle" fill="currentColor">'
        f'<defs><marker id="wengert-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0 0L8 4L0 8z"/></marker></defs>{"".join(parts)}</svg>'
    )


def _arrow(route: list[_Place], times: int, width: float) -> str:
    """A curve from the first place to the last. Arrows that lead up, in loops, go around on the right."""
    first, last = route[0], route[-1]
    if last.y <= first.y:
        right = max(first.x + first.width / 2, last.x + last.width / 2)
        side, start, end = right + 18, first.x + first.width / 2, last.x + last.width / 2
        path = f"M{start:.1f} {first.y:.1f}C{side:.1f} {first.y + 12:.1f} {side:.1f} {last.y - 12:.1f} {end:.1f} {last.y:.1f}"
        middle = (min(side, width - 12), (first.y + last.y) / 2)
    else:
        points = [(first.x, first.y + first.height / 2), *((p.x, p.y) for p in route[1:-1]), (last.x, last.y - last.height / 2)]
        path = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
        for (a, b), (c, d) in pairwise(points):
            path += f"C{a:.1f} {(b + d) / 2:.1f} {c:.1f} {(b + d) / 2:.1f} {c:.1f} {d:.1f}"
        (a, b), (c, d) = points[(len(points) - 2) // 2], points[(len(points) - 2) // 2 + 1]
        middle = ((a + c) / 2 + 10, (b + d) / 2)
    label = f'<text x="{middle[0]:.1f}" y="{middle[1]:.1f}">x{times}</text>' if times > 1 else ""
    return f'<path d="{path}" fill="none" stroke="currentColor" stroke-opacity="0.6" marker-end="url(#wengert-arrow)"/>{label}'
