#include "wk_apply.h"

#include <stdlib.h>
#include <string.h>

#include "wk_pool.h"
#include "wk_release.h"
#include "wk_threads.h"
#include "wk_whole.h"

/* Note [Driver]
 * A call has up to six inputs and one output over a common shape. The axes are sorted by the strides of the output. Neighbouring
 * axes are merged if every operand can walk them as one. 2-D loops run over the first two axes that remain, and an outer loop runs
 * over the rest. A row of sixteen elements thus costs a few nanoseconds, and a contiguous array is a single row.
 *
 * If the output shares memory with an input other than element by element, the result is computed in a new array and copied. No
 * kernel ever reads what it has written.
 */

enum {
    MAX_DIMS = 32,
    MAX_OPERANDS = WK_MAX_OPERANDS,
    BLOCK = 256,           /* number of elements copied at a time for a kernel */
    PROGRAM_BYTES = 20480, /* bytes of the blocks of all values of a program; the next blocks fit into the first cache too */
    LEAST_IN_BLOCK = 128,  /* one whole tile of a chain on every CPU level; block lengths are multiples of it */
    MOST_IN_BLOCK = 512,
    STREAMED = 1 << 22,    /* bytes of operands from which a program waits for memory; small blocks keep the memory busy */
};
#define THREAD_WORK 65536   /* calls with less work (elements times cost) run on the calling thread */
#define PIECE_WORK 32768    /* least work that a thread takes at a time */
#define WHOLE_LINES 128     /* rows are cut at multiples of it; if a row begins on a cache line, all its parts do */
#define RELEASE_WORK 200000 /* work from which other Python threads may run meanwhile */

/* Forces a copy of a loop into each caller. The copies are faster because the length of a block is a constant in them. */
#ifdef __GNUC__
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#else
#define ALWAYS_INLINE static inline
#endif

typedef union {
    float f32;
    double f64;
} Scalar;

typedef struct {
    const WkKernel *kernel;
    wk_loop loop;
    int typenum;
    npy_intp size; /* bytes of an element */
    int n_inputs;
    int n; /* number of operands: the inputs, then the outputs */
    int nd;
    npy_intp shape[MAX_DIMS];
    npy_intp strides[MAX_OPERANDS][MAX_DIMS];
    char *data[MAX_OPERANDS];
    PyArrayObject *arrays[MAX_OPERANDS]; /* NULL for a number */
    Scalar scalars[MAX_OPERANDS];
} Call;

/* -- operands ------------------------------------------------------------------------------------------------------- */

/* Store a Python number as operand k. Return 0 if the kernels do not accept it. */
static int take_number(Call *call, int k, PyObject *x) {
    double value;
    if (PyFloat_CheckExact(x)) {
        value = PyFloat_AS_DOUBLE(x);
    } else if (PyLong_CheckExact(x)) {
        value = PyLong_AsDouble(x);
        if (value == -1.0 && PyErr_Occurred()) {
            PyErr_Clear();
            return 0;
        }
        if (value > 9007199254740992.0 || value < -9007199254740992.0) return 0; /* it would be rounded twice */
    } else {
        return 0;
    }
    call->arrays[k] = NULL;
    call->scalars[k].f64 = value;
    return 1;
}

/* Sort the inputs into arrays and numbers. Return 0 if the kernels do not accept them. */
static int take_inputs(Call *call, PyObject *const *inputs, int n) {
    call->typenum = -1;
    for (int k = 0; k < n; k++) {
        PyObject *x = inputs[k];
        if (PyArray_CheckExact(x)) {
            PyArrayObject *a = (PyArrayObject *)x;
            int type = PyArray_TYPE(a);
            if (call->typenum < 0) {
                if (type != NPY_FLOAT && type != NPY_DOUBLE) return 0;
                call->typenum = type;
            }
            if (type != call->typenum || !PyArray_ISBEHAVED_RO(a)) return 0;
            call->arrays[k] = a;
            call->data[k] = PyArray_BYTES(a);
        } else if (!call->kernel->numbers || !take_number(call, k, x)) {
            return 0;
        }
    }
    if (call->typenum < 0) return 0;
    int is_f64 = call->typenum == NPY_DOUBLE;
    call->size = is_f64 ? sizeof(double) : sizeof(float);
    call->loop = call->kernel->loops[is_f64];
    for (int k = 0; k < n; k++) {
        if (call->arrays[k] == NULL) {
            if (!is_f64) call->scalars[k].f32 = (float)call->scalars[k].f64;
            call->data[k] = (char *)&call->scalars[k];
        }
    }
    return 1;
}

/* Compute the shape that the inputs broadcast to. Return 0 if they do not broadcast. */
static int broadcast_shape(Call *call, int n) {
    call->nd = 0;
    for (int k = 0; k < n; k++) {
        if (call->arrays[k] != NULL && PyArray_NDIM(call->arrays[k]) > call->nd) call->nd = PyArray_NDIM(call->arrays[k]);
    }
    if (call->nd > MAX_DIMS) return 0;
    for (int i = 0; i < call->nd; i++) call->shape[i] = 1;
    for (int k = 0; k < n; k++) {
        if (call->arrays[k] == NULL) continue;
        int nd = PyArray_NDIM(call->arrays[k]), shift = call->nd - nd;
        const npy_intp *dims = PyArray_DIMS(call->arrays[k]);
        for (int i = 0; i < nd; i++) {
            if (dims[i] == 1) continue;
            if (call->shape[i + shift] == 1) call->shape[i + shift] = dims[i];
            else if (call->shape[i + shift] != dims[i]) return 0;
        }
    }
    return 1;
}

/* Set the strides of operand k over the common shape. A broadcast axis has stride 0. */
static void take_strides(Call *call, int k) {
    npy_intp *strides = call->strides[k];
    PyArrayObject *a = call->arrays[k];
    int nd = a == NULL ? 0 : PyArray_NDIM(a), shift = call->nd - nd;
    for (int i = 0; i < shift; i++) strides[i] = 0;
    for (int i = 0; i < nd; i++) strides[i + shift] = PyArray_DIM(a, i) == 1 ? 0 : PyArray_STRIDE(a, i);
}

/* -- axes ----------------------------------------------------------------------------------------------------------- */

static npy_intp magnitude(npy_intp stride) { return stride < 0 ? -stride : stride; }

/* Whether axis i has shorter strides than axis j in the operands first <= k < last, and so belongs further inside. */
static int has_shorter_strides(const Call *call, int first, int last, int i, int j) {
    int inside = 0;
    for (int k = first; k < last; k++) {
        npy_intp a = magnitude(call->strides[k][i]), b = magnitude(call->strides[k][j]);
        if (a == 0 || b == 0) continue;
        if (a >= b) return 0; /* one operand in C order decides, as in NumPy */
        inside = 1;
    }
    return inside;
}

/* Sort the axes from the outermost to the innermost, by the strides of the operands first <= k < last. */
static void sort_axes(const Call *call, int first, int last, int *order) {
    for (int i = 0; i < call->nd; i++) {
        int position = i;
        while (position > 0 && has_shorter_strides(call, first, last, order[position - 1], i)) {
            order[position] = order[position - 1];
            position--;
        }
        order[position] = i;
    }
}

/* Allocate an array for the output, laid out like the inputs. NULL: no memory. */
static PyArrayObject *new_output(Call *call) {
    int order[MAX_DIMS], as_c = 1;
    npy_intp strides[MAX_DIMS], stride = call->size;
    sort_axes(call, 0, call->n_inputs, order);
    for (int i = call->nd - 1; i >= 0; i--) {
        as_c = as_c && order[i] == i;
        strides[order[i]] = stride;
        stride *= call->shape[order[i]];
    }
    if (as_c || stride == 0) return (PyArrayObject *)wk_new_array(call->nd, call->shape, call->typenum);
    PyArray_Descr *descr = PyArray_DescrFromType(call->typenum);
    if (descr == NULL) return NULL;
    return (PyArrayObject *)PyArray_NewFromDescr(&PyArray_Type, descr, call->nd, call->shape, strides, NULL, 0, NULL);
}

/* Put the axes into the order of the output's memory, innermost first. Merge neighbouring axes that every operand can walk as
 * one. */
static void collapse_axes(Call *call) {
    int order[MAX_DIMS], nd = 0;
    npy_intp shape[MAX_DIMS], strides[MAX_OPERANDS][MAX_DIMS];
    sort_axes(call, call->n - 1, call->n, order);
    for (int i = call->nd - 1; i >= 0; i--) {
        int axis = order[i], merges = nd > 0;
        npy_intp length = call->shape[axis];
        if (length == 1) continue;
        for (int k = 0; k < call->n && merges; k++) {
            merges = call->strides[k][axis] == strides[k][nd - 1] * shape[nd - 1];
        }
        if (merges) {
            shape[nd - 1] *= length;
            continue;
        }
        shape[nd] = length;
        for (int k = 0; k < call->n; k++) strides[k][nd] = call->strides[k][axis];
        nd++;
    }
    call->nd = nd;
    memcpy(call->shape, shape, sizeof(npy_intp) * nd);
    for (int k = 0; k < call->n; k++) memcpy(call->strides[k], strides[k], sizeof(npy_intp) * nd);
}

/* -- running -------------------------------------------------------------------------------------------------------- */

static void copy_elements(char *to, npy_intp to_stride, const char *from, npy_intp from_stride, npy_intp n, npy_intp size) {
    if (size == sizeof(float)) {
        for (npy_intp i = 0; i < n; i++) *(float *)(to + i * to_stride) = *(const float *)(from + i * from_stride);
    } else {
        for (npy_intp i = 0; i < n; i++) *(double *)(to + i * to_stride) = *(const double *)(from + i * from_stride);
    }
}

/* The rows that are copied are often short. Loops of one stride known to the compiler take a third of the time. */
#define GATHER_ROWS(real)                                                                           \
    for (npy_intp r = 0; r < rows; r++, from += outer) {                                            \
        real *row = (real *)to + r * n;                                                             \
        if (inner == sizeof(real)) {                                                                \
            for (npy_intp i = 0; i < n; i++) row[i] = ((const real *)from)[i];                      \
        } else if (inner == 0) {                                                                    \
            real value = *(const real *)from;                                                       \
            for (npy_intp i = 0; i < n; i++) row[i] = value;                                        \
        } else {                                                                                    \
            for (npy_intp i = 0; i < n; i++) row[i] = *(const real *)(from + i * inner);            \
        }                                                                                           \
    }

/* Copy rows of n elements of any strides into contiguous memory. */
static void gather_rows(char *to, const char *from, npy_intp inner, npy_intp outer, npy_intp n, npy_intp rows, npy_intp size) {
    npy_intp done = n * size, all = rows * done;
    char *start = to;
    if (outer == 0) rows = 1;
    if (size == sizeof(float)) GATHER_ROWS(float)
    else GATHER_ROWS(double)
    if (outer != 0) return;
    for (npy_intp more; done < all; done += more) { /* the same row again and again */
        more = done < all - done ? done : all - done;
        memcpy(start + done, start, (size_t)more);
    }
}

/* Bytes from one block of a value to the next. The 64 extra bytes keep blocks from lying at the same offset of each page, where
 * they would evict each other from the cache. */
static npy_intp block_step(npy_intp length, npy_intp size) { return length * size + 64; }

/* Load the next block while the program runs on this one. A processor predicts the reads of a short loop over few arrays, but not
 * these. */
static void prefetch(const char *from, npy_intp bytes) {
#ifdef __GNUC__
    for (npy_intp i = 0; i < bytes; i += 64) __builtin_prefetch(from + i, 0, 3);
#endif
}

/* Run a contiguous kernel, or a program, on N rows of n elements of any strides. Operands that are not contiguous are copied block
 * by block, in the first cache. A block is part of a row, or several short rows. blocks: memory for `length` elements of each
 * operand, then of each register, block_step() bytes apart. ahead: whether to load the next block. */
ALWAYS_INLINE void run_blocks(const Call *call, char **data, const npy_intp *inner, const npy_intp *outer, npy_intp n, npy_intp N,
                       char *blocks, npy_intp length, int ahead) {
    char *part[MAX_OPERANDS], *own[MAX_OPERANDS];
    const WkProgram *program = call->kernel->program;
    npy_intp size = call->size, steps[MAX_OPERANDS] = {0}, step = block_step(length, size);
    npy_intp width = n < length ? n : length, height = n < length ? length / n : 1;
    int constant[MAX_OPERANDS];
    for (int k = 0; k < call->n; k++) {
        own[k] = blocks + k * step;
        constant[k] = k < call->n_inputs && inner[k] == 0 && (outer[k] == 0 || N == 1);
        if (constant[k]) copy_elements(own[k], size, data[k], 0, width * height, size);
    }
    for (npy_intp j = 0; j < N; j += height) {
        npy_intp rows = N - j < height ? N - j : height;
        for (npy_intp i = 0; i < n; i += width) {
            npy_intp columns = n - i < width ? n - i : width;
            for (int k = 0; k < call->n; k++) {
                char *here = data[k] + j * outer[k] + i * inner[k];
                int direct = inner[k] == size && (rows == 1 || outer[k] == n * size);
                part[k] = direct ? here : own[k];
                if (direct && ahead) prefetch(here + rows * columns * size, rows * columns * size);
                if (direct || constant[k] || k >= call->n_inputs) continue;
                gather_rows(part[k], here, inner[k], outer[k], columns, rows, size);
            }
            if (program == NULL) call->loop(part, steps, steps, rows * columns, 1);
            else wk_run_steps(program, size == sizeof(double), part, blocks + call->n * step, step, rows * columns);
            for (int k = call->n_inputs; k < call->n; k++) {
                if (part[k] != own[k]) continue;
                char *here = data[k] + j * outer[k] + i * inner[k];
                for (npy_intp r = 0; r < rows; r++) {
                    copy_elements(here + r * outer[k], inner[k], part[k] + r * columns * size, size, columns, size);
                }
            }
        }
    }
}

static void run_copied(const Call *call, char **data, const npy_intp *inner, const npy_intp *outer, npy_intp n, npy_intp N) {
    _Alignas(64) char blocks[MAX_OPERANDS * (BLOCK * sizeof(double) + 64)];
    run_blocks(call, data, inner, outer, n, N, blocks, BLOCK, 0);
}

/* Memory for the blocks of a program. The blocks of its constants are filled. */
typedef struct {
    char *blocks;
    npy_intp length; /* of a block, in elements */
} Workspace;

/* Run N rows of n elements. work: of a program, else NULL. */
static void run_rows(const Call *call, char **data, const npy_intp *inner, const npy_intp *outer, npy_intp n, npy_intp N,
                     const Workspace *work) {
    if (work != NULL) {
        if (work->length == LEAST_IN_BLOCK) run_blocks(call, data, inner, outer, n, N, work->blocks, LEAST_IN_BLOCK, 1);
        else run_blocks(call, data, inner, outer, n, N, work->blocks, work->length, 0);
        return;
    }
    for (int k = 0; call->kernel->contiguous && k < call->n; k++) {
        if (inner[k] != call->size && n > 1) {
            run_copied(call, data, inner, outer, n, N);
            return;
        }
    }
    call->loop(data, inner, outer, n, N);
}

/* Run the elements first <= i < last of the innermost axis, in the rows begin <= r < end. Rows are counted through all other
 * axes. */
static void run_loops(const Call *call, npy_intp first, npy_intp last, npy_intp begin, npy_intp end, const Workspace *work) {
    npy_intp inner[MAX_OPERANDS], outer[MAX_OPERANDS], rows = call->nd > 1 ? call->shape[1] : 1;
    for (int k = 0; k < call->n; k++) {
        inner[k] = call->strides[k][0];
        outer[k] = call->nd > 1 ? call->strides[k][1] : 0;
    }
    while (begin < end) {
        npy_intp row = begin % rows, rest = begin / rows;
        npy_intp count = rows - row < end - begin ? rows - row : end - begin;
        char *data[MAX_OPERANDS];
        for (int k = 0; k < call->n; k++) data[k] = call->data[k] + first * inner[k] + row * outer[k];
        for (int i = 2; i < call->nd; i++) {
            npy_intp index = rest % call->shape[i];
            rest /= call->shape[i];
            for (int k = 0; k < call->n; k++) data[k] += index * call->strides[k][i];
        }
        run_rows(call, data, inner, outer, last - first, count, work);
        begin += count;
    }
}

/* Do the same for a program. Long rows of much memory, and programs with many values, have short blocks. */
static void run_program(const Call *call, npy_intp first, npy_intp last, npy_intp begin, npy_intp end) {
    enum { VALUES = MAX_OPERANDS + WK_MAX_REGISTERS }; /* blocks of LEAST_IN_BLOCK numbers take more than PROGRAM_BYTES */
    _Alignas(64) char blocks[VALUES * (LEAST_IN_BLOCK * sizeof(double) + 64)];
    const WkProgram *program = call->kernel->program;
    npy_intp n = last - first, size = call->size;
    npy_intp length = PROGRAM_BYTES / ((call->n + program->n_registers) * size) / LEAST_IN_BLOCK * LEAST_IN_BLOCK;
    int streams = n >= LEAST_IN_BLOCK && n * (end - begin) * call->n * size >= STREAMED;
    if (length > MOST_IN_BLOCK) length = MOST_IN_BLOCK;
    if (length < LEAST_IN_BLOCK || streams) length = LEAST_IN_BLOCK;
    char *constants = blocks + call->n * block_step(length, size);
    for (int c = 0; c < program->n_constants; c++) {
        Scalar value;
        if (call->typenum == NPY_DOUBLE) value.f64 = program->constants[c];
        else value.f32 = (float)program->constants[c];
        gather_rows(constants + c * block_step(length, size), (char *)&value, 0, 0, length, 1, size);
    }
    Workspace work = {blocks, length};
    run_loops(call, first, last, begin, end, &work);
}

static void run_part(const Call *call, npy_intp first, npy_intp last, npy_intp begin, npy_intp end) {
    if (call->kernel->program != NULL) run_program(call, first, last, begin, end);
    else run_loops(call, first, last, begin, end, NULL);
}

typedef struct {
    const Call *call;
    npy_intp rows;
} Split;

static void run_some_rows(void *context, int64_t begin, int64_t end) {
    const Split *split = context;
    run_part(split->call, 0, split->call->shape[0], begin, end);
}

static void run_some_columns(void *context, int64_t begin, int64_t end) {
    const Split *split = context;
    run_part(split->call, begin, end, 0, split->rows);
}

static void run_all(const Call *call, npy_intp total) {
    npy_intp n = call->shape[0], rows = total / n;
    double work = (double)total * call->kernel->cost;
    if (work < THREAD_WORK) {
        run_part(call, 0, n, 0, rows);
        return;
    }
    Split split = {call, rows};
    if (rows >= 4 * (npy_intp)wk_get_num_threads()) {
        npy_intp grain = PIECE_WORK / (n * call->kernel->cost) + 1;
        wk_parallel_for(rows, grain, run_some_rows, &split);
    } else {
        npy_intp grain = PIECE_WORK / (rows * call->kernel->cost) / WHOLE_LINES * WHOLE_LINES + WHOLE_LINES;
        wk_parallel_for(n, grain, run_some_columns, &split);
    }
}

/* Run a call. All operands, including the output, have their strides. Return 0, or -1 with an error set. */
static int run_call(Call *call, npy_intp total) {
    if (total == 0) return 0;
    collapse_axes(call);
    if (call->nd == 0) {
        call->nd = 1;
        call->shape[0] = 1;
        for (int k = 0; k < call->n; k++) call->strides[k][0] = call->size;
    }
    wk_release((double)total * call->kernel->cost >= RELEASE_WORK);
    run_all(call, total);
    return wk_reacquire();
}

/* -- outputs -------------------------------------------------------------------------------------------------------- */

/* Set low to the address of the array's lowest byte, and high to one past its highest byte. */
static void find_address_range(PyArrayObject *a, npy_intp *low, npy_intp *high) {
    *low = *high = (npy_intp)PyArray_BYTES(a);
    for (int i = 0; i < PyArray_NDIM(a); i++) {
        npy_intp reach = (PyArray_DIM(a, i) - 1) * PyArray_STRIDE(a, i);
        if (reach < 0) *low += reach;
        else *high += reach;
    }
    *high += PyArray_ITEMSIZE(a);
}

/* Whether operand k shares memory with output o other than element by element. */
static int overlaps(const Call *call, int k, int o) {
    PyArrayObject *a = call->arrays[k], *out = call->arrays[o];
    if (a == NULL) return 0;
    npy_intp low, high, out_low, out_high;
    find_address_range(a, &low, &high);
    find_address_range(out, &out_low, &out_high);
    if (high <= out_low || out_high <= low) return 0;
    if (call->data[k] != PyArray_BYTES(out)) return 1;
    return memcmp(call->strides[k], call->strides[o], sizeof(npy_intp) * call->nd) != 0;
}

/* Whether two indices of an array may name the same element. It may say yes wrongly, but never no. */
static int may_repeat_elements(PyArrayObject *a) {
    int nd = PyArray_NDIM(a);
    npy_intp previous = -1;
    npy_intp reach = PyArray_ITEMSIZE(a);
    for (int done = 0; done < nd; done++) {
        npy_intp next = NPY_MAX_INTP, length = 1;
        int ties = 0;
        for (int i = 0; i < nd; i++) {
            npy_intp stride = magnitude(PyArray_STRIDE(a, i));
            if (PyArray_DIM(a, i) == 1 || stride <= previous || stride > next) continue;
            ties = stride == next;
            next = stride;
            length = PyArray_DIM(a, i);
        }
        if (next == NPY_MAX_INTP) return 0;
        if (ties || next < reach) return 1;
        reach = next * (length - 1) + reach;
        previous = next;
    }
    return 0;
}

/* Whether out can hold the result: its dtype, shape and memory fit. */
static int can_hold_result(const Call *call, PyObject *out) {
    if (!PyArray_CheckExact(out)) return 0;
    PyArrayObject *a = (PyArrayObject *)out;
    if (PyArray_TYPE(a) != call->typenum || !PyArray_ISBEHAVED(a) || PyArray_NDIM(a) != call->nd) return 0;
    return PyArray_CompareLists(PyArray_DIMS(a), call->shape, call->nd) && !may_repeat_elements(a);
}

/* -- the entry ------------------------------------------------------------------------------------------------------ */

/* Run the commonest call: C-contiguous arrays of one shape, and numbers, too small for a second thread. NULL: it is another call,
 * or no memory is left, which the general path then finds again. */
static PyObject *apply_small(Call *call, int n) {
    PyArrayObject *first = NULL;
    npy_intp inner[MAX_OPERANDS], outer[MAX_OPERANDS];
    for (int k = 0; k < n; k++) {
        PyArrayObject *a = call->arrays[k];
        inner[k] = outer[k] = 0;
        if (a == NULL) {
            if (call->kernel->contiguous) return NULL;
            continue;
        }
        if (!PyArray_IS_C_CONTIGUOUS(a)) return NULL;
        inner[k] = call->size;
        if (first == NULL) first = a;
        else if (!PyArray_SAMESHAPE(a, first)) return NULL;
    }
    npy_intp total = PyArray_SIZE(first);
    if (total > 4096) return NULL;
    PyObject *out = wk_new_array(PyArray_NDIM(first), PyArray_DIMS(first), call->typenum);
    if (out == NULL) {
        PyErr_Clear();
        return NULL;
    }
    inner[n] = call->size;
    outer[n] = 0;
    call->data[n] = PyArray_BYTES((PyArrayObject *)out);
    call->loop(call->data, inner, outer, total, 1);
    return out;
}

/* Allocate the outputs, run the call, and return the result of wk_apply_kernel. */
static PyObject *apply_new(Call *call, npy_intp total) {
    PyObject *results = NULL;
    int n_outputs = call->n - call->n_inputs;
    if (n_outputs > 1 && (results = PyTuple_New(n_outputs)) == NULL) return NULL;
    for (int k = call->n_inputs; k < call->n; k++) {
        call->arrays[k] = new_output(call);
        if (call->arrays[k] == NULL) {
            Py_XDECREF(results);
            return NULL;
        }
        if (n_outputs > 1) PyTuple_SET_ITEM(results, k - call->n_inputs, (PyObject *)call->arrays[k]);
        call->data[k] = PyArray_BYTES(call->arrays[k]);
        take_strides(call, k);
    }
    if (n_outputs == 1) results = (PyObject *)call->arrays[call->n_inputs];
    if (run_call(call, total) < 0) Py_CLEAR(results);
    return results;
}

/* Write the result into out. If out shares memory with an input, the result is computed in a new array first. */
static PyObject *apply_into(Call *call, PyObject *out, npy_intp total) {
    int k = call->n_inputs, apart = 0;
    if (!can_hold_result(call, out)) return Py_NewRef(Py_None);
    call->arrays[k] = (PyArrayObject *)out;
    take_strides(call, k);
    for (int i = 0; total > 0 && i < k; i++) apart = apart || overlaps(call, i, k);
    if (apart) {
        PyObject *result = apply_new(call, total);
        if (result == NULL) return NULL;
        int failed = PyArray_CopyInto((PyArrayObject *)out, (PyArrayObject *)result) < 0;
        Py_DECREF(result);
        return failed ? NULL : Py_NewRef(out);
    }
    call->data[k] = PyArray_BYTES((PyArrayObject *)out);
    return run_call(call, total) < 0 ? NULL : Py_NewRef(out);
}

/* Find the shape and the strides of a call whose inputs have been taken. Return the number of elements, -1 if they do not
 * broadcast. */
static npy_intp take_shape(Call *call) {
    int n = call->kernel->n_inputs;
    if (!broadcast_shape(call, n)) return -1;
    call->n_inputs = n;
    call->n = n + (call->kernel->n_outputs > 1 ? call->kernel->n_outputs : 1);
    npy_intp total = 1;
    for (int i = 0; i < call->nd; i++) total *= call->shape[i];
    for (int k = 0; k < n; k++) take_strides(call, k);
    return total;
}

PyObject *wk_apply_kernel(const WkKernel *kernel, PyObject *const *inputs, PyObject *out) {
    Call call;
    int n = kernel->n_inputs;
    call.kernel = kernel;
    if (!take_inputs(&call, inputs, n)) return Py_NewRef(Py_None);
    if (out == NULL && kernel->program == NULL) {
        PyObject *result = apply_small(&call, n);
        if (result != NULL) return result;
    }
    npy_intp total = take_shape(&call);
    if (total < 0) return Py_NewRef(Py_None);
    return out == NULL ? apply_new(&call, total) : apply_into(&call, out, total);
}

int wk_apply_in_place(const WkKernel *kernel, PyObject *const *inputs, PyObject *const *outputs) {
    Call call;
    call.kernel = kernel;
    if (!take_inputs(&call, inputs, kernel->n_inputs)) return 0;
    npy_intp total = take_shape(&call);
    if (total < 0) return 0;
    for (int k = call.n_inputs; k < call.n; k++) {
        if (!can_hold_result(&call, outputs[k - call.n_inputs])) return 0;
        call.arrays[k] = (PyArrayObject *)outputs[k - call.n_inputs];
        call.data[k] = PyArray_BYTES(call.arrays[k]);
        take_strides(&call, k);
        for (int i = 0; total > 0 && i < k; i++) {
            if (overlaps(&call, i, k) || (i >= call.n_inputs && call.data[i] == call.data[k])) return 0;
        }
    }
    return run_call(&call, total) < 0 ? -1 : 1;
}

PyObject *wk_apply(int kernel, PyObject *const *inputs, PyObject *out) {
    if (kernel >= WK_WHOLE) return out == NULL ? wk_run_whole(kernel, inputs) : Py_NewRef(Py_None);
    return wk_apply_kernel(&wk_kernels[kernel], inputs, out);
}

/* -- for Python ----------------------------------------------------------------------------------------------------- */

static PyObject *apply_method(PyObject *module, PyObject *args) {
    int kernel;
    PyObject *inputs, *out = Py_None;
    (void)module;
    if (!PyArg_ParseTuple(args, "iO!|O", &kernel, &PyTuple_Type, &inputs, &out)) return NULL;
    int expected = kernel >= WK_WHOLE ? wk_whole_inputs(kernel) : kernel >= 0 && kernel < wk_n_kernels ? wk_kernels[kernel].n_inputs : -1;
    if (PyTuple_GET_SIZE(inputs) != expected) {
        PyErr_SetString(PyExc_ValueError, "no such kernel, or another number of inputs");
        return NULL;
    }
    return wk_apply(kernel, ((PyTupleObject *)inputs)->ob_item, out == Py_None ? NULL : out);
}

static PyObject *find_method(PyObject *module, PyObject *name) {
    (void)module;
    const char *text = PyUnicode_AsUTF8(name);
    if (text == NULL) return NULL;
    int kernel = wk_find_kernel(text);
    return PyLong_FromLong(kernel >= 0 ? kernel : wk_find_whole(text));
}

static PyObject *names_method(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    PyObject *names = PyList_New(wk_n_kernels);
    for (int i = 0; names != NULL && i < wk_n_kernels; i++) {
        PyObject *name = PyUnicode_FromString(wk_kernels[i].name);
        if (name == NULL) Py_CLEAR(names);
        else PyList_SET_ITEM(names, i, name);
    }
    return names;
}

PyMethodDef wk_apply_methods[] = {
    {"apply", apply_method, METH_VARARGS,
     "apply(kernel, inputs, out=None): the result of a kernel for arrays and numbers, or None if it does not accept them."},
    {"find", find_method, METH_O, "find(name): number of the kernel, or of the function of whole arrays, with this name, or -1."},
    {"names", names_method, METH_NOARGS, "names(): the names of all kernels, in the order of their numbers."},
    {NULL, NULL, 0, NULL},
};
