"""Builds the exceptions about forward mode: dual levels, tangents, the jvp of custom Functions. Loaded when it is used."""

from __future__ import annotations

from collections.abc import Sequence

from .classes import (
    DualDtypeError,
    GradientError,
)


def dual_dtype(what: str, dtype: object) -> DualDtypeError:
    return DualDtypeError(f"Expected {what} to be floating point or complex, but got: {dtype}")


def tangent_shape(shape: Sequence[int], found: Sequence[int]) -> GradientError:
    return GradientError(
        "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
        f"supported. Tensor is of size {list(shape)} while the given forward gradient is of size {list(found)}."
    )
