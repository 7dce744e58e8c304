cimport cython
from wengert.core.tensor cimport TensorBase

cdef extern from "wk_override.h":
    bint wk_overriding() noexcept
    void wk_begin_overriding() noexcept

cdef long _modes_entered
cdef object _begin
cdef object _name_of
cdef object _plain_class

cpdef bint overriding() noexcept
cpdef bint has_override(object x) except -1
cpdef bint is_plain_tensor(object cls) except -1
cpdef list overriding_arguments(tuple args, dict kwargs)
cdef _collect(list found, object x)
@cython.locals(place=Py_ssize_t, i=Py_ssize_t)
cdef _insert(list found, object x)
@cython.locals(found=list, modes=list)
cpdef object override(object function, tuple args, dict kwargs, object relevant=*)
cpdef object hand_over(object function, tuple args, dict kwargs, list found, list modes)
cpdef object override_operator(object function, tuple args)
cpdef bint is_foreign(object x) except -1
cpdef bint has_foreign(tuple args, dict kwargs) except -1
cpdef object override_foreign(object function, tuple args, dict kwargs)
