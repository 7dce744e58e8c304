"""torch.cpu.amp: the names of `wengert.amp` for the device type "cpu", as older programs spell them."""

from wengert.cpu.amp import autocast_mode as autocast_mode, grad_scaler as grad_scaler
from wengert.cpu.amp.autocast_mode import autocast as autocast
from wengert.cpu.amp.grad_scaler import GradScaler as GradScaler

__all__ = ["GradScaler", "autocast"]
