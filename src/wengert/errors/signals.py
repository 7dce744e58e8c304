"""Builds the exceptions about Fourier transforms of short pieces, and about reductions by index."""

from __future__ import annotations

from collections.abc import Sequence

from .classes import DimensionError, ShapeError, UnsupportedDtypeError
from .names import scalar_name


def spectrum(op: str | None, what: str) -> ShapeError:
    return ShapeError(what if op is None else f"{op}(): {what}")


def stft_return_complex() -> ShapeError:
    return ShapeError(
        "stft requires the return_complex parameter be given for real inputs, and will further require that "
        "return_complex=True in a future PyTorch release."
    )


def onesided_complex() -> ShapeError:
    return ShapeError("Cannot have onesided output if window or input is complex")


def istft_real() -> UnsupportedDtypeError:
    return UnsupportedDtypeError(
        "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."
    )


def window_size(op: str, wanted: int, shape: Sequence[int]) -> ShapeError:
    if op == "istft":
        return ShapeError("istft(): Invalid window shape. window has to be 1D and length of `win_length`")
    return ShapeError(
        f"{op}(): expected a 1D window tensor of size equal to win_length={wanted}, but got window with size {list(shape)}"
    )


def window_overlap() -> ShapeError:
    return ShapeError(
        "istft(): window overlap add min: 1. Hint: somewhere no window reaches; pieces nearer to each other, or center=True."
    )


def index_reduction(reduce: str) -> ShapeError:
    return ShapeError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")


def index_vector(op: str, dtype: object, shape: Sequence[int]) -> DimensionError:
    return DimensionError(
        f"{op}(): Index is supposed to be a vector, but got dim: {len(shape)} with type: {scalar_name(dtype)} and size: "
        f"{list(shape)}"
    )


def index_source_dtype(op: str, dtype: object, source: object) -> UnsupportedDtypeError:
    return UnsupportedDtypeError(
        f"{op}(): self ({scalar_name(dtype)}) and source ({scalar_name(source)}) must have the same scalar type"
    )


def index_count(op: str, count: int, size: int, dim: int) -> ShapeError:
    return ShapeError(f"{op}(): Number of indices ({count}) should be equal to source.size(dim): ({size}), for dim: {dim}")


def index_source_shape(shape: Sequence[int], source: Sequence[int]) -> ShapeError:
    return ShapeError(
        "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
        f"{list(shape)} source.shape = {list(source)}"
    )


def slice_size(source: Sequence[int], size: Sequence[int]) -> ShapeError:
    return ShapeError(
        f"expected src to have a size equal to the slice of self. src size = {list(source)}, slice size = {list(size)}"
    )


def outside_storage(
    size: Sequence[int], stride: Sequence[int], offset: int, itemsize: int, last: int, count: int
) -> ShapeError:
    return ShapeError(
        f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and itemsize {itemsize} "
        f"requiring a storage size of {(last + 1) * itemsize} are out of bounds for storage of size {count * itemsize}"
    )


def segments_missing() -> ShapeError:
    return ShapeError("segment_reduce(): Either lengths or offsets must be defined.")


def segments_reduction(reduce: str) -> ShapeError:
    return ShapeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")


def segments_axis(argument: str, axis: int) -> ShapeError:
    return ShapeError(f"segment_reduce(): Expected axis to be the last dimension of {argument} but got {axis}.")


def segments_negative() -> ShapeError:
    return ShapeError("lengths contains negative value!")


def segments_sum() -> ShapeError:
    return ShapeError(
        "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe."
    )


def sampler_dims(dims: int, given: int) -> ShapeError:
    return ShapeError(f"grid_sampler_{dims}d(): Expected input with {dims + 2} dimensions, but got {given}")
