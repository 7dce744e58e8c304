"""numpy.linalg on tensors has NumPy's conventions, and derivatives that belong to them.

NumPy reads one triangle of a Hermitian matrix: the other has no derivative. LAPACK chooses signs and phases of vectors: they have
derivatives. The oracle is NumPy, by central differences along directions without any symmetry.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert
from wengert.autograd import grad

RNG = np.random.default_rng(7)
REAL = RNG.normal(size=(3, 3))
COMPLEX = REAL + 1j * RNG.normal(size=(3, 3))
POSITIVE = REAL @ REAL.T + 3 * np.eye(3) + 0.1 * RNG.normal(size=(3, 3))  # not symmetric: one triangle is read
HERMITIAN = COMPLEX @ COMPLEX.conj().T + 3 * np.eye(3) + 0.1 * RNG.normal(size=(3, 3))
TALL, WIDE = COMPLEX[:, :2], COMPLEX[:2]

CASES = {
    "cholesky": (np.linalg.cholesky, POSITIVE),
    "cholesky, upper": (lambda a: np.linalg.cholesky(a, upper=True), POSITIVE),
    "cholesky, complex": (np.linalg.cholesky, HERMITIAN),
    "eigh": (np.linalg.eigh, POSITIVE),
    "eigh, upper": (lambda a: np.linalg.eigh(a, "U"), POSITIVE),
    "eigh, complex": (np.linalg.eigh, HERMITIAN),
    "eigh, complex, upper": (lambda a: np.linalg.eigh(a, UPLO="U"), HERMITIAN),
    "eigvalsh": (np.linalg.eigvalsh, POSITIVE),
    "eigvalsh, upper": (lambda a: np.linalg.eigvalsh(a, "U"), HERMITIAN),
    "eig": (np.linalg.eig, REAL),
    "eig, complex": (np.linalg.eig, COMPLEX),
    "eigvals": (np.linalg.eigvals, REAL),
    "svd": (np.linalg.svd, REAL),
    "svd, complex": (np.linalg.svd, COMPLEX),
    "svd, tall": (lambda a: np.linalg.svd(a, full_matrices=False), TALL),
    "svd, wide": (lambda a: np.linalg.svd(a, full_matrices=False), WIDE),
    "svd, Hermitian": (lambda a: np.linalg.svd(a, hermitian=True), POSITIVE - 5 * np.eye(3)),
    "svd, Hermitian, values": (lambda a: np.linalg.svd(a, compute_uv=False, hermitian=True), POSITIVE - 5 * np.eye(3)),
    "pinv, Hermitian": (lambda a: np.linalg.pinv(a, hermitian=True), POSITIVE),
    "qr": (np.linalg.qr, REAL),
    "qr, tall": (np.linalg.qr, REAL[:, :2]),
    "qr, complex": (np.linalg.qr, COMPLEX),
    "qr, r": (lambda a: np.linalg.qr(a, "r"), REAL),
    "slogdet": (np.linalg.slogdet, COMPLEX),
}  # fmt: skip


def parts(found: Any) -> list[Any]:
    return list(found) if isinstance(found, tuple) else [found]


def real_sum(found: Any, weights: list[Any]) -> Any:
    """Return the real part of a weighted sum over all parts, of arrays or tensors."""
    total = sum((part * weight).sum() for part, weight in zip(parts(found), weights, strict=True))
    return total.real


@pytest.mark.parametrize("case", CASES)
def test_values_and_derivatives_are_those_of_numpys_conventions(case):
    run, a = CASES[case]
    expected = run(a)
    x = wengert.tensor(a, requires_grad=True)
    found = run(x)
    assert len(parts(found)) == len(parts(expected))
    for mine, theirs in zip(parts(found), parts(expected), strict=True):
        np.testing.assert_allclose(mine.numpy(force=True), theirs, rtol=1e-10, atol=1e-12)
    weights = [RNG.normal(size=np.shape(p)) + 1j * RNG.normal(size=np.shape(p)) for p in parts(expected)]
    (g,) = grad(real_sum(found, [wengert.tensor(w) for w in weights]), x)
    for _ in range(3):
        direction = RNG.normal(size=a.shape) + (1j * RNG.normal(size=a.shape) if np.iscomplexobj(a) else 0)
        step = 1e-6
        slope = (real_sum(run(a + step * direction), weights) - real_sum(run(a - step * direction), weights)) / (2 * step)
        np.testing.assert_allclose((g.numpy().conj() * direction).sum().real, slope, rtol=1e-6, atol=1e-7)


def test_the_other_triangle_is_not_read():
    a = np.tril(POSITIVE)
    a[0, 2] = np.nan
    x = wengert.tensor(a, requires_grad=True)
    np.linalg.cholesky(x).sum().backward()
    assert np.isfinite(np.tril(x.grad.numpy())).all() and not np.triu(x.grad.numpy(), 1).any()


def test_results_have_numpys_names():
    x = wengert.tensor(POSITIVE, requires_grad=True)
    for run, names in (
        (np.linalg.eigh, ("eigenvalues", "eigenvectors")), (np.linalg.eig, ("eigenvalues", "eigenvectors")), (np.linalg.svd, ("U", "S", "Vh")),
        (lambda a: np.linalg.svd(a, hermitian=True), ("U", "S", "Vh")), (np.linalg.qr, ("Q", "R")), (np.linalg.slogdet, ("sign", "logabsdet")),
    ):  # fmt: skip
        found = run(x)
        for name, part in zip(names, found, strict=True):
            assert getattr(found, name) is part or (getattr(found, name) == part).all()
