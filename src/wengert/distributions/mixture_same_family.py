"""MixtureSameFamily."""

from __future__ import annotations

from typing import Any

from wengert.autograd.grad_mode import no_grad
from wengert.distributions import constraints
from wengert.distributions.categorical import Categorical
from wengert.distributions.distribution import Distribution, expand_parameters
from wengert.sizes import Size

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """Mixture: a Categorical chooses the component, an index of the last batch dimension of component_distribution.

    Raises ValueError for other distributions, and if the numbers of components or the batch shapes do not agree."""

    arg_constraints: dict[str, Any] = {}
    has_rsample = False
    _expanded = ("_mixture_distribution", "_component_distribution")
    _kept = ("_num_component", "_event_ndims")
    expand = expand_parameters

    def __init__(
        self, mixture_distribution: Any, component_distribution: Any, validate_args: bool | None = None
    ) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution needs to be an instance of torch.distributions.Distribution")
        mixture_shape, component_shape = mixture_distribution.batch_shape, component_distribution.batch_shape[:-1]
        for m, c in zip(reversed(mixture_shape), reversed(component_shape), strict=False):
            if m != 1 and c != 1 and m != c:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({mixture_shape}) is not compatible with "
                    f"`component_distribution.batch_shape`({component_shape})"
                )
        components, found = mixture_distribution.logits.shape[-1], component_distribution.batch_shape[-1]
        if components != found:
            raise ValueError(
                f"`mixture_distribution component` ({components}) does not equal `component_distribution.batch_shape[-1]` "
                f"({found})"
            )
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        self._num_component = components
        event_shape = component_distribution.event_shape
        self._event_ndims = len(event_shape)
        super().__init__(component_shape, event_shape, validate_args=validate_args)

    def _part_shape(self, name: str, batch_shape: Size) -> Size:
        return batch_shape if name == "_mixture_distribution" else Size((*batch_shape, self._num_component))

    @constraints.dependent_property
    def support(self) -> Any:
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Any:
        """Distribution of the component's index."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Any:
        """Distributions of the components."""
        return self._component_distribution

    def _weights(self) -> Any:
        """Probabilities of the components, which broadcast with their means."""
        probs = self._mixture_distribution.probs
        return probs.reshape(probs.shape + (1,) * self._event_ndims)

    def _mixed(self, values: Any) -> Any:
        """Return the weighted sum of values of the components."""
        return (self._weights() * values).sum(-1 - self._event_ndims)

    @property
    def mean(self) -> Any:
        return self._mixed(self._component_distribution.mean)

    @property
    def variance(self) -> Any:
        within = self._mixed(self._component_distribution.variance)
        deviations = self._component_distribution.mean - self._pad(self.mean)
        return within + self._mixed(deviations.square())

    def _pad(self, value: Any) -> Any:
        return value.unsqueeze(-1 - self._event_ndims)

    def cdf(self, value: Any) -> Any:
        found = self._component_distribution.cdf(self._pad(value))
        return (found * self._mixture_distribution.probs).sum(-1)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        found = self._component_distribution.log_prob(self._pad(value))
        return (found + self._mixture_distribution.logits.log_softmax(-1)).logsumexp(-1)

    def sample(self, sample_shape: Any = Size()) -> Any:
        with no_grad():
            sample_shape = Size(sample_shape)
            dim = len(sample_shape) + len(self._batch_shape)
            index = self._mixture_distribution.sample(sample_shape)
            values = self._component_distribution.sample(sample_shape)
            index = index.reshape(index.shape + (1,) * (self._event_ndims + 1))
            return values.gather(dim, index.expand(*index.shape[: dim + 1], *self._event_shape)).squeeze(dim)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self._mixture_distribution},\n  {self._component_distribution})"
