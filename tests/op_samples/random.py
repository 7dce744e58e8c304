"""Samples of wengert.ops.random and wengert.ops.samples: draws have no gradient, and no oracle but their distribution
(tests/explicit/test_random.py)."""

from __future__ import annotations

import numpy as np

from op_samples import Data, Sample

_P = Data(2, 3, low=0.1, high=0.9, grad=False)  # the gradient of a sample is that of its reward: tests/eras

SAMPLES = {
    "rand": [Sample(2, 3), Sample(size=(2, 3))],
    "randn": [Sample(2, 3), Sample(size=(2, 3))],
    "randint": [Sample(5, size=(2, 3)), Sample(2, 5, size=(3,))],
    "randperm": [Sample(5)],
    "rand_like": [Sample(Data(2, 3, grad=False))],
    "randn_like": [Sample(Data(2, 3, grad=False))],
    "randint_like": [Sample(Data(2, 3, grad=False), 5)],
    "bernoulli": [Sample(_P, complex=False), Sample(Data(2, 3, grad=False), 0.5, complex=False)],
    "multinomial": [
        Sample(_P, 2, complex=False),
        Sample(Data(4, low=0.1, high=1.0, grad=False), 6, replacement=True, complex=False),
    ],
    "normal": [Sample(_P, 1.0, complex=False), Sample(Data(2, 3, grad=False), _P, complex=False), Sample(0.0, _P, complex=False)],
    "poisson": [Sample(Data(2, 3, low=0.1, high=0.9), complex=False)],
    "binomial": [Sample(np.array([3.0, 4.0]), np.array([0.5, 0.5]), complex=False)],
}

ORACLES: dict = {}
