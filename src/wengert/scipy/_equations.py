"""Matrix equations and functions of matrices, of scipy.linalg."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.array_functions.table import detached, holds_tensor, linalg as _ours, w as _w
from wengert.ops.faces import tensor_face
from wengert.scipy._frame import Submodule, operands

_F: Any = tensor_face
_scipy: Any = None


# -- linear equations --------------------------------------------------------------------------------------------------


def solve_sylvester(a, b, q):
    """Solution of a X + X b = q. Derivative: by the solution of the adjoint equation."""
    return _F._sylvester(*operands(a, b, q))


def solve_continuous_lyapunov(a, q):
    """Solution of a X + X a^H = q."""
    a, q = operands(a, q)
    return _F._sylvester(a, a.mH, q)


def solve_discrete_lyapunov(a, q, method=None):
    """Solution of a X a^H - X + q = 0."""
    return _F._stein(*operands(a, q))


# -- Riccati's equations -----------------------------------------------------------------------------------------------


def _reduced(values: list[Any]) -> tuple[Any, ...]:
    """Return (a, b, q, r) of the equation without the matrices e and s that has the same solution."""
    a, b, q, r, e, s = values
    if s is not None:
        turned = _ours.solve(r, s.mH)
        a, q = a - _w.matmul(b, turned), q - _w.matmul(s, turned)
    return a, b, q, r, e


def solve_continuous_are(a, b, q, r, e=None, s=None, balanced=True):
    """Solution of a^H X e + e^H X a - (e^H X b + s) r^-1 (b^H X e + s^H) + q = 0. Derivative: by a Lyapunov equation."""
    value = _scipy.solve_continuous_are(*[None if x is None else detached(x) for x in (a, b, q, r, e, s)], balanced=balanced)
    a, b, q, r, e = _reduced(operands(a, b, q, r, e, s))
    if e is not None:
        right = _ours.inv(e)
        a, q = _w.matmul(a, right), _w.matmul(_w.matmul(right.mH, q), right)
    return _F._care(a, _w.matmul(b, _ours.solve(r, b.mH)), q, _w.as_tensor(value))


def solve_discrete_are(a, b, q, r, e=None, s=None, balanced=True):
    """Solution of a^H X a - e^H X e - (a^H X b + s) (r + b^H X b)^-1 (b^H X a + s^H) + q = 0.

    Derivative: by a Lyapunov equation."""
    value = _scipy.solve_discrete_are(*[None if x is None else detached(x) for x in (a, b, q, r, e, s)], balanced=balanced)
    a, b, q, r, e = _reduced(operands(a, b, q, r, e, s))
    if e is not None:
        right = _ours.inv(e)
        a, q = _w.matmul(a, right), _w.matmul(_w.matmul(right.mH, q), right)
    return _F._dare(a, b, q, r, _w.as_tensor(value))


# -- functions of matrices ---------------------------------------------------------------------------------------------


def expm(A):
    """Exponential of a matrix."""
    return _ours.matrix_exp(*operands(A))


# Distance from the identity up to which the quadrature has full precision: N. Higham, Functions of Matrices, 2008, table 11.1.
_NEAR = 0.25
_NODES = 8


def logm(A):
    """Principal logarithm of a matrix; complex if the matrix has negative eigenvalues.

    Square roots bring the matrix near the identity. There Gauss' quadrature of (A - I) (I + t (A - I))^-1 over t in [0, 1], a
    Pade approximant, gives the logarithm. So the derivative is that of square roots and inverses."""
    (A,) = operands(A)
    if A.ndim < 2 or A.shape[-1] != A.shape[-2]:
        raise ValueError("expected square array_like input")
    eye = _w.eye(A.shape[-1], dtype=A.dtype)
    roots, X = 0, A
    while X.numel() and roots < 100:
        with np.errstate(all="ignore"):
            distance = np.linalg.norm(detached(X - eye), 1, (-2, -1)).max()
        if not distance > _NEAR:
            break
        X, roots = sqrtm(X), roots + 1
    places, weights = np.polynomial.legendre.leggauss(_NODES)
    difference = X - eye
    halves = list(zip(0.5 * (1 + places), 0.5 * weights, strict=True))
    terms = [float(w) * _ours.solve(eye + float(t) * difference, difference) for t, w in halves]
    return 2**roots * sum(terms[1:], terms[0])


def sqrtm(A):
    """Principal square root of a matrix; complex if the matrix has negative eigenvalues."""
    return _F._sqrtm(*operands(A))


def signm(A):
    """Sign function of a matrix, A (A^2)^(-1/2)."""
    (A,) = operands(A)
    found = _ours.solve(sqrtm(_w.matmul(A, A)), A)
    return found if A.is_complex() else found.real if found.is_complex() else found


def fractional_matrix_power(A, t):
    """Power t of a matrix. Derivative: in A, and in t if t is a tensor."""
    if holds_tensor([t]):
        A, t = operands(A, t)
        return _ours.matrix_exp(t * logm(A))
    (A,) = operands(A)
    whole = int(np.floor(t))
    power = _ours.matrix_power(A, whole)
    if whole == t:
        return power
    rest = expm((t - whole) * logm(A))
    return _w.matmul(power.to(rest.dtype), rest)


def _of_exponentials(A: Any) -> tuple[Any, Any]:
    """Return (cos A, sin A)."""
    (A,) = operands(A)
    if not A.is_complex():
        found = _ours.matrix_exp(_w.complex(_w.zeros_like(A), A))
        return found.real, found.imag
    above, below = _ours.matrix_exp(1j * A), _ours.matrix_exp(-1j * A)
    return 0.5 * (above + below), -0.5j * (above - below)


def cosm(A):
    """Cosine of a matrix."""
    return _of_exponentials(A)[0]


def sinm(A):
    """Sine of a matrix."""
    return _of_exponentials(A)[1]


def tanm(A):
    """Tangent of a matrix."""
    cosine, sine = _of_exponentials(A)
    return _ours.solve(cosine, sine)


def coshm(A):
    """Hyperbolic cosine of a matrix."""
    (A,) = operands(A)
    return 0.5 * (_ours.matrix_exp(A) + _ours.matrix_exp(-A))


def sinhm(A):
    """Hyperbolic sine of a matrix."""
    (A,) = operands(A)
    return 0.5 * (_ours.matrix_exp(A) - _ours.matrix_exp(-A))


def tanhm(A):
    """Hyperbolic tangent of a matrix."""
    (A,) = operands(A)
    return _ours.solve(coshm(A), sinhm(A))


def expm_frechet(A, E, method=None, compute_expm=True, check_finite=True):
    """Exponential of A and its derivative in the direction E: the blocks of exp([[A, E], [0, A]])."""
    A, E = operands(A, E)
    if A.shape != E.shape:
        raise ValueError("expected A and E to be the same shape")
    n = A.shape[-1]
    block = _w.cat([_w.cat([A, E], -1), _w.cat([_w.zeros_like(A), A], -1)], -2)
    found = _ours.matrix_exp(block)
    return (found[..., :n, :n], found[..., :n, n:]) if compute_expm else found[..., :n, n:]


def register(module: Submodule) -> None:
    """Register the functions of this module."""
    global _scipy
    _scipy = module.scipy
    for function in (
        solve_sylvester, solve_continuous_lyapunov, solve_discrete_lyapunov, solve_continuous_are, solve_discrete_are, expm, logm,
        sqrtm, signm, fractional_matrix_power, cosm, sinm, tanm, coshm, sinhm, tanhm, expm_frechet,
    ):  # fmt: skip
        module.differentiates()(function)
    module.differentiates("solve_lyapunov")(solve_continuous_lyapunov)


