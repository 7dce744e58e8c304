/* The number of threads, for Python. */
#include "wk_numpy.h"

#include "wk_threads.h"

static PyObject *get_num_threads(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    return PyLong_FromLong(wk_get_num_threads());
}

static PyObject *set_num_threads(PyObject *module, PyObject *number) {
    (void)module;
    long n = PyLong_AsLong(number);
    if (n == -1 && PyErr_Occurred()) return NULL;
    wk_set_num_threads(n > 1 << 20 ? 1 << 20 : (int)n);
    Py_RETURN_NONE;
}

static PyObject *parallel_for(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    return PyLong_FromVoidPtr((void *)(uintptr_t)wk_parallel_for);
}

PyMethodDef wk_settings_methods[] = {
    {"get_num_threads", get_num_threads, METH_NOARGS, "get_num_threads(): number of threads of a loop."},
    {"set_num_threads", set_num_threads, METH_O, "set_num_threads(n): Set the number of threads of a loop."},
    {"parallel_for", parallel_for, METH_NOARGS,
     "parallel_for(): address of wk_parallel_for (wk_threads.h), for C functions of recordings."},
    {NULL, NULL, 0, NULL},
};
