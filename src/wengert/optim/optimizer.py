"""Optimizer: parameter groups, states, hooks and state dicts. Subclasses say how a step changes a parameter."""

from __future__ import annotations

import functools
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable
from copy import deepcopy
from itertools import chain
from typing import Any

import numpy as np

from wengert.autograd.grad_mode import enable_grad, no_grad, set_grad_enabled
from wengert.core.hooks import RemovableHandle, add_hook
from wengert.core.tensor import TensorBase, wrap
from wengert.dtypes import is_floating_point
from wengert.tensor import Tensor

__all__ = ["Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook", "required"]

_global_optimizer_pre_hooks: OrderedDict[int, Any] = OrderedDict()
_global_optimizer_post_hooks: OrderedDict[int, Any] = OrderedDict()


class _RequiredParameter:
    """Mark of a hyperparameter that each parameter group must give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _RequiredParameter()


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call hook(optimizer, args, kwargs) before each step of every optimizer. A hook may return new (args, kwargs)."""
    return add_hook(_global_optimizer_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call hook(optimizer, args, kwargs) after each step of every optimizer."""
    return add_hook(_global_optimizer_post_hooks, hook)


def step_hooks(optimizer: Optimizer) -> list[OrderedDict[int, Any]]:
    """Return the hooks that run before and after the steps of an optimizer."""
    own = optimizer._optimizer_step_pre_hooks, optimizer._optimizer_step_post_hooks
    return [_global_optimizer_pre_hooks, _global_optimizer_post_hooks, *own]


def _type_name(x: Any) -> str:
    return x.type() if isinstance(x, Tensor) else type(x).__name__


def _with_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    """Return a step that calls the hooks before and after the given one."""

    @functools.wraps(step)
    def run(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        for hook in chain(_global_optimizer_pre_hooks.values(), self._optimizer_step_pre_hooks.values()):
            result = hook(self, args, kwargs)
            if result is None:
                continue
            if not isinstance(result, tuple) or len(result) != 2:
                raise RuntimeError(f"{step} must return None or a tuple of (new_args, new_kwargs), but got {result}.")
            args, kwargs = result
        found = step(self, *args, **kwargs)
        for hook in chain(self._optimizer_step_post_hooks.values(), _global_optimizer_post_hooks.values()):
            hook(self, args, kwargs)
        return found

    run.hooked = True  # type: ignore[attr-defined]
    return run


def _use_grad_for_differentiable(step: Callable[..., Any]) -> Callable[..., Any]:
    """Return a step that records operations if the optimizer is differentiable, and nothing otherwise."""

    @functools.wraps(step)
    def run(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        with set_grad_enabled(bool(self.defaults.get("differentiable", False))):
            return step(self, *args, **kwargs)

    return run


class Optimizer:
    """Base class of optimizers.

    params: tensors, pairs (name, tensor), or dicts: parameter groups with the key "params" and hyperparameters of their own.
    defaults: the hyperparameters of groups that do not give them. Raises TypeError or ValueError for anything else.

    `state` maps each parameter to a dict, `param_groups` lists the groups. Subclasses define step(closure=None)."""

    OptimizerPreHook = Callable[..., Any]
    OptimizerPostHook = Callable[..., Any]
    _optimizer_step_pre_hooks: OrderedDict[int, Any]
    _optimizer_step_post_hooks: OrderedDict[int, Any]

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self._make_hooks()
        if isinstance(params, TensorBase):
            raise TypeError(
                f"params argument given to the optimizer should be an iterable of Tensors or dicts, but got {_type_name(params)}"
            )
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups: list[Any] = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        step = cls.__dict__.get("step")
        if step is not None and not hasattr(step, "hooked"):
            cls.step = _with_hooks(step)  # type: ignore[method-assign]

    def _make_hooks(self) -> None:
        for name in ("step_pre", "step_post", "state_dict_pre", "state_dict_post", "load_state_dict_pre", "load_state_dict_post"):
            self.__dict__.setdefault(f"_optimizer_{name}_hooks", OrderedDict())

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._make_hooks()
        self.defaults.setdefault("differentiable", False)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines += ["", f"Parameter Group {i}"] if i else [f"Parameter Group {i}"]
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join([*lines, ")"])

    # -- hooks -------------------------------------------------------------------------------------------------------------

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call hook(optimizer, args, kwargs) before each step. A hook may return new (args, kwargs)."""
        return add_hook(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call hook(optimizer, args, kwargs) after each step."""
        return add_hook(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call hook(optimizer) before state_dict()."""
        return add_hook(self.__dict__["_optimizer_state_dict_pre_hooks"], hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call hook(optimizer, state_dict) after state_dict(). A hook may return another dict in its place."""
        return add_hook(self.__dict__["_optimizer_state_dict_post_hooks"], hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call hook(optimizer, state_dict) before load_state_dict(). A hook may return another dict in its place."""
        return add_hook(self.__dict__["_optimizer_load_state_dict_pre_hooks"], hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call hook(optimizer) after load_state_dict()."""
        return add_hook(self.__dict__["_optimizer_load_state_dict_post_hooks"], hook, prepend)

    # -- state dicts -------------------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Return the state as a dict: "state" by the number of the parameter, and "param_groups" with these numbers."""
        for hook in self.__dict__["_optimizer_state_dict_pre_hooks"].values():
            hook(self)
        numbers: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            for p in group["params"]:
                numbers.setdefault(id(p), len(numbers))
            settings = {name: value for name, value in group.items() if name != "params"}
            groups.append({**settings, "params": [numbers[id(p)] for p in group["params"]]})
        state = {numbers[id(k)] if isinstance(k, TensorBase) else k: v for k, v in self.state.items()}
        found: dict[str, Any] = {"state": state, "param_groups": groups}
        for hook in self.__dict__["_optimizer_state_dict_post_hooks"].values():
            result = hook(self, found)
            found = found if result is None else result
        return found

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore a state that state_dict() returned. Raises ValueError if the groups have other sizes; nothing is changed then."""
        state_dict = state_dict.copy()
        for hook in self.__dict__["_optimizer_load_state_dict_pre_hooks"].values():
            result = hook(self, state_dict)
            state_dict = state_dict if result is None else result
        groups, saved = self.param_groups, deepcopy(state_dict["param_groups"])
        if len(groups) != len(saved):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(group["params"]) != len(other["params"]) for group, other in zip(groups, saved, strict=True)):
            raise ValueError("loaded state dict contains a parameter group that doesn't match the size of optimizer's group")
        ids = chain.from_iterable(group["params"] for group in saved)
        params = chain.from_iterable(group["params"] for group in groups)
        by_number: dict[Hashable, Any] = dict(zip(ids, params, strict=True))
        state: defaultdict[Any, Any] = defaultdict(dict)
        for number, value in state_dict["state"].items():
            p = by_number.get(number)
            state[number if p is None else p] = value if p is None else _fit_state(p, value)
        for group, new in zip(groups, saved, strict=True):
            new["params"] = group["params"]
            if "param_names" in group and "param_names" not in new:
                new["param_names"] = group["param_names"]
        self.__setstate__({"state": state, "param_groups": saved})
        for hook in self.__dict__["_optimizer_load_state_dict_post_hooks"].values():
            hook(self)

    # -- gradients, steps and groups ---------------------------------------------------------------------------------------

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Remove the gradients of all parameters. set_to_none: if False, fill them with zeros, detached from their graph."""
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                if set_to_none:
                    p.grad = None
                    continue
                if p.grad.grad_fn is not None:
                    p.grad.detach_()
                else:
                    p.grad.requires_grad_(False)
                p.grad.zero_()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters once. closure: evaluates the model anew and returns the loss, which step returns."""
        raise NotImplementedError

    @no_grad()
    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group of parameters: a dict with the key "params" and hyperparameters of its own.

        Raises TypeError or ValueError, with nothing changed, for what is no leaf tensor or has a place in a group already."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, TensorBase):
            params = [params]
        elif isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets will "
                "change between runs. Please use a list instead."
            )
        entries = list(params)
        names = [entry[0] for entry in entries if isinstance(entry, tuple)]
        if names and len(names) < len(entries):
            raise ValueError("all optimizer params should be with/without names. Some param names are missing")
        if names:
            entries = [entry[1] for entry in entries]
        for p in entries:
            if not isinstance(p, TensorBase):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {_type_name(p)}")
            if not self.defaults.get("differentiable") and not (p.is_leaf or p.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        group = {**param_group, "params": entries, **({"param_names": names} if names else {})}
        for name, default in self.defaults.items():
            if default is required and name not in group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            group.setdefault(name, default)
        if len(entries) != len({id(p) for p in entries}):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; "
                "see github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=3,
            )
        if self.param_groups and ("param_names" in group) != ("param_names" in self.param_groups[0]):
            with_or_without = "with" if "param_names" in group else "without"
            raise ValueError(
                "all optimizer param groups should be with/without names. "
                f"cannot add param group {with_or_without} names to the optimizer"
            )
        known = {id(p) for other in self.param_groups for p in other["params"]}
        if not known.isdisjoint([id(p) for p in entries]):
            raise ValueError("some parameters appear in more than one parameter group")
        param_group.update(group)
        self.param_groups.append(param_group)


def _fit_state(p: Any, value: Any, key: str | None = None) -> Any:
    """Copy a loaded state of a parameter. Tensors other than "step" get the parameter's device, and its dtype if it is floating."""
    if isinstance(value, Tensor):
        if key == "step":
            return value
        dtype = p.dtype if is_floating_point(p._array.dtype) or p.is_complex() else value.dtype
        return value.to(p.device, dtype, copy=True)
    if isinstance(value, dict):
        return {k: _fit_state(p, v, k) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([_fit_state(p, v) for v in value])
    return value


def check_single(lr: Any) -> None:
    """Raise ValueError for a learning rate that is a tensor of several elements."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")


def call_closure(closure: Callable[[], Any] | None) -> Any:
    """Return the loss of a closure, with gradients enabled; None if there is no closure."""
    if closure is None:
        return None
    with enable_grad():
        return closure()


def counter() -> Any:
    """Return a count of steps: a float32 tensor, as in torch."""
    return wrap(np.zeros((), np.float32))
