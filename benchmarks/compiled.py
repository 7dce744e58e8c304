"""The benchmarks of wengert.compile beside eager wengert and jax.jit, in one process, in turns. `make bench-compiled` runs them.

    python benchmarks/compiled.py                            # all of them, on one thread
    python benchmarks/compiled.py --threads 2 --clock wall   # on two threads, by the clock on the wall
    python benchmarks/compiled.py --only chain solver        # some of them
    python benchmarks/compiled.py --page docs/compile.md     # also write the table there

"Recorded" is the recording run by the kernels. "C" is backend="c". "Auto" is backend="auto" when it has chosen between them.
The ratios are of jax.jit's time and of eager's over that of "auto". Times of single first calls, with recording and compiling,
stand apart, with those of C compilers. Their ratios are of "recorded" over later eager calls, and of jax.jit over "recorded".
The clock counts the processor time of all threads of the process, so other programs disturb it little. On more than
one thread it is no measure of waiting: use --clock wall there, on an idle machine. Without jax, its columns are empty.

XLA gets --threads by its flags (--xla_cpu_multi_thread_eigen, intra_op_parallelism_threads) and by the processors that the
process may use. BLAS and the kernels of wengert get them by their own settings.
"""

from __future__ import annotations

import argparse
import gc
import math
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from compiled_programs import MEAN, PAIRS, Pair
from measure import format_seconds, geometric_mean, time_rounds
from threadpoolctl import threadpool_limits

import wengert

try:
    import jax
except ImportError:
    jax = None

HEAD = ("program", "eager", "recorded", "C", "auto", "jax.jit", "jax.jit / auto", "aim", "eager / auto", "aim")
FIRST_HEAD = ("first call of", "eager", "recorded", "C", "jax.jit", "recorded / eager call", "aim", "jax.jit / recorded", "aim")
MOST_OF_EAGER, LEAST_OF_JAX = 20, 20  # targets of the ratios of first calls


def main() -> None:
    options = parse()
    set_threads(options.threads)
    clock = time.process_time if options.clock == "process" else time.perf_counter
    with TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder  # so that first calls compile
        rows, firsts = run_pairs([pair for pair in PAIRS if pair.name in options.only], clock, options.rounds)
    if options.page:
        versions = f"wengert {wengert.__version__}" + (f", jax {jax.__version__}" if jax else "")
        threads = "one thread" if options.threads == 1 else f"{options.threads} threads"
        kind = "processor time" if options.clock == "process" else "time"
        title = f"Best {kind} of {options.rounds} rounds on {threads}: {versions}."
        write_page(options.page, title, [[HEAD, *rows], [FIRST_HEAD, *firsts]])


def parse() -> argparse.Namespace:
    names = [pair.name for pair in PAIRS]
    parser = argparse.ArgumentParser(description="Benchmarks of wengert.compile, beside jax.jit where that is installed.")
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="for all (default: 1)")
    parser.add_argument("--rounds", type=int, default=7, metavar="N", help="of each program (default: 7)")
    parser.add_argument("--clock", choices=["process", "wall"], default="process", help="processor time (default), or wall time")
    parser.add_argument("--page", type=Path, metavar="FILE", help="a page with the marks of the table, to write it to")
    options = parser.parse_args()
    for name in ("threads", "rounds"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} must be at least 1")
    return options


def set_threads(n: int) -> None:
    """Give n threads to NumPy's BLAS and to XLA, which is loaded later, and as many processors to the process."""
    threadpool_limits(n, user_api="blas")
    several = "true" if n > 1 else "false"
    os.environ["XLA_FLAGS"] = f"--xla_cpu_multi_thread_eigen={several} intra_op_parallelism_threads={n}"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:n])
    wengert.set_num_threads(n)
    if jax is not None:
        jax.config.update("jax_enable_x64", True)


# -- one program -------------------------------------------------------------------------------------------------------


def run_pairs(pairs: list[Pair], clock: Any, rounds: int) -> tuple[list[Any], list[Any]]:
    """Print and return the rows of both tables."""
    print_row(HEAD)
    rows, firsts, ratios = [], [], []
    for pair in pairs:
        programs, first = prepare(pair, clock)
        times = {name: min(found) for name, found in time_rounds(programs, rounds, True, clock=clock).items()}
        over_eager = times["eager"] / times["auto"]
        over_jax = times.get("jax", math.nan) / times["auto"]
        cells = [formatted(times.get(name)) for name in ("eager", "recorded", "c", "auto", "jax")]
        rows.append((pair.title, *cells, formatted_ratio(over_jax), f"{pair.over_jax}", f"{over_eager:.1f}", f"{pair.over_eager}"))
        print_row(rows[-1])
        ratios.append((over_jax, over_eager))
        cells = [formatted(first.get(name)) for name in ("eager", "recorded", "c", "jax")]
        of_eager, of_jax = first["recorded"] / times["eager"], first.get("jax", math.nan) / first["recorded"]
        firsts.append((pair.title, *cells, f"{of_eager:.1f}", f"{MOST_OF_EAGER}", formatted_ratio(of_jax), f"{LEAST_OF_JAX}"))
    means = [formatted_ratio(geometric_mean(column)) for column in zip(*ratios, strict=True)]
    rows.append(("geometric mean", *([""] * 5), means[0], f"{MEAN[0]}", means[1], f"{MEAN[1]}"))
    print_row(rows[-1])
    print()
    print_row(FIRST_HEAD)
    for row in firsts:
        print_row(row)
    return rows, firsts


def time_with_children(clock: Any) -> float:
    """Return the time of a clock. If it is processor time, that of processes that have ended, such as compilers, is added."""
    ended = os.times()
    return clock() + (ended.children_user + ended.children_system if clock is time.process_time else 0.0)


def prepare(pair: Pair, clock: Any) -> tuple[dict[str, Callable[[], Any]], dict[str, float]]:
    """Return a program's ways to run, each warmed up, and the times of the first calls. All must give the same results."""
    programs: dict[str, Callable[[], Any]] = {}
    first: dict[str, float] = {}
    results: dict[str, list[np.ndarray]] = {}

    def add(name: str, program: Callable[[], Any]) -> None:
        programs[name] = program
        gc.collect()  # so that a first call does not collect what other programs have left
        started = time_with_children(clock)
        found = program()
        first[name] = time_with_children(clock) - started
        results[name] = numbers_of(found)

    for name, backend in (("eager", "eager"), ("recorded", "auto"), ("c", "c"), ("auto", "auto")):
        function, arguments = pair.wengert(wengert)  # each with tensors of its own, which the steps of training change
        compiled = wengert.compile(function, backend=backend, fullgraph=True)
        add(name, lambda compiled=compiled, arguments=arguments: compiled(*arguments))
        programs[name]()  # the second recording, where the first call has found no gradients
        if backend == "auto":
            settle(compiled, programs[name], name == "recorded")
    if jax is not None:
        jax_function, jax_arguments = pair.jax(jax)
        add("jax", lambda: jax.block_until_ready(jax_function(*jax_arguments)))
    for name, found in results.items():
        for x, y in zip(results["eager"], found, strict=True):
            difference = np.abs(x - y).max() / np.abs(x).max()
            if not difference <= pair.tolerance:
                raise AssertionError(f"{pair.name}: {name} gives other results than eager, by {difference:.2g}")
    return programs, first


def settle(compiled: Any, program: Callable[[], Any], stays_recorded: bool) -> None:
    """Let backend="auto" choose now, not after many runs, or never."""
    program()
    for recording in compiled.recordings:
        recording.next_look = 0 if stays_recorded else recording.runs + 1
    while any(recording.runs and recording.next_look for recording in compiled.recordings):
        program()
        for recording in compiled.recordings:
            if recording.next_look > recording.runs:
                recording.next_look = recording.runs + 1
                time.sleep(0.02)


def numbers_of(x: Any) -> list[np.ndarray]:
    """Return the arrays of a result."""
    return [y for part in x for y in numbers_of(part)] if isinstance(x, (tuple, list)) else [np.array(x, np.float64)]


# -- the tables --------------------------------------------------------------------------------------------------------


def formatted(seconds: float | None) -> str:
    return "" if seconds is None else format_seconds(seconds).strip()


def formatted_ratio(ratio: float) -> str:
    return "" if math.isnan(ratio) else f"{ratio:.2f}"


def print_row(cells: Any) -> None:
    columns = [c.rjust(max(10, len(head) + 2)) for c, head in zip(cells[1:], HEAD[1:], strict=False)]
    print(cells[0].ljust(58) + "".join(columns), flush=True)


def write_page(path: Path, title: str, tables: list[Any]) -> None:
    """Write the tables between the marks of a page."""
    texts = ["\n".join([f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]) for head, *rows in tables]
    page = path.read_text(encoding="utf-8")
    part = "\n\n".join([title, *texts])
    marked = re.compile(r"(<!-- compiled: .*? -->\n).*?(<!-- end of compiled -->)", re.DOTALL)
    found, n = marked.subn(lambda m: f"{m[1]}\n{part}\n\n{m[2]}", page)
    if n != 1:
        raise SystemExit(f"{path} has no part between `<!-- compiled: ... -->` and `<!-- end of compiled -->`")
    path.write_text(found, encoding="utf-8")


if __name__ == "__main__":
    main()
