"""The kernels of connectionist temporal classification, against sums over all alignments."""

from __future__ import annotations

from itertools import groupby, product

import numpy as np
import pytest

from wengert.kernels import native, scans

pytestmark = pytest.mark.skipif(native is None, reason="no kernels are compiled here")
RNG = np.random.default_rng(0)
BLANK = 1
LABELS = np.array([[0, 2, 9], [2, 2, 0], [0, 9, 9], [9, 9, 9], [2, 2, 0], [2, 9, 9]])  # 9: no label
COUNTS, LENGTHS = np.array([2, 3, 1, 0, 3, 1]), np.array([4, 5, 5, 3, 3, 0])


def spelled(path):
    return [label for label, _ in groupby(path) if label != BLANK]


def loss(x, labels, length):
    """-log of the sum over all paths of `length` steps that spell the labels."""
    paths = [p for p in product(range(x.shape[1]), repeat=int(length)) if spelled(p) == list(labels)]
    with np.errstate(divide="ignore"):
        return -np.log(sum(np.exp(sum(x[t, c] for t, c in enumerate(p))) for p in paths))


def losses(x):
    rows = zip(LABELS, COUNTS, LENGTHS, strict=True)
    return np.array([loss(x[:, i], labels[:count], length) for i, (labels, count, length) in enumerate(rows)])


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-12), ("float32", 1e-5)])
@pytest.mark.parametrize("strided", [False, True])
def test_losses(dtype, tolerance, strided):
    x = RNG.normal(size=(5, 6, 3)).astype(dtype)
    x[1, 0, 2] = -np.inf
    given = np.asfortranarray(x) if strided else x
    found = scans.ctc_losses(given, LABELS, LENGTHS, COUNTS, BLANK)
    np.testing.assert_allclose(found, losses(x.astype(np.float64)), tolerance)
    assert found[4] == np.inf  # two labels that are equal need a blank between them
    assert found[5] == np.inf


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-7), ("float32", 1e-5)])
def test_cotangents_against_differences(dtype, tolerance):
    x, ct = RNG.normal(size=(5, 6, 3)), RNG.normal(size=6)
    found = scans.ctc_cotangent(x.astype(dtype), LABELS, LENGTHS, COUNTS, BLANK, ct.astype(dtype))
    assert found.dtype == dtype
    assert not found[:, 4:].any()  # the loss is infinite
    step = 1e-5
    for place in np.ndindex(*x.shape):
        if place[1] < 4:
            up, down = x.copy(), x.copy()
            up[place] += step
            down[place] -= step
            i = place[1]
            ends = [loss(y[:, i], LABELS[i, : COUNTS[i]], LENGTHS[i]) for y in (up, down)]
            assert found[place] == pytest.approx(ct[i] * (ends[0] - ends[1]) / (2 * step), abs=10 * tolerance)


def test_kernel_declines_other_dtypes_shapes_and_values():
    x = np.zeros((5, 6, 3))
    assert scans.ctc_losses(x.astype(np.float16), LABELS, LENGTHS, COUNTS, BLANK) is None
    assert scans.ctc_losses(x, LABELS, LENGTHS, COUNTS, 3) is None
    assert scans.ctc_losses(x, LABELS, LENGTHS, COUNTS + 1, BLANK) is None  # a label that is no class
    assert scans.ctc_losses(x, LABELS, LENGTHS + 1, COUNTS, BLANK) is None
    assert scans.ctc_losses(x, LABELS[:2], LENGTHS, COUNTS, BLANK) is None
    assert scans.ctc_losses(x, LABELS.astype(np.int32), LENGTHS, COUNTS, BLANK) is None
    assert scans.ctc_cotangent(x, LABELS, LENGTHS, COUNTS, BLANK, np.zeros(6, np.float32)) is None
