"""An inverse problem of a partial differential equation: the conductivity of a plate from its temperature.

-div(exp(c) grad u) = 1 on a square with cold borders, by finite volumes and a sparse solve. c is given at 3 x 3 places.
"""

import numpy as np

from wengert.scipy import sparse
from wengert.scipy.sparse.linalg import spsolve

START = np.linspace(-0.4, 0.4, 9)
N = 9


def temperature(c):
    k = np.exp(np.kron(c.reshape(3, 3), np.ones((3, 3))))
    number = np.arange(N * N).reshape(N, N)
    pairs = [(number[:, :-1], number[:, 1:]), (number[:-1], number[1:])]
    i, j = [np.concatenate([pair[side].ravel() for pair in pairs]) for side in (0, 1)]
    flat = k.reshape(-1)
    face = 2 * flat[i] * flat[j] / (flat[i] + flat[j])
    border = np.bincount(np.concatenate([number[0], number[-1], number[:, 0], number[:, -1]]), minlength=N * N)
    places = np.concatenate([i, j, i, j, number.ravel()]), np.concatenate([j, i, i, j, number.ravel()])
    A = sparse.csc_array((np.concatenate([-face, -face, face, face, 2 * flat * border]), places), shape=(N * N, N * N))
    return spsolve(A, np.full(N * N, 1.0 / N**2))


def program(c):
    """Mean square of the distance from the temperature of a plate with conductivity 1."""
    return 1e4 * np.mean((temperature(c) - temperature(np.zeros(9))) ** 2)
