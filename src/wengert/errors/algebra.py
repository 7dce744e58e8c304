"""Builds the exceptions about reductions, matrix products and the functions of neural networks.

Parameters are as in `graph`: a dtype may be this package's, NumPy's or a name.
"""

from __future__ import annotations

from collections.abc import Sequence

from .classes import (
    ElementError,
    ShapeError,
    SingularMatrixError,
    TensorIndexError,
    UnsupportedDtypeError,
)
from .names import c_name, scalar_name

# ----------------------------------------------------------------------------------------------------------------------
# Reductions
# ----------------------------------------------------------------------------------------------------------------------


def empty_aminmax() -> ShapeError:
    return ShapeError("aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.")


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


def addmm_dtypes(added: object, product: object) -> UnsupportedDtypeError:
    return UnsupportedDtypeError(
        f"self and mat2 must have the same dtype, but got {scalar_name(added)} and {scalar_name(product)}"
    )


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


def tensordot_number(dims: int) -> ShapeError:
    bound = ">= 0" if dims < 0 else "< ndim_a or ndim_b"
    return ShapeError(f"tensordot expects dims {bound}, but got dims={dims}")


def tensordot_dims(dims: object) -> ShapeError:
    """dims that are neither a number nor two lists."""
    wanted = "int or tuple[list[int], list[int]] or list[list[int]] containing two lists"
    return ShapeError(f"tensordot expects dims to be {wanted}, but got dims={dims}")


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


def low_precision(op: str, dtype: object) -> UnsupportedDtypeError:
    return UnsupportedDtypeError(f"{op}: Low precision dtypes not supported. Got {scalar_name(dtype)}")


def svd_not_finite() -> SingularMatrixError:
    return SingularMatrixError(
        "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values."
    )


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


def multi_dot_dims(which: str, i: int, ndim: int) -> ShapeError:
    """which: "first" or "last" for the tensors that may be vectors, else "tensor", the i-th."""
    if which == "tensor":
        return ShapeError(f"multi_dot(): tensor {i} must be 2D but got {ndim}D")
    return ShapeError(f"multi_dot(): the {which} tensor must be 1D or 2D but got {ndim}D")


# ----------------------------------------------------------------------------------------------------------------------
# Neural networks
# ----------------------------------------------------------------------------------------------------------------------


def reduction_mode(reduction: object) -> ElementError:
    return ElementError(f"{reduction} is not a valid value for reduction")


def embedding_range() -> TensorIndexError:
    return TensorIndexError("index out of range in self")


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


def target_size(expected: Sequence[int], got: Sequence[int]) -> ShapeError:
    return ShapeError(f"Expected target size {list(expected)}, got {list(got)}")


def multi_target() -> ShapeError:
    return ShapeError("0D or 1D target tensor expected, multi-target not supported")


def loss_parameter(op: str, kind: str, name: str) -> ShapeError:
    """kind: "negative" or "non-positive"."""
    return ShapeError(f"{op} does not support {kind} values for {name}.")
