"""Compiled kernels on raw NumPy arrays, and their stand-ins for installations without a compiler.

`native` is the extension module with all kernels. It is None if it was not compiled or if WENGERT_PURE=1 is set. Then every
operation runs through NumPy.
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
    """Return the compiled function of this name.

    Without compiled kernels the function returned answers None to every call."""
    return getattr(native, name, _decline)


def find_kernel(role: str, defaults: bool) -> tuple[int, tuple[str, ...]] | None:
    """Return (kernel number, names of its operands) for a forward ("tanh") or a derivative in an input ("tanh.x"), or None.

    defaults: whether the call leaves all parameters at their defaults. Some kernels exist for such calls only.
    """
    if native is None:
        return None
    found = native.role(role)
    if found is None or (found[2] and not defaults):
        return None
    return found[0], tuple(found[1].split())


def is_from_signal(error: BaseException) -> bool:
    """Whether an error may come from the handler of a signal, so that a write that it ended has changed some elements."""
    return not isinstance(error, Exception) or (native is not None and native.ended_early())
