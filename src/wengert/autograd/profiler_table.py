"""Tables of profiler events, in torch's format of today (2.x) and of its first profilers (1.x)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wengert import errors

_UNITS = {"us": 1.0, "ms": 1e3, "s": 1e6}


def render(
    events: Sequence[Any],
    totals: tuple[float, float],
    style: str,
    columns: dict[str, bool],
    widths: tuple[int, int, int],
    header: str | None,
    top_level: bool,
    unit: str | None,
) -> str:
    """Return a table of the events.

    totals: the times that count as 100%, of the CPU and of the GPU. style: "1.x" or "2.x". columns: which of device, memory,
    shapes, flops and stack to show (1.x: device alone). widths: the largest widths of the columns of names, shapes and stacks.
    top_level: add a line that only top-level operations are shown. unit: "us", "ms" or "s" for all times, or None to choose one
    for each.
    """
    if unit is not None and unit not in _UNITS:
        raise errors.ProfilerKeyError(f"a table's time_unit is 'us', 'ms' or 's', but got {unit!r}")
    if style == "1.x":
        return _render_old(events, totals, columns["device"], header)
    if style != "2.x":
        raise errors.ProfilerKeyError(f"a table has style '1.x' or '2.x', but got {style!r}")
    if not events:
        return ""
    return _render_new(events, totals, columns, widths, header, top_level, unit)


def format_time(us: float, unit: str | None = None) -> str:
    """Format microseconds as 12.345us, 1.234ms or 2.345s."""
    if unit is None:
        unit = "s" if us >= 1e6 else "ms" if us >= 1e3 else "us"
    return f"{us / _UNITS[unit]:.3f}{unit}"


def format_share(part: float, total: float) -> str:
    """Format a part of a total as 12.34%; 0.00% if the total is 0."""
    return f"{part * 100.0 / total if total else 0.0:.2f}%"


def format_bytes(n: int) -> str:
    """Format a number of bytes as 12 B, 1.21 KB, ..."""
    for unit, size in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if abs(n) >= size:
            return f"{n / size:.2f} {unit}"
    return f"{n} B"


def _render_old(events: Sequence[Any], totals: tuple[float, float], device: bool, header: str | None) -> str:
    """Render the 1.x format: left-aligned, names and shapes at least 35 wide, numbers 15."""
    name_width = max([35, *[len(event.key) for event in events]])
    total_us, total_device_us = totals
    titles = ["Name", "Self CPU total %", "Self CPU total", "CPU total %", "CPU total", "CPU time avg"]
    titles += ["CUDA total %", "CUDA total", "CUDA time avg"] * device + ["Number of Calls", "Input Shapes"]
    shapes = [str(event.input_shapes or []) for event in events]
    widths = [name_width, *[15] * (len(titles) - 2), max([35, *[len(s) for s in shapes]])]
    ruler = "".join(["-" * width + "  " for width in widths])

    def line(cells: Sequence[str]) -> str:
        return "".join([f"{cell:<{width}}  " for cell, width in zip(cells, widths, strict=True)])

    lines = ["=" * len(ruler), header, "=" * len(ruler)] if header is not None else []
    lines += [ruler, line(titles), ruler]
    for event, shape in zip(events, shapes, strict=True):
        cells = [
            event.key,
            format_share(event.self_cpu_time_total, total_us),
            event.self_cpu_time_total_str,
            format_share(event.cpu_time_total, total_us),
            event.cpu_time_total_str,
            event.cpu_time_str,
        ]
        if device:
            cells += [format_share(event.device_time_total, total_device_us), event.device_time_total_str, event.device_time_str]
        lines.append(line([*cells, str(event.count), shape]))
    lines += [ruler, f"Self CPU time total: {format_time(total_us)}", f"CUDA time total: {format_time(total_device_us)}", ""]
    return "\n".join(lines)


def _render_new(
    events: Sequence[Any],
    totals: tuple[float, float],
    columns: dict[str, bool],
    widths: tuple[int, int, int],
    header: str | None,
    top_level: bool,
    unit: str | None,
) -> str:
    """Render the 2.x format: right-aligned, names as wide as the longest, numbers at least 12."""
    scale, flops_title = _flops_scale(events)
    total_us, total_device_us = totals
    device = columns["device"] and total_device_us > 0
    device_memory = columns["memory"] and any(event.device_memory_usage for event in events)
    titles = ["Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"]
    titles += ["Self CUDA", "Self CUDA %", "CUDA total", "CUDA time avg"] * device
    titles += ["CPU Mem", "Self CPU Mem"] * columns["memory"] + ["CUDA Mem", "Self CUDA Mem"] * device_memory
    titles.append("# of Calls")
    tails = ["Input Shapes"] * columns["shapes"] + ["Source Location"] * columns["stack"] + [flops_title] * columns["flops"]
    rows = []
    for event in events:
        row = [
            _shorten(event.key, widths[0]),
            format_share(event.self_cpu_time_total, total_us),
            format_time(event.self_cpu_time_total, unit),
            format_share(event.cpu_time_total, total_us),
            format_time(event.cpu_time_total, unit),
            format_time(event.cpu_time, unit),
        ]
        if device:
            row += [
                format_time(event.self_device_time_total, unit),
                format_share(event.self_device_time_total, total_device_us),
                format_time(event.device_time_total, unit),
                format_time(event.device_time, unit),
            ]
        if columns["memory"]:
            row += [format_bytes(event.cpu_memory_usage), format_bytes(event.self_cpu_memory_usage)]
        if device_memory:
            row += [format_bytes(event.device_memory_usage), format_bytes(event.self_device_memory_usage)]
        row.append(str(event.count))
        if columns["shapes"]:
            row.append(_shorten(str(event.input_shapes or []), widths[1]))
        if columns["stack"]:
            row.append(_shorten_front(" <- ".join(event.stack or ()), widths[2]))
        if columns["flops"]:
            row.append(f"{event.flops / scale:.3f}" if event.flops else "--")
        rows.append(row)
    titles += tails
    sizes = [min(max([len(row[0]) for row in rows]) + 4, widths[0])]
    for i in range(1, len(titles)):
        sizes.append(max(12, len(titles[i]), *[len(row[i]) for row in rows]))
    ruler = "".join(["-" * size + "  " for size in sizes])
    lines = ["=" * len(ruler), header, "=" * len(ruler)] if header is not None else []
    lines += ["This report only display top-level ops statistics"] if top_level else []
    lines.append(ruler)
    lines.append("".join([f"{title:>{size}}  " for title, size in zip(titles, sizes, strict=True)]))
    lines.append(ruler)
    lines += ["".join([f"{cell:>{size}}  " for cell, size in zip(row, sizes, strict=True)]) for row in rows]
    lines += [ruler, f"Self CPU time total: {format_time(total_us, unit)}"]
    lines += [f"Self CUDA time total: {format_time(total_device_us, unit)}"] * device
    return "\n".join([*lines, ""])


def _flops_scale(events: Sequence[Any]) -> tuple[float, str]:
    """Return (divisor of the numbers of operations, title of their column)."""
    most = max([event.flops for event in events], default=0)
    for power, prefix in ((12, "T"), (9, "G"), (6, "M"), (3, "K")):
        if most >= 10**power:
            return 10.0**power, f"Total {prefix}FLOPs"
    return 1.0, "Total FLOPs"


def _shorten(text: str, width: int) -> str:
    """Shorten text to width characters; the last three are dots if some are missing."""
    return text if len(text) <= width else text[: width - 3] + "..."


def _shorten_front(text: str, width: int) -> str:
    """Shorten text to its last width characters; the first three are dots if some are missing."""
    return text if len(text) <= width else "..." + text[len(text) - width + 3 :]
