/* Random numbers from a bit generator of NumPy, in the ways of Note [Random numbers] of generator.py.
 *
 * The caller holds the lock of the bit generator, so that the words can be drawn while other Python threads run. */
#include "wk_numpy.h"

#include <math.h>
#include <numpy/random/bitgen.h>

enum { RELEASING = 1 << 14 }; /* number of words from which other Python threads may run meanwhile */

static bitgen_t *bit_generator(PyObject *capsule) { return (bitgen_t *)PyCapsule_GetPointer(capsule, "BitGenerator"); }

static inline uint32_t draw_word(bitgen_t *bits) { return bits->next_uint32(bits->state); }

static inline uint64_t draw_long_word(bitgen_t *bits) {
    uint64_t high = draw_word(bits);
    return high << 32 | draw_word(bits);
}

/* Return a contiguous array that the function called `name` can fill, or NULL with an error. */
static PyArrayObject *array_to_fill(PyObject *x, const char *name) {
    if (PyArray_CheckExact(x) && PyArray_ISCARRAY((PyArrayObject *)x)) return (PyArrayObject *)x;
    PyErr_Format(PyExc_TypeError, "%s fills contiguous arrays", name);
    return NULL;
}

/* fill_random(capsule, out, is_long): words or long words in uint64, or uniform numbers from [0, 1) in float32 or float64. */
static PyObject *fill_random_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 3) return PyErr_Format(PyExc_TypeError, "fill_random takes 3 arguments");
    bitgen_t *bits = bit_generator(args[0]);
    PyArrayObject *out = bits == NULL ? NULL : array_to_fill(args[1], "fill_random");
    int is_long = PyObject_IsTrue(args[2]);
    if (out == NULL || is_long < 0) return NULL;
    npy_intp n = PyArray_SIZE(out);
    int type = PyArray_TYPE(out);
    if (type != NPY_FLOAT && type != NPY_DOUBLE && type != NPY_UINT64) {
        return PyErr_Format(PyExc_TypeError, "fill_random fills float32, float64 and uint64");
    }
    void *data = PyArray_DATA(out);
    PyThreadState *state = n > RELEASING ? PyEval_SaveThread() : NULL;
    if (type == NPY_FLOAT) {
        for (npy_intp i = 0; i < n; i++) ((float *)data)[i] = (float)(draw_word(bits) & ((1 << 24) - 1)) * 0x1p-24f;
    } else if (type == NPY_DOUBLE) {
        for (npy_intp i = 0; i < n; i++) ((double *)data)[i] = (double)(draw_long_word(bits) & ((1ull << 53) - 1)) * 0x1p-53;
    } else {
        for (npy_intp i = 0; i < n; i++) ((uint64_t *)data)[i] = is_long ? draw_long_word(bits) : draw_word(bits);
    }
    if (state != NULL) PyEval_RestoreThread(state);
    Py_RETURN_NONE;
}

/* shuffle(capsule, out): order the elements of an int64 array by the shuffle of Fisher and Yates, from the front. */
static PyObject *shuffle_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    if (nargs != 2) return PyErr_Format(PyExc_TypeError, "shuffle takes 2 arguments");
    bitgen_t *bits = bit_generator(args[0]);
    PyArrayObject *out = bits == NULL ? NULL : array_to_fill(args[1], "shuffle");
    if (out == NULL) return NULL;
    if (PyArray_TYPE(out) != NPY_INT64) return PyErr_Format(PyExc_TypeError, "shuffle orders int64");
    npy_intp n = PyArray_SIZE(out);
    int64_t *order = (int64_t *)PyArray_DATA(out);
    PyThreadState *state = n > RELEASING ? PyEval_SaveThread() : NULL;
    for (npy_intp i = 0; i < n - 1; i++) {
        npy_intp j = i + (npy_intp)(draw_word(bits) % (uint64_t)(n - i));
        int64_t first = order[i];
        order[i] = order[j];
        order[j] = first;
    }
    if (state != NULL) PyEval_RestoreThread(state);
    Py_RETURN_NONE;
}

/* -- distributions sampled by rejection. samplers.py has the same in Python, and the sources. ------------------------------- */

typedef struct {
    bitgen_t *bits;
    double kept; /* second number of the last pair of normal numbers */
    int has_kept;
} source_t;

static inline double draw_uniform(source_t *source) {
    return (double)(draw_long_word(source->bits) & ((1ull << 53) - 1)) * 0x1p-53;
}

static double draw_normal(source_t *source) {
    if (source->has_kept) {
        source->has_kept = 0;
        return source->kept;
    }
    double angle = 2 * 3.14159265358979323846 * draw_uniform(source);
    double radius = sqrt(-2 * log1p(-draw_uniform(source)));
    source->kept = radius * sin(angle);
    source->has_kept = 1;
    return radius * cos(angle);
}

#define WK_SAMPLER static
#include "samplers.h"

/* draw_rejecting(capsule, kind, out, a, b, kept): numbers of a distribution for each element of the float64 arrays a and b.
 * Return the normal number that is kept then. kept: a number or None. */
static PyObject *draw_rejecting_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    static double (*const kinds[])(source_t *, double, double) = {draw_gamma, draw_poisson, draw_binomial};
    if (nargs != 6) return PyErr_Format(PyExc_TypeError, "draw_rejecting takes 6 arguments");
    source_t source = {bit_generator(args[0]), 0, args[5] != Py_None};
    long kind = source.bits == NULL ? -1 : PyLong_AsLong(args[1]);
    if (PyErr_Occurred()) return NULL;
    if (kind < 0 || kind > 2) return PyErr_Format(PyExc_ValueError, "draw_rejecting has no such kind");
    PyArrayObject *arrays[3];
    for (int i = 0; i < 3; i++) {
        if ((arrays[i] = array_to_fill(args[2 + i], "draw_rejecting")) == NULL) return NULL;
        if (PyArray_TYPE(arrays[i]) != NPY_DOUBLE || PyArray_SIZE(arrays[i]) != PyArray_SIZE(arrays[0])) {
            return PyErr_Format(PyExc_TypeError, "draw_rejecting takes float64 arrays of one size");
        }
    }
    if (source.has_kept) source.kept = PyFloat_AsDouble(args[5]);
    if (PyErr_Occurred()) return NULL;
    npy_intp n = PyArray_SIZE(arrays[0]);
    double *out = (double *)PyArray_DATA(arrays[0]);
    const double *a = (const double *)PyArray_DATA(arrays[1]), *b = (const double *)PyArray_DATA(arrays[2]);
    PyThreadState *state = n > RELEASING ? PyEval_SaveThread() : NULL;
    for (npy_intp i = 0; i < n; i++) out[i] = kinds[kind](&source, a[i], b[i]);
    if (state != NULL) PyEval_RestoreThread(state);
    if (source.has_kept) return PyFloat_FromDouble(source.kept);
    Py_RETURN_NONE;
}

#define METHOD(name, doc) {#name, (PyCFunction)(void (*)(void))name##_method, METH_FASTCALL, doc}
PyMethodDef wk_random_methods[] = {
    METHOD(fill_random, "fill_random(bits, out, is_long): fill an array with words of a bit generator, or with uniform numbers."),
    METHOD(shuffle, "shuffle(bits, out): put the elements of an int64 array into a random order."),
    METHOD(draw_rejecting, "draw_rejecting(bits, kind, out, a, b, kept): numbers of gamma, Poisson or binomial distributions."),
    {NULL, NULL, 0, NULL},
};
