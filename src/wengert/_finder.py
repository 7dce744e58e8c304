"""Import finders for wengert.core: its modules come from one compiled library, or from their Python sources.

`install()` puts a finder for the modules of wengert.core in front of sys.meta_path. By default it finds the compiled
modules in the library wengert.core._compiled, which holds all of them. If WENGERT_PURE=1, it finds their sources, which
are beside the library. If nothing was compiled, no finder is needed: Python's own finders find the sources, and a warning says so.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.machinery import ExtensionFileLoader, ModuleSpec

_PREFIX = "wengert.core."


class _LibraryFinder:
    """Meta path finder for modules that are compiled into one library, which has an init function for each."""

    def __init__(self, path: str, modules: frozenset[str]) -> None:
        self.path = path
        self.modules = modules  # full names

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name not in self.modules:
            return None
        spec = ModuleSpec(name, ExtensionFileLoader(name, self.path), origin=self.path)
        spec.has_location = True
        return spec


class _SourceFinder:
    """Meta path finder for the sources of wengert.core. It has no state, so the class itself is the finder."""

    # The folder beside this file, not one on the package's __path__, which in an editable install names no real folder.
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "core")

    @classmethod
    def find_spec(cls, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if not name.startswith(_PREFIX):
            return None
        source = os.path.join(cls.folder, name[len(_PREFIX) :] + ".py")
        if not os.path.isfile(source):
            return None
        # Imported here because the import takes 4 ms and most runs do not need it.
        from importlib.util import spec_from_file_location

        return spec_from_file_location(name, source)


def requested() -> bool:
    """Whether WENGERT_PURE asks for the Python sources: it is set to anything but "" and "0"."""
    return os.environ.get("WENGERT_PURE", "") not in ("", "0")


def install() -> None:
    """Make imports of wengert.core modules use the compiled library, or their sources if WENGERT_PURE asks for them."""
    if any(finder is _SourceFinder or type(finder) is _LibraryFinder for finder in sys.meta_path):
        return
    if requested():
        sys.meta_path.insert(0, _SourceFinder)
        return
    try:
        library = import_module("wengert.core._compiled")
    except ModuleNotFoundError:
        _warn_uncompiled()
        return
    names = frozenset([_PREFIX + name for name in library.modules.split()])
    sys.meta_path.insert(0, _LibraryFinder(str(library.__file__), names))


def _warn_uncompiled() -> None:
    """Say once that nothing was compiled, why, and how to get the fast core."""
    import warnings

    try:
        why = import_module("wengert._build_facts").WHY_PURE
    except ModuleNotFoundError:
        why = "run from the source tree, not built"
    warnings.warn(
        f"wengert runs as plain Python, several times slower than compiled ({why}). Hint: with a C compiler and the headers of "
        "Python, pip install --force-reinstall --no-binary wengert wengert compiles it; WENGERT_PURE=1 silences this warning.",
        RuntimeWarning,
        stacklevel=3,
    )
