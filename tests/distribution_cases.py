"""Distributions that tests compare: for each, how to make it in a library, from arrays."""

from __future__ import annotations

import numpy as np


def _arrays():
    rng = np.random.default_rng(0)
    a = rng.standard_normal((3, 4))
    return {
        "loc": a, "scale": rng.uniform(0.5, 2, (3, 4)), "row": rng.uniform(0.5, 2, 4), "probs": rng.uniform(0.1, 0.9, (3, 4)),
        "positive": rng.uniform(0.6, 3, (3, 4)), "large": rng.uniform(4.5, 9, (3, 4)), "count": rng.integers(1, 6, (3, 4)),
        "matrix": (m := rng.standard_normal((3, 4, 4))) @ m.swapaxes(1, 2) + 0.5 * np.eye(4), "factor": rng.standard_normal((4, 2)),
        "few": rng.standard_normal(4),
    }  # fmt: skip


A = {key: np.asarray(value, np.float64) for key, value in _arrays().items()}
A["central"] = np.where(np.arange(4) < 2, A["probs"], [0.5, 0.5005, 0.4995, 0.5])
LOWER = np.linalg.cholesky(A["matrix"])

# Each takes the module `distributions` and a function that makes a tensor of an array.
CASES = {
    "Bernoulli": lambda d, t: d.Bernoulli(t(A["probs"])),
    "Bernoulli-logits": lambda d, t: d.Bernoulli(logits=t(A["loc"])),
    "Beta": lambda d, t: d.Beta(t(A["positive"]), t(A["scale"])),
    "Binomial": lambda d, t: d.Binomial(5, t(A["probs"])),
    "Binomial-counts": lambda d, t: d.Binomial(t(A["count"]), logits=t(A["loc"])),
    "Categorical": lambda d, t: d.Categorical(t(A["probs"])),
    "Categorical-logits": lambda d, t: d.Categorical(logits=t(A["loc"])),
    "Cauchy": lambda d, t: d.Cauchy(t(A["loc"]), t(A["row"])),
    "Chi2": lambda d, t: d.Chi2(t(A["positive"])),
    "ContinuousBernoulli": lambda d, t: d.ContinuousBernoulli(t(A["central"])),
    "ContinuousBernoulli-logits": lambda d, t: d.ContinuousBernoulli(logits=t(A["loc"])),
    "Dirichlet": lambda d, t: d.Dirichlet(t(A["positive"])),
    "Exponential": lambda d, t: d.Exponential(t(A["scale"])),
    "FisherSnedecor": lambda d, t: d.FisherSnedecor(t(A["positive"]), t(A["large"])),
    "Gamma": lambda d, t: d.Gamma(t(A["positive"]), t(A["row"])),
    "GeneralizedPareto": lambda d, t: d.GeneralizedPareto(t(A["loc"]), t(A["scale"]), t(A["few"] / 4)),
    "Geometric": lambda d, t: d.Geometric(t(A["probs"])),
    "Geometric-logits": lambda d, t: d.Geometric(logits=t(A["loc"])),
    "Gumbel": lambda d, t: d.Gumbel(t(A["loc"]), t(A["scale"])),
    "HalfCauchy": lambda d, t: d.HalfCauchy(t(A["scale"])),
    "HalfNormal": lambda d, t: d.HalfNormal(t(A["scale"])),
    "Independent": lambda d, t: d.Independent(d.Normal(t(A["loc"]), t(A["scale"])), 1),
    "InverseGamma": lambda d, t: d.InverseGamma(t(A["positive"]), t(A["scale"])),
    "Kumaraswamy": lambda d, t: d.Kumaraswamy(t(A["positive"]), t(A["scale"])),
    "LKJCholesky": lambda d, t: d.LKJCholesky(3, t(A["row"])),
    "Laplace": lambda d, t: d.Laplace(t(A["loc"]), t(A["scale"])),
    "LogNormal": lambda d, t: d.LogNormal(t(A["loc"]), t(A["row"])),
    "LogisticNormal": lambda d, t: d.LogisticNormal(t(A["loc"]), t(A["scale"])),
    "LowRankMultivariateNormal": lambda d, t: d.LowRankMultivariateNormal(t(A["loc"]), t(A["factor"]), t(A["row"])),
    "MixtureSameFamily": lambda d, t: d.MixtureSameFamily(
        d.Categorical(t(A["probs"])), d.Normal(t(A["loc"]), t(A["scale"]))
    ),
    "MixtureSameFamily-vectors": lambda d, t: d.MixtureSameFamily(
        d.Categorical(t(A["probs"][0, :3])), d.MultivariateNormal(t(A["loc"]), t(A["matrix"]))
    ),
    "Multinomial": lambda d, t: d.Multinomial(5, t(A["probs"])),
    "MultivariateNormal": lambda d, t: d.MultivariateNormal(t(A["few"]), t(A["matrix"])),
    "MultivariateNormal-precision": lambda d, t: d.MultivariateNormal(t(A["loc"]), precision_matrix=t(A["matrix"][0])),
    "MultivariateNormal-factor": lambda d, t: d.MultivariateNormal(t(A["loc"]), scale_tril=t(LOWER)),
    "NegativeBinomial": lambda d, t: d.NegativeBinomial(t(A["positive"]), t(A["probs"])),
    "NegativeBinomial-logits": lambda d, t: d.NegativeBinomial(3, logits=t(A["loc"])),
    "Normal": lambda d, t: d.Normal(t(A["loc"]), t(A["row"])),
    "OneHotCategorical": lambda d, t: d.OneHotCategorical(t(A["probs"])),
    "OneHotCategoricalStraightThrough": lambda d, t: d.OneHotCategoricalStraightThrough(logits=t(A["loc"])),
    "Pareto": lambda d, t: d.Pareto(t(A["scale"]), t(A["large"])),
    "Poisson": lambda d, t: d.Poisson(t(A["large"])),
    "RelaxedBernoulli": lambda d, t: d.RelaxedBernoulli(t(np.array(0.7)), t(A["probs"])),
    "LogitRelaxedBernoulli": lambda d, t: d.relaxed_bernoulli.LogitRelaxedBernoulli(t(np.array(0.7)), logits=t(A["loc"])),
    "RelaxedOneHotCategorical": lambda d, t: d.RelaxedOneHotCategorical(t(np.array(0.7)), t(A["probs"])),
    "ExpRelaxedCategorical": lambda d, t: d.relaxed_categorical.ExpRelaxedCategorical(t(np.array(0.7)), logits=t(A["loc"])),
    "StudentT": lambda d, t: d.StudentT(t(A["large"]), t(A["loc"]), t(A["row"])),
    "TransformedDistribution": lambda d, t: d.TransformedDistribution(
        d.Normal(t(A["loc"]), t(A["scale"])), [d.AffineTransform(t(A["few"]), t(-A["row"])), d.SigmoidTransform()]
    ),
    "TransformedDistribution-simplex": lambda d, t: d.TransformedDistribution(
        d.Normal(t(A["loc"]), t(A["scale"])), [d.ExpTransform(), d.StickBreakingTransform()]
    ),
    "Uniform": lambda d, t: d.Uniform(t(A["loc"]), t(A["loc"] + A["scale"])),
    "VonMises": lambda d, t: d.VonMises(t(A["loc"]), t(A["row"])),
    "Weibull": lambda d, t: d.Weibull(t(A["scale"]), t(A["positive"])),
    "Wishart": lambda d, t: d.Wishart(t(A["large"][0, :3]), t(A["matrix"])),
    "Wishart-factor": lambda d, t: d.Wishart(t(np.array(7.0)), scale_tril=t(LOWER[0])),
}  # fmt: skip
