"""The older spectral_norm, which computes the weight in a hook before each forward."""

from __future__ import annotations

from typing import Any

from wengert.core.modes import set_recording
from wengert.nn import functional as F
from wengert.nn.modules._hooks import pop_pre_hook
from wengert.nn.modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from wengert.nn.modules.module import Module
from wengert.nn.parameter import Parameter
from wengert.ops import function

__all__ = ["SpectralNorm", "remove_spectral_norm", "spectral_norm"]

_dot: Any = function("", "dot")
_mv: Any = function("", "mv")


class SpectralNorm:
    """Forward pre-hook that divides a weight by its largest singular value. The module holds the weight as <name>_orig, and
    the vectors of the power method as the buffers <name>_u and <name>_v."""

    _version = 1

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        if n_power_iterations <= 0:
            raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")
        self.name = name
        self.dim = dim
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def reshape_weight_to_matrix(self, weight: Any) -> Any:
        """Return the weight as a matrix whose rows are the outputs."""
        if self.dim != 0:
            weight = weight.permute(self.dim, *[d for d in range(weight.dim()) if d != self.dim])
        return weight.reshape(weight.shape[0], -1)

    def compute_weight(self, module: Any, do_power_iteration: bool) -> Any:
        """Return the weight, divided by its largest singular value, after some steps of the power method."""
        weight = getattr(module, f"{self.name}_orig")
        u, v = getattr(module, f"{self.name}_u"), getattr(module, f"{self.name}_v")
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with set_recording(False):
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(_mv(matrix.t(), u), dim=0, eps=self.eps))
                    u.copy_(F.normalize(_mv(matrix, v), dim=0, eps=self.eps))
                u, v = u.clone(), v.clone()
        return weight / _dot(u, _mv(matrix, v))

    def remove(self, module: Any) -> None:
        """Make the weight a parameter again."""
        with set_recording(False):
            weight = self.compute_weight(module, do_power_iteration=False)
        delattr(module, self.name)
        for suffix in ("_u", "_v", "_orig"):
            delattr(module, self.name + suffix)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))

    @staticmethod
    def apply(module: Any, name: str, n_power_iterations: int, dim: int, eps: float) -> SpectralNorm:
        """Register the hook. Raises RuntimeError if the weight has one."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, SpectralNorm) and hook.name == name:
                raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
        found = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        with set_recording(False):
            matrix = found.reshape_weight_to_matrix(weight)
            h, w = matrix.shape
            u = F.normalize(weight.new_empty(h).normal_(0, 1), dim=0, eps=eps)
            v = F.normalize(weight.new_empty(w).normal_(0, 1), dim=0, eps=eps)
        delattr(module, name)
        module.register_parameter(f"{name}_orig", weight)
        setattr(module, name, weight.data)  # not a parameter, so that it is not found among the parameters
        module.register_buffer(f"{name}_u", u)
        module.register_buffer(f"{name}_v", v)
        module.register_forward_pre_hook(found)
        return found


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """Divide a weight by its largest singular value, as Miyato et al. do (2018). See parametrizations.spectral_norm.

    Raises RuntimeError if the weight is normalised already, ValueError unless n_power_iterations > 0."""
    if dim is None:
        dim = 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0
    SpectralNorm.apply(module, name, n_power_iterations, dim, eps)
    return module


def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """Make a normalised weight a parameter again. Raises ValueError if it is not normalised."""
    hook = pop_pre_hook(module, lambda hook: isinstance(hook, SpectralNorm) and hook.name == name)
    if hook is None:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    hook.remove(module)
    return module
