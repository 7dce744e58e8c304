"""RMSprop."""

from __future__ import annotations

from typing import Any

from wengert.optim._elementwise import Elementwise, check_execution, check_hyperparameters, decayed, moving_average

__all__ = ["RMSprop"]


class RMSprop(Elementwise):
    """Steps by the gradient over the root of the moving average of its square.

    G. Hinton, Neural Networks for Machine Learning, lecture 6, 2012. alpha: decay rate of the average. eps: added to the root.
    centered: subtract the square of the mean gradient, which gives the variance (A. Graves, 2013). momentum: as in SGD. Raises
    ValueError for negative hyperparameters."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_hyperparameters(lr, epsilon=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        defaults = {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered, "weight_decay": weight_decay,
            "capturable": capturable, "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)
        check_execution(lr, foreach, capturable=capturable)

    def state_names(self, group: dict[str, Any]) -> tuple[str, ...]:
        momentum = ("momentum_buffer",) if group["momentum"] > 0 else ()
        return "square_avg", *momentum, *(("grad_avg",) if group["centered"] else ())

    def options(self, group: dict[str, Any], state: dict[str, Any], is_first: bool) -> dict[str, Any]:
        return {
            "has_momentum": group["momentum"] > 0, "centered": group["centered"], "decays": group["weight_decay"] != 0,
            "maximize": group["maximize"],
        }  # fmt: skip

    def numbers(self, group: dict[str, Any], state: dict[str, Any], step: Any) -> tuple[Any, ...]:
        return group["lr"], group["alpha"], 1 - group["alpha"], group["eps"], group["weight_decay"], group["momentum"]

    @staticmethod
    def formula(
        F: Any, p: Any, g: Any, square: Any, *rest: Any, has_momentum: bool, centered: bool, decays: bool, maximize: bool
    ) -> Any:
        """The new parameter, the average of squares, then the momentum and the mean gradient if there are such."""
        *buffers, lr, alpha, of_new, eps, weight_decay, momentum = rest
        g = decayed(g, p, weight_decay, maximize, decays)
        square = square * alpha + of_new * g * g
        variance, state = square, [square]
        if centered:
            mean = moving_average(buffers[-1], g, of_new)
            variance = square - mean * mean
        step = g / (F.sqrt(variance) + eps)
        if has_momentum:
            step = buffers[0] * momentum + step
            state.append(step)
        if centered:
            state.append(mean)
        return p - lr * step, *state
