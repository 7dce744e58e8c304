"""Normal."""

from __future__ import annotations

import math
from typing import Any

from wengert import special
from wengert.autograd.grad_mode import no_grad
from wengert.distributions import _functions as F
from wengert.distributions._location_scale import LocationScale
from wengert.distributions.distribution import expand_parameters
from wengert.distributions.exp_family import ExponentialFamily
from wengert.distributions.utils import _standard_normal
from wengert.sizes import Size

__all__ = ["Normal"]

_LOG_ROOT_2_PI = math.log(2 * math.pi) / 2


class Normal(LocationScale, ExponentialFamily):
    """Normal distribution of mean loc and standard deviation scale. loc, scale: tensors that broadcast, or numbers; scale > 0.

    >>> import wengert
    >>> wengert.distributions.Normal(0.0, 1.0).log_prob(wengert.tensor(0.0))
    tensor(-0.9189)
    """

    _mean_carrier_measure = 0
    expand = expand_parameters

    @property
    def stddev(self) -> Any:
        return self.scale

    @property
    def variance(self) -> Any:
        return self.scale.square()

    def sample(self, sample_shape: Any = Size()) -> Any:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return F.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Any = Size()) -> Any:
        shape = self._extended_shape(sample_shape)
        return self.loc + _standard_normal(shape, self.loc.dtype, self.loc.device) * self.scale

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        z = (value - self.loc) / self.scale
        return z * z * -0.5 - self.scale.log() - _LOG_ROOT_2_PI

    def cdf(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return special.ndtr((value - self.loc) / self.scale)

    def icdf(self, value: Any) -> Any:
        return self.loc + self.scale * special.ndtri(value)

    def entropy(self) -> Any:
        return self.scale.log() + (0.5 + _LOG_ROOT_2_PI)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        precision = self.scale.square().reciprocal()
        return self.loc * precision, -0.5 * precision

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return -0.25 * x.square() / y + 0.5 * (-math.pi / y).log()
