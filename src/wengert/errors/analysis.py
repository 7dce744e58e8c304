"""Messages about Fourier transforms, special functions and matrix factorisations."""

from __future__ import annotations

from collections.abc import Sequence

from .classes import (
    DimensionError,
    ElementError,
    NotDifferentiableError,
    PromotionError,
    ShapeError,
    SingularMatrixError,
    UnsupportedDtypeError,
)
from .names import scalar_name

# ----------------------------------------------------------------------------------------------------------------------
# Fourier transforms
# ----------------------------------------------------------------------------------------------------------------------


def fft_norm(norm: object) -> ShapeError:
    return ShapeError(f'Invalid normalization mode: "{norm}"')


def fft_size(n: int) -> ShapeError:
    return ShapeError(f"Invalid number of data points ({n}) specified")


def fft_dtype(dtype: object) -> UnsupportedDtypeError:
    return UnsupportedDtypeError(f"Unsupported dtype {scalar_name(dtype)}")


def fft_needs_real(op: str, dtype: object) -> UnsupportedDtypeError:
    kind = "real-valued" if op.endswith("n") else "real"
    return UnsupportedDtypeError(f"{op} expects a {kind} input tensor, but got {scalar_name(dtype)}")


def fft_floating(dtype: object) -> UnsupportedDtypeError:
    """ihfftn of complex numbers."""
    return UnsupportedDtypeError(f"Only supports floating-point dtypes, but found: {scalar_name(dtype)}")


def fft_frequency_dtype(op: str) -> UnsupportedDtypeError:
    return UnsupportedDtypeError(f"{op} requires a floating point or complex dtype")


def fft_dims_repeated() -> ShapeError:
    return ShapeError("FFT dims must be unique")


def fft_lengths() -> ShapeError:
    """s and dim of two lengths."""
    return ShapeError("When given, dim and shape arguments must have the same length")


def fft_shape(sizes: int, ndim: int) -> ShapeError:
    return ShapeError(f"Got shape with {sizes} values but input tensor only has {ndim} dimensions.")


def fft_no_axis(op: str) -> ShapeError:
    return ShapeError(f"{op} must transform at least one axis")


def no_dimensions(dim: int) -> DimensionError:
    """A dim of a 0-d tensor."""
    return DimensionError(f"Dimension specified as {dim} but tensor has no dimensions")


# ----------------------------------------------------------------------------------------------------------------------
# Special functions
# ----------------------------------------------------------------------------------------------------------------------


def mvlgamma_dimension() -> ShapeError:
    return ShapeError("p has to be greater than or equal to 1")


def hash_mode(mode: object) -> ShapeError:
    return ShapeError(f"Unknown hash_tensor mode: {mode}. Hint: 0 is the only one.")


def mvlgamma_bool() -> UnsupportedDtypeError:
    return UnsupportedDtypeError("The input tensor may not be a boolean tensor.")


# ----------------------------------------------------------------------------------------------------------------------
# Matrix factorisations
# ----------------------------------------------------------------------------------------------------------------------


def at_least_matrices(op: str, argument: str) -> ShapeError:
    return ShapeError(f"{op}: The input tensor {argument} must have at least 2 dimensions.")


def uplo(value: object) -> ShapeError:
    return ShapeError(f"Expected UPLO argument to be 'L' or 'U', but got {value}")


def no_convergence(op: str) -> SingularMatrixError:
    return SingularMatrixError(
        f"{op}: The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated "
        "eigenvalues."
    )


def eig_not_finite() -> ShapeError:
    return ShapeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")


def qr_mode(mode: object) -> ShapeError:
    return ShapeError(
        f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'"
    )


def complete_qr() -> NotDifferentiableError:
    return NotDifferentiableError(
        "The QR decomposition is not differentiable when mode='complete' and nrows > ncols. Hint: mode='reduced' is."
    )


def zero_in_u(order: int) -> SingularMatrixError:
    """lu_factor of a singular matrix. order: of the pivot that is zero, counted from 1."""
    return SingularMatrixError(
        f"torch.linalg.lu_factor: U[{order},{order}] is zero and using it on lu_solve would result in a division by "
        "zero. If you still want to perform the factorization, consider calling linalg.lu(A, pivot) or "
        "linalg.lu_factor_ex(A, pivot)"
    )


def lu_without_pivoting() -> ShapeError:
    return ShapeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")


def equation_shapes(op: str, a: Sequence[int], b: Sequence[int], left: bool) -> ShapeError:
    """Operands of A X = B, or of X A = B, that do not fit."""
    return ShapeError(
        f"{op}: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} "
        f"({a[-2]}x{a[-1]} and {b[-2]}x{b[-1]})"
    )


def lstsq(text: str) -> ShapeError:
    """text: what is wrong with the arguments."""
    return ShapeError(f"torch.linalg.lstsq: {text}")


def lstsq_dtype() -> UnsupportedDtypeError:
    return UnsupportedDtypeError("This function doesn't handle types other than float and double")


def cond_ndim() -> ShapeError:
    return ShapeError("linalg.cond: The input tensor must have at least 2 dimensions.")


def cond_norm(p: object) -> ShapeError:
    return ShapeError(f"linalg.cond got an invalid norm type: {p}")


def householder_shape() -> ShapeError:
    return ShapeError(
        "torch.linalg.householder_product: input.shape[-2] must be greater than or equal to input.shape[-1]"
    )


def tensor_equation(where: str, rows: int, columns: int) -> ShapeError:
    """tensorinv and tensorsolve. where: the name of the number of dimensions that are rows."""
    return ShapeError(
        f"Expected self to satisfy the requirement prod(self.shape[{where}:]) == prod(self.shape[:{where}]), but got "
        f"{columns} != {rows}"
    )


def tensorinv_ind(ind: int) -> ShapeError:
    return ShapeError(f"Expected a strictly positive integer for 'ind', but got {ind}")


def vander_n() -> ShapeError:
    return ShapeError("N must be greater than 1.")


def vander_bool() -> UnsupportedDtypeError:
    return UnsupportedDtypeError("linalg.vander supports floating point, complex, and integer tensors, but got Bool")


def vander_ndim() -> ShapeError:
    return ShapeError("x must be a one-dimensional tensor.")


def cross_length(dim: int, a: int, b: int) -> ShapeError:
    return ShapeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got {a} and {b}")


def cross_ndim() -> ShapeError:
    return ShapeError("linalg.cross: inputs must have the same number of dimensions.")


def cross_no_dim() -> ShapeError:
    return ShapeError("no dimension of size 3 in input")


# ----------------------------------------------------------------------------------------------------------------------
# Differences and statistics
# ----------------------------------------------------------------------------------------------------------------------


def diff_ndim() -> ShapeError:
    return ShapeError("diff expects input to be at least one-dimensional")


def diff_order(n: int) -> ShapeError:
    return ShapeError(f"order must be non-negative but got {n}")


def trapezoid_points(op: str) -> ShapeError:
    return ShapeError(f"{op}: There must be one `x` value for each sample point")


def trapezoid_bool(op: str, arguments: str) -> UnsupportedDtypeError:
    return UnsupportedDtypeError(f"{op}: received a bool input for {arguments}, but bool is not supported")


def gradient_dtype() -> UnsupportedDtypeError:
    return UnsupportedDtypeError("torch.gradient does not support uint8 input.")


def gradient_edge_order() -> ShapeError:
    return ShapeError("torch.gradient only supports edge_order=1 and edge_order=2.")


def gradient_size() -> ShapeError:
    return ShapeError("torch.gradient expected each dimension size to be at least edge_order+1")


def gradient_spacing(dims: int, spacings: int) -> ShapeError:
    return ShapeError(
        "torch.gradient expected spacing to be unspecified, a scalar, or a list with a length equal to the number of "
        f"dims, {dims}, but got {spacings} of them"
    )


def nanmean_dtype(dtype: object) -> UnsupportedDtypeError:
    return UnsupportedDtypeError(
        f"nanmean(): expected input to have floating point or complex dtype but got {scalar_name(dtype)}"
    )


def quantile(op: str, text: str) -> ShapeError:
    """text: what is wrong with the arguments."""
    return ShapeError(f"{op}() {text}")


def cov(op: str, text: str) -> ShapeError:
    """text: what is wrong with the arguments."""
    return ShapeError(f"{op}(): {text}")


def cov_degrees() -> UserWarning:
    return UserWarning(
        "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations."
    )


def renorm(text: str) -> ShapeError:
    """text: what is wrong with the arguments."""
    return ShapeError(f"renorm: {text}")


def frexp_dtype() -> UnsupportedDtypeError:
    return UnsupportedDtypeError("torch.frexp() only supports floating-point dtypes")


def histogram_bins(bins: int, dim: int = 0) -> ShapeError:
    return ShapeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension {dim}")


def ormqr(text: str) -> ShapeError:
    """text: what does not fit."""
    return ShapeError(f"torch.ormqr: {text}")


def histogramdd(text: str) -> ShapeError:
    return ShapeError(f"torch.histogramdd: {text}")


def histogramdd_bins() -> ShapeError:
    return ShapeError("histogramdd: The size of bins must be equal to the innermost dimension of the input.")


def histogram_range(low: float, high: float) -> ShapeError:
    return ShapeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")


def histogram_extremes(low: float, high: float, dim: int = 0) -> ShapeError:
    return ShapeError(f"torch.histogramdd: dimension {dim}'s range [{low:g}, {high:g}] is not finite")


def histogram_order() -> ShapeError:
    return ShapeError("torch.histc: max must be larger than min")


# ----------------------------------------------------------------------------------------------------------------------
# Complex numbers as pairs of reals
# ----------------------------------------------------------------------------------------------------------------------


def view_as_real() -> UnsupportedDtypeError:
    return UnsupportedDtypeError("view_as_real is only supported for complex tensors")


def view_as_complex_dtype(dtype: object) -> UnsupportedDtypeError:
    return UnsupportedDtypeError(
        f"view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: "
        f"{scalar_name(dtype)}"
    )


def view_as_complex(text: str) -> ShapeError:
    """text: what is wrong with the shape or the strides."""
    return ShapeError(text)


def low_rank_size(q: int, largest: int) -> ElementError:
    return ElementError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={largest}")


def low_rank_iterations(niter: int) -> ElementError:
    return ElementError(f"niter(={niter}) must be non-negative integer")


def ldl_singular() -> SingularMatrixError:
    return SingularMatrixError(
        "torch.linalg.ldl_factor: a block of D is singular, so the factors solve no equations. Hint: linalg.ldl_factor_ex "
        "returns them all the same."
    )


def ldl_dtypes(factors: object, right: object) -> PromotionError:
    return PromotionError(f"torch.linalg.ldl_solve: Expected LD and B to have the same data type, but got {factors} and {right}")
