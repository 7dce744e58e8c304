cimport cython
from wengert.core.tensor cimport TensorBase, VersionCounter, counter_of, wrap

cdef extern from "wk_array.h":
    int wk_init_numpy() except -1
    bint same_strides(object x, object y)

@cython.locals(held=TensorBase, counter=VersionCounter)
cpdef accumulate(TensorBase leaf, object value, bint owned, object face, bint create_graph)
