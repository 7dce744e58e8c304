"""An orbit: the mass of the sun, and the place and the speed of a planet, that bring it to another place."""

import numpy as np

from wengert.scipy.integrate import odeint

START = np.array([1.1, 1.0, 0.0, 0.0, 0.9])  # the mass; the place and the speed of the planet


def program(parameters):
    """Square of the distance from the place at time 4."""
    mass = parameters[0]

    def slope(state, t):
        x, y, u, v = state
        r3 = (x * x + y * y) ** 1.5
        return [u, v, -mass * x / r3, -mass * y / r3]

    path = odeint(slope, parameters[1:], np.linspace(0.0, 4.0, 9), rtol=1e-9, atol=1e-9)
    return (path[-1, 0] + 0.5) ** 2 + (path[-1, 1] + 0.8) ** 2
