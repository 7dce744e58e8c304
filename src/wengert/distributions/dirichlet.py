"""Dirichlet."""

from __future__ import annotations

from typing import Any

from wengert.distributions import _functions as F, constraints
from wengert.distributions.distribution import expand_parameters
from wengert.distributions.exp_family import ExponentialFamily
from wengert.nn.functional import one_hot

__all__ = ["Dirichlet"]


class Dirichlet(ExponentialFamily):
    """Distribution on the simplex, whose density is proportional to the product of x ** (concentration - 1).

    concentration: a tensor of shape (..., n), > 0. Samples of rsample are differentiated with quantiles held fixed."""

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True
    _expanded = ("concentration",)
    expand = expand_parameters

    def __init__(self, concentration: Any, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        shape = concentration.shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Any:
        above = (self.concentration - 1).clamp(min=0.0)
        found = above / above.sum(-1, True)
        # If all concentrations are below 1, the density is largest at corners: the one of the largest concentration.
        at_corner = (self.concentration < 1).all(-1, keepdim=True)
        corner = one_hot(self.concentration.argmax(-1), self.concentration.shape[-1]).to(found)
        return F.where(at_corner, corner, found)

    @property
    def variance(self) -> Any:
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.square() * (total + 1))

    def rsample(self, sample_shape: Any = ()) -> Any:
        return F._sample_dirichlet(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        a = self.concentration
        return F.xlogy(a - 1.0, value).sum(-1) + F.lgamma(a.sum(-1)) - F.lgamma(a).sum(-1)

    def entropy(self) -> Any:
        a = self.concentration
        total = a.sum(-1)
        surplus = (total - a.shape[-1]) * F.digamma(total) - ((a - 1.0) * F.digamma(a)).sum(-1)
        return F.lgamma(a).sum(-1) - F.lgamma(total) + surplus

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (self.concentration,)

    def _log_normalizer(self, x: Any) -> Any:
        return F.lgamma(x).sum(-1) - F.lgamma(x.sum(-1))
