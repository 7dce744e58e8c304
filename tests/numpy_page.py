"""Writes docs/numpy-functions.md: what each public function of NumPy does with a tensor that requires grad.

    PYTHONPATH=src:tests python -m numpy_page

The functions are called as core/test_numpy_functions.py calls them. tests/documents/test_numpy_page.py holds the page to it.
"""

from __future__ import annotations

import sys
import textwrap
import warnings
from pathlib import Path

sys.path.append(str(Path(__file__).parent / "core"))
import numpy as np
import test_numpy_functions as calls

from wengert.array_functions.refusals import hint_of

PAGE = Path(__file__).parents[1] / "docs" / "numpy-functions.md"

_HEAD = """# NumPy's functions

<!-- Written by tests/numpy_page.py from the calls of tests/core/test_numpy_functions.py. -->

What each public function of `numpy`, `numpy.linalg` and `numpy.fft` does with a tensor that requires grad, and with a dual tensor. The
derivatives, backward and forward, are compared with finite differences. The test fails if a function is added to NumPy and not listed.
[en/numpy.md](en/numpy.md) shows programs.

"""


def outcomes() -> dict[str, str]:
    """What became of the derivative, for each function that this version of NumPy has."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: calls.check_reverse(name, calls.caller(name, arguments)) for name, arguments in calls.ROWS.items()}


def listed(names: list[str]) -> str:
    """The names, those of each namespace in a paragraph."""
    ufuncs = [name for name in names if "." in name and isinstance(getattr(np, name.split(".")[0]), np.ufunc)]
    groups = {
        "numpy": [n for n in names if "." not in n], "numpy.linalg": [n for n in names if n.startswith("linalg.")],
        "numpy.fft": [n for n in names if n.startswith("fft.")], "numpy.emath": [n for n in names if n.startswith("emath.")],
        "numpy.lib": [n for n in names if n.startswith("lib.")], "Methods of ufuncs": ufuncs,
    }  # fmt: skip
    return "".join(f"{_wrapped(f'{title}: {_in_code(sorted(found))}.')}\n\n" for title, found in groups.items() if found)


def _in_code(names: list[str]) -> str:
    return ", ".join([f"`{name}`" for name in names])


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(text, 132, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def page() -> str:
    found = outcomes()
    differentiated = [name for name, what in found.items() if what in ("differentiated", "constant")]
    constant = [name for name, what in found.items() if what == "no number"]
    text = f"{_HEAD}## {len(differentiated)} differentiate\n\n{listed(differentiated)}"
    text += f"## {len(constant)} have nothing to differentiate\n\nTheir results are integers, conditions, text, or new memory.\n\n"
    text += listed(constant)
    refused = [name for name, what in found.items() if what in ("refused", "warned")]
    text += f"## {len(refused)} refuse\n\nThey raise an error that names the function, or warn at the line. What the error says:\n\n"
    reasons: dict[str | None, list[str]] = {}
    for name in refused:
        reasons.setdefault(hint_of("out" if name.endswith((".at", ".__call__")) else name), []).append(name)
    lines = [f"- {_in_code(names)}. {why}" for why, names in reasons.items()]
    return text + "".join([f"{_wrapped(line, '  ')}\n" for line in lines])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"written: {PAGE}")
