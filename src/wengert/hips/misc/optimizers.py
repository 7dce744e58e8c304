"""sgd, rmsprop and adam on nested containers: each takes grad(x, i), the gradient at x in iteration i, and a starting point.

callback(x, i, gradient), if given, is called before each step. The steps can be differentiated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.hips.doors import door
from wengert.hips.misc.flatten import flatten
from wengert.hips.wrap_util import wraps


def unflatten_optimizer(optimize: Callable[..., Any]) -> Callable[..., Any]:
    """Return an optimizer of vectors as one of nested containers."""

    @wraps(optimize)
    def run(grad: Callable[..., Any], x0: Any, callback: Any = None, *args: Any, **kwargs: Any) -> Any:
        start, unflatten = flatten(x0)

        def report(x: Any, i: int, g: Any) -> None:
            callback(unflatten(x), i, unflatten(g))

        found = optimize(lambda x, i: flatten(grad(unflatten(x), i))[0], start, report if callback else None, *args, **kwargs)
        return unflatten(found)

    return run


@unflatten_optimizer
def sgd(grad: Any, x: Any, callback: Any = None, num_iters: int = 200, step_size: float = 0.1, mass: float = 0.9) -> Any:
    """Return x after steps of gradient descent with momentum: v = mass * v - (1 - mass) * g; x = x + step_size * v."""
    velocity: Any = np.zeros(len(x))
    for i in range(num_iters):
        g = grad(x, i)
        if callback:
            callback(x, i, g)
        velocity = mass * velocity - (1.0 - mass) * g
        x = x + step_size * velocity
    return x


@unflatten_optimizer
def rmsprop(
    grad: Any, x: Any, callback: Any = None, num_iters: int = 100, step_size: float = 0.1, gamma: float = 0.9, eps: float = 1e-8
) -> Any:
    """Return x after steps of RMSprop: g is divided by the root of the running mean of g**2, which begins at 1, plus eps."""
    mean_square: Any = np.ones(len(x))
    for i in range(num_iters):
        g = grad(x, i)
        if callback:
            callback(x, i, g)
        mean_square = gamma * mean_square + (1 - gamma) * g**2
        x = x - step_size * g / (door(np.sqrt)(mean_square) + eps)
    return x


@unflatten_optimizer
def adam(
    grad: Any,
    x: Any,
    callback: Any = None,
    num_iters: int = 100,
    step_size: float = 0.001,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
) -> Any:
    """Return x after steps of Adam (Kingma and Ba 2015): running means of g and g**2, corrected for their start at 0."""
    mean: Any = np.zeros(len(x))
    mean_square: Any = np.zeros(len(x))
    for i in range(num_iters):
        g = grad(x, i)
        if callback:
            callback(x, i, g)
        mean = b1 * mean + (1 - b1) * g
        mean_square = b2 * mean_square + (1 - b2) * g**2
        scale = door(np.sqrt)(mean_square / (1 - b2 ** (i + 1))) + eps
        x = x - step_size * (mean / (1 - b1 ** (i + 1))) / scale
    return x
