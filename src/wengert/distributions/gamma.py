"""Gamma."""

from __future__ import annotations

from typing import Any

from wengert import special
from wengert.distributions import _functions as F, constraints
from wengert.distributions.distribution import expand_parameters
from wengert.distributions.exp_family import ExponentialFamily
from wengert.distributions.utils import broadcast_all
from wengert.dtypes import finfo
from wengert.sizes import Size

__all__ = ["Gamma"]


class Gamma(ExponentialFamily):
    """Gamma distribution, whose density is proportional to x ** (concentration - 1) * exp(-rate * x).

    concentration, rate: tensors that broadcast, or numbers; > 0. Samples of rsample are differentiated with their quantiles held
    fixed, and cdf in all its arguments."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0
    _expanded = ("concentration", "rate")
    expand = expand_parameters

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.concentration / self.rate

    @property
    def mode(self) -> Any:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Any:
        return self.concentration / self.rate.square()

    def rsample(self, sample_shape: Any = Size()) -> Any:
        shape = self._extended_shape(sample_shape)
        value = F._standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        value.detach().clamp_(min=finfo(value.dtype).tiny)  # samples are positive; the derivative does not see it
        return value

    def log_prob(self, value: Any) -> Any:
        value = F.as_tensor(value, dtype=self.rate.dtype)
        if self._validate_args:
            self._validate_sample(value)
        a = self.concentration
        return F.xlogy(a, self.rate) + F.xlogy(a - 1, value) - self.rate * value - F.lgamma(a)

    def cdf(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return special.gammainc(self.concentration, self.rate * value)

    def entropy(self) -> Any:
        a = self.concentration
        return a - self.rate.log() + F.lgamma(a) + (1.0 - a) * F.digamma(a)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return F.lgamma(x + 1) - (x + 1) * (-y).log()
