"""Laplace."""

from __future__ import annotations

import math
from typing import Any

from wengert.distributions._location_scale import LocationScale
from wengert.distributions.distribution import expand_parameters
from wengert.dtypes import finfo
from wengert.sizes import Size

__all__ = ["Laplace"]


class Laplace(LocationScale):
    """Laplace distribution of median loc and scale. loc, scale: tensors that broadcast, or numbers; scale > 0."""

    expand = expand_parameters

    @property
    def variance(self) -> Any:
        return 2 * self.scale.square()

    @property
    def stddev(self) -> Any:
        return math.sqrt(2) * self.scale

    def rsample(self, sample_shape: Any = Size()) -> Any:
        u = self.loc.new_empty(self._extended_shape(sample_shape)).uniform_(finfo(self.loc.dtype).eps - 1, 1)
        return self.loc - self.scale * u.sign() * (-u.abs()).log1p()

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def cdf(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        deviation = value - self.loc
        return 0.5 - 0.5 * deviation.sign() * (-deviation.abs() / self.scale).expm1()

    def icdf(self, value: Any) -> Any:
        above = value - 0.5
        return self.loc - self.scale * above.sign() * (-2 * above.abs()).log1p()

    def entropy(self) -> Any:
        return 1 + (2 * self.scale).log()
