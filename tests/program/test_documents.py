"""The table of docs/semantics.md and the published programs, compiled: they do what they do when they run eagerly."""

from __future__ import annotations

import ast
import asyncio
import builtins
import contextlib
import importlib
import io
import json
import re
import warnings
from pathlib import Path

import pytest

import wengert
from cells import for_wengert, hide_addresses, pretty, run_cells

semantics = importlib.import_module("documents.test_semantics")
ROWS = [cells for _, cells in semantics.ROWS]
CALLS = 3


def program_of(lines, outcome):
    """A function of the names of the table that runs lines, and returns the names that they assign, and a if the outcome tells of it."""
    names = [node for node in ast.walk(ast.parse("\n".join(lines))) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    returned = list(dict.fromkeys([node.id for node in names] + (["a"] if re.search(r"\ba\b", outcome) else [])))
    body = "".join([f"    {line}\n" for line in ["a = x * 1", *lines]])
    return f"def program(x, y, c, log):\n{body}    return [{', '.join(returned)}]", returned


def fresh():
    names = {"torch": wengert, "F": semantics.function(wengert), "asyncio": asyncio, "io": io}
    exec(semantics.SETUP, names)
    return names


def run_row(cells):
    """Check a row of the table in each of some calls of its compiled program. Return whether a recording ran, and the refusals."""
    lines, outcome = semantics.CODE.findall(cells[0]), cells[1]
    source, assigned = program_of(lines, outcome)
    shared = fresh()
    exec(source, shared)
    compiled = wengert.compile(shared["program"])
    for _ in range(CALLS):
        names = fresh()
        arguments = [names[name] for name in ("x", "y", "c", "log")]
        if outcome.startswith("raises"):
            kind, *texts = semantics.CODE.findall(outcome)
            with pytest.raises(getattr(builtins, kind)) as caught:
                compiled(*arguments)
            assert any(str(caught.value).splitlines()[0].startswith(text) for text in texts)
            continue
        names.update(zip(assigned, compiled(*arguments), strict=True))
        for expression in semantics.CODE.findall(outcome):
            assert eval(expression, names) is True, expression
    return any(recording.runs for recording in compiled.recordings), compiled.refusals


# Rows that run eagerly, by the reason. A row that is recorded after all does not belong here.
EAGER = {reason: set(rows) for reason, rows in json.loads(Path(__file__).with_name("eager_rows.json").read_text()).items()}
# Rows of results with a history, which are tensors of their own in a compiled call, with the node CompiledFunctionBackward.
UNLIKE = {
    "`v = a.reshape(2, 2)`", "`v = a.expand(2, 4)`", "`v = a.as_strided((2,), (2,), 1)`", "`a.mul_(2)`",
    "`v = a.unbind(0)[0]`<br>`a.mul_(2)`", "`with torch.inference_mode(): v = a[:1]`",
}  # fmt: skip


def reason_for(cells):
    """Check a row. Return why it runs eagerly, "" if a recording ran, or None if the row raises an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            replayed, refusals = run_row(cells)
        finally:
            wengert.set_grad_enabled(True)
    if cells[1].startswith("raises"):
        return None
    if replayed:
        return ""
    reason = refusals[0].rpartition(" (")[0] if " (" in refusals[0] else refusals[0]
    return "a function is called" if "() is called" in reason else reason  # which one depends on the version of Python


@pytest.mark.slow
def test_rows_of_the_table_do_the_same_compiled():
    found = {}
    for cells in ROWS:
        if cells[0] not in UNLIKE:
            reason = reason_for(cells)
            if reason:
                found.setdefault(reason, set()).add(cells[0])
    assert found == EAGER


def test_rows_of_results_with_a_history_are_in_the_table():
    assert {cells[0] for cells in ROWS} >= UNLIKE


class Compiled:
    """Runs a cell as a compiled function that assigns globals."""

    def __init__(self, names):
        self.names = names

    def show(self, source):
        body = ast.parse(for_wengert(source)).body
        last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
        stored = {n.id for x in body for n in ast.walk(x) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        stored |= {alias.asname or alias.name for x in body if isinstance(x, (ast.Import, ast.ImportFrom)) for alias in x.names}
        stored |= {x.name for x in body if isinstance(x, (ast.FunctionDef, ast.ClassDef))}
        function = ast.parse("def cell():\n    pass").body[0]
        function.body = [*([ast.Global(sorted(stored))] if stored else []), *body, ast.Return(last.value if last else None)]
        exec(compile(ast.fix_missing_locations(ast.Module([function], [])), "<cell>", "exec"), self.names)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = wengert.compile(self.names["cell"])()
            if value is not None:
                print(pretty(value))
        return hide_addresses(printed.getvalue().rstrip("\n"))


@pytest.mark.slow
@pytest.mark.parametrize(("module", "cells"), [("test_s0", "EXAMPLE"), ("test_s2", "CELLS"), ("test_s3", "EXAMPLE"), ("test_s4", "CELLS")])
def test_published_programs_show_the_same_compiled(module, cells):
    sources = [(key, source) for key, source, *_ in getattr(importlib.import_module(f"documents.{module}"), cells)]
    wengert.manual_seed(0)
    expected = run_cells(sources)
    wengert.manual_seed(0)
    compiled = Compiled({"__name__": "__main__"})
    for key, source in sources:
        # While a call is recorded, hooks are given gradients with a history, and may print it.
        assert re.sub(r", grad_fn=<\w+>", "", compiled.show(source)) == re.sub(r", grad_fn=<\w+>", "", expected[key].shown), source
