"""InputMetadata: what users see of a node's TensorMeta. Not compiled: it is only looked at."""

from __future__ import annotations

from typing import Any

from wengert import dtypes
from wengert.devices import device


class InputMetadata:
    """Shape, dtype and device of the gradient that arrives at one output of a node."""

    __slots__ = ("dtype", "shape")

    is_nested_tensor = is_cpp_nested_tensor = False

    def __init__(self, meta: Any) -> None:
        self.shape = list(meta.shape)
        self.dtype = dtypes.from_numpy_dtype(meta.dtype)

    @property
    def device(self) -> device:
        """The device of the tensor."""
        return device("cpu")
