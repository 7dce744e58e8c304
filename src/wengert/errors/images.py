"""Builds the exceptions about padding, shuffles, interpolation and grids."""

from __future__ import annotations

from collections.abc import Sequence

from .classes import ElementError, ShapeError

# ----------------------------------------------------------------------------------------------------------------------
# Padding and shuffles
# ----------------------------------------------------------------------------------------------------------------------


def pad_odd() -> ShapeError:
    return ShapeError("Padding length must be divisible by 2")


def pad_negative() -> ShapeError:
    return ShapeError("narrow(): length must be non-negative.")


# ----------------------------------------------------------------------------------------------------------------------
# Interpolation and grids
# ----------------------------------------------------------------------------------------------------------------------

_MODES = "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact"


def interpolate_sizes(
    what: str, wanted: str, spatial: Sequence[int], given: Sequence[object], word: str
) -> ElementError:
    start = "Input and output" if what == "output size" else "Input and scale_factor"
    return ElementError(
        f"{start} must have the same number of spatial dimensions, but got input with spatial dimensions of "
        f"{list(spatial)} and {what} {word} {tuple(given)}. Please provide input tensor in (N, C, d1, d2, ...,dK) format "
        f"and {wanted} format."
    )


def interpolate_empty(size: Sequence[int], output: Sequence[int]) -> ShapeError:
    letters = ("D", "H", "W")[-len(size) :]
    first = ", ".join([f"{c}: {n}" for c, n in zip(letters, size, strict=True)])
    second = ", ".join([f"{c}: {n}" for c, n in zip(letters, output, strict=True)])
    return ShapeError(f"Input and output sizes should be greater than 0, but got input ({first}) output ({second})")


# ----------------------------------------------------------------------------------------------------------------------
# Reading at the points of a grid
# ----------------------------------------------------------------------------------------------------------------------


def grid_dims(shape: Sequence[int], grid: Sequence[int]) -> ShapeError:
    wanted = f"{len(shape)}D" if len(shape) in (4, 5) else "4D or 5D"
    return ShapeError(
        f"grid_sampler(): expected {wanted} input and grid with same number of dimensions, but got input with sizes "
        f"{list(shape)} and grid with sizes {list(grid)}"
    )
