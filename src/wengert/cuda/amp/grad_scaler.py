"""GradScaler for the device type "cuda"."""

from __future__ import annotations

import warnings
from typing import Any

from wengert import amp

__all__ = ["GradScaler"]


class GradScaler(amp.GradScaler):
    """`wengert.amp.GradScaler("cuda", ...)`. Gives torch's FutureWarning."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            "`torch.cuda.amp.GradScaler(args...)` is deprecated. Please use `torch.amp.GradScaler('cuda', args...)` instead.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__("cuda", *args, **kwargs)
