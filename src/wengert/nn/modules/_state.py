"""state_dict and load_state_dict of modules, with their hooks."""

from __future__ import annotations

import functools
import warnings
import weakref
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from wengert.core.hooks import RemovableHandle, add_hook
from wengert.core.modes import set_recording
from wengert.nn.parameter import Parameter, is_lazy
from wengert.tensor import Tensor

_EXTRA_STATE_KEY_SUFFIX = "_extra_state"
_ONLY_CHECKS = "only_checks"  # key of local_metadata: report what does not fit, and load nothing


class _IncompatibleKeys(namedtuple("_IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """The result of load_state_dict: the keys that were missing, and those that nothing took."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class _WrappedHook:
    """A hook of load_state_dict. If it has a module, calls pass the module first. The module is not kept alive."""

    def __init__(self, hook: Callable[..., Any], module: Any = None) -> None:
        self.hook = hook
        functools.update_wrapper(self, hook)
        self.with_module = module is not None
        if module is not None:
            self.module = weakref.ref(module)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.with_module:
            return self.hook(*args, **kwargs)
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, *args, **kwargs)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = {"hook": self.hook, "with_module": self.with_module}
        if self.with_module:
            state["module"] = self.module()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.hook = state["hook"]
        self.with_module = state["with_module"]
        if self.with_module:
            if state["module"] is None:
                raise RuntimeError("You are trying to revive the hook of a dead Module!")
            self.module = weakref.ref(state["module"])


def _no_extra_state(name: str) -> RuntimeError:
    return RuntimeError(
        f"Reached a code path in Module.{name}() that should never be called. Please file an issue at "
        "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml to report this bug."
    )


class StateMembers:
    """The part of Module that saves and loads its state."""

    dump_patches: bool = False
    _version: int = 1  # of the layout of the module's own state; state_dict()._metadata holds it
    T_destination = TypeVar("T_destination", bound=dict[str, Any])

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _state_dict_hooks: OrderedDict[int, Any]
    _state_dict_pre_hooks: OrderedDict[int, Any]
    _load_state_dict_pre_hooks: OrderedDict[int, Any]
    _load_state_dict_post_hooks: OrderedDict[int, Any]

    def get_extra_state(self) -> Any:
        """Return what state_dict holds under "_extra_state". Modules that have such state define it."""
        raise _no_extra_state("get_extra_state")

    def set_extra_state(self, state: Any) -> None:
        """Take what get_extra_state returned. Modules that have such state define it."""
        raise _no_extra_state("set_extra_state")

    # -- saving --------------------------------------------------------------------------------------------------------

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call hook(module, state_dict, prefix, local_metadata) after state_dict. What it returns takes the dict's place."""
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was previously registered via "
                "register_state_dict_post_hook"
            )
        return add_hook(self._state_dict_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call hook(module, state_dict, prefix, local_metadata) after state_dict. It may change the dict and returns None."""
        hook._from_public_api = True  # type: ignore[attr-defined]
        return add_hook(self._state_dict_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call hook(module, prefix, keep_vars) before state_dict."""
        return add_hook(self._state_dict_pre_hooks, hook)

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Put the module's own parameters, persistent buffers and extra state into destination."""
        for name, value in (*self._parameters.items(), *self._buffers.items()):
            if value is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = value if keep_vars else value.detach()
        if type(self).get_extra_state is not StateMembers.get_extra_state:
            destination[prefix + _EXTRA_STATE_KEY_SUFFIX] = self.get_extra_state()

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """Return an OrderedDict of all parameters and persistent buffers by their dotted names.

        The tensors share the module's memory and are detached, unless keep_vars. destination: a dict to fill. prefix: goes in
        front of the names."""
        if args:
            warnings.warn(
                "Positional args are being deprecated, use kwargs instead. Refer to "
                "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict for details.",
                FutureWarning,
                stacklevel=2,
            )
            given = dict(zip(("destination", "prefix", "keep_vars"), args, strict=False))
            destination = given["destination"] if destination is None else destination
            prefix, keep_vars = prefix or given.get("prefix", ""), keep_vars or given.get("keep_vars", False)
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=prefix + name + ".", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            replaced = hook(self, destination, prefix, local_metadata)
            if replaced is None:
                continue
            if getattr(hook, "_from_public_api", False):
                raise RuntimeError("state_dict post-hook must return None")
            destination = replaced
        return destination

    # -- loading -------------------------------------------------------------------------------------------------------

    def _register_load_state_dict_pre_hook(self, hook: Callable[..., Any], with_module: bool = False) -> RemovableHandle:
        """Call hook before _load_from_state_dict, with its arguments, and the module first if with_module."""
        return add_hook(self._load_state_dict_pre_hooks, _WrappedHook(hook, self if with_module else None))

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs) before
        the module loads its own state."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call hook(module, incompatible_keys) after the module was loaded. It may change the lists and returns None."""
        return add_hook(self._load_state_dict_post_hooks, hook)

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load the module's own parameters, buffers and extra state. Append what does not fit to the lists."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        members = {
            name: value
            for name, value in (*self._parameters.items(), *self._buffers.items())
            if value is not None and name not in self._non_persistent_buffers_set
        }
        for name, value in members.items():
            key = prefix + name
            if key in state_dict:
                self._load_member(name, key, value, state_dict[key], local_metadata, error_msgs)
            elif strict:
                missing_keys.append(key)
        extra_key = prefix + _EXTRA_STATE_KEY_SUFFIX
        if type(self).set_extra_state is not StateMembers.set_extra_state:
            if extra_key in state_dict:
                self.set_extra_state(state_dict[extra_key])
            elif strict:
                missing_keys.append(extra_key)
        elif strict and extra_key in state_dict:
            unexpected_keys.append(extra_key)
        if strict:
            for key in state_dict:
                if key.startswith(prefix) and key != extra_key:
                    name, dot, _ = key[len(prefix) :].partition(".")
                    if name not in (self._modules if dot else members):
                        unexpected_keys.append(key)

    def _load_member(
        self, name: str, key: str, value: Any, loaded: Any, local_metadata: dict[str, Any], error_msgs: list[str]
    ) -> None:
        """Load one parameter or buffer, or append to error_msgs why not."""
        if not isinstance(loaded, Tensor):
            error_msgs.append(
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from checkpoint but '
                f"received {type(loaded)}"
            )
            return
        if not is_lazy(value):
            if value.ndim == 0 and loaded.ndim == 1 and len(loaded) == 1:
                loaded = loaded[0]  # torch before 0.4 had no 0-d tensors
            if loaded.shape != value.shape:
                error_msgs.append(
                    f"size mismatch for {key}: copying a param with shape {loaded.shape} from checkpoint, the shape in "
                    f"current model is {value.shape}."
                )
                return
        if local_metadata.get(_ONLY_CHECKS):
            return
        try:
            with set_recording(False):
                if not local_metadata.get("assign_to_params_buffers", False):
                    value.copy_(loaded)
                    return
                if isinstance(value, Parameter):
                    if not isinstance(loaded, Parameter):
                        loaded = Parameter(loaded, requires_grad=value.requires_grad)
                    else:
                        loaded.requires_grad_(value.requires_grad)
                setattr(self, name, loaded)
        except Exception as error:
            error_msgs.append(
                f'While copying the parameter named "{key}", whose dimensions in the model are {value.size()} and whose '
                f"dimensions in the checkpoint are {loaded.size()}, an exception occurred : {error.args}."
            )

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """Copy a state_dict into the parameters and buffers of this module and all below it.

        strict: raise for keys that are missing or unexpected. assign: the tensors of state_dict take the places of those of
        the module, which keep only their requires_grad. Returns (missing_keys, unexpected_keys). Raises RuntimeError for
        keys, shapes or values that do not fit. Nothing is changed then, unless the module has hooks or methods of its own
        that take part in loading. Raises TypeError for no dict.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        metadata = getattr(state_dict, "_metadata", None)
        if _loads_plainly(self):
            missing, unexpected, messages = _load(self, OrderedDict(state_dict), metadata, {_ONLY_CHECKS: True})
            self._check_loaded(strict, missing, unexpected, messages)
        options = {"assign_to_params_buffers": True} if assign else {}
        copied = OrderedDict(state_dict)
        if metadata is not None:
            copied._metadata = metadata  # type: ignore[attr-defined]
        missing, unexpected, messages = _load(self, copied, metadata, options)
        self._check_loaded(strict, missing, unexpected, messages)
        return _IncompatibleKeys(missing, unexpected)

    def _check_loaded(self, strict: bool, missing: list[str], unexpected: list[str], messages: list[str]) -> None:
        """Raise RuntimeError if something was not loaded."""
        if strict:
            for kind, keys in (("Missing", missing), ("Unexpected", unexpected)):
                if keys:
                    named = ", ".join(f'"{key}"' for key in keys)
                    messages.insert(0 if kind == "Missing" or not missing else 1, f"{kind} key(s) in state_dict: {named}. ")
        if messages:
            text = "\n\t".join(messages)
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{text}")


def _loads_plainly(module: Any) -> bool:
    """Whether loading runs no code of users in the module and all below it, so that it can be tried out first."""
    return all(
        type(part)._load_from_state_dict.__module__.startswith("wengert.nn.")
        and type(part).set_extra_state is StateMembers.set_extra_state
        and not part._load_state_dict_pre_hooks
        and not part._load_state_dict_post_hooks
        for part in module.modules()
    )


def _load(
    module: Any, state_dict: Any, metadata: Any, options: dict[str, Any]
) -> tuple[list[str], list[str], list[str]]:
    """Load a state_dict into the module and all below it. Return (missing keys, unexpected keys, messages)."""
    missing: list[str] = []
    unexpected: list[str] = []
    messages: list[str] = []

    def load(part: Any, local_state_dict: Any, prefix: str = "") -> None:
        local_metadata = {} if metadata is None else metadata.get(prefix[:-1], {})
        if options:
            local_metadata = {**local_metadata, **options}
        part._load_from_state_dict(local_state_dict, prefix, local_metadata, True, missing, unexpected, messages)
        for name, child in part._modules.items():
            if child is not None:
                start = prefix + name + "."
                load(child, {k: v for k, v in local_state_dict.items() if k.startswith(start)}, start)
        if part._load_state_dict_post_hooks and not options.get(_ONLY_CHECKS):
            incompatible = _IncompatibleKeys(missing, unexpected)
            for hook in part._load_state_dict_post_hooks.values():
                if hook(part, incompatible) is not None:
                    raise AssertionError(
                        "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new values, "
                        "if incompatible_keys need to be modified, it should be done inplace."
                    )

    load(module, state_dict)
    return missing, unexpected, messages
