"""Independent."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from wengert.distributions import constraints
from wengert.distributions.distribution import Distribution, expand_parameters
from wengert.distributions.utils import _sum_rightmost
from wengert.sizes import Size

__all__ = ["Independent"]


_D = TypeVar("_D", bound=Distribution)


class Independent(Distribution, Generic[_D]):
    """A distribution whose last reinterpreted_batch_ndims batch dimensions are dimensions of events.

    Raises ValueError if the base distribution has fewer batch dimensions.

    >>> import wengert
    >>> d = wengert.distributions
    >>> d.Independent(d.Normal(wengert.zeros(3), 1.0), 1).log_prob(wengert.zeros(3))
    tensor(-2.7568)
    """

    arg_constraints: dict[str, Any] = {}
    _expanded = ("base_dist",)
    _kept = ("reinterpreted_batch_ndims",)
    expand = expand_parameters

    def __init__(self, base_distribution: _D, reinterpreted_batch_ndims: int, validate_args: bool | None = None) -> None:
        batch_shape = base_distribution.batch_shape
        if reinterpreted_batch_ndims > len(batch_shape):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), "
                f"actual {reinterpreted_batch_ndims} vs {len(batch_shape)}"
            )
        cut = len(batch_shape) - reinterpreted_batch_ndims
        event_shape = batch_shape[cut:] + base_distribution.event_shape
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        super().__init__(batch_shape[:cut], event_shape, validate_args=validate_args)

    def _part_shape(self, name: str, batch_shape: Size) -> Size:
        return batch_shape + self._event_shape[: self.reinterpreted_batch_ndims]

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """Whether the base distribution has."""
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]
        """Whether the base distribution has, and no dimension is reinterpreted."""
        return self.reinterpreted_batch_ndims == 0 and self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self) -> Any:
        base = self.base_dist.support
        return constraints.independent(base, self.reinterpreted_batch_ndims) if self.reinterpreted_batch_ndims else base

    @property
    def mean(self) -> Any:
        return self.base_dist.mean

    @property
    def mode(self) -> Any:
        return self.base_dist.mode

    @property
    def variance(self) -> Any:
        return self.base_dist.variance

    def sample(self, sample_shape: Any = Size()) -> Any:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = Size()) -> Any:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Any) -> Any:
        return _sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Any:
        return _sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Any:
        """As the base distribution. Raises NotImplementedError if a dimension is reinterpreted."""
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand=expand)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"
