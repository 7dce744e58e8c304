"""InverseGamma."""

from __future__ import annotations

import math
from typing import Any

from wengert.distributions import _functions as F, constraints
from wengert.distributions.distribution import expand_parameters
from wengert.distributions.gamma import Gamma
from wengert.distributions.transformed_distribution import TransformedDistribution
from wengert.distributions.transforms import PowerTransform

__all__ = ["InverseGamma"]


class InverseGamma(TransformedDistribution):
    """Distribution of 1 / x, where x has a gamma distribution. concentration, rate > 0: as in Gamma."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True
    expand = expand_parameters
    base_dist: Gamma

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(base, PowerTransform(-base.rate.new_ones(())), validate_args=validate_args)

    @property
    def concentration(self) -> Any:
        """Concentration of the gamma distribution."""
        return self.base_dist.concentration

    @property
    def rate(self) -> Any:
        """Rate of the gamma distribution."""
        return self.base_dist.rate

    @property
    def mean(self) -> Any:
        a = self.concentration
        return (self.rate / (a - 1)).masked_fill(a <= 1, math.inf)

    @property
    def mode(self) -> Any:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Any:
        a = self.concentration
        return (self.rate.square() / ((a - 1).square() * (a - 2))).masked_fill(a <= 2, math.inf)

    def entropy(self) -> Any:
        a = self.concentration
        return a + self.rate.log() + F.lgamma(a) - (1 + a) * F.digamma(a)
