"""wengert.scipy.sparse: products and solves with gradients in the stored values and in the dense side."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

import wengert as w
from scipy_checks import check_call
from wengert.autograd import forward_ad, grad, gradcheck, gradgradcheck
from wengert.scipy import sparse

RNG = np.random.default_rng(11)
ROWS, COLS = np.array([0, 0, 1, 2, 2, 3, 3, 1]), np.array([0, 2, 1, 2, 0, 3, 1, 1])  # (1, 1) is there twice
VALUES = np.array([4.0, 1.0, 3.0, 5.0, -1.0, 2.5, 0.5, 0.7])


def leaf(x):
    return w.tensor(x, requires_grad=True)


def plain(x):
    return x.detach().numpy() if isinstance(x, w.Tensor) else x.detach().toarray() if isinstance(x, sparse.SparseTensor) else x.toarray()


def dense(x):
    return x.toarray() if isinstance(x, sparse.SparseTensor) else x


def check(function, *arrays, order=2, **tolerances):
    """Check function(module, *values) by SciPy's result, and by finite differences of it, to second order and forward."""

    def run(*tensors):
        return dense(function(sparse, *tensors))

    inputs = [leaf(x) for x in arrays]
    theirs = function(scipy.sparse, *arrays)
    np.testing.assert_allclose(plain(run(*inputs)), theirs.toarray() if scipy.sparse.issparse(theirs) else theirs, rtol=1e-10, atol=1e-10)
    assert gradcheck(run, inputs, check_forward_ad=True, **tolerances)
    assert order < 2 or gradgradcheck(run, inputs, **tolerances)


def coo(module, values):
    return module.coo_array((values, (ROWS, COLS)), shape=(4, 4))


X, MATRIX = RNG.normal(size=4), RNG.normal(size=(4, 3))


@pytest.mark.parametrize("x", [X, MATRIX], ids=["vector", "matrix"])
def test_products_and_solves(x):
    check(lambda m, a, x: coo(m, a) @ x, VALUES, x)
    check(lambda m, a, x: coo(m, a).T @ x, VALUES, x)
    check(lambda m, a, x: coo(m, a).tocsr().dot(x), VALUES, x)
    check(lambda m, a, x: m.linalg.spsolve(coo(m, a).tocsc(), x), VALUES, x)
    check(lambda m, a, x: m.linalg.splu(coo(m, a).tocsc()).solve(x, "T"), VALUES, x)
    check(lambda m, a, x: m.linalg.factorized(coo(m, a).tocsc())(x) if x.ndim == 1 else coo(m, a) @ x, VALUES, x)


def test_products_of_a_dense_matrix_on_the_left():
    a = leaf(VALUES)
    found = np.asarray(MATRIX.T) @ coo(sparse, a)
    np.testing.assert_allclose(plain(found), MATRIX.T @ coo(scipy.sparse, VALUES), rtol=1e-12)
    assert grad(found.sum(), a)[0].shape == (8,)


def test_complex_systems():
    values, b = VALUES + 0.3j * RNG.normal(size=8), X + 0.2j
    check(lambda m, a, x: m.linalg.spsolve(coo(m, a).tocsc(), x), values, b)
    check(lambda m, a, x: coo(m, a) @ x, values, X, order=1)


def test_constructors():
    compressed = np.array([0, 2, 1, 0]), np.array([0, 2, 3, 4])
    for name in ("csr_array", "csc_array", "csr_matrix", "csc_matrix"):
        check(lambda m, a, name=name: getattr(m, name)((a, *compressed), shape=(3, 3)).toarray(), VALUES[:4])
    check(lambda m, a: m.csr_array(a).toarray(), np.array([[0.0, 1.0], [2.0, 0.0]]), order=1)
    check(lambda m, a: m.csc_array(coo(m, a)), VALUES)
    check(lambda m, a, b: m.diags([a, b], [0, 1], shape=(4, 4)), X, X[:3])
    check(lambda m, a: m.diags_array([a], offsets=[-1]), X)
    check(lambda m, a: m.kron(coo(m, a), m.eye_array(2)), VALUES)
    check(lambda m, a: m.kronsum(coo(m, a), coo(m, a)), VALUES, order=1)
    check(lambda m, a: m.vstack([coo(m, a), m.eye_array(4)]), VALUES)
    check(lambda m, a: m.block_array([[coo(m, a), None], [m.eye_array(4), coo(m, a)]]), VALUES)
    check(lambda m, a: m.tril(coo(m, a), -1), VALUES)
    assert sparse.issparse(coo(sparse, leaf(VALUES))) and sparse.issparse(sparse.eye_array(2)) and not sparse.issparse(X)


def test_arithmetic_and_indexing():
    check(lambda m, a: 2.0 * coo(m, a) - m.eye_array(4), VALUES)
    check(lambda m, a: coo(m, a).multiply(coo(m, a).T), VALUES)
    check(lambda m, a, x: coo(m, a).multiply(x), VALUES, RNG.normal(size=(4, 4)))
    check(lambda m, a: coo(m, a).tocsr() @ coo(m, a).T.tocsr(), VALUES)
    check(lambda m, a: coo(m, a) / 3.0, VALUES)
    check(lambda m, a: coo(m, a).tocsr()[1:3], VALUES)
    check(lambda m, a: coo(m, a).tocsr()[[3, 0]], VALUES)
    check(lambda m, a: coo(m, a).tocsr()[1, 1], VALUES)
    check(lambda m, a: coo(m, a).diagonal(), VALUES)
    for axis in (None, 0, 1):
        check(lambda m, a, axis=axis: coo(m, a).sum(axis), VALUES)
    check(lambda m, a: m.csr_matrix((a, (ROWS, COLS))) * X, VALUES)
    check(lambda m, a: m.linalg.norm(coo(m, a)), VALUES)


SPD = 4 * np.eye(6) - np.eye(6, k=1) - np.eye(6, k=-1)


@pytest.mark.parametrize("name", ["cg", "gmres", "bicgstab", "bicg", "cgs", "minres", "lgmres", "qmr"])
def test_iterative_solvers(name):
    matrix = scipy.sparse.coo_array(SPD)
    a, b = leaf(matrix.data), leaf(RNG.normal(size=6))
    place = (matrix.row, matrix.col)
    found, info = getattr(sparse.linalg, name)(sparse.csr_array((a, place)), b, rtol=1e-12)
    assert info == 0
    exact = sparse.linalg.spsolve(sparse.csr_array((a, place)), b)
    np.testing.assert_allclose(plain(found), plain(exact), rtol=1e-8)
    weights = w.tensor(RNG.normal(size=6))
    for got, expected in zip(grad((found * weights).sum(), (a, b)), grad((exact * weights).sum(), (a, b)), strict=True):
        np.testing.assert_allclose(plain(got), plain(expected), rtol=1e-7, atol=1e-9)


def test_operators():
    matrix, x = sparse.csr_array(SPD), leaf(RNG.normal(size=6))
    np.testing.assert_allclose(plain(matrix @ x), SPD @ plain(x))
    np.testing.assert_allclose(plain(grad((matrix.T @ x).sum(), x)[0]), SPD.sum(1))
    operator = sparse.linalg.LinearOperator((6, 6), matvec=lambda v: SPD @ v, rmatvec=lambda v: SPD.T @ v, dtype=float)
    assert gradcheck(lambda x: operator @ x, (x,), check_forward_ad=True)
    assert gradcheck(lambda x: sparse.linalg.aslinearoperator(SPD) @ x, (x,), check_forward_ad=True)
    assert gradcheck(lambda x: sparse.linalg.cg(operator, x, rtol=1e-13)[0], (x,))
    assert isinstance(matrix @ plain(x), np.ndarray) and isinstance(matrix, scipy.sparse.csr_array)


def test_exponential():
    check(lambda m, a, x: m.linalg.expm_multiply(coo(m, a) * 0.3, x), VALUES, X, order=1)


def test_sparse_refusals():
    a = coo(sparse, leaf(VALUES))
    with pytest.raises(AttributeError, match="detach"):
        a.eliminate_zeros()
    with pytest.raises(ValueError, match="mismatch"):
        a @ np.ones(3)
    with pytest.raises(ValueError, match="inconsistent"):
        a + sparse.eye_array(3)
    with pytest.raises(ValueError, match="square"):
        sparse.linalg.spsolve(a[:2], np.ones(2))
    with pytest.raises(NotImplementedError):
        a + 1.0
    with pytest.raises(RuntimeError, match="dia"):
        sparse.dia_array((leaf(np.ones((1, 3))), [0]), shape=(3, 3))
    with pytest.raises(RuntimeError, match="singular"):
        sparse.linalg.spsolve(sparse.csr_array((leaf(np.zeros(1)), ([0], [0])), shape=(2, 2)), np.ones(2))


def test_tangents_of_products():
    with forward_ad.dual_level():
        a = forward_ad.make_dual(w.tensor(VALUES), w.ones(8).double())
        tangent = forward_ad.unpack_dual(coo(sparse, a) @ X).tangent
    np.testing.assert_allclose(plain(tangent), coo(scipy.sparse, np.ones(8)) @ X)


TALL, NEAR = np.random.default_rng(5).normal(size=(6, 4)), np.random.default_rng(6).normal(size=(5, 5)) + np.diag([3.0, 4, 5, 6, 7])
BOUNDED = {"atol": 1e-14, "btol": 1e-14}
DECOMPOSITIONS = [
    ("eigsh", lambda f, a: f((a + a.T) / 2, 2, v0=np.ones(5))[0], NEAR @ NEAR.T),
    ("eigsh", lambda f, a: f((a + a.T) / 2, 1, v0=np.ones(5))[1] ** 2, NEAR @ NEAR.T),
    ("eigsh", lambda f, a: f((a + a.T) / 2, 2, sigma=0.1, v0=np.ones(5), return_eigenvectors=False), NEAR @ NEAR.T),
    ("eigs", lambda f, a: f(a, 1, v0=np.ones(5))[0], NEAR), ("eigs", lambda f, a: abs(f(a, 1, v0=np.ones(5))[1]), NEAR),
    ("svds", lambda f, a: f(a, 2, v0=np.ones(4))[1], TALL), ("svds", lambda f, a: f(a, 2, v0=np.ones(4), return_singular_vectors=False), TALL),
    ("svds", lambda f, a: (lambda u, s, vh: (u * s) @ vh)(*f(a, 2, v0=np.ones(4))), TALL),
    ("svds", lambda f, a: [x**2 for x in f(a, 2, v0=np.ones(4))], TALL),
    ("lsqr", lambda f, a, b: f(a, b, **BOUNDED)[0], TALL, TALL[:, 0] ** 2), ("lsmr", lambda f, a, b: f(a, b, **BOUNDED)[0], TALL, TALL[:, 0] ** 2),
    ("lsqr", lambda f, a, b, d: f(a, b, d, **BOUNDED)[0], TALL.T, TALL[:4, 0] ** 2, np.array(0.4)),
    ("lsmr", lambda f, a, b, d: f(a, b, d, **BOUNDED)[0], TALL.T, TALL[:4, 0] ** 2, np.array(0.4)),
]  # fmt: skip


@pytest.mark.parametrize("row", DECOMPOSITIONS)
def test_eigenvalues_and_least_squares(row):
    name, call, *arrays = row
    check_call("sparse.linalg", name, call, *arrays, step=1e-3, rtol=2e-6, value_rtol=1e-8)


def test_eigenvalues_of_sparse_matrices():
    """The values of a sparse matrix differentiate: by the products of the vector's elements at their places."""
    rows, cols = np.array([0, 1, 2, 0, 1, 1, 2]), np.array([0, 1, 2, 1, 0, 2, 1])
    data = leaf(np.array([1.0, 2.0, 5.0, 0.5, 0.5, 0.3, 0.3]))
    matrix = sparse.csr_array((data, (rows, cols)), shape=(3, 3))
    value = sparse.linalg.eigsh(matrix, 1, v0=np.ones(3), return_eigenvectors=False)
    _, vector = scipy.sparse.linalg.eigsh(matrix.detach(), 1, v0=np.ones(3))
    np.testing.assert_allclose(grad(value.sum(), data)[0].numpy(), (vector[rows] * vector[cols])[:, 0], rtol=1e-9)
    plain = sparse.linalg.svds(matrix.detach(), 1, v0=np.ones(3))
    assert all(isinstance(x, np.ndarray) for x in plain)
    with pytest.raises(NotImplementedError, match="with Y"):
        sparse.linalg.lobpcg(matrix, np.ones((3, 1)), Y=np.ones((3, 1)))


# -- functions of matrices, pairs of matrices, graphs ----------------------------------------------------------------------------


def symmetric(module, values):
    return coo(module, values) + coo(module, values).T


def test_functions_of_matrices():
    check(lambda m, a: m.linalg.inv(coo(m, a).tocsc()).toarray(), VALUES)
    check(lambda m, a: m.linalg.expm(0.3 * coo(m, a).tocsc()).toarray(), VALUES)
    for power in (1, 5):
        check(lambda m, a, power=power: m.linalg.matrix_power(coo(m, a).tocsr(), power).toarray(), VALUES)
    np.testing.assert_array_equal(plain(sparse.linalg.matrix_power(coo(sparse, leaf(VALUES)), 0)), np.eye(4))
    assert sparse.linalg.inv(coo(sparse, leaf(VALUES))).format == "csc"
    with pytest.raises(ValueError, match="exponent"):
        sparse.linalg.matrix_power(coo(sparse, leaf(VALUES)), -1)


def test_norms():
    for ord in (None, "fro", 1, -1, np.inf, -np.inf, 2):
        check(lambda m, a, ord=ord: m.linalg.norm(coo(m, a).tocsc(), ord), VALUES, order=1)
    for ord, axis in ((None, 0), (1, 1), (2, 0), (np.inf, 1)):
        check(lambda m, a, ord=ord, axis=axis: m.linalg.norm(coo(m, a).tocsc(), ord, axis), VALUES, order=1)
    check(lambda m, a: m.linalg.onenormest(coo(m, a).tocsc()), VALUES, order=1)
    a = leaf(VALUES)
    estimate, v, product = sparse.linalg.onenormest(coo(sparse, a), compute_v=True, compute_w=True)
    assert product.requires_grad and v.shape == (4,) and estimate.item() == abs(plain(product)).sum()
    with pytest.raises(ValueError, match="Invalid norm"):
        sparse.linalg.norm(coo(sparse, a), 3)


@pytest.mark.parametrize("x", [X, MATRIX], ids=["vector", "matrix"])
def test_solves_with_triangular_matrices(x):
    for unit in (False, True):
        check(lambda m, a, x, unit=unit: m.linalg.spsolve_triangular(m.tril(coo(m, a)).tocsr(), x, unit_diagonal=unit), VALUES, x)
    check(lambda m, a, x: m.linalg.spsolve_triangular(m.triu(coo(m, a)).tocsr(), x, False), VALUES, x)
    with pytest.raises(np.linalg.LinAlgError):
        sparse.linalg.spsolve_triangular(coo(sparse, leaf(0 * VALUES)), x)


def test_incomplete_factorizations_are_linear_in_the_right_side():
    check(lambda m, x: m.linalg.spilu(coo(m, VALUES).tocsc()).solve(x), X)
    check(lambda m, x: m.linalg.spilu(coo(m, VALUES).tocsc()).solve(x, "T"), MATRIX)
    with pytest.raises(RuntimeError, match="Use splu"):
        sparse.linalg.spilu(coo(sparse, leaf(VALUES)))


# The largest eigenvalue of A v = s M v: the value, and the squares of the elements of the vector, which have no sign.
SECOND = np.array([3.0, 0.2, 2.0, 4.0, 0.1, 3.0, 0.3, 0.1])
SHARES = np.array([1.0, -2.0, 0.5, 3.0, 0.2, 0.7, -1.1, 0.4])


def of_pair(name, module, a, b, i):
    A, M = [module.block_diag([x, c * x]).tocsc() for x, c in ((symmetric(module, a), 0.4), (symmetric(module, b), 1.0))]
    if name == "lobpcg":
        found = module.linalg.lobpcg(A, np.eye(8)[:, :1] + 0.1, M, tol=1e-12, maxiter=200)
    else:
        found = getattr(module.linalg, name)(A, 1, M, v0=np.ones(8))
    if i == 0:
        return found[0].real.sum()
    squares = abs(found[1][:, 0]) ** 2
    return (squares * (SHARES if module is scipy.sparse else w.tensor(SHARES))).sum()


@pytest.mark.parametrize("name", ["eigsh", "eigs", "lobpcg"])
def test_eigenvalues_of_pairs_of_matrices(name):
    for i in (0, 1):
        inputs = leaf(VALUES), leaf(SECOND)
        found = of_pair(name, sparse, *inputs, i)
        assert found.item() == pytest.approx(of_pair(name, scipy.sparse, VALUES, SECOND, i), rel=1e-9)
        for k, slope in enumerate(grad(found, inputs)):
            step = 1e-4 * RNG.normal(size=8)
            low, high = [
                of_pair(name, scipy.sparse, *[x + s * step * (j == k) for j, x in enumerate((VALUES, SECOND))], i) for s in (-1, 1)
            ]
            assert plain(slope) @ step == pytest.approx((high - low) / 2, rel=1e-4, abs=1e-9), (i, k)


# A graph with several paths between its nodes. The last node has no edges.
START, END = np.array([0, 0, 1, 2, 2, 3, 4, 4, 1]), np.array([1, 2, 3, 3, 1, 4, 0, 2, 4])
WEIGHTS = np.array([1.0, 2.5, 3.3, 0.4, 0.85, 1.2, 0.3, 2.2, 6.0])


def graph(module, weights):
    return module.coo_array((weights, (START, END)), shape=(6, 6)).tocsr()


def finite(x):
    return w.where(w.isfinite(x), x, 0.0) if isinstance(x, w.Tensor) else np.where(np.isfinite(x), x, 0.0)


def test_shortest_paths():
    for name in ("shortest_path", "dijkstra", "bellman_ford", "johnson", "floyd_warshall"):
        for directed in (True, False):
            check(lambda m, a, n=name, d=directed: finite(getattr(m.csgraph, n)(graph(m, a), directed=d)), WEIGHTS, order=1)
    check(lambda m, a: finite(m.csgraph.dijkstra(graph(m, a), indices=[0, 3])), WEIGHTS, order=1)
    check(lambda m, a: finite(m.csgraph.dijkstra(graph(m, a), indices=2, limit=1.0)), WEIGHTS, order=1)
    x = leaf(graph(scipy.sparse, WEIGHTS).toarray())
    found = sparse.csgraph.shortest_path(x)
    np.testing.assert_array_equal(plain(found), scipy.sparse.csgraph.shortest_path(plain(x)))
    path = np.zeros((6, 6))
    path[[0, 2, 3], [2, 3, 4]] = 1.0  # 2.5 + 0.4 + 1.2 is less than 1 + 3.3 + 1.2
    np.testing.assert_array_equal(plain(grad(found[0, 4], x)[0]), path)
    assert isinstance(sparse.csgraph.shortest_path(plain(x)), np.ndarray)


def test_predecessors_and_settings_of_shortest_paths():
    edges = graph(sparse, leaf(WEIGHTS))
    _, before = sparse.csgraph.shortest_path(edges, return_predecessors=True)
    np.testing.assert_array_equal(before.numpy(), scipy.sparse.csgraph.shortest_path(graph(scipy.sparse, WEIGHTS), return_predecessors=True)[1])
    check(lambda m, a: m.csgraph.construct_dist_matrix(graph(m, a).toarray(), before.numpy(), null_value=0.0), WEIGHTS, order=1)
    check(lambda m, a: m.csgraph.reconstruct_path(graph(m, a), before[0].numpy()), WEIGHTS, order=1)
    assert not sparse.csgraph.shortest_path(edges, unweighted=True).requires_grad
    with pytest.raises(NotImplementedError, match="min_only"):
        sparse.csgraph.dijkstra(edges, min_only=True)
    with pytest.raises(scipy.sparse.csgraph.NegativeCycleError):
        sparse.csgraph.bellman_ford(graph(sparse, leaf(-WEIGHTS)))


def test_trees_and_laplacians_of_graphs():
    check(lambda m, a: m.csgraph.minimum_spanning_tree(graph(m, a)), WEIGHTS, order=1)
    for name in ("breadth_first_tree", "depth_first_tree"):
        for directed in (True, False):
            check(lambda m, a, n=name, d=directed: getattr(m.csgraph, n)(graph(m, a), 0, directed=d), WEIGHTS, order=1)
    for settings in ({}, {"normed": True}, {"use_out_degree": True}, {"symmetrized": True, "normed": True}):
        check(lambda m, a, s=settings: m.csgraph.laplacian(graph(m, a), **s), WEIGHTS)
        check(lambda m, a, s=settings: m.csgraph.laplacian(graph(m, a).toarray(), return_diag=True, **s)[1], WEIGHTS)
    with pytest.raises(NotImplementedError, match="form"):
        sparse.csgraph.laplacian(graph(sparse, leaf(WEIGHTS)), form="lo")


def test_graphs_and_what_is_counted_in_them():
    edges = graph(sparse, leaf(WEIGHTS))
    check(lambda m, a: m.csgraph.csgraph_to_dense(graph(m, a), null_value=7.0), WEIGHTS, order=1)
    check(lambda m, a: m.csgraph.csgraph_from_dense(graph(m, a).toarray()), WEIGHTS, order=1)
    order = sparse.csgraph.breadth_first_order(edges, 0)[0]
    np.testing.assert_array_equal(order.numpy(), scipy.sparse.csgraph.breadth_first_order(graph(scipy.sparse, WEIGHTS), 0)[0])
    assert sparse.csgraph.connected_components(edges)[0] == 2
    with pytest.raises(RuntimeError, match="Use shortest_path"):
        sparse.csgraph.yen(edges.toarray(), 0, 4, 2)


def test_places_and_kinds_of_sparse_matrices():
    rows, cols, values = sparse.find(coo(sparse, leaf(VALUES)))
    for ours, theirs in zip((rows, cols, values.detach().numpy()), scipy.sparse.find(coo(scipy.sparse, VALUES))):
        np.testing.assert_array_equal(ours, theirs)
    check(lambda m, a: m.find(coo(m, a))[2], VALUES, order=1)
    assert not sparse.isspmatrix(coo(sparse, leaf(VALUES))) and sparse.isspmatrix_csr(sparse.csr_matrix(leaf(np.eye(2))))
    ours, theirs = [m.linalg.spbandwidth(coo(m, a).tocsr()) for m, a in ((sparse, leaf(VALUES)), (scipy.sparse, VALUES))]
    assert ours == theirs
