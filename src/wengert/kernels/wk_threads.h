/* Runs a loop on several threads of a small pool. See Note [Own threads] in wk_threads.c. */
#ifndef WK_THREADS_H
#define WK_THREADS_H
#include <stdint.h>

#if defined(__GNUC__)
#define WK_SEEN __attribute__((visibility("default"))) /* threadpoolctl recognises the library by these symbols */
#else
#define WK_SEEN
#endif

/* Call body(ctx, begin, end) for ranges that together cover [0, n), on several threads at once. Returns when all ranges are done, or
 * earlier if wk_answer_signals() says so.
 *
 * Ranges begin at multiples of grain. Their limits depend on the number of threads and on chance. If a result must not depend on
 * them, such as a sum, n is a number of chunks that body splits by itself. body must not call Python or need its lock. A call from
 * inside a body, or while another thread of the program uses the pool, runs on the calling thread alone.
 */
void wk_parallel_for(int64_t n, int64_t grain, void (*body)(void *ctx, int64_t begin, int64_t end), void *ctx);

/* Number of threads of a loop, including the calling one. It starts as WENGERT_NUM_THREADS, else OMP_NUM_THREADS, else the number
 * of cores that this process may use. */
WK_SEEN int wk_get_num_threads(void);
WK_SEEN void wk_set_num_threads(int n);

/* Time on a clock that only runs forward. */
int64_t wk_nanoseconds(void);

/* Let each forked child start with free locks and without workers. Called once, before the first loop. */
void wk_survive_forks(void);
#endif
