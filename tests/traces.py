"""Checking traces of a profiler against the trace event format, which chrome://tracing and Perfetto read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def check_trace(path: Path) -> list[dict[str, Any]]:
    """Holds a trace against the trace event format, as viewers read it; returns its events."""
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)
    assert trace["displayTimeUnit"] in ("ms", "ns") and isinstance(trace["traceEvents"], list)
    opened: dict[Any, Any] = {}  # (category, id) of flows
    stacks: dict[int, list[float]] = {}  # thread -> ends of complete events that are open
    complete = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    starts = {(e["tid"], e["ts"]) for e in complete}
    threads = {e["tid"] for e in trace["traceEvents"] if e["ph"] == "M" and e["name"] == "thread_name"}
    assert {e["tid"] for e in complete} <= threads
    for event in trace["traceEvents"]:
        assert event["ph"] in {"X", "M", "s", "f"} and isinstance(event["name"], str)
        assert isinstance(event["pid"], int) and isinstance(event["tid"], int) and isinstance(event["ts"], (int, float))
        if event["ph"] == "M":
            assert event["name"] in {"process_name", "thread_name"} and isinstance(event["args"]["name"], str)
        if event["ph"] in "sf":
            key = (event["cat"], event["id"])
            assert (key in opened) is (event["ph"] == "f")
            opened[key] = event
            assert (event["tid"], event["ts"]) in starts, "a flow begins and ends where an event does: so viewers find it"
    for event in complete:
        assert event["dur"] >= 0 and isinstance(event["cat"], str)
        ends = stacks.setdefault(event["tid"], [])
        while ends and ends[-1] <= event["ts"]:
            ends.pop()
        assert not ends or event["ts"] + event["dur"] <= ends[-1] + 1e-6, "events of a thread nest"
        ends.append(event["ts"] + event["dur"])
    return trace["traceEvents"]
