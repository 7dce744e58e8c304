/* Connectionist temporal classification: the forward and backward recursions over alignments, item by item. See ops/ctc.py.
 *
 * The states of an item are its labels with blanks before, between and after them. All values are logarithms in float64.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "wk_index.h"
#include "wk_numpy.h"
#include "wk_pool.h"
#include "wk_release.h"

enum { WORK = 1024 }; /* least number of states times steps for a thread */

typedef struct {
    const char *x; /* log-probabilities, (steps, items, classes) */
    npy_intp steps, items, classes, x_step, x_item, x_class, labels_item;
    const int64_t *labels, *lengths, *counts; /* labels: (items, ...); lengths, counts: steps and labels of each item */
    int64_t blank;
    int is_double;
    double *losses; /* (items), or NULL */
    const char *ct; /* cotangent of the losses, or NULL if losses are wanted */
    npy_intp ct_item;
    char *out; /* cotangent of x */
    atomic_int failed;
} Alignments;

static double read_number(const char *at, int is_double) { return is_double ? *(const double *)at : *(const float *)at; }

static int64_t label_of(const Alignments *s, int64_t item, int64_t state) {
    return state % 2 ? wk_index(s->labels + item * s->labels_item + state / 2, s->classes) : s->blank;
}

static double score(const Alignments *s, int64_t item, int64_t step, int64_t label) {
    return read_number(s->x + step * s->x_step + item * s->x_item + label * s->x_class, s->is_double);
}

/* log(exp(a) + exp(b) + exp(c)), accurate to the digits of float or double. */
static inline double log_sum_exp(double a, double b, double c, int is_double) {
    double m = b > a ? b : a;
    m = c > m ? c : m;
    if (isinf(m)) return m > 0 ? m : a + b + c; /* -inf or NaN */
    if (is_double) return m + log(exp(a - m) + exp(b - m) + exp(c - m));
    return m + logf(expf((float)(a - m)) + expf((float)(b - m)) + expf((float)(c - m)));
}

/* Set labels[j] to the label of state j, and skips[j] to whether state j can follow state j - 2 directly, without the blank between
 * them. */
static void list_states(const Alignments *s, int64_t item, int64_t states, int64_t *labels, char *skips) {
    for (int64_t j = 0; j < states; j++) {
        labels[j] = label_of(s, item, j);
        skips[j] = j >= 2 && labels[j] != s->blank && labels[j] != labels[j - 2];
    }
}

/* Set alpha[t, j] to the log probability of all paths that reach state j at step t. length: number of steps. */
static void run_forward(const Alignments *s, int64_t item, int64_t length, int64_t states, const int64_t *labels,
                        const char *skips, double *alpha) {
    for (int64_t t = 0; t < length; t++, alpha += states) {
        const double *before = alpha - states;
        for (int64_t j = 0; j < states; j++) {
            double way;
            if (t == 0) way = j < 2 ? 0 : -INFINITY;
            else way = log_sum_exp(before[j], j > 0 ? before[j - 1] : -INFINITY, skips[j] ? before[j - 2] : -INFINITY,
                                   s->is_double);
            alpha[j] = way + score(s, item, t, labels[j]);
        }
    }
}

static double total_log_probability(const double *last, int64_t states) {
    return log_sum_exp(last[states - 1], states > 1 ? last[states - 2] : -INFINITY, -INFINITY, 1);
}

/* For each state, subtract ct times the probability of the state from the cotangent of its label's class. beta[j]: log probability
 * of all continuations after state j. then[j]: beta[j] of the next step plus the score of that step. */
static void run_backward(const Alignments *s, int64_t item, int64_t length, int64_t states, const int64_t *labels,
                         const char *skips, const double *alpha, double *beta, double *then) {
    double total = total_log_probability(alpha + (length - 1) * states, states),
           ct = read_number(s->ct + item * s->ct_item, s->is_double);
    if (!isfinite(total)) return;
    for (int64_t t = length - 1; t >= 0; t--) {
        for (int64_t j = 0; j < states; j++) {
            if (t == length - 1) beta[j] = j + 2 >= states ? 0 : -INFINITY;
            else beta[j] = log_sum_exp(then[j], j + 1 < states ? then[j + 1] : -INFINITY,
                                       j + 2 < states && skips[j + 2] ? then[j + 2] : -INFINITY, s->is_double);
        }
        int64_t row = (t * s->items + item) * s->classes;
        for (int64_t j = 0; j < states; j++) {
            double log_share = alpha[t * states + j] + beta[j] - total;
            if (s->is_double) ((double *)s->out)[row + labels[j]] -= ct * exp(log_share);
            else ((float *)s->out)[row + labels[j]] -= (float)ct * expf((float)log_share);
            then[j] = beta[j] + score(s, item, t, labels[j]);
        }
    }
}

static void align(void *ctx, int64_t begin, int64_t end) {
    Alignments *s = (Alignments *)ctx;
    for (int64_t item = begin; item < end; item++) {
        int64_t states = 2 * wk_index(s->counts + item, s->labels_item + 1) + 1;
        int64_t length = wk_index(s->lengths + item, s->steps + 1);
        if (length == 0) { /* an item without steps can only have no labels */
            if (s->losses != NULL) s->losses[item] = states == 1 ? 0 : INFINITY;
            continue;
        }
        size_t n = (size_t)states;
        double *alpha = (double *)malloc(n * ((size_t)length + 2) * sizeof(double) + n * sizeof(int64_t) + n);
        if (alpha == NULL) {
            s->failed = 1;
            return;
        }
        double *beta = alpha + states * length, *then = beta + states;
        int64_t *labels = (int64_t *)(then + states);
        char *skips = (char *)(labels + states);
        list_states(s, item, states, labels, skips);
        run_forward(s, item, length, states, labels, skips, alpha);
        if (s->ct == NULL) s->losses[item] = -total_log_probability(alpha + (length - 1) * states, states);
        else run_backward(s, item, length, states, labels, skips, alpha, beta, then);
        free(alpha);
    }
}

static int is_index(PyObject *x, int nd, npy_intp size) {
    if (!PyArray_CheckExact(x) || PyArray_TYPE((PyArrayObject *)x) != NPY_INT64 || !PyArray_ISCARRAY_RO((PyArrayObject *)x)) return 0;
    return PyArray_NDIM((PyArrayObject *)x) == nd && PyArray_DIM((PyArrayObject *)x, 0) == size;
}

/* Read (x, labels, lengths, counts, blank). Return 0 if an argument is not accepted. */
static int read_alignments(Alignments *s, PyObject *const *args) {
    if (!PyArray_CheckExact(args[0]) || !PyArray_ISBEHAVED_RO((PyArrayObject *)args[0])) return 0;
    PyArrayObject *x = (PyArrayObject *)args[0], *labels = (PyArrayObject *)args[1];
    if ((PyArray_TYPE(x) != NPY_FLOAT && PyArray_TYPE(x) != NPY_DOUBLE) || PyArray_NDIM(x) != 3) return 0;
    npy_intp items = PyArray_DIM(x, 1);
    if (!is_index(args[1], 2, items) || !is_index(args[2], 1, items) || !is_index(args[3], 1, items)) return 0;
    s->x = PyArray_BYTES(x);
    s->steps = PyArray_DIM(x, 0), s->items = items, s->classes = PyArray_DIM(x, 2);
    s->x_step = PyArray_STRIDE(x, 0), s->x_item = PyArray_STRIDE(x, 1), s->x_class = PyArray_STRIDE(x, 2);
    s->is_double = PyArray_TYPE(x) == NPY_DOUBLE;
    s->labels = (const int64_t *)PyArray_DATA(labels), s->labels_item = PyArray_DIM(labels, 1);
    s->lengths = (const int64_t *)PyArray_DATA((PyArrayObject *)args[2]);
    s->counts = (const int64_t *)PyArray_DATA((PyArrayObject *)args[3]);
    s->blank = PyLong_AsLongLong(args[4]);
    if (s->blank < 0 || s->blank >= s->classes) return 0;
    for (int64_t i = 0; i < items; i++) {
        if (s->lengths[i] < 0 || s->lengths[i] > s->steps || s->counts[i] < 0 || s->counts[i] > s->labels_item) return 0;
        for (int64_t j = 0; j < s->counts[i]; j++) {
            int64_t label = s->labels[i * s->labels_item + j];
            if (label < 0 || label >= s->classes) return 0;
        }
    }
    return 1;
}

/* Return 0, or -1 with an error set. */
static int run_items(Alignments *s) {
    int64_t work = s->steps * (2 * s->labels_item + 1);
    if (wk_run_loop(s->items * work > WORK, s->items, work >= WORK ? 1 : WORK / (work < 1 ? 1 : work), align, s) < 0) return -1;
    if (s->failed) PyErr_NoMemory();
    return s->failed ? -1 : 0;
}

/* ctc_losses(x, labels, lengths, counts, blank): negative log probability of each item, float64. */
static PyObject *ctc_losses_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 5) return PyErr_Format(PyExc_TypeError, "ctc_losses takes 5 arguments");
    Alignments s = {.ct = NULL};
    if (!read_alignments(&s, args)) return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    npy_intp shape[] = {s.items};
    PyArrayObject *losses = (PyArrayObject *)wk_new_array(1, shape, NPY_DOUBLE);
    if (losses == NULL) return NULL;
    s.losses = (double *)PyArray_DATA(losses);
    if (run_items(&s) < 0) Py_CLEAR(losses);
    return (PyObject *)losses;
}

/* ctc_cotangent(x, labels, lengths, counts, blank, ct): cotangent of x, given the cotangent of the losses. It is 0 for items whose
 * loss is not finite. */
static PyObject *ctc_cotangent_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 6) return PyErr_Format(PyExc_TypeError, "ctc_cotangent takes 6 arguments");
    Alignments s = {.losses = NULL};
    if (!read_alignments(&s, args)) return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    PyArrayObject *x = (PyArrayObject *)args[0], *ct = (PyArrayObject *)args[5];
    if (!PyArray_CheckExact(args[5]) || PyArray_TYPE(ct) != PyArray_TYPE(x) || !PyArray_ISBEHAVED_RO(ct) || PyArray_NDIM(ct) != 1 ||
        PyArray_DIM(ct, 0) != s.items) {
        Py_RETURN_NONE;
    }
    PyArrayObject *out = (PyArrayObject *)wk_new_array(3, PyArray_DIMS(x), PyArray_TYPE(x));
    if (out == NULL) return NULL;
    memset(PyArray_DATA(out), 0, (size_t)PyArray_NBYTES(out));
    s.ct = PyArray_BYTES(ct), s.ct_item = PyArray_STRIDE(ct, 0), s.out = PyArray_BYTES(out);
    if (run_items(&s) < 0) Py_CLEAR(out);
    return (PyObject *)out;
}

#define METHOD(name, doc) {#name, (PyCFunction)(void (*)(void))name##_method, METH_FASTCALL, doc}
PyMethodDef wk_ctc_methods[] = {
    METHOD(ctc_losses, "ctc_losses(x, labels, lengths, counts, blank): negative log probability of each item."),
    METHOD(ctc_cotangent, "ctc_cotangent(x, labels, lengths, counts, blank, ct): cotangent of x."),
    {NULL, NULL, 0, NULL},
};
