"""Laplace."""

from __future__ import annotations

import math
from typing import Any

from wengert.distributions import _functions as F, constraints
from wengert.distributions.distribution import Distribution, expand_parameters
from wengert.distributions.utils import broadcast_all
from wengert.dtypes import finfo
from wengert.sizes import Size

__all__ = ["Laplace"]


class Laplace(Distribution):
    """Laplace distribution of median loc and scale. loc, scale: tensors that broadcast, or numbers; scale > 0."""

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
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        return 2 * self.scale.square()

    @property
    def stddev(self) -> Any:
        return math.sqrt(2) * self.scale

    def rsample(self, sample_shape: Any = Size()) -> Any:
        u = F.empty(self._extended_shape(sample_shape), dtype=self.loc.dtype).uniform_(finfo(self.loc.dtype).eps - 1, 1)
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
