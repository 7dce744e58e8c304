"""wengert.scipy.special: values, and derivatives to second order, against SciPy and its finite differences."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
import scipy.special
import scipy.stats

import wengert
import wengert.scipy.special as special
from loops import each
from scipy_checks import check_call
from special_orders import ORDERS
from wengert.autograd import forward_ad, grad

U = np.array([0.15, 0.42, 0.78])  # inside (0, 1)
P = np.array([0.7, 1.6, 2.9])  # positive
Q = np.array([1.3, 0.8, 2.2])
R = np.array([-1.2, 0.35, 1.7])  # any sign
Z = np.array([0.4 + 0.7j, -0.8 + 0.3j, 1.1 - 0.5j])
N = np.array([2, 0, 3])

# Arguments -> the functions that are called with them. Arrays of floats are differentiated, integers and numbers are not.
CALLS: list[tuple[str, tuple[Any, ...]]] = [
    ("bei beip ber berp cbrt cosdg cosm1 cotdg dawsn digamma ellipe ellipk ellipkm1 entr erf erfc erfcinv erfcx erfi "
     "exp1 exp10 exp2 expi expit expm1 exprel gamma gammaln i0 i0e i1 i1e it2i0k0 it2j0y0 it2struve0 itairy iti0k0 itj0y0 "
     "itmodstruve0 itstruve0 j0 j1 k0 k0e k1 k1e kei keip kelvin ker kerp lambertw log1p log_expit log_ndtr logit loggamma ndtr ndtri "
     "psi rgamma shichi sici sinc sindg softplus spence tandg wofz wrightomega y0 y1 fresnel erfinv airy airye factorial logsumexp "
     "softmax log_softmax", (U,)),
    ("bei ber erf erfc erfcx erfi exp10 exprel gammaln dawsn log_expit log_ndtr ndtr gamma sinc softplus airy fresnel", (R,)),
    ("loggamma rgamma exp1 digamma psi gamma expi gammaln kelvin zeta zetac", (P + 1,)),
    ("ndtri_exp", (-P,)),
    ("erf erfc erfcx erfi wofz expm1 log1p spence dawsn exp1 lambertw wrightomega", (Z,)),
    ("beta betaln powm1 agm gammainc gammaincc kl_div rel_entr pseudo_huber owens_t poch boxcox boxcox1p chdtr chdtrc stdtr zeta elliprc", (P, Q)),
    ("huber", (np.array([1.0, 1.0, 0.5]), R)),
    ("inv_boxcox inv_boxcox1p", (P, np.array([0.4, 0.0, -0.2]))),
    ("boxcox", (P, np.array([0.0, 0.3, -1.0]))),
    ("gammaincinv gammainccinv", (P, U)),
    ("chdtri stdtrit", (P, U)),
    ("chdtriv stdtridf", (np.array([0.65, 0.7, 0.8]), Q)),
    ("binom comb perm", (P + 2, Q)),
    ("xlogy xlog1py", (P, Q)),
    ("betainc betaincc betaincinv betainccinv", (P, Q, U)),
    ("btdtria", (U, Q, U[::-1])), ("btdtrib", (P, U, U[::-1])),
    ("gdtr gdtrc", (P, Q, U)), ("gdtria", (U, P, Q)), ("gdtrib", (Q, U, P)), ("gdtrix", (P, Q, U)),
    ("fdtr fdtrc", (P, Q, U)), ("fdtri", (P + 1, Q + 2, U)), ("fdtridfd", (P + 2, np.array([0.6, 0.35, 0.8]), Q)),
    ("pdtr pdtrc", (N, P)), ("pdtri", (N, U)), ("pdtrik", (np.array([0.6, 0.5, 0.8]), P)),
    ("bdtr bdtrc", (np.array([1, 0, 2]), 5, U)), ("bdtri", (np.array([1, 0, 2]), 5, U)),
    ("bdtrik", (np.array([0.6, 0.7, 0.8]), np.array([5.5, 6.0, 8.0]), U)), ("bdtrin", (1.5, np.array([0.3, 0.5, 0.6]), np.array([0.3, 0.4, 0.5]))),
    ("nbdtr nbdtrc", (N, 4, U)), ("nbdtri", (N, 4, U)), ("nbdtrik", (np.array([0.6, 0.7, 0.8]), P + 1, np.array([0.3, 0.4, 0.5]))),
    ("nbdtrin", (2.5, np.array([0.6, 0.5, 0.4]), np.array([0.3, 0.4, 0.5]))),
    ("chndtr", (P, 3.0, Q)), ("chndtrix", (U, 3.0, Q)), ("chndtrinc", (np.array([2.0, 3.0, 4.0]), 2.5, np.array([0.3, 0.2, 0.4]))),
    ("tklmbda", (R * 0.5, 0.4)), ("nrdtrimn", (U, P, R)), ("nrdtrisd", (R, np.array([0.2, 0.3, 0.7]), R + 1)), ("radian", (P, Q, U)),
    ("voigt_profile", (R, P, Q)),
    ("jv yv iv kv ive kve jve yve hankel1 hankel2 hankel1e hankel2e jn kn yn struve modstruve", (2, P)),
    ("jv iv jve ive struve modstruve", (0, P)),
    ("jv yv iv kv hankel1 hankel2", (1.5, Z)),
    ("jvp yvp ivp kvp h1vp h2vp", (1, P, 3)),
    ("spherical_jn spherical_yn spherical_in spherical_kn", (N, P)),
    ("spherical_jn spherical_in", (2, P, True)),
    ("expn", (N, P)), ("expn", (1, U)),
    ("ellipkinc ellipeinc", (np.array([0.6, 2.4, -1.2]), np.array([0.3, 0.0, -2.0]))),
    ("ellipj", (np.array([0.6, 1.4, -2.2]), U)),
    ("elliprf elliprd elliprg", (P, Q, U)), ("elliprj", (P, Q, U, U[::-1].copy())), ("elliprf", (np.ones(2), np.ones(2), np.ones(2))),
    ("hyp0f1", (1.5, R)), ("hyp1f1", (0.7, 1.6, R)), ("hyperu", (0.7, 1.6, P)), ("hyp2f1", (0.7, 1.2, 2.1, np.array([0.3, -2.0, 0.6]))),
    ("hyp2f1", (0.7, 1.2, 2.1, Z * 0.5)), ("hyp1f1", (0.7, 1.6, Z)),
    ("wright_bessel log_wright_bessel", (0.7, 1.2, P)),
    ("eval_legendre eval_chebyt eval_chebyu eval_chebyc eval_chebys eval_sh_legendre eval_sh_chebyt eval_sh_chebyu eval_laguerre "
     "eval_hermite eval_hermitenorm", (N, U)),
    ("eval_legendre eval_chebyt", (3, Z)),
    ("eval_legendre eval_laguerre", (1.7, U)),
    ("eval_genlaguerre eval_gegenbauer", (N, 0.7, U)), ("eval_jacobi", (N, 0.7, 0.4, U)), ("eval_sh_jacobi", (N, 1.7, 0.4, U)),
    ("assoc_laguerre", (U, 3, 0.5)), ("lpmv", (1, 2.5, U)), ("diric", (P, 4)), ("polygamma", (N, P)), ("multigammaln", (P + 3, 3)),
    ("sph_harm_y", (np.array([3, 1, 2]), np.array([2, -1, 0]), P, R)),
    ("pbdv pbvv pbwa", (1.3, P)),
    ("mathieu_cem mathieu_sem", (2, 0.7, 40 * P)), ("mathieu_modcem1 mathieu_modcem2 mathieu_modsem1 mathieu_modsem2", (2, 0.7, U)),
    ("pro_ang1 obl_ang1 obl_rad1", (1, 2, 0.8, U)), ("pro_rad1", (1, 2, 0.8, P + 0.8)),
    ("pro_rad2", (1, 2, 0.8, P + 2)), ("besselpoly", (P, 1.0, 1)), ("besselpoly", (P, 0.5, 0)), ("besselpoly", (P, 1.0, 1.5)),
    ("logsumexp softmax log_softmax", (np.array([[0.3, -1.0, 2.0], [1.0, 0.0, 0.5]]), 1)),
    ("softmax log_softmax logsumexp", (np.array([[0.3, -1.0, 2.0], [1.0, 0.0, 0.5]]), (0, 1))),
]  # fmt: skip
# Functions whose derivatives in parameters are those of series and integrals: _parameters.py.
S = np.array([3.0, 2.5, 4.1])
BY_FORMULA: list[tuple[str, tuple[Any, ...]]] = [
    ("jv yv iv kv ive kve jve yve hankel1 hankel2 hankel1e hankel2e struve modstruve", (P, Q)),
    ("jv yv iv ive kv", (R, P)), ("jv yv iv kve", (P, Q + 20)), ("jv kv iv", (P + 8, Q)), ("iv ive", (P, Q + 120)),
    ("hyp0f1", (Q, R)), ("hyp1f1", (P, Q, R)), ("hyp1f1", (R, Q, R * 8)), ("hyp2f1", (P, Q, P + Q, np.array([0.3, -2.0, 0.9]))),
    ("hyperu", (P, Q, U)), ("hyperu", (np.array([-0.3, -0.2, 0.4]), np.array([0.4, 0.5, 2.2]), Q)),
    ("wright_bessel log_wright_bessel", (P, Q, U * 4)), ("chndtr", (P, Q, U)), ("chndtridf", (P, np.array([0.3, 0.2, 0.25]), Q)),
    ("chndtrix", (U, Q, P)), ("ncfdtr", (P + 2, Q + 2, U, P)), ("ncfdtri", (P + 2, Q + 2, P, U)),
    ("nctdtr", (P + 2, R, Q)), ("nctdtr", (P + 30, R, Q)), ("nctdtr", (P, R, -Q)), ("nctdtrit", (P + 2, R, U)),
    ("kolmogorov", (np.array([0.5, 0.9, 1.4]),)), ("kolmogi", (U,)),
    ("smirnov", (np.array([3, 10, 40]), np.array([0.27, 0.23, 0.11]))), ("smirnovi", (np.array([3, 10, 40]), U)),
    ("eval_jacobi", (N, P, Q, U)), ("eval_gegenbauer", (N, P, U)), ("eval_genlaguerre", (N, P, Q)), ("eval_legendre eval_laguerre", (P, U)),
    ("eval_chebyc eval_chebys eval_sh_legendre eval_sh_chebyt eval_sh_chebyu", (P, U)), ("eval_sh_jacobi", (N, P + Q, Q, U)),
    ("lpmv", (1, P, U)), ("lpmv", (np.array([0, 2, 3]), np.array([2.0, 1.4, 0.3]), R / 2)), ("pbdv pbvv", (P, Q)), ("pbdv pbvv", (np.array([0.0, 2.0, -1.0]), R)),
    ("mathieu_cem mathieu_sem", (2, Q, 40 * P)), ("mathieu_cem mathieu_sem", (np.array([1, 3, 4]), P, 30 * Q)),
    ("pro_ang1 obl_ang1", (np.array([0, 1, 2]), np.array([3, 1, 4]), Q, U)), ("pro_ang1 obl_ang1", (1, 2, P, U - 0.5)),
    ("eval_chebyt eval_chebyu", (P, U)), ("mathieu_a", (N, Q)), ("mathieu_a mathieu_b", (np.array([1, 2, 5]), R)),
    ("pro_cv obl_cv", (np.array([0, 1, 2]), np.array([3, 1, 4]), Q)), ("tklmbda", (R * 0.5, np.array([0.4, 0.2, -0.3]))),
]  # fmt: skip
# Inverses that SciPy computes to about six digits: (inverse, its place in the function, the function, arguments with the value there).
COARSE = [
    ("ncfdtridfn", 0, "ncfdtr", (np.array([0.62, 0.6]), 4.0, 0.5, 1.3)), ("ncfdtridfd", 1, "ncfdtr", (S[:2], np.array([0.3, 0.2]), 0.4, 1.3)),
    ("ncfdtrinc", 2, "ncfdtr", (S[:2], 4.0, np.array([0.3, 0.2]), 1.5)), ("nctdtridf", 0, "nctdtr", (np.array([0.68, 0.65]), 0.3, 1.1)),
    ("nctdtrinc", 1, "nctdtr", (S[:2], np.array([0.3, 0.2]), 1.5)),
]  # fmt: skip
for _name, _place in (("pro_ang1", U), ("pro_rad1", P + 0.8), ("pro_rad2", P + 2), ("obl_ang1", U), ("obl_rad1", U)):
    _cv = float(getattr(scipy.special, f"{_name[:3]}_cv")(1, 2, 0.8))
    CALLS.append((f"{_name}_cv", (1, 2, 0.8, _cv, _place)))


def one_call(name: str, arguments: tuple[Any, ...], **settings: Any) -> None:
    """Check a call. Arguments that are arrays of floats are differentiated."""
    places = [i for i, x in enumerate(arguments) if isinstance(x, np.ndarray) and x.dtype.kind in "fc"]

    def call(function: Any, *arrays: Any) -> Any:
        given = list(arguments)
        for i, x in zip(places, arrays):
            given[i] = x
        return function(*given)

    check_call("special", name, call, *[arguments[i] for i in places], **settings)


# Steps that suit SciPy's accuracy, if it is not that of the other functions: (step, tolerance).
STEPS = {"cosdg": (1.0, 1e-6), "sindg": (1.0, 1e-6), "tandg": (0.01, 1e-6), "cotdg": (1e-3, 1e-4)}


ROWS = [(name, arguments) for names, arguments in (*CALLS, *BY_FORMULA) for name in names.split()]


@pytest.mark.slow
@each("name, arguments", ROWS)
def test_values_and_derivatives(name, arguments):
    step, rtol = STEPS.get(name, (3e-3, 1e-6))
    one_call(name, arguments, step=step, rtol=rtol)


def test_each_function_has_a_row():
    known = {name for name, _ in ROWS} | {row[0] for row in (*COARSE, *ORDERS)}
    assert set(special._module.functions) - known == set()


@pytest.mark.slow
@each("name, call, arrays", ORDERS)
def test_results_with_an_axis_for_orders(name, call, arrays):
    check_call("special", name, call, *arrays, step=3e-3)


def test_orders_without_a_derivative_are_refused():
    x = wengert.tensor(U, requires_grad=True)
    with pytest.raises(RuntimeError, match="in its argument 'n'"):
        special.legendre_p(x, 0.5)
    with pytest.raises(ValueError, match="n must hold integers"):
        special.legendre_p(1.5, x)
    with pytest.raises(RuntimeError, match="in its first argument"):
        special.riccati_jn(x[0], 0.5)
    for call in (
        lambda: special.legendre_p(-2, x), lambda: special.assoc_legendre_p(3, 1, 2 * x + 1), lambda: special.modfresnelm(-x),
        lambda: special.pbdv_seq(-1.5, x[0]), lambda: special.pbdn_seq(2, x[0] + 1j), lambda: special.obl_rad2(1, 2, 0.8, x),
    ):  # fmt: skip
        with pytest.raises((RuntimeError, wengert.errors.ArgumentError)):
            call()


@each("name, place, forward, arguments", COARSE)
def test_coarse_inverses(name, place, forward, arguments):
    """The derivative of an inverse is 1 / f_x in the value, and -f_a / f_x in the others. f_x and f_a are finite differences."""
    inputs = [wengert.tensor(x, dtype=wengert.float64, requires_grad=True) for x in np.broadcast_arrays(*arguments)]
    found = getattr(special, name)(*inputs)
    values = getattr(scipy.special, name)(*arguments)
    np.testing.assert_array_equal(found.detach().numpy(), values)
    slopes = [x.numpy() for x in grad(found.sum(), inputs)]
    point = [np.array(x, float) for x in np.broadcast_arrays(*arguments)]
    point[place] = values

    def partial(i, h=1e-3):
        moved = [[x + k * h * (j == i) for j, x in enumerate(point)] for k in (-2, -1, 1, 2)]
        a, b, c, d = [getattr(scipy.special, forward)(*x) for x in moved]
        return (a - 8 * b + 8 * c - d) / (12 * h)

    for i in range(len(point)):
        expected = (1.0 if i == place else -partial(i)) / partial(place)
        np.testing.assert_allclose(slopes[i], expected, rtol=1e-4, err_msg=f"{name} in its argument {i}")


def test_derivatives_of_complex_gamma_functions():
    """The first derivative of loggamma is known, that of psi is not: SciPy has no polygamma of complex numbers."""
    one_call("loggamma", (Z,), order=1)
    one_call("gamma", (Z,), order=1)
    x = wengert.tensor(Z, requires_grad=True)
    (slope,) = grad(special.loggamma(x).real.sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match=r"psi of complex numbers has no derivative"):
        slope.real.sum().backward()


@each(
    "name, arguments, place",
    [
        ("bdtr", (P, 5, 0.3), "k"), ("expn", (P, 1.0), "n"), ("spherical_jn", (P, 1.0), "n"), ("smirnov", (P + 2, 0.3), "n"),
        ("mathieu_a", (P, 0.3), "m"), ("pro_cv", (1.0, P, 0.5), "n"), ("lpmv", (P, 2.0, 0.5), "m"), ("mathieu_cem", (P, 0.5, 0.3), "m"),
    ],
)  # fmt: skip
def test_unknown_derivatives_name_the_parameter(name, arguments, place):
    given = [wengert.tensor(x, requires_grad=True) if isinstance(x, np.ndarray) else x for x in arguments]
    with pytest.raises(RuntimeError, match=rf"scipy\.special\.{name} in its argument '{place}' has no derivative"):
        getattr(special, name)(*given)
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(x.detach(), wengert.ones_like(x)) if isinstance(x, wengert.Tensor) else x for x in given]
        with pytest.raises(RuntimeError, match=rf"scipy\.special\.{name} in its argument"):
            getattr(special, name)(*duals)


def test_bad_calls_are_refused():
    x = wengert.tensor(U, requires_grad=True)
    with pytest.raises(TypeError, match=r"jv\(\) takes 2 arguments but 3 were given"):
        special.jv(1, x, x)
    with pytest.raises(ValueError, match="integers"):
        special.eval_hermite(1.5, x)
    with pytest.raises(wengert.errors.ArgumentError, match="out"):
        special.gammainc(x, 2.0, out=np.zeros(3))
    with pytest.raises(ValueError, match="non-negative"):
        special.jvp(1, x, -1)
    with pytest.raises(wengert.errors.ArgumentError, match="known for z > 0"):
        special.jv(x, -1.0)
    with pytest.raises(wengert.errors.ArgumentError, match="0 < z < 100"):
        special.modstruve(x, 200.0)
    with pytest.raises(wengert.errors.ArgumentError, match="0 < z < 15"):
        special.struve(x, 20.0)
    with pytest.raises(wengert.errors.ArgumentError, match="z < 0.98"):
        special.hyp2f1(x, 1.0, 2.5, 0.99)
    with pytest.raises(wengert.errors.ArgumentError, match="complex"):
        special.jv(x, wengert.tensor(Z))
    with pytest.raises(ValueError, match="integers"):
        special.mathieu_a(1.5, x)
    with pytest.raises(wengert.errors.ArgumentError, match=r"\|x\| <= 5"):
        special.pbdv(x, 6.0)
    with pytest.raises(wengert.errors.ArgumentError, match="q >= 0"):
        special.mathieu_sem(2, -x, 30.0)
    with pytest.raises(wengert.errors.ArgumentError, match="exact"):
        special.comb(x, 2, exact=True)


def test_dtypes_are_those_of_scipy():
    for given in (np.float32, np.int64, np.float64):
        values = np.array([1, 2, 3], given)
        for function in ("gammaln", "j1", "ellipk", "exp1", "erf"):
            found = getattr(special, function)(wengert.tensor(values) * (0 if function == "ellipk" else 1))
            expected = getattr(scipy.special, function)(values * given(0 if function == "ellipk" else 1))
            assert found.numpy().dtype == expected.dtype
            np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)
    assert special.gammainc(wengert.ones(2), 0.5).dtype == wengert.float32


def test_scipys_ufuncs_called_on_tensors_find_the_same_functions():
    x = wengert.tensor(U, requires_grad=True)
    for call in (lambda f: f(1.5, x), lambda f: f(1.5, 2 * x)):
        (slope,) = grad(call(scipy.special.jv).sum(), x)
        (expected,) = grad(call(special.jv).sum(), x)
        assert wengert.equal(slope, expected)
    with pytest.raises(RuntimeError, match="in its argument 'n'"):
        scipy.special.smirnov(x, 1.0)
    (slope,) = grad(scipy.special.kv(x, 2.0).sum(), x)
    np.testing.assert_allclose(slope.numpy(), (scipy.special.kv(U + 1e-3, 2.0) - scipy.special.kv(U - 1e-3, 2.0)) / 2e-3, rtol=1e-5)
    (slope,) = grad(np.add(scipy.special.gammaincinv(2.0, x), 1.0).sum(), x)
    np.testing.assert_allclose(slope.numpy(), 1 / scipy.stats.gamma(2.0).pdf(scipy.special.gammaincinv(2.0, U)))


# Values at places where a naive formula is 0/0 or cancels: the derivative is known in closed form.
LIMITS = [
    ("ellipk", 0.0, math.pi / 8), ("ellipe", 0.0, -math.pi / 8), ("exprel", 0.0, 0.5), ("spence", 1.0, -1.0), ("lambertw", 0.0, 1.0),
    ("sinc", 0.0, 0.0), ("jn1", 0.0, 0.5), ("spherical_jn1", 0.0, 1 / 3), ("shichi", 0.0, 1.0), ("sici", 0.0, 1.0),
]  # fmt: skip


@each("name, x, expected", LIMITS)
def test_derivatives_at_removable_singularities(name, x, expected):
    order = re.fullmatch(r"(jn|spherical_jn)(\d)", name)
    x = wengert.tensor(x, dtype=wengert.float64, requires_grad=True)
    found = getattr(special, order[1])(int(order[2]), x) if order else getattr(special, name)(x)
    found = found[0] if isinstance(found, tuple) else found
    (slope,) = grad(found.real if found.is_complex() else found, x)
    assert math.isclose(float(slope), expected, rel_tol=1e-14, abs_tol=1e-15)


def test_special_cases_of_losses_and_transformations():
    zero = wengert.zeros(1, dtype=wengert.float64)
    for name, arguments in [
        ("huber", (-1.0, 0.5)), ("pseudo_huber", (0.0, 0.5)), ("rel_entr", (0.0, 0.5)), ("rel_entr", (0.5, 0.0)), ("kl_div", (0.0, 2.0)),
        ("kl_div", (-1.0, 2.0)), ("comb", (3.0, 5.0)), ("perm", (3.0, 5.0)), ("factorial", (-1.0,)), ("diric", (2 * math.pi, 4)),
        ("entr", (0.0,)), ("rel_entr", (0.0, 0.0)),
    ]:  # fmt: skip
        found = getattr(special, name)(arguments[0] + zero, *arguments[1:])
        np.testing.assert_allclose(found.numpy(), np.atleast_1d(getattr(scipy.special, name)(*arguments)), err_msg=name)


def test_logsumexp_with_factors_and_sign():
    a, b = np.array([[0.3, -1.0, 2.0], [1.0, 0.0, 0.5]]), np.array([[1.0, 0.5, 0.0], [-2.0, 1.0, 0.3]])
    for settings in ({"axis": 1, "return_sign": True}, {"axis": 0, "return_sign": True, "keepdims": True}, {"return_sign": True}):
        found = special.logsumexp(wengert.tensor(a), b=wengert.tensor(b), **settings)
        expected = scipy.special.logsumexp(a, b=b, **settings)
        for ours, theirs in zip(found, expected):
            np.testing.assert_allclose(ours.numpy(), theirs)
    x, y = wengert.tensor(a, requires_grad=True), wengert.tensor(np.abs(b), requires_grad=True)
    slopes = grad(special.logsumexp(x, b=y), (x, y))
    total = np.sum(np.abs(b) * np.exp(a))
    np.testing.assert_allclose(slopes[0].numpy(), np.abs(b) * np.exp(a) / total)
    np.testing.assert_allclose(slopes[1].numpy(), np.exp(a) / total)
    assert special.logsumexp(wengert.tensor([-np.inf, -np.inf])).item() == -np.inf
