"""Rprop."""

from __future__ import annotations

from typing import Any

from wengert.ops import function
from wengert.optim._elementwise import Elementwise, check_execution, check_hyperparameters

__all__ = ["Rprop"]

_full_like: Any = function("", "full_like")


class Rprop(Elementwise):
    """Resilient backpropagation: each element has a step size, which grows while the sign of the gradient stays.

    M. Riedmiller and H. Braun, 1993. etas: factors of the step size where the sign changes and where it stays. step_sizes: bounds
    of the step size. Raises ValueError unless 0 < etas[0] < 1 < etas[1]."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_hyperparameters(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)
        check_execution(lr, foreach, capturable=capturable)

    def state_names(self, group: dict[str, Any]) -> tuple[str, ...]:
        return "prev", "step_size"

    def start(self, group: dict[str, Any], p: Any, state: dict[str, Any]) -> None:
        super().start(group, p, state)
        lr = float(group["lr"])
        state["step_size"] = _full_like(p, complex(lr, lr) if p.is_complex() else lr)

    def options(self, group: dict[str, Any], state: dict[str, Any], is_first: bool) -> dict[str, Any]:
        return {"maximize": group["maximize"]}

    def numbers(self, group: dict[str, Any], state: dict[str, Any], step: Any) -> tuple[Any, ...]:
        return (*group["etas"], *group["step_sizes"])

    @staticmethod
    def formula(F: Any, p: Any, g: Any, previous: Any, size: Any, *rest: Any, maximize: bool) -> Any:
        """The new parameter, the gradient that the next step compares with, and the step sizes."""
        shrink, grow, least, most = rest
        g = -g if maximize else g
        agreement = g * previous
        size = F.minimum(F.maximum(size * F.where(agreement > 0, grow, F.where(agreement < 0, shrink, 1.0)), least), most)
        g = F.where(agreement < 0, 0.0, g)
        return p - F.sign(g) * size, 1 * g, size
