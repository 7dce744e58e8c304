cimport cython

cdef class Traced:
    pass
