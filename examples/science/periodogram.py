"""A fit to a periodogram: the Whittle likelihood of an autoregression of order two."""

import numpy as np

from wengert.scipy import signal

START = np.array([1.2, -0.6, 0.5])  # the two coefficients, and the logarithm of the noise's variance


def program(parameters):
    """Minus the logarithm of Whittle's likelihood."""
    noise = np.random.default_rng(2).normal(size=256)
    series = signal.lfilter([1.0], [1.0, -1.0, 0.5], noise)
    frequency, power = signal.periodogram(series)
    frequency, power = frequency[1:-1], power[1:-1]
    turn = np.exp(-2j * np.pi * frequency)
    response = np.abs(1 - parameters[0] * turn - parameters[1] * turn**2) ** 2
    spectrum = 2 * np.exp(parameters[2]) / response
    return np.sum(np.log(spectrum) + power / spectrum)
