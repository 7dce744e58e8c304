cimport cython

# For modes alone: see the head of wk_tls.h.
cdef extern from "wk_tls.h":
    long wk_flags() noexcept
    void wk_set_flags(long flags) noexcept
    void wk_set_observed(long bits) noexcept
    long wk_observed() noexcept
    void wk_set_unobserved(int change) noexcept
    object wk_task()
    void wk_set_task(object task) noexcept
    bint wk_has_quiet() noexcept
    int wk_add_quiet(object context) except -1
    int wk_quiet_enter() except -1
    int wk_quiet_exit() except -1

cpdef long flags() noexcept
cpdef void set_flags(long value) noexcept
cpdef bint grad_enabled() noexcept
cpdef void set_unobserved(int change) noexcept
cpdef object current_task()
cpdef void set_current_task(object task) noexcept
cpdef int quiet_enter() except -1
cpdef int quiet_exit() except -1
