/* The kernels for other extension modules: the functions of wengert.kernels.native, through a capsule.
 *
 * A module that includes this calls wk_init_native() once. Where the package has no compiled kernels, or WENGERT_PURE switches
 * them off, the functions answer None (0 for yes-or-no), as they do for what they do not take. Twins: native.py in core.
 */
#ifndef WK_NATIVE_H
#define WK_NATIVE_H
#include <Python.h>

#define WK_NATIVE_CAPSULE "wengert.kernels.native._functions"

enum { WK_MAX_INPUTS = 6 };

typedef struct {
    PyObject *(*apply)(int kernel, PyObject *const *inputs, PyObject *out);
    PyObject *(*sum_to)(PyObject *x, PyObject *shape);
    int add; /* the kernel of x + y */
} WkNative;

enum { WK_WHOLE = 1 << 16 }; /* numbers of kernels from here on are functions of whole arrays: see wk_whole.h */

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

static inline PyObject *wk_apply_(int kernel, PyObject *const *inputs) {
    return wk_native_ != NULL && kernel >= 0 ? wk_native_->apply(kernel, inputs, NULL) : Py_NewRef(Py_None);
}

/* kernel(x) */
static inline PyObject *wk_apply1(int kernel, PyObject *x) { return wk_apply_(kernel, &x); }

/* kernel(x, y) */
static inline PyObject *wk_apply2(int kernel, PyObject *x, PyObject *y) {
    PyObject *inputs[2] = {x, y};
    return wk_apply_(kernel, inputs);
}

/* kernel(*operands), of a list of as many as the kernel takes */
static inline PyObject *wk_apply_list(int kernel, PyObject *operands) {
    return wk_apply_(kernel, ((PyListObject *)operands)->ob_item);
}

/* kernel(*operands) written into out; 1 when that is done */
static inline int wk_apply_into(int kernel, PyObject *operands, PyObject *out) {
    if (wk_native_ == NULL || kernel < 0) return 0;
    PyObject *result = wk_native_->apply(kernel, ((PyListObject *)operands)->ob_item, out);
    if (result == NULL) return -1;
    Py_DECREF(result);
    return result == out;
}

/* kernel of operands by their places, bytes: 0 is ct, 1 the first of the list of values. over: ct may take
 * the result. */
static inline PyObject *wk_apply_rule(int kernel, PyObject *places, PyObject *ct, PyObject *values, int over) {
    PyObject *inputs[WK_MAX_INPUTS];
    const char *place = PyBytes_AS_STRING(places);
    for (Py_ssize_t i = 0; i < PyBytes_GET_SIZE(places); i++) {
        inputs[i] = place[i] == 0 ? ct : PyList_GET_ITEM(values, place[i] - 1);
    }
    if (over && wk_native_ != NULL && kernel >= 0) {
        PyObject *result = wk_native_->apply(kernel, inputs, ct);
        if (result != Py_None) return result;
        Py_DECREF(result);
    }
    return wk_apply_(kernel, inputs);
}

/* x + y as a new array */
static inline PyObject *wk_sum(PyObject *x, PyObject *y) {
    return wk_native_ != NULL ? wk_apply2(wk_native_->add, x, y) : Py_NewRef(Py_None);
}

/* x summed to the shape that broadcasting made into x's, as a new array */
static inline PyObject *wk_sum_to(PyObject *x, PyObject *shape) {
    return wk_native_ != NULL ? wk_native_->sum_to(x, shape) : Py_NewRef(Py_None);
}

/* kernel is a function of whole arrays, which takes one kind of operands alone */
static inline int wk_is_whole(int kernel) { return kernel >= WK_WHOLE; }

/* x += y; 1 when that is done */
static inline int wk_add_into(PyObject *x, PyObject *y) {
    if (wk_native_ == NULL) return 0;
    PyObject *inputs[2] = {x, y}, *sum = wk_native_->apply(wk_native_->add, inputs, x);
    if (sum == NULL) return -1;
    Py_DECREF(sum);
    return sum == x;
}
#endif
