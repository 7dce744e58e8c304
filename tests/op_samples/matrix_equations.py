"""Samples and oracles of wengert.ops.matrix_equations: SciPy's functions."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from op_samples import Data, Sample
from op_samples.linalg import Regular


class Bands(Data):
    """Bands of a matrix whose main diagonal is large."""

    def __init__(self, main, *shape):
        super().__init__(*shape, distinct=True)
        self.main = main

    def make(self, rng, dtype):
        found = np.array(super().make(rng, dtype))
        found[self.main] += 8
        return found


_A = np.array([[0.2, 0.5], [-0.3, 0.1]])
_Q = np.array([[2.0, 0.3], [0.3, 1.0]])
_CARE = scipy.linalg.solve_continuous_are(_A, np.eye(2), _Q, np.eye(2))
_DARE = scipy.linalg.solve_discrete_are(_A, np.eye(2), _Q, np.eye(2))
_REAL = {"complex": False}

SAMPLES = {
    "_sylvester": [Sample(Regular(3, 3), Regular(2, 2), (3, 2)), Sample(Regular(2, 3, 3), Regular(2, 2), (2, 3, 2))],
    "_stein": [Sample(Data(3, 3, low=-0.3, high=0.3), (3, 3))],
    # The solution is given, so finite differences do not apply: tests/scipy/test_linalg.py checks the derivatives.
    "_care": [Sample(_A, np.eye(2), _Q, _CARE, **_REAL)],
    "_dare": [Sample(_A, np.eye(2), _Q, np.eye(2), _DARE, **_REAL)],
    "_sqrtm": [Sample(Regular(3, 3)), Sample(Regular(2, 3, 3))],
    "_solve_banded": [
        Sample(Bands(1, 3, 5), (5, 2), lower=1, upper=1),
        Sample(Bands(2, 3, 5), (5, 1), lower=0, upper=2),
        Sample(Bands(0, 2, 5), (5, 2), lower=1, upper=0),
    ],
}
ORACLES = {
    "_sylvester": scipy.linalg.solve_sylvester,
    "_stein": scipy.linalg.solve_discrete_lyapunov,
    "_care": lambda A, G, Q, X: scipy.linalg.solve_continuous_are(A, G, Q, np.eye(2)),
    "_dare": lambda A, B, Q, R, X: scipy.linalg.solve_discrete_are(A, B, Q, R),
    "_sqrtm": scipy.linalg.sqrtm,
    "_solve_banded": lambda ab, b, lower, upper: scipy.linalg.solve_banded((lower, upper), ab, b),
}
