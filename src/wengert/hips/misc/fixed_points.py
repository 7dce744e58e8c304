"""fixed_point: iterate a function to its fixed point, and differentiate the point in what the function depends on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.hips.primitives import defvjp, primitive
from wengert.hips.tape import make_vjp
from wengert.hips.vspaces import vspace


@primitive
def fixed_point(f: Callable[[Any], Any], a: Any, x0: Any, distance: Callable[[Any, Any], Any], tol: float) -> Any:
    """Return x with x = f(a)(x), found by iteration from x0 until distance(x, previous x) <= tol.

    Derivative in a, by the implicit function theorem: the cotangent of x solves a fixed-point equation too, which is iterated with
    the same distance and tol. The derivative in x0 is zero.
    """
    step = f(a)
    x, previous = step(x0), x0
    while distance(x, previous) > tol:
        x, previous = step(x), x
    return x


def _fixed_point_vjp(ans: Any, f: Any, a: Any, x0: Any, distance: Any, tol: Any) -> Callable[[Any], Any]:
    pull_to_a, _ = make_vjp(lambda b: f(b)(ans), a)

    def adjoint(params: Any) -> Callable[[Any], Any]:
        b, x, cotangent = params
        pull_to_x, _ = make_vjp(f(b), x)
        space = vspace(x)
        return lambda ct: space.add(pull_to_x(ct), cotangent)

    return lambda g: pull_to_a(fixed_point(adjoint, (a, ans, g), vspace(x0).zeros(), distance, tol))


defvjp(fixed_point, None, _fixed_point_vjp, None)
