"""HalfNormal."""

from __future__ import annotations

import math
from typing import Any

from wengert.distributions._folded import Folded
from wengert.distributions.distribution import expand_parameters
from wengert.distributions.normal import Normal

__all__ = ["HalfNormal"]


class HalfNormal(Folded):
    """Distribution of the magnitude of normal numbers of mean 0. scale: their standard deviation, a tensor or a number, > 0."""

    _unfolded = Normal
    expand = expand_parameters

    @property
    def mean(self) -> Any:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Any:
        return self.scale.square() * (1 - 2 / math.pi)
