"""Build the package with sanitizers and run tests under them: `make sanitize`.

python sanitize.py <build folder> [address] [thread] [-- arguments for pytest]

address: the core and the kernels with AddressSanitizer and UndefinedBehaviorSanitizer, under the tests of kernels, core,
operations and the fuzzers. thread: the kernels with ThreadSanitizer, under the tests of kernels.

Python, NumPy and SciPy are as they are. So the library of the sanitizer is loaded before all others, and only faults in our code
are found. Leaks are not looked for, as Python frees little at its end. The first report ends the process, and is printed after what
pytest prints. Tests that measure the memory of the process, or end it by a signal, are left out: a sanitizer keeps freed memory,
and catches signals. ThreadSanitizer ends a process that starts threads after a fork, so tests of forks are left out there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import variant

REASONS = variant.ROOT / "tools" / "sanitize"  # what is not a fault, and why
SANITIZERS = {"address": "address,undefined", "thread": "thread"}
LIBRARIES = {"address": ["libasan.so", "libubsan.so"], "thread": ["libtsan.so"]}
TESTS = {
    "address": ["tests/kernels", "tests/core", "tests/ops", "tests/fuzz"],
    "thread": ["tests/kernels"],
}
LEFT_OUT = {
    "address": [
        "tests/core/test_memory.py",
        "tests/core/test_collector.py::test_memory_stays_bounded_when_ctx_keeps_the_output",
        "tests/fuzz/test_fuzz.py::test_a_failure_is_found_and_narrowed_to_its_call",
    ],
    "thread": [
        "tests/kernels/test_threads.py::test_forked_child_computes",
        "tests/kernels/test_threads.py::test_fork_while_another_thread_computes",
        "tests/kernels/test_threads.py::test_multiprocessing_pool_computes",
    ],
}
OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:abort_on_error=1",
    "UBSAN_OPTIONS": f"print_stacktrace=1:halt_on_error=1:suppressions={REASONS / 'undefined.txt'}",
    "TSAN_OPTIONS": f"allocator_may_return_null=1:report_signal_unsafe=0:halt_on_error=1:suppressions={REASONS / 'thread.txt'}",
}


def library(name: str) -> str:
    """Path of a library of the C compiler."""
    compiler = os.environ.get("CC", "cc").split()
    return subprocess.run([*compiler, f"-print-file-name={name}"], check=True, capture_output=True, text=True).stdout.strip()


def build(kind: str, folder: Path) -> Path:
    """Compile with the sanitizers of a kind, and return the folder of the package."""
    return variant.build(folder, ["-Dbuildtype=debug", f"-Db_sanitize={SANITIZERS[kind]}", "-Db_lundef=false"])


def run(kind: str, package: Path, arguments: list[str]) -> int:
    """Run the tests of a sanitizer on a package, and print its reports. Return pytest's exit status."""
    reports = package.parent / "reports"
    shutil.rmtree(reports, ignore_errors=True)
    reports.mkdir()
    # Into files, as pytest holds back what a process prints before it ends.
    options = {name: f"{value}:log_path={reports / kind}" for name, value in OPTIONS.items()}
    environment = os.environ | options | {
        "LD_PRELOAD": " ".join(library(name) for name in LIBRARIES[kind]),
        "PYTHONPATH": os.pathsep.join([str(package), *filter(None, [os.environ.get("PYTHONPATH")])]),
        "PYTHONMALLOC": "malloc",  # so that objects of Python have borders too
        "WENGERT_FUZZ_LIMIT": "300",
        "WENGERT_NUM_THREADS": "4",
    }  # fmt: skip
    chosen = ["-m", "not exhaustive", *TESTS[kind], *[f"--deselect={test}" for test in LEFT_OUT[kind]]]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen, *arguments]
    status = subprocess.run(command, cwd=variant.ROOT, env=environment).returncode
    for report in sorted(reports.iterdir()):
        print(report.read_text(errors="replace"), file=sys.stderr)
    return status


def main() -> int:
    given, _, arguments = " ".join(sys.argv[2:]).partition("--")
    kinds = given.split() or list(SANITIZERS)
    failed = [kind for kind in kinds if run(kind, build(kind, Path(sys.argv[1]).resolve() / kind), arguments.split())]
    if failed:
        print(f"sanitize: failed with {', '.join(failed)}", file=sys.stderr)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
