"""RAdam."""

from __future__ import annotations

from typing import Any

from wengert.optim._adam_family import AdamFamily
from wengert.optim._elementwise import check_adam, check_execution

__all__ = ["RAdam"]


class RAdam(AdamFamily):
    """Adam whose first steps follow the mean of the gradient alone, until the variance of its second moment is known well enough.

    L. Liu and others, On the variance of the adaptive learning rate and beyond, 2019. Parameters as in Adam."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_adam(lr, betas, eps, weight_decay=weight_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "decoupled_weight_decay": decoupled_weight_decay, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)
        check_execution(lr, foreach, capturable=capturable)

    def options(self, group: dict[str, Any], state: dict[str, Any], is_first: bool) -> dict[str, Any]:
        is_adaptive = _length(group["betas"][1], float(state["step"]._array)) > 5.0
        return {"is_adaptive": is_adaptive, **super().options(group, state, is_first)}

    def numbers(self, group: dict[str, Any], state: dict[str, Any], step: Any) -> tuple[Any, ...]:
        lr, (beta1, beta2) = group["lr"], group["betas"]
        longest, length, factor = 2 / (1 - beta2) - 1, _length(beta2, step), 1.0
        if length > 5.0:
            factor = ((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)) ** 0.5
            factor *= (1 - beta2**step) ** 0.5
        return lr * factor / (1 - beta1**step), *self.weights(group), group["eps"], self.decay(group)

    @staticmethod
    def formula(
        F: Any, p: Any, g: Any, mean: Any, square: Any, *rest: Any, decays: bool, decoupled: bool, maximize: bool, is_adaptive: bool
    ) -> Any:
        """The new parameter and the two averages."""
        step_size, *weights, eps, decay = rest
        p, g, mean, square = AdamFamily.averaged(p, g, mean, square, weights, decay, decays, decoupled, maximize)
        direction = mean / (F.sqrt(square) + eps) if is_adaptive else mean
        return p - step_size * direction, mean, square


def _length(beta2: float, step: float) -> float:
    """Length of the simple moving average that approximates the exponential one after this number of steps."""
    return 2 / (1 - beta2) - 1 - 2 * step * beta2**step / (1 - beta2**step)
