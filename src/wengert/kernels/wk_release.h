/* Loops that let other Python threads run, and that Ctrl-C ends. */
#ifndef WK_RELEASE_H
#define WK_RELEASE_H
#include <stdint.h>

#if defined(__GNUC__)
#define WK_CHECKED __attribute__((warn_unused_result))
#else
#define WK_CHECKED
#endif

/* Note [Ctrl-C in kernels]
 * Python runs the handlers of signals in its main thread, which must hold Python's lock. While a kernel runs there, nothing would
 * see a signal. wk_parallel_for therefore runs pieces of about a millisecond, and calls wk_answer_signals() between them. Every 50
 * milliseconds, in the main thread alone, it takes the lock and runs the handlers that wait. If one raises an exception, such as
 * KeyboardInterrupt, no further piece begins, in this loop and in later loops of the released part, and wk_reacquire() returns -1
 * with the exception set. The caller drops its output. What it wrote into memory of the user stays half written.
 *
 * Only loops that run without Python's lock are interrupted: their callers expect other Python code to run meanwhile.
 */

/* Let other Python threads run from here on, if releases is not 0. wk_reacquire() ends the released part. */
void wk_release(int releases);

/* Take Python's lock again if wk_release() gave it up. Return 0, or -1 with an exception set if a handler of a signal raised one:
 * then the results of the loops since wk_release() are not complete. */
WK_CHECKED int wk_reacquire(void);

/* Whether a loop of this thread looks for signals: it runs in a released part, in the main thread. */
int wk_hears_signals(void);

/* Whether such a loop is to end early. Runs the handlers of signals if it is time to. now: wk_nanoseconds(). */
int wk_answer_signals(int64_t now);

/* Run a loop as wk_parallel_for does, between wk_release(releases) and wk_reacquire(). */
WK_CHECKED int wk_run_loop(int releases, int64_t n, int64_t grain, void (*body)(void *ctx, int64_t begin, int64_t end), void *ctx);

/* Remember the main thread of Python. Return 0, or -1 with an exception set. */
WK_CHECKED int wk_find_main_thread(void);
#endif
