"""torch.utils: hooks, and checkpoints, which save memory by recomputing."""

from importlib import import_module as _import_module


def __getattr__(name: str) -> object:
    if name in ("_pytree", "checkpoint", "hooks"):
        return _import_module(f"wengert.utils.{name}")
    raise AttributeError(f"module 'wengert.utils' has no attribute {name!r}")
