"""torch.utils: data loading; hooks; checkpoints, which save memory by recomputing."""

from wengert._forks import import_late as _import_late

_MODULES = ("_pytree", "checkpoint", "data", "hooks")


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return _import_late(f"wengert.utils.{name}")
    raise AttributeError(f"module 'wengert.utils' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
