"""torch.nn.utils: gradients, vectors of parameters, reparametrisations, pruning, sequences of different lengths."""

from importlib import import_module as _import_module
from typing import Any as _Any

_FAMILIES = {
    "clip_grad": "clip_grad_norm clip_grad_norm_ clip_grad_value_ clip_grads_with_norm_ get_total_norm",
    "convert_parameters": "parameters_to_vector vector_to_parameters",
    "init": "skip_init",
    "rnn": "",
}

_HOMES = {name: family for family, names in _FAMILIES.items() for name in names.split()}


def __getattr__(name: str) -> _Any:
    if name == "__all__":
        return sorted(_HOMES)
    if name in _HOMES:
        found = getattr(_import_module(f"wengert.nn.utils.{_HOMES[name]}"), name)
        globals()[name] = found  # in the place of the submodule, if that has the same name
        return found
    if name in _FAMILIES:
        return _import_module(f"wengert.nn.utils.{name}")
    raise AttributeError(f"module 'wengert.nn.utils' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_FAMILIES})
