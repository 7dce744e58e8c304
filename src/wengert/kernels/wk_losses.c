/* Losses and their cotangents, each in one pass: Huber losses, and margin losses between classes.
 *
 * Methods return None for arguments that they do not accept; NumPy then does the work. Sums run in float64 over chunks whose limits
 * depend on the size alone.
 */
#include <math.h>
#include <stdlib.h>

#include "wk_index.h"
#include "wk_numpy.h"
#include "wk_pool.h"
#include "wk_release.h"

enum {
    CHUNK = 32768, /* number of elements that are summed together; the least number for a thread */
    PARTS = 8,     /* number of parts of a chunk that are summed side by side */
};

static int is_accepted(PyObject *x) {
    if (!PyArray_CheckExact(x)) return 0;
    int type = PyArray_TYPE((PyArrayObject *)x);
    return (type == NPY_FLOAT || type == NPY_DOUBLE) && PyArray_ISCARRAY_RO((PyArrayObject *)x) && PyArray_SIZE((PyArrayObject *)x) > 0;
}

/* -- Huber losses ------------------------------------------------------------------------------------------------------------ */

typedef struct {
    const void *x, *y;
    void *out; /* NULL if the sum is wanted */
    double *sums, delta, scale;
    int64_t size;
    int is_double;
} Rounded;

/* scale * m * (d - m / 2) with m = min(d, delta), where d is the distance |x - y|. NaN stays NaN. */
#define ROUNDED(type, absolute)                                                                        \
    static inline type rounded_##type(type d, type delta, type scale) {                                \
        d = absolute(d);                                                                               \
        type m = d > delta ? delta : d;                                                                \
        return scale * m * (d - (type)0.5 * m);                                                        \
    }                                                                                                  \
    static void distances_##type(const Rounded *s, int64_t begin, int64_t end) {                       \
        const type *restrict x = (const type *)s->x, *restrict y = (const type *)s->y;                 \
        type *restrict out = (type *)s->out, delta = (type)s->delta, scale = (type)s->scale;           \
        for (int64_t i = begin; i < end; i++) out[i] = rounded_##type(x[i] - y[i], delta, scale);      \
    }                                                                                                  \
    static double sum_##type(const Rounded *s, int64_t begin, int64_t end) {                           \
        const type *restrict x = (const type *)s->x, *restrict y = (const type *)s->y;                 \
        type delta = (type)s->delta, scale = (type)s->scale;                                           \
        double parts[PARTS] = {0}, total = 0;                                                          \
        int64_t i = begin;                                                                             \
        for (; i + PARTS <= end; i += PARTS) {                                                         \
            for (int k = 0; k < PARTS; k++) parts[k] += rounded_##type(x[i + k] - y[i + k], delta, scale); \
        }                                                                                              \
        for (; i < end; i++) total += rounded_##type(x[i] - y[i], delta, scale);                       \
        for (int k = 0; k < PARTS; k++) total += parts[k];                                             \
        return total;                                                                                  \
    }                                                                                                  \
    static void slopes_##type(const Rounded *s, int64_t begin, int64_t end) {                          \
        const type *restrict x = (const type *)s->x, *restrict y = (const type *)s->y;                 \
        type *restrict out = (type *)s->out, delta = (type)s->delta, scale = (type)s->scale;           \
        for (int64_t i = begin; i < end; i++) {                                                        \
            type d = x[i] - y[i];                                                                      \
            d = d > delta ? delta : d;                                                                 \
            out[i] = scale * (d < -delta ? -delta : d);                                                \
        }                                                                                              \
    }
ROUNDED(float, fabsf)
ROUNDED(double, fabs)

static void add_up_chunks(void *ctx, int64_t begin, int64_t end) {
    const Rounded *s = (const Rounded *)ctx;
    for (int64_t c = begin; c < end; c++) {
        int64_t last = (c + 1) * CHUNK < s->size ? (c + 1) * CHUNK : s->size;
        s->sums[c] = s->is_double ? sum_double(s, c * CHUNK, last) : sum_float(s, c * CHUNK, last);
    }
}
static void distances(void *ctx, int64_t begin, int64_t end) {
    (((const Rounded *)ctx)->is_double ? distances_double : distances_float)((const Rounded *)ctx, begin, end);
}
static void slopes(void *ctx, int64_t begin, int64_t end) {
    (((const Rounded *)ctx)->is_double ? slopes_double : slopes_float)((const Rounded *)ctx, begin, end);
}

/* Read (x, y, delta, scale). Return 1, 0 if the arguments are not accepted, or -1 with an error set. */
static int read_rounded(Rounded *s, PyObject *const *args) {
    if (!is_accepted(args[0]) || !is_accepted(args[1])) return 0;
    PyArrayObject *x = (PyArrayObject *)args[0], *y = (PyArrayObject *)args[1];
    if (PyArray_TYPE(x) != PyArray_TYPE(y) || !PyArray_SAMESHAPE(x, y)) return 0;
    s->x = PyArray_DATA(x), s->y = PyArray_DATA(y), s->size = PyArray_SIZE(x), s->is_double = PyArray_TYPE(x) == NPY_DOUBLE;
    s->delta = PyFloat_AsDouble(args[2]), s->scale = PyFloat_AsDouble(args[3]);
    return PyErr_Occurred() ? -1 : 1;
}

static PyObject *map_rounded(Rounded *s, PyObject *like, void (*body)(void *, int64_t, int64_t)) {
    PyArrayObject *x = (PyArrayObject *)like, *out = (PyArrayObject *)wk_new_array(PyArray_NDIM(x), PyArray_DIMS(x), PyArray_TYPE(x));
    if (out == NULL) return NULL;
    s->out = PyArray_DATA(out);
    if (wk_run_loop(1, s->size, CHUNK, body, s) < 0) Py_CLEAR(out);
    return (PyObject *)out;
}

/* rounded_distances(x, y, delta, scale, adds_up): the Huber losses, or their sum as a float. */
static PyObject *rounded_distances_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 5) return PyErr_Format(PyExc_TypeError, "rounded_distances takes 5 arguments");
    Rounded s = {.out = NULL};
    int taken = read_rounded(&s, args), adds_up = PyObject_IsTrue(args[4]);
    if (taken < 0 || adds_up < 0) return NULL;
    if (!taken) Py_RETURN_NONE;
    if (!adds_up) return map_rounded(&s, args[0], distances);
    int64_t chunks = (s.size - 1) / CHUNK + 1;
    s.sums = (double *)malloc((size_t)chunks * sizeof(double));
    if (s.sums == NULL) return PyErr_NoMemory();
    int failed = wk_run_loop(1, chunks, 1, add_up_chunks, &s) < 0;
    double total = 0;
    for (int64_t c = 0; c < chunks && !failed; c++) total += s.sums[c];
    free(s.sums);
    return failed ? NULL : PyFloat_FromDouble(total);
}

/* rounded_slopes(x, y, delta, scale): derivative of the Huber losses, scale times x - y clamped to [-delta, delta]. */
static PyObject *rounded_slopes_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 4) return PyErr_Format(PyExc_TypeError, "rounded_slopes takes 4 arguments");
    Rounded s = {.out = NULL};
    int taken = read_rounded(&s, args);
    if (taken < 0) return NULL;
    if (!taken) Py_RETURN_NONE;
    return map_rounded(&s, args[0], slopes);
}

/* -- margins between classes ---------------------------------------------------------------------------------------------- */

typedef struct {
    const void *x, *weights, *ct; /* x: (items, classes); weights: (items) or NULL; ct: (items), one number, or NULL for losses */
    const int64_t *target;
    void *out;
    int64_t classes, ct_step;
    double margin;
    int squared, is_double;
} Margins;

/* Loss of one item: the sum over classes j != target of gap = max(0, margin - x[target] + x[j]), or of gap^2, divided by the number
 * of classes. */
#define MARGINS(type)                                                                                        \
    static void margins_##type(const Margins *s, int64_t begin, int64_t end) {                               \
        int64_t n = s->classes;                                                                              \
        type margin = (type)s->margin;                                                                       \
        for (int64_t i = begin; i < end; i++) {                                                              \
            const type *restrict x = (const type *)s->x + i * n;                                             \
            int64_t target = wk_index(s->target + i, n);                                                     \
            type weight = s->weights != NULL ? ((const type *)s->weights)[i] : 1, own = x[target], total = 0; \
            if (s->ct == NULL) {                                                                             \
                for (int64_t j = 0; j < n; j++) {                                                            \
                    type gap = margin - own + x[j];                                                          \
                    gap = gap < 0 || j == target ? 0 : gap;                                                  \
                    total += s->squared ? gap * gap : gap;                                                   \
                }                                                                                            \
                ((type *)s->out)[i] = total / (type)n * weight;                                              \
                continue;                                                                                    \
            }                                                                                                \
            type *restrict out = (type *)s->out + i * n, each = ((const type *)s->ct)[i * s->ct_step] / (type)n * weight; \
            for (int64_t j = 0; j < n; j++) {                                                                \
                type gap = margin - own + x[j];                                                              \
                type slope = s->squared ? 2 * gap : 1;                                                       \
                out[j] = gap <= 0 || j == target ? 0 : slope * each;                                         \
                total += out[j];                                                                             \
            }                                                                                                \
            out[target] = -total;                                                                            \
        }                                                                                                    \
    }
MARGINS(float)
MARGINS(double)

static void margins(void *ctx, int64_t begin, int64_t end) {
    (((const Margins *)ctx)->is_double ? margins_double : margins_float)((const Margins *)ctx, begin, end);
}

/* Whether a is None, or an array of x's dtype with n elements. Sets *data to its elements, or to NULL for None. */
static int read_vector(PyObject *a, PyArrayObject *x, int64_t n, const void **data) {
    *data = NULL;
    if (a == Py_None) return 1;
    if (!is_accepted(a) || PyArray_TYPE((PyArrayObject *)a) != PyArray_TYPE(x) || PyArray_SIZE((PyArrayObject *)a) != n) return 0;
    *data = PyArray_DATA((PyArrayObject *)a);
    return 1;
}

/* class_margins(x, target, weights, margin, squared, ct): losses of the rows of x: (items, classes). If ct is not None, it is the
 * cotangent of the losses, (items) or one number, and the result is the cotangent of x. weights: weight of each item, or None. */
static PyObject *class_margins_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 6) return PyErr_Format(PyExc_TypeError, "class_margins takes 6 arguments");
    if (!is_accepted(args[0]) || !PyArray_CheckExact(args[1])) Py_RETURN_NONE;
    PyArrayObject *x = (PyArrayObject *)args[0], *target = (PyArrayObject *)args[1];
    if (PyArray_NDIM(x) != 2 || PyArray_TYPE(target) != NPY_INT64 || !PyArray_ISCARRAY_RO(target)) Py_RETURN_NONE;
    int64_t items = PyArray_DIM(x, 0);
    Margins s = {.x = PyArray_DATA(x), .target = (const int64_t *)PyArray_DATA(target), .classes = PyArray_DIM(x, 1)};
    s.is_double = PyArray_TYPE(x) == NPY_DOUBLE;
    s.margin = PyFloat_AsDouble(args[3]), s.squared = PyObject_IsTrue(args[4]);
    if (PyErr_Occurred()) return NULL;
    int one = PyArray_CheckExact(args[5]) && PyArray_SIZE((PyArrayObject *)args[5]) == 1;
    if (PyArray_SIZE(target) != items || !read_vector(args[2], x, items, &s.weights) || !read_vector(args[5], x, one ? 1 : items, &s.ct)) {
        Py_RETURN_NONE;
    }
    s.ct_step = !one;
    for (int64_t i = 0; i < items; i++) {
        if (s.target[i] < 0 || s.target[i] >= s.classes) Py_RETURN_NONE;
    }
    PyArrayObject *out = (PyArrayObject *)wk_new_array(s.ct != NULL ? 2 : 1, PyArray_DIMS(x), PyArray_TYPE(x));
    if (out == NULL) return NULL;
    s.out = PyArray_DATA(out);
    if (wk_run_loop(1, items, CHUNK / s.classes + 1, margins, &s) < 0) Py_CLEAR(out);
    return (PyObject *)out;
}

typedef struct {
    const void *x, *ct; /* x: (items, classes); ct: (items), one number, or NULL for losses */
    const int64_t *labels;
    void *out;
    char *is_label; /* (items, classes) */
    int64_t classes, ct_step;
    int is_double;
} LabelMargins;

/* Loss of one item: the sum over its labels k and the other classes j of max(0, 1 - x[k] + x[j]), divided by the number of classes.
 * The labels end at the first negative one. */
#define LABEL_MARGINS(type)                                                                                  \
    static void label_margins_##type(const LabelMargins *s, int64_t begin, int64_t end) {                    \
        int64_t n = s->classes;                                                                              \
        for (int64_t i = begin; i < end; i++) {                                                              \
            const type *x = (const type *)s->x + i * n;                                                      \
            const int64_t *labels = s->labels + i * n;                                                       \
            char *is_label = s->is_label + i * n;                                                            \
            type *out = s->ct != NULL ? (type *)s->out + i * n : NULL, total = 0;                            \
            type each = s->ct != NULL ? ((const type *)s->ct)[i * s->ct_step] / (type)n : 0;                 \
            for (int64_t j = 0; j < n; j++) {                                                                \
                is_label[j] = 0;                                                                             \
                if (out != NULL) out[j] = 0;                                                                 \
            }                                                                                                \
            for (int64_t k = 0; k < n && wk_read_index(labels + k) >= 0; k++) is_label[wk_index(labels + k, n)] = 1; \
            for (int64_t k = 0; k < n && wk_read_index(labels + k) >= 0; k++) {                              \
                int64_t label = wk_index(labels + k, n);                                                     \
                type own = x[label];                                                                         \
                for (int64_t j = 0; j < n; j++) {                                                            \
                    type gap = 1 - own + x[j];                                                               \
                    if (is_label[j] || gap <= 0) continue;                                                   \
                    total += gap;                                                                            \
                    if (out != NULL && gap > 0) out[j] += each, out[label] -= each;                          \
                }                                                                                            \
            }                                                                                                \
            if (out == NULL) ((type *)s->out)[i] = total / (type)n;                                          \
        }                                                                                                    \
    }
LABEL_MARGINS(float)
LABEL_MARGINS(double)

static void label_margins(void *ctx, int64_t begin, int64_t end) {
    (((const LabelMargins *)ctx)->is_double ? label_margins_double : label_margins_float)((const LabelMargins *)ctx, begin, end);
}

/* label_margins(x, labels, ct): losses of the rows of x: (items, classes). If ct is not None, it is the cotangent of the losses,
 * and the result is the cotangent of x. */
static PyObject *label_margins_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 3) return PyErr_Format(PyExc_TypeError, "label_margins takes 3 arguments");
    if (!is_accepted(args[0]) || !PyArray_CheckExact(args[1])) Py_RETURN_NONE;
    PyArrayObject *x = (PyArrayObject *)args[0], *labels = (PyArrayObject *)args[1];
    if (PyArray_NDIM(x) != 2 || PyArray_TYPE(labels) != NPY_INT64 || !PyArray_ISCARRAY_RO(labels) || !PyArray_SAMESHAPE(x, labels)) {
        Py_RETURN_NONE;
    }
    int64_t items = PyArray_DIM(x, 0), size = PyArray_SIZE(x);
    LabelMargins s = {.x = PyArray_DATA(x), .labels = (const int64_t *)PyArray_DATA(labels), .classes = PyArray_DIM(x, 1)};
    s.is_double = PyArray_TYPE(x) == NPY_DOUBLE;
    int one = PyArray_CheckExact(args[2]) && PyArray_SIZE((PyArrayObject *)args[2]) == 1;
    if (!read_vector(args[2], x, one ? 1 : items, &s.ct)) Py_RETURN_NONE;
    s.ct_step = !one;
    for (int64_t i = 0; i < size; i++) {
        if (s.labels[i] >= s.classes) Py_RETURN_NONE;
    }
    PyArrayObject *out = (PyArrayObject *)wk_new_array(s.ct != NULL ? 2 : 1, PyArray_DIMS(x), PyArray_TYPE(x));
    s.is_label = out != NULL ? (char *)malloc((size_t)size) : NULL;
    if (s.is_label == NULL) {
        Py_XDECREF(out);
        return PyErr_NoMemory();
    }
    s.out = PyArray_DATA(out);
    if (wk_run_loop(1, items, CHUNK / (4 * s.classes) + 1, label_margins, &s) < 0) Py_CLEAR(out);
    free(s.is_label);
    return (PyObject *)out;
}

#define METHOD(name, doc) {#name, (PyCFunction)(void (*)(void))name##_method, METH_FASTCALL, doc}
PyMethodDef wk_losses_methods[] = {
    METHOD(rounded_distances, "rounded_distances(x, y, delta, scale, adds_up): Huber losses, or their sum as a float."),
    METHOD(rounded_slopes, "rounded_slopes(x, y, delta, scale): scale times x - y clamped to [-delta, delta]."),
    METHOD(class_margins, "class_margins(x, target, weights, margin, squared, ct): losses, or the cotangent of x."),
    METHOD(label_margins, "label_margins(x, labels, ct): losses, or the cotangent of x."),
    {NULL, NULL, 0, NULL},
};
