"""torch.types: names of types for annotations."""

from __future__ import annotations

import os
from typing import IO, Any, TypeAlias

from wengert.devices import device as _device
from wengert.sizes import Size as Size
from wengert.tensor import Tensor as Tensor

__all__ = ["Device", "FileLike", "Number", "Size", "Storage", "Tensor"]

Number: TypeAlias = int | float | bool
Device: TypeAlias = _device | str | int | None
FileLike: TypeAlias = str | os.PathLike[str] | IO[bytes]
Storage: TypeAlias = Any
_TensorOrTensors: TypeAlias = Tensor | tuple[Tensor, ...]


def __dir__() -> list[str]:
    return sorted(__all__)
