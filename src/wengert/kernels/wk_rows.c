/* Drives the kernels of wk_rows.h. It splits an array and the dims to work along into runs and tiles, and these into tasks for
 * threads.
 *
 * Methods return None for arguments that they do not accept (another dtype, a layout with gaps, nothing to do); NumPy then does the
 * work.
 *
 * Note [Sums and threads]
 * The shape alone decides how a sum is split, into runs and tiles of fixed sizes whose sums are combined pairwise. Threads only
 * decide who adds up which part. A sum is therefore the same for any number of threads, and about as accurate as a pairwise sum.
 */
#include "wk_rows.h"

#include <math.h>
#include <string.h>

#include "wk_level.h"
#include "wk_numpy.h"
#include "wk_pool.h"
#include "wk_release.h"
#include "wk_threads.h"
#include "wk_whole.h"

enum {
    WORK_SUM = 65536, /* least number of elements of a sum for a thread */
    WORK_EXP = 8192,  /* least number of elements of a softmax for a thread */
    MEAN = WK_REDUCTIONS, /* further reductions for Python, built on those of wk_rows.h */
    NORM,
};

WK_DEFINE_TABLE_OF(WkRows, rows_of, wk_rows)

const WkRows *wk_rows_of(int typenum) { return rows_of(typenum); }

static int64_t at_least_1(int64_t n) { return n < 1 ? 1 : n; }

/* Whether x is an aligned array of float32 or float64 in native byte order, with at least one element. */
static int is_accepted(PyObject *x) {
    if (!PyArray_CheckExact(x)) return 0;
    PyArrayObject *a = (PyArrayObject *)x;
    int type = PyArray_TYPE(a);
    return (type == NPY_FLOAT || type == NPY_DOUBLE) && PyArray_ISBEHAVED_RO(a) && PyArray_SIZE(a) > 0;
}

enum { RELEASED = 32768 }; /* number of elements from which other Python threads run meanwhile */

/* -- reductions: one step, from (outer, n, inner) to (outer, inner) ------------------------------------------------------- */

typedef struct {
    const WkRows *rows;
    int kind;
    const char *x, *a; /* a: (outer, inner), or NULL */
    char *partial, *out;
    int64_t outer, n, inner, chunk, chunks, tiles, item;
    int64_t x_step; /* bytes from one outer part to the next */
} Step;

static void reduce_runs(void *ctx, int64_t begin, int64_t end) {
    Step *s = (Step *)ctx;
    int64_t step = s->x_step / s->item;
    if (s->chunks == 1) { /* one run per row */
        s->rows->reduce_rows(s->kind, s->x + begin * s->x_step, s->n, end - begin, step, s->a ? s->a + begin * s->item : NULL,
                             s->partial + begin * s->item);
        return;
    }
    for (int64_t t = begin; t < end; t++) {
        int64_t row = t / s->chunks, first = t % s->chunks * s->chunk;
        int64_t n = s->n - first < s->chunk ? s->n - first : s->chunk;
        s->rows->reduce_rows(s->kind, s->x + row * s->x_step + first * s->item, n, 1, step, s->a ? s->a + row * s->item : NULL,
                             s->partial + t * s->item);
    }
}

static void reduce_tiles(void *ctx, int64_t begin, int64_t end) {
    Step *s = (Step *)ctx;
    for (int64_t t = begin; t < end; t++) {
        int64_t tile = t % s->tiles, chunk = t / s->tiles % s->chunks, o = t / s->tiles / s->chunks;
        int64_t first = chunk * s->chunk, column = tile * WK_TILE;
        int64_t n = s->n - first < s->chunk ? s->n - first : s->chunk;
        int64_t width = s->inner - column < WK_TILE ? s->inner - column : WK_TILE;
        s->rows->reduce_tile(s->kind, s->x + o * s->x_step + (first * s->inner + column) * s->item, n, width, s->inner,
                             s->a ? s->a + (o * s->inner + column) * s->item : NULL,
                             s->partial + ((o * s->chunks + chunk) * s->inner + column) * s->item);
    }
}

static int partial_kind(int kind) { return kind == WK_MAX || kind == WK_MIN ? kind : WK_SUM; }

/* Number of rows of few columns that are taken together as one wide row. Vector code needs some width. */
static int64_t rows_side_by_side(int64_t n, int64_t inner, const void *a) {
    int64_t g = inner < 64 && a == NULL ? 128 / inner : 1;
    return n >= 4 * g ? g : 1;
}

/* Reduce (outer, n, inner) to (outer, inner). Return 0, or -1 if there is no memory. May run without Python's lock. */
static int reduce_step(const WkRows *rows, int kind, int item, const char *x, int64_t outer, int64_t n, int64_t inner,
                       const char *a, char *out) {
    Step s = {.rows = rows, .kind = kind, .x = x, .a = a, .out = out, .outer = outer, .n = n, .inner = inner, .item = item};
    s.x_step = n * inner * item;
    int64_t together = inner > 1 ? rows_side_by_side(n, inner, a) : 1, left = n % together;
    s.n = n / together;
    s.inner = inner * together;
    s.chunk = inner == 1 ? WK_RUN : WK_TILE_ROWS;
    s.chunks = (s.n - 1) / s.chunk + 1;
    s.tiles = (s.inner - 1) / WK_TILE + 1;
    s.partial = out;
    if (s.chunks > 1 || together > 1) {
        s.partial = (char *)PyMem_RawMalloc((size_t)(outer * (s.chunks * s.inner + 2 * inner) * item));
        if (s.partial == NULL) return -1;
    }
    if (inner == 1) {
        wk_parallel_for(outer * s.chunks, at_least_1(WORK_SUM / (s.n < s.chunk ? s.n : s.chunk)), reduce_runs, &s);
    } else {
        int64_t task = (s.n < s.chunk ? s.n : s.chunk) * (s.inner < WK_TILE ? s.inner : WK_TILE);
        wk_parallel_for(outer * s.chunks * s.tiles, at_least_1(WORK_SUM / task), reduce_tiles, &s);
    }
    if (s.partial == out) return 0;
    int combine = partial_kind(kind);
    for (int64_t o = 0; o < outer; o++) {
        char *partial = s.partial + o * s.chunks * s.inner * item, *result = out + o * inner * item;
        rows->combine(combine, partial, s.chunks, s.inner, s.inner, partial);
        if (together == 1) {
            memcpy(result, partial, (size_t)(inner * item));
            continue;
        }
        char *both = s.partial + (outer * s.chunks * s.inner + o * 2 * inner) * item;
        rows->combine(combine, partial, together, inner, inner, both);
        if (left > 0) {
            rows->reduce_tile(kind, x + o * s.x_step + s.n * s.inner * item, left, inner, inner, NULL, both + inner * item);
        }
        rows->combine(combine, both, left > 0 ? 2 : 1, inner, inner, result);
    }
    PyMem_RawFree(s.partial);
    return 0;
}

/* -- reductions: any dims ---------------------------------------------------------------------------------------------- */

typedef struct {
    int n_groups, reduced[NPY_MAXDIMS]; /* a group is a sequence of neighbouring dims that are all reduced or all kept */
    int64_t size[NPY_MAXDIMS];
    int nd; /* number of dims of the result */
    npy_intp shape[NPY_MAXDIMS];
    int64_t count; /* number of elements that are reduced to one */
} Plan;

/* Set the flags of the dims in axes: None, an int or a tuple of ints, 0 <= axis < nd. Return 0 with an error set if they are
 * invalid. */
static int read_axes(PyObject *axes, int nd, char *flags) {
    memset(flags, axes == Py_None, (size_t)nd);
    if (axes == Py_None) return 1;
    int is_tuple = PyTuple_Check(axes);
    Py_ssize_t n = is_tuple ? PyTuple_GET_SIZE(axes) : 1;
    for (Py_ssize_t i = 0; i < n; i++) {
        long axis = PyLong_AsLong(is_tuple ? PyTuple_GET_ITEM(axes, i) : axes);
        if (axis == -1 && PyErr_Occurred()) return 0;
        if (axis < 0 || axis >= nd) {
            PyErr_Format(PyExc_ValueError, "axis %ld is out of range for %d dims", axis, nd);
            return 0;
        }
        flags[axis] = 1;
    }
    return 1;
}

/* Set order to the dims of x in memory order, outermost first. Return 1, or 0 if x has gaps. */
static int memory_order(PyArrayObject *x, int *order) {
    int nd = PyArray_NDIM(x), n = 0;
    for (int d = 0; d < nd; d++) {
        if (PyArray_DIM(x, d) == 1) continue;
        int at = n++;
        for (; at > 0 && PyArray_STRIDE(x, order[at - 1]) < PyArray_STRIDE(x, d); at--) order[at] = order[at - 1];
        order[at] = d;
    }
    npy_intp step = PyArray_ITEMSIZE(x);
    for (int i = n - 1; i >= 0; i--) {
        if (PyArray_STRIDE(x, order[i]) != step) return 0;
        step *= PyArray_DIM(x, order[i]);
    }
    for (int d = 0; d < nd; d++) {
        if (PyArray_DIM(x, d) == 1) order[n++] = d;
    }
    return 1;
}

/* Plan the reduction of x. Return 0 if the kernels cannot do it. */
static int make_plan(PyArrayObject *x, const char *flags, int keepdims, Plan *plan) {
    int nd = PyArray_NDIM(x), order[NPY_MAXDIMS], last_kept = -1;
    if (!memory_order(x, order)) return 0;
    *plan = (Plan){.count = 1};
    for (int i = 0; i < nd; i++) {
        int d = order[i], reduced = flags[d];
        npy_intp size = PyArray_DIM(x, d);
        if (size == 1) continue;
        if (reduced) {
            plan->count *= size;
        } else {
            if (d < last_kept) return 0; /* the result would need another memory layout */
            last_kept = d;
        }
        int g = plan->n_groups - 1;
        if (g >= 0 && plan->reduced[g] == reduced) {
            plan->size[g] *= size;
        } else {
            plan->reduced[++g] = reduced;
            plan->size[g] = size;
            plan->n_groups = g + 1;
        }
    }
    for (int d = 0; d < nd; d++) {
        if (!flags[d] || keepdims) plan->shape[plan->nd++] = flags[d] ? 1 : PyArray_DIM(x, d);
    }
    return plan->count > 1;
}

/* Remove the last reduced group from the plan. Set *n to its size, and *outer and *inner to the sizes before and after it. */
static void next_step(Plan *plan, int64_t *outer, int64_t *n, int64_t *inner) {
    int g = plan->n_groups - 1;
    *outer = *inner = 1;
    while (!plan->reduced[g]) *inner *= plan->size[g--];
    *n = plan->size[g];
    for (int i = 0; i < g; i++) *outer *= plan->size[i];
    plan->n_groups = g;
    if (*inner > 1) {
        if (g > 0) plan->size[g - 1] *= *inner; /* group g - 1 is kept too, so they merge */
        else plan->reduced[0] = 0, plan->size[0] = *inner, plan->n_groups = 1;
    }
}

static int is_done(const Plan *plan) {
    for (int g = 0; g < plan->n_groups; g++) {
        if (plan->reduced[g]) return 0;
    }
    return 1;
}

static int run_plan(const WkRows *rows, int kind, int item, const char *x, Plan plan, char *out) {
    char *held = NULL;
    int failed = 0;
    while (!failed && !is_done(&plan)) {
        int64_t outer, n, inner;
        next_step(&plan, &outer, &n, &inner);
        char *target = is_done(&plan) ? out : (char *)PyMem_RawMalloc((size_t)(outer * inner * item));
        failed = target == NULL || reduce_step(rows, kind, item, x, outer, n, inner, NULL, target) < 0;
        PyMem_RawFree(held);
        held = target == out ? NULL : target;
        x = target;
        kind = partial_kind(kind);
    }
    PyMem_RawFree(held);
    return failed ? -1 : 0;
}

/* Divide n results, then take their square roots if `root` is true. */
static void divide_and_root(int typenum, void *data, int64_t n, double divisor, int root) {
    for (int64_t i = 0; i < n; i++) {
        if (typenum == NPY_FLOAT) {
            float *p = (float *)data + i;
            if (divisor != 1) *p /= (float)divisor;
            if (root) *p = sqrtf(*p);
        } else {
            double *p = (double *)data + i;
            if (divisor != 1) *p /= divisor;
            if (root) *p = sqrt(*p);
        }
    }
}

/* Return the reduction that a plan made for x describes, as a new array of the plan's shape. */
static PyObject *reduce_by(const Plan *plan, int kind, PyArrayObject *x) {
    int type = PyArray_TYPE(x);
    PyArrayObject *out = (PyArrayObject *)wk_new_array(plan->nd, plan->shape, type);
    if (out == NULL) return NULL;
    int base = kind == MEAN ? WK_SUM : kind == NORM ? WK_SQUARES : kind, failed;
    wk_release(PyArray_SIZE(x) > RELEASED);
    failed = run_plan(rows_of(type), base, (int)PyArray_ITEMSIZE(x), PyArray_BYTES(x), *plan, PyArray_BYTES(out));
    int ended = wk_reacquire() < 0;
    if (failed || ended) {
        Py_DECREF(out);
        return ended ? NULL : PyErr_NoMemory();
    }
    if (kind >= MEAN)
        divide_and_root(type, PyArray_DATA(out), PyArray_SIZE(out), kind == MEAN ? (double)plan->count : 1, kind == NORM);
    return (PyObject *)out;
}

static PyObject *reduce_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 4) return PyErr_Format(PyExc_TypeError, "reduce takes 4 arguments");
    if (!is_accepted(args[1])) Py_RETURN_NONE;
    PyArrayObject *x = (PyArrayObject *)args[1];
    int kind = (int)PyLong_AsLong(args[0]), keepdims = PyObject_IsTrue(args[3]);
    char flags[NPY_MAXDIMS];
    Plan plan;
    if (!read_axes(args[2], PyArray_NDIM(x), flags) || PyErr_Occurred()) return NULL;
    if (!make_plan(x, flags, keepdims, &plan)) Py_RETURN_NONE;
    return reduce_by(&plan, kind, x);
}

PyObject *wk_reduce_all(PyObject *x, int takes_mean) {
    char flags[NPY_MAXDIMS];
    Plan plan;
    if (!is_accepted(x)) Py_RETURN_NONE;
    memset(flags, 1, sizeof flags);
    if (!make_plan((PyArrayObject *)x, flags, 0, &plan)) Py_RETURN_NONE;
    return reduce_by(&plan, takes_mean ? MEAN : WK_SUM, (PyArrayObject *)x);
}

PyObject *wk_reduce_to(PyObject *x, PyObject *shape) {
    char flags[NPY_MAXDIMS];
    Plan plan;
    if (!is_accepted(x)) Py_RETURN_NONE;
    PyArrayObject *a = (PyArrayObject *)x;
    int nd = (int)PyTuple_GET_SIZE(shape), extra = PyArray_NDIM(a) - nd;
    if (extra < 0) Py_RETURN_NONE;
    memset(flags, 1, (size_t)extra);
    npy_intp target[NPY_MAXDIMS];
    for (int d = 0; d < nd; d++) {
        target[d] = PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, d));
        flags[extra + d] = target[d] != PyArray_DIM(a, extra + d);
        if (flags[extra + d] && target[d] != 1) Py_RETURN_NONE;
    }
    if (!make_plan(a, flags, 0, &plan)) Py_RETURN_NONE;
    plan.nd = nd;
    memcpy(plan.shape, target, sizeof *target * (size_t)nd);
    return reduce_by(&plan, WK_SUM, a);
}

/* -- variance ------------------------------------------------------------------------------------------------------------ */

static int run_variance(const WkRows *rows, int type, int item, const char *x, Plan plan, double freedom, char *variance,
                        char *mean) {
    int64_t outer, n, inner;
    next_step(&plan, &outer, &n, &inner);
    int64_t size = outer * inner;
    /* Deviations are measured from the first element, not from 0, so that the variance of equal elements is exactly 0. */
    for (int64_t o = 0; o < outer; o++) {
        memcpy(mean + o * inner * item, x + o * n * inner * item, (size_t)(inner * item));
    }
    if (reduce_step(rows, WK_DEVIATIONS, item, x, outer, n, inner, mean, variance) < 0) return -1;
    for (int64_t i = 0; i < size; i++) {
        if (type == NPY_FLOAT) ((float *)mean)[i] += ((float *)variance)[i] / (float)n;
        else ((double *)mean)[i] += ((double *)variance)[i] / (double)n;
    }
    if (reduce_step(rows, WK_SQUARED_DEVIATIONS, item, x, outer, n, inner, mean, variance) < 0) return -1;
    divide_and_root(type, variance, size, freedom, 0);
    return 0;
}

/* variance(x, axes, keepdims, freedom): sum of squared deviations from the mean over freedom, and the mean with its dims kept. */
static PyObject *variance_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 4) return PyErr_Format(PyExc_TypeError, "variance takes 4 arguments");
    if (!is_accepted(args[0])) Py_RETURN_NONE;
    PyArrayObject *x = (PyArrayObject *)args[0];
    int keepdims = PyObject_IsTrue(args[2]), type = PyArray_TYPE(x), n_reduced = 0;
    double freedom = PyFloat_AsDouble(args[3]);
    char flags[NPY_MAXDIMS];
    Plan plan, kept;
    if (!read_axes(args[1], PyArray_NDIM(x), flags) || PyErr_Occurred()) return NULL;
    if (!make_plan(x, flags, keepdims, &plan) || !make_plan(x, flags, 1, &kept)) Py_RETURN_NONE;
    for (int g = 0; g < plan.n_groups; g++) n_reduced += plan.reduced[g];
    if (n_reduced > 1) Py_RETURN_NONE;
    PyArrayObject *variance = (PyArrayObject *)wk_new_array(plan.nd, plan.shape, type);
    PyArrayObject *mean = (PyArrayObject *)wk_new_array(kept.nd, kept.shape, type);
    int failed = variance == NULL || mean == NULL;
    if (!failed) {
        wk_release(PyArray_SIZE(x) > RELEASED);
        failed = run_variance(rows_of(type), type, (int)PyArray_ITEMSIZE(x), PyArray_BYTES(x), plan, freedom, PyArray_BYTES(variance),
                              PyArray_BYTES(mean));
        if (wk_reacquire() < 0) failed = 1;
        else if (failed) PyErr_NoMemory();
    }
    PyObject *both = failed ? NULL : PyTuple_Pack(2, variance, mean);
    Py_XDECREF(variance);
    Py_XDECREF(mean);
    return both;
}

/* -- softmax ------------------------------------------------------------------------------------------------------------- */

typedef struct {
    const WkRows *rows;
    int logs;
    const char *x, *y;
    char *out;
    int64_t n, inner, width, tiles, item;
} Softmax;

static void softmax_rows(void *ctx, int64_t begin, int64_t end) {
    Softmax *s = (Softmax *)ctx;
    int64_t at = begin * s->n * s->item, n = end - begin;
    if (s->y == NULL) s->rows->softmax_rows(s->logs, s->x + at, s->out + at, s->n, n);
    else s->rows->softmax_cotangent_rows(s->logs, s->x + at, s->y + at, s->out + at, s->n, n);
}

static void softmax_tiles(void *ctx, int64_t begin, int64_t end) {
    Softmax *s = (Softmax *)ctx;
    for (int64_t t = begin; t < end; t++) {
        int64_t column = t % s->tiles * s->width, at = (t / s->tiles * s->n * s->inner + column) * s->item;
        int64_t width = s->inner - column < s->width ? s->inner - column : s->width;
        if (s->y == NULL) s->rows->softmax_tile(s->logs, s->x + at, s->out + at, s->n, width, s->inner);
        else s->rows->softmax_cotangent_tile(s->logs, s->x + at, s->y + at, s->out + at, s->n, width, s->inner);
    }
}

/* Set *n to the size of x along axis, and *outer and *inner to the sizes before and after it. Return 0 with an error set if there
 * is no such axis. */
static int split_at(PyArrayObject *x, long axis, int64_t *outer, int64_t *n, int64_t *inner) {
    int nd = PyArray_NDIM(x);
    if (axis < 0 || axis >= nd) {
        if (!PyErr_Occurred()) PyErr_Format(PyExc_ValueError, "axis %ld is out of range for %d dims", axis, nd);
        return 0;
    }
    *outer = *inner = 1;
    *n = PyArray_DIM(x, axis);
    for (int d = 0; d < axis; d++) *outer *= PyArray_DIM(x, d);
    for (int d = (int)axis + 1; d < nd; d++) *inner *= PyArray_DIM(x, d);
    return 1;
}

/* softmax(logs, axis, x): softmax or log_softmax. softmax(logs, axis, ct, y): cotangent of x. */
static PyObject *softmax_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 3 && nargs != 4) return PyErr_Format(PyExc_TypeError, "softmax takes 3 or 4 arguments");
    PyObject *y = nargs == 4 ? args[3] : NULL;
    if (!is_accepted(args[2]) || (y != NULL && !is_accepted(y))) Py_RETURN_NONE;
    PyArrayObject *first = (PyArrayObject *)args[2], *second = (PyArrayObject *)y;
    int type = PyArray_TYPE(first);
    if (y != NULL && (PyArray_TYPE(second) != type || !PyArray_SAMESHAPE(first, second))) Py_RETURN_NONE;
    Softmax s = {.rows = rows_of(type), .logs = PyObject_IsTrue(args[0]), .item = PyArray_ITEMSIZE(first)};
    if (s.logs < 0) return NULL;
    int64_t outer;
    if (!split_at(first, PyLong_AsLong(args[1]), &outer, &s.n, &s.inner)) return NULL;
    first = (PyArrayObject *)PyArray_GETCONTIGUOUS(first); /* the same array if it is contiguous */
    second = second != NULL ? (PyArrayObject *)PyArray_GETCONTIGUOUS(second) : NULL;
    PyArrayObject *out = NULL;
    if (first == NULL || (y != NULL && second == NULL)) goto done;
    out = (PyArrayObject *)wk_new_array(PyArray_NDIM(first), PyArray_DIMS(first), type);
    if (out == NULL) goto done;
    s.x = PyArray_BYTES(first), s.y = second != NULL ? PyArray_BYTES(second) : NULL, s.out = PyArray_BYTES(out);
    if (s.inner == 1) {
        if (wk_run_loop(outer * s.n > RELEASED, outer, at_least_1(WORK_EXP / s.n), softmax_rows, &s) < 0) Py_CLEAR(out);
    } else {
        s.width = 131072 / s.n; /* a tile should stay in the second cache */
        s.width = s.width < 16 ? 16 : s.width > WK_TILE ? WK_TILE : s.width / 16 * 16;
        if (s.width > s.inner) s.width = s.inner;
        s.tiles = (s.inner - 1) / s.width + 1;
        int releases = outer * s.n * s.inner > RELEASED;
        if (wk_run_loop(releases, outer * s.tiles, at_least_1(WORK_EXP / (s.n * s.width)), softmax_tiles, &s) < 0) Py_CLEAR(out);
    }
done:
    Py_XDECREF(first);
    Py_XDECREF(second);
    return (PyObject *)out;
}

static void log_softmax_base_rows(void *ctx, int64_t begin, int64_t end) {
    Softmax *s = (Softmax *)ctx;
    int64_t at = begin * s->n * s->item;
    s->rows->log_softmax_base_rows(s->x + begin * s->item, s->y + at, s->out + at, s->n, end - begin);
}

/* log_softmax_base(sums, y): -exp(y) times the sums, one a row along the last dim. */
static PyObject *log_softmax_base_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 2) return PyErr_Format(PyExc_TypeError, "log_softmax_base takes 2 arguments");
    if (!is_accepted(args[0]) || !is_accepted(args[1])) Py_RETURN_NONE;
    PyArrayObject *sums = (PyArrayObject *)args[0], *y = (PyArrayObject *)args[1];
    int type = PyArray_TYPE(y), last = PyArray_NDIM(y) - 1;
    if (last < 0 || PyArray_TYPE(sums) != type || !PyArray_ISCARRAY_RO(sums) || !PyArray_ISCARRAY_RO(y)) Py_RETURN_NONE;
    Softmax s = {.rows = rows_of(type), .item = PyArray_ITEMSIZE(y), .n = PyArray_DIM(y, last)};
    int64_t rows = PyArray_SIZE(sums);
    if (s.n == 0 || rows * s.n != PyArray_SIZE(y)) Py_RETURN_NONE;
    PyObject *out = wk_new_array(PyArray_NDIM(y), PyArray_DIMS(y), type);
    if (out == NULL) return NULL;
    s.x = PyArray_BYTES(sums), s.y = PyArray_BYTES(y), s.out = PyArray_BYTES((PyArrayObject *)out);
    if (wk_run_loop(rows * s.n > RELEASED, rows, at_least_1(WORK_EXP / s.n), log_softmax_base_rows, &s) < 0) Py_CLEAR(out);
    return out;
}

typedef struct {
    const WkRows *rows;
    const char *x;
    const int64_t *target;
    char *out, *losses;
    int64_t n, item;
} RowValues;

static void logsumexp_rows(void *ctx, int64_t begin, int64_t end) {
    RowValues *s = (RowValues *)ctx;
    s->rows->logsumexp_rows(s->x + begin * s->n * s->item, s->out + begin * s->item, s->n, end - begin);
}

/* logsumexp(x, axes, keepdims): logsumexp over the last dims. */
static PyObject *logsumexp_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 3) return PyErr_Format(PyExc_TypeError, "logsumexp takes 3 arguments");
    if (!is_accepted(args[0])) Py_RETURN_NONE;
    PyArrayObject *x = (PyArrayObject *)args[0];
    int keepdims = PyObject_IsTrue(args[2]), type = PyArray_TYPE(x);
    char flags[NPY_MAXDIMS];
    Plan plan;
    if (!read_axes(args[1], PyArray_NDIM(x), flags) || PyErr_Occurred()) return NULL;
    if (!make_plan(x, flags, keepdims, &plan)) Py_RETURN_NONE;
    int64_t outer, inner;
    RowValues s = {.rows = rows_of(type), .x = PyArray_BYTES(x), .item = PyArray_ITEMSIZE(x)};
    next_step(&plan, &outer, &s.n, &inner);
    if (inner != 1 || !is_done(&plan)) Py_RETURN_NONE;
    PyArrayObject *out = (PyArrayObject *)wk_new_array(plan.nd, plan.shape, type);
    if (out == NULL) return NULL;
    s.out = PyArray_BYTES(out);
    if (wk_run_loop(outer * s.n > RELEASED, outer, at_least_1(WORK_EXP / s.n), logsumexp_rows, &s) < 0) Py_CLEAR(out);
    return (PyObject *)out;
}

static void cross_entropy_rows(void *ctx, int64_t begin, int64_t end) {
    RowValues *s = (RowValues *)ctx;
    int64_t at = begin * s->n * s->item;
    s->rows->cross_entropy_rows(s->x + at, s->target + begin, s->out + at, s->losses + begin * s->item, s->n, end - begin);
}

/* cross_entropy(x, target): loss of each row, and softmax(x). x: (n, classes); target: (n), int64, 0 <= target < classes. */
static PyObject *cross_entropy_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 2) return PyErr_Format(PyExc_TypeError, "cross_entropy takes 2 arguments");
    if (!is_accepted(args[0]) || !PyArray_CheckExact(args[1])) Py_RETURN_NONE;
    PyArrayObject *x = (PyArrayObject *)args[0], *target = (PyArrayObject *)args[1];
    int type = PyArray_TYPE(x);
    if (PyArray_NDIM(x) != 2 || !PyArray_IS_C_CONTIGUOUS(x) || PyArray_TYPE(target) != NPY_INT64 || PyArray_NDIM(target) != 1 ||
        !PyArray_ISCARRAY_RO(target) || PyArray_DIM(target, 0) != PyArray_DIM(x, 0)) {
        Py_RETURN_NONE;
    }
    int64_t rows = PyArray_DIM(x, 0), n = PyArray_DIM(x, 1);
    const int64_t *classes = (const int64_t *)PyArray_DATA(target);
    for (int64_t i = 0; i < rows; i++) {
        if (classes[i] < 0 || classes[i] >= n) Py_RETURN_NONE;
    }
    PyArrayObject *losses = (PyArrayObject *)wk_new_array(1, PyArray_DIMS(x), type);
    PyArrayObject *out = losses != NULL ? (PyArrayObject *)wk_new_array(2, PyArray_DIMS(x), type) : NULL;
    PyObject *both = NULL;
    if (out != NULL) {
        RowValues s = {rows_of(type), PyArray_BYTES(x), classes, PyArray_BYTES(out), PyArray_BYTES(losses), n, PyArray_ITEMSIZE(x)};
        int failed = wk_run_loop(rows * n > RELEASED, rows, at_least_1(WORK_EXP / n), cross_entropy_rows, &s) < 0;
        both = failed ? NULL : PyTuple_Pack(2, losses, out);
    }
    Py_XDECREF(losses);
    Py_XDECREF(out);
    return both;
}

/* -- layer norm ---------------------------------------------------------------------------------------------------------- */

typedef struct {
    const WkRows *rows;
    const char *ct, *x, *weight, *bias;
    char *out, *mean, *rstd, *of_weight, *of_bias; /* of_weight and of_bias: (chunks, n) */
    double eps;
    int64_t n_rows, n, item, chunk;
} Standardize;

static void standardize_rows(void *ctx, int64_t begin, int64_t end) {
    Standardize *s = (Standardize *)ctx;
    int64_t at = begin * s->n * s->item, one = begin * s->item;
    s->rows->standardize_rows(s->x + at, s->weight, s->bias, s->eps, s->n, end - begin, s->out + at, s->mean + one, s->rstd + one);
}

static void standardize_cotangent_chunks(void *ctx, int64_t begin, int64_t end) {
    Standardize *s = (Standardize *)ctx;
    for (int64_t chunk = begin; chunk < end; chunk++) {
        int64_t last = (chunk + 1) * s->chunk < s->n_rows ? (chunk + 1) * s->chunk : s->n_rows;
        char *of_weight = s->of_weight ? s->of_weight + chunk * s->n * s->item : NULL;
        char *of_bias = s->of_bias ? s->of_bias + chunk * s->n * s->item : NULL;
        int64_t first = chunk * s->chunk, at = first * s->n * s->item, one = first * s->item;
        s->rows->standardize_cotangent_rows(s->ct + at, s->x + at, s->mean + one, s->rstd + one, s->weight, s->n, last - first,
                                            s->out ? s->out + at : NULL, of_weight, of_bias);
    }
}

/* Set *data to the data of a contiguous array of the given type and size, or to NULL for None. Return 0 if vector is something
 * else. */
static int read_vector(PyObject *vector, int type, int64_t size, const char **data) {
    *data = NULL;
    if (vector == Py_None) return 1;
    if (!is_accepted(vector)) return 0;
    PyArrayObject *a = (PyArrayObject *)vector;
    *data = PyArray_BYTES(a);
    return PyArray_TYPE(a) == type && PyArray_IS_C_CONTIGUOUS(a) && PyArray_SIZE(a) == size;
}

/* standardize(x, weight, bias, n, eps): result, mean and rstd of each row of n elements. x is treated as flat. */
static PyObject *standardize_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 5) return PyErr_Format(PyExc_TypeError, "standardize takes 5 arguments");
    if (!is_accepted(args[0]) || !PyArray_IS_C_CONTIGUOUS((PyArrayObject *)args[0])) Py_RETURN_NONE;
    PyArrayObject *x = (PyArrayObject *)args[0];
    int type = PyArray_TYPE(x);
    Standardize s = {.rows = rows_of(type), .x = PyArray_BYTES(x), .item = PyArray_ITEMSIZE(x)};
    s.n = PyLong_AsLongLong(args[3]);
    s.eps = PyFloat_AsDouble(args[4]);
    if (PyErr_Occurred()) return NULL;
    if (s.n < 1 || PyArray_SIZE(x) % s.n || !read_vector(args[1], type, s.n, &s.weight) || !read_vector(args[2], type, s.n, &s.bias)) {
        Py_RETURN_NONE;
    }
    npy_intp n_rows = PyArray_SIZE(x) / s.n;
    PyArrayObject *out = (PyArrayObject *)wk_new_array(PyArray_NDIM(x), PyArray_DIMS(x), type);
    PyArrayObject *mean = (PyArrayObject *)wk_new_array(1, &n_rows, type), *rstd = (PyArrayObject *)wk_new_array(1, &n_rows, type);
    PyObject *all = NULL;
    if (out != NULL && mean != NULL && rstd != NULL) {
        s.out = PyArray_BYTES(out), s.mean = PyArray_BYTES(mean), s.rstd = PyArray_BYTES(rstd);
        int failed = wk_run_loop(PyArray_SIZE(x) > RELEASED, n_rows, at_least_1(WORK_EXP / s.n), standardize_rows, &s) < 0;
        all = failed ? NULL : PyTuple_Pack(3, out, mean, rstd);
    }
    Py_XDECREF(out);
    Py_XDECREF(mean);
    Py_XDECREF(rstd);
    return all;
}

static PyObject *new_or_none(int wanted, int nd, npy_intp const *shape, int type) {
    return wanted ? wk_new_array(nd, shape, type) : Py_NewRef(Py_None);
}

static char *bytes_or_null(PyObject *array) { return array == Py_None ? NULL : PyArray_BYTES((PyArrayObject *)array); }

/* standardize_cotangent(ct, x, mean, rstd, weight, needs): cotangents of x, weight and bias; None for those whose bit (1, 2, 4) is
 * not in needs. */
static PyObject *standardize_cotangent_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 6) return PyErr_Format(PyExc_TypeError, "standardize_cotangent takes 6 arguments");
    if (!is_accepted(args[1]) || !PyArray_IS_C_CONTIGUOUS((PyArrayObject *)args[1]) || !is_accepted(args[2])) Py_RETURN_NONE;
    PyArrayObject *x = (PyArrayObject *)args[1];
    int type = PyArray_TYPE(x);
    long needs = PyLong_AsLong(args[5]);
    if (PyErr_Occurred()) return NULL;
    Standardize s = {.rows = rows_of(type), .x = PyArray_BYTES(x), .item = PyArray_ITEMSIZE(x)};
    s.n_rows = PyArray_SIZE((PyArrayObject *)args[2]);
    if (PyArray_SIZE(x) % s.n_rows) Py_RETURN_NONE;
    s.n = PyArray_SIZE(x) / s.n_rows;
    const char *mean, *rstd;
    if (!read_vector(args[0], type, PyArray_SIZE(x), &s.ct) || !read_vector(args[2], type, s.n_rows, &mean) ||
        !read_vector(args[3], type, s.n_rows, &rstd) || !read_vector(args[4], type, s.n, &s.weight) || s.ct == NULL || rstd == NULL) {
        Py_RETURN_NONE;
    }
    s.mean = (char *)mean, s.rstd = (char *)rstd;
    s.chunk = at_least_1(WORK_EXP / s.n) > s.n_rows / 64 ? at_least_1(WORK_EXP / s.n) : s.n_rows / 64; /* see Note [Sums and threads] */
    npy_intp chunks = (s.n_rows - 1) / s.chunk + 1, n = s.n;
    size_t partial_size = (size_t)(chunks * s.n * s.item);
    PyObject *out = new_or_none(needs & 1, PyArray_NDIM(x), PyArray_DIMS(x), type);
    PyObject *of_weight = new_or_none(needs & 2, 1, &n, type), *of_bias = new_or_none(needs & 4, 1, &n, type), *all = NULL;
    char *partial = (char *)PyMem_RawCalloc(2, partial_size);
    if (out != NULL && of_weight != NULL && of_bias != NULL && partial != NULL) {
        s.out = bytes_or_null(out);
        s.of_weight = needs & 2 ? partial : NULL;
        s.of_bias = needs & 4 ? partial + partial_size : NULL;
        int failed = wk_run_loop(PyArray_SIZE(x) > RELEASED, chunks, 1, standardize_cotangent_chunks, &s) < 0;
        if (needs & 2) s.rows->combine(WK_SUM, s.of_weight, chunks, n, n, bytes_or_null(of_weight));
        if (needs & 4) s.rows->combine(WK_SUM, s.of_bias, chunks, n, n, bytes_or_null(of_bias));
        all = failed ? NULL : PyTuple_Pack(3, out, of_weight, of_bias);
    } else if (!PyErr_Occurred()) {
        PyErr_NoMemory();
    }
    PyMem_RawFree(partial);
    Py_XDECREF(out);
    Py_XDECREF(of_weight);
    Py_XDECREF(of_bias);
    return all;
}

#define METHOD(name, doc) {#name, (PyCFunction)(void (*)(void))name##_method, METH_FASTCALL, doc}
PyMethodDef wk_rows_methods[] = {
    METHOD(reduce, "reduce(kind, x, axes, keepdims): a reduction. wengert.kernels.rows names the kinds."),
    METHOD(variance, "variance(x, axes, keepdims, freedom): variance, and mean with its dims kept."),
    METHOD(softmax, "softmax(logs, axis, x): softmax or log_softmax. softmax(logs, axis, ct, out): cotangent of x."),
    METHOD(log_softmax_base, "log_softmax_base(sums, out): -exp(out) times the sum of each row."),
    METHOD(logsumexp, "logsumexp(x, axes, keepdims): logsumexp over the last dims."),
    METHOD(cross_entropy, "cross_entropy(x, target): losses and probabilities."),
    METHOD(standardize, "standardize(x, weight, bias, n, eps): result, means and reciprocal deviations."),
    METHOD(standardize_cotangent, "standardize_cotangent(ct, x, mean, rstd, weight, needs): cotangents of x, weight and bias."),
    {NULL, NULL, 0, NULL},
};
