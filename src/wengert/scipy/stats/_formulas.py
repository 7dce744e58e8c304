"""Formulas of SciPy's continuous distributions, in standard form: loc 0, scale 1, x inside the support.

OURS holds, for each family, the methods that are written here: functions of (x, *shapes), which are tensors of float64. THEIRS
lists the families whose method of SciPy (`_logpdf`, `_cdf` ...) is arithmetic of NumPy's functions and runs on tensors as it is.
All other methods follow from these, see _distributions.py. A function of scipy.special without derivative raises an error that
names it.

Note [Limits of shapes]
Many families have a limit in which a shape vanishes: (1 - c x)**(1 / c) becomes exp(-x) at c = 0. `_log_power` and `_power` have a
series there, so that derivatives in the shape are right at the limit and next to it.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log, pi, sqrt
from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.array_functions.table import detached, special, w
from wengert.autograd import Function
from wengert.scipy._closures import with_values
from wengert.scipy._parameters import log_mass, poisson_mixture
from wengert.scipy._rules import gauss_rule

S = import_late("scipy.special")

_HALF_LOG_2PI = log(2 * pi) / 2
_TERMS = 9
_SMALL = 1e-2

THEIRS = {
    "logpdf": """
        alpha argus burr12 chi chi2 dgamma dweibull erlang expon exponnorm exponpow exponweib fatiguelife gamma genexpon
        genlogistic gennorm halfgennorm gompertz gumbel_l gumbel_r halfcauchy halflogistic halfnorm invgamma invgauss
        laplace_asymmetric loggamma logistic loguniform lomax maxwell mielke nakagami norm powerlaw powerlognorm powernorm
        rayleigh reciprocal semicircular truncexpon truncweibull_min wald weibull_max weibull_min
    """,
    "pdf": """
        anglit arcsine bradford cauchy cosine foldcauchy foldnorm hypsecant invweibull johnsonsb johnsonsu kappa3 laplace levy
        levy_l loglaplace moyal pareto rel_breitwigner rice skewcauchy wrapcauchy
    """,
    "logcdf": "burr burr12 fisk genlogistic gumbel_r invgauss lognorm norm powerlaw truncweibull_min wald weibull_max",
    "logsf": """
        burr burr12 expon fisk gumbel_l invgauss lognorm lomax norm powerlognorm powernorm rayleigh truncweibull_min wald
        weibull_min
    """,
    "cdf": """
        alpha anglit arcsine argus beta bradford burr burr12 cauchy chi dgamma dweibull erlang expon exponnorm exponpow exponweib
        fatiguelife fisk foldcauchy foldnorm gamma genexpon gengamma genlogistic gennorm halfgennorm gibrat gompertz gumbel_l
        gumbel_r halfcauchy halflogistic halfnorm hypsecant invgamma invgauss invweibull jf_skew_t johnsonsb johnsonsu kappa3
        laplace laplace_asymmetric levy levy_l logistic loglaplace lognorm loguniform lomax maxwell mielke moyal nakagami norm
        pareto powerlaw powerlognorm powernorm rayleigh rdist recipinvgauss reciprocal rel_breitwigner semicircular skewcauchy
        truncexpon truncweibull_min uniform wald weibull_max weibull_min
    """,
    "sf": """
        anglit argus burr burr12 cauchy chi dgamma dweibull erlang expon exponnorm exponpow exponweib fatiguelife fisk foldcauchy
        foldnorm gamma genexpon gengamma genlogistic gennorm halfgennorm gibrat gompertz gumbel_l gumbel_r halfcauchy halflogistic
        halfnorm hypsecant invgamma invgauss invweibull johnsonsb johnsonsu kappa3 laplace laplace_asymmetric levy levy_l logistic
        loglaplace lognorm lomax maxwell moyal nakagami norm pareto powerlognorm powernorm rayleigh recipinvgauss truncexpon
        truncweibull_min wald weibull_max weibull_min
    """,
    "ppf": """
        anglit arcsine bradford burr burr12 dweibull expon exponpow fatiguelife fisk genhalflogistic gibrat gompertz gumbel_l
        gumbel_r halfcauchy halflogistic halfnorm hypsecant invweibull johnsonsb johnsonsu kappa3 laplace laplace_asymmetric levy
        levy_l logistic loglaplace lognorm loguniform lomax mielke norm pareto powerlaw powerlognorm powernorm rayleigh reciprocal
        skewcauchy triang truncexpon truncweibull_min uniform weibull_max weibull_min wrapcauchy
    """,
    "isf": """
        burr burr12 dweibull expon exponpow exponweib fatiguelife fisk gibrat gompertz gumbel_l gumbel_r halfcauchy halfnorm
        hypsecant invweibull johnsonsb johnsonsu kappa3 laplace laplace_asymmetric levy levy_l logistic loglaplace lognorm lomax
        norm pareto powerlognorm powernorm rayleigh truncexpon truncweibull_min weibull_min
    """,
    "stats": """
        beta bradford chi2 erlang exponnorm fatiguelife foldnorm gamma invgauss johnsonsu laplace_asymmetric lognorm ncx2
        norminvgauss powerlaw triang
    """,
    "entropy": """
        bradford dweibull fisk genextreme genhalflogistic gennorm halfgennorm genpareto invweibull laplace_asymmetric loglaplace
        lognorm loguniform lomax nakagami pareto powerlaw reciprocal trapezoid truncexpon truncnorm truncpareto vonmises
        vonmises_line weibull_max weibull_min wrapcauchy
    """,
}  # fmt: skip

OURS: dict[str, dict[str, Callable[..., Any]]] = {}


def _family(name: str, **methods: Callable[..., Any]) -> None:
    OURS.setdefault(name, {}).update(methods)


class _Known(Function):
    """A value with slopes: functions of the inputs."""

    @staticmethod
    def forward(ctx: Any, value: Any, slopes: list[Callable[..., Any]], *inputs: Any) -> Any:
        ctx.slopes = slopes
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)
        return w.as_tensor(value)

    @staticmethod
    def backward(ctx: Any, ct: Any) -> Any:
        inputs = ctx.saved_tensors
        needs = ctx.needs_input_grad[2:]
        found = [ct * slope(*inputs) if need else None for slope, need in zip(ctx.slopes, needs, strict=True)]
        # The inputs were broadcast against each other.
        return None, None, *[None if g is None else g.sum_to_size(x.shape) for g, x in zip(found, inputs, strict=True)]

    @staticmethod
    def jvp(ctx: Any, _: Any, __: Any, *tangents: Any) -> Any:
        inputs = ctx.saved_tensors
        return sum(t * slope(*inputs) for t, slope in zip(tangents, ctx.slopes, strict=True) if t is not None)


def known(value: Any, inputs: list[Any], slopes: list[Callable[..., Any]]) -> Any:
    """Return a value that SciPy computed from the inputs, as a tensor with these slopes in them."""
    return _Known.apply(np.asarray(value), slopes, *inputs)


# -- pieces ------------------------------------------------------------------------------------------------------------


def betaln(a: Any, b: Any) -> Any:
    return S.gammaln(a) + S.gammaln(b) - S.gammaln(a + b)


def _near(x: Any, series: Callable[[Any], Any], direct: Callable[[Any], Any]) -> Any:
    """Return series(x) where x is small, and direct(x) elsewhere. Neither sees the other's numbers."""
    small = w.as_tensor(np.abs(detached(x)) < _SMALL)
    return w.where(small, series(w.where(small, x, 0.0)), direct(w.where(small, 1.0, x)))


def _log_power(c: Any, x: Any) -> Any:
    """log(1 - c x) / c, which is -x at c = 0. See Note [Limits of shapes]."""

    def series(z: Any) -> Any:
        found: Any = 0.0
        for k in range(_TERMS, 0, -1):
            found = found * z + 1.0 / k
        return -found

    return x * _near(c * x, series, lambda z: w.log1p(-z) / z)


def _power(c: Any, x: Any) -> Any:
    """(exp(c x) - 1) / c, which is x at c = 0. See Note [Limits of shapes]."""

    def series(z: Any) -> Any:
        found: Any = 0.0
        for k in range(_TERMS, 0, -1):
            found = found * z / (k + 1) + 1.0
        return found

    return x * _near(c * x, series, lambda z: w.expm1(z) / z)


def _log_normal_density(x: Any) -> Any:
    return -0.5 * x * x - _HALF_LOG_2PI


def _log_normal_mass(a: Any, b: Any) -> Any:
    """log(ndtr(b) - ndtr(a)), by the tail in which both are small."""
    upper = w.as_tensor(detached(a) > 0)
    low, high = w.where(upper, -b, a), w.where(upper, -a, b)
    high = S.log_ndtr(high)
    return high + w.log(-w.expm1(S.log_ndtr(low) - high))


def _log_beta_density(x: Any, a: Any, b: Any) -> Any:
    return S.xlogy(a - 1, x) + S.xlog1py(b - 1, -x) - betaln(a, b)


# -- families ----------------------------------------------------------------------------------------------------------

_family("beta", logpdf=_log_beta_density, sf=lambda x, a, b: S.betainc(b, a, 1 - x),
        entropy=lambda a, b: betaln(a, b) - (a - 1) * S.psi(a) - (b - 1) * S.psi(b) + (a + b - 2) * S.psi(a + b))  # fmt: skip
_family(
    "betaprime",
    logpdf=lambda x, a, b: S.xlogy(a - 1, x) - S.xlog1py(a + b, x) - betaln(a, b),
    cdf=lambda x, a, b: S.betainc(a, b, x / (1 + x)),
    sf=lambda x, a, b: S.betainc(b, a, 1 / (1 + x)),
)
_family("burr", logpdf=lambda x, c, d: w.log(c) + w.log(d) - S.xlogy(c + 1, x) - S.xlog1py(d + 1, x**-c))
_family("fisk", logpdf=lambda x, c: w.log(c) - S.xlogy(c + 1, x) - S.xlog1py(2.0, x**-c))
_family("cauchy", ppf=lambda q: w.tan(pi * (q - 0.5)), isf=lambda q: w.tan(pi * (0.5 - q)))
_family("chi2", cdf=lambda x, df: S.gammainc(df / 2, x / 2), sf=lambda x, df: S.gammaincc(df / 2, x / 2),
        entropy=lambda df: df / 2 + log(2) + S.gammaln(df / 2) + (1 - df / 2) * S.psi(df / 2))  # fmt: skip
_family("chi", entropy=lambda df: S.gammaln(df / 2) + 0.5 * (df - log(2) - (df - 1) * S.psi(df / 2)))
_family("cosine", cdf=lambda x: 0.5 + (x + w.sin(x)) / (2 * pi), sf=lambda x: 0.5 - (x + w.sin(x)) / (2 * pi))


def _crystal_scale(beta: Any, m: Any) -> Any:
    return -w.log(m / beta / (m - 1) * w.exp(-beta * beta / 2) + sqrt(2 * pi) * S.ndtr(beta))


def _crystal_logpdf(x: Any, beta: Any, m: Any) -> Any:
    core = x > -beta
    tail = m * w.log(m / beta) - beta * beta / 2 - m * w.log(m / beta - beta - w.where(core, -beta, x))
    return _crystal_scale(beta, m) + w.where(core, -x * x / 2, tail)


def _crystal_cdf(x: Any, beta: Any, m: Any) -> Any:
    core = x > -beta
    below = m / beta * w.exp(-beta * beta / 2) / (m - 1)
    distance = m / beta - beta - w.where(core, -beta, x)
    tail = w.exp(m * w.log(m / beta) - beta * beta / 2 - (m - 1) * w.log(distance)) / (m - 1)
    inner = below + sqrt(2 * pi) * (S.ndtr(x) - S.ndtr(-beta))
    return w.exp(_crystal_scale(beta, m)) * w.where(core, inner, tail)


_family("crystalball", logpdf=_crystal_logpdf, cdf=_crystal_cdf)
_family("dgamma", entropy=lambda a: a + log(2) + S.gammaln(a) + (1 - a) * S.psi(a))


def _log_mills(t: Any) -> Any:
    return S.log_ndtr(-t) - _log_normal_density(t)


def _dpareto_lognorm(x: Any, u: Any, s: Any, a: Any, b: Any) -> Any:
    z = (w.log(x) - u) / s
    tails = w.logaddexp(_log_mills(a * s - z), _log_mills(b * s + z))
    return w.log(a * b / (a + b)) - w.log(x) + _log_normal_density(z) + tails


def _dpareto_lognorm_cdf(x: Any, u: Any, s: Any, a: Any, b: Any) -> Any:
    z = (w.log(x) - u) / s
    above, below = (w.exp(_log_normal_density(z) + _log_mills(t)) for t in (a * s - z, b * s + z))
    return S.ndtr(z) - (b * above - a * below) / (a + b)


_family("dpareto_lognorm", logpdf=_dpareto_lognorm, cdf=_dpareto_lognorm_cdf)
_family(
    "f",
    logpdf=lambda x, n, m: (
        m / 2 * w.log(m) + n / 2 * w.log(n) + S.xlogy(n / 2 - 1, x) - (n + m) / 2 * w.log(m + n * x) - betaln(n / 2, m / 2)
    ),
    cdf=lambda x, n, m: S.betainc(n / 2, m / 2, n * x / (m + n * x)),
    sf=lambda x, n, m: S.betainc(m / 2, n / 2, m / (m + n * x)),
)
for _name in ("gamma", "erlang"):
    _family(_name, entropy=lambda a: a + S.gammaln(a) + (1 - a) * S.psi(a))
_family(
    "gausshyper",
    logpdf=lambda x, a, b, c, z: (
        S.xlogy(a - 1, x) + S.xlog1py(b - 1, -x) - c * w.log1p(z * x) - betaln(a, b) - w.log(S.hyp2f1(c, a, a + b, -z))
    ),
)
_family("genextreme", logpdf=lambda x, c: (1 - c) * _log_power(c, x) - w.exp(_log_power(c, x)),
        logcdf=lambda x, c: -w.exp(_log_power(c, x)), ppf=lambda q, c: -_power(c, w.log(-w.log(q))),
        isf=lambda q, c: -_power(c, w.log(-w.log1p(-q))), sf=lambda x, c: -w.expm1(-w.exp(_log_power(c, x))))  # fmt: skip
_family("gengamma", logpdf=lambda x, a, c: w.log(w.abs(c)) + S.xlogy(c * a - 1, x) - x**c - S.gammaln(a),
        entropy=lambda a, c: S.psi(a) * (1 / c - a) + a + S.gammaln(a) - w.log(w.abs(c)))  # fmt: skip
_family("genhalflogistic", cdf=lambda x, c: -w.tanh(_log_power(c, x) / 2),
        logpdf=lambda x, c: log(2) + (1 - c) * _log_power(c, x) - 2 * w.log1p(w.exp(_log_power(c, x))))  # fmt: skip


def _genhyperbolic(x: Any, p: Any, a: Any, b: Any) -> Any:
    inner, root = w.sqrt((a - b) * (a + b)), w.sqrt(1 + x * x)
    scale = p * w.log(inner) - (p - 0.5) * w.log(a) - w.log(S.kve(p, inner)) + inner - _HALF_LOG_2PI
    return scale + w.log(S.kve(p - 0.5, a * root)) - a * root + (p - 0.5) * w.log(root) + b * x


_family("genhyperbolic", logpdf=_genhyperbolic)
_family("geninvgauss", logpdf=lambda x, p, b: (p - 1) * w.log(x) - b * (x + 1 / x - 2) / 2 - log(2) - w.log(S.kve(p, b)))
_family("genpareto", logpdf=lambda x, c: (1 + c) * _log_power(-c, x), logsf=lambda x, c: _log_power(-c, x),
        cdf=lambda x, c: -w.expm1(_log_power(-c, x)), isf=lambda q, c: -_power(-c, w.log(q)),
        ppf=lambda q, c: -_power(-c, w.log1p(-q)))  # fmt: skip
_family("invgamma", entropy=lambda a: a - (a + 1) * S.psi(a) + S.gammaln(a))


def _jf_skew_t(x: Any, a: Any, b: Any) -> Any:
    ratio = x / w.sqrt(a + b + x * x)
    powers = (a + 0.5) * w.log1p(ratio) + (b + 0.5) * w.log1p(-ratio)
    return powers - (a + b - 1) * log(2) - betaln(a, b) - 0.5 * w.log(a + b)


_family("jf_skew_t", logpdf=_jf_skew_t)


def _kappa4_logpdf(x: Any, h: Any, k: Any) -> Any:
    inner = _log_power(k, x)
    return (1 - k) * inner + (1 - h) * _log_power(h, w.exp(inner))


_family("kappa4", logpdf=_kappa4_logpdf, logcdf=lambda x, h, k: _log_power(h, w.exp(_log_power(k, x))),
        ppf=lambda q, h, k: -_power(k, w.log(-_power(h, w.log(q)))))  # fmt: skip
_family("loggamma", cdf=lambda x, c: S.gammainc(c, w.exp(x)), sf=lambda x, c: S.gammaincc(c, w.exp(x)),
        entropy=lambda c: S.gammaln(c) - c * S.psi(c) + c)  # fmt: skip
_family("logistic", logcdf=lambda x: -w.logaddexp(w.zeros_like(x), -x),
        logsf=lambda x: -w.logaddexp(w.zeros_like(x), x))  # fmt: skip


def _lognorm(x: Any, s: Any) -> Any:
    zero = x == 0
    z = w.log(w.where(zero, 1.0, x))
    return w.where(zero, -np.inf, -z * z / (2 * s * s) - z - w.log(s) - _HALF_LOG_2PI)


_family("lognorm", logpdf=_lognorm)
_family("gibrat", logpdf=lambda x: _lognorm(x, w.ones_like(x)))


def _log_chi2_density(x: Any, df: Any) -> Any:
    return S.xlogy(df / 2 - 1, x) - x / 2 - S.gammaln(df / 2) - df / 2 * log(2)


def _ncx2(x: Any, df: Any, nc: Any, term: Callable[[Any, Any], Any]) -> Any:
    return poisson_mixture(nc / 2, lambda j: term(x[..., None], df[..., None] + 2 * j))


def _ncf(x: Any, n: Any, m: Any, nc: Any, term: Callable[[Any, Any, Any], Any]) -> Any:
    share = (n * x / (m + n * x))[..., None]
    return poisson_mixture(nc / 2, lambda j: term(share, n[..., None] / 2 + j, m[..., None] / 2))


def _ncf_logpdf(x: Any, n: Any, m: Any, nc: Any) -> Any:
    """The density of the share n x / (m + n x), which is a mixture of beta distributions, times its slope in x."""
    return _ncf(x, n, m, nc, _log_beta_density) + w.log(n * m) - 2 * w.log(m + n * x)


_family("ncx2", logpdf=lambda x, df, nc: _ncx2(x, df, nc, _log_chi2_density),
        logcdf=lambda x, df, nc: _ncx2(x, df, nc, lambda y, n: log_mass(S.gammainc(n / 2, y / 2))),
        logsf=lambda x, df, nc: _ncx2(x, df, nc, lambda y, n: log_mass(S.gammaincc(n / 2, y / 2))))  # fmt: skip
_family("ncf", logpdf=_ncf_logpdf,
        logcdf=lambda x, n, m, nc: _ncf(x, n, m, nc, lambda y, a, b: log_mass(S.betainc(a, b, y))),
        logsf=lambda x, n, m, nc: _ncf(x, n, m, nc, lambda y, a, b: log_mass(S.betainc(b, a, 1 - y))))  # fmt: skip
_family("rice", logcdf=lambda x, b: OURS["ncx2"]["logcdf"](x * x, w.full_like(b, 2.0), b * b),
        logsf=lambda x, b: OURS["ncx2"]["logsf"](x * x, w.full_like(b, 2.0), b * b))  # fmt: skip


def _norminvgauss(x: Any, a: Any, b: Any) -> Any:
    root = w.sqrt(1 + x * x)
    bessel = w.log(special.scaled_modified_bessel_k1(a * root)) - a * root
    return w.log(a / pi) + w.sqrt((a - b) * (a + b)) + b * x + bessel - w.log(root)


_family("norminvgauss", logpdf=_norminvgauss)


def _pearson3(method: Callable[..., Any], normal: Callable[[Any], Any]) -> Callable[..., Any]:
    """A method of the family, given that of the gamma distribution. It is the normal distribution where the skew vanishes."""

    def run(x: Any, skew: Any) -> Any:
        flat = w.abs(skew) < 1.6e-5  # SciPy's bound
        beta = 2 / w.where(flat, 1.0, skew)
        y = beta * (w.where(flat, 0.0, x) + beta)
        return w.where(flat, normal(x), method(y, beta))

    return run


_family(
    "pearson3",
    logpdf=_pearson3(
        lambda y, beta: w.log(w.abs(beta)) + S.xlogy(beta * beta - 1, y) - y - S.gammaln(beta * beta), _log_normal_density
    ),
    cdf=_pearson3(lambda y, beta: w.where(beta > 0, S.gammainc(beta**2, y), S.gammaincc(beta**2, y)), lambda x: S.ndtr(x)),
    sf=_pearson3(lambda y, beta: w.where(beta > 0, S.gammaincc(beta**2, y), S.gammainc(beta**2, y)), lambda x: S.ndtr(-x)),
)
_family("rdist", logpdf=lambda x, c: _log_beta_density((x + 1) / 2, c / 2, c / 2) - log(2),
        sf=lambda x, c: S.betainc(c / 2, c / 2, (1 - x) / 2))  # fmt: skip
_family("recipinvgauss", logpdf=lambda x, mu: -((1 - mu * x) ** 2) / (2 * x * mu * mu) - 0.5 * w.log(2 * pi * x))


def _skewnorm_logpdf(x: Any, a: Any) -> Any:
    return log(2) + _log_normal_density(x) + S.log_ndtr(a * x)


def _skewnorm_mass(method: str, sign: int) -> Callable[..., Any]:
    """cdf or sf, by SciPy, with its two slopes: the density, and that of Owen's T function in a."""

    def in_shape(x: Any, a: Any) -> Any:
        square = 1 + a * a
        return -sign * w.exp(-x * x * square / 2) / (pi * square)

    def run(x: Any, a: Any) -> Any:
        value = getattr(import_late("scipy.stats").skewnorm, method)(detached(x), detached(a))
        return known(value, [x, a], [lambda x, a: sign * w.exp(_skewnorm_logpdf(x, a)), in_shape])

    return run


_family("skewnorm", logpdf=_skewnorm_logpdf, cdf=_skewnorm_mass("cdf", 1), sf=_skewnorm_mass("sf", -1))


def _t_logpdf(x: Any, df: Any) -> Any:
    return S.gammaln((df + 1) / 2) - S.gammaln(df / 2) - 0.5 * w.log(df * pi) - (df + 1) / 2 * w.log1p(x * x / df)


def _t_cdf(x: Any, df: Any) -> Any:
    """The incomplete beta function of df / (df + x**2), and a Taylor polynomial of degree 3 at 0, where that has a kink."""
    zero = x == 0
    y = w.where(zero, 1.0, x)
    tail = 0.5 * S.betainc(df / 2, w.full_like(df, 0.5), df / (df + y * y))
    peak = w.exp(_t_logpdf(w.zeros_like(x), df))
    return w.where(zero, 0.5 + peak * (x - (df + 1) / df * x**3 / 6), w.where(x > 0, 1 - tail, tail))


def _t_entropy(df: Any) -> Any:
    half = (df + 1) / 2
    return half * (S.psi(half) - S.psi(df / 2)) + 0.5 * w.log(df) + betaln(df / 2, w.full_like(df, 0.5))


_family("t", logpdf=_t_logpdf, cdf=_t_cdf, sf=lambda x, df: _t_cdf(-x, df), entropy=_t_entropy)


def _trapezoid_pdf(x: Any, c: Any, d: Any) -> Any:
    up, down = x < c, x > d
    rising, falling = x / w.where(up, c, 1.0), (1 - x) / w.where(down, 1 - d, 1.0)
    return 2 / (d - c + 1) * w.where(up, rising, w.where(down, falling, 1.0))


def _trapezoid_cdf(x: Any, c: Any, d: Any) -> Any:
    up, down = x < c, x > d
    rising = x * x / w.where(up, c, 1.0) / (d - c + 1)
    falling = 1 - (1 - x) ** 2 / w.where(down, 1 - d, 1.0) / (d - c + 1)
    return w.where(up, rising, w.where(down, falling, (c + 2 * (x - c)) / (d - c + 1)))


_family("trapezoid", pdf=_trapezoid_pdf, cdf=_trapezoid_cdf)
_family("triang", pdf=lambda x, c: _trapezoid_pdf(x, c, c), cdf=lambda x, c: _trapezoid_cdf(x, c, c))
_family(
    "truncnorm",
    logpdf=lambda x, a, b: _log_normal_density(x) - _log_normal_mass(a, b),
    logcdf=lambda x, a, b: _log_normal_mass(a, x) - _log_normal_mass(a, b),
    logsf=lambda x, a, b: _log_normal_mass(x, b) - _log_normal_mass(a, b),
)
_family(
    "truncpareto",
    logpdf=lambda x, b, c: w.log(b) - w.log(-w.expm1(-b * w.log(c))) - (b + 1) * w.log(x),
    cdf=lambda x, b, c: w.expm1(-b * w.log(x)) / w.expm1(-b * w.log(c)),
    ppf=lambda q, b, c: w.exp(-w.log1p(q * w.expm1(-b * w.log(c))) / b),
)


def _tukey_ppf(q: Any, lam: Any) -> Any:
    return _power(lam, w.log(q)) - _power(lam, w.log1p(-q))


def _tukey_cdf(x: Any, lam: Any) -> Any:
    """The inverse of ppf: SciPy's value, and Newton steps which give it its derivatives."""
    q = w.as_tensor(S.tklmbda(detached(x), detached(lam)))
    for _ in range(2):
        slope = q ** (lam - 1) + (1 - q) ** (lam - 1)
        q = q - (_tukey_ppf(q, lam) - x) / slope
    return q


def _tukey_pdf(x: Any, lam: Any) -> Any:
    q = _tukey_cdf(x, lam)
    return 1 / (q ** (lam - 1) + (1 - q) ** (lam - 1))


_family("tukeylambda", ppf=_tukey_ppf, cdf=_tukey_cdf, pdf=_tukey_pdf)
_family("uniform", pdf=lambda x: 1.0 + 0.0 * x)


def _vonmises_logpdf(x: Any, kappa: Any) -> Any:
    return -2 * kappa * w.sin(x / 2) ** 2 - log(2 * pi) - w.log(S.i0e(kappa))


def _vonmises_cdf(x: Any, kappa: Any) -> Any:
    """SciPy's value, and the derivatives of the integral of the density from 0 to the angle. It is 1/2 at 0, and grows by turns."""
    angle = x - w.as_tensor(2 * pi * np.round(detached(x) / (2 * pi)))
    u, weights = [w.as_tensor(part) for part in gauss_rule(64)]
    # The places are near 0, where the density is, if it is narrow.
    reach = w.clamp(angle, -12 / w.sqrt(kappa), 12 / w.sqrt(kappa))
    found = w.sum(weights * reach[..., None] * w.exp(_vonmises_logpdf(reach[..., None] * u, kappa[..., None])), -1)
    return with_values(0.5 + found, import_late("scipy.stats").vonmises.cdf(detached(x), detached(kappa)))


def _vonmises_stats(kappa: Any) -> tuple[Any, Any]:
    """The mean 0, and the variance on (-pi, pi)."""
    u, weights = [w.as_tensor(part) for part in gauss_rule(96)]
    reach = w.clamp(14 / w.sqrt(kappa), max=pi)[..., None]
    x = reach * u
    return 0.0 * kappa, 2 * w.sum(weights * reach * x * x * w.exp(_vonmises_logpdf(x, kappa[..., None])), -1)
for _name in ("vonmises", "vonmises_line"):
    _family(_name, logpdf=_vonmises_logpdf, cdf=_vonmises_cdf, sf=lambda x, kappa: _vonmises_cdf(-x, kappa), stats=_vonmises_stats)


# Means and variances, of families whose SciPy has them as tables, or by functions that do not run on tensors.
def _gamma(x: Any) -> Any:
    return w.exp(S.gammaln(x))


def _weibull(c: Any) -> tuple[Any, Any]:
    mean = _gamma(1 + 1 / c)
    return mean, _gamma(1 + 2 / c) - mean * mean


def _where_finite(condition: Any, x: Any) -> Any:
    return w.where(condition, x, np.inf)


def _chi(df: Any) -> tuple[Any, Any]:
    mean = sqrt(2) * w.exp(S.gammaln((df + 1) / 2) - S.gammaln(df / 2))
    return mean, df - mean * mean


def _generalized_gamma(a: Any, c: Any) -> tuple[Any, Any]:
    mean, square = (w.exp(S.gammaln(a + k / c) - S.gammaln(a)) for k in (1, 2))
    return mean, square - mean * mean


def _skew_normal(a: Any) -> tuple[Any, Any]:
    mean = a / w.sqrt(1 + a * a) * sqrt(2 / pi)
    return mean, 1 - mean * mean


def _ratio(n: Any, m: Any) -> tuple[Any, Any]:
    variance = 2 * m * m * (n + m - 2) / (n * (m - 2) ** 2 * (m - 4))
    return _where_finite(m > 2, m / (m - 2) + 0.0 * n), _where_finite(m > 4, variance)


_family("betaprime", stats=lambda a, b: (
    _where_finite(b > 1, a / (b - 1)), _where_finite(b > 2, a * (a + b - 1) / ((b - 1) ** 2 * (b - 2)))))  # fmt: skip
_family("chi", stats=_chi)
_family("f", stats=_ratio)
_family("genextreme", stats=lambda c: (
    (1 - _gamma(1 + c)) / c, (_gamma(1 + 2 * c) - _gamma(1 + c) ** 2) / (c * c)))  # fmt: skip
_family("gengamma", stats=_generalized_gamma)
_family("genlogistic", stats=lambda c: (S.psi(c) + np.euler_gamma, pi * pi / 6 + w.polygamma(1, c)))
_family("genpareto", stats=lambda c: (
    _where_finite(c < 1, 1 / (1 - c)), _where_finite(c < 0.5, 1 / ((1 - c) ** 2 * (1 - 2 * c)))))  # fmt: skip
_family("invgamma", stats=lambda a: (
    _where_finite(a > 1, 1 / (a - 1)), _where_finite(a > 2, 1 / ((a - 1) ** 2 * (a - 2)))))  # fmt: skip
_family("loggamma", stats=lambda c: (S.psi(c), w.polygamma(1, c)))
_family("lomax", stats=lambda c: (
    _where_finite(c > 1, 1 / (c - 1)), _where_finite(c > 2, c / ((c - 1) ** 2 * (c - 2)))))  # fmt: skip
_family("pareto", stats=lambda b: (
    _where_finite(b > 1, b / (b - 1)), _where_finite(b > 2, b / ((b - 1) ** 2 * (b - 2)))))  # fmt: skip
_family("skewnorm", stats=_skew_normal)
_family("t", stats=lambda df: (
    w.where(df > 1, 0.0 * df, np.inf), w.where(df > 2, df / (df - 2), w.where(df > 1, np.inf, np.nan))))  # fmt: skip
_family("weibull_min", stats=_weibull)


def _wrapcauchy_cdf(x: Any, c: Any) -> Any:
    ratio, low = (1 + c) / (1 - c), x < pi
    found = w.atan(ratio * w.tan(w.where(low, x, 2 * pi - x) / 2)) / pi
    return w.where(low, found, 1 - found)


_family("wrapcauchy", cdf=_wrapcauchy_cdf)
