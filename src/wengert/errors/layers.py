"""Builds the exceptions about convolutions, pooling, normalisation and the other layers of neural networks."""

from __future__ import annotations

from collections.abc import Sequence

from .classes import (
    ElementError,
    PromotionError,
    RequiresGradError,
    ShapeError,
    UnsupportedDtypeError,
    UnsupportedModeError,
)
from .names import c_name, dtype_name, scalar_name

_SIDES = ("depth", "height", "width")


def _sides(name: str, values: Sequence[int]) -> str:
    """(1, 2) as "name_height: 1 name_width: 2"."""
    return " ".join([f"{name}_{side}: {v}" for side, v in zip(_SIDES[-len(values) :], values, strict=True)])


def _times(values: Sequence[int]) -> str:
    return " x ".join(map(str, values))


# ----------------------------------------------------------------------------------------------------------------------
# Convolutions
# ----------------------------------------------------------------------------------------------------------------------


def sizes_argument(argument: str, dims: int, given: int) -> ShapeError:
    """kernel_size=(2, 2, 2) in two dimensions."""
    return ShapeError(f"It is expected {argument} equals to {dims}, but got size {given}")


def conv_sizes(argument: str, dims: int, given: Sequence[int]) -> ShapeError:
    """stride=(1, 2, 3) in two dimensions."""
    return ShapeError(
        f"expected {argument} to be a single integer value or a list of {dims} values to match the convolution "
        f"dimensions, but got {argument}={list(given)}"
    )


def conv_range(argument: str, kind: str) -> ShapeError:
    """kind: "non-positive" or "negative"."""
    return ShapeError(f"{kind} {argument} is not supported")


def conv_dims(op: str, dims: int, shape: Sequence[int]) -> ShapeError:
    """An input that is neither a batch nor an item."""
    return ShapeError(
        f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to {op}, but got input of size: {list(shape)}"
    )


def conv_weight_dims(weight: Sequence[int], shape: Sequence[int]) -> ShapeError:
    return ShapeError(
        f"Expected {len(shape)}-dimensional weight for {len(shape)}-dimensional input {list(shape)}, but got "
        f"{len(weight)}-dimensional weight of size {list(weight)} instead"
    )


def conv_channels(
    groups: int, weight: Sequence[int], shape: Sequence[int], wanted: int, transposed: bool
) -> ShapeError:
    given = "transposed=1" if transposed else f"groups={groups}"
    return ShapeError(
        f"Given {given}, weight of size {list(weight)}, expected input{list(shape)} to have {wanted} channels, but got "
        f"{shape[1]} channels instead"
    )


def conv_groups(groups: int, weight: Sequence[int]) -> ShapeError:
    return ShapeError(
        f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of size "
        f"[{list(weight)}] instead"
    )


def conv_no_outputs(groups: int, weight: Sequence[int]) -> ShapeError:
    return ShapeError(
        f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight of size "
        f"{list(weight)} instead"
    )


def conv_bias(weight: Sequence[int], wanted: int, bias: Sequence[int], transposed: bool) -> ShapeError:
    given = "transposed=1, weight" if transposed else "weight"
    return ShapeError(
        f"Given {given} of size {list(weight)}, expected bias to be 1-dimensional with {wanted} elements, but got bias "
        f"of size {list(bias)} instead"
    )


def conv_kernel(padded: Sequence[int], kernel: Sequence[int]) -> ShapeError:
    return ShapeError(
        f"Calculated padded input size per channel: ({_times(padded)}). Kernel size: ({_times(kernel)}). Kernel size "
        "can't be greater than actual input size"
    )


def conv_padding_name(padding: str) -> ShapeError:
    return ShapeError(f"Invalid padding string: '{padding}'")


def conv_same_stride() -> ShapeError:
    return ShapeError("padding='same' is not supported for strided convolutions")


def conv_output_padding(output_padding: Sequence[int], stride: Sequence[int], dilation: Sequence[int]) -> ShapeError:
    return ShapeError(
        "output padding must be smaller than either stride or dilation, but got "
        f"{_sides('output_padding', output_padding)} {_sides('stride', stride)} {_sides('dilation', dilation)}"
    )


def conv_output_size(size: Sequence[int], output: Sequence[int]) -> ShapeError:
    """A transposed convolution whose padding leaves nothing."""
    return ShapeError(
        f"Given input size per channel: ({_times(size)}). Calculated output size per channel: ({_times(output)}). "
        "Output size is too small"
    )


def conv_weight_dtype(dtype: object, weight: object) -> PromotionError:
    return PromotionError(f"expected scalar type {scalar_name(dtype)} but found {scalar_name(weight)}")


def conv_bias_dtype(dtype: object, bias: object) -> PromotionError:
    return PromotionError(f"Input type ({c_name(dtype)}) and bias type ({c_name(bias)}) should be the same")


# ----------------------------------------------------------------------------------------------------------------------
# unfold and fold
# ----------------------------------------------------------------------------------------------------------------------


def fold_range(argument: str, name: str, values: Sequence[int], kind: str = "greater than zero") -> ShapeError:
    return ShapeError(f"{argument} should be {kind}, but got {_sides(name, values)}")


def unfold_dims(shape: Sequence[int]) -> ShapeError:
    return ShapeError(
        "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but "
        f"got: {list(shape)}"
    )


def unfold_empty(
    size: Sequence[int], kernel: Sequence[int], dilation: Sequence[int], padding: Sequence[int], count: Sequence[int]
) -> ShapeError:
    return ShapeError(
        f"Given input with spatial size {tuple(size)}, kernel_size={tuple(kernel)}, dilation={tuple(dilation)}, "
        f"padding={tuple(padding)}, calculated shape of the array of sliding blocks as {tuple(count)}, but its "
        "components must be at least one."
    )


def fold_dims(shape: Sequence[int]) -> ShapeError:
    return ShapeError(
        "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for input, "
        f"but got: {list(shape)}"
    )


def fold_channels(channels: int, kernel: Sequence[int]) -> ShapeError:
    return ShapeError(
        "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
        f"input.size(1)={channels} and kernel_size={tuple(kernel)}."
    )


def fold_blocks(
    output: Sequence[int],
    kernel: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
    count: Sequence[int],
    given: int,
) -> ShapeError:
    total = count[0] * count[1]
    return ShapeError(
        f"Given output_size={tuple(output)}, kernel_size={tuple(kernel)}, dilation={tuple(dilation)}, "
        f"padding={tuple(padding)}, stride={tuple(stride)}, expected size of input's dimension 2 to match the "
        f"calculated number of sliding blocks {count[0]} * {count[1]} = {total}, but got input.size(2)={given}."
    )


# ----------------------------------------------------------------------------------------------------------------------
# Pooling
# ----------------------------------------------------------------------------------------------------------------------

_INTS = {1: "one int", 2: "two ints", 3: "three ints"}
_LETTERS = ("T", "H", "W")


def pool_sizes(op: str, argument: str, dims: int) -> ShapeError:
    start = "must either be omitted," if argument == "stride" else "must either be" if argument == "kernel_size" else "must be"
    return ShapeError(f"{op}: {argument} {start} a single int, or a tuple of {_INTS[dims]}")


def pool_dims(dims: int, shape: Sequence[int]) -> ShapeError:
    return ShapeError(
        f"Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with optional 0 dim batch size for input, but got:"
        f"{list(shape)}"
    )


def pool_range(argument: str, values: Sequence[int]) -> ShapeError:
    """argument: "kernel size", "stride" or "dilation"."""
    if argument == "stride":
        return ShapeError("stride should not be zero")
    word = argument.split()[0]
    sides = " ".join([f"{word}{c}: {v}" for c, v in zip(_LETTERS[-len(values) :], values, strict=True)])
    return ShapeError(f"{argument} should be greater than zero, but got {sides}")


def pool_negative_padding(padding: int) -> ShapeError:
    return ShapeError(f"pad must be non-negative, but got pad: {padding}")


def pool_padding(padding: int, kernel: int, dilation: int) -> ShapeError:
    return ShapeError(
        f"pad should be at most half of effective kernel size, but got pad={padding}, kernel_size={kernel} and "
        f"dilation={dilation}"
    )


def pool_too_small(size: Sequence[int], output: Sequence[int]) -> ShapeError:
    """The sizes from the channels on."""
    return ShapeError(
        f"Given input size: ({'x'.join(map(str, size))}). Calculated output size: ({'x'.join(map(str, output))}). "
        "Output size is too small"
    )


def pool_divisor() -> ShapeError:
    return ShapeError("divisor must be not zero")


def adaptive_dims(op: str, dims: int, shape: Sequence[int], colon: str) -> ShapeError:
    return ShapeError(f"{op}(): Expected {dims + 1}D or {dims + 2}D tensor, but got{colon} {list(shape)}")


def adaptive_sizes(op: str, dims: int) -> ShapeError:
    return ShapeError(f"{op}: output_size must be {dims}")


def adaptive_negative(op: str, size: Sequence[int]) -> ShapeError:
    given = ", ".join(map(str, size))
    return ShapeError(f"{op}: elements of output_size must be greater than or equal to 0 but received {{{given}}}")


def adaptive_empty(op: str, shape: Sequence[int], dim: int) -> ShapeError:
    return ShapeError(
        f"{op}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes {list(shape)} with "
        f"dimension {dim} being empty"
    )


def unpool_dtype(dtype: object) -> UnsupportedDtypeError:
    return UnsupportedDtypeError(f"elements in indices should be type int64 but got: {scalar_name(dtype)}")


def unpool_shapes(shape: Sequence[int], indices: Sequence[int]) -> ShapeError:
    return ShapeError(
        f"Expected shape of indices to be same as that of the input tensor ({list(shape)}) but got indices tensor with "
        f"shape: {list(indices)}"
    )


def unpool_index(index: int, size: Sequence[int]) -> ShapeError:
    return ShapeError(
        f"Found an invalid max index: {index} (output volumes are of size {'x'.join(map(str, size))})"
    )


def unpool_size_length(dims: int, given: int) -> ElementError:
    return ElementError(
        f"output_size should be a sequence containing {dims} or {dims + 2} elements, but it has a length of '{given}'"
    )


def unpool_size(size: Sequence[int], dim: int, low: int, high: int) -> ElementError:
    return ElementError(f'invalid output_size "{tuple(size)}" (dim {dim} must be between {low} and {high})')


# ----------------------------------------------------------------------------------------------------------------------
# Normalisation
# ----------------------------------------------------------------------------------------------------------------------


def norm_one_value(shape: Sequence[int]) -> ElementError:
    return ElementError(f"Expected more than 1 value per channel when training, got input size torch.Size({list(shape)})")


def norm_missing(name: str) -> ShapeError:
    return ShapeError(f"{name} must be defined in evaluation mode")


def norm_channels(name: str, channels: int, given: int) -> ShapeError:
    return ShapeError(f"{name} should contain {channels} elements not {given}")


def norm_dtypes() -> PromotionError:
    return PromotionError("mixed dtype (CPU): all inputs must share same datatype.")


def norm_parameter_dtype() -> PromotionError:
    return PromotionError("mixed dtype (CPU): expect parameter to have scalar type of Float")


def norm_half_running() -> ElementError:
    return ElementError("running_mean and running_var must either both be None or neither be None")


def norm_running_grad(name: str) -> RequiresGradError:
    return RequiresGradError(
        f"The function 'native_batch_norm' is not differentiable with respect to argument '{name}'. This input cannot "
        "have requires_grad True."
    )


def group_norm_dims(dims: int) -> ShapeError:
    return ShapeError(f"Expected at least 2 dimensions for input tensor but received {dims}")


def group_norm_groups(shape: Sequence[int], groups: int) -> ShapeError:
    return ShapeError(
        "Expected number of channels in input to be divisible by num_groups, but got input of shape "
        f"{list(shape)} and num_groups={groups}"
    )


def group_norm_vector(name: str, given: Sequence[int], shape: Sequence[int]) -> ShapeError:
    """name: "weight" or "bias"."""
    return ShapeError(
        f"Expected {name} to be a vector of size equal to the number of channels in input, but got {name} of shape "
        f"{list(given)} and input of shape {list(shape)}"
    )


def instance_norm_size(shape: Sequence[int]) -> ElementError:
    return ElementError(
        f"Expected more than 1 spatial element when training, got input size torch.Size({list(shape)})"
    )


def instance_norm_running() -> ShapeError:
    return ShapeError("Expected running_mean and running_var to be defined when use_input_stats is false")


def response_norm_dims(dims: int) -> ElementError:
    return ElementError(f"Expected 3D or higher dimensionality input (got {dims} dimensions)")


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
