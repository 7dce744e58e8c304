"""Registration of two images: the shift and the rotation that carry one into the other."""

import numpy as np

from wengert.scipy import ndimage

START = np.array([0.8, -0.5, 0.1])  # shift along both axes, and the angle


def image():
    y, x = np.mgrid[0:24, 0:24]
    return np.exp(-((x - 10) ** 2 + (y - 13) ** 2) / 20) + 0.7 * np.exp(-((x - 15) ** 2 + (y - 8) ** 2) / 12)


def program(motion):
    """Mean square of the difference of the moved image from the target."""
    target = ndimage.shift(image(), (1.0, -1.0))
    y, x = np.mgrid[0:24, 0:24] - 11.5
    c, s = np.cos(motion[2]), np.sin(motion[2])
    places = np.stack([c * y - s * x + 11.5 - motion[0], s * y + c * x + 11.5 - motion[1]])
    moved = ndimage.map_coordinates(image(), places, order=3, mode="nearest")
    return np.mean((moved - target) ** 2)
