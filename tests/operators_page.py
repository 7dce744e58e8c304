"""Write the pages of docs/operators: `make generate`. With --check, only say whether they are up to date.

The pages, one for each subject and README.md with their contents, come from the registry (names, signatures, docstrings, forms), from
the samples of the gradient tests (the order to which a derivative is tested, real or complex), and from the known differences from torch.
"""

from __future__ import annotations

import inspect
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from op_samples.cases import CASES, is_public, tensors_in
from parity.op_db_known import KNOWN
from wengert.core.op import MISSING, public_name
from wengert.core.watched import as_written
from wengert.ops import load_all
from wengert.ops.registry import ALIASES, OPS, Operation

# Operations whose samples are random or complex. Tests in tests/explicit have numbers worked by hand.
BY_HAND = ("view_as_real", "_sample_dirichlet", "_standard_gamma")

FOLDER = Path(__file__).parents[1] / "docs" / "operators"

# The pages: name, title, and the modules of wengert.ops that they show. A module that no page names fails a test.
SUBJECTS: dict[str, tuple[str, str]] = {
    "elementwise": (
        "Elementwise functions",
        "pointwise arithmetic trigonometry piecewise binary choice compare logic complex",
    ),
    "special": ("Special functions", "special probability bessel beta polynomials"),
    "reductions": ("Reductions, scans and statistics", "reduce extrema moments statistics histograms scan running segments sorting masked"),
    "shapes": ("Shapes, views and joins", "shape expand strided join rearrange copies inplace_views storages queries"),
    "indexing": ("Indexing, reading and writing at places", "index gather masks scatter scatter_reduce index_reduce"),
    "creation": ("Creation and random numbers", "create random samples"),
    "linalg": (
        "Linear algebra",
        "linalg einsum factor decomposition eigen ldl least_squares low_rank matrix_functions distance",
    ),
    "fourier": ("Fourier transforms and signals", "fft short_time signal_windows"),
    "activations": ("Activations, softmax and losses", "activation stochastic_activation softmax loss margin_loss linear_loss ctc"),
    "layers": (
        "Layers of networks",
        "nn bags norm conv pool fractional_pool pad resize grid attention multi_head recurrent layer_functions native",
    ),
    "older": ("Functions of early torch", "older"),
}

_HEAD = """# Operators

`make generate` writes these pages from the operations themselves: change their docstrings, not the pages. Names, arguments and
defaults are torch's. If an operation differs from torch, its entry says so. [parity.md](../parity.md) has the whole comparison.

How to read an entry: *tested to order 2* means that the gradient tests compare the derivative, and the derivative of the derivative,
with finite differences in float64, and also in complex128 if the entry says *complex*. Every rule is made of operations that have
rules themselves, so higher orders exist. *Method*, *in-place* and `out=` are the other forms. [derivatives.md](../derivatives.md)
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
    parameters = list(inspect.signature(as_written(op.fn), follow_wrapped=False).parameters.values())[op.kind == "composite" :]
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
    text = f"### {called[0]}\n\n```python\n{called[0]}({signature(op)})\n```\n\n{_plain_docstring(op.doc)}\n\n"
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


def pages() -> dict[str, str]:
    """Return the text of each page by the name of its file."""
    load_all()
    orders, known = tested(), differences()
    families: dict[str, list[Any]] = {}
    for op in OPS.values():
        if is_public(op):
            families.setdefault(family(op), []).append(op)
    texts, contents = {}, ""
    for name, (title, modules) in SUBJECTS.items():
        body = f"# {title}\n\n"
        contents += f"## [{title}]({name}.md)\n\n"
        for module in modules.split():
            ops = sorted(families.pop(f"wengert.ops.{module}"), key=lambda op: names(op)[0])
            summary = (import_module(f"wengert.ops.{module}").__doc__ or "").strip().splitlines()[0]
            heading = re.split(r"[:.] ", summary.rstrip("."))[0]
            body += f"## {heading}\n\n" + (f"{summary}\n\n" if heading != summary.rstrip(".") else "")
            body += "".join(entry(op, orders, known) for op in ops)
            contents += f"{heading}: {', '.join(f'`{names(op)[0]}`' for op in ops)}.\n\n"
        texts[f"{name}.md"] = body.rstrip() + "\n"
    assert not families, f"SUBJECTS names no page for {sorted(families)}"
    count = sum(map(is_public, OPS.values()))
    head = f"{_HEAD}{count} operations, {len(orders)} of them with a derivative:\n\n"
    return {"README.md": (head + contents).rstrip() + "\n", **texts}


def outdated() -> list[str]:
    """Names of the pages that differ from what the operations say, are missing, or are not written from here."""
    texts = pages()
    found = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    return sorted(name for name in texts.keys() | found.keys() if texts.get(name) != found.get(name))


def main(arguments: list[str]) -> int:
    if arguments == ["--check"]:
        if stale := outdated():
            print(f"out of date in docs/operators: {', '.join(stale)}. Write them with: make generate")
        return bool(stale)
    FOLDER.mkdir(exist_ok=True)
    for name in outdated():
        (FOLDER / name).unlink(missing_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    print(f"written: {FOLDER}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
