"""Student's t distribution."""

import numpy as np

from wengert.hips.doors import door
from wengert.hips.scipy import special
from wengert.hips.scipy._doors import formula

_exp, _log, _log1p = door(np.exp), door(np.log), door(np.log1p)


@formula("t")
def logpdf(x, df, loc=0.0, scale=1.0):
    """Logarithm of the density. Derivatives in x, df, loc and scale."""
    z = (x - loc) / scale
    constant = special.gammaln(0.5 * (df + 1.0)) - special.gammaln(0.5 * df) - 0.5 * _log(np.pi * df) - _log(scale)
    return constant - 0.5 * (df + 1.0) * _log1p(z * z / df)


@formula("t")
def pdf(x, df, loc=0.0, scale=1.0):
    """Density. Derivatives in x, df, loc and scale."""
    return _exp(logpdf(x, df, loc, scale))


@formula("t")
def cdf(x, df, loc=0.0, scale=1.0):
    """Probability of a value up to x. Derivatives in x, loc and scale."""
    return special.stdtr(df, (x - loc) / scale)


@formula("t")
def logcdf(x, df, loc=0.0, scale=1.0):
    """Logarithm of cdf. Derivatives in x, loc and scale."""
    return _log(cdf(x, df, loc, scale))
