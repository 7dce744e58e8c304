"""NAdam."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core.tensor import wrap
from wengert.optim._adam_family import AdamFamily
from wengert.optim._elementwise import check_adam, check_execution

__all__ = ["NAdam"]


class NAdam(AdamFamily):
    """Adam with Nesterov momentum (T. Dozat, Incorporating Nesterov Momentum into Adam, 2016).

    momentum_decay: how fast the weight of the momentum approaches betas[0]. Other parameters as in Adam."""

    by_step = False

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_adam(lr, betas, eps, weight_decay=weight_decay, momentum_decay=momentum_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize, "foreach": foreach, "capturable": capturable,
            "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)
        check_execution(lr, foreach, capturable=capturable)

    def start(self, group: dict[str, Any], p: Any, state: dict[str, Any]) -> None:
        super().start(group, p, state)
        averages = {name: state.pop(name) for name in self.state_names(group)}
        state["mu_product"] = wrap(np.ones((), np.float32))
        state.update(averages)

    def numbers(self, group: dict[str, Any], state: dict[str, Any], step: Any) -> tuple[Any, ...]:
        lr, (beta1, beta2), rate = group["lr"], group["betas"], group["momentum_decay"]
        mu, mu_next = (beta1 * (1.0 - 0.5 * 0.96 ** (n * rate)) for n in (step, step + 1))
        product = state["mu_product"]._array
        product *= mu
        of_gradient, of_mean = lr * (1.0 - mu) / (1.0 - float(product)), lr * mu_next / (1.0 - float(product) * mu_next)
        return of_gradient, of_mean, 1 - beta2**step, *self.weights(group), group["eps"], self.decay(group)

    @staticmethod
    def formula(F: Any, p: Any, g: Any, mean: Any, square: Any, *rest: Any, decays: bool, decoupled: bool, maximize: bool) -> Any:
        """The new parameter and the two averages."""
        of_gradient, of_mean, correction, *weights, eps, decay = rest
        p, g, mean, square = AdamFamily.averaged(p, g, mean, square, weights, decay, decays, decoupled, maximize)
        denominator = F.sqrt(square / correction) + eps
        return p - of_gradient * (g / denominator) - of_mean * (mean / denominator), mean, square
