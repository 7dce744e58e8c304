"""Function transforms: gradients, Jacobians, Jacobian products, vmap. All of them nest.

>>> import wengert
>>> from wengert.func import grad, jacfwd, vmap
>>> grad(lambda x: (x ** 3).sum())(wengert.tensor([1.0, 2.0]))
tensor([ 3., 12.])
>>> vmap(grad(lambda x: x ** 3))(wengert.tensor([1.0, 2.0]))
tensor([ 3., 12.])
"""

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
