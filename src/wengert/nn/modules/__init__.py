"""The layers, losses and containers of nn, each loaded when it is first used."""

from importlib import import_module as _import_module
from typing import Any as _Any

_FAMILIES = {
    "activation": (
        "CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid LogSoftmax Mish PReLU RReLU ReLU "
        "ReLU6 SELU SiLU Sigmoid Softmax Softmax2d Softmin Softplus Softshrink Softsign Tanh Tanhshrink Threshold"
    ),
    "container": "Container ModuleDict ModuleList ParameterDict ParameterList Sequential",
    "lazy": "LazyModuleMixin",
    "linear": "Bilinear Identity LazyLinear Linear",
    "module": "Module",
}

HOMES = {name: family for family, names in _FAMILIES.items() for name in names.split()}


def __getattr__(name: str) -> _Any:
    if name == "__all__":
        return sorted(set(HOMES) - {"LazyModuleMixin"})
    if name in HOMES:
        found = getattr(_import_module(f"wengert.nn.modules.{HOMES[name]}"), name)
    elif name in _FAMILIES or name in ("utils",):
        return _import_module(f"wengert.nn.modules.{name}")
    else:
        raise AttributeError(f"module 'wengert.nn.modules' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *HOMES, *_FAMILIES})
