"""torch._C: the private names of torch that public programs use."""

from __future__ import annotations

from typing import Any

from wengert.core.modes import state
from wengert.core.override import ALL_OFF, DisableTorchFunction, DisableTorchFunctionSubclass, disabled_torch_function
from wengert.core.tensor import TensorBase
from wengert.errors import SingularMatrixError as _LinAlgError  # noqa: F401
from wengert.overrides import (
    _is_torch_function_mode_enabled,
    _len_torch_function_stack,
    _pop_torch_function_stack,
    _push_on_torch_function_stack,
    has_torch_function as _has_torch_function,
    has_torch_function_unary as _has_torch_function_unary,
    has_torch_function_variadic as _has_torch_function_variadic,
)

__all__ = [
    "DisableTorchFunction", "DisableTorchFunctionSubclass", "TensorBase", "_disabled_torch_function_impl", "_get_tracing_state",
    "_has_torch_function", "_has_torch_function_unary", "_has_torch_function_variadic", "_is_torch_function_enabled",
    "_is_torch_function_mode_enabled", "_len_torch_function_stack", "_log_api_usage_once", "_pop_torch_function_stack",
    "_push_on_torch_function_stack",
]  # fmt: skip

_TensorBase = TensorBase
_disabled_torch_function_impl = disabled_torch_function


def _is_torch_function_enabled() -> bool:
    """Whether the classes of arguments can take calls over on this thread."""
    return state.overrides_off == 0


def _is_torch_function_all_disabled() -> bool:
    """Whether neither classes nor modes can take calls over on this thread."""
    return state.overrides_off == ALL_OFF


def _log_api_usage_once(name: str) -> None:
    """Do nothing: usage is not logged."""


def _get_tracing_state() -> Any:
    """Return None: no program is traced for torch.jit."""
    return None


def __getattr__(name: str) -> Any:
    if name.startswith("_jit_set_"):  # settings of TorchScript's compiler, which programs make when they start
        return lambda *values: None
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
