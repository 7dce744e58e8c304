"""wengert.scipy.spatial: distances, and their derivatives in the points and in the parameters of the metrics."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.spatial

import wengert as w
from scipy_checks import check_call
from wengert.autograd import grad
from wengert.scipy import spatial
from wengert.scipy.spatial import distance

RNG = np.random.default_rng(13)
A, B = RNG.uniform(0.2, 2.0, size=(4, 3)), RNG.uniform(0.2, 2.0, size=(5, 3))
METRICS = ["braycurtis", "canberra", "chebyshev", "cityblock", "correlation", "cosine", "euclidean", "jensenshannon", "mahalanobis",
           "minkowski", "seuclidean", "sqeuclidean"]  # fmt: skip


@pytest.mark.parametrize("metric", METRICS)
def test_metrics(metric):
    more = {"p": 3} if metric == "minkowski" else {}
    check_call("spatial.distance", "cdist", lambda f, a, b: f(a, b, metric, **more), A, B, step=1e-3, rtol=1e-5)
    check_call("spatial.distance", "pdist", lambda f, a: f(a, metric, **more), B, step=1e-3, rtol=1e-5)
    given = [np.diag([1.0, 2.0, 0.5]) + 0.1] if metric == "mahalanobis" else [np.array([1.0, 2.0, 0.5])] if metric == "seuclidean" else []
    call = lambda f, u, v, *x: f(u, v, *x, **more)  # noqa: E731
    check_call("spatial.distance", metric, call, A[0], B[0], *given, step=1e-3, rtol=1e-5)


def test_weights_and_parameters():
    weights = np.array([0.5, 1.0, 2.0])
    for metric in ("euclidean", "cityblock", "cosine", "minkowski", "braycurtis"):
        check_call("spatial.distance", "cdist", lambda f, a, x, metric=metric: f(a, B, metric, w=x), A, weights, step=1e-3, rtol=1e-5)
    check_call("spatial.distance", "cdist", lambda f, a, v: f(a, B, "seuclidean", V=v), A, weights, step=1e-3, rtol=1e-5)


def test_equal_points_have_no_slope():
    a = w.tensor(np.vstack([A, A[:1]]), requires_grad=True)
    for metric in ("euclidean", "minkowski"):
        assert np.isfinite(grad(distance.pdist(a, metric).sum(), a)[0].numpy()).all()


def test_square_forms():
    check_call("spatial.distance", "squareform", lambda f, x: f(x), RNG.normal(size=6))
    check_call("spatial.distance", "squareform", lambda f, x: f(x, checks=False), RNG.normal(size=(4, 4)))
    with pytest.raises(ValueError, match="binomial"):
        distance.squareform(w.ones(5, requires_grad=True))


def test_spatial_functions():
    for p in (1, 2, 3, np.inf):
        check_call("spatial", "distance_matrix", lambda f, a, b, p=p: f(a, b, p), A, B, step=1e-3, rtol=1e-5)
    check_call("spatial", "minkowski_distance", lambda f, a, b: f(a, b, 3), A, B[:4], step=1e-3, rtol=1e-5)
    check_call("spatial", "procrustes", lambda f, a, b: f(a, b), A, B[:4], step=1e-3, rtol=1e-4)


def test_bad_points_and_metrics():
    a = w.tensor(A, requires_grad=True)
    with pytest.raises(ValueError, match="same number of columns"):
        distance.cdist(a, B[:, :2])
    with pytest.raises(ValueError, match="2-dimensional"):
        distance.pdist(a[0])
    with pytest.raises(ValueError, match="Unknown Distance Metric"):
        distance.pdist(a, "nearest")
    assert isinstance(distance.cdist(A, B), np.ndarray) and float(distance.hamming(a[0], a[1])) == 1.0


def test_points_of_great_circles():
    ends = RNG.normal(size=(2, 3))

    def circle(f, ends, t):
        unit = [x / (x @ x) ** 0.5 for x in (ends[0], ends[1])]
        return f(*unit, t)

    check_call("spatial", "geometric_slerp", circle, ends, np.array([0.1, 0.7]), step=1e-3)
    check_call("spatial", "geometric_slerp", lambda f, x: circle(f, x, 0.3), ends, step=1e-3)
    with pytest.raises(ValueError, match="unit n-sphere"):
        spatial.geometric_slerp(w.ones(3, requires_grad=True), np.array([1.0, 0, 0]), 0.5)


@pytest.mark.parametrize("name", ["KDTree", "cKDTree"])
def test_distances_of_neighbours(name):
    data, x = RNG.normal(size=(12, 3)), RNG.normal(size=(4, 3))
    for options in ({}, {"k": 3}, {"k": [2]}, {"p": 1}, {"k": 2, "p": np.inf}):
        check_call("spatial", name, lambda f, d, x, o=options: f(d).query(x, **o)[0], data, x, step=1e-4, rtol=1e-5)
    check_call("spatial", name, lambda f, d: f(d).query(x[0], 2)[0], data, step=1e-4, rtol=1e-5)
    distances, places = getattr(spatial, name)(w.tensor(data, requires_grad=True)).query(x, 2, distance_upper_bound=0.5)
    theirs = getattr(scipy.spatial, name)(data).query(x, 2, distance_upper_bound=0.5)
    np.testing.assert_allclose(distances.detach().numpy(), theirs[0])
    assert np.array_equal(places.numpy(), theirs[1]) and (theirs[0] == np.inf).any()


@pytest.mark.parametrize("size", [2, 3, 4])
def test_volumes_of_hulls(size):
    points = RNG.normal(size=(14, size))
    check_call("spatial", "ConvexHull", lambda f, p: (f(p).volume, f(p).area), points, step=1e-4, rtol=1e-5)
    assert isinstance(spatial.ConvexHull(points).volume, float)


def test_the_distance_of_two_sets():
    u, v = RNG.normal(size=(5, 3)), RNG.normal(size=(4, 3))
    check_call("spatial.distance", "directed_hausdorff", lambda f, u, v: f(u, v), u, v, step=1e-4, rtol=1e-5)
