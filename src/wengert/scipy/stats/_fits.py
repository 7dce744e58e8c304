"""Maximum likelihood estimates of SciPy's distributions, which differentiate in the sample."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.array_functions.table import detached, linalg, w
from wengert.autograd.grad_mode import enable_grad
from wengert.scipy._closures import implicit, jacobian, with_values
from wengert.scipy._parameters import slope_at

_STEPS = 12
_NEAR = 0.05  # how far SciPy's optimizer may stop before the maximum, relative to the parameters


def fit(dist: Any, data: Any, args: Any, kwds: Any) -> tuple[Any, ...]:
    """Return (*shapes, loc, scale), SciPy's values with the derivative of the place where the slope of the likelihood vanishes.

    Raises NotImplementedError for another method, and if the maximum lies elsewhere: at the smallest element, for example."""
    if str(kwds.get("method", "mle")).lower() != "mle":
        raise NotImplementedError("The fit of moments has no derivative. Hint: leave out method=.")
    settings = {name: detached(x) for name, x in kwds.items()}
    theta = np.asarray(dist.theirs.fit(detached(data), *detached(args), **settings), np.float64)
    shapes = dist.theirs.shapes.split(", ") if dist.theirs.shapes else []
    fixed = [{f"f{i}", f"f{name}", f"fix_{name}"} for i, name in enumerate(shapes)] + [{"floc"}, {"fscale"}]
    free = np.flatnonzero([not any(kwds.get(name) is not None for name in names) for names in fixed])

    def likelihood(place: Any) -> Any:
        values = [w.as_tensor(x) for x in theta]
        for i, k in enumerate(free):
            values[k] = place[i]
        return w.sum(dist.logpdf(data, *values[:-2], loc=values[-2], scale=values[-1]))

    def slope(place: Any) -> Any:
        return slope_at(likelihood, place, [data])

    maximum = _newton(slope, theta[free])
    if maximum is None or np.any(np.abs(maximum - theta[free]) > _NEAR * np.max(np.abs(theta))):
        raise NotImplementedError(
            f"scipy.stats.{dist.theirs.name}.fit has no derivative: the likelihood has no smooth maximum at its estimate. "
            "Hint: fix loc and scale with floc= and fscale=."
        )
    found = with_values(implicit(slope, maximum), theta[free])
    result: list[Any] = list(map(w.as_tensor, theta))
    for i, k in enumerate(free):
        result[k] = found[i]
    return tuple(result)


def _newton(slope: Any, place: Any) -> Any:
    """Return the zero of a slope that Newton's method finds, an array, or None."""
    for _ in range(_STEPS):
        x = w.as_tensor(place).requires_grad_()
        with enable_grad():
            found = slope(x)
        bend = jacobian(found, x).detach()
        if not np.isfinite(detached(bend)).all() or not np.isfinite(detached(found)).all():
            return None
        step = detached(linalg.solve(bend, found.detach()))
        place = place - step
        if np.max(np.abs(step)) < 1e-10 * (1 + np.max(np.abs(place))):
            return place
    return None
