"""Builds the exceptions about saved tensors, hooks on them, and checkpoints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .classes import (
    ArgumentError,
    CheckpointError,
    ElementError,
    GradientTypeError,
    GraphError,
    GraphFreedError,
    HookError,
    HookTypeError,
    MutationBlockError,
)
from .names import type_name


def pack_hook_wrote() -> HookError:
    return HookError(
        "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot be "
        "modified by in-place operations as this can lead to unexpected side-effects. Please open an issue if you need "
        "to perform in-place operations on the input to a pack hook. Hint: write into a clone() of it."
    )


def unpack_hook_type(got: type | str) -> HookTypeError:
    return HookTypeError(
        f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type {type_name(got)}"
    )


def saved_hooks_type(pack_hook: type | str, unpack_hook: type | str) -> HookTypeError:
    """The types of what was given as hooks, one of which cannot be called."""
    return HookTypeError(
        "hooks on saved tensors must be callable: pack_hook(tensor) and unpack_hook(packed), but got "
        f"{type_name(pack_hook)} and {type_name(unpack_hook)}"
    )


def saved_hooks_refused(message: str) -> HookError:
    """message: what disable_saved_tensors_hooks was given."""
    return HookError(message)


def saved_hooks_twice() -> HookError:
    return HookError(
        "Calling register_hooks on a saved tensor whose hooks have already been set. "
        "Hint: only one pair of hooks is allowed at a time."
    )


def saved_hooks_on_none() -> HookError:
    return HookError("Calling register_hooks on a saved tensor with value None is forbidden")


def saved_hooks_freed() -> GraphFreedError:
    return GraphFreedError(
        "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph are "
        "freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through "
        "the graph a second time or if you need to access saved variables after calling backward."
    )


def saved_tensor_made() -> GraphError:
    return GraphError("Trying to create a SavedTensor object from Python is forbidden.")


def mutation_nested() -> GraphError:
    return GraphError("allow_mutation_on_saved_tensors contexts cannot be nested")


def mutation_block_left() -> MutationBlockError:
    return MutationBlockError(
        "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in which the graph was originally "
        "recorded."
    )


def increment_version_type(got: type | str) -> GraphError:
    return GraphError(f"increment_version expect a Iterable[Tensor] as input, but got {type_name(got)}")


def increment_version_element(got: type | str) -> GraphError:
    return GraphError(f"increment_version expects each element of the iterable to be a tensor, but got {type_name(got)}")


def multi_hook_mode(mode: object) -> ElementError:
    return ElementError(f"Expects mode to be one of ('all', 'any') but got {mode}")


def node_argument_number(expected: int, got: int) -> GradientTypeError:
    return GradientTypeError(f"expected {expected} arguments, got {got} instead")


def node_argument_type(index: int, got: type | str) -> GradientTypeError:
    return GradientTypeError(f"argument {index} is not a Variable, but {type_name(got)}")


# ----------------------------------------------------------------------------------------------------------------------
# Checkpoints
# ----------------------------------------------------------------------------------------------------------------------

_DEBUG_TIP = (
    "\n\nTip: To see a more detailed error message, either pass `debug=True` to `torch.utils.checkpoint.checkpoint(...)` "
    "or wrap the code block with `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to enable "
    "checkpoint-debug mode globally."
)


def checkpoint_number(first: int, again: int) -> CheckpointError:
    """first, again: how many tensors were saved in the original forward, and in a recomputation."""
    return CheckpointError(
        "torch.utils.checkpoint: A different number of tensors was saved during the original forward and recomputation."
        f"\nNumber of tensors saved during forward: {first}\nNumber of tensors saved during recomputation: {again}."
        + _DEBUG_TIP
    )


def checkpoint_too_many() -> CheckpointError:
    return CheckpointError(
        "torch.utils.checkpoint: trying to save more tensors during recomputation than during the original forward "
        "pass." + _DEBUG_TIP
    )


def checkpoint_metadata(differing: Sequence[tuple[int, str, str]]) -> CheckpointError:
    """differing: for each tensor its number, and what was seen of it in the two runs."""
    lines = [
        f"tensor at position {i}:\nsaved metadata: {first}\nrecomputed metadata: {again}"
        for i, first, again in differing
    ]
    return CheckpointError(
        "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during the "
        "forward pass.\n" + "\n".join(lines) + "." + _DEBUG_TIP
    )


def checkpoint_logs(message: str, first: Sequence[str], again: Sequence[str]) -> CheckpointError:
    """message: what is wrong. first, again: one line for each tensor that was saved in the two runs."""
    return CheckpointError(
        "An error happened while unpacking tensors; dumping logs of latest computation\nbecause you passed "
        "`debug=True` to `torch.utils.checkpoint.checkpoint()`.\n\nTensors saved during the original forward:\n"
        + _numbered(first)
        + "\n\nTensors saved during recomputation:\n"
        + _numbered(again)
        + f"\n\n{message.removesuffix(_DEBUG_TIP)}"
    )


def _numbered(lines: Sequence[str]) -> str:
    return "\n".join([f"  {i}: {line}" for i, line in enumerate(lines)]) or "  none"


def selective_policy() -> ArgumentError:
    return ArgumentError("policy_fn_or_list must be either a function or a list of ops.")


def selective_op(op: object, kind: type) -> ElementError:
    hint = ""
    if kind.__name__ == "OpOverloadPacket":
        hint = (
            "Please update the OpOverloadPacket to a specific OpOverload.For example, if you have `torch.ops.aten.mm`, "
            "change it to `torch.ops.aten.mm.default`."
        )
    return ElementError(f"Expected op in `op_list` to be an OpOverload but got: {op} of type {kind}. {hint}")


def selective_again() -> GraphError:
    return GraphError(
        "Trying to backward an extra time. You are only allowed to backward once on any region computed under selective "
        "activation checkpoint."
    )


def selective_mutation() -> GraphError:
    return GraphError("Tensor cached during selective activation checkpoint has been mutated")


def checkpoint_determinism(got: object) -> ElementError:
    return ElementError(f"determinism_check should be one of ['default', 'none'], but got {got}")


def checkpoint_keywords(names: Iterable[str]) -> ElementError:
    return ElementError("Unexpected keyword arguments: " + ",".join(names))


def checkpoint_reentrant_option() -> ElementError:
    return ElementError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")


def checkpoint_partial_pass() -> GraphError:
    return GraphError(
        "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` parameter "
        "to .backward(). To resolve this error, you can either set use_reentrant=False, or call .backward() without "
        "passing the `inputs` argument."
    )


def checkpoint_without_gradient() -> GraphError:
    return GraphError("none of output has requires_grad=True, this checkpoint() is not necessary")


def checkpoint_detach_type(got: type | str) -> GraphError:
    return GraphError(f"Only tuple of tensors is supported. Got Unsupported input type: {type_name(got)}")


def checkpoint_segments(segments: int, functions: int) -> ElementError:
    return ElementError(
        f"checkpoint_sequential cuts {functions} functions into 1 to {functions} segments, but segments is {segments}"
    )


def checkpoint_without_input_gradient() -> UserWarning:
    return UserWarning("None of the inputs have requires_grad=True. Gradients will be None")


def use_reentrant_missing(function: str) -> UserWarning:
    """function: "checkpoint" or "checkpoint_sequential"."""
    where = "" if function == "checkpoint" else f".{function}"
    return UserWarning(
        f"torch.utils.checkpoint{where}: the use_reentrant parameter should be passed explicitly. "
        "use_reentrant=False is recommended, but if you need to preserve the current default behavior, you can pass "
        "use_reentrant=True. Refer to docs for more details on the differences between the two variants."
    )
