"""StudentT."""

from __future__ import annotations

import math
from typing import Any

from wengert.distributions import _functions as F, constraints
from wengert.distributions.chi2 import Chi2
from wengert.distributions.distribution import Distribution, expand_parameters
from wengert.distributions.utils import _standard_normal, broadcast_all
from wengert.sizes import Size

__all__ = ["StudentT"]


class StudentT(Distribution):
    """Student's t distribution with df degrees of freedom, location loc and scale. df, scale > 0; tensors or numbers."""

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _expanded = ("df", "loc", "scale", "_chi2")
    expand = expand_parameters

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.loc.masked_fill(self.df <= 1, math.nan)

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        finite = self.scale.square() * self.df / (self.df - 2)
        return finite.masked_fill(self.df <= 2, math.inf).masked_fill(self.df <= 1, math.nan)

    def rsample(self, sample_shape: Any = Size()) -> Any:
        normal = _standard_normal(self._extended_shape(sample_shape), self.df.dtype, self.df.device)
        return self.loc + self.scale * normal * (self._chi2.rsample(sample_shape) / self.df).rsqrt()

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        half = 0.5 * self.df
        normalizer = self.scale.log() + 0.5 * (math.pi * self.df).log() + F.lgamma(half) - F.lgamma(half + 0.5)
        return -(half + 0.5) * (((value - self.loc) / self.scale).square() / self.df).log1p() - normalizer

    def entropy(self) -> Any:
        half = 0.5 * self.df
        beta = F.lgamma(half) + math.lgamma(0.5) - F.lgamma(half + 0.5)
        surplus = (half + 0.5) * (F.digamma(half + 0.5) - F.digamma(half))
        return self.scale.log() + surplus + 0.5 * self.df.log() + beta
