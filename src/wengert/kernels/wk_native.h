/* The kernels for other extension modules: functions of wengert.kernels.native, through a capsule.
 *
 * A module that includes this header calls wk_init_native() once. If there are no compiled kernels, or WENGERT_PURE switches them
 * off, the functions return None (yes-or-no questions 0). They do so too for arguments that they do not accept. Twins: native.py in
 * core.
 */
#ifndef WK_NATIVE_H
#define WK_NATIVE_H
#include <Python.h>

#define WK_NATIVE_CAPSULE "wengert.kernels.native._functions"

enum { WK_MAX_INPUTS = 6 };

typedef struct {
    PyObject *(*apply)(int kernel, PyObject *const *inputs, PyObject *out);
    PyObject *(*sum_to)(PyObject *x, PyObject *shape);
    int add; /* number of the kernel of x + y */
} WkNative;

enum { WK_WHOLE = 1 << 16 }; /* kernels from this number on are functions of whole arrays: see wk_whole.h */

static const WkNative *wk_native_ = NULL;

/* Use the kernels that wengert.kernels has imported, if any. */
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

/* Return kernel(x). */
static inline PyObject *wk_apply1(int kernel, PyObject *x) { return wk_apply_(kernel, &x); }

/* Return kernel(x, y). */
static inline PyObject *wk_apply2(int kernel, PyObject *x, PyObject *y) {
    PyObject *inputs[2] = {x, y};
    return wk_apply_(kernel, inputs);
}

/* Return kernel(*operands). operands: a list of as many operands as the kernel takes. */
static inline PyObject *wk_apply_list(int kernel, PyObject *operands) {
    return wk_apply_(kernel, ((PyListObject *)operands)->ob_item);
}

/* Write kernel(*operands) into out. Return 1 if it was done, else 0; -1 is an error. */
static inline int wk_apply_into(int kernel, PyObject *operands, PyObject *out) {
    if (wk_native_ == NULL || kernel < 0) return 0;
    PyObject *result = wk_native_->apply(kernel, ((PyListObject *)operands)->ob_item, out);
    if (result == NULL) return -1;
    Py_DECREF(result);
    return result == out;
}

/* Run a kernel on the operands at the given places, which are bytes: 0 is ct, i > 0 is values[i - 1]. over: whether the result may
 * be written into ct. */
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

/* Return x + y as a new array. */
static inline PyObject *wk_sum(PyObject *x, PyObject *y) {
    return wk_native_ != NULL ? wk_apply2(wk_native_->add, x, y) : Py_NewRef(Py_None);
}

/* Return x summed to the shape that was broadcast to x's shape, as a new array. */
static inline PyObject *wk_sum_to(PyObject *x, PyObject *shape) {
    return wk_native_ != NULL ? wk_native_->sum_to(x, shape) : Py_NewRef(Py_None);
}

/* Whether kernel is a function of whole arrays. These accept one kind of operands only. */
static inline int wk_is_whole(int kernel) { return kernel >= WK_WHOLE; }

/* Add y to x in place. Return 1 if it was done, else 0; -1 is an error. */
static inline int wk_add_into(PyObject *x, PyObject *y) {
    if (wk_native_ == NULL) return 0;
    PyObject *inputs[2] = {x, y}, *sum = wk_native_->apply(wk_native_->add, inputs, x);
    if (sum == NULL) return -1;
    Py_DECREF(sum);
    return sum == x;
}
#endif
