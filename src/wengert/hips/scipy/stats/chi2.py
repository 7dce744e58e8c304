"""The chi-squared distribution."""

from math import log

import numpy as np

from wengert.hips.doors import door
from wengert.hips.scipy import special
from wengert.hips.scipy._doors import formula

_exp = door(np.exp)


@formula("chi2")
def logpdf(x, df):
    """Logarithm of the density at x > 0. Derivatives in x and df."""
    return special.xlogy(0.5 * df - 1.0, x) - 0.5 * x - special.gammaln(0.5 * df) - 0.5 * log(2.0) * df


@formula("chi2")
def pdf(x, df):
    """Density at x > 0. Derivatives in x and df."""
    return _exp(logpdf(x, df))


@formula("chi2")
def cdf(x, df):
    """Probability of a value up to x. Derivatives in x, and in df as gammainc has it."""
    return special.gammainc(0.5 * df, 0.5 * x)
