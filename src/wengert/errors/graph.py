"""Messages that several modules of the core and of autograd raise.

A dtype may be a dtype of this package, a dtype of NumPy, or the name of one. A class may be given as itself or by its name.
"""

from __future__ import annotations

from collections.abc import Sequence

from .classes import (
    DeviceError,
    DualDtypeError,
    ElementError,
    FunctionError,
    GradientError,
    GraphError,
    HookError,
    HookTypeError,
    InplaceError,
    NoGraphError,
    ProfilerError,
    RequiresGradError,
)
from .names import called, dtype_name, type_name

# -- backward passes ---------------------------------------------------------------------------------------------------


def no_graph(index: int) -> NoGraphError:
    return NoGraphError(
        f"element {index} of tensors does not require grad and does not have a grad_fn\n"
        "Hint: call requires_grad_() on the tensors to differentiate in before they are used, and see autograd.explain(tensor)."
    )


def leaf_write(what: str) -> InplaceError:
    return InplaceError(
        f"a {what} that requires grad is being used in an in-place operation.\n"
        "Hint: an update of parameters goes into a `with torch.no_grad():` block; any other write goes into x.clone()."
    )


def gradient_shape(index: int, gradient: Sequence[int], output: Sequence[int]) -> GradientError:
    """Return the error for a gradient whose shape is not that of the output. gradient, output: the two shapes."""
    return GradientError(
        f"Mismatch in shape: grad_output[{index}] has a shape of torch.Size({list(gradient)}) and output[{index}] has "
        f"a shape of torch.Size({list(output)})."
    )


def invalid_gradient_shape(node_name: str, index: int, got: Sequence[int], expected: Sequence[int]) -> FunctionError:
    return FunctionError(
        f"Function {node_name} returned an invalid gradient at index {index} - got {list(got)} but expected shape "
        f"compatible with {list(expected)}"
    )


def invalid_gradient_device(node_name: str, index: int, got: str, expected: str) -> FunctionError:
    returned = f"Function {node_name} returned an " if node_name else ""
    return FunctionError(f"{returned}invalid gradient at index {index} - expected device {expected} but got {got}")


def out_on_device(expected: str, got: str) -> DeviceError:
    return DeviceError(f"Expected out tensor to have device {expected}, but got {got} instead")


def out_requires_grad(op: str) -> GraphError:
    return GraphError(
        f"{called(op)}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments "
        "requires grad."
    )


def mapped_sizes(sizes: Sequence[int]) -> ElementError:
    return ElementError(
        "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
        f"{list(sizes)} for the mapped dimension"
    )


def randomness(found: object) -> GradientError:
    return GradientError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {found}")


# -- requires_grad, hooks, saved tensors -------------------------------------------------------------------------------


def integer_requires_grad(*, setter: bool = False, dtype: object = None) -> RequiresGradError:
    """Return the error for a tensor of integers that shall require grad.

    setter: whether the tensor exists already; torch's message begins in lower case then. dtype: of the tensor, if known.
    """
    text = f"{'only' if setter else 'Only'} Tensors of floating point and complex dtype can require gradients"
    if dtype is not None:
        text += f" (got {dtype_name(dtype)}). Hint: convert it, with .to(torch.float32) for instance."
    return RequiresGradError(text)


def hook_without_grad() -> HookError:
    return HookError("cannot register a hook on a tensor that doesn't require gradient")


def hook_returned(got: type | str) -> HookTypeError:
    """Return the error for a hook on a tensor whose result is no tensor. got: the type of the result."""
    return HookTypeError(f"expected Variable, but hook returned '{type_name(got)}'")


def saved_hooks_type(pack_hook: type | str, unpack_hook: type | str) -> HookTypeError:
    """Return the error for hooks that cannot both be called, given their types."""
    return HookTypeError(
        "hooks on saved tensors must be callable: pack_hook(tensor) and unpack_hook(packed), but got "
        f"{type_name(pack_hook)} and {type_name(unpack_hook)}"
    )


# -- forward mode ------------------------------------------------------------------------------------------------------


def dual_dtype(what: str, dtype: object) -> DualDtypeError:
    return DualDtypeError(f"Expected {what} to be floating point or complex, but got: {dtype}")


def tangent_shape(shape: Sequence[int], found: Sequence[int]) -> GradientError:
    return GradientError(
        "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
        f"supported. Tensor is of size {list(shape)} while the given forward gradient is of size {list(found)}."
    )


# -- profiler ----------------------------------------------------------------------------------------------------------


def profile_unfinished() -> ProfilerError:
    return ProfilerError(
        "Profiler didn't finish running: its results are there when its `with` block is left. "
        "Hint: profile(enabled=False) has none at all."
    )


# -- spellings of older versions of torch: warnings --------------------------------------------------------------------


def renamed(old: str, new: str) -> DeprecationWarning:
    """Return the warning for a spelling that torch has replaced. old, new: as in ".creator" or "retain_variables="."""
    return DeprecationWarning(f"{old} is an old spelling of {new}")


def volatile_deprecated() -> DeprecationWarning:
    return DeprecationWarning("volatile is what torch 0.1 to 0.3 had; use `with torch.no_grad():` instead")
