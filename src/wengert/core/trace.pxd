cimport cython

cdef class Traced:
    cdef public object tracer
    cdef public object function
    cdef public tuple inputs
    cdef public dict params
    cdef public object name
    cdef public bint is_inspected
