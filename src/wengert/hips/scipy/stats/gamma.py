"""The gamma distribution of scale 1."""

import numpy as np

from wengert.hips.doors import door
from wengert.hips.scipy import special
from wengert.hips.scipy._doors import formula

_exp = door(np.exp)


@formula("gamma")
def logpdf(x, a):
    """Logarithm of the density at x > 0. Derivatives in x and a."""
    return special.xlogy(a - 1.0, x) - x - special.gammaln(a)


@formula("gamma")
def pdf(x, a):
    """Density at x > 0. Derivatives in x and a."""
    return _exp(logpdf(x, a))


@formula("gamma")
def cdf(x, a):
    """Probability of a value up to x. Derivatives in x, and in a as gammainc has it."""
    return special.gammainc(a, x)
