"""wengert.scipy.ndimage against scipy.ndimage and its finite differences."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.ndimage

import wengert
import wengert.scipy.ndimage as ndimage
from loops import each
from scipy_checks import check_call

RNG = np.random.default_rng(11)
MODES = ("reflect", "constant", "nearest", "mirror", "wrap", "grid-mirror", "grid-constant", "grid-wrap")
# Sums of pieces of polynomials: short steps stay on one piece. Choices of an element: shorter steps change none.
PIECEWISE = ["map_coordinates", "affine_transform", "shift", "zoom", "rotate", "geometric_transform"]
CHOOSING = ["maximum_filter", "maximum_filter1d", "median_filter", "minimum_filter", "minimum_filter1d", "percentile_filter", "rank_filter", "grey_erosion", "grey_dilation", "grey_opening", "grey_closing", "morphological_gradient", "morphological_laplace", "white_tophat", "black_tophat", "minimum", "maximum", "median"]


def _x(*shape):
    return RNG.normal(size=shape)


def _module_of(x):
    return ndimage if isinstance(x, wengert.Tensor) else scipy.ndimage


def _row(name, *arrays, args=(), **kwargs):
    return name, lambda f, *xs: f(*xs, *args, **kwargs), arrays


FAR_FROM_TIES = np.random.default_rng(0)
STRUCTURED = (FAR_FROM_TIES.normal(size=(5, 6)), FAR_FROM_TIES.normal(size=(2, 3)))

FILTERS = [
    *[_row("correlate1d", _x(3, 5), _x(4), mode=mode, cval=0.3, origin=1, axis=1) for mode in MODES],
    *[_row("convolve1d", _x(3, 5), _x(n), axis=0, origin=-1) for n in (3, 4)],
    _row("convolve1d", _x(2), _x(7)),  # the window is longer than the image
    *[_row(name, _x(4, 5), _x(3, 2), mode=mode, cval=0.3, origin=(0, -1)) for name in ("correlate", "convolve") for mode in MODES[:5]],
    *[_row(name, _x(3, 4, 3), _x(2, 3), axes=(2, 0)) for name in ("correlate", "convolve")],
    _row("correlate", _x(3, 3) + 1j * _x(3, 3), _x(2, 2) + 1j * _x(2, 2)),
    _row("convolve1d", _x(5) + 1j * _x(5), _x(3) + 1j * _x(3)),
    *[_row("gaussian_filter1d", _x(12), np.array(0.8), order=order, radius=3) for order in range(4)],
    _row("gaussian_filter", _x(6, 5), sigma=0.7),
    ("gaussian_filter", lambda f, x, s: f(x, s, order=(0, 1), radius=3), (_x(6, 5), np.array(0.9))),
    _row("gaussian_filter", _x(6, 5), sigma=(0.7, 0.0), mode=("wrap", "nearest")),
    _row("gaussian_laplace", _x(6, 5), sigma=0.7),
    _row("gaussian_laplace", _x(6, 5), sigma=0.7, mode="constant", cval=1.0, truncate=3.0),
    _row("gaussian_gradient_magnitude", _x(6, 5), sigma=0.7),
    *[_row(name, _x(4, 5), mode=mode) for name in ("laplace", "sobel", "prewitt") for mode in MODES],
    _row("sobel", _x(4, 5), axis=0),
    _row("uniform_filter", _x(5, 6), size=(3, 2), origin=(0, -1)),
    _row("uniform_filter1d", _x(5, 6), size=4, axis=0, mode="mirror"),
    ("generic_laplace", lambda f, x: f(x, _module_of(x).sobel, mode="wrap"), (_x(5, 4),)),
    ("generic_gradient_magnitude", lambda f, x: f(x, _module_of(x).prewitt, cval=0.1), (_x(5, 4),)),
]  # fmt: skip

RANKS = [
    *[_row(f"{name}_filter", _x(5, 6), size=(3, 2), mode=mode, cval=0.1) for name in ("minimum", "maximum", "median") for mode in MODES[:5]],
    _row("minimum_filter1d", _x(7), size=4, origin=-1),
    _row("maximum_filter1d", _x(4, 6), size=3, axis=0, origin=1),
    _row("rank_filter", _x(5, 6), args=(2,), footprint=[[1, 0, 1], [0, 1, 1]]),
    _row("rank_filter", _x(5, 6), args=(-2,), size=3, origin=(1, 0)),
    _row("percentile_filter", _x(5, 6), args=(30,), size=3),
    _row("percentile_filter", _x(5, 6), args=(-10,), size=(2, 3)),
    _row("median_filter", _x(5, 6, 3), size=3, axes=(0, 2)),
    *[
        _row(name, _x(5, 6), **settings)
        for name in ("grey_erosion", "grey_dilation", "grey_opening", "grey_closing", "morphological_gradient", "white_tophat", "black_tophat")
        for settings in ({"size": (2, 3)}, {"footprint": [[1, 0, 1], [1, 1, 0]]}, {"size": 3, "mode": "constant", "cval": 0.2})
    ],
    _row("morphological_laplace", _x(5, 6), size=3),
    *[(name, lambda f, x, s: f(x, structure=s), STRUCTURED) for name in ("grey_erosion", "grey_dilation", "grey_closing")],
]  # fmt: skip

POINTS = np.stack([RNG.uniform(-2.5, n + 1.5, 9) for n in (5, 6)])
TURN = np.array([[0.9, 0.2], [-0.3, 1.1]])

GEOMETRY = [
    *[_row("map_coordinates", _x(5, 6), POINTS, order=order, mode=mode, cval=0.4) for order in range(2, 6) for mode in MODES],
    *[_row("map_coordinates", _x(5, 6), POINTS, order=1, mode=mode) for mode in MODES],
    _row("map_coordinates", _x(4, 4, 3), RNG.uniform(0.1, 1.9, (3, 2, 2))),
    _row("map_coordinates", _x(5, 6), POINTS, prefilter=False),
    ("map_coordinates", lambda f, x: f(x, POINTS, order=0, mode="reflect"), (_x(5, 6),)),
    _row("affine_transform", _x(5, 6), TURN, np.array([0.37, 0.23]), mode="mirror"),
    _row("affine_transform", _x(5, 6), np.c_[TURN, [0.37, 0.23]], output_shape=(3, 4), mode="reflect", order=2),
    ("affine_transform", lambda f, x, m: f(x, m, 0.25, mode="nearest"), (_x(5, 6), np.array([0.7, 1.2]))),
    _row("shift", _x(5, 6), np.array([0.4, -1.3]), mode="wrap"),
    _row("shift", _x(5, 6), np.array(0.4), mode="grid-wrap", order=1),
    *[_row("zoom", _x(4, 5), zoom=(1.6, 0.7), mode=mode, grid_mode=grid) for mode in ("constant", "nearest", "reflect", "grid-wrap") for grid in (False, True) if not grid or mode != "constant"],
    *[_row("rotate", _x(4, 6), np.array(23.0), mode=mode, reshape=reshape) for mode in ("mirror", "nearest") for reshape in (True, False)],
    _row("rotate", _x(3, 4, 3), angle=90.0, axes=(0, 2), mode="reflect"),
    ("geometric_transform", lambda f, x: f(x, lambda p: (p[0] * 0.9 + 0.1, p[1] + 0.3 * p[0]), mode="mirror"), (_x(3, 4),)),
    *[_row("spline_filter", _x(5, 45), order=order, mode=mode) for order in (2, 3, 4, 5) for mode in ("mirror", "reflect", "grid-wrap")],
    _row("spline_filter1d", _x(50, 2), axis=0),
]  # fmt: skip

LABELS = np.array([[0, 1, 1, 2], [2, 2, 0, 1], [3, 3, 1, 0]])

MEASUREMENTS = [
    *[
        (name, lambda f, x, labels=labels, index=index: f(x, labels, index), (_x(3, 4),))
        for name in ("sum", "sum_labels", "mean", "variance", "standard_deviation", "minimum", "maximum", "median")
        for labels, index in ((None, None), (LABELS, None), (LABELS, 2), (LABELS, [3, 1]))
    ],
    *[
        ("center_of_mass", lambda f, x, labels=labels, index=index: f(x, labels, index), (1 + _x(3, 4) ** 2,))
        for labels, index in ((None, None), (LABELS, None), (LABELS, 2), (LABELS, [3, 1]))
    ],
]  # fmt: skip

SPECTRUM = _x(4, 5) + 1j * _x(4, 5)

FOURIER = [
    _row("fourier_gaussian", SPECTRUM, np.array(0.8)),
    _row("fourier_gaussian", _x(4, 3), np.array([0.8, 0.3]), n=5),
    _row("fourier_uniform", SPECTRUM, np.array([1.5, 2.0])),
    _row("fourier_shift", SPECTRUM, np.array([1.5, -0.3])),
    _row("fourier_shift", SPECTRUM[:, :3], np.array([1.5, -0.3]), n=5, axis=1),
    _row("fourier_ellipsoid", SPECTRUM, size=2.0),
]


@pytest.mark.slow
@each("row", [*FILTERS, *RANKS, *GEOMETRY, *MEASUREMENTS, *FOURIER])
def test_values_and_derivatives(row):
    name, call, arrays = row
    check_call("ndimage", name, call, *arrays, step=1e-4 if name in CHOOSING else 1e-3 if name in PIECEWISE else 1e-2)


def test_bad_images_are_refused():
    x = wengert.ones(4, 5, dtype=wengert.float64, requires_grad=True)
    for call, error in [
        (lambda: ndimage.correlate1d(x, [1.0, 1.0], origin=2), ValueError),
        (lambda: ndimage.correlate(x, [1.0, 1.0]), RuntimeError),
        (lambda: ndimage.gaussian_filter(x, (1.0, 1.0, 1.0)), RuntimeError),
        (lambda: ndimage.uniform_filter(x, mode="nowhere"), RuntimeError),
        (lambda: ndimage.median_filter(x), RuntimeError),
        (lambda: ndimage.rank_filter(x, 9, size=3), RuntimeError),
        (lambda: ndimage.map_coordinates(x, np.zeros((3, 2))), RuntimeError),
        (lambda: ndimage.map_coordinates(x, np.zeros((2, 2)), order=6), RuntimeError),
        (lambda: ndimage.affine_transform(x, np.eye(4)), RuntimeError),
        (lambda: ndimage.rotate(x[0], 3.0), ValueError),
        (lambda: ndimage.sum(x, index=3), ValueError),
        (lambda: ndimage.gaussian_filter(x, 1.0, output=np.zeros((4, 5))), wengert.errors.ArgumentError),
        (lambda: ndimage.generic_filter(x, np.sum), RuntimeError),
    ]:
        with pytest.raises(error):
            call()


def test_labels_are_plain():
    labels, count = ndimage.label(wengert.tensor([1.0, 0.0, 2.0], requires_grad=True))
    assert count == 2 and labels.tolist() == [1, 0, 2] and not labels.requires_grad


def test_equal_elements_share_no_gradient():
    x = wengert.tensor([2.0, 2.0, 2.0], requires_grad=True)
    ndimage.maximum_filter1d(x, 3).sum().backward()
    assert x.grad.tolist() == [2.0, 1.0, 0.0]  # the first of the equal elements in each window


def _middle(values):
    return (values * values).sum() * 0.3 + values[0]


def test_functions_of_windows():
    rng = np.random.default_rng(6)
    image, plane = rng.normal(size=(4, 5)), rng.normal(size=(3, 4, 3))
    cross = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]])

    def lines(source, target, factor=1.0):
        target[...] = factor * source[:-2] * source[2:] + source[1:-1]

    def mean_square(windows, *, axis):
        return (windows * windows).mean(axis)

    for name, call in [
        ("generic_filter", lambda f, x: f(x, _middle, size=(3, 2))),
        ("generic_filter", lambda f, x: f(x, _middle, footprint=cross, mode="constant", cval=0.7, origin=(1, 0))),
        ("generic_filter", lambda f, x: f(x, lambda v, k, p: (v**p).sum() * k, size=2, mode="wrap", extra_arguments=(0.5,), extra_keywords={"p": 2})),
        ("generic_filter1d", lambda f, x: f(x, lines, 3, 0)),
        ("generic_filter1d", lambda f, x: f(x, lines, 3, mode="mirror", origin=-1, extra_arguments=(0.3,))),
        *[("vectorized_filter", lambda f, x, o=options: f(x, mean_square, **o))
          for options in ({"size": (3, 2)}, {"footprint": cross, "mode": "nearest"}, {"size": 3, "axes": 1, "origin": 1}, {"size": (2, 3), "mode": "valid"})
          if hasattr(scipy.ndimage, "vectorized_filter")],
    ]:  # fmt: skip
        check_call("ndimage", name, call, image, step=1e-3)
    check_call("ndimage", "generic_filter", lambda f, x: f(x, _middle, size=2, axes=(0, 2)), plane, step=1e-3)
    with pytest.raises(ValueError, match="origin"):
        ndimage.generic_filter(wengert.tensor(image, requires_grad=True), _middle, size=2, origin=3)


def test_functions_of_regions():
    image, labels = np.random.default_rng(6).normal(size=(4, 5)), np.arange(20).reshape(4, 5) % 3
    for call in (
        lambda f, x: f(x, labels, [1, 2, 7], lambda v: (v * v).sum(), float, -1.0), lambda f, x: f(x, None, None, lambda v: v[3], float, 0),
        lambda f, x: f(x, labels, [2], lambda v, place: (v * place).sum(), float, 0, True),
    ):  # fmt: skip
        check_call("ndimage", "labeled_comprehension", call, image, step=1e-3)
    check_call("ndimage", "extrema", lambda f, x: f(x, labels, [1, 2])[:2], image, step=1e-4)
    found = ndimage.extrema(wengert.tensor(image, requires_grad=True))
    assert found[2:] == scipy.ndimage.extrema(image)[2:]
