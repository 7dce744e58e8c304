"""The multivariate normal distribution."""

from math import log, pi
from typing import Any

import numpy as np

from wengert import linalg as _linalg
from wengert.array_functions.table import promoted, tensor, w
from wengert.hips.boxes import value_of
from wengert.hips.doors import door
from wengert.hips.scipy._doors import formula
from wengert.ops.faces import tensor_face

_F: Any = tensor_face
_LOG_2PI = log(2 * pi)


@formula("multivariate_normal")
def logpdf(x, mean=None, cov=1, allow_singular=False):
    """Logarithm of the density. x: (..., n), mean: (n,), cov: (n, n), (n,) or a number. Derivatives in x, mean and cov.

    allow_singular: use the pseudoinverse of cov. Otherwise LinAlgError is raised if cov is not positive definite. The derivative
    in cov is that of the symmetric part of cov."""
    x, mean, cov = _arranged(x, mean, cov)
    off = x - mean
    if allow_singular:
        cov = _symmetric(cov)
        rank, log_det = _rank_and_log_det(cov)
        squares = ((off @ _linalg.pinv(cov, hermitian=True)) * off).sum(-1)
        return -0.5 * (rank * _LOG_2PI + log_det + squares)
    return _F._normal_log_density(off, cov)[0]


def _arranged(x: Any, mean: Any, cov: Any) -> list[Any]:
    """Return x, mean and cov as tensors of SciPy's shapes: (..., n), (n,) and (n, n)."""
    cov = tensor(cov)
    n = max(cov.shape[-1] if cov.ndim else 1, np.size(value_of(mean)) if mean is not None else 1)
    mean = tensor(np.zeros(n) if mean is None else mean).reshape(-1)
    if cov.ndim == 0:
        cov = cov * tensor(np.eye(n))
    elif cov.ndim == 1:
        cov = w.diag(cov)
    x = tensor(x)
    if x.ndim == 0 or (x.ndim == 1 and n == 1):
        x = x[..., None]
    return promoted(x, mean, cov)


def _symmetric(cov: Any) -> Any:
    return 0.5 * (cov + cov.T)


def _rank_and_log_det(cov: Any) -> tuple[int, Any]:
    """Return the rank of a symmetric matrix, and the logarithm of its pseudo-determinant."""
    values = _linalg.eigvalsh(cov)
    found = values.numpy(force=True)
    large = found > 1e6 * np.finfo(found.dtype).eps * np.abs(found).max()
    return int(large.sum()), w.log(values[tensor(large)]).sum()


@formula("multivariate_normal")
def pdf(x, mean=None, cov=1, allow_singular=False):
    """Density. See logpdf."""
    return door(np.exp)(logpdf(x, mean, cov, allow_singular))


@formula("multivariate_normal")
def entropy(mean=None, cov=1):
    """Entropy. It depends on cov alone."""
    cov = _symmetric(_arranged(0.0, mean, cov)[2])
    return 0.5 * (cov.shape[-1] * (1 + _LOG_2PI) + w.logdet(cov))
