"""The kernels of grid_sample, against loops over the points."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import wengert
from loops import each
from wengert.kernels import native, windows

pytestmark = pytest.mark.skipif(native is None, reason="no kernels are compiled here")
RNG = np.random.default_rng(0)
LINEAR, NEAREST, CUBIC = 0, 1, 2
ZEROS, BORDER, REFLECTION = 0, 1, 2


def reflected(place, low, high):
    if high <= low:
        return 0.0
    while not low <= place <= high:
        place = 2 * low - place if place < low else 2 * high - place
    return place


def brought_inside(place, n, padding, align):
    if padding == REFLECTION:
        place = reflected(place, *((0.0, n - 1.0) if align else (-0.5, n - 0.5)))
    return place if padding == ZEROS else min(max(place, 0.0), n - 1.0)


def cubic(t):
    """The cubic convolution kernel, Keys (1981), with the parameter -3/4."""
    t = abs(t)
    if t <= 1:
        return 1.25 * t**3 - 2.25 * t**2 + 1
    return -0.75 * (t**3 - 5 * t**2 + 8 * t - 4) if t < 2 else 0.0


def taps(point, n, options):
    """[(index, weight)] of the elements along a dimension that count for a coordinate."""
    mode, padding, align = options
    place = (point + 1) * (n - 1) / 2 if align else (point + 1) * n / 2 - 0.5
    if mode != CUBIC:
        place = brought_inside(place, n, padding, align)
    if mode == NEAREST:
        found = [(round(place), 1.0)]
    elif mode == LINEAR:
        low = int(np.floor(place))
        found = [(low, 1 - (place - low)), (low + 1, place - low)]
    else:
        low = int(np.floor(place))
        found = [(round(brought_inside(low + k, n, padding, align)), cubic(place - low - k)) for k in (-1, 0, 1, 2)]
    return [(index, weight) for index, weight in found if 0 <= index < n and weight != 0]


def weights_by_loops(grid, size, options):
    """Weight of each element of an image for each point. Shape: (n, points, *size)."""
    rows = grid.reshape(len(grid), -1, len(size))
    found = np.zeros((*rows.shape[:2], *size))
    for n, p in np.ndindex(*rows.shape[:2]):
        for corner in product(*[taps(float(x), m, options) for x, m in zip(rows[n, p, ::-1], size, strict=True)]):
            found[(n, p, *[index for index, _ in corner])] += np.prod([weight for _, weight in corner])
    return found


CASES = [(o, s) for o in product((LINEAR, NEAREST), (ZEROS, BORDER, REFLECTION), (False, True)) for s in ((5, 7), (3, 4, 5))]
CASES += [(o, (6, 5)) for o in product((CUBIC,), (ZEROS, BORDER, REFLECTION), (False, True))]
CASES += [((mode, REFLECTION, True), (1, 4)) for mode in (LINEAR, CUBIC)]


@each("dtype", ["float32", "float64"])
@each(("options", "size"), CASES)
def test_images_at_points(options, size, dtype):
    dims = len(size)
    x = RNG.normal(size=(2, 3, *size)).astype(dtype)
    grid = RNG.uniform(-2.5, 2.5, size=(2, *(11, 7, 2)[:dims], dims)).astype(dtype)  # more points than a block
    weights = weights_by_loops(grid, size, options).reshape(2, -1, x[0, 0].size)
    expected = np.einsum("npe,nce->ncp", weights, x.reshape(2, 3, -1).astype(np.float64)).reshape(2, 3, *grid.shape[1:-1])
    tolerance = {"rtol": 1e-4, "atol": 1e-4} if dtype == "float32" else {"rtol": 1e-11, "atol": 1e-11}
    out = windows.sample_grid(x, grid, options)
    assert out.dtype == dtype
    np.testing.assert_allclose(out, expected, **tolerance)
    ct = RNG.normal(size=out.shape).astype(dtype)
    expected = np.einsum("npe,ncp->nce", weights, ct.reshape(2, 3, -1).astype(np.float64)).reshape(x.shape)
    np.testing.assert_allclose(windows.sample_grid_adjoint(ct, grid, x.shape, options), expected, **tolerance)


@pytest.mark.parametrize(("options", "size"), [(o, s) for o, s in CASES if o[0] != NEAREST])
def test_cotangents_of_points(options, size):
    x, grid = RNG.normal(size=(2, 3, *size)), RNG.uniform(-1.9, 1.9, size=(2, *(9, 2, 1)[: len(size)], len(size)))
    ct, step = RNG.normal(size=(2, 3, *grid.shape[1:-1])), 1e-6
    found = windows.sample_grid_moved(ct, x, grid, options)
    for d in range(len(size)):
        moved = np.zeros(len(size))
        moved[d] = step
        ahead, behind = (windows.sample_grid(x, grid + s * moved, options) for s in (1, -1))
        expected = (ct * (ahead - behind)).sum(axis=1) / (2 * step)
        np.testing.assert_allclose(found[..., d], expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("mode", [LINEAR, NEAREST, CUBIC])
def test_points_that_are_no_numbers_lie_outside(mode):
    x = np.arange(1.0, 21).reshape(1, 1, 4, 5)
    grid = np.zeros((1, 1, 4, 2))
    grid[0, 0, :, 0] = np.nan, np.inf, -np.inf, 1e300
    np.testing.assert_array_equal(windows.sample_grid(x, grid, (mode, ZEROS, True)), np.zeros((1, 1, 1, 4)))
    np.testing.assert_array_equal(windows.sample_grid_adjoint(grid[..., 1][:, None], grid, x.shape, (mode, ZEROS, True)), 0 * x)
    for padding in (BORDER, REFLECTION):
        assert np.isfinite(windows.sample_grid(x, grid, (mode, padding, True))).all()


def test_elements_of_weight_0_may_be_infinite():
    x = np.array([[[[1.0, np.inf], [np.nan, 2.0]]]])
    grid = np.array([[[[-1.0, -1.0], [1.0, 1.0], [1.0, -1.0], [5.0, 5.0], [0.0, -1.0]]]])
    out = windows.sample_grid(x, grid, (LINEAR, ZEROS, True))
    np.testing.assert_array_equal(out[0, 0, 0], [1, 2, np.inf, 0, np.inf])


def test_kernel_declines_other_dtypes_shapes_and_values():
    x, grid, options = np.zeros((2, 3, 4, 5)), np.zeros((2, 6, 7, 2)), (LINEAR, ZEROS, True)
    assert windows.sample_grid(x, grid, options).shape == (2, 3, 6, 7)
    for other in (x.astype(np.float32), x.astype(np.float16), x[:1], x[:0], x[0], x[..., None]):
        assert windows.sample_grid(other, grid, options) is None
    assert windows.sample_grid(np.zeros((2, 1, 2, 2, 2)), np.zeros((2, 1, 1, 1, 3)), (CUBIC, ZEROS, True)) is None
    assert windows.sample_grid_adjoint(np.zeros((2, 3, 6, 6)), grid, x.shape, options) is None
    assert windows.sample_grid_moved(np.zeros((2, 2, 6, 7)), x, grid, options) is None


def test_results_are_the_same_for_any_number_of_threads():
    x, grid = RNG.normal(size=(2, 5, 40, 40)).astype(np.float32), RNG.uniform(-1.2, 1.2, size=(2, 90, 90, 2)).astype(np.float32)
    ct, options = RNG.normal(size=(2, 5, 90, 90)).astype(np.float32), (LINEAR, ZEROS, False)
    before, found = wengert.get_num_threads(), set()
    try:
        for n in (1, 2, 4):
            wengert.set_num_threads(n)
            out = windows.sample_grid(x, grid, options)
            back = windows.sample_grid_adjoint(ct, grid, x.shape, options)
            found.add(out.tobytes() + back.tobytes() + windows.sample_grid_moved(ct, x, grid, options).tobytes())
    finally:
        wengert.set_num_threads(before)
    assert len(found) == 1
