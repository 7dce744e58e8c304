"""check_grads compares derivatives with finite differences along random directions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from wengert.hips.tape import make_jvp, make_vjp
from wengert.hips.vspaces import vspace
from wengert.hips.wrap_util import get_name, unary_to_nary

TOL = RTOL = EPS = 1e-6


def scalar_close(a: Any, b: Any) -> bool:
    """Whether two numbers agree to TOL, or to RTOL of their sum."""
    return bool(abs(a - b) < TOL or abs(a - b) / abs(a + b) < RTOL)


def make_numerical_jvp(f: Callable[[Any], Any], x: Any) -> Callable[[Any], Any]:
    """Return a function that gives the derivative of f at x along v, by central differences of width EPS."""
    space, result = vspace(x), vspace(f(x))

    def jvp(v: Any) -> Any:
        above, below = [f(space.add(x, space.scalar_mul(v, step))) for step in (EPS / 2, -EPS / 2)]
        return result.scalar_mul(result.add(above, result.scalar_mul(below, -1.0)), 1.0 / EPS)

    return jvp


def check_vjp(f: Callable[[Any], Any], x: Any) -> None:
    """Check the reverse-mode derivative of f at x. Raises AssertionError if it differs."""
    vjp, y = make_vjp(f, x)
    given, result = vspace(x), vspace(y)
    v, ct = given.randn(), result.randn()
    pulled = given.covector(vjp(result.covector(ct)))
    assert vspace(pulled) == given
    exact = given.inner_prod(v, pulled)
    numeric = result.inner_prod(ct, make_numerical_jvp(f, x)(v))
    assert scalar_close(numeric, exact), (
        f"Derivative (VJP) check of {get_name(f)} failed with arg {x}:\nanalytic: {exact}\nnumeric:  {numeric}"
    )


def check_jvp(f: Callable[[Any], Any], x: Any) -> None:
    """Check the forward-mode derivative of f at x. Raises AssertionError if it differs."""
    v = vspace(x).randn()
    check_equivalent(make_jvp(f, x)(v)[1], make_numerical_jvp(f, x)(v))


def check_equivalent(x: Any, y: Any) -> None:
    """Check that x and y are of one vector space, and agree along a random direction."""
    spaces = vspace(x), vspace(y)
    assert spaces[0] == spaces[1], f"VSpace mismatch:\nx: {spaces[0]}\ny: {spaces[1]}"
    v = spaces[0].randn()
    assert scalar_close(spaces[0].inner_prod(x, v), spaces[0].inner_prod(y, v)), f"Value mismatch:\nx: {x}\ny: {y}"


@unary_to_nary
def check_grads(f: Any, x: Any, modes: Sequence[str] = ("fwd", "rev"), order: int = 2) -> None:
    """Check the derivatives of f up to an order by finite differences. modes: "fwd" and "rev". Raises AssertionError."""
    assert all(mode in ("fwd", "rev") for mode in modes)
    derivatives: dict[str, tuple[Any, Any, Any]] = {
        "fwd": (check_jvp, lambda x, v: make_jvp(f, x)(v)[1], lambda: vspace(x).randn()),
        "rev": (check_vjp, lambda x, v: make_vjp(f, x)[0](v), lambda: vspace(f(x)).randn()),
    }
    for mode, (check, derivative, direction) in derivatives.items():
        if mode in modes:
            check(f, x)
            if order > 1:
                derivative.__name__ = f"{'jvp' if mode == 'fwd' else 'vjp'}_{get_name(f)}"
                check_grads(derivative, (0, 1), modes, order=order - 1)(x, direction())


def combo_check(fun: Any, *args: Any, **kwargs: Any) -> Callable[..., None]:
    """Return a function that runs check_grads(fun, *args, **kwargs) on all combinations of arguments. It takes lists of them."""

    def check(*given: Any, **named: Any) -> None:
        for values in product(*given):
            for settings in product(*named.values()):
                check_grads(fun, *args, **kwargs)(*values, **dict(zip(named, settings, strict=True)))

    return check
