"""The messages about saved tensors and checkpoints, word for word."""

import pytest

from messages import builders, check, without_row
from wengert import errors
from wengert.errors import saved

TIP = (
    "\n\nTip: To see a more detailed error message, either pass `debug=True` to `torch.utils.checkpoint.checkpoint(...)` "
    "or wrap the code block with `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to enable "
    "checkpoint-debug mode globally."
)
REENTRANT = (
    ": the use_reentrant parameter should be passed explicitly. use_reentrant=False is recommended, but if you need to "
    "preserve the current default behavior, you can pass use_reentrant=True. Refer to docs for more details on the "
    "differences between the two variants."
)

# The call that builds an exception, the built-in exception that it is, its text.
MESSAGES = [
    (
        lambda: errors.pack_hook_wrote(),
        RuntimeError,
        "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot be "
        "modified by in-place operations as this can lead to unexpected side-effects. Please open an issue if you need "
        "to perform in-place operations on the input to a pack hook. Hint: write into a clone() of it.",
    ),
    (
        lambda: errors.unpack_hook_type(int),
        TypeError,
        "Output of saved tensor unpack_hook expected to be a Tensor but got result of type int",
    ),
    (
        lambda: errors.saved_hooks_type(int, "str"),
        TypeError,
        "hooks on saved tensors must be callable: pack_hook(tensor) and unpack_hook(packed), but got int and str",
    ),
    (lambda: errors.saved_hooks_refused("not here"), RuntimeError, "not here"),
    (
        lambda: errors.saved_hooks_twice(),
        RuntimeError,
        "Calling register_hooks on a saved tensor whose hooks have already been set. "
        "Hint: only one pair of hooks is allowed at a time.",
    ),
    (
        lambda: errors.saved_hooks_on_none(),
        RuntimeError,
        "Calling register_hooks on a saved tensor with value None is forbidden",
    ),
    (
        lambda: errors.saved_hooks_freed(),
        RuntimeError,
        "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph are "
        "freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through "
        "the graph a second time or if you need to access saved variables after calling backward.",
    ),
    (
        lambda: errors.saved_tensor_made(),
        RuntimeError,
        "Trying to create a SavedTensor object from Python is forbidden.",
    ),
    (lambda: errors.mutation_nested(), RuntimeError, "allow_mutation_on_saved_tensors contexts cannot be nested"),
    (
        lambda: errors.mutation_block_left(),
        AssertionError,
        "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in which the graph was originally "
        "recorded.",
    ),
    (
        lambda: errors.increment_version_type(int),
        RuntimeError,
        "increment_version expect a Iterable[Tensor] as input, but got int",
    ),
    (
        lambda: errors.increment_version_element(int),
        RuntimeError,
        "increment_version expects each element of the iterable to be a tensor, but got int",
    ),
    (lambda: errors.multi_hook_mode("some"), ValueError, "Expects mode to be one of ('all', 'any') but got some"),
    (lambda: errors.node_argument_number(1, 2), TypeError, "expected 1 arguments, got 2 instead"),
    (lambda: errors.node_argument_type(0, int), TypeError, "argument 0 is not a Variable, but int"),
    # Checkpoints
    (
        lambda: errors.checkpoint_number(3, 1),
        RuntimeError,
        "torch.utils.checkpoint: A different number of tensors was saved during the original forward and recomputation."
        "\nNumber of tensors saved during forward: 3\nNumber of tensors saved during recomputation: 1." + TIP,
    ),
    (
        lambda: errors.checkpoint_too_many(),
        RuntimeError,
        "torch.utils.checkpoint: trying to save more tensors during recomputation than during the original forward pass."
        + TIP,
    ),
    (
        lambda: errors.checkpoint_metadata([(1, "a", "b")]),
        RuntimeError,
        "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during the "
        "forward pass.\ntensor at position 1:\nsaved metadata: a\nrecomputed metadata: b." + TIP,
    ),
    (
        lambda: errors.checkpoint_logs("what is wrong" + TIP, ["x", "y"], []),
        RuntimeError,
        "An error happened while unpacking tensors; dumping logs of latest computation\nbecause you passed `debug=True` "
        "to `torch.utils.checkpoint.checkpoint()`.\n\nTensors saved during the original forward:\n  0: x\n  1: y\n\n"
        "Tensors saved during recomputation:\n  none\n\nwhat is wrong",
    ),
    (
        lambda: errors.checkpoint_determinism("x"),
        ValueError,
        "determinism_check should be one of ['default', 'none'], but got x",
    ),
    (lambda: errors.checkpoint_keywords(["a", "b"]), ValueError, "Unexpected keyword arguments: a,b"),
    (
        lambda: errors.checkpoint_reentrant_option(),
        ValueError,
        "Passing `context_fn` or `debug` is only supported when use_reentrant=False.",
    ),
    (
        lambda: errors.checkpoint_partial_pass(),
        RuntimeError,
        "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` parameter "
        "to .backward(). To resolve this error, you can either set use_reentrant=False, or call .backward() without "
        "passing the `inputs` argument.",
    ),
    (
        lambda: errors.checkpoint_without_gradient(),
        RuntimeError,
        "none of output has requires_grad=True, this checkpoint() is not necessary",
    ),
    (
        lambda: errors.checkpoint_detach_type("Tensor"),
        RuntimeError,
        "Only tuple of tensors is supported. Got Unsupported input type: Tensor",
    ),
    (
        lambda: errors.checkpoint_segments(5, 3),
        ValueError,
        "checkpoint_sequential cuts 3 functions into 1 to 3 segments, but segments is 5",
    ),
    (
        lambda: errors.checkpoint_without_input_gradient(),
        UserWarning,
        "None of the inputs have requires_grad=True. Gradients will be None",
    ),
    (lambda: errors.use_reentrant_missing("checkpoint"), UserWarning, "torch.utils.checkpoint" + REENTRANT),
    (
        lambda: errors.use_reentrant_missing("checkpoint_sequential"),
        UserWarning,
        "torch.utils.checkpoint.checkpoint_sequential" + REENTRANT,
    ),
    (lambda: errors.selective_policy(), TypeError, "policy_fn_or_list must be either a function or a list of ops."),
    (
        lambda: errors.selective_op("aten.mm", type("OpOverloadPacket", (), {"__module__": "m"})),
        ValueError,
        "Expected op in `op_list` to be an OpOverload but got: aten.mm of type <class 'm.OpOverloadPacket'>. Please update "
        "the OpOverloadPacket to a specific OpOverload.For example, if you have `torch.ops.aten.mm`, change it to "
        "`torch.ops.aten.mm.default`.",
    ),
    (
        lambda: errors.selective_again(),
        RuntimeError,
        "Trying to backward an extra time. You are only allowed to backward once on any region computed under selective "
        "activation checkpoint.",
    ),
    (
        lambda: errors.selective_mutation(),
        RuntimeError,
        "Tensor cached during selective activation checkpoint has been mutated",
    ),
]


@pytest.mark.parametrize(("build", "builtin", "text"), MESSAGES, ids=lambda x: x[:30] if isinstance(x, str) else "")
def test_message(build, builtin, text):
    check(build, builtin, text)


def test_every_message_is_pinned():
    assert not without_row(MESSAGES, saved)
    assert all(getattr(errors, name) is function for name, function in builders(saved).items())
