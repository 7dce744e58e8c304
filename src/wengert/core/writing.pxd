cimport cython
from wengert.core.binding cimport bind
from wengert.core.forward cimport raise_explained, set_kernel
from wengert.core.modes cimport flags
from wengert.core.op cimport Op
from wengert.core.override cimport has_foreign, override, override_foreign, override_operator
from wengert.core.saved cimport is_watched
from wengert.core.tensor cimport TensorBase, refresh_view
from wengert.core.views cimport bump, call_inplace

cdef extern from "wk_override.h":
    bint wk_overriding() noexcept

cdef extern from "wk_array.h":
    int wk_init_numpy() except -1
    bint is_ndarray(object x)
    bint fill_floats(object x, object value) except -1

cdef extern from "wk_native.h":
    int wk_init_native() except -1
    bint wk_is_whole(int kernel)
    object wk_apply2(int kernel, object x, object y)
    bint wk_apply_into(int kernel, list operands, object out) except -1

cdef long DUAL
cdef long NO_GRAD
cdef long OBSERVED
cdef int IS_INFERENCE
cdef int IS_VOLATILE
cdef dict _kernels

cpdef object write(Op op, tuple inputs, object params)
@cython.locals(target=TensorBase, other=TensorBase, operands=list, recording=bint, i=Py_ssize_t)
cpdef bint write_at_once(Op op, tuple inputs, object params) except -1
@cython.locals(mode=long)
cdef bint is_writable(TensorBase target) except -1
@cython.locals(plain=bint)
cdef bint apply_into(Op op, list operands, dict params, object array) except -1
cdef int _kernel_of(str role) except -2
cpdef bint fill_at_once(TensorBase target, object value) except -1
