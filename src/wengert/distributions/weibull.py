"""Weibull."""

from __future__ import annotations

from typing import Any

from wengert.distributions import _functions as F, constraints
from wengert.distributions.distribution import expand_parameters
from wengert.distributions.exponential import Exponential
from wengert.distributions.transformed_distribution import TransformedDistribution
from wengert.distributions.transforms import AffineTransform, PowerTransform
from wengert.distributions.utils import broadcast_all, euler_constant

__all__ = ["Weibull"]


class Weibull(TransformedDistribution):
    """Weibull distribution, whose cdf is 1 - exp(-(x / scale) ** concentration).

    scale, concentration: tensors that broadcast, or numbers; > 0."""

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive
    _expanded = ("base_dist", "scale", "concentration")
    expand = expand_parameters

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        base = Exponential(F.ones_like(self.scale), validate_args=validate_args)
        transforms = [PowerTransform(self.concentration.reciprocal()), AffineTransform(0, self.scale)]
        super().__init__(base, transforms, validate_args=validate_args)

    def _moment(self, n: int) -> Any:
        """Return the n-th moment for scale 1."""
        return F.lgamma(1 + n / self.concentration).exp()

    @property
    def mean(self) -> Any:
        return self.scale * self._moment(1)

    @property
    def mode(self) -> Any:
        return self.scale * (1 - self.concentration.reciprocal()).pow(self.concentration.reciprocal())

    @property
    def variance(self) -> Any:
        return self.scale.square() * (self._moment(2) - self._moment(1).square())

    def entropy(self) -> Any:
        inverse = self.concentration.reciprocal()
        return euler_constant * (1 - inverse) + (self.scale * inverse).log() + 1
