"""ASGD."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core.tensor import wrap
from wengert.optim._elementwise import Elementwise, check_execution, check_hyperparameters, decayed

__all__ = ["ASGD"]


class ASGD(Elementwise):
    """Averaged stochastic gradient descent. The state "ax" of a parameter is the average of its values from step t0 on.

    B. T. Polyak and A. B. Juditsky, Acceleration of stochastic approximation by averaging, 1992. Step t has the learning rate
    lr / (1 + lambd * lr * t)**alpha. Raises ValueError for a negative lr or weight_decay."""

    by_step = False

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_hyperparameters(lr, weight_decay=weight_decay)
        defaults = {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)
        check_execution(lr, foreach, capturable=capturable)

    def state_names(self, group: dict[str, Any]) -> tuple[str, ...]:
        return ("ax",)

    def start(self, group: dict[str, Any], p: Any, state: dict[str, Any]) -> None:
        super().start(group, p, state)
        average = state.pop("ax")
        state["eta"] = wrap(np.array(float(group["lr"]), np.float32))
        state["mu"] = wrap(np.ones((), np.float32))
        state["ax"] = average

    def options(self, group: dict[str, Any], state: dict[str, Any], is_first: bool) -> dict[str, Any]:
        return {
            "averages": float(state["mu"]._array) != 1.0, "decays": group["weight_decay"] != 0, "maximize": group["maximize"],
        }  # fmt: skip

    def numbers(self, group: dict[str, Any], state: dict[str, Any], step: Any) -> tuple[Any, ...]:
        eta, mu = float(state["eta"]._array), float(state["mu"]._array)
        lr, lambd = float(group["lr"]), group["lambd"]
        state["eta"] = wrap(np.array(lr / (1 + lambd * lr * step) ** group["alpha"], np.float32))
        state["mu"] = wrap(np.array(1 / max(1, step - group["t0"]), np.float32))
        return eta, 1 - lambd * eta, mu, group["weight_decay"]

    @staticmethod
    def formula(F: Any, p: Any, g: Any, average: Any, *rest: Any, averages: bool, decays: bool, maximize: bool) -> Any:
        """The new parameter and its average."""
        eta, decay, mu, weight_decay = rest
        g = decayed(g, p, weight_decay, maximize, decays)
        p = p * decay - eta * g
        return p, average + (p - average) * mu if averages else 1 * p
