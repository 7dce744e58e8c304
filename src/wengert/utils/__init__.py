"""torch.utils: hooks, and checkpoints, which save memory by recomputing."""

from wengert._forks import import_late as _import_late


def __getattr__(name: str) -> object:
    if name in ("_pytree", "checkpoint", "hooks"):
        return _import_late(f"wengert.utils.{name}")
    raise AttributeError(f"module 'wengert.utils' has no attribute {name!r}")
