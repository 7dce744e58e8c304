"""Builds the exceptions about padding, shuffles, interpolation and grids."""

from __future__ import annotations

from collections.abc import Sequence

from .classes import ElementError, ShapeError, UnsupportedModeError
from .names import dtype_name

# ----------------------------------------------------------------------------------------------------------------------
# Padding and shuffles
# ----------------------------------------------------------------------------------------------------------------------


def pad_odd() -> ShapeError:
    return ShapeError("Padding length must be divisible by 2")


def pad_length(length: int, dims: int) -> ShapeError:
    return ShapeError(
        "Padding length should be less than or equal to two times the input dimension but got padding length "
        f"{length} and input of dimension {dims}"
    )


def pad_negative() -> ShapeError:
    return ShapeError("narrow(): length must be non-negative.")


def pad_combination(length: int, dims: int) -> UnsupportedModeError:
    return UnsupportedModeError(
        f"Padding size {length} is not supported for {dims}D input tensor.\n"
        "Supported combinations for non-constant padding:\n"
        "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
        "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
        "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
    )


def pad_empty(dims: int, shape: Sequence[int]) -> ShapeError:
    return ShapeError(
        f"Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions "
        f"for input, but got: {list(shape)}"
    )


def pad_reflected(pad: Sequence[int], place: int, dim: int, shape: Sequence[int]) -> ShapeError:
    """place: which pair of pad it is."""
    return ShapeError(
        f"Argument #{2 * place + 4}: Padding size should be less than the corresponding input dimension, but got: "
        f"padding ({pad[2 * place]}, {pad[2 * place + 1]}) at dimension {dim} of input {list(shape)}"
    )


def pad_wrapped() -> ShapeError:
    return ShapeError("Padding value causes wrapping around more than once.")


def pad_value(mode: str) -> ShapeError:
    return ShapeError(f'Padding mode "{mode}" doesn\'t take in value argument')


def pad_mode(mode: str) -> UnsupportedModeError:
    return UnsupportedModeError(f"Unrecognised padding mode {mode}")


def shuffle_dims(op: str, dims: int) -> ShapeError:
    return ShapeError(f"{op} expects input to have at least 3 dimensions, but got input with {dims} dimension(s)")


def shuffle_factor(op: str, name: str, factor: int) -> ShapeError:
    return ShapeError(f"{op} expects a positive {name}, but got {factor}")


def shuffle_channels(channels: int, square: int) -> ShapeError:
    return ShapeError(
        "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
        f"input.size(-3)={channels} is not divisible by {square}"
    )


def shuffle_side(name: str, dim: int, size: int, factor: int) -> ShapeError:
    return ShapeError(
        f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but input.size({dim})={size} is not "
        f"divisible by {factor}"
    )


def channel_shuffle_dims(shape: Sequence[int]) -> ShapeError:
    return ShapeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(shape)}")


def channel_shuffle_groups(groups: int) -> ShapeError:
    return ShapeError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")


def channel_shuffle_channels(channels: int, groups: int) -> ShapeError:
    return ShapeError(f"Number of channels must be divisible by groups. Got {channels} channels and {groups} groups.")


# ----------------------------------------------------------------------------------------------------------------------
# Interpolation and grids
# ----------------------------------------------------------------------------------------------------------------------

_MODES = "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact"


def interpolate_both() -> ElementError:
    return ElementError("only one of size or scale_factor should be defined")


def interpolate_neither() -> ElementError:
    return ElementError("either size or scale_factor should be defined")


def interpolate_recompute() -> ElementError:
    return ElementError("recompute_scale_factor is not meaningful with an explicit size.")


def interpolate_sizes(
    what: str, wanted: str, spatial: Sequence[int], given: Sequence[object], word: str
) -> ElementError:
    start = "Input and output" if what == "output size" else "Input and scale_factor"
    return ElementError(
        f"{start} must have the same number of spatial dimensions, but got input with spatial dimensions of "
        f"{list(spatial)} and {what} {word} {tuple(given)}. Please provide input tensor in (N, C, d1, d2, ...,dK) format "
        f"and {wanted} format."
    )


def interpolate_corners() -> ElementError:
    return ElementError(
        "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
    )


def interpolate_antialias() -> ElementError:
    return ElementError(
        "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input"
    )


def interpolate_mode(dims: int, mode: str) -> UnsupportedModeError:
    return UnsupportedModeError(
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {dims}D) for the modes: {_MODES} (got {mode})"
    )


def interpolate_dims(dims: int, mode: str, wanted: int) -> UnsupportedModeError:
    return UnsupportedModeError(f"Got {dims}D input, but {mode} mode needs {wanted}D input")


def interpolate_empty(size: Sequence[int], output: Sequence[int]) -> ShapeError:
    letters = ("D", "H", "W")[-len(size) :]
    first = ", ".join([f"{c}: {n}" for c, n in zip(letters, size, strict=True)])
    second = ", ".join([f"{c}: {n}" for c, n in zip(letters, output, strict=True)])
    return ShapeError(f"Input and output sizes should be greater than 0, but got input ({first}) output ({second})")


def interpolate_channels(shape: Sequence[int]) -> ShapeError:
    return ShapeError(f"Non-empty {len(shape)}D data tensor expected but got a tensor with sizes {list(shape)}")


def affine_dtype(dtype: object) -> ElementError:
    return ElementError(f"Expected theta to have floating point type, but got {dtype_name(dtype)}")


def affine_size(size: Sequence[int]) -> UnsupportedModeError:
    return UnsupportedModeError(
        "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size "
        f"{tuple(size)}."
    )


def affine_theta(dims: int, size: Sequence[int], shape: Sequence[int]) -> ElementError:
    return ElementError(
        f"Expected a batch of {dims}D affine matrices of shape Nx{dims}x{dims + 1} for size {tuple(size)}. Got "
        f"torch.Size({list(shape)})."
    )


def affine_empty(size: Sequence[int]) -> ElementError:
    return ElementError(f"Expected non-zero, positive output size. Got {tuple(size)}")


def affine_batch(wanted: int, given: int, points: int) -> ShapeError:
    return ShapeError(
        f"Expected size for first two dimensions of batch2 tensor to be: [{wanted}, {points}] but got: [{given}, "
        f"{points}]."
    )


# ----------------------------------------------------------------------------------------------------------------------
# Reading at the points of a grid
# ----------------------------------------------------------------------------------------------------------------------


def grid_mode(mode: str) -> ElementError:
    return ElementError(
        f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
    )


def grid_padding(mode: str) -> ElementError:
    return ElementError(
        "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
        f"'{mode}'"
    )


def grid_batch(shape: Sequence[int], grid: Sequence[int]) -> ShapeError:
    return ShapeError(
        "grid_sampler(): expected grid and input to have same batch size, but got input with sizes "
        f"{list(shape)} and grid with sizes {list(grid)}"
    )


def grid_last(dims: int, grid: Sequence[int]) -> ShapeError:
    return ShapeError(
        f"grid_sampler(): expected grid to have size {dims} in last dimension, but got grid with sizes {list(grid)}"
    )


def grid_dims(shape: Sequence[int], grid: Sequence[int]) -> ShapeError:
    wanted = f"{len(shape)}D" if len(shape) in (4, 5) else "4D or 5D"
    return ShapeError(
        f"grid_sampler(): expected {wanted} input and grid with same number of dimensions, but got input with sizes "
        f"{list(shape)} and grid with sizes {list(grid)}"
    )


def grid_bicubic() -> ShapeError:
    return ShapeError("grid_sampler(): bicubic interpolation only supports 4D input")


def grid_empty(shape: Sequence[int], dim: int) -> ShapeError:
    return ShapeError(
        "grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes "
        f"{list(shape)} with dimension {dim} being empty"
    )
