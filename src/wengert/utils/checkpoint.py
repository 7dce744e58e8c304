"""Checkpoints: functions that save only their inputs, and run again when a backward pass needs their saved tensors.

Note [How a checkpoint works]
The function runs once under saved_tensors_hooks that keep an empty _Slot for each tensor that an operation saves. When a
backward pass unpacks the first slot, the function runs again, under hooks that fill the slots in the order of saving; so
both runs must save the same tensors. The pass takes each value out of its slot, which frees it; another pass runs the
function anew. The inputs are saved as any operation saves its inputs: outer checkpoints and other hooks see them, and
writes into them are detected.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np

from wengert import dtypes, errors
from wengert.autograd import backward
from wengert.autograd.function import Function
from wengert.autograd.grad_mode import enable_grad, no_grad
from wengert.autograd.graph import saved_tensors_hooks
from wengert.core.modes import current_task, grad_enabled, same_autocast
from wengert.core.node import find_position, locate
from wengert.core.tensor import TensorBase, wrap
from wengert.errors import CheckpointError
from wengert.generator import get_states, set_states
from wengert.utils.selective_checkpoint import (
    SAC_IGNORED_OPS,
    CheckpointPolicy,
    SelectiveCheckpointContext,
    create_selective_checkpoint_contexts,
)

__all__ = [
    "SAC_IGNORED_OPS",
    "CheckpointError",
    "CheckpointFunction",
    "CheckpointPolicy",
    "SelectiveCheckpointContext",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",
    "detach_variable",
    "get_device_states",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
    "set_device_states",
]

_early_stop = True  # set by set_checkpoint_early_stop
_debug: bool | None = None  # set by set_checkpoint_debug_enabled


def noop_context_fn() -> tuple[AbstractContextManager[Any], AbstractContextManager[Any]]:
    """Return two context managers that do nothing: the default context_fn of checkpoint."""
    return nullcontext(), nullcontext()


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], tuple[Any, Any]] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """Return function(*args, **kwargs) and save only its inputs; the backward pass runs it again to save the rest.

    use_reentrant: False is recommended. True runs a backward pass inside the backward pass: an argument must require a
    gradient, the results must be a tensor or a tuple, and autograd.grad does not work. context_fn: returns two context
    managers, for the first run and for later runs. determinism_check: "default" compares shape, dtype and device of the
    tensors that both runs save, "none" does not. debug: errors list the tensors that each run saved, and where.
    early_stop: a later run ends as soon as all saved tensors are recomputed. preserve_rng_state: each run draws the same
    random numbers, and the state of the default generator is restored after a later run.

    Raises CheckpointError if the runs do not save the same tensors.

    >>> import wengert
    >>> from wengert.utils.checkpoint import checkpoint
    >>> x = wengert.tensor([0.0, 0.5], requires_grad=True)
    >>> y = checkpoint(lambda t: t.exp().sin().sum(), x, use_reentrant=False)
    >>> y.backward()
    >>> x.grad
    tensor([ 0.5403, -0.1283])
    """
    if use_reentrant is None:
        _warn_of_no_choice("torch.utils.checkpoint")
        use_reentrant = True
    if use_reentrant:
        if kwargs:
            raise errors.ElementError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug:
            raise errors.ElementError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        return CheckpointFunction.apply(function, preserve_rng_state, *args)
    if determinism_check not in ("default", "none"):
        raise errors.ElementError(f"determinism_check should be one of ['default', 'none'], but got {determinism_check}")
    forward_context, recompute_context = context_fn()
    if _debug is not None:
        debug = _debug
    if not grad_enabled():
        with forward_context:
            return function(*args, **kwargs)
    frame = _Checkpoint(function, args, kwargs, preserve_rng_state)
    frame.recompute_context = recompute_context
    frame.early_stop = early_stop and _early_stop
    frame.compares = determinism_check == "default"
    frame.debug = debug
    with saved_tensors_hooks(frame.pack, frame.unpack), forward_context:
        result = function(*args, **kwargs)
    frame.is_complete = True
    return result


def _warn_of_no_choice(function: str) -> None:
    warnings.warn(
        f"{function}: the use_reentrant parameter should be passed explicitly. use_reentrant=False is recommended, but if you "
        "need to preserve the current default behavior, you can pass use_reentrant=True. Refer to docs for more details on "
        "the differences between the two variants.",
        stacklevel=3,
    )


class _SaveInputs(Function):
    """Function that saves its tensor arguments, as any operation does."""

    @staticmethod
    def forward(ctx: Any, anchor: Any, *args: Any) -> Any:
        ctx.save_for_backward(*[x for x in args if isinstance(x, TensorBase)])
        return wrap(np.empty(0, np.float32))

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        raise AssertionError("nothing leads here")


class _Slot:
    """Placeholder of a tensor that the first run saved."""

    __slots__ = ("__weakref__", "index")

    def __init__(self, index: int) -> None:
        self.index = index


class _AllRecomputed(BaseException):
    """Ends a run that has recomputed all saved tensors. It is no Exception, because the function may catch those."""

    def __init__(self, frame: _Checkpoint) -> None:
        self.frame = frame


class _Checkpoint:
    """One checkpoint: its function and inputs, and the slots of its first run. See Note [How a checkpoint works]."""

    recompute_context: Any = None
    early_stop = True
    compares = True
    debug = False
    is_complete = False  # the first run is over

    def __init__(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], preserve_rng_state: bool
    ) -> None:
        self.function = function
        self.kwargs = kwargs
        self.constants = [None if isinstance(x, TensorBase) else x for x in args]
        self.places = [i for i, x in enumerate(args) if isinstance(x, TensorBase)]
        anchor = wrap(np.empty(0, np.float32))
        anchor.requires_grad = True
        self.inputs = _SaveInputs.apply(anchor, *args).grad_fn
        self.rng_state = get_states() if preserve_rng_state else None
        self.autocast = same_autocast()
        self.slots: list[weakref.ref[_Slot]] = []
        self.saved: list[_Description] = []  # one for each slot
        # For each backward pass, the recomputed values by the index of their slots.
        self.values: weakref.WeakKeyDictionary[Any, dict[int, Any]] = weakref.WeakKeyDictionary()

    def pack(self, tensor: Any) -> _Slot:
        """Pack hook of the first run."""
        slot = _Slot(len(self.slots))
        self.slots.append(weakref.ref(slot))
        self.saved.append(_Description(tensor, self.debug))
        return slot

    def unpack(self, slot: _Slot) -> Any:
        """Unpack hook of the first run."""
        task = current_task()
        values = None if task is None else self.values.get(task)
        if values is None or slot.index not in values:
            values = self.recompute()
            if task is not None:
                self.values[task] = values
        return values.pop(slot.index)

    def recompute(self) -> dict[int, Any]:
        """Run the function again and return the saved values by the index of their slots.

        Raises CheckpointError if the run did not save the tensors of the first run."""
        arguments = list(self.constants)
        for i, tensor in zip(self.places, self.inputs.saved_tensors, strict=True):
            arguments[i] = tensor
        run = _Run(self)
        outside = None if self.rng_state is None else get_states()
        try:
            if self.rng_state is not None:
                set_states(self.rng_state)
            recompute_context = self.recompute_context or nullcontext()
            with enable_grad(), self.autocast, saved_tensors_hooks(run.pack, _identity), recompute_context:
                self.function(*arguments, **self.kwargs)
        except _AllRecomputed as enough:
            if enough.frame is not self:
                raise
        finally:
            if outside is not None:
                set_states(outside)
        if self.is_complete:  # otherwise this is a backward pass inside the first run, which is still saving
            self.check(run)
        return run.values

    def check(self, run: _Run) -> None:
        """Raise CheckpointError if a run did not save the tensors of the first run."""
        if len(run.saved) != len(self.saved):
            text = (
                "A different number of tensors was saved during the original forward and recomputation.\nNumber of tensors "
                f"saved during forward: {len(self.saved)}\nNumber of tensors saved during recomputation: {len(run.saved)}."
            )
            raise self.error(text, run)
        if self.compares:
            differing = [
                f"tensor at position {i}:\nsaved metadata: {first.text}\nrecomputed metadata: {again.text}"
                for i, (first, again) in enumerate(zip(self.saved, run.saved, strict=True))
                if first.text != again.text and self.slots[i]() is not None
            ]
            if differing:
                text = "Recomputed values for the following tensors have different metadata than during the forward pass.\n"
                raise self.error(text + "\n".join(differing) + ".", run)

    def error(self, text: str, run: _Run) -> CheckpointError:
        """Return the error with this text; if debug is on, with the list of the tensors that each run saved."""
        text = f"torch.utils.checkpoint: {text}"
        if not self.debug:
            return CheckpointError(
                f"{text}\n\nTip: To see a more detailed error message, either pass `debug=True` to "
                "`torch.utils.checkpoint.checkpoint(...)` or wrap the code block with `with "
                "torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to enable checkpoint-debug mode globally."
            )
        logs = ["\n".join([f"  {i}: {entry.log()}" for i, entry in enumerate(saved)]) for saved in (self.saved, run.saved)]
        return CheckpointError(
            "An error happened while unpacking tensors; dumping logs of latest computation\nbecause you passed "
            "`debug=True` to `torch.utils.checkpoint.checkpoint()`.\n\nTensors saved during the original forward:\n"
            f"{logs[0] or '  none'}\n\nTensors saved during recomputation:\n{logs[1] or '  none'}\n\n{text}"
        )


class _Run:
    """A later run of a checkpoint's function."""

    def __init__(self, frame: _Checkpoint) -> None:
        self.frame = frame
        self.values: dict[int, Any] = {}
        self.saved: list[_Description] = []

    def pack(self, tensor: Any) -> Any:
        """Pack hook: fill the next slot. The graph of the run keeps the value too, until the graph is freed."""
        frame, index = self.frame, len(self.saved)
        value = tensor.detach()
        if index >= len(frame.slots):
            if not frame.is_complete:
                return value
            raise frame.error(
                "trying to save more tensors during recomputation than during the original forward pass.", self
            )
        self.saved.append(_Description(tensor, frame.debug))
        if frame.slots[index]() is not None:
            self.values[index] = value
        if frame.early_stop and len(self.saved) == len(frame.slots):
            raise _AllRecomputed(frame)
        return value


def _identity(x: Any) -> Any:
    return x


class _Description:
    """Properties of a saved tensor that runs are compared by, and, if located, the line that saved it."""

    __slots__ = ("short", "text", "where")

    def __init__(self, tensor: Any, located: bool) -> None:
        dtype = dtypes.from_numpy_dtype(tensor._array.dtype)
        self.text = str({"shape": tensor.shape, "dtype": dtype, "device": tensor.device})
        self.short = f"{dtype}{list(tensor.shape)}"
        self.where = locate(*find_position()) if located else None

    def log(self) -> str:
        """Return a line of a log."""
        return self.short if self.where is None else f"{self.short} saved at {self.where}"


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Context manager: set whether checkpoints made in its block end later runs as soon as all is recomputed."""
    global _early_stop
    before, _early_stop = _early_stop, enable
    try:
        yield
    finally:
        _early_stop = before


@contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Context manager: override the argument debug of all checkpoints made in its block; None does not override it."""
    global _debug
    before, _debug = _debug, enabled
    try:
        yield
    finally:
        _debug = before


# -- use_reentrant=True ------------------------------------------------------------------------------------------------


class CheckpointFunction(Function):
    """Checkpoint with use_reentrant=True: backward runs the function again, and a backward pass through its graph."""

    @staticmethod
    def forward(ctx: Any, run_function: Callable[..., Any], preserve_rng_state: bool, *args: Any) -> Any:
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.rng_state = get_states() if preserve_rng_state else None
        ctx.autocast = same_autocast()
        ctx.constants = [None if isinstance(x, TensorBase) else x for x in args]
        ctx.places = [i for i, x in enumerate(args) if isinstance(x, TensorBase)]
        ctx.save_for_backward(*[args[i] for i in ctx.places])
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        task = current_task()
        if task is not None and task.partial:
            raise errors.GraphError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` "
                "parameter to .backward(). To resolve this error, you can either set use_reentrant=False, or call "
                ".backward() without passing the `inputs` argument."
            )
        inputs = list(ctx.constants)
        for i, tensor in zip(ctx.places, ctx.saved_tensors, strict=True):
            inputs[i] = tensor
        detached = detach_variable(tuple(inputs))
        outside = None if ctx.rng_state is None else get_states()
        try:
            if ctx.rng_state is not None:
                set_states(ctx.rng_state)
            with enable_grad(), ctx.autocast:
                outputs = ctx.run_function(*detached)
        finally:
            if outside is not None:
                set_states(outside)
        if isinstance(outputs, TensorBase):
            outputs = (outputs,)
        roots = [
            (output, grad)
            for output, grad in zip(outputs, grad_outputs, strict=True)
            if isinstance(output, TensorBase) and output.requires_grad
        ]
        if not roots:
            raise errors.GraphError("none of output has requires_grad=True, this checkpoint() is not necessary")
        backward([output for output, _ in roots], [grad for _, grad in roots])
        return (None, None, *[x._grad if isinstance(x, TensorBase) else None for x in detached])


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return inputs with each tensor detached, as a leaf with the same requires_grad. Raises RuntimeError for no tuple."""
    if not isinstance(inputs, tuple):
        raise errors.GraphError(f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}")
    result = []
    for x in inputs:
        if isinstance(x, TensorBase):
            requires_grad = x.requires_grad
            x = x.detach()  # type: ignore[attr-defined]  # a TensorBase is a Tensor
            x.requires_grad = requires_grad
        result.append(x)
    return tuple(result)


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn if no tensor among inputs requires a gradient: a checkpoint with use_reentrant=True would have none."""
    if not any(isinstance(x, TensorBase) and x.requires_grad for x in inputs):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2)


def get_device_states(*args: Any) -> tuple[list[int], list[Any]]:
    """Return ([], []): the devices of args other than the CPU, and the states of their generators."""
    return [], []


def set_device_states(devices: list[int], states: list[Any], *, device_type: str | None = None) -> None:
    """Do nothing: there are no states of get_device_states to restore."""


# -- sequences ---------------------------------------------------------------------------------------------------------


def checkpoint_sequential(
    functions: Any,
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """Apply functions to input one after another, in segments of equal size; all but the last segment are checkpoints.

    functions: a sequence, or a module with children(). Raises ValueError unless 1 <= segments <= number of functions.
    """
    if use_reentrant is None:
        _warn_of_no_choice("torch.utils.checkpoint.checkpoint_sequential")
        use_reentrant = True
    if kwargs:
        raise errors.ElementError("Unexpected keyword arguments: " + ",".join(kwargs))
    functions = list(functions.children() if hasattr(functions, "children") else functions)
    if not 0 < segments <= len(functions):
        raise errors.ElementError(
            f"checkpoint_sequential cuts {len(functions)} functions into 1 to {len(functions)} segments, but segments is "
            f"{segments}"
        )
    size = len(functions) // segments
    for start in range(0, size * (segments - 1), size):
        part = _Composition(functions[start : start + size])
        input = checkpoint(part, input, use_reentrant=use_reentrant, preserve_rng_state=preserve_rng_state)
    return _Composition(functions[size * (segments - 1) :])(input)


class _Composition:
    """Composition of functions, applied in order."""

    def __init__(self, functions: list[Callable[[Any], Any]]) -> None:
        self.functions = functions

    def __call__(self, value: Any) -> Any:
        for function in self.functions:
            value = function(value)
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
