"""What is measured in a fresh Python: the time of the import, the memory of a case, what a graph of millions of nodes costs.

`python benchmarks/fresh.py graph 2000000` prints the last as JSON, `python benchmarks/fresh.py memory torch chain` the peak.
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
    """Runs a fresh interpreter, with the compiled core where there is one, or the uncompiled one."""
    environment = {name: value for name, value in os.environ.items() if name != "WENGERT_PURE"}
    if pure:
        environment["WENGERT_PURE"] = "1"
    return subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True, check=True)


def measure_import(runs: int = 9) -> dict[str, float]:
    """Medians, in seconds: of `import numpy`, of `import wengert`, and of what the second costs above the first."""
    numpy_times, wengert_times = [], []
    for _ in range(runs):
        numpy_times.append(_import_time("numpy"))
        wengert_times.append(_import_time("wengert"))
    above = median(w - n for w, n in zip(wengert_times, numpy_times, strict=True))
    return {"numpy": median(numpy_times), "wengert": median(wengert_times), "above": above}


def _import_time(name: str) -> float:
    """Seconds, as -X importtime tells them for the module with all that it imports."""
    report = run_python("-X", "importtime", "-c", f"import {name}").stderr
    return int(re.search(rf"^import time: +\d+ \| +(\d+) \| {name}$", report, re.MULTILINE)[1]) * 1e-6


def measure_graph(nodes: int, pure: bool) -> dict[str, Any]:
    """What graph() finds, in a process of its own."""
    return json.loads(run_python(__file__, "graph", str(nodes), pure=pure).stdout)


def graph(nodes: int) -> dict[str, Any]:
    """Builds a chain of that many nodes, runs it backward, releases it: seconds, and resident MiB at each stage.

    Twice, as the first time leaves free memory with the allocators, which the second takes again; a leak would show.
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
    """What peak() finds, in a process of its own."""
    return json.loads(run_python(__file__, "memory", library, case).stdout)


def peak(library: str, case: str) -> float | None:
    """MiB that a case's second run takes at most, above what was resident once it had been prepared; None without /proc.

    The second, as the first also loads code and starts threads: what stays of it counts as well.
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
    """This process's resident memory; None where the system has no /proc."""
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
