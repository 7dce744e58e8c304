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

PyMethodDef wk_settings_methods[] = {
    {"get_num_threads", get_num_threads, METH_NOARGS, "get_num_threads(): number of threads of a loop."},
    {"set_num_threads", set_num_threads, METH_O, "set_num_threads(n): Set the number of threads of a loop."},
    {NULL, NULL, 0, NULL},
};
