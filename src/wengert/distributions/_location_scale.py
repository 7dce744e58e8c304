"""Distributions that are moved by loc and stretched by scale, and whose mode is loc."""

from __future__ import annotations

from typing import Any

from wengert.distributions import constraints
from wengert.distributions.distribution import Distribution
from wengert.distributions.utils import broadcast_all


class LocationScale(Distribution):
    """Base class. loc, scale: tensors that broadcast, or numbers; scale > 0. A subclass has the method `expand`, which names it."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _expanded = ("loc", "scale")

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc
