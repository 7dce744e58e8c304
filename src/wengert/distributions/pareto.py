"""Pareto."""

from __future__ import annotations

from typing import Any

from wengert.distributions import constraints
from wengert.distributions.distribution import expand_parameters
from wengert.distributions.exponential import Exponential
from wengert.distributions.transformed_distribution import TransformedDistribution
from wengert.distributions.transforms import AffineTransform, ExpTransform
from wengert.distributions.utils import broadcast_all

__all__ = ["Pareto"]


class Pareto(TransformedDistribution):
    """Pareto distribution on [scale, inf), whose density falls as x ** -(alpha + 1). scale, alpha > 0: tensors or numbers."""

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}
    _expanded = ("base_dist", "scale", "alpha")
    expand = expand_parameters

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        super().__init__(base, [ExpTransform(), AffineTransform(0, self.scale)], validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self) -> Any:
        alpha = self.alpha.clamp(min=1)  # the mean is infinite below 1
        return alpha * self.scale / (alpha - 1)

    @property
    def mode(self) -> Any:
        return self.scale

    @property
    def variance(self) -> Any:
        alpha = self.alpha.clamp(min=2)  # the variance is infinite below 2
        return self.scale.square() * alpha / ((alpha - 1).square() * (alpha - 2))

    def entropy(self) -> Any:
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())
