"""DataParallel and DistributedDataParallel: there is no GPU, and one process."""

from __future__ import annotations

from typing import Any

from wengert import errors
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


class DistributedDataParallel(Module):
    """Refuses: gradients are not shared among processes."""

    def __init__(self, module: Module, *args: Any, **kwargs: Any) -> None:
        raise errors.MissingFeatureError(
            "nn.parallel.DistributedDataParallel is not part of wengert: gradients are not shared among processes. Hint: train "
            "the module itself, in one process."
        )


def __dir__() -> list[str]:
    return sorted(__all__)
