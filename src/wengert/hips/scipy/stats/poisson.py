"""The Poisson distribution, whose density is that of counts."""

import numpy as np

from wengert.hips.boxes import value_of
from wengert.hips.doors import door
from wengert.hips.scipy import special
from wengert.hips.scipy._doors import formula

_exp = door(np.exp)


@formula("poisson")
def logpmf(k, mu):
    """Logarithm of the probability of k. Derivative in mu."""
    k = np.asarray(value_of(k), float)
    return special.xlogy(k, mu) - mu - special.gammaln(k + 1.0)


@formula("poisson")
def pmf(k, mu):
    """Probability of k. Derivative in mu."""
    return _exp(logpmf(k, mu))


@formula("poisson")
def cdf(k, mu):
    """Probability of a value up to k. Derivative in mu."""
    return special.gammaincc(np.floor(np.asarray(value_of(k), float)) + 1.0, mu)
