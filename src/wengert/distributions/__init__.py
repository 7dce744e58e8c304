"""torch.distributions: probability distributions with samples, log-probabilities, divergences, transforms and constraints.

Each name is loaded when it is first used.

>>> import wengert
>>> policy = wengert.distributions.Categorical(logits=wengert.tensor([0.0, 0.0]))
>>> policy.log_prob(wengert.tensor(1))
tensor(-0.6931)
"""

from typing import Any as _Any

from wengert._forks import import_late as _import_module

_TRANSFORMS = (
    "AbsTransform AffineTransform CatTransform ComposeTransform CorrCholeskyTransform CumulativeDistributionTransform "
    "ExpTransform IndependentTransform LowerCholeskyTransform PositiveDefiniteTransform PowerTransform ReshapeTransform "
    "SigmoidTransform SoftmaxTransform SoftplusTransform StackTransform StickBreakingTransform TanhTransform Transform "
    "identity_transform"
)
_HOMES = {
    "Bernoulli": "bernoulli", "Beta": "beta", "Binomial": "binomial", "Categorical": "categorical", "Cauchy": "cauchy",
    "Chi2": "chi2", "ContinuousBernoulli": "continuous_bernoulli", "Dirichlet": "dirichlet", "Distribution": "distribution",
    "Exponential": "exponential", "ExponentialFamily": "exp_family", "FisherSnedecor": "fishersnedecor", "Gamma": "gamma",
    "GeneralizedPareto": "generalized_pareto", "Geometric": "geometric", "Gumbel": "gumbel", "HalfCauchy": "half_cauchy",
    "HalfNormal": "half_normal", "Independent": "independent", "InverseGamma": "inverse_gamma", "Kumaraswamy": "kumaraswamy",
    "LKJCholesky": "lkj_cholesky", "Laplace": "laplace", "LogNormal": "log_normal", "LogisticNormal": "logistic_normal",
    "LowRankMultivariateNormal": "lowrank_multivariate_normal", "MixtureSameFamily": "mixture_same_family",
    "Multinomial": "multinomial", "MultivariateNormal": "multivariate_normal", "NegativeBinomial": "negative_binomial",
    "Normal": "normal", "OneHotCategorical": "one_hot_categorical", "OneHotCategoricalStraightThrough": "one_hot_categorical",
    "Pareto": "pareto", "Poisson": "poisson", "RelaxedBernoulli": "relaxed_bernoulli",
    "RelaxedOneHotCategorical": "relaxed_categorical", "StudentT": "studentT",
    "TransformedDistribution": "transformed_distribution", "Uniform": "uniform", "VonMises": "von_mises", "Weibull": "weibull",
    "Wishart": "wishart", "biject_to": "constraint_registry", "kl_divergence": "kl", "register_kl": "kl",
    "transform_to": "constraint_registry", **dict.fromkeys(_TRANSFORMS.split(), "transforms"),
}  # fmt: skip
_MODULES = frozenset({*_HOMES.values(), "constraints", "utils"})


def __getattr__(name: str) -> _Any:
    if name in _MODULES:
        return _import_module(f"wengert.distributions.{name}")
    if name == "__all__":
        return sorted(_HOMES)
    if name not in _HOMES:
        raise AttributeError(f"module 'wengert.distributions' has no attribute {name!r}")
    found = globals()[name] = getattr(_import_module(f"wengert.distributions.{_HOMES[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*_HOMES, *_MODULES})
