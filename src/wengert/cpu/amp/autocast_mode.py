"""autocast for the device type "cpu"."""

from __future__ import annotations

import warnings
from typing import Any

from wengert import amp
from wengert.dtypes import bfloat16

__all__ = ["autocast"]


class autocast(amp.autocast):
    """`wengert.amp.autocast("cpu", ...)`. Gives torch's FutureWarning."""

    def __init__(self, enabled: bool = True, dtype: Any = bfloat16, cache_enabled: bool = True) -> None:
        warnings.warn(
            "`torch.cpu.amp.autocast(args...)` is deprecated. Please use `torch.amp.autocast('cpu', args...)` instead.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__("cpu", dtype, enabled, cache_enabled)
