"""HIPS autograd's functions on wengert's tape: programs written for `autograd` run after a change of their import lines.

>>> import wengert.hips.numpy as np
>>> from wengert.hips import grad
>>> grad(lambda x: np.sum(np.sin(x) ** 2))(np.array([0.0, 1.0]))
array([0.        , 0.90929743])

`python -m wengert run --hips program.py` runs such programs unchanged. docs/from-hips.md says what differs.
"""

from wengert.hips.builtins import (
    dict as dict,
    isinstance as isinstance,
    list as list,
    tuple as tuple,
    type as type,
)
from wengert.hips.core import primitive as primitive
from wengert.hips.differential_operators import (
    checkpoint as checkpoint,
    deriv as deriv,
    elementwise_grad as elementwise_grad,
    grad as grad,
    grad_and_aux as grad_and_aux,
    grad_named as grad_named,
    hessian as hessian,
    hessian_tensor_product as hessian_tensor_product,
    hessian_vector_product as hessian_vector_product,
    holomorphic_grad as holomorphic_grad,
    jacobian as jacobian,
    make_ggnvp as make_ggnvp,
    make_hvp as make_hvp,
    make_jvp as make_jvp,
    make_vjp as make_vjp,
    multigrad_dict as multigrad_dict,
    tensor_jacobian_product as tensor_jacobian_product,
    value_and_grad as value_and_grad,
    vector_jacobian_product as vector_jacobian_product,
)
