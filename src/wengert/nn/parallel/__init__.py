"""DataParallel, which calls its module, and DistributedDataParallel, which shares gradients among processes."""

from __future__ import annotations

from itertools import chain
from typing import Any

from wengert import errors
from wengert._forks import import_late as _import_late
from wengert.core.tensor import TensorBase
from wengert.nn.modules.module import Module

__all__ = ["DataParallel", "DistributedDataParallel"]


class DataParallel(Module):
    """A module that calls another one, `module`, with its arguments on the device of the module's parameters.

    One GPU does all the work. torch divides the batch among the GPUs of device_ids; the results are the same, but for what batch
    norm sees. device_ids, output_device and dim are accepted without effect."""

    def __init__(self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[int] = []
        self.dim = dim

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        held = next(chain(self.module.parameters(), self.module.buffers()), None)
        if held is not None and held.is_cuda:
            inputs, kwargs = _pytree().tree_map_only(TensorBase, lambda x: x.to(held.device), (inputs, kwargs))
        return self.module(*inputs, **kwargs)


def _pytree() -> Any:
    return _import_late("wengert.utils._pytree")


def __getattr__(name: str) -> object:
    if name == "DistributedDataParallel":  # loaded when it is named, because it loads wengert.distributed
        return _import_late("wengert.nn.parallel.distributed").DistributedDataParallel
    raise errors.no_such_name(__name__, name)


def __dir__() -> list[str]:
    return sorted(__all__)
