"""Compare: tables of measurements."""

from __future__ import annotations

import math
from collections.abc import Iterable

from wengert.utils.benchmark._measurement import Measurement, ordered_unique, select_unit, trim_sigfig, unit_to_english

_NOTE = "(! XX%) Measurement has high variance, where XX is the IQR / median * 100."


class Compare:
    """Tables of measurements: one for each label, with a row for each sub_label and a column for each description.

    print() prints them, str() gives the text. Measurements of one task are merged.
    """

    def __init__(self, results: Iterable[Measurement]) -> None:
        self._results: list[Measurement] = []
        self._trims = False
        self._warns = False
        self.extend_results(results)

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """Add measurements."""
        results = list(results)
        for result in results:
            if not isinstance(result, Measurement):
                raise ValueError(f"Expected an instance of `Measurement`, got {type(result)} instead.")
        self._results += results

    def trim_significant_figures(self) -> None:
        """Print the figures that say something alone."""
        self._trims = True

    def highlight_warnings(self) -> None:
        """Print a sign after times that differ much from repetition to repetition."""
        self._warns = True

    def colorize(self, rowwise: bool = False) -> None:
        """Accept the wish for colours, which has no effect."""

    def print(self) -> None:
        """Print the tables."""
        print(self)

    def __str__(self) -> str:
        results = Measurement.merge(self._results)
        labels = ordered_unique([m.task_spec.label for m in results])
        return "\n".join([self._table(label, [m for m in results if m.task_spec.label == label]) for label in labels])

    def _table(self, label: str | None, results: list[Measurement]) -> str:
        unit, seconds = select_unit(min([m.median for m in results]))
        names = _row_names(results)
        columns = [self._column(description, results, seconds, names) for description in _descriptions(results)]
        edge = max([len(name) for name in names.values()])
        header = "  |  ".join([" " * edge, *[column[0] for column in columns]])
        lines, threads = [header], None
        for row in names:
            if row[0] != threads:
                threads = row[0]
                lines.append(f"{threads} threads: ".ljust(len(header), "-"))
            lines.append("  |  ".join([names[row].ljust(edge), *[column[1][row] for column in columns]]))
        title = f" {label or ''} ".center(len(header) - 2, "-")
        note = f"{_NOTE}\n" if self._warns and any(m.has_warnings for m in results) else ""
        return "\n".join([f"[{title}]", *lines, "", f"Times are in {unit_to_english(unit)}s ({unit}).", note])

    def _column(self, description: str | None, results: list[Measurement], seconds: float, rows: dict) -> tuple[str, dict]:
        """Return the heading and the cells of a column, all of one width."""
        chosen = {_row(m): m for m in results if m.task_spec.description == description}
        figures = {row: m.significant_figures if self._trims else None for row, m in chosen.items()}
        times = {row: m.median / seconds for row, m in chosen.items()}
        leading = {row: math.ceil(math.log10(t)) for row, t in times.items()}
        digits = min([1 if n is None else max(n - leading[row], 0) for row, n in figures.items()])
        width = max(leading.values()) + (digits + 1 if digits else 0)
        cells = {}
        for row, t in times.items():
            n = figures[row]
            cells[row] = f"{t if n is None else trim_sigfig(t, n):>{max(width, 0)}.{digits}f}"
            if self._warns and chosen[row].has_warnings:
                cells[row] += f" (! {chosen[row].iqr / chosen[row].median * 100:.0f}%)"
        widest = max([len(description or ""), *[len(cell) for cell in cells.values()]])
        return (description or "").center(widest), {row: cells.get(row, "").center(widest) for row in rows}


def _row(m: Measurement) -> tuple[int, str | None, str]:
    return m.task_spec.num_threads, m.task_spec.env, m.as_row_name


def _row_names(results: list[Measurement]) -> dict[tuple[int, str | None, str], str]:
    """Return the rows in order, and the name of each: an environment if there are several, and the name of the task."""
    rows = sorted(ordered_unique([_row(m) for m in results]), key=lambda row: (row[0], row[1] or ""))
    environments = ordered_unique([f"({env})" for _, env, _ in rows])
    if len(environments) < 2:
        return {row: f"      {row[2]}" for row in rows}
    widest = max([len(env) for env in environments])
    return {row: f"  {f'({row[1]})'.ljust(widest)}  {row[2]}" for row in rows}


def _descriptions(results: list[Measurement]) -> list[str | None]:
    return ordered_unique([m.task_spec.description for m in results])
