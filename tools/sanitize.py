"""Build the package with sanitizers and run tests under them: `make sanitize`.

python sanitize.py <build folder> [address] [thread] [-- arguments for pytest]

address: the core and the kernels with AddressSanitizer and UndefinedBehaviorSanitizer, under the tests of kernels, core,
operations and the fuzzers. thread: the kernels with ThreadSanitizer, under the tests of kernels and the fuzzer of threads. Python,
NumPy and SciPy are as they are. So the library of the sanitizer is loaded before all others, and only faults in our code are found.
Leaks are not looked for, as Python frees little at its end. The first report ends the run. Tests that measure the memory of the
process, or end it by a signal, are left out: a sanitizer keeps freed memory, and catches signals.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUPPRESSIONS = ROOT / "tools" / "sanitize"
SANITIZERS = {"address": "address,undefined", "thread": "thread"}
LIBRARIES = {"address": ["libasan.so", "libubsan.so"], "thread": ["libtsan.so"]}
TESTS = {
    "address": ["tests/kernels", "tests/core", "tests/ops", "tests/fuzz"],
    "thread": ["tests/kernels", "tests/fuzz/test_fuzz.py::test_fuzzer_finds_nothing[threads]"],
}
LEFT_OUT = [
    "tests/core/test_memory.py",
    "tests/core/test_collector.py::test_memory_stays_bounded_when_ctx_keeps_the_output",
    "tests/fuzz/test_fuzz.py::test_a_failure_is_found_and_narrowed_to_its_call",
]
OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:abort_on_error=1",
    "UBSAN_OPTIONS": f"print_stacktrace=1:halt_on_error=1:suppressions={SUPPRESSIONS / 'undefined.txt'}",
    "TSAN_OPTIONS": f"halt_on_error=1:report_signal_unsafe=0:suppressions={SUPPRESSIONS / 'thread.txt'}",
}


def library(name: str) -> str:
    """Path of a library of the C compiler."""
    compiler = os.environ.get("CC", "cc").split()
    return subprocess.run([*compiler, f"-print-file-name={name}"], check=True, capture_output=True, text=True).stdout.strip()


def build(kind: str, folder: Path) -> Path:
    """Compile into folder/build, copy the sources and the libraries into folder/package, and return that."""
    meson = [sys.executable, "-m", "mesonbuild.mesonmain"]
    made = folder / "build"
    if not (made / "build.ninja").exists():
        options = ["-Dnative=enabled", "-Dbuildtype=debug", f"-Db_sanitize={SANITIZERS[kind]}", "-Db_lundef=false"]
        subprocess.run([*meson, "setup", *options, str(made)], cwd=ROOT, check=True)
    subprocess.run([*meson, "compile", "-C", str(made)], cwd=ROOT, check=True)
    package = folder / "package"
    shutil.rmtree(package, ignore_errors=True)
    ignored = shutil.ignore_patterns("__pycache__", "*.so", "*.c", "*.h")
    shutil.copytree(ROOT / "src" / "wengert", package / "wengert", ignore=ignored)
    for part in ("core", "kernels"):
        for file in (made / "src" / "wengert" / part).glob("*.so"):
            shutil.copy(file, package / "wengert" / part)
    return package


def run(kind: str, package: Path, arguments: list[str]) -> int:
    """Run the tests of a sanitizer on a package. Return pytest's exit status."""
    environment = os.environ | OPTIONS | {
        "LD_PRELOAD": " ".join(library(name) for name in LIBRARIES[kind]),
        "PYTHONPATH": os.pathsep.join([str(package), *filter(None, [os.environ.get("PYTHONPATH")])]),
        "PYTHONMALLOC": "malloc",  # so that objects of Python have borders too
        "WENGERT_NUM_THREADS": "4",
    }  # fmt: skip
    chosen = ["-m", "not exhaustive", *TESTS[kind], *[f"--deselect={test}" for test in LEFT_OUT]]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen, *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment).returncode


def main() -> int:
    given, _, arguments = " ".join(sys.argv[2:]).partition("--")
    kinds = given.split() or list(SANITIZERS)
    failed = [kind for kind in kinds if run(kind, build(kind, Path(sys.argv[1]).resolve() / kind), arguments.split())]
    if failed:
        print(f"sanitize: failed with {', '.join(failed)}", file=sys.stderr)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
