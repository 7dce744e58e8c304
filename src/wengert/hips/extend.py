"""What programs extend differentiation with: functions with rules of their own, and values of their own."""

from wengert.hips.boxes import Box as Box
from wengert.hips.core import (
    JVPNode as JVPNode,
    SparseObject as SparseObject,
    VJPNode as VJPNode,
    VSpace as VSpace,
    def_linear as def_linear,
    defjvp as defjvp,
    defjvp_argnum as defjvp_argnum,
    defjvp_argnums as defjvp_argnums,
    defvjp as defvjp,
    defvjp_argnum as defvjp_argnum,
    defvjp_argnums as defvjp_argnums,
    primitive as primitive,
    vspace as vspace,
)
from wengert.hips.tracer import notrace_primitive as notrace_primitive, register_notrace as register_notrace
