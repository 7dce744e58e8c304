"""wengert.hips.scipy gives HIPS's values and gradients, and checks by finite differences what HIPS does not have."""

import importlib

import numpy as onp
import pytest
from scipy import stats as scipy_stats

import wengert
from loops import each

pytest.importorskip("autograd")

from wengert.autograd import gradcheck, gradgradcheck
from wengert.hips.test_util import check_grads
from wengert.ops.faces import tensor_face

X = onp.array([0.3, 1.2, 0.8])
COV = onp.array([[2.0, 0.3, 0.1], [0.3, 1.5, -0.2], [0.1, -0.2, 1.1]])
DENSITIES = {
    "norm.logpdf": (X, 0.2, 1.3), "norm.pdf": (X, 0.2, 1.3), "norm.cdf": (X, 0.2, 1.3), "norm.logcdf": (X, 0.2, 1.3),
    "norm.sf": (X, 0.2, 1.3), "norm.logsf": (X, 0.2, 1.3), "t.logpdf": (X, 3.5, 0.1, 1.2), "t.pdf": (X, 3.5, 0.1, 1.2),
    "t.cdf": (X, 3.5), "t.logcdf": (X, 3.5), "beta.logpdf": (X / 2, 1.5, 2.5), "beta.pdf": (X / 2, 1.5, 2.5),
    "beta.cdf": (X / 2, 1.5, 2.5), "gamma.logpdf": (X, 1.7), "gamma.pdf": (X, 1.7), "gamma.cdf": (X, 1.7), "chi2.logpdf": (X, 3.0),
    "chi2.pdf": (X, 3.0), "chi2.cdf": (X, 3.0), "dirichlet.logpdf": (X / X.sum(), X + 1), "dirichlet.pdf": (X / X.sum(), X + 1),
    "multivariate_normal.logpdf": (X, X[::-1].copy(), COV), "multivariate_normal.pdf": (X, X[::-1].copy(), COV),
}  # fmt: skip
IN_X_ALONE = {"t.cdf", "t.logcdf", "beta.cdf", "gamma.cdf", "chi2.cdf", "chi2.logpdf", "chi2.pdf"}  # what HIPS differentiates


def gradients(library, name, args):
    """Return the value, and the gradients of its sum in all arguments that HIPS differentiates in."""
    ag, np = importlib.import_module(library), importlib.import_module(f"{library}.numpy")
    family, function = name.split(".")
    run = getattr(importlib.import_module(f"{library}.scipy.stats.{family}"), function)
    argnums = (0,) if name in IN_X_ALONE else tuple(range(len(args)))
    return [run(*args), *ag.grad(lambda *a: np.sum(run(*a) * onp.arange(1.0, 4.0)), argnums)(*args)]


@each("name", DENSITIES)
def test_densities_have_the_values_and_gradients_of_hips(name):
    expected, found = gradients("autograd", name, DENSITIES[name]), gradients("wengert.hips", name, DENSITIES[name])
    for theirs, ours in zip(expected, found):
        assert onp.shape(ours) == onp.shape(theirs)
        onp.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


@each("shape", [(3,), (4, 3), (2, 1, 3)])
def test_all_results_of_the_normal_density_have_two_derivatives(shape):
    rs = onp.random.RandomState(3)
    x = wengert.tensor(rs.randn(*shape), requires_grad=True)
    cov = wengert.tensor(COV + onp.triu(rs.rand(3, 3)) / 10, requires_grad=True)  # the symmetric part counts
    density, factor, solved = tensor_face._normal_log_density(x, cov)
    symmetric = (cov.detach().numpy() + cov.detach().numpy().T) / 2
    expected = scipy_stats.multivariate_normal.logpdf(x.detach().numpy(), onp.zeros(3), symmetric)
    onp.testing.assert_allclose(density.detach(), onp.reshape(expected, shape[:-1]))
    onp.testing.assert_allclose(factor.detach(), onp.linalg.cholesky(symmetric))
    onp.testing.assert_allclose(symmetric @ solved.detach().numpy()[..., None], x.detach().numpy()[..., None])
    assert gradcheck(tensor_face._normal_log_density, (x, cov), check_forward_ad=True)
    assert gradgradcheck(tensor_face._normal_log_density, (x, cov))


def test_poisson_in_its_mean():
    poisson = importlib.import_module("wengert.hips.scipy.stats.poisson")
    counts = onp.array([0.0, 1.0, 4.0])
    for function in (poisson.logpmf, poisson.pmf, poisson.cdf):
        check_grads(lambda mu, function=function: function(counts, mu))(X)
    assert poisson.logpmf(3, 2.0) == pytest.approx(onp.log(2.0**3 * onp.exp(-2.0) / 6))


def test_singular_covariances():
    mvn = importlib.import_module("wengert.hips.scipy.stats.multivariate_normal")
    stats = importlib.import_module("scipy.stats")
    flat = onp.diag([1.0, 2.0, 0.0])
    x = onp.array([0.3, -0.4, 0.0])
    ag = importlib.import_module("wengert.hips")
    value, slope = ag.value_and_grad(lambda x: mvn.logpdf(x, onp.zeros(3), flat, allow_singular=True))(x)
    assert value == pytest.approx(stats.multivariate_normal.logpdf(x, onp.zeros(3), flat, allow_singular=True))
    onp.testing.assert_allclose(slope, [-0.3, 0.2, 0.0], atol=1e-12)
    with pytest.raises(wengert.errors.SingularMatrixError):
        ag.grad(lambda x: mvn.logpdf(x, onp.zeros(3), -COV))(x)
    ours = ag.grad(mvn.entropy, 1)(onp.zeros(3), COV)
    onp.testing.assert_allclose(ours, 0.5 * onp.linalg.inv(COV), rtol=1e-10)


CONVOLUTIONS = [
    ((5,), (3,), {}), ((3,), (5,), {"mode": "valid"}), ((4, 5), (3, 2), {"mode": "same"}), ((3, 2), (4, 5), {"mode": "full"}),
    ((2, 3, 6, 5), (3, 4, 3, 2), {"axes": ([2, 3], [2, 3]), "dot_axes": ([1], [0]), "mode": "valid"}),
    ((2, 3, 6), (4, 3, 3), {"axes": ([2], [2]), "dot_axes": ([1], [1]), "mode": "full"}),
    ((2, 3), (3, 4), {"axes": ([], []), "dot_axes": ([1], [0])}),
]  # fmt: skip


def convolved(library, A, B, options):
    """Return a convolution, and the gradients of the sum of its squares."""
    ag, np = importlib.import_module(library), importlib.import_module(f"{library}.numpy")
    convolve = importlib.import_module(f"{library}.scipy.signal").convolve
    return [convolve(A, B, **options), *ag.grad(lambda A, B: np.sum(convolve(A, B, **options) ** 2), (0, 1))(A, B)]


@each("a, b, options", CONVOLUTIONS)
def test_convolutions_have_the_values_and_gradients_of_hips(a, b, options):
    random = onp.random.default_rng(0)
    A, B = random.standard_normal(a), random.standard_normal(b)
    found = [convolved(library, A, B, options) for library in ("autograd", "wengert.hips")]
    for theirs, ours in zip(*found):
        onp.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-11)


def test_convolutions_refuse_what_does_not_fit():
    convolve = importlib.import_module("wengert.hips.scipy.signal").convolve
    with pytest.raises(ValueError, match="One array must be larger than the other along all convolved dimensions"):
        convolve(onp.ones((2, 5)), onp.ones((3, 3)), mode="valid")
    with pytest.raises(AssertionError, match="Mode no undefined"):
        convolve(onp.ones(2), onp.ones(2), mode="no")


def test_special_and_linalg_are_those_of_wengert():
    special, linalg = (importlib.import_module(f"wengert.hips.scipy.{name}") for name in ("special", "linalg"))
    check_grads(lambda x: special.logsumexp(special.gammaln(x) + special.expit(x)))(X)
    assert type(linalg.inv(COV)) is onp.ndarray
    assert type(special.gammaln(X)) is onp.ndarray


def test_odeint_follows_hips():
    found = []
    for library in ("autograd", "wengert.hips"):
        ag, np = importlib.import_module(library), importlib.import_module(f"{library}.numpy")
        odeint = importlib.import_module(f"{library}.scipy.integrate").odeint

        pack = importlib.import_module(f"{library}.builtins").tuple

        def loss(y0, rate, np=np, odeint=odeint, pack=pack):
            right_side = lambda y, t, rate: np.array([y[1], -rate * y[0] - 0.1 * y[1]])  # noqa: E731
            return np.sum(odeint(right_side, y0, onp.linspace(0, 2, 5), pack((rate,)), rtol=1e-9, atol=1e-9) ** 2)

        found.append(ag.grad(loss, (0, 1))(onp.array([1.0, 0.5]), 1.7))
    for theirs, ours in zip(*found):
        onp.testing.assert_allclose(ours, theirs, rtol=1e-5)
