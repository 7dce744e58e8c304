"""Batches of fuzzed calls in a child process with a watchdog, and the findings that end a batch."""

from __future__ import annotations

import dataclasses
import faulthandler
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

# Seconds after which a batch counts as a hang. An ordinary batch takes a fraction of a second, but under a sanitizer.
LIMIT = float(os.environ.get("WENGERT_FUZZ_LIMIT", "20"))
CALLS = 400  # calls that take about two seconds, for a fuzzer that does not say
PER_BATCH = 10  # a batch makes this part of CALLS
CHILD = ["-m", "fuzz._batches"]  # arguments of the Python that is the child
TESTS = Path(__file__).resolve().parents[1]


@dataclasses.dataclass
class Finding:
    """One failure of a fuzzer, with all that is needed to see it again."""

    fuzzer: str
    seed: int
    calls: int
    kind: str  # "AssertionError" or another exception, "SIGSEGV" or another signal, "hang"
    text: str

    def report(self) -> str:
        """The finding in words, with the command that makes the same calls."""
        again = f"PYTHONPATH=tests {sys.executable} -m fuzz {self.fuzzer} --seed {self.seed} --calls {self.calls}"
        shown = self.text if len(self.text) < 6000 else f"{self.text[:2000]}\n[...]\n{self.text[-4000:]}"
        return f"{self.kind} in {self.fuzzer}, seed {self.seed}, in {self.calls} calls\n{shown.rstrip()}\nAgain: {again}"


@dataclasses.dataclass
class Outcome:
    """The work of one child process."""

    calls: int = 0
    seconds: float = 0.0
    next_seed: int = 0
    findings: list[Finding] = dataclasses.field(default_factory=list)


def calls_of(fuzzer: str) -> int:
    """Number of calls that take about two seconds."""
    return getattr(importlib.import_module(f"fuzz.{fuzzer}"), "CALLS", CALLS)


# -- In the child --------------------------------------------------------------------------------------------------------


def work(fuzzer: str, seed: int, batches: int, calls: int, seconds: float, events: str) -> None:
    """Run batches with the seeds seed, seed + 1, ... until there are enough or the seconds are over. Log each in a file."""
    faulthandler.enable()
    with open(events, "a") as file:

        def log(event: str, **facts: Any) -> None:
            file.write(json.dumps({"event": event, **facts}) + "\n")
            file.flush()

        module = importlib.import_module(f"fuzz.{fuzzer}")
        if getattr(module, "needs_torch", False):
            importlib.import_module("torch")  # which takes long on a busy machine, so it happens before the watchdog begins
        run = module.run
        start = time.perf_counter()
        for number in range(seed, seed + batches):
            log("begin", seed=number, calls=calls)
            # A thread of C, which needs no GIL, prints the stacks of all threads and ends the process.
            faulthandler.dump_traceback_later(LIMIT, exit=True)
            failed = False
            try:
                run(number, calls)
            except BaseException as error:
                failed = True  # the state of the process may be wrong from here on
                log("raised", kind=type(error).__name__, text=traceback.format_exc())
            faulthandler.cancel_dump_traceback_later()
            log("end", seconds=time.perf_counter() - start)
            if failed or time.perf_counter() - start > seconds:
                break


# -- In the parent -------------------------------------------------------------------------------------------------------


def run_child(fuzzer: str, seed: int, batches: int, calls: int, seconds: float = 1e9) -> Outcome:
    """Run batches in a child process, which the first failure ends."""
    outcome = Outcome(next_seed=seed)
    path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    with tempfile.TemporaryDirectory() as folder, open(Path(folder) / "printed", "w+b") as printed:
        events = Path(folder) / "events"
        events.touch()
        arguments = [fuzzer, *map(str, (seed, batches, calls, seconds)), str(events)]
        child = subprocess.Popen(
            [sys.executable, *CHILD, *arguments],
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=printed,
            start_new_session=True,
        )
        try:
            # The watchdog of the child ends it. The second limit is for a child that was stopped, say by a fuzzed signal.
            status = child.wait(timeout=min(seconds, batches * LIMIT) + 3 * LIMIT)
        except subprocess.TimeoutExpired:
            status = -signal.SIGSTOP
        finally:
            end_session(child)
        printed.seek(0)
        text = printed.read().decode(errors="replace")
        running = False
        for event in map(json.loads, events.read_text().splitlines()):
            if event["event"] == "begin":
                outcome.next_seed = event["seed"] + 1
                running = True
            elif event["event"] == "raised":
                outcome.findings.append(Finding(fuzzer, outcome.next_seed - 1, calls, event["kind"], event["text"]))
            else:
                outcome.seconds = event["seconds"]
                outcome.calls += calls
                running = False
        if running or status != 0:
            kind = signal.Signals(-status).name if status < 0 else "hang" if "Timeout (" in text else f"exit status {status}"
            outcome.findings.append(Finding(fuzzer, max(outcome.next_seed - 1, seed), calls, kind, text))
            outcome.next_seed = max(outcome.next_seed, seed + 1)
    return outcome


def end_session(child: subprocess.Popen[bytes]) -> None:
    """Kill the child and the processes that it has left behind."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()


def narrow(finding: Finding) -> Finding:
    """Return the finding with the fewest first calls of its batch that show it again; as it is if it does not come again.

    An AssertionError says already which call failed.
    """
    works, least = 0 if finding.kind != "AssertionError" else finding.calls, finding
    while works < least.calls - 1:
        calls = (works + least.calls) // 2
        again = [f for f in run_child(finding.fuzzer, finding.seed, 1, calls).findings if f.kind == finding.kind]
        works, least = (works, again[0]) if again else (calls, least)
    return least


def main() -> None:
    """Do the work that the command line names."""
    name, seed, batches, calls, seconds, events = sys.argv[1:]
    work(name, int(seed), int(batches), int(calls), float(seconds), events)


if __name__ == "__main__":
    main()
