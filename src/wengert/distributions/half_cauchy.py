"""HalfCauchy."""

from __future__ import annotations

import math
from typing import Any

from wengert.distributions import _functions as F, constraints
from wengert.distributions.cauchy import Cauchy
from wengert.distributions.distribution import expand_parameters
from wengert.distributions.transformed_distribution import TransformedDistribution
from wengert.distributions.transforms import AbsTransform

__all__ = ["HalfCauchy"]


class HalfCauchy(TransformedDistribution):
    """Distribution of the magnitude of Cauchy numbers of median 0. scale: a tensor or a number, > 0. The mean is infinite."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    expand = expand_parameters
    base_dist: Cauchy

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    @property
    def scale(self) -> Any:
        """Scale of the Cauchy numbers."""
        return self.base_dist.scale

    @property
    def mean(self) -> Any:
        return F.full_like(self.scale, math.inf)

    @property
    def mode(self) -> Any:
        return F.zeros_like(self.scale)

    @property
    def variance(self) -> Any:
        return self.base_dist.variance

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
