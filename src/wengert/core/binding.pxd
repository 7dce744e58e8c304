cimport cython
from wengert.core.dispatch cimport call, call1, call2
from wengert.core.forward cimport raise_explained, raise_explained_function
from wengert.core.op cimport Op
from wengert.core.override cimport has_foreign, is_foreign, override, override_foreign, override_operator
from wengert.core.tensor cimport TensorBase

cdef extern from "wk_override.h":
    bint wk_overriding() noexcept

cdef extern from "wk_array.h":
    int wk_init_numpy() except -1
    bint is_row_major(object x)

cdef bint is_operand(object x) except -1
@cython.locals(n_inputs=int, n_args=int, i=int, inputs=list, params=dict, positional=tuple)
cpdef tuple bind(Op op, tuple args, dict kwargs)
cdef bint are_ints(tuple args, Py_ssize_t first) except -1
cdef bint are_complete(Op op, dict kwargs) except -1
cdef object pop_input(Op op, str name, dict kwargs)
