"""Messages about arguments, shapes, indices and dtypes that several modules raise. Parameters are as in `graph`."""

from __future__ import annotations

from collections.abc import Sequence

from .classes import (
    ArgumentError,
    ConversionError,
    DimensionError,
    ShapeError,
    SingularMatrixError,
    TensorIndexError,
    UnsupportedDtypeError,
    ValueOverflowError,
)
from .names import c_name, called, scalar_name, type_name

# -- arguments ---------------------------------------------------------------------------------------------------------


def wrong_argument_type(op: str, argument: str, position: int | None, got: type | str, expected: str = "Tensor") -> ArgumentError:
    """Return the error for an argument of a wrong type.

    position: counted from 0, or None for an argument that was given by its name. expected: the name of a class, or words such as
    "tuple of ints".
    """
    where = "" if position is None else f" (position {position + 1})"
    return ArgumentError(f"{called(op)}(): argument '{argument}'{where} must be {expected}, not {type_name(got)}")


def wrong_arguments(op: str, types: str) -> ArgumentError:
    """Return the error for arguments that do not fit together. types: those of the arguments."""
    return ArgumentError(f"{called(op)}() received an invalid combination of arguments - got ({types})")


def wrong_receiver(method: str, got: type) -> ArgumentError:
    """Return the error for a method of a tensor that is called with something else in the tensor's place."""
    return ArgumentError(
        f"descriptor '{called(method)}' for 'torch._C.TensorBase' objects doesn't apply to a '{got.__name__}' object"
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


def no_array_of(what: str, function: str | None = None, hint: str | None = None, asked_by: str = "") -> ConversionError:
    """Return the error for a tensor that must not become an array, whose gradient or tangent would be lost.

    what: the kind of tensor. function: the function of NumPy or SciPy that has no derivative, or None. hint: what to write instead.
    asked_by: a sentence on who wants the array.
    """
    text = f"Can't call numpy() on {what}. Use tensor.detach().numpy() instead."
    if function is not None:
        text += f" {function} has no derivative here."
    if asked_by:
        text += f" {asked_by}"
    return ConversionError(text if hint is None else f"{text} Hint: {hint}")


# -- dimensions and shapes ---------------------------------------------------------------------------------------------


def dim_out_of_range(dim: int, ndim: int) -> DimensionError:
    """Return the error for a dim of a tensor with ndim dimensions. A 0-d tensor has dim 0 and -1, as in torch."""
    size = max(ndim, 1)
    return DimensionError(f"Dimension out of range (expected to be in range of [{-size}, {size - 1}], but got {dim})")


def same_diagonal_dims(dim1: int, dim2: int) -> ShapeError:
    return ShapeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")


def empty_reduction(op: str, dim: int | None = None) -> ShapeError | DimensionError:
    """Return the error for a reduction without a value for no elements, such as max. dim: of size 0; None for all."""
    if dim is None:
        return ShapeError(
            f"{op}(): Expected reduction dim to be specified for input.numel() == 0. "
            "Specify the reduction dim with the 'dim' argument."
        )
    return DimensionError(f"{op}(): Expected reduction dim {dim} to have non-zero size.")


def broadcast_shapes(*shapes: Sequence[int]) -> ShapeError:
    """Return the error for shapes that do not broadcast. It names the last dimension in which they differ."""
    ndim = max(len(shape) for shape in shapes)
    for dim in range(ndim - 1, -1, -1):
        seen = 1
        for shape in shapes:
            position = dim - (ndim - len(shape))
            size = shape[position] if position >= 0 else 1
            if size != 1 and seen not in (1, size):
                return ShapeError(
                    f"The size of tensor a ({seen}) must match the size of tensor b ({size}) at non-singleton dimension {dim}"
                )
            seen = size if seen == 1 else seen
    raise AssertionError("these shapes broadcast")


def inplace_shape(output: Sequence[int], result: Sequence[int]) -> ShapeError:
    """Return the error for the result of an in-place operation that has broadcast beyond its output. Both are shapes."""
    return ShapeError(f"output with shape {list(output)} doesn't match the broadcast shape {list(result)}")


def expand_mismatch(shape: Sequence[int], target: Sequence[int]) -> ShapeError:
    """Return the error for a shape that does not expand to the target. A -1 in the target keeps a size."""
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
                    f"The expanded size of the tensor ({wanted}) isn't allowed in a leading, non-existing dimension {dim}"
                )
        elif wanted not in (-1, shape[dim - missing]) and (shape[dim - missing] != 1 or wanted < 0):
            return ShapeError(
                f"The expanded size of the tensor ({wanted}) must match the existing size ({shape[dim - missing]}) at "
                f"non-singleton dimension {dim}.  Target sizes: {list(target)}.  Tensor sizes: {list(shape)}"
            )
    raise AssertionError("this shape expands to the target")


def outside_storage(size: Sequence[int], stride: Sequence[int], offset: int, itemsize: int, last: int, count: int) -> ShapeError:
    return ShapeError(
        f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and itemsize {itemsize} "
        f"requiring a storage size of {(last + 1) * itemsize} are out of bounds for storage of size {count * itemsize}"
    )


# -- indices -----------------------------------------------------------------------------------------------------------


def index_out_of_range(index: int, dim: int, size: int) -> TensorIndexError:
    return TensorIndexError(f"index {index} is out of bounds for dimension {dim} with size {size}")


# -- dtypes ------------------------------------------------------------------------------------------------------------


def value_overflow(c_name: str) -> ValueOverflowError:
    """Return the error for a number beyond a dtype. c_name: the name of the dtype in C, such as uint8_t."""
    return ValueOverflowError(f"value cannot be converted to type {c_name} without overflow")


def unsupported_dtype(op: str, dtype: object) -> UnsupportedDtypeError:
    return UnsupportedDtypeError(f"\"{called(op)}\" not implemented for '{scalar_name(dtype)}'")


# -- matrices ----------------------------------------------------------------------------------------------------------


def matmul(a: Sequence[int], b: Sequence[int]) -> ShapeError:
    """Return the error for two shapes that cannot be multiplied as vectors, matrices or batches of matrices."""
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


def matmul_dtypes(a: object, b: object) -> UnsupportedDtypeError:
    return UnsupportedDtypeError(
        f"expected m1 and m2 to have the same dtype, but got: {c_name(a)} != {c_name(b)}\n{_same_dtype_hint()}"
    )


def dot_dtypes(a: object, b: object) -> UnsupportedDtypeError:
    return UnsupportedDtypeError(
        f"dot : expected both vectors to have same dtype, but found {scalar_name(a)} and {scalar_name(b)}\n{_same_dtype_hint()}"
    )


def _same_dtype_hint() -> str:
    return "Hint: convert one of them: x.to(y.dtype). A module is converted as a whole: model.double() or model.to(dtype)."


def addmm_dtypes(added: object, product: object) -> UnsupportedDtypeError:
    return UnsupportedDtypeError(f"self and mat2 must have the same dtype, but got {scalar_name(added)} and {scalar_name(product)}")


def square_matrix(op: str, shape: Sequence[int]) -> ShapeError:
    """Return the error for a shape that is not that of square matrices."""
    if len(shape) < 2:
        return ShapeError(f"{op}: The input tensor A must have at least 2 dimensions.")
    return ShapeError(f"{op}: A must be batches of square matrices, but they are {shape[-2]} by {shape[-1]} matrices")


def norm_dtype(op: str, dtype: object) -> UnsupportedDtypeError:
    return UnsupportedDtypeError(f"{op}: Expected a floating point or complex tensor as input. Got {scalar_name(dtype)}")


def low_precision(op: str, dtype: object) -> UnsupportedDtypeError:
    return UnsupportedDtypeError(f"{op}: Low precision dtypes not supported. Got {scalar_name(dtype)}")


def svd_not_finite() -> SingularMatrixError:
    return SingularMatrixError("linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values.")


def equation_shapes(op: str, a: Sequence[int], b: Sequence[int], left: bool) -> ShapeError:
    """Return the error for shapes a, b of an equation A X = B, or X A = B if not left, that do not fit."""
    return ShapeError(
        f"{op}: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} "
        f"({a[-2]}x{a[-1]} and {b[-2]}x{b[-1]})"
    )


# -- layers ------------------------------------------------------------------------------------------------------------


def layer_norm_input(normalized: Sequence[int], shape: Sequence[int]) -> ShapeError:
    if not normalized:
        return ShapeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, "
            "but got normalized_shape = []"
        )
    wanted = ", ".join(["*", *[str(n) for n in normalized]])
    return ShapeError(
        f"Given normalized_shape={list(normalized)}, expected input with shape [{wanted}], but got input of size{list(shape)}"
    )


def layer_norm_parameter(name: str, shape: Sequence[int], normalized: Sequence[int]) -> ShapeError:
    return ShapeError(
        f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape {list(shape)} and "
        f"normalized_shape = {list(normalized)}"
    )


def group_norm_groups(shape: Sequence[int], groups: int) -> ShapeError:
    return ShapeError(
        "Expected number of channels in input to be divisible by num_groups, but got input of shape "
        f"{list(shape)} and num_groups={groups}"
    )


def pool_sizes(op: str, argument: str, dims: int) -> ShapeError:
    count = {1: "one int", 2: "two ints", 3: "three ints"}[dims]
    start = "must either be omitted," if argument == "stride" else "must either be" if argument == "kernel_size" else "must be"
    return ShapeError(f"{op}: {argument} {start} a single int, or a tuple of {count}")
