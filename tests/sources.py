"""The sources of the package, for the tests that read them. A process parses each file once, when a test first asks for it."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

SOURCES = Path(__file__).parents[1] / "src" / "wengert"


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def import_statements(path: Path) -> list[ast.Import | ast.ImportFrom]:
    """The import statements of a module, also those inside functions."""
    return [node for node in ast.walk(tree(path)) if isinstance(node, ast.Import | ast.ImportFrom)]
