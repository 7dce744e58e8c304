"""Runs the cells of a notebook as IPython does: what they print, then the value of a last expression as IPython shows it."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import warnings
from typing import Any

WIDTH = 79


class Cell:
    """Output of one cell: the text it showed, and the warnings it raised as (category, first line)."""

    def __init__(self, shown: str, warned: list[tuple[type, str]]) -> None:
        self.shown, self.warned = shown, warned


def run_cell(source: str, names: dict[str, Any]) -> Cell:
    """Runs a cell with torch meaning wengert, in and upon names."""
    body = ast.parse(for_wengert(source)).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exec(compile(ast.Module(body, []), "<cell>", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
            if value is not None:
                print(pretty(value))
    warned = [(w.category, str(w.message).splitlines()[0]) for w in caught]
    return Cell(hide_addresses(printed.getvalue().rstrip("\n")), warned)


def run_cells(cells: list[tuple[Any, ...]]) -> dict[Any, Cell]:
    """Runs cells, each (key, source, ...), one after the other in one namespace."""
    names: dict[str, Any] = {"__name__": "__main__"}
    return {key: run_cell(source, names) for key, source, *_ in cells}


def for_wengert(source: str) -> str:
    """A program for torch with its imports turned to wengert."""
    source = re.sub(r"^(\s*)import torch$", r"\1import wengert as torch", source, flags=re.MULTILINE)
    return re.sub(r"^(\s*)from torch\b", r"\1from wengert", source, flags=re.MULTILINE)


def hide_addresses(text: str) -> str:
    """Addresses differ from run to run."""
    return re.sub(r"0x[0-9a-f]+", "0x...", text)


def pretty(value: Any) -> str:
    """Format a value as IPython does, for the values in the documents: objects, types in them, and tuples of both.

    IPython gives a class without a __repr__ of its own the form <Name at 0x...>, with the module's name unless that is
    builtins, and breaks a tuple that is wider than the line, the outermost first.
    """
    if type(value) is tuple:
        parts = [pretty(v) for v in value]
        line = "(" + ", ".join(parts) + (",)" if len(parts) == 1 else ")")
        return line if len(line) <= WIDTH else "(" + ",\n ".join(parts) + ")"
    cls = type(value)
    if cls.__repr__ is not object.__repr__:
        return repr(value)
    module = "" if cls.__module__ == "builtins" else cls.__module__ + "."
    return f"<{module}{cls.__qualname__} at {id(value):#x}>"
