"""Compiled kernels on raw NumPy arrays, and what stands in for them where nothing is compiled.

`native` is the extension with all of them, or None: nothing compiled it, or WENGERT_PURE=1 switches it off. Everything
works without it, through NumPy.
"""

from __future__ import annotations

from importlib import import_module

from wengert import _finder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _find_native() -> Any:
    if _finder.requested():
        return None
    try:
        return import_module("wengert.kernels.native")
    except ModuleNotFoundError:
        return None


native: Any = _find_native()


def _decline(*_: Any) -> Any:
    return None


def compiled(name: str) -> Any:
    """The compiled function of this name; where nothing is compiled, one that takes nothing: it returns None."""
    return getattr(native, name, _decline)


def find_kernel(role: str, defaults: bool) -> tuple[int, tuple[str, ...]] | None:
    """The kernel for an operation's forward ("tanh") or for its derivative in an input ("tanh.x"), and its operands' names.

    defaults: whether the call leaves all parameters at their defaults; some kernels are for that alone. None: no kernel.
    """
    if native is None:
        return None
    found = native.role(role)
    if found is None or (found[2] and not defaults):
        return None
    return found[0], tuple(found[1].split())
