cimport cython
from wengert.core.tensor cimport TensorBase, VersionCounter, counter_of, wrap

cdef extern from "wk_array.h":
    int wk_init_numpy() except -1

cdef extern from "wk_replay.h":
    bint same_layout(object x, object y)
    Py_ssize_t first_filled(object containers)
    bint still_holds(object container, object keys, object values, bint by_name)

@cython.locals(i=Py_ssize_t, tensor=TensorBase)
cpdef bint fits(tuple arguments, list patterns) except -1
@cython.locals(i=Py_ssize_t, entry=tuple)
cpdef Py_ssize_t first_changed(list entries, Py_ssize_t start) except -2
cpdef Py_ssize_t number_of_filled(list containers) except -2
@cython.locals(kind=long, tensor=TensorBase)
cpdef object owner_of(tuple owner, list inputs)
cpdef object leaf_of(object key, list inputs)
@cython.locals(i=Py_ssize_t, tensor=TensorBase)
cpdef Py_ssize_t first_moved(list owners, list inputs, list arrays, Py_ssize_t start) except -2
@cython.locals(i=Py_ssize_t, tensor=TensorBase)
cpdef bint have_grads(list leaves, list inputs, list are_none) except -1
@cython.locals(i=Py_ssize_t, counter=VersionCounter)
cpdef count_writes(list owners, list inputs, list counts)
cpdef object wrapped(list slots, object number, dict made)
@cython.locals(i=Py_ssize_t, tensor=TensorBase)
cpdef set_grads(list leaves, list inputs, list numbers, list slots, dict made)
@cython.locals(i=Py_ssize_t, tensor=TensorBase)
cpdef bint have_hooks(list leaves, list inputs) except -1
