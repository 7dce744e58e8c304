"""ExponentialFamily: distributions whose density is exp(<t(x), theta> - F(theta) + k(x))."""

from __future__ import annotations

from typing import Any

from wengert.autograd import grad
from wengert.distributions.distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """Base of the exponential families. Subclasses give the natural parameters theta, the log normalizer F and the mean of k.

    The entropy follows from them (F. Nielsen and R. Nock, Entropies and cross-entropies of exponential families, 2010)."""

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        """The natural parameters theta, tensors."""
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Any) -> Any:
        """Return F(theta)."""
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> Any:
        """Mean of k."""
        raise NotImplementedError

    def entropy(self) -> Any:
        """Return F(theta) - <theta, grad F(theta)> minus the mean of k, of shape batch_shape."""
        mean_carrier = self._mean_carrier_measure
        theta = [p.detach().requires_grad_() for p in self._natural_params]
        normalizer = self._log_normalizer(*theta)
        gradients = grad(normalizer.sum(), theta, create_graph=True)
        result = normalizer - mean_carrier
        for p, g in zip(theta, gradients, strict=True):
            result = result - (p * g).reshape(*self._batch_shape, -1).sum(-1)
        return result
