/* Functions of whole arrays: see wk_whole.h.
 *
 * Note [Small products]
 * A product of matrices of a few hundred numbers takes NumPy and its BLAS half a microsecond and more to get going. Here it is
 * a loop over columns of y as wide as the widest registers, which other columns are copied for, and rows of x, four at a time.
 * It does what the BLAS does, for infinities and NaN too: each element is a sum of products, and nothing is left out.
 * Larger products are the BLAS's, from where it was measured to be no slower.
 */
#include "wk_whole.h"

#include <string.h>

#include "wk_pool.h"
#include "wk_rows.h"

enum {
    SMALL_PRODUCT = 262144, /* multiplications times the bytes of a number */
    MOST_COPIED = 128,     /* rows of y whose columns are copied side by side */
    FEW_STRIDED = 512,     /* numbers that are copied from here and there whatever it is for; more, for MANY_ROWS of x */
    MANY_ROWS = 32,
    FEW_ROWS = 64,         /* ops/blas.py knows better ways for few rows and a right factor that lies in memory by columns, */
    LARGE_FACTOR = 32768,  /* which is as large as that */
    LARGEST_FILL = 4096,   /* elements; a larger cotangent of a sum is a view of one number */
};

/* -- products of matrices -------------------------------------------------------------------------------------------------- */

typedef struct {
    PyArrayObject *array;
    const char *data;
    npy_intp shape[2], steps[2]; /* steps in bytes */
} Matrix;

/* Looks at an array as a matrix, or at its transpose. 0: it is none, or not of float32 or float64. */
static int take_matrix(PyObject *x, int transposed, Matrix *matrix) {
    if (!PyArray_CheckExact(x)) return 0;
    PyArrayObject *a = (PyArrayObject *)x;
    int type = PyArray_TYPE(a);
    if (PyArray_NDIM(a) != 2 || (type != NPY_FLOAT && type != NPY_DOUBLE) || !PyArray_ISBEHAVED_RO(a)) return 0;
    matrix->array = a;
    matrix->data = PyArray_BYTES(a);
    for (int d = 0; d < 2; d++) {
        int from = transposed ? 1 - d : d;
        matrix->shape[d] = PyArray_DIM(a, from);
        matrix->steps[d] = PyArray_STRIDE(a, from);
    }
    return 1;
}

/* multiply_small takes these, and what it copies is little beside the product. */
static int is_quick(const Matrix *x, const Matrix *y, npy_intp size) {
    npy_intp k = y->shape[0], n = y->shape[1];
    if (x->steps[0] % size != 0 || x->steps[1] % size != 0 || y->steps[0] % size != 0) return 0;
    if (y->steps[1] == size) return n % WK_LANES(size) == 0 || k <= MOST_COPIED;
    return k <= MOST_COPIED && (x->shape[0] >= MANY_ROWS || k * n <= FEW_STRIDED);
}

/* Columns [first, first + n) of y as rows of lanes numbers, zeros in the place of columns that are missing. */
#define COPY_COLUMNS(real, lanes)                                                              \
    do {                                                                                       \
        if (n < (lanes)) memset(panel, 0, (size_t)(y->shape[0] * (lanes)) * sizeof(real));     \
        real *to = (real *)panel;                                                              \
        for (npy_intp l = 0; l < y->shape[0]; l++, from += row, to += (lanes)) {               \
            if (column == sizeof(real)) {                                                      \
                for (npy_intp j = 0; j < n; j++) to[j] = ((const real *)from)[j];              \
            } else {                                                                           \
                for (npy_intp j = 0; j < n; j++) to[j] = *(const real *)(from + j * column);   \
            }                                                                                  \
        }                                                                                      \
    } while (0)

static void copy_columns(const Matrix *y, npy_intp size, npy_intp first, npy_intp n, char *panel) {
    npy_intp row = y->steps[0], column = y->steps[1];
    const char *from = y->data + first * column;
    if (size == sizeof(float)) COPY_COLUMNS(float, WK_LANES(sizeof(float)));
    else COPY_COLUMNS(double, WK_LANES(sizeof(double)));
}

/* See Note [Small products]. */
static PyObject *multiply_small(const Matrix *x, const Matrix *y, int type) {
    const WkRows *rows = wk_rows_of(type);
    npy_intp size = PyArray_ITEMSIZE(x->array), m = x->shape[0], k = y->shape[0], n = y->shape[1], shape[2] = {m, n};
    int lanes = WK_LANES(size);
    char panel[MOST_COPIED * 64]; /* a row is as long as a register of 64 bytes */
    PyObject *out = wk_new_array(2, shape, type);
    if (out == NULL) return NULL;
    char *to = PyArray_BYTES((PyArrayObject *)out);
    for (npy_intp j = 0; j < n; j += lanes, to += lanes * size) {
        npy_intp width = n - j < lanes ? n - j : lanes;
        const char *columns = y->data + j * y->steps[1];
        npy_intp y_row = y->steps[0] / size;
        if (width < lanes || y->steps[1] != size) {
            copy_columns(y, size, j, width, panel);
            columns = panel;
            y_row = lanes;
        }
        rows->multiply(x->data, x->steps[0] / size, x->steps[1] / size, columns, y_row, m, k, width, to, n);
    }
    return out;
}

static PyObject *multiply(PyObject *left, int transposes_left, PyObject *right, int transposes_right) {
    Matrix x, y;
    if (!take_matrix(left, transposes_left, &x) || !take_matrix(right, transposes_right, &y)) Py_RETURN_NONE;
    int type = PyArray_TYPE(x.array);
    if (type != PyArray_TYPE(y.array) || x.shape[1] != y.shape[0]) Py_RETURN_NONE;
    npy_intp m = x.shape[0], k = y.shape[0], n = y.shape[1], size = PyArray_ITEMSIZE(x.array);
    if (m * k * n <= SMALL_PRODUCT / size && is_quick(&x, &y, size)) return multiply_small(&x, &y, type);
    if (m <= FEW_ROWS && k * n >= LARGE_FACTOR && y.steps[0] == size) Py_RETURN_NONE;
    npy_intp shape[2] = {m, n};
    PyObject *result = NULL, *out = wk_new_array(2, shape, type);
    PyObject *a = transposes_left ? PyArray_Transpose(x.array, NULL) : Py_NewRef(left);
    PyObject *b = transposes_right ? PyArray_Transpose(y.array, NULL) : Py_NewRef(right);
    if (a != NULL && b != NULL && out != NULL) result = PyArray_MatrixProduct2(a, b, (PyArrayObject *)out);
    Py_XDECREF(a);
    Py_XDECREF(b);
    Py_XDECREF(out);
    return result;
}

static PyObject *product(PyObject *const *inputs) { return multiply(inputs[0], 0, inputs[1], 0); }
static PyObject *product_xt(PyObject *const *inputs) { return multiply(inputs[0], 0, inputs[1], 1); }
static PyObject *product_tx(PyObject *const *inputs) { return multiply(inputs[0], 1, inputs[1], 0); }

/* x @ weight^T + bias, of which there may be none */
static PyObject *layer(PyObject *const *inputs) {
    PyObject *out = multiply(inputs[0], 0, inputs[1], 1), *bias = inputs[2];
    if (out == NULL || out == Py_None || bias == Py_None) return out;
    static int add = -1;
    if (add < 0) add = wk_find_kernel("add");
    PyObject *operands[2] = {out, bias}, *sum = wk_apply(add, operands, out);
    Py_DECREF(out); /* sum is out, or None: of a bias that does not fit */
    return sum;
}

/* -- sums of all elements -------------------------------------------------------------------------------------------------- */

static PyObject *sum_all(PyObject *const *inputs) { return wk_reduce_all(inputs[0], 0); }
static PyObject *mean_all(PyObject *const *inputs) { return wk_reduce_all(inputs[0], 1); }

/* ct, a single number, in all elements of this shape; divided by how many these are, if that is wanted. */
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
    {"product", product, 2}, {"product_xt", product_xt, 2}, {"product_tx", product_tx, 2}, {"layer", layer, 3},
    {"sum_all", sum_all, 1}, {"mean_all", mean_all, 1}, {"fill_sum", fill_sum, 2}, {"fill_mean", fill_mean, 2},
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
