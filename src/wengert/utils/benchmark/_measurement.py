"""Measurement: repeated times of a statement, and what they say."""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import pstdev, quantiles
from textwrap import indent
from typing import Any, NamedTuple

_UNITS = {"ns": (1e-9, "nanosecond"), "us": (1e-6, "microsecond"), "ms": (1e-3, "millisecond"), "s": (1, "second")}
_NOISY, _DOUBTFUL = 0.25, 0.1  # interquartile range, relative to the median, from which a measurement warns
_LEAST_INTERVAL = 25e-9  # seconds below which a confidence interval says nothing
_Z = 1.645  # of a normal distribution: 90 percent are within


def select_unit(t: float) -> tuple[str, float]:
    """Return (name, seconds) of the unit that gives t seconds as a number from 1 to 1000."""
    exponent = math.floor(math.log10(t) / 3) * 3 if t > 0 else 0
    name = {-9: "ns", -6: "us", -3: "ms"}.get(exponent, "s")
    return name, _UNITS[name][0]


def unit_to_english(u: str) -> str:
    """Return the English word of a unit's name."""
    return _UNITS[u][1]


def trim_sigfig(x: float, n: int) -> float:
    """Round x to n significant figures."""
    return float(f"{x:.{n - 1}e}")


def ordered_unique(elements: Iterable[Any]) -> list[Any]:
    """Return the elements without repetitions, in the order of their first occurrence."""
    return list(dict.fromkeys(elements))


class TaskSpec(NamedTuple):
    """What a Timer runs. label, sub_label, description and env place its measurement in the tables of Compare."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """label, or the statement, and the sub_label."""
        stmt = f"stmt:\n{indent(self.stmt, '  ')}" if "\n" in self.stmt else self.stmt
        found = self.label or stmt
        return f"{found}: {self.sub_label}" if self.sub_label else found

    def setup_str(self) -> str:
        """Return the setup as text, or nothing if there is none."""
        if not self.setup or self.setup == "pass":
            return ""
        return f"setup:\n{indent(self.setup, '  ')}" if "\n" in self.setup else f"setup: {self.setup}"

    def summarize(self) -> str:
        """Return title, description and setup as text."""
        parts = [part for part in (self.title, self.description or "", self.setup_str()) if part]
        text = "\n".join(parts)
        return f"{text}\n" if "\n" in parts[-1] else text


class Measurement:
    """Times of a statement.

    raw_times: seconds of each repetition, for number_per_run runs of the statement. times: the seconds of one run. mean, median,
    iqr (interquartile range): of the times. significant_figures: how many of the median's figures say something. has_warnings:
    whether the interquartile range is more than a tenth of the median.
    """

    def __init__(self, number_per_run: int, raw_times: list[float], task_spec: TaskSpec, metadata: Any = None) -> None:
        self.number_per_run = number_per_run
        self.raw_times = raw_times
        self.task_spec = task_spec
        self.metadata = metadata
        self._sorted = sorted([t / number_per_run for t in raw_times])
        if not self._sorted:
            raise ValueError("a measurement needs times")

    @property
    def times(self) -> list[float]:
        """Seconds of one run, for each repetition."""
        return [t / self.number_per_run for t in self.raw_times]

    @property
    def mean(self) -> float:
        """Mean of the times."""
        return sum(self._sorted) / len(self._sorted)

    def _quartiles(self) -> list[float]:
        times = self._sorted
        return quantiles(times, n=4, method="inclusive") if len(times) > 1 else [times[0]] * 3

    @property
    def median(self) -> float:
        """Median of the times."""
        return self._quartiles()[1]

    @property
    def iqr(self) -> float:
        """Interquartile range of the times."""
        low, _, high = self._quartiles()
        return high - low

    @property
    def significant_figures(self) -> int:
        """Figures of the median that say something, 1 to 4: an estimate, from the deviation of the middle half of the times."""
        n = len(self._sorted)
        middle = self._sorted[n // 4 : math.ceil(3 * n / 4)]
        interval = max(_Z * pstdev(middle) / math.sqrt(len(middle)), _LEAST_INTERVAL)
        return min(max(math.floor(math.log10(self.median / interval)), 1), 4)

    @property
    def has_warnings(self) -> bool:
        """Whether the times differ much."""
        return not self.meets_confidence()

    def meets_confidence(self, threshold: float = _DOUBTFUL) -> bool:
        """Whether the interquartile range is less than this part of the median."""
        return self.iqr / self.median < threshold

    @property
    def title(self) -> str:
        """Title of the task."""
        return self.task_spec.title

    @property
    def as_row_name(self) -> str:
        """Name of the row in Compare's tables."""
        return self.task_spec.sub_label or self.task_spec.stmt or "[Unknown]"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in TaskSpec._fields:
            raise AttributeError(f"'Measurement' object has no attribute {name!r}")
        return getattr(self.task_spec, name)

    def __repr__(self) -> str:
        n, threads = len(self._sorted), self.task_spec.num_threads
        unit, seconds = select_unit(self.median)
        low, median, high = [f"{t / seconds:.2f}" for t in self._quartiles()]
        lines = [object.__repr__(self), self.task_spec.summarize(), f"  {'Median: ' if n > 1 else ''}{median} {unit}"]
        if n >= 4:
            lines.append(f"  IQR:    {self.iqr / seconds:.2f} {unit} ({low} to {high})")
        lines.append(
            f"  {n} measurement{'s' if n > 1 else ''}, {self.number_per_run} runs {'per measurement' if n > 1 else ''}, "
            f"{threads} thread{'s' if threads > 1 else ''}"
        )
        if self.has_warnings:
            spread = self.iqr / self.median
            why = "suggests significant environmental influence" if spread > _NOISY else "could indicate system fluctuation"
            lines.append(f"  WARNING: Interquartile range is {spread * 100:.1f}% of the median measurement.")
            lines.append(f"           This {why}.")
        return "\n".join(lines)

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """Return one measurement for each task, of the times of all its measurements."""
        groups: dict[TaskSpec, list[Measurement]] = {}
        for measurement in measurements:
            groups.setdefault(measurement.task_spec, []).append(measurement)
        return [Measurement(1, [t for m in group for t in m.times], task) for task, group in groups.items()]
