"""Adagrad."""

from __future__ import annotations

from typing import Any

from wengert.ops import function
from wengert.optim._elementwise import Elementwise, check_execution, check_hyperparameters, decayed

__all__ = ["Adagrad"]

_full_like: Any = function("", "full_like")


class Adagrad(Elementwise):
    """Steps by the gradient over the root of the sum of all squared gradients so far.

    J. Duchi and others, Adaptive Subgradient Methods for Online Learning and Stochastic Optimization, 2011. lr_decay: step t has
    the learning rate lr / (1 + (t - 1) * lr_decay). initial_accumulator_value: start of the sum. Raises ValueError for negative
    values."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_hyperparameters(
            lr, lr_decay=lr_decay, weight_decay=weight_decay, initial_accumulator_value=initial_accumulator_value, epsilon=eps
        )
        defaults = {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)
        check_execution(lr, foreach, fused, differentiable)
        for group in self.param_groups:
            for p in group["params"]:
                self.start(group, p, self.state[p])

    def start(self, group: dict[str, Any], p: Any, state: dict[str, Any]) -> None:
        super().start(group, p, state)
        value = group["initial_accumulator_value"]
        state["sum"] = _full_like(p, complex(value, value) if p.is_complex() else value)

    def share_memory(self) -> None:
        """Move the state to memory that processes forked from now on share."""
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["sum"].share_memory_()

    def state_names(self, group: dict[str, Any]) -> tuple[str, ...]:
        return ("sum",)

    def options(self, group: dict[str, Any], state: dict[str, Any], is_first: bool) -> dict[str, Any]:
        return {"decays": group["weight_decay"] != 0, "maximize": group["maximize"]}

    def numbers(self, group: dict[str, Any], state: dict[str, Any], step: Any) -> tuple[Any, ...]:
        return group["lr"] / (1 + (step - 1) * group["lr_decay"]), group["eps"], group["weight_decay"]

    @staticmethod
    def formula(F: Any, p: Any, g: Any, total: Any, lr: Any, eps: Any, weight_decay: Any, *, decays: bool, maximize: bool) -> Any:
        """The new parameter and the sum of squares."""
        g = decayed(g, p, weight_decay, maximize, decays)
        total = total + g * g
        return p - lr * (g / (F.sqrt(total) + eps)), total
