"""Chi2."""

from __future__ import annotations

from typing import Any

from wengert.distributions import constraints
from wengert.distributions.distribution import expand_parameters
from wengert.distributions.gamma import Gamma

__all__ = ["Chi2"]


class Chi2(Gamma):
    """Distribution of the sum of df squares of standard normal numbers. df: a tensor or a number, > 0."""

    arg_constraints = {"df": constraints.positive}
    expand = expand_parameters

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    @property
    def df(self) -> Any:
        """Degrees of freedom."""
        return self.concentration * 2
