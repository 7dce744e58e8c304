"""Samples and oracles of wengert.ops.trigonometric_transforms: SciPy's functions."""

from __future__ import annotations

import scipy.fft

from op_samples import Sample

SAMPLES = {
    "_trigonometric_transform": [Sample((2, 4), sine=sine, type=type) for sine in (False, True) for type in (1, 2, 3, 4)],
    "_hankel_transform": [
        Sample((2, 6), dln=0.3, mu=0.5, offset=0.1, bias=bias, inverse=inverse, complex=False)
        for bias in (0.0, 0.2)
        for inverse in (False, True)
    ],
}
ORACLES = {
    "_trigonometric_transform": lambda x, sine, type: (scipy.fft.dst if sine else scipy.fft.dct)(x, type),
    "_hankel_transform": lambda x, dln, mu, offset, bias, inverse: (scipy.fft.ifht if inverse else scipy.fft.fht)(
        x, dln, mu, offset, bias
    ),
}
