"""kl_divergence, and register_kl for pairs of one's own."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

from wengert import linalg
from wengert.autograd import grad
from wengert.distributions import _functions as F
from wengert.distributions.bernoulli import Bernoulli
from wengert.distributions.beta import Beta
from wengert.distributions.binomial import Binomial
from wengert.distributions.categorical import Categorical
from wengert.distributions.cauchy import Cauchy
from wengert.distributions.continuous_bernoulli import ContinuousBernoulli
from wengert.distributions.dirichlet import Dirichlet
from wengert.distributions.distribution import Distribution
from wengert.distributions.exp_family import ExponentialFamily
from wengert.distributions.exponential import Exponential
from wengert.distributions.gamma import Gamma
from wengert.distributions.geometric import Geometric
from wengert.distributions.gumbel import Gumbel
from wengert.distributions.half_normal import HalfNormal
from wengert.distributions.independent import Independent
from wengert.distributions.laplace import Laplace
from wengert.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal
from wengert.distributions.multivariate_normal import MultivariateNormal, half_log_det, mahalanobis
from wengert.distributions.normal import Normal
from wengert.distributions.one_hot_categorical import OneHotCategorical
from wengert.distributions.pareto import Pareto
from wengert.distributions.poisson import Poisson
from wengert.distributions.transformed_distribution import TransformedDistribution
from wengert.distributions.uniform import Uniform
from wengert.distributions.utils import _sum_rightmost, euler_constant
from wengert.nn.functional import softplus

__all__ = ["kl_divergence", "register_kl"]

_KL_REGISTRY: dict[tuple[type, type], Callable[[Any, Any], Any]] = {}
_KL_MEMOIZE: dict[tuple[type, type], Any] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Any], Any]:
    """Return a decorator that registers function(p, q) for a pair of classes of distributions and their subclasses.

    Raises TypeError for anything but a subclass of Distribution."""
    for name, found in (("type_p", type_p), ("type_q", type_q)):
        if not issubclass(found, Distribution):
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {found}")

    def decorator(function: Any) -> Any:
        _KL_REGISTRY[type_p, type_q] = function
        _KL_MEMOIZE.clear()
        return function

    return decorator


def _dispatch(type_p: type, type_q: type) -> Any:
    """Return the function of the pair that is nearest to these classes, or None."""
    def distance(pair: tuple[type, type]) -> tuple[int, int]:
        return type_p.__mro__.index(pair[0]), type_q.__mro__.index(pair[1])

    pairs = [pair for pair in _KL_REGISTRY if issubclass(type_p, pair[0]) and issubclass(type_q, pair[1])]
    if not pairs:
        return None
    nearest, other = min(pairs, key=distance), min(pairs, key=lambda pair: distance(pair)[::-1])
    if _KL_REGISTRY[nearest] is not _KL_REGISTRY[other]:
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please register_kl({nearest[0].__name__}, "
            f"{other[1].__name__})",
            RuntimeWarning,
            stacklevel=3,
        )
    return _KL_REGISTRY[nearest]


def kl_divergence(p: Distribution, q: Distribution) -> Any:
    """Return the Kullback-Leibler divergence, the mean of log(p(x) / q(x)) over x of p, of shape batch_shape.

    Raises NotImplementedError if no formula is registered for the two classes. See register_kl.

    >>> import wengert
    >>> d = wengert.distributions
    >>> d.kl_divergence(d.Normal(0.0, 1.0), d.Normal(1.0, 1.0))
    tensor(0.5000)
    """
    key = type(p), type(q)
    if key not in _KL_MEMOIZE:
        _KL_MEMOIZE[key] = _dispatch(*key)
    function = _KL_MEMOIZE[key]
    if function is None:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}"
        )
    return function(p, q)


# -- one family --------------------------------------------------------------------------------------------------------


@register_kl(Bernoulli, Bernoulli)
def _(p: Any, q: Any) -> Any:
    one = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    zero = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    one = one.masked_fill(q.probs == 0, math.inf).masked_fill(p.probs == 0, 0)
    return one + zero.masked_fill(q.probs == 1, math.inf).masked_fill(p.probs == 1, 0)


@register_kl(Beta, Beta)
def _(p: Any, q: Any) -> Any:
    return kl_divergence(p._dirichlet, q._dirichlet)


@register_kl(Binomial, Binomial)
def _(p: Any, q: Any) -> Any:
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    one = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    return (p.total_count * one).masked_fill(p.total_count > q.total_count, math.inf)


@register_kl(Categorical, Categorical)
def _(p: Any, q: Any) -> Any:
    found = p.probs * (p.logits - q.logits)
    return found.masked_fill(q.probs == 0, math.inf).masked_fill(p.probs == 0, 0).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _(p: Any, q: Any) -> Any:
    return kl_divergence(p._categorical, q._categorical)


@register_kl(Cauchy, Cauchy)
def _(p: Any, q: Any) -> Any:
    # F. Chyzak and F. Nielsen, A closed-form formula for the Kullback-Leibler divergence between Cauchy distributions, 2019.
    squares = (p.scale + q.scale).square() + (p.loc - q.loc).square()
    return squares.log() - (4 * p.scale * q.scale).log()


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _(p: Any, q: Any) -> Any:
    return -p.entropy() - _mean_log_continuous_bernoulli(p, q)


@register_kl(Dirichlet, Dirichlet)
def _(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    normalizers = F.lgamma(total) - F.lgamma(b.sum(-1)) + (F.lgamma(b) - F.lgamma(a)).sum(-1)
    return normalizers + ((a - b) * (F.digamma(a) - F.digamma(total).unsqueeze(-1))).sum(-1)


@register_kl(Exponential, Exponential)
def _(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return ratio - 1 - ratio.log()


@register_kl(ExponentialFamily, ExponentialFamily)
def _(p: Any, q: Any) -> Any:
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot be computed using Bregman divergences"
        )
    theta = [x.detach().requires_grad_() for x in p._natural_params]
    normalizer = p._log_normalizer(*theta)
    gradients = grad(normalizer.sum(), theta, create_graph=True)
    result = q._log_normalizer(*q._natural_params) - normalizer
    for a, b, g in zip(theta, q._natural_params, gradients, strict=True):
        term = (b - a) * g
        result = result - _sum_rightmost(term, term.dim() - result.dim())
    return result


@register_kl(Gamma, Gamma)
def _(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    normalizers = b * (p.rate / q.rate).log() + F.lgamma(b) - F.lgamma(a)
    return normalizers + (a - b) * F.digamma(a) + (q.rate - p.rate) * (a / p.rate)


@register_kl(Geometric, Geometric)
def _(p: Any, q: Any) -> Any:
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(Gumbel, Gumbel)
def _(p: Any, q: Any) -> Any:
    ratio, shift = p.scale / q.scale, (p.loc - q.loc) / q.scale
    return shift - ratio.log() + ratio * euler_constant + (F.lgamma(1 + ratio) - shift).exp() - (1 + euler_constant)


@register_kl(HalfNormal, HalfNormal)
def _(p: Any, q: Any) -> Any:
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Independent, Independent)
def _(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(Laplace, Laplace)
def _(p: Any, q: Any) -> Any:
    ratio, distance = p.scale / q.scale, (p.loc - q.loc).abs()
    return distance / q.scale + ratio * (-distance / p.scale).exp() - ratio.log() - 1


@register_kl(Normal, Normal)
def _(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale).square()
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).square() - 1 - ratio.log())


@register_kl(Pareto, Pareto)
def _(p: Any, q: Any) -> Any:
    ratio = q.alpha / p.alpha
    found = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return found.masked_fill(p.scale < q.scale, math.inf)


@register_kl(Poisson, Poisson)
def _(p: Any, q: Any) -> Any:
    return F.xlogy(p.rate, p.rate) - F.xlogy(p.rate, q.rate) - (p.rate - q.rate)


@register_kl(TransformedDistribution, TransformedDistribution)
def _(p: Any, q: Any) -> Any:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    extra = len(p.event_shape) - len(p.base_dist.event_shape)
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), extra)


@register_kl(Uniform, Uniform)
def _(p: Any, q: Any) -> Any:
    found = ((q.high - q.low) / (p.high - p.low)).log()
    return found.masked_fill((q.low > p.low) | (q.high < p.high), math.inf)


# -- normal distributions of vectors -----------------------------------------------------------------------------------


def _kl_of_normals(p: Any, q: Any, log_dets: Any, trace: Any, distance: Any) -> Any:
    return 0.5 * (log_dets + trace + distance - p.event_shape[0])


def _require_same_events(p: Any, q: Any, names: str) -> None:
    if p.event_shape != q.event_shape:
        raise ValueError(f"KL-divergence between {names} with                          different event shapes cannot be computed")


def _trace_of_quotient(q: Any, factor: Any) -> Any:
    """Trace of Q^-1 factor @ factor.mT, where Q is the covariance matrix of q."""
    if isinstance(q, MultivariateNormal):
        return _squares(linalg.solve_triangular(q._unbroadcasted_scale_tril, factor, upper=False))
    diagonal = q._unbroadcasted_cov_diag.unsqueeze(-1)
    scaled = q._unbroadcasted_cov_factor.mT @ (factor / diagonal)
    return _squares(factor / diagonal.sqrt()) - _squares(linalg.solve_triangular(q._capacitance_tril, scaled, upper=False))


def _squares(matrix: Any) -> Any:
    return matrix.square().sum((-2, -1))


@register_kl(MultivariateNormal, MultivariateNormal)
def _(p: Any, q: Any) -> Any:
    _require_same_events(p, q, "two Multivariate Normals")
    log_dets = 2 * (half_log_det(q._unbroadcasted_scale_tril) - half_log_det(p._unbroadcasted_scale_tril))
    distance = mahalanobis(q._unbroadcasted_scale_tril, q.loc - p.loc)
    return _kl_of_normals(p, q, log_dets, _trace_of_quotient(q, p._unbroadcasted_scale_tril), distance)


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _(p: Any, q: Any) -> Any:
    _require_same_events(p, q, "two Low Rank Multivariate Normals")
    return _kl_of_normals(p, q, q.log_det() - p.log_det(), _trace_of_low_rank(p, q), q.distance(q.loc - p.loc))


@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _(p: Any, q: Any) -> Any:
    _require_same_events(p, q, "two (Low Rank) Multivariate Normals")
    log_dets = 2 * half_log_det(q._unbroadcasted_scale_tril) - p.log_det()
    distance = mahalanobis(q._unbroadcasted_scale_tril, q.loc - p.loc)
    return _kl_of_normals(p, q, log_dets, _trace_of_low_rank(p, q), distance)


@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def _(p: Any, q: Any) -> Any:
    _require_same_events(p, q, "two (Low Rank) Multivariate Normals")
    log_dets = q.log_det() - 2 * half_log_det(p._unbroadcasted_scale_tril)
    trace = _trace_of_quotient(q, p._unbroadcasted_scale_tril)
    return _kl_of_normals(p, q, log_dets, trace, q.distance(q.loc - p.loc))


def _trace_of_low_rank(p: Any, q: Any) -> Any:
    roots = p._unbroadcasted_cov_diag.sqrt().diag_embed()
    return _trace_of_quotient(q, p._unbroadcasted_cov_factor) + _trace_of_quotient(q, roots)


# -- two families: minus the entropy of p, minus the mean of log q over p -------------------------------------------------


@register_kl(Bernoulli, Poisson)
def _(p: Any, q: Any) -> Any:
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


def _mean_log_continuous_bernoulli(p: Any, q: Any) -> Any:
    return p.mean * q.logits + (-q.probs).log1p() + q._log_constant()


@register_kl(Beta, ContinuousBernoulli)
def _(p: Any, q: Any) -> Any:
    return -p.entropy() - _mean_log_continuous_bernoulli(p, q)


@register_kl(Uniform, ContinuousBernoulli)
def _(p: Any, q: Any) -> Any:
    found = -p.entropy() - _mean_log_continuous_bernoulli(p, q)
    return found.masked_fill((p.high > 1) | (p.low < 0), math.inf)


@register_kl(Beta, Exponential)
@register_kl(ContinuousBernoulli, Exponential)
@register_kl(Gamma, Exponential)
@register_kl(Pareto, Exponential)
def _(p: Any, q: Any) -> Any:
    return -p.entropy() - q.rate.log() + q.rate * p.mean


@register_kl(Uniform, Exponential)
def _(p: Any, q: Any) -> Any:
    found = -p.entropy() - q.rate.log() + q.rate * p.mean
    return found.masked_fill(p.low < 0, math.inf)


@register_kl(Beta, Normal)
@register_kl(ContinuousBernoulli, Normal)
@register_kl(Exponential, Normal)
@register_kl(Gamma, Normal)
@register_kl(Gumbel, Normal)
@register_kl(Laplace, Normal)
@register_kl(Pareto, Normal)
@register_kl(Uniform, Normal)
def _(p: Any, q: Any) -> Any:
    variance = q.scale.square()
    squares = p.variance + (p.mean - q.loc).square()
    return -p.entropy() + 0.5 * (2 * math.pi * variance).log() + squares / (2 * variance)


def _mean_log_uniform(low: Any, high: Any) -> Any:
    """Mean of log(x) over the uniform distribution of [low, high]."""
    return (F.xlogy(high, high) - F.xlogy(low, low)) / (high - low) - 1


def _kl_gamma(p: Any, q: Any, mean_log: Any) -> Any:
    a = q.concentration
    return -p.entropy() + F.lgamma(a) - a * q.rate.log() - (a - 1) * mean_log + q.rate * p.mean


@register_kl(Beta, Gamma)
def _(p: Any, q: Any) -> Any:
    return _kl_gamma(p, q, F.digamma(p.concentration1) - F.digamma(p.concentration1 + p.concentration0))


@register_kl(Exponential, Gamma)
def _(p: Any, q: Any) -> Any:
    return _kl_gamma(p, q, -p.rate.log() - euler_constant)


@register_kl(Pareto, Gamma)
def _(p: Any, q: Any) -> Any:
    return _kl_gamma(p, q, p.scale.log() + p.alpha.reciprocal())


@register_kl(Uniform, Gamma)
def _(p: Any, q: Any) -> Any:
    return _kl_gamma(p, q, _mean_log_uniform(p.low, p.high)).masked_fill(p.low < 0, math.inf)


def _kl_gumbel(p: Any, q: Any, mean_exponential: Any) -> Any:
    """mean_exponential: the mean of exp((q.loc - x) / q.scale)."""
    return -p.entropy() + q.scale.log() + (p.mean - q.loc) / q.scale + mean_exponential


@register_kl(Exponential, Gumbel)
def _(p: Any, q: Any) -> Any:
    return _kl_gumbel(p, q, (q.loc / q.scale).exp() * p.rate / (p.rate + 1 / q.scale))


@register_kl(Gamma, Gumbel)
def _(p: Any, q: Any) -> Any:
    return _kl_gumbel(p, q, (q.loc / q.scale - p.concentration * (1 / (q.scale * p.rate)).log1p()).exp())


@register_kl(Normal, Gumbel)
def _(p: Any, q: Any) -> Any:
    return _kl_gumbel(p, q, ((q.loc - p.loc) / q.scale + 0.5 * (p.scale / q.scale).square()).exp())


@register_kl(Uniform, Gumbel)
def _(p: Any, q: Any) -> Any:
    ends = ((q.loc - p.low) / q.scale).exp() - ((q.loc - p.high) / q.scale).exp()
    return _kl_gumbel(p, q, q.scale * ends / (p.high - p.low))


@register_kl(Normal, Laplace)
def _(p: Any, q: Any) -> Any:
    shift = (p.loc - q.loc) / p.scale
    # Mean of |x - q.loc|, divided by p.scale.
    distance = math.sqrt(2 / math.pi) * (-0.5 * shift.square()).exp() + shift * (shift / math.sqrt(2)).erf()
    return -p.entropy() + (2 * q.scale).log() + distance * p.scale / q.scale


@register_kl(Uniform, Beta)
def _(p: Any, q: Any) -> Any:
    a, b = q.concentration1, q.concentration0
    logs = (a - 1) * _mean_log_uniform(p.low, p.high) + (b - 1) * _mean_log_uniform(1 - p.high, 1 - p.low)
    found = -p.entropy() + F.lgamma(a) + F.lgamma(b) - F.lgamma(a + b) - logs
    return found.masked_fill((p.high > 1) | (p.low < 0), math.inf)


@register_kl(Uniform, Pareto)
def _(p: Any, q: Any) -> Any:
    logs = q.alpha.log() + q.alpha * q.scale.log() - (q.alpha + 1) * _mean_log_uniform(p.low, p.high)
    return (-p.entropy() - logs).masked_fill(p.low < q.scale, math.inf)


@register_kl(Beta, Uniform)
@register_kl(ContinuousBernoulli, Uniform)
def _(p: Any, q: Any) -> Any:
    found = -p.entropy() + (q.high - q.low).log()
    return found.masked_fill((q.low > 0) | (q.high < 1), math.inf)


def _infinite(p: Any, q: Any) -> Any:
    """Infinity, because p has values outside the support of q."""
    return p.mean.new_full(F.broadcast_shapes(p.batch_shape, q.batch_shape), math.inf)


for _p, _q in {
    Beta: (Pareto,),
    ContinuousBernoulli: (Pareto,),
    Exponential: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gamma: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gumbel: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Laplace: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Normal: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Pareto: (Beta, ContinuousBernoulli, Uniform),
    Poisson: (Bernoulli, Binomial),
}.items():
    for _other in _q:
        register_kl(_p, _other)(_infinite)
