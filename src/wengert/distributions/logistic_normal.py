"""LogisticNormal."""

from __future__ import annotations

from typing import Any

from wengert.distributions import constraints
from wengert.distributions.distribution import expand_parameters
from wengert.distributions.independent import Independent
from wengert.distributions.normal import Normal
from wengert.distributions.transformed_distribution import TransformedDistribution
from wengert.distributions.transforms import StickBreakingTransform

__all__ = ["LogisticNormal"]


class LogisticNormal(TransformedDistribution):
    """Distribution on the simplex of n + 1 elements: n normal numbers after StickBreakingTransform.

    loc, scale: tensors that broadcast to (..., n), the means and standard deviations of the normal numbers."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True
    expand = expand_parameters
    base_dist: Independent[Normal]

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Any:
        """Means of the normal numbers."""
        return self.base_dist.base_dist.loc

    @property
    def scale(self) -> Any:
        """Standard deviations of the normal numbers."""
        return self.base_dist.base_dist.scale
