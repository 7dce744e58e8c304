"""Builds the exceptions about forward mode: dual levels, tangents, the jvp of custom Functions. Loaded when it is used."""

from __future__ import annotations

from collections.abc import Sequence

from .classes import (
    DualDtypeError,
    DualLevelError,
    FunctionError,
    FunctionNotImplementedError,
    GradientError,
    VersionError,
)


def no_dual_level() -> DualLevelError:
    return DualLevelError(
        "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
    )


def dual_level_nested() -> DualLevelError:
    return DualLevelError(
        "Nested forward mode AD is not supported at the moment. Hint: wengert.func.jvp can be called inside of itself."
    )


def dual_level_not_open() -> DualLevelError:
    return DualLevelError("Dual level must be a positive number.")


def dual_level_not_last() -> DualLevelError:
    return DualLevelError(
        "Trying to exit a forward AD level that was not the last one that was created. This is not supported."
    )


def dual_level_unknown() -> DualLevelError:
    return DualLevelError("Invalid level given to _make_dual")


def dual_dtype(what: str, dtype: object) -> DualDtypeError:
    return DualDtypeError(f"Expected {what} to be floating point or complex, but got: {dtype}")


def dual_twice() -> DualLevelError:
    return DualLevelError(
        "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 is not supported."
    )


def tangent_shape(shape: Sequence[int], found: Sequence[int]) -> GradientError:
    return GradientError(
        "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
        f"supported. Tensor is of size {list(shape)} while the given forward gradient is of size {list(found)}."
    )


def tangent_modified(node: str) -> VersionError:
    return VersionError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: the tangent of a "
        f"tensor that {node} saved. Hint: write into a clone() of the dual tensor."
    )


def dual_out(name: str) -> FunctionNotImplementedError:
    return FunctionNotImplementedError(
        f"Trying to use forward AD with {name}_out that does not support it because it is an out= function"
    )


def jvp_number(expected: int, found: int) -> FunctionError:
    return FunctionError(
        f"Function's jvp returned an invalid number of forward gradients (expected {expected} but got {found})"
    )


def jvp_type(kind: type, position: int) -> FunctionError:
    return FunctionError(f"expected Variable or None (got {kind.__name__}) for grad output {position}.")


def jvp_not_differentiable(position: int) -> FunctionError:
    return FunctionError(
        f"Function's jvp returned a gradient at position {position}, but  the corresponding forward output is not a "
        "differentiable Tensor.You should return None at that position instead."
    )


def jvp_missing(position: int) -> FunctionError:
    return FunctionError(
        f"Function's jvp returned None at position {position}, but the corresponding forward output is a differentiable "
        "Tensor. Hint: return zeros_like() of the output there, or name the output to ctx.mark_non_differentiable."
    )


def jvp_no_view() -> FunctionError:
    return FunctionError(
        "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view."
    )


def jvp_other_base() -> FunctionError:
    return FunctionError(
        "A custom Function is returning a view but the jvp is not returning a view of the same base as the given grad input."
    )


def jvp_not_in_place() -> FunctionError:
    return FunctionError(
        "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is modifying an "
        "input inplace, then the jvp function must modify the corresponding gradient inplace."
    )
