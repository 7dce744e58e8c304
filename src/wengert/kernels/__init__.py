"""Compiled kernels on raw NumPy arrays, and what stands in for them where nothing is compiled.

`native` is the extension with all of them, or None: nothing compiled it, or WENGERT_PURE=1 switches it off. Everything
works without it, through NumPy.
"""

from __future__ import annotations

from importlib import import_module

from wengert import _pure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _find_native() -> Any:
    if _pure.requested():
        return None
    try:
        return import_module("wengert.kernels.native")
    except ModuleNotFoundError:
        return None


native: Any = _find_native()
