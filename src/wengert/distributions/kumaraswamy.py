"""Kumaraswamy."""

from __future__ import annotations

import math
from typing import Any

from wengert.distributions import _functions as F, constraints
from wengert.distributions.distribution import expand_parameters
from wengert.distributions.transformed_distribution import TransformedDistribution
from wengert.distributions.transforms import AffineTransform, PowerTransform
from wengert.distributions.uniform import Uniform
from wengert.distributions.utils import broadcast_all, euler_constant

__all__ = ["Kumaraswamy"]


class Kumaraswamy(TransformedDistribution):
    """Kumaraswamy distribution, whose cdf is 1 - (1 - x ** concentration1) ** concentration0.

    concentration1, concentration0: tensors that broadcast, or numbers; > 0."""

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True
    _expanded = ("base_dist", "concentration1", "concentration0")
    expand = expand_parameters

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        one = F.ones_like(self.concentration0)
        transforms = [
            PowerTransform(self.concentration0.reciprocal()), AffineTransform(1.0, -1.0),
            PowerTransform(self.concentration1.reciprocal()),
        ]  # fmt: skip
        super().__init__(Uniform(F.zeros_like(one), one, validate_args=validate_args), transforms, validate_args=validate_args)

    def _moment(self, n: int) -> Any:
        a, b = 1 + n / self.concentration1, self.concentration0
        return (b.log() + F.lgamma(a) + F.lgamma(b) - F.lgamma(a + b)).exp()

    @property
    def mean(self) -> Any:
        return self._moment(1)

    @property
    def mode(self) -> Any:
        a, b = self.concentration1, self.concentration0
        found = ((a - 1) / (a * b - 1)).pow(1 / a)
        return found.masked_fill((a < 1) | (b < 1), math.nan)

    @property
    def variance(self) -> Any:
        return self._moment(2) - self.mean.square()

    def entropy(self) -> Any:
        a, b = self.concentration1, self.concentration0
        harmonic = F.digamma(b + 1) + euler_constant
        return 1 - b.reciprocal() + (1 - a.reciprocal()) * harmonic - a.log() - b.log()
