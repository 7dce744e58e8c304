"""Builds the exceptions about convolutions, pooling and normalisation."""

from __future__ import annotations

from collections.abc import Sequence

from .classes import ElementError, PromotionError, ShapeError
from .names import scalar_name

_SIDES = ("depth", "height", "width")


def _sides(name: str, values: Sequence[int]) -> str:
    """(1, 2) as "name_height: 1 name_width: 2"."""
    return " ".join([f"{name}_{side}: {v}" for side, v in zip(_SIDES[-len(values) :], values, strict=True)])


def _times(values: Sequence[int]) -> str:
    return " x ".join(map(str, values))


# ----------------------------------------------------------------------------------------------------------------------
# Convolutions
# ----------------------------------------------------------------------------------------------------------------------


def conv_range(argument: str, kind: str) -> ShapeError:
    """kind: "non-positive" or "negative"."""
    return ShapeError(f"{kind} {argument} is not supported")


def conv_channels(
    groups: int, weight: Sequence[int], shape: Sequence[int], wanted: int, transposed: bool
) -> ShapeError:
    given = "transposed=1" if transposed else f"groups={groups}"
    return ShapeError(
        f"Given {given}, weight of size {list(weight)}, expected input{list(shape)} to have {wanted} channels, but got "
        f"{shape[1]} channels instead"
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


# ----------------------------------------------------------------------------------------------------------------------
# unfold and fold
# ----------------------------------------------------------------------------------------------------------------------


def fold_range(argument: str, name: str, values: Sequence[int], kind: str = "greater than zero") -> ShapeError:
    return ShapeError(f"{argument} should be {kind}, but got {_sides(name, values)}")


def unfold_empty(
    size: Sequence[int], kernel: Sequence[int], dilation: Sequence[int], padding: Sequence[int], count: Sequence[int]
) -> ShapeError:
    return ShapeError(
        f"Given input with spatial size {tuple(size)}, kernel_size={tuple(kernel)}, dilation={tuple(dilation)}, "
        f"padding={tuple(padding)}, calculated shape of the array of sliding blocks as {tuple(count)}, but its "
        "components must be at least one."
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


def pool_range(argument: str, values: Sequence[int]) -> ShapeError:
    """argument: "kernel size", "stride" or "dilation"."""
    if argument == "stride":
        return ShapeError("stride should not be zero")
    word = argument.split()[0]
    sides = " ".join([f"{word}{c}: {v}" for c, v in zip(_LETTERS[-len(values) :], values, strict=True)])
    return ShapeError(f"{argument} should be greater than zero, but got {sides}")


def adaptive_negative(op: str, size: Sequence[int]) -> ShapeError:
    given = ", ".join(map(str, size))
    return ShapeError(f"{op}: elements of output_size must be greater than or equal to 0 but received {{{given}}}")


# ----------------------------------------------------------------------------------------------------------------------
# Normalisation
# ----------------------------------------------------------------------------------------------------------------------


def norm_one_value(shape: Sequence[int]) -> ElementError:
    return ElementError(f"Expected more than 1 value per channel when training, got input size torch.Size({list(shape)})")


def norm_channels(name: str, channels: int, given: int) -> ShapeError:
    return ShapeError(f"{name} should contain {channels} elements not {given}")


def group_norm_groups(shape: Sequence[int], groups: int) -> ShapeError:
    return ShapeError(
        "Expected number of channels in input to be divisible by num_groups, but got input of shape "
        f"{list(shape)} and num_groups={groups}"
    )
