"""Cauchy."""

from __future__ import annotations

import math
from typing import Any

from wengert.distributions import _functions as F
from wengert.distributions._location_scale import LocationScale
from wengert.distributions.distribution import expand_parameters
from wengert.sizes import Size

__all__ = ["Cauchy"]


class Cauchy(LocationScale):
    """Cauchy distribution of median loc; scale is half the width at half maximum. It has no mean, and no finite variance.

    loc, scale: tensors that broadcast, or numbers; scale > 0."""

    expand = expand_parameters

    @property
    def mean(self) -> Any:
        return F.full_like(self.loc, math.nan)

    @property
    def variance(self) -> Any:
        return F.full_like(self.loc, math.inf)

    def rsample(self, sample_shape: Any = Size()) -> Any:
        return self.loc + self.loc.new_empty(self._extended_shape(sample_shape)).cauchy_() * self.scale

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return -math.log(math.pi) - self.scale.log() - ((value - self.loc) / self.scale).square().log1p()

    def cdf(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return ((value - self.loc) / self.scale).atan() / math.pi + 0.5

    def icdf(self, value: Any) -> Any:
        return (math.pi * (value - 0.5)).tan() * self.scale + self.loc

    def entropy(self) -> Any:
        return math.log(4 * math.pi) + self.scale.log()
