"""Histograms of points: counts, weights, densities, edges, and what is refused."""

from __future__ import annotations

import re

import numpy as np
import pytest

import wengert

POINTS = wengert.tensor([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [2.0, 2.0]])


def test_counts_by_hand():
    hist, edges = wengert.histogramdd(POINTS, bins=[2, 3])
    assert hist.tolist() == [[0, 1, 0], [1, 1, 1]], "1 is in the second half, and the last interval has both its ends"
    assert [e.tolist() for e in edges] == [[0, 1, 2], pytest.approx([0, 2 / 3, 4 / 3, 2])]
    assert hist.dtype is wengert.float32 and not hist.requires_grad


def test_edges_and_weights_by_hand():
    edges = [wengert.tensor([0.0, 1.0, 2.0]), wengert.tensor([0.0, 1.5])]
    found = wengert.histogramdd(POINTS, edges, weight=wengert.tensor([1.0, 2.0, 4.0, 8.0]))
    assert found.hist.tolist() == [[1], [6]], "the last point is outside"
    assert [e.tolist() for e in found.bin_edges] == [[0, 1, 2], [0, 1.5]]


@pytest.mark.parametrize("density", [False, True])
@pytest.mark.parametrize("bounds", [None, (-1.0, 1.0, -2.0, 0.5, 0.0, 3.0)])
@pytest.mark.parametrize("weighted", [False, True])
def test_numpys_histogramdd(density, bounds, weighted):
    rng = np.random.default_rng(4)
    points, weights = rng.normal(size=(50, 4, 3)), rng.uniform(size=(50, 4)) if weighted else None
    pairs = None if bounds is None else [bounds[:2], bounds[2:4], bounds[4:]]
    flat = None if weights is None else weights.ravel()
    expected, expected_edges = np.histogramdd(points.reshape(-1, 3), [2, 5, 3], range=pairs, weights=flat, density=density)
    weight = None if weights is None else wengert.from_numpy(weights)
    found = wengert.histogramdd(wengert.from_numpy(points), [2, 5, 3], range=bounds, weight=weight, density=density)
    np.testing.assert_allclose(found.hist.numpy(), expected, rtol=1e-12)
    for ours, theirs in zip(found.bin_edges, expected_edges, strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-12)


def test_no_points_and_one_point():
    assert wengert.histogramdd(POINTS[:0], 2).bin_edges[0].tolist() == [0, 0.5, 1]
    one = wengert.histogramdd(POINTS[:1], 2)
    assert one.hist.tolist() == [[0, 0], [0, 1]] and one.bin_edges[0].tolist() == [-0.5, 0, 0.5]


@pytest.mark.parametrize(("call", "text"), [
    (lambda h: h(POINTS[0], 2), "torch.histogramdd: input tensor should have at least 2 dimensions"),
    (lambda h: h(POINTS, [2]), "histogramdd: The size of bins must be equal to the innermost dimension of the input."),
    (lambda h: h(POINTS, [2, 0]), "torch.histogram(): bins must be > 0, but got 0 for dimension 1"),
    (lambda h: h(POINTS, 2, range=[0.0, 1.0]),
     "torch.histogramdd: for a 2-dimensional histogram range should have 4 elements, but got 2"),
    (lambda h: h(POINTS, 2, range=[1.0, 0.0, 0.0, 1.0]),
     "torch.histogramdd: min should not exceed max, but got min 1 max 0 for dimension 0"),
    (lambda h: h(POINTS * float("nan"), 2), "torch.histogramdd: dimension 0's range [nan, nan] is not finite"),
    (lambda h: h(POINTS, 2, weight=POINTS),
     "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor excluding its innermost "
     "dimension, but got input with shape [4, 2] and weight with shape [4, 2]"),
    (lambda h: h(POINTS, 2, weight=POINTS[:, 0].double()),
     "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same dtype, but got "
     "input(float), and weight(double)"),
    (lambda h: h(POINTS, [POINTS[:, 0]]), "torch.histogramdd: expected 2 sequences of bin edges for a 2-dimensional histogram but got 1"),
    (lambda h: h(POINTS, [POINTS[:, 0], POINTS[:, 0].double()]),
     "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input with dtype float and bins for "
     "dimension 1 with dtype double"),
    (lambda h: h(POINTS, [POINTS, POINTS]),
     "torch.histogramdd: bins tensor should have one dimension, but got 2 dimensions in the bins tensor for dimension 0"),
    (lambda h: h(POINTS.long(), 2), "\"histogramdd\" not implemented for 'Long'"),
])  # fmt: skip
def test_wrong_calls_are_refused_with_a_message(call, text):
    with pytest.raises(RuntimeError, match=re.escape(text)):
        call(wengert.histogramdd)
