"""torch.signal: window functions, in signal.windows."""

from wengert.signal import windows as windows
