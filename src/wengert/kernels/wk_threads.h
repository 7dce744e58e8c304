/* Running a loop on several threads: a small pool of our own. See Note [Own threads] in wk_threads.c. */
#ifndef WK_THREADS_H
#define WK_THREADS_H
#include <stdint.h>

#if defined(__GNUC__)
#define WK_SEEN __attribute__((visibility("default"))) /* threadpoolctl knows the library by these */
#else
#define WK_SEEN
#endif

/* Calls body(ctx, begin, end) for ranges that together make [0, n), on several threads at once, and returns when all are done.
 *
 * Ranges begin at multiples of grain. Where they are cut depends on the number of threads and on chance: a body whose result
 * must not (a sum) takes n as a number of chunks that it cuts itself. body must not call Python, nor need its lock. A call
 * from inside a body, or while another thread of the program has the pool, runs on the calling thread alone. */
void wk_parallel_for(int64_t n, int64_t grain, void (*body)(void *ctx, int64_t begin, int64_t end), void *ctx);

/* How many threads a loop is spread over, the calling one included. At first: WENGERT_NUM_THREADS, else OMP_NUM_THREADS, else
 * the cores that this process may use. */
WK_SEEN int wk_get_num_threads(void);
WK_SEEN void wk_set_num_threads(int n);
#endif
