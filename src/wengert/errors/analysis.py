"""Messages about Fourier transforms, special functions and matrix factorisations."""

from __future__ import annotations

from .classes import DimensionError, ShapeError, UnsupportedDtypeError
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


def mvlgamma_bool() -> UnsupportedDtypeError:
    return UnsupportedDtypeError("The input tensor may not be a boolean tensor.")
