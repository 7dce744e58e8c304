"""Tables that a notebook shows: rows of text, with a bar for the size of a number, in the colours of the notebook."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

ROWS = 100  # rows of a table; a last line says how many more there are


def html_table(
    titles: Sequence[str], rows: Sequence[Sequence[str]], bars: Sequence[float | None], faults: Sequence[bool] = ()
) -> str:
    """Return a table. The first column is the name.

    bars: for each row a part of the largest value, from 0 to 1, which is drawn behind the second column, or None. faults:
    whether a row is shown in red.
    """
    head = "".join(f'<th style="text-align:left">{escape(title)}</th>' for title in titles)
    body = []
    for number, row in enumerate(rows[:ROWS]):
        color = ' style="color:#c62828"' if number < len(faults) and faults[number] else ""
        cells = [f'<td style="text-align:left">{escape(cell)}</td>' for cell in row]
        part = bars[number]
        if part is not None:
            share = f"{100 * part:.1f}%"
            cells[1] = (
                f'<td style="text-align:left;min-width:9em;background:linear-gradient(to right,rgba(74,144,217,0.45) {share},'
                f'transparent {share})">{escape(row[1])}</td>'
            )
        body.append(f"<tr{color}>{''.join(cells)}</tr>")
    more = f"<p>... and {len(rows) - ROWS} more rows</p>" if len(rows) > ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>{more}"


def linear_bars(values: Sequence[float]) -> list[float | None]:
    """Each value as a part of the largest."""
    largest = max(values, default=0.0)
    return [value / largest if largest > 0 else 0.0 for value in values]


def logarithmic_bars(values: Sequence[float | None]) -> list[float | None]:
    """Values between the smallest and the largest on a log scale, from 0.05 to 1. Zero, NaN, infinities and None have no bar."""
    logs = [math.log10(value) if value is not None and 0 < value < math.inf else None for value in values]
    known = [x for x in logs if x is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    return [None if x is None else 1.0 if high == low else 0.05 + 0.95 * (x - low) / (high - low) for x in logs]


def digits(value: float) -> str:
    """A number with three significant digits."""
    text = f"{value:.3g}"
    return text if "e+" not in text else f"{float(text):.0f}" if abs(value) < 1e6 else text


def duration(us: float) -> str:
    """Microseconds with three significant digits: 12.3 us, 1.23 ms, 4.56 s."""
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if us >= size:
            return f"{digits(us / size)} {unit}"
    return f"{digits(us)} us"
