"""Adafactor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.autograd.grad_mode import no_grad
from wengert.dtypes import finfo
from wengert.ops import function
from wengert.optim._elementwise import count_step
from wengert.optim.optimizer import Optimizer, call_closure, check_single, counter

__all__ = ["Adafactor"]

_zeros_like: Any = function("", "zeros_like")


class Adafactor(Optimizer):
    """Adam without momentum, whose mean squares of a matrix are kept as the product of a column and a row.

    N. Shazeer and M. Stern, Adafactor: Adaptive Learning Rates with Sublinear Memory Cost, 2018. beta2_decay: step t weighs the new
    squares by t**beta2_decay. eps: (least mean square, least scale of a step); None means the dtype's eps. d: steps with a root
    mean square above d are scaled down. Raises ValueError for hyperparameters out of range."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        check_single(lr)
        if not lr >= 0.0:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        if not beta2_decay <= 0.0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None and not eps[0] >= 0.0:
            raise ValueError(f"epsilon1 should be >= 0 but is: {eps[0]}")
        if not eps[1] >= 0.0:
            raise ValueError(f"epsilon2 should be >= 0 but is: {eps[1]}")
        if not d >= 1.0:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        if not weight_decay >= 0.0:
            raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")
        defaults = {
            "lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, defaults)

    @no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change each parameter that has a gradient. closure: evaluates the model anew and returns the loss, which step returns."""
        loss = call_closure(closure)
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                if p.is_complex():
                    raise RuntimeError("Adafactor does not support complex parameters")
                self._update(p, -p.grad if group["maximize"] else p.grad, self.state[p], group)
        return loss

    def _update(self, p: Any, g: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        lr, d, (least, least_scale) = float(group["lr"]), group["d"], group["eps"]
        least = finfo(p.dtype).eps if least is None else least
        if not state:
            state["step"] = counter()
            if g.ndim > 1:
                state["row_var"], state["col_var"] = g.new_zeros((*g.shape[:-1], 1)), g.new_zeros((*g.shape[:-2], 1, g.shape[-1]))
            else:
                state["variance"] = _zeros_like(g)
        step = count_step(state)
        weight = step ** group["beta2_decay"]
        # Tensors of no dimension, not Python numbers: asking a GPU for them would wait.
        scale = (p.norm(2) / p.numel() ** 0.5).clamp(min=least_scale) * min(lr, step**-0.5)
        if group["weight_decay"] != 0:
            p.mul_(1 - lr * group["weight_decay"])
        if g.ndim > 1:
            row, column = state["row_var"], state["col_var"]
            row.lerp_(g.norm(2, dim=-1, keepdim=True).square() / g.shape[-1], weight)
            column.lerp_(g.norm(2, dim=-2, keepdim=True).square() / g.shape[-2], weight)
            squares = (row @ column) / row.mean(dim=-2, keepdim=True).clamp(min=least)
        else:
            squares = state["variance"].lerp_(g.square(), weight)
        change = squares.clamp(min=least * least).rsqrt() * g
        excess = (change.norm(2) / (change.numel() ** 0.5 * d)).clamp(min=1.0)
        p.sub_(change * (scale / excess))
