"""TransformedDistribution."""

from __future__ import annotations

from typing import Any

from wengert.autograd.grad_mode import no_grad
from wengert.distributions import constraints
from wengert.distributions.distribution import Distribution, expand_parameters
from wengert.distributions.independent import Independent
from wengert.distributions.transforms import ComposeTransform, Transform
from wengert.distributions.utils import _sum_rightmost
from wengert.sizes import Size

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """Distribution of transforms[-1](... transforms[0](x)), where x has the base distribution.

    transforms: a Transform, or a list of them. Raises ValueError for others, and if events need more dimensions than the base
    has. The log-probability of y is that of x minus the transforms' log |det dy/dx|.

    >>> import wengert
    >>> d = wengert.distributions
    >>> d.TransformedDistribution(d.Normal(0.0, 1.0), [d.ExpTransform()]).log_prob(wengert.tensor(1.0))
    tensor(-0.9189)
    """

    arg_constraints: dict[str, Any] = {}
    _expanded: tuple[str, ...] = ("base_dist",)
    _kept = ("transforms",)
    expand = expand_parameters

    def __init__(self, base_distribution: Any, transforms: Any, validate_args: bool | None = None) -> None:
        if isinstance(transforms, Transform):
            self.transforms = [transforms]
        elif not isinstance(transforms, list):
            raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
        elif not all(isinstance(t, Transform) for t in transforms):
            raise ValueError("transforms must be a Transform or a list of Transforms")
        else:
            self.transforms = transforms
        transform = ComposeTransform(self.transforms)
        base_shape = base_distribution.batch_shape + base_distribution.event_shape
        base_event_dim, domain_dim = len(base_distribution.event_shape), transform.domain.event_dim
        if len(base_shape) < domain_dim:
            raise ValueError(
                f"base_distribution needs to have shape with size at least {domain_dim}, but got {base_shape}."
            )
        shape = Size(transform.forward_shape(base_shape))
        expanded = Size(transform.inverse_shape(shape))
        if expanded != base_shape:
            base_distribution = base_distribution.expand(expanded[: len(expanded) - base_event_dim])
        if domain_dim > base_event_dim:
            base_distribution = Independent(base_distribution, domain_dim - base_event_dim)
        self.base_dist = base_distribution
        codomain_dim = transform.codomain.event_dim
        cut = len(shape) - max(codomain_dim, base_event_dim + codomain_dim - domain_dim)
        super().__init__(shape[:cut], shape[cut:], validate_args=validate_args)

    def _part_shape(self, name: str, batch_shape: Size) -> Size:
        shape = Size(ComposeTransform(self.transforms).inverse_shape(batch_shape + self._event_shape))
        return shape[: len(shape) - len(self.base_dist.event_shape)]

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        missing = len(self._event_shape) - support.event_dim
        return constraints.independent(support, missing) if missing > 0 else support

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """Whether the base distribution has."""
        return self.base_dist.has_rsample

    def sample(self, sample_shape: Any = Size()) -> Any:
        with no_grad():
            return self._forward(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Any = Size()) -> Any:
        return self._forward(self.base_dist.rsample(sample_shape))

    def _forward(self, x: Any) -> Any:
        for transform in self.transforms:
            x = transform(x)
        return x

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        event_dim, found = len(self._event_shape), 0.0
        for transform in reversed(self.transforms):
            x = transform.inv(value)
            event_dim += transform.domain.event_dim - transform.codomain.event_dim
            jacobian = transform.log_abs_det_jacobian(x, value)
            found = found - _sum_rightmost(jacobian, event_dim - transform.domain.event_dim)
            value = x
        return found + _sum_rightmost(self.base_dist.log_prob(value), event_dim - len(self.base_dist.event_shape))

    def _reflect(self, probability: Any) -> Any:
        """Return 1 - probability where the transforms decrease, because cdf then counts numbers above value."""
        sign: Any = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        return probability if isinstance(sign, int) and sign == 1 else sign * (probability - 0.5) + 0.5

    def cdf(self, value: Any) -> Any:
        """Return the probability of numbers up to value. Raises NotImplementedError unless the transforms are monotone."""
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._reflect(self.base_dist.cdf(value))

    def icdf(self, value: Any) -> Any:
        """Return the quantiles of probabilities. Raises NotImplementedError unless the transforms are monotone."""
        return self._forward(self.base_dist.icdf(self._reflect(value)))
