"""The table of docs/parity.md: every entry of torch's operator database, all its samples, beside wengert.

    PYTHONPATH=src:tests python -m parity.op_db_table              prints what differs without a reason, and writes the page
    PYTHONPATH=src:tests python -m parity.op_db_table --samples 5  the same with fewer samples, in a tenth of the time
    PYTHONPATH=src:tests python -m parity.op_db_table add sum      prints what those entries give

It takes about ten minutes on two processors. `make parity-table` runs it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from parity import op_db
from parity.op_db_known import ABSENT

PAGE = Path(__file__).parents[2] / "docs" / "parity.md"

_HEAD = """# Parity with torch

Written by `make parity-table`: change `tests/parity/op_db_known.py` or the operations, not this page.

torch {version} contains a database of its operators with sample inputs for each. The table below compares both libraries on every entry,
{samples}, contiguous or not. It compares values, gradients at random cotangents, and gradients of these gradients, in float64 and
complex128 (float32 where torch has no float64). They must agree to {tolerance:g} of the largest element of a tensor. It also compares values in
other dtypes, of the method, of the in-place form and of `out=`.

An entry **agrees** if values and derivatives agree on every sample. It **differs** if one does not; the table says why. The results of **random**
entries have the same shapes and dtypes. wengert has no operation for a **missing** entry.

| | agree | random | differ | missing | all |
|---|---|---|---|---|---|
"""


def family(name: str) -> str:
    """The heading that an entry comes under."""
    for prefix in ("nn.functional", "linalg", "fft", "special", "masked", "signal.windows", "sparse"):
        if name.startswith(prefix + "."):
            return prefix
    return "others" if not name.startswith("torch.ops") else "torch.ops"


def _verdicts(names: list[str], samples: int | None) -> dict[str, op_db.Verdict]:
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        return dict(zip(names, pool.map(partial(op_db.verdict, limit=samples), names, chunksize=4)))


def _row(title: str, words: list[str]) -> str:
    counts = [words.count(word) for word in ("agrees", "random", "differs", "missing")]
    return f"| {title} | " + " | ".join(map(str, [*counts, len(words)])) + " |\n"


def _names(names: Iterable[str]) -> Iterator[str]:
    """Lists of names, a paragraph a family."""
    groups: dict[str, list[str]] = {}
    for name in sorted(names):
        groups.setdefault(family(name), []).append(f"`{name}`")
    for title in sorted(groups):
        yield f"*{title}*: {', '.join(groups[title])}\n\n"


def page(found: dict[str, op_db.Verdict], samples: int | None) -> str:
    """The text of docs/parity.md. samples: how many of a dtype were looked at, None for all."""
    looked_at = f"on all its samples (at most {op_db.MOST_SAMPLES} of a dtype)" if samples is None else f"on {samples} of its samples of each dtype"
    words = {name: v.word for name, v in found.items()}
    text = _HEAD.format(version=op_db.torch.__version__.split("+")[0], samples=looked_at, tolerance=op_db.TOLERANCE)
    text += _row("with derivatives", [words[name] for name in op_db.AUTOGRAD])
    text += _row("without", [word for name, word in words.items() if name not in op_db.AUTOGRAD])
    text += "\nLarger tolerances: " + "; ".join(f"`{n}` {t:g}, {why}" for n, (t, why) in op_db.TOLERANCES.items()) + ".\n"
    text += "\n## Different\n\n| entry | where | why |\n|---|---|---|\n"
    text += _reasons({name: v for name, v in found.items() if v.word == "differs"})
    text += "\n## Agreeing, but for another dtype or form\n\n| entry | where | why |\n|---|---|---|\n"
    text += _reasons({name: v for name, v in found.items() if v.word in ("agrees", "random")})
    without = ", ".join(f"`{n}`" for n, v in found.items() if not v.has_out)
    text += f"\nWithout `out=`, which torch has: {without}.\n" if without else "\nEvery function that has `out=` in torch has it.\n"
    text += "\n## Missing\n\n| entry | why |\n|---|---|\n"
    text += "".join(f"| `{name}` | {ABSENT.get(name, 'not written yet')} |\n" for name, word in words.items() if word == "missing")
    for title, word in (("Drawn at random", "random"), ("Agreeing", "agrees")):
        text += f"\n## {title}\n\n" + "".join(_names(name for name, w in words.items() if w == word)).rstrip("\n") + "\n"
    return text


def _reasons(found: dict[str, op_db.Verdict]) -> str:
    rows = []
    for name, v in found.items():
        by_reason: dict[str, list[str]] = {}
        for aspect, reason in v.known.items():
            by_reason.setdefault(reason, []).append(aspect)
        rows += [f"| `{name}` | {', '.join(aspects)} | {reason} |\n" for reason, aspects in by_reason.items()]
    return "".join(rows)


def published() -> dict[str, str]:
    """The word for each entry that the page has."""
    text = PAGE.read_text(encoding="utf-8")
    found: dict[str, str] = {}
    for title, word in (("Different", "differs"), ("Missing", "missing"), ("Drawn at random", "random"), ("Agreeing", "agrees")):
        section = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
        assert section is not None, f"docs/parity.md has no section {title}"
        lines = section[1].splitlines()
        cells = [line.split("|")[1] if line.startswith("|") else line for line in lines]
        found.update((name, word) for cell in cells for name in re.findall(r"`([^`]+)`", cell))
    return found


def main(names: list[str]) -> None:
    samples = None
    if names[:1] == ["--samples"]:
        samples, names = int(names[1]), names[2:]
    found = _verdicts(names or list(op_db.ENTRIES), samples)
    for name, v in found.items():
        if names or v.unexplained:
            print(f"{name:40} {v.word}")
            for line in [f"{aspect}: {reason}" for aspect, reason in v.known.items()] + [f"UNEXPLAINED {t}" for t in v.unexplained]:
                print(f"    {line[:300]}")
    if not names:
        PAGE.write_text(page(found, samples), encoding="utf-8")
        print(f"written: {PAGE}")
    words = [found[name].word for name in op_db.AUTOGRAD if name in found]
    print(", ".join(f"{words.count(word)} {word}" for word in ("agrees", "random", "differs", "missing")), f"of {len(words)} with derivatives")


if __name__ == "__main__":
    main(sys.argv[1:])
