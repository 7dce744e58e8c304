"""Builds the exceptions and warnings about what torch has given up since: volatile, reinforce, instance Functions.

The texts of the exceptions are those of the version that had the feature; the warnings name today's spelling.
"""

from __future__ import annotations

from .classes import (
    GradientTypeError,
    RequiresGradError,
)
from .names import type_name

# -- spellings ---------------------------------------------------------------------------------------------------------


def renamed(old: str, new: str) -> DeprecationWarning:
    """old, new: the two spellings, with what the reader needs to recognise them: "retain_variables=", ".creator"."""
    return DeprecationWarning(f"{old} is an old spelling of {new}")


# -- volatile ----------------------------------------------------------------------------------------------------------


def volatile_deprecated() -> DeprecationWarning:
    return DeprecationWarning("volatile is what torch 0.1 to 0.3 had; use `with torch.no_grad():` instead")


def volatile_and_requires_grad() -> RequiresGradError:
    return RequiresGradError("Variable can't be volatile and require_grad at the same time!")


# -- stochastic nodes --------------------------------------------------------------------------------------------------


def reward_type(got: type | str) -> GradientTypeError:
    return GradientTypeError(
        f"mismatch between reward and output type: got {type_name(got)}, but expected a floating tensor or a number"
    )


# -- instance Functions ------------------------------------------------------------------------------------------------


# -- programs written for torch ----------------------------------------------------------------------------------------
