"""Muon."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.autograd.grad_mode import no_grad
from wengert.ops import function
from wengert.optim.optimizer import Optimizer, call_closure, check_single

__all__ = ["Muon"]

_addmm: Any = function("", "addmm")
_zeros_like: Any = function("", "zeros_like")


class Muon(Optimizer):
    """Momentum whose matrix is brought close to the nearest orthogonal one before the step. For matrices only.

    K. Jordan, Muon: An optimizer for hidden layers in neural networks, 2024. momentum: decay rate of the moving average of
    gradients. nesterov: mix the gradient in again. weight_decay: decoupled. ns_coefficients, ns_steps: polynomial and number of
    steps of the iteration of Newton and Schulz, which runs in bfloat16. adjust_lr_fn: "original", or "match_rms_adamw", which gives
    steps the root mean square of AdamW's. Raises ValueError for parameters that are no matrices and for hyperparameters out of
    range."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        check_single(lr)
        for name, value in {"Learning rate": lr, "momentum": momentum, "weight decay": weight_decay}.items():
            if not value >= 0.0:
                raise ValueError(f"{name} should be >= 0 but is: {value}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults = {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov, "ns_coefficients": ns_coefficients,
            "eps": eps, "ns_steps": ns_steps, "adjust_lr_fn": adjust_lr_fn,
        }  # fmt: skip
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise ValueError(f"Muon only supports 2D parameters whereas we found a parameter with size: {p.size()}")

    @no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change each parameter that has a gradient. closure: evaluates the model anew and returns the loss, which step returns."""
        loss = call_closure(closure)
        for group in self.param_groups:
            lr, momentum = float(group["lr"]), group["momentum"]
            for p in group["params"]:
                g, state = p.grad, self.state[p]
                if g is None:
                    continue
                if g.ndim != 2:
                    raise ValueError("Param gradient must be a 2D matrix")
                if "momentum_buffer" not in state:
                    state["momentum_buffer"] = _zeros_like(g)
                average = state["momentum_buffer"].lerp_(g, 1 - momentum)
                direction = _orthogonal(g.lerp(average, momentum) if group["nesterov"] else average, group)
                rows, columns = p.shape
                matches_adamw = group["adjust_lr_fn"] == "match_rms_adamw"
                ratio = 0.2 * max(rows, columns) ** 0.5 if matches_adamw else max(1, rows / columns) ** 0.5
                p.mul_(1 - lr * group["weight_decay"])
                p.add_(direction.to(p.dtype), alpha=-lr * ratio)
        return loss


def _orthogonal(x: Any, group: dict[str, Any]) -> Any:
    """Return a bfloat16 matrix close to the orthogonal factor of x, by an iteration of Newton and Schulz."""
    if group["ns_steps"] >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(group["ns_coefficients"]) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = group["ns_coefficients"]
    is_tall = x.shape[0] > x.shape[1]
    x = x.bfloat16()
    x = x.T if is_tall else x
    x = x / x.norm().clamp(min=group["eps"])
    for _ in range(group["ns_steps"]):
        gram = x @ x.T
        x = _addmm(x, _addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.T if is_tall else x
