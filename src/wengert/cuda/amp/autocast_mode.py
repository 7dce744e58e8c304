"""autocast for the device type "cuda"."""

from __future__ import annotations

import warnings
from typing import Any

from wengert import amp
from wengert.dtypes import float16

__all__ = ["autocast", "custom_bwd", "custom_fwd"]


class autocast(amp.autocast):
    """`wengert.amp.autocast("cuda", ...)`. Gives torch's FutureWarning."""

    def __init__(self, enabled: bool = True, dtype: Any = float16, cache_enabled: bool = True) -> None:
        warnings.warn(
            "`torch.cuda.amp.autocast(args...)` is deprecated. Please use `torch.amp.autocast('cuda', args...)` instead.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__("cuda", dtype, enabled, cache_enabled)


def custom_fwd(fwd: Any = None, *, cast_inputs: Any = None) -> Any:
    """`wengert.amp.custom_fwd` with device_type="cuda". Gives torch's FutureWarning."""
    _deprecated("custom_fwd")
    return amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Any = None) -> Any:
    """`wengert.amp.custom_bwd` with device_type="cuda". Gives torch's FutureWarning."""
    _deprecated("custom_bwd")
    return amp.custom_bwd(bwd, device_type="cuda")


def _deprecated(name: str) -> None:
    warnings.warn(
        f"`torch.cuda.amp.{name}(args...)` is deprecated. Please use `torch.amp.{name}(args..., device_type='cuda')` instead.",
        FutureWarning,
        stacklevel=3,
    )
