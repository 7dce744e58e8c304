"""Discrete cosine and sine transforms and the fast Hankel transform, which scipy.fft computes. torch has none of them.

They are linear. The transposed matrix of a transform is that of another type, up to the weight of an edge.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.backends.selection import backend_of, is_array
from wengert.ops.registry import INT_TO_FLOAT, linear

_SETTINGS: dict[str, Any] = {"promote": INT_TO_FLOAT, "method": False, "namespaces": ()}


def edge_weights(n: int, sine: bool, type: int, weight: float) -> Any:
    """Ones of length n, with the weight at the edge where the types 2 and 3 are not symmetric; at both for the cosine of type 1."""
    found = np.ones(n)
    if type in (2, 3):
        found[-1 if sine else 0] = weight
    elif type == 1 and not sine:
        found[[0, -1]] = weight
    return found


@linear(**_SETTINGS)
def _trigonometric_transform(xp, x, *, sine, type):
    """Cosine or sine transform of the last dimension, type 1, 2, 3 or 4, without a scale.

    Derivative: the transposed transform: of type 3 for type 2 and back, else of the same type, with the weight 2 of an edge."""
    transform = getattr(import_late("scipy.fft"), "dst" if sine else "dct")
    return transform(x, type=type).astype(x.dtype, copy=False)


@_trigonometric_transform.vjp("x")
def _(F, ct, sine, type):
    n = ct.shape[-1]
    before = edge_weights(n, sine, type, 1.0 if type == 3 else 2.0)
    after = edge_weights(n, sine, type, 1.0 if type == 2 else 0.5)
    found = F._trigonometric_transform(_weighed(ct, before), sine=sine, type={2: 3, 3: 2}.get(type, type))
    return _weighed(found, after)


def _weighed(x: Any, weights: Any) -> Any:
    """Product with weights of the dtype that x has."""
    return x * (backend_of(x).asarray(weights.astype(x.dtype)) if is_array(x) else x.new_tensor(weights))


@linear(**_SETTINGS)
def _hankel_transform(xp, x, *, dln, mu, offset, bias, inverse):
    """Fast Hankel transform (FFTLog) of the last dimension. dln, mu, offset, bias: as in scipy.fft.fht.

    Derivative: the transform of the cotangent, because its matrix is symmetric."""
    transform = getattr(import_late("scipy.fft"), "ifht" if inverse else "fht")
    return xp.asarray(transform(x, dln, mu, offset, bias)).astype(x.dtype, copy=False)


@_hankel_transform.vjp("x")
def _(F, ct, dln, mu, offset, bias, inverse):
    return F._hankel_transform(ct, dln=dln, mu=mu, offset=offset, bias=bias, inverse=inverse)
