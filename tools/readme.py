"""Write the generated parts of README.md: the picture of a graph, and the table of speeds.

    python tools/readme.py            # write them
    python tools/readme.py --check    # exit with 1 if README.md is out of date

The picture is what the README's own program prints. The speeds come from benchmarks/record.json, which
`make bench ARGS="--json benchmarks/record.json"` writes on an idle machine.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
RECORD = ROOT / "benchmarks" / "record.json"
SLOWER = 0.95  # ratio to torch below which a case is named as slower


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


def speed_table(record: dict[str, Any]) -> str:
    """The benchmark programs of a record as a Markdown table, and the names of the cases that are slower than torch."""
    machine, results = record["machine"], record["results"]
    programs = [r for r in results if r["core"] == "compiled" and "title" in r and "ratio" in r]
    operators = [r for r in results if r["name"].startswith("operators: ")]
    lines = [
        f"Time of torch {machine['torch'].split('+')[0]} divided by time of wengert, forward and backward pass, both in one process in turns,",
        f"{machine['threads']['torch']} threads each, on {machine['cpu']} (above 1: wengert is faster):",
        "",
        "| program | wengert | torch / wengert |",
        "|---|---|---|",
    ]
    lines += [f"| {r['title']} | {seconds(r['wengert'])} | {r['ratio']:.1f} |" for r in programs]
    slower = sorted({r["name"].removeprefix("operators: ") for r in operators if r["both"].get("ratio", 1.0) < SLOWER})
    if operators:
        lines += ["", f"Of {len(operators)} single operators with their gradients, wengert is slower than torch in {len(slower)}: {'; '.join(slower)}."]
    return "\n".join(lines) + "\n"


def seconds(t: float) -> str:
    """A time with three significant digits: 0.0123 as "12.3 ms"."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if t >= size:
            return f"{t / size:.3g} {unit}"
    return f"{t * 1e9:.3g} ns"


def fill(text: str, part: str, content: str) -> str:
    """Replace what stands between `<!-- part: ... -->` and `<!-- end of part -->`."""
    pattern = rf"(<!-- {part}: [^\n]*-->\n).*?(<!-- end of {part} -->)"
    filled, count = re.subn(pattern, lambda match: match[1] + content + match[2], text, flags=re.DOTALL)
    if count != 1:
        raise SystemExit(f"README.md has {count} places for its part {part!r}")
    return filled


def generate(text: str) -> str:
    """Return the README with its generated parts written anew."""
    text = fill(text, "graph", graph_picture(text))
    return fill(text, "speed", speed_table(json.loads(RECORD.read_text())))


if __name__ == "__main__":
    before = README.read_text()
    after = generate(before)
    if "--check" in sys.argv[1:]:
        sys.exit("README.md is out of date: run python tools/readme.py" if after != before else 0)
    README.write_text(after)
