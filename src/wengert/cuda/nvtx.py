"""torch.cuda.nvtx: names for parts of a program, which NVIDIA's profilers show. Without a GPU they raise RuntimeError."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from wengert.backends import selection as _selection

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]

_depth = 0


def _nvtx() -> Any:
    if not _selection.cuda_is_available():
        raise RuntimeError("NVTX functions not installed. Are you sure you have a CUDA build?")
    return _selection.backend_for("cuda").nvtx()


def range_push(msg: str) -> int:
    """Begin a range inside of the current one, and return how many are around it."""
    global _depth
    _nvtx().RangePush(msg)
    _depth += 1
    return _depth - 1


def range_pop() -> int:
    """End the range that range_push has begun last, and return how many are around it."""
    global _depth
    _nvtx().RangePop()
    _depth = max(_depth - 1, 0)
    return _depth


def range_start(msg: str) -> int:
    """Begin a range that may overlap with others, and return its number for range_end."""
    found: int = _nvtx().RangeStart(msg)
    return found


def range_end(range_id: int) -> None:
    """End a range of range_start."""
    _nvtx().RangeEnd(range_id)


def mark(msg: str) -> None:
    """Mark a point of time."""
    _nvtx().Mark(msg)


@contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """Name the block: range("step {}", 3). args, kwargs: of msg.format."""
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()
