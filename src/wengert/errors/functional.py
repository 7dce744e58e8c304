"""Builds the exceptions about derivatives of functions: autograd.functional, func, batched gradients. Loaded when used."""

from __future__ import annotations

from collections.abc import Sequence

from .classes import (
    ElementError,
    GradientError,
)

# -- autograd.functional -----------------------------------------------------------------------------------------------


# -- batched gradients -------------------------------------------------------------------------------------------------


def batch_sizes(sizes: Sequence[int]) -> ElementError:
    return ElementError(
        "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
        f"{list(sizes)} for the mapped dimension"
    )


# -- func --------------------------------------------------------------------------------------------------------------


# -- vmap --------------------------------------------------------------------------------------------------------------


def randomness(found: object) -> GradientError:
    return GradientError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {found}")
