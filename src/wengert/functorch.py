"""functorch, the older home of wengert.func, with its own functions of modules.

>>> import wengert
>>> from wengert.functorch import make_functional
>>> func, params = make_functional(wengert.nn.Linear(2, 1, bias=False))
>>> func((wengert.ones(1, 2),), wengert.ones(2))
tensor([2.])
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from wengert.func import (
    grad as grad,
    grad_and_value as grad_and_value,
    hessian as hessian,
    jacfwd as jacfwd,
    jacrev as jacrev,
    jvp as jvp,
    vjp as vjp,
    vmap as vmap,
)
from wengert.nn.functional_call import functional_call, stack_module_state

__all__ = [
    "FunctionalModule", "FunctionalModuleWithBuffers", "combine_state_for_ensemble", "grad", "grad_and_value", "hessian", "jacfwd",
    "jacrev", "jvp", "make_functional", "make_functional_with_buffers", "vjp", "vmap",
]  # fmt: skip


class FunctionalModuleWithBuffers:
    """A module as a function (params, buffers, *args), which make_functional_with_buffers makes."""

    def __init__(self, module: Any, param_names: tuple[str, ...], buffer_names: tuple[str, ...]) -> None:
        self.stateless_model = module
        self.param_names = param_names
        self.buffer_names = buffer_names

    def __call__(self, params: Any, buffers: Any, *args: Any, **kwargs: Any) -> Any:
        given = {**dict(zip(self.param_names, params, strict=True)), **dict(zip(self.buffer_names, buffers, strict=True))}
        return functional_call(self.stateless_model, given, args, kwargs)


class FunctionalModule(FunctionalModuleWithBuffers):
    """A module without buffers as a function (params, *args), which make_functional makes."""

    def __init__(self, module: Any, param_names: tuple[str, ...]) -> None:
        super().__init__(module, param_names, ())

    def __call__(self, params: Any, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(params, (), *args, **kwargs)


def _params_of(model: Any, detached: bool) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    names = tuple([name for name, _ in model.named_parameters()])
    params = tuple([p.detach() if detached else p for _, p in model.named_parameters()])
    return names, params


def make_functional(model: Any, disable_autograd_tracking: bool = False) -> tuple[FunctionalModule, tuple[Any, ...]]:
    """Return (func, params): func(params, *args) calls a copy of model with these parameters.

    params: those of the copy. disable_autograd_tracking: detach the parameters. Raises RuntimeError for a model with buffers.
    """
    if list(model.buffers()):
        raise RuntimeError(
            "make_functional(model): `model` has buffers. Please use make_functional_with_buffers(model) instead."
        )
    model = deepcopy(model)
    names, params = _params_of(model, disable_autograd_tracking)
    return FunctionalModule(model, names), params


def make_functional_with_buffers(
    model: Any, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModuleWithBuffers, tuple[Any, ...], tuple[Any, ...]]:
    """Return (func, params, buffers): func(params, buffers, *args) calls a copy of model with these parameters and buffers."""
    model = deepcopy(model)
    names, params = _params_of(model, disable_autograd_tracking)
    buffers = dict(model.named_buffers())
    return FunctionalModuleWithBuffers(model, names, tuple(buffers)), params, tuple(buffers.values())


def combine_state_for_ensemble(models: Any) -> tuple[FunctionalModuleWithBuffers, tuple[Any, ...], tuple[Any, ...]]:
    """Return (func, params, buffers) of models of one class: parameters and buffers are stacked along dimension 0, for vmap.

    The results require no gradient. Raises RuntimeError as stack_module_state.
    """
    models = list(models)
    params, buffers = stack_module_state(models)
    params = {name: stacked.detach() for name, stacked in params.items()}
    func, _, _ = make_functional_with_buffers(models[0])
    return func, tuple([params[name] for name in func.param_names]), tuple([buffers[name] for name in func.buffer_names])


def __dir__() -> list[str]:
    return sorted(__all__)
