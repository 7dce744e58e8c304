"""Distributions against torch: values and gradients of every method, shapes, expansion, divergences, transforms, random numbers."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")

# torch's Wishart warns of samples that are not singular, and draws them again.
pytestmark = pytest.mark.filterwarnings("ignore:Singular sample detected")

import wengert  # noqa: E402
from distribution_cases import CASES, A  # noqa: E402
from loops import each  # noqa: E402
from outcomes import outcome  # noqa: E402

# Where torch computes with less precision than float64, or not at all:
COARSE = {"VonMises": 1e-6, "Multinomial": 1e-7}  # polynomials for Bessel functions; constants in float32
UNKNOWN_TO_TORCH = {
    ("Kumaraswamy", "mode"),  # NaN in torch
    ("LogitRelaxedBernoulli", "has_rsample"),  # False in torch, although rsample works
    ("Chi2", "cdf gradients"), ("Gamma", "cdf gradients"), ("InverseGamma", "cdf gradients"),  # not implemented in torch
    ("Wishart-factor", "log_prob gradients"),  # of elements above the diagonal of a lower triangular matrix
}  # fmt: skip
# torch draws rows of LKJCholesky from other beta distributions than its log_prob has, and valid Wishart matrices again.
DRAWS_DIFFER = {"LKJCholesky", "Wishart", "Wishart-factor"}


# torch approximates the derivatives of samples with their quantiles held fixed.
BY_QUANTILE = {"Beta", "Chi2", "Dirichlet", "FisherSnedecor", "Gamma", "InverseGamma", "StudentT"}


def make(name, library, dtype="float64"):
    """Return the distribution and its parameters."""
    parameters = []

    def tensor(array):
        found = library.tensor(array, dtype=getattr(library, dtype), requires_grad=True)
        parameters.append(found)
        return found

    return CASES[name](library.distributions, tensor), parameters


def compute(call):
    try:
        return call()
    except NotImplementedError:
        return None


def assert_same(name, ours, theirs, tolerance=1e-9):
    """Whether two tensors have the same dtype, shape and values, or both are missing."""
    assert (ours is None) == (theirs is None)
    if theirs is None:
        return
    assert str(ours.dtype) == str(theirs.dtype)
    assert tuple(ours.shape) == tuple(theirs.shape)
    tolerance = max(tolerance, COARSE.get(name, 0))
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=tolerance, atol=tolerance / 100)


def gradients(library, result, inputs):
    """Gradients of a weighted sum of the result."""
    weights = library.linspace(0.5, 1.5, result.numel(), dtype=result.dtype).reshape(result.shape)
    return library.autograd.grad((result * weights).sum(), inputs, allow_unused=True)


def values_of(name):
    """Values of the distribution, drawn by torch."""
    torch.manual_seed(0)
    return make(name, torch)[0].sample((2,)).numpy()


# torch computes its exponential case in the default dtype and refuses others, so that float32 is compared.
DOUBLE = [name for name in CASES if name != "GeneralizedPareto"]


@each("name", CASES)
def test_facts(name):
    ours, theirs = make(name, wengert)[0], make(name, torch)[0]
    assert repr(ours) == repr(theirs)
    for fact in ("batch_shape", "event_shape", "has_rsample", "has_enumerate_support", "arg_constraints"):
        if (name, fact) not in UNKNOWN_TO_TORCH:
            assert outcome(lambda: getattr(ours, fact)) == outcome(lambda: getattr(theirs, fact))  # noqa: B023
    assert type(ours.support).__name__ == type(theirs.support).__name__
    assert ours.support.event_dim == theirs.support.event_dim
    assert ours.support.is_discrete == theirs.support.is_discrete


@each("name", DOUBLE)
def test_moments(name):
    ours, theirs = make(name, wengert)[0], make(name, torch)[0]
    for moment in ("mean", "mode", "variance", "stddev"):
        if (name, moment) not in UNKNOWN_TO_TORCH:
            assert_same(name, compute(lambda: getattr(ours, moment)), compute(lambda: getattr(theirs, moment)))  # noqa: B023
    for method in ("entropy", "perplexity", "enumerate_support"):
        found = [compute(lambda: getattr(d, method)()) for d in (ours, theirs)]  # noqa: B023
        assert_same(name, *found)
    if theirs.has_enumerate_support and not theirs.event_shape:
        assert_same(name, *[compute(lambda: d.enumerate_support(False)) for d in (ours, theirs)])  # noqa: B023


@pytest.mark.slow
@each("name, method", [(name, method) for name in DOUBLE for method in ("log_prob", "cdf", "icdf", "entropy")])
def test_functions_and_their_gradients(name, method):
    numbers = np.full((2, *make(name, torch)[0].batch_shape), 0.3) if method == "icdf" else values_of(name)
    found = []
    for library in (wengert, torch):
        distribution, parameters = make(name, library)
        value = library.tensor(numbers)
        if value.dtype.is_floating_point:
            value.requires_grad_()
        result = compute(lambda: getattr(distribution, method)(*([] if method == "entropy" else [value])))  # noqa: B023
        found.append([library, result, [*parameters, value] if value.requires_grad else parameters])
    assert_same(name, found[0][1], found[1][1])
    if found[1][1] is not None and (name, f"{method} gradients") not in UNKNOWN_TO_TORCH and found[1][1].requires_grad:
        for ours, theirs in zip(*[gradients(*entry) for entry in found], strict=True):
            assert_same(name, ours, theirs, 1e-7)  # torch's derivatives of digamma have eight digits


def test_generalized_pareto():
    ours, theirs = make("GeneralizedPareto", wengert, "float32")[0], make("GeneralizedPareto", torch, "float32")[0]
    values = values_of("GeneralizedPareto").astype("float32")
    for method in ("log_prob", "cdf", "log_cdf", "log_survival_function"):
        found = [getattr(d, method)(library.tensor(values)).detach().numpy() for d, library in ((ours, wengert), (theirs, torch))]
        np.testing.assert_allclose(*found, rtol=1e-4, atol=1e-5)
    for method in ("mean", "variance", "mode"):
        np.testing.assert_allclose(getattr(ours, method).detach().numpy(), getattr(theirs, method).detach().numpy(), rtol=1e-5)
    np.testing.assert_allclose(ours.entropy().detach().numpy(), theirs.entropy().detach().numpy(), rtol=1e-5)


@pytest.mark.slow
@each("name", CASES)
def test_samples(name):
    for shape in ((), (2,), (5, 3)):
        for method in ("sample", "rsample"):
            torch.manual_seed(1)
            wengert.manual_seed(1)
            ours, theirs = (compute(lambda: getattr(make(name, t)[0], method)(shape)) for t in (wengert, torch))  # noqa: B023
            if theirs is None:
                assert ours is None
                continue
            assert str(ours.dtype) == str(theirs.dtype)
            assert tuple(ours.shape) == tuple(theirs.shape)
            assert ours.requires_grad == theirs.requires_grad
            if name not in DRAWS_DIFFER:
                np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-8, atol=1e-9)


@each("name", [name for name in DOUBLE if name not in DRAWS_DIFFER])
def test_gradients_of_samples(name):
    found = []
    for library in (wengert, torch):
        library.manual_seed(1)
        distribution, parameters = make(name, library)
        if not distribution.has_rsample:
            return
        found.append((library, distribution.rsample((3,)), parameters))
    for ours, theirs in zip(*[gradients(*entry) for entry in found], strict=True):
        if name in BY_QUANTILE:
            np.testing.assert_allclose(ours.numpy(), theirs.numpy(), atol=3e-4 * abs(theirs.numpy()).max())
        else:
            assert_same(name, ours, theirs)


@each("name", ["Gamma", "Beta", "Dirichlet"])
def test_gradients_of_rejected_samples(name):
    """The derivatives of samples with their quantiles held fixed, at samples of torch's."""
    x = np.random.default_rng(0).uniform(0.1, 0.9, (3, 4))
    if name == "Gamma":
        found = [t._standard_gamma_grad(t.tensor(A["positive"]), t.tensor(x)).numpy() for t in (wengert, torch)]
    else:
        total = A["positive"] + A["scale"]
        found = [t._dirichlet_grad(*map(t.tensor, (x, A["positive"], total))).numpy() for t in (wengert, torch)]
    np.testing.assert_allclose(*found, rtol=2e-4)  # torch approximates


@each("name", DOUBLE)
def test_expand(name):
    ours, theirs = make(name, wengert)[0], make(name, torch)[0]
    shape = (5, *theirs.batch_shape)
    ours, theirs = ours.expand(shape), theirs.expand(shape)
    assert repr(ours) == repr(theirs)
    assert tuple(ours.batch_shape) == tuple(theirs.batch_shape)
    assert ours.event_shape == ours.sample().shape[len(shape) :]
    values = values_of(name)[0]
    assert_same(name, ours.log_prob(wengert.tensor(values)), theirs.log_prob(torch.tensor(values)))
    assert_same(name, compute(lambda: ours.mean), compute(lambda: theirs.mean))
    if name != "Multinomial":  # torch's has no entropy
        assert_same(name, compute(lambda: ours.entropy()), compute(lambda: theirs.entropy()))


# -- divergences -------------------------------------------------------------------------------------------------------


ENDS = {  # uniform distributions inside and outside the supports of others
    "Uniform-inside": lambda d, t: d.Uniform(t(A["probs"] / 3), t(A["probs"])),
    "Uniform-outside": lambda d, t: d.Uniform(t(-A["probs"]), t(1 + A["probs"])),
    "Pareto-below": lambda d, t: d.Pareto(t(A["scale"] / 9), t(A["positive"])),
    "HalfNormal-two": lambda d, t: d.HalfNormal(t(A["positive"])),
    "Binomial-five": lambda d, t: d.Binomial(5, logits=t(A["loc"])),
    "Independent-other": lambda d, t: d.Independent(d.Normal(t(A["few"]), t(A["scale"])), 1),
    "LogNormal-other": lambda d, t: d.LogNormal(t(A["few"]), t(A["scale"])),
    "MultivariateNormal-other": lambda d, t: d.MultivariateNormal(t(A["few"] + 1), t(A["matrix"][0])),
    "LowRankMultivariateNormal-other": lambda d, t: d.LowRankMultivariateNormal(t(A["few"]), t(A["factor"] + 1), t(A["scale"])),
    **{
        f"{name}-other": lambda d, t, name=name: getattr(d, name)(t(A["positive"]))
        for name in ("Exponential", "Poisson", "Dirichlet", "Chi2", "HalfCauchy")
    },
    **{
        f"{name}-other": lambda d, t, name=name: getattr(d, name)(t(A["scale"]), t(A["positive"]))
        for name in ("Beta", "Gamma", "Cauchy", "Gumbel", "Laplace", "Normal")
    },
    **{
        f"{name}-other": lambda d, t, name=name: getattr(d, name)(t(A["probs"][::-1].copy()))
        for name in ("Bernoulli", "Categorical", "ContinuousBernoulli", "Geometric", "OneHotCategorical")
    },
}  # fmt: skip


def pairs():
    registry = torch.distributions.kl._KL_REGISTRY
    known = {**CASES, **ENDS}
    names = {(p.__name__, q.__name__) for p, q in registry} | {("Chi2", "Chi2"), ("LogNormal", "LogNormal")}
    for p, q in sorted(names - {("ExponentialFamily", "ExponentialFamily")}):
        for a in (name for name in known if name.split("-")[0] == p and not name.startswith("ContinuousBernoulli-l")):
            for b in (name for name in known if name.split("-")[0] == q):
                yield a, b


@each("a, b", list(pairs()))
def test_kl_divergence(a, b):
    found = []
    for library in (wengert, torch):
        p, q = ({**CASES, **ENDS}[name](library.distributions, library.tensor) for name in (a, b))
        try:
            found.append(library.distributions.kl_divergence(p, q).detach().numpy())
        except NotImplementedError:
            found.append(None)
        except RuntimeError:
            if library is wengert:
                raise
            return  # shapes of batches that torch does not broadcast
    ours, theirs = found
    if theirs is None:
        assert ours is None
        return
    np.testing.assert_allclose(*np.broadcast_arrays(ours, theirs), rtol=1e-6, atol=1e-8)


def test_own_divergences_are_registered():
    class Mine(wengert.distributions.Normal):
        pass

    p, q = Mine(0.0, 1.0), wengert.distributions.Normal(0.0, 2.0)
    expected = wengert.distributions.kl_divergence(wengert.distributions.Normal(0.0, 1.0), q)
    assert wengert.distributions.kl_divergence(p, q) == expected
    wengert.distributions.register_kl(Mine, wengert.distributions.Normal)(lambda p, q: "mine")
    try:
        assert wengert.distributions.kl_divergence(p, q) == "mine"
    finally:
        del wengert.distributions.kl._KL_REGISTRY[Mine, wengert.distributions.Normal]
        wengert.distributions.kl._KL_MEMOIZE.clear()


# -- transforms --------------------------------------------------------------------------------------------------------

TRANSFORMS = {
    "Abs": lambda d, t: (d.AbsTransform(), A["loc"]),
    "Affine": lambda d, t: (d.AffineTransform(t(A["few"]), t(-A["row"])), A["loc"]),
    "Affine-events": lambda d, t: (d.AffineTransform(1.0, -2.0, event_dim=1), A["loc"]),
    "Cat": lambda d, t: (d.CatTransform([d.ExpTransform(), d.AffineTransform(t(A["loc"][:, :3]), 2.0)], 1, [1, 3]), A["loc"]),
    "Compose": lambda d, t: (d.ComposeTransform([d.ExpTransform(), d.AffineTransform(1.0, 2.0)]), A["loc"]),
    "Compose-simplex": lambda d, t: (d.ComposeTransform([d.TanhTransform(), d.StickBreakingTransform()]), A["loc"]),
    "CorrCholesky": lambda d, t: (d.CorrCholeskyTransform(), A["matrix"][:, 0, :3]),
    "CumulativeDistribution": lambda d, t: (d.CumulativeDistributionTransform(d.Normal(t(A["few"]), 1.0)), A["loc"]),
    "Exp": lambda d, t: (d.ExpTransform(), A["loc"]),
    "Independent": lambda d, t: (d.IndependentTransform(d.ExpTransform(), 1), A["loc"]),
    "LowerCholesky": lambda d, t: (d.LowerCholeskyTransform(), A["matrix"]),
    "PositiveDefinite": lambda d, t: (d.PositiveDefiniteTransform(), A["matrix"]),
    "Power": lambda d, t: (d.PowerTransform(t(A["row"])), A["positive"]),
    "Reshape": lambda d, t: (d.ReshapeTransform((4,), (2, 2)), A["loc"]),
    "Sigmoid": lambda d, t: (d.SigmoidTransform(), A["loc"]),
    "Softmax": lambda d, t: (d.SoftmaxTransform(), A["loc"]),
    "Softplus": lambda d, t: (d.SoftplusTransform(), A["loc"]),
    "Stack": lambda d, t: (d.StackTransform([d.ExpTransform(), d.SigmoidTransform(), d.TanhTransform()]), A["loc"]),
    "StickBreaking": lambda d, t: (d.StickBreakingTransform(), A["loc"]),
    "Tanh": lambda d, t: (d.TanhTransform(), A["loc"]),
}  # fmt: skip


@each("name", TRANSFORMS)
def test_transforms(name):
    found = []
    for library in (wengert, torch):
        transform, numbers = TRANSFORMS[name](library.distributions, library.tensor)
        x = library.tensor(numbers, requires_grad=True)
        y = transform(x)
        back = transform.inv(y)
        jacobian = compute(lambda: transform.log_abs_det_jacobian(x, y))  # noqa: B023
        shapes = (tuple(transform.forward_shape(x.shape)), tuple(transform.inverse_shape(y.shape)))
        found.append([y, back, jacobian, *gradients(library, y, [x]), repr(transform), shapes])
        if jacobian is not None and jacobian.requires_grad:
            found[-1] += gradients(library, transform.log_abs_det_jacobian(x, transform(x)), [x])
    for ours, theirs in zip(*found, strict=True):
        if isinstance(theirs, (str, tuple)):
            assert ours == theirs
        else:
            assert_same(name, ours, theirs)


CONSTRAINTS = [
    "positive", "nonnegative", "greater_than(2.0)", "greater_than_eq(-1.0)", "less_than(1.0)", "interval(-1.0, 3.0)",
    "half_open_interval(0.0, 2.0)", "unit_interval", "simplex", "corr_cholesky", "lower_cholesky", "positive_definite",
    "real_vector", "cat([c.positive, c.real], -1, [1, 2])", "stack([c.positive, c.real, c.unit_interval], -1)",
]  # fmt: skip


@each("registry, constraint", [(r, c) for r in ("biject_to", "transform_to") for c in CONSTRAINTS])
def test_transforms_of_constraints(registry, constraint):
    found = []
    for library in (wengert, torch):
        d = library.distributions
        wanted = eval(f"c.{constraint}", {"c": d.constraints})
        try:
            transform = getattr(d, registry)(wanted)
        except NotImplementedError as error:
            found.append(str(error))
            continue
        x = library.tensor(A["matrix"][:, :3, :3])
        y = transform(x)
        assert wanted.check(y).all()
        found.append(y.numpy())
    if isinstance(found[1], str):
        assert found[0] == found[1]
    else:
        np.testing.assert_allclose(*found, rtol=1e-10, atol=1e-12)


def test_a_cache_returns_the_same_tensor():
    for library in (wengert, torch):
        d = library.distributions
        transform = d.ComposeTransform([d.TanhTransform(), d.SigmoidTransform()]).with_cache()
        x = library.tensor([30.0])  # tanh loses it
        assert transform.inv(transform(x)) is x
        assert d.TanhTransform().inv(d.TanhTransform()(x)) == library.inf


def test_default_validation_can_be_changed():
    for library in (wengert, torch):
        distribution = library.distributions.Distribution
        distribution.set_default_validate_args(False)
        try:
            assert library.distributions.Normal(0.0, -1.0).scale == -1
            with pytest.raises(ValueError, match="Expected parameter scale"):
                library.distributions.Normal(0.0, -1.0, validate_args=True)
        finally:
            distribution.set_default_validate_args(True)


def test_subclasses_expand_by_their_own_method():
    for library in (wengert, torch):
        normal = library.distributions.Normal

        class Shifted(normal):
            def __init__(self, loc, by):
                self.by = by
                super().__init__(loc + by, 1.0)

            def expand(self, batch_shape, _instance=None):
                new = self._get_checked_instance(Shifted, _instance)
                new.by = self.by
                return super().expand(batch_shape, _instance=new)

        found = Shifted(0.0, 2.0).expand((3,))
        assert type(found) is Shifted
        assert found.by == 2.0
        assert found.mean.tolist() == [2.0] * 3


def test_warnings_stand_at_the_users_line():
    for library in (wengert, torch):

        class Bare(library.distributions.Distribution):
            def log_prob(self, value):
                self._validate_sample(value)

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            Bare().log_prob(library.tensor(0.0))
        assert ["does not define `arg_constraints`" in str(w.message) for w in caught] == [True, False]
        assert "does not define `support`" in str(caught[1].message)
        if library is wengert:
            assert [w.filename for w in caught] == [__file__] * 2


@pytest.mark.parametrize("name", ["Normal", "HalfNormal", "HalfCauchy", "Laplace", "Cauchy", "Multinomial", "OneHotCategorical"])
def test_expand_of_a_subclass_with_its_own_init_is_refused_by_the_public_class(name):
    def message(library):
        probs = library.ones(2)
        args = {"Multinomial": (2, probs), "OneHotCategorical": (probs,), "HalfNormal": (1.0,), "HalfCauchy": (1.0,)}.get(name, (0.0, 1.0))

        class Mine(getattr(library.distributions, name)):
            def __init__(self):
                super().__init__(*args)

        with pytest.raises(NotImplementedError) as caught:
            Mine().expand((2,))
        return str(caught.value)

    assert message(wengert) == message(torch)
