"""Distributions of the magnitude of numbers that are symmetric about 0."""

from __future__ import annotations

import math
from typing import Any

from wengert.distributions import _functions as F, constraints
from wengert.distributions.distribution import Distribution
from wengert.distributions.transformed_distribution import TransformedDistribution
from wengert.distributions.transforms import AbsTransform


class Folded(TransformedDistribution):
    """Base class. A subclass names the distribution of the numbers, and has the method `expand`, which names the subclass."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _unfolded: type[Distribution]
    base_dist: Any

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        unfolded: Any = self._unfolded
        super().__init__(unfolded(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    @property
    def scale(self) -> Any:
        """Scale of the numbers before their magnitude is taken."""
        return self.base_dist.scale

    @property
    def mode(self) -> Any:
        return F.zeros_like(self.scale)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        value = F.as_tensor(value, dtype=self.scale.dtype)
        return F.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, value: Any) -> Any:
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Any:
        return self.base_dist.entropy() - math.log(2)
