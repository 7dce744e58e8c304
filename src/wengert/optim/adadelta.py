"""Adadelta."""

from __future__ import annotations

from typing import Any

from wengert.optim._elementwise import Elementwise, check_execution, check_hyperparameters, decayed

__all__ = ["Adadelta"]


class Adadelta(Elementwise):
    """Steps by the gradient times the ratio of two moving averages: of the steps' roots of squares and of the gradients'.

    M. D. Zeiler, ADADELTA: An Adaptive Learning Rate Method, 2012. rho: decay rate of the averages. eps: added to both. Raises
    ValueError for negative hyperparameters and for rho outside of [0, 1]."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_hyperparameters(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check_hyperparameters(0.0, epsilon=eps, weight_decay=weight_decay)
        defaults = {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize, "capturable": capturable,
            "foreach": foreach, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)
        check_execution(lr, foreach, capturable=capturable)

    def state_names(self, group: dict[str, Any]) -> tuple[str, ...]:
        return "square_avg", "acc_delta"

    def options(self, group: dict[str, Any], state: dict[str, Any], is_first: bool) -> dict[str, Any]:
        return {"decays": group["weight_decay"] != 0, "maximize": group["maximize"]}

    def numbers(self, group: dict[str, Any], state: dict[str, Any], step: Any) -> tuple[Any, ...]:
        return group["lr"], group["rho"], 1 - group["rho"], group["eps"], group["weight_decay"]

    @staticmethod
    def formula(F: Any, p: Any, g: Any, square: Any, steps: Any, *rest: Any, decays: bool, maximize: bool) -> Any:
        """The new parameter, and the averages of squared gradients and squared steps."""
        lr, rho, of_new, eps, weight_decay = rest
        g = decayed(g, p, weight_decay, maximize, decays)
        square = square * rho + of_new * g * g
        delta = F.sqrt(steps + eps) / F.sqrt(square + eps) * g
        return p - lr * delta, square, steps * rho + of_new * delta * delta
