cimport cython

cdef extern from "wk_collector.h":
    void *wk_new_aside()
    void wk_share_aside(void *aside)
    int wk_reveal() except -1

cdef long hooked
cdef void *_list

cdef void *aside_list() noexcept
cpdef count_hooked(long change)
