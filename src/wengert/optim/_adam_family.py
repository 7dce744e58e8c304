"""What Adam, NAdam and RAdam share: two moving averages without bias, and weight decay in its two forms."""

from __future__ import annotations

from typing import Any

from wengert.optim._elementwise import Elementwise, decayed, moving_average


class AdamFamily(Elementwise):
    """Base class: the state has the averages of the gradient and of its square; a group may have decoupled weight decay."""

    def state_names(self, group: dict[str, Any]) -> tuple[str, ...]:
        return "exp_avg", "exp_avg_sq"

    def options(self, group: dict[str, Any], state: dict[str, Any], is_first: bool) -> dict[str, Any]:
        return {
            "decays": group["weight_decay"] != 0, "decoupled": group["decoupled_weight_decay"], "maximize": group["maximize"],
        }  # fmt: skip

    @staticmethod
    def decay(group: dict[str, Any]) -> Any:
        """Factor of the parameter if the weight decay is decoupled, else of the L2 penalty."""
        return 1 - group["lr"] * group["weight_decay"] if group["decoupled_weight_decay"] else group["weight_decay"]

    @staticmethod
    def weights(group: dict[str, Any]) -> tuple[Any, Any, Any]:
        """Return the weight of a gradient in its average, and the weights of the old average and of a square in that of squares."""
        beta1, beta2 = group["betas"]
        return 1 - beta1, beta2, 1 - beta2

    @staticmethod
    def averaged(
        p: Any, g: Any, mean: Any, square: Any, weights: Any, decay: Any, decays: bool, decoupled: bool, maximize: bool
    ) -> tuple[Any, Any, Any, Any]:
        """Return the decayed parameter, the gradient with the penalty, and the new averages."""
        g = decayed(g, p, decay, maximize, decays and not decoupled)
        if decays and decoupled:
            p = p * decay
        of_gradient, of_squares, of_square = weights
        return p, g, moving_average(mean, g, of_gradient), square * of_squares + of_square * g * g
