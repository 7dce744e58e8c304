/* Convolutions of pictures and their two adjoints, as products of the weight with columns that never leave the cache.
 *
 * Note [Blocks of columns]
 * The columns of a convolution have one row for each tap of a window in each channel, and one column for each place of a window. A
 * block of them covers some channels and some places. It is filled from the pictures and their padding, multiplied, and forgotten.
 * If pictures are small, a block covers several side by side. A task for a thread is
 *
 * - for the convolution: some places (one channel after another; each result belongs to one task);
 * - for its adjoint in the picture: some channels (one place after another; columns are added up into pictures);
 * - for its adjoint in the weight: some channels of some pictures. Few channels make few tasks. Pictures are then split into groups
 *   of fixed sizes, whose results are added up in order.
 *
 * Shapes alone decide the order of additions, so results are the same for any number of threads.
 *
 * Methods return None for arguments that they do not accept. Arrays with one spatial dim are pictures of height 1, and pictures are
 * volumes of depth 1. The rows of a volume's planes follow each other as lines.
 */
#include <stdatomic.h>
#include <string.h>

#include "wk_numpy.h"
#include "wk_pool.h"
#include "wk_products.h"
#include "wk_release.h"
#include "wk_threads.h"

enum {
    BLOCK_ROWS = 256,    /* rows of a block of columns, about */
    BLOCK_COLUMNS = 256,
    SPLITS = 16,         /* number of groups of pictures, if there are few channels */
    WORK = 1 << 18,      /* least number of multiplications for a thread */
    MAX_SLOTS = 256,
};

typedef struct {
    const WkProducts *products;
    /* x: (n, groups, channels, size); y: (n, groups, outputs, count); weight: (groups, outputs, depth) */
    const char *x, *y, *weight, *bias;
    char *out;
    int64_t n, groups, channels, outputs; /* channels and outputs of one group */
    int64_t size[3], kernel[3], count[3], stride[3], padding[3], dilation[3];
    int64_t taps, lines, places, volume, depth, item; /* lines: rows of places; volume: elements of a picture */
    /* blocks */
    int64_t pictures, rows, columns; /* a block holds whole pictures side by side, or rows by columns of places in one */
    int64_t across, down, n_blocks;  /* of one group: blocks across a picture, down a picture, and in all */
    int64_t channels_at_once, channel_blocks, splits, per_split;
    int64_t width;                   /* numbers from one row of a block to the next */
    char *memory;                    /* one slot per running task: columns, cotangents, transposed cotangents */
    int64_t slot_size;
    atomic_uchar taken[MAX_SLOTS];
} Convolution;

typedef struct {
    int64_t first, pictures;            /* pictures of the block */
    int64_t row, rows, column, columns; /* places in each picture; row and rows count lines */
    int64_t plane;                      /* plane of the first row */
    int64_t n;                          /* number of places in all */
} Block;

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
static int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t greater(int64_t a, int64_t b) { return a > b ? a : b; }

/* -- blocks -------------------------------------------------------------------------------------------------------------- */

static void plan_blocks(Convolution *s) {
    s->taps = s->kernel[0] * s->kernel[1] * s->kernel[2];
    s->lines = s->count[0] * s->count[1];
    s->places = s->lines * s->count[2];
    s->volume = s->size[0] * s->size[1] * s->size[2];
    s->depth = s->channels * s->taps;
    s->pictures = lesser(s->n, greater(1, BLOCK_COLUMNS / s->places));
    s->columns = s->pictures > 1 ? s->count[2] : lesser(s->count[2], BLOCK_COLUMNS);
    s->rows = s->pictures > 1 ? s->lines : lesser(s->lines, greater(1, BLOCK_COLUMNS / s->columns));
    s->across = ceil_div(s->count[2], s->columns);
    s->down = ceil_div(s->lines, s->rows);
    s->n_blocks = ceil_div(s->n, s->pictures) * s->down * s->across;
    s->channels_at_once = lesser(s->channels, greater(1, BLOCK_ROWS / s->taps));
    s->channel_blocks = ceil_div(s->channels, s->channels_at_once);
    s->splits = greater(1, lesser(s->n_blocks, SPLITS / (s->channel_blocks * s->groups)));
    s->per_split = ceil_div(s->n_blocks, s->splits);
    s->splits = ceil_div(s->n_blocks, s->per_split);
    int64_t panel = s->products->panel;
    s->width = ceil_div(s->pictures * s->rows * s->columns, panel) * panel;
    if (s->width * s->item % 512 == 0) s->width += panel / 2; /* rows a power of two apart would share few places of the cache */
    s->slot_size = (s->channels_at_once * s->taps + 2 * s->outputs) * s->width * s->item + 64 + 2 * 64;
}

static Block block_at(const Convolution *s, int64_t number) {
    int64_t across = number % s->across, down = number / s->across % s->down, first = number / s->across / s->down * s->pictures;
    Block b = {.first = first, .row = down * s->rows, .column = across * s->columns};
    b.pictures = lesser(s->pictures, s->n - first);
    b.rows = lesser(s->rows, s->lines - b.row);
    b.columns = lesser(s->columns, s->count[2] - b.column);
    b.plane = b.row / s->count[1];
    b.n = b.pictures * b.rows * b.columns;
    return b;
}

/* Set *first and *last so that exactly the windows *first <= j < *last of begin <= j < end have the given tap inside the picture
 * along dim d. */
static void find_inside_windows(const Convolution *s, int d, int64_t tap, int64_t begin, int64_t end, int64_t *first,
                                int64_t *last) {
    int64_t start = tap * s->dilation[d] - s->padding[d], step = s->stride[d], low = 0, high = 0;
    if (start < 0) low = step == 1 ? -start : ceil_div(-start, step);
    if (start < s->size[d]) high = step == 1 ? s->size[d] - start : (s->size[d] - 1 - start) / step + 1;
    *first = lesser(greater(low, begin), end);
    *last = greater(lesser(high, end), *first);
}

/* Copy rows of n numbers, stride[2] apart, to rows of contiguous numbers. */
static void copy_rows(const Convolution *s, char *to, int64_t to_step, const char *from, int64_t from_step, int64_t rows,
                      int64_t n) {
    int64_t step = s->stride[2];
    if (step == 1) {
        s->products->copy_rows(to, to_step, from, from_step, rows, n * s->item);
        return;
    }
    for (; rows > 0; rows--, to += to_step, from += from_step) {
        if (s->item == 4) for (int64_t i = 0; i < n; i++) ((float *)to)[i] = ((const float *)from)[i * step];
        else for (int64_t i = 0; i < n; i++) ((double *)to)[i] = ((const double *)from)[i * step];
    }
}

/* Add rows of n contiguous numbers to rows of numbers that are stride[2] apart. */
static void add_rows(const Convolution *s, char *to, int64_t to_step, const char *from, int64_t from_step, int64_t rows,
                     int64_t n) {
    int64_t step = s->stride[2];
    if (step == 1) {
        s->products->add_rows(to, to_step, from, from_step, rows, n);
        return;
    }
    for (; rows > 0; rows--, to += to_step, from += from_step) {
        if (s->item == 4) for (int64_t i = 0; i < n; i++) ((float *)to)[i * step] += ((const float *)from)[i];
        else for (int64_t i = 0; i < n; i++) ((double *)to)[i * step] += ((const double *)from)[i];
    }
}

/* Walk one row of a block: one tap of one channel, at the block's places in every picture. If adds is true, the row is added to the
 * pictures at base. Otherwise it is filled from them, with zeros where the tap lies in the padding. */
static inline void walk_row(const Convolution *s, Block b, char *base, const int64_t *tap, char *row, int adds) {
    int64_t left, right, item = s->item, step = b.columns * item, height = s->count[1], width = s->size[2];
    int64_t row_step = s->stride[1] * width * item, picture_step = s->groups * s->channels * s->volume * item;
    find_inside_windows(s, 2, tap[2], b.column, b.column + b.columns, &left, &right);
    base += (left * s->stride[2] + tap[2] * s->dilation[2] - s->padding[2]) * item;
    for (int64_t plane = b.plane, low = b.row - b.plane * height, rest = b.rows; rest > 0; plane++, low = 0) {
        int64_t lines = lesser(rest, height - low), top, bottom;
        int64_t z = plane * s->stride[0] + tap[0] * s->dilation[0] - s->padding[0];
        find_inside_windows(s, 1, tap[1], low, low + lines, &top, &bottom);
        int none = z < 0 || z >= s->size[0] || top == bottom || left == right;
        int clears = !adds && (none || bottom - top < lines || right - left < b.columns);
        int64_t y = top * s->stride[1] + tap[1] * s->dilation[1] - s->padding[1];
        char *to = row, *here = base + (z * s->size[1] + y) * width * item;
        int64_t place = (top - low) * step + (left - b.column) * item;
        for (int64_t k = 0; k < b.pictures; k++, to += b.rows * step, here += picture_step) {
            if (clears) memset(to, 0, (size_t)(lines * step));
            if (none) continue;
            if (adds) add_rows(s, here, row_step, to + place, step, bottom - top, right - left);
            else copy_rows(s, to + place, step, here, row_step, bottom - top, right - left);
        }
        rest -= lines, row += lines * step;
    }
}

/* Walk every row of a block, for `channels` channels whose first picture is at base. If the rows are filled, the rest of each is
 * set to 0. */
static void walk_columns(const Convolution *s, Block b, char *base, int64_t channels, char *columns, int adds) {
    for (int64_t c = 0; c < channels; c++, base += s->volume * s->item) {
        int64_t tap[3];
        for (tap[0] = 0; tap[0] < s->kernel[0]; tap[0]++) {
            for (tap[1] = 0; tap[1] < s->kernel[1]; tap[1]++) {
                for (tap[2] = 0; tap[2] < s->kernel[2]; tap[2]++) {
                    walk_row(s, b, base, tap, columns, adds);
                    if (!adds) memset(columns + b.n * s->item, 0, (size_t)((s->width - b.n) * s->item));
                    columns += s->width * s->item;
                }
            }
        }
    }
}

/* Copy the block's places in all outputs of a group from y into rows of a block, followed by zeros. If stores is true, copy the
 * rows into y instead. */
static void walk_outputs(const Convolution *s, Block b, int64_t group, char *y, char *rows, int stores) {
    size_t length = (size_t)(b.columns * s->item);
    for (int64_t o = 0; o < s->outputs; o++) {
        char *row = rows + o * s->width * s->item;
        for (int64_t k = 0; k < b.pictures; k++) {
            char *there = y + (((b.first + k) * s->groups + group) * s->outputs + o) * s->places * s->item;
            for (int64_t i = b.row; i < b.row + b.rows; i++, row += length) {
                char *here = there + (i * s->count[2] + b.column) * s->item;
                if (stores) memcpy(here, row, length);
                else memcpy(row, here, length);
            }
        }
        if (!stores) memset(row, 0, (size_t)((s->width - b.n) * s->item));
    }
}

static char *picture_at(const Convolution *s, const char *x, int64_t picture, int64_t group, int64_t channel) {
    return (char *)x + ((picture * s->groups + group) * s->channels + channel) * s->volume * s->item;
}

static const char *weight_at(const Convolution *s, int64_t group, int64_t channel) {
    return s->weight + (group * s->outputs * s->depth + channel * s->taps) * s->item;
}

/* Reserve the memory of one task until it is given back. Return the number of the slot. */
static int64_t take_slot(Convolution *s) {
    for (int64_t i = 0;; i = (i + 1) % MAX_SLOTS) {
        if (atomic_exchange(&s->taken[i], 1) == 0) return i;
    }
}

static char *slot_memory(const Convolution *s, int64_t slot) {
    return (char *)(((uintptr_t)(s->memory + slot * s->slot_size) + 63) & ~(uintptr_t)63);
}

/* -- tasks --------------------------------------------------------------------------------------------------------------- */

static void convolve_blocks(void *ctx, int64_t begin, int64_t end) {
    Convolution *s = (Convolution *)ctx;
    int64_t slot = take_slot(s);
    char *columns = slot_memory(s, slot), *apart = columns + s->channels_at_once * s->taps * s->width * s->item;
    for (int64_t task = begin; task < end; task++) {
        int64_t group = task % s->groups;
        Block b = block_at(s, task / s->groups);
        int direct = b.pictures == 1 && b.columns == s->count[2];
        char *outputs = s->out + (b.first * s->groups + group) * s->outputs * s->places * s->item;
        char *result = direct ? outputs + b.row * s->count[2] * s->item : apart;
        for (int64_t c = 0; c < s->channels; c += s->channels_at_once) {
            int64_t channels = lesser(s->channels_at_once, s->channels - c);
            const char *start = c == 0 && s->bias != NULL ? s->bias + group * s->outputs * s->item : NULL;
            walk_columns(s, b, picture_at(s, s->x, b.first, group, c), channels, columns, 0);
            s->products->product(weight_at(s, group, c), s->depth, 1, columns, s->width, s->outputs, b.n, channels * s->taps, start,
                                 c > 0, result, direct ? s->places : s->width);
        }
        if (!direct) walk_outputs(s, b, group, s->out, apart, 1);
    }
    atomic_store(&s->taken[slot], 0);
}

static void convolve_adjoint_blocks(void *ctx, int64_t begin, int64_t end) {
    Convolution *s = (Convolution *)ctx;
    int64_t slot = take_slot(s), blocks_a_picture = s->down * s->across;
    char *columns = slot_memory(s, slot), *cotangents = columns + s->channels_at_once * s->taps * s->width * s->item;
    for (int64_t task = begin; task < end; task++) {
        int64_t c = task % s->channel_blocks * s->channels_at_once, group = task / s->channel_blocks % s->groups;
        int64_t first = task / s->channel_blocks / s->groups * blocks_a_picture;
        int64_t channels = lesser(s->channels_at_once, s->channels - c);
        for (int64_t number = first; number < first + blocks_a_picture; number++) {
            Block b = block_at(s, number);
            char *base = picture_at(s, s->out, b.first, group, c);
            for (int64_t k = 0; number == first && k < b.pictures; k++) {
                memset(picture_at(s, s->out, b.first + k, group, c), 0, (size_t)(channels * s->volume * s->item));
            }
            walk_outputs(s, b, group, (char *)s->y, cotangents, 0);
            s->products->product(weight_at(s, group, c), 1, s->depth, cotangents, s->width, channels * s->taps, b.n, s->outputs, NULL,
                                 0, columns, s->width);
            walk_columns(s, b, base, channels, columns, 1);
        }
    }
    atomic_store(&s->taken[slot], 0);
}

/* Each task computes an array (rows of the block, outputs). A product sums over the rows of its right factor, so the cotangents are
 * transposed to (places, outputs). */
static void convolve_weight_blocks(void *ctx, int64_t begin, int64_t end) {
    Convolution *s = (Convolution *)ctx;
    int64_t slot = take_slot(s);
    char *columns = slot_memory(s, slot), *cotangents = columns + s->channels_at_once * s->taps * s->width * s->item;
    char *transposed = cotangents + s->outputs * s->width * s->item;
    for (int64_t task = begin; task < end; task++) {
        int64_t c = task % s->channel_blocks * s->channels_at_once, group = task / s->channel_blocks % s->groups;
        int64_t split = task / s->channel_blocks / s->groups, channels = lesser(s->channels_at_once, s->channels - c);
        int64_t first = split * s->per_split, last = lesser(first + s->per_split, s->n_blocks);
        char *out = s->out + ((split * s->groups + group) * s->depth + c * s->taps) * s->outputs * s->item;
        for (int64_t number = first; number < last; number++) {
            Block b = block_at(s, number);
            walk_outputs(s, b, group, (char *)s->y, cotangents, 0);
            s->products->transpose(cotangents, s->width, s->outputs, b.n, transposed, s->outputs);
            walk_columns(s, b, picture_at(s, s->x, b.first, group, c), channels, columns, 0);
            s->products->product(columns, s->width, 1, transposed, s->outputs, channels * s->taps, s->outputs, b.n, NULL,
                                 number > first, out, s->outputs);
        }
    }
    atomic_store(&s->taken[slot], 0);
}

/* -- for Python ---------------------------------------------------------------------------------------------------------- */

/* Read a tuple of one to three ints into the last entries of found, and set its first entries to `other`. Return 0 with an error
 * set if it is none. */
static int read_sizes(PyObject *sizes, int64_t other, int64_t *found) {
    if (!PyTuple_Check(sizes) || PyTuple_GET_SIZE(sizes) < 1 || PyTuple_GET_SIZE(sizes) > 3) {
        PyErr_SetString(PyExc_TypeError, "expected a tuple of one to three ints");
        return 0;
    }
    int shift = 3 - (int)PyTuple_GET_SIZE(sizes);
    for (int d = 0; d < 3; d++) found[d] = d < shift ? other : PyLong_AsLongLong(PyTuple_GET_ITEM(sizes, d - shift));
    return !PyErr_Occurred();
}

/* Set found to the spatial dims of an array. */
static void take_sizes(PyArrayObject *a, int64_t *found) {
    int nd = PyArray_NDIM(a);
    for (int d = 0; d < 3; d++) found[d] = nd - 3 + d < 2 ? 1 : PyArray_DIM(a, nd - 3 + d);
}

/* Allocate an array of two dims followed by the spatial ones. */
static PyArrayObject *new_array(int64_t first, int64_t second, const int64_t *sizes, int nd, int type) {
    npy_intp shape[5] = {first, second};
    for (int d = 2; d < nd; d++) shape[d] = sizes[d + 3 - nd];
    return (PyArrayObject *)wk_new_array(nd, shape, type);
}

/* Return x as a contiguous array of the given dtype and number of dims, a new reference. NULL: not accepted, or an error is set. */
static PyArrayObject *take_array(PyObject *x, int nd, int type) {
    if (!PyArray_CheckExact(x)) return NULL;
    PyArrayObject *a = (PyArrayObject *)x;
    if (PyArray_NDIM(a) != nd || PyArray_TYPE(a) != type || !PyArray_ISBEHAVED_RO(a) || PyArray_SIZE(a) == 0) return NULL;
    return PyArray_GETCONTIGUOUS(a);
}

static int is_floating(PyObject *x, int *nd, int *type) {
    if (!PyArray_CheckExact(x)) return 0;
    *nd = PyArray_NDIM((PyArrayObject *)x), *type = PyArray_TYPE((PyArrayObject *)x);
    return *nd >= 3 && *nd <= 5 && (*type == NPY_FLOAT || *type == NPY_DOUBLE);
}

/* Whether the sizes that were read are valid. */
static int has_valid_sizes(const Convolution *s) {
    for (int d = 0; d < 3; d++) {
        if (s->size[d] < 1 || s->kernel[d] < 1 || s->count[d] < 1) return 0;
        if (s->stride[d] < 1 || s->dilation[d] < 1 || s->padding[d] < 0) return 0;
    }
    return s->n > 0 && s->groups > 0 && s->channels > 0 && s->outputs > 0;
}

/* Run tasks, with memory for as many as run at once. Return 0 with an error set if there is no memory, or a signal ended the loop. */
static int run_tasks(Convolution *s, int64_t tasks, void (*body)(void *, int64_t, int64_t)) {
    int64_t work = s->n * s->groups * s->places * s->outputs * s->depth, slots = lesser(wk_get_num_threads(), tasks);
    if (slots > MAX_SLOTS) slots = MAX_SLOTS;
    int64_t each = greater(1, work / tasks), grain = each >= WORK ? 1 : WORK / each;
    npy_intp size = slots * s->slot_size / (npy_intp)sizeof(double) + 16;
    PyArrayObject *memory = (PyArrayObject *)wk_new_array(1, &size, NPY_DOUBLE);
    if (memory == NULL) return 0;
    s->memory = PyArray_BYTES(memory);
    for (int64_t i = slots; i < MAX_SLOTS; i++) atomic_store(&s->taken[i], 1);
    int failed = wk_run_loop(1, tasks, grain, body, s) < 0;
    Py_DECREF(memory);
    return !failed;
}

/* Read the last five arguments of each method: stride, padding, dilation, the sizes that no array tells, and groups. Return 0 with
 * an error set if they are invalid. */
static int read_windows(Convolution *s, PyObject *const *args, int64_t *sizes) {
    s->groups = PyLong_AsLongLong(args[4]);
    return read_sizes(args[0], 1, s->stride) && read_sizes(args[1], 0, s->padding) && read_sizes(args[2], 1, s->dilation) &&
           read_sizes(args[3], 1, sizes);
}

static PyObject *result_or_none(PyArrayObject *out) {
    if (out != NULL) return (PyObject *)out;
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

/* convolve(x, weight, bias, stride, padding, dilation, count, groups): the convolution (n, outputs, *count). bias: a vector, or
 * None. */
static PyObject *convolve_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    int nd, type;
    Convolution s = {0};
    if (nargs != 8) return PyErr_Format(PyExc_TypeError, "convolve takes 8 arguments");
    if (!is_floating(args[0], &nd, &type)) Py_RETURN_NONE;
    if (!read_windows(&s, args + 3, s.count)) return NULL;
    PyArrayObject *out = NULL, *x = take_array(args[0], nd, type), *weight = take_array(args[1], nd, type);
    PyArrayObject *bias = args[2] != Py_None ? take_array(args[2], 1, type) : NULL;
    if (x == NULL || weight == NULL || (args[2] != Py_None && bias == NULL)) goto done;
    take_sizes(x, s.size), take_sizes(weight, s.kernel);
    s.n = PyArray_DIM(x, 0), s.channels = PyArray_DIM(weight, 1), s.outputs = PyArray_DIM(weight, 0) / greater(s.groups, 1);
    if (!has_valid_sizes(&s) || s.groups * s.channels != PyArray_DIM(x, 1) || s.groups * s.outputs != PyArray_DIM(weight, 0) ||
        (bias != NULL && PyArray_SIZE(bias) != s.groups * s.outputs)) {
        goto done;
    }
    out = new_array(s.n, s.groups * s.outputs, s.count, nd, type);
    if (out == NULL) goto done;
    s.products = wk_products_of(type), s.item = PyArray_ITEMSIZE(x);
    s.x = PyArray_BYTES(x), s.weight = PyArray_BYTES(weight), s.out = PyArray_BYTES(out);
    s.bias = bias ? PyArray_BYTES(bias) : NULL;
    plan_blocks(&s);
    if (!run_tasks(&s, s.n_blocks * s.groups, convolve_blocks)) Py_CLEAR(out);
done:
    Py_XDECREF(x);
    Py_XDECREF(weight);
    Py_XDECREF(bias);
    return result_or_none(out);
}

/* convolve_adjoint(y, weight, stride, padding, dilation, size, groups): the adjoint in x, (n, channels, *size). */
static PyObject *convolve_adjoint_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    int nd, type;
    Convolution s = {0};
    if (nargs != 7) return PyErr_Format(PyExc_TypeError, "convolve_adjoint takes 7 arguments");
    if (!is_floating(args[0], &nd, &type)) Py_RETURN_NONE;
    if (!read_windows(&s, args + 2, s.size)) return NULL;
    PyArrayObject *out = NULL, *y = take_array(args[0], nd, type), *weight = take_array(args[1], nd, type);
    if (y == NULL || weight == NULL) goto done;
    take_sizes(y, s.count), take_sizes(weight, s.kernel);
    s.n = PyArray_DIM(y, 0), s.channels = PyArray_DIM(weight, 1), s.outputs = PyArray_DIM(weight, 0) / greater(s.groups, 1);
    if (!has_valid_sizes(&s) || s.groups * s.outputs != PyArray_DIM(weight, 0) ||
        s.groups * s.outputs != PyArray_DIM(y, 1)) goto done;
    out = new_array(s.n, s.groups * s.channels, s.size, nd, type);
    if (out == NULL) goto done;
    s.products = wk_products_of(type), s.item = PyArray_ITEMSIZE(y);
    s.y = PyArray_BYTES(y), s.weight = PyArray_BYTES(weight), s.out = PyArray_BYTES(out);
    plan_blocks(&s);
    if (!run_tasks(&s, ceil_div(s.n, s.pictures) * s.groups * s.channel_blocks, convolve_adjoint_blocks)) Py_CLEAR(out);
done:
    Py_XDECREF(y);
    Py_XDECREF(weight);
    return result_or_none(out);
}

/* out[group, output, row] = sum over splits of parts[split, group, row, output]. */
static void add_up_splits(const Convolution *s, char *out, char *parts) {
    int64_t of_group = s->depth * s->outputs, size = s->groups * of_group;
    for (int64_t k = 1; k < s->splits; k++) s->products->add_rows(parts, 0, parts + k * size * s->item, 0, 1, size);
    for (int64_t g = 0; g < s->groups; g++) {
        int64_t at = g * of_group * s->item;
        s->products->transpose(parts + at, s->outputs, s->depth, s->outputs, out + at, s->depth);
    }
}

/* convolve_weight(x, y, stride, padding, dilation, kernel, groups): the adjoint in the weight, (outputs, channels of a group,
 * *kernel). */
static PyObject *convolve_weight_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    int nd, type;
    Convolution s = {0};
    if (nargs != 7) return PyErr_Format(PyExc_TypeError, "convolve_weight takes 7 arguments");
    if (!is_floating(args[0], &nd, &type)) Py_RETURN_NONE;
    if (!read_windows(&s, args + 2, s.kernel)) return NULL;
    PyArrayObject *out = NULL, *parts = NULL, *x = take_array(args[0], nd, type), *y = take_array(args[1], nd, type);
    if (x == NULL || y == NULL) goto done;
    take_sizes(x, s.size), take_sizes(y, s.count);
    s.n = PyArray_DIM(x, 0);
    s.channels = PyArray_DIM(x, 1) / greater(s.groups, 1), s.outputs = PyArray_DIM(y, 1) / greater(s.groups, 1);
    if (!has_valid_sizes(&s) || s.groups * s.channels != PyArray_DIM(x, 1) || s.groups * s.outputs != PyArray_DIM(y, 1) ||
        s.n != PyArray_DIM(y, 0)) {
        goto done;
    }
    s.products = wk_products_of(type), s.item = PyArray_ITEMSIZE(x);
    s.x = PyArray_BYTES(x), s.y = PyArray_BYTES(y);
    plan_blocks(&s);
    out = new_array(s.groups * s.outputs, s.channels, s.kernel, nd, type);
    npy_intp all = s.splits * s.groups * s.outputs * s.depth;
    parts = out != NULL ? (PyArrayObject *)wk_new_array(1, &all, type) : NULL;
    if (parts == NULL) {
        Py_CLEAR(out);
        goto done;
    }
    s.out = PyArray_BYTES(parts);
    if (!run_tasks(&s, s.splits * s.groups * s.channel_blocks, convolve_weight_blocks)) Py_CLEAR(out);
    else add_up_splits(&s, PyArray_BYTES(out), s.out);
done:
    Py_XDECREF(parts);
    Py_XDECREF(x);
    Py_XDECREF(y);
    return result_or_none(out);
}

#define METHOD(name, doc) {#name, (PyCFunction)(void (*)(void))name##_method, METH_FASTCALL, doc}
PyMethodDef wk_convolution_methods[] = {
    METHOD(convolve, "convolve(x, weight, bias, stride, padding, dilation, count, groups): the convolution plus bias."),
    METHOD(convolve_adjoint, "convolve_adjoint(y, weight, stride, padding, dilation, size, groups): the adjoint of convolve in x."),
    METHOD(convolve_weight, "convolve_weight(x, y, stride, padding, dilation, kernel, groups): the adjoint of convolve in weight."),
    {NULL, NULL, 0, NULL},
};
