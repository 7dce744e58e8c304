"""Automatic mixed precision: products in bfloat16 or float16, sums and losses in float32, as torch.amp.

>>> import wengert as torch
>>> model = torch.nn.Linear(3, 2)
>>> with torch.autocast("cpu", dtype=torch.bfloat16):
...     model(torch.ones(4, 3)).dtype
torch.bfloat16
"""

from wengert.amp import autocast_mode as autocast_mode, grad_scaler as grad_scaler
from wengert.amp.autocast_mode import (
    autocast as autocast,
    custom_bwd as custom_bwd,
    custom_fwd as custom_fwd,
    is_autocast_available as is_autocast_available,
)
from wengert.amp.grad_scaler import GradScaler as GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]


def __dir__() -> list[str]:
    return sorted(__all__)
