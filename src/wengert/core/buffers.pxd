cimport cython

cdef extern from "wk_array.h":
    int wk_init_numpy() except -1
    bint is_ndarray(object x)
    bint is_complex(object x)

cdef class InputBuffer:
    cdef public object task
    cdef public Py_ssize_t dependencies
    cdef public bint needed
    cdef public object cotangent
    cdef public bint owned
    cdef public dict others
    cdef public list captures
    cdef public object untaken

cdef class ReadCotangent:
    cdef public object value
    cdef public object index
    cdef public bint repeats

cpdef object cotangent_of(InputBuffer buffer, Py_ssize_t nr)
cpdef set_cotangent(InputBuffer buffer, Py_ssize_t nr, object value)
cpdef object dense_of(ReadCotangent read, tuple shape, object dtype, object face)
cpdef object conj_of(object x)
