"""The incomplete gamma and beta functions in their parameters, beside differences of their series in 60-digit arithmetic."""

from __future__ import annotations

import math

import pytest

import wengert
from wengert import special

# a, x: the first and the second derivative of P(a, x) with respect to a
GAMMA = [
    (0.001, 1e-06, [-13.065809708321315, 171.36960282780685]),
    (0.001, 2.0, [-0.049053345839364881, -0.15289776820824403]),
    (0.01, 0.5, [-0.56554591171525777, -0.56772031689329352]),
    (0.3, 200.0, [-9.9481540304166592e-89, -7.3767554690031948e-88]),
    (0.5, 0.1, [-0.82293609697959875, 1.6586313062993034]),
    (0.5, 30.0, [-5.118991143389857e-14, -2.2944585712327423e-13]),
    (1.0, 1e-09, [-2.1146050161721854e-8, 4.465105035993588e-7]),
    (2.0, 2.0, [-0.29400469074623089, 0.0062178525663817879]),
    (40.0, 38.0, [-0.061575654662101362, 0.0031682384596322573]),
    (160.0, 33.0, [-1.8033521261203151e-56, 2.8483217621156208e-56]),
    (3000.0, 2800.0, [-7.0223622121011908e-6, 4.8450645630632858e-7]),
    (9000.0, 9100.0, [-0.0024092891622232885, -2.6622494595433398e-5]),
]

# a, b, x: the derivatives of I_x(a, b) by a, by b, twice by a, by a and b, twice by b
BETA = [
    (0.001, 0.002, 0.3, [-222.59772234711885, 111.01807409338759, 148398.43846961531, 36912.427823864755, -74011.218423090163]),
    (0.5, 0.5, 0.5, [-0.58312180806163756, 0.58312180806163756, 0.94429595792707916, 0.0, -0.94429595792707916]),
    (0.01, 40.0, 1e-05, [-6.7658049946784095, 0.0002352832987755165, 47.743598736924179, 0.021813558444405339,
                         -5.8979476349410546e-6]),
    (0.01, 40.0, 0.2, [-1.6083679095861969e-5, 3.8523408537831087e-8, -8.582178397932716e-5, 3.9531122983004181e-6,
                       -9.5610944779982617e-9]),
    (0.3, 10000.0, 0.001, [-1.6678412592768218e-5, 3.0144710177530053e-9, -6.3620316172467927e-5, 1.7499122794589763e-8,
                           -3.2269996136468787e-12]),
    (1.0, 1.0, 1e-09, [-2.0723265836946412e-8, 9.9999999950000006e-10, 4.2945374694875026e-7, -2.0078331759986553e-8,
                       -1.0000000000000001e-18]),
    (1.0, 700.0, 0.001, [-0.48299948069225781, 0.0004966597847324882, 0.22315106538020223, 0.0001095338506197472,
                         -4.9690828030238039e-7]),
    (2.0, 3.0, 0.4, [-0.24086937608755657, 0.15634433641359878, 0.058396601251541091, 0.0089234076700342831,
                     -0.035729359277374895]),
    (3.0, 0.02, 0.999, [-0.0070418519859600559, 4.875767371838951, 0.0026890578636891478, -0.31247407498512894,
                        -25.417167598718557]),
    (30.0, 20.0, 0.9, [-6.5647197754442024e-9, 2.2434121141775659e-8, -2.5314836961988992e-9, 9.0718449432699841e-9,
                       -3.1632523140774973e-8]),
    (250.0, 4000.0, 0.06, [-0.023006953670532002, 0.0014522663178332783, -0.00045029480461838758, 3.1323456716630065e-5,
                           -2.1582218514847308e-6]),
    (700.0, 0.5, 0.9995, [-0.00033612906844516088, 0.74046688093990418, 4.0828442768421237e-7, -0.00030687699109512655,
                          -0.47506475232497671]),
    (9000.0, 8000.0, 0.5, [-4.9173179552546886e-16, 5.2155296732978075e-16, 2.81356586624148e-17, -2.981299982844857e-17,
                           3.1588444566144936e-17]),
    (9000.0, 8000.0, 0.53, [-0.0028493825421189903, 0.0032093495432605996, -2.9966183049129142e-6, 3.5534955317290853e-6,
                            -4.2030135753427282e-6]),
]  # fmt: skip


def number(x: float) -> wengert.Tensor:
    return wengert.tensor(x, dtype=wengert.float64, requires_grad=True)


@pytest.mark.parametrize(("a", "x", "expected"), GAMMA)
def test_gamma_in_its_parameter(a, x, expected):
    a = number(a)
    for function, sign in ((special.gammainc, 1), (special.gammaincc, -1)):
        (first,) = wengert.autograd.grad(function(a, number(x)), a, create_graph=True)
        (second,) = wengert.autograd.grad(first, a)
        assert [first.item() * sign, second.item() * sign] == pytest.approx(expected, rel=5e-12, abs=0)


@pytest.mark.parametrize(("a", "b", "x", "expected"), BETA)
def test_beta_in_its_parameters(a, b, x, expected):
    a, b = number(a), number(b)
    by_a, by_b = wengert.autograd.grad(special.betainc(a, b, number(x)), (a, b), create_graph=True)
    twice_a, both = wengert.autograd.grad(by_a, (a, b), retain_graph=True)
    again, twice_b = wengert.autograd.grad(by_b, (a, b))
    assert [y.item() for y in (by_a, by_b, twice_a, both, twice_b)] == pytest.approx(expected, rel=5e-12, abs=1e-15 * abs(expected[0]))
    assert again.item() == pytest.approx(both.item(), rel=1e-12)


def test_beta_of_whole_parameters_is_a_polynomial():
    """I_x(2, 3) = 6 x**2 - 8 x**3 + 3 x**4."""
    x = number(0.3)
    y = special.betainc(2.0, 3.0, x)
    (first,) = wengert.autograd.grad(y, x, create_graph=True)
    (second,) = wengert.autograd.grad(first, x, create_graph=True)
    (third,) = wengert.autograd.grad(second, x)
    assert y.item() == pytest.approx(0.3483, rel=1e-14)
    assert [first.item(), second.item(), third.item()] == pytest.approx([1.764, 0.84, -26.4], rel=1e-12)


@pytest.mark.parametrize("x", [0.0, 1.0])
def test_beta_at_its_ends(x):
    """In the parameters 0, of any order; in x the limit of the density, and of its slope."""
    a, b = number([3.0, 2.0, 1.0, 0.5]), number([3.0, 2.0, 1.0, 0.5])
    z = wengert.full((4,), x, dtype=wengert.float64, requires_grad=True)
    y = special.betainc(a, b, z)
    by_a, by_b, by_x = wengert.autograd.grad(y.sum(), (a, b, z), create_graph=True)
    assert y.tolist() == [x] * 4
    assert by_a.tolist() == by_b.tolist() == [0, 0, 0, 0]
    assert by_x.tolist() == [0, 0, 1, math.inf]
    assert wengert.autograd.grad(by_a[:2].sum(), (a, b, z), retain_graph=True)[2][:2].tolist() == [0, 0]
    sign = 1 - 2 * x
    assert wengert.autograd.grad(by_x.sum(), z)[0].tolist() == pytest.approx([0, 6 * sign, 0, -math.inf * sign])


def test_gamma_at_zero():
    """The density t**(a - 1) exp(-t) / gamma(a) and its slope."""
    a, t = number([3.0, 2.0, 1.0, 0.5]), wengert.zeros(4, dtype=wengert.float64, requires_grad=True)
    by_a, by_t = wengert.autograd.grad(special.gammainc(a, t).sum(), (a, t), create_graph=True)
    assert by_a.tolist() == [0, 0, 0, 0] and by_t.tolist() == [0, 0, 1, math.inf]
    assert wengert.autograd.grad(by_t.sum(), t)[0].tolist() == [0, 1, -1, -math.inf]


def test_beta_outside_its_domain_is_nan():
    a, b, x = number([0.5, -1.0, 2.0, 2.0]), number([1.0, 1.0, 0.0, 2.0]), number([1.5, 0.5, 0.5, -0.5])
    y = special.betainc(a, b, x)
    gradients = wengert.autograd.grad(y.sum(), (a, b, x))
    assert all(g.isnan().all() for g in gradients)
    assert y.isnan().tolist() == [True, True, False, True]  # SciPy's limit for b = 0


def test_beta_broadcasts_and_keeps_the_dtype():
    a = wengert.tensor([[1.0], [2.0]], requires_grad=True)
    y = special.betainc(a, wengert.tensor([1, 2, 3]), 0.5)
    assert y.shape == (2, 3) and y.dtype is wengert.float32
    y.sum().backward()
    assert a.grad.shape == (2, 1) and a.grad.dtype is wengert.float32 and (a.grad < 0).all()
    out = wengert.empty(3)
    assert special.betainc(1.0, 1.0, wengert.tensor([0.25, 0.5, 1.0]), out=out) is out
    assert out.tolist() == [0.25, 0.5, 1.0]
