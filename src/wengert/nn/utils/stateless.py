"""Calls of a module with other tensors in the place of its parameters and buffers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from wengert.core.tensor import TensorBase

__all__ = ["functional_call"]


def _owner(module: Any, name: str) -> tuple[dict[str, Any], str]:
    """Return (dict, key) in which the module holds the parameter or buffer of a dotted name."""
    path, _, key = name.rpartition(".")
    owner = module.get_submodule(path)
    for members in (owner._parameters, owner._buffers):
        if key in members:
            return members, key
    raise AttributeError(f"{owner._get_name()} has no parameter or buffer `{key}`")


def _members(module: Any) -> dict[str, Any]:
    """Return all parameters and buffers by their names. A tied one has several names."""
    found = dict(module.named_parameters(remove_duplicate=False))
    found.update(module.named_buffers(remove_duplicate=False))
    return found


def _check_keys(module: Any, known: dict[str, Any], given: dict[str, Any]) -> None:
    """Raise RuntimeError unless the keys are those of the module."""
    missing = [key for key in known if key not in given]
    unexpected = [key for key in given if key not in known]
    if missing or unexpected:
        lines = [f"Error(s) in reparametrizing for {module._get_name()}:"]
        for kind, keys in (("Unexpected", unexpected), ("Missing", missing)):
            if keys:
                lines.append(f"{kind} key(s): " + ", ".join(repr(key) for key in keys) + ".")
        raise RuntimeError("\n\t".join(lines))


def _untie(known: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return the tensors for all names of tied members, given one. Raises ValueError if several are given that differ."""
    names: dict[int, list[str]] = {}
    for name, tensor in known.items():
        names.setdefault(id(tensor), []).append(name)
    result = dict(given)
    for tied in names.values():
        found = [name for name in tied if name in given]
        if len(found) > 1 and any(given[name] is not given[found[0]] for name in found):
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(found)}, which are tied. Consider using tie_weights=False"
            )
        if found:
            result.update(dict.fromkeys(tied, given[found[0]]))
    return result


@contextmanager
def _reparametrize_module(
    module: Any, parameters_and_buffers: dict[str, Any], tie_weights: bool = False, strict: bool = False
) -> Iterator[None]:
    """Give the module these tensors within a with block. A tensor that the module replaces meanwhile is put into the dict."""
    known = _members(module)
    tensors = _untie(known, parameters_and_buffers) if tie_weights else parameters_and_buffers
    if strict:
        _check_keys(module, known, tensors)
    for name, tensor in tensors.items():
        if name in known:
            if not isinstance(tensor, TensorBase):
                raise TypeError(f"{tensor!r} is not an instance of torch.Tensor")
        else:
            module.get_submodule(name.rpartition(".")[0])  # raises for a module that does not exist
    places = {name: _owner(module, name) for name in tensors if name in known}
    before = {name: members[key] for name, (members, key) in places.items()}
    try:
        for name, (members, key) in places.items():
            members[key] = tensors[name]
        yield
    finally:
        for name, (members, key) in places.items():
            if name in parameters_and_buffers and members[key] is not tensors[name]:
                parameters_and_buffers[name] = members[key]
            members[key] = before[name]


def _functional_call(
    module: Any,
    parameters_and_buffers: dict[str, Any],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call the module with these tensors in the place of its parameters and buffers."""
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with _reparametrize_module(module, parameters_and_buffers, tie_weights, strict):
        return module(*args, **(kwargs or {}))


def functional_call(
    module: Any,
    parameters_and_buffers: dict[str, Any],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call the module with these tensors in the place of its parameters and buffers. Deprecated: func.functional_call."""
    warnings.warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a future version of "
        "PyTorch. Please use `torch.func.functional_call` instead which is a drop-in replacement.",
        FutureWarning,
        stacklevel=2,
    )
    return _functional_call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)
