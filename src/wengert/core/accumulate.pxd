cimport cython
from wengert.core.modes cimport quiet_enter, quiet_exit
from wengert.core.tensor cimport TensorBase, VersionCounter, counter_of, wrap

cdef extern from "wk_array.h":
    int wk_init_numpy() except -1
    bint same_strides(object x, object y)

cpdef accumulate(TensorBase leaf, object value, bint owned, object face, bint create_graph)
cdef add_tensor(TensorBase leaf, object value, object face)
@cython.locals(held=TensorBase, counter=VersionCounter)
cdef add_array(TensorBase leaf, object value, bint owned, object face)
