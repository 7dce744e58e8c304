"""Maximum likelihood of five families of distributions, one sample each."""

import numpy as np

from wengert.scipy import stats

START = np.array([0.2, 1.3, 2.5, 0.9, 1.8, 2.2, 3.0, 2.0, 5.0, 1.1])


def program(p):
    """Minus the sum of the logarithms of the likelihoods."""
    rng = np.random.default_rng(3)
    return -(
        np.sum(stats.norm.logpdf(rng.normal(0.5, 1.0, 50), p[0], p[1]))
        + np.sum(stats.gamma.logpdf(rng.gamma(2.0, 1.0, 50), p[2], scale=p[3]))
        + np.sum(stats.weibull_min.logpdf(rng.weibull(1.5, 50), p[4], scale=p[5]))
        + np.sum(stats.beta.logpdf(rng.beta(2.0, 3.0, 50), p[6], p[7]))
        + np.sum(stats.t.logpdf(rng.standard_t(4.0, 50), p[8], scale=p[9]))
    )
