"""Expressions of traced rules (ops/fuse.py) as C: numbers, and functions of the vector maths of vm.h."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any


def literal(x: Any, dtype: Any) -> str:
    """Return a number as a C constant of a dtype."""
    if dtype is None or dtype.kind != "f":
        return str(int(x)) if abs(int(x)) < 1 << 31 else f"INT64_C({int(x)})"
    value = float(dtype.type(x))
    if math.isnan(value):
        return "NAN" if dtype.itemsize == 4 else "(double)NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    text = repr(value) + ("f" if dtype.itemsize == 4 else "")
    return f"({text})" if text.startswith("-") else text


def in_c(text: str, dtype: Any) -> str:
    """Return the text of an expression of ops/fuse.py as C of a dtype."""
    if dtype is None or dtype.kind != "f":
        return text
    bits = 8 * dtype.itemsize
    text = re.sub(r"\bC\(([^()]+)\)", lambda m: _constant(m[1], dtype), text)
    text = re.sub(r"\bLIBM\((\w+)\)", lambda m: m[1] + ("f" if bits == 32 else ""), text)
    text = re.sub(r"\bVM\((\w+)\)", rf"vm_\1_f{bits}", text)
    text = re.sub(r"\b(larger_|smaller_)\(", rf"\1f{bits}(", text)
    text = text.replace("LIMIT_TRIG", "VM_TRIG_LIMITF" if bits == 32 else "VM_TRIG_LIMIT")
    return re.sub(r"\breal\b", "float" if bits == 32 else "double", text)


def _constant(text: str, dtype: Any) -> str:
    value = {"NAN": math.nan, "INFINITY": math.inf, "-INFINITY": -math.inf}.get(text)
    return literal(float(text) if value is None else value, dtype)


# -- the functions of vm.h ---------------------------------------------------------------------------------------------

_DEFINED = re.compile(r"#define (\w+)|WK_INLINE [\w ]+?(\w+)\(|typedef \w+ (\w+)")


@cache
def _chunks() -> list[tuple[set[str], str]]:
    """Return the definitions of vm.h and vm_polynomials.h, in order, each with the names that it defines."""
    folder = files("wengert") / "kernels"
    text = (folder / "vm.h").read_text(encoding="utf-8")
    text = text.replace('#include "vm_polynomials.h"', (folder / "vm_polynomials.h").read_text(encoding="utf-8"))
    lines = text.split("#include <string.h>\n", 1)[1].rsplit("#endif", 1)[0].splitlines()
    found: list[tuple[set[str], str]] = []
    part: list[str] = []
    depth = 0
    for line in [x for x in lines if not x.startswith("/*") and not x.startswith(" *")]:
        depth += line.startswith("#if") - line.startswith("#endif")
        if line.strip():
            part.append(line)
        ends = line.endswith("}") and (line == "}" or line.startswith("WK_INLINE"))
        if part and depth == 0 and (ends or line.startswith("#")):
            text = "\n".join(part)
            found.append(({x for groups in _DEFINED.findall(text) for x in groups if x}, text))
            part = []
    return found


_EXTREMA = """WK_INLINE {0} larger_f{1}({0} a, {0} b) {{ const {0} larger = a > b ? a : b; return a != a ? a : larger; }}
WK_INLINE {0} smaller_f{1}({0} a, {0} b) {{ const {0} smaller = a < b ? a : b; return a != a ? a : smaller; }}"""


_HEAD = """#include <math.h>
#include <stdint.h>
#include <string.h>
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif"""


def prelude(text: str, head: str = _HEAD, own: Sequence[tuple[set[str], str]] = ()) -> str:
    """Return `head`, and the functions of vm.h that a source calls, with what these call.

    own: definitions, each with the names that it defines, in place of those of vm.h."""
    replaced = {name for names, _ in own for name in names}
    chunks = [*own, *[chunk for chunk in _chunks() if not chunk[0] & replaced]]
    for real, bits in (("float", 32), ("double", 64)):
        chunks.append(({f"larger_f{bits}", f"smaller_f{bits}"}, _EXTREMA.format(real, bits)))
    needed = set(re.findall(r"\b(?:vm_|VM_|larger_|smaller_|WK_)\w+", text))
    kept: list[str] = []
    for names, chunk in reversed(chunks):
        if names & needed:
            kept.append(chunk)
            needed |= set(re.findall(r"\b(?:vm_|VM_|WK_)\w+", chunk))
    return "\n".join([head, *reversed(kept), ""])
