"""LogitRelaxedBernoulli and RelaxedBernoulli."""

from __future__ import annotations

from typing import Any

from wengert.distributions import _functions as F, constraints
from wengert.distributions.distribution import Distribution, expand_parameters
from wengert.distributions.transformed_distribution import TransformedDistribution
from wengert.distributions.transforms import SigmoidTransform
from wengert.distributions.utils import binary_probs, broadcast_all, clamp_probs, given_of, require_one_of
from wengert.nn.functional import softplus
from wengert.sizes import Size

__all__ = ["LogitRelaxedBernoulli", "RelaxedBernoulli"]


class LogitRelaxedBernoulli(Distribution):
    """Logit of a RelaxedBernoulli number. temperature: a tensor, > 0. probs, logits: as in Bernoulli.

    C. Maddison, A. Mnih and Y. W. Teh, The concrete distribution, 2017."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real
    has_rsample = True
    _expanded = ("probs", "logits")
    _kept = ("temperature",)
    expand = expand_parameters
    probs, logits = binary_probs()

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self.temperature = temperature
        require_one_of(probs, logits)
        if probs is not None:
            (self.probs,) = broadcast_all(probs)
        else:
            (self.logits,) = broadcast_all(logits)
        super().__init__(self.param_shape, validate_args=validate_args)

    @property
    def param_shape(self) -> Size:
        """Shape of the parameter."""
        return given_of(self).shape

    def rsample(self, sample_shape: Any = Size()) -> Any:
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(F.rand(shape, dtype=probs.dtype, device=probs.device))
        return (u.log() - (-u).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        difference = logits - value * self.temperature
        return self.temperature.log() + difference - 2 * softplus(difference)


class RelaxedBernoulli(TransformedDistribution):
    """A differentiable distribution on (0, 1) that approaches Bernoulli as temperature falls. Parameters: LogitRelaxedBernoulli."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    expand = expand_parameters
    base_dist: LogitRelaxedBernoulli

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(LogitRelaxedBernoulli(temperature, probs, logits), SigmoidTransform(), validate_args=validate_args)

    @property
    def temperature(self) -> Any:
        """Temperature of the relaxation."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Any:
        """Logits of the Bernoulli distribution."""
        return self.base_dist.logits

    @property
    def probs(self) -> Any:
        """Probabilities of the Bernoulli distribution."""
        return self.base_dist.probs
