"""Selective checkpoints: a policy chooses the results that a checkpoint saves instead of recomputing them.

The first run asks the policy about each operation and saves results. The second run takes the saved results of each
operation in the order of its calls, and records the operation as if it had run. Part of wengert.utils.checkpoint.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from wengert import errors
from wengert.core.dispatch import finish, unwrap
from wengert.core.modes import DUAL, flags
from wengert.core.op import Op
from wengert.core.recorder import set_interceptor
from wengert.ops import aten
from wengert.ops.aten import OpOverload, overload_of


class CheckpointPolicy(enum.Enum):
    """Policy for an operation's result: save or recompute. MUST and PREFER mean the same here; CPU offloading saves."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


_SAVING = {
    CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE, CheckpointPolicy.MUST_CPU_OFFLOAD,
    CheckpointPolicy.PREFER_CPU_OFFLOAD, True,
}  # fmt: skip

# Policies are not asked about these.
SAC_IGNORED_OPS = {aten.detach.default}


class SelectiveCheckpointContext:
    """First argument of a policy. is_recompute: whether the checkpoint runs again."""

    def __init__(self, *, is_recompute: bool) -> None:
        self.is_recompute = is_recompute


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Callable[..., Any] | Sequence[OpOverload], allow_cache_entry_mutation: bool = False
) -> tuple[Any, Any]:
    """Return two context managers, for context_fn of checkpoint, that save some results instead of recomputing them.

    policy_fn_or_list: a function of (SelectiveCheckpointContext, operation, *inputs, **parameters) that returns a
    CheckpointPolicy; or a list of operations whose results are saved, such as `wengert.ops.aten.mm.default`. Results of
    views and of in-place operations are never saved. allow_cache_entry_mutation: use saved results that were written into
    since, with their new values.

    The gradients are those without a checkpoint. A checkpoint can be differentiated once: a second backward pass raises
    RuntimeError, as does a saved result that was written into. Raises TypeError or ValueError for another
    policy_fn_or_list.

    >>> import functools
    >>> import wengert
    >>> from wengert.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts
    >>> x = wengert.ones(2, 2, requires_grad=True)
    >>> keep_products = functools.partial(create_selective_checkpoint_contexts, [wengert.ops.aten.mm.default])
    >>> checkpoint(lambda t: (t @ t).sigmoid().sum(), x, use_reentrant=False, context_fn=keep_products).backward()
    >>> x.grad
    tensor([[0.4200, 0.4200],
            [0.4200, 0.4200]])
    """
    if isinstance(policy_fn_or_list, list):
        for op in policy_fn_or_list:
            if not isinstance(op, OpOverload):
                hint = ""
                if type(op).__name__ == "OpOverloadPacket":
                    hint = (
                        "Please update the OpOverloadPacket to a specific OpOverload.For example, if you have "
                        "`torch.ops.aten.mm`, change it to `torch.ops.aten.mm.default`."
                    )
                raise errors.ElementError(
                    f"Expected op in `op_list` to be an OpOverload but got: {op} of type {type(op)}. {hint}"
                )
        saved = set(policy_fn_or_list)

        def policy(_: Any, op: OpOverload, *inputs: Any, **params: Any) -> Any:
            return CheckpointPolicy.MUST_SAVE if op in saved else CheckpointPolicy.PREFER_RECOMPUTE
    elif callable(policy_fn_or_list):
        policy = policy_fn_or_list
    else:
        raise errors.ArgumentError("policy_fn_or_list must be either a function or a list of ops.")
    kept: dict[str, list[Any]] = {}
    return _SavingContext(policy, kept), _ReusingContext(kept, allow_cache_entry_mutation)


class _InterceptingContext:
    """Context manager in whose block self.run runs the operations of this thread."""

    run: Callable[[Any, tuple[Any, ...]], Any]

    def __enter__(self) -> None:
        self._before = set_interceptor(self.run)

    def __exit__(self, *exception: object) -> None:
        set_interceptor(self._before)


class _SavingContext(_InterceptingContext):
    """Context of the first run. kept: for each operation's name, one entry per call: [(result, version), ...] or None."""

    def __init__(self, policy: Callable[..., Any], kept: dict[str, list[Any]]) -> None:
        self.policy = policy
        self.kept = kept
        self.context = SelectiveCheckpointContext(is_recompute=False)

    def run(self, function: Any, arguments: tuple[Any, ...]) -> Any:
        """Run an operation and save its results if the policy says so."""
        call = _call_of(function, arguments)
        if call is None:
            return function(*arguments)
        op, inputs, params = call
        named = overload_of(_name_of(op, inputs, params))
        keeps = named not in SAC_IGNORED_OPS and self.policy(self.context, named, *inputs, **params or {}) in _SAVING
        result = function(*arguments)
        entry = None
        if keeps and not op.is_view:
            entry = [(x.detach(), x._version) for x in (result if isinstance(result, tuple) else (result,))]
        self.kept.setdefault(op.name, []).append(entry)
        return result


class _ReusingContext(_InterceptingContext):
    """Context of a later run, which uses the results that the first run saved."""

    def __init__(self, kept: dict[str, list[Any]], allow_mutation: bool) -> None:
        self.kept = kept
        self.allow_mutation = allow_mutation
        self.counts: dict[str, int] = {}
        self.is_over = False

    def run(self, function: Any, arguments: tuple[Any, ...]) -> Any:
        """Record an operation with its saved results, or run it."""
        if self.is_over:
            raise errors.GraphError(
                "Trying to backward an extra time. You are only allowed to backward once on any region computed under "
                "selective activation checkpoint."
            )
        call = _call_of(function, arguments)
        if call is None:
            return function(*arguments)
        op, inputs, params = call
        number = self.counts.get(op.name, 0)
        self.counts[op.name] = number + 1
        calls = self.kept.get(op.name, [])
        entry = calls[number] if number < len(calls) else None  # if there are more calls, the checkpoint raises later
        if entry is None or flags() & DUAL:
            return function(*arguments)
        calls[number] = None
        if not self.allow_mutation and any(x._version != version for x, version in entry):
            raise errors.GraphError("Tensor cached during selective activation checkpoint has been mutated")
        return _record(op, inputs, params, [x._array for x, _ in entry])

    def __exit__(self, *exception: object) -> None:
        super().__exit__(*exception)
        self.is_over = True
        self.kept.clear()


def _call_of(function: Any, arguments: tuple[Any, ...]) -> tuple[Op, tuple[Any, ...], dict[str, Any] | None] | None:
    """Return (operation, inputs, parameters) of a call of dispatch; None for an in-place write and for a read."""
    if function.__name__ == "call":
        return arguments
    if function.__name__ in ("call1", "call2"):
        return arguments[0], arguments[1:], None
    return None


def _name_of(op: Op, inputs: tuple[Any, ...], params: dict[str, Any] | None) -> str:
    """Return torch's name of the operation, taken from its node: mm, addmm or mv if it depends on the call."""
    params = op.defaults if params is None else params
    node = op.find_node_class() if op.node_chooser is None else op.node_chooser(inputs, params)
    name = op.name if node is None else _in_lower_case(node.__name__)
    # torch computes this as a product between two views; here it is one operation.
    return "bmm" if name == "unsafe_view" else name


@cache
def _in_lower_case(node_name: str) -> str:
    """Convert a node's name to an operation's: MaxPool2DWithIndicesBackward0 to max_pool2d_with_indices."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z0-9])(?=[A-Z][a-z])", "_", errors.operation_name(node_name)).lower()


def _record(op: Op, inputs: tuple[Any, ...], params: dict[str, Any] | None, outputs: list[Any]) -> Any:
    """Return what dispatch returns for a forward with these outputs: recorded tensors."""
    arrays, needs = unwrap(op, inputs)
    if flags() or not op.rules:
        needs = 0
    return finish(op, needs, inputs, arrays, params, outputs[0] if op.output_names is None else tuple(outputs))
