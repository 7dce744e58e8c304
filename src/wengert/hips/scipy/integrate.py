"""scipy.integrate for differentiated functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.hips.boxes import boxed
from wengert.hips.scipy._doors import namespace as _namespace
from wengert.scipy import integrate as _integrate

__getattr__, __dir__ = _namespace(_integrate, globals())


def odeint(func: Callable[..., Any], y0: Any, t: Any, func_args: tuple[Any, ...] = (), **kwargs: Any) -> Any:
    """Solve dy/dt = func(y, t, *func_args) at the places t, as scipy.integrate.odeint. Returns y: (points, n).

    Derivatives in y0, t, func_args, and what func closes over: those of the steps that the solver takes."""
    args = kwargs.pop("args", func_args)

    def right_side(y: Any, time: Any, *given: Any) -> Any:
        return func(boxed(y), boxed(time), *given)

    return boxed(_integrate.odeint(right_side, y0, t, args=tuple(args), **kwargs))
