/* Running results along a dim: sums, products, extrema with their places, logsumexp, and linear recurrences. Also products along a
 * dim.
 *
 * Each lane belongs to one thread and is scanned in order. A few neighbouring lanes are scanned side by side, so that no step waits
 * for the one before. Sums and products run in float64, because an error in one result is in all later ones.
 */
#include <math.h>
#include <string.h>

#include "wk_lanes.h"
#include "wk_numpy.h"
#include "wk_pool.h"
#include "wk_release.h"

enum {
    SUM, PRODUCT, LARGEST, SMALLEST, LOGSUMEXP, RECURRENCE, KINDS,
    BESIDE = 4, /* number of lanes scanned side by side */
    ROW = 64,   /* the same, if lanes lie next to each other in rows */
};

typedef struct {
    WkLanes lanes; /* lanes of x (0), the result (1), and the places or the terms (2) */
    const char *x;
    char *out, *other; /* other: places or terms; NULL if there are none */
    int64_t n;
    double init;
    int kind, is_double;
} Scan;

#define X(type, j) (*(const type *)(x + (j) * s->lanes.next[0]))
#define OUT(type, j) (*(type *)(out + (j) * s->lanes.next[1]))
#define PLACE(j) (*(int64_t *)(other + (j) * s->lanes.next[2]))
#define TERM(type, j) (*(const type *)(other + (j) * s->lanes.next[2]))
#define STEPS (x += s->lanes.step[0], out += s->lanes.step[1], other += other != NULL ? s->lanes.step[2] : 0)

/* Scans of `count` lanes. count is a constant after inlining. in_rows: whether lanes lie next to each other. */
#define SCANS(type, exp_of, log_of)                                                                                        \
    static inline void sum_##type(const Scan *s, const char *x, char *out, char *other, int64_t count, int in_rows) {      \
        double total[ROW] = {0};                                                                                           \
        for (int64_t i = 0; i < s->n; i++, STEPS) {                                                                        \
            if (in_rows) {                                                                                                 \
                for (int64_t j = 0; j < count; j++) ((type *)out)[j] = (type)(total[j] += ((const type *)x)[j]);           \
            } else {                                                                                                       \
                for (int64_t j = 0; j < count; j++) OUT(type, j) = (type)(total[j] += X(type, j));                         \
            }                                                                                                              \
        }                                                                                                                  \
    }                                                                                                                      \
    static inline void product_##type(const Scan *s, const char *x, char *out, char *other, int64_t count, int in_rows) {  \
        double total[ROW];                                                                                                 \
        for (int64_t j = 0; j < count; j++) total[j] = 1;                                                                  \
        for (int64_t i = 0; i < s->n; i++, STEPS) {                                                                        \
            if (in_rows) {                                                                                                 \
                for (int64_t j = 0; j < count; j++) ((type *)out)[j] = (type)(total[j] *= ((const type *)x)[j]);           \
            } else {                                                                                                       \
                for (int64_t j = 0; j < count; j++) OUT(type, j) = (type)(total[j] *= X(type, j));                         \
            }                                                                                                              \
        }                                                                                                                  \
    }                                                                                                                      \
    /* Place of the last of equal extrema, or of the last NaN. Once a NaN is met, the result stays NaN. */                 \
    static inline void extremum_##type(const Scan *s, const char *x, char *out, char *other, int64_t count, int smallest) { \
        type best[ROW];                                                                                                    \
        int64_t places[ROW] = {0};                                                                                         \
        for (int64_t j = 0; j < count; j++) best[j] = X(type, j);                                                          \
        for (int64_t i = 0; i < s->n; i++, STEPS) {                                                                        \
            for (int64_t j = 0; j < count; j++) {                                                                          \
                type v = X(type, j);                                                                                       \
                int better = (smallest ? v <= best[j] : v >= best[j]) | (v != v);                                          \
                best[j] = better ? v : best[j];                                                                            \
                places[j] = better ? i : places[j];                                                                        \
                OUT(type, j) = best[j];                                                                                    \
                PLACE(j) = places[j];                                                                                      \
            }                                                                                                              \
        }                                                                                                                  \
    }                                                                                                                      \
    /* Running m + log(sum), where m is the largest element so far. */                                                     \
    static inline void logsumexp_##type(const Scan *s, const char *x, char *out, char *other, int64_t count) {             \
        type m[ROW];                                                                                                       \
        double sum[ROW] = {0};                                                                                             \
        for (int64_t j = 0; j < count; j++) m[j] = (type)-INFINITY;                                                        \
        for (int64_t i = 0; i < s->n; i++, STEPS) {                                                                        \
            for (int64_t j = 0; j < count; j++) {                                                                          \
                type v = X(type, j);                                                                                       \
                if (v > m[j]) sum[j] = sum[j] * exp_of(m[j] - v) + 1, m[j] = v;                                            \
                else if (v == m[j]) sum[j] += v > (type)-INFINITY;                                                         \
                else sum[j] += exp_of(v - m[j]);                                                                           \
                OUT(type, j) = m[j] + log_of((type)sum[j]);                                                                \
            }                                                                                                              \
        }                                                                                                                  \
    }                                                                                                                      \
    /* out[0] = init, out[i + 1] = term[i] + x[i] * out[i] */                                                              \
    static inline void recurrence_##type(const Scan *s, const char *x, char *out, char *other, int64_t count) {            \
        type state[ROW];                                                                                                   \
        for (int64_t j = 0; j < count; j++) state[j] = (type)s->init;                                                      \
        for (int64_t i = 0; i < s->n; i++, STEPS) {                                                                        \
            for (int64_t j = 0; j < count; j++) {                                                                          \
                OUT(type, j) = state[j];                                                                                   \
                state[j] *= X(type, j);                                                                                    \
                if (other != NULL) state[j] += TERM(type, j);                                                              \
            }                                                                                                              \
        }                                                                                                                  \
    }                                                                                                                      \
    static inline void scan_##type(const Scan *s, const char *x, char *out, char *other, int64_t count, int in_rows) {     \
        switch (s->kind) {                                                                                                 \
            case SUM: sum_##type(s, x, out, other, count, in_rows); break;                                                 \
            case PRODUCT: product_##type(s, x, out, other, count, in_rows); break;                                         \
            case LARGEST: extremum_##type(s, x, out, other, count, 0); break;                                              \
            case SMALLEST: extremum_##type(s, x, out, other, count, 1); break;                                             \
            case LOGSUMEXP: logsumexp_##type(s, x, out, other, count); break;                                              \
            default: recurrence_##type(s, x, out, other, count);                                                           \
        }                                                                                                                  \
    }                                                                                                                      \
    static void scan_run_##type(const Scan *s, const char *x, char *out, char *other, int64_t run) {                       \
        int in_rows = s->lanes.next[0] == sizeof(type) && s->lanes.next[1] == sizeof(type);                                \
        int64_t j = 0;                                                                                                     \
        if (in_rows) {                                                                                                     \
            for (; j + ROW <= run; j += ROW) scan_##type(s, &X(char, j), &OUT(char, j), other ? &OUT_OTHER(j) : NULL, ROW, 1); \
        }                                                                                                                  \
        for (; j + BESIDE <= run; j += BESIDE) {                                                                           \
            scan_##type(s, &X(char, j), &OUT(char, j), other ? &OUT_OTHER(j) : NULL, BESIDE, 0);                           \
        }                                                                                                                  \
        for (; j < run; j++) scan_##type(s, &X(char, j), &OUT(char, j), other ? &OUT_OTHER(j) : NULL, 1, 0);               \
    }
#define OUT_OTHER(j) other[(j) * s->lanes.next[2]]
SCANS(float, expf, logf)
SCANS(double, exp, log)

static void scan_lanes(void *ctx, int64_t begin, int64_t end) {
    const Scan *s = (const Scan *)ctx;
    int64_t run, offsets[WK_LANE_ARRAYS];
    for (int64_t lane = begin; lane < end; lane += run) {
        run = wk_lane_run(&s->lanes, lane, end, offsets);
        (s->is_double ? scan_run_double : scan_run_float)(s, s->x + offsets[0], s->out + offsets[1],
                                                          s->other != NULL ? s->other + offsets[2] : NULL, run);
    }
}

static int is_floating(PyObject *x) {
    if (!PyArray_CheckExact(x)) return 0;
    int type = PyArray_TYPE((PyArrayObject *)x);
    return (type == NPY_FLOAT || type == NPY_DOUBLE) && PyArray_ISBEHAVED_RO((PyArrayObject *)x);
}

/* Scan all lanes along dim. If reverse is true, start at the end of each lane. Return 0, or -1 with an error set. */
static int run_scan(Scan *s, PyArrayObject *x, PyArrayObject *out, PyArrayObject *other, int dim, int reverse) {
    int work = s->kind == LOGSUMEXP ? 8 : 2;
    const npy_intp *strides[] = {PyArray_STRIDES(x), PyArray_STRIDES(out), PyArray_STRIDES(other != NULL ? other : out)};
    wk_lanes_init(&s->lanes, PyArray_NDIM(x), PyArray_DIMS(x), dim, 3, strides);
    s->n = PyArray_DIM(x, dim);
    s->is_double = PyArray_TYPE(x) == NPY_DOUBLE;
    s->x = PyArray_BYTES(x), s->out = PyArray_BYTES(out), s->other = other != NULL ? PyArray_BYTES(other) : NULL;
    if (reverse) {
        s->x += (s->n - 1) * s->lanes.step[0], s->out += (s->n - 1) * s->lanes.step[1];
        if (s->other != NULL) s->other += (s->n - 1) * s->lanes.step[2];
        for (int a = 0; a < 3; a++) s->lanes.step[a] = -s->lanes.step[a];
    }
    return wk_run_loop(PyArray_SIZE(x) > WK_LANE_WORK / work, s->lanes.lanes, wk_lane_grain(s->n * work), scan_lanes, s);
}

/* scan(kind, x, dim, reverse): running sums, products or logsumexps; for extrema the tuple (values, places). */
static PyObject *scan_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 4) return PyErr_Format(PyExc_TypeError, "scan takes 4 arguments");
    long kind = PyLong_AsLong(args[0]), dim = PyLong_AsLong(args[2]);
    int reverse = PyObject_IsTrue(args[3]);
    if (PyErr_Occurred()) return NULL;
    if (!is_floating(args[1])) Py_RETURN_NONE;
    PyArrayObject *x = (PyArrayObject *)args[1];
    int nd = PyArray_NDIM(x);
    if (kind < 0 || kind >= RECURRENCE || dim < 0 || dim >= nd || PyArray_SIZE(x) == 0) Py_RETURN_NONE;
    Scan s = {.kind = (int)kind};
    PyArrayObject *out = (PyArrayObject *)wk_new_array(nd, PyArray_DIMS(x), PyArray_TYPE(x)), *places = NULL;
    if (out == NULL) return NULL;
    if (kind == LARGEST || kind == SMALLEST) {
        places = (PyArrayObject *)wk_new_array(nd, PyArray_DIMS(x), NPY_INT64);
        if (places == NULL) {
            Py_DECREF(out);
            return NULL;
        }
    }
    if (run_scan(&s, x, out, places, (int)dim, reverse) < 0) Py_CLEAR(out);
    if (places == NULL) return (PyObject *)out;
    PyObject *both = out != NULL ? PyTuple_Pack(2, out, places) : NULL;
    Py_XDECREF(out);
    Py_DECREF(places);
    return both;
}

/* recurrence(x, y, dim, reverse, init): out[0] = init, out[i + 1] = y[i] + x[i] * out[i] along dim. If y is None, it counts as
 * zeros. */
static PyObject *recurrence_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 5) return PyErr_Format(PyExc_TypeError, "recurrence takes 5 arguments");
    long dim = PyLong_AsLong(args[2]);
    int reverse = PyObject_IsTrue(args[3]);
    Scan s = {.kind = RECURRENCE, .init = PyFloat_AsDouble(args[4])};
    if (PyErr_Occurred()) return NULL;
    if (!is_floating(args[0]) || (args[1] != Py_None && !is_floating(args[1]))) Py_RETURN_NONE;
    PyArrayObject *x = (PyArrayObject *)args[0], *y = args[1] != Py_None ? (PyArrayObject *)args[1] : NULL;
    int nd = PyArray_NDIM(x);
    if (dim < 0 || dim >= nd || PyArray_SIZE(x) == 0) Py_RETURN_NONE;
    if (y != NULL && (PyArray_TYPE(y) != PyArray_TYPE(x) || !PyArray_SAMESHAPE(x, y))) Py_RETURN_NONE;
    PyArrayObject *out = (PyArrayObject *)wk_new_array(nd, PyArray_DIMS(x), PyArray_TYPE(x));
    if (out != NULL && run_scan(&s, x, out, y, (int)dim, reverse) < 0) Py_CLEAR(out);
    return (PyObject *)out;
}

/* -- products ------------------------------------------------------------------------------------------------------------- */

enum { PARTS = 16 }; /* number of parts of a lane that are multiplied side by side */

/* Multiply the elements of `run` lanes. The length and the layout of a lane alone decide the order of the products. */
#define PRODUCTS(type)                                                                                       \
    static void multiply_up_##type(const Scan *s, const char *x, char *out, int64_t run) {                   \
        int64_t n = s->n, step = s->lanes.step[0], next = s->lanes.next[0], out_next = s->lanes.next[1];     \
        if (step != sizeof(type) && next == sizeof(type) && out_next == sizeof(type)) {                      \
            type *total = (type *)out;                                                                       \
            for (int64_t j = 0; j < run; j++) total[j] = 1;                                                  \
            for (int64_t i = 0; i < n; i++) {                                                                \
                const type *row = (const type *)(x + i * step);                                              \
                for (int64_t j = 0; j < run; j++) total[j] *= row[j];                                        \
            }                                                                                                \
            return;                                                                                          \
        }                                                                                                    \
        for (int64_t j = 0; j < run; j++, x += next, out += out_next) {                                      \
            type parts[PARTS], total = 1;                                                                    \
            int64_t i = 0;                                                                                   \
            if (step == sizeof(type)) {                                                                      \
                const type *lane = (const type *)x;                                                          \
                for (int k = 0; k < PARTS; k++) parts[k] = 1;                                                \
                for (; i + PARTS <= n; i += PARTS) {                                                         \
                    for (int k = 0; k < PARTS; k++) parts[k] *= lane[i + k];                                 \
                }                                                                                            \
                for (int k = 0; k < PARTS; k++) total *= parts[k];                                           \
            }                                                                                                \
            for (; i < n; i++) total *= *(const type *)(x + i * step);                                       \
            *(type *)out = total;                                                                            \
        }                                                                                                    \
    }
PRODUCTS(float)
PRODUCTS(double)

static void multiply_lanes(void *ctx, int64_t begin, int64_t end) {
    const Scan *s = (const Scan *)ctx;
    int64_t run, offsets[WK_LANE_ARRAYS];
    for (int64_t lane = begin; lane < end; lane += run) {
        run = wk_lane_run(&s->lanes, lane, end, offsets);
        (s->is_double ? multiply_up_double : multiply_up_float)(s, s->x + offsets[0], s->out + offsets[1], run);
    }
}

/* multiply_up(x, dim): products along dim, which stays with size 1. */
static PyObject *multiply_up_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 2) return PyErr_Format(PyExc_TypeError, "multiply_up takes 2 arguments");
    long dim = PyLong_AsLong(args[1]);
    if (PyErr_Occurred()) return NULL;
    if (!is_floating(args[0])) Py_RETURN_NONE;
    PyArrayObject *x = (PyArrayObject *)args[0];
    int nd = PyArray_NDIM(x);
    if (dim < 0 || dim >= nd || PyArray_SIZE(x) == 0) Py_RETURN_NONE;
    npy_intp shape[NPY_MAXDIMS];
    memcpy(shape, PyArray_DIMS(x), (size_t)nd * sizeof *shape);
    shape[dim] = 1;
    PyArrayObject *out = (PyArrayObject *)wk_new_array(nd, shape, PyArray_TYPE(x));
    if (out == NULL) return NULL;
    const npy_intp *strides[] = {PyArray_STRIDES(x), PyArray_STRIDES(out)};
    Scan s = {.x = PyArray_BYTES(x), .out = PyArray_BYTES(out), .n = PyArray_DIM(x, dim), .is_double = PyArray_TYPE(x) == NPY_DOUBLE};
    wk_lanes_init(&s.lanes, nd, PyArray_DIMS(x), (int)dim, 2, strides);
    if (wk_run_loop(PyArray_SIZE(x) > WK_LANE_WORK, s.lanes.lanes, wk_lane_grain(s.n), multiply_lanes, &s) < 0) Py_CLEAR(out);
    return (PyObject *)out;
}

#define METHOD(name, doc) {#name, (PyCFunction)(void (*)(void))name##_method, METH_FASTCALL, doc}
PyMethodDef wk_scans_methods[] = {
    METHOD(scan, "scan(kind, x, dim, reverse): running sums, products or logsumexps; for extrema (values, places)."),
    METHOD(multiply_up, "multiply_up(x, dim): products along dim, which stays with size 1."),
    METHOD(recurrence, "recurrence(x, y, dim, reverse, init): a linear recurrence along dim."),
    {NULL, NULL, 0, NULL},
};
