"""Builds the exceptions about convolutions, pooling and normalisation."""

from __future__ import annotations

from collections.abc import Sequence

from .classes import ElementError, PromotionError, RequiresGradError, ShapeError, UnsupportedDtypeError
from .names import c_name, scalar_name

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


def adaptive_input(least: int) -> ElementError:
    return ElementError(f"Input dimension should be at least {least}")


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


def fractional_output(op: str) -> ElementError:
    return ElementError(f"{op} requires specifying either an output_size or an output_ratio")


def fractional_dims(op: str, dims: int, given: int) -> ShapeError:
    return ShapeError(f"{op}(): Expected {dims + 1}D or {dims + 2}D tensor, but got {given}D")


def fractional_ratio(op: str, ratio: object) -> ElementError:
    return ElementError(f"{op} requires output_ratio to either be a single float or a tuple of ints between 0 and 1, got {ratio}")


def fractional_size(op: str, name: str, kernel: int, size: int) -> ShapeError:
    return ShapeError(f"{op}(): pool {name} {kernel} too large relative to input {name} {size}")


def fractional_samples(wanted: int, found: int) -> ShapeError:
    return ShapeError(f"Expect _random_samples.size(2) equals to {wanted}; got {found}.")


def recurrent_params(wanted: int, given: int) -> ShapeError:
    return ShapeError(f"got an incorrect number of RNN parameters: expected {wanted}, got {given}")


def recurrent_dims(given: int) -> ShapeError:
    return ShapeError(f"Expected input to be 2D or 3D, got {given}D instead")
