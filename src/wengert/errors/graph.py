"""Builds the exceptions about backward passes, in-place operations, requires_grad, hooks and custom Functions.

A dtype may be this package's, NumPy's or a name; a `location` is a source position, "train.py:12", where one is known;
a class may be given as itself or by its name.
"""

from __future__ import annotations

from collections.abc import Sequence

from .classes import (
    AnomalyError,
    ArgumentError,
    FunctionError,
    FunctionNotImplementedError,
    FunctionTypeError,
    GradientError,
    GradientTypeError,
    GraphError,
    GraphFreedError,
    HookError,
    HookTypeError,
    InferenceError,
    InplaceError,
    MissingDerivativeError,
    NoGraphError,
    NotDifferentiableError,
    RequiresGradError,
    SpellingError,
    UnusedInputError,
    VersionError,
)
from .names import c_name, called, dtype_name, operation_name, scalar_name, tensor_type, type_name

# ----------------------------------------------------------------------------------------------------------------------
# Starting a backward pass
# ----------------------------------------------------------------------------------------------------------------------


def backward_twice(
    node_name: str | None = None, location: str | None = None, freed_at: str | None = None
) -> GraphFreedError:
    """node_name, location: the node whose saved values are gone, and where its forward was called.

    freed_at: where the pass that freed them was called.
    """
    text = (
        "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
        "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
        "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access "
        "saved tensors after calling backward."
    )
    if node_name is not None:
        freed = f"; the pass at {freed_at} freed them" if freed_at else ""
        text += f"\nThe freed values are those of {node_name}{_recorded(location)}{freed}."
    return GraphFreedError(text)


def no_graph(index: int) -> NoGraphError:
    return NoGraphError(f"element {index} of tensors does not require grad and does not have a grad_fn")


def no_implicit_gradient(shape: Sequence[int]) -> GradientError:
    """shape: the output's."""
    return GradientError(
        f"grad can be implicitly created only for scalar outputs. The output has shape {list(shape)}. "
        "Hint: reduce it, with .sum() for instance, or pass a gradient of that shape."
    )


def no_implicit_complex_gradient(dtype: object) -> GradientError:
    return GradientError(
        f"grad can be implicitly created only for real scalar outputs but got {dtype_name(dtype)}. "
        "Hint: differentiate a real function of it, such as .abs() or .real, or pass a gradient."
    )


def gradient_shape(index: int, gradient: Sequence[int], output: Sequence[int]) -> GradientError:
    """gradient, output: the two shapes."""
    return GradientError(
        f"Mismatch in shape: grad_output[{index}] has a shape of torch.Size({list(gradient)}) and output[{index}] has "
        f"a shape of torch.Size({list(output)})."
    )


def gradient_complex(index: int, gradient: object, output: object) -> GradientError:
    """gradient, output: the two dtypes, one of them complex."""
    return GradientError(
        "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
        f"grad_output[{index}] has a dtype of {dtype_name(gradient)} and output[{index}] has a dtype of "
        f"{dtype_name(output)}."
    )


def gradient_type(got: type | str) -> GradientTypeError:
    return GradientTypeError(f"gradients can be either Tensors or None, but got {type_name(got)}")


def gradient_number(outputs: int, gradients: int) -> GradientError:
    return GradientError(f"got {outputs} tensors and {gradients} gradients")


def gradient_named_twice() -> SpellingError:
    return SpellingError(
        "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. "
        "Please only use `grad_tensors`."
    )


def inputs_empty(function: str) -> GraphError:
    """function: "grad" or "backward"."""
    return GraphError(f"`inputs` argument to `{function}()` cannot be empty.")


def input_type(got: type | str) -> GraphError:
    return GraphError(f"all inputs have to be Tensors or GradientEdges, but got {type_name(got)}")


def input_without_grad(index: int) -> GraphError:
    return GraphError(
        f"One of the differentiated Tensors does not require grad. It is the one at index {index}. "
        "Hint: call .requires_grad_() on it before the computation."
    )


def input_unused(index: int) -> UnusedInputError:
    return UnusedInputError(
        f"The differentiated Tensor at index {index} appears to not have been used in the graph. "
        "Set allow_unused=True if this is the desired behavior."
    )


def _recorded(location: str | None) -> str:
    return f", recorded at {location}" if location else ""


# ----------------------------------------------------------------------------------------------------------------------
# In-place operations
# ----------------------------------------------------------------------------------------------------------------------


def modified_in_place(
    dtype: object,
    shape: Sequence[int],
    output_nr: int,
    producer: str | None,
    found: int,
    expected: int,
    *,
    saved_by: str | None = None,
    saved_at: str | None = None,
    written_at: str | None = None,
    anomaly: bool = False,
) -> VersionError:
    """A saved value is at version `found`, not `expected`.

    dtype, shape: of the value. producer: the name of the node whose output output_nr it is, None for a leaf or a tensor
    outside the graph. saved_by: the name of the node that saved it. saved_at, written_at: source positions. anomaly:
    whether anomaly detection is on, which shows the forward call by itself.
    """
    origin = f", which is output {output_nr} of {operation_name(producer)}," if producer else ""
    if anomaly:
        hint = (
            "the backtrace further above shows the operation that failed to compute its gradient. "
            "The variable in question was changed in there or anywhere later. Good luck!"
        )
    else:
        hint = (
            "enable anomaly detection to find the operation that failed to compute its gradient, with "
            "torch.autograd.set_detect_anomaly(True, check_nan=False)."
        )
    text = (
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{tensor_type(dtype)} {list(shape)}]{origin} is at version {found}; expected version {expected} instead. "
        f"Hint: {hint}"
    )
    if saved_by or saved_at:
        text += (
            "\nIt was saved" + (f" by {saved_by}" if saved_by else "") + (f" at {saved_at}" if saved_at else "") + "."
        )
    if written_at:
        text += f"\nIt was last written at {written_at}."
    return VersionError(text)


def leaf_inplace(*, view: bool = False) -> InplaceError:
    """view: whether the operation is on a view of the leaf."""
    what = "a view of a leaf Variable" if view else "a leaf Variable"
    return InplaceError(f"{what} that requires grad is being used in an in-place operation.")


def leaf_marked_dirty() -> InplaceError:
    return InplaceError("a leaf Variable that requires grad has been used in an in-place operation.")


def multi_view_inplace(
    output_nr: int, node_name: str, *, indirect: bool = False, of_constant: bool = False
) -> InplaceError:
    """indirect: the write was into the base or another view. of_constant: no gradient is recorded, and node_name is the
    operation's; torch's own words are wrong then, and something is added."""
    text = (
        "This view is the output of a function that returns multiple views. Such functions do not allow the output "
        "views to be modified inplace. You should replace the inplace operation by an out-of-place one."
    )
    if of_constant:
        return InplaceError(
            f"A view was created in no_grad mode and {_modified(indirect)} with grad mode enabled. {text}\n"
            f"The view is output {output_nr} of {node_name}(), of a tensor that required no gradient then."
        )
    return InplaceError(f"Output {output_nr} of {operation_name(node_name)} is a view and {_modified(indirect)}. {text}")


def function_view_inplace(output_nr: int, node_name: str | None, *, indirect: bool = False) -> InplaceError:
    """node_name: None where no input of the Function required a gradient."""
    if node_name is None:
        text = f"A view was created in no_grad mode and {_modified(indirect)} with grad mode enabled."
    else:
        text = f"Output {output_nr} of {operation_name(node_name)} is a view and {_modified(indirect)}."
    return InplaceError(
        f"{text} This view was created inside a custom Function (or because an input was returned as-is) and the "
        "autograd logic to handle view+inplace would override the custom backward associated with the custom Function, "
        "leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of the custom "
        "Function."
    )


def no_grad_view_inplace(*, indirect: bool = False) -> InplaceError:
    return _ambiguous_view("no_grad", indirect, "with grad mode enabled", "no_grad")


def inference_view_inplace(*, indirect: bool = False) -> InplaceError:
    return _ambiguous_view("inference", indirect, "in normal mode", "inference_mode")


def _modified(indirect: bool) -> str:
    if indirect:
        return "its base or another view of its base has been modified inplace"
    return "is being modified inplace"


def _ambiguous_view(made_in: str, indirect: bool, where: str, block: str) -> InplaceError:
    return InplaceError(
        f"A view was created in {made_in} mode and {_modified(indirect)} {where}. Given that this use case is ambiguous "
        "and error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace either both "
        f"inside the {block} block (if you don't want the inplace to be tracked) or both outside (if you want the "
        "inplace to be tracked)."
    )


def detach_view() -> InplaceError:
    return InplaceError("Can't detach views in-place. Use detach() instead.")


def out_requires_grad(op: str) -> GraphError:
    return GraphError(
        f"{called(op)}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments "
        "requires grad."
    )


def inference_saved() -> InferenceError:
    return InferenceError(
        "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
        "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it "
        "in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`."
    )


def inference_inplace() -> InferenceError:
    return InferenceError(
        "Inplace update to inference tensor outside InferenceMode is not allowed. "
        "You can make a clone to get a normal tensor before doing inplace update."
    )


def inference_requires_grad() -> InferenceError:
    return InferenceError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")


def inference_version() -> InferenceError:
    return InferenceError("Inference tensors do not track version counter.")


# ----------------------------------------------------------------------------------------------------------------------
# requires_grad, hooks, .grad
# ----------------------------------------------------------------------------------------------------------------------


def requires_grad_of_non_leaf(value: bool = False) -> RequiresGradError:
    """value: what requires_grad was to become."""
    text = "you can only change requires_grad flags of leaf variables."
    if not value:
        text += (
            " If you want to use a computed variable in a subgraph that doesn't require differentiation use "
            "var_no_grad = var.detach()."
        )
    return RequiresGradError(text)


def integer_requires_grad(*, setter: bool = False, dtype: object = None) -> RequiresGradError:
    """setter: whether the tensor exists already, where torch begins in lower case. dtype: the tensor's, where known."""
    text = f"{'only' if setter else 'Only'} Tensors of floating point and complex dtype can require gradients"
    if dtype is not None:
        text += f" (got {dtype_name(dtype)}). Hint: convert it, with .to(torch.float32) for instance."
    return RequiresGradError(text)


def requires_grad_type() -> RequiresGradError:
    return RequiresGradError("requires_grad must be a bool")


def grad_mode_type(got: type | str) -> ArgumentError:
    return ArgumentError(f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {type_name(got)}")


def retain_grad_without_grad() -> RequiresGradError:
    return RequiresGradError("can't retain_grad on Tensor that has requires_grad=False")


def data_dtype() -> RequiresGradError:
    return RequiresGradError("data set to a tensor that requires gradients must be floating point or complex dtype")


def hook_without_grad() -> HookError:
    return HookError("cannot register a hook on a tensor that doesn't require gradient")


def hook_returned(got: type | str, *, expected: str = "Variable") -> HookTypeError:
    """expected: "Variable" for a hook on a tensor, "tuple" for one on a node."""
    return HookTypeError(f"expected {expected}, but hook returned '{type_name(got)}'")


def hook_changed_size(hook: str, got: Sequence[int] | None = None, expected: Sequence[int] | None = None) -> HookError:
    """hook: its name. got, expected: the two shapes."""
    text = f"hook '{hook}' has changed the size of value"
    if got is not None and expected is not None:
        text += f" (was {list(expected)} got {list(got)})"
    return HookError(text)


def hook_changed_dtype(hook: str, got: object, expected: object) -> HookError:
    return HookError(
        f"hook '{hook}' has changed the type of value (was {tensor_type(expected)} got {tensor_type(got)})"
    )


def hook_wrong_number(expected: int, got: int, hook: str | None = None) -> HookError:
    what = f"hook '{hook}'" if hook else "hook"
    return HookError(f"{what} has returned an incorrect number of values (got {got}, but expected {expected})")


def post_hook_returned() -> HookError:
    return HookError("Tensor post accumulate grad hooks should return None.")


def grad_assigned_shape(gradient: Sequence[int], tensor: Sequence[int]) -> GradientError:
    return GradientError(
        f"attempting to assign a gradient of size '{list(gradient)}' to a tensor of size '{list(tensor)}'. "
        "Please ensure that the gradient and the tensor are the same size"
    )


def grad_assigned_type(got: type | str) -> GradientTypeError:
    return GradientTypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type_name(got)}")


def grad_assigned_dtype(gradient: object, wanted: object) -> GradientError:
    """gradient, wanted: the two dtypes."""
    return GradientError(
        f"attempting to assign a gradient with dtype '{c_name(gradient)}' to a tensor with grad_dtype "
        f"'{scalar_name(wanted)}'. The gradient must match the tensor's grad_dtype (defaults to the tensor's dtype). You "
        "can set the tensor's grad_dtype attribute with a specific dtype, or None to allow any dtype. Set grad_dtype with "
        "caution. Diverging the dtypes of a tensor and its gradient may break downstream systems that assume they match."
    )


def grad_dtype_of_non_leaf(done: str) -> GradientError:
    """done: accessed or set."""
    return GradientError(f"grad_dtype can only be {done} on leaf tensors.")


def grad_dtype_type(kind: type) -> GradientError:
    return GradientError(f"grad_dtype must be a torch.dtype or None, but got {kind.__name__}")


def grad_dtype_of_existing(wanted: object, found: object) -> GradientError:
    """wanted, found: the dtypes of grad_dtype and of the gradient that is there."""
    return GradientError(
        f"Cannot set grad_dtype to '{scalar_name(wanted)}' because there is already a gradient with dtype "
        f"'{c_name(found)}'. Please clear the gradient (.grad = None) before changing grad_dtype, or ensure the new "
        "grad_dtype matches the existing gradient's dtype."
    )


def grad_assigned_itself() -> GradientError:
    return GradientError("can't assign Variable as its own grad")


# ----------------------------------------------------------------------------------------------------------------------
# What rules and custom Functions return
# ----------------------------------------------------------------------------------------------------------------------


def invalid_gradient_shape(node_name: str, index: int, got: Sequence[int], expected: Sequence[int]) -> FunctionError:
    return FunctionError(
        f"Function {node_name} returned an invalid gradient at index {index} - got {list(got)} but expected shape "
        f"compatible with {list(expected)}"
    )


def invalid_gradient_dtype(node_name: str, index: int, got: object, expected: object) -> FunctionError:
    """got, expected: two dtypes, one of them complex."""
    hint = "return the real part of the gradient, grad.real" if "complex" in dtype_name(got) else "return a floating one"
    return FunctionError(
        f"Function {node_name} returned an invalid gradient at index {index} - got dtype {dtype_name(got)} but "
        f"expected {dtype_name(expected)}. Hint: {hint}."
    )


def gradient_wrong_number(node_name: str, expected: int, got: int) -> FunctionError:
    return FunctionError(
        f"function {node_name} returned an incorrect number of gradients (expected {expected}, got {got})"
    )


def gradient_not_a_tensor(got: type | str) -> FunctionError:
    return FunctionError(f"expected Variable or None (got {type_name(got)})")


def gradient_unexpected(node_name: str, position: int) -> FunctionError:
    """position: counted from 1, as torch does in this message."""
    return FunctionError(
        f"function {node_name} returned a gradient different than None at position {position}, but the corresponding "
        "forward input was not a Variable"
    )


def save_for_backward_type(index: int, got: type | str) -> FunctionTypeError:
    return FunctionTypeError(
        f"save_for_backward can only save variables, but argument {index} is of type {type_name(got)}"
    )


def saved_tensors_taken() -> GraphFreedError:
    return GraphFreedError(
        "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is set on the autograd.Function. "
        "Either access saved_tensors only once, or set clear_saved_tensors_on_access=False."
    )


def mark_type(method: str, index: int, got: type | str) -> FunctionTypeError:
    """method: "mark_dirty", "mark_non_differentiable" or "mark_shared_storage"."""
    return FunctionTypeError(f"{method} can only accept variables, but argument {index} is of type {type_name(got)}")


def dirty_not_returned() -> FunctionError:
    return FunctionError(
        "Some elements marked as dirty during the forward method were not returned as output. "
        "The inputs that are modified inplace must all be outputs of the Function."
    )


def dirty_view_of_many() -> FunctionError:
    return FunctionError(
        "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return more "
        "than one Tensor. This is not supported by the current autograd engine. You should either make sure the input is "
        "not a view (using .clone() for example) or make your Function only return one Tensor (potentially splitting it "
        "into two Functions: one doing the inplace that returns a single Tensor and a second one that does the other "
        "operations)."
    )


def no_forward() -> FunctionNotImplementedError:
    return FunctionNotImplementedError("You must implement the forward function for custom autograd.Function.")


def no_backward() -> FunctionNotImplementedError:
    return FunctionNotImplementedError(
        "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
        "backward mode AD."
    )


def no_vmap() -> FunctionNotImplementedError:
    return FunctionNotImplementedError(
        "To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
        "generate_vmap_rule=True.\nThis version of the package calls neither: vmap does not reach custom Functions."
    )


def no_jvp() -> FunctionNotImplementedError:
    return FunctionNotImplementedError(
        "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
    )


def differentiated_twice() -> NotDifferentiableError:
    return NotDifferentiableError("trying to differentiate twice a function that was marked with @once_differentiable")


def missing_jvp(op: str) -> MissingDerivativeError:
    return MissingDerivativeError(
        f"Trying to use forward AD with {op} that does not support it because it has not been implemented yet."
    )


def nan_gradient(node_name: str, index: int, location: str | None = None, kind: str = "nan") -> AnomalyError:
    """index: of the gradient among those that the node returned. location: of the forward call. kind: "nan" or "inf"."""
    where = f" Its forward was called at {location}." if location else ""
    return AnomalyError(f"Function '{node_name}' returned {kind} values in its {index}th output.{where}")


# ----------------------------------------------------------------------------------------------------------------------
# Warnings: instances, for warnings.warn(errors.non_leaf_grad(), stacklevel=2)
# ----------------------------------------------------------------------------------------------------------------------


def non_leaf_grad() -> UserWarning:
    return UserWarning(
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
        "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf "
        "Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure "
        "you access the leaf Tensor instead."
    )


def grad_variables_deprecated() -> FutureWarning:
    return FutureWarning("`grad_variables` is deprecated. Use `grad_tensors` instead.")


def only_inputs_deprecated() -> FutureWarning:
    return FutureWarning(
        "only_inputs argument is deprecated (defaults to True; torch ignores it now, this package does what it asks "
        "for). To accumulate gradient for other parts of the graph, please use torch.autograd.backward."
    )


def mark_shared_storage_deprecated() -> FutureWarning:
    return FutureWarning(
        "`mark_shared_storage` is deprecated. Tensors with shared storages are automatically tracked. "
        "Hint: needed only where forward shares memory by a way around tensors, such as a NumPy array."
    )


def hook_not_pickled(hook: object) -> UserWarning:
    return UserWarning(
        f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can decorate the function "
        "with @torch.utils.hooks.unserializable_hook to suppress this warning"
    )


def create_graph_cycle() -> UserWarning:
    return UserWarning(
        "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient "
        "which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you "
        "have to use this function, make sure to reset the .grad fields of your parameters to None after use to break "
        "the cycle and avoid the leak."
    )


def error_detected(node_name: str, traceback: str | None, location: str | None = None) -> UserWarning:
    """traceback: the forward call's, formatted; None where none was recorded. location: of the call, then."""
    if traceback is None:
        where = f" The forward was called at {location}." if location else ""
        return UserWarning(
            f"Error detected in {node_name}. No forward pass information available. "
            f"Enable detect anomaly during forward pass for more information.{where}"
        )
    return UserWarning(f"Error detected in {node_name}. Traceback of forward call that caused the error:\n{traceback}")
