"""Autocast: operations that cast their inputs before they run.

While the flag AUTOCAST is set, dispatch hands operations to the thread's Autocast, and so do composites that CASTS lists.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.backends.selection import backend_among, is_array, others
from wengert.core.dispatch import call
from wengert.core.modes import AUTOCAST, BLOCK, NO_GRAD, OBSERVED, flags, set_flags
from wengert.core.op import Op
from wengert.core.tensor import TensorBase
from wengert.dtypes import as_numpy_dtype, bfloat16
from wengert.ops.casts import CASTS, FLOAT32, LOWER, REFUSED, WIDEST
from wengert.ops.registry import OPS

_float32 = np.dtype(np.float32)
_UNSAFE = (
    "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast.\n"
    "Many models use a sigmoid layer right before the binary cross entropy layer.\n"
    "In this case, combine the two layers using torch.nn.functional.binary_cross_entropy_with_logits\n"
    "or torch.nn.BCEWithLogitsLoss.  binary_cross_entropy_with_logits and BCEWithLogits are\n"
    "safe to autocast."
)
_SHORT = (np.dtype(np.float16), as_numpy_dtype(bfloat16))


class Autocast:
    """What autocast does on one thread: the dtype of products, and the casts of leaves that are kept for their next use.

    A leaf that requires grad, such as a weight, is cast once, not at each use. The casts are shared by nested settings, and
    live as long as the outermost. A cast is not used for a leaf that was written after it, nor in another grad mode.
    devices: for types of devices, (whether autocast is enabled, its dtype). Only those of CASTS have an effect: an operation with
    an input on a GPU takes the settings of "cuda", and casts what lies there.
    in_block: whether a block has made these settings, which nested blocks share the casts with."""

    def __init__(
        self, devices: dict[str, tuple[bool, Any]], cache_enabled: bool, kept: dict[Any, tuple[Any, ...]], in_block: bool = False
    ) -> None:
        self.devices = devices
        self.lower = {kind: as_numpy_dtype(dtype) for kind, (enabled, dtype) in devices.items() if enabled and kind in CASTS}
        self.cache_enabled = cache_enabled
        self.kept = kept  # (id of a leaf, grad mode, dtype) -> (the leaf, its array, its version, the cast)
        self.in_block = in_block

    def renewed(self) -> Autocast:
        """Return the same settings without the casts that are kept."""
        return Autocast(self.devices, self.cache_enabled, {}, self.in_block)

    def call(self, op: Op, inputs: tuple[Any, ...], params: dict[str, Any] | None) -> Any:
        """Run an operation as dispatch.call does, with inputs that are cast."""
        before = flags()
        try:
            set_flags(before & ~AUTOCAST)
            return call(op, self._cast_all(op.name, inputs), params)
        finally:
            set_flags(before)

    def call_function(self, name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a function that CASTS lists with tensors that are cast. The operations that it calls cast nothing.

        A function that CASTS does not list for the device of its tensors is called as it is."""
        place = _place_of((*args, *kwargs.values()))
        if place not in self.lower or name not in CASTS[place]:
            return function(*args, **kwargs)
        before = flags()
        try:
            set_flags(before & ~AUTOCAST)
            values = self._cast_all(name, (*args, *kwargs.values()))
            return function(*values[: len(args)], **dict(zip(kwargs, values[len(args) :], strict=True)))
        finally:
            set_flags(before)

    def _cast_all(self, name: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the inputs of an operation with its tensors cast, those in lists and tuples too.

        Raises RuntimeError for an operation that autocast refuses."""
        place = _place_of(values)
        lower = self.lower.get(place)
        kind = None if lower is None else CASTS[place].get(name)
        if kind == LOWER:
            dtype = lower
        elif kind == FLOAT32 or (kind == WIDEST and _has_float32(values, place)):
            dtype = _float32
        elif kind == REFUSED:
            raise RuntimeError(_UNSAFE)
        else:
            return values
        return tuple([self._cast_value(x, dtype, place) for x in values])

    def _cast_value(self, x: Any, dtype: Any, place: str) -> Any:
        if isinstance(x, TensorBase):
            return self._cast(x, dtype) if _is_on(x._array, place) else x
        if is_array(x):
            return x.astype(dtype) if _is_on(x, place) and _changes(x.dtype, dtype) else x
        if type(x) in (list, tuple):
            return type(x)([self._cast_value(y, dtype, place) for y in x])
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


def _place_of(values: tuple[Any, ...]) -> str:
    """Return the type of device on which an operation runs: "cuda" if a tensor or an array among the values lies there."""
    if not others:
        return "cpu"
    name: str = backend_among([_array_of(x) for x in _tensors(values)]).name
    return name


def _has_float32(values: tuple[Any, ...], place: str) -> bool:
    """Whether a tensor or an array among the values lies on a type of device, and is of float32."""
    arrays = [_array_of(x) for x in _tensors(values)]
    return any(x.dtype == _float32 and _is_on(x, place) for x in arrays)


def _is_on(array: Any, place: str) -> bool:
    return (type(array) in others) == (place != "cpu")


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
