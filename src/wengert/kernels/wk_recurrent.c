/* The steps of an LSTM and their cotangents, in one call for all steps. See ops/recurrent.py.
 *
 * Rows of all steps lie one after the other: those of step 0, of step 1, and so on. Step t has the first sizes[t] sequences of the
 * batch; sizes do not increase. A thread takes some sequences through all steps, so results are the same for any number of threads.
 */
#include "wk_cells.h"

#include <stdlib.h>
#include <string.h>

#include "wk_level.h"
#include "wk_numpy.h"
#include "wk_pool.h"
#include "wk_products.h"
#include "wk_release.h"

enum { WORK = 65536 }; /* least number of products for a thread */

WK_DEFINE_TABLE_OF(WkCells, cells_of, wk_cells)

typedef struct {
    const WkCells *cells;
    const WkProducts *products;
    int64_t steps, batch, size, rows, item; /* rows: of all steps; item: bytes of a number */
    int type, backward;                     /* backward: the last step comes first */
    int64_t *sizes, *starts;                /* rows of each step, and the first of them */
    const char *sums, *hidden0, *cell0, *weight; /* weight: (4 size, size) */
    char *hidden, *cells_out, *gates;            /* results of all steps */
    const char *ct_hidden, *ct_cells, *ct_gates; /* cotangents of the results, or NULL */
    char *out, *of_hidden, *of_cell, *previous;  /* cotangents of sums, hidden0 and cell0; the hidden states before each step */
    char *packed, *zeros;                        /* the weight in panels, and a row of 4 size zeros */
} Steps;

static int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }

/* Step number i in the order of time. */
static int64_t step_at(const Steps *s, int64_t i) { return s->backward ? s->steps - 1 - i : i; }

/* The rows of sequences [first, last) at step t, of which the first `continued` have a step before. */
typedef struct {
    int64_t row, rows, continued, row_before;
} Rows;

static Rows rows_at(const Steps *s, int64_t i, int64_t first, int64_t last) {
    int64_t t = step_at(s, i);
    Rows r = {.row = s->starts[t] + first, .rows = lesser(s->sizes[t], last) - first};
    if (r.rows < 0) r.rows = 0;
    if (i > 0) {
        int64_t before = step_at(s, i - 1), there = lesser(s->sizes[before], last) - first;
        r.continued = there < 0 ? 0 : lesser(r.rows, there), r.row_before = s->starts[before] + first;
    }
    return r;
}

/* Multiply m rows of `depth` numbers by the packed weight of n columns. If adds is true, add the products to c. */
static void multiply(const Steps *s, const char *a, int64_t m, int64_t depth, int64_t n, int adds, char *c) {
    int64_t panel = s->products->panel;
    if (m == 0) return;
    for (int64_t j = 0; j < n; j += panel) {
        s->products->product(a, depth, 1, s->packed + j * depth * s->item, panel, m, lesser(panel, n - j), depth, NULL, adds,
                             c + j * s->item, n);
    }
}

static void run_steps(void *ctx, int64_t first, int64_t last) {
    const Steps *s = (const Steps *)ctx;
    const int64_t row = s->size * s->item;
    for (int64_t i = 0; i < s->steps; i++) {
        Rows r = rows_at(s, i, first, last);
        int64_t begun = r.rows - r.continued;
        char *gates = s->gates + r.row * 4 * row, *later = gates + r.continued * 4 * row;
        const char *hidden0 = s->hidden0 + (first + r.continued) * row, *cell0 = s->cell0 + (first + r.continued) * row;
        memcpy(gates, s->sums + r.row * 4 * row, (size_t)(r.rows * 4 * row));
        multiply(s, s->hidden + r.row_before * row, r.continued, s->size, 4 * s->size, 1, gates);
        multiply(s, hidden0, begun, s->size, 4 * s->size, 1, later);
        char *cell = s->cells_out + r.row * row, *hidden = s->hidden + r.row * row;
        s->cells->lstm(gates, s->cells_out + r.row_before * row, cell, hidden, r.continued, s->size);
        s->cells->lstm(later, cell0, cell + r.continued * row, hidden + r.continued * row, begun, s->size);
    }
}

/* Cotangents of `rows` rows of a step, from row number `row` of all; the first of them is sequence number `sequence`. */
static void run_rows_cotangent(const Steps *s, int64_t row, int64_t sequence, int64_t rows, const char *hidden_before,
                               const char *cell_before) {
    const int64_t bytes = s->size * s->item;
    memcpy(s->previous + row * bytes, hidden_before, (size_t)(rows * bytes));
    WkLstmCotangent t = {
        .rows = rows, .size = s->size, .gates = s->gates + row * 4 * bytes, .cell = s->cells_out + row * bytes,
        .cell_before = cell_before,
        .ct_hidden = s->ct_hidden != NULL ? s->ct_hidden + row * bytes : s->zeros,
        .ct_cell = s->ct_cells != NULL ? s->ct_cells + row * bytes : s->zeros,
        .ct_gates = s->ct_gates != NULL ? s->ct_gates + row * 4 * bytes : s->zeros,
        .ct_hidden_step = s->ct_hidden != NULL ? s->size : 0, .ct_cell_step = s->ct_cells != NULL ? s->size : 0,
        .ct_gates_step = s->ct_gates != NULL ? 4 * s->size : 0,
        .of_hidden = s->of_hidden + sequence * bytes, .of_cell = s->of_cell + sequence * bytes, .out = s->out + row * 4 * bytes,
    };
    s->cells->lstm_cotangent(&t);
    multiply(s, s->out + row * 4 * bytes, rows, 4 * s->size, s->size, 0, s->of_hidden + sequence * bytes);
}

static void run_steps_cotangent(void *ctx, int64_t first, int64_t last) {
    const Steps *s = (const Steps *)ctx;
    const int64_t bytes = s->size * s->item;
    for (int64_t i = s->steps - 1; i >= 0; i--) {
        Rows r = rows_at(s, i, first, last);
        int64_t begun = r.rows - r.continued, sequence = first + r.continued;
        if (r.continued > 0) {
            run_rows_cotangent(s, r.row, first, r.continued, s->hidden + r.row_before * bytes, s->cells_out + r.row_before * bytes);
        }
        if (begun > 0) {
            run_rows_cotangent(s, r.row + r.continued, sequence, begun, s->hidden0 + sequence * bytes, s->cell0 + sequence * bytes);
        }
    }
}

/* Lay out the weight for multiply: (size, 4 size) for the steps, (4 size, size) for their cotangents. Return 0 if memory is short. */
static int pack_weight(Steps *s, int for_cotangent) {
    int64_t panel = s->products->panel, depth = for_cotangent ? 4 * s->size : s->size, n = for_cotangent ? s->size : 4 * s->size;
    int64_t padded = (n + panel - 1) / panel * panel;
    s->packed = (char *)calloc((size_t)(padded * depth), (size_t)s->item);
    if (s->packed == NULL) return 0;
    for (int64_t j = 0; j < n; j += panel) {
        char *to = s->packed + j * depth * s->item;
        int64_t width = lesser(panel, n - j);
        if (for_cotangent) {
            s->products->copy_rows(to, panel * s->item, s->weight + j * s->item, n * s->item, depth, width * s->item);
        } else {
            s->products->transpose(s->weight + j * depth * s->item, depth, width, depth, to, panel);
        }
    }
    return 1;
}

/* Return 0, or -1 with an error set. */
static int run_all(Steps *s, void (*body)(void *, int64_t, int64_t)) {
    int64_t each = s->steps * s->size * 4 * s->size;
    /* Products of a few rows at once are faster than those of one. */
    int64_t grain = each >= WORK ? 4 : lesser(s->batch, WORK / each + 4);
    return wk_run_loop(each * s->batch > WORK, s->batch, grain, body, s);
}

/* Set *data to the data of a C-contiguous array of this type, of rows x columns numbers, or to NULL for None. Return 0 for others. */
static int read_rows(PyObject *x, int type, int64_t rows, int64_t columns, const char **data) {
    *data = NULL;
    if (x == Py_None) return 1;
    if (!PyArray_CheckExact(x)) return 0;
    PyArrayObject *a = (PyArrayObject *)x;
    if (PyArray_TYPE(a) != type || !PyArray_ISCARRAY_RO(a) || PyArray_NDIM(a) != 2) return 0;
    if (PyArray_DIM(a, 0) != rows || PyArray_DIM(a, 1) != columns) return 0;
    *data = PyArray_BYTES(a);
    return 1;
}

/* Read hidden0, cell0 and weight, and sizes, a tuple, with backward. s->sizes is to be freed. Return 0 if they are not accepted, -1
 * with an error set. */
static int read_steps(Steps *s, PyObject *hidden0, PyObject *cell0, PyObject *weight, PyObject *sizes, PyObject *backward) {
    if (!PyArray_CheckExact(hidden0) || PyArray_NDIM((PyArrayObject *)hidden0) != 2 || !PyTuple_CheckExact(sizes)) return 0;
    PyArrayObject *h = (PyArrayObject *)hidden0;
    s->type = PyArray_TYPE(h);
    if (s->type != NPY_FLOAT && s->type != NPY_DOUBLE) return 0;
    s->batch = PyArray_DIM(h, 0), s->size = PyArray_DIM(h, 1), s->item = PyArray_ITEMSIZE(h), s->steps = PyTuple_GET_SIZE(sizes);
    if (s->batch == 0 || s->size == 0 || s->steps == 0) return 0;
    if (!read_rows(hidden0, s->type, s->batch, s->size, &s->hidden0) || !read_rows(cell0, s->type, s->batch, s->size, &s->cell0) ||
        !read_rows(weight, s->type, 4 * s->size, s->size, &s->weight) || s->cell0 == NULL || s->weight == NULL) {
        return 0;
    }
    s->backward = PyObject_IsTrue(backward);
    if (s->backward < 0) return -1;
    s->sizes = (int64_t *)PyMem_RawMalloc((size_t)s->steps * 2 * sizeof *s->sizes);
    if (s->sizes == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    s->starts = s->sizes + s->steps;
    for (int64_t t = 0; t < s->steps; t++) {
        s->sizes[t] = PyLong_AsLongLong(PyTuple_GET_ITEM(sizes, t)), s->starts[t] = s->rows;
        if (PyErr_Occurred()) return -1;
        if (s->sizes[t] < 1 || s->sizes[t] > (t > 0 ? s->sizes[t - 1] : s->batch)) return 0;
        s->rows += s->sizes[t];
    }
    s->cells = cells_of(s->type), s->products = wk_products_of(s->type);
    return s->sizes[0] == s->batch;
}

static PyArrayObject *new_rows(const Steps *s, int64_t rows, int64_t columns, char **data) {
    npy_intp shape[] = {rows, columns};
    PyArrayObject *x = (PyArrayObject *)wk_new_array(2, shape, s->type);
    if (x != NULL) *data = PyArray_BYTES(x);
    return x;
}

/* lstm_steps(sums, hidden0, cell0, weight, sizes, backward): the hidden states, cells and gates of all steps. */
static PyObject *lstm_steps_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 6) return PyErr_Format(PyExc_TypeError, "lstm_steps takes 6 arguments");
    Steps s = {.rows = 0};
    PyArrayObject *hidden = NULL, *cells = NULL, *gates = NULL;
    PyObject *all = NULL;
    int accepted = read_steps(&s, args[1], args[2], args[3], args[4], args[5]);
    if (accepted > 0) accepted = read_rows(args[0], s.type, s.rows, 4 * s.size, &s.sums) && s.sums != NULL;
    if (accepted > 0) {
        hidden = new_rows(&s, s.rows, s.size, &s.hidden), cells = new_rows(&s, s.rows, s.size, &s.cells_out);
        gates = new_rows(&s, s.rows, 4 * s.size, &s.gates);
        if (hidden != NULL && cells != NULL && gates != NULL && pack_weight(&s, 0)) {
            all = run_all(&s, run_steps) < 0 ? NULL : PyTuple_Pack(3, hidden, cells, gates);
        } else if (!PyErr_Occurred()) {
            PyErr_NoMemory();
        }
    }
    Py_XDECREF(hidden);
    Py_XDECREF(cells);
    Py_XDECREF(gates);
    free(s.packed);
    PyMem_RawFree(s.sizes);
    return all != NULL || PyErr_Occurred() ? all : Py_NewRef(Py_None);
}

/* lstm_steps_cotangent(ct_hidden, ct_cells, ct_gates, hidden, cells, gates, hidden0, cell0, weight, sizes, backward): the cotangents
 * of sums, hidden0 and cell0, and the hidden states before each step. Cotangents of results may be None. */
static PyObject *lstm_steps_cotangent_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 11) return PyErr_Format(PyExc_TypeError, "lstm_steps_cotangent takes 11 arguments");
    Steps s = {.rows = 0};
    PyArrayObject *out = NULL, *of_hidden = NULL, *of_cell = NULL, *previous = NULL;
    PyObject *all = NULL;
    int accepted = read_steps(&s, args[6], args[7], args[8], args[9], args[10]);
    if (accepted > 0) {
        int64_t n = s.size, r = s.rows;
        accepted = read_rows(args[0], s.type, r, n, &s.ct_hidden) && read_rows(args[1], s.type, r, n, &s.ct_cells) &&
                   read_rows(args[2], s.type, r, 4 * n, &s.ct_gates) && read_rows(args[3], s.type, r, n, (const char **)&s.hidden) &&
                   read_rows(args[4], s.type, r, n, (const char **)&s.cells_out) &&
                   read_rows(args[5], s.type, r, 4 * n, (const char **)&s.gates) && s.hidden != NULL && s.cells_out != NULL &&
                   s.gates != NULL;
    }
    if (accepted > 0) {
        out = new_rows(&s, s.rows, 4 * s.size, &s.out), previous = new_rows(&s, s.rows, s.size, &s.previous);
        of_hidden = new_rows(&s, s.batch, s.size, &s.of_hidden), of_cell = new_rows(&s, s.batch, s.size, &s.of_cell);
        s.zeros = (char *)calloc((size_t)(4 * s.size), (size_t)s.item);
        if (out != NULL && previous != NULL && of_hidden != NULL && of_cell != NULL && s.zeros != NULL && pack_weight(&s, 1)) {
            memset(s.of_hidden, 0, (size_t)(s.batch * s.size * s.item));
            memset(s.of_cell, 0, (size_t)(s.batch * s.size * s.item));
            all = run_all(&s, run_steps_cotangent) < 0 ? NULL : PyTuple_Pack(4, out, of_hidden, of_cell, previous);
        } else if (!PyErr_Occurred()) {
            PyErr_NoMemory();
        }
    }
    Py_XDECREF(out);
    Py_XDECREF(previous);
    Py_XDECREF(of_hidden);
    Py_XDECREF(of_cell);
    free(s.zeros);
    free(s.packed);
    PyMem_RawFree(s.sizes);
    return all != NULL || PyErr_Occurred() ? all : Py_NewRef(Py_None);
}

#define METHOD(name, doc) {#name, (PyCFunction)(void (*)(void))name##_method, METH_FASTCALL, doc}
PyMethodDef wk_recurrent_methods[] = {
    METHOD(lstm_steps, "lstm_steps(sums, hidden0, cell0, weight, sizes, backward): hidden states, cells and gates of all steps."),
    METHOD(lstm_steps_cotangent, "lstm_steps_cotangent(ct_hidden, ct_cells, ct_gates, hidden, cells, gates, hidden0, cell0, weight, "
                                 "sizes, backward): cotangents of sums, hidden0 and cell0, and the hidden states before each step."),
    {NULL, NULL, 0, NULL},
};
