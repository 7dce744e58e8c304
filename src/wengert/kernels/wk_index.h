/* Note [Indices are checked at use]
 * Kernels check an array of indices before they write anything. Then they let go of Python's lock, and another thread may write into
 * the array. So each index is checked again when it is used. It is read once, hence `volatile`: a compiler could otherwise read it
 * again after the check. An index that went out of range since the first check counts as 0. The result of such a race is then wrong,
 * but no memory outside the arrays is touched.
 */
#ifndef WK_INDEX_H
#define WK_INDEX_H
#include <stdint.h>

static inline int64_t wk_read_index(const int64_t *at) { return *(const volatile int64_t *)at; }

/* The index at `at`, 0 <= index < size. size > 0. */
static inline int64_t wk_index(const int64_t *at, int64_t size) {
    int64_t index = wk_read_index(at);
    return (uint64_t)index < (uint64_t)size ? index : 0;
}

/* As wk_index, but a negative index counts from the end. */
static inline int64_t wk_index_from_end(const int64_t *at, int64_t size) {
    int64_t index = wk_read_index(at);
    index += size & index >> 63;
    return (uint64_t)index < (uint64_t)size ? index : 0;
}
#endif
