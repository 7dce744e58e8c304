"""VonMises."""

from __future__ import annotations

import math
from typing import Any

from wengert import special
from wengert.autograd.grad_mode import no_grad
from wengert.distributions import _functions as F, constraints
from wengert.distributions.distribution import Distribution, expand_parameters
from wengert.distributions.utils import broadcast_all, lazy_property
from wengert.sizes import Size

__all__ = ["VonMises"]


class VonMises(Distribution):
    """Von Mises distribution of angles in [-pi, pi). loc: the mean, any angle. concentration > 0: tensors or numbers."""

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False
    _expanded = ("loc", "concentration")
    expand = expand_parameters

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """Direction of the mean."""
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @lazy_property
    def variance(self) -> Any:
        """Circular variance: 1 minus the length of the mean direction."""
        return 1 - special.i1e(self.concentration) / special.i0e(self.concentration)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        k = self.concentration
        # log(I0(k)) is log(i0e(k)) + k, which does not overflow.
        return k * ((value - self.loc).cos() - 1) - math.log(2 * math.pi) - special.i0e(k).log()

    def sample(self, sample_shape: Any = Size()) -> Any:
        """Draw angles by rejection from a wrapped Cauchy distribution, computed in float64.

        D. J. Best and N. I. Fisher, Efficient simulation of the von Mises distribution, 1979."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            k = self.concentration.double()
            tau = 1 + (1 + 4 * k.square()).sqrt()
            rho = (tau - (2 * tau).sqrt()) / (2 * k)
            # The quotient cancels for small k; its series does not.
            r = F.where(k < 1e-5, 1 / k + k, (1 + rho.square()) / (2 * rho))
            found, is_done = k.new_zeros(shape), k.new_zeros(shape, dtype=bool)
            while not is_done.all():
                u1, u2, u3 = F.rand((3, *shape), dtype=k.dtype, device=k.device).unbind()
                z = (math.pi * u1).cos()
                f = (1 + r * z) / (r + z)
                c = k * (r - f)
                accepted = (c * (2 - c) - u2 > 0) | ((c / u2).log() + 1 - c >= 0)
                found = F.where(accepted, (u3 - 0.5).sign() * f.acos(), found)
                is_done = is_done | accepted
            return ((found + math.pi + self.loc.double()) % (2 * math.pi) - math.pi).to(self.loc.dtype)
