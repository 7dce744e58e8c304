"""torch.optim: optimizers, and optim.lr_scheduler, optim.swa_utils.

Each name is loaded when it is first used.
"""

from typing import Any as _Any

from wengert import errors as _errors
from wengert._forks import import_late as _import_module

_HOMES = {
    "ASGD": "asgd", "Adadelta": "adadelta", "Adafactor": "_adafactor", "Adagrad": "adagrad", "Adam": "adam", "AdamW": "adamw",
    "Adamax": "adamax", "LBFGS": "lbfgs", "Muon": "_muon", "NAdam": "nadam", "Optimizer": "optimizer", "RAdam": "radam",
    "RMSprop": "rmsprop", "Rprop": "rprop", "SGD": "sgd",
}  # fmt: skip
_MODULES = frozenset({*_HOMES.values(), "lr_scheduler", "swa_utils"})


def __getattr__(name: str) -> _Any:
    if name in _MODULES:
        return _import_module(f"wengert.optim.{name}")
    if name == "__all__":
        return sorted([*_HOMES, "lr_scheduler", "swa_utils"])
    if name not in _HOMES:
        raise _errors.no_such_name(__name__, name)
    found = globals()[name] = getattr(_import_module(f"wengert.optim.{_HOMES[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*_HOMES, *_MODULES})
