"""docs/semantics.md: every row of its tables is a program that does what the row says, in wengert and in torch."""

from __future__ import annotations

import asyncio
import io
import re
import warnings
from pathlib import Path

import pytest

import wengert

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "semantics.md"
CODE = re.compile(r"`([^`]+)`")


def read_rows():
    """(heading, cells) of each row of each table."""
    rows, heading = [], ""
    for line in DOCUMENT.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            heading = line.removeprefix("## ")
        elif line.startswith("| ") and not line.startswith("| Program"):
            rows.append((heading, [cell.strip() for cell in line.strip("|").split(" | ")]))
    return rows


ROWS = read_rows()
SETUP = re.search(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)[1]


def function(library):
    def make(forward, backward):
        methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
        return type("F", (library.autograd.Function,), methods).apply

    return make


def holds(library, cells, outcome):
    """Runs the program of a row and checks its outcome."""
    names = {"torch": library, "F": function(library), "asyncio": asyncio, "io": io}
    exec(SETUP, names)
    lines = CODE.findall(cells[0])
    if not outcome.startswith("raises"):
        exec("\n".join(lines), names)
        for expression in CODE.findall(outcome):
            assert eval(expression, names) is True, expression
        return
    kind, *texts = CODE.findall(outcome)
    exec("\n".join(lines[:-1]), names)
    with pytest.raises(getattr(__builtins__, kind, None) or __builtins__[kind]) as caught:
        exec(lines[-1], names)
    first_line = str(caught.value).splitlines()[0]
    assert any(first_line.startswith(text) for text in texts), first_line


def check(library, heading, cells):
    outcome = cells[2] if library is not wengert and heading.startswith("Where wengert differs") else cells[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            holds(library, cells, outcome)
        finally:
            library.set_grad_enabled(True)


def names(row):
    return row[1][0].replace("`", "").replace("<br>", "; ")[:60]


@pytest.mark.parametrize("row", ROWS, ids=names)
def test_table_row_holds(row):
    check(wengert, *row)


@pytest.mark.parametrize("row", ROWS, ids=names)
def test_table_row_holds_in_torch(row):
    check(pytest.importorskip("torch"), *row)


def test_the_document_is_read_whole():
    assert len(ROWS) > 110
    assert {len(cells) for heading, cells in ROWS if not heading.startswith("Where")} == {2}
    assert {len(cells) for heading, cells in ROWS if heading.startswith("Where")} == {4}
