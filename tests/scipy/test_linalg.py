"""wengert.scipy.linalg: values, and derivatives to second order, against SciPy and its finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg

import wengert
import wengert.scipy.linalg as linalg
from loops import each
from scipy_checks import check_call
from wengert.autograd import grad

_rng = np.random.default_rng(5)
A = _rng.normal(size=(4, 4)) + 3 * np.eye(4)
B = _rng.normal(size=(4, 2))
S = A @ A.T / 4 + np.eye(4)  # symmetric, positive definite
T = _rng.normal(size=(4, 4))  # read in one triangle
T = S + np.diag([0.0, 1.0, 2.5, 4.0]) + np.triu(T, 1)  # its upper triangle is not that of its lower one
G = np.diag([1.0, 2.0, 3.0, 4.0]) + 0.1 * _rng.normal(size=(4, 4))
C = A + 1j * _rng.normal(size=(4, 4))
H = C @ C.conj().T / 4 + np.eye(4)
M = _rng.normal(size=(5, 3))
W = _rng.normal(size=(3, 5))
V = np.array([2.0, -0.5, 0.3, 0.7])
R = np.array([2.0, 0.4, -0.2, 0.1])
BANDS = np.array([[0.0, 0.3, -0.4, 0.2], [2.0, 3.0, 2.5, 4.0], [0.5, -0.3, 0.1, 0.0], [0.2, 0.1, 0.0, 0.0]])
UPPER = np.array([[0.0, 0.3, -0.4, 0.2], [2.0, 3.0, 2.5, 4.0]])
LOWER = np.array([[2.0, 3.0, 2.5, 4.0], [0.3, -0.4, 0.2, 0.0]])
Q2, R2 = np.array([[2.0, 0.1], [0.1, 1.0]]), np.eye(2) + 0.1
S42 = 0.1 * _rng.normal(size=(4, 2))
STABLE = 0.3 * _rng.normal(size=(4, 4))
PAIRS = np.array([[1.0, 2.0, 0.3, 0.1], [-3.0, 0.5, -0.2, 0.4], [0.2, 0.1, 3.0, 0.2], [0.1, -0.3, 0.4, 5.0]])
SHAPE = (scipy.linalg.schur(PAIRS)[0] != 0) * 1.0
CONJUGATE = np.array([2.0, -2.0, 0.0, 0.0])


def spread(x: Any) -> Any:
    """Matrix with a structure that a function asks for, made of an unstructured array."""
    return 0.5 * (x + x.T)


def factors(a: Any) -> Any:
    """A QR decomposition: an argument that has to be one."""
    return linalg.qr(a, mode="economic")


def projector(basis: Any) -> Any:
    """The projector on a space, which does not depend on the basis."""
    return basis @ basis.conj().T


def turned(found: Any) -> Any:
    """The results with vectors whose largest elements are positive: LAPACK's signs and phases change from call to call."""
    values, *vectors = found
    fixed = []
    for v in vectors:
        size = v.detach().abs().numpy() if isinstance(v, wengert.Tensor) else np.abs(v)
        element = v[np.argmax(size, 0), np.arange(v.shape[1])]
        fixed.append(v * (element.conj() / abs(element)))
    return values, *fixed


# name, call(function, *arrays), arrays. Both SciPy's function and ours are called.
ROWS: list[tuple[Any, ...]] = [
    ("solve", lambda f, a, b: f(a, b), A, B), ("solve", lambda f, a, b: f(a, b), A, V), ("solve", lambda f, a, b: f(a, b), C, C),
    ("solve", lambda f, a, b: f(a, b, transposed=True), A, V), ("solve", lambda f, a, b: f(a, b, assume_a="pos"), T.T, B),
    ("solve", lambda f, a, b: f(a, b, lower=True, assume_a="sym"), T, B), ("solve", lambda f, a, b: f(a, b, assume_a="her"), H, B),
    ("solve", lambda f, a, b: f(a, b, assume_a="upper triangular"), A, B), ("solve", lambda f, a, b: f(a, b, assume_a="diagonal"), np.diag(V), B),
    ("solve_triangular", lambda f, a, b: f(a, b), A, B), ("solve_triangular", lambda f, a, b: f(a, b, "T", True), A, V),
    ("solve_triangular", lambda f, a, b: f(a, b, 2, True, True), C, B),
    ("solve_banded", lambda f, a, b: f((2, 1), a, b), BANDS, B), ("solve_banded", lambda f, a, b: f((2, 1), a, b), BANDS + 0.2j, V),
    ("solveh_banded", lambda f, a, b: f(a, b), UPPER, B), ("solveh_banded", lambda f, a, b: f(a, b, lower=True), LOWER, V),
    ("solve_toeplitz", lambda f, c, r, b: f((c, r), b), V, R, B), ("solve_toeplitz", lambda f, c, b: f(c, b), V, R),
    ("solve_circulant", lambda f, c, b: f(c, b), V, B), ("matmul_toeplitz", lambda f, c, r, b: f((c, r), b), V, R, B),
    ("inv", lambda f, a: f(a), A), ("inv", lambda f, a: f(a, assume_a="pos", lower=True), T), ("det", lambda f, a: f(a), A), ("det", lambda f, a: f(a), C),
    ("lstsq", lambda f, a, b: f(a, b), M, M[:, :2] + 1), ("lstsq", lambda f, a, b: f(a, b)[0], W, W[:, 0].copy()),
    ("pinv", lambda f, a: f(a), M), ("pinvh", lambda f, a: f(a), T),
    ("norm", lambda f, a: f(a), M), ("norm", lambda f, a: f(a, 2), M), ("norm", lambda f, a: f(a, 1, 0), M), ("norm", lambda f, a: f(a, np.inf), M),
    ("cholesky", lambda f, a: f(a), T.T), ("cholesky", lambda f, a: f(a, lower=True), T), ("cholesky", lambda f, a: f(a, True), H),
    ("cho_factor", lambda f, a: f(a)[0], S), ("cho_solve", lambda f, c, b: f((c, True), b), A, B), ("cho_solve", lambda f, c, b: f((c, False), b), A, V),
    ("cholesky_banded", lambda f, a: f(a), UPPER), ("cholesky_banded", lambda f, a: f(a, lower=True), LOWER),
    ("cho_solve_banded", lambda f, c, b: f((c, False), b), UPPER, B), ("cho_solve_banded", lambda f, c, b: f((c, True), b), LOWER, V),
    ("lu", lambda f, a: f(a), A), ("lu", lambda f, a: f(a, permute_l=True), M), ("lu", lambda f, a: f(a, p_indices=True), W),
    ("lu_factor", lambda f, a: f(a), A), ("lu_solve", lambda f, c, b: f((c, np.array([1, 3, 2, 3])), b), A, B),
    ("lu_solve", lambda f, c, b: f((c, np.array([1, 3, 2, 3])), b, 1), A, V),
    ("qr", lambda f, a: f(a), A), ("qr", lambda f, a: f(a, mode="economic"), M), ("qr", lambda f, a: f(a, mode="r"), M),
    ("qr", lambda f, a: f(a, pivoting=True, mode="economic"), M), ("rq", lambda f, a: f(a), A), ("rq", lambda f, a: f(a, mode="economic"), W),
    ("ldl", lambda f, a: f(spread(a)), A), ("ldl", lambda f, a: f(spread(a), lower=False), A),
    ("ldl", lambda f, a: f(a), np.array([[0.0, 1.0, 2.0], [1.0, 0.1, 0.3], [2.0, 0.3, 0.2]])),
    ("svd", lambda f, a: f(a), A), ("svd", lambda f, a: f(a, full_matrices=False), M), ("svd", lambda f, a: f(a, compute_uv=False), W),
    ("svdvals", lambda f, a: f(a), M),
    ("eigh", lambda f, a: turned(f(a)), T), ("eigh", lambda f, a: turned(f(a, lower=False)), T.T), ("eigh", lambda f, a: turned(f(a)), H),
    ("eigh", lambda f, a, b: turned(f(a, spread(b))), T, S), ("eigh", lambda f, a, b: turned(f(a, spread(b), type=2)), T, S), ("eigh", lambda f, a, b: turned(f(a, spread(b), type=3)), T, S),
    ("eigh", lambda f, a: turned(f(a, subset_by_index=[1, 2])), T), ("eigh", lambda f, a: turned(f(a, subset_by_value=[0, 3])), T),
    ("eigvalsh", lambda f, a: f(a), T), ("eigvalsh", lambda f, a, b: f(a, spread(b)), T, S),
    ("eig_banded", lambda f, a: turned(f(a)), UPPER), ("eigvals_banded", lambda f, a: f(a, lower=True), LOWER),
    ("eigh_tridiagonal", lambda f, d, e: turned(f(d, e)), V, V[:3] + 1), ("eigvalsh_tridiagonal", lambda f, d, e: f(d, e, "i", (1, 2)), V, V[:3] + 1),
    ("eig", lambda f, a: turned(f(a)), G), ("eig", lambda f, a: turned(f(a, left=True)), G), ("eigvals", lambda f, a: f(a), A), ("eigvals", lambda f, a, b: f(a, b), A, S),
    ("eig", lambda f, a: turned(f(a)), np.array([[1.0, 2.0], [-3.0, 0.5]])), ("eig", lambda f, a: turned(f(a)), C), ("eig", lambda f, a, b: turned(f(a, b)), G, S),
    ("polar", lambda f, a: f(a), A), ("polar", lambda f, a: f(a, side="left"), W),
    ("null_space", lambda f, a: projector(f(a)), W), ("null_space", lambda f, a: projector(f(a)), W + 1j * W[::-1] ** 2),
    ("orth", lambda f, a: projector(f(a)), M),
    ("funm", lambda f, a: f(a, lambda x: np.exp(x) * x), G), ("funm", lambda f, a: f(a, np.sin), C), ("funm", lambda f, a: f(a, np.sqrt), -G),
    ("schur", lambda f, a: [abs(x) for x in f(a, output="complex")], A), ("schur", lambda f, a: abs(f(a)[1]), G), ("schur", lambda f, a: abs(f(a)[0]), C),
    ("schur", lambda f, a: f(a), PAIRS), ("schur", lambda f, a: abs(f(a)[0]), PAIRS[:2, :2].copy()),
    ("rsf2csf", lambda f, t, z: [abs(x) ** 2 for x in f(t * SHAPE, z)], *scipy.linalg.schur(PAIRS)),
    ("qz", lambda f, a, b: [abs(x) for x in f(a, b, output="complex")], A, S), ("qz", lambda f, a, b: f(a, b), G, S),
    ("qz", lambda f, a, b: [abs(x) for x in f(a, b)], C, H), ("ordqz", lambda f, a, b: f(a, b, "ouc"), G, S),
    ("ordqz", lambda f, a, b: [abs(x) for x in f(a, b, output="complex")], A, S),
    ("cdf2rdf", lambda f, v: f(np.array([1 + 2j, 1 - 2j, 3.0, 4.0]), v), C), ("cdf2rdf", lambda f, w: f(w + 1j * CONJUGATE, A), V),
    ("cdf2rdf", lambda f, w, v: f(w, v), np.array([V[:2], R[:2]]), np.array([Q2, R2])),
    ("matrix_balance", lambda f, a: (f(a)[0] ** 2, f(a)[1]), A * [[1, 100, 10000, 1]]), ("matrix_balance", lambda f, a: f(a, separate=True)[0] ** 2, np.triu(A)),
    ("expm_cond", lambda f, a: f(a), STABLE[:3, :3].copy()), ("fiedler_companion", lambda f, a: f(a), np.append(V, R)),
    ("fiedler_companion", lambda f, a: f(a), V), ("fiedler_companion", lambda f, a: f(a), V[:2]),
    ("clarkson_woodruff_transform", lambda f, a: f(a, 3, 0), M),
    *[("qr_multiply", lambda f, a, c, k=k: f(a, c, **k), a, c) for a, c, k in (
        (A, B.T, {}), (A, B, {"mode": "left"}), (M, W[:, :5], {}), (M, W[:, 0], {"mode": "left"}), (A, B.T, {"pivoting": True}), (C, B.T, {"conjugate": True}),
    )],
    *[("qr_insert", lambda f, a, u, k=k, axis=axis: f(*factors(a), u, k, axis), m, u) for m, u, k, axis in (
        (M, W[0, :3], 1, "row"), (M, M[:, 1] ** 2, 2, "col"), (W, W[0, :5] ** 2, 1, "row"), (M, M[:2] ** 2, -1, "row"),
    )],
    *[("qr_delete", lambda f, a, k=k, axis=axis, p=p: f(*factors(a), k, p, axis), m) for m, k, p, axis in (
        (M, 1, 1, "row"), (W.T, 1, 1, "col"), (A, 0, 2, "row"),
    )],
    ("qr_update", lambda f, a, u, v: f(*factors(a), u, v), M, W[0], R[:3]),
    ("qr_update", lambda f, a, u, v: f(*factors(a), u, v), A, B, B[::-1] ** 2),
    ("hessenberg", lambda f, a: f(a, calc_q=True), A), ("hessenberg", lambda f, a: f(a, calc_q=True), C), ("hessenberg", lambda f, a: f(a), B[:2]),
    ("subspace_angles", lambda f, a, b: f(a, b), M[:, :2], M[:, 1:] ** 2), ("orthogonal_procrustes", lambda f, a, b: f(a, b), M, M[::-1] ** 2),
    ("expm", lambda f, a: f(a), STABLE), ("expm", lambda f, a: f(a), 0.2 * C), ("logm", lambda f, a: f(a), G), ("sqrtm", lambda f, a: f(a), S),
    ("sqrtm", lambda f, a: f(a), np.diag([1.0, -2.0, 3.0]) + 0.1), ("signm", lambda f, a: f(a), G - 2.5 * np.eye(4)),
    ("fractional_matrix_power", lambda f, a: f(a, 0.3), G), ("logm", lambda f, a: f(a), C), ("fractional_matrix_power", lambda f, a: f(a, -1.4), G),
    ("cosm", lambda f, a: f(a), STABLE), ("sinm", lambda f, a: f(a), STABLE), ("tanm", lambda f, a: f(a), STABLE), ("cosm", lambda f, a: f(a), 0.2 * C),
    ("coshm", lambda f, a: f(a), STABLE), ("sinhm", lambda f, a: f(a), STABLE), ("tanhm", lambda f, a: f(a), STABLE),
    ("expm_frechet", lambda f, a, e: f(a, e), STABLE, A), ("expm_frechet", lambda f, a, e: f(a, e, compute_expm=False), STABLE, A),
    ("solve_sylvester", lambda f, a, b, q: f(a, b, q), A, R2, B), ("solve_sylvester", lambda f, a, b, q: f(a, b, q), C, R2, B),
    ("solve_continuous_lyapunov", lambda f, a, q: f(a, q), A, S), ("solve_lyapunov", lambda f, a, q: f(a, q), C, S),
    ("solve_discrete_lyapunov", lambda f, a, q: f(a, q), STABLE, A),
    ("solve_continuous_are", lambda f, a, b, q, r: f(a, b, spread(q), spread(r)), STABLE, B, S, R2),
    ("solve_continuous_are", lambda f, a, b, q, r, e, s: f(a, b, spread(q), spread(r), e, s), STABLE, B, S, R2, A, S42),
    ("solve_discrete_are", lambda f, a, b, q, r: f(a, b, spread(q), spread(r)), STABLE, B, S, R2),
    ("solve_discrete_are", lambda f, a, b, q, r, e, s: f(a, b, spread(q), spread(r), e, s), STABLE, B, S, R2, A, S42),
    ("toeplitz", lambda f, c: f(c), V), ("toeplitz", lambda f, c, r: f(c, r), V, R[:3]), ("toeplitz", lambda f, c: f(c), V + 1j),
    ("hankel", lambda f, c: f(c), V), ("hankel", lambda f, c, r: f(c, r), V, R[:3]), ("circulant", lambda f, c: f(c), V),
    ("companion", lambda f, a: f(a), V), ("leslie", lambda f, a, s: f(a, s), V, R[:3]), ("fiedler", lambda f, a: f(a), V),
    *[("convolution_matrix", lambda f, a, m=mode, n=n: f(a, n, m), V) for mode in ("full", "same", "valid") for n in (3, 6)],
    ("diagsvd", lambda f, s: f(s, 3, 5), V[:3]), ("block_diag", lambda f, a, b, v: f(a, b, v), A, B, V), ("khatri_rao", lambda f, a, b: f(a, b), B, B[:3]),
]  # fmt: skip
STEPS: dict[str, tuple[float, float]] = {}


def one_call(name: str, call: Any, *arrays: Any, **settings: Any) -> None:
    check_call("linalg", name, call, *arrays, value_rtol=1e-9, **settings)


@pytest.mark.slow
@each("name, arguments", [(row[0], row[1:]) for row in ROWS])
def test_values_and_derivatives(name, arguments):
    step, rtol = STEPS.get(name, (2e-3, 2e-6))
    one_call(name, *arguments, step=step, rtol=rtol)


def test_each_function_has_a_row():
    assert set(linalg._module.functions) - {row[0] for row in ROWS} == set()


def test_derivatives_stay_in_the_triangle_that_is_read():
    for name, settings, empty in [
        ("cholesky", {"lower": True}, np.triu), ("cholesky", {}, np.tril), ("eigvalsh", {}, np.triu),
        ("eigvalsh", {"lower": False}, np.tril), ("solve_triangular", {}, np.tril),
    ]:  # fmt: skip
        x = wengert.tensor(S, requires_grad=True)
        arguments = (x, wengert.tensor(B)) if name == "solve_triangular" else (x,)
        (slope,) = grad(getattr(linalg, name)(*arguments, **settings).sum(), x)
        assert not np.any(empty(slope.numpy(), 1 if empty is np.triu else -1)), name
        assert np.any(slope.numpy())


def test_bad_input_is_refused():
    x = wengert.tensor(A, requires_grad=True)
    with pytest.raises(np.linalg.LinAlgError):
        linalg.solve(0 * x, V)
    with pytest.raises(np.linalg.LinAlgError):
        linalg.cholesky(-x)
    with pytest.raises(ValueError, match="infs or NaNs"):
        linalg.solve(x * float("nan"), V)
    with pytest.raises(ValueError, match="square"):
        linalg.inv(x[:2])
    with pytest.raises(ValueError, match="matrix structure"):
        linalg.solve(x, V, assume_a="round")
    with pytest.raises(ValueError, match="lower and upper diagonals"):
        linalg.solve_banded((1, 1), x, V)
    with pytest.raises(RuntimeError, match=r"scipy\.linalg\.cossin has no derivative here.*stay unitary"):
        linalg.cossin(x, 2, 2)
    with pytest.raises(NotImplementedError, match="economic"):
        linalg.qr_update(*scipy.linalg.qr(M), wengert.ones(5, dtype=wengert.float64, requires_grad=True), R[:3])
    with pytest.raises(NotImplementedError, match="output='complex'"):
        linalg.qz(wengert.tensor(PAIRS, requires_grad=True), np.eye(4))
    with pytest.raises(ValueError, match="zero"):
        linalg.fiedler_companion(0 * x[0])
    with pytest.raises(wengert.errors.ArgumentError, match=r"scipy\.linalg\.qr cannot be called"):
        linalg.qr(x, mode="raw")
    found = linalg.qr(wengert.tensor(A), mode="raw")  # not differentiated: SciPy's function runs
    np.testing.assert_array_equal(found[1].numpy(), scipy.linalg.qr(A, mode="raw")[1])


def test_arguments_are_not_overwritten():
    x, before = wengert.tensor(A.copy()), A.copy()
    for name in ("inv", "lu_factor", "eigvals", "svdvals", "det"):
        getattr(linalg, name)(x, overwrite_a=True)
        np.testing.assert_array_equal(x.numpy(), before)


def test_power_of_a_matrix_in_its_exponent():
    t = wengert.tensor(0.3, dtype=wengert.float64, requires_grad=True)
    found = linalg.fractional_matrix_power(wengert.tensor(G), t)
    np.testing.assert_allclose(found.detach().numpy(), scipy.linalg.fractional_matrix_power(G, 0.3))
    (slope,) = grad(found.sum(), t)
    expected = np.sum(scipy.linalg.logm(G) @ scipy.linalg.fractional_matrix_power(G, 0.3))
    np.testing.assert_allclose(slope.numpy(), expected)


def test_float32_stays_float32():
    x = wengert.tensor(S.astype(np.float32), requires_grad=True)
    for name in ("inv", "cholesky", "expm", "sqrtm", "eigvalsh", "det", "toeplitz"):
        assert getattr(linalg, name)(x).dtype == wengert.float32, name


def test_schur_forms_and_bases():
    a = wengert.tensor(A, requires_grad=True)
    triangle, unitary = linalg.schur(a, output="complex")
    product = unitary @ triangle @ unitary.mH
    (slope,) = grad(product.real[1, 2], a)
    np.testing.assert_allclose(slope.numpy(), np.eye(4)[1][:, None] * np.eye(4)[2], atol=1e-12)
    with pytest.raises(NotImplementedError, match="output='complex'"):
        linalg.schur(wengert.tensor([[1.0, 2.0], [-2.0, 1.0]], requires_grad=True))
    with pytest.raises(wengert.errors.ArgumentError, match="cannot be called with these settings"):
        linalg.schur(a, sort="lhp")
    basis = linalg.null_space(wengert.tensor(W, requires_grad=True))
    np.testing.assert_array_equal(basis.detach().numpy(), scipy.linalg.null_space(W))
