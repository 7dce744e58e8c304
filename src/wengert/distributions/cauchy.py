"""Cauchy."""

from __future__ import annotations

import math
from typing import Any

from wengert.distributions import _functions as F, constraints
from wengert.distributions.distribution import Distribution, expand_parameters
from wengert.distributions.utils import broadcast_all
from wengert.sizes import Size

__all__ = ["Cauchy"]


class Cauchy(Distribution):
    """Cauchy distribution of median loc; scale is half the width at half maximum. It has no mean, and no finite variance.

    loc, scale: tensors that broadcast, or numbers; scale > 0."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _expanded = ("loc", "scale")
    expand = expand_parameters

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return F.full_like(self.loc, math.nan)

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        return F.full_like(self.loc, math.inf)

    def rsample(self, sample_shape: Any = Size()) -> Any:
        return self.loc + F.empty(self._extended_shape(sample_shape), dtype=self.loc.dtype).cauchy_() * self.scale

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
