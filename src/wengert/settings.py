"""Settings that programs make at their top. Each is accepted; its docstring says what it does here.

>>> import wengert
>>> wengert.use_deterministic_algorithms(True)
>>> wengert.are_deterministic_algorithms_enabled()
True
>>> wengert.use_deterministic_algorithms(False)
"""

from __future__ import annotations

import warnings
from typing import Any

from wengert._forks import import_late

__all__ = [
    "are_deterministic_algorithms_enabled", "compiled_with_cxx11_abi", "get_deterministic_debug_mode", "get_device_module",
    "get_float32_matmul_precision", "is_deterministic_algorithms_warn_only_enabled", "is_warn_always_enabled",
    "set_deterministic_debug_mode", "set_float32_matmul_precision", "set_flush_denormal", "set_warn_always",
    "use_deterministic_algorithms",
]  # fmt: skip

_PRECISIONS = ("highest", "high", "medium")
_DEBUG_MODES = ("default", "warn", "error")
_settings: dict[str, Any] = {"precision": "highest", "deterministic": False, "warn_only": False, "warn_always": False}


def set_float32_matmul_precision(precision: str) -> None:
    """Set what get_float32_matmul_precision returns: "highest", "high" or "medium". Products of float32 are computed in float32.

    Warns, and changes nothing, for another value."""
    if precision not in _PRECISIONS:
        warnings.warn(f"{precision} is not one of 'highest', 'high', or 'medium'; the current setting stays", stacklevel=2)
        return
    _settings["precision"] = precision


def get_float32_matmul_precision() -> str:
    """Return the last value of set_float32_matmul_precision, or "highest"."""
    precision: str = _settings["precision"]
    return precision


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Set what are_deterministic_algorithms_enabled returns. All operations are deterministic, for any number of threads.

    Raises TypeError if mode is no bool."""
    if not isinstance(mode, bool):
        raise TypeError(
            f"_set_deterministic_algorithms(): argument 'mode' (position 1) must be bool, not {type(mode).__name__}"
        )
    _settings["deterministic"] = mode
    _settings["warn_only"] = mode and bool(warn_only)


def are_deterministic_algorithms_enabled() -> bool:
    """Return the last mode of use_deterministic_algorithms, or False."""
    mode: bool = _settings["deterministic"]
    return mode


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Return the last warn_only of use_deterministic_algorithms, or False."""
    warn_only: bool = _settings["warn_only"]
    return warn_only


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """Call use_deterministic_algorithms by a name or number: "default" or 0, "warn" or 1, "error" or 2.

    Raises RuntimeError for another value, TypeError for another type."""
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if isinstance(debug_mode, str):
        if debug_mode not in _DEBUG_MODES:
            raise RuntimeError(
                f"invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got {debug_mode}"
            )
        debug_mode = _DEBUG_MODES.index(debug_mode)
    if debug_mode not in (0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}")
    use_deterministic_algorithms(debug_mode > 0, warn_only=debug_mode == 1)


def get_deterministic_debug_mode() -> int:
    """Return 0, 1 or 2: see set_deterministic_debug_mode."""
    return 0 if not _settings["deterministic"] else 1 if _settings["warn_only"] else 2


def set_flush_denormal(mode: bool) -> bool:
    """Return False: subnormal numbers are never replaced by zero."""
    return False


def set_warn_always(b: bool, /) -> None:
    """Set what is_warn_always_enabled returns. Warnings obey Python's filters."""
    _settings["warn_always"] = bool(b)


def is_warn_always_enabled() -> bool:
    """Return the last value of set_warn_always, or False."""
    always: bool = _settings["warn_always"]
    return always


def get_device_module(device: Any = None) -> Any:
    """Return the module of a device: wengert.cuda for "cuda", wengert.cpu by default. Raises RuntimeError if there is none."""
    name = "cpu" if device is None else str(device).partition(":")[0]
    if name not in ("cpu", "cuda", "mps", "xpu"):
        raise RuntimeError(
            f"Device '{name}' does not have a corresponding module registered as 'torch.{name}'."
        )
    return import_late(f"wengert.{name}")


def compiled_with_cxx11_abi() -> bool:
    """Return True, as torch does on Linux."""
    return True


def __dir__() -> list[str]:
    return sorted(__all__)
