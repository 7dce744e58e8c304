"""The text of C: numbers, elements of memory, functions of the vector maths of kernels/vm.h."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from wengert.program.c_forms import Access, c_type
from wengert.program.form import Storage


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


class Body:
    """The text of a nest's function, and the storages that its pointers reach.

    Pointers are numbered as they appear, so nests that do the same to other memory have the same text."""

    def __init__(self, memory: Any) -> None:
        self.memory = memory
        self.lines: list[str] = []
        self.pointers: dict[Storage, tuple[int, int, Any]] = {}  # number, offset in bytes of the first access, dtype
        self.written: set[Storage] = set()
        self.helpers: dict[str, str] = {}
        self._n = 0

    def name(self) -> str:
        """Return a new name of a variable."""
        self._n += 1
        return f"t{self._n}"

    def element(self, x: Access, counters: Iterable[str], steps: Iterable[int] | None = None) -> str:
        """Return the element of an access, given the counters of its loops. steps: the strides in bytes, if not those of x."""
        number, first, dtype = self.pointers.setdefault(x.storage, (len(self.pointers), x.offset, x.dtype))
        size = x.dtype.itemsize
        terms = [_term(c, s // size) for c, s in zip(counters, x.strides if steps is None else steps, strict=True) if s]
        offset = (x.offset - first) // size
        if offset or not terms:
            terms.append(str(offset))
        pointer = f"p{number}" if dtype == x.dtype else f"(({c_type(x.dtype)} *)p{number})"
        return f"{pointer}[{' + '.join(terms)}]".replace("+ -", "- ")

    def loop(self, counter: str, n: int, indent: int) -> None:
        """Open a loop."""
        self.lines.append(f"{'    ' * indent}for (int {counter} = 0; {counter} < {n}; {counter}++) {{")

    def add(self, text: str, indent: int) -> None:
        """Add a line."""
        self.lines.append("    " * indent + text)

    def parameters(self) -> str:
        """Return the parameters of the function."""
        found = []
        for s, (number, _, dtype) in self.pointers.items():
            const = "" if s in self.written else "const "
            found.append(f"{const}{c_type(dtype)} *restrict p{number}")
        return ", ".join(found)


def _term(counter: str, step: int) -> str:
    return counter if step == 1 else f"{step} * {counter}"


def collapsed(shape: tuple[int, ...], accesses: Iterable[Access]) -> tuple[list[int], dict[Access, list[int]]]:
    """Return the sizes of loops and the strides of accesses along them, with loops joined where all accesses go on evenly."""
    accesses = list(accesses)
    sizes: list[int] = []
    strides: dict[Access, list[int]] = {x: [] for x in accesses}
    for d, n in enumerate(shape):
        if n == 1:
            continue
        if sizes and all(strides[x][-1] == x.strides[d] * n for x in accesses):
            sizes[-1] *= n
            for x in accesses:
                strides[x][-1] = x.strides[d]
        else:
            sizes.append(n)
            for x in accesses:
                strides[x].append(x.strides[d])
    return sizes, strides


def expression(body: Body, template: Any, operands: list[str], dtype: Any) -> str:
    """Return an expression of operands, which are atoms. Statements become a function of their own."""
    result = in_c(template.result, dtype)
    if not template.statements:
        return re.sub(r"\b[a-d]\b", lambda m: operands["abcd".index(m[0])], result)
    return f"{helper_of(body, template.statements, result, len(operands), dtype, dtype)}({', '.join(operands)})"


def helper_of(body: Body, statements: str, result: str, n: int, dtype: Any, out: Any) -> str:
    """Return the name of a function of n numbers."""
    real = c_type(dtype)
    text = f"({', '.join([f'{real} {c}' for c in 'abcd'[:n]])}) {{ {in_c(statements, dtype)} return {result}; }}"
    name = f"f_{_digest(real + text)}"
    body.helpers[name] = f"static inline {'int' if out is int else real} {name}{text}"
    return name


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:8]


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
    return re.sub(r"\breal\b", c_type(dtype), text)


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


def prelude(text: str) -> str:
    """Return the includes, and the functions of vm.h that a source calls, with what these call."""
    chunks = [*_chunks()]
    for real, bits in (("float", 32), ("double", 64)):
        chunks.append(({f"larger_f{bits}", f"smaller_f{bits}"}, _EXTREMA.format(real, bits)))
    needed = set(re.findall(r"\b(?:vm_|VM_|larger_|smaller_|WK_)\w+", text))
    kept: list[str] = []
    for names, chunk in reversed(chunks):
        if names & needed:
            kept.append(chunk)
            needed |= set(re.findall(r"\b(?:vm_|VM_|WK_)\w+", chunk))
    return "\n".join([_HEAD, *reversed(kept), ""])
