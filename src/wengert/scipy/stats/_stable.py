"""The formula of SciPy's stable distributions. See _formulas.py.

Note [Stable distributions]
The density is the Fourier integral of exp(-psi(t)), with psi(t) = t**alpha (1 - i beta tan(pi alpha / 2)). The path of
integration is turned by an angle into the half plane where exp(-i x t) falls. There the integrand falls exponentially,
and its phase turns about as fast as it falls, so a fixed number of places is enough. The angle is constant, because the
integral does not depend on it. The mass above x is the same integral with the factor 1 / (i t), and the angle is the
share of its pole at t = 0. Values are SciPy's. (J. P. Nolan, Univariate Stable Distributions, 2020, section 3.2.)
"""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from wengert import errors
from wengert._forks import import_late
from wengert.array_functions.table import detached, w
from wengert.scipy._closures import with_values
from wengert.scipy._rules import gauss_rule, unit_rule
from wengert.scipy.stats._formulas import _family

_theirs = import_late("scipy.stats").levy_stable

_FARTHEST = 60.0  # the integrand is less than exp(-60) at the end of the path
_NEAREST_TO_ONE = 0.02  # psi has a pole in alpha at 1
_ACCURACY = 1e-5  # relative, of the integral to SciPy's value
_ROUNDED = 1e-2  # SciPy takes the value at 0 for places that are nearer
_NOISE = 1e-12  # of the integral, where the density is 0


def _rule() -> tuple[Any, Any]:
    """Return (places, weights) on (0, 1): a rule for the power at 0, and Gauss' rule for the rest."""
    near, far = unit_rule(), gauss_rule(500)
    split = 0.05
    return np.concatenate([split * near[0], split + (1 - split) * far[0]]), np.concatenate([split * near[1], (1 - split) * far[1]])


def _integral(x: Any, alpha: Any, beta: Any, is_mass: bool) -> Any:
    """Return the density at x, or the mass above it, for x of any sign. alpha: not 1."""
    x, alpha, beta = [part[..., None] for part in w.broadcast_tensors(x, alpha, beta)]
    is_left = w.as_tensor(detached(x) < 0)
    sign = w.where(is_left, -1.0, 1.0)
    x, skew = sign * x, sign * beta * w.tan(pi / 2 * alpha)
    exponent, turn = detached(alpha), np.arctan(detached(skew))
    angle = 0.5 * np.minimum(pi / 2, (pi / 2 - turn) / exponent)
    rise = np.sqrt(1 + detached(skew) ** 2) * np.cos(exponent * angle + turn)
    with np.errstate(divide="ignore"):
        length = np.minimum((_FARTHEST / rise) ** (1 / exponent), _FARTHEST / (detached(x) * np.sin(angle)))
    power = np.maximum(1.0, 1 / exponent)
    u, weights = _rule()
    logs = np.log(length) + power * np.log(u)
    radius, angle = w.as_tensor(np.exp(logs)), w.as_tensor(angle)
    cosine, sine = w.cos(alpha * angle), w.sin(alpha * angle)
    grown = w.exp(alpha * w.as_tensor(logs))
    size = w.as_tensor(power * weights / u) * w.exp(-grown * (cosine - skew * sine) - x * radius * w.sin(angle))
    phase = grown * (sine + skew * cosine) - x * radius * w.cos(angle)
    if not is_mass:
        return w.sum(radius * size * w.cos(phase - angle), -1) / pi
    above = 0.5 - (angle[..., 0] - w.sum(size * w.sin(phase), -1)) / pi
    return w.where(is_left[..., 0], 1 - above, above)


def _checked(method: str, x: Any, alpha: Any, beta: Any) -> Any:
    """Return SciPy's value with the derivatives of the integral. Raises ArgumentError where the integral has no digits."""
    x, alpha, beta = w.broadcast_tensors(x, alpha, beta)
    given = [detached(part) for part in (x, alpha, beta)]
    values = np.asarray(getattr(_theirs, method)(*given)).reshape(x.shape)
    if np.any(np.abs(given[1] - 1) < _NEAREST_TO_ONE):
        raise errors.ArgumentError(
            "scipy.stats.levy_stable has a derivative for |alpha - 1| >= 0.02. "
            "Hint: cauchy is the distribution for alpha = 1 and beta = 0."
        )
    if _theirs.parameterization == "S0":
        x = x + beta * w.tan(pi / 2 * alpha)
    found = _integral(x, alpha, beta, method == "sf")
    away = np.abs(detached(found) - values)
    allowed = np.where(np.abs(detached(x)) < _ROUNDED, 2e-2, _ACCURACY) * np.abs(values)
    if np.any(away > np.where(values == 0, _NOISE, allowed)):
        raise errors.ArgumentError(
            "scipy.stats.levy_stable has no accurate derivative in a tail that falls like a Gaussian one. "
            "Hint: detach what lies there."
        )
    return with_values(found, values)


def _no_entropy() -> Any:
    raise errors.no_array_of("a Tensor that is differentiated", "scipy.stats.levy_stable.entropy", "SciPy has no value of it.")


_family(
    "levy_stable",
    pdf=lambda x, alpha, beta: _checked("pdf", x, alpha, beta),
    sf=lambda x, alpha, beta: _checked("sf", x, alpha, beta),
    entropy=lambda alpha, beta: _no_entropy(),
    stats=lambda alpha, beta: (
        w.where(alpha > 1, 0.0, np.nan) + 0 * (alpha + beta), w.where(alpha == 2, 2.0, np.inf) + 0 * (alpha + beta),
    ),
)  # fmt: skip
