/* Drives the kernels of wk_norms.h: batch norm and group norm of arrays (items, channels, ...), and their cotangents.
 *
 * Methods return None for arguments that they do not accept (another dtype, a layout with gaps, nothing to do); NumPy then does the
 * work. The elements of one mean and variance belong to one thread, so results are the same for any number of threads.
 */
#include "wk_norms.h"

#include <string.h>

#include "wk_level.h"
#include "wk_numpy.h"
#include "wk_pool.h"
#include "wk_release.h"

enum {
    WORK = 16384,     /* least number of elements for a thread */
    FEW = 32,         /* elements per channel and item below which channels are taken side by side */
};

WK_DEFINE_TABLE_OF(WkNorms, norms_of, wk_norms)

typedef struct {
    const WkNorms *norms;
    WkNormTask whole; /* its pointers point to the whole arrays */
    int64_t items, channels, inner, groups, side_by_side, item;
    double eps;
} Norm;

/* Address of the element that lies `elements` after the start of array, or NULL. */
static char *offset_by(const char *array, int64_t elements, int64_t item) {
    return array == NULL ? NULL : (char *)array + elements * item;
}

/* Task t. If groups is 0, it is channel t, or some channels side by side. Otherwise it is one group of one item. */
static WkNormTask task_of(const Norm *s, int64_t t) {
    WkNormTask task = s->whole;
    int64_t channel, first, one = t; /* first channel, element and mean of the task */
    if (s->groups > 0) {
        int64_t size = s->channels / s->groups;
        channel = t % s->groups * size, first = t * size * s->inner;
        task.runs = size, task.step = s->inner, task.weight_step = task.sums_step = 1;
        task.of_weight += task.of_weight ? t * size : 0, task.of_bias += task.of_bias ? t * size : 0;
    } else {
        channel = one = t * s->side_by_side, first = channel * s->inner;
        task.runs = s->items, task.step = s->channels * s->inner, task.weight_step = 0, task.sums_step = s->channels;
        task.channels = s->channels - channel < s->side_by_side ? s->channels - channel : s->side_by_side;
        task.of_weight += task.of_weight ? channel : 0, task.of_bias += task.of_bias ? channel : 0;
    }
    task.n = s->inner;
    task.ct = offset_by(task.ct, first, s->item), task.x = offset_by(task.x, first, s->item),
    task.out = offset_by(task.out, first, s->item);
    task.weight = offset_by(task.weight, channel, s->item), task.bias = offset_by(task.bias, channel, s->item);
    task.mean = offset_by(task.mean, one, s->item), task.rstd = offset_by(task.rstd, one, s->item);
    return task;
}

static int is_by_columns(const Norm *s) { return s->groups == 0 && s->inner < FEW; }

static void run_tasks(void *ctx, int64_t begin, int64_t end) {
    const Norm *s = (const Norm *)ctx;
    for (int64_t t = begin; t < end; t++) {
        WkNormTask task = task_of(s, t);
        if (s->whole.ct == NULL) (is_by_columns(s) ? s->norms->columns : s->norms->runs)(&task, s->eps);
        else (is_by_columns(s) ? s->norms->columns_cotangent : s->norms->runs_cotangent)(&task);
    }
}

/* Return 0, or -1 with an error set. */
static int run_norm(Norm *s) {
    int64_t tasks = s->groups > 0 ? s->items * s->groups : (s->channels - 1) / s->side_by_side + 1;
    int64_t size = s->items * s->channels * s->inner, each = size / tasks;
    return wk_run_loop(size > 32768, tasks, each >= WORK ? 1 : WORK / (each < 1 ? 1 : each), run_tasks, s);
}

/* Whether x is an aligned, contiguous array of float32 or float64 with at least one element. */
static int is_accepted(PyObject *x) {
    if (!PyArray_CheckExact(x)) return 0;
    PyArrayObject *a = (PyArrayObject *)x;
    int type = PyArray_TYPE(a);
    return (type == NPY_FLOAT || type == NPY_DOUBLE) && PyArray_ISCARRAY_RO(a) && PyArray_SIZE(a) > 0;
}

/* Set *data to the data of an array of the given type and size, or to NULL for None. Return 0 if array is something else. */
static int read_array(PyObject *array, int type, int64_t size, const char **data) {
    *data = NULL;
    if (array == Py_None) return 1;
    if (!is_accepted(array) || PyArray_TYPE((PyArrayObject *)array) != type ||
        PyArray_SIZE((PyArrayObject *)array) != size) return 0;
    *data = PyArray_BYTES((PyArrayObject *)array);
    return 1;
}

/* Read x and groups. groups is 0 for the norm of each channel over all items. Return 0 if they are not accepted, or with an error
 * set. */
static int read_norm(Norm *s, PyObject *x, PyObject *groups) {
    if (!is_accepted(x)) return 0;
    PyArrayObject *a = (PyArrayObject *)x;
    if (PyArray_NDIM(a) < 2) return 0;
    *s = (Norm){.norms = norms_of(PyArray_TYPE(a)), .item = PyArray_ITEMSIZE(a)};
    s->groups = PyLong_AsLongLong(groups);
    s->items = PyArray_DIM(a, 0), s->channels = PyArray_DIM(a, 1);
    s->inner = PyArray_SIZE(a) / s->items / s->channels;
    s->side_by_side = s->inner < FEW ? WK_NORM_COLUMNS / s->inner : 1;
    s->whole.x = PyArray_BYTES(a);
    return !PyErr_Occurred() && s->groups >= 0 && (s->groups == 0 || s->channels % s->groups == 0);
}

#define DECLINED return PyErr_Occurred() ? NULL : Py_NewRef(Py_None)

/* normalize(x, weight, bias, groups, eps): the result, and mean and rstd with the dims kept. */
static PyObject *normalize_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 5) return PyErr_Format(PyExc_TypeError, "normalize takes 5 arguments");
    Norm s;
    if (!read_norm(&s, args[0], args[3])) DECLINED;
    PyArrayObject *x = (PyArrayObject *)args[0];
    int type = PyArray_TYPE(x), nd = s.groups > 0 ? 4 : PyArray_NDIM(x);
    s.eps = PyFloat_AsDouble(args[4]);
    if (PyErr_Occurred()) return NULL;
    if (!read_array(args[1], type, s.channels, &s.whole.weight) || !read_array(args[2], type, s.channels, &s.whole.bias)) DECLINED;
    npy_intp over[NPY_MAXDIMS];
    for (int d = 0; d < nd; d++) over[d] = 1;
    over[0] = s.groups > 0 ? s.items : 1, over[1] = s.groups > 0 ? s.groups : s.channels;
    PyArrayObject *out = (PyArrayObject *)wk_new_array(PyArray_NDIM(x), PyArray_DIMS(x), type);
    PyArrayObject *mean = (PyArrayObject *)wk_new_array(nd, over, type), *rstd = (PyArrayObject *)wk_new_array(nd, over, type);
    PyObject *all = NULL;
    if (out != NULL && mean != NULL && rstd != NULL) {
        s.whole.out = PyArray_BYTES(out), s.whole.mean = PyArray_BYTES(mean), s.whole.rstd = PyArray_BYTES(rstd);
        all = run_norm(&s) < 0 ? NULL : PyTuple_Pack(3, out, mean, rstd);
    }
    Py_XDECREF(out);
    Py_XDECREF(mean);
    Py_XDECREF(rstd);
    return all;
}

/* Sum the sums of items: (items, channels) into out: (channels). */
static void add_items(const double *sums, int64_t items, int64_t channels, PyArrayObject *out) {
    for (int64_t c = 0; c < channels; c++) {
        double sum = 0;
        for (int64_t n = 0; n < items; n++) sum += sums[n * channels + c];
        if (PyArray_TYPE(out) == NPY_FLOAT) ((float *)PyArray_DATA(out))[c] = (float)sum;
        else ((double *)PyArray_DATA(out))[c] = sum;
    }
}

/* normalize_cotangent(ct, x, mean, rstd, weight, groups): cotangents of x, weight and bias. */
static PyObject *normalize_cotangent_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 6) return PyErr_Format(PyExc_TypeError, "normalize_cotangent takes 6 arguments");
    Norm s;
    if (!read_norm(&s, args[1], args[5])) DECLINED;
    PyArrayObject *x = (PyArrayObject *)args[1];
    int type = PyArray_TYPE(x);
    int64_t means = s.groups > 0 ? s.items * s.groups : s.channels;
    const char *mean, *rstd;
    if (!read_array(args[0], type, PyArray_SIZE(x), &s.whole.ct) || !read_array(args[2], type, means, &mean) ||
        !read_array(args[3], type, means, &rstd) || !read_array(args[4], type, s.channels, &s.whole.weight) ||
        s.whole.ct == NULL || mean == NULL || rstd == NULL) {
        DECLINED;
    }
    s.whole.mean = (char *)mean, s.whole.rstd = (char *)rstd;
    /* Columns leave one sum per channel, runs leave one per channel and item. */
    int64_t rows = is_by_columns(&s) ? 1 : s.items, n_sums = rows * s.channels;
    npy_intp channels = s.channels;
    PyArrayObject *out = (PyArrayObject *)wk_new_array(PyArray_NDIM(x), PyArray_DIMS(x), type);
    PyArrayObject *of_weight = (PyArrayObject *)wk_new_array(1, &channels, type);
    PyArrayObject *of_bias = (PyArrayObject *)wk_new_array(1, &channels, type);
    double *sums = (double *)PyMem_RawMalloc((size_t)n_sums * 2 * sizeof *sums);
    PyObject *all = NULL;
    if (out != NULL && of_weight != NULL && of_bias != NULL && sums != NULL) {
        s.whole.out = PyArray_BYTES(out), s.whole.of_weight = sums, s.whole.of_bias = sums + n_sums;
        if (run_norm(&s) == 0) {
            add_items(s.whole.of_weight, rows, s.channels, of_weight);
            add_items(s.whole.of_bias, rows, s.channels, of_bias);
            all = PyTuple_Pack(3, out, of_weight, of_bias);
        }
    } else if (!PyErr_Occurred()) {
        PyErr_NoMemory();
    }
    PyMem_RawFree(sums);
    Py_XDECREF(out);
    Py_XDECREF(of_weight);
    Py_XDECREF(of_bias);
    return all;
}

#define METHOD(name, doc) {#name, (PyCFunction)(void (*)(void))name##_method, METH_FASTCALL, doc}
PyMethodDef wk_norms_methods[] = {
    METHOD(normalize, "normalize(x, weight, bias, groups, eps): result, means and reciprocal deviations."),
    METHOD(normalize_cotangent, "normalize_cotangent(ct, x, mean, rstd, weight, groups): cotangents of x, weight and bias."),
    {NULL, NULL, 0, NULL},
};
