"""The backend of GPUs and the numbers of devices, for the modules of wengert.cuda."""

from __future__ import annotations

from typing import Any

from wengert import errors
from wengert.backends import selection
from wengert.devices import device


def backend() -> Any:
    """Return the backend of GPUs. Raises AssertionError, as torch without CUDA does, if there is none."""
    if not selection.cuda_is_available():
        raise AssertionError(f"Torch not compiled with CUDA enabled: {selection.why_no_cuda()}")
    return selection.backend_for("cuda")


def index_of(where: Any) -> int:
    """Return the number of a GPU: of the current one if `where` is None."""
    found = where.index if isinstance(where, device) else device(where).index if isinstance(where, str) else where
    if found is None:
        number: int = backend().current_device()
        return number
    if not 0 <= found < backend().device_count():
        raise errors.DeviceError("CUDA error: invalid device ordinal")
    return int(found)
