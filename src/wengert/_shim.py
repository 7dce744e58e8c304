"""Stand-in for the module `cython` at run time: the same decorators and types, without effect.

The core modules are plain Python that Cython also compiles. Each one starts with these three lines, and its .pxd file
with `cimport cython`:

    if False:
        import cython  # read by the Cython compiler only
    from wengert import _shim as cython

Reasons for this form:
- Cython recognises decorators such as `@cython.cclass` only after a line `import cython`, even one that never runs. The
  `cimport` makes the types (`cython.int`) known too, because Cython drops the dead branch before it looks up types. With
  both lines, Cython folds `if not cython.compiled:` at compile time, and its body leaves no code.
- The real `cython` package is never imported, compiled or not, installed or not. Its import takes 30 ms, and its `cast`
  and `declare` do work where the ones here do none.
- `try: import cython / except ImportError: ...` compiles too, but imports the package if the user has it.

Class decorators stay in the .py (in a .pxd they are silently ignored), `@cython.cclass` innermost. With `@cython.binding(False)`
Python checks the class of self: `Node.name(None)` is a TypeError.
"""

from __future__ import annotations

import builtins

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs 5 ms
    from collections.abc import Callable
    from typing import Any, TypeVar

    _T = TypeVar("_T")

compiled: builtins.bool = False


def _identity(target: _T) -> _T:
    return target


def _directive(*args: Any, **kwargs: Any) -> Callable[[_T], _T]:
    """Accept the arguments of a directive, as in `@cython.freelist(64)`; return a decorator that changes nothing."""
    return _identity


# Decorators without arguments.
cclass = cfunc = ccall = inline = final = no_gc = no_gc_clear = _identity

# Decorators with arguments.
locals = returns = exceptval = _directive
trashcan = freelist = _directive
boundscheck = wraparound = initializedcheck = nonecheck = cdivision = _directive
binding = embedsignature = profile = linetrace = infer_types = auto_pickle = _directive


def cast(type_: Any, value: _T, typecheck: bool = False) -> Any:
    """Return the value as it is. In compiled code: a C cast, checked if typecheck=True."""
    return value


def declare(type_: Any = None, value: Any = None, **names: Any) -> Any:
    """Return the value as it is. In compiled code: a variable of that type."""
    return value


def address(variable: _T) -> Any:
    """In compiled code: a C pointer to the variable. Used under `if cython.compiled:` only."""
    raise NotImplementedError("cython.address needs compiled code")


def likely(condition: _T) -> _T:
    return condition


unlikely = likely


class _Pointer:
    """`cython.pointer(T)` and `cython.pointer[T]`: types that only the compiler reads."""

    def __call__(self, type_: Any) -> Any:
        return type_

    def __getitem__(self, type_: Any) -> Any:
        return type_


pointer = _Pointer()

# Types. They are last because some of these names hide builtins.
int = builtins.int
float = double = builtins.float
bint = builtins.bool
void = object
longlong = ulonglong = long = ulong = uint = short = ushort = char = schar = uchar = size_t = Py_ssize_t = builtins.int
