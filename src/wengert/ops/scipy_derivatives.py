"""Derivatives of the ufuncs of scipy.special, by name and argument.

DERIVATIVES["jv"] has one entry for each argument: a function of (F, out, *arguments), or None if the derivative is not known.
Several results are numbered: "airy:2" is the third. The functions are those of F, or ufuncs of this table, so they differentiate
to any order.

Formulas are those of the NIST Digital Library of Mathematical Functions (DLMF), where the comment names a section. An inverse
function has the derivative of the implicit function: if f(x, a) = y, then dx/dy = 1 / f_x and dx/da = -f_a / f_x.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from wengert import errors

Slope = Callable[..., Any]

# Arguments that a function takes as integers, by place.
INTEGERS = {
    **dict.fromkeys(("eval_hermite", "eval_hermitenorm", "kn", "yn"), (0,)), **dict.fromkeys(("bdtr", "bdtrc", "bdtri"), (1,)),
    "lambertw": (1,),
}  # fmt: skip
# How many of the first arguments are real, though the last is complex.
_REAL = """
    jv:1 jve:1 yv:1 yve:1 iv:1 ive:1 kv:1 kve:1 hankel1:1 hankel1e:1 hankel2:1 hankel2e:1 hyp0f1:1 hyp1f1:2 hyp2f1:3 eval_legendre:1
    eval_chebyt:1 eval_chebyu:1 eval_chebyc:1 eval_chebys:1 eval_laguerre:1 eval_sh_legendre:1 eval_sh_chebyt:1 eval_sh_chebyu:1
    eval_gegenbauer:2 eval_genlaguerre:2 eval_jacobi:3 eval_sh_jacobi:3
"""
REAL_PARAMETERS = {name: int(count) for name, count in [pair.split(":") for pair in _REAL.split()]}
# Functions with complex results for real arguments.
COMPLEX_FROM_REAL = frozenset({"hankel1", "hankel1e", "hankel2", "hankel2e", "wofz"})


def slope(F: Any, name: str, argument: int, out: Any, *arguments: Any) -> Any:
    """Derivative of a ufunc in an argument. Raises ConversionError if it is not known."""
    rule = DERIVATIVES[name][argument]
    if rule is None:
        function = f"scipy.special.{name.partition(':')[0]} in its argument {argument + 1}"
        raise errors.no_array_of("Tensor that requires grad", function)
    return rule(F, out, *arguments)


def u(F: Any, name: str, *arguments: Any) -> Any:
    """Call a ufunc of this table."""
    return getattr(F, f"_ufunc{len(arguments)}")(*arguments, name=name)


def like(x: Any, value: float) -> Any:
    """Return an array of a value with the shape of x, which is not differentiated."""
    return 0 * (x.detach() if hasattr(x, "detach") else x) + value


DERIVATIVES: dict[str, tuple[Slope | None, ...]] = {}
D = DERIVATIVES

_ROOT_PI = math.sqrt(math.pi)
_DEGREE = math.pi / 180

# -- error functions and relatives (DLMF 7) ----------------------------------------------------------------------------

D["erf"] = (lambda F, out, z: (2 / _ROOT_PI) * F.exp(-z * z),)
D["erfc"] = (lambda F, out, z: (-2 / _ROOT_PI) * F.exp(-z * z),)
D["erfi"] = (lambda F, out, z: (2 / _ROOT_PI) * F.exp(z * z),)
D["erfcx"] = (lambda F, out, z: 2 * z * out - 2 / _ROOT_PI,)
D["wofz"] = (lambda F, out, z: 2j / _ROOT_PI - 2 * z * out,)
D["dawsn"] = (lambda F, out, z: 1 - 2 * z * out,)
D["erfcinv"] = (lambda F, out, y: (-_ROOT_PI / 2) * F.exp(out * out),)
D["ndtr"] = (lambda F, out, z: (1 / math.sqrt(2 * math.pi)) * F.exp(-0.5 * z * z),)
D["log_ndtr"] = (lambda F, out, z: (1 / math.sqrt(2 * math.pi)) * F.exp(-0.5 * z * z - out),)
D["ndtri_exp"] = (lambda F, out, y: 1 / F._normal_hazard(out),)
D["fresnel:0"] = (lambda F, out, z: F.sin((math.pi / 2) * z * z),)
D["fresnel:1"] = (lambda F, out, z: F.cos((math.pi / 2) * z * z),)
D["owens_t"] = (
    lambda F, out, h, a: (-1 / math.sqrt(8 * math.pi)) * F.exp(-0.5 * h * h) * F.erf(a * h * math.sqrt(0.5)),
    lambda F, out, h, a: (0.5 / math.pi) * F.exp(-0.5 * h * h * (1 + a * a)) / (1 + a * a),
)

# -- elementary functions ----------------------------------------------------------------------------------------------

D["cbrt"] = (lambda F, out, x: out / (3 * x),)
D["cosdg"] = (lambda F, out, x: -_DEGREE * u(F, "sindg", x),)
D["sindg"] = (lambda F, out, x: _DEGREE * u(F, "cosdg", x),)
D["tandg"] = (lambda F, out, x: _DEGREE * (1 + out * out),)
D["cotdg"] = (lambda F, out, x: -_DEGREE * (1 + out * out),)
D["cosm1"] = (lambda F, out, x: -F.sin(x),)
D["exp10"] = (lambda F, out, x: math.log(10) * out,)
D["exprel"] = (lambda F, out, x: 0.5 * u(F, "hyp1f1", like(x, 2), like(x, 3), x),)
D["log_expit"] = (lambda F, out, x: F.sigmoid(-x),)
D["powm1"] = (
    lambda F, out, x, y: y * F.pow(x, y - 1),
    lambda F, out, x, y: F.pow(x, y) * F.log(x),
)
D["lambertw"] = (lambda F, out, z, k: F.exp(-out) / (1 + out), None)
D["wrightomega"] = (lambda F, out, z: out / (1 + out),)
D["spence"] = (lambda F, out, z: -u(F, "hyp2f1", like(z, 1), like(z, 1), like(z, 2), 1 - z),)

# -- gamma functions (DLMF 5, 8) ---------------------------------------------------------------------------------------

D["gamma"] = (lambda F, out, z: out * _psi(F, z),)
D["loggamma"] = (lambda F, out, z: _psi(F, z),)
D["rgamma"] = (lambda F, out, z: -out * _psi(F, z),)
D["psi"] = (lambda F, out, z: _trigamma(F, z),)
D["beta"] = (
    lambda F, out, a, b: -out * F._polygamma_step(a, b, order=0),
    lambda F, out, a, b: -out * F._polygamma_step(b, a, order=0),
)
D["betaln"] = (
    lambda F, out, a, b: -F._polygamma_step(a, b, order=0),
    lambda F, out, a, b: -F._polygamma_step(b, a, order=0),
)
D["binom"] = (
    lambda F, out, n, k: out * F._polygamma_step(n - k + 1, k, order=0),
    lambda F, out, n, k: out * F._polygamma_step(k + 1, n - 2 * k, order=0),
)
D["poch"] = (
    lambda F, out, z, m: out * F._polygamma_step(z, m, order=0),
    lambda F, out, z, m: out * F.digamma(z + m),
)
D["zetac"] = (lambda F, out, x: F._zeta_by_exponent(x, like(x, 1), order=1),)


def _psi(F: Any, z: Any) -> Any:
    return u(F, "psi", z) if _is_complex(z) else F.digamma(z)


def _trigamma(F: Any, z: Any) -> Any:
    if _is_complex(z):  # SciPy has no polygamma of complex numbers
        raise errors.no_array_of("Tensor that requires grad", "scipy.special.psi of complex numbers")
    return F._trigamma(z)


def _is_complex(z: Any) -> bool:
    return z.is_complex() if hasattr(z, "is_complex") else z.dtype.kind == "c"


# Distribution functions f(*parameters) and their partial derivatives, as functions of (F, *arguments).


def _gamma_a(F: Any, a: Any, x: Any) -> Any:
    return F._igamma_by_parameter(a, x, order=1)


def _gamma_x(F: Any, a: Any, x: Any) -> Any:
    return F._gamma_density(a, x, k=0)


def _beta_a(F: Any, a: Any, b: Any, x: Any) -> Any:
    return F._betainc_by_parameters(a, b, x, m=1, n=0)


def _beta_b(F: Any, a: Any, b: Any, x: Any) -> Any:
    return F._betainc_by_parameters(a, b, x, m=0, n=1)


def _beta_x(F: Any, a: Any, b: Any, x: Any) -> Any:
    return F._beta_density(a, b, x, k=0, j=0)


def _student_t(F: Any, df: Any, t: Any) -> Any:
    """Density of Student's distribution."""
    log_beta = F.lgamma(0.5 * df) - F.lgamma(0.5 * df + 0.5)
    return F.exp(-log_beta - 0.5 * (df + 1) * F.log1p(t * t / df)) / F.sqrt(math.pi * df)


def _student_df(F: Any, df: Any, t: Any) -> Any:
    square = t * t
    y = square / (df + square)
    half, a = 0.5 * df, like(df, 0.5)
    inner = 0.5 * _beta_b(F, a, half, y) - _beta_x(F, a, half, y) * y / (df + square)
    return F._zero_where(0.5 * F.sign(t) * inner, t == 0)


def _fdtr_x(F: Any, n: Any, d: Any, x: Any) -> Any:
    y = n * x / (d + n * x)
    return _beta_x(F, 0.5 * n, 0.5 * d, y) * n * d / F.square(d + n * x)


def _fdtr_n(F: Any, n: Any, d: Any, x: Any) -> Any:
    y = n * x / (d + n * x)
    return 0.5 * _beta_a(F, 0.5 * n, 0.5 * d, y) + _beta_x(F, 0.5 * n, 0.5 * d, y) * d * x / F.square(d + n * x)


def _fdtr_d(F: Any, n: Any, d: Any, x: Any) -> Any:
    y = n * x / (d + n * x)
    return 0.5 * _beta_b(F, 0.5 * n, 0.5 * d, y) - _beta_x(F, 0.5 * n, 0.5 * d, y) * n * x / F.square(d + n * x)


def _chndtr_x(F: Any, x: Any, df: Any, nc: Any) -> Any:
    """Density of the noncentral chi-squared distribution (Johnson, Kotz and Balakrishnan, 29.4)."""
    root = F.sqrt(nc * x)
    bessel = u(F, "ive", 0.5 * df - 1, root)
    return 0.5 * F.exp(-0.5 * (x + nc) + root + (0.25 * df - 0.5) * F.log(x / nc)) * bessel


def _chndtr_nc(F: Any, x: Any, df: Any, nc: Any) -> Any:
    return 0.5 * (u(F, "chndtr", x, df + 2, nc) - u(F, "chndtr", x, df, nc))


Partial = Callable[..., Any]
_GAMMA: tuple[Partial, ...] = (_gamma_a, _gamma_x)
_BETA: tuple[Partial, ...] = (_beta_a, _beta_b, _beta_x)
_STUDENT: tuple[Partial, ...] = (_student_df, _student_t)
_F_RATIO: tuple[Partial, ...] = (_fdtr_n, _fdtr_d, _fdtr_x)
_CHI: tuple[Partial, ...] = (
    lambda F, v, x: 0.5 * _gamma_a(F, 0.5 * v, 0.5 * x),
    lambda F, v, x: 0.5 * _gamma_x(F, 0.5 * v, 0.5 * x),
)
_GDTR: tuple[Partial, ...] = (
    lambda F, a, b, x: x * _gamma_x(F, b, a * x),
    lambda F, a, b, x: _gamma_a(F, b, a * x),
    lambda F, a, b, x: a * _gamma_x(F, b, a * x),
)
# k is rounded down by bdtr, pdtr and nbdtr, and is a real number in their inverses.
_PDTR: tuple[Partial | None, ...] = (
    lambda F, k, m: -_gamma_a(F, k + 1, m),
    lambda F, k, m: -_gamma_x(F, k + 1, m),
)
_BDTR: tuple[Partial | None, ...] = (
    lambda F, k, n, p: _beta_b(F, n - k, k + 1, 1 - p) - _beta_a(F, n - k, k + 1, 1 - p),
    lambda F, k, n, p: _beta_a(F, n - k, k + 1, 1 - p),
    lambda F, k, n, p: -_beta_x(F, n - k, k + 1, 1 - p),
)
_NBDTR: tuple[Partial | None, ...] = (
    lambda F, k, n, p: _beta_b(F, n, k + 1, p),
    lambda F, k, n, p: _beta_a(F, n, k + 1, p),
    lambda F, k, n, p: _beta_x(F, n, k + 1, p),
)
_CHNDTR: tuple[Partial | None, ...] = (_chndtr_x, None, _chndtr_nc)


def _forward(names: str, partials: tuple[Partial | None, ...], sign: float = 1.0, floor: bool = False) -> None:
    """Register functions with these partial derivatives times a sign. floor: whether the first argument is rounded down."""

    def of(partial: Partial) -> Slope:
        def rule(F: Any, out: Any, *arguments: Any) -> Any:
            if floor:
                arguments = (F.floor(arguments[0]), *arguments[1:])
            return partial(F, *arguments) if sign == 1 else sign * partial(F, *arguments)

        return rule

    for name in names.split():
        D[name] = tuple([None if p is None or (floor and i == 0) else of(p) for i, p in enumerate(partials)])


def _inverse(
    name: str, places: tuple[int | None, ...], partials: tuple[Partial | None, ...], sign: float = 1.0, floor: bool = False
) -> None:
    """Register the inverse of a function in one of its arguments.

    places: for each argument of the inverse, its place among those of the function, None for the value. The remaining place is the
    result's. sign: -1 if the value is 1 - f. floor: whether the first argument of the function is rounded down.
    """
    solved = next(i for i in range(len(partials)) if i not in places)

    def of(place: int | None) -> Slope | None:
        if partials[solved] is None or (place is not None and (partials[place] is None or (floor and place == 0))):
            return None

        def rule(F: Any, out: Any, *arguments: Any) -> Any:
            full = [out] * len(partials)
            for at, x in zip(places, arguments, strict=True):
                if at is not None:
                    full[at] = F.floor(x) if floor and at == 0 else x
            below: Any = partials[solved]
            if place is None:
                return sign / below(F, *full)
            above: Any = partials[place]
            return -above(F, *full) / below(F, *full)

        return rule

    D[name] = tuple([of(place) for place in places])


_forward("gammainc", _GAMMA)
_forward("gammaincc", _GAMMA, -1)
_inverse("gammaincinv", (0, None), _GAMMA)
_inverse("gammainccinv", (0, None), _GAMMA, -1)
_forward("betainc", _BETA)
_forward("betaincc", _BETA, -1)
_inverse("betaincinv", (0, 1, None), _BETA)
_inverse("betainccinv", (0, 1, None), _BETA, -1)
_inverse("btdtria", (None, 1, 2), _BETA)
_inverse("btdtrib", (0, None, 2), _BETA)
_forward("chdtr", _CHI)
_forward("chdtrc", _CHI, -1)
_inverse("chdtri", (0, None), _CHI, -1)
_inverse("chdtriv", (None, 1), _CHI)
_forward("gdtr", _GDTR)
_forward("gdtrc", _GDTR, -1)
_inverse("gdtria", (None, 1, 2), _GDTR)
_inverse("gdtrib", (0, None, 2), _GDTR)
_inverse("gdtrix", (0, 1, None), _GDTR)
_forward("fdtr", _F_RATIO)
_forward("fdtrc", _F_RATIO, -1)
_inverse("fdtri", (0, 1, None), _F_RATIO)
_inverse("fdtridfd", (0, None, 2), _F_RATIO)
_forward("stdtr", _STUDENT)
_inverse("stdtrit", (0, None), _STUDENT)
_inverse("stdtridf", (None, 1), _STUDENT)
_forward("pdtr", _PDTR, floor=True)
_forward("pdtrc", _PDTR, -1, floor=True)
_inverse("pdtri", (0, None), _PDTR, floor=True)
_inverse("pdtrik", (None, 1), _PDTR)
_forward("bdtr", _BDTR, floor=True)
_forward("bdtrc", _BDTR, -1, floor=True)
_inverse("bdtri", (0, 1, None), _BDTR, floor=True)
_inverse("bdtrik", (None, 1, 2), _BDTR)
_inverse("bdtrin", (0, None, 2), _BDTR)
_forward("nbdtr", _NBDTR, floor=True)
_forward("nbdtrc", _NBDTR, -1, floor=True)
_inverse("nbdtri", (0, 1, None), _NBDTR, floor=True)
_inverse("nbdtrik", (None, 1, 2), _NBDTR)
_inverse("nbdtrin", (0, None, 2), _NBDTR)
_forward("chndtr", _CHNDTR)
_inverse("chndtrix", (None, 1, 2), _CHNDTR)
_inverse("chndtrinc", (0, 1, None), _CHNDTR)

D["tklmbda"] = (
    lambda F, out, x, lam: F._zero_where(1 / (F.pow(out, lam - 1) + F.pow(1 - out, lam - 1)), (out <= 0) | (out >= 1)),
    None,
)

# -- Bessel functions (DLMF 10) ----------------------------------------------------------------------------------------


def _neighbours(name: str, below: float, above: float, rest: Slope | None = None) -> None:
    """Register f(v, z) whose derivative in z is below * f(v - 1, z) + above * f(v + 1, z), and the rest. There is none in v."""

    def rule(F: Any, out: Any, v: Any, z: Any) -> Any:
        found = below * u(F, name, v - 1, z) + above * u(F, name, v + 1, z)
        return found if rest is None else found + rest(F, out, v, z)

    D[name] = (None, rule)


for _name in ("jv", "jn", "yv", "yn", "hankel1", "hankel2"):
    _neighbours(_name, 0.5, -0.5)
_neighbours("iv", 0.5, 0.5)
_neighbours("kv", -0.5, -0.5)
_neighbours("kn", -0.5, -0.5)
_neighbours("ive", 0.5, 0.5, lambda F, out, v, z: -F.sign(z) * out)
_neighbours("kve", -0.5, -0.5, lambda F, out, v, z: out)
_neighbours("jve", 0.5, -0.5)
_neighbours("yve", 0.5, -0.5)
_neighbours("hankel1e", 0.5, -0.5, lambda F, out, v, z: -1j * out)
_neighbours("hankel2e", 0.5, -0.5, lambda F, out, v, z: 1j * out)


def _struve_rest(F: Any, out: Any, v: Any, x: Any) -> Any:
    return F.pow(0.5 * x, v) * (u(F, "rgamma", v + 1.5) * (0.5 / _ROOT_PI))


_neighbours("struve", 0.5, -0.5, _struve_rest)  # DLMF 11.4.28
_neighbours("modstruve", 0.5, 0.5, _struve_rest)
D["itstruve0"] = (lambda F, out, x: u(F, "struve", like(x, 0), x),)
D["it2struve0"] = (lambda F, out, x: -u(F, "struve", like(x, 0), x) / x,)
D["itmodstruve0"] = (lambda F, out, x: u(F, "modstruve", like(x, 0), x),)
D["itj0y0:0"] = (lambda F, out, x: F._bessel_j(x, order=0),)
D["itj0y0:1"] = (lambda F, out, x: F._bessel_y(x, order=0),)
D["iti0k0:0"] = (lambda F, out, x: F._bessel_i(x, order=0, scaled=False),)
D["iti0k0:1"] = (lambda F, out, x: F._bessel_k(x, order=0, scaled=False),)
D["it2j0y0:0"] = (lambda F, out, x: (1 - F._bessel_j(x, order=0)) / x,)
D["it2j0y0:1"] = (lambda F, out, x: -F._bessel_y(x, order=0) / x,)
D["it2i0k0:0"] = (lambda F, out, x: (F._bessel_i(x, order=0, scaled=False) - 1) / x,)
D["it2i0k0:1"] = (lambda F, out, x: -F._bessel_k(x, order=0, scaled=False) / x,)

# Airy functions (DLMF 9.2): each is numbered by its place in airy(z) = Ai, Ai', Bi, Bi'. airye scales by exp(+-2/3 z**1.5).
for _i in (0, 2):
    D[f"airy:{_i}"] = (lambda F, out, z, i=_i: u(F, f"airy:{i + 1}", z),)
    D[f"airy:{_i + 1}"] = (lambda F, out, z, i=_i: z * u(F, f"airy:{i}", z),)
    _sign = 1 - _i
    D[f"airye:{_i}"] = (lambda F, out, z, i=_i, s=_sign: u(F, f"airye:{i + 1}", z) + s * _root(F, z) * out,)
    D[f"airye:{_i + 1}"] = (lambda F, out, z, i=_i, s=_sign: z * u(F, f"airye:{i}", z) + s * _root(F, z) * out,)
for _i, (_place, _sign) in enumerate([(0, 1), (2, 1), (0, -1), (2, -1)]):
    D[f"itairy:{_i}"] = (lambda F, out, x, i=_place, s=_sign: u(F, f"airy:{i}", s * x),)


def _root(F: Any, z: Any) -> Any:
    """sqrt(z) for z > 0, 0 for z < 0."""
    return F.sqrt(F.where(z > 0, z, 0.0))


# Kelvin functions (DLMF 10.61): w = ber + i bei and w = ker + i kei satisfy w'' = -w' / x + i w.
for _real, _imag in (("ber", "bei"), ("ker", "kei")):
    D[_real] = (lambda F, out, x, p=f"{_real}p": u(F, p, x),)
    D[_imag] = (lambda F, out, x, p=f"{_imag}p": u(F, p, x),)
    D[f"{_real}p"] = (lambda F, out, x, other=_imag: -out / x - u(F, other, x),)
    D[f"{_imag}p"] = (lambda F, out, x, other=_real: -out / x + u(F, other, x),)

# -- exponential and trigonometric integrals (DLMF 6) ------------------------------------------------------------------

D["exp1"] = (lambda F, out, z: -F.exp(-z) / z,)
D["expi"] = (lambda F, out, z: F.exp(z) / z,)
D["sici:0"] = (lambda F, out, x: F.sinc(x * (1 / math.pi)),)
D["sici:1"] = (lambda F, out, x: F.cos(x) / x,)
D["shichi:0"] = (lambda F, out, x: 0.5 * (u(F, "exprel", x) + u(F, "exprel", -x)),)
D["shichi:1"] = (lambda F, out, x: F.cosh(x) / x,)

# -- elliptic integrals (DLMF 19) --------------------------------------------------------------------------------------


def _hyp(F: Any, a: float, b: float, c: float, x: Any) -> Any:
    return u(F, "hyp2f1", like(x, a), like(x, b), like(x, c), x)


# K(m) = pi / 2 2F1(1/2, 1/2; 1; m), E(m) = pi / 2 2F1(-1/2, 1/2; 1; m); near m = 1 by Euler's transformation.
D["ellipk"] = (lambda F, out, m: (math.pi / 8) * _hyp(F, 0.5, 0.5, 2.0, m) / (1 - m),)
D["ellipkm1"] = (lambda F, out, p: (-math.pi / 8) * _hyp(F, 0.5, 0.5, 2.0, 1 - p) / p,)
D["ellipe"] = (lambda F, out, m: (-math.pi / 8) * _hyp(F, 0.5, 1.5, 2.0, m),)


def _legendre(F: Any, phi: Any, m: Any) -> tuple[Any, Any, Any, Any]:
    """Return (periods, s**3, c**2, 1 - m s**2) with the sine s and the cosine c of the angle in [-pi / 2, pi / 2]."""
    periods = F.round(phi * (1 / math.pi))
    s, c = F.sin(phi - math.pi * periods), F.cos(phi - math.pi * periods)
    return periods, s * s * s, c * c, 1 - m * s * s


def _by_modulus(F: Any, phi: Any, m: Any, powers: Any, complete: Any) -> Any:
    """Integral of sin**2 (1 - m sin**2)**-b over the angle, b = powers[1], by Carlson's integral (DLMF 19.25.5, 19.25.9)."""
    periods, cube, square, delta = _legendre(F, phi, m)
    one = like(square, 1)
    return 0.5 * cube * F._carlson(square, delta, one, one, powers=powers) + 2 * periods * complete


D["ellipkinc"] = (
    lambda F, out, phi, m: 1 / F.sqrt(1 - m * F.square(F.sin(phi))),
    lambda F, out, phi, m: 0.5 * _by_modulus(F, phi, m, (0.5, 1.5, 0.5, 0.0), (math.pi / 4) * _hyp(F, 0.5, 0.5, 2.0, m) / (1 - m)),
)
D["ellipeinc"] = (
    lambda F, out, phi, m: F.sqrt(1 - m * F.square(F.sin(phi))),
    lambda F, out, phi, m: -0.5 * _by_modulus(F, phi, m, (0.5, 0.5, 1.5, 0.0), (math.pi / 4) * _hyp(F, 0.5, 1.5, 2.0, m)),
)
# The amplitude ph(u, m) is the inverse of F(ph, m) = u.
D["ellipj:3"] = (
    lambda F, out, x, m: _delta(F, out, m),
    lambda F, out, x, m: -_delta(F, out, m) * D["ellipkinc"][1](F, None, out, m),  # type: ignore[misc]
)


def _delta(F: Any, phi: Any, m: Any) -> Any:
    """sqrt(1 - m sin(phi)**2), accurate also for m near 1."""
    return F.sqrt(F.square(F.cos(phi)) + (1 - m) * F.square(F.sin(phi)))


def _carlson(powers: tuple[float, ...], factor: float) -> tuple[Slope, ...]:
    """Derivatives of factor times Carlson's integral with these powers."""

    def of(i: int) -> Slope:
        raised = tuple([a + (k == i) for k, a in enumerate(powers)]) + (0.0,) * (4 - len(powers))

        def rule(F: Any, out: Any, *arguments: Any) -> Any:
            full = (*arguments, *[like(arguments[0], 1)] * (4 - len(arguments)))
            return (-factor * powers[i]) * F._carlson(*full, powers=raised)

        return rule

    return tuple([of(i) for i in range(len(powers))])


D["elliprf"] = _carlson((0.5, 0.5, 0.5), 0.5)
D["elliprd"] = _carlson((0.5, 0.5, 1.5), 1.5)
D["elliprj"] = _carlson((0.5, 0.5, 0.5, 1.0), 1.5)
D["elliprc"] = _carlson((0.5, 1.0), 0.5)
# DLMF 19.16.3: dRG/dx is the integral of t / (t + x) over s(t), divided by 8.
D["elliprg"] = (
    lambda F, out, x, y, z: _by_first(F, x, y, z),
    lambda F, out, x, y, z: _by_first(F, y, z, x),
    lambda F, out, x, y, z: _by_first(F, z, x, y),
)


def _by_first(F: Any, x: Any, y: Any, z: Any) -> Any:
    return 0.25 * (u(F, "elliprf", x, y, z) - x * u(F, "elliprd", y, z, x) * (1 / 3))


# The integral of x**lmb J(nu, 2 a x) over (0, 1): J' = (J(nu - 1) - J(nu + 1)) / 2 (DLMF 10.6.1).
D["besselpoly"] = (
    lambda F, out, a, lmb, nu: u(F, "besselpoly", a, lmb + 1, nu - 1) - u(F, "besselpoly", a, lmb + 1, nu + 1), None, None,
)  # fmt: skip

# -- hypergeometric functions (DLMF 13, 15) ----------------------------------------------------------------------------

D["hyp0f1"] = (None, lambda F, out, v, z: u(F, "hyp0f1", v + 1, z) / v)
D["hyp1f1"] = (None, None, lambda F, out, a, b, z: a / b * u(F, "hyp1f1", a + 1, b + 1, z))
D["hyp2f1"] = (None, None, None, lambda F, out, a, b, c, z: a * b / c * u(F, "hyp2f1", a + 1, b + 1, c + 1, z))
D["hyperu"] = (None, None, lambda F, out, a, b, x: -a * u(F, "hyperu", a + 1, b + 1, x))
D["wright_bessel"] = (None, None, lambda F, out, a, b, x: u(F, "wright_bessel", a, a + b, x))
D["log_wright_bessel"] = (None, None, lambda F, out, a, b, x: F.exp(u(F, "log_wright_bessel", a, a + b, x) - out))

# -- orthogonal polynomials (DLMF 18.9) --------------------------------------------------------------------------------


def _lower(F: Any, name: str, n: Any, *arguments: Any) -> Any:
    """The polynomial of degree n - 1, or 0 for n = 0."""
    return F._zero_where(u(F, name, F.where(n == 0, like(n, 1.0), n) - 1, *arguments), n == 0)


def _jacobi_slope(F: Any, n: Any, a: Any, b: Any, x: Any) -> Any:
    return 0.5 * (n + a + b + 1) * _lower(F, "eval_jacobi", n, a + 1, b + 1, x)


D["eval_jacobi"] = (None, None, None, lambda F, out, n, a, b, x: _jacobi_slope(F, n, a, b, x))
D["eval_sh_jacobi"] = (
    None, None, None, lambda F, out, n, p, q, x: n * _lower(F, "eval_sh_jacobi", n, p + 2, q + 1, x),
)  # fmt: skip
D["eval_legendre"] = (None, lambda F, out, n, x: _jacobi_slope(F, n, like(x, 0), like(x, 0), x))
D["eval_sh_legendre"] = (None, lambda F, out, n, x: 2 * _jacobi_slope(F, n, like(x, 0), like(x, 0), 2 * x - 1))
D["eval_gegenbauer"] = (None, None, lambda F, out, n, a, x: 2 * a * _lower(F, "eval_gegenbauer", n, a + 1, x))
D["eval_chebyt"] = (None, lambda F, out, n, x: n * _lower(F, "eval_chebyu", n, x))
D["eval_chebyu"] = (None, lambda F, out, n, x: 2 * _lower(F, "eval_gegenbauer", n, like(x, 2), x))
D["eval_chebyc"] = (None, lambda F, out, n, x: n * _lower(F, "eval_chebys", n, x))
D["eval_chebys"] = (None, lambda F, out, n, x: _lower(F, "eval_gegenbauer", n, like(x, 2), 0.5 * x))
D["eval_sh_chebyt"] = (None, lambda F, out, n, x: 2 * n * _lower(F, "eval_sh_chebyu", n, x))
D["eval_sh_chebyu"] = (None, lambda F, out, n, x: 4 * _lower(F, "eval_gegenbauer", n, like(x, 2), 2 * x - 1))
D["eval_laguerre"] = (None, lambda F, out, n, x: -_lower(F, "eval_genlaguerre", n, like(x, 1), x))
D["eval_genlaguerre"] = (None, None, lambda F, out, n, a, x: -_lower(F, "eval_genlaguerre", n, a + 1, x))
D["eval_hermite"] = (None, lambda F, out, n, x: 2 * n * _lower(F, "eval_hermite", n, x))
D["eval_hermitenorm"] = (None, lambda F, out, n, x: n * _lower(F, "eval_hermitenorm", n, x))
D["lpmv"] = (None, None, lambda F, out, m, v, x: (v * x * out - (v + m) * u(F, "lpmv", m, v - 1, x)) / (x * x - 1))  # DLMF 14.10.5

# -- solutions of differential equations: the value is numbered 0, its derivative 1 ------------------------------------


def _second_order(name: str, degree: bool, bend: Slope) -> None:
    """Register y and y' by the equation y'' = bend(F, y, y', *arguments). degree: whether x is in degrees."""
    factor = _DEGREE if degree else 1.0
    none = (None,) * _PARAMETERS[name]
    D[f"{name}:0"] = (*none, lambda F, out, *a: factor * u(F, f"{name}:1", *a))
    D[f"{name}:1"] = (*none, lambda F, out, *a: factor * bend(F, u(F, f"{name}:0", *a), out, *a))


_PARAMETERS = {
    **dict.fromkeys(("pbdv", "pbvv", "pbwa"), 1),
    **{f"mathieu_{kind}": 2 for kind in ("cem", "sem", "modcem1", "modcem2", "modsem1", "modsem2")},
    **dict.fromkeys(("pro_ang1", "pro_rad1", "pro_rad2", "obl_ang1", "obl_rad1"), 3),
}
for _name in ("pbdv", "pbvv"):  # DLMF 12.2.2
    _second_order(_name, False, lambda F, y, slope, v, x: (0.25 * x * x - v - 0.5) * y)
_second_order("pbwa", False, lambda F, y, slope, a, x: (a - 0.25 * x * x) * y)
for _kind in ("c", "s"):  # DLMF 28.2.1 and 28.20.1
    _value_of = f"mathieu_{'a' if _kind == 'c' else 'b'}"
    _second_order(
        f"mathieu_{_kind}em", True,
        lambda F, y, slope, m, q, x, a=_value_of: (2 * q * F.cos(2 * _DEGREE * x) - u(F, a, m, q)) * y,
    )  # fmt: skip
    for _number in "12":
        _second_order(
            f"mathieu_mod{_kind}em{_number}", False,
            lambda F, y, slope, m, q, x, a=_value_of: (u(F, a, m, q) - 2 * q * F.cosh(2 * x)) * y,
        )  # fmt: skip
D["mathieu_a"] = D["mathieu_b"] = (None, None)
D["pro_cv"] = D["obl_cv"] = (None, None, None)
for _name in ("pro_ang1", "pro_rad1", "pro_rad2"):  # DLMF 30.2.1; in the oblate radial equation x stands for -i x
    _second_order(
        _name, False,
        lambda F, y, slope, m, n, c, x:
            (2 * x * slope - (u(F, "pro_cv", m, n, c) - F.square(c * x) - m * m / (1 - x * x)) * y) / (1 - x * x),
    )  # fmt: skip
_second_order(
    "obl_ang1", False,
    lambda F, y, slope, m, n, c, x:
        (2 * x * slope - (u(F, "obl_cv", m, n, c) + F.square(c * x) - m * m / (1 - x * x)) * y) / (1 - x * x),
)  # fmt: skip
_second_order(
    "obl_rad1", False,
    lambda F, y, slope, m, n, c, x:
        (-2 * x * slope + (u(F, "obl_cv", m, n, c) - F.square(c * x) - m * m / (1 + x * x)) * y) / (1 + x * x),
)  # fmt: skip
