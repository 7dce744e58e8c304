"""The beta distribution."""

import numpy as np

from wengert.hips.doors import door
from wengert.hips.scipy import special
from wengert.hips.scipy._doors import formula

_exp = door(np.exp)


@formula("beta")
def logpdf(x, a, b):
    """Logarithm of the density at x in (0, 1). Derivatives in x, a and b."""
    return special.xlogy(a - 1.0, x) + special.xlog1py(b - 1.0, -x) - special.betaln(a, b)


@formula("beta")
def pdf(x, a, b):
    """Density at x in (0, 1). Derivatives in x, a and b."""
    return _exp(logpdf(x, a, b))


@formula("beta")
def cdf(x, a, b):
    """Probability of a value up to x. Derivatives in x, and in a and b as betainc has them."""
    return special.betainc(a, b, x)
