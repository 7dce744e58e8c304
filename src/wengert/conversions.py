"""Members of Tensor that convert it: to another dtype, to another device, and what says where its memory lies."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from wengert import dtypes, errors
from wengert.backends.selection import device_name
from wengert.core.node import note_cut
from wengert.core.tensor import TensorBase
from wengert.devices import device, device_of, place_of
from wengert.ops.options import place_and_dtype
from wengert.ops.registry import OPS

Tensor: TypeAlias = Any  # class Tensor, which has these members. The stubs repeat the name.
_cpu = device("cpu")
_device = device  # methods have arguments of this name


class ConversionMembers:
    """Members of Tensor: conversions to other dtypes and devices."""

    __slots__ = ()

    @property
    def device(self: Any) -> device:
        """The device of the memory."""
        array = self._array
        return _cpu if isinstance(array, np.ndarray) else device_of(array)

    @property
    def is_cpu(self: Any) -> bool:
        """Whether the memory is main memory."""
        return isinstance(self._array, np.ndarray)

    @property
    def is_cuda(self: Any) -> bool:
        """Whether the memory is a GPU's."""
        return not isinstance(self._array, np.ndarray)

    def _check_on_host(self: Any) -> None:
        """Raise TypeError if the memory is not main memory."""
        if not isinstance(self._array, np.ndarray):
            raise errors.DtypeError(
                f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory "
                "first."
            )

    @property
    def __cuda_array_interface__(self: Any) -> dict[str, Any]:
        """The memory on a GPU for other libraries. Raises AttributeError for a tensor in main memory."""
        if isinstance(self._array, np.ndarray):
            raise AttributeError(f"Can't get __cuda_array_interface__ on non-CUDA tensor type: {self.type()}")
        if self.requires_grad:
            raise errors.GradientError(
                "Can't get __cuda_array_interface__ on Variable that requires grad. If gradients aren't required, use var.detach() "
                "to get Variable that doesn't require grad."
            )
        exported: Any = self._exported()
        return exported.__cuda_array_interface__

    def to(
        self: Any, *args: Any, dtype: Any = None, device: Any = None, non_blocking: bool = False, copy: bool = False,
        memory_format: Any = None,
    ) -> Tensor:
        """Return the tensor with another dtype or device. If nothing changes and copy is False, return the tensor itself.

        Call it as to(dtype), to(device), to(device, dtype) or to(other). non_blocking: do not wait for a copy from a device, whose
        result has pinned memory and is complete after wengert.cuda.synchronize(), nor for a copy from pinned memory to a device.
        memory_format is ignored.
        """
        dtype, device, switches = parse_to(args, dtype, device)
        non_blocking = non_blocking or switches[:1] == [True]
        copy = copy or switches[1:] == [True]
        wanted = self._array.dtype if dtype is None else dtypes.as_numpy_dtype(dtype)
        if device is not None:
            place = place_of(device)
            here = device_name(self._array)
            if place != here:
                moved = OPS["_to_device"].function(self, place=place, source=here, non_blocking=non_blocking)
                return moved if wanted == self._array.dtype else moved.to(wanted)
        if wanted == self._array.dtype:
            return self.clone() if copy else self
        if self._requires_grad and wanted.kind in "iub":
            note_cut(f"a cast to {dtypes.from_numpy_dtype(wanted)}", self)
        return _cast(self, dtype=wanted)

    def type(self: Any, dtype: Any = None, non_blocking: bool = False, **old: Any) -> Any:
        """Return the legacy name of the type, "torch.FloatTensor" or "torch.cuda.FloatTensor".

        Given such a name, its class or a dtype, return the tensor cast to it. A name and a class also say where the result lies."""
        _check_old("type", old)
        if dtype is None:
            return dtypes.legacy_type_name(self.dtype, self.device.type)
        place, wanted = place_and_dtype(dtype)
        return self.to(wanted) if place is None else self.to(place, wanted)

    def type_as(self: Any, other: Tensor) -> Tensor:
        """Return the tensor with the dtype and on the device of other."""
        return self.to(other.device, other.dtype)

    def cpu(self: Any, *, memory_format: Any = None, **old: Any) -> Tensor:
        """Return a copy in main memory, or the tensor itself if it lies there. Derivative: 1."""
        _check_old("cpu", old)
        return self if isinstance(self._array, np.ndarray) else self.to("cpu")

    def cuda(self: Any, device: Any = None, non_blocking: bool = False, *, memory_format: Any = None, **old: Any) -> Tensor:
        """Return a copy on a GPU, the current one if device is None, or the tensor itself if it lies there. Derivative: 1.

        non_blocking: as of to(). Raises RuntimeError if device is no GPU, and if CuPy or a GPU is missing."""
        _check_old("cuda", old)
        where = _device("cuda" if device is None else device)
        if where.type != "cuda":
            raise errors.DeviceError("Invalid device, must be cuda device")
        return self.to(where, non_blocking=non_blocking)

    def double(self: Any, memory_format: Any = None) -> Tensor:
        """Return the tensor cast to float64."""
        return self.to(dtypes.float64)

    def float(self: Any, memory_format: Any = None) -> Tensor:
        """Return the tensor cast to float32."""
        return self.to(dtypes.float32)

    def half(self: Any, memory_format: Any = None) -> Tensor:
        """Return the tensor cast to float16."""
        return self.to(dtypes.float16)

    def bfloat16(self: Any, memory_format: Any = None) -> Tensor:
        """Return the tensor cast to bfloat16."""
        return self.to(dtypes.bfloat16)

    def long(self: Any, memory_format: Any = None) -> Tensor:
        """Return the tensor cast to int64."""
        return self.to(dtypes.int64)

    def int(self: Any, memory_format: Any = None) -> Tensor:
        """Return the tensor cast to int32."""
        return self.to(dtypes.int32)

    def short(self: Any, memory_format: Any = None) -> Tensor:
        """Return the tensor cast to int16."""
        return self.to(dtypes.int16)

    def char(self: Any, memory_format: Any = None) -> Tensor:
        """Return the tensor cast to int8."""
        return self.to(dtypes.int8)

    def byte(self: Any, memory_format: Any = None) -> Tensor:
        """Return the tensor cast to uint8."""
        return self.to(dtypes.uint8)

    def bool(self: Any, memory_format: Any = None) -> Tensor:
        """Return the tensor cast to bool."""
        return self.to(dtypes.bool_)

    def cfloat(self: Any, memory_format: Any = None) -> Tensor:
        """Return the tensor cast to complex64."""
        return self.to(dtypes.complex64)

    def cdouble(self: Any, memory_format: Any = None) -> Tensor:
        """Return the tensor cast to complex128."""
        return self.to(dtypes.complex128)


def _check_old(method: str, old: dict[str, Any]) -> None:
    """Raise TypeError for keywords other than async, which torch once had, and non_blocking, as which compat reads it."""
    for name in old:
        if name not in ("async", "non_blocking"):
            raise errors.unexpected_keyword(method, name)


def parse_to(args: tuple, dtype: Any, where: Any) -> tuple[Any, device | None, list[bool]]:
    """Return (dtype, device, [non_blocking, copy]) from the arguments of to(): None, or a shorter list, if they are not given."""
    switches = []
    for argument in args:
        if isinstance(argument, TensorBase):
            dtype, where = argument._array.dtype, device_of(argument._array)
        elif isinstance(argument, bool):
            switches.append(argument)
        elif isinstance(argument, (str, device, int)):
            where = argument
        elif argument is not None:
            dtype = argument
    if len(switches) > 2:
        raise TypeError("to() received an invalid combination of arguments")
    return dtype, device(where) if isinstance(where, (str, int)) else where, switches


def _cast(tensor: Any, dtype: Any) -> Any:
    return OPS["cast"].function(tensor, dtype=dtype)
