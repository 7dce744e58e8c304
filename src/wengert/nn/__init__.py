"""torch.nn: layers, losses and containers, and nn.functional, nn.init, nn.utils.

Each name is loaded when it is first used.
"""

from typing import TYPE_CHECKING, Any as _Any

from wengert import errors as _errors
from wengert._forks import import_late as _import_module

if TYPE_CHECKING:
    from wengert.nn import functional as functional

_MODULES = ("attention", "common_types", "functional", "grad", "init", "modules", "parallel", "parameter", "utils")
_PARAMETERS = ("Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter")


def __getattr__(name: str) -> _Any:
    if name in _MODULES:
        return _import_module(f"wengert.nn.{name}")
    if name.startswith("_") and name != "__all__":
        raise _errors.no_such_name(__name__, name)
    modules = _import_module("wengert.nn.modules")
    if name == "__all__":
        return [*_PARAMETERS, *modules.__all__]
    if name in _PARAMETERS:
        found = getattr(_import_module("wengert.nn.parameter"), name)
    elif name == "DataParallel":
        found = _import_module("wengert.nn.parallel").DataParallel
    elif name in modules.HOMES:
        found = getattr(modules, name)
    else:
        raise _errors.no_such_name(__name__, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*_MODULES, *_PARAMETERS, "DataParallel", *_import_module("wengert.nn.modules").HOMES})
