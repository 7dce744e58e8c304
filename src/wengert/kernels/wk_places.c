/* Reading and writing along a dim at the places that an array of ints names: gather, scatter and everything built on them.
 *
 * Methods return None for arguments that they do not accept, and for a place out of range; NumPy then does the work or raises. Each
 * lane belongs to one thread, which adds up its values in order. Results are therefore the same for any number of threads.
 */
#include <stdatomic.h>
#include <string.h>

#include "wk_index.h"
#include "wk_lanes.h"
#include "wk_numpy.h"
#include "wk_pool.h"
#include "wk_release.h"
#include "wk_threads.h"

enum { PUT, ADD, MULTIPLY, LARGEST, SMALLEST, KINDS };

typedef struct {
    WkLanes lanes; /* lanes of the index (0), of the array that its places refer to (1), and of the other array (2) */
    char *index, *named, *other;
    int64_t n, size, low; /* n: places in a lane; size: elements of a lane of the named array; low: least valid place */
    atomic_int wrong;     /* a place out of range has been found; set by any thread */
} Places;

/* -- are all places there ------------------------------------------------------------------------------------------------- */

/* Negative if place < low or place >= size. The differences are unsigned, since they may wrap round. */
static inline int64_t sign_outside(int64_t place, int64_t low, int64_t size) {
    return (int64_t)((uint64_t)place - (uint64_t)low) | (int64_t)((uint64_t)(size - 1) - (uint64_t)place);
}

/* Negative if any of n places is out of range. */
static int64_t sign_any_outside(const char *index, int64_t step, int64_t n, int64_t low, int64_t size) {
    int64_t signs = 0;
    if (step == sizeof(int64_t)) {
        const int64_t *places = (const int64_t *)index;
        for (int64_t i = 0; i < n; i++) signs |= sign_outside(places[i], low, size);
    } else {
        for (int64_t i = 0; i < n; i++) signs |= sign_outside(*(const int64_t *)(index + i * step), low, size);
    }
    return signs;
}

static int run_is_inside(const Places *s, const char *index, int64_t run) {
    int64_t step = s->lanes.step[0], next = s->lanes.next[0], signs = 0;
    if (next == 0) run = 1; /* the same places in all lanes */
    if (step <= next || run == 1) {
        for (int64_t j = 0; j < run; j++) signs |= sign_any_outside(index + j * next, step, s->n, s->low, s->size);
    } else {
        for (int64_t i = 0; i < s->n; i++) signs |= sign_any_outside(index + i * step, next, run, s->low, s->size);
    }
    return signs >= 0;
}

static void check_lanes(void *ctx, int64_t begin, int64_t end) {
    Places *s = (Places *)ctx;
    int64_t run, offsets[WK_LANE_ARRAYS];
    for (int64_t lane = begin; lane < end; lane += run) {
        run = wk_lane_run(&s->lanes, lane, end, offsets);
        if (!run_is_inside(s, s->index + offsets[0], run)) s->wrong = 1;
    }
}

/* -- the loops ------------------------------------------------------------------------------------------------------------ */

typedef struct {
    uint64_t half[2];
} pair;

/* Fields of Places in constants, so that compilers know that no store changes them. */
#define VARIABLES                                                                     \
    const int64_t n = s->n, size = s->size, step = s->lanes.step[0], next = s->lanes.next[0]; \
    const int64_t named_step = s->lanes.step[1], named_next = s->lanes.next[1];       \
    const int64_t other_step = s->lanes.step[2], other_next = s->lanes.next[2]

/* See Note [Indices are checked at use]. read: wk_index, or wk_index_from_end if negative places are valid. */
#define INDEX(read, i, j) read((const int64_t *)(index + (i) * step + (j) * next), size)
#define NAMED(type, p, j) ((type *)(named + (p) * named_step + (j) * named_next))
#define OTHER(type, i, j) ((type *)(other + (i) * other_step + (j) * other_next))

/* Run statement for all places of `run` neighbouring lanes. If all lanes share one index and are contiguous side by side, go row by
 * row. If each lane is contiguous, go lane by lane. Otherwise follow the layout of the other array. */
#define EACH_PLACE(type, read, statement)                                                                     \
    do {                                                                                                      \
        const int64_t item = sizeof(type);                                                                    \
        if (next == 0 && run > 1 && named_next == item && other_next == item) {                               \
            for (int64_t i = 0; i < n; i++) {                                                                 \
                int64_t p = INDEX(read, i, 0);                                                                      \
                type *restrict at = NAMED(type, p, 0), *restrict value = OTHER(type, i, 0);          \
                for (int64_t j = 0; j < run; j++, at++, value++) statement;                                   \
            }                                                                                                 \
        } else if (step == sizeof(int64_t) && named_step == item && other_step == item) {                     \
            for (int64_t j = 0; j < run; j++) {                                                               \
                const int64_t *restrict places = (const int64_t *)(index + j * next);                         \
                type *restrict lane = NAMED(type, 0, j), *restrict value = OTHER(type, 0, j);                 \
                for (int64_t i = 0; i < n; i++, value++) {                                                    \
                    type *at = lane + read(places + i, size);                                    \
                    statement;                                                                                \
                }                                                                                             \
            }                                                                                                 \
        } else if (other_step <= other_next || run == 1) {                                                    \
            for (int64_t j = 0; j < run; j++) {                                                               \
                for (int64_t i = 0; i < n; i++) {                                                             \
                    int64_t p = INDEX(read, i, j);                                                                  \
                    type *at = NAMED(type, p, j), *value = OTHER(type, i, j);                        \
                    statement;                                                                                \
                }                                                                                             \
            }                                                                                                 \
        } else {                                                                                              \
            for (int64_t i = 0; i < n; i++) {                                                                 \
                for (int64_t j = 0; j < run; j++) {                                                           \
                    int64_t p = INDEX(read, i, j);                                                                  \
                    type *at = NAMED(type, p, j), *value = OTHER(type, i, j);                        \
                    statement;                                                                                \
                }                                                                                             \
            }                                                                                                 \
        }                                                                                                     \
    } while (0)

static int has_no_gaps(const Places *s, int64_t item) {
    return s->lanes.step[0] == sizeof(int64_t) && s->lanes.step[1] == item && s->lanes.step[2] == item;
}

#define RUN_OF(name, type, statement)                                                                          \
    static void name(Places *s, const char *index, char *named, char *other, int64_t run) {                    \
        VARIABLES;                                                                                             \
        if (s->low < 0)                                                                                        \
            EACH_PLACE(type, wk_index_from_end, statement);                                                    \
        else                                                                                                   \
            EACH_PLACE(type, wk_index, statement);                                                             \
    }
/* Reads check places as they go if each lane is contiguous. This takes half the time of checking all places first. */
#define MOVES(type)                                                                                            \
    RUN_OF(put_##type, type, *at = *value)                                                                     \
    RUN_OF(take_any_##type, type, *value = *at)                                                                \
    static void take_##type(Places *s, const char *index, char *named, char *other, int64_t run) {             \
        if (!has_no_gaps(s, sizeof(type))) {                                                                   \
            take_any_##type(s, index, named, other, run);                                                      \
            return;                                                                                            \
        }                                                                                                      \
        const uint64_t size = (uint64_t)s->size, n = (uint64_t)s->n, back = s->low < 0 ? size : 0;             \
        for (int64_t j = 0; j < run; j++) {                                                                    \
            const int64_t *restrict places = (const int64_t *)(index + j * s->lanes.next[0]);                  \
            const type *restrict lane = (const type *)(named + j * s->lanes.next[1]);                          \
            type *restrict value = (type *)(other + j * s->lanes.next[2]);                                     \
            for (uint64_t i = 0; i < n; i++) {                                                                 \
                uint64_t place = (uint64_t)wk_read_index(places + i);                                          \
                if (place >= size && (place += back) >= size) {                                                \
                    s->wrong = 1;                                                                              \
                    return;                                                                                    \
                }                                                                                              \
                value[i] = lane[place];                                                                        \
            }                                                                                                  \
        }                                                                                                      \
    }
MOVES(uint8_t)
MOVES(uint16_t)
MOVES(uint32_t)
MOVES(uint64_t)
MOVES(pair)
/* Consecutive values for one place are summed in a register before the store. Waiting for each store would take longer. */
#define SUMS_OF_LANES(type, read)                                                                              \
    do {                                                                                                       \
        for (int64_t j = 0; j < run; j++) {                                                                    \
            const int64_t *restrict places = (const int64_t *)(index + j * s->lanes.next[0]);                  \
            const type *restrict value = (const type *)(other + j * s->lanes.next[2]);                         \
            type *restrict lane = (type *)(named + j * s->lanes.next[1]);                                      \
            int64_t last = read(places, size);                                                                 \
            type sum = lane[last] + value[0];                                                                  \
            for (int64_t i = 1; i < n; i++) {                                                                  \
                int64_t place = read(places + i, size);                                                        \
                if (place != last) {                                                                           \
                    lane[last] = sum;                                                                          \
                    last = place;                                                                              \
                    sum = lane[place];                                                                         \
                }                                                                                              \
                sum += value[i];                                                                               \
            }                                                                                                  \
            lane[last] = sum;                                                                                  \
        }                                                                                                      \
    } while (0)
#define SUMS(type)                                                                                             \
    RUN_OF(add_any_##type, type, *at += *value)                                                                \
    static void add_##type(Places *s, const char *index, char *named, char *other, int64_t run) {              \
        const int64_t size = s->size, n = s->n;                                                                \
        if (!has_no_gaps(s, sizeof(type)))                                                                     \
            add_any_##type(s, index, named, other, run);                                                       \
        else if (s->low < 0)                                                                                   \
            SUMS_OF_LANES(type, wk_index_from_end);                                                            \
        else                                                                                                   \
            SUMS_OF_LANES(type, wk_index);                                                                     \
    }
SUMS(float)
SUMS(double)

/* The better of two numbers. A NaN wins and stays; of equal numbers the first wins. The choice is made on bits, because compilers
 * would otherwise emit a branch, and the processor cannot predict which number is larger. */
#define EXTREMA(type, bits)                                                                  \
    static inline type better_##type(type x, type y, int wins) {                             \
        bits of_x, of_y, mask = -(bits)wins;                                                 \
        memcpy(&of_x, &x, sizeof x);                                                         \
        memcpy(&of_y, &y, sizeof y);                                                         \
        of_x = (of_y & mask) | (of_x & ~mask);                                               \
        memcpy(&x, &of_x, sizeof x);                                                         \
        return x;                                                                            \
    }                                                                                        \
    static inline type larger_##type(type x, type y) { return better_##type(x, y, (y > x) | (y != y)); }  \
    static inline type smaller_##type(type x, type y) { return better_##type(x, y, (y < x) | (y != y)); }
EXTREMA(float, uint32_t)
EXTREMA(double, uint64_t)
#define ARITHMETIC(type)                                               \
    RUN_OF(multiply_##type, type, *at *= *value)                       \
    RUN_OF(largest_##type, type, *at = larger_##type(*at, *value))     \
    RUN_OF(smallest_##type, type, *at = smaller_##type(*at, *value))
ARITHMETIC(float)
ARITHMETIC(double)

typedef void (*run_function)(Places *, const char *, char *, char *, int64_t);

static int index_of_size(int64_t item) {
    return item == 1 ? 0 : item == 2 ? 1 : item == 4 ? 2 : item == 8 ? 3 : item == 16 ? 4 : -1;
}
static const run_function take_of[] = {take_uint8_t, take_uint16_t, take_uint32_t, take_uint64_t, take_pair};
static const run_function put_of[] = {put_uint8_t, put_uint16_t, put_uint32_t, put_uint64_t, put_pair};
static const run_function combine_of[KINDS][2] = {
    {NULL, NULL},
    {add_float, add_double},
    {multiply_float, multiply_double},
    {largest_float, largest_double},
    {smallest_float, smallest_double},
};

typedef struct {
    Places *places;
    run_function run;
    int checks; /* check the places of each run just before it is visited */
} Task;

static void visit_lanes(void *ctx, int64_t begin, int64_t end) {
    const Task *task = (const Task *)ctx;
    Places *s = task->places;
    int64_t run, offsets[WK_LANE_ARRAYS];
    for (int64_t lane = begin; lane < end && !s->wrong; lane += run) {
        run = wk_lane_run(&s->lanes, lane, end, offsets);
        if (task->checks && !run_is_inside(s, s->index + offsets[0], run)) s->wrong = 1;
        else task->run(s, s->index + offsets[0], s->named + offsets[1], s->other + offsets[2], run);
    }
}

/* Run over all places. Return 1 if all of them are in range, else 0, with nothing written unless into_new; -1 with an error set. */
static int visit_places(Places *s, run_function run, int64_t item, int into_new) {
    Task task = {s, run, into_new && !has_no_gaps(s, item)};
    int64_t grain = wk_lane_grain(s->n);
    wk_release(s->lanes.lanes * s->n > WK_LANE_WORK);
    if (!into_new) wk_parallel_for(s->lanes.lanes, s->lanes.next[0] == 0 ? s->lanes.lanes : grain, check_lanes, s);
    if (!s->wrong) wk_parallel_for(s->lanes.lanes, grain, visit_lanes, &task);
    return wk_reacquire() < 0 ? -1 : !s->wrong;
}

/* -- for Python ----------------------------------------------------------------------------------------------------------- */

/* Whether x is an array of numbers, aligned and in native byte order. */
static int is_plain(PyObject *x) {
    return PyArray_CheckExact(x) && PyTypeNum_ISNUMBER(PyArray_TYPE((PyArrayObject *)x)) && PyArray_ISBEHAVED_RO((PyArrayObject *)x);
}

/* An index along dim, with the shape and the strides that it has after it is expanded to the dims of the named array. */
typedef struct {
    int nd, dim;
    npy_intp shape[NPY_MAXDIMS], strides[NPY_MAXDIMS];
    npy_intp elements;
} Index;

/* Read an index for x. It has as many dims as x and is no larger than x except along dim, or it is a vector that is used for all
 * lanes. Return 0 if it is neither. */
static int read_index(PyArrayObject *x, PyObject *index_, PyObject *dim_, Index *found) {
    if (!is_plain(index_) || PyArray_TYPE((PyArrayObject *)index_) != NPY_INT64) return 0;
    PyArrayObject *index = (PyArrayObject *)index_;
    long dim = PyLong_AsLong(dim_);
    int nd = PyArray_NDIM(x), is_vector = PyArray_NDIM(index) == 1;
    if (dim == -1 && PyErr_Occurred()) PyErr_Clear();
    if (nd < 1 || (PyArray_NDIM(index) != nd && !is_vector) || dim < 0 || dim >= nd) return 0;
    found->nd = nd;
    found->dim = (int)dim;
    found->elements = 1;
    for (int d = 0; d < nd; d++) {
        int own = !is_vector || d == dim, of_index = is_vector ? 0 : d;
        found->shape[d] = own ? PyArray_DIM(index, of_index) : PyArray_DIM(x, d);
        found->strides[d] = own ? PyArray_STRIDE(index, of_index) : 0;
        if (d != dim && found->shape[d] > PyArray_DIM(x, d)) return 0;
        found->elements *= found->shape[d];
    }
    return 1;
}

static int read_lowest(PyObject *counts_back, int64_t size, int64_t *low) {
    int back = PyObject_IsTrue(counts_back);
    *low = back == 1 ? -size : 0;
    return back;
}

/* take_along(x, index, dim, counts_back): the elements of x at index along dim. In the other dims, each element of the index reads
 * at its own position. */
static PyObject *take_along_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 4) return PyErr_Format(PyExc_TypeError, "take_along takes 4 arguments");
    if (!is_plain(args[0])) Py_RETURN_NONE;
    PyArrayObject *x = (PyArrayObject *)args[0], *index = (PyArrayObject *)args[1];
    Index named;
    int size = index_of_size(PyArray_ITEMSIZE(x));
    if (size < 0 || !read_index(x, args[1], args[2], &named)) Py_RETURN_NONE;
    Places s = {.n = named.shape[named.dim], .size = PyArray_DIM(x, named.dim)};
    if (read_lowest(args[3], s.size, &s.low) < 0) return NULL;
    PyArrayObject *out = (PyArrayObject *)wk_new_array(named.nd, named.shape, PyArray_TYPE(x));
    if (out == NULL || PyArray_SIZE(out) == 0) return (PyObject *)out;
    const npy_intp *strides[] = {named.strides, PyArray_STRIDES(x), PyArray_STRIDES(out)};
    wk_lanes_init(&s.lanes, named.nd, named.shape, named.dim, 3, strides);
    s.index = PyArray_BYTES(index), s.named = PyArray_BYTES(x), s.other = PyArray_BYTES(out);
    int taken = visit_places(&s, take_of[size], PyArray_ITEMSIZE(x), 1);
    if (taken > 0) return (PyObject *)out;
    Py_DECREF(out);
    return taken < 0 ? NULL : Py_NewRef(Py_None);
}

/* Whether the values fit the index: they are a single value, or at least as many as the index along each dim. Sets their
 * strides. */
static int values_fit(PyArrayObject *values, const Index *index, npy_intp *strides) {
    memset(strides, 0, sizeof(npy_intp) * (size_t)index->nd);
    if (PyArray_NDIM(values) == 0) return 1;
    if (PyArray_NDIM(values) != index->nd) return 0;
    for (int d = 0; d < index->nd; d++) {
        if (PyArray_DIM(values, d) < index->shape[d]) return 0;
        strides[d] = PyArray_STRIDE(values, d);
    }
    return 1;
}

/* Whether the address ranges of two arrays overlap. */
static int may_overlap(PyArrayObject *x, PyArrayObject *y) {
    PyArrayObject *both[] = {x, y};
    const char *first[2], *last[2];
    for (int i = 0; i < 2; i++) {
        first[i] = last[i] = PyArray_BYTES(both[i]);
        for (int d = 0; d < PyArray_NDIM(both[i]); d++) {
            npy_intp reach = (PyArray_DIM(both[i], d) - 1) * PyArray_STRIDE(both[i], d);
            if (reach < 0) first[i] += reach;
            else last[i] += reach;
        }
    }
    return first[0] <= last[1] && first[1] <= last[0];
}

/* write_along(kind, held, index, values, dim, counts_back): Write values into held, or combine them with it, at index along dim.
 * Returns True, or None if it does not accept the arguments. values: one, or at least as many as index along every dim. */
static PyObject *write_along_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 6) return PyErr_Format(PyExc_TypeError, "write_along takes 6 arguments");
    long kind = PyLong_AsLong(args[0]);
    if (kind == -1 && PyErr_Occurred()) return NULL;
    if (kind < 0 || kind >= KINDS || !is_plain(args[1]) || !is_plain(args[3])) Py_RETURN_NONE;
    PyArrayObject *held = (PyArrayObject *)args[1], *index = (PyArrayObject *)args[2], *values = (PyArrayObject *)args[3];
    Index named;
    int type = PyArray_TYPE(held), size = index_of_size(PyArray_ITEMSIZE(held));
    if (size < 0 || !read_index(held, args[2], args[4], &named) || PyArray_TYPE(values) != type || !PyArray_ISWRITEABLE(held)) Py_RETURN_NONE;
    if (kind != PUT && type != NPY_FLOAT && type != NPY_DOUBLE) Py_RETURN_NONE;
    npy_intp value_strides[NPY_MAXDIMS];
    if (!values_fit(values, &named, value_strides)) Py_RETURN_NONE;
    Places s = {.n = named.shape[named.dim], .size = PyArray_DIM(held, named.dim)};
    if (read_lowest(args[5], s.size, &s.low) < 0) return NULL;
    for (int d = 0; d < PyArray_NDIM(held); d++) { /* two threads must not write to one element that several positions share */
        if (PyArray_STRIDE(held, d) == 0 && PyArray_DIM(held, d) > 1) Py_RETURN_NONE;
    }
    if (named.elements == 0) Py_RETURN_TRUE;
    if (may_overlap(held, index) || may_overlap(held, values)) Py_RETURN_NONE;
    const npy_intp *strides[] = {named.strides, PyArray_STRIDES(held), value_strides};
    wk_lanes_init(&s.lanes, named.nd, named.shape, named.dim, 3, strides);
    s.index = PyArray_BYTES(index), s.named = PyArray_BYTES(held), s.other = PyArray_BYTES(values);
    int written = visit_places(&s, kind == PUT ? put_of[size] : combine_of[kind][type == NPY_DOUBLE], PyArray_ITEMSIZE(held), 0);
    return written < 0 ? NULL : Py_NewRef(written ? Py_True : Py_None);
}

#define METHOD(name, doc) {#name, (PyCFunction)(void (*)(void))name##_method, METH_FASTCALL, doc}
PyMethodDef wk_places_methods[] = {
    METHOD(take_along, "take_along(x, index, dim, counts_back): the elements of x at index along dim."),
    METHOD(write_along, "write_along(kind, held, index, values, dim, counts_back): True if the values were written, or None."),
    {NULL, NULL, 0, NULL},
};
