"""Adam."""

from __future__ import annotations

from typing import Any

from wengert.optim._adam_family import AdamFamily
from wengert.optim._elementwise import check_adam, check_execution

__all__ = ["Adam"]


class Adam(AdamFamily):
    """Adam: steps by the mean of the gradient over the root of the mean of its square, both moving averages without bias.

    D. P. Kingma and J. Ba, Adam: A Method for Stochastic Optimization, 2014. betas: decay rates of the two averages. eps: added to
    the root. weight_decay: factor of an L2 penalty. decoupled_weight_decay: shrink the parameter instead, as AdamW does. amsgrad:
    take the largest mean of squares so far (Reddi and others, 2018). foreach, fused, capturable: accepted; every step is one pass.
    differentiable: record the step. Raises ValueError for hyperparameters out of range."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[Any, Any] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        check_execution(lr, foreach, None, differentiable, capturable)
        check_adam(lr, betas, eps, weight_decay=weight_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad, "maximize": maximize,
            "foreach": foreach, "capturable": capturable, "differentiable": differentiable, "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }  # fmt: skip
        super().__init__(params, defaults)
        check_execution(lr, foreach, fused, differentiable, capturable)

    def state_names(self, group: dict[str, Any]) -> tuple[str, ...]:
        return (*super().state_names(group), *(("max_exp_avg_sq",) if group["amsgrad"] else ()))

    def options(self, group: dict[str, Any], state: dict[str, Any], is_first: bool) -> dict[str, Any]:
        return {"amsgrad": group["amsgrad"], **super().options(group, state, is_first)}

    def numbers(self, group: dict[str, Any], state: dict[str, Any], step: Any) -> tuple[Any, ...]:
        lr, (beta1, beta2) = group["lr"], group["betas"]
        return lr / (1 - beta1**step), (1 - beta2**step) ** 0.5, *self.weights(group), group["eps"], self.decay(group)

    @staticmethod
    def formula(
        F: Any, p: Any, g: Any, mean: Any, square: Any, *rest: Any, amsgrad: bool, decays: bool, decoupled: bool, maximize: bool
    ) -> Any:
        """The new parameter, the two averages, and the largest mean of squares if amsgrad."""
        *largest, step_size, correction, of_gradient, of_squares, of_square, eps, decay = rest
        weights = of_gradient, of_squares, of_square
        p, g, mean, square = AdamFamily.averaged(p, g, mean, square, weights, decay, decays, decoupled, maximize)
        largest = [F.maximum(largest[0], square)] if amsgrad else []
        denominator = F.sqrt(largest[0] if amsgrad else square) / correction + eps
        return p - step_size * (mean / denominator), mean, square, *largest
