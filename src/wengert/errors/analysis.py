"""Messages about Fourier transforms, special functions and matrix factorisations."""

from __future__ import annotations

from collections.abc import Sequence

from .classes import (
    ElementError,
    ShapeError,
    SingularMatrixError,
    UnsupportedDtypeError,
)
from .names import scalar_name

# ----------------------------------------------------------------------------------------------------------------------
# Fourier transforms
# ----------------------------------------------------------------------------------------------------------------------


def fft_size(n: int) -> ShapeError:
    return ShapeError(f"Invalid number of data points ({n}) specified")


def fft_needs_real(op: str, dtype: object) -> UnsupportedDtypeError:
    kind = "real-valued" if op.endswith("n") else "real"
    return UnsupportedDtypeError(f"{op} expects a {kind} input tensor, but got {scalar_name(dtype)}")


def fft_no_axis(op: str) -> ShapeError:
    return ShapeError(f"{op} must transform at least one axis")


# ----------------------------------------------------------------------------------------------------------------------
# Special functions
# ----------------------------------------------------------------------------------------------------------------------


# ----------------------------------------------------------------------------------------------------------------------
# Matrix factorisations
# ----------------------------------------------------------------------------------------------------------------------


def no_convergence(op: str) -> SingularMatrixError:
    return SingularMatrixError(
        f"{op}: The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated "
        "eigenvalues."
    )


def zero_in_u(order: int) -> SingularMatrixError:
    """lu_factor of a singular matrix. order: of the pivot that is zero, counted from 1."""
    return SingularMatrixError(
        f"torch.linalg.lu_factor: U[{order},{order}] is zero and using it on lu_solve would result in a division by "
        "zero. If you still want to perform the factorization, consider calling linalg.lu(A, pivot) or "
        "linalg.lu_factor_ex(A, pivot)"
    )


def equation_shapes(op: str, a: Sequence[int], b: Sequence[int], left: bool) -> ShapeError:
    """Operands of A X = B, or of X A = B, that do not fit."""
    return ShapeError(
        f"{op}: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} "
        f"({a[-2]}x{a[-1]} and {b[-2]}x{b[-1]})"
    )


def lstsq(text: str) -> ShapeError:
    """text: what is wrong with the arguments."""
    return ShapeError(f"torch.linalg.lstsq: {text}")


def tensor_equation(where: str, rows: int, columns: int) -> ShapeError:
    """tensorinv and tensorsolve. where: the name of the number of dimensions that are rows."""
    return ShapeError(
        f"Expected self to satisfy the requirement prod(self.shape[{where}:]) == prod(self.shape[:{where}]), but got "
        f"{columns} != {rows}"
    )


# ----------------------------------------------------------------------------------------------------------------------
# Differences and statistics
# ----------------------------------------------------------------------------------------------------------------------


def quantile(op: str, text: str) -> ShapeError:
    """text: what is wrong with the arguments."""
    return ShapeError(f"{op}() {text}")


def cov(op: str, text: str) -> ShapeError:
    """text: what is wrong with the arguments."""
    return ShapeError(f"{op}(): {text}")


def renorm(text: str) -> ShapeError:
    """text: what is wrong with the arguments."""
    return ShapeError(f"renorm: {text}")


def histogram_bins(bins: int, dim: int = 0) -> ShapeError:
    return ShapeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension {dim}")


def ormqr(text: str) -> ShapeError:
    """text: what does not fit."""
    return ShapeError(f"torch.ormqr: {text}")


def histogramdd(text: str) -> ShapeError:
    return ShapeError(f"torch.histogramdd: {text}")


def histogram_extremes(low: float, high: float, dim: int = 0) -> ShapeError:
    return ShapeError(f"torch.histogramdd: dimension {dim}'s range [{low:g}, {high:g}] is not finite")


# ----------------------------------------------------------------------------------------------------------------------
# Complex numbers as pairs of reals
# ----------------------------------------------------------------------------------------------------------------------


def view_as_complex(text: str) -> ShapeError:
    """text: what is wrong with the shape or the strides."""
    return ShapeError(text)


def low_rank_size(q: int, largest: int) -> ElementError:
    return ElementError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={largest}")
