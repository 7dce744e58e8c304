"""Regression by a Gaussian process: the marginal likelihood of the length, the amplitude and the noise."""

import numpy as np

from wengert.scipy import linalg
from wengert.scipy.spatial.distance import cdist

START = np.array([0.4, 1.2, 0.2])


def program(parameters):
    """Minus the logarithm of the marginal likelihood."""
    rng = np.random.default_rng(1)
    x = np.sort(rng.uniform(0, 3, size=25))[:, None]
    y = np.sin(3 * x[:, 0]) + 0.1 * rng.normal(size=25)
    scale, amplitude, noise = parameters[0], parameters[1], parameters[2]
    K = amplitude**2 * np.exp(-0.5 * cdist(x, x, "sqeuclidean") / scale**2) + noise**2 * np.eye(25)
    L = linalg.cholesky(K, lower=True)
    z = linalg.solve_triangular(L, y, lower=True)
    return 0.5 * (z @ z) + np.sum(np.log(np.diag(L))) + 0.5 * 25 * np.log(2 * np.pi)
