"""Builds the exceptions about Fourier transforms of short pieces, and about reductions by index."""

from __future__ import annotations

from collections.abc import Sequence

from .classes import ShapeError


def spectrum(op: str | None, what: str) -> ShapeError:
    return ShapeError(what if op is None else f"{op}(): {what}")


def onesided_complex() -> ShapeError:
    return ShapeError("Cannot have onesided output if window or input is complex")


def window_size(op: str, wanted: int, shape: Sequence[int]) -> ShapeError:
    if op == "istft":
        return ShapeError("istft(): Invalid window shape. window has to be 1D and length of `win_length`")
    return ShapeError(
        f"{op}(): expected a 1D window tensor of size equal to win_length={wanted}, but got window with size {list(shape)}"
    )


def outside_storage(
    size: Sequence[int], stride: Sequence[int], offset: int, itemsize: int, last: int, count: int
) -> ShapeError:
    return ShapeError(
        f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and itemsize {itemsize} "
        f"requiring a storage size of {(last + 1) * itemsize} are out of bounds for storage of size {count * itemsize}"
    )
