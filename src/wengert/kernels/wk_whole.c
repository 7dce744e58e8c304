/* Functions of whole arrays. See wk_whole.h. */
#include "wk_whole.h"

#include <string.h>

#include "wk_matmul.h"
#include "wk_pool.h"

enum {
    LARGEST_FILL = 4096, /* most elements; a larger cotangent of a sum is a view of one number */
};

/* -- products of matrices -------------------------------------------------------------------------------------------------- */


static PyObject *product(PyObject *const *inputs) { return wk_matmul(inputs[0], 0, inputs[1], 0); }

/* Product of two batches of matrices: (N, m, k) @ (N, k, n). */
static PyObject *batch_product(PyObject *const *inputs) {
    for (int k = 0; k < 2; k++) {
        if (!PyArray_CheckExact(inputs[k]) || PyArray_NDIM((PyArrayObject *)inputs[k]) != 3) Py_RETURN_NONE;
    }
    return product(inputs);
}

static PyObject *vector_product(PyObject *const *inputs) { return wk_vector_product(inputs[0], inputs[1]); }
static PyObject *product_xt(PyObject *const *inputs) { return wk_matmul(inputs[0], 0, inputs[1], 1); }
static PyObject *product_tx(PyObject *const *inputs) { return wk_matmul(inputs[0], 1, inputs[1], 0); }

/* The contiguous numbers of an array that goes with the result of x @ y, or of x @ y^T if transposed: of its dtype, and of one row of
 * it, or all rows. NULL if the array is anything else. */
static char *numbers_beside(PyObject *array, PyObject *x, PyObject *y, int transposed, int nd) {
    if (!PyArray_CheckExact(x) || !PyArray_CheckExact(y) || !PyArray_CheckExact(array)) return NULL;
    PyArrayObject *a = (PyArrayObject *)array, *left = (PyArrayObject *)x, *right = (PyArrayObject *)y;
    if (PyArray_NDIM(left) != 2 || PyArray_NDIM(right) != 2 || PyArray_NDIM(a) != nd || PyArray_TYPE(a) != PyArray_TYPE(left)) return NULL;
    if (PyArray_DIM(a, nd - 1) != PyArray_DIM(right, !transposed) || (nd == 2 && PyArray_DIM(a, 0) != PyArray_DIM(left, 0))) return NULL;
    return PyArray_IS_C_CONTIGUOUS(a) && PyArray_ISBEHAVED_RO(a) ? PyArray_BYTES(a) : NULL;
}

/* x @ weight^T + bias. bias may be None. */
static PyObject *layer(PyObject *const *inputs) {
    PyObject *bias = inputs[2];
    WkFinish finish = {.bias = numbers_beside(bias, inputs[0], inputs[1], 1, 1)};
    if (finish.bias != NULL) return wk_finished_product(inputs[0], 0, inputs[1], 1, &finish);
    PyObject *out = wk_matmul(inputs[0], 0, inputs[1], 1);
    if (out == NULL || out == Py_None || bias == Py_None) return out;
    static int add = -1;
    if (add < 0) add = wk_find_kernel("add");
    PyObject *operands[2] = {out, bias}, *sum = wk_apply(add, operands, out);
    Py_DECREF(out); /* sum is out, or None if the bias does not fit */
    return sum;
}

/* x @ y, a gradient, after which parameter -= rate * gradient. */
static PyObject *descend(PyObject *const *inputs) {
    PyObject *parameter = inputs[2];
    WkFinish finish = {.target = numbers_beside(parameter, inputs[0], inputs[1], 0, 2)};
    if (finish.target == NULL || !PyArray_ISWRITEABLE((PyArrayObject *)parameter) || !PyFloat_CheckExact(inputs[3])) Py_RETURN_NONE;
    finish.rate = PyFloat_AS_DOUBLE(inputs[3]);
    return wk_finished_product(inputs[0], 0, inputs[1], 0, &finish);
}

/* -- sums of all elements -------------------------------------------------------------------------------------------------- */

static PyObject *sum_all(PyObject *const *inputs) { return wk_reduce_all(inputs[0], 0); }
static PyObject *mean_all(PyObject *const *inputs) { return wk_reduce_all(inputs[0], 1); }

/* Return an array of the given shape with the number ct in all elements. If divides is true, ct is divided by the number of
 * elements. */
static PyObject *fill(PyObject *ct, PyObject *shape, int divides) {
    if (!PyArray_CheckExact(ct) || !PyTuple_CheckExact(shape)) Py_RETURN_NONE;
    PyArrayObject *a = (PyArrayObject *)ct;
    int type = PyArray_TYPE(a), nd = (int)PyTuple_GET_SIZE(shape);
    if (PyArray_NDIM(a) != 0 || (type != NPY_FLOAT && type != NPY_DOUBLE) || !PyArray_ISBEHAVED_RO(a)) Py_RETURN_NONE;
    npy_intp dims[NPY_MAXDIMS], n = 1;
    for (int d = 0; d < nd; d++) {
        dims[d] = PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, d));
        n *= dims[d];
        if (n > LARGEST_FILL) Py_RETURN_NONE;
    }
    PyObject *out = wk_new_array(nd, dims, type);
    if (out == NULL) return NULL;
    if (type == NPY_FLOAT) {
        float value = *(float *)PyArray_DATA(a), *data = (float *)PyArray_DATA((PyArrayObject *)out);
        if (divides) value /= (float)n;
        for (npy_intp i = 0; i < n; i++) data[i] = value;
    } else {
        double value = *(double *)PyArray_DATA(a), *data = (double *)PyArray_DATA((PyArrayObject *)out);
        if (divides) value /= (double)n;
        for (npy_intp i = 0; i < n; i++) data[i] = value;
    }
    return out;
}

static PyObject *fill_sum(PyObject *const *inputs) { return fill(inputs[0], inputs[1], 0); }
static PyObject *fill_mean(PyObject *const *inputs) { return fill(inputs[0], inputs[1], 1); }

/* -- the table ------------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    PyObject *(*run)(PyObject *const *inputs);
    int n_inputs;
} functions[] = {
    {"product", product, 2},   {"batch_product", batch_product, 2}, {"product_xt", product_xt, 2},
    {"product_tx", product_tx, 2}, {"vector_product", vector_product, 2}, {"layer", layer, 3}, {"descend", descend, 4}, {"sum_all", sum_all, 1},
    {"mean_all", mean_all, 1}, {"fill_sum", fill_sum, 2},           {"fill_mean", fill_mean, 2},
};
enum { N_FUNCTIONS = sizeof functions / sizeof *functions };

int wk_whole_inputs(int number) { return number < WK_WHOLE + N_FUNCTIONS ? functions[number - WK_WHOLE].n_inputs : -1; }

int wk_find_whole(const char *name) {
    for (int i = 0; i < N_FUNCTIONS; i++) {
        if (strcmp(functions[i].name, name) == 0) return WK_WHOLE + i;
    }
    return -1;
}

PyObject *wk_run_whole(int number, PyObject *const *inputs) { return functions[number - WK_WHOLE].run(inputs); }
