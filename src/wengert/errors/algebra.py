"""Builds the exceptions about reductions, matrix products and the functions of neural networks.

Parameters are as in `graph`: a dtype may be this package's, NumPy's or a name.
"""

from __future__ import annotations

from collections.abc import Sequence

from .classes import (
    DimensionError,
    ElementError,
    NotDifferentiableError,
    ShapeError,
    SingularMatrixError,
    TensorIndexError,
    UnsupportedDtypeError,
)
from .names import c_name, scalar_name, tensor_type

# ----------------------------------------------------------------------------------------------------------------------
# Reductions
# ----------------------------------------------------------------------------------------------------------------------


def empty_arg_reduction(op: str) -> DimensionError:
    """argmax or argmin over all of no elements."""
    return DimensionError(f"{op}(): Expected reduction dim to be specified for input.numel() == 0.")


def empty_aminmax() -> ShapeError:
    return ShapeError("aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.")


def arg_dtype(op: str, kind: str) -> UnsupportedDtypeError:
    """argmax or argmin. kind: "bool" or "complex"."""
    return UnsupportedDtypeError(f"{op}(): does not support {kind} input")


def empty_norm(p: float, dim: int | None) -> ShapeError:
    """A norm that has no value over no elements. dim: the dimension of size 0; None if over all."""
    where = "an empty tensor because" if dim is None else f"the dimension {dim} because this dimension is empty and"
    return ShapeError(
        f"linalg.vector_norm cannot compute the {p:g} norm on {where} the operation does not have an identity"
    )


def norm_dtype(op: str, dtype: object) -> UnsupportedDtypeError:
    return UnsupportedDtypeError(
        f"{op}: Expected a floating point or complex tensor as input. Got {scalar_name(dtype)}"
    )


def norm_order(order: object) -> ShapeError:
    return ShapeError(f"linalg.matrix_norm: Order {order} not supported.")


def norm_dims(dims: Sequence[int]) -> ShapeError:
    """A matrix norm over other than two dimensions."""
    return ShapeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(str(d) for d in dims)}")


def norm_same_dims(dims: tuple[int, ...]) -> ShapeError:
    return ShapeError(f"linalg.matrix_norm: dims must be different. Got {dims}")


def norm_number_of_dims(dims: Sequence[int]) -> ShapeError:
    return ShapeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dims)}")


def nansum_complex() -> UnsupportedDtypeError:
    return UnsupportedDtypeError("nansum on CPU does not support complex inputs")


def variance_dtype(op: str) -> UnsupportedDtypeError:
    return UnsupportedDtypeError(f"{op} only support floating point and complex dtypes")


# ----------------------------------------------------------------------------------------------------------------------
# Matrix products
# ----------------------------------------------------------------------------------------------------------------------


def matmul_dtypes(a: object, b: object) -> UnsupportedDtypeError:
    return UnsupportedDtypeError(f"expected m1 and m2 to have the same dtype, but got: {c_name(a)} != {c_name(b)}")


def dot_dtypes(a: object, b: object) -> UnsupportedDtypeError:
    return UnsupportedDtypeError(
        f"dot : expected both vectors to have same dtype, but found {scalar_name(a)} and {scalar_name(b)}"
    )


def bmm_dtypes(a: object, b: object) -> UnsupportedDtypeError:
    return UnsupportedDtypeError(f"expected scalar type {scalar_name(a)} but found {scalar_name(b)}")


def mv_dtypes(mat: object, vec: object) -> UnsupportedDtypeError:
    return UnsupportedDtypeError(
        f"addmv input tensors must have the same dtype, but got {scalar_name(vec)}, {scalar_name(mat)}, and "
        f"{scalar_name(vec)}"
    )


def addmm_dtypes(added: object, product: object) -> UnsupportedDtypeError:
    return UnsupportedDtypeError(
        f"self and mat2 must have the same dtype, but got {scalar_name(added)} and {scalar_name(product)}"
    )


def fractional_factor(argument: str) -> UnsupportedDtypeError:
    """A float beside integers."""
    return UnsupportedDtypeError(f"For integral input tensors, argument {argument} must not be a floating point number.")


def inner_dtypes() -> UnsupportedDtypeError:
    return UnsupportedDtypeError("both inputs should have same dtype")


def not_vectors(a: int, b: int) -> ShapeError:
    """a, b: the numbers of dimensions."""
    return ShapeError(f"1D tensors expected, but got {a}D and {b}D tensors")


def not_a_matrix(argument: str) -> ShapeError:
    return ShapeError(f"{argument} must be a matrix")


def not_matrix_and_vector(added: int, mat: int, vec: int) -> ShapeError:
    """The numbers of dimensions of what mv or addmv was given."""
    return ShapeError(f"vector + matrix @ vector expected, got {added}, {mat}, {vec}")


def bmm_batch(a: Sequence[int], b: Sequence[int]) -> ShapeError:
    """The shapes of two batches of matrices."""
    return ShapeError(
        f"Expected size for first two dimensions of batch2 tensor to be: [{a[0]}, {a[2]}] but got: [{b[0]}, {b[1]}]."
    )


def outer_ndim(argument: str, ndim: int) -> ShapeError:
    return ShapeError(f"outer: Expected 1-D argument {argument}, but got {ndim}-D")


def inner_shapes(a: Sequence[int], b: Sequence[int]) -> ShapeError:
    return ShapeError(
        f"inner() the last dimension must match on both input tensors but got shapes {list(a)} and {list(b)}"
    )


def trace_ndim(ndim: int) -> ShapeError:
    return ShapeError(f"trace: expected a matrix, but got tensor with dim {ndim}")


def tensordot_number(dims: int) -> ShapeError:
    bound = ">= 0" if dims < 0 else "< ndim_a or ndim_b"
    return ShapeError(f"tensordot expects dims {bound}, but got dims={dims}")


def tensordot_dims(dims: object) -> ShapeError:
    """dims that are neither a number nor two lists."""
    wanted = "int or tuple[list[int], list[int]] or list[list[int]] containing two lists"
    return ShapeError(f"tensordot expects dims to be {wanted}, but got dims={dims}")


def tensordot_lists() -> ShapeError:
    return ShapeError("both dimension lists should have same length")


def tensordot_sizes(first: int, first_dim: int, second: int, second_dim: int) -> ShapeError:
    return ShapeError(
        f"contracted dimensions need to match, but first has size {first} in dim {first_dim} and second has size "
        f"{second} in dim {second_dim}"
    )


def einsum(text: str) -> ShapeError:
    """text: what is wrong with the equation or with an operand's shape."""
    return ShapeError(f"einsum(): {text}")


def square_matrix(op: str, shape: Sequence[int]) -> ShapeError:
    """A linear solver that was given something else than square matrices."""
    if len(shape) < 2:
        return ShapeError(f"{op}: The input tensor A must have at least 2 dimensions.")
    return ShapeError(f"{op}: A must be batches of square matrices, but they are {shape[-2]} by {shape[-1]} matrices")


def singular_inverse(batch: int | None, order: int) -> SingularMatrixError:
    """batch: the matrix's number in its batch; None for a single one. order: of the pivot that is zero."""
    where = "" if batch is None else f"(Batch element {batch}): "
    return SingularMatrixError(
        f"linalg.inv: {where}The diagonal element {order} is zero, the inversion could not be completed because the "
        "input matrix is singular."
    )


def singular_equations() -> SingularMatrixError:
    return SingularMatrixError("torch.linalg.solve: The solver failed because the input matrix is singular.")


def low_precision(op: str, dtype: object) -> UnsupportedDtypeError:
    return UnsupportedDtypeError(f"{op}: Low precision dtypes not supported. Got {scalar_name(dtype)}")


def svd_not_finite() -> SingularMatrixError:
    return SingularMatrixError(
        "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values."
    )


def singular_det() -> NotDifferentiableError:
    return NotDifferentiableError("det is differentiable only twice at a singular matrix")


def not_positive_definite(batch: int | None, order: int) -> SingularMatrixError:
    """batch: as in singular_inverse. order: of the first leading minor that is not positive."""
    where = "" if batch is None else f"(Batch element {batch}): "
    return SingularMatrixError(
        f"linalg.cholesky: {where}The factorization could not be completed because the input is not positive-definite "
        f"(the leading minor of order {order} is not positive-definite)."
    )


def solve_shapes(a: Sequence[int], b: Sequence[int], left: bool) -> ShapeError:
    equation = "AX = B" if left else "XA = B"
    return ShapeError(
        f"linalg.solve: Incompatible shapes of A and B for the equation {equation} "
        f"({'x'.join(map(str, a[-2:]))} and {'x'.join(map(str, b[-2:]))})"
    )


def multi_dot_number(n: int) -> ShapeError:
    return ShapeError(f"multi_dot(): expected at least 2 tensors but got {n}")


def multi_dot_dims(which: str, i: int, ndim: int) -> ShapeError:
    """which: "first" or "last" for the tensors that may be vectors, else "tensor", the i-th."""
    if which == "tensor":
        return ShapeError(f"multi_dot(): tensor {i} must be 2D but got {ndim}D")
    return ShapeError(f"multi_dot(): the {which} tensor must be 1D or 2D but got {ndim}D")


def multi_dot_dtypes(first: object, i: int, other: object) -> UnsupportedDtypeError:
    return UnsupportedDtypeError(
        f"multi_dot(): all tensors must have be the same dtype but tensor 0 is {c_name(first)} and tensor {i} {c_name(other)}"
    )


def multi_dot_shapes(i: int, a: Sequence[int], b: Sequence[int]) -> ShapeError:
    return ShapeError(
        f"multi_dot(): tensors {i} and {i + 1} with shapes {list(a)} and {list(b)} cannot be multiplied"
    )


def norm_needs_dim(ndim: int) -> ShapeError:
    return ShapeError(f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {ndim}D.")


# ----------------------------------------------------------------------------------------------------------------------
# Neural networks
# ----------------------------------------------------------------------------------------------------------------------


def reduction_mode(reduction: object) -> ElementError:
    return ElementError(f"{reduction} is not a valid value for reduction")


def target_out_of_bounds(target: int) -> TensorIndexError:
    """A class index that is no class, and not ignore_index."""
    return TensorIndexError(f"Target {target} is out of bounds.")


def implicit_softmax_dim(op: str) -> UserWarning:
    """softmax without dim."""
    return UserWarning(
        f"Implicit dimension choice for {op} has been deprecated. Change the call to include dim=X as an argument."
    )


def embedding_indices(dtype: object) -> UnsupportedDtypeError:
    return UnsupportedDtypeError(
        "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
        f"{tensor_type(dtype)} instead (while checking arguments for embedding)"
    )


def embedding_range() -> TensorIndexError:
    return TensorIndexError("index out of range in self")


def one_hot_dtype() -> UnsupportedDtypeError:
    return UnsupportedDtypeError("one_hot is only applicable to index tensor of type LongTensor.")


def one_hot_empty() -> ShapeError:
    return ShapeError("Can not infer total number of classes from empty tensor.")


def one_hot_range(wanted: str) -> ShapeError:
    """wanted: "non-negative" or "smaller than num_classes"."""
    return ShapeError(f"Class values must be {wanted}.")


def dropout_probability(p: float) -> ElementError:
    return ElementError(f"dropout probability has to be between 0 and 1, but got {p}")


def layer_norm_input(normalized: Sequence[int], shape: Sequence[int]) -> ShapeError:
    if not normalized:
        return ShapeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, "
            "but got normalized_shape = []"
        )
    wanted = ", ".join(["*", *[str(n) for n in normalized]])
    return ShapeError(
        f"Given normalized_shape={list(normalized)}, expected input with shape [{wanted}], but got input of size"
        f"{list(shape)}"
    )


def layer_norm_parameter(name: str, shape: Sequence[int], normalized: Sequence[int]) -> ShapeError:
    return ShapeError(
        f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape {list(shape)} and "
        f"normalized_shape = {list(normalized)}"
    )


def loss_sizes(target: Sequence[int], input: Sequence[int], *, op: str) -> ElementError:
    """binary_cross_entropy and its logits form, which broadcast nothing."""
    if op == "binary_cross_entropy":
        return ElementError(
            f"Using a target size (torch.Size({list(target)})) that is different to the input size "
            f"(torch.Size({list(input)})) is deprecated. Please ensure they have the same size."
        )
    return ElementError(
        f"Target size (torch.Size({list(target)})) must be the same as input size (torch.Size({list(input)}))"
    )


def batch_sizes(input: int, target: int) -> ElementError:
    return ElementError(f"Expected input batch_size ({input}) to match target batch_size ({target}).")


def target_size(expected: Sequence[int], got: Sequence[int]) -> ShapeError:
    return ShapeError(f"Expected target size {list(expected)}, got {list(got)}")


def multi_target() -> ShapeError:
    return ShapeError("0D or 1D target tensor expected, multi-target not supported")


def target_dtype(dtype: object) -> UnsupportedDtypeError:
    return UnsupportedDtypeError(f"expected target dtype to be Long or Byte, but got {scalar_name(dtype)}")


def class_weights(classes: int, shape: Sequence[int]) -> ShapeError:
    return ShapeError(
        f"weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of "
        f"shape: {list(shape)}"
    )


def class_dimension() -> ElementError:
    return ElementError("Expected 1 or more dimensions (got 0)")


def outside_unit_interval() -> ShapeError:
    return ShapeError("all elements of input should be between 0 and 1")


def loss_parameter(op: str, kind: str, name: str) -> ShapeError:
    """kind: "negative" or "non-positive"."""
    return ShapeError(f"{op} does not support {kind} values for {name}.")


def label_smoothing(value: float) -> ShapeError:
    return ShapeError(f"label_smoothing must be between 0.0 and 1.0. Got: {value}")


def different_target_size(target: Sequence[int], input: Sequence[int]) -> UserWarning:
    return UserWarning(
        f"Using a target size (torch.Size({list(target)})) that is different to the input size "
        f"(torch.Size({list(input)})). This will likely lead to incorrect results due to broadcasting. "
        "Please ensure they have the same size."
    )


def reduction_arguments(reduction: str) -> UserWarning:
    """size_average and reduce, which reduction replaces."""
    return UserWarning(f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.")


def kl_div_mean() -> UserWarning:
    return UserWarning(
        "reduction: 'mean' divides the total loss by both the batch size and the support size. 'batchmean' divides "
        "only by the batch size, and aligns with the KL div math definition. 'mean' will be changed to behave the same "
        "as 'batchmean' in the next major release."
    )


def approximate_argument() -> ShapeError:
    return ShapeError("approximate argument must be either none or tanh.")


def halving(dim: int, size: int) -> ShapeError:
    return ShapeError(f"Halving dimension must be even, but dimension {dim} is size {size}")


def reversed_bounds() -> ElementError:
    return ElementError("min_val cannot be greater than max_val")


def unsigned_hardtanh() -> ShapeError:
    return ShapeError("cannot do hardtanh on an unsigned type with negative limits")


def prelu_weight(ndim: int) -> ShapeError:
    return ShapeError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {ndim}")


def prelu_channels(numbers: int, channels: int) -> ShapeError:
    return ShapeError(
        f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {numbers} and channel size = {channels}."
    )


def softshrink_lambda(value: float, largest: float, dtype: object) -> ShapeError:
    return ShapeError(
        f"lambda must be in range [0, {largest:g}] for input dtype {scalar_name(dtype)}, but found {value:g}"
    )


def prelu_dtypes(a: object, b: object) -> UnsupportedDtypeError:
    return UnsupportedDtypeError(f"prelu: Type promoting not supported. Got {scalar_name(a)} and {scalar_name(b)}")


def cosine_dtype(dtype: object) -> UnsupportedDtypeError:
    return UnsupportedDtypeError(
        f"expected common dtype to be floating point, yet common dtype is {scalar_name(dtype)}"
    )


def kl_div_complex() -> UnsupportedDtypeError:
    return UnsupportedDtypeError("kl_div: Complex inputs not supported.")
