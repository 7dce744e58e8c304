"""Measurements in a fresh Python: the time of the import, the memory of a case, and the cost of a graph of millions of nodes.

`python benchmarks/fresh.py graph 2000000` prints the cost of such a graph as JSON. `python benchmarks/fresh.py memory torch chain`
prints the peak of memory of a case.
"""

from __future__ import annotations

import gc
import json
import os
import re
import subprocess
import sys
import time
from statistics import median
from typing import Any

NODES = 2_000_000
IMPORT_LIMIT = 0.040  # seconds that `import wengert` may cost above `import numpy`


def run_python(*arguments: str, pure: bool = False) -> subprocess.CompletedProcess:
    """Run a fresh interpreter, with the compiled core if there is one, or with the uncompiled core if `pure`."""
    environment = {name: value for name, value in os.environ.items() if name != "WENGERT_PURE"}
    if pure:
        environment["WENGERT_PURE"] = "1"
    return subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True, check=True)


def measure_import(runs: int = 9) -> dict[str, float]:
    """Return medians in seconds: of `import numpy`, of `import wengert`, and of their difference."""
    numpy_times, wengert_times = [], []
    for _ in range(runs):
        numpy_times.append(_import_time("numpy"))
        wengert_times.append(_import_time("wengert"))
    above = median(w - n for w, n in zip(wengert_times, numpy_times, strict=True))
    return {"numpy": median(numpy_times), "wengert": median(wengert_times), "above": above}


def _import_time(name: str) -> float:
    """Return the cumulative seconds that -X importtime prints for the module."""
    report = run_python("-X", "importtime", "-c", f"import {name}").stderr
    return int(re.search(rf"^import time: +\d+ \| +(\d+) \| {name}$", report, re.MULTILINE)[1]) * 1e-6


def measure_graph(nodes: int, pure: bool) -> dict[str, Any]:
    """Return the result of graph() in a process of its own."""
    return json.loads(run_python(__file__, "graph", str(nodes), pure=pure).stdout)


def graph(nodes: int) -> dict[str, Any]:
    """Build a chain of `nodes` nodes, run it backward and release it. Return seconds, and resident MiB at each stage.

    This is done twice. The first time leaves free memory with the allocators and the second time uses it, so a leak would show.
    """
    import wengert

    x = wengert.tensor([1.0, 2.0], requires_grad=True)
    a = wengert.tensor([0.999, 1.0])
    b = wengert.tensor([0.001, 0.0])
    result: dict[str, Any] = {"nodes": nodes, "rss_before": resident_mib()}
    for name in ("rss_after_first", "rss_after"):
        started = time.perf_counter()
        y = x
        for _ in range(nodes // 2):
            y = y * a
            y = y + b
        built = time.perf_counter()
        result["rss_with_graph"] = resident_mib()
        y.backward(wengert.ones(2), retain_graph=True)
        done = time.perf_counter()
        del y
        released = time.perf_counter()
        gc.collect()
        result[name] = resident_mib()
        result |= {"build": built - started, "backward": done - built, "release": released - done}
    return result


def measure_memory(library: str, case: str) -> float | None:
    """Return the result of peak() in a process of its own."""
    return json.loads(run_python(__file__, "memory", library, case).stdout)


def peak(library: str, case: str) -> float | None:
    """Peak in MiB of a case's second run above the memory resident after its preparation, or None without /proc.

    The first run also loads code and starts threads. Memory that it leaves behind counts as well.
    """
    import importlib

    from programs import CASES

    torch = importlib.import_module(library)
    program = next(c for c in CASES if c.name == case).prepare(torch)
    before = resident_mib()
    program()
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")  # the peak starts again from what is resident now
        program()
        with open("/proc/self/status", encoding="ascii") as file:
            highest = int(re.search(r"VmHWM:\s+(\d+) kB", file.read())[1]) / 1024
    except OSError:
        return None
    return highest - before


def resident_mib() -> float | None:
    """Resident memory of this process, or None if the system has no /proc."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    except OSError:
        return None


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["graph", nodes]:
            print(json.dumps(graph(int(nodes))))
        case ["memory", library, name]:
            print(json.dumps(peak(library, name)))
        case _:
            sys.exit("usage: python benchmarks/fresh.py graph NODES, or memory LIBRARY CASE")
