"""The Dirichlet distribution."""

import numpy as np

from wengert.hips.doors import door
from wengert.hips.scipy import special
from wengert.hips.scipy._doors import formula

_exp, _sum = door(np.exp), door(np.sum)


@formula("dirichlet")
def rvs(alpha, size=1, random_state=None):
    """Random vectors. Raises NotImplementedError if alpha is differentiated."""
    raise NotImplementedError("VJP of rvs wrt argnums (0,) not defined")



@formula("dirichlet")
def logpdf(x, alpha):
    """Logarithm of the density at x: (n,), positive numbers whose sum is 1. alpha: (n,). Derivatives in x and alpha."""
    return _sum(special.xlogy(alpha - 1.0, x)) + special.gammaln(_sum(alpha)) - _sum(special.gammaln(alpha))


@formula("dirichlet")
def pdf(x, alpha):
    """Density at x. Derivatives in x and alpha."""
    return _exp(logpdf(x, alpha))
