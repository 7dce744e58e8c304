"""Parts of utils.data that programs import by name: collate, fetch, worker, and pin_memory.

Loaded when first used.
"""

from wengert._forks import import_late as _import_module

_MODULES = ("collate", "fetch", "pin_memory", "worker")
MP_STATUS_CHECK_INTERVAL = 5.0  # seconds between looks at the worker processes, and the longest wait for them to end


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return _import_module(f"wengert.utils.data._utils.{name}")
    raise AttributeError(f"module 'wengert.utils.data._utils' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
