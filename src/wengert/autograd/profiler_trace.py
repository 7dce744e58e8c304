"""Writers of a profiler's events for other programs: traces for Perfetto, stacks for flame graphs."""

from __future__ import annotations

import json
import os
from typing import Any

_CATEGORIES = {"operation": "cpu_op", "backward": "cpu_op", "function": "cpu_op", "range": "user_annotation"}


def write_trace(events: Any, path: Any) -> None:
    """Write events in Chrome's trace event format: complete events ("X"), and flows ("s", "f") from forward to backward.

    The work on each GPU is a process of its own, with a row for each stream, and a flow from the program."""
    process = os.getpid()
    entries: list[dict[str, Any]] = [
        {"ph": "M", "name": "process_name", "ts": 0, "pid": process, "tid": 0, "args": {"name": "wengert"}}
    ]
    for thread in sorted({event.thread for event in events}):
        entries.append(
            {"ph": "M", "name": "thread_name", "ts": 0, "pid": process, "tid": thread, "args": {"name": f"thread {thread}"}}
        )
    for event in events:
        entries.append(_complete(event, process))
        if event.is_backward and event.forward is not None:
            entries += _flow(event, process)
    entries += _device_entries([event for event in events if event.device_range is not None], process)
    with open(os.fspath(path), "w", encoding="utf-8") as file:
        json.dump({"schemaVersion": 1, "displayTimeUnit": "ms", "traceEvents": entries}, file)


def kind_of(event: Any) -> str:
    """Kind of a FunctionEvent: "backward", "range", "function" or "operation"."""
    if event.is_backward:
        return "backward"
    return "range" if event.is_user_annotation else "function" if event.is_function else "operation"


def _complete(event: Any, process: int) -> dict[str, Any]:
    """Return the trace entry of an event."""
    kind = kind_of(event)
    arguments: dict[str, Any] = {"Kind": kind}
    if event.source is not None:
        arguments["Forward source" if kind == "backward" else "Source"] = event.source
    if event.sequence_nr >= 0:
        arguments["Sequence number"] = event.sequence_nr
    if kind == "backward":
        arguments["Fwd thread id"] = event.fwd_thread
    if event.input_shapes:
        arguments["Input Dims"] = event.input_shapes
    if event.self_cpu_memory_usage:
        arguments["Bytes"] = event.self_cpu_memory_usage
    if event.flops:
        arguments["flops"] = event.flops
    return {
        "ph": "X",
        "cat": _CATEGORIES[kind],
        "name": event.name,
        "pid": process,
        "tid": event.thread,
        "ts": event.time_range.start,
        "dur": event.time_range.elapsed_us(),
        "args": arguments,
    }


def _flow(event: Any, process: int) -> list[dict[str, Any]]:
    """Return the two entries of the arrow from an operation to its node. Viewers need each end inside its event."""
    common = {"id": event.id, "cat": "fwdbwd", "name": "fwdbwd", "pid": process}
    start, end = event.forward, event
    return [
        {"ph": "s", **common, "tid": start.thread, "ts": start.time_range.start},
        {"ph": "f", **common, "tid": end.thread, "ts": end.time_range.start, "bp": "e"},
    ]


def _device_entries(events: Any, process: int) -> list[dict[str, Any]]:
    """Return the entries of the work on GPUs. The number of a GPU stands for its process, and a number for each stream."""
    entries: list[dict[str, Any]] = []
    rows: dict[tuple[int, int], int] = {}
    first = 1 + max([event.thread for event in events], default=0)  # viewers may not tell rows of two processes apart
    for event in events:
        index, interval = event.device_index, event.device_range
        if (index, event.device_stream) not in rows:
            row = rows[index, event.device_stream] = first + len(rows)
            for kind, name in (("process_name", f"cuda:{index}"), ("thread_name", f"stream {event.device_stream:#x}")):
                entries.append({"ph": "M", "name": kind, "ts": 0, "pid": index, "tid": row, "args": {"name": name}})
        row = rows[index, event.device_stream]
        arguments = {"device": index, "stream": event.device_stream, "External id": event.id}
        place = {"pid": index, "tid": row, "ts": interval.start}
        common = {"id": event.id, "cat": "ac2g", "name": "ac2g"}
        entries += [
            {"ph": "X", "cat": "kernel", "name": event.name, **place, "dur": interval.elapsed_us(), "args": arguments},
            {"ph": "s", **common, "pid": process, "tid": event.thread, "ts": event.time_range.start},
            {"ph": "f", **common, **place, "bp": "e"},
        ]
    return entries


def write_stacks(events: Any, path: Any, metric: str) -> None:
    """Write one stack a line: frames joined by ";", the outermost first, a space, microseconds."""
    totals: dict[str, float] = {}
    for event in events:
        if event.stack:
            frames = [*event.stack[::-1], event.name]
            line = ";".join([frame.translate(_PLAIN) for frame in frames])
            totals[line] = totals.get(line, 0.0) + getattr(event, metric)
    with open(os.fspath(path), "w", encoding="utf-8") as file:
        file.writelines([f"{line} {int(us)}\n" for line, us in totals.items() if int(us) > 0])


_PLAIN = str.maketrans(dict.fromkeys(" ;\t\n", "_"))
