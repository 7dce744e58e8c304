"""Function transforms: gradients, Jacobians, Jacobian products, vmap. All of them nest.

>>> import wengert
>>> from wengert.func import grad, jacfwd, vmap
>>> grad(lambda x: (x ** 3).sum())(wengert.tensor([1.0, 2.0]))
tensor([ 3., 12.])
>>> vmap(grad(lambda x: x ** 3))(wengert.tensor([1.0, 2.0]))
tensor([ 3., 12.])
"""

from wengert import errors as _errors
from wengert.autograd.transforms import (
    grad as grad,
    grad_and_value as grad_and_value,
    hessian as hessian,
    jacfwd as jacfwd,
    jacrev as jacrev,
    jvp as jvp,
    linearize as linearize,
    vjp as vjp,
)
from wengert.autograd.vmap import vmap as vmap

_OF_MODULES = ("functional_call", "stack_module_state")


def __getattr__(name: str) -> object:
    if name in _OF_MODULES:
        from wengert.nn import functional_call as of_modules  # loads nn.Module, which other transforms do not need

        return getattr(of_modules, name)
    raise _errors.no_such_name(__name__, name)


def __dir__() -> list[str]:
    return sorted({*_OF_MODULES, *[name for name in globals() if not name.startswith("_")]})
