/* Sorting along a dim, and selection without a full sort: the k largest elements, the k-th smallest, the median, the mode.
 *
 * NaN counts as larger than all numbers, and 0 as equal to -0. Elements are turned into keys, which are ints in the order of the
 * elements. Equal elements keep the order of their places. Each lane belongs to one thread.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "wk_lanes.h"
#include "wk_numpy.h"
#include "wk_pool.h"
#include "wk_release.h"

enum {
    FEW = 40,        /* number of items below which insertion sort is used */
    FIRST = 16,      /* largest k for which the first k are kept in one pass over all elements */
    BLOCK = 16,      /* number of keys compared at once with the last of the first k */
    RELATIVE_COST = 8, /* cost of an element here, relative to one that is only moved */
    MIDDLE = -1,     /* for k: lower median, or the first NaN if there is one */
    MIDDLE_NUMBER = -2, /* for k: lower median of the elements other than NaN */
    MODE = -3,       /* for k: the most frequent element, the smallest of several, at its last place; no NaN equals another */
};

typedef struct {
    WkLanes lanes; /* lanes of x (0), the values (1), their places in x (2) */
    const char *x;
    char *values;
    int64_t *places;
    int64_t n, k; /* n: elements of a lane; k: how many are wanted, or which one */
    int type, descending;
    atomic_int failed; /* set by any thread */
} Selection;

/* -- keys ----------------------------------------------------------------------------------------------------------------- */

/* Set keys[i] to the key of the element at x + i * step. If flip is -1, the order is reversed. */
#define KEYS_OF(name, type, bits, key, expression)                                     \
    static void name(const char *x, int64_t step, int64_t n, key flip, key *keys) {    \
        if (step == sizeof(type)) {                                                    \
            const type *row = (const type *)x;                                         \
            for (int64_t i = 0; i < n; i++) {                                          \
                type v = row[i];                                                       \
                keys[i] = (expression) ^ flip;                                         \
            }                                                                          \
        } else {                                                                       \
            for (int64_t i = 0; i < n; i++) {                                          \
                type v = *(const type *)(x + i * step);                                \
                keys[i] = (expression) ^ flip;                                         \
            }                                                                          \
        }                                                                              \
    }
static inline int32_t key_of_float(float v) {
    int32_t bits;
    v += 0.0f; /* turns -0 into 0 */
    memcpy(&bits, &v, sizeof bits);
    return v != v ? INT32_MAX : bits ^ ((bits >> 31) & INT32_MAX);
}
static inline int64_t key_of_double(double v) {
    int64_t bits;
    v += 0.0;
    memcpy(&bits, &v, sizeof bits);
    return v != v ? INT64_MAX : bits ^ ((bits >> 63) & INT64_MAX);
}
KEYS_OF(float_keys, float, int32_t, int32_t, key_of_float(v))
KEYS_OF(int32_keys, int32_t, int32_t, int32_t, v)
KEYS_OF(double_keys, double, int64_t, int64_t, key_of_double(v))
KEYS_OF(int64_keys, int64_t, int64_t, int64_t, v)

typedef struct {
    uint32_t key, place;
} Item32;
typedef struct {
    uint64_t key, place;
} Item64;

/* -- for both widths of keys ---------------------------------------------------------------------------------------------- */

/* For keys of BITS bits:
 * sort_: sort n items by their keys; the sort is stable. scratch: memory for n items.
 * select_: return the r-th smallest key. *before: how many equal keys a sort puts before it. Overwrites the keys.
 * first_: find the places of the first k <= FIRST of n keys in sorted order.
 * nth_: return the place of the r-th (from 0) occurrence of a key.
 */
#define ALGORITHMS(BITS)                                                                                                \
    static void sort_##BITS(Item##BITS *items, Item##BITS *scratch, int64_t n) {                                        \
        if (n < FEW) {                                                                                                  \
            for (int64_t i = 1; i < n; i++) {                                                                           \
                Item##BITS item = items[i];                                                                             \
                int64_t j = i;                                                                                          \
                for (; j > 0 && items[j - 1].key > item.key; j--) items[j] = items[j - 1];                              \
                items[j] = item;                                                                                        \
            }                                                                                                           \
            return;                                                                                                     \
        }                                                                                                               \
        int64_t counts[BITS / 8][256];                                                                                  \
        memset(counts, 0, sizeof counts);                                                                               \
        for (int64_t i = 0; i < n; i++) {                                                                               \
            for (int b = 0; b < BITS / 8; b++) counts[b][items[i].key >> (8 * b) & 255]++;                              \
        }                                                                                                               \
        Item##BITS *from = items, *to = scratch;                                                                        \
        for (int b = 0; b < BITS / 8; b++) {                                                                            \
            int64_t *starts = counts[b], total = 0;                                                                     \
            if (starts[from[0].key >> (8 * b) & 255] == n) continue; /* all keys share this digit */                    \
            for (int digit = 0; digit < 256; digit++) {                                                                 \
                int64_t count = starts[digit];                                                                          \
                starts[digit] = total;                                                                                  \
                total += count;                                                                                         \
            }                                                                                                           \
            for (int64_t i = 0; i < n; i++) to[starts[from[i].key >> (8 * b) & 255]++] = from[i];                       \
            Item##BITS *sorted = to;                                                                                    \
            to = from, from = sorted;                                                                                   \
        }                                                                                                               \
        if (from != items) memcpy(items, from, (size_t)n * sizeof *items);                                              \
    }                                                                                                                   \
                                                                                                                        \
    static int##BITS##_t select_##BITS(int##BITS##_t *keys, int64_t n, int64_t r, int64_t *before) {                    \
        const uint##BITS##_t sign = (uint##BITS##_t)1 << (BITS - 1);                                                    \
        for (int shift = BITS - 8; n >= FEW && shift >= 0; shift -= 8) {                                                \
            int64_t counts[256] = {0}, kept = 0;                                                                        \
            for (int64_t i = 0; i < n; i++) counts[((uint##BITS##_t)keys[i] ^ sign) >> shift & 255]++;                  \
            unsigned digit = 0;                                                                                         \
            for (; r >= counts[digit]; digit++) r -= counts[digit];                                                     \
            if (counts[digit] == n) continue;                                                                           \
            for (int64_t i = 0; i < n; i++) {                                                                           \
                int##BITS##_t key = keys[i];                                                                            \
                keys[kept] = key;                                                                                       \
                kept += (((uint##BITS##_t)key ^ sign) >> shift & 255) == digit;                                         \
            }                                                                                                           \
            n = kept;                                                                                                   \
        }                                                                                                               \
        *before = r;                                                                                                    \
        if (n >= FEW) return keys[0]; /* all digits have been compared, so the keys are equal */                        \
        for (int64_t i = 1; i < n; i++) {                                                                               \
            int##BITS##_t key = keys[i];                                                                                \
            int64_t j = i;                                                                                              \
            for (; j > 0 && keys[j - 1] > key; j--) keys[j] = keys[j - 1];                                              \
            keys[j] = key;                                                                                              \
        }                                                                                                               \
        int64_t first = r;                                                                                              \
        while (first > 0 && keys[first - 1] == keys[r]) first--;                                                        \
        *before = r - first;                                                                                            \
        return keys[r];                                                                                                 \
    }                                                                                                                   \
                                                                                                                        \
    static void first_##BITS(const int##BITS##_t *keys, int64_t n, int64_t k, int64_t *places) {                        \
        int##BITS##_t best[FIRST];                                                                                      \
        int64_t found = 0;                                                                                              \
        for (int64_t begin = 0; begin < n; begin += BLOCK) {                                                            \
            int64_t end = begin + BLOCK;                                                                                \
            if (end > n) end = n;                                                                                       \
            if (found == k && end - begin == BLOCK) {                                                                   \
                int##BITS##_t last = best[k - 1];                                                                       \
                int any = 0;                                                                                            \
                for (int i = 0; i < BLOCK; i++) any |= keys[begin + i] < last;                                          \
                if (!any) continue;                                                                                     \
            }                                                                                                           \
            for (int64_t i = begin; i < end; i++) {                                                                     \
                int##BITS##_t key = keys[i];                                                                            \
                if (found == k && key >= best[k - 1]) continue;                                                         \
                int64_t j = found < k ? found++ : k - 1;                                                                \
                for (; j > 0 && best[j - 1] > key; j--) best[j] = best[j - 1], places[j] = places[j - 1];               \
                best[j] = key, places[j] = i;                                                                           \
            }                                                                                                           \
        }                                                                                                               \
    }                                                                                                                   \
                                                                                                                        \
    static int64_t nth_##BITS(const int##BITS##_t *keys, int##BITS##_t key, int64_t r) {                                \
        for (int64_t i = 0;; i++) {                                                                                     \
            if (keys[i] == key && r-- == 0) return i;                                                                   \
        }                                                                                                               \
    }                                                                                                                   \
                                                                                                                        \
    static int64_t place_of_##BITS(int64_t k, int64_t n, const int##BITS##_t *keys, int##BITS##_t *scratch) {           \
        if (k < 0) {                                                                                                    \
            int64_t numbers = 0;                                                                                        \
            for (int64_t i = 0; i < n; i++) numbers += keys[i] != INT##BITS##_MAX;                                      \
            if (numbers < n && k == MIDDLE) return nth_##BITS(keys, INT##BITS##_MAX, 0);                                \
            k = numbers > 0 ? (numbers - 1) / 2 : 0;                                                                    \
        }                                                                                                               \
        if (k < FIRST) {                                                                                                \
            int64_t places[FIRST];                                                                                      \
            first_##BITS(keys, n, k + 1, places);                                                                       \
            return places[k];                                                                                           \
        }                                                                                                               \
        int64_t before;                                                                                                 \
        memcpy(scratch, keys, (size_t)n * sizeof *keys);                                                                \
        int##BITS##_t key = select_##BITS(scratch, n, k, &before);                                                      \
        return nth_##BITS(keys, key, before);                                                                           \
    }                                                                                                                   \
                                                                                                                        \
    static void first_places_##BITS(int64_t k, int64_t n, const int##BITS##_t *keys, Item##BITS *items, Item##BITS *scratch, \
                                    int64_t *places) {                                                                  \
        if (k <= FIRST && k < n) {                                                                                      \
            first_##BITS(keys, n, k, places);                                                                           \
            return;                                                                                                     \
        }                                                                                                               \
        int##BITS##_t last = INT##BITS##_MAX;                                                                           \
        int64_t equal = n; /* number of elements with the last key that are still wanted, at most */                    \
        if (k < n) {                                                                                                    \
            memcpy(scratch, keys, (size_t)n * sizeof *keys);                                                            \
            last = select_##BITS((int##BITS##_t *)scratch, n, k - 1, &equal);                                           \
            equal++;                                                                                                    \
        }                                                                                                               \
        int64_t kept = 0;                                                                                               \
        for (int64_t i = 0; i < n; i++) {                                                                               \
            int taken = keys[i] < last || (keys[i] == last && equal-- > 0);                                             \
            items[kept].key = (uint##BITS##_t)keys[i] ^ (uint##BITS##_t)1 << (BITS - 1);                                \
            items[kept].place = (uint##BITS##_t)i;                                                                      \
            kept += taken;                                                                                              \
            if (kept == k) break;                                                                                       \
        }                                                                                                               \
        sort_##BITS(items, scratch, k);                                                                                 \
        for (int64_t i = 0; i < k; i++) places[i] = (int64_t)items[i].place;                                            \
    }                                                                                                                   \
                                                                                                                        \
    static int64_t mode_##BITS(int has_nan, int64_t n, const int##BITS##_t *keys, Item##BITS *items, Item##BITS *scratch) { \
        for (int64_t i = 0; i < n; i++) {                                                                               \
            items[i].key = (uint##BITS##_t)keys[i] ^ (uint##BITS##_t)1 << (BITS - 1);                                   \
            items[i].place = (uint##BITS##_t)i;                                                                         \
        }                                                                                                               \
        sort_##BITS(items, scratch, n);                                                                                 \
        int64_t run = 1, longest = 1, end = 0;                                                                          \
        for (int64_t i = 1; i < n; i++) {                                                                               \
            int is_nan = has_nan && items[i].key == UINT##BITS##_MAX;                                                   \
            run = items[i].key == items[i - 1].key && !is_nan ? run + 1 : 1;                                            \
            if (run > longest) longest = run, end = i;                                                                  \
        }                                                                                                               \
        if (has_nan && items[end].key == UINT##BITS##_MAX) end = n - 1;                                                 \
        return (int64_t)items[end].place;                                                                               \
    }
ALGORITHMS(32)
ALGORITHMS(64)

/* -- lanes ---------------------------------------------------------------------------------------------------------------- */

static void load_keys(const Selection *s, const char *x, void *keys) {
    int64_t step = s->lanes.step[0];
    switch (s->type) {
        case NPY_FLOAT: float_keys(x, step, s->n, -s->descending, (int32_t *)keys); break;
        case NPY_INT32: int32_keys(x, step, s->n, -s->descending, (int32_t *)keys); break;
        case NPY_DOUBLE: double_keys(x, step, s->n, -(int64_t)s->descending, (int64_t *)keys); break;
        default: int64_keys(x, step, s->n, -(int64_t)s->descending, (int64_t *)keys);
    }
}

static void store_elements(const Selection *s, const int64_t *offsets, int64_t lane, int64_t count, const int64_t *places) {
    const char *x = s->x + offsets[0] + lane * s->lanes.next[0];
    char *values = s->values + offsets[1] + lane * s->lanes.next[1];
    char *out = (char *)s->places + offsets[2] + lane * s->lanes.next[2];
    int64_t x_step = s->lanes.step[0], step = s->lanes.step[1], out_step = s->lanes.step[2];
    int wide = s->type == NPY_DOUBLE || s->type == NPY_INT64;
    for (int64_t i = 0; i < count; i++) {
        if (wide) *(uint64_t *)(values + i * step) = *(const uint64_t *)(x + places[i] * x_step);
        else *(uint32_t *)(values + i * step) = *(const uint32_t *)(x + places[i] * x_step);
        *(int64_t *)(out + i * out_step) = places[i];
    }
}

enum { OF_KEYS, OF_ITEMS, OF_SCRATCH, OF_PLACES, BUFFERS };

/* Allocate memory for one lane: keys, items, scratch items for the sort, places. NULL: no memory, and s->failed is set. */
static char *allocate(Selection *s, int64_t places, char **buffers) {
    size_t each = s->type == NPY_DOUBLE || s->type == NPY_INT64 ? sizeof(Item64) : sizeof(Item32), n = (size_t)s->n;
    char *memory = (char *)malloc(n * each * 3 + (size_t)places * sizeof(int64_t));
    if (memory == NULL) s->failed = 1;
    for (int i = 0; i < BUFFERS; i++) buffers[i] = memory + (size_t)i * n * each;
    return memory;
}

#define EACH_LANE(statement)                                                                  \
    do {                                                                                      \
        int64_t run, offsets[WK_LANE_ARRAYS];                                                 \
        for (int64_t lane = begin; lane < end; lane += run) {                                 \
            run = wk_lane_run(&s->lanes, lane, end, offsets);                                 \
            for (int64_t j = 0; j < run; j++) {                                               \
                load_keys(s, s->x + offsets[0] + j * s->lanes.next[0], buffers[OF_KEYS]);     \
                statement;                                                                    \
            }                                                                                 \
        }                                                                                     \
    } while (0)

static void choose_first(void *ctx, int64_t begin, int64_t end) {
    Selection *s = (Selection *)ctx;
    char *buffers[BUFFERS], *memory = allocate(s, s->k, buffers);
    if (memory == NULL) return;
    int64_t *places = (int64_t *)buffers[OF_PLACES];
    int wide = s->type == NPY_DOUBLE || s->type == NPY_INT64;
    EACH_LANE({
        if (wide) {
            first_places_64(s->k, s->n, (const int64_t *)buffers[OF_KEYS], (Item64 *)buffers[OF_ITEMS],
                            (Item64 *)buffers[OF_SCRATCH], places);
        } else {
            first_places_32(s->k, s->n, (const int32_t *)buffers[OF_KEYS], (Item32 *)buffers[OF_ITEMS],
                            (Item32 *)buffers[OF_SCRATCH], places);
        }
        store_elements(s, offsets, j, s->k, places);
    });
    free(memory);
}

static void choose_one(void *ctx, int64_t begin, int64_t end) {
    Selection *s = (Selection *)ctx;
    char *buffers[BUFFERS], *memory = allocate(s, 1, buffers);
    if (memory == NULL) return;
    int wide = s->type == NPY_DOUBLE || s->type == NPY_INT64;
    EACH_LANE({
        int64_t place = wide ? place_of_64(s->k, s->n, (const int64_t *)buffers[OF_KEYS], (int64_t *)buffers[OF_ITEMS])
                             : place_of_32(s->k, s->n, (const int32_t *)buffers[OF_KEYS], (int32_t *)buffers[OF_ITEMS]);
        store_elements(s, offsets, j, 1, &place);
    });
    free(memory);
}

static void choose_mode(void *ctx, int64_t begin, int64_t end) {
    Selection *s = (Selection *)ctx;
    char *buffers[BUFFERS], *memory = allocate(s, 1, buffers);
    if (memory == NULL) return;
    int wide = s->type == NPY_DOUBLE || s->type == NPY_INT64, has_nan = s->type == NPY_DOUBLE || s->type == NPY_FLOAT;
    EACH_LANE({
        int64_t place = wide ? mode_64(has_nan, s->n, (const int64_t *)buffers[OF_KEYS], (Item64 *)buffers[OF_ITEMS],
                                       (Item64 *)buffers[OF_SCRATCH])
                             : mode_32(has_nan, s->n, (const int32_t *)buffers[OF_KEYS], (Item32 *)buffers[OF_ITEMS],
                                       (Item32 *)buffers[OF_SCRATCH]);
        store_elements(s, offsets, j, 1, &place);
    });
    free(memory);
}

/* -- for Python ----------------------------------------------------------------------------------------------------------- */

static PyObject *choose(PyObject *x_, PyObject *dim_, int64_t k, int64_t count, int descending, void (*body)(void *, int64_t, int64_t)) {
    if (!PyArray_CheckExact(x_) || !PyArray_ISBEHAVED_RO((PyArrayObject *)x_)) Py_RETURN_NONE;
    PyArrayObject *x = (PyArrayObject *)x_;
    int type = PyArray_TYPE(x), nd = PyArray_NDIM(x);
    if (type == NPY_LONGLONG && sizeof(long long) == 8) type = NPY_INT64;
    long dim = PyLong_AsLong(dim_);
    if (dim == -1 && PyErr_Occurred()) return NULL;
    if ((type != NPY_FLOAT && type != NPY_DOUBLE && type != NPY_INT32 && type != NPY_INT64) || nd < 1 || dim < 0 || dim >= nd ||
        PyArray_SIZE(x) == 0 || PyArray_DIM(x, dim) >= UINT32_MAX || k >= PyArray_DIM(x, dim) + (body == choose_first) ||
        (body == choose_first && k < 1)) {
        Py_RETURN_NONE;
    }
    if (k < 0 && (type == NPY_INT32 || type == NPY_INT64)) k = (PyArray_DIM(x, dim) - 1) / 2; /* ints have no NaN */
    Selection s = {.x = PyArray_BYTES(x), .n = PyArray_DIM(x, dim), .k = k, .type = type, .descending = descending};
    npy_intp shape[NPY_MAXDIMS];
    memcpy(shape, PyArray_DIMS(x), (size_t)nd * sizeof *shape);
    shape[dim] = count;
    PyArrayObject *values = (PyArrayObject *)wk_new_array(nd, shape, PyArray_TYPE(x));
    PyArrayObject *places = values != NULL ? (PyArrayObject *)wk_new_array(nd, shape, NPY_INT64) : NULL;
    PyObject *both = NULL;
    if (places != NULL) {
        s.values = PyArray_BYTES(values), s.places = (int64_t *)PyArray_DATA(places);
        const npy_intp *strides[] = {PyArray_STRIDES(x), PyArray_STRIDES(values), PyArray_STRIDES(places)};
        wk_lanes_init(&s.lanes, nd, PyArray_DIMS(x), (int)dim, 3, strides);
        int releases = PyArray_SIZE(x) > WK_LANE_WORK / RELATIVE_COST;
        if (wk_run_loop(releases, s.lanes.lanes, wk_lane_grain(s.n * RELATIVE_COST), body, &s) == 0) {
            both = s.failed ? PyErr_NoMemory() : PyTuple_Pack(2, values, places);
        }
    }
    Py_XDECREF(values);
    Py_XDECREF(places);
    return both;
}

/* first_along(x, dim, k, descending): the first k elements of x sorted along dim, and their places in x. */
static PyObject *first_along_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 4) return PyErr_Format(PyExc_TypeError, "first_along takes 4 arguments");
    long long k = PyLong_AsLongLong(args[2]);
    int descending = PyObject_IsTrue(args[3]);
    if (PyErr_Occurred()) return NULL;
    return choose(args[0], args[1], k, k, descending, choose_first);
}

/* one_along(x, dim, k): the element at place k after sorting x along dim, and its place in x, with size 1 in dim. */
static PyObject *one_along_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 3) return PyErr_Format(PyExc_TypeError, "one_along takes 3 arguments");
    long long k = PyLong_AsLongLong(args[2]);
    if (PyErr_Occurred()) return NULL;
    return choose(args[0], args[1], k, 1, 0, k == MODE ? choose_mode : choose_one);
}

#define METHOD(name, doc) {#name, (PyCFunction)(void (*)(void))name##_method, METH_FASTCALL, doc}
PyMethodDef wk_selection_methods[] = {
    METHOD(first_along, "first_along(x, dim, k, descending): the first k elements of x sorted along dim, and their places in x."),
    METHOD(one_along, "one_along(x, dim, k): the element at place k after sorting x along dim, and its place in x."),
    {NULL, NULL, 0, NULL},
};
