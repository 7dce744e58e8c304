"""Pages of classes and functions, written from their signatures and docstrings while the site is built: docs/api/*.md."""

from __future__ import annotations

import inspect
import re
import types
from importlib import import_module
from pathlib import Path
from typing import Any

API = Path(__file__).parents[1] / "api"

# Page: title, and the modules whose public names it shows.
PAGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "autograd": ("Autograd", ("autograd", "autograd.graph", "autograd.functional", "autograd.forward_ad", "autograd.profiler")),
    "func": ("Function transforms", ("func",)),
    "nn": ("Modules", ("nn",)),
    "nn-tools": (
        "Initial values and tools for modules",
        ("nn.init", "nn.utils", "nn.utils.rnn", "nn.utils.parametrize", "nn.parameter"),
    ),
    "optim": ("Optimizers and schedules", ("optim", "optim.lr_scheduler", "optim.swa_utils")),
    "data": ("Data sets and loaders", ("utils.data",)),
    "distributions": ("Distributions", ("distributions", "distributions.transforms", "distributions.constraints")),
    "amp": ("Automatic mixed precision", ("amp",)),
    "utils": ("Utilities", ("utils.checkpoint", "utils.hooks", "overrides", "random", "testing", "hub", "multiprocessing")),
    "errors": ("Errors", ("errors",)),
}


def escaped(text: str) -> str:
    """Text in which Markdown sees no emphasis, links or HTML outside of code."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([*_<\[\]#|$])", r"\\\1", part) for part in parts)


def markdown(doc: str | None) -> str:
    """A docstring as Markdown: examples and indented paragraphs are code."""
    paragraphs = inspect.cleandoc(doc or "").split("\n\n")
    found = []
    for paragraph in filter(None, paragraphs):
        if paragraph.startswith(">>>"):
            found.append(f"```pycon\n{paragraph}\n```")
        elif all(line.startswith("    ") for line in paragraph.splitlines()):
            found.append(f"```python\n{inspect.cleandoc(paragraph)}\n```")
        else:
            found.append(escaped(paragraph))
    return "\n\n".join(found)


def public_members(module: types.ModuleType) -> list[tuple[str, Any]]:
    """Classes and functions that are public names of a module and at home in it or below it."""
    found = []
    for name in sorted(dir(module)):
        x = getattr(module, name, None)
        if name.startswith("_") or isinstance(x, types.ModuleType) or not callable(x):
            continue
        if str(getattr(x, "__module__", "")).startswith("wengert"):
            found.append((name, x))
    return found


class _Annotation(str):
    """An annotation that is shown without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def _shown(annotation: Any) -> Any:
    text = getattr(annotation, "__forward_arg__", annotation)
    return _Annotation(text) if isinstance(text, str) else annotation


def signature(x: Any) -> str:
    try:
        found = inspect.signature(x)
    except (TypeError, ValueError):
        return "(...)"
    parameters = [p.replace(annotation=_shown(p.annotation)) for p in found.parameters.values()]
    text = str(found.replace(parameters=parameters, return_annotation=_shown(found.return_annotation)))
    return re.sub(r"<([\w.]+) object at 0x\w+>|<(function|class) '?([\w.<>]+)'?[^>]*>", lambda m: m[1] or m[3], text)


def entry(module: str, name: str, x: Any) -> str:
    text = f"### {name}\n\n```python\n{module}.{name}{signature(x)}\n```\n\n{markdown(x.__doc__ if own_doc(x) else None)}\n\n"
    if isinstance(x, type):
        for method, value in sorted(vars(x).items()):
            function = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
            if method.startswith("_") or not (callable(function) or isinstance(value, property)):
                continue
            doc = markdown(getattr(value, "__doc__", None)).replace("\n", "\n  ")
            shown = "" if isinstance(value, property) else signature(function)
            text += f"- `{method}{shown}`" + (f": {doc}" if doc else "") + "\n"
        text += "\n"
    return text


def own_doc(x: Any) -> bool:
    """Whether a docstring is the object's own: a class without one shows that of its base, or of type."""
    return not isinstance(x, type) or bool(vars(x).get("__doc__"))


def page(title: str, modules: tuple[str, ...]) -> str:
    text = f"# {title}\n\n"
    for path in modules:
        module = import_module(f"wengert.{path}")
        text += f"## torch.{path}\n\n{markdown(module.__doc__)}\n\n"
        text += "".join(entry(f"torch.{path}", name, x) for name, x in public_members(module))
    return text


def write(app: Any) -> None:
    API.mkdir(exist_ok=True)
    for name, (title, modules) in PAGES.items():
        (API / f"{name}.md").write_text(page(title, modules), encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True}
