/* Comparisons that each run of a recorded program makes. Each has a plain-Python twin in native.py, which states its meaning. */
#ifndef WK_REPLAY_H
#define WK_REPLAY_H
#include "wk_array.h"

static inline int same_layout(PyObject *x, PyObject *y) {
    if (!PyArray_CheckExact(x) || !PyArray_CheckExact(y)) return 0;
    PyArrayObject *a = (PyArrayObject *)x, *b = (PyArrayObject *)y;
    int n = PyArray_NDIM(a);
    if (PyArray_DESCR(a) != PyArray_DESCR(b) || n != PyArray_NDIM(b)) return 0;
    return PyArray_CompareLists(PyArray_DIMS(a), PyArray_DIMS(b), n) && PyArray_CompareLists(PyArray_STRIDES(a), PyArray_STRIDES(b), n);
}

/* containers: dicts, among them ordered ones, lists and sets. */
static inline Py_ssize_t first_filled(PyObject *containers) {
    Py_ssize_t n = PyList_Check(containers) ? PyList_GET_SIZE(containers) : 0, i = 0;
    for (; i < n; i++) {
        PyObject *x = PyList_GET_ITEM(containers, i);
        Py_ssize_t size = PyDict_Check(x) ? PyDict_GET_SIZE(x) : PyList_Check(x) ? PyList_GET_SIZE(x) : PyAnySet_Check(x) ? PySet_GET_SIZE(x) : 1;
        if (size != 0) return i;
    }
    return -1;
}

/* keys and values: tuples. by_name: only these keys of a dict are compared. */
static inline int still_holds(PyObject *container, PyObject *keys, PyObject *values, int by_name) {
    Py_ssize_t n = PyTuple_GET_SIZE(values), i = 0, position = 0;
    if (by_name) {
        for (; i < n; i++) {
            PyObject *found = PyDict_GetItemWithError(container, PyTuple_GET_ITEM(keys, i));
            if (found != PyTuple_GET_ITEM(values, i)) {
                PyErr_Clear();
                return 0;
            }
        }
        return 1;
    }
    if (PyCell_Check(container)) return PyCell_GET(container) == PyTuple_GET_ITEM(values, 0);
    if (PyList_CheckExact(container)) {
        if (PyList_GET_SIZE(container) != n) return 0;
        for (; i < n; i++) {
            if (PyList_GET_ITEM(container, i) != PyTuple_GET_ITEM(values, i)) return 0;
        }
        return 1;
    }
    if (PyDict_CheckExact(container)) {
        PyObject *key, *value;
        if (PyDict_Size(container) != n) return 0;
        while (PyDict_Next(container, &position, &key, &value)) {
            if (i >= n || key != PyTuple_GET_ITEM(keys, i) || value != PyTuple_GET_ITEM(values, i)) return 0;
            i++;
        }
        return i == n;
    }
    return n == 0 && PyObject_Size(container) == 0;
}

#endif
