"""GeneralizedPareto."""

from __future__ import annotations

import math
from typing import Any

from wengert.distributions import _functions as F, constraints
from wengert.distributions.distribution import Distribution, expand_parameters
from wengert.distributions.utils import broadcast_all
from wengert.sizes import Size

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """Generalized Pareto distribution, whose cdf is 1 - (1 + k z) ** (-1 / k) for z = (x - loc) / scale, k = concentration.

    loc, scale, concentration: tensors that broadcast, or numbers; scale > 0. It is exponential for k = 0. Numbers end at
    loc - scale / k for k < 0."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    has_rsample = True
    _expanded = ("loc", "scale", "concentration")
    expand = expand_parameters

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        upper = F.where(self.concentration < 0, self.loc - self.scale / self.concentration, math.inf)
        return constraints.interval(self.loc, upper)

    def _is_exponential(self) -> Any:
        """Whether the concentration is so small that the exponential distribution is used."""
        return F.isclose(self.concentration, F.zeros_like(self.concentration))

    def _nonzero_concentration(self) -> Any:
        return self.concentration.masked_fill(self._is_exponential(), 1.0)

    def _standardize(self, value: Any) -> Any:
        return (value - self.loc) / self.scale

    @property
    def mean(self) -> Any:
        k = self.concentration
        return F.where(k < 1, self.loc + self.scale / (1 - k), math.nan)

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        k = self.concentration
        return F.where(k < 0.5, self.scale.square() / ((1 - k).square() * (1 - 2 * k)), math.nan)

    def rsample(self, sample_shape: Any = Size()) -> Any:
        return self.icdf(F.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        z, k = self._standardize(value), self._nonzero_concentration()
        general = -(1 + 1 / k) * (k * z).log1p()
        return F.where(self._is_exponential(), -z, general) - self.scale.log()

    def log_survival_function(self, value: Any) -> Any:
        """Return the logarithm of 1 - cdf(value)."""
        if self._validate_args:
            self._validate_sample(value)
        z, k = self._standardize(value), self._nonzero_concentration()
        return F.where(self._is_exponential(), -z, -(k * z).log1p() / k)

    def log_cdf(self, value: Any) -> Any:
        """Return the logarithm of cdf(value)."""
        return (-self.log_survival_function(value).exp()).log1p()

    def cdf(self, value: Any) -> Any:
        return -self.log_survival_function(value).expm1()

    def icdf(self, value: Any) -> Any:
        k, log_survival = self._nonzero_concentration(), (-value).log1p()
        z = F.where(self._is_exponential(), -log_survival, (-k * log_survival).expm1() / k)
        return self.loc + self.scale * z

    def entropy(self) -> Any:
        return self.scale.log() + self.concentration + 1
