/* Source positions without live frames, and allocation that bypasses a Python class's own __new__. Twins: native.py. */
#ifndef WK_FRAME_H
#define WK_FRAME_H
#include <Python.h>

/* Allocate an instance of cls, a Python subclass of the extension type base, with base's own allocator. */
static inline PyObject *wk_new_instance(PyObject *base, PyObject *cls) {
    static PyObject *no_args = NULL;
    if (no_args == NULL && (no_args = PyTuple_New(0)) == NULL) return NULL;
    return ((PyTypeObject *)base)->tp_new((PyTypeObject *)cls, no_args, NULL);
}

/* Return the object that a weak reference refers to (a new reference), or None. */
static inline PyObject *wk_dereference(PyObject *reference) {
#if PY_VERSION_HEX >= 0x030D0000
    PyObject *object;
    if (PyWeakref_GetRef(reference, &object) < 0) return NULL;
    return object != NULL ? object : Py_NewRef(Py_None);
#else
    return Py_XNewRef(PyWeakref_GetObject(reference));
#endif
}

/* Return a weak reference: the one that the object has already, or a new one. */
static inline PyObject *wk_reference(PyObject *object) { return PyWeakref_NewRef(object, NULL); }

/* Whether a code object's file lies in the package. The answers are cached by file name. */
static inline int wk_is_internal(PyCodeObject *code, PyObject *files, PyObject *package) {
    PyObject *known = PyDict_GetItemWithError(files, code->co_filename);
    if (known != NULL) return known == Py_True;
    if (PyErr_Occurred()) return -1;
    Py_ssize_t internal = PyUnicode_Tailmatch(code->co_filename, package, 0, PY_SSIZE_T_MAX, -1);
    if (internal < 0 || PyDict_SetItem(files, code->co_filename, internal ? Py_True : Py_False) < 0) return -1;
    return (int)internal;
}

/* Return the code object of the innermost frame outside the package, or None if no Python code runs. *lasti receives its
 * instruction offset. */
__attribute__((unused)) static PyObject *wk_find_code(PyObject *files, PyObject *package, int *lasti) {
    static PyCodeObject *last = NULL; /* the user code of the previous call, which most often calls again; owned */
    PyFrameObject *frame = PyEval_GetFrame();
    *lasti = -1;
    if (frame == NULL) return Py_NewRef(Py_None);
    PyCodeObject *own = PyFrame_GetCode(frame);
    if (own == last) {
        *lasti = PyFrame_GetLasti(frame);
        return (PyObject *)own;
    }
    Py_DECREF(own);
    Py_INCREF(frame);
    for (;;) {
        PyCodeObject *code = PyFrame_GetCode(frame);
        int internal = wk_is_internal(code, files, package);
        PyFrameObject *back = internal == 1 ? PyFrame_GetBack(frame) : NULL;
        if (internal < 0 || (back == NULL && PyErr_Occurred())) { /* no memory for the frame object */
            Py_DECREF(code);
            Py_DECREF(frame);
            return NULL;
        }
        if (back == NULL) {
            *lasti = PyFrame_GetLasti(frame);
            Py_DECREF(frame);
            if (internal == 0) Py_XSETREF(last, (PyCodeObject *)Py_NewRef(code));
            return (PyObject *)code;
        }
        Py_DECREF(code);
        Py_DECREF(frame);
        frame = back;
    }
}
#endif
