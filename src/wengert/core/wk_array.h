/* Questions about arrays, asked through NumPy's C API: no shape tuples, no attribute look-ups.
 *
 * Each function has a plain-Python twin in native.py, which the uncompiled core uses and which states its meaning. For an object
 * that is no NumPy array, the yes-or-no questions return 0, and the object takes the general path.
 */
#ifndef WK_ARRAY_H
#define WK_ARRAY_H
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <Python.h>
#include <numpy/arrayobject.h>
#include <string.h>

static inline int wk_init_numpy(void) { return _import_array(); }

static inline int is_ndarray(PyObject *x) { return PyArray_CheckExact(x); }

static inline int is_row_major(PyObject *x) { return PyArray_CheckExact(x) && PyArray_IS_C_CONTIGUOUS((PyArrayObject *)x); }

static inline int is_inexact(PyObject *x) {
    if (!PyArray_CheckExact(x)) return 0;
    int type = PyArray_TYPE((PyArrayObject *)x);
    return (PyTypeNum_ISFLOAT(type) || PyTypeNum_ISCOMPLEX(type)) && PyArray_ISNOTSWAPPED((PyArrayObject *)x);
}

static inline int is_complex(PyObject *x) {
    return PyArray_CheckExact(x) && PyTypeNum_ISCOMPLEX(PyArray_TYPE((PyArrayObject *)x));
}

static inline int is_real(PyObject *x) {
    return PyArray_CheckExact(x) && !PyTypeNum_ISCOMPLEX(PyArray_TYPE((PyArrayObject *)x));
}

/* Whether both arrays have one floating or complex dtype: nothing to promote. */
static inline int same_inexact(PyObject *x, PyObject *y) {
    return is_inexact(x) && PyArray_CheckExact(y) && PyArray_DESCR((PyArrayObject *)x) == PyArray_DESCR((PyArrayObject *)y);
}

static inline int has_shape(PyObject *x, PyObject *shape) {
    if (!PyArray_CheckExact(x)) return 0;
    PyArrayObject *a = (PyArrayObject *)x;
    int ndim = PyArray_NDIM(a);
    if (PyTuple_GET_SIZE(shape) != ndim) return 0;
    for (int i = 0; i < ndim; i++) {
        if (PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, i)) != PyArray_DIM(a, i)) return 0;
    }
    return 1;
}

static inline int has_dtype(PyObject *x, PyObject *dtype) {
    return PyArray_CheckExact(x) && (PyObject *)PyArray_DESCR((PyArrayObject *)x) == dtype;
}

/* as_array of an object that is neither an array nor a scalar of NumPy. Rare: kept out of the callers' code. */
#if defined(__GNUC__)
static __attribute__((noinline, cold, unused))
#else
static inline
#endif
PyObject *as_array_of_other(PyObject *x) {
    PyObject *type = (PyObject *)Py_TYPE(x);
    if (PyObject_HasAttrString(type, "__cuda_array_interface__") && !PyObject_HasAttrString(type, "requires_grad")) return Py_NewRef(x);
    return PyArray_FromAny(x, NULL, 0, 0, 0, NULL);
}

/* Make an array of x. NumPy returns scalars where other libraries return 0-d arrays; only here does the core turn them back into
 * arrays. An array on a device is returned as it is; a tensor on one is no array. */
static inline PyObject *as_array(PyObject *x) {
    if (PyArray_Check(x)) return Py_NewRef(x);
    if (PyArray_CheckScalar(x)) return PyArray_FromScalar(x, NULL);
    return as_array_of_other(x);
}

/* 0 for an array without NaN. Arrays that would take long to search return 1: strided arrays and other dtypes. */
static inline int may_have_nan(PyObject *x) {
    if (!PyArray_CheckExact(x) || !PyArray_ISONESEGMENT((PyArrayObject *)x)) return 1;
    PyArrayObject *a = (PyArrayObject *)x;
    npy_intp size = PyArray_SIZE(a);
    int type = PyArray_TYPE(a), found = 0;
    if (type == NPY_FLOAT) {
        const float *data = (const float *)PyArray_DATA(a);
        for (npy_intp i = 0; i < size; i++) found |= data[i] != data[i];
    } else if (type == NPY_DOUBLE) {
        const double *data = (const double *)PyArray_DATA(a);
        for (npy_intp i = 0; i < size; i++) found |= data[i] != data[i];
    } else {
        return 1;
    }
    return found;
}

/* Whether x is a NumPy array of exactly this shape and dtype. */
static inline int has_meta(PyObject *x, PyObject *shape, PyObject *dtype) {
    return has_dtype(x, dtype) && has_shape(x, shape);
}

/* Whether two arrays of one shape have the same strides. */
static inline int same_strides(PyObject *x, PyObject *y) {
    if (!PyArray_CheckExact(x) || !PyArray_CheckExact(y)) return 0;
    PyArrayObject *a = (PyArrayObject *)x, *b = (PyArrayObject *)y;
    int ndim = PyArray_NDIM(a);
    if (PyArray_NDIM(b) != ndim) return 0;
    for (int i = 0; i < ndim; i++) {
        if (PyArray_STRIDE(a, i) != PyArray_STRIDE(b, i)) return 0;
    }
    return 1;
}

/* The view x[i, ...] of a NumPy array, 0-d if x is a vector. Other objects, and an index out of range, go by x's own indexing. */
static inline PyObject *row_of(PyObject *x, PyObject *index) {
    PyArrayObject *a = (PyArrayObject *)x;
    int ndim = PyArray_CheckExact(x) ? PyArray_NDIM(a) : 0;
    Py_ssize_t i = PyNumber_AsSsize_t(index, PyExc_IndexError);
    if (i == -1 && PyErr_Occurred()) return NULL;
    if (ndim > 0 && i < 0) i += PyArray_DIM(a, 0);
    if (ndim == 0 || i < 0 || i >= PyArray_DIM(a, 0)) {
        PyObject *key = PyTuple_Pack(2, index, Py_Ellipsis);
        PyObject *part = key != NULL ? PyObject_GetItem(x, key) : NULL;
        Py_XDECREF(key);
        return part;
    }
    PyArray_Descr *descr = PyArray_DESCR(a);
    Py_INCREF(descr);
    PyObject *row = PyArray_NewFromDescr(&PyArray_Type, descr, ndim - 1, PyArray_DIMS(a) + 1, PyArray_STRIDES(a) + 1,
                                         PyArray_BYTES(a) + i * PyArray_STRIDE(a, 0),
                                         PyArray_FLAGS(a) & NPY_ARRAY_WRITEABLE, NULL);
    if (row == NULL) return NULL;
    Py_INCREF(x);
    if (PyArray_SetBaseObject((PyArrayObject *)row, x) < 0) {
        Py_DECREF(row);
        return NULL;
    }
    return row;
}

/* Add value to one element of a vector of floats, if both are aligned and in native byte order. Else do nothing, return 0. */
static inline int add_element(PyObject *x, PyObject *index, PyObject *value) {
    if (!PyArray_CheckExact(x) || !PyArray_CheckExact(value)) return 0;
    PyArrayObject *a = (PyArrayObject *)x, *v = (PyArrayObject *)value;
    if (PyArray_NDIM(a) != 1 || PyArray_NDIM(v) != 0 || !PyLong_CheckExact(index)) return 0;
    if (PyArray_DESCR(a) != PyArray_DESCR(v) || !PyArray_ISBEHAVED(a) || !PyArray_ISBEHAVED_RO(v)) return 0;
    Py_ssize_t i = PyLong_AsSsize_t(index), n = PyArray_DIM(a, 0);
    if (i == -1 && PyErr_Occurred()) return -1;
    if (i < 0) i += n;
    if (i < 0 || i >= n) return 0;
    switch (PyArray_TYPE(a)) {
        case NPY_FLOAT: *(float *)PyArray_GETPTR1(a, i) += *(float *)PyArray_DATA(v); return 1;
        case NPY_DOUBLE: *(double *)PyArray_GETPTR1(a, i) += *(double *)PyArray_DATA(v); return 1;
        default: return 0;
    }
}

/* Fill an array of float32 or float64 with a float, or with an int that the dtype holds. Otherwise do nothing and return 0. */
static inline int fill_floats(PyObject *x, PyObject *value) {
    if (!PyArray_CheckExact(x) || !(PyFloat_CheckExact(value) || PyLong_CheckExact(value))) return 0;
    PyArrayObject *a = (PyArrayObject *)x;
    int type = PyArray_TYPE(a);
    if ((type != NPY_FLOAT && type != NPY_DOUBLE) || !PyArray_ISBEHAVED(a) || !PyArray_IS_C_CONTIGUOUS(a)) return 0;
    double number = PyFloat_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred()) {
        PyErr_Clear();
        return 0;
    }
    npy_intp n = PyArray_SIZE(a);
    if (type == NPY_DOUBLE) {
        double *data = (double *)PyArray_DATA(a);
        for (npy_intp i = 0; i < n; i++) data[i] = number;
        return 1;
    }
    /* Overflow is left to NumPy's assignment. */
    if (number - number == 0 && (number > 3.4028234663852886e38 || number < -3.4028234663852886e38)) return 0;
    float *data = (float *)PyArray_DATA(a), narrow = (float)number;
    for (npy_intp i = 0; i < n; i++) data[i] = narrow;
    return 1;
}

/* Whether the array alone owns its memory. Then a write into it is visible only through references to this array.
 *
 * Memory of the pool belongs to the array whose base is its Buffer. Buffer is a type of another extension, so it is recognised by
 * name.
 */
static inline int owns_data(PyObject *x) {
    if (!PyArray_CheckExact(x)) return 0;
    PyObject *base = PyArray_BASE((PyArrayObject *)x);
    if (base == NULL) return PyArray_CHKFLAGS((PyArrayObject *)x, NPY_ARRAY_OWNDATA);
    return !PyArray_Check(base) && strcmp(Py_TYPE(base)->tp_name, "wengert.kernels.native.Buffer") == 0;
}

/* Whether nobody but the caller refers to a large array or its memory. Such an array may take a result, which costs less than
 * fresh memory. Free-threaded Python has no exact reference counts, so there the answer is no. See docs/adr/0019. */
static inline int is_spare(PyObject *x) {
#ifdef Py_GIL_DISABLED
    return 0;
#else
    if (Py_REFCNT(x) != 1 || !owns_data(x) || PyArray_NBYTES((PyArrayObject *)x) < 1 << 17) return 0;
    PyObject *base = PyArray_BASE((PyArrayObject *)x);
    return (base == NULL || Py_REFCNT(base) == 1) && PyArray_ISWRITEABLE((PyArrayObject *)x);
#endif
}
#endif
