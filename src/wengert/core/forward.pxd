cimport cython
from wengert.core.modes cimport quiet_enter, quiet_exit
from wengert.core.op cimport Op

cdef extern from "wk_array.h":
    int wk_init_numpy() except -1
    object as_array(object x)
    bint is_ndarray(object x)
    bint is_inexact(object x)
    bint is_complex(object x)

cdef extern from "wk_native.h":
    int wk_init_native() except -1
    object wk_apply2(int kernel, object x, object y)
    object wk_apply_list(int kernel, list operands)
    bint wk_is_whole(int kernel)

cdef int NONE
cdef int SAME

cdef object _load_explainers

cpdef set_explainers(object load)
cpdef set_kernel(Op op)
cpdef raise_explained(Op op, tuple args, dict kwargs, object error)
cpdef raise_explained_function(str name, object fn, int skip, tuple args, dict kwargs, object error)
cpdef object run_numpy1(Op op, object array)
cpdef object run_numpy2(Op op, object a, object b)
cpdef object run_whole(Op op, object x, object y)
@cython.locals(operands=list)
cpdef object run_compiled(Op op, list arrays, dict params)
cpdef object run_numpy(Op op, list arrays, dict params)
cdef bint is_narrow(Op op, object array) except -1
cpdef object constant(Op op, object x, int position)
cdef list promote_pair(Op op, object a, object b)
@cython.locals(result=list)
cpdef list promote(Op op, list arrays)
cpdef refuse_complex(Op op, object array)
