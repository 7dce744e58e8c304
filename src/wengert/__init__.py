"""wengert: torch's autograd for NumPy arrays.

>>> import wengert
>>> x = wengert.tensor([1.0, 2.0, 3.0], requires_grad=True)
>>> (x * x).sum().backward()
>>> x.grad
tensor([2., 4., 6.])
"""

from wengert import _finder
from wengert._forks import import_late as _import_late

_finder.install()

import gc as _gc  # noqa: E402
from math import e as e, inf as inf, nan as nan, pi as pi  # noqa: E402
from os import environ as _environ  # noqa: E402

# The objects made here live as long as the process. Garbage collection would visit them several times, which takes a
# tenth of the import's time.
_collects = _gc.isenabled()
_gc.disable()
try:
    from wengert import autograd as autograd
finally:
    if _collects:
        _gc.enable()
from wengert.autograd.grad_mode import (  # noqa: E402
    enable_grad as enable_grad,
    inference_mode as inference_mode,
    is_grad_enabled as is_grad_enabled,
    is_inference_mode_enabled as is_inference_mode_enabled,
    no_grad as no_grad,
    set_grad_enabled as set_grad_enabled,
)
from wengert.devices import (  # noqa: E402
    device as device,
    get_default_device as get_default_device,
    set_default_device as set_default_device,
)
from wengert.dtypes import *  # noqa: E402, F403
from wengert.generator import (  # noqa: E402
    Generator as Generator,
    default_generator as default_generator,
    get_rng_state as get_rng_state,
    initial_seed as initial_seed,
    manual_seed as manual_seed,
    seed as seed,
    set_rng_state as set_rng_state,
)
from wengert.layouts import *  # noqa: E402, F403
from wengert.ops import function as _function, late_functions as _late_functions  # noqa: E402
from wengert.ops.families import INPLACE_FUNCTIONS as _INPLACE_FUNCTIONS  # noqa: E402
from wengert.ops.registry import functions as _functions  # noqa: E402
from wengert.sizes import Size as Size  # noqa: E402
from wengert.tensor import Tensor as Tensor  # noqa: E402

globals().update(_functions(""))

from wengert.dtypes import (  # noqa: E402
    bool_ as bool,
    float_ as float,  # noqa: F401
    int_ as int,  # noqa: F401
)

newaxis = None
__version__ = "0.1.0"

_LAZY = frozenset({
    "amp", "compat", "cpu", "cuda", "dask", "distributions", "fft", "func", "hips", "hub", "linalg", "masked", "multiprocessing",
    "nn", "numpy", "optim", "profiler", "random", "scipy", "serialization", "signal", "special", "storage", "testing", "utils",
    "__config__",
})  # fmt: skip

_HOMES = {  # names that are loaded when first used, and the modules that define them
    "autocast": "amp.autocast_mode", "clear_autocast_cache": "amp.autocast_mode", "cond": "control_flow", "empty_cache": "threads",
    "explain": "autograd", "get_autocast_cpu_dtype": "amp.autocast_mode", "get_autocast_dtype": "amp.autocast_mode",
    "get_autocast_gpu_dtype": "amp.autocast_mode", "get_num_interop_threads": "threads", "get_num_threads": "threads",
    "is_anomaly_check_nan_enabled": "autograd", "is_anomaly_enabled": "autograd", "is_autocast_cache_enabled": "amp.autocast_mode",
    "is_autocast_cpu_enabled": "amp.autocast_mode", "is_autocast_enabled": "amp.autocast_mode", "load": "serialization",
    "memory_stats": "threads", "pointwise": "ops.program", "reset_peak_memory_stats": "threads", "save": "serialization",
    "set_autocast_cache_enabled": "amp.autocast_mode", "set_autocast_cpu_dtype": "amp.autocast_mode",
    "set_autocast_cpu_enabled": "amp.autocast_mode", "set_autocast_dtype": "amp.autocast_mode",
    "set_autocast_enabled": "amp.autocast_mode", "set_autocast_gpu_dtype": "amp.autocast_mode",
    "set_num_interop_threads": "threads", "set_num_threads": "threads", "set_printoptions": "printing",
    "OutOfMemoryError": "errors", "vmap": "autograd.vmap", "while_loop": "control_flow", "compile": "compiler",
}  # fmt: skip

_HOMES |= dict.fromkeys((
    "BFloat16Storage", "BoolStorage", "ByteStorage", "CharStorage", "ComplexDoubleStorage", "ComplexFloatStorage", "DoubleStorage",
    "FloatStorage", "HalfStorage", "IntStorage", "LongStorage", "ShortStorage", "Storage", "TypedStorage", "UntypedStorage",
    "is_storage",
), "storage")  # fmt: skip


_TORCH_ONLY = frozenset({  # modules that few programs but those written for torch ask for
    "accelerator", "backends", "compiler", "distributed", "functional", "functorch", "futures", "jit", "mps", "onnx", "overrides",
    "types", "version", "xpu", "_C", "_dynamo", "_tensor", "_vmap_internals",
})  # fmt: skip

_SETTINGS = frozenset({  # functions of the module settings
    "are_deterministic_algorithms_enabled", "compiled_with_cxx11_abi", "get_deterministic_debug_mode", "get_device_module",
    "get_float32_matmul_precision", "is_deterministic_algorithms_warn_only_enabled", "is_warn_always_enabled",
    "set_deterministic_debug_mode", "set_float32_matmul_precision", "set_flush_denormal", "set_warn_always",
    "use_deterministic_algorithms",
})  # fmt: skip


def __getattr__(name: str) -> object:
    if name in _LAZY or name in _TORCH_ONLY:
        return _import_late(f"wengert.{name}")
    if name in _SETTINGS:
        return getattr(_import_late("wengert.settings"), name)
    if name in _HOMES:
        return getattr(_import_late(f"wengert.{_HOMES[name]}"), name)
    if name == "__all__":
        found = {*globals(), *_SETTINGS, *_HOMES, *_late_functions(""), *_INPLACE_FUNCTIONS[""]}
        return [name for name in found if not name.startswith("_")]
    found = None if name.startswith("__") else _function("", name)
    if found is None:
        raise _import_late("wengert.errors.absent").no_such_name("wengert", name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    own = [name for name, value in globals().items() if type(value) is not type(_finder) or name in ("autograd", "errors", "ops")]
    found = {*own, *_LAZY, *_TORCH_ONLY, *_SETTINGS, *_HOMES, *_late_functions(""), *_INPLACE_FUNCTIONS[""]}
    return sorted([name for name in found if not name.startswith("_") or name.endswith("__")])


if _environ.get("WENGERT_NUM_THREADS"):
    _import_late("wengert.threads").apply_environment()


def is_tensor(obj: object) -> bool:
    """Whether obj is a tensor."""
    return isinstance(obj, Tensor)
