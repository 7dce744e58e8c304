"""An Ising model in the mean field: magnetizations are a fixed point, and observed ones tell of the couplings."""

import numpy as np

from wengert.scipy.optimize import root

START = np.array([0.25, 0.1, -0.2])  # coupling of neighbours, of next neighbours, and the field


def program(parameters):
    """Mean square of the magnetizations' distance from the observed ones."""
    n = 8
    chain, next_chain = np.eye(n, k=1) + np.eye(n, k=-1), np.eye(n, k=2) + np.eye(n, k=-2)
    J = parameters[0] * chain + parameters[1] * next_chain
    field = parameters[2] + 0.3 * np.sin(np.arange(n))
    m = root(lambda m: m - np.tanh(J @ m + field), np.full(n, 0.3), tol=1e-13).x
    return np.mean((m - 0.2 * np.cos(np.arange(n))) ** 2)
