"""HalfCauchy."""

from __future__ import annotations

import math
from typing import Any

from wengert.distributions import _functions as F
from wengert.distributions._folded import Folded
from wengert.distributions.cauchy import Cauchy
from wengert.distributions.distribution import expand_parameters

__all__ = ["HalfCauchy"]


class HalfCauchy(Folded):
    """Distribution of the magnitude of Cauchy numbers of median 0. scale: a tensor or a number, > 0. The mean is infinite."""

    _unfolded = Cauchy
    expand = expand_parameters

    @property
    def mean(self) -> Any:
        return F.full_like(self.scale, math.inf)

    @property
    def variance(self) -> Any:
        return self.base_dist.variance
