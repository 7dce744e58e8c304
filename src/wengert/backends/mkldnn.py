"""torch.backends.mkldnn: settings of oneDNN, which is not used. Nothing reads them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

enabled = True
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """Whether oneDNN is used: always False."""
    return False


@contextmanager
def flags(enabled: bool = False, deterministic: bool = False, allow_tf32: bool = True, **_: object) -> Iterator[None]:
    """Return a context manager that does nothing."""
    yield
