"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from wengert.optim._elementwise import Elementwise, check_execution, check_hyperparameters, decayed

__all__ = ["SGD"]


class SGD(Elementwise):
    """Stochastic gradient descent: p -= lr * g, where g is the gradient or its momentum.

    momentum: g = momentum * g_before + (1 - dampening) * g; the first step takes the gradient itself. nesterov: add momentum times
    the new momentum to the gradient (Sutskever and others, On the importance of initialization and momentum, 2013). weight_decay:
    factor of an L2 penalty. foreach, fused: accepted; every step is one pass. differentiable: record the step. Raises ValueError
    for negative hyperparameters.

    >>> import wengert
    >>> p = wengert.nn.Parameter(wengert.ones(2))
    >>> optimizer = wengert.optim.SGD([p], lr=0.1)
    >>> (p * p).sum().backward()
    >>> optimizer.step()
    >>> p.detach()
    tensor([0.8000, 0.8000])
    """

    counted = False

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: Any = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_hyperparameters(lr, momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
            "maximize": maximize, "foreach": foreach, "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)
        check_execution(lr, foreach, fused, differentiable)

    def state_names(self, group: dict[str, Any]) -> tuple[str, ...]:
        return ("momentum_buffer",) if group["momentum"] != 0 else ()

    def options(self, group: dict[str, Any], state: dict[str, Any], is_first: bool) -> dict[str, Any]:
        return {
            "has_momentum": group["momentum"] != 0, "is_first": is_first, "nesterov": group["nesterov"],
            "decays": group["weight_decay"] != 0, "maximize": group["maximize"],
        }  # fmt: skip

    def numbers(self, group: dict[str, Any], state: dict[str, Any], step: Any) -> tuple[Any, ...]:
        return group["lr"], group["weight_decay"], *((group["momentum"], 1 - group["dampening"]) if group["momentum"] != 0 else ())

    @staticmethod
    def formula(
        F: Any, p: Any, g: Any, *rest: Any, has_momentum: bool, is_first: bool, nesterov: bool, decays: bool, maximize: bool
    ) -> Any:
        """The new parameter, and the new momentum if there is one."""
        if not has_momentum:
            lr, weight_decay = rest
            return (p - lr * decayed(g, p, weight_decay, maximize, decays),)
        velocity, lr, weight_decay, momentum, kept = rest
        g = decayed(g, p, weight_decay, maximize, decays)
        velocity = 1 * g if is_first else velocity * momentum + kept * g
        return p - lr * (g + momentum * velocity if nesterov else velocity), velocity
