"""Stands in for the name `cython` while the core runs: same decorators and types, no effect.

The core modules are plain Python that Cython also compiles. Each one starts with these three lines, and its .pxd file
with `cimport cython`:

    if False:
        import cython  # read by the Cython compiler only
    from wengert import _shim as cython

Why this form and no shorter one:
- Cython takes decorators such as `@cython.cclass` as its own only after it has seen `import cython`; it sees that line
  also where it can never run. The `cimport` makes the types (`cython.int`) known too: the dead branch is dropped
  before types are looked up. With both, `if not cython.compiled:` is folded at compile time: its body leaves no code.
- The real `cython` package is never imported: not when compiled, not when uncompiled, whether installed or not. It
  costs 30 ms, and its `cast` and `declare` do work where these do none.
- `try: import cython / except ImportError: ...` compiles too, but imports the package where a user happens to have it.

Class decorators stay in the .py (in a .pxd they are silently ignored), `@cython.cclass` innermost.
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
    """Takes the arguments of a directive, as in `@cython.freelist(64)`; returns a decorator that changes nothing."""
    return _identity


# Decorators without arguments.
cclass = cfunc = ccall = inline = final = no_gc = no_gc_clear = _identity

# Decorators with arguments.
locals = returns = exceptval = _directive
trashcan = freelist = _directive
boundscheck = wraparound = initializedcheck = nonecheck = cdivision = _directive
binding = embedsignature = profile = linetrace = infer_types = auto_pickle = _directive


def cast(type_: Any, value: _T, typecheck: bool = False) -> Any:
    """Returns the value as it is; compiled, a C cast, or with typecheck=True a checked one."""
    return value


def declare(type_: Any = None, value: Any = None, **names: Any) -> Any:
    """Returns the value as it is; compiled, a variable of that type."""
    return value


def address(variable: _T) -> Any:
    """Compiled, a C pointer to the variable. Stands only under `if cython.compiled:`."""
    raise NotImplementedError("cython.address needs compiled code")


def likely(condition: _T) -> _T:
    return condition


unlikely = likely


class _Pointer:
    """`cython.pointer(T)` and `cython.pointer[T]`: a type that only the compiler reads."""

    def __call__(self, type_: Any) -> Any:
        return type_

    def __getitem__(self, type_: Any) -> Any:
        return type_


pointer = _Pointer()

# Types. Below everything else, because some of these names hide builtins.
int = builtins.int
float = double = builtins.float
bint = builtins.bool
void = object
longlong = ulonglong = long = ulong = uint = short = ushort = char = schar = uchar = size_t = Py_ssize_t = builtins.int
