"""Autocast as programs use it: the block, the decorators of custom Functions, and the settings of a thread.

ops/autocast.py runs the operations, and ops/casts.py lists what each is cast to.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import errors
from wengert.backends.selection import backend_for, cuda_is_available
from wengert.core.modes import AUTOCAST, AutocastSwitch, flags, set_flag, state
from wengert.devices import device
from wengert.dtypes import bfloat16, dtype as Dtype, float16
from wengert.ops.autocast import Autocast
from wengert.ops.casts import CASTS
from wengert.tensor import Tensor

__all__ = ["autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]

# The dtypes of autocast on the types of device for which torch has it.
_DEFAULTS = {
    "cpu": bfloat16, "cuda": float16, "hpu": bfloat16, "ipu": float16, "maia": bfloat16, "mps": float16, "mtia": bfloat16,
    "xla": bfloat16, "xpu": float16,
}  # fmt: skip


class autocast(AutocastSwitch):
    """Run products in a 16-bit dtype, and losses and factorisations in float32. A context manager and a decorator.

    device_type: "cpu" or "cuda". Operations with a tensor on a GPU follow the settings of "cuda", others those of "cpu". Without
    a GPU "cuda" is disabled with a warning. Other types of torch are accepted, and have no effect. dtype: bfloat16 or float16; None
    is bfloat16 on the CPU and float16 on a GPU. Another one disables autocast on the CPU, with a warning. enabled: False switches
    autocast off inside the block. cache_enabled: whether a leaf in float32 that requires grad is cast once, not at each use; the
    casts are freed at the end of the outermost block. None leaves that as it is. The setting is that of a thread.

    Tensors in float64, complex tensors and integers are not cast. Operations in place, and with out=, cast nothing. Gradients
    have the dtypes of the tensors: the cast is recorded. A backward pass inside the block computes in the dtypes of its forward
    pass. Raises ValueError if device_type is no string, RuntimeError for an unknown type.

    >>> import wengert as torch
    >>> a = torch.ones(2, 2, requires_grad=True)
    >>> with torch.autocast("cpu"):
    ...     b = a @ a
    >>> b.sum().backward()
    >>> b.dtype, a.grad.dtype
    (torch.bfloat16, torch.float32)
    """

    def __init__(
        self, device_type: str, dtype: Dtype | None = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        super().__init__()
        _check_string(device_type)
        self.device = device_type
        self.fast_dtype: Any = get_autocast_dtype(device_type) if dtype is None else dtype
        self._cache_enabled = is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        self._enabled = enabled
        if not is_autocast_available(device_type):
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
        if enabled and device_type == "cuda" and not cuda_is_available():
            warnings.warn("CUDA is not available or torch_xla is imported. Disabling autocast.", UserWarning, stacklevel=2)
            self._enabled = False
        elif enabled and device_type == "cuda" and self.fast_dtype is bfloat16 and not _bfloat16_on_gpu():
            raise RuntimeError("Current CUDA Device does not support bfloat16. Please switch dtype to float16.")
        elif enabled and device_type == "cpu" and self.fast_dtype not in (bfloat16, float16):
            warnings.warn(
                "In CPU autocast, but the target dtype is not supported. Disabling autocast.\n"
                "CPU Autocast only supports dtypes of torch.bfloat16, torch.float16 currently.", UserWarning, stacklevel=2,
            )  # fmt: skip
            self._enabled = False

    def _changed(self) -> tuple[Any, bool]:
        before = _settings()
        enabled = bool(self._enabled)
        dtype = self.fast_dtype if enabled or self.device != "cpu" else get_autocast_dtype("cpu")
        devices, kept = {**_devices(), self.device: (enabled, dtype)}, before.kept if before.in_block else {}
        found = Autocast(devices, self._cache_enabled, kept, in_block=True)
        return found, bool(found.lower)

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def under_autocast(*args: Any, **kwargs: Any) -> Any:
            with self:
                return func(*args, **kwargs)

        return under_autocast


def _bfloat16_on_gpu() -> bool:
    found: bool = backend_for("cuda").supports_bfloat16()
    return found


def _settings() -> Autocast:
    """Return the calling thread's settings. They are the defaults unless a block or a function has changed them."""
    found: Autocast | None = state.autocast
    return Autocast({}, True, {}) if found is None else found


def _devices() -> dict[str, tuple[bool, Any]]:
    """Return whether autocast is enabled now, and its dtype, for the types of devices that have settings."""
    is_on = (flags() & AUTOCAST) != 0  # off inside of operations, and in a backward pass
    return {kind: (enabled and (is_on or kind not in CASTS), dtype) for kind, (enabled, dtype) in _settings().devices.items()}


def _change(device_type: str | None = None, setting: Any = None, cache_enabled: bool | None = None) -> None:
    """Replace some of the calling thread's settings. setting: of a type of device."""
    before = _settings()
    found = state.autocast = Autocast(
        before.devices if device_type is None else {**_devices(), device_type: setting},
        before.cache_enabled if cache_enabled is None else cache_enabled,
        before.kept,
        before.in_block,
    )
    if device_type is not None:
        set_flag(AUTOCAST, bool(found.lower))


def _check_string(device_type: Any) -> None:
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")


def _type_of(name: str, device_type: Any) -> str:
    """Return the device type that a string names. name: of the function, for the error."""
    if not isinstance(device_type, str):
        raise errors.wrong_argument_type(name, "device_type", 0, type(device_type), "str")
    return device(device_type).type


def is_autocast_available(device_type: str) -> bool:
    """Whether torch has autocast for a type of device. Raises RuntimeError for an unknown type."""
    return _type_of("is_autocast_available", device_type) in _DEFAULTS


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether autocast is enabled on this thread, for the GPU unless another device type is given."""
    kind = _type_of("is_autocast_enabled", device_type)
    enabled, _ = _devices().get(kind, (False, None))
    return enabled


def set_autocast_enabled(device_type: Any, enabled: Any = None) -> None:
    """Enable or disable autocast on this thread: set_autocast_enabled("cpu", True). Without a device type, for the GPU."""
    if enabled is None:
        device_type, enabled = "cuda", device_type
    kind = _type_of("set_autocast_enabled", device_type)
    if not isinstance(enabled, bool):
        raise errors.wrong_argument_type("set_autocast_enabled", "enabled", 1, type(enabled), "bool")
    _change(kind, (enabled, get_autocast_dtype(kind) if kind in _DEFAULTS else None))


def get_autocast_dtype(device_type: str) -> Dtype:
    """Return the dtype of products under autocast on this thread. Raises RuntimeError for a device type without autocast."""
    kind = _type_of("get_autocast_dtype", device_type)
    if kind not in _DEFAULTS:
        raise RuntimeError("unsupported scalarType")
    _, dtype = _settings().devices.get(kind, (False, _DEFAULTS[kind]))
    return dtype


def set_autocast_dtype(device_type: str, dtype: Dtype) -> None:
    """Set the dtype of products under autocast on this thread. On the CPU: bfloat16 or float16; RuntimeError for another one."""
    kind = _type_of("set_autocast_dtype", device_type)
    if not isinstance(dtype, Dtype):
        raise errors.wrong_argument_type("set_autocast_dtype", "dtype", 1, type(dtype), "torch.dtype")
    if kind == "cpu" and dtype not in (bfloat16, float16):
        raise RuntimeError(f"autocast on the CPU supports torch.bfloat16 and torch.float16, got {dtype}")
    _change(kind, (is_autocast_enabled(kind), dtype))


def is_autocast_cache_enabled() -> bool:
    """Whether autocast keeps the casts of leaves on this thread. True by default."""
    return _settings().cache_enabled


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Set whether autocast keeps the casts of leaves on this thread."""
    if not isinstance(enabled, bool):
        raise errors.wrong_argument_type("set_autocast_cache_enabled", "enabled", 0, type(enabled), "bool")
    _change(cache_enabled=enabled)


def clear_autocast_cache() -> None:
    """Free the casts of leaves that autocast has kept on this thread."""
    _settings().kept.clear()


def _deprecated(old: str, new: str) -> None:
    warnings.warn(f"torch.{old} is deprecated. Please use torch.{new} instead.", DeprecationWarning, stacklevel=3)


def is_autocast_cpu_enabled() -> bool:
    """Return is_autocast_enabled("cpu"). Deprecated in torch."""
    _deprecated("is_autocast_cpu_enabled()", "is_autocast_enabled('cpu')")
    return is_autocast_enabled("cpu")


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """Call set_autocast_enabled("cpu", enabled). Deprecated in torch."""
    _deprecated("set_autocast_cpu_enabled(enabled)", "set_autocast_enabled('cpu', enabled)")
    set_autocast_enabled("cpu", enabled)


def get_autocast_cpu_dtype() -> Dtype:
    """Return get_autocast_dtype("cpu"). Deprecated in torch."""
    _deprecated("get_autocast_cpu_dtype()", "get_autocast_dtype('cpu')")
    return get_autocast_dtype("cpu")


def set_autocast_cpu_dtype(dtype: Dtype) -> None:
    """Call set_autocast_dtype("cpu", dtype). Deprecated in torch."""
    _deprecated("set_autocast_cpu_dtype(dtype)", "set_autocast_dtype('cpu', dtype)")
    set_autocast_dtype("cpu", dtype)


def get_autocast_gpu_dtype() -> Dtype:
    """Return get_autocast_dtype("cuda"). Deprecated in torch."""
    _deprecated("get_autocast_gpu_dtype()", "get_autocast_dtype('cuda')")
    return get_autocast_dtype("cuda")


def set_autocast_gpu_dtype(dtype: Dtype) -> None:
    """Call set_autocast_dtype("cuda", dtype). Deprecated in torch."""
    _deprecated("set_autocast_gpu_dtype(dtype)", "set_autocast_dtype('cuda', dtype)")
    set_autocast_dtype("cuda", dtype)


# -- custom Functions --------------------------------------------------------------------------------------------------


def custom_fwd(fwd: Any = None, *, device_type: str, cast_inputs: Dtype | None = None) -> Any:
    """Decorator of a custom Function's forward: its backward, decorated with `custom_bwd`, runs under the same autocast.

    cast_inputs: a dtype to which floating-point tensors among the arguments are cast, but those in float64; the forward then
    runs without autocast. It has no effect while autocast is off. None: forward runs under the autocast of the call.
    Raises ValueError if device_type is no string.
    """
    _check_string(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        ctx = args[0]
        ctx._dtype = get_autocast_dtype(device_type)
        enabled = is_autocast_enabled(device_type)
        if cast_inputs is None:
            ctx._fwd_used_autocast = enabled
            return fwd(*args, **kwargs)
        ctx._fwd_used_autocast = False
        if not enabled:
            return fwd(*args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(*_cast(args, cast_inputs), **_cast(kwargs, cast_inputs))

    return decorated


def custom_bwd(bwd: Any = None, *, device_type: str) -> Any:
    """Decorator of a custom Function's backward, beside `custom_fwd`: it runs under the autocast of the forward.

    Raises ValueError if device_type is no string."""
    _check_string(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        ctx = args[0]
        with autocast(device_type, enabled=ctx._fwd_used_autocast, dtype=ctx._dtype):
            return bwd(*args, **kwargs)

    return decorated


def _cast(value: Any, dtype: Dtype) -> Any:
    """Cast floating-point tensors in a value to dtype, but those in float64. Dicts, lists and tuples are walked through."""
    if isinstance(value, Tensor):
        return value.to(dtype) if value.is_floating_point() and value.dtype.itemsize < 8 else value
    if isinstance(value, (str, np.ndarray)):
        return value
    if isinstance(value, dict):
        return {_cast(k, dtype): _cast(v, dtype) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([_cast(v, dtype) for v in value])
    return value
