"""Builds the exceptions about backward passes, in-place operations, requires_grad, hooks and custom Functions.

A dtype may be this package's, NumPy's or a name; a `location` is a source position, "train.py:12", where one is known;
a class may be given as itself or by its name.
"""

from __future__ import annotations

from collections.abc import Sequence

from .classes import (
    FunctionError,
    GradientError,
    GraphError,
    HookError,
    HookTypeError,
    NoGraphError,
    RequiresGradError,
)
from .names import called, dtype_name, type_name

# ----------------------------------------------------------------------------------------------------------------------
# Starting a backward pass
# ----------------------------------------------------------------------------------------------------------------------


def no_graph(index: int) -> NoGraphError:
    return NoGraphError(f"element {index} of tensors does not require grad and does not have a grad_fn")


def gradient_shape(index: int, gradient: Sequence[int], output: Sequence[int]) -> GradientError:
    """gradient, output: the two shapes."""
    return GradientError(
        f"Mismatch in shape: grad_output[{index}] has a shape of torch.Size({list(gradient)}) and output[{index}] has "
        f"a shape of torch.Size({list(output)})."
    )


# ----------------------------------------------------------------------------------------------------------------------
# In-place operations
# ----------------------------------------------------------------------------------------------------------------------


def out_requires_grad(op: str) -> GraphError:
    return GraphError(
        f"{called(op)}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments "
        "requires grad."
    )


# ----------------------------------------------------------------------------------------------------------------------
# requires_grad, hooks, .grad
# ----------------------------------------------------------------------------------------------------------------------


def integer_requires_grad(*, setter: bool = False, dtype: object = None) -> RequiresGradError:
    """setter: whether the tensor exists already, where torch begins in lower case. dtype: the tensor's, where known."""
    text = f"{'only' if setter else 'Only'} Tensors of floating point and complex dtype can require gradients"
    if dtype is not None:
        text += f" (got {dtype_name(dtype)}). Hint: convert it, with .to(torch.float32) for instance."
    return RequiresGradError(text)


def hook_without_grad() -> HookError:
    return HookError("cannot register a hook on a tensor that doesn't require gradient")


def hook_returned(got: type | str, *, expected: str = "Variable") -> HookTypeError:
    """expected: "Variable" for a hook on a tensor, "tuple" for one on a node."""
    return HookTypeError(f"expected {expected}, but hook returned '{type_name(got)}'")


# ----------------------------------------------------------------------------------------------------------------------
# What rules and custom Functions return
# ----------------------------------------------------------------------------------------------------------------------


def invalid_gradient_shape(node_name: str, index: int, got: Sequence[int], expected: Sequence[int]) -> FunctionError:
    return FunctionError(
        f"Function {node_name} returned an invalid gradient at index {index} - got {list(got)} but expected shape "
        f"compatible with {list(expected)}"
    )


# ----------------------------------------------------------------------------------------------------------------------
# Warnings: instances, for warnings.warn(errors.non_leaf_grad(), stacklevel=2)
# ----------------------------------------------------------------------------------------------------------------------
