"""Timer: measures how long a statement takes."""

from __future__ import annotations

import timeit
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from textwrap import dedent
from time import perf_counter
from typing import Any

from wengert import errors
from wengert.threads import get_num_threads, set_num_threads
from wengert.utils.benchmark._measurement import Measurement, TaskSpec

timer = perf_counter
_LEAST_SHARE = 1e-3  # part of a repetition that the reading of the clock may take


class Language(Enum):
    """Languages of a statement."""

    PYTHON = 0
    CPP = 1


@contextmanager
def _threads(n: int) -> Iterator[None]:
    before = get_num_threads()
    set_num_threads(n)
    try:
        yield
    finally:
        set_num_threads(before)


class Timer:
    """Measures a statement of Python, on one thread unless num_threads says otherwise.

    stmt, setup: code as text; setup runs once for each repetition. globals: the names that they see. label, sub_label, description,
    env: places in the tables of Compare. Raises ValueError for a statement that is no text, or another language.
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Language | str = Language.PYTHON,
    ) -> None:
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        if language in (Language.CPP, "cpp", "c++"):
            raise errors.MissingFeatureError("utils.benchmark.Timer measures statements of Python, not of C++")
        if language not in (Language.PYTHON, "py", "python"):
            raise ValueError(f"Invalid language `{language}`.")
        names = dict(globals or {})
        stmt, setup = dedent(stmt).strip("\n"), dedent(setup).strip("\n")
        self._globals = names
        self._clock = timer
        self._timer = timeit.Timer(stmt, setup, timer, names)
        self._task_spec = TaskSpec(stmt, setup, global_setup, label, sub_label, description, env, num_threads)

    def _measurement(self, number: int, times: list[float]) -> Measurement:
        return Measurement(number, times, self._task_spec)

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """Run the statement `number` times, after a few runs to warm up."""
        with _threads(self._task_spec.num_threads):
            self._timer.timeit(max(number // 100, 2))
            return self._measurement(number, [self._timer.timeit(number)])

    def repeat(self, repeat: int = -1, number: int = -1) -> None:
        """Refuse, as torch does: use timeit, blocked_autorange or adaptive_autorange."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def autorange(self, callback: Any = None) -> None:
        """Refuse, as torch does: use timeit, blocked_autorange or adaptive_autorange."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def _block_size(self, min_run_time: float) -> int:
        """Return a number of runs that takes much longer than reading the clock."""
        overhead = min(timeit.repeat("pass", number=0, repeat=5, timer=self._clock))
        number = 1
        while True:
            taken = self._timer.timeit(number)
            if (overhead <= taken * _LEAST_SHARE and taken >= min_run_time / 1000) or taken > min_run_time:
                return number
            number *= 10

    def blocked_autorange(
        self, callback: Callable[[int, float], None] | None = None, min_run_time: float = 0.2
    ) -> Measurement:
        """Repeat blocks of runs for min_run_time seconds. callback(number, seconds) is called after each block."""
        with _threads(self._task_spec.num_threads):
            number = self._block_size(min_run_time)
            times: list[float] = []
            while not times or sum(times) < min_run_time:
                times.append(self._timer.timeit(number))
                if callback is not None:
                    callback(number, times[-1])
            return self._measurement(number, times)

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callable[[int, float], None] | None = None,
    ) -> Measurement:
        """Repeat blocks of runs until their interquartile range is below `threshold` of the median, or for max_run_time seconds."""
        with _threads(self._task_spec.num_threads):
            number = self._block_size(0.05)
            times: list[float] = []
            while True:
                times.append(self._timer.timeit(number))
                if callback is not None:
                    callback(number, times[-1])
                total = sum(times)
                enough = len(times) > 3 and total > min_run_time and self._measurement(number, times).meets_confidence(threshold)
                if enough or total > max_run_time:
                    return self._measurement(number, times)

    def collect_callgrind(self, *args: Any, **kwargs: Any) -> None:
        """Refuse: instructions are not counted."""
        raise errors.MissingFeatureError("utils.benchmark.Timer.collect_callgrind is not part of wengert")
