cimport cython
from wengert.core.modes cimport quiet_enter, quiet_exit
from wengert.core.tensor cimport TensorBase, VersionCounter, attach, counter_of, wrap

cdef extern from "wk_array.h":
    int wk_init_numpy() except -1
    bint same_strides(object x, object y)

cdef extern from "wk_native.h":
    int wk_init_native() except -1
    bint wk_add_into(object x, object y) except -1

cpdef accumulate(TensorBase leaf, object value, bint owned, object face, bint create_graph)
cdef add_tensor(TensorBase leaf, object value, object face)
@cython.locals(held=TensorBase, counter=VersionCounter, lies_alike=bint)
cdef add_array(TensorBase leaf, object value, bint owned, object face)
