cimport cython

cdef extern from "wk_collector.h":
    ctypedef struct wk_link:
        pass
    int WK_TENSOR, WK_NODE, WK_VIEW
    void wk_spare(object x, wk_link *link, int kind) noexcept
    void wk_forget(wk_link *link) noexcept
    bint wk_may_cycle(object value) noexcept
    bint wk_is_own_attribute(object x, object name, object cls) except -1
    int wk_set_attribute(object x, object name, object value) except -1
    void *wk_new_spared() noexcept
    void wk_share_spared(void *spared) noexcept
    void wk_reveal() noexcept
    void wk_count_attachment(int change) noexcept

cdef void *_spared

cdef void *spared_lists() noexcept
cpdef count_attachment(int change)
