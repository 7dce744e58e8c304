"""Examples and curves for the pages of operators, made while the site is built.

An example is the first small sample of the operation's gradient tests, with its values rounded to two digits: the code, and what
wengert prints. A curve shows a function of one number and its derivative.
"""

from __future__ import annotations

import contextlib
import io
import re
import warnings
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import operators_page
import wengert
from op_samples.cases import CASES, Case, flatten
from wengert.core.tensor import TensorBase
from wengert.ops.registry import OPS

LARGEST = 12  # elements of an input that an example shows
LONGEST = 14  # lines of a result that an example shows
LETTERS = "xyzwabcdefgh"


# -- examples -----------------------------------------------------------------------------------------------------------


@cache
def _cases() -> dict[str, list[Case]]:
    found: dict[str, list[Case]] = defaultdict(list)
    for case in CASES:
        found[case.name].append(case)
    return found


@cache
def _written() -> dict[str, str]:
    """The lines of examples.txt, by the name of the operation."""
    lines = (Path(__file__).parent / "examples.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split(" | ", 1) for line in lines if line and not line.startswith("#"))


def example(op: Any) -> str | None:
    """Code that calls an operation, with what it prints, or None if there is no line for it and no small sample."""
    if op.name in _written():
        return _written_example(_written()[op.name])
    for case in sorted(_cases()[op.name], key=_preference):
        if text := _example(case):
            return text
    return None


def _written_example(line: str) -> str:
    """Run a line of examples.txt. Raises the error of the line."""
    names: dict[str, Any] = {"torch": wengert}
    *statements, last = line.split("; ")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for statement in statements:
            exec(statement, names)
        return "\n".join([*(f">>> {code}" for code in (*statements, last)), repr(eval(last, names))])


def _preference(case: Case) -> tuple[bool, int]:
    """Samples with few elements come first, but for those with none or one."""
    sizes = [x.size for x in flatten(case.values(np.float64)) if isinstance(x, np.ndarray)]
    return (not sizes or max(sizes) < 2 or min(sizes) == 0, sum(sizes))


def _example(case: Case) -> str | None:
    values, lines, given = case.values(np.float64), [], []
    arrays = [x for x in flatten(values) if isinstance(x, np.ndarray)]
    if any(x.size > LARGEST for x in arrays) or case.name.startswith("_"):
        return None
    letters = iter(LETTERS)

    def shown(x: Any, spec: Any) -> str:
        if isinstance(x, list):
            return f"[{', '.join(shown(y, s) for y, s in zip(x, spec, strict=True))}]"
        if not isinstance(x, np.ndarray):
            return repr(x)
        letter = next(letters)
        wants = x.dtype.kind == "f" and getattr(spec, "grad", False)
        data = np.round(x, 2).tolist() if x.dtype.kind == "f" else x.tolist()
        kind = "" if x.dtype.kind != "f" or x.size else ", dtype=torch.float32"
        lines.append(f"{letter} = torch.tensor({data}{kind}{', requires_grad=True' if wants else ''})")
        if wants:
            given.append(letter)
        return letter

    inputs = [shown(x, spec) for x, spec in zip(values, case.sample.inputs, strict=True)]
    params = [f"{name}={_literal(value)}" for name, value in case.sample.params.items()]
    called = operators_page.names(case.op)[0]
    call = ", ".join([*inputs, *params])
    if called.startswith("Tensor."):
        if not inputs or inputs[0] not in LETTERS:
            return None
        call = f"{inputs[0]}.{called.removeprefix('Tensor.')}({', '.join([*inputs[1:], *params])})"
    else:
        call = f"torch.{called}({call})"
    if case.is_random:
        lines.append("_ = torch.manual_seed(0)")
    return _run(lines, "result" if len(arrays) > 1 else "y", call, given)


def _literal(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"torch.tensor({value.tolist()})"
    text = repr(value)
    return text if re.fullmatch(r"[\w\s.,()\[\]'+-]*", text) else f"<{text}>"  # what is no literal fails to compile


def _run(lines: list[str], name: str, call: str, given: list[str]) -> str | None:
    """Run the lines and the call, and return them with the result, under this name, and the gradients of the inputs given."""
    names: dict[str, Any] = {"torch": wengert, "inf": float("inf"), "nan": float("nan")}
    shown = []
    with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            for line in (*lines, f"{name} = {call}"):
                exec(line, names)
                shown.append(f">>> {line}")
            result = names[name]
            printed = repr(result)
            if result is None or len(printed.splitlines()) > LONGEST or "nan" in printed:
                return None
            shown += [f">>> {name}", printed]
            differentiable = isinstance(result, TensorBase) and result.requires_grad
            if differentiable and given:
                total = f"{name}.sum()" + (".real" if result.is_complex() else "")
                wanted = given[0] if len(given) == 1 else f"({', '.join(given)}), allow_unused=True"
                code = f"torch.autograd.grad({total}, {wanted})"
                shown += [f">>> {code}", repr(eval(code, names))]
        except Exception:
            return None
    return "\n".join(shown)


# -- curves ------------------------------------------------------------------------------------------------------------

WIDTH, HEIGHT, MARGIN = 360, 200, 26


def curve(op: Any) -> str | None:
    """A drawing of a function of one number and of its derivative, as SVG, or None for other operations."""
    low, high = (float(np.clip(bound, -4, 4)) for bound in getattr(op, "domain", None) or (-3.0, 3.0))
    if op.kind == "creation" or not op.namespaces or operators_page.names(op)[0].endswith("_"):
        return None
    x = np.linspace(low, high, 401)
    tensor = wengert.from_numpy(x[None]).requires_grad_()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            y, alone = op.function(tensor), op.function(tensor[:, 100:103])
            if not _is_elementwise(tensor, y, alone):
                return None
            slope = wengert.autograd.grad(y.sum(), tensor)[0].numpy() if y.requires_grad else None
        except Exception:  # of an operation that takes other arguments
            return None
    return _svg(op.name, x, y.detach().numpy()[0], None if slope is None else slope[0])


def _is_elementwise(x: Any, y: Any, alone: Any) -> bool:
    """Whether y = f(x) belongs to a function of one number, which is not the identity. alone: f of three elements."""
    if not isinstance(y, TensorBase) or y.dtype != x.dtype or y.shape != x.shape or y is x:
        return False
    drawn = y.detach().numpy()
    part = alone.detach().numpy()
    changes = not np.array_equal(drawn, x.detach().numpy())
    return changes and part.shape == (1, 3) and np.allclose(drawn[:, 100:103], part, equal_nan=True)


def _svg(name: str, x: Any, y: Any, slope: Any) -> str:
    drawn = [values for values in (y, slope) if values is not None]
    finite = np.concatenate([values[np.isfinite(values)] for values in drawn])
    bottom, top = np.quantile(finite, [0.02, 0.98]) if finite.size else (0.0, 1.0)
    bottom, top = min(bottom, 0.0), max(top, 0.0)
    room = 0.08 * ((top - bottom) or 1.0)
    bottom, top = bottom - room, top + room

    def across(value: float) -> float:
        return MARGIN + (value - x[0]) / (x[-1] - x[0]) * (WIDTH - 2 * MARGIN)

    def down(value: float) -> float:
        return HEIGHT - MARGIN - (value - bottom) / (top - bottom) * (HEIGHT - 2 * MARGIN)

    def path(values: Any) -> str:
        steps, pen = [], "M"
        for a, b in zip(x, values, strict=True):
            if not np.isfinite(b) or not bottom <= b <= top:
                pen = "M"
                continue
            steps.append(f"{pen}{across(a):.1f} {down(b):.1f}")
            pen = "L"
        return "".join(steps)

    zero = across(0.0) if x[0] <= 0 <= x[-1] else MARGIN
    parts = [
        f'<path class="axis" d="M{MARGIN} {down(0.0):.1f}H{WIDTH - MARGIN}M{zero:.1f} {MARGIN}V{HEIGHT - MARGIN}"/>',
        *[f'<text x="{across(value):.0f}" y="{HEIGHT - 8}">{value:.3g}</text>' for value in (x[0], x[-1])],
        *[f'<text x="4" y="{down(value):.0f}" class="left">{value:.2g}</text>' for value in (bottom + room, top - room)],
        f'<path class="value" d="{path(y)}"/>',
    ]
    label = name
    if slope is not None:
        parts.append(f'<path class="slope" d="{path(slope)}"/>')
        label += "; dashed: its derivative"
    parts.append(f'<text x="{WIDTH - MARGIN}" y="14" class="right">{label}</text>')
    opening = f'<svg class="curve" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">'
    return f"{opening}<title>{label}</title>{''.join(parts)}</svg>"


# -- pages -------------------------------------------------------------------------------------------------------------


def add_to_page(app: Any, docname: str, source: list[str]) -> None:
    """Add a curve and an example to each entry of a page of operators."""
    if not docname.startswith("operators/") or docname.endswith("README"):
        return
    ops = {operators_page.names(op)[0]: op for op in OPS.values() if operators_page.is_public(op)}
    entries = re.split(r"^(?=### )", source[0], flags=re.MULTILINE)
    for number, entry in enumerate(entries):
        op = ops.get(entry.partition("\n")[0].removeprefix("### "))
        if op is None:
            continue
        drawing, code = curve(op), example(op)
        section, rest = re.split(r"^(?=## )|\Z", entry, maxsplit=1, flags=re.MULTILINE) if "\n## " in entry else (entry, "")
        section = section.rstrip() + "\n\n"
        section += f"```pycon\n{code}\n```\n\n" if code else ""
        section += f"```{{raw}} html\n{drawing}\n```\n\n" if drawing else ""
        entries[number] = section + rest
    source[0] = "".join(entries)


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", add_to_page)
    return {"parallel_read_safe": True}
