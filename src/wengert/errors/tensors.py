"""Builds the exceptions about arguments, shapes, dimensions, indices, dtypes and conversions.

Parameters are as in `graph`: a dtype may be this package's, NumPy's or a name; a class may be given by its name.
"""

from __future__ import annotations

from collections.abc import Sequence

from .classes import (
    ArgumentError,
    ConversionError,
    DimensionError,
    ShapeError,
    TensorIndexError,
    UnsupportedDtypeError,
    ValueOverflowError,
)
from .names import called, scalar_name, type_name

# ----------------------------------------------------------------------------------------------------------------------
# Arguments
# ----------------------------------------------------------------------------------------------------------------------


def wrong_argument_type(
    op: str, argument: str, position: int, got: type | str, expected: str = "Tensor"
) -> ArgumentError:
    """position: counted from 0. expected: a class, or words such as "tuple of ints"."""
    return ArgumentError(
        f"{called(op)}(): argument '{argument}' (position {position + 1}) must be {expected}, not {type_name(got)}"
    )


def too_many_arguments(op: str, expected: int, got: int) -> ArgumentError:
    return ArgumentError(
        f"{called(op)}() takes {expected} positional argument{'s' if expected != 1 else ''} but {got} "
        f"{'were' if got != 1 else 'was'} given"
    )


def missing_argument(op: str, argument: str) -> ArgumentError:
    return ArgumentError(f'{called(op)}() missing 1 required positional arguments: "{argument}"')


def unexpected_keyword(op: str, argument: str) -> ArgumentError:
    return ArgumentError(f"{called(op)}() got an unexpected keyword argument '{argument}'")


def multiple_values(op: str, argument: str) -> ArgumentError:
    return ArgumentError(f"{called(op)}() got multiple values for argument '{argument}'")


# ----------------------------------------------------------------------------------------------------------------------
# Dimensions
# ----------------------------------------------------------------------------------------------------------------------


def dim_out_of_range(dim: int, ndim: int) -> DimensionError:
    """ndim: how many dimensions there are to choose from. 0 counts as 1: a 0-d tensor has dim 0 and -1, as in torch."""
    size = max(ndim, 1)
    return DimensionError(f"Dimension out of range (expected to be in range of [{-size}, {size - 1}], but got {dim})")


def moved_dims_number(source: Sequence[int], destination: Sequence[int]) -> ShapeError:
    return ShapeError(
        f"movedim: Invalid source or destination dims: source ({list(source)} dims) should contain the same number "
        f"of dims as destination ({list(destination)} dims)"
    )


def same_diagonal_dims(dim1: int, dim2: int) -> ShapeError:
    return ShapeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")


def empty_reduction(op: str, dim: int | None = None) -> ShapeError | DimensionError:
    """A reduction that has no value over no elements (max, argmin). dim: the dimension of size 0; None if over all."""
    if dim is None:
        return ShapeError(
            f"{op}(): Expected reduction dim to be specified for input.numel() == 0. "
            "Specify the reduction dim with the 'dim' argument."
        )
    return DimensionError(f"{op}(): Expected reduction dim {dim} to have non-zero size.")


# ----------------------------------------------------------------------------------------------------------------------
# Shapes
# ----------------------------------------------------------------------------------------------------------------------


def broadcast(a: int, b: int, dim: int) -> ShapeError:
    """a, b: the two sizes that differ. dim: where they do, counted in the result."""
    return ShapeError(
        f"The size of tensor a ({a}) must match the size of tensor b ({b}) at non-singleton dimension {dim}"
    )


def broadcast_shapes(*shapes: Sequence[int]) -> ShapeError:
    """`broadcast` for shapes that do not broadcast to one."""
    ndim = max(len(shape) for shape in shapes)
    for dim in range(ndim - 1, -1, -1):
        seen = 1
        for shape in shapes:
            position = dim - (ndim - len(shape))
            size = shape[position] if position >= 0 else 1
            if size != 1 and seen not in (1, size):
                return broadcast(seen, size, dim)
            seen = size if seen == 1 else seen
    raise AssertionError("these shapes broadcast")


def inplace_shape(output: Sequence[int], result: Sequence[int]) -> ShapeError:
    """The result of an in-place operation has broadcast beyond the tensor that it should be written to."""
    return ShapeError(f"output with shape {list(output)} doesn't match the broadcast shape {list(result)}")


def expand_mismatch(shape: Sequence[int], target: Sequence[int]) -> ShapeError:
    """A tensor of this shape does not expand to the target, in which -1 keeps a size."""
    missing = len(target) - len(shape)
    if missing < 0:
        return ShapeError(
            f"expand({list(shape)}, size={list(target)}): the number of sizes provided ({len(target)}) must be greater "
            f"or equal to the number of dimensions in the tensor ({len(shape)})"
        )
    for dim in range(len(target) - 1, -1, -1):
        wanted = target[dim]
        if dim < missing:
            if wanted < 0:
                return ShapeError(
                    f"The expanded size of the tensor ({wanted}) isn't allowed in a leading, non-existing dimension "
                    f"{dim}"
                )
        elif wanted not in (-1, shape[dim - missing]) and (shape[dim - missing] != 1 or wanted < 0):
            return ShapeError(
                f"The expanded size of the tensor ({wanted}) must match the existing size ({shape[dim - missing]}) at "
                f"non-singleton dimension {dim}.  Target sizes: {list(target)}.  Tensor sizes: {list(shape)}"
            )
    raise AssertionError("this shape expands to the target")


def view_size(target: Sequence[int], numel: int) -> ShapeError:
    """A view or reshape of numel elements to a target that cannot hold them."""
    for index, size in enumerate(target):
        if size < -1:
            return ShapeError(f"invalid shape dimension {size} at index {index} of shape {list(target)}")
    if list(target).count(-1) > 1:
        return ShapeError("only one dimension can be inferred")
    if -1 in target and 0 in target and numel == 0:
        return ShapeError(
            f"cannot reshape tensor of 0 elements into shape {list(target)} because the unspecified dimension size -1 "
            "can be any value and is ambiguous"
        )
    return ShapeError(f"shape '{list(target)}' is invalid for input of size {numel}")


def view_stride() -> ShapeError:
    return ShapeError(
        "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
        "contiguous subspaces). Use .reshape(...) instead."
    )


def matmul(a: Sequence[int], b: Sequence[int]) -> ShapeError:
    """Shapes that cannot be multiplied as vectors, matrices or batches of matrices."""
    if not a or not b:
        return ShapeError(f"both arguments to matmul need to be at least 1D, but they are {len(a)}D and {len(b)}D")
    if len(a) == len(b) == 1:
        return ShapeError(
            f"inconsistent tensor size, expected tensor {list(a)} and src {list(b)} to have the same number of "
            f"elements, but got {a[0]} and {b[0]} elements respectively"
        )
    if len(a) == 2 and len(b) == 1:
        return ShapeError(f"size mismatch, got input ({a[0]}), mat ({_by(a)}), vec ({b[0]})")
    if len(a) == 1 and len(b) == 2:
        return ShapeError(f"mat1 and mat2 shapes cannot be multiplied (1x{a[0]} and {_by(b)})")
    if len(b) > 1 and a[-1] == b[-2]:
        return broadcast_shapes(a[:-2], b[:-2])
    return ShapeError(f"mat1 and mat2 shapes cannot be multiplied ({_by(a)} and {_by(b)})")


def _by(shape: Sequence[int]) -> str:
    return "x".join(str(size) for size in shape)


# ----------------------------------------------------------------------------------------------------------------------
# Indices
# ----------------------------------------------------------------------------------------------------------------------


def index_out_of_range(index: int, dim: int, size: int) -> TensorIndexError:
    return TensorIndexError(f"index {index} is out of bounds for dimension {dim} with size {size}")


def index_of_zero_dim() -> TensorIndexError:
    return TensorIndexError(
        "invalid index of a 0-dim tensor. Use `tensor.item()` in Python to convert a 0-dim tensor to a number"
    )


def too_many_indices(ndim: int) -> TensorIndexError:
    return TensorIndexError(f"too many indices for tensor of dimension {ndim}")


def index_shapes(*shapes: Sequence[int]) -> TensorIndexError:
    listed = ", ".join(str(list(shape)) for shape in shapes)
    return TensorIndexError(f"shape mismatch: indexing tensors could not be broadcast together with shapes {listed}")


# ----------------------------------------------------------------------------------------------------------------------
# Dtypes
# ----------------------------------------------------------------------------------------------------------------------


def value_overflow(c_name: str) -> ValueOverflowError:
    """c_name: the type as C calls it, uint8_t."""
    return ValueOverflowError(f"value cannot be converted to type {c_name} without overflow")


def unsupported_dtype(op: str, dtype: object) -> UnsupportedDtypeError:
    return UnsupportedDtypeError(f"\"{called(op)}\" not implemented for '{scalar_name(dtype)}'")


def bool_subtraction(*, both: bool) -> UnsupportedDtypeError:
    """both: whether both operands are bool."""
    if both:
        return UnsupportedDtypeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. "
            "Use the `^` or `logical_xor()` operator instead."
        )
    return UnsupportedDtypeError(
        "Subtraction, the `-` operator, with a bool tensor is not supported. "
        "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."
    )


# ----------------------------------------------------------------------------------------------------------------------
# Conversion
# ----------------------------------------------------------------------------------------------------------------------


def numpy_requires_grad() -> ConversionError:
    return ConversionError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")


# ----------------------------------------------------------------------------------------------------------------------
# Devices
# ----------------------------------------------------------------------------------------------------------------------


def line_ends(op: str, start: int, end: int) -> ShapeError:
    """start, end: how many dimensions they have."""
    found = [f"{name} with {n} dimension(s)" for name, n in (("start", start), ("end", end)) if n]
    return ShapeError(f"{op} only supports 0-dimensional start and end tensors, but got {' and '.join(found)}.")


# -- numbers of threads ------------------------------------------------------------------------------------------------


# ----------------------------------------------------------------------------------------------------------------------
# Files
# ----------------------------------------------------------------------------------------------------------------------
