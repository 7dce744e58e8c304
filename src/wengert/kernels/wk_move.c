/* Kernels that only move elements: triangles of matrices, copies of transposed arrays, joins of arrays, choices.
 *
 * Methods return None for arguments that they do not accept; NumPy then does the work.
 */
#include <string.h>

#include "wk_lanes.h"
#include "wk_numpy.h"
#include "wk_pool.h"
#include "wk_release.h"

enum {
    WORK = 32768, /* least number of elements for a thread */
    BLOCK = 16,   /* rows and columns that are transposed together */
};

static int64_t grain_of(int64_t elements) { return elements >= WORK ? 1 : WORK / (elements < 1 ? 1 : elements); }

/* Whether x is an aligned array of float32 or float64 in native byte order. */
static int is_floating(PyObject *x) {
    if (!PyArray_CheckExact(x)) return 0;
    int type = PyArray_TYPE((PyArrayObject *)x);
    return (type == NPY_FLOAT || type == NPY_DOUBLE) && PyArray_ISBEHAVED_RO((PyArrayObject *)x);
}

/* Return 0, or -1 with an error set. */
static int run_tasks(int64_t tasks, int64_t each, void (*body)(void *, int64_t, int64_t), void *ctx) {
    return wk_run_loop(tasks * each > WORK, tasks, grain_of(each), body, ctx);
}

/* -- triangles ------------------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *from;
    char *to;
    int64_t m, n, diagonal, item, row, column; /* row, column: strides of the matrices in bytes */
    int upper, nd;
    npy_intp shape[NPY_MAXDIMS], strides[NPY_MAXDIMS]; /* of the batch dims */
} Triangle;

static void copy_triangle_rows(void *ctx, int64_t begin, int64_t end) {
    const Triangle *s = (const Triangle *)ctx;
    for (int64_t r = begin; r < end; r++) {
        int64_t i = r % s->m, index = r / s->m;
        const char *from = s->from + i * s->row;
        for (int d = s->nd - 1; d >= 0; index /= s->shape[d], d--) from += index % s->shape[d] * s->strides[d];
        /* For upper, the first column on or above the diagonal; otherwise the first column above it. */
        int64_t cut = i + s->diagonal + (s->upper ? 0 : 1);
        cut = cut < 0 ? 0 : cut > s->n ? s->n : cut;
        char *to = s->to + r * s->n * s->item, *middle = to + cut * s->item;
        size_t first = (size_t)(cut * s->item), second = (size_t)((s->n - cut) * s->item);
        if (s->upper) {
            memset(to, 0, first);
            wk_copy_lane(middle, from + cut * s->column, s->n - cut, s->column, s->item);
        } else {
            wk_copy_lane(to, from, cut, s->column, s->item);
            memset(middle, 0, second);
        }
    }
}

/* triangle(x, diagonal, upper): copy of the matrices (..., m, n) with zeros below the diagonal if upper, else above it. */
static PyObject *triangle_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 3) return PyErr_Format(PyExc_TypeError, "triangle takes 3 arguments");
    if (!is_floating(args[0]) || !PyLong_Check(args[1])) Py_RETURN_NONE;
    PyArrayObject *x = (PyArrayObject *)args[0];
    int nd = PyArray_NDIM(x) - 2, overflow;
    if (nd < 0) Py_RETURN_NONE;
    Triangle s = {.from = PyArray_BYTES(x), .item = PyArray_ITEMSIZE(x), .upper = PyObject_IsTrue(args[2]), .nd = nd};
    if (s.upper < 0) return NULL;
    s.diagonal = PyLong_AsLongAndOverflow(args[1], &overflow);
    if (overflow || s.diagonal > INT32_MAX || s.diagonal < INT32_MIN) Py_RETURN_NONE;
    s.m = PyArray_DIM(x, nd), s.n = PyArray_DIM(x, nd + 1), s.row = PyArray_STRIDE(x, nd), s.column = PyArray_STRIDE(x, nd + 1);
    memcpy(s.shape, PyArray_DIMS(x), sizeof *s.shape * (size_t)nd);
    memcpy(s.strides, PyArray_STRIDES(x), sizeof *s.strides * (size_t)nd);
    PyArrayObject *out = (PyArrayObject *)wk_new_array(nd + 2, PyArray_DIMS(x), PyArray_TYPE(x));
    if (out == NULL || PyArray_SIZE(out) == 0) return (PyObject *)out;
    s.to = PyArray_BYTES(out);
    if (run_tasks(PyArray_SIZE(out) / s.n, s.n, copy_triangle_rows, &s) < 0) Py_CLEAR(out);
    return (PyObject *)out;
}

/* -- transposed copies ------------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *from;
    char *to;
    int64_t item, rows, row_blocks; /* rows are contiguous in from, columns in to */
    int64_t columns, row_step, column_step; /* bytes from row to row in to, from column to column in from */
    int nd;
    npy_intp shape[NPY_MAXDIMS], from_strides[NPY_MAXDIMS], to_strides[NPY_MAXDIMS];
} Transposed;

#define COPY_BLOCK(real)                                                                                                 \
    for (int64_t i = 0; i < rows; i++) {                                                                                 \
        real *to_ = (real *)(to + i * s->row_step);                                                                      \
        const char *from_ = from + i * s->item;                                                                          \
        for (int64_t j = 0; j < columns; j++) to_[j] = *(const real *)(from_ + j * s->column_step);                      \
    }

static void copy_row_blocks(void *ctx, int64_t begin, int64_t end) {
    const Transposed *s = (const Transposed *)ctx;
    for (int64_t t = begin; t < end; t++) {
        int64_t row = t % s->row_blocks * BLOCK, index = t / s->row_blocks, rows = s->rows - row < BLOCK ? s->rows - row : BLOCK;
        const char *source = s->from + row * s->item;
        char *target = s->to + row * s->row_step;
        for (int d = s->nd - 1; d >= 0; index /= s->shape[d], d--) {
            source += index % s->shape[d] * s->from_strides[d];
            target += index % s->shape[d] * s->to_strides[d];
        }
        for (int64_t column = 0; column < s->columns; column += BLOCK) {
            int64_t columns = s->columns - column < BLOCK ? s->columns - column : BLOCK;
            const char *from = source + column * s->column_step;
            char *to = target + column * s->item;
            if (s->item == 4) COPY_BLOCK(float)
            else COPY_BLOCK(double)
        }
    }
}

/* copy_transposed(x): copy in row-major order of an array that is contiguous along another dim than the last. */
static PyObject *copy_transposed_method(PyObject *module, PyObject *given) {
    (void)module;
    if (!is_floating(given)) Py_RETURN_NONE;
    PyArrayObject *x = (PyArrayObject *)given;
    int nd = PyArray_NDIM(x), fast = -1, last = nd - 1;
    Transposed s = {.from = PyArray_BYTES(x), .item = PyArray_ITEMSIZE(x)};
    while (last >= 0 && PyArray_DIM(x, last) == 1) last--;
    for (int d = 0; d < last; d++) {
        if (PyArray_STRIDE(x, d) == s.item && PyArray_DIM(x, d) > 1) fast = d;
    }
    if (fast < 0 || PyArray_SIZE(x) == 0 || PyArray_STRIDE(x, last) == s.item) Py_RETURN_NONE;
    PyArrayObject *out = (PyArrayObject *)wk_new_array(nd, PyArray_DIMS(x), PyArray_TYPE(x));
    if (out == NULL) return NULL;
    s.to = PyArray_BYTES(out);
    s.rows = PyArray_DIM(x, fast), s.columns = PyArray_DIM(x, last);
    s.row_step = PyArray_STRIDE(out, fast), s.column_step = PyArray_STRIDE(x, last), s.row_blocks = (s.rows - 1) / BLOCK + 1;
    int64_t batch = 1;
    for (int d = 0; d < last; d++) {
        if (d == fast) continue;
        batch *= s.shape[s.nd] = PyArray_DIM(x, d);
        s.from_strides[s.nd] = PyArray_STRIDE(x, d), s.to_strides[s.nd] = PyArray_STRIDE(out, d);
        s.nd++;
    }
    if (run_tasks(batch * s.row_blocks, (s.rows < BLOCK ? s.rows : BLOCK) * s.columns, copy_row_blocks, &s) < 0) Py_CLEAR(out);
    return (PyObject *)out;
}

/* -- joins --------------------------------------------------------------------------------------------------------------------- */

typedef struct {
    PyObject *const *arrays;
    char *to;
    int64_t n, rows, row_bytes; /* rows of the result */
    int64_t inner_bytes;              /* bytes of one index along the axis */
    int axis;
} Joined;

enum { JOINED_BYTES = 16384 }; /* bytes of a piece of the result, which one thread writes */

/* Bytes from one row of x to the next. A row is the part of x with one index before the axis. */
static int64_t row_step(PyArrayObject *x, int axis) {
    int d = axis - 1;
    while (d > 0 && PyArray_DIM(x, d) == 1) d--;
    return d < 0 ? 0 : PyArray_STRIDE(x, d);
}

/* Whether each row is contiguous, and rows lie a constant step apart. */
static int has_rows(PyArrayObject *x, int axis) {
    npy_intp expected = PyArray_ITEMSIZE(x);
    if (PyArray_SIZE(x) == 0) return 1;
    for (int d = PyArray_NDIM(x) - 1; d >= 0; d--) {
        if (d == axis - 1) expected = row_step(x, axis);
        if (PyArray_DIM(x, d) == 1) continue;
        if (PyArray_STRIDE(x, d) != expected) return 0;
        expected *= PyArray_DIM(x, d);
    }
    return 1;
}

/* Copy the pieces begin <= i < end of the result, in memory order. A piece may begin and end inside an array. */
static void copy_joined_pieces(void *ctx, int64_t begin, int64_t end) {
    const Joined *s = (const Joined *)ctx;
    int64_t place = begin * JOINED_BYTES, total = s->rows * s->row_bytes, last = end * JOINED_BYTES < total ? end * JOINED_BYTES : total;
    int64_t row = place / s->row_bytes, skipped = place % s->row_bytes;
    for (int64_t i = 0; place < last; i++) {
        if (i == s->n) i = 0, row++;
        PyArrayObject *x = (PyArrayObject *)s->arrays[i];
        int64_t bytes = PyArray_DIM(x, s->axis) * s->inner_bytes;
        if (skipped >= bytes) { /* this array ends before the piece, or is empty */
            skipped -= bytes;
            continue;
        }
        int64_t copied = bytes - skipped < last - place ? bytes - skipped : last - place;
        memcpy(s->to + place, PyArray_BYTES(x) + row * row_step(x, s->axis) + skipped, (size_t)copied);
        place += copied;
        skipped = 0;
    }
}

/* join(arrays, axis): concatenation of a tuple of arrays of one dtype along 0 <= axis < ndim. The arrays are row-major, or slices
 * of row-major arrays along the axis. */
static PyObject *join_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 2) return PyErr_Format(PyExc_TypeError, "join takes 2 arguments");
    if (!PyTuple_Check(args[0]) || PyTuple_GET_SIZE(args[0]) == 0) Py_RETURN_NONE;
    Joined s = {.arrays = ((PyTupleObject *)args[0])->ob_item, .n = PyTuple_GET_SIZE(args[0]), .axis = (int)PyLong_AsLong(args[1])};
    if (PyErr_Occurred()) return NULL;
    if (!PyArray_CheckExact(s.arrays[0])) Py_RETURN_NONE;
    PyArrayObject *first = (PyArrayObject *)s.arrays[0];
    int nd = PyArray_NDIM(first);
    npy_intp shape[NPY_MAXDIMS];
    if (s.axis < 0 || s.axis >= nd) Py_RETURN_NONE;
    memcpy(shape, PyArray_DIMS(first), sizeof *shape * (size_t)nd);
    shape[s.axis] = 0;
    for (int64_t i = 0; i < s.n; i++) {
        if (!is_floating(s.arrays[i])) Py_RETURN_NONE;
        PyArrayObject *x = (PyArrayObject *)s.arrays[i];
        if (PyArray_TYPE(x) != PyArray_TYPE(first) || PyArray_NDIM(x) != nd || !has_rows(x, s.axis)) Py_RETURN_NONE;
        for (int d = 0; d < nd; d++) {
            if (d != s.axis && PyArray_DIM(x, d) != shape[d]) Py_RETURN_NONE;
        }
        shape[s.axis] += PyArray_DIM(x, s.axis);
    }
    PyArrayObject *out = (PyArrayObject *)wk_new_array(nd, shape, PyArray_TYPE(first));
    if (out == NULL || PyArray_SIZE(out) == 0) return (PyObject *)out;
    s.to = PyArray_BYTES(out), s.rows = 1, s.inner_bytes = PyArray_ITEMSIZE(out);
    for (int d = 0; d < s.axis; d++) s.rows *= shape[d];
    for (int d = s.axis + 1; d < nd; d++) s.inner_bytes *= shape[d];
    s.row_bytes = s.inner_bytes * shape[s.axis];
    if (run_tasks((PyArray_NBYTES(out) - 1) / JOINED_BYTES + 1, JOINED_BYTES / PyArray_ITEMSIZE(out), copy_joined_pieces, &s) < 0) Py_CLEAR(out);
    return (PyObject *)out;
}

/* -- choices ------------------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *condition, *x, *y; /* a constant x or y is a single number */
    char *out;
    int item, x_constant, y_constant;
} Choice;

/* Without branches, which would be mispredicted at every other element. */
#define CHOOSE_AS(real)                                                                                       \
    do {                                                                                                      \
        const real *x = (const real *)s->x, *y = (const real *)s->y;                                          \
        real *restrict out = (real *)s->out;                                                                  \
        if (s->x_constant) {                                                                                  \
            const real a = *x;                                                                                \
            for (int64_t i = begin; i < end; i++) {                                                           \
                const real b = y[i];                                                                          \
                out[i] = c[i] ? a : b;                                                                        \
            }                                                                                                 \
        } else if (s->y_constant) {                                                                           \
            const real b = *y;                                                                                \
            for (int64_t i = begin; i < end; i++) {                                                           \
                const real a = x[i];                                                                          \
                out[i] = c[i] ? a : b;                                                                        \
            }                                                                                                 \
        } else {                                                                                              \
            for (int64_t i = begin; i < end; i++) {                                                           \
                const real a = x[i], b = y[i];                                                                \
                out[i] = c[i] ? a : b;                                                                        \
            }                                                                                                 \
        }                                                                                                     \
    } while (0)

static void choose_elements(void *ctx, int64_t begin, int64_t end) {
    const Choice *s = (const Choice *)ctx;
    const npy_bool *c = (const npy_bool *)s->condition;
    if (s->item == 4) CHOOSE_AS(uint32_t); /* the bits are copied unchanged */
    else CHOOSE_AS(uint64_t);
}

/* Whether x is a single number, or is laid out like the condition. */
static int is_choosable(PyObject *x, PyArrayObject *condition, int *constant) {
    if (!is_floating(x)) return 0;
    PyArrayObject *a = (PyArrayObject *)x;
    *constant = PyArray_NDIM(a) == 0;
    return *constant || (PyArray_SAMESHAPE(a, condition) && PyArray_IS_C_CONTIGUOUS(a));
}

/* choose(condition, x, y): x where the condition is true, else y. condition is row-major; x and y have its shape or no dims. */
static PyObject *choose_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 3) return PyErr_Format(PyExc_TypeError, "choose takes 3 arguments");
    if (!PyArray_CheckExact(args[0])) Py_RETURN_NONE;
    PyArrayObject *condition = (PyArrayObject *)args[0];
    Choice s = {.condition = PyArray_BYTES(condition)};
    if (PyArray_TYPE(condition) != NPY_BOOL || !PyArray_IS_C_CONTIGUOUS(condition) || PyArray_NDIM(condition) == 0 ||
        !is_choosable(args[1], condition, &s.x_constant) || !is_choosable(args[2], condition, &s.y_constant)) {
        Py_RETURN_NONE;
    }
    PyArrayObject *x = (PyArrayObject *)args[1], *y = (PyArrayObject *)args[2];
    if (PyArray_TYPE(x) != PyArray_TYPE(y) || (s.x_constant && s.y_constant)) Py_RETURN_NONE;
    PyArrayObject *out = (PyArrayObject *)wk_new_array(PyArray_NDIM(condition), PyArray_DIMS(condition), PyArray_TYPE(x));
    if (out == NULL) return NULL;
    s.x = PyArray_BYTES(x), s.y = PyArray_BYTES(y), s.out = PyArray_BYTES(out), s.item = (int)PyArray_ITEMSIZE(x);
    if (run_tasks(PyArray_SIZE(out), 1, choose_elements, &s) < 0) Py_CLEAR(out);
    return (PyObject *)out;
}

static PyObject *extent_method(PyObject *module, PyObject *x) {
    (void)module;
    if (!PyArray_Check(x)) Py_RETURN_NONE;
    PyArrayObject *a = (PyArrayObject *)x;
    npy_intp start = (npy_intp)PyArray_BYTES(a), low = start, high = start;
    if (PyArray_SIZE(a) == 0) return Py_BuildValue("nnn", start, low, high);
    for (int d = 0; d < PyArray_NDIM(a); d++) {
        npy_intp reach = (PyArray_DIM(a, d) - 1) * PyArray_STRIDE(a, d);
        if (reach < 0) low += reach;
        else high += reach;
    }
    return Py_BuildValue("nnn", start, low, high + (npy_intp)PyArray_ITEMSIZE(a));
}

#define METHOD(name, doc) {#name, (PyCFunction)(void (*)(void))name##_method, METH_FASTCALL, doc}
PyMethodDef wk_move_methods[] = {
    METHOD(triangle, "triangle(x, diagonal, upper): copy of matrices with zeros below the diagonal if upper, else above it."),
    METHOD(choose, "choose(condition, x, y): x where the condition is true, else y."),
    METHOD(join, "join(arrays, axis): concatenation of row-major arrays, or of slices of these, along axis."),
    {"extent", extent_method, METH_O, "extent(array): the addresses of the first element, of the first byte, and of the byte after the last."},
    {"copy_transposed", copy_transposed_method, METH_O, "copy_transposed(x): copy in row-major order."},
    {NULL, NULL, 0, NULL},
};
