"""Selective checkpoints: which results of a checkpoint's part are kept, so that its second run need not compute them again.

The first run asks the policy about each operation and keeps results; the second takes them in the order of calls, by
operation, and records an operation with a kept result as if it had run. Part of wengert.utils.checkpoint.
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
    """What becomes of an operation's result. MUST and PREFER mean the same here, and offloading to the CPU is saving."""

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
    """What a policy is told besides the operation. is_recompute: whether the part runs again."""

    def __init__(self, *, is_recompute: bool) -> None:
        self.is_recompute = is_recompute


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Callable[..., Any] | Sequence[OpOverload], allow_cache_entry_mutation: bool = False
) -> tuple[Any, Any]:
    """Two context managers that keep some results of a checkpoint's part; for its context_fn.

    policy_fn_or_list: a function of (SelectiveCheckpointContext, operation, *inputs, **parameters) that returns a
    CheckpointPolicy, or a list of operations to save: `wengert.ops.aten.mm.default`. Results of views and of writes in
    place are never kept. allow_cache_entry_mutation: takes kept results that were written into as they are now.

    The gradients are those without a checkpoint; a region can be differentiated once. Raises TypeError and ValueError for
    what is neither a function nor a list of operations; a backward pass raises RuntimeError for a second one, and where a
    kept result was written into.

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
    return _Keeping(policy, kept), _Taking(kept, allow_cache_entry_mutation)


class _Intercepting:
    """In the block, self.run runs the operations of this thread."""

    run: Callable[[Any, tuple[Any, ...]], Any]

    def __enter__(self) -> None:
        self._before = set_interceptor(self.run)

    def __exit__(self, *exception: object) -> None:
        set_interceptor(self._before)


class _Keeping(_Intercepting):
    """The first run. kept: of each operation, by its name, an entry a call: its results and their versions, or None."""

    def __init__(self, policy: Callable[..., Any], kept: dict[str, list[Any]]) -> None:
        self.policy = policy
        self.kept = kept
        self.context = SelectiveCheckpointContext(is_recompute=False)

    def run(self, function: Any, arguments: tuple[Any, ...]) -> Any:
        """Runs an operation, and keeps its results if the policy says so."""
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


class _Taking(_Intercepting):
    """Another run, which takes what the first one has kept."""

    def __init__(self, kept: dict[str, list[Any]], allow_mutation: bool) -> None:
        self.kept = kept
        self.allow_mutation = allow_mutation
        self.counts: dict[str, int] = {}
        self.is_over = False

    def run(self, function: Any, arguments: tuple[Any, ...]) -> Any:
        """Records an operation with its kept results, or runs it."""
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
        entry = calls[number] if number < len(calls) else None  # one call more: the checkpoint will complain
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
    """(operation, inputs, parameters) of a call as dispatch makes it; None of a write in place and of a read."""
    if function.__name__ == "call":
        return arguments
    if function.__name__ in ("call1", "call2"):
        return arguments[0], arguments[1:], None
    return None


def _name_of(op: Op, inputs: tuple[Any, ...], params: dict[str, Any] | None) -> str:
    """torch's name of what runs, as the node has it: mm, addmm or mv where that depends on the call."""
    params = op.defaults if params is None else params
    node = op.find_node_class() if op.node_chooser is None else op.node_chooser(inputs, params)
    name = op.name if node is None else _in_lower_case(node.__name__)
    # What torch puts together from a product and a view around it is one operation here.
    return "bmm" if name == "unsafe_view" else name


@cache
def _in_lower_case(node_name: str) -> str:
    """max_pool2d_with_indices, of MaxPool2DWithIndicesBackward0."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z0-9])(?=[A-Z][a-z])", "_", errors.operation_name(node_name)).lower()


def _record(op: Op, inputs: tuple[Any, ...], params: dict[str, Any] | None, outputs: list[Any]) -> Any:
    """What dispatch gives where the forward has given these outputs."""
    arrays, needs = unwrap(op, inputs)
    if flags() or not op.rules:
        needs = 0
    return finish(op, needs, inputs, arrays, params, outputs[0] if op.output_names is None else tuple(outputs))
