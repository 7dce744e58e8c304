/* Threads for kernels. */
#ifndef WK_THREADS_H
#define WK_THREADS_H
#include <stdint.h>

/* Runs body over the ranges of [0, n), of at least grain elements each but the last, on several threads where that pays.
 * The caller holds the GIL or not, as it likes: body must not need it. */
void wk_parallel_for(int64_t n, int64_t grain, void (*body)(void *context, int64_t begin, int64_t end), void *context);
int wk_get_num_threads(void);
void wk_set_num_threads(int n);
#endif
