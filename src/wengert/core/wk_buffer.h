/* The buffer protocol for tensors: memoryview(tensor) is a view of the tensor's array.
 *
 * Python before 3.12 has no __buffer__ method, and Cython's pure mode cannot type the arguments of __getbuffer__, so the slot is
 * filled here, before any Python class inherits it.
 */
#ifndef WK_BUFFER_H
#define WK_BUFFER_H
#include <Python.h>

static int wk_getbuffer(PyObject *tensor, Py_buffer *view, int flags) {
    view->obj = NULL;
    PyObject *array = PyObject_CallMethod(tensor, "_exported", NULL);
    if (array == NULL) return -1;
    int result = PyObject_GetBuffer(array, view, flags);
    Py_DECREF(array);
    return result;
}

static PyBufferProcs wk_buffer_procs = {wk_getbuffer, NULL};

static inline void wk_offer_buffer(PyObject *type) {
    ((PyTypeObject *)type)->tp_as_buffer = &wk_buffer_procs;
    PyType_Modified((PyTypeObject *)type);
}
#endif
