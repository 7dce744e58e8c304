"""Find lines of test files, so that tests of source positions need no line numbers."""

from __future__ import annotations

from pathlib import Path


def line_of(file: str, mark: str) -> str:
    """ "file:number" of the one line in file that ends with the comment `# mark`."""
    lines = Path(file).read_text(encoding="utf-8").splitlines()
    (number,) = [n for n, line in enumerate(lines, 1) if line.endswith("# " + mark)]
    return f"{file}:{number}"
