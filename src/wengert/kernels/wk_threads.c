/* One thread: stands in for the pool. */
#include "wk_threads.h"

void wk_parallel_for(int64_t n, int64_t grain, void (*body)(void *context, int64_t begin, int64_t end), void *context) {
    (void)grain;
    if (n > 0) body(context, 0, n);
}

int wk_get_num_threads(void) { return 1; }
void wk_set_num_threads(int n) { (void)n; }
