"""Autocast: operations that cast their inputs before they run.

While the flag AUTOCAST is set, dispatch hands operations to the thread's Autocast, and so do composites that CASTS lists.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.backends.selection import is_array
from wengert.core.dispatch import call
from wengert.core.modes import AUTOCAST, BLOCK, NO_GRAD, OBSERVED, flags, set_flags
from wengert.core.op import Op
from wengert.core.tensor import TensorBase
from wengert.dtypes import as_numpy_dtype, bfloat16
from wengert.ops.casts import CASTS, FLOAT32, LOWER, WIDEST
from wengert.ops.registry import OPS

_float32 = np.dtype(np.float32)
_SHORT = (np.dtype(np.float16), as_numpy_dtype(bfloat16))


class Autocast:
    """What autocast does on one thread: the dtype of products, and the casts of leaves that are kept for their next use.

    A leaf that requires grad, such as a weight, is cast once, not at each use. The casts are shared by nested settings, and
    live as long as the outermost. A cast is not used for a leaf that was written after it, nor in another grad mode.
    devices: for each type of device other than the CPU, (whether autocast is enabled, its dtype). These have no effect.
    in_block: whether a block has made these settings, which nested blocks share the casts with."""

    def __init__(
        self,
        dtype: Any,
        cache_enabled: bool,
        kept: dict[Any, tuple[Any, ...]],
        devices: dict[str, tuple[bool, Any]],
        in_block: bool = False,
    ) -> None:
        self.dtype = dtype  # of NumPy
        self.cache_enabled = cache_enabled
        self.kept = kept  # (id of a leaf, grad mode, dtype) -> (the leaf, its array, its version, the cast)
        self.devices = devices
        self.in_block = in_block

    def renewed(self) -> Autocast:
        """Return the same settings without the casts that are kept."""
        return Autocast(self.dtype, self.cache_enabled, {}, self.devices, self.in_block)

    def call(self, op: Op, inputs: tuple[Any, ...], params: dict[str, Any] | None) -> Any:
        """Run an operation as dispatch.call does, with inputs that are cast."""
        before = flags()
        try:
            set_flags(before & ~AUTOCAST)
            kind = CASTS.get(op.name)
            return call(op, inputs if kind is None else self._cast_all(kind, inputs), params)
        finally:
            set_flags(before)

    def call_function(self, name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a function that CASTS lists with tensors that are cast. The operations that it calls cast nothing."""
        before = flags()
        try:
            set_flags(before & ~AUTOCAST)
            args = self._cast_all(CASTS[name], args)
            return function(*args, **dict(zip(kwargs, self._cast_all(CASTS[name], tuple(kwargs.values())), strict=True)))
        finally:
            set_flags(before)

    def _cast_all(self, kind: int, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the values with their tensors cast, those in lists and tuples too."""
        if kind == LOWER:
            dtype = self.dtype
        elif kind == FLOAT32 or (kind == WIDEST and any(_array_of(x).dtype == _float32 for x in _tensors(values))):
            dtype = _float32
        else:
            return values
        return tuple([self._cast_value(x, dtype) for x in values])

    def _cast_value(self, x: Any, dtype: Any) -> Any:
        if isinstance(x, TensorBase):
            return self._cast(x, dtype)
        if is_array(x):
            return x.astype(dtype) if _changes(x.dtype, dtype) else x
        if type(x) in (list, tuple):
            return type(x)([self._cast_value(y, dtype) for y in x])
        return x

    def _cast(self, x: Any, dtype: Any) -> Any:
        """Return a tensor cast to dtype, unless autocast leaves its dtype alone."""
        array = x._array
        if not _changes(array.dtype, dtype):
            return x
        if not self._is_kept(x):
            return OPS["cast"].function(x, dtype=dtype)
        key = id(x), flags() & NO_GRAD, dtype
        found = self.kept.get(key)
        if found is None or found[1] is not x._array or found[2] != x._version:
            found = self.kept[key] = x, array, x._version, OPS["cast"].function(x, dtype=dtype)
        return found[3]

    def _is_kept(self, x: Any) -> bool:
        """Whether the cast of x is kept: x is a leaf in float32 that requires grad, and no mode changes what operations do."""
        modes = flags() & (1 << BLOCK) - 1 & ~(NO_GRAD | OBSERVED)
        if not self.cache_enabled or modes != 0 or x._array.dtype != _float32:
            return False
        return x.requires_grad and x.is_leaf and x._view is None


def _changes(dtype: Any, wanted: Any) -> bool:
    """Whether autocast casts a tensor of one dtype to another: it leaves integers, float64 and complex numbers alone."""
    return dtype != wanted and (dtype == _float32 or dtype in _SHORT)


def _tensors(values: tuple[Any, ...]) -> list[Any]:
    """Return the tensors and arrays among the values, those in lists and tuples too."""
    found: list[Any] = []
    for x in values:
        if (isinstance(x, TensorBase) or is_array(x)):
            found.append(x)
        elif type(x) in (list, tuple):
            found.extend(_tensors(tuple(x)))
    return found


def _array_of(x: Any) -> Any:
    return x if is_array(x) else x._array
