"""Finds the modules of wengert.core: in the one library they are compiled into, or as their Python sources.

`install()` puts a finder in front that knows only modules of wengert.core. Ordinarily it takes those that are compiled
from the library wengert.core._compiled, which holds all of them. Where WENGERT_PURE=1 asks for the sources instead, it
loads those, which lie beside the library. Where nothing was compiled, Python's own finders do the right thing.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.machinery import ExtensionFileLoader, ModuleSpec

_PREFIX = "wengert.core."


class _LibraryFinder:
    """A meta path finder for modules that are compiled into one library: each has its init function there."""

    def __init__(self, path: str, modules: frozenset[str]) -> None:
        self.path = path
        self.modules = modules  # by their full names

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name not in self.modules:
            return None
        spec = ModuleSpec(name, ExtensionFileLoader(name, self.path), origin=self.path)
        spec.has_location = True
        return spec


class _SourceFinder:
    """A meta path finder for the sources of wengert.core; the class itself serves, as it has no state."""

    # Beside this file, not on the package's __path__: in an editable install that one names no real folder.
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "core")

    @classmethod
    def find_spec(cls, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if not name.startswith(_PREFIX):
            return None
        source = os.path.join(cls.folder, name[len(_PREFIX) :] + ".py")
        if not os.path.isfile(source):
            return None
        # Here, because importing it costs 4 ms, and most runs never come here.
        from importlib.util import spec_from_file_location

        return spec_from_file_location(name, source)


def requested() -> bool:
    """Whether WENGERT_PURE asks for the Python sources: it is set, and neither empty nor 0."""
    return os.environ.get("WENGERT_PURE", "") not in ("", "0")


def install() -> None:
    """Makes later imports of wengert.core modules take the library, or their sources if WENGERT_PURE asks for that."""
    if any(finder is _SourceFinder or type(finder) is _LibraryFinder for finder in sys.meta_path):
        return
    if requested():
        sys.meta_path.insert(0, _SourceFinder)
        return
    try:
        library = import_module("wengert.core._compiled")
    except ModuleNotFoundError:  # nothing was compiled
        return
    names = frozenset([_PREFIX + name for name in library.modules.split()])
    sys.meta_path.insert(0, _LibraryFinder(str(library.__file__), names))
