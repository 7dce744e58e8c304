"""func.functional_call and func.stack_module_state: modules as functions of their parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from wengert.nn.utils.stateless import _functional_call
from wengert.ops import function

_stack: Any = function("", "stack")


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with other tensors in the place of its parameters and buffers, which it has again afterwards.

    parameter_and_buffer_dicts: a dict of tensors by the names of named_parameters and named_buffers, or several dicts. args:
    the arguments, a tuple; or the only one. tie_weights: a tensor takes the place of all members that are tied. strict: raise
    RuntimeError for names that are missing or unknown. Raises ValueError for a name in several dicts. The result is a
    differentiable function of the tensors.

    >>> import wengert
    >>> from wengert.func import functional_call
    >>> layer = wengert.nn.Linear(2, 1)
    >>> functional_call(layer, {"weight": wengert.ones(1, 2), "bias": wengert.zeros(1)}, wengert.ones(2))
    tensor([2.])
    """
    if isinstance(parameter_and_buffer_dicts, dict):
        tensors = parameter_and_buffer_dicts
    elif isinstance(parameter_and_buffer_dicts, Sequence):
        if not all(isinstance(part, dict) for part in parameter_and_buffer_dicts):
            raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
        counts = Counter(key for part in parameter_and_buffer_dicts for key in part)
        repeated = [key for key, count in counts.items() if count > 1]
        if repeated:
            raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous")
        tensors = {key: value for part in parameter_and_buffer_dicts for key, value in part.items()}
    else:
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(parameter_and_buffer_dicts)}"
        )
    return _functional_call(module, tensors, args, kwargs, tie_weights=tie_weights, strict=strict)


def stack_module_state(models: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return (parameters, buffers) of several modules of one class, stacked along dimension 0, for vmap.

    Raises RuntimeError for no module, modules of different classes, or of different modes."""
    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if not (all(m.training for m in models) or all(not m.training for m in models)):
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if any(type(m) is not type(models[0]) for m in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    stacked: list[dict[str, Any]] = []
    for kind in ("named_parameters", "named_buffers"):
        members = [dict(getattr(m, kind)()) for m in models]
        stacked.append({name: _stack_leaves(name, [part[name] for part in members]) for name in members[0]})
    return stacked[0], stacked[1]


def _stack_leaves(name: str, tensors: list[Any]) -> Any:
    """Stack tensors to a new leaf that requires grad if they do."""
    requires_grad = tensors[0].requires_grad
    if any(tensor.requires_grad != requires_grad for tensor in tensors):
        raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
    return _stack([tensor.detach() for tensor in tensors]).requires_grad_(requires_grad)
