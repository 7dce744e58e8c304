/* A profile function that passes on few calls: a run that is recorded makes hundreds of them in each operation, and few matter.
 * Twins: native.py. */
#ifndef WK_CALLS_H
#define WK_CALLS_H
#include <Python.h>

enum { WK_CALLS = 1, WK_C_CALLS = 2, WK_DATA = 4 }; /* what is told of a code: see watch_calls in recorder.py */

static PyObject *wk_watch = NULL; /* the arguments of wk_watch_calls */
static int wk_calls_held = 0;     /* whether no call is told */

/* Whether an event is told of a code of this kind. */
static inline int wk_is_told(long kind, int what, PyObject *argument, PyObject *tensor_type) {
    if (what == PyTrace_C_CALL) return kind & WK_C_CALLS;
    if (kind & WK_CALLS) return 1;
    if (!(kind & WK_DATA) || what != PyTrace_RETURN || argument == NULL || argument == Py_None) return 0;
    return !PyObject_TypeCheck(argument, (PyTypeObject *)tensor_type);
}

static int wk_on_call(PyObject *watch, PyFrameObject *frame, int what, PyObject *argument) {
    if (wk_calls_held || !(what == PyTrace_CALL || what == PyTrace_RETURN || what == PyTrace_C_CALL)) return 0;
    PyCodeObject *code = PyFrame_GetCode(frame);
    PyObject *key = PyLong_FromVoidPtr(code);
    Py_DECREF(code); /* the frame keeps it */
    if (key == NULL) return -1;
    PyObject *known = PyDict_GetItemWithError(PyTuple_GET_ITEM(watch, 0), key);
    Py_DECREF(key);
    if (known == NULL && PyErr_Occurred()) return -1;
    if (known != NULL && !wk_is_told(PyLong_AsLong(known), what, argument, PyTuple_GET_ITEM(watch, 2))) return 0;
    const char *event = what == PyTrace_CALL ? "call" : what == PyTrace_RETURN ? "return" : "c_call";
    PyObject *found = PyObject_CallFunction(PyTuple_GET_ITEM(watch, 1), "OsO", frame, event, argument == NULL ? Py_None : argument);
    Py_XDECREF(found);
    if (found != NULL) return 0;
    PyObject *kind, *value, *traceback; /* as sys.setprofile, end with the first error */
    PyErr_Fetch(&kind, &value, &traceback);
    PyEval_SetProfile(NULL, NULL);
    PyErr_Restore(kind, value, traceback);
    return -1;
}

static inline int wk_watch_calls(PyObject *kinds, PyObject *tell, PyObject *tensor_type) {
    if (!PyDict_Check(kinds) || !(tell == Py_None || PyFunction_Check(tell) || PyMethod_Check(tell))) {
        PyErr_SetString(PyExc_TypeError, "expected a dict, and a function, a method or None");
        return -1;
    }
    wk_calls_held = 0;
    PyEval_SetProfile(NULL, NULL);
    Py_CLEAR(wk_watch);
    if (tell == Py_None) return 0;
    if ((wk_watch = PyTuple_Pack(3, kinds, tell, tensor_type)) == NULL) return -1;
    PyEval_SetProfile(wk_on_call, wk_watch);
    return PyErr_Occurred() ? -1 : 0;
}

/* Until Python 3.11, a profile function makes each instruction slow, and is taken away in no time. From 3.12 on, taking it away
 * changes all code that runs. */
static inline void wk_hold_calls(int held) {
    if (wk_watch == NULL || held == wk_calls_held) return;
    wk_calls_held = held;
#if PY_VERSION_HEX < 0x030C0000
    PyEval_SetProfile(held ? NULL : wk_on_call, held ? NULL : wk_watch);
#endif
}
#endif
