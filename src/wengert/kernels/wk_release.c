/* See wk_release.h. */
#include "wk_release.h"

#include <Python.h>
#include <stddef.h>

#include "wk_threads.h"

#if !defined(_WIN32) && !defined(__EMSCRIPTEN__)
#include <pthread.h>
#include <unistd.h>
#define HAS_FORK
#endif

enum { ASKING_NANOSECONDS = 50000000 }; /* time between two looks for signals */

static unsigned long main_thread_;
static int ended_early_; /* for ended_early() */
static _Thread_local PyThreadState *released_; /* not NULL in a released part */
static _Thread_local int interrupted_;         /* a handler raised an exception, which is set in released_ */
static _Thread_local int64_t asked_;           /* time of the last look for signals */

static int run_handlers(void) {
#ifdef HAS_FORK
    pid_t process = getpid();
#endif
    PyThreadState *state = released_;
    released_ = NULL; /* handlers may run kernels */
    PyEval_RestoreThread(state);
    int failed = PyErr_CheckSignals() < 0;
#ifdef HAS_FORK
    if (!failed && getpid() != process) { /* the threads that had parts of the loop are not in the child */
        PyErr_SetString(PyExc_RuntimeError,
                        "a handler of a signal forked while an operation of wengert was running. The child cannot complete it");
        failed = 1;
    }
#endif
    if (failed) ended_early_ = 1;
    released_ = PyEval_SaveThread();
    return failed;
}

void wk_release(int releases) {
    if (releases) released_ = PyEval_SaveThread();
}

int wk_reacquire(void) {
    if (released_ == NULL) return 0;
    PyEval_RestoreThread(released_);
    int failed = interrupted_;
    released_ = NULL;
    interrupted_ = 0;
    return failed ? -1 : 0;
}

int wk_hears_signals(void) { return released_ != NULL && PyThread_get_thread_ident() == main_thread_; }

int wk_answer_signals(int64_t now) {
    if (interrupted_ || now - asked_ < ASKING_NANOSECONDS) return interrupted_;
    interrupted_ = run_handlers();
    asked_ = wk_nanoseconds();
    return interrupted_;
}

int wk_run_loop(int releases, int64_t n, int64_t grain, void (*body)(void *, int64_t, int64_t), void *ctx) {
    wk_release(releases);
    wk_parallel_for(n, grain, body, ctx);
    return wk_reacquire();
}

#ifdef HAS_FORK
/* The thread that forks is the main thread of the child. */
static void become_main_thread(void) { main_thread_ = PyThread_get_thread_ident(); }
#endif

int wk_find_main_thread(void) {
    main_thread_ = PyThread_get_thread_ident(); /* threading, too, takes the thread that imports it first for the main one */
    PyObject *name = PyUnicode_FromString("threading"), *threading = name != NULL ? PyImport_GetModule(name) : NULL;
    PyObject *thread = threading != NULL ? PyObject_CallMethod(threading, "main_thread", NULL) : NULL;
    PyObject *ident = thread != NULL ? PyObject_GetAttrString(thread, "ident") : NULL;
    if (ident != NULL) main_thread_ = PyLong_AsUnsignedLong(ident);
    Py_XDECREF(name);
    Py_XDECREF(threading);
    Py_XDECREF(thread);
    Py_XDECREF(ident);
#ifdef HAS_FORK
    pthread_atfork(NULL, NULL, become_main_thread);
#endif
    return PyErr_Occurred() ? -1 : 0;
}

/* -- for Python ----------------------------------------------------------------------------------------------------- */

static PyObject *ended_early_method(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    int ended = ended_early_;
    ended_early_ = 0;
    return PyBool_FromLong(ended);
}

PyMethodDef wk_release_methods[] = {
    {"ended_early", ended_early_method, METH_NOARGS, "ended_early(): whether a signal has ended a loop since the last call."},
    {NULL, NULL, 0, NULL},
};
