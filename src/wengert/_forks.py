"""Forks: a child gets locks that are free, and no module that is half imported.

A fork copies the calling thread alone. A lock that another thread held would be held in the child for ever. So each module that has
locks makes new ones in the child, in a function with the decorator `in_child`. Python does so for its own locks, except for
those of modules that are being imported. So a fork waits until other threads have finished their imports of this package and of
the libraries that it imports late.
"""

from __future__ import annotations

import os
import sys
from _thread import RLock, get_ident
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from types import ModuleType

_LATE = ("wengert", "numpy", "scipy")  # packages with modules that are imported at their first use
# Libraries that only some functions need, and their names for people.
OPTIONAL = {
    "scipy": "SciPy", "opt_einsum": "opt_einsum", "ml_dtypes": "ml_dtypes", "mpi4py": "mpi4py and an MPI library",
    "dask": "Dask", "distributed": "Dask's distributed scheduler",
}  # fmt: skip
_EXTRAS = {"mpi4py": "mpi", "dask": "dask", "distributed": "dask"}  # of the package, that bring them; full if not here
_under_way: list[tuple[str, int]] = []  # the modules that import_late is importing, and the threads
_is_before_logging = False
_gate = RLock()  # held while an import is added to _under_way, and by a fork


def in_child(function: Callable[[], None]) -> Callable[[], None]:
    """Call function() in each child that this process forks."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=function)
    return function


def import_late(name: str) -> ModuleType:
    """Import a module of the package, or of a library, at its first use. A fork waits for it.

    Raises ModuleNotFoundError that says how to install it, if it is a library of OPTIONAL and not installed."""
    if name in sys.modules:
        return import_module(name)
    entry = (name, get_ident())
    with _gate:
        if not name.startswith("wengert"):
            _wait_before_logging()
        _under_way.append(entry)
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in OPTIONAL:
            raise
        raise missing_library("this call", error.name) from None
    finally:
        _under_way.remove(entry)


def _wait_before_logging() -> None:
    """Let a fork wait for imports before it takes the lock of logging, which those imports may need.

    What was registered last runs first. SciPy and parts of NumPy import logging, which registers that it takes its lock.
    """
    global _is_before_logging
    if not _is_before_logging:
        _is_before_logging = True
        import_module("logging")
        _register()


def is_installed(name: str) -> bool:
    """Whether an optional library, or a module of one, can be imported."""
    try:
        import_late(name)
    except ModuleNotFoundError:
        return False
    return True


def missing_library(what: str, name: str) -> ModuleNotFoundError:
    """Return the error for what cannot run without an optional library."""
    text = f"No module named {name!r}: {what} needs {OPTIONAL[name]}."
    text += f"\nHint: pip install \"wengert[{_EXTRAS.get(name, 'full')}]\", or pip install {name}"
    return ModuleNotFoundError(text, name=name)


def _finish_imports() -> None:
    """Wait until no other thread imports a module of _LATE: an import of the same module waits for the thread that began it.

    Take the gate then, so that no import_late begins before the fork."""
    finished: set[tuple[str, int]] = set()
    while True:
        new = _found_imports() - finished
        for name, _ in new:  # others may begin meanwhile
            with suppress(Exception):  # the thread that imports the module gets the error
                import_module(name)
        finished |= new
        _gate.acquire()
        if _found_imports() <= finished:
            return
        _gate.release()


def _found_imports() -> set[tuple[str, int]]:
    """The imports under way, and the modules of _LATE that have been imported or are being imported."""
    return {*_under_way, *[(name, 0) for name in tuple(sys.modules) if name.startswith(_LATE)]}


def _open_in_child() -> None:
    global _gate
    _gate = RLock()


def _register() -> None:
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_finish_imports, after_in_parent=lambda: _gate.release(), after_in_child=_open_in_child)


_register()
