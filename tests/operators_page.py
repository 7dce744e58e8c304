"""Write docs/operators.md: `make generate`. With --check, only say whether the page is up to date.

The page comes from the registry (names, signatures, docstrings, forms), from the samples of the gradient tests (the order to
which a derivative is tested, real or complex), and from the known differences from torch.
"""

from __future__ import annotations

import inspect
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from op_samples.cases import CASES, is_public, tensors_in
from parity.op_db_known import KNOWN
from wengert.core.op import MISSING, public_name
from wengert.ops import load_all
from wengert.ops.registry import ALIASES, OPS, Operation

# Operations whose samples are random or complex. Tests in tests/explicit have numbers worked by hand.
BY_HAND = ("view_as_real", "_sample_dirichlet", "_standard_gamma")

PAGE = Path(__file__).parents[1] / "docs" / "operators.md"

_HEAD = """# Operators

`make generate` writes this page from the operations themselves: change their docstrings, not this page. Names, arguments and
defaults are torch's. If an operation differs from torch, its entry says so. [parity.md](parity.md) has the whole comparison.

How to read an entry: *tested to order 2* means that the gradient tests compare the derivative, and the derivative of the derivative,
with finite differences in float64, and also in complex128 if the entry says *complex*. Every rule is made of operations that have
rules themselves, so higher orders exist. *Method*, *in-place* and `out=` are the other forms. [derivatives.md](derivatives.md)
lists the derivatives at kinks, ties, zeros and infinities.

"""


def signature(op: Any) -> str:
    """Parameter list of an operation, as users write it."""
    if isinstance(op, Operation):
        texts = [_parameter(public_name(n), op.input_defaults.get(n, MISSING)) for n in op.input_names]
        if op.variadic >= 0:
            texts[op.variadic] = op.input_names[op.variadic]
        for i, name in enumerate(op.param_names):
            if i == op.positional_params:
                texts.append("*")
            texts.append(_parameter(name, op.defaults[name]))
        return ", ".join(texts)
    parameters = list(inspect.signature(op.fn).parameters.values())[op.kind == "composite" :]
    texts = []
    for p in parameters:
        if p.name.startswith("_"):
            continue
        if p.kind is p.KEYWORD_ONLY and not any(t.startswith("*") for t in texts):
            texts.append("*")
        stars = "*" * (p.kind is p.VAR_POSITIONAL) + "**" * (p.kind is p.VAR_KEYWORD)
        texts.append(stars + _parameter(p.name, MISSING if p.default is p.empty else p.default))
    return ", ".join(texts)


def _parameter(name: str, default: Any) -> str:
    return name if default is MISSING else f"{name}={default!r}" if not callable(default) else f"{name}=..."


def names(op: Any) -> list[str]:
    """Names of an operation: each function, or the method if it is only a method."""
    found = []
    for namespace in op.namespaces:
        prefix = f"{namespace}_" if namespace else ""
        found.append(f"{namespace}.{op.name.removeprefix(prefix)}" if namespace else op.name.removeprefix(prefix))
    return found or [f"Tensor.{method_name(op)}"]


def method_name(op: Any) -> str:
    return op.method if isinstance(op.method, str) else op.name


def family(op: Any) -> str:
    function = op.forward if isinstance(op, Operation) else op.fn
    return function.__globals__["__name__"] if hasattr(function, "__globals__") else "wengert.ops.create"  # FloatTensor


def tested() -> dict[str, str]:
    """Return, for each operation with a derivative, the numbers in which it is tested: "real" or "real and complex"."""
    found: dict[str, str] = {}
    for case in CASES:
        if case.name in found and found[case.name] != "real":
            continue
        if case.op.kind in ("nondifferentiable", "creation") or not any(d.grad for d in case.data()):
            continue
        try:
            inputs = case.wrapped(case.values("float64"), requires_grad=True)
            if any(out.requires_grad for out in tensors_in(case.call(inputs))):
                found[case.name] = "real and complex" if case.takes_complex else "real"
        except Exception:
            continue  # a sample of an error
    return found


def differences() -> dict[str, dict[str, None]]:
    """Return, for each public name, the ways in which it differs from torch."""
    found: dict[str, dict[str, None]] = {}
    public = {name for op in OPS.values() for name in names(op)}
    for entry, aspect in KNOWN:
        name = entry
        while name not in public and "." in name:
            name = name.rsplit(".", 1)[0]
        found.setdefault(name, {})[f"{aspect}: {KNOWN[entry, aspect].reason}"] = None
    return found


def entry(op: Any, orders: dict[str, str], known: dict[str, dict[str, None]]) -> str:
    """Paragraphs of an operation."""
    called = names(op)
    others = sorted(alias for alias, target in ALIASES.items() if target is op)
    text = f"#### {called[0]}\n\n```python\n{called[0]}({signature(op)})\n```\n\n{_plain_docstring(op.doc)}\n\n"
    facts = []
    if len(called) > 1 or others:
        facts.append("also " + ", ".join(f"`{n}`" for n in [*called[1:], *others]))
    if op.name in orders:
        facts.append(f"derivative tested to order 2, {orders[op.name]}")
    elif op.name in BY_HAND:
        facts.append("derivative tested on numbers worked by hand")
    elif op.kind in ("nondifferentiable", "creation"):
        facts.append("no derivative")
    forms = [f"method `{method_name(op)}`"] if op.method and op.namespaces else []
    if op.inplace:
        forms.append(f"in-place `{op.inplace if isinstance(op.inplace, str) else op.name + '_'}`")
    if isinstance(op, Operation) and op.kind != "view" and op.namespaces:
        forms.append("`out=`")
    facts += [", ".join(forms)] if forms else []
    if facts:
        text += f"*{'; '.join(facts)}.*\n\n"
    reasons = {reason: None for name in called for reason in known.get(name, ())}
    return text + "".join(f"Differs from torch ({reason}).\n\n" for reason in reasons)


def _plain_docstring(doc: str | None) -> str:
    """Return a docstring as Markdown, with its example as code."""
    paragraphs = inspect.cleandoc(doc or "").split("\n\n")
    return "\n\n".join(f"```python\n{p}\n```" if p.startswith(">>>") else p for p in paragraphs)


def page() -> str:
    load_all()
    orders, known = tested(), differences()
    families: dict[str, list[Any]] = {}
    for op in OPS.values():
        if is_public(op):
            families.setdefault(family(op), []).append(op)
    contents, body = "", ""
    for module, ops in sorted(families.items()):
        title = module.rsplit(".", 1)[-1]
        summary = (import_module(module).__doc__ or "").strip().splitlines()[0]
        contents += f"- [{title}](#{title}): {summary}\n"
        body += f"## {title}\n\n{summary}\n\n" + "".join(entry(op, orders, known) for op in sorted(ops, key=lambda op: names(op)[0]))
    count = sum(map(len, families.values()))
    return f"{_HEAD}{count} operations, {len(orders)} of them with a derivative, in {len(families)} families:\n\n{contents}\n{body}".rstrip() + "\n"


def main(arguments: list[str]) -> int:
    text = page()
    if arguments == ["--check"]:
        if PAGE.read_text(encoding="utf-8") != text:
            print("docs/operators.md is out of date. Write it with: make generate")
            return 1
        return 0
    PAGE.write_text(text, encoding="utf-8")
    print(f"written: {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
