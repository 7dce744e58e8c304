"""The core of HIPS autograd by its names: make_vjp and make_jvp of functions of one argument, vector spaces, rules."""

from wengert.hips.primitives import (
    JVPNode as JVPNode,
    SparseObject as SparseObject,
    VJPNode as VJPNode,
    def_linear as def_linear,
    defjvp as defjvp,
    defjvp_argnum as defjvp_argnum,
    defjvp_argnums as defjvp_argnums,
    defvjp as defvjp,
    defvjp_argnum as defvjp_argnum,
    defvjp_argnums as defvjp_argnums,
    primitive as primitive,
    primitive_jvps as primitive_jvps,
    primitive_vjps as primitive_vjps,
)
from wengert.hips.tape import make_jvp as make_jvp, make_vjp as make_vjp
from wengert.hips.vspaces import VSpace as VSpace, vspace as vspace

primitive_with_deprecation_warnings = primitive
