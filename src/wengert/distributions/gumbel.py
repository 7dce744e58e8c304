"""Gumbel."""

from __future__ import annotations

import math
from typing import Any

from wengert.distributions import _functions as F, constraints
from wengert.distributions.distribution import expand_parameters
from wengert.distributions.transformed_distribution import TransformedDistribution
from wengert.distributions.transforms import AffineTransform, ExpTransform
from wengert.distributions.uniform import Uniform
from wengert.distributions.utils import broadcast_all, euler_constant
from wengert.dtypes import finfo

__all__ = ["Gumbel"]


class Gumbel(TransformedDistribution):
    """Gumbel distribution of mode loc, the limit of maxima. loc, scale: tensors that broadcast, or numbers; scale > 0."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    _expanded = ("base_dist", "loc", "scale")
    expand = expand_parameters

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        info = finfo(self.loc.dtype)
        base = Uniform(F.full_like(self.loc, info.tiny), F.full_like(self.loc, 1 - info.eps), validate_args=validate_args)
        # -log(-log(u)) has the standard distribution.
        log = ExpTransform().inv
        transforms = [log, AffineTransform(0, -F.ones_like(self.scale)), log, AffineTransform(self.loc, -self.scale)]
        super().__init__(base, transforms, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.loc + self.scale * euler_constant

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def stddev(self) -> Any:
        return self.scale * (math.pi / math.sqrt(6))

    @property
    def variance(self) -> Any:
        return self.stddev.square()

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        z = (self.loc - value) / self.scale
        return z - z.exp() - self.scale.log()

    def entropy(self) -> Any:
        return self.scale.log() + (1 + euler_constant)
