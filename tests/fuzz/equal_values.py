"""Functions of eigenvectors and singular vectors of matrices with equal values, against finite differences of NumPy's.

Functions that do not depend on the choice of vectors must have their exact derivatives. The others must have NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import wengert
from wengert.autograd import grad

CALLS = 60


def _rebuild(left: Any, values: Any, right: Any) -> Any:
    return (left * values[..., None, :]) @ right


# Each function takes left vectors, values and right vectors, of tensors or arrays. So A = left @ diag(values) @ right.
SMOOTH: dict[str, Callable[[Any, Any, Any], Any]] = {
    "the matrix": _rebuild,
    "its cube": lambda left, values, right: _rebuild(left, values**3, right),
    "a fraction": lambda left, values, right: _rebuild(left, values / (1 + values**2), right),
    "with a norm": lambda left, values, right: _rebuild(left, values**3, right) * (values**2).sum(-1)[..., None, None],
    "squared": lambda left, values, right: _rebuild(left, values, right) ** 2,
}
POSITIVE: dict[str, Callable[[Any, Any, Any], Any]] = {
    "square root": lambda left, values, right: _rebuild(left, values**0.5, right),
    "whitening": lambda left, values, right: _rebuild(left, values**-0.5, right),
    "polar factor": lambda left, values, right: left @ right,
}
DEPENDENT: dict[str, Callable[[Any, Any, Any], Any]] = {
    "a vector": lambda left, values, right: left[..., :1],
    "unequal weights": lambda left, values, right: _rebuild(left[..., 1:], values[..., 1:], right[..., 1:, :]),
    "and a value": lambda left, values, right: _rebuild(left, values, right) + values[..., :1, None],
}


def _random(rng: Any, shape: tuple[int, ...], is_complex: bool) -> Any:
    x = rng.normal(size=shape)
    return x + 1j * rng.normal(size=shape) if is_complex else x


def _adjoint(x: Any) -> Any:
    return x.conj().swapaxes(-1, -2)


def _orthonormal(rng: Any, batch: tuple[int, ...], n: int, k: int, is_complex: bool) -> Any:
    return np.linalg.qr(_random(rng, (*batch, n, n), is_complex))[0][..., :k]


def _eigh(linalg: Any, A: Any) -> Any:
    values, vectors = linalg.eigh(A)
    return vectors, values, _adjoint(vectors)


def _eig(linalg: Any, A: Any) -> Any:
    values, vectors = linalg.eig(A)
    return vectors, values, linalg.inv(vectors)


def _svd(linalg: Any, A: Any) -> Any:
    return linalg.svd(A, full_matrices=False)


def _full_svd(linalg: Any, A: Any) -> Any:
    U, S, Vh = linalg.svd(A)
    k = S.shape[-1]
    return U[..., :k], S, Vh[..., :k, :]


def draw(rng: Any) -> tuple[Any, Any, Any, str]:
    """Draw a decomposition, a matrix with equal values, a function of both, and its name."""
    is_complex = bool(rng.integers(2))
    batch = (2,) if rng.random() < 0.2 else ()
    decompose = [_eigh, _eig, _svd, _full_svd][rng.integers(4)]
    n = int(rng.integers(2, 6))
    m = n if decompose in (_eigh, _eig) else int(rng.integers(2, 6))
    k = min(m, n)
    kinds = SMOOTH | (POSITIVE if rng.random() < 0.7 else {})
    if decompose is _eig:
        kinds = {name: kinds[name] for name in kinds if "square" not in name and "whitening" not in name and "norm" not in name}
    lowest = 1 if set(POSITIVE) & set(kinds) else 0
    values = rng.integers(lowest, 3, k).astype(float)
    values[:2] = values[0]  # two at least are equal
    if decompose is not _eig and rng.random() < 0.2 and values.max() == values[0] and values.min() > 0 and k < 4:
        values[:] = values[0]
    values = np.sort(values)[::-1] if decompose in (_svd, _full_svd) else np.sort(values)
    name = list(kinds)[rng.integers(len(kinds))]
    left = _orthonormal(rng, batch, m, k, is_complex)
    right = _adjoint(left if decompose in (_eigh, _eig) else _orthonormal(rng, batch, n, k, is_complex))
    if decompose is _eig:
        left = left + 0.2 * _random(rng, left.shape, is_complex)
        right = np.linalg.inv(left)
    A = _rebuild(left, values, right)
    if decompose is _eigh:
        A = (A + _adjoint(A)) / 2
        if rng.random() < 0.2:
            A = np.broadcast_to(np.eye(n) * max(values[0], 1.0), A.shape).astype(A.dtype)
    return decompose, A, kinds[name], name


def check(rng: Any) -> str:
    """Check one drawn gradient along random directions. Returns what was drawn."""
    decompose, A, function, name = draw(rng)
    drawn = f"{decompose.__name__}, {name}, {A.dtype}, {A.tolist()}"
    x = wengert.tensor(np.ascontiguousarray(A), requires_grad=True)
    try:
        value = function(*decompose(wengert.linalg, x))
        weights = _random(rng, tuple(value.shape), value.is_complex())
        loss = (value * wengert.tensor(weights)).sum()
        (found,) = grad(loss.real if loss.is_complex() else loss, x, create_graph=bool(rng.integers(2)))
    except wengert.errors.SingularMatrixError:
        assert decompose is _eig, drawn
        return drawn  # LAPACK's vectors are parallel
    found = found.detach().numpy()
    if decompose is _eig and np.isnan(found).any():  # LAPACK may return vectors of a multiple value that are almost parallel
        return drawn

    def moved(direction: Any, step: float) -> float:
        return np.real((function(*decompose(np.linalg, A + step * direction)) * weights).sum())

    for _ in range(2):
        direction = _random(rng, A.shape, np.iscomplexobj(A))
        if decompose is _eigh:
            direction = direction + _adjoint(direction)
        step = 1e-3
        near, far = (moved(direction, s) - moved(direction, -s) for s in (step, 2 * step))
        expected = (8 * near - far) / (12 * step)
        actual = np.real((found.conj() * direction).sum())
        assert abs(actual - expected) <= 1e-5 * (1 + np.abs(weights).sum()), f"{drawn}: {actual} is not {expected}"
    return drawn


def check_dependent(rng: Any) -> None:
    """Check that a function that depends on the choice of vectors has no finite derivative."""
    names = list(DEPENDENT)
    name = names[rng.integers(len(names))]
    decompose = [_eigh, _svd][rng.integers(2)]
    n = int(rng.integers(2, 5))
    is_complex = bool(rng.integers(2))
    left = _orthonormal(rng, (), n, n, is_complex)
    right = _adjoint(left if decompose is _eigh else _orthonormal(rng, (), n, n, is_complex))
    A = _rebuild(left, np.full(n, 2.0), right)
    x = wengert.tensor(A, requires_grad=True)
    value = DEPENDENT[name](*decompose(wengert.linalg, x))
    loss = (value * wengert.tensor(_random(rng, tuple(value.shape), is_complex))).sum()
    (found,) = grad(loss.real if is_complex else loss, x)
    assert np.isnan(found.numpy()).all(), f"{decompose.__name__}, {name}, {A.tolist()}: {found.tolist()}"


def run(seed: int, calls: int) -> None:
    """Check `calls` functions drawn from the seed."""
    rng = np.random.default_rng(seed)
    for call in range(calls):
        try:
            if call % 4 == 3:
                check_dependent(rng)
            else:
                check(rng)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, call {call}: {error}") from error
