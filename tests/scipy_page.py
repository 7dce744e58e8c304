"""Writes docs/scipy-functions.md: what each function of wengert.scipy does with a tensor that requires grad.

    PYTHONPATH=src:tests python -m scipy_page

The tests of tests/scipy/ hold the submodules to what they register here. tests/documents/test_scipy_page.py holds the page to it.
"""

from __future__ import annotations

import textwrap
from importlib import import_module
from pathlib import Path

import wengert.scipy
from wengert.scipy._frame import SUBMODULES, Submodule

PAGE = Path(__file__).parents[1] / "docs" / "scipy-functions.md"

_HEAD = """# SciPy's functions

<!-- Written by tests/scipy_page.py from what the submodules of wengert.scipy register. -->

What each public function of SciPy does with a tensor that requires grad, and with a dual tensor, when it is called from
`wengert.scipy`: `import wengert.scipy.special as special` in place of `import scipy.special`. The values and the derivatives to second
order, backward and forward, are compared with SciPy and its finite differences. Without a tensor among its arguments, each
function is SciPy's own. With tensors that are not differentiated, functions that refuse run too.

"""


def submodules() -> list[Submodule]:
    """The submodules, in alphabetical order."""
    for name in dir(wengert.scipy):
        if not name.startswith("_"):
            import_module(f"wengert.scipy.{name}")
    return [SUBMODULES[name] for name in sorted(SUBMODULES)]


def refusing(module: Submodule) -> list[str]:
    """The public functions of a submodule of SciPy that have neither an implementation here nor a constant result."""
    known = {*module.functions, *[name for names in module.constants.values() for name in names]}
    functions = [n for n in module.scipy.__all__ if callable(f := getattr(module.scipy, n)) and not isinstance(f, type)]
    # An object of SciPy, such as a distribution, may be defined here instead.
    return sorted({name for name in functions if name not in known and not name.startswith("test")} - set(module.members))


def page() -> str:
    modules = submodules()
    rows = "".join(
        f"| `{m.name}` | {len(m.functions)} | {sum(map(len, m.constants.values()))} | {len(refusing(m))} |\n" for m in modules
    )
    text = f"{_HEAD}| submodule | differentiate | have no derivative | refuse |\n|---|---|---|---|\n{rows}\n"
    for module in modules:
        text += f"## scipy.{module.name}\n\n"
        text += _listed(f"{len(module.functions)} differentiate", module.functions) + "\n"
        if module.constants:
            text += "".join([_listed(f"No derivative. {why}", names) for why, names in module.constants.items()]) + "\n"
        hinted = [name for names in module.refused.values() for name in names]
        text += "".join([_listed(f"Refuse. {hint}", names) for hint, names in module.refused.items()])
        others = [name for name in refusing(module) if name not in hinted]
        text += (_listed("Refuse", others) if others else "") + "\n"
    return text.rstrip("\n") + "\n"


def _listed(title: str, names: object) -> str:
    text = f"- {title.removesuffix('.')}: {', '.join([f'`{name}`' for name in sorted(names)])}."  # type: ignore[call-overload]
    return textwrap.fill(text, 132, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"written: {PAGE}")
