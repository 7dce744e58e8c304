/* Views that have other sizes and strides over the same memory, made without the calls of NumPy's methods.
 *
 * The functions take NumPy arrays proper and exact ints in range. For anything else they return None, and NumPy makes the view
 * or the error.
 */
#ifndef WK_VIEWS_H
#define WK_VIEWS_H
#include "wk_array.h"

/* How a view lies over its array. op.py has the same numbers. */
enum { WK_RESHAPED = 1, WK_SWAPPED, WK_PERMUTED, WK_TRANSPOSED, WK_UNSQUEEZED, WK_SQUEEZED, WK_EXPANDED, WK_REDUCED };

typedef struct {
    int ndim;
    npy_intp shape[NPY_MAXDIMS], steps[NPY_MAXDIMS];
} WkLayout;

static inline PyObject *wk_view(PyArrayObject *a, WkLayout *view) {
    PyArray_Descr *descr = PyArray_DESCR(a);
    Py_INCREF(descr);
    PyObject *out = PyArray_NewFromDescr(&PyArray_Type, descr, view->ndim, view->shape, view->steps, PyArray_DATA(a),
                                         PyArray_FLAGS(a) & NPY_ARRAY_WRITEABLE, NULL);
    if (out == NULL) { /* an address would overflow */
        PyErr_Clear();
        Py_RETURN_NONE;
    }
    Py_INCREF(a);
    if (PyArray_SetBaseObject((PyArrayObject *)out, (PyObject *)a) < 0) {
        Py_DECREF(out);
        return NULL;
    }
    return out;
}

/* Read a tuple of exact ints. Return its length, or -1 if it is no such tuple or too long. */
static inline int wk_read_sizes(PyObject *sizes, npy_intp *numbers) {
    if (sizes == NULL || !PyTuple_Check(sizes) || PyTuple_GET_SIZE(sizes) > NPY_MAXDIMS) return -1;
    int n = (int)PyTuple_GET_SIZE(sizes);
    for (int i = 0; i < n; i++) {
        PyObject *size = PyTuple_GET_ITEM(sizes, i);
        if (!PyLong_CheckExact(size)) return -1;
        numbers[i] = PyLong_AsSsize_t(size);
        if (numbers[i] == -1 && PyErr_Occurred()) {
            PyErr_Clear();
            return -1;
        }
    }
    return n;
}

/* Return a dimension counted from the front, or -1 if it is out of range. */
static inline int wk_read_dim(PyObject *dim, int ndim) {
    if (dim == NULL || !PyLong_CheckExact(dim)) return -1;
    int overflow;
    long number = PyLong_AsLongAndOverflow(dim, &overflow);
    if (overflow || number < -ndim || number >= ndim) return -1;
    return (int)(number < 0 ? number + ndim : number);
}

static inline void wk_copy_dim(WkLayout *view, PyArrayObject *a, int dim) {
    view->shape[view->ndim] = PyArray_DIM(a, dim);
    view->steps[view->ndim++] = PyArray_STRIDE(a, dim);
}

/* Each of the functions wk_lay_... fills in the view's layout. Returns 0 if it cannot. */

static inline int wk_lay_reshaped(WkLayout *view, PyArrayObject *a, PyObject *shape) {
    npy_intp size = PyArray_SIZE(a), known = 1;
    int n = wk_read_sizes(shape, view->shape), open = -1;
    if (n < 0 || size == 0 || !PyArray_IS_C_CONTIGUOUS(a)) return 0;
    for (int i = 0; i < n; i++) {
        if (view->shape[i] == -1 && open < 0) {
            open = i;
        } else if (view->shape[i] <= 0 || view->shape[i] > size / known) {
            return 0;
        } else {
            known *= view->shape[i];
        }
    }
    if (open >= 0 ? size % known != 0 : known != size) return 0;
    if (open >= 0) view->shape[open] = size / known;
    npy_intp step = PyArray_ITEMSIZE(a);
    for (int i = n - 1; i >= 0; i--) {
        view->steps[i] = step;
        step *= view->shape[i];
    }
    view->ndim = n;
    return 1;
}

static inline int wk_lay_swapped(WkLayout *view, PyArrayObject *a, PyObject *dim0, PyObject *dim1) {
    int ndim = PyArray_NDIM(a), first = wk_read_dim(dim0, ndim), second = wk_read_dim(dim1, ndim);
    if (first < 0 || second < 0) return 0;
    for (int i = 0; i < ndim; i++) wk_copy_dim(view, a, i == first ? second : i == second ? first : i);
    return 1;
}

/* back: use the order that undoes dims. */
static inline int wk_lay_permuted(WkLayout *view, PyArrayObject *a, PyObject *dims, int back) {
    int ndim = PyArray_NDIM(a), order[NPY_MAXDIMS];
    if (dims == NULL || !PyTuple_Check(dims) || PyTuple_GET_SIZE(dims) != ndim) return 0;
    for (int i = 0; i < ndim; i++) order[i] = -1;
    for (int i = 0; i < ndim; i++) {
        int dim = wk_read_dim(PyTuple_GET_ITEM(dims, i), ndim);
        if (dim < 0) return 0;
        if (back) {
            if (order[dim] >= 0) return 0;
            order[dim] = i;
        } else {
            for (int j = 0; j < i; j++) {
                if (order[j] == dim) return 0;
            }
            order[i] = dim;
        }
    }
    for (int i = 0; i < ndim; i++) wk_copy_dim(view, a, order[i]);
    return 1;
}

static inline int wk_lay_transposed(WkLayout *view, PyArrayObject *a) {
    if (PyArray_NDIM(a) > 2) return 0;
    for (int i = PyArray_NDIM(a) - 1; i >= 0; i--) wk_copy_dim(view, a, i);
    return 1;
}

static inline int wk_lay_unsqueezed(WkLayout *view, PyArrayObject *a, PyObject *given) {
    int ndim = PyArray_NDIM(a), dim = wk_read_dim(given, ndim + 1);
    if (dim < 0 || ndim == NPY_MAXDIMS) return 0;
    for (int i = 0; i <= ndim; i++) {
        if (i == dim) {
            view->shape[view->ndim] = 1;
            view->steps[view->ndim++] = 0;
        }
        if (i < ndim) wk_copy_dim(view, a, i);
    }
    return 1;
}

static inline int wk_lay_squeezed(WkLayout *view, PyArrayObject *a, PyObject *given) {
    int ndim = PyArray_NDIM(a), dim = wk_read_dim(given, ndim); /* -1: all dims of size 1 */
    if (dim < 0 && given != Py_None) return 0;
    for (int i = 0; i < ndim; i++) {
        if (PyArray_DIM(a, i) != 1 || (dim >= 0 && i != dim)) wk_copy_dim(view, a, i);
    }
    return 1;
}

static inline int wk_lay_expanded(WkLayout *view, PyArrayObject *a, PyObject *shape) {
    int n = wk_read_sizes(shape, view->shape), ndim = PyArray_NDIM(a), added = n - ndim;
    if (n < 0 || added < 0) return 0;
    for (int i = 0; i < n; i++) {
        npy_intp held = i < added ? -1 : PyArray_DIM(a, i - added), wanted = view->shape[i];
        view->steps[i] = 0;
        if (i >= added && (wanted == held || wanted == -1)) {
            view->shape[i] = held;
            view->steps[i] = PyArray_STRIDE(a, i - added);
        } else if (wanted < 0 || (i >= added && held != 1)) {
            return 0;
        }
    }
    view->ndim = n;
    return 1;
}

/* Mark the dimensions that a reduction over dim removes. dim: an int, a tuple of ints, or None. Returns 0 for anything else. */
static inline int wk_read_reduced(PyObject *dim, int ndim, char *reduced) {
    int all = dim == Py_None || (PyTuple_Check(dim) && PyTuple_GET_SIZE(dim) == 0);
    memset(reduced, all, (size_t)ndim);
    if (all) return 1;
    Py_ssize_t n = PyTuple_Check(dim) ? PyTuple_GET_SIZE(dim) : 1;
    for (Py_ssize_t i = 0; i < n; i++) {
        int d = wk_read_dim(PyTuple_Check(dim) ? PyTuple_GET_ITEM(dim, i) : dim, ndim);
        if (d < 0 || reduced[d]) return 0;
        reduced[d] = 1;
    }
    return 1;
}

/* Repeat a, the cotangent of a sum over dim, in each element that was summed. shape: of the summed array. */
static inline int wk_lay_repeated(WkLayout *view, PyArrayObject *a, PyObject *shape, PyObject *dim, PyObject *keepdim) {
    char reduced[NPY_MAXDIMS];
    int n = wk_read_sizes(shape, view->shape), from = 0;
    if (n < 0 || (keepdim != Py_True && keepdim != Py_False) || !wk_read_reduced(dim, n, reduced)) return 0;
    for (int i = 0; i < n; i++) {
        view->steps[i] = 0;
        if (!reduced[i]) {
            if (from >= PyArray_NDIM(a) || PyArray_DIM(a, from) != view->shape[i]) return 0;
            view->steps[i] = PyArray_STRIDE(a, from++);
        } else if (keepdim == Py_True) {
            if (from >= PyArray_NDIM(a) || PyArray_DIM(a, from) != 1) return 0;
            from++;
        }
    }
    view->ndim = n;
    return from == PyArray_NDIM(a);
}

/* Return a parameter, borrowed, or NULL without an error. key: its name as a Python string, which is made once. */
static inline PyObject *wk_param(PyObject *params, PyObject **key, const char *name) {
    if (*key == NULL && (*key = PyUnicode_InternFromString(name)) == NULL) PyErr_Clear();
    return *key == NULL || !PyDict_CheckExact(params) ? NULL : PyDict_GetItem(params, *key);
}

/* Return the view of x that an operation of this layout makes with these parameters (a dict, or None), or None. */
static inline PyObject *wk_make_view(int layout, PyObject *x, PyObject *params) {
    static PyObject *dim, *dim0, *dim1, *dims, *shape;
    if (!PyArray_CheckExact(x)) Py_RETURN_NONE;
    PyArrayObject *a = (PyArrayObject *)x;
    WkLayout view;
    view.ndim = 0;
    int done = 0;
    switch (layout) {
        case WK_RESHAPED: done = wk_lay_reshaped(&view, a, wk_param(params, &shape, "shape")); break;
        case WK_SWAPPED:
            done = wk_lay_swapped(&view, a, wk_param(params, &dim0, "dim0"), wk_param(params, &dim1, "dim1"));
            break;
        case WK_PERMUTED: done = wk_lay_permuted(&view, a, wk_param(params, &dims, "dims"), 0); break;
        case WK_TRANSPOSED: done = wk_lay_transposed(&view, a); break;
        case WK_UNSQUEEZED: done = wk_lay_unsqueezed(&view, a, wk_param(params, &dim, "dim")); break;
        case WK_SQUEEZED: done = wk_lay_squeezed(&view, a, params == Py_None ? Py_None : wk_param(params, &dim, "dim")); break;
        case WK_EXPANDED: done = wk_lay_expanded(&view, a, wk_param(params, &shape, "shape")); break;
    }
    if (!done) Py_RETURN_NONE;
    return wk_view(a, &view);
}

/* Return the cotangent of x, given the cotangent of a view of x or of a sum of x, or None. values: saved parameters, or x's
 * shape. */
static inline PyObject *wk_view_back(int layout, PyObject *ct, PyObject *values) {
    if (!PyArray_CheckExact(ct)) Py_RETURN_NONE;
    PyArrayObject *a = (PyArrayObject *)ct;
    Py_ssize_t n = PyList_GET_SIZE(values);
    PyObject *first = n > 0 ? PyList_GET_ITEM(values, 0) : NULL;
    WkLayout view;
    view.ndim = 0;
    int done = 0;
    switch (layout) {
        case WK_RESHAPED:
        case WK_UNSQUEEZED:
        case WK_SQUEEZED: done = wk_lay_reshaped(&view, a, first); break;
        case WK_SWAPPED: done = n > 1 && wk_lay_swapped(&view, a, first, PyList_GET_ITEM(values, 1)); break;
        case WK_PERMUTED: done = wk_lay_permuted(&view, a, first, 1); break;
        case WK_TRANSPOSED: done = wk_lay_transposed(&view, a); break;
        case WK_REDUCED: done = n > 2 && wk_lay_repeated(&view, a, first, PyList_GET_ITEM(values, 1), PyList_GET_ITEM(values, 2)); break;
    }
    if (!done) Py_RETURN_NONE;
    return wk_view(a, &view);
}

#endif
