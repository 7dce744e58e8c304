"""torch.cuda.amp: the names of `wengert.amp` for the device type "cuda", as older programs spell them."""

from wengert.cuda.amp import autocast_mode as autocast_mode, grad_scaler as grad_scaler
from wengert.cuda.amp.autocast_mode import autocast as autocast, custom_bwd as custom_bwd, custom_fwd as custom_fwd
from wengert.cuda.amp.grad_scaler import GradScaler as GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]
