"""The normal distribution."""

from math import log, pi

import numpy as np

from wengert.hips.doors import door
from wengert.hips.scipy import special
from wengert.hips.scipy._doors import formula

_HALF_LOG_2PI = 0.5 * log(2 * pi)
_exp, _log = door(np.exp), door(np.log)


@formula("norm")
def logpdf(x, loc=0.0, scale=1.0):
    """Logarithm of the density. Derivatives in x, loc and scale."""
    z = (x - loc) / scale
    return -0.5 * z * z - (_log(scale) + _HALF_LOG_2PI)


@formula("norm")
def pdf(x, loc=0.0, scale=1.0):
    """Density. Derivatives in x, loc and scale."""
    return _exp(logpdf(x, loc, scale))


@formula("norm")
def cdf(x, loc=0.0, scale=1.0):
    """Probability of a value up to x. Derivatives in x, loc and scale."""
    return special.ndtr((x - loc) / scale)


@formula("norm")
def logcdf(x, loc=0.0, scale=1.0):
    """Logarithm of cdf. Derivatives in x, loc and scale."""
    return special.log_ndtr((x - loc) / scale)


@formula("norm")
def sf(x, loc=0.0, scale=1.0):
    """Probability of a value above x. Derivatives in x, loc and scale."""
    return special.ndtr((loc - x) / scale)


@formula("norm")
def logsf(x, loc=0.0, scale=1.0):
    """Logarithm of sf. Derivatives in x, loc and scale."""
    return special.log_ndtr((loc - x) / scale)
