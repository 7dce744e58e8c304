/* Triangular solves and QR factors of small matrices. LAPACK is slow for these, because its threads wait for each other at every
 * step.
 *
 * A task is one matrix, or some neighbouring columns of its right-hand sides, in a buffer that stays in the first caches. Results
 * are therefore the same for any number of threads. Python splits larger matrices, or LAPACK takes them.
 */
#include "wk_factors.h"

#include <math.h>
#include <string.h>

#include "wk_level.h"
#include "wk_numpy.h"
#include "wk_pool.h"
#include "wk_rows.h"
#include "wk_release.h"

enum {
    MOST_ROWS = 256, /* most rows of a triangular matrix */
    MOST_ELEMENTS = 40000, /* most elements of a matrix for QR */
    WORK = 65536, /* least number of products for a thread */
};

typedef struct {
    const WkRows *rows;
    const char *a, *b;
    char *out;
    int64_t n, columns, row, column, item, width, panels; /* row, column: strides of a in elements; width: columns of a panel */
    int upper, unit, nd;
    int64_t shape[NPY_MAXDIMS], steps[NPY_MAXDIMS]; /* batch dims: their shape, and the strides of a in bytes */
} Triangular;

static void solve_panels(void *ctx, int64_t begin, int64_t end) {
    Triangular *s = (Triangular *)ctx;
    int64_t lanes = WK_LANES(s->item), row_bytes = s->columns * s->item;
    for (int64_t t = begin; t < end; t++) {
        int64_t batch = t / s->panels, first = t % s->panels * s->width, index = batch;
        int64_t taken = s->columns - first < s->width ? s->columns - first : s->width;
        int64_t buffer_bytes = (taken > lanes ? 4 : 1) * 64;
        const char *a = s->a;
        for (int d = s->nd - 1; d >= 0; index /= s->shape[d], d--) a += index % s->shape[d] * s->steps[d];
        _Alignas(64) char x[MOST_ROWS * 4 * 64];
        int64_t at = batch * s->n * row_bytes + first * s->item;
        if (taken * s->item < buffer_bytes) memset(x, 0, (size_t)(s->n * buffer_bytes));
        for (int64_t i = 0; i < s->n; i++) memcpy(x + i * buffer_bytes, s->b + at + i * row_bytes, (size_t)(taken * s->item));
        s->rows->solve_triangular(a, s->row, s->column, s->n, s->upper, s->unit, (int)(buffer_bytes / 64), x);
        for (int64_t i = 0; i < s->n; i++) memcpy(s->out + at + i * row_bytes, x + i * buffer_bytes, (size_t)(taken * s->item));
    }
}

/* Read matrices (..., n, n). Return 0 if they are not accepted. */
static int read_matrices(PyObject *x, Triangular *s) {
    if (!PyArray_CheckExact(x)) return 0;
    PyArrayObject *a = (PyArrayObject *)x;
    int type = PyArray_TYPE(a), nd = s->nd = PyArray_NDIM(a) - 2;
    if ((type != NPY_FLOAT && type != NPY_DOUBLE) || !PyArray_ISBEHAVED_RO(a) || nd < 0) return 0;
    s->item = PyArray_ITEMSIZE(a), s->n = PyArray_DIM(a, nd);
    if (PyArray_DIM(a, nd + 1) != s->n || s->n > MOST_ROWS) return 0;
    for (int d = 0; d < nd; d++) s->shape[d] = PyArray_DIM(a, d), s->steps[d] = PyArray_STRIDE(a, d);
    if (PyArray_STRIDE(a, nd) % s->item || PyArray_STRIDE(a, nd + 1) % s->item) return 0;
    s->row = PyArray_STRIDE(a, nd) / s->item, s->column = PyArray_STRIDE(a, nd + 1) / s->item;
    s->rows = wk_rows_of(type), s->a = PyArray_BYTES(a);
    return 1;
}

/* solve_triangular(a, b, upper, unit): a^-1 @ b. */
static PyObject *solve_triangular_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 4) return PyErr_Format(PyExc_TypeError, "solve_triangular takes 4 arguments");
    Triangular s = {.upper = PyObject_IsTrue(args[2]), .unit = PyObject_IsTrue(args[3])};
    if (s.upper < 0 || s.unit < 0) return NULL;
    if (!read_matrices(args[0], &s) || !PyArray_CheckExact(args[1])) Py_RETURN_NONE;
    PyArrayObject *a = (PyArrayObject *)args[0], *given = (PyArrayObject *)args[1];
    if (PyArray_TYPE(given) != PyArray_TYPE(a) || !PyArray_ISBEHAVED_RO(given) || PyArray_NDIM(given) != PyArray_NDIM(a) ||
        !PyArray_CompareLists(PyArray_DIMS(given), PyArray_DIMS(a), s.nd + 1)) {
        Py_RETURN_NONE;
    }
    s.columns = PyArray_DIM(given, s.nd + 1);
    if (PyArray_SIZE(given) == 0) Py_RETURN_NONE;
    PyArrayObject *b = (PyArrayObject *)PyArray_GETCONTIGUOUS(given); /* the same array if it is contiguous */
    if (b == NULL) return NULL;
    PyArrayObject *out = (PyArrayObject *)wk_new_array(PyArray_NDIM(b), PyArray_DIMS(b), PyArray_TYPE(b));
    if (out != NULL) {
        s.b = PyArray_BYTES(b), s.out = PyArray_BYTES(out);
        int64_t lanes = WK_LANES(s.item), batch = PyArray_SIZE(b) / s.n / s.columns;
        s.width = s.columns > lanes ? 4 * lanes : lanes;
        s.panels = (s.columns - 1) / s.width + 1;
        int64_t each = s.n * s.n / 2 * (s.columns < s.width ? s.columns : s.width) + 1;
        if (wk_run_loop(batch * s.panels * each > WORK, batch * s.panels, each >= WORK ? 1 : WORK / each, solve_panels, &s) < 0) {
            Py_CLEAR(out);
        }
    }
    Py_DECREF(b);
    return (PyObject *)out;
}

/* -- QR ------------------------------------------------------------------------------------------------------------------ */

WK_DEFINE_TABLE_OF(WkFactors, factors_of, wk_factors)

typedef struct {
    const WkFactors *factors;
    char *a, *q, *r, *work;
    int64_t m, n, k, item;
} Qr;

static void qr_of_each(void *ctx, int64_t begin, int64_t end) {
    Qr *s = (Qr *)ctx;
    for (int64_t i = begin; i < end; i++) {
        s->factors->qr(s->a + i * s->m * s->n * s->item, s->m, s->n, s->q + i * s->m * s->k * s->item,
                       s->r + i * s->k * s->n * s->item, s->work + i * (s->n + s->k) * s->item);
    }
}

/* Whether squares of all elements, and sums of these, neither overflow nor underflow. */
static int has_ordinary_squares(PyArrayObject *x) {
    if (PyArray_TYPE(x) == NPY_FLOAT) { /* squares of float32 are computed in float64 */
        const float *p = (const float *)PyArray_DATA(x);
        for (npy_intp i = 0; i < PyArray_SIZE(x); i++) {
            if (!(p[i] == 0 || (fabsf(p[i]) > 1e-30f && fabsf(p[i]) < 1e30f))) return 0;
        }
    } else {
        const double *p = (const double *)PyArray_DATA(x);
        for (npy_intp i = 0; i < PyArray_SIZE(x); i++) {
            if (!(p[i] == 0 || (fabs(p[i]) > 1e-140 && fabs(p[i]) < 1e140))) return 0;
        }
    }
    return 1;
}

/* qr(x): reduced Q and R of matrices (..., m, n). */
static PyObject *qr_method(PyObject *module, PyObject *x) {
    (void)module;
    if (!PyArray_CheckExact(x)) Py_RETURN_NONE;
    PyArrayObject *given = (PyArrayObject *)x;
    int type = PyArray_TYPE(given), nd = PyArray_NDIM(given);
    if ((type != NPY_FLOAT && type != NPY_DOUBLE) || !PyArray_ISBEHAVED_RO(given) || nd < 2 || PyArray_SIZE(given) == 0) Py_RETURN_NONE;
    Qr s = {.factors = factors_of(type), .item = PyArray_ITEMSIZE(given), .m = PyArray_DIM(given, nd - 2), .n = PyArray_DIM(given, nd - 1)};
    s.k = s.m < s.n ? s.m : s.n;
    if (s.m * s.n > MOST_ELEMENTS) Py_RETURN_NONE;
    npy_intp shape[NPY_MAXDIMS];
    memcpy(shape, PyArray_DIMS(given), sizeof *shape * (size_t)nd);
    PyArrayObject *a = (PyArrayObject *)PyArray_NewCopy(given, NPY_CORDER), *q = NULL, *r = NULL;
    PyObject *both = NULL;
    if (a == NULL) return NULL;
    if (!has_ordinary_squares(a)) {
        Py_DECREF(a);
        Py_RETURN_NONE;
    }
    int64_t batch = PyArray_SIZE(a) / (s.m * s.n), each = s.m * s.n * s.k;
    shape[nd - 1] = s.k, q = (PyArrayObject *)wk_new_array(nd, shape, type);
    shape[nd - 2] = s.k, shape[nd - 1] = s.n, r = (PyArrayObject *)wk_new_array(nd, shape, type);
    s.work = (char *)PyMem_RawMalloc((size_t)(batch * (s.n + s.k) * s.item));
    if (q != NULL && r != NULL && s.work != NULL) {
        s.a = PyArray_BYTES(a), s.q = PyArray_BYTES(q), s.r = PyArray_BYTES(r);
        int failed = wk_run_loop(batch * each > WORK, batch, each >= WORK ? 1 : WORK / each, qr_of_each, &s) < 0;
        both = failed ? NULL : PyTuple_Pack(2, q, r);
    } else if (!PyErr_Occurred()) {
        PyErr_NoMemory();
    }
    PyMem_RawFree(s.work);
    Py_DECREF(a);
    Py_XDECREF(q);
    Py_XDECREF(r);
    return both;
}

#define METHOD(name, doc) {#name, (PyCFunction)(void (*)(void))name##_method, METH_FASTCALL, doc}
PyMethodDef wk_factors_methods[] = {
    METHOD(solve_triangular, "solve_triangular(a, b, upper, unit): a^-1 @ b, for matrices or batches of one shape."),
    {"qr", qr_method, METH_O, "qr(x): reduced Q and R of matrices of up to 40,000 elements."},
    {NULL, NULL, 0, NULL},
};
