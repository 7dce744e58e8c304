"""grid_sample: numbers worked by hand, points outside and infinite, messages."""

from __future__ import annotations

import math

import pytest

import wengert
from wengert.nn import functional as F


def leaf(values):
    return wengert.tensor(values, dtype=wengert.float64, requires_grad=True)


IMAGE = [[[[1.0, 3.0], [5.0, 7.0]]]]


def test_the_middle_is_the_mean_of_four():
    image, grid = leaf(IMAGE), leaf([[[[0.0, 0.0]]]])
    y = F.grid_sample(image, grid, align_corners=True)
    assert y.item() == 4.0 and y.grad_fn.name() == "GridSampler2DBackward0"
    y.backward()
    assert image.grad.tolist() == [[[[0.25, 0.25], [0.25, 0.25]]]]
    # Across: from (1 + 5) / 2 to (3 + 7) / 2 over a width of 2; down: from 2 to 6.
    assert grid.grad.tolist() == [[[[1.0, 2.0]]]]


@pytest.mark.parametrize(("padding", "wanted", "slope"), [
    ("zeros", 0.0, 0.0), ("border", 3.0, 0.0), ("reflection", 2.0, -1.0),
])  # fmt: skip
def test_a_point_outside(padding, wanted, slope):
    """One and a half widths to the right of the centre, in the upper row."""
    image, grid = leaf(IMAGE), leaf([[[[2.0 + (padding == "zeros"), -1.0]]]])
    y = F.grid_sample(image, grid, padding_mode=padding, align_corners=True)
    y.backward()
    assert y.item() == wanted and grid.grad.flatten()[0].item() == slope


def test_nearest_has_no_derivative_in_the_grid():
    image, grid = leaf(IMAGE), leaf([[[[0.4, -0.6]]]])
    y = F.grid_sample(image, grid, mode="nearest", align_corners=True)
    y.backward()
    assert y.item() == 3.0 and grid.grad.tolist() == [[[[0.0, 0.0]]]]
    assert image.grad.tolist() == [[[[0.0, 1.0], [0.0, 0.0]]]]


@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "nearest"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_infinite_points_are_far_outside(mode, padding):
    points = [[[[math.inf, 0.0], [-math.inf, 0.0], [0.0, math.nan]]]]
    image, grid = leaf(IMAGE), leaf(points)
    y = F.grid_sample(image, grid, mode, padding, align_corners=True)
    y.sum().backward()
    assert y.isfinite().all().item() and image.grad.isfinite().all().item()
    if padding == "zeros":
        assert y.abs().max().item() == 0.0


def test_a_point_on_the_edge_does_not_read_elements_inside():
    y = F.grid_sample(leaf([[[[math.inf, 3.0]]]]), leaf([[[[1.0, 0.0]]]]), align_corners=True)
    assert y.item() == 3.0


def ones(*shape):
    return wengert.ones(*shape)


IMAGES = ones(1, 2, 4, 4)
MESSAGES = [
    (lambda: F.grid_sample(IMAGES, ones(1, 3, 3, 3)),
     "grid_sampler(): expected grid to have size 2 in last dimension, but got grid with sizes [1, 3, 3, 3]"),
    (lambda: F.grid_sample(IMAGES, ones(2, 3, 3, 2)),
     "grid_sampler(): expected grid and input to have same batch size, but got input with sizes [1, 2, 4, 4] and grid with "
     "sizes [2, 3, 3, 2]"),
    (lambda: F.grid_sample(IMAGES, ones(1, 3, 2)),
     "grid_sampler(): expected 4D input and grid with same number of dimensions, but got input with sizes [1, 2, 4, 4] and "
     "grid with sizes [1, 3, 2]"),
    (lambda: F.grid_sample(ones(1, 2, 4, 4, 4), ones(1, 3, 3, 3, 3), mode="bicubic"),
     "grid_sampler(): bicubic interpolation only supports 4D input"),
    (lambda: F.grid_sample(ones(1, 2, 0, 4), ones(1, 3, 3, 2)),
     "grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes [1, 2, 0, 4] with dimension "
     "2 being empty"),
    (lambda: F.grid_sample(IMAGES, ones(1, 3, 3, 2), mode="x"),
     "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: 'x'"),
    (lambda: F.grid_sample(IMAGES, ones(1, 3, 3, 2), padding_mode="x"),
     "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: 'x'"),
    (lambda: F.grid_sample(IMAGES, ones(1, 3, 3, 2).double()), "expected scalar type Float but found Double"),
    (lambda: F.grid_sample(IMAGES.long(), ones(1, 3, 3, 2)), "\"grid_sampler_2d_cpu\" not implemented for 'Long'"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "text"), MESSAGES, ids=[text[:40] for _, text in MESSAGES])
def test_wrong_arguments_are_refused_with_a_message(call, text):
    with pytest.raises((RuntimeError, ValueError)) as error:
        call()
    assert str(error.value) == text
