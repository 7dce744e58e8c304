"""Special functions in the top-level namespace: error functions, gamma functions, logit, i0.

SciPy computes them and is imported at the first call. Functions of wengert.special alone are in bessel.py, polynomials.py
and probability.py.
"""

from __future__ import annotations

import math

from wengert import errors
from wengert.ops.registry import INT_TO_FLOAT, composite, pointwise
from wengert.ops.scipy_special import special

_BOTH = ("", "special")


@pointwise(promote=INT_TO_FLOAT, inplace=True, complex=False, namespaces=_BOTH)
def erf(xp, x):
    """Error function: 2 / sqrt(pi) times the integral of exp(-t**2) from 0 to x.

    x: any shape, real; bools and integers become the default float dtype. Derivative: 2 / sqrt(pi) * exp(-x**2)."""
    return special("erf", x)


@erf.vjp("x")
def _(F, ct, x):
    return ct * (2 / math.sqrt(math.pi)) * F.exp(-(x * x))


@pointwise(promote=INT_TO_FLOAT, inplace=True, complex=False, namespaces=_BOTH)
def erfc(xp, x):
    """Complementary error function, 1 - erf(x), accurate where it is tiny too.

    x: any shape, real; bools and integers become the default float dtype. Derivative: -2 / sqrt(pi) * exp(-x**2)."""
    return special("erfc", x)


@erfc.vjp("x")
def _(F, ct, x):
    return ct * (-2 / math.sqrt(math.pi)) * F.exp(-(x * x))


@pointwise(promote=INT_TO_FLOAT, inplace=True, complex=False, domain=(-0.9, 0.9), namespaces=_BOTH)
def erfinv(xp, x):
    """Inverse error function: the number whose erf is x. inf at 1, -inf at -1, NaN outside [-1, 1].

    x: any shape, real; bools and integers become the default float dtype. Derivative: sqrt(pi) / 2 * exp(erfinv(x)**2)."""
    return special("erfinv", x)


@erfinv.vjp("x")
def _(F, ct, x):
    return ct * (math.sqrt(math.pi) / 2) * F.exp(F.square(F.erfinv(x)))


@pointwise(promote=INT_TO_FLOAT, inplace=True, complex=False, domain=(0.3, 4.0))
def lgamma(xp, x):
    """Logarithm of the absolute value of the gamma function; inf at 0, -1, -2, ...

    x: any shape, real; bools and integers become the default float dtype. Derivative: digamma(x)."""
    return xp.where(xp.isinf(x), xp.abs(x), special("gammaln", x))


@lgamma.vjp("x")
def _(F, ct, x):
    return ct * F.digamma(x)


@pointwise(promote=INT_TO_FLOAT, inplace=True, complex=False, domain=(0.3, 4.0), namespaces=_BOTH)
def digamma(xp, x):
    """Digamma function: the derivative of the logarithm of the gamma function.

    x: any shape, real; bools and integers become the default float dtype. Derivative: polygamma(1, x) (Abramowitz and
    Stegun 6.4.1)."""
    return special("psi", x)


@digamma.vjp("x")
def _(F, ct, x):
    return ct * F._trigamma(x)


# Coefficients of x**-(2k + 1) in the asymptotic series of the trigamma function: the Bernoulli numbers B(2k).
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)


@pointwise(promote=INT_TO_FLOAT, complex=False, domain=(0.3, 4.0), node="PolygammaBackward0", method=False, namespaces=())
def _trigamma(xp, x):
    """Trigamma function: the derivative of digamma, by its recurrence and asymptotic series, left of 0 by reflection (Abramowitz
    and Stegun 6.4.6, 6.4.12, 6.4.7). inf at 0, -1, -2, ...

    Derivative: polygamma(2, x)."""
    left = x < 0
    y = xp.where(left, 1 - x, x)
    near = y < 10
    steps = 1 / (y * y)
    for k in range(1, 10):
        steps = steps + 1 / ((y + k) * (y + k))
    far = xp.where(near, y + 10, y)
    inverse = 1 / far
    square = inverse * inverse
    series = square * _BERNOULLI[-1]
    for coefficient in _BERNOULLI[-2::-1]:
        series = square * (series + coefficient)
    found = xp.where(near, steps, 0.0) + (inverse + square / 2 + series * inverse)
    sine = xp.sin(math.pi * (x - xp.rint(x)))
    return xp.where(left, math.pi**2 / (sine * sine) - found, found)


@_trigamma.vjp("x")
def _(F, ct, x):
    return ct * F._polygamma(x, n=2)


_MAX_FACTORIAL = 170  # the largest number whose factorial is a float


@pointwise(promote=INT_TO_FLOAT, complex=False, node="PolygammaBackward0", method=False, namespaces=())
def _polygamma(xp, x, *, n):
    """n-th derivative of digamma.

    Derivative: the derivative of order n + 1."""
    if n == 0:
        return special("psi", x)
    # (-1)**(n+1) * n! * zeta(n + 1, x): Abramowitz and Stegun 6.4.10
    zeta = special("zeta", n + 1.0, x)
    if n <= _MAX_FACTORIAL:
        return (math.factorial(n) if n % 2 else -math.factorial(n)) * zeta
    size = xp.exp(math.lgamma(n + 1.0) + xp.log(zeta))
    size = xp.where((zeta == 0) & xp.isfinite(x), xp.nan, size)  # zeta has underflowed
    return (size if n % 2 else -size).astype(zeta.dtype)


@_polygamma.vjp("x")
def _(F, ct, x, n):
    return ct * F._polygamma(x, n=n + 1)


@composite(namespaces=_BOTH)
def polygamma(F, n, input):
    """Polygamma function: the n-th derivative of digamma. n: an int >= 0; RuntimeError otherwise.

    Derivative: polygamma(n + 1, input)."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    return F._trigamma(input) if n == 1 else F._polygamma(input, n=n)


@composite(name="_polygamma_method", method="polygamma", inplace="polygamma_", namespaces=())
def _polygamma_method(F, input, n):
    """polygamma(n, input) as the method input.polygamma(n).

    Derivative: polygamma(n + 1, input)."""
    return F.polygamma(n, input)


def _refuse_bool(operands):
    if operands[0].dtype.kind == "b":
        raise errors.UnsupportedDtypeError("The input tensor may not be a boolean tensor.")


@pointwise(promote=INT_TO_FLOAT, inplace=True, complex=False, domain=(1.5, 5.0), check=_refuse_bool)
def mvlgamma(xp, x, *, p):
    """Logarithm of the multivariate gamma function of dimension p.

    It is log(pi) p (p - 1) / 4 plus the sum of lgamma(x - j / 2) over 0 <= j < p. p: an int >= 1; RuntimeError otherwise.

    x: any shape, real; bools and integers become the default float dtype. Derivative: the sum of digamma(x - j / 2)."""
    if p < 1:
        raise errors.ShapeError("p has to be greater than or equal to 1")
    constant = math.log(math.pi) * p * (p - 1) / 4
    return _sum_over_halves(lambda z: lgamma.forward(xp, z), xp, x, p) + x.dtype.type(constant)


_MAX_TERMS = 10**7


def _sum_over_halves(function, xp, x, p):
    """Sum of function(x - j / 2) over 0 <= j < p. Raises RuntimeError if p is larger than 10**7."""
    if p > _MAX_TERMS:
        raise errors.ShapeError(f"mvlgamma: p is {p}, but at most {_MAX_TERMS} terms are added up")
    step = max(1, 2**16 // max(1, x.size))
    total = function(x)
    for start in range(1, p, step):
        halves = xp.arange(start, min(p, start + step), dtype=x.dtype) * x.dtype.type(0.5)
        total = total + function(x[..., None] - halves).sum(axis=-1)
    return total


@mvlgamma.vjp("x")
def _(F, ct, x, p):
    return ct * F._sum_of_polygammas(x, p=p, n=0)


@pointwise(promote=INT_TO_FLOAT, complex=False, domain=(3.0, 5.0), method=False, namespaces=())
def _sum_of_polygammas(xp, x, *, p, n):
    """Sum of polygamma(n, x - j / 2) over 0 <= j < p. Derivative: the sum of order n + 1."""
    return _sum_over_halves(lambda z: _polygamma.forward(xp, z, n=n), xp, x, p)


@_sum_of_polygammas.vjp("x")
def _(F, ct, x, p, n):
    return ct * F._sum_of_polygammas(x, p=p, n=n + 1)


# -- the incomplete gamma functions ------------------------------------------------------------------------------------


@pointwise(promote=INT_TO_FLOAT, inplace=True, complex=False, domain=(0.3, 3.0))
def igamma(xp, x, y):
    """Regularised lower incomplete gamma function P(x, y): the integral of t**(x - 1) exp(-t) from 0 to y, over gamma(x).

    x, y: >= 0, shapes that broadcast; NaN for negative numbers.

    Derivative: in y y**(x - 1) exp(-y) / gamma(x); in x by quadrature, as accurately (see incomplete_gamma.py)."""
    return special("gammainc", x, y)


@pointwise(promote=INT_TO_FLOAT, inplace=True, complex=False, domain=(0.3, 3.0))
def igammac(xp, x, y):
    """Regularised upper incomplete gamma function 1 - igamma(x, y), accurate where it is tiny too.

    Derivative: minus that of igamma."""
    return special("gammaincc", x, y)


@igamma.vjp("x")
def _(F, ct, x, y):
    return ct * F._igamma_by_parameter(x, y, order=1)


@igammac.vjp("x")
def _(F, ct, x, y):
    return -ct * F._igamma_by_parameter(x, y, order=1)


@igamma.vjp("y")
def _(F, ct, x, y):
    return ct * F._gamma_density(x, y, k=0)


@igammac.vjp("y")
def _(F, ct, x, y):
    return -ct * F._gamma_density(x, y, k=0)


@pointwise(promote=INT_TO_FLOAT, complex=False, domain=(0.3, 3.0), method=False, namespaces=())
def _gamma_density(xp, a, t, *, k):
    """t**(a - 1 - k) exp(-t) / gamma(a).

    Derivative: in a itself times log(t) - digamma(a). In t (a - 1 - k) times this function for k + 1, minus itself; both
    terms are finite at t = 0 where the derivative is."""
    from wengert.ops.densities import gamma_density

    x, y = xp.broadcast_arrays(xp.asarray(a, xp.float64), xp.asarray(t, xp.float64))
    return gamma_density(x, y, k).astype(xp.result_type(a, t))


@_gamma_density.vjp("a")
def _(F, ct, a, t, out):
    return ct * F._zero_where(out * (F.log(t) - F.digamma(a)), out == 0)


@_gamma_density.vjp("t")
def _(F, ct, a, t, out, k):
    return ct * (F._zero_where((a - (k + 1)) * F._gamma_density(a, t, k=k + 1), a == k + 1) - out)


@pointwise(promote=INT_TO_FLOAT, complex=False, domain=(0.3, 3.0), method=False, namespaces=())
def _igamma_by_parameter(xp, x, y, *, order):
    """Derivative of igamma(x, y) in x, of order >= 1.

    Derivative: in x the derivative of the next order; in y the density times a polynomial (`incomplete_gamma.bell`), or 0
    where the density is 0."""
    from wengert.ops import incomplete_gamma

    a, b = xp.broadcast_arrays(xp.asarray(x, xp.float64), xp.asarray(y, xp.float64))
    return incomplete_gamma.derivative(a, b, order).astype(xp.result_type(x, y))


@_igamma_by_parameter.vjp("x")
def _(F, ct, x, y, order):
    return ct * F._igamma_by_parameter(x, y, order=order + 1)


@_igamma_by_parameter.vjp("y")
def _(F, ct, x, y, order):
    from wengert.ops.incomplete_gamma import bell

    polygammas = [F._polygamma(x, n=n) for n in range(order)]
    density = F._gamma_density(x, y, k=0)
    return ct * F._zero_where(density * bell(F.log(y), polygammas, order), density == 0)


@pointwise(promote=INT_TO_FLOAT, complex=False, domain=(0.3, 3.0), method=False, namespaces=())
def _scaled_igamma(xp, x, y, *, order):
    """Derivative of igamma(x, y) in x, of order >= 1, divided by the density at y; 0 where y is 0.

    Derivative: that of the quotient; in y, the derivative of its numerator is the density times a polynomial
    (`incomplete_gamma.bell`)."""
    from wengert.ops import incomplete_gamma

    a, b = xp.broadcast_arrays(xp.asarray(x, xp.float64), xp.asarray(y, xp.float64))
    found = incomplete_gamma.scaled_derivative(xp.maximum(a, 1e-12), xp.maximum(b, 1e-300), order)
    return xp.where(b > 0, found, 0.0).astype(xp.result_type(x, y))


@_scaled_igamma.vjp("x")
def _(F, ct, x, y, out, order):
    slope = F._scaled_igamma(x, y, order=order + 1) - out * (F.log(y) - F.digamma(x))
    return ct * F._zero_where(slope, y <= 0)


@_scaled_igamma.vjp("y")
def _(F, ct, x, y, out, order):
    from wengert.ops.incomplete_gamma import bell

    polynomial = bell(F.log(y), [F._polygamma(x, n=n) for n in range(order)], order)
    return ct * F._zero_where(polynomial - out * ((x - 1) / y - 1), y <= 0)


@composite(namespaces=("special",))
def special_gammainc(F, input, other):
    """`igamma`: the regularised lower incomplete gamma function. Derivative: as igamma."""
    return F.igamma(input, other)


@composite(namespaces=("special",))
def special_gammaincc(F, input, other):
    """`igammac`: the regularised upper incomplete gamma function. Derivative: as igammac."""
    return F.igammac(input, other)


# -- others ------------------------------------------------------------------------------------------------------------


@pointwise(promote=INT_TO_FLOAT, inplace=True, complex=False, namespaces=_BOTH)
def i0(xp, x):
    """Modified Bessel function of the first kind and order 0.

    x: any shape, real; bools and integers become the default float dtype. Derivative: the modified Bessel function of
    the first kind and order 1."""
    return special("i0", x)


@i0.vjp("x")
def _(F, ct, x):
    return ct * F._bessel_i(x, order=1, scaled=False)


@pointwise(promote=INT_TO_FLOAT, inplace=True, complex=False, domain=(0.1, 0.9), namespaces=_BOTH)
def logit(xp, x, *, eps=None):
    """Inverse of the sigmoid, log(x / (1 - x)). eps: clamp x to [eps, 1 - eps] first; NaN outside [0, 1] if None.

    x: any shape, real; bools and integers become the default float dtype. Derivative: 1 / (x * (1 - x)). Outside [eps,
    1 - eps] it is 0; if eps is None, it is NaN outside [0, 1]."""
    if eps is not None:
        x = xp.minimum(xp.maximum(x, eps), 1 - eps)
    return special("logit", x)


@logit.vjp("x")
def _(F, ct, x, eps):
    slope = ct / (x * (1 - x))
    if eps is not None:
        return F._zero_where(slope, (x < eps) | (x > 1 - eps))
    return F.where((x < 0) | (x > 1), math.nan, slope)
