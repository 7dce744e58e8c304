"""torch.nn.utils: gradients, vectors of parameters, reparametrisations, pruning, sequences of different lengths."""

import sys as _sys
from types import ModuleType as _ModuleType
from typing import Any as _Any

from wengert._forks import import_late as _import_module

_FAMILIES = {
    "clip_grad": "clip_grad_norm clip_grad_norm_ clip_grad_value_ clip_grads_with_norm_ get_total_norm",
    "convert_parameters": "parameters_to_vector vector_to_parameters",
    "init": "skip_init",
    "fusion": "fuse_conv_bn_eval fuse_conv_bn_weights fuse_linear_bn_eval fuse_linear_bn_weights",
    "memory_format": "convert_conv2d_weight_memory_format convert_conv3d_weight_memory_format",
    "parametrizations": "",
    "parametrize": "",
    "prune": "",
    "rnn": "",
    "spectral_norm": "remove_spectral_norm spectral_norm",
    "stateless": "",
    "weight_norm": "remove_weight_norm weight_norm",
}

_HOMES = {name: family for family, names in _FAMILIES.items() for name in names.split()}


def __getattr__(name: str) -> _Any:
    if name == "__all__":
        return sorted(_HOMES)
    if name in _HOMES:
        found = getattr(_import_module(f"wengert.nn.utils.{_HOMES[name]}"), name)
        globals()[name] = found
        return found
    if name in _FAMILIES:
        return _import_module(f"wengert.nn.utils.{name}")
    raise AttributeError(f"module 'wengert.nn.utils' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*_HOMES, *_FAMILIES})


class _Package(_ModuleType):
    """Class of this module. Importing the module weight_norm sets the attribute to the function of that name."""

    def __setattr__(self, name: str, value: _Any) -> None:
        is_hidden = name in _HOMES and isinstance(value, _ModuleType)
        super().__setattr__(name, getattr(value, name) if is_hidden else value)


_sys.modules[__name__].__class__ = _Package
