"""Values under differentiation and in traces: isbox, getval, Box; trace and Node for traces of the program's own."""

from wengert.hips.boxes import Box as Box, value_of as getval  # noqa: F401
from wengert.hips.primitives import (
    is_box as isbox,  # noqa: F401
    notrace_primitive as notrace_primitive,
    primitive as primitive,
    register_notrace as register_notrace,
)
from wengert.hips.traces import Node as Node, trace as trace
from wengert.hips.util import toposort as toposort
