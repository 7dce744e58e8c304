"""Builds the exceptions and warnings about what torch has given up since: volatile, reinforce, instance Functions.

The texts of the exceptions are those of the version that had the feature; the warnings name today's spelling.
"""

from __future__ import annotations

from .classes import (
    FunctionError,
    FunctionTypeError,
    GradientTypeError,
    GraphError,
    HookError,
    MissingFeatureError,
    NotDifferentiableError,
    RequiresGradError,
    SpellingError,
)
from .names import type_name

# -- spellings ---------------------------------------------------------------------------------------------------------


def named_twice(new: str, old: str) -> SpellingError:
    return SpellingError(f"only one of {new} and {old} can be specified")


def renamed(old: str, new: str) -> DeprecationWarning:
    """old, new: the two spellings, with what the reader needs to recognise them: "retain_variables=", ".creator"."""
    return DeprecationWarning(f"{old} is an old spelling of {new}")


# -- volatile ----------------------------------------------------------------------------------------------------------


def volatile_deprecated() -> DeprecationWarning:
    return DeprecationWarning("volatile is what torch 0.1 to 0.3 had; use `with torch.no_grad():` instead")


def volatile_root(index: int) -> GraphError:
    return GraphError(
        f"element {index} of tensors is volatile. "
        "Hint: nothing that depends on a volatile tensor is recorded; make its inputs without volatile=True."
    )


def volatile_hook() -> HookError:
    return HookError("cannot register a hook on a volatile tensor")


def volatile_and_requires_grad() -> RequiresGradError:
    return RequiresGradError("Variable can't be volatile and require_grad at the same time!")


def volatile_of_non_leaf() -> RequiresGradError:
    return RequiresGradError("volatile can only be set on leaf variables. Hint: set it on a detach() of this one.")


# -- stochastic nodes --------------------------------------------------------------------------------------------------


def reinforce_deprecated() -> DeprecationWarning:
    return DeprecationWarning(
        "reinforce() is what torch 0.1 to 0.3 had; today the loss is -(log_prob(sample) * reward).sum()"
    )


def not_stochastic() -> GraphError:
    return GraphError(
        "reinforce() can be only called on outputs of stochastic functions. "
        "Hint: those are samples of bernoulli, multinomial and normal whose parameters require grad."
    )


def reward_type(got: type | str) -> GradientTypeError:
    return GradientTypeError(
        f"mismatch between reward and output type: got {type_name(got)}, but expected a floating tensor or a number"
    )


# -- instance Functions ------------------------------------------------------------------------------------------------


def instance_function_deprecated(name: str) -> DeprecationWarning:
    return DeprecationWarning(
        f"{name}: calling an instance of a Function is what torch 0.1 to 0.3 had; make forward and backward static "
        f"methods that take ctx and call {name}.apply(...)"
    )


def static_function_called() -> FunctionError:
    return FunctionError(
        "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function "
        "with static forward method. Hint: call .apply(...) of the class, not an instance."
    )


def function_used_twice(name: str) -> FunctionError:
    return FunctionError(
        f"each {name} can be used once: it holds what its first call has saved. Hint: make a new one for every call, "
        f"{name}(...)(input)."
    )


def function_argument(name: str, index: int, got: type | str) -> FunctionTypeError:
    return FunctionTypeError(
        f"expected a Variable argument, but got {type_name(got)} (argument {index} of {name}). "
        "Hint: what is no tensor goes to __init__."
    )


def function_result(name: str, got: type | str) -> FunctionTypeError:
    return FunctionTypeError(f"{name}.forward: expected a Variable or a tuple of them, but got {type_name(got)}")


def not_twice_differentiable(name: str) -> NotDifferentiableError:
    return NotDifferentiableError(f"{name} is not differentiable twice")


def zero_dim_index() -> DeprecationWarning:
    return DeprecationWarning("indexing a tensor of no dimensions with 0 is what torch 0.1 to 0.3 had; use .item()")


# -- programs written for torch ----------------------------------------------------------------------------------------


def missing_feature(name: str, version: str) -> MissingFeatureError:
    """name: in full, torch.optim.SGD. version: of this package."""
    return MissingFeatureError(f"{name} is not part of wengert {version}, which stands in for torch in this process")
