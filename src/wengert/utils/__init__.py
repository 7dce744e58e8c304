"""torch.utils: data loading, checkpoints, which save memory by recomputing, hooks, exchange with other libraries."""

from wengert._forks import import_late as _import_late

_MODULES = ("_pytree", "backcompat", "benchmark", "checkpoint", "data", "dlpack", "hooks", "model_zoo")


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return _import_late(f"wengert.utils.{name}")
    raise AttributeError(f"module 'wengert.utils' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(_MODULES)
