/* The kernels for other extension modules: the functions of wengert.kernels.native, through a capsule.
 *
 * A module that includes this calls wk_init_native() once. Where the package has no compiled kernels, or WENGERT_PURE switches
 * them off, the functions answer None (0 for yes-or-no), as they do for what they do not take. Twins: native.py in core.
 */
#ifndef WK_NATIVE_H
#define WK_NATIVE_H
#include <Python.h>

#define WK_NATIVE_CAPSULE "wengert.kernels.native._functions"

typedef struct {
    PyObject *(*apply)(int kernel, PyObject *const *inputs, PyObject *out);
} WkNative;

static const WkNative *wk_native_ = NULL;

/* Looks at what wengert.kernels has imported, and so follows its decision. */
static inline int wk_init_native(void) {
    PyObject *package = PyImport_ImportModule("wengert.kernels");
    if (package == NULL) return -1;
    PyObject *native = PyObject_GetAttrString(package, "native");
    Py_DECREF(package);
    if (native == NULL) return -1;
    PyObject *capsule = native != Py_None ? PyObject_GetAttrString(native, "_functions") : NULL;
    if (capsule != NULL) wk_native_ = (const WkNative *)PyCapsule_GetPointer(capsule, WK_NATIVE_CAPSULE);
    Py_XDECREF(capsule);
    Py_DECREF(native);
    return PyErr_Occurred() ? -1 : 0;
}

/* kernel(x) or None */
static inline PyObject *wk_apply1(int kernel, PyObject *x) {
    return wk_native_ != NULL && kernel >= 0 ? wk_native_->apply(kernel, &x, NULL) : Py_NewRef(Py_None);
}

/* kernel(x, y) or None */
static inline PyObject *wk_apply2(int kernel, PyObject *x, PyObject *y) {
    PyObject *inputs[2] = {x, y};
    return wk_native_ != NULL && kernel >= 0 ? wk_native_->apply(kernel, inputs, NULL) : Py_NewRef(Py_None);
}
#endif
