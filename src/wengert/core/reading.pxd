cimport cython
from wengert.core.dispatch cimport call_read
from wengert.core.op cimport Op
from wengert.core.tensor cimport TensorBase

cdef Op _select
cdef object _getitem

cdef class ReadableBase(TensorBase):
    pass
