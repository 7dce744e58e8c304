/* Drives the kernels of wk_distances.h: distances between the rows of two matrices, or of one, and their cotangents.
 *
 * Methods return None for arguments that they do not accept. Each row of the result belongs to one thread, so results are the same
 * for any number of threads.
 */
#include "wk_distances.h"

#include <string.h>

#include "wk_level.h"
#include "wk_numpy.h"
#include "wk_pool.h"
#include "wk_release.h"

enum { WORK = 32768 }; /* least number of elements for a thread */

WK_DEFINE_TABLE_OF(WkDistances, distances_of, wk_distances)

typedef struct {
    const WkDistances *kernels;
    const char *x, *y, *ct, *lengths; /* y: NULL for the pairs of rows of x, each once */
    char *out, *held;                 /* held: for pairs, two vectors of `others` numbers per row */
    int64_t n, others, m, item;
    int kind;
} Distances;

/* Index of the first pair of row i with a later row. */
static int64_t pairs_before(int64_t i, int64_t n) { return i * n - i * (i + 1) / 2; }

static void measure_rows(void *ctx, int64_t begin, int64_t end) {
    const Distances *s = (const Distances *)ctx;
    int64_t row = s->m * s->item;
    for (int64_t i = begin; i < end; i++) {
        const char *x = s->x + i * row;
        if (s->y != NULL) s->kernels->distances(s->kind, x, s->y, s->others, s->m, s->out + i * s->others * s->item);
        else s->kernels->distances(s->kind, x, x + row, s->n - 1 - i, s->m, s->out + pairs_before(i, s->n) * s->item);
    }
}

/* Gather the numbers of all pairs of row i. The pair of row i with itself is 0. */
static void gather_pairs(const char *pairs, int64_t i, int64_t n, int64_t item, char *to) {
    for (int64_t j = 0; j < i; j++) memcpy(to + j * item, pairs + (pairs_before(j, n) + i - j - 1) * item, (size_t)item);
    memset(to + i * item, 0, (size_t)item);
    memcpy(to + (i + 1) * item, pairs + pairs_before(i, n) * item, (size_t)((n - 1 - i) * item));
}

static void add_slopes(void *ctx, int64_t begin, int64_t end) {
    const Distances *s = (const Distances *)ctx;
    int64_t row = s->m * s->item, width = s->others * s->item;
    for (int64_t i = begin; i < end; i++) {
        const char *ct = s->ct + i * width, *lengths = s->lengths + i * width;
        if (s->y == NULL) {
            char *held = s->held + 2 * i * width;
            gather_pairs(s->ct, i, s->n, s->item, held);
            gather_pairs(s->lengths, i, s->n, s->item, held + width);
            ct = held, lengths = held + width;
        }
        memset(s->out + i * row, 0, (size_t)row);
        s->kernels->slopes(s->kind, s->x + i * row, s->y != NULL ? s->y : s->x, s->others, s->m, ct, lengths, s->out + i * row);
    }
}

/* Return 0, or -1 with an error set. */
static int run_rows(Distances *s, void (*body)(void *, int64_t, int64_t)) {
    int64_t each = s->others * s->m + 1;
    return wk_run_loop(s->n * each > WORK, s->n, each >= WORK ? 1 : WORK / each, body, s);
}

/* Whether x is a row-major array with nd dims of the given dtype. type -1: float32 or float64. */
static int is_accepted(PyObject *x, int type, int nd) {
    if (!PyArray_CheckExact(x)) return 0;
    PyArrayObject *a = (PyArrayObject *)x;
    int its = PyArray_TYPE(a);
    return (type < 0 ? its == NPY_FLOAT || its == NPY_DOUBLE : its == type) && PyArray_NDIM(a) == nd && PyArray_ISCARRAY_RO(a);
}

/* Read x, y (None for the pairs of x's rows) and the kind. Return 0 if they are not accepted, or with an error set. */
static int read_rows(PyObject *x, PyObject *y, PyObject *kind, Distances *s) {
    if (!is_accepted(x, -1, 2)) return 0;
    PyArrayObject *a = (PyArrayObject *)x;
    int type = PyArray_TYPE(a);
    if (y != Py_None && (!is_accepted(y, type, 2) || PyArray_DIM((PyArrayObject *)y, 1) != PyArray_DIM(a, 1))) return 0;
    *s = (Distances){.kernels = distances_of(type), .x = PyArray_BYTES(a), .item = PyArray_ITEMSIZE(a), .n = PyArray_DIM(a, 0)};
    s->y = y != Py_None ? PyArray_BYTES((PyArrayObject *)y) : NULL;
    s->others = y != Py_None ? PyArray_DIM((PyArrayObject *)y, 0) : s->n;
    s->m = PyArray_DIM(a, 1);
    s->kind = (int)PyLong_AsLong(kind);
    return !PyErr_Occurred() && s->kind >= WK_MANHATTAN && s->kind <= WK_LARGEST && s->n > 0 && s->others > 0;
}

#define DECLINED return PyErr_Occurred() ? NULL : Py_NewRef(Py_None)

/* distances(x, y, kind): array (n, k). If y is None, a vector of the pairs of x's rows. */
static PyObject *distances_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 3) return PyErr_Format(PyExc_TypeError, "distances takes 3 arguments");
    Distances s;
    if (!read_rows(args[0], args[1], args[2], &s)) DECLINED;
    npy_intp pairs = s.n * (s.n - 1) / 2, shape[2] = {s.n, s.others};
    int type = PyArray_TYPE((PyArrayObject *)args[0]);
    PyObject *out = s.y != NULL ? wk_new_array(2, shape, type) : wk_new_array(1, &pairs, type);
    if (out == NULL) return NULL;
    s.out = PyArray_BYTES((PyArrayObject *)out);
    if (run_rows(&s, measure_rows) < 0) Py_CLEAR(out);
    return out;
}

/* distances_cotangent(ct, x, y, distances, kind): cotangent of x. */
static PyObject *distances_cotangent_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 5) return PyErr_Format(PyExc_TypeError, "distances_cotangent takes 5 arguments");
    Distances s;
    if (!read_rows(args[1], args[2], args[4], &s)) DECLINED;
    int type = PyArray_TYPE((PyArrayObject *)args[1]), nd = s.y != NULL ? 2 : 1;
    int64_t size = s.y != NULL ? s.n * s.others : s.n * (s.n - 1) / 2;
    if (!is_accepted(args[0], type, nd) || !is_accepted(args[3], type, nd) || PyArray_SIZE((PyArrayObject *)args[0]) != size ||
        PyArray_SIZE((PyArrayObject *)args[3]) != size) {
        Py_RETURN_NONE;
    }
    npy_intp shape[2] = {s.n, s.m};
    s.ct = PyArray_BYTES((PyArrayObject *)args[0]), s.lengths = PyArray_BYTES((PyArrayObject *)args[3]);
    s.held = s.y == NULL ? (char *)PyMem_RawMalloc((size_t)(2 * s.n * s.n * s.item)) : NULL;
    if (s.y == NULL && s.held == NULL) return PyErr_NoMemory();
    PyObject *out = wk_new_array(2, shape, type);
    if (out != NULL) {
        s.out = PyArray_BYTES((PyArrayObject *)out);
        if (run_rows(&s, add_slopes) < 0) Py_CLEAR(out);
    }
    PyMem_RawFree(s.held);
    return out;
}

#define METHOD(name, doc) {#name, (PyCFunction)(void (*)(void))name##_method, METH_FASTCALL, doc}
PyMethodDef wk_distances_methods[] = {
    METHOD(distances, "distances(x, y, kind): distances between the rows of x and y, or of all pairs of rows of x if y is None."),
    METHOD(distances_cotangent, "distances_cotangent(ct, x, y, distances, kind): cotangent of x."),
    {NULL, NULL, 0, NULL},
};
