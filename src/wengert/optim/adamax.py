"""Adamax."""

from __future__ import annotations

from typing import Any

from wengert.optim._elementwise import Elementwise, check_adam, check_execution, decayed, moving_average

__all__ = ["Adamax"]


class Adamax(Elementwise):
    """Adam with the largest decayed gradient in place of the root of the mean square.

    D. P. Kingma and J. Ba, Adam: A Method for Stochastic Optimization, 2014. Parameters as in Adam."""

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_adam(lr, betas, eps, weight_decay=weight_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)
        check_execution(lr, foreach, capturable=capturable)

    def state_names(self, group: dict[str, Any]) -> tuple[str, ...]:
        return "exp_avg", "exp_inf"

    def options(self, group: dict[str, Any], state: dict[str, Any], is_first: bool) -> dict[str, Any]:
        return {"decays": group["weight_decay"] != 0, "maximize": group["maximize"]}

    def numbers(self, group: dict[str, Any], state: dict[str, Any], step: Any) -> tuple[Any, ...]:
        beta1, beta2 = group["betas"]
        return group["lr"] / (1 - beta1**step), 1 - beta1, beta2, group["eps"], group["weight_decay"]

    @staticmethod
    def formula(F: Any, p: Any, g: Any, mean: Any, largest: Any, *rest: Any, decays: bool, maximize: bool) -> Any:
        """The new parameter, the average, and the largest gradient."""
        step_size, of_gradient, beta2, eps, weight_decay = rest
        g = decayed(g, p, weight_decay, maximize, decays)
        mean = moving_average(mean, g, of_gradient)
        largest = F.maximum(largest * beta2, F.abs(g) + eps)
        return p - step_size * (mean / largest), mean, largest
