/* Windows over pictures: columns for convolutions, maximum pooling, and adding cotangents at the places they came from.
 *
 * Columns have two spatial dims, everything else one to three. If there are fewer than three, the first ones have size 1. Methods
 * return None for arguments that they do not accept; NumPy then does the work. The arguments alone decide the order of operations,
 * and each picture belongs to one thread. Results are therefore the same for any number of threads.
 */
#include <math.h>
#include <string.h>

#include "wk_index.h"
#include "wk_lanes.h"
#include "wk_numpy.h"
#include "wk_pool.h"
#include "wk_release.h"

enum {
    WORK = 16384,     /* least number of elements for a thread */
    POOL_BLOCK = 256, /* number of windows of a row that are pooled together */
};

static int is_floating(PyObject *x) {
    if (!PyArray_CheckExact(x)) return 0;
    int type = PyArray_TYPE((PyArrayObject *)x);
    return (type == NPY_FLOAT || type == NPY_DOUBLE) && PyArray_ISBEHAVED_RO((PyArrayObject *)x);
}

static int64_t grain_of(int64_t elements) { return elements >= WORK ? 1 : WORK / (elements < 1 ? 1 : elements); }

/* Read a pair of ints. Return 0 with an error set if it is none. */
static int read_pair(PyObject *pair, int64_t *a, int64_t *b) {
    if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2) {
        PyErr_SetString(PyExc_TypeError, "expected a pair of ints");
        return 0;
    }
    *a = PyLong_AsLongLong(PyTuple_GET_ITEM(pair, 0));
    *b = PyLong_AsLongLong(PyTuple_GET_ITEM(pair, 1));
    return !PyErr_Occurred();
}

/* Read one to three ints into the last entries of found, and set its first entries to `other`. Return the number of ints, or 0 with
 * an error set. */
static int read_sizes(PyObject *sizes, int64_t other, int64_t *found) {
    int n = PyTuple_Check(sizes) ? (int)PyTuple_GET_SIZE(sizes) : 0;
    if (n < 1 || n > 3) {
        PyErr_SetString(PyExc_TypeError, "expected a tuple of one to three ints");
        return 0;
    }
    for (int d = 0; d < 3; d++) found[d] = d < 3 - n ? other : PyLong_AsLongLong(PyTuple_GET_ITEM(sizes, d - (3 - n)));
    return PyErr_Occurred() ? 0 : n;
}

/* -- columns ------------------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *source;
    char *columns;
    npy_intp shape[6], to[6], from[4]; /* shape: (n, channels, kernel, kernel, count, count); to, from: strides in bytes */
    int64_t stride[2], dilation[2];
    int item;
} Columns;

static void fill_pictures(void *ctx, int64_t begin, int64_t end) {
    const Columns *s = (const Columns *)ctx;
    for (int64_t picture = begin; picture < end; picture++) {
        int64_t n = picture / s->shape[1], c = picture % s->shape[1];
        for (int64_t p = 0; p < s->shape[2]; p++) {
            for (int64_t q = 0; q < s->shape[3]; q++) {
                char *to = s->columns + n * s->to[0] + c * s->to[1] + p * s->to[2] + q * s->to[3];
                const char *from = s->source + n * s->from[0] + c * s->from[1] + p * s->dilation[0] * s->from[2] +
                                   q * s->dilation[1] * s->from[3];
                for (int64_t i = 0; i < s->shape[4]; i++) {
                    wk_copy_lane(to + i * s->to[4], from + i * s->stride[0] * s->from[2], s->shape[5], s->stride[1] * s->from[3],
                             s->item);
                }
            }
        }
    }
}

/* fill_columns(columns, padded, stride, dilation): Set columns[n, c, p, q, i, j] to padded[n, c, i * stride + p * dilation, j *
 * stride + q * dilation]. Returns True, or None if it does not accept the arguments. */
static PyObject *fill_columns_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 4) return PyErr_Format(PyExc_TypeError, "fill_columns takes 4 arguments");
    if (!is_floating(args[0]) || !is_floating(args[1])) Py_RETURN_NONE;
    PyArrayObject *columns = (PyArrayObject *)args[0], *padded = (PyArrayObject *)args[1];
    Columns s = {.source = PyArray_BYTES(padded), .columns = PyArray_BYTES(columns), .item = (int)PyArray_ITEMSIZE(padded)};
    if (PyArray_NDIM(columns) != 6 || PyArray_NDIM(padded) != 4 || PyArray_TYPE(columns) != PyArray_TYPE(padded) ||
        !PyArray_ISWRITEABLE(columns) || PyArray_STRIDE(columns, 5) != s.item) {
        Py_RETURN_NONE;
    }
    if (!read_pair(args[2], &s.stride[0], &s.stride[1]) || !read_pair(args[3], &s.dilation[0], &s.dilation[1])) return NULL;
    memcpy(s.shape, PyArray_DIMS(columns), sizeof s.shape);
    memcpy(s.to, PyArray_STRIDES(columns), sizeof s.to);
    memcpy(s.from, PyArray_STRIDES(padded), sizeof s.from);
    for (int d = 0; d < 2; d++) {
        npy_intp reach = (s.shape[4 + d] - 1) * s.stride[d] + (s.shape[2 + d] - 1) * s.dilation[d];
        if (PyArray_DIM(padded, d) != s.shape[d] || s.stride[d] < 1 || s.dilation[d] < 1 || reach >= PyArray_DIM(padded, 2 + d)) {
            PyErr_SetString(PyExc_ValueError, "the windows do not lie in the array");
            return NULL;
        }
    }
    int64_t elements = s.shape[2] * s.shape[3] * s.shape[4] * s.shape[5];
    if (wk_run_loop(1, s.shape[0] * s.shape[1], grain_of(elements), fill_pictures, &s) < 0) return NULL;
    Py_RETURN_TRUE;
}

static void add_row(char *to, const char *from, int64_t n, int64_t step, int item) {
    if (item == 4) {
        float *restrict out = (float *)to;
        const float *restrict in = (const float *)from;
        if (step == 1) for (int64_t i = 0; i < n; i++) out[i] += in[i];
        else for (int64_t i = 0; i < n; i++) out[i * step] += in[i];
    } else {
        double *restrict out = (double *)to;
        const double *restrict in = (const double *)from;
        if (step == 1) for (int64_t i = 0; i < n; i++) out[i] += in[i];
        else for (int64_t i = 0; i < n; i++) out[i * step] += in[i];
    }
}

typedef struct {
    Columns columns;
    char *out;
    int64_t size[2], padding[2];
} Sums;

static void add_up_pictures(void *ctx, int64_t begin, int64_t end) {
    const Sums *s = (const Sums *)ctx;
    const Columns *c = &s->columns;
    const npy_intp *shape = c->shape;
    for (int64_t picture = begin; picture < end; picture++) {
        char *out = s->out + picture * s->size[0] * s->size[1] * c->item;
        const char *from = c->source + picture / shape[1] * c->to[0] + picture % shape[1] * c->to[1];
        memset(out, 0, (size_t)(s->size[0] * s->size[1] * c->item));
        for (int64_t p = 0; p < shape[2]; p++) {
            for (int64_t q = 0; q < shape[3]; q++) {
                int64_t left = q * c->dilation[1] - s->padding[1], step = c->stride[1];
                int64_t first = left < 0 ? (-left + step - 1) / step : 0;
                int64_t last = left >= s->size[1] ? 0 : (s->size[1] - 1 - left) / step + 1;
                if (last > shape[5]) last = shape[5];
                for (int64_t i = 0; i < shape[4]; i++) {
                    int64_t y = i * c->stride[0] + p * c->dilation[0] - s->padding[0];
                    if (y < 0 || y >= s->size[0]) continue;
                    add_row(out + (y * s->size[1] + left + first * step) * c->item,
                            from + p * c->to[2] + q * c->to[3] + i * c->to[4] + first * c->item, last - first, step, c->item);
                }
            }
        }
    }
}

/* add_up_columns(columns, size, stride, padding, dilation): the adjoint of padding and fill_columns. */
static PyObject *add_up_columns_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 5) return PyErr_Format(PyExc_TypeError, "add_up_columns takes 5 arguments");
    if (!is_floating(args[0])) Py_RETURN_NONE;
    PyArrayObject *columns = (PyArrayObject *)args[0];
    Sums s = {.columns = {.source = PyArray_BYTES(columns), .item = (int)PyArray_ITEMSIZE(columns)}};
    if (PyArray_NDIM(columns) != 6 || PyArray_STRIDE(columns, 5) != s.columns.item) Py_RETURN_NONE;
    if (!read_pair(args[1], &s.size[0], &s.size[1]) || !read_pair(args[2], &s.columns.stride[0], &s.columns.stride[1]) ||
        !read_pair(args[3], &s.padding[0], &s.padding[1]) || !read_pair(args[4], &s.columns.dilation[0], &s.columns.dilation[1])) {
        return NULL;
    }
    memcpy(s.columns.shape, PyArray_DIMS(columns), sizeof s.columns.shape);
    memcpy(s.columns.to, PyArray_STRIDES(columns), sizeof s.columns.to);
    npy_intp shape[] = {s.columns.shape[0], s.columns.shape[1], s.size[0], s.size[1]};
    for (int d = 0; d < 2; d++) {
        if (s.columns.stride[d] < 1 || s.columns.dilation[d] < 1 || s.size[d] < 1 || s.padding[d] < 0) Py_RETURN_NONE;
    }
    PyArrayObject *out = (PyArrayObject *)wk_new_array(4, shape, PyArray_TYPE(columns));
    if (out == NULL) return NULL;
    s.out = PyArray_BYTES(out);
    int64_t elements = s.columns.shape[2] * s.columns.shape[3] * s.columns.shape[4] * s.columns.shape[5];
    if (wk_run_loop(1, shape[0] * shape[1], grain_of(elements), add_up_pictures, &s) < 0) Py_CLEAR(out);
    return (PyObject *)out;
}

/* -- largest elements ---------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *source;
    char *best;
    int64_t *places;
    int64_t size[3], kernel[3], stride[3], padding[3], dilation[3], count[3];
    int item;
} MaxPool;

/* Set *first and *last so that exactly the windows *first <= j < *last of begin <= j < end have the given tap inside the picture
 * along dim d. */
static void find_inside_windows(const MaxPool *s, int d, int64_t tap, int64_t begin, int64_t end, int64_t *first, int64_t *last) {
    int64_t start = tap * s->dilation[d] - s->padding[d], step = s->stride[d], reach = start + (s->count[d] - 1) * step;
    *first = start >= 0 ? 0 : (-start + step - 1) / step; /* divides only if windows leave the picture */
    *last = reach < s->size[d] ? s->count[d] : start >= s->size[d] ? 0 : (s->size[d] - 1 - start) / step + 1;
    if (*first < begin) *first = begin;
    if (*last > end) *last = end;
}

/* Update the best elements of the windows first <= j < last with one tap. The first of equal elements wins, or the last NaN.
 * found[j] is the place of the winning tap, less the start of window j. Its type is as wide as the numbers, so that compilers
 * compare and choose as many of both at once. */
#define MAX_POOL_TAP(step)                                                             \
    for (int64_t j = first; j < last; j++) {                                           \
        real value = row[j * (step)];                                                  \
        integer better = (value > best[j]) | (value != value) | (found[j] == NOWHERE); \
        best[j] = better ? value : best[j];                                            \
        found[j] = better ? here : found[j];                                           \
    }

/* Pool the windows begin <= j < end of row (h, i), tap by tap, so that the inner loop runs along the row. */
#define MAX_POOL_ROW(name, real_type, integer_type, nowhere)                                                          \
    static void name(const MaxPool *s, const void *x_, int64_t h, int64_t i, int64_t begin, int64_t end, void *best_, \
                     int64_t *places) {                                                                               \
        typedef real_type real;                                                                                       \
        typedef integer_type integer;                                                                                 \
        const integer NOWHERE = nowhere;                                                                              \
        const real *x = (const real *)x_ + begin * s->stride[2];                                                      \
        real *restrict best = (real *)best_ + begin;                                                                  \
        integer found_[POOL_BLOCK], *restrict found = found_;                                                         \
        for (int64_t j = 0; j < end - begin; j++) best[j] = 0, found[j] = NOWHERE;                                    \
        for (int64_t number = 0; number < s->kernel[0] * s->kernel[1]; number++) {                                    \
            int64_t z = h * s->stride[0] + number / s->kernel[1] * s->dilation[0] - s->padding[0];                    \
            int64_t y = i * s->stride[1] + number % s->kernel[1] * s->dilation[1] - s->padding[1];                    \
            if (z < 0 || z >= s->size[0] || y < 0 || y >= s->size[1]) continue;                                       \
            for (int64_t q = 0; q < s->kernel[2]; q++) {                                                              \
                int64_t first, last;                                                                                  \
                find_inside_windows(s, 2, q, begin, end, &first, &last);                                                           \
                first -= begin, last -= begin;                                                                        \
                integer here = (integer)((z * s->size[1] + y) * s->size[2] + q * s->dilation[2] - s->padding[2]);     \
                const real *restrict row = x + here;                                                                  \
                if (s->stride[2] == 1) MAX_POOL_TAP(1)                                                                \
                else if (s->stride[2] == 2) MAX_POOL_TAP(2)                                                           \
                else MAX_POOL_TAP(s->stride[2])                                                                       \
            }                                                                                                         \
        }                                                                                                             \
        for (int64_t j = 0; j < end - begin; j++) places[begin + j] = found[j] + (begin + j) * s->stride[2];          \
    }
MAX_POOL_ROW(max_pool_row_f32, float, int32_t, INT32_MIN)
MAX_POOL_ROW(max_pool_row_f64, double, int64_t, INT64_MIN)

/* The largest elements without their places. */
#define LARGEST_OF_TAP(step)                                              \
    for (int64_t j = first; j < last; j++) {                              \
        real value = row[j * (step)];                                     \
        best[j] = ((value > best[j]) | (value != value)) ? value : best[j];\
    }
#define LARGEST_ROW(name, real_type)                                                                   \
    static void name(const MaxPool *s, const void *x_, int64_t h, int64_t i, void *best_) {            \
        typedef real_type real;                                                                        \
        real *restrict best = (real *)best_;                                                           \
        for (int64_t j = 0; j < s->count[2]; j++) best[j] = -(real)INFINITY;                           \
        for (int64_t number = 0; number < s->kernel[0] * s->kernel[1]; number++) {                     \
            int64_t z = h * s->stride[0] + number / s->kernel[1] * s->dilation[0] - s->padding[0];     \
            int64_t y = i * s->stride[1] + number % s->kernel[1] * s->dilation[1] - s->padding[1];     \
            if (z < 0 || z >= s->size[0] || y < 0 || y >= s->size[1]) continue;                        \
            for (int64_t q = 0; q < s->kernel[2]; q++) {                                               \
                int64_t first, last;                                                                   \
                find_inside_windows(s, 2, q, 0, s->count[2], &first, &last);                                        \
                int64_t here = (z * s->size[1] + y) * s->size[2] + q * s->dilation[2] - s->padding[2]; \
                const real *restrict row = (const real *)x_ + here;                                    \
                if (s->stride[2] == 1) LARGEST_OF_TAP(1)                                               \
                else if (s->stride[2] == 2) LARGEST_OF_TAP(2)                                          \
                else LARGEST_OF_TAP(s->stride[2])                                                      \
            }                                                                                          \
        }                                                                                              \
    }
LARGEST_ROW(largest_row_f32, float)
LARGEST_ROW(largest_row_f64, double)

static void max_pool_pictures(void *ctx, int64_t begin, int64_t end) {
    const MaxPool *s = (const MaxPool *)ctx;
    int64_t n = s->count[2], rows = s->count[0] * s->count[1];
    for (int64_t row = begin * rows; row < end * rows; row++) {
        const char *x = s->source + row / rows * s->size[0] * s->size[1] * s->size[2] * s->item;
        int64_t h = row % rows / s->count[1], i = row % s->count[1];
        for (int64_t first = 0; first < n; first += POOL_BLOCK) {
            int64_t last = first + POOL_BLOCK < n ? first + POOL_BLOCK : n;
            if (s->places == NULL) {
                (s->item == 4 ? largest_row_f32 : largest_row_f64)(s, x, h, i, s->best + row * n * s->item);
                break;
            }
            (s->item == 4 ? max_pool_row_f32 : max_pool_row_f64)(s, x, h, i, first, last, s->best + row * n * s->item,
                                                                 s->places + row * n);
        }
    }
}

/* Adaptive maximum pooling: window i covers floor(i * size / count) <= k < ceil((i + 1) * size / count) of each dim. Most elements
 * are below the best one, which the first comparison sorts out. */
#define LARGEST_OF_STRETCHES(name, real)                                                                               \
    static void name(void *ctx, int64_t begin, int64_t end) {                                                          \
        const MaxPool *s = (const MaxPool *)ctx;                                                                       \
        const int64_t *size = s->size, *count = s->count;                                                              \
        real *best = (real *)s->best + begin * count[0] * count[1] * count[2];                                         \
        int64_t *place = s->places + begin * count[0] * count[1] * count[2], from[3], to[3], at[3];                    \
        for (int64_t picture = begin; picture < end; picture++) {                                                      \
            const real *x = (const real *)s->source + picture * size[0] * size[1] * size[2];                           \
            for (int64_t window = 0; window < count[0] * count[1] * count[2]; window++) {                              \
                at[0] = window / count[2] / count[1], at[1] = window / count[2] % count[1], at[2] = window % count[2]; \
                for (int d = 0; d < 3; d++) {                                                                          \
                    from[d] = at[d] * size[d] / count[d], to[d] = ((at[d] + 1) * size[d] + count[d] - 1) / count[d];   \
                }                                                                                                      \
                int64_t where = (from[0] * size[1] + from[1]) * size[2] + from[2];                                     \
                real largest = x[where];                                                                               \
                for (int64_t z = from[0]; z < to[0]; z++) {                                                            \
                    for (int64_t y = from[1]; y < to[1]; y++) {                                                        \
                        const real *row = x + (z * size[1] + y) * size[2];                                             \
                        for (int64_t k = from[2]; k < to[2]; k++) {                                                    \
                            if (row[k] <= largest) continue;                                                           \
                            if (row[k] > largest || row[k] != row[k]) largest = row[k], where = row + k - x;           \
                        }                                                                                              \
                    }                                                                                                  \
                }                                                                                                      \
                *best++ = largest, *place++ = where;                                                                   \
            }                                                                                                          \
        }                                                                                                              \
    }
LARGEST_OF_STRETCHES(largest_of_stretches_f32, float)
LARGEST_OF_STRETCHES(largest_of_stretches_f64, double)

/* Allocate the results of s, whose count is known, and run body over all pictures. Results have the shape of x except for the
 * spatial dims. Returns the largest elements, or (largest elements, places) if wants_places. */
static PyObject *pool_pictures(MaxPool *s, PyArrayObject *x, int dims, int64_t work, int wants_places,
                               void (*body)(void *, int64_t, int64_t)) {
    npy_intp shape[NPY_MAXDIMS];
    int nd = PyArray_NDIM(x);
    memcpy(shape, PyArray_DIMS(x), (size_t)nd * sizeof *shape);
    for (int d = 0; d < dims; d++) shape[nd - dims + d] = s->count[3 - dims + d];
    PyArrayObject *best = (PyArrayObject *)wk_new_array(nd, shape, PyArray_TYPE(x));
    PyArrayObject *places = best != NULL && wants_places ? (PyArrayObject *)wk_new_array(nd, shape, NPY_INT64) : NULL;
    PyObject *both = NULL;
    if (best != NULL && (places != NULL || !wants_places)) {
        int64_t pictures = PyArray_SIZE(x) / (s->size[0] * s->size[1] * s->size[2]);
        s->best = PyArray_BYTES(best), s->places = places != NULL ? (int64_t *)PyArray_DATA(places) : NULL;
        int failed = wk_run_loop(1, pictures, grain_of(work), body, s) < 0;
        if (!failed && !wants_places) return (PyObject *)best;
        both = failed ? NULL : PyTuple_Pack(2, best, places);
    }
    Py_XDECREF(best);
    Py_XDECREF(places);
    return both;
}

/* Read the size of pictures with `dims` spatial dims. Return 0 if they are empty, or too large for places of 32 bits. */
static int read_pictures(MaxPool *s, PyArrayObject *x, int dims) {
    int nd = PyArray_NDIM(x);
    int64_t elements = 1;
    if (nd < dims || PyArray_SIZE(x) == 0) return 0;
    for (int d = 0; d < 3; d++) {
        s->size[d] = d < 3 - dims ? 1 : PyArray_DIM(x, nd - 3 + d);
        if (s->size[d] > (1 << 30) / elements) return 0;
        elements *= s->size[d];
    }
    s->source = PyArray_BYTES(x), s->item = (int)PyArray_ITEMSIZE(x);
    return 1;
}

/* Whether each window has an element inside. The last window must start before the end, and the first one must end after the
 * start. */
static int windows_fit(const MaxPool *s) {
    for (int d = 0; d < 3; d++) {
        if (s->stride[d] < 1 || s->dilation[d] < 1 || s->padding[d] < 0 || s->count[d] < 1 ||
            (s->count[d] - 1) * s->stride[d] - s->padding[d] >= s->size[d] || (s->kernel[d] - 1) * s->dilation[d] < s->padding[d]) {
            return 0;
        }
        for (int64_t i = 0; i < s->count[d]; i++) { /* with dilation, a window may step over a small picture */
            int64_t start = i * s->stride[d] - s->padding[d];
            int64_t tap = start < 0 ? (-start + s->dilation[d] - 1) / s->dilation[d] : 0;
            if (tap >= s->kernel[d] || start + tap * s->dilation[d] >= s->size[d]) return 0;
        }
    }
    return 1;
}

/* max_pool(x, kernel, stride, padding, dilation, count, places): largest element of each window, and its place if `places` is
 * true. */
static PyObject *max_pool_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 7) return PyErr_Format(PyExc_TypeError, "max_pool takes 7 arguments");
    if (!is_floating(args[0]) || !PyArray_IS_C_CONTIGUOUS((PyArrayObject *)args[0])) Py_RETURN_NONE;
    PyArrayObject *x = (PyArrayObject *)args[0];
    MaxPool s;
    int64_t *sizes[] = {s.kernel, s.stride, s.padding, s.dilation, s.count};
    int dims = 0;
    for (int i = 0; i < 5; i++) {
        int n = read_sizes(args[i + 1], i == 2 ? 0 : 1, sizes[i]);
        if (n == 0) return NULL;
        if (i > 0 && n != dims) Py_RETURN_NONE;
        dims = n;
    }
    if (!read_pictures(&s, x, dims) || !windows_fit(&s)) Py_RETURN_NONE;
    int64_t work = s.count[0] * s.count[1] * s.count[2] * s.kernel[0] * s.kernel[1] * s.kernel[2];
    int with_places = PyObject_IsTrue(args[6]);
    if (with_places < 0) return NULL;
    return pool_pictures(&s, x, dims, work, with_places, max_pool_pictures);
}

/* max_pool_stretches(x, count): adaptive maximum pooling; largest element of each of `count` even stretches, and its place. */
static PyObject *max_pool_stretches_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 2) return PyErr_Format(PyExc_TypeError, "max_pool_stretches takes 2 arguments");
    if (!is_floating(args[0]) || !PyArray_IS_C_CONTIGUOUS((PyArrayObject *)args[0])) Py_RETURN_NONE;
    PyArrayObject *x = (PyArrayObject *)args[0];
    MaxPool s;
    int dims = read_sizes(args[1], 1, s.count);
    if (dims == 0) return NULL;
    if (s.count[0] < 1 || s.count[1] < 1 || s.count[2] < 1 || !read_pictures(&s, x, dims)) Py_RETURN_NONE;
    int64_t work = s.size[0] * s.size[1] * s.size[2] + s.count[0] * s.count[1] * s.count[2];
    return pool_pictures(&s, x, dims, work, 1, s.item == 4 ? largest_of_stretches_f32 : largest_of_stretches_f64);
}

/* -- back into place ------------------------------------------------------------------------------------------------------ */

typedef struct {
    const char *values;
    const int64_t *places;
    char *out;
    int64_t n, size; /* number of places, and of elements of a picture */
    int item;
} AddAt;

static void add_at_pictures(void *ctx, int64_t begin, int64_t end) {
    const AddAt *s = (const AddAt *)ctx;
    for (int64_t picture = begin; picture < end; picture++) {
        const int64_t *places = s->places + picture * s->n;
        const char *values = s->values + picture * s->n * s->item;
        char *out = s->out + picture * s->size * s->item;
        memset(out, 0, (size_t)(s->size * s->item));
        for (int64_t i = 0; i < s->n; i++) {
            int64_t place = wk_read_index(places + i);
            if (place < 0 || place >= s->size) continue; /* no place in this picture */
            if (s->item == 4) ((float *)out)[place] += ((const float *)values)[i];
            else ((double *)out)[place] += ((const double *)values)[i];
        }
    }
}

/* add_at_places(values, places, size): pictures of the given size with the sums of the values at their places, and 0 elsewhere. */
static PyObject *add_at_places_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 3) return PyErr_Format(PyExc_TypeError, "add_at_places takes 3 arguments");
    if (!is_floating(args[0]) || !PyArray_CheckExact(args[1])) Py_RETURN_NONE;
    PyArrayObject *values = (PyArrayObject *)args[0], *places = (PyArrayObject *)args[1];
    int nd = PyArray_NDIM(values);
    int64_t size[3];
    int dims = read_sizes(args[2], 1, size);
    if (dims == 0) return NULL;
    if (nd < dims || !PyArray_SAMESHAPE(values, places) || PyArray_TYPE(places) != NPY_INT64 || !PyArray_ISCARRAY_RO(places) ||
        !PyArray_IS_C_CONTIGUOUS(values) || PyArray_SIZE(values) == 0 || size[0] < 1 || size[1] < 1 || size[2] < 1) {
        Py_RETURN_NONE;
    }
    npy_intp shape[NPY_MAXDIMS];
    memcpy(shape, PyArray_DIMS(values), (size_t)nd * sizeof *shape);
    AddAt s = {.values = PyArray_BYTES(values), .places = (const int64_t *)PyArray_DATA(places), .item = (int)PyArray_ITEMSIZE(values)};
    s.n = 1, s.size = size[0] * size[1] * size[2];
    for (int d = nd - dims; d < nd; d++) s.n *= shape[d], shape[d] = size[d - nd + 3];
    PyArrayObject *out = (PyArrayObject *)wk_new_array(nd, shape, PyArray_TYPE(values));
    if (out == NULL) return NULL;
    s.out = PyArray_BYTES(out);
    int64_t pictures = PyArray_SIZE(values) / s.n;
    if (wk_run_loop(1, pictures, grain_of(s.size + 2 * s.n), add_at_pictures, &s) < 0) Py_CLEAR(out);
    return (PyObject *)out;
}

#define METHOD(name, doc) {#name, (PyCFunction)(void (*)(void))name##_method, METH_FASTCALL, doc}
PyMethodDef wk_windows_methods[] = {
    METHOD(fill_columns, "fill_columns(columns, padded, stride, dilation): True if the columns were filled, or None."),
    METHOD(add_up_columns, "add_up_columns(columns, size, stride, padding, dilation): the adjoint of padding and fill_columns."),
    METHOD(max_pool, "max_pool(x, kernel, stride, padding, dilation, count, places): largest element of each window, with places."),
    METHOD(max_pool_stretches, "max_pool_stretches(x, count): adaptive maximum pooling, with places."),
    METHOD(add_at_places, "add_at_places(values, places, size): pictures with the sums of the values at their places."),
    {NULL, NULL, 0, NULL},
};
