"""torch.utils: data loading, checkpoints, which save memory by recomputing, hooks, exchange with other libraries."""

from wengert import errors as _errors
from wengert._forks import import_late as _import_late

_MODULES = ("_pytree", "backcompat", "benchmark", "checkpoint", "data", "dlpack", "hooks", "model_zoo")


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return _import_late(f"wengert.utils.{name}")
    raise _errors.no_such_name(__name__, name)


def __dir__() -> list[str]:
    return sorted(_MODULES)
