/* Resampling along the last one to three dims. Each output is a weighted sum of a few inputs, which one table per dim lists.
 *
 * Interpolation, mean pooling and paddings that repeat the input are resamplings, and so are their adjoints. Rows are computed one
 * by one: the input rows that contribute to an output row are summed, and the sum is resampled along the row. Only one row of
 * memory lies between input and output. Each output belongs to one thread, so results are the same for any number of threads.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "wk_numpy.h"
#include "wk_pool.h"
#include "wk_release.h"

enum {
    DIMS = 3,
    WORK = 16384, /* least number of multiplications for a thread */
};

/* Output j is the sum of x[inputs[t]] * weights[t] over starts[j] <= t < starts[j + 1]. */
typedef struct {
    int64_t source, size;          /* number of inputs and of outputs */
    const int64_t *starts, *inputs; /* NULL: the outputs are the inputs */
    const void *weights;           /* NULL: all weights are 1 */
    int64_t taps;                  /* taps of every output; 0 if they differ */
    int64_t run, run_end;          /* outputs run <= j < run_end are consecutive inputs, and copied at once */
} Table;

typedef struct {
    const char *x;
    char *out;
    Table table[DIMS];
    int item;
    double divisor; /* all results are divided by it */
    atomic_int failed;
} Resample;

static int64_t count_of(const Table *t, int64_t j) { return t->starts == NULL ? 1 : t->starts[j + 1] - t->starts[j]; }
static int64_t input_of(const Table *t, int64_t j, int64_t tap) { return t->starts == NULL ? j : t->inputs[t->starts[j] + tap]; }

/* Whether output j equals output j - 1, because it has the same inputs and weights. */
static int is_repeated(const Table *t, int64_t j, int item) {
    if (t->starts == NULL) return 0;
    const int64_t *starts = t->starts, n = starts[j + 1] - starts[j];
    if (starts[j] - starts[j - 1] != n) return 0;
    for (int64_t k = starts[j]; k < starts[j + 1]; k++) {
        if (t->inputs[k] != t->inputs[k - n]) return 0;
    }
    const char *weights = (const char *)t->weights;
    return weights == NULL || memcmp(weights + starts[j - 1] * item, weights + starts[j] * item, (size_t)(n * item)) == 0;
}

#define real float
#define SUFFIX(name) name##_f32
#include "resample.h"
#undef real
#undef SUFFIX
#define real double
#define SUFFIX(name) name##_f64
#include "resample.h"
#undef real
#undef SUFFIX

/* Find the longest run of outputs that are one input each, with consecutive inputs and without weights. It has at least 8
 * outputs. */
static void find_run(Table *t) {
    int64_t first = 0;
    t->run = t->run_end = 0;
    if (t->weights != NULL) return;
    for (int64_t j = 0; j <= t->size; j++) {
        int goes_on = j < t->size && count_of(t, j) == 1;
        if (goes_on && j > first && t->inputs[t->starts[j]] == t->inputs[t->starts[j - 1]] + 1) continue;
        if (j - first > t->run_end - t->run && j - first >= 8) t->run = first, t->run_end = j;
        first = goes_on ? j : j + 1;
    }
}

/* Data of a contiguous vector of n elements of a dtype, or NULL if x is something else. n < 0: any number of elements. */
static const void *vector_of(PyObject *x, int type, int64_t n) {
    if (!PyArray_CheckExact(x)) return NULL;
    PyArrayObject *a = (PyArrayObject *)x;
    if (PyArray_NDIM(a) != 1 || PyArray_TYPE(a) != type || !PyArray_ISCARRAY_RO(a) || (n >= 0 && PyArray_SIZE(a) != n)) return NULL;
    return PyArray_DATA(a);
}

/* Read a table (starts, inputs, weights or None), or None for a dim that stays unchanged. Return 0 if it is no table for n
 * inputs. */
static int read_table(PyObject *entry, int64_t n, int type, Table *t) {
    t->source = t->size = n;
    if (entry == Py_None) return 1;
    if (!PyTuple_Check(entry) || PyTuple_GET_SIZE(entry) != 3) return 0;
    PyObject *starts = PyTuple_GET_ITEM(entry, 0), *inputs = PyTuple_GET_ITEM(entry, 1), *weights = PyTuple_GET_ITEM(entry, 2);
    t->starts = (const int64_t *)vector_of(starts, NPY_INT64, -1);
    t->inputs = (const int64_t *)vector_of(inputs, NPY_INT64, -1);
    if (t->starts == NULL || t->inputs == NULL || PyArray_SIZE((PyArrayObject *)starts) < 1) return 0;
    int64_t entries = PyArray_SIZE((PyArrayObject *)inputs);
    t->size = PyArray_SIZE((PyArrayObject *)starts) - 1;
    if (weights != Py_None && (t->weights = vector_of(weights, type, entries)) == NULL) return 0;
    if (t->starts[0] != 0 || t->starts[t->size] != entries) return 0;
    t->taps = t->size > 0 ? t->starts[1] : 0;
    for (int64_t j = 0; j < t->size; j++) {
        if (t->starts[j + 1] < t->starts[j]) return 0;
        if (t->starts[j + 1] - t->starts[j] != t->taps) t->taps = 0;
    }
    for (int64_t k = 0; k < entries; k++) {
        if (t->inputs[k] < 0 || t->inputs[k] >= n) return 0;
    }
    find_run(t);
    return 1;
}

/* resample(x, tables, divisor): x resampled along its last dims, then divided by a number. tables: for each of these dims (starts,
 * inputs, weights or None), or None. */
static PyObject *resample_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 3) return PyErr_Format(PyExc_TypeError, "resample takes 3 arguments");
    if (!PyArray_CheckExact(args[0]) || !PyTuple_Check(args[1])) Py_RETURN_NONE;
    PyArrayObject *x = (PyArrayObject *)args[0], *out = NULL;
    int type = PyArray_TYPE(x), nd = PyArray_NDIM(x), dims = (int)PyTuple_GET_SIZE(args[1]);
    if ((type != NPY_FLOAT && type != NPY_DOUBLE) || !PyArray_ISBEHAVED_RO(x)) Py_RETURN_NONE;
    if (dims < 1 || dims > DIMS || nd < dims || PyArray_SIZE(x) == 0) Py_RETURN_NONE;
    Resample s = {.item = (int)PyArray_ITEMSIZE(x), .divisor = PyFloat_AsDouble(args[2])};
    if (s.divisor == -1 && PyErr_Occurred()) return NULL;
    npy_intp shape[NPY_MAXDIMS];
    memcpy(shape, PyArray_DIMS(x), (size_t)nd * sizeof *shape);
    int64_t pictures = PyArray_SIZE(x), taps = 1;
    for (int d = 0; d < DIMS; d++) {
        Table *t = &s.table[d];
        int i = d - (DIMS - dims);
        if (!read_table(i < 0 ? Py_None : PyTuple_GET_ITEM(args[1], i), i < 0 ? 1 : shape[nd - dims + i], type, t)) Py_RETURN_NONE;
        pictures /= t->source;
        if (t->starts != NULL && t->size > 0) taps *= t->starts[t->size] / t->size + 1;
        if (i >= 0) shape[nd - dims + i] = t->size;
        if (t->size == 0) Py_RETURN_NONE;
    }
    if ((x = PyArray_GETCONTIGUOUS(x)) == NULL) return NULL;
    out = (PyArrayObject *)wk_new_array(nd, shape, type);
    if (out != NULL) {
        s.x = PyArray_BYTES(x), s.out = PyArray_BYTES(out);
        int64_t row = (s.table[2].size + s.table[2].source) / 2 * taps, grain = row >= WORK ? 1 : WORK / (row < 1 ? 1 : row);
        int ended = wk_run_loop(1, pictures * s.table[0].size * s.table[1].size, grain,
                                s.item == 4 ? resample_rows_f32 : resample_rows_f64, &s) < 0;
        if (ended) {
            Py_CLEAR(out);
        } else if (s.failed) {
            Py_CLEAR(out);
            PyErr_NoMemory();
        }
    }
    Py_DECREF(x);
    return (PyObject *)out;
}

PyMethodDef wk_resample_methods[] = {
    {"resample", (PyCFunction)(void (*)(void))resample_method, METH_FASTCALL,
     "resample(x, tables, divisor): x resampled along its last dims, with one table for each, then divided by divisor."},
    {NULL, NULL, 0, NULL},
};
