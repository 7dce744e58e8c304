"""FisherSnedecor."""

from __future__ import annotations

import math
from typing import Any

from wengert.distributions import _functions as F, constraints
from wengert.distributions.distribution import Distribution, expand_parameters
from wengert.distributions.gamma import Gamma
from wengert.distributions.utils import broadcast_all
from wengert.dtypes import finfo
from wengert.sizes import Size

__all__ = ["FisherSnedecor"]


class FisherSnedecor(Distribution):
    """F distribution: the ratio of two chi-squared numbers, each divided by its degrees of freedom, df1 and df2 > 0."""

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True
    _expanded = ("df1", "df2", "_gamma1", "_gamma2")
    expand = expand_parameters

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        self._gamma1 = Gamma(self.df1 * 0.5, self.df1)
        self._gamma2 = Gamma(self.df2 * 0.5, self.df2)
        super().__init__(self.df1.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return (self.df2 / (self.df2 - 2)).masked_fill(self.df2 <= 2, math.nan)

    @property
    def mode(self) -> Any:
        found = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return found.masked_fill(self.df1 <= 2, math.nan)

    @property
    def variance(self) -> Any:
        a, b = self.df1, self.df2
        found = 2 * b.square() * (a + b - 2) / (a * (b - 2).square() * (b - 4))
        return found.masked_fill(b <= 4, math.nan)

    def rsample(self, sample_shape: Any = Size()) -> Any:
        tiny = finfo(self.df1.dtype).tiny
        above = self._gamma1.rsample(sample_shape)
        below = self._gamma2.rsample(sample_shape)
        return (above / below.clamp(min=tiny)).clamp(min=tiny)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        a, b, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        normalizer = F.lgamma(a) + F.lgamma(b) - F.lgamma(a + b)
        return a * ratio.log() + (a - 1) * value.log() - (a + b) * (ratio * value).log1p() - normalizer
