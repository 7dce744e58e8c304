"""Samples and oracles of wengert.ops.special (gamma functions), bessel, beta, polynomials and probability: all are SciPy's."""

from __future__ import annotations

from functools import reduce

import numpy as np
from scipy import integrate, special

from op_samples import Data, Sample

_REAL = {"complex": False}
_DEGREES = np.array([[0, 1, 2], [3, 5, 9]])


def _unary(low, high, **params):
    return [Sample(Data(*shape, low=low, high=high), **params, **_REAL) for shape in ((2, 3), (), (0, 3))]


def _degrees(low=-0.9, high=0.9):
    """One degree for all, one for each, degrees that broadcast against x, and one that is no degree."""
    return [
        Sample(Data(2, 3, low=low, high=high), _DEGREES, **_REAL),
        Sample(Data(2, 1, low=low, high=high), np.array([4, 2]), **_REAL),
        Sample(Data(3, low=low, high=high), 3, **_REAL),
        Sample(Data(3, low=low, high=high), 2.7, **_REAL),
        Sample(Data(3, low=low, high=high), -1, **_REAL),
    ]


_POSITIVE = {"low": 0.3, "high": 3.0}
_UNIT = {"low": 0.1, "high": 0.9}
_POLYNOMIALS = {
    "hermite_polynomial_h": special.eval_hermite,
    "hermite_polynomial_he": special.eval_hermitenorm,
    "laguerre_polynomial_l": special.eval_laguerre,
    "legendre_polynomial_p": special.eval_legendre,
    "chebyshev_polynomial_t": special.eval_chebyt,
    "chebyshev_polynomial_u": special.eval_chebyu,
    "chebyshev_polynomial_v": lambda n, x: np.cos((n + 0.5) * np.arccos(x)) / np.cos(np.arccos(x) / 2),
    "chebyshev_polynomial_w": lambda n, x: np.sin((n + 0.5) * np.arccos(x)) / np.sin(np.arccos(x) / 2),
    "shifted_chebyshev_polynomial_t": special.eval_sh_chebyt,
    "shifted_chebyshev_polynomial_u": special.eval_sh_chebyu,
}  # fmt: skip
for _kind in "vw":
    _POLYNOMIALS[f"shifted_chebyshev_polynomial_{_kind}"] = (
        lambda n, x, plain=_POLYNOMIALS[f"chebyshev_polynomial_{_kind}"]: plain(n, 2 * x - 1)
    )

# Operations that torch computes but does not differentiate.
ONLY_DIFFERENTIATED_HERE = {
    f"special_{name}" for name in (
        "airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "modified_bessel_i0", "modified_bessel_i1",
        "modified_bessel_k0", "modified_bessel_k1", "scaled_modified_bessel_k0", "scaled_modified_bessel_k1",
        "spherical_bessel_j0", *_POLYNOMIALS,
    )
}  # fmt: skip

SAMPLES = {
    "mvlgamma": [s for p in (1, 2, 4) for s in _unary(2.0, 5.0, p=p)],
    "_polygamma_method": [Sample(Data(2, 3, low=0.3, high=4.0), n, **_REAL) for n in (0, 1, 2)],
    "special_multigammaln": _unary(2.0, 5.0, p=3),
    "_igamma_by_parameter": [Sample(Data(2, 3, **_POSITIVE), Data(3, **_POSITIVE), order=n, **_REAL) for n in (1, 2)],
    "_scaled_igamma": [Sample(Data(2, 3, **_POSITIVE), Data(3, **_POSITIVE), order=n, **_REAL) for n in (1, 2)],
    "_standard_gamma_grad": [Sample(Data(2, 3, **_POSITIVE), Data(2, 3, **_POSITIVE), **_REAL)],
    "_dirichlet_grad": [Sample(Data(2, 3, **_UNIT), Data(2, 3, **_POSITIVE), Data(2, 1, low=4.0, high=5.0), **_REAL)],
    "_gamma_density": [Sample(Data(2, 3, **_POSITIVE), Data(3, **_POSITIVE), k=k, **_REAL) for k in (0, 1)],
    "special_betainc": [
        Sample(Data(2, 3, **_POSITIVE), Data(2, 3, **_POSITIVE), Data(2, 3, **_UNIT), **_REAL),
        Sample(Data(2, 1, low=5.0, high=50.0), Data(3, low=5.0, high=50.0), Data(2, 3, **_UNIT), **_REAL),
        Sample(Data(**_POSITIVE), 2, Data(3, **_UNIT), **_REAL),
    ],
    "_betainc_by_parameters": [
        Sample(Data(2, 3, **_POSITIVE), Data(3, **_POSITIVE), Data(2, 3, **_UNIT), m=m, n=n, **_REAL)
        for m, n in ((1, 0), (0, 1), (1, 1))
    ],
    "_beta_density": [
        Sample(Data(2, 3, **_POSITIVE), Data(3, **_POSITIVE), Data(2, 3, **_UNIT), k=k, j=j, **_REAL)
        for k, j in ((0, 0), (1, 0), (0, 1))
    ],
    "_polygamma_step": [Sample(Data(2, 3, **_POSITIVE), Data(3, **_POSITIVE), order=n, **_REAL) for n in (0, 1, 2)],
    "special_gammainc": [Sample(Data(2, 3, **_POSITIVE), Data(2, 3, **_POSITIVE), **_REAL)],
    "special_gammaincc": [Sample(Data(2, 3, **_POSITIVE), Data(2, 3, **_POSITIVE), **_REAL)],
    **{f"special_{name}": _unary(0.2, 3.0) for name in ("gammaln", "psi")},
    **{f"special_{name}": _unary(-3.0, 3.0) for name in ("ndtr",)},
    "special_expit": [Sample((2, 3)), Sample(())],
    "special_zeta": [
        Sample(Data(3, low=1.5, high=4.0), Data(2, 3, low=0.5, high=4.0), **_REAL),
        Sample(2, Data(3, low=0.5, high=4.0), **_REAL),
        Sample(Data(low=1.5, high=4.0), Data(low=0.5, high=4.0), **_REAL),
        Sample(Data(3, low=1.5, high=9.0), 1.5, **_REAL),
    ],
    "_zeta_by_exponent": [Sample(Data(3, low=1.5, high=4.0), Data(2, 3, low=0.5, high=4.0), order=n, **_REAL) for n in (1, 2)],
    "_bessel_j": [Sample(Data(2, 3), order=n, **_REAL) for n in (0, 1, 2, 3)],
    "_bessel_y": [Sample(Data(2, 3, low=0.5, high=4.0), order=n, **_REAL) for n in (0, 1, 2)],
    "_bessel_i": [Sample(Data(2, 3), order=n, scaled=s, **_REAL) for n in (0, 1, 2) for s in (False, True)],
    "_bessel_k": [
        Sample(Data(2, 3, low=0.5, high=4.0), order=n, scaled=s, **_REAL) for n in (0, 1, 2) for s in (False, True)
    ],
    "_spherical_j": [Sample(Data(2, 3), order=n, **_REAL) for n in (0, 1, 2)],
    "_airy": [Sample(Data(2, 3), derivative=d, **_REAL) for d in (False, True)],
    "_ufunc1": [Sample(Data(2, 3, low=0.3, high=2.0), name=name, **_REAL) for name in ("dawsn", "exprel", "airy:2")],
    "_ufunc2": [Sample(Data(2, 3, **_POSITIVE), Data(3, **_POSITIVE), name=name, **_REAL) for name in ("betaln", "chdtr", "owens_t")],
    "_ufunc3": [
        Sample(Data(2, 3, **_POSITIVE), Data(3, **_POSITIVE), Data(2, 1, **_POSITIVE), name=name, **_REAL)
        for name in ("gdtr", "fdtr", "elliprg")
    ],
    "_ufunc4": [Sample(*[Data(2, 3, **_POSITIVE) for _ in range(4)], name="elliprj", **_REAL)],
    "_carlson": [
        Sample(*[Data(2, 3, **_POSITIVE) for _ in range(4)], powers=powers, **_REAL)
        for powers in ((0.5, 0.5, 1.5, 0.0), (0.5, 1.5, 0.5, 1.0))
    ],
    "_expn": [Sample(2, Data(2, 3, **_POSITIVE), order=k, **_REAL) for k in (0, 1, 3)],
    "_spherical_bessel": [
        Sample(n, Data(2, 3, **_POSITIVE), name=name, primes=primes, **_REAL)
        for n, name, primes in ((0, "spherical_jn", 0), (2, "spherical_in", 0), (1, "spherical_kn", 1))
    ],
    "_spherical_harmonic": [Sample(3, m, Data(2, 3, **_POSITIVE), **_REAL) for m in (-2, 0, 3)],
    "_gegenbauer": [Sample(Data(2, 3), _DEGREES, alpha=1.5, **_REAL)],
    "_laguerre": [Sample(Data(2, 3), _DEGREES, alpha=2, **_REAL)],
    **{f"special_{name}": _degrees(*((0.1, 0.9) if "shifted" in name else ())) for name in _POLYNOMIALS},
}


def _result_of(name, *x):
    """A ufunc of SciPy; "airy:2" is the third result."""
    function, _, index = name.partition(":")
    found = getattr(special, function)(*x)
    return found[int(index)] if index else found


def _integral(powers, *x):
    """Carlson's integral of each element, by SciPy's quadrature in t = u / (1 - u)."""

    def at(*values):
        return integrate.quad(
            lambda u: np.prod([(u / (1 - u) + v) ** -a for v, a in zip(values, powers)]) / (1 - u) ** 2, 0, 1, epsabs=0, epsrel=1e-11
        )[0]

    return np.vectorize(at)(*x)


def _polynomial(function):
    def oracle(x, n):
        n = np.trunc(n).astype(int)
        return np.where(n < 0, 0.0, function(np.maximum(n, 0), x))

    return oracle


def _spherical_j0(x):
    return np.where(x == 0, 1.0, np.sin(x) / np.where(x == 0, 1, x))


ORACLES = {
    "igamma": special.gammainc,
    "igammac": special.gammaincc,
    "_polygamma_method": lambda x, n: special.polygamma(n, x),
    "_gamma_density": lambda a, t, k: t ** (a - 1 - k) * np.exp(-t) / special.gamma(a),
    "special_betainc": special.betainc,
    "_beta_density": lambda a, b, x, k, j: x ** (a - 1 - k) * (1 - x) ** (b - 1 - j) / special.beta(a, b),
    **{f"_ufunc{n}": lambda *x, name: _result_of(name, *x) for n in (1, 2, 3, 4)},
    "_carlson": lambda *x, powers: _integral(powers, *x),
    "_expn": lambda n, x, order: special.expn(n - order, x) if order <= n else np.exp(-x) * (1 + x) / x**2,
    "_spherical_bessel": lambda n, z, name, primes: getattr(special, name)(int(n), z, bool(primes)),
    "_spherical_harmonic": lambda n, m, theta: special.sph_harm_y(int(n), int(m), theta, 0.0).real,
    "_polygamma_step": lambda z, d, order: special.polygamma(order, z + d) - special.polygamma(order, z),
    "mvlgamma": lambda x, p: reduce(np.add, [special.gammaln(x - j / 2) for j in range(p)]) + p * (p - 1) / 4 * np.log(np.pi),
    "special_multigammaln": lambda x, p: (
        reduce(np.add, [special.gammaln(x - j / 2) for j in range(p)]) + p * (p - 1) / 4 * np.log(np.pi)
    ),
    "special_expit": lambda x: special.expit(x) if np.isrealobj(x) else 1 / (1 + np.exp(-x)),
    **{f"special_{name}": getattr(special, name) for name in (
        "entr", "erfcx", "gammainc", "gammaincc", "gammaln", "i0e", "i1", "i1e", "log_ndtr", "ndtr", "ndtri", "psi",
        "xlog1py", "zeta",
    )},
    **{f"special_bessel_{name}": getattr(special, name) for name in ("j0", "j1", "y0", "y1")},
    **{f"special_modified_bessel_{name}": getattr(special, name) for name in ("i0", "i1", "k0", "k1")},
    **{f"special_scaled_modified_bessel_{name}": getattr(special, f"{name}e") for name in ("k0", "k1")},
    "special_spherical_bessel_j0": _spherical_j0,
    "special_airy_ai": lambda x: special.airy(x)[0],
    **{f"special_{name}": _polynomial(function) for name, function in _POLYNOMIALS.items()},
}  # fmt: skip
