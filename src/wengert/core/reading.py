"""x[index] as a slot of the compiled class: reading a vector element by element looks up no method.

Arithmetic would not gain by slots: Cython gives them methods too, and a Python subclass then calls the methods.
"""

from __future__ import annotations

if False:
    import cython
import warnings
from collections.abc import Callable
from typing import Any

from wengert import _shim as cython
from wengert.core.dispatch import call_read
from wengert.core.op import Op
from wengert.core.override import NOT_OVERRIDDEN, override
from wengert.core.stacks import user_level
from wengert.core.tensor import TensorBase

if not cython.compiled:
    from wengert.core.native import row_of, wk_init_numpy, wk_overriding

    _select: Op
    _getitem: Callable[..., Any]


wk_init_numpy()


def set_readers(select: Op, getitem: Callable[..., Any]) -> None:
    """Install the operation of x[i] for an int, and the function of x[index] for any other index. Called once, at import."""
    global _select, _getitem
    _select = select
    _getitem = getitem


def rows(array: Any) -> tuple[Any, ...]:
    """Return the views array[i, ...] for all i."""
    return tuple([row_of(array, i) for i in range(len(array))])


@cython.binding(False)
@cython.cclass
class ReadableBase(TensorBase):
    """TensorBase with x[index]."""

    if not cython.compiled:
        __slots__ = ()

    def __getitem__(self, index: Any) -> Any:
        if cython.compiled and wk_overriding():
            found = override(ReadableBase.__getitem__, (self, index), {})
            if found is not NOT_OVERRIDDEN:
                return found
        if type(index) is int:
            if index == 0 and self._array.ndim == 0:  # loss.data[0]
                warnings.warn(
                    "indexing a tensor of no dimensions with 0 is what torch 0.1 to 0.3 had; use .item()",
                    DeprecationWarning,
                    stacklevel=user_level(),
                )
                return _getitem(self, ())
            return call_read(_select, self, index)
        return _getitem(self, index)
