"""The benchmarks: wengert beside torch, in one process, on the same threads. `make bench` runs them.

    python benchmarks/run.py                        # all of them: about seven minutes
    python benchmarks/run.py --only chain reads     # some of them
    python benchmarks/run.py --json results.json    # the numbers for a program to read

The column torch/wengert is the time of torch's eager mode over wengert's time (above 1: wengert is faster), with the spread
over the rounds in brackets. measure.py says how both are taken. Without torch, only wengert's times are printed.

Times are right only on an idle machine: end other programs, plug a laptop in, and run it twice. If every core is busy,
worker threads wait for each other, and ratios mean nothing. The run prints a warning if the machine looks busy.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import growth
import numpy as np
import operators
from fresh import IMPORT_LIMIT, NODES, measure_graph, measure_import, measure_memory, run_python
from measure import compare, format_seconds, geometric_mean, time_rounds
from programs import CASES, Case

import wengert
from wengert import __config__

try:
    import torch
except ImportError:
    torch = None

CORE = __config__.info()["core"]
SIDE_BY_SIDE = [case.name for case in CASES]
NAMES = [*SIDE_BY_SIDE, "growth", "operators", "memory", "pure", "graph", "import"]
PURE_CASES = ["chain", "chain-constants", "chain-numbers"]
MEAN_TARGET = 3.5  # of the ratios of the cases with a target
WIDTHS = (68, 10, 10, 20, 12)


def main() -> None:
    options = parse()
    with ExitStack() as stack:
        threads = set_threads(options.threads, stack)
        facts = describe(threads)
        print_facts(facts)
        results = [run_case(case, options) for case in CASES if case.name in options.only]
        print_mean(results)
        if "growth" in options.only:
            results += run_growth(options)
        if "operators" in options.only:
            results += run_operators(options)
    if "pure" in options.only and CORE == "compiled":
        results += run_pure(options)
    if "memory" in options.only:
        results += run_memory()
    if "import" in options.only:
        results.append(run_import())
    if "graph" in options.only:
        results += [run_graph(options.nodes, pure) for pure in ((False, True) if CORE == "compiled" else (True,))]
    if options.json:
        options.json.write(json.dumps({"machine": facts, "results": results}, indent=1) + "\n")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Benchmarks of wengert, beside torch where that is installed.")
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES, metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--json", type=argparse.FileType("w"), metavar="FILE", help="also write the numbers there")
    parser.add_argument("--threads", type=int, default=usable_cores(), metavar="N", help="for both (default: all)")
    parser.add_argument("--rounds", type=int, metavar="N", help="of each case, where its own number is not right")
    parser.add_argument("--nodes", type=int, default=NODES, metavar="N", help=f"in the graph (default: {NODES:,})")
    parser.add_argument("--operator", default="", metavar="TEXT", help="of the operators only those whose names contain this")
    options = parser.parse_args()
    for name in ("threads", "rounds", "nodes"):
        if getattr(options, name) is not None and getattr(options, name) < 1:
            parser.error(f"--{name} must be at least 1")
    return options


# -- The machine -------------------------------------------------------------------------------------------------------


def usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def set_threads(n: int, stack: ExitStack) -> int | None:
    """Give n threads to torch and to NumPy's BLAS. Return the threads of BLAS, or None if threadpoolctl is not installed."""
    if torch is not None:
        torch.set_num_threads(n)
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        return None
    stack.enter_context(threadpool_limits(n, user_api="blas"))
    return n


def describe(blas_threads: int | None) -> dict[str, Any]:
    info = __config__.info()
    return {
        "wengert": __config__.summary(),
        "torch": None if torch is None else torch.__version__,
        "numpy": np.__version__,
        "python": info["python"],
        "cpu": info["cpu"]["model"],
        "threads": {"torch": None if torch is None else torch.get_num_threads(), "blas": blas_threads},
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    }


def print_facts(facts: dict[str, Any]) -> None:
    print(facts["wengert"])
    print(f"beside {'nothing: torch is not installed' if torch is None else 'torch ' + torch.__version__}, ", end="")
    print(f"NumPy {np.__version__}, {facts['python']}")
    blas = facts["threads"]["blas"] or "its own choice of"
    print(f"{facts['cpu']}; threads: torch {facts['threads']['torch'] or '-'}, BLAS {blas}")
    if facts["load"] is not None and facts["load"] > 0.5:
        print(f"WARNING: the machine is busy (load {facts['load']:.1f}): these times are not to be relied upon")
    print()
    print_row("forward + backward, best round", "wengert", "torch", "torch/wengert", "target")


def print_row(title: str, *cells: str) -> None:
    print(title.ljust(WIDTHS[0]) + "".join([c.rjust(w) for c, w in zip(cells, WIDTHS[1:])]), flush=True)


# -- Side by side ------------------------------------------------------------------------------------------------------


def libraries() -> dict[str, ModuleType]:
    return {"wengert": wengert} | ({} if torch is None else {"torch": torch})


def run_case(case: Case, options: argparse.Namespace) -> dict[str, Any]:
    """Check that both libraries compute the same in one case, time it on both, and print its row."""
    programs = {name: case.prepare(library) for name, library in libraries().items()}
    values = [program() for program in programs.values()]
    for value in values:
        np.testing.assert_allclose(value, values[0], rtol=1e-3, atol=1e-5, err_msg=f"{case.name}: results differ")
    times = time_rounds(programs, options.rounds or case.rounds, case.collect)
    target = case.target if CORE == "compiled" else case.pure_target
    result: dict[str, Any] = {"name": case.name, "title": case.title, "core": CORE, "target": target}
    result |= {name: min(seconds) for name, seconds in times.items()}
    if torch is not None:
        ratio, low, high = compare(times["torch"], times["wengert"])
        result |= {"ratio": ratio, "low": low, "high": high}
    print_result(result)
    return result


def print_result(result: dict[str, Any]) -> None:
    core = "" if result["core"] == CORE else f" [{result['core']}]"
    cells = [format_seconds(result["wengert"]), format_seconds(result["torch"]) if "torch" in result else "-"]
    cells.append(f"{result['ratio']:.2f} ({result['low']:.2f}-{result['high']:.2f})" if "ratio" in result else "-")
    if result["target"] is not None:
        missed = "ratio" in result and result["ratio"] < result["target"]
        cells.append(f"{'MISSED ' if missed else ''}{result['target']:.1f}")
    print_row(result["title"] + core, *cells)


def print_mean(results: list[dict[str, Any]]) -> None:
    """Print the geometric mean of the ratios if all cases with a target have run."""
    ratios = [r["ratio"] for r in results if r["target"] is not None and "ratio" in r]
    if len(ratios) == sum(case.target is not None for case in CASES):
        mean = geometric_mean(ratios)
        verdict = "MISSED " if mean < MEAN_TARGET else ""
        print_row("geometric mean of those with a target", "", "", f"{mean:.2f}", f"{verdict}{MEAN_TARGET}")


def run_growth(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Print the cost of an operation by its elements, and of a graph by its nodes, with nanoseconds an element and a node."""
    results = []
    for title, measured, key in (
        ("an operation, forward and backward", growth.measure_elements, "elements"),
        ("a chain of multiply/adds, all gradients", growth.measure_nodes, "nodes"),
    ):
        print()
        print_row(title, "wengert", "torch", "torch/wengert", f"ns/{key[:-1]}")
        for result in measured(libraries(), options.rounds or 9):
            times = [format_seconds(result[name]) if name in result else "-" for name in ("wengert", "torch")]
            ratio = f"{result['ratio']:.2f} ({result['low']:.2f}-{result['high']:.2f})" if "ratio" in result else "-"
            name = f"{result.get('operation', 'chain')}, {result[key]:,} {key}"
            print_row(name, *times, ratio, f"{1e9 * result['wengert'] / result[key]:.3g}")
            results.append({"name": f"growth: {name}", "core": CORE, **result})
    return results


def run_operators(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Print one operator at a time, with gradients and without. With torch, the slowest ratios come first."""
    print()
    print_row("an operator, small and of a usual size", "wengert", "torch", "torch/wengert", "forward")
    results = list(operators.measure_operators(libraries(), options.rounds or 5, options.operator))
    for result in sorted(results, key=lambda result: result["both"].get("ratio", 0.0)):
        times, ratio, forward = result["both"], "-", "-"
        if "ratio" in times:
            ratio = f"{times['ratio']:.2f} ({times['low']:.2f}-{times['high']:.2f})"
            forward = f"{result['forward']['ratio']:.2f}"
        seconds = [format_seconds(times[name]) if name in times else "-" for name in ("wengert", "torch")]
        print_row(f"{result['operator']}, {result['size']}", *seconds, ratio, forward)
        result |= {"name": f"operators: {result['operator']}, {result['size']}", "core": CORE}
    return results


def run_pure(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Run the chains on the uncompiled core, beside torch, in a process of their own."""
    more = ["--rounds", str(options.rounds)] if options.rounds else []
    with TemporaryDirectory() as folder:
        file = Path(folder) / "pure.json"
        command = [__file__, "--only", *PURE_CASES, "--threads", str(options.threads), *more, "--json", str(file)]
        run_python(*command, pure=True)
        results = json.loads(file.read_text())["results"]
    for result in results:
        print_result(result)
    return results


# -- In fresh processes ------------------------------------------------------------------------------------------------


def run_memory() -> list[dict[str, Any]]:
    """Print peaks of resident memory above the memory of the libraries and the data. Each case has a process of its own."""
    print()
    print_row("peak of memory above what stood before, MiB", "wengert", "torch", "wengert/torch")
    results = []
    for case in CASES:
        peaks = {name: measure_memory(name, case.name) for name in libraries()}
        if peaks["wengert"] is None:
            print("    not measured: the system has no /proc")
            return []
        ratio = f"{peaks['wengert'] / max(peaks['torch'], 1e-9):.2f}" if "torch" in peaks else "-"
        print_row(case.title, f"{peaks['wengert']:.1f}", f"{peaks['torch']:.1f}" if "torch" in peaks else "-", ratio)
        results.append({"name": f"memory: {case.name}", "core": CORE, **peaks})
    return results


def run_import() -> dict[str, Any]:
    times = measure_import()
    verdict = "" if times["above"] <= IMPORT_LIMIT else ": MISSED"
    print(f"\nimport numpy {1e3 * times['numpy']:.0f} ms, import wengert {1e3 * times['above']:.0f} ms more", end=" ")
    print(f"(median; target: at most {1e3 * IMPORT_LIMIT:.0f} ms{verdict})", flush=True)
    return {"name": "import", "core": CORE, "target": IMPORT_LIMIT, **times}


def run_graph(nodes: int, pure: bool) -> dict[str, Any]:
    core = "python" if pure else "compiled"
    result = measure_graph(nodes, pure)
    print(f"\ngraph of {nodes:,} nodes, core {core}:", end=" ")
    print(*[f"{name} {format_seconds(result[name])}" for name in ("build", "backward", "release")], sep=", ")
    if result["rss_before"] is not None:
        stages = {"before": "before", "with the graph": "with_graph", "after": "after_first", "after a second": "after"}
        print("    MiB of memory", ", ".join([f"{label} {result['rss_' + key]:.0f}" for label, key in stages.items()]))
    return {"name": "graph", "core": core, **result}


if __name__ == "__main__":
    sys.exit(main())
