"""`import autograd` after install_hips(): HIPS autograd's names mean wengert.hips. `python -m wengert run --hips` does this."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType

NAME = "autograd"


def install_hips() -> None:
    """Make `import autograd`, and imports of its submodules, import wengert.hips, in this process.

    Raises RuntimeError if HIPS autograd itself is imported already. A second call does nothing.
    """
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    if NAME in sys.modules:
        raise RuntimeError(
            "HIPS autograd is imported in this process already, so that wengert cannot take its name. "
            "Hint: run the program with `python -m wengert run --hips`."
        )
    sys.meta_path.insert(0, _Finder())


class _Finder:
    """Meta path finder for autograd and its submodules."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        if name != NAME and not name.startswith(NAME + "."):
            return None
        return ModuleSpec(name, _Loader(), is_package=True)


class _Loader(Loader):
    """Loader that puts the module of wengert.hips in the place of the new one."""

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        sys.modules[name] = import_module("wengert.hips" + name.removeprefix(NAME))
