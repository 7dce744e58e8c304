"""A smooth curve through noisy data: a cubic spline with free heights, and a price for its curvature."""

import numpy as np

from wengert.scipy.interpolate import CubicSpline

START = np.array([0.0, 0.8, 0.9, 0.1, -0.7, -0.9])


def program(heights):
    """Sum of squares of the data's distances, and the integral of the squared second derivative."""
    x = np.linspace(0, 6, 60)
    y = np.sin(x) + 0.1 * np.random.default_rng(4).normal(size=60)
    curve = CubicSpline(np.linspace(0, 6, 6), heights, bc_type="natural")
    bend = curve(np.linspace(0, 6, 241), 2) ** 2
    return np.sum((curve(x) - y) ** 2) + 0.05 * np.mean(bend)
