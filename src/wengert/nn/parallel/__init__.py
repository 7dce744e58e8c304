"""DataParallel, which calls its module, and DistributedDataParallel, which shares gradients among processes."""

from __future__ import annotations

from typing import Any

from wengert import errors
from wengert._forks import import_late as _import_late
from wengert.nn.modules.module import Module

__all__ = ["DataParallel", "DistributedDataParallel"]


class DataParallel(Module):
    """A module that calls another one, `module`, as torch's does where there is no GPU."""

    def __init__(self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[int] = []
        self.dim = dim

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)


def __getattr__(name: str) -> object:
    if name == "DistributedDataParallel":  # loaded when it is named, because it loads wengert.distributed
        return _import_late("wengert.nn.parallel.distributed").DistributedDataParallel
    raise errors.no_such_name(__name__, name)


def __dir__() -> list[str]:
    return sorted(__all__)
