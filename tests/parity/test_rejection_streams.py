"""Samples that are drawn by rejection are torch's: gamma, Dirichlet, Poisson and binomial numbers of a seed."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import wengert  # noqa: E402
from loops import each  # noqa: E402

RATES = (0.0, 0.3, 4.0, 9.9, 10.0, 55.0, 1e4, 1e9)
TRIALS = ((0, 0.5), (5, 0.0), (5, 1.0), (5, 0.3), (5, 0.7), (40, 0.2), (40, 0.25), (100, 0.5), (100, 0.8), (1000, 0.02))


def assert_same(program, tolerance=0.0):
    found = []
    for library in (wengert, torch):
        library.manual_seed(3)
        # One number is kept of a pair before, and the next whole number shows that as many words were drawn.
        found.append([library.randn(1), program(library), library.randint(0, 2**27, (2,)), library.randn(1)])
    for ours, theirs in zip(*found, strict=True):
        assert str(ours.dtype) == str(theirs.dtype)
        ours, theirs = ours.double().numpy(), theirs.double().numpy()
        np.testing.assert_allclose(ours, theirs, rtol=tolerance or 1e-6, atol=0 if tolerance else 1e-7)


@each("dtype, alpha", [(d, a) for d in ("float32", "float64") for a in (0.0, 1e-3, 0.3, 1.0, 2.5, 50.0, 1e6)])
def test_gamma(dtype, alpha):
    tolerance = 8 * 2.0**-23 if dtype == "float32" else 1e-14
    assert_same(lambda t: t._standard_gamma(t.full((40, 5), alpha, dtype=getattr(t, dtype))), tolerance)


@each("dtype", ["float32", "float64"])
def test_dirichlet(dtype):
    tolerance = 5e-7 if dtype == "float32" else 1e-14
    for row in ([0.5, 1.0, 3.0], [1e-3, 1e-3, 1e-3], [40.0, 2.0, 0.1]):
        assert_same(lambda t: t._sample_dirichlet(t.tensor(row, dtype=getattr(t, dtype)).expand(50, 3)), tolerance)  # noqa: B023


@each("dtype, rate", [(d, r) for d in ("float32", "float64") for r in RATES])
def test_poisson(dtype, rate):
    assert_same(lambda t: t.poisson(t.full((200,), rate, dtype=getattr(t, dtype))))


@each("dtype, count, p", [(d, *trial) for d in ("float32", "float64") for trial in TRIALS])
def test_binomial(dtype, count, p):
    kind = {"float32": np.float32, "float64": np.float64}[dtype]
    assert_same(lambda t: t.binomial(t.tensor(np.full(200, count, kind)), t.tensor(np.full(200, p, kind))))


def test_large_counts():
    """In float64. In float32, torch rounds more, and one of a hundred counts of a million trials is another by 1."""
    assert_same(lambda t: t.binomial(t.full((200,), 1e6, dtype=t.float64), t.full((200,), 0.4, dtype=t.float64)))


def test_many_numbers_and_transposed_parameters():
    assert_same(lambda t: t.poisson(t.linspace(0.1, 30, 60000).reshape(300, 200).T))
    assert_same(lambda t: t._standard_gamma(t.linspace(0.1, 30, 600).reshape(30, 20).T), 1e-6)


@each("name", ["Beta", "Chi2", "Dirichlet", "FisherSnedecor", "Gamma", "InverseGamma", "StudentT"])
def test_programs_with_distributions(name):
    def program(t):
        d, p, q = t.distributions, t.tensor([0.7, 2.0, 3.0]), t.tensor([1.5, 4.0, 9.0])
        made = {
            "Beta": lambda: d.Beta(p, q), "Chi2": lambda: d.Chi2(p), "Dirichlet": lambda: d.Dirichlet(p),
            "FisherSnedecor": lambda: d.FisherSnedecor(p, q), "Gamma": lambda: d.Gamma(p, q),
            "InverseGamma": lambda: d.InverseGamma(p, q), "StudentT": lambda: d.StudentT(p, q),
        }[name]()  # fmt: skip
        return made.sample((7,))

    assert_same(program, 2e-6)


def test_shapes():
    for shape in ((), (1,), (0,), (2, 0, 3), (2, 3)):
        assert_same(lambda t: t.poisson(t.ones(shape)))  # noqa: B023
        assert_same(lambda t: t._standard_gamma(t.ones(shape)))  # noqa: B023
        assert_same(lambda t: t.binomial(t.full(shape, 5.0), t.full(shape, 0.3)))  # noqa: B023
    assert_same(lambda t: t.distributions.Gamma(2.0, 1.0).sample(), 1e-6)


def test_wrong_parameters():
    for library in (wengert, torch):
        with pytest.raises(NotImplementedError, match="\"dirichlet\" not implemented for 'Long'"):
            library._sample_dirichlet(library.tensor([1, 2]))
    with pytest.raises(ValueError, match="expected concentrations >= 0"):
        wengert._standard_gamma(wengert.tensor([-1.0]))
    with pytest.raises(RuntimeError, match="expected rates below"):
        wengert.poisson(wengert.tensor([float("inf")]))
    assert wengert._standard_gamma(wengert.tensor([float("nan")])).isnan().all()
    assert wengert.binomial(wengert.tensor([float("nan")]), wengert.tensor([0.5])).isnan().all()
