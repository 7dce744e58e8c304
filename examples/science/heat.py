"""The heat equation on a rod: how well two conductivities explain a temperature that was measured at the end of the time."""

import numpy as np

from wengert.scipy.integrate import solve_ivp

START = np.array([0.6, 1.4])  # conductivity of the left and of the right half


def program(conductivity):
    """Mean square of the temperature at time 0.1, against a target."""
    n = 10
    x = (np.arange(n) + 0.5) / n
    k = np.where(np.arange(n + 1) <= n // 2, conductivity[0], conductivity[1])

    def slope(t, u):
        inner = k[1:-1] * np.diff(u) * n
        flux = np.concatenate([k[:1] * (u[:1] - 0.0) * 2 * n, inner, k[-1:] * (0.0 - u[-1:]) * 2 * n])
        return np.diff(flux) * n

    found = solve_ivp(slope, (0.0, 0.1), np.sin(np.pi * x), method="Radau", rtol=1e-6, atol=1e-8)
    return np.mean((found.y[:, -1] - 0.3 * np.sin(np.pi * x)) ** 2)
