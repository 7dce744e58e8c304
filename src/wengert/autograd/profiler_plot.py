"""Flame graph of a profile: EventList.plot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wengert import errors
from wengert.autograd.html_table import duration

LABELLED = 0.03  # part of the width that a bar needs to have a label
COLORS = {"forward": "#4a90d9", "backward": "#e07b39", "range": "#9aa3ad"}


def plot(events: Sequence[Any], axes: Any = None) -> Any:
    """Draw the events as bars over time, inner events above outer ones, threads one above another. Returns the axes."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise errors.MissingFeatureError(
            "plot() needs matplotlib, which is not installed. Hint: pip install wengert[viz]; or write a trace for Perfetto with "
            "export_chrome_trace(path)."
        ) from None
    if not events or not hasattr(events[0], "time_range"):
        raise errors.ProfilerError("plot() draws the events of a profile: there are none here. Hint: prof.function_events.plot()")
    depths = {event.id: _depth(event) for event in events}
    rows: dict[int, int] = {}  # lowest row of each thread
    total = 0
    for thread in sorted({event.thread for event in events}):
        rows[thread] = total
        total += max(depths[event.id] for event in events if event.thread == thread) + 2
    if axes is None:
        axes = plt.subplots(figsize=(10, 0.6 + 0.32 * total), layout="constrained")[1]
    start = min(event.time_range.start for event in events)
    end = max(event.time_range.end for event in events)
    scale, unit = (1e-6, "s") if end - start >= 1e6 else (1e-3, "ms") if end - start >= 1e3 else (1.0, "us")
    for event in events:
        left, width = (event.time_range.start - start) * scale, event.cpu_time_total * scale
        row = rows[event.thread] + depths[event.id]
        kind = "range" if event.is_user_annotation else "backward" if event.is_backward else "forward"
        axes.barh(row, width, left=left, height=0.9, color=COLORS[kind], edgecolor="white", linewidth=0.4)
        if width > LABELLED * (end - start) * scale:
            text = f"{event.name} {duration(event.cpu_time_total)}"
            axes.text(left + width / 2, row, text, ha="center", va="center", fontsize=7, clip_on=True)
    axes.set_yticks(list(rows.values()), [f"thread {thread}" for thread in rows])
    axes.set_xlabel(unit)
    axes.set_xlim(0, (end - start) * scale)
    return axes


def _depth(event: Any) -> int:
    """Number of events around an event on its thread."""
    depth = 0
    while event.cpu_parent is not None:
        event, depth = event.cpu_parent, depth + 1
    return depth
