"""The number of threads of the kernels, for a part of a test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import wengert


@contextmanager
def threads(n: int) -> Iterator[None]:
    """Let kernels run on n threads inside a with statement."""
    before = wengert.get_num_threads()
    wengert.set_num_threads(n)
    try:
        yield
    finally:
        wengert.set_num_threads(before)
