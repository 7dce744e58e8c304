"""Runs the compiled modules from their Python sources where WENGERT_PURE=1 asks for it.

A compiled module and its source lie side by side, and Python prefers the compiled one. `install()` puts a finder in
front that knows only the modules of wengert.core and loads their sources. Without WENGERT_PURE, and where nothing was
compiled, it does nothing: Python's own finders do the right thing.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

_PREFIX = "wengert.core."
# The folder of this file, not the package's __path__: in an editable install that one names no real folder.
_CORE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "core")


class _SourceFinder:
    """A meta path finder for the sources of wengert.core; the class itself serves, as it has no state."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if not name.startswith(_PREFIX):
            return None
        source = os.path.join(_CORE, name[len(_PREFIX) :] + ".py")
        if not os.path.isfile(source):
            return None
        # Here, because importing it costs 4 ms, and most runs never come here.
        from importlib.util import spec_from_file_location

        return spec_from_file_location(name, source)


def requested() -> bool:
    """Whether WENGERT_PURE asks for the Python sources: it is set, and neither empty nor 0."""
    return os.environ.get("WENGERT_PURE", "") not in ("", "0")


def install() -> None:
    """Makes later imports of wengert.core modules load their sources, if WENGERT_PURE asks for that."""
    if requested() and _SourceFinder not in sys.meta_path:
        sys.meta_path.insert(0, _SourceFinder)
