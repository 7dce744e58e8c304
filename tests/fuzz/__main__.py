"""Run fuzzers for some minutes, each batch in a child process, and print a summary. Exit with 1 if there is a finding."""

from __future__ import annotations

import argparse
import datetime
import importlib
import json
import platform
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import fuzz
import wengert
from fuzz import _batches

SLICE = 10.0  # seconds that a child process works before the turn of the next fuzzer
MOST_FINDINGS = 5  # after which a fuzzer sits out the rest of a run


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("fuzzers", nargs="*", help=f"some of {', '.join(fuzz.names())}; none means all")
    parser.add_argument("--minutes", type=float, default=10.0, help="time for all of them together")
    parser.add_argument("--seed", type=int, help="make the calls of this seed, in this process")
    parser.add_argument("--calls", type=int, help="number of calls with --seed")
    parser.add_argument("--record", type=Path, help="add the figures to this file of JSON")
    return parser.parse_args()


def is_runnable(name: str) -> bool:
    """Whether what the fuzzer compares with is installed."""
    return not getattr(importlib.import_module(f"fuzz.{name}"), "needs_torch", False) or find_spec("torch") is not None


def run_in_turns(names: list[str], minutes: float, seed: int) -> dict[str, _batches.Outcome]:
    """Run the fuzzers in turns, a child process each, until the minutes are over. Print each finding."""
    totals = {name: _batches.Outcome(next_seed=seed) for name in names}
    end = time.monotonic() + 60 * minutes
    while time.monotonic() < end and (working := [name for name in names if len(totals[name].findings) < MOST_FINDINGS]):
        for name in working:
            total = totals[name]
            calls = max(1, _batches.calls_of(name) // _batches.PER_BATCH)
            left = max(1.0, min(SLICE, end - time.monotonic()))
            done = _batches.run_child(name, total.next_seed, 1_000_000, calls, left)
            total.calls += done.calls
            total.seconds += done.seconds
            total.next_seed = done.next_seed
            for finding in map(_batches.narrow, done.findings):
                total.findings.append(finding)
                print(f"\n{finding.report()}\n", flush=True)
    return totals


def summary(totals: dict[str, _batches.Outcome]) -> str:
    """A table of calls, seconds and findings."""
    rows = [(name, t.calls, t.seconds, len(t.findings)) for name, t in totals.items()]
    rows.append(("all", *(sum(column) for column in zip(*(row[1:] for row in rows), strict=True))))
    lines = [f"{'fuzzer':16}{'calls':>12}{'seconds':>10}{'findings':>10}"]
    return "\n".join(lines + [f"{name:16}{calls:12,}{seconds:10.0f}{findings:10}" for name, calls, seconds, findings in rows])


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that take part."""
    found = {"Python": platform.python_version(), "wengert": wengert.__version__}
    for package in ("numpy", "scipy", "torch"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def add_to_record(path: Path, totals: dict[str, _batches.Outcome]) -> None:
    """Add the figures of a run to the record, and make a record if there is none."""
    record: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"fuzzers": {}}
    today = datetime.date.today().isoformat()
    record |= {"first": record.get("first", today), "last": today, "versions": versions()}
    for name, total in totals.items():
        before = record["fuzzers"].get(name, {"calls": 0, "seconds": 0, "findings": 0})
        record["fuzzers"][name] = {
            "calls": before["calls"] + total.calls,
            "seconds": round(before["seconds"] + total.seconds),
            "findings": before["findings"] + len(total.findings),
        }
    path.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")


def main() -> int:
    asked = arguments()
    if unknown := set(asked.fuzzers) - set(fuzz.names()):
        print(f"no fuzzer is named {', '.join(sorted(unknown))}: there are {', '.join(fuzz.names())}", file=sys.stderr)
        return 2
    names = asked.fuzzers or [name for name in fuzz.names() if is_runnable(name)]
    if asked.seed is not None and asked.calls is not None:
        for name in names:
            importlib.import_module(f"fuzz.{name}").run(asked.seed, asked.calls)
        return 0
    seed = int(time.time()) % 10**8 * 1000
    print(f"seeds from {seed}; fuzzers: {', '.join(names)}", flush=True)
    totals = run_in_turns(names, asked.minutes, seed)
    print(summary(totals))
    if asked.record:
        add_to_record(asked.record, totals)
    return int(any(total.findings for total in totals.values()))


if __name__ == "__main__":
    sys.exit(main())
