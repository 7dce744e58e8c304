/* Note [Own threads]
 * The usual run-time library of OpenMP hangs in a child that was forked after a parallel region. It also competes with BLAS for the
 * cores. Loops therefore run on a pool of our own. It runs one loop at a time, on workers that start when first needed and are
 * never joined.
 *
 * - The caller works too. A thread that finds the pool taken (another Python thread, or a body that calls back) runs its loop
 *   alone.
 * - Each thread has its own range. It is the same part of the arrays in each call, as this part may still be in its core's cache. A
 *   thread takes its range in pieces. When the range is done, it takes pieces of other ranges, whose cores may be busy with
 *   something else.
 * - A worker joins a loop only while the loop is open. The caller closes the loop when no pieces are left, and waits only for the
 *   workers inside. It never waits for a worker that has yet to wake.
 * - A worker without work spins for 30 microseconds, as loops tend to follow each other. Up to ten times as long it watches while
 *   it offers its core to others, such as the threads of BLAS. Then it sleeps. Waking a thread takes longer than most loops.
 * - A forked child has no workers. It forgets those of its parent and starts its own.
 * - Between two pieces, the caller looks for signals: see Note [Ctrl-C in kernels] in wk_release.h.
 * - Workers take no signals, hold no Python objects, and die with the process. Nothing waits for them at exit.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "wk_threads.h"

#include <stdlib.h>
#include <time.h>

#include "wk_release.h"

enum { PIECE_NANOSECONDS = 1000000 }; /* about how long a piece takes if signals are looked for between pieces */

int64_t wk_nanoseconds(void) {
    struct timespec t;
#ifdef CLOCK_MONOTONIC
    clock_gettime(CLOCK_MONOTONIC, &t);
#else
    timespec_get(&t, TIME_UTC);
#endif
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Return the length of the next piece, at most `most`, given that the last one, which began at *now, had the length `piece`. Set *now
 * to the time. */
static int64_t next_piece(int64_t piece, int64_t most, int64_t *now) {
    int64_t began = *now, took = (*now = wk_nanoseconds()) - began;
    if (took > 2 * PIECE_NANOSECONDS) return piece > 1 ? piece / 2 : 1;
    if (took > PIECE_NANOSECONDS / 2) return piece;
    return 2 * piece < most ? 2 * piece : most;
}

/* Run a loop on the calling thread. */
static void run_alone(int64_t n, int64_t grain, void (*body)(void *, int64_t, int64_t), void *ctx) {
    if (!wk_hears_signals()) {
        body(ctx, 0, n);
        return;
    }
    int64_t now = wk_nanoseconds(), units = (n - 1) / grain + 1, piece = 1;
    for (int64_t first = 0; first < units && !wk_answer_signals(now);) {
        int64_t last = piece < units - first ? first + piece : units;
        body(ctx, first * grain, last < units ? last * grain : n);
        first = last;
        piece = next_piece(piece, units, &now);
    }
}

#if defined(_WIN32) || defined(__EMSCRIPTEN__)
/* Without POSIX threads, loops run on the calling thread. */
void wk_parallel_for(int64_t n, int64_t grain, void (*body)(void *, int64_t, int64_t), void *ctx) {
    if (n > 0) run_alone(n, grain < 1 ? 1 : grain, body, ctx);
}
int wk_get_num_threads(void) { return 1; }
void wk_set_num_threads(int n) { (void)n; }
void wk_survive_forks(void) {}
#else

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

#include "wk_machine.h"

enum {
    MAX_THREADS = 256,
    PIECES = 4,            /* number of pieces of a thread's range */
    SPIN_NANOSECONDS = 30000,   /* how long a worker without work spins on its core */
    WATCH_NANOSECONDS = 300000, /* how long it watches in all; after spinning, it offers the core to others */
    OPEN = 1 << 16,        /* bit of the gate: the loop accepts workers; lower bits: workers inside; higher bits: loop number */
};

typedef struct {
    _Alignas(128) atomic_llong next; /* 128: neighbouring cache lines are fetched in pairs */
    int64_t end;
} Range;

static struct {
    void (*body)(void *, int64_t, int64_t);
    void *ctx;
    int64_t n, grain, piece; /* piece and the ranges count units of grain */
    int threads;
    int hears_signals;
    atomic_int ended; /* a signal ended the loop: no further piece begins */
    Range ranges[MAX_THREADS];
} loop_;

static pthread_mutex_t loop_mutex_ = PTHREAD_MUTEX_INITIALIZER; /* held by the thread whose loop runs */
static pthread_mutex_t sleep_mutex_ = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake_condition_ = PTHREAD_COND_INITIALIZER;
static _Atomic uint64_t gate_;
static atomic_int sleepers_;
static atomic_int wanted_threads_; /* 0: not decided yet */
static int workers_;               /* number of workers started; guarded by loop_mutex_ */
static atomic_int usable_cores_;
static _Thread_local int inside_; /* a body is running on this thread */

static void pause_core(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* -- number of threads -------------------------------------------------------------------------------------------------------- */

static int threads_in_environment(const char *variable) {
    const char *text = getenv(variable);
    long n = text == NULL ? 0 : strtol(text, NULL, 10); /* the first of a list such as "4,2", one number per nesting level */
    return n < 1 ? 0 : n > MAX_THREADS ? MAX_THREADS : (int)n;
}

int wk_get_num_threads(void) {
    int n = atomic_load_explicit(&wanted_threads_, memory_order_relaxed);
    if (n > 0) return n;
    n = threads_in_environment("WENGERT_NUM_THREADS");
    if (n == 0) n = threads_in_environment("OMP_NUM_THREADS");
    if (n == 0) n = wk_usable_cores();
    wk_set_num_threads(n);
    return wk_get_num_threads();
}

void wk_set_num_threads(int n) {
    atomic_store(&usable_cores_, wk_usable_cores());
    atomic_store(&wanted_threads_, n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : n);
}

/* -- running a loop ----------------------------------------------------------------------------------------------------------- */

static void run_pieces(int self) {
    inside_ = 1;
    int threads = loop_.threads, hears_signals = loop_.hears_signals;
    int64_t piece = hears_signals ? 1 : loop_.piece, now = hears_signals ? wk_nanoseconds() : 0;
    for (int i = 0; i < threads; i++) {
        Range *range = &loop_.ranges[(self + i) % threads];
        while (!atomic_load_explicit(&loop_.ended, memory_order_relaxed)) {
            int64_t first = atomic_fetch_add_explicit(&range->next, piece, memory_order_relaxed);
            if (first >= range->end) break;
            int64_t last = first + piece < range->end ? first + piece : range->end;
            int64_t begin = first * loop_.grain, end = last * loop_.grain;
            loop_.body(loop_.ctx, begin, end < loop_.n ? end : loop_.n);
            if (!hears_signals) continue;
            piece = next_piece(piece, loop_.piece, &now);
            if (self == 0 && wk_answer_signals(now)) atomic_store_explicit(&loop_.ended, 1, memory_order_relaxed);
        }
    }
    inside_ = 0;
}

/* Wait until the gate shows an open loop other than the one just left. Stay awake first, then sleep. */
static void await_loop(uint64_t left) {
    if (wk_get_num_threads() <= atomic_load(&usable_cores_)) { /* otherwise a waiting worker would block another thread */
        int64_t start = wk_nanoseconds(), passed = 0;
        do {
            if (passed > SPIN_NANOSECONDS) sched_yield();
            for (int i = 0; i < 32; i++) {
                uint64_t gate = atomic_load_explicit(&gate_, memory_order_acquire);
                if ((gate & OPEN) && gate / OPEN != left) return;
                pause_core();
            }
            passed = wk_nanoseconds() - start;
        } while (passed < WATCH_NANOSECONDS);
    }
    pthread_mutex_lock(&sleep_mutex_);
    atomic_fetch_add(&sleepers_, 1);
    for (;;) {
        uint64_t gate = atomic_load(&gate_);
        if ((gate & OPEN) && gate / OPEN != left) break;
        pthread_cond_wait(&wake_condition_, &sleep_mutex_);
    }
    atomic_fetch_sub(&sleepers_, 1);
    pthread_mutex_unlock(&sleep_mutex_);
}

static void *worker_main(void *number) {
    int self = (int)(intptr_t)number;
    uint64_t left = 0;
    for (;;) {
        await_loop(left);
        uint64_t gate = atomic_load(&gate_);
        /* While a worker is counted in, loop_ does not change. */
        while ((gate & OPEN) && !atomic_compare_exchange_weak(&gate_, &gate, gate + 1)) {}
        if (!(gate & OPEN)) continue;
        left = gate / OPEN;
        if (self < loop_.threads) run_pieces(self);
        atomic_fetch_sub(&gate_, 1);
    }
    return NULL;
}

static void forget_workers(void) {
    pthread_mutex_init(&loop_mutex_, NULL);
    pthread_mutex_init(&sleep_mutex_, NULL);
    pthread_cond_init(&wake_condition_, NULL);
    atomic_store(&gate_, 0);
    atomic_store(&sleepers_, 0);
    workers_ = 0;
    inside_ = 0;
}

void wk_survive_forks(void) { pthread_atfork(NULL, NULL, forget_workers); }

/* Start workers until there are as many as the loop wants, or the system refuses more. Return the number of threads that work. */
static int start_workers(int threads) {
    if (workers_ >= threads - 1) return threads;
    sigset_t all, before;
    pthread_attr_t detached;
    sigfillset(&all);
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (workers_ < threads - 1) {
        pthread_t thread;
        if (pthread_create(&thread, &detached, worker_main, (void *)(intptr_t)(workers_ + 1)) != 0) break;
        workers_++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&detached);
    return workers_ + 1 < threads ? workers_ + 1 : threads;
}

static void open_loop(void) {
    uint64_t gate = atomic_load_explicit(&gate_, memory_order_relaxed);
    atomic_store(&gate_, (gate / OPEN | 1) * OPEN + 2 * OPEN); /* the next odd number, since OPEN is its lowest bit */
    if (atomic_load(&sleepers_) == 0) return;
    pthread_mutex_lock(&sleep_mutex_);
    pthread_cond_broadcast(&wake_condition_);
    pthread_mutex_unlock(&sleep_mutex_);
}

static void close_loop(void) {
    uint64_t inside = atomic_fetch_and(&gate_, ~(uint64_t)OPEN) & (OPEN - 1);
    for (int64_t i = 0; inside != 0; i++) {
        if (i < 20000) {
            pause_core();
        } else {
            sched_yield(); /* a worker inside has lost its core */
        }
        inside = atomic_load_explicit(&gate_, memory_order_acquire) & (OPEN - 1);
    }
}

void wk_parallel_for(int64_t n, int64_t grain, void (*body)(void *, int64_t, int64_t), void *ctx) {
    if (n <= 0) return;
    if (grain < 1) grain = 1;
    int64_t units = (n - 1) / grain + 1;
    int threads = wk_get_num_threads();
    if (threads > units) threads = (int)units;
    if (threads < 2 || inside_ || pthread_mutex_trylock(&loop_mutex_) != 0) {
        run_alone(n, grain, body, ctx);
        return;
    }
    threads = start_workers(threads);
    loop_.body = body;
    loop_.ctx = ctx;
    loop_.n = n;
    loop_.grain = grain;
    loop_.threads = threads;
    loop_.piece = units / ((int64_t)threads * PIECES) < 1 ? 1 : units / ((int64_t)threads * PIECES);
    loop_.hears_signals = wk_hears_signals();
    int ended = loop_.hears_signals && wk_answer_signals(wk_nanoseconds());
    atomic_store_explicit(&loop_.ended, ended, memory_order_relaxed);
    for (int i = 0; i < threads; i++) {
        atomic_store_explicit(&loop_.ranges[i].next, units * i / threads, memory_order_relaxed);
        loop_.ranges[i].end = units * (i + 1) / threads;
    }
    open_loop();
    run_pieces(0);
    close_loop();
    pthread_mutex_unlock(&loop_mutex_);
}
#endif
