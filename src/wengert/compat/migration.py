"""`python -m wengert migrate`: find spellings that torch has given up, and rewrite them.

Rewriting replaces parts of the text at positions that Python's parser reports. All other text stays as it is, including
comments and layout.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from itertools import pairwise
from pathlib import Path

from wengert.compat.outdated import Finding, find_outdated

_ROUNDS = 50  # limit of nested rewrites: each round applies the outermost ones


def migrate_files(names: list[str], write: bool) -> int:
    """List the outdated spellings in each file, and rewrite them if write. Returns 1 if some are left, 2 for errors, else 0."""
    status = 0
    for name in names:
        try:
            status = max(status, _migrate_file(Path(name), write))
        except (OSError, SyntaxError, UnicodeDecodeError) as error:
            print(f"{name}: {error}", file=sys.stderr)
            status = 2
    return status


def _migrate_file(path: Path, write: bool) -> int:
    raw = path.read_bytes()
    encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
    source = raw.decode(encoding)
    findings = list_outdated(source)
    for finding in findings:
        print(f"{path}:{finding.line}: {finding.old} -> {finding.new}{' (by hand)' if finding.by_hand else ''}")
    if not write:
        return 1 if findings else 0
    renewed = migrate(source)
    if renewed != source:
        path.write_bytes(renewed.encode(encoding))
    return 1 if any(finding.by_hand for finding in findings) else 0


def list_outdated(source: str) -> list[Finding]:
    """Return the outdated spellings in a program, ordered by line. Raises SyntaxError if the source does not parse."""
    found = [Finding(line, "async=", "non_blocking=") for line, _ in _async_keywords(source)]
    return sorted(found + find_outdated(without_async_keyword(source)), key=lambda finding: finding.line)


def migrate(source: str) -> str:
    """Return the program with all outdated spellings rewritten, except those that need a rewrite by hand."""
    source = without_async_keyword(source)
    for _ in range(_ROUNDS):
        edits = [finding.edits for finding in find_outdated(source) if not finding.by_hand]
        if not edits:
            break
        source = _apply(source, edits)
    return source


def _apply(source: str, groups: list[tuple[tuple[int, int, str], ...]]) -> str:
    """Apply groups of edits, each (first byte, byte after the last, text). Of overlapping groups only the first is applied."""
    text = source.encode()
    taken: list[tuple[int, int]] = []
    edits: list[tuple[int, int, str]] = []
    for group in sorted(groups):
        start, end = group[0][0], group[-1][1]
        if all(end <= s or start >= e for s, e in taken):
            taken.append((start, end))
            edits.extend(group)
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new.encode() + text[end:]
    renewed = text.decode()
    ast.parse(renewed)  # raises SyntaxError, so that a rewrite that does not parse is never written
    return renewed


# -- async=, which no longer parses ------------------------------------------------------------------------------------


def without_async_keyword(source: str) -> str:
    """Return the program with the argument async=, a syntax error since Python 3.7, renamed to non_blocking=."""
    lines = source.split("\n")
    for line, column in reversed(_async_keywords(source)):
        text = lines[line - 1]
        lines[line - 1] = text[:column] + "non_blocking" + text[column + len("async") :]
    return "\n".join(lines)


def _async_keywords(source: str) -> list[tuple[int, int]]:
    """Return (line, column) of each `async` that is followed by `=`."""
    if "async" not in source:
        return []
    found = []
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError):
        return []
    for token, after in pairwise(tokens):
        if token.string == "async" and token.type == tokenize.NAME and after.string == "=":
            found.append(token.start)
    return found
