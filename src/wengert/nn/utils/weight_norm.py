"""The older weight_norm, which computes the weight in a hook before each forward."""

from __future__ import annotations

import warnings
from typing import Any

from wengert.nn.modules._hooks import pop_pre_hook
from wengert.nn.modules.module import Module
from wengert.nn.parameter import Parameter
from wengert.ops import function

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]

_norm_except_dim: Any = function("", "norm_except_dim")


def normalized_weight(v: Any, g: Any, dim: int) -> Any:
    """Return g * v / |v|, with the norm over all dimensions but dim, or over all if dim is -1."""
    return v * (g / _norm_except_dim(v, 2, dim))


class WeightNorm:
    """Forward pre-hook that sets a weight to g * v / |v|. The module holds g and v as <name>_g and <name>_v."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Any) -> Any:
        """Return the weight."""
        return normalized_weight(getattr(module, f"{self.name}_v"), getattr(module, f"{self.name}_g"), self.dim)

    @staticmethod
    def apply(module: Any, name: str, dim: int | None) -> WeightNorm:
        """Register the hook. Raises RuntimeError if the weight has one."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, WeightNorm) and hook.name == name:
                raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
        found = WeightNorm(name, dim)
        weight = getattr(module, name)
        del module._parameters[name]
        module.register_parameter(f"{name}_g", Parameter(_norm_except_dim(weight, 2, found.dim).data))
        module.register_parameter(f"{name}_v", Parameter(weight.data))
        setattr(module, name, found.compute_weight(module))
        module.register_forward_pre_hook(found)
        return found

    def remove(self, module: Any) -> None:
        """Make the weight a parameter again."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[f"{self.name}_g"], module._parameters[f"{self.name}_v"]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Make a weight g * v / |v|, as Salimans and Kingma do (2016). Deprecated in favour of parametrizations.weight_norm.

    dim: that of the norms; None means one norm of the whole weight. Raises RuntimeError if the weight is normalised already."""
    warnings.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of `torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: Module, name: str = "weight") -> Module:
    """Make a normalised weight a parameter again. Raises ValueError if it is not normalised."""
    hook = pop_pre_hook(module, lambda hook: isinstance(hook, WeightNorm) and hook.name == name)
    if hook is None:
        raise ValueError(f"weight_norm of '{name}' not found in {module}")
    hook.remove(module)
    return module
