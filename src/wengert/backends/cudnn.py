"""torch.backends.cudnn: settings of a library for GPUs, which programs set at their top. Nothing reads them here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

enabled = True
benchmark = False
benchmark_limit = 10
deterministic = False
allow_tf32 = True
fp32_precision = "none"


def is_available() -> bool:
    """Whether cuDNN can be used: always False."""
    return False


def version() -> None:
    """Return the version of cuDNN: None."""


def is_acceptable(tensor: object) -> bool:
    """Whether cuDNN takes a tensor: always False."""
    return False


@contextmanager
def flags(enabled: bool = False, benchmark: bool = False, deterministic: bool = False, **_: object) -> Iterator[None]:
    """Return a context manager that does nothing."""
    yield
