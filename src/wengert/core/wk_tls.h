/* Thread-local state of the core: the word of mode flags, and the quiet context in which array kernels run.
 *
 * Only modes.py may use this header. Every module that cimports modes includes it too, and has thread-locals of its own under the
 * same names, which stay at zero. So other modules call modes' functions (flags, set_flags, quiet_enter ...), which use modes'
 * own thread-locals.
 *
 * Note [Quiet kernels]: NumPy reports log(0), overflow and 0/0 as RuntimeWarning. torch computes NaN or inf in silence, and so
 * does wengert. np.errstate costs more than a small kernel. NumPy keeps that setting in a context variable. So there are
 * contextvars.Context objects in which the setting is "ignore", and a thread is in one of them around a kernel: two pointer swaps.
 * A context belongs to a thread only while the thread is in it. Otherwise it lies in a list, which owns it and lives as long as the
 * process: a thread that is ending (finalizers of its thread-local objects may compute) finds contexts as any other does.
 */
#ifndef WK_TLS_H
#define WK_TLS_H
#include <Python.h>

#if defined(_MSC_VER)
#define WK_THREAD_LOCAL __declspec(thread)
#else
#define WK_THREAD_LOCAL _Thread_local
#endif

/* Observers (a profiler, anomaly detection) watch every thread. Their bits are set for all threads at once, except for a thread
 * that is running an observed operation. */
#define WK_OBSERVED 48 /* OBSERVED of modes.py */
static long wk_observed_ = 0;
static WK_THREAD_LOCAL int wk_unobserved_ = 0;

static WK_THREAD_LOCAL long wk_flags_ = 0;
static WK_THREAD_LOCAL PyObject *wk_task_ = NULL;  /* borrowed: the run_backward that set it holds it */
static WK_THREAD_LOCAL PyObject *wk_quiet_ = NULL; /* owned: the context that the thread is in */
static WK_THREAD_LOCAL int wk_quiet_depth_ = 0;

static inline long wk_flags(void) { return wk_observed_ && !wk_unobserved_ ? wk_flags_ | wk_observed_ : wk_flags_; }
/* The number of the block that switched recording off is kept only while recording is off: else the word must be zero. */
static inline void wk_set_flags(long flags) {
    flags &= ~WK_OBSERVED;
    wk_flags_ = flags & 1 /* NO_GRAD */ ? flags : flags & 0xFFFF;
}

static inline void wk_set_observed(long bits) { wk_observed_ = bits; }
static inline long wk_observed(void) { return wk_observed_; }
static inline void wk_set_unobserved(int change) { wk_unobserved_ += change; }

static inline PyObject *wk_task(void) { return Py_NewRef(wk_task_ != NULL ? wk_task_ : Py_None); }
static inline void wk_set_task(PyObject *task) { wk_task_ = task; }

/* The contexts that no thread is in: a stack, guarded by the GIL, with room for all contexts that were made. */
static PyObject **wk_idle_ = NULL;
static Py_ssize_t wk_idle_count_ = 0, wk_contexts_ = 0;

/* Whether wk_quiet_enter needs no new context. */
static inline int wk_has_quiet(void) { return wk_quiet_depth_ > 0 || wk_idle_count_ > 0; }

/* Add a context in which NumPy is silent. */
static inline int wk_add_quiet(PyObject *context) {
    PyObject **larger = PyMem_Realloc(wk_idle_, (size_t)(wk_contexts_ + 1) * sizeof *larger);
    if (larger == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    wk_idle_ = larger;
    wk_contexts_++;
    wk_idle_[wk_idle_count_++] = Py_NewRef(context);
    return 0;
}

/* Enter and leave nest: only the outermost pair swaps the context. */
static inline int wk_quiet_enter(void) {
    if (wk_quiet_depth_++ > 0) return 0;
    wk_quiet_ = wk_idle_[--wk_idle_count_];
    if (PyContext_Enter(wk_quiet_) == 0) return 0;
    wk_idle_[wk_idle_count_++] = wk_quiet_;
    wk_quiet_depth_--;
    return -1;
}

static inline int wk_leave_context(void) {
    int failed = PyContext_Exit(wk_quiet_);
    wk_idle_[wk_idle_count_++] = wk_quiet_;
    wk_quiet_ = NULL;
    return failed;
}

static inline int wk_quiet_exit(void) {
    if (--wk_quiet_depth_ > 0) return 0;
    if (!PyErr_Occurred()) return wk_leave_context();
    /* PyContext_Exit must not run with an exception set, and the kernel's exception must survive it. */
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    wk_leave_context();
    PyErr_Restore(type, value, traceback);
    return 0;
}
#endif
