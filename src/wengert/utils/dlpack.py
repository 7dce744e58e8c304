"""torch.utils.dlpack: tensors that share memory with other array libraries.

>>> import wengert
>>> from wengert.utils.dlpack import from_dlpack, to_dlpack
>>> x = wengert.ones(2)
>>> from_dlpack(to_dlpack(x)).zero_(), x
(tensor([0., 0.]), tensor([0., 0.]))
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy

from wengert.ops import function

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]


class DLDeviceType(IntEnum):
    """Kinds of devices in DLPack."""

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14
    kDLWebGPU = 15
    kDLHexagon = 16
    kDLMAIA = 17


class _Capsule:
    """An object with the protocol of DLPack, made of a capsule."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return DLDeviceType.kDLCPU, 0


class _Writable:
    """The memory of an array that NumPy takes for read-only because its capsule does not say whether it is."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.__array_interface__ = {**array.__array_interface__, "data": (array.ctypes.data, False)}


def to_dlpack(tensor: Any) -> Any:
    """Return a DLPack capsule of a tensor. It can be read once."""
    return tensor.__dlpack__()


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Any:
    """Return a tensor that shares memory with an array of another library, or with the tensor of a capsule.

    ext_tensor: an object with __dlpack__, or a capsule. copy: True copies the memory.
    """
    if not hasattr(ext_tensor, "__dlpack__"):
        ext_tensor = numpy.asarray(_Writable(numpy.from_dlpack(_Capsule(ext_tensor))))
    found: Any = function("", "from_dlpack")
    return found(ext_tensor, device=device, copy=copy)


def __dir__() -> list[str]:
    return sorted(__all__)
