"""Write the generated parts of README.md, docs/performance.md and docs/reliability.md.

    python tools/pages.py            # write them
    python tools/pages.py --check    # exit with 1 if a page is out of date

A generated part stands between `<!-- name: ... -->` and `<!-- end of name -->`. The picture of a graph is what the README's own
program prints. The speeds come from benchmarks/record.json, which `make record` writes on an idle machine. The figures of
fuzzers come from tests/fuzz/record.json, to which `make fuzz ARGS="--record tests/fuzz/record.json"` adds.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
PERFORMANCE = ROOT / "docs" / "performance.md"
RECORD = ROOT / "benchmarks" / "record.json"
RELIABILITY = ROOT / "docs" / "reliability.md"
FUZZ_RECORD = ROOT / "tests" / "fuzz" / "record.json"
SLOWER = 0.95  # ratio to torch below which an operator is named as slower
BOLD = 0.9  # ratio to torch below which a number is bold

Record = dict[str, Any]


def code_blocks(text: str) -> list[str]:
    """The Python programs of a page, in their order."""
    return re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def run(program: str) -> str:
    """Return what a program prints. Source lines in its output name the file graph.py."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(program, "graph.py", "exec"), {"__name__": "__main__"})
    return printed.getvalue()


def graph_picture(text: str) -> str:
    """The Mermaid picture that the README's program about graphs prints."""
    (program,) = [block for block in code_blocks(text) if "mermaid" in block]
    return f"```mermaid\n{run(program).strip()}\n```\n"


# -- Tables of a record --------------------------------------------------------------------------------------------------


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table."""
    return "\n".join([f"| {' | '.join(row)} |" for row in (head, ("---",) * len(head), *rows)]) + "\n"


def machine(record: Record) -> str:
    """Where and with what a record was measured."""
    facts = record["machine"]
    return (
        f"Measured with torch {facts['torch'].split('+')[0]} and NumPy {facts['numpy']} in one process, in turns, "
        f"{facts['threads']['torch']} threads each, on {facts['cpu']}.\n"
    )


def named(record: Record, beginning: str) -> list[Record]:
    """The results of the compiled core whose names begin so, without that beginning."""
    found = [r for r in record["results"] if r["name"].startswith(beginning) and r["core"] == "compiled"]
    return [{**r, "name": r["name"].removeprefix(beginning)} for r in found]


def programs(record: Record) -> list[Record]:
    """The results of whole programs on the compiled core."""
    return [r for r in record["results"] if "title" in r and r["core"] == "compiled"]


def seconds(t: float) -> str:
    """A time with three significant digits: 0.0123 as "12.3 ms"."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if t >= size:
            return f"{t / size:#.3g}".rstrip(".") + f" {unit}"
    return f"{t * 1e9:#.3g}".rstrip(".") + " ns"


def ratio(value: float) -> str:
    """A ratio with two significant digits, bold where wengert is clearly slower."""
    text = f"{value:.2f}" if value < 1 else f"{value:.1f}"
    return f"**{text}**" if value < BOLD else text


def readme_speed(record: Record) -> str:
    """The README's table of programs, and the operators that are slower than torch's."""
    rows = [(r["title"], seconds(r["wengert"]), ratio(r["ratio"])) for r in programs(record)]
    operators = named(record, "operators: ")
    slower = [r["name"] for r in operators if r["both"]["ratio"] < SLOWER]
    return (
        f"{machine(record)}Forward and backward pass; torch / wengert is torch's time divided by wengert's.\n\n"
        + table(("program", "wengert", "torch / wengert"), rows)
        + f"\nOf {len(operators)} measurements of single operators with their gradients, wengert is slower in {len(slower)}: "
        + f"{'; '.join(sorted(slower))}.\n"
    )


def program_table(record: Record) -> str:
    """Programs with the spread of the ratio over the rounds."""
    rows = [
        (r["title"], seconds(r["wengert"]), seconds(r["torch"]), f"{ratio(r['ratio'])} ({r['low']:.1f}-{r['high']:.1f})",
         f"{r['target']:.1f}" if r["target"] else "")
        for r in programs(record)
    ]  # fmt: skip
    return machine(record) + "\n" + table(("program", "wengert", "torch", "torch / wengert (quartiles)", "aim"), rows)


def operator_table(record: Record) -> str:
    """Operators, small and of a usual size, with gradients and forward alone."""
    by_size: dict[str, dict[str, Record]] = {}
    for r in named(record, "operators: "):
        by_size.setdefault(r["operator"], {})[r["size"]] = r
    rows = []
    for operator, sizes in by_size.items():
        cells = [operator]
        for size in ("small", "usual"):
            r = sizes.get(size)
            if r is None:
                cells += ["", "", ""]
            else:
                cells += [seconds(r["both"]["wengert"]), ratio(r["both"]["ratio"]), ratio(r["forward"]["ratio"])]
        rows.append(tuple(cells))
    head = ("operator", "small", "ratio", "forward alone", "usual", "ratio", "forward alone")
    return machine(record) + "\n" + table(head, rows)


def growth_table(record: Record) -> str:
    """Cost of one operation by the number of elements, and of one node by the number of nodes."""
    rows = [
        (r["name"], *[seconds(r[library] / r.get("elements", r.get("nodes"))) for library in ("wengert", "torch")])
        for r in named(record, "growth: ")
    ]
    return table(("case", "wengert, one element or node", "torch, one element or node"), rows)


def memory_table(record: Record) -> str:
    """Peaks of memory above the memory that was in use before, in MiB."""
    titles = {r["name"]: r["title"] for r in programs(record)}
    rows = [(titles[r["name"]], f"{r['wengert']:.3g}", f"{r['torch']:.3g}") for r in named(record, "memory: ")]
    return table(("program", "wengert, MiB", "torch, MiB"), rows)


def first_sentence(fuzzer: str) -> str:
    """The first sentence of the docstring of a fuzzer."""
    text = ast.get_docstring(ast.parse((FUZZ_RECORD.parent / f"{fuzzer}.py").read_text())) or ""
    return re.split(r"[.:](?:\s|$)", text)[0].replace("\n", " ") + "."


def fuzz_table(record: Record) -> str:
    """What each fuzzer calls, the numbers of calls and findings, and the versions that they ran with."""
    figures = record["fuzzers"].items()
    rows = [(f"`{name}`", first_sentence(name), f"{f['calls']:,}", str(f["findings"])) for name, f in figures]
    calls, findings = (sum(f[key] for _, f in figures) for key in ("calls", "findings"))
    versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    head = f"From {record['first']} to {record['last']}, with {versions}.\n\n"
    return head + table(("fuzzer", "what it calls", "calls", "findings"), [*rows, ("all", "", f"{calls:,}", str(findings))])


# -- Pages ---------------------------------------------------------------------------------------------------------------


def fill(text: str, name: str, content: str) -> str:
    """Replace the generated part of this name."""
    pattern = rf"(<!-- {name}: [^\n]*-->\n).*?(<!-- end of {name} -->)"
    filled, count = re.subn(pattern, lambda match: match[1] + content + match[2], text, flags=re.DOTALL)
    if count != 1:
        raise SystemExit(f"{count} generated parts are named {name!r}; there must be one")
    return filled


def generate() -> dict[Path, str]:
    """Return the text of each page with its generated parts written anew."""
    record = json.loads(RECORD.read_text())
    readme = README.read_text()
    readme = fill(fill(readme, "graph", graph_picture(readme)), "speed", readme_speed(record))
    performance = PERFORMANCE.read_text()
    tables = {"programs": program_table, "operators": operator_table, "growth": growth_table, "memory": memory_table}
    for name, make in tables.items():
        performance = fill(performance, name, make(record))
    reliability = fill(RELIABILITY.read_text(), "fuzzers", fuzz_table(json.loads(FUZZ_RECORD.read_text())))
    return {README: readme, PERFORMANCE: performance, RELIABILITY: reliability}


def main() -> None:
    for page, text in generate().items():
        if "--check" not in sys.argv[1:]:
            page.write_text(text)
        elif page.read_text() != text:
            sys.exit(f"{page.relative_to(ROOT)} is out of date: run make generate")


if __name__ == "__main__":
    main()
