"""scipy.special with derivatives. See _frame.py.

The derivatives of the ufuncs are in ops/scipy_derivatives.py. Functions that wengert has under torch's names run these operations.
The others are compositions. The ufuncs are found by `scipy.special.gammaln(tensor)`, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from wengert import array_protocol as _protocol, errors
from wengert.array_functions.table import detached, ints as _ints, special as _operations, w as _w
from wengert.ops.faces import tensor_face
from wengert.ops.scipy_derivatives import COMPLEX_FROM_REAL, DERIVATIVES, INTEGERS, like
from wengert.scipy import _orders
from wengert.scipy._closures import with_values
from wengert.scipy._frame import Submodule as _Submodule, is_differentiated, operands, requires_grad
from wengert.scipy._parameters import FORMULAS, INTEGER_PLACES, INVERSES, inverse

_F: Any = tensor_face
_module = _Submodule("special", globals())
__getattr__, __dir__ = _module.lookups()

# -- ufuncs ----------------------------------------------------------------------------------------------------------------

# Operations of wengert for real arguments, by SciPy's name; ours:name if the names differ.
_OPERATIONS = """
    bessel_j0:j0 bessel_j1:j1 bessel_y0:y0 bessel_y1:y1 digamma digamma:psi entr erf erfc erfcx erfinv exp2 expit expm1 gammaln
    i0 i0e i1 i1e log1p log_ndtr logit modified_bessel_k0:k0 modified_bessel_k1:k1 ndtr ndtri scaled_modified_bessel_k0:k0e
    scaled_modified_bessel_k1:k1e xlog1py xlogy
"""


@cache
def _parameters(name: str) -> list[str]:
    """Names of the parameters of a ufunc, as its documentation has them."""
    for line in (getattr(_module.scipy, name).__doc__ or "").splitlines():
        line = line.strip()
        if line.startswith(f"{name}(") and "/" not in line:  # the line of NumPy's has a "/"
            return [part.strip(" )") for part in line.partition("(")[2].split(",")]
    return []


def _unknown(name: str, i: int, x: Any) -> Exception:
    """Return the error for an argument i without a derivative."""
    known = _parameters(name)
    kind = "Tensor that requires grad" if requires_grad([x]) else "a dual Tensor, which has a tangent"
    argument = repr(known[i]) if i < len(known) else str(i + 1)
    return errors.no_array_of(kind, f"scipy.special.{name} in its argument {argument}")


def _needs_formula(name: str, key: str, arguments: tuple[Any, ...]) -> bool:
    """Whether an argument is differentiated in which the table has no derivative. Raises ConversionError if no formula has it."""
    found = False
    for i, (rule, x) in enumerate(zip(DERIVATIVES[key], arguments, strict=True)):
        if rule is None and is_differentiated([x]):
            if name not in FORMULAS and name not in INVERSES:
                raise _unknown(name, i, x)
            found = True
    return found


def _by_formula(name: str, arguments: tuple[Any, ...]) -> Any:
    """Return SciPy's value with the derivatives of a formula. See Note [Derivatives in parameters]."""
    for i in INTEGER_PLACES.get(name, ()):
        if is_differentiated([arguments[i]]):
            raise _unknown(name, i, arguments[i])
        if not np.all(np.asarray(detached(arguments[i])) % 1 == 0):
            raise ValueError(f"{name}: the argument {i + 1} must hold integers")
    tensors = operands(*arguments)
    if any(x.is_complex() for x in tensors):
        raise errors.ArgumentError(f"scipy.special.{name} has no derivative in its parameters for complex arguments.")
    values = getattr(_module.scipy, name)(*map(detached, tensors))
    tensors = [x.double() for x in tensors]
    if name in INVERSES:
        return _exactly(inverse(*INVERSES[name])(np.asarray(values), *tensors), values)
    found = FORMULAS[name](*tensors)
    return tuple(map(_exactly, found, values)) if isinstance(values, tuple) else _exactly(found, values)


def _exactly(found: Any, values: Any) -> Any:
    """Return a formula's result with SciPy's values and dtype."""
    values = np.asarray(values)
    return with_values(found, values).to(_w.as_tensor(values).dtype)


def _call(key: str, *arguments: Any) -> Any:
    """Call a ufunc of the table of derivatives. arguments: tensors of one dtype."""
    return getattr(_F, f"_ufunc{len(arguments)}")(*arguments, name=key)


def _ufunc(name: str, keys: list[str]) -> Callable[..., Any]:
    """Return the function that runs a ufunc. keys: those of its results in the table of derivatives."""

    def function(*arguments: Any) -> Any:
        if len(arguments) != len(DERIVATIVES[keys[0]]):
            raise TypeError(f"{name}() takes {len(DERIVATIVES[keys[0]])} arguments but {len(arguments)} were given")
        if _needs_formula(name, keys[0], arguments):
            return _by_formula(name, arguments)
        if name in INTEGERS and (places := INTEGERS[name]):
            for i in places:
                if not np.all(np.asarray(detached(arguments[i])) % 1 == 0):
                    raise ValueError(f"{name}: the argument {i + 1} must hold integers")
        tensors = operands(*arguments)
        if name in COMPLEX_FROM_REAL and not tensors[-1].is_complex():
            tensors[-1] = tensors[-1].to(_w.complex(tensors[-1], tensors[-1]).dtype)
        found = [_call(key, *tensors) for key in keys]
        return found[0] if len(found) == 1 else tuple(found)

    function.__doc__ = f"scipy.special.{name} on tensors. Derivatives: ops/scipy_derivatives.py."
    return function


def _operation(name: str, ours: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that runs an operation of wengert, and the ufunc of the table for complex arguments."""

    def function(*arguments: Any) -> Any:
        tensors = operands(*arguments)
        if tensors[0]._array.dtype.kind == "c" and name in DERIVATIVES:
            return _call(name, *tensors)
        return ours(*tensors)

    function.__doc__ = ours.__doc__
    return function


def _register() -> None:
    """Register the ufuncs here, and for calls of SciPy's ufuncs on tensors."""
    results: dict[str, list[str]] = {}
    for key in DERIVATIVES:
        results.setdefault(key.partition(":")[0], []).append(key)
    for name, keys in results.items():
        if any(rule is not None for rule in DERIVATIVES[keys[0]]):
            _module.differentiates(name)(_ufunc(name, sorted(keys)))
    for name in (*FORMULAS, *INVERSES):
        if name not in _module.functions and not name.startswith("_"):
            _module.differentiates(name)(lambda *arguments, _name=name: _by_formula(_name, arguments))
    for pair in _OPERATIONS.split():
        ours, _, name = pair.partition(":")
        name = name or ours
        _module.differentiates(name)(_operation(name, getattr(_operations, ours, None) or getattr(_w, ours)))


_register()

for _name in ("pro_ang1", "pro_rad1", "pro_rad2", "obl_ang1", "obl_rad1"):  # given the characteristic value, a number
    _module.differentiates(f"{_name}_cv")(lambda m, n, c, cv, x, _name=_name: _module.functions[_name](m, n, c, x))

# -- compositions ----------------------------------------------------------------------------------------------------------


@_module.differentiates()
def _expn(n, x):
    """Generalised exponential integral of order n. n: integers >= 0. Derivative: -expn(n - 1, x) in x. There is none in n."""
    if is_differentiated([n]):
        raise errors.no_array_of("Tensor that requires grad", "scipy.special.expn in its argument 'n'")
    return _F._expn(*operands(n, x), order=0)


@_module.differentiates("ellipj")
def _ellipj(u: Any, m: Any) -> Any:
    """Jacobi's elliptic functions sn, cn, dn and the amplitude. u, m: real, 0 <= m <= 1.

    Derivative: cn dn, -sn dn and -m sn cn in u; in m by the derivative of the incomplete elliptic integral."""
    u, m = operands(u, m)
    amplitude = _call("ellipj:3", u, m)
    sn, cn = _w.sin(amplitude), _w.cos(amplitude)
    return sn, cn, _w.sqrt(cn * cn + (1 - m) * sn * sn), amplitude


@_module.differentiates("kelvin")
def _kelvin(x: Any) -> Any:
    """Kelvin functions as complex numbers: ber + i bei, ker + i kei and their derivatives."""
    (x,) = operands(x)
    pairs = [("ber", "bei"), ("ker", "kei"), ("berp", "beip"), ("kerp", "keip")]
    return tuple([_w.complex(_call(a, x), _call(b, x)) for a, b in pairs])


@_module.differentiates()
def _agm(a, b):
    """Arithmetic-geometric mean of a and b, by Carlson's integral RF(0, a**2, b**2) (DLMF 19.8.1)."""
    a, b = operands(a, b)
    return _w.sign(a) * (math.pi / 2) / _call("elliprf", 0 * a, a * a, b * b)


def _exprel(x: Any) -> Any:
    return _call("exprel", x)


@_module.differentiates()
def _boxcox(x, lmbda):
    """Box-Cox transformation (x**lmbda - 1) / lmbda; log(x) for lmbda = 0. Derivative: in x and lmbda, also at lmbda = 0."""
    x, lmbda = operands(x, lmbda)
    return _w.log(x) * _exprel(lmbda * _w.log(x))


@_module.differentiates()
def _boxcox1p(x, lmbda):
    """Box-Cox transformation of 1 + x. Derivative: in x and lmbda, also at lmbda = 0."""
    x, lmbda = operands(x, lmbda)
    return _w.log1p(x) * _exprel(lmbda * _w.log1p(x))


def _log_inverse_boxcox(y: Any, lmbda: Any) -> Any:
    """log(1 + lmbda y) / lmbda, also at lmbda = 0: y 2F1(1, 1; 2; -lmbda y)."""
    z = -lmbda * y
    return y * _call("hyp2f1", like(z, 1), like(z, 1), like(z, 2), z)


@_module.differentiates()
def _inv_boxcox(x, lmbda):
    """Inverse of boxcox: (1 + lmbda x)**(1 / lmbda); exp(x) for lmbda = 0. Derivative: in x and lmbda, also at lmbda = 0."""
    return _w.exp(_log_inverse_boxcox(*operands(x, lmbda)))


@_module.differentiates()
def _inv_boxcox1p(x, lmbda):
    """Inverse of boxcox1p. Derivative: in x and lmbda, also at lmbda = 0."""
    return _w.expm1(_log_inverse_boxcox(*operands(x, lmbda)))


@_module.differentiates()
def _huber(delta, r):
    """Huber's loss: r**2 / 2 for |r| <= delta, delta (|r| - delta / 2) beyond, inf for delta < 0.

    Derivative: in r, r clamped to [-delta, delta]; in delta, max(|r| - delta, 0)."""
    delta, r = operands(delta, r)
    size = _w.abs(r)
    found = _w.where(size <= delta, 0.5 * r * r, delta * (size - 0.5 * delta))
    return _w.where(delta < 0, math.inf, found)


@_module.differentiates()
def _pseudo_huber(delta, r):
    """Smooth Huber loss delta**2 (sqrt(1 + (r / delta)**2) - 1); inf for delta < 0, 0 for delta = 0."""
    delta, r = operands(delta, r)
    ratio = _w.square(r / _w.where(delta == 0, 1.0, delta))
    found = delta * delta * ratio / (_w.sqrt(1 + ratio) + 1)
    return _w.where(delta < 0, math.inf, found)


@_module.differentiates()
def _rel_entr(x, y):
    """x log(x / y); 0 for x = 0 and y >= 0, inf outside x, y > 0. Derivative: log(x / y) + 1 in x, -x / y in y."""
    x, y = operands(x, y)
    inside = (x > 0) & (y > 0)
    safe_x, safe_y = _w.where(inside, x, 1.0), _w.where(inside, y, 1.0)
    found = _w.where(inside, safe_x * _w.log(safe_x / safe_y), _w.where((x == 0) & (y >= 0), 0.0 * x, math.inf))
    return _w.where(_w.isnan(x) | _w.isnan(y), math.nan, found)


@_module.differentiates()
def _kl_div(x, y):
    """x log(x / y) - x + y; y for x = 0 and y >= 0, inf outside x, y >= 0. Derivative: log(x / y) in x, 1 - x / y in y."""
    x, y = operands(x, y)
    return _rel_entr(x, y) - x + y


@_module.differentiates()
def _nrdtrimn(p, std, x):
    """Mean of the normal distribution with deviation std whose value at x is p."""
    p, std, x = operands(p, std, x)
    return x - std * _operations.ndtri(p)


@_module.differentiates()
def _nrdtrisd(mn, p, x):
    """Standard deviation of the normal distribution with mean mn whose value at x is p."""
    mn, p, x = operands(mn, p, x)
    return (x - mn) / _operations.ndtri(p)


@_module.differentiates()
def _radian(d, m, s):
    """Degrees, minutes and seconds of an angle in radians."""
    d, m, s = operands(d, m, s)
    return (d + m / 60 + s / 3600) * (math.pi / 180)


@_module.differentiates()
def _voigt_profile(x, sigma, gamma):
    """Convolution of the normal density of deviation sigma > 0 with the Cauchy density of scale gamma.

    It is Re w(z) / (sigma sqrt(2 pi)) with z = (x + i gamma) / (sigma sqrt(2)) (DLMF 7.19)."""
    x, sigma, gamma = _w.broadcast_tensors(*operands(x, sigma, gamma))
    z = _w.complex(x, gamma) / (sigma * math.sqrt(2))
    return _w.real(_call("wofz", z)) / (sigma * math.sqrt(2 * math.pi))


# -- sums over axes -----------------------------------------------------------------------------------------------------------


def _axes(x: Any, axis: Any) -> tuple[int, ...]:
    return tuple(range(x.ndim)) if axis is None else _ints(axis)


@_module.differentiates()
def _logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False):
    """Logarithm of the sum of b exp(a) over axes. b: factors, 1 if None. return_sign: return (log |sum|, sign of the sum).

    Derivative: in a the softmax, b exp(a) / sum; in b exp(a) / sum."""
    a, b = operands(a, b)
    if b is None and not return_sign and not a.is_complex():
        return _w.logsumexp(a, _axes(a, axis), keepdims) if a.ndim else a
    if b is not None:
        a, b = _w.broadcast_tensors(a, b)
    dims = _axes(a, axis)
    top = _w.real(a.detach()) if a.is_complex() else a.detach()
    if b is not None:
        top = _w.where(b.detach() == 0, -math.inf, top)
    top = _w.amax(top, dims, True) if dims else top
    top = _w.where(_w.isfinite(top), top, 0.0)
    terms = _w.exp(a - top)
    if b is not None:
        terms = _w.where((b == 0) & ~_w.isfinite(terms), 0.0, b * terms)  # 0 times infinity counts as 0
    total = _w.sum(terms, dims, keepdim=keepdims) if dims else terms
    top = top if keepdims or not dims else top.squeeze(dims)
    if not return_sign:
        return _w.log(total) + top
    return _w.log(_w.abs(total)) + top, _w.sgn(total)


@_module.differentiates()
def _softmax(x, axis=None):
    """exp(x) divided by its sum over axes. Derivative: s (v - sum(s v)) for the result s and a tangent v."""
    (x,) = operands(x)
    if isinstance(axis, int):
        return _w.softmax(x, axis)
    return _w.exp(x - _w.logsumexp(x, _axes(x, axis), True)) if x.ndim else _w.ones_like(x)


@_module.differentiates()
def _log_softmax(x, axis=None):
    """Logarithm of the softmax over axes. Derivative: v - sum(softmax(x) v) for a tangent v."""
    (x,) = operands(x)
    if isinstance(axis, int):
        return _w.log_softmax(x, axis)
    return x - _w.logsumexp(x, _axes(x, axis), True) if x.ndim else _w.zeros_like(x)


@_module.differentiates()
def _softplus(x):
    """log(1 + exp(x)). Derivative: the sigmoid of x."""
    (x,) = operands(x)
    return _w.logaddexp(x, 0 * x)


@_module.differentiates()
def _sinc(x):
    """sin(pi x) / (pi x); 1 at 0."""
    return _w.sinc(*operands(x))


@_module.differentiates()
def _diric(x, n):
    """Periodic sinc function sin(n x / 2) / (n sin(x / 2)), n a positive integer. Where sin(x / 2) = 0, the derivatives are 0."""
    (x,) = operands(x)
    below = _w.sin(x / 2)
    near = _w.abs(below.detach()) < 1e-9
    found = _w.sin(n * x / 2) / (n * _w.where(near, 1.0, below))
    sign = _w.cos(_w.round(x.detach() / (2 * math.pi)) * (math.pi * (n - 1)))
    return _w.where(near, sign, found)


# -- functions of Python in SciPy ---------------------------------------------------------------------------------------------


@_module.differentiates()
def _zeta(x, q=None):
    """Riemann's or Hurwitz' zeta function. x > 1, q > 0. Derivative: in x by series, in q -x zeta(x + 1, q)."""
    x, q = operands(x, 1 if q is None else q)
    return _operations.zeta(x, q)


@_module.differentiates()
def _polygamma(n, x):
    """n-th derivative of digamma. n: integers >= 0, of any shape that broadcasts. Derivative: polygamma(n + 1, x)."""
    (x,) = operands(x)
    orders = np.asarray(detached(n))
    if orders.ndim == 0:
        return _operations.polygamma(int(orders), x)
    found = 0.0 * (x + orders)
    for order in np.unique(orders):
        found = _w.where(_w.as_tensor(orders == order), _operations.polygamma(int(order), x), found)
    return found


@_module.differentiates()
def _multigammaln(a, d):
    """Logarithm of the multivariate gamma function of dimension d. Derivative: the sum of digamma(a - j / 2) over j < d."""
    return _operations.multigammaln(*operands(a), int(d))


@_module.differentiates()
def _lambertw(z, k=0, tol=1e-8):
    """Branch k of Lambert's W function, a complex number. Derivative: exp(-W) / (1 + W)."""
    if is_differentiated([k]):
        raise errors.no_array_of("Tensor that requires grad", "scipy.special.lambertw in its argument 'k'")
    z, k = operands(z, k)
    return _call("lambertw", z if z.is_complex() else _w.complex(z, 0 * z), k)


@_module.differentiates()
def _factorial(n, exact=False, extend="zero"):
    """Factorial gamma(n + 1); 0 for n < 0. Derivative: that of gamma(n + 1)."""
    if exact or extend != "zero":
        raise errors.ArgumentError("scipy.special.factorial on tensors takes exact=False and extend='zero' only")
    (n,) = operands(n)
    return _w.where(n < 0, 0.0, _call("gamma", n + 1))


@_module.differentiates()
def _comb(N, k, exact=False, repetition=False):
    """Number of combinations, binom(N, k); 0 unless 0 <= k <= N. repetition: binom(N + k - 1, k)."""
    if exact:
        raise errors.ArgumentError("scipy.special.comb on tensors takes exact=False only")
    N, k = operands(N, k)
    if repetition:
        return _comb(N + k - 1, k)
    inside = (k <= N) & (N >= 0) & (k >= 0)
    return _w.where(inside, _call("binom", _w.where(inside, N, 1.0), _w.where(inside, k, 0.0)), 0.0)


@_module.differentiates()
def _perm(N, k, exact=False):
    """Number of permutations, poch(N - k + 1, k); 0 unless 0 <= k <= N."""
    if exact:
        raise errors.ArgumentError("scipy.special.perm on tensors takes exact=False only")
    N, k = operands(N, k)
    inside = (k <= N) & (N >= 0) & (k >= 0)
    return _w.where(inside, _call("poch", _w.where(inside, N - k + 1, 1.0), _w.where(inside, k, 0.0)), 0.0)


@_module.differentiates()
def _assoc_laguerre(x, n, k=0.0):
    """Generalised Laguerre polynomial of degree n. Derivative: in x."""
    return _module.functions["eval_genlaguerre"](n, k, x)


# name: (ufunc, sign of the derivative's second term)
_PRIMED = {
    "jvp": ("jv", -1.0), "yvp": ("yv", -1.0), "h1vp": ("hankel1", -1.0), "h2vp": ("hankel2", -1.0), "ivp": ("iv", 1.0),
    "kvp": ("kv", 1.0),
}  # fmt: skip


def _primed(ufunc: str, sign: float) -> Callable[..., Any]:
    def function(v: Any, z: Any, n: int = 1) -> Any:
        bessel = _module.functions[ufunc]
        if int(n) != n or n < 0:
            raise ValueError(f"n must be a non-negative integer, but it is {n}")
        total = sum(math.comb(n, k) * sign**k * bessel(v - n + 2 * k, z) for k in range(n + 1)) / 2**n
        return -total if ufunc == "kv" and n % 2 else total

    function.__doc__ = f"n-th derivative of {ufunc}(v, z) in z (DLMF 10.6.7, 10.29.5). It has a derivative in z."
    return function


for _name, (_base, _sign) in _PRIMED.items():
    _module.differentiates(_name)(_primed(_base, _sign))


def _spherical(name: str) -> Callable[..., Any]:
    def function(n: Any, z: Any, derivative: bool = False) -> Any:
        if is_differentiated([n]):
            raise errors.no_array_of("Tensor that requires grad", f"scipy.special.{name} in its argument 'n'")
        (z,) = operands(z)
        order = _w.as_tensor(np.asarray(detached(n))).to(z.dtype)
        return _F._spherical_bessel(order, z, name=name, primes=int(derivative))

    function.__doc__ = "Spherical Bessel function of order n, an integer, or its derivative in z. It has a derivative in z."
    return function


for _name in ("spherical_jn", "spherical_yn", "spherical_in", "spherical_kn"):
    _module.differentiates(_name)(_spherical(_name))


for _name in _orders.__all__:
    _module.differentiates(_name)(getattr(_orders, _name))

# -- what has no derivative -------------------------------------------------------------------------------------------------------

_module.constant("The result does not change with the arguments, except in jumps.", "gammasgn", "round")
_MAKERS = """
    bernoulli chebyc chebys chebyt chebyu ellip_normal euler factorial2 factorialk gegenbauer genlaguerre hermite hermitenorm jacobi
    laguerre legendre mathieu_even_coef mathieu_odd_coef obl_cv_seq pro_cv_seq sh_chebyt sh_chebyu sh_jacobi sh_legendre stirling2
    geterr seterr
"""
_QUADRATURES = [name for name in _module.scipy.__all__ if name.endswith(("_zeros", "_roots")) or name.startswith("roots_")]
_module.constant("They take integers, and make zeros, numbers, polynomials and quadratures.", *_MAKERS.split(), *_QUADRATURES)
_module.refuse("Use lqn, or hyp2f1.", "lqmn")
_module.refuse("SciPy has no function for the slope.", "ellip_harm", "ellip_harm_2")
_module.refuse("SciPy's values have few digits there.", "obl_rad2", "obl_rad2_cv")


def _register_for_scipys_ufuncs() -> None:
    """Let SciPy's ufuncs, called on tensors, find these functions."""
    for name, ours in _module.functions.items():
        if isinstance(getattr(_module.scipy, name), np.ufunc):
            _protocol.SCIPY_UFUNCS[name] = ours


_register_for_scipys_ufuncs()
