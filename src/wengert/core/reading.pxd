cimport cython
from wengert.core.dispatch cimport call_read
from wengert.core.op cimport Op
from wengert.core.override cimport override
from wengert.core.tensor cimport TensorBase

cdef extern from "wk_override.h":
    bint wk_overriding() noexcept

cdef extern from "wk_array.h":
    int wk_init_numpy() except -1
    object row_of(object x, object index)

cdef Op _select
cdef object _getitem

cpdef tuple rows(object array)

cdef class ReadableBase(TensorBase):
    pass
