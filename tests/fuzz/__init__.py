"""Fuzzers: each module of this folder makes calls drawn from a seed, and none may crash, hang or end in an error from inside.

A fuzzer has a function `run(seed, calls)`. It makes `calls` calls, and raises AssertionError with the seed and the call that fails.
Equal seeds make equal calls, and fewer calls are the first of them. `CALLS`, if the module has it, is the number of calls that take
about two seconds. `needs_torch = True` says that the fuzzer compares with torch.

    python -m fuzz                                      # all fuzzers for ten minutes, with seeds from the clock: `make fuzz`
    python -m fuzz arguments indices --minutes 1        # two of them
    python -m fuzz arguments --seed 17 --calls 100      # a batch again, in this process

(with `tests` on PYTHONPATH). `tests/fuzz/test_fuzz.py` makes a fixed number of calls in each run of the tests.
"""

from __future__ import annotations

from pathlib import Path


def names() -> list[str]:
    """Names of the fuzzers: the modules of this folder, but for tests and modules with an underscore."""
    return sorted(path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith(("_", "test_")))
