/* Sampling of images at arbitrary points, and its two adjoints: the kernels of grid_sample.
 *
 * The arguments alone decide the order of additions. One thread reads a point and computes its cotangent, and one thread computes a
 * channel of an image's cotangent. Results are therefore the same for any number of threads.
 */
#include <string.h>

#include "wk_grid.h"
#include "wk_level.h"
#include "wk_numpy.h"
#include "wk_pool.h"
#include "wk_release.h"

enum {
    SPLITS = 8,  /* least number of tasks, so that as many threads have work */
    WORK = 8192, /* least number of elements that a thread reads */
};

static const WkGridLoops *loops_of(int type) {
    int f64 = type == NPY_DOUBLE;
#ifdef WK_HAS_LEVELS
    if (strcmp(wk_level_name(), "base") != 0) return f64 ? &wk_grid_v3_f64 : &wk_grid_v3_f32;
#endif
    return f64 ? &wk_grid_base_f64 : &wk_grid_base_f32;
}

/* -- the methods --------------------------------------------------------------------------------------------------------- */

/* Return x as a contiguous array of the given dtype and number of dims, a new reference. NULL: not accepted, or an error is set. */
static PyArrayObject *take_array(PyObject *x, int nd, int type) {
    if (!PyArray_CheckExact(x)) return NULL;
    PyArrayObject *a = (PyArrayObject *)x;
    if (PyArray_NDIM(a) != nd || PyArray_TYPE(a) != type || !PyArray_ISBEHAVED_RO(a) || PyArray_SIZE(a) == 0) return NULL;
    return PyArray_GETCONTIGUOUS(a);
}

/* Read the size of the images and the options (mode, padding, align). Return 0 if they are not accepted. */
static int read_options(Grid *s, const npy_intp *size, PyObject *options) {
    if (!PyTuple_Check(options) || PyTuple_GET_SIZE(options) != 3) return 0;
    s->mode = (int)PyLong_AsLong(PyTuple_GET_ITEM(options, 0));
    s->padding = (int)PyLong_AsLong(PyTuple_GET_ITEM(options, 1));
    s->align = PyObject_IsTrue(PyTuple_GET_ITEM(options, 2));
    if (PyErr_Occurred() || s->mode < 0 || s->mode > BICUBIC || s->padding < 0 || s->padding > REFLECTION) return 0;
    if (s->mode == BICUBIC && s->dims != 2) return 0;
    s->taps = s->mode == NEAREST ? 1 : s->mode == BILINEAR ? 2 : 4;
    s->elements = s->corners = 1;
    for (int d = 0; d < s->dims; d++) {
        if (size[d] < 1 || size[d] > (1 << 30) / s->elements) return 0; /* indices have 32 bits */
        s->size[d] = size[d];
        s->elements *= size[d], s->corners *= s->taps;
    }
    s->blocks = (s->points + BLOCK - 1) / BLOCK;
    return 1;
}

static int64_t grain_of(int64_t work) { return work >= WORK ? 1 : WORK / (work < 1 ? 1 : work); }

static PyObject *result_or_none(PyArrayObject *out) {
    if (out != NULL) return (PyObject *)out;
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

/* Return the number of spatial dims, 2 or 3, and set *type to the dtype of x. Return 0 if x is not accepted. */
static int read_kind(PyObject *x, int *type) {
    if (!PyArray_CheckExact(x)) return 0;
    int nd = PyArray_NDIM((PyArrayObject *)x);
    *type = PyArray_TYPE((PyArrayObject *)x);
    return (nd == 4 || nd == 5) && (*type == NPY_FLOAT || *type == NPY_DOUBLE) ? nd - 2 : 0;
}

/* Read the points: (n, ..., dims). Return 0 if their shape does not fit n images. */
static int read_points(Grid *s, PyArrayObject *grid, int64_t n) {
    if (PyArray_DIM(grid, 0) != n || PyArray_DIM(grid, s->dims + 1) != s->dims) return 0;
    s->grid = PyArray_BYTES(grid);
    s->points = PyArray_SIZE(grid) / n / s->dims;
    return 1;
}

/* sample_grid(x, grid, options): x: (n, channels, *size), sampled at the points of grid: (n, ..., dims). Returns (n, channels,
 * ...). */
static PyObject *sample_grid_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    int type;
    if (nargs != 3) return PyErr_Format(PyExc_TypeError, "sample_grid takes 3 arguments");
    Grid s = {.dims = read_kind(args[0], &type)};
    if (s.dims == 0) Py_RETURN_NONE;
    PyArrayObject *out = NULL, *x = take_array(args[0], s.dims + 2, type), *grid = take_array(args[1], s.dims + 2, type);
    if (x == NULL || grid == NULL) goto done;
    int64_t n = PyArray_DIM(x, 0);
    if (!read_points(&s, grid, n) || !read_options(&s, PyArray_DIMS(x) + 2, args[2])) goto done;
    npy_intp shape[5] = {n, s.channels = PyArray_DIM(x, 1)};
    memcpy(shape + 2, PyArray_DIMS(grid) + 1, (size_t)s.dims * sizeof *shape);
    out = (PyArrayObject *)wk_new_array(s.dims + 2, shape, type);
    if (out == NULL) goto done;
    s.x = PyArray_BYTES(x), s.out = PyArray_BYTES(out);
    if (wk_run_loop(1, n * s.blocks, grain_of(BLOCK * s.corners * (s.channels + 2)), loops_of(type)->sample, &s) < 0) Py_CLEAR(out);
done:
    Py_XDECREF(x);
    Py_XDECREF(grid);
    return result_or_none(out);
}

/* sample_grid_adjoint(ct, grid, shape, options): the adjoint in x, of the given shape. */
static PyObject *sample_grid_adjoint_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    int type;
    if (nargs != 4) return PyErr_Format(PyExc_TypeError, "sample_grid_adjoint takes 4 arguments");
    Grid s = {.dims = read_kind(args[0], &type)};
    if (s.dims == 0 || !PyTuple_Check(args[2]) || PyTuple_GET_SIZE(args[2]) != s.dims + 2) Py_RETURN_NONE;
    PyArrayObject *out = NULL, *ct = take_array(args[0], s.dims + 2, type), *grid = take_array(args[1], s.dims + 2, type);
    if (ct == NULL || grid == NULL) goto done;
    npy_intp shape[5];
    for (int d = 0; d < s.dims + 2; d++) shape[d] = PyLong_AsSsize_t(PyTuple_GET_ITEM(args[2], d));
    if (PyErr_Occurred() || shape[0] != PyArray_DIM(ct, 0) || shape[1] != PyArray_DIM(ct, 1)) goto done;
    s.channels = shape[1];
    if (!read_points(&s, grid, shape[0]) || s.points * shape[0] * shape[1] != PyArray_SIZE(ct)) goto done;
    if (!read_options(&s, shape + 2, args[3])) goto done;
    out = (PyArrayObject *)wk_new_array(s.dims + 2, shape, type);
    if (out == NULL) goto done;
    s.ct = PyArray_BYTES(ct), s.out = PyArray_BYTES(out);
    s.splits = shape[0] >= SPLITS ? 1 : SPLITS / shape[0];
    if (s.splits > s.channels) s.splits = s.channels;
    int64_t work = (s.points * s.corners + s.elements) * (s.channels / s.splits + 2);
    if (wk_run_loop(1, shape[0] * s.splits, grain_of(work), loops_of(type)->add_up, &s) < 0) Py_CLEAR(out);
done:
    Py_XDECREF(ct);
    Py_XDECREF(grid);
    return result_or_none(out);
}

/* sample_grid_moved(ct, x, grid, options): the cotangent of grid. */
static PyObject *sample_grid_moved_method(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    (void)module;
    int type;
    if (nargs != 4) return PyErr_Format(PyExc_TypeError, "sample_grid_moved takes 4 arguments");
    Grid s = {.dims = read_kind(args[0], &type)};
    if (s.dims == 0) Py_RETURN_NONE;
    PyArrayObject *out = NULL, *ct = take_array(args[0], s.dims + 2, type), *x = take_array(args[1], s.dims + 2, type);
    PyArrayObject *grid = take_array(args[2], s.dims + 2, type);
    if (ct == NULL || x == NULL || grid == NULL) goto done;
    int64_t n = PyArray_DIM(x, 0);
    s.channels = PyArray_DIM(x, 1);
    if (!read_points(&s, grid, n) || s.points * n * s.channels != PyArray_SIZE(ct)) goto done;
    if (!read_options(&s, PyArray_DIMS(x) + 2, args[3])) goto done;
    out = (PyArrayObject *)wk_new_array(s.dims + 2, PyArray_DIMS(grid), type);
    if (out == NULL) goto done;
    s.ct = PyArray_BYTES(ct), s.x = PyArray_BYTES(x), s.out = PyArray_BYTES(out);
    if (wk_run_loop(1, n * s.blocks, grain_of(BLOCK * s.corners * (s.channels + 4)), loops_of(type)->move, &s) < 0) Py_CLEAR(out);
done:
    Py_XDECREF(ct);
    Py_XDECREF(x);
    Py_XDECREF(grid);
    return result_or_none(out);
}

#define METHOD(name, doc) {#name, (PyCFunction)(void (*)(void))name##_method, METH_FASTCALL, doc}
PyMethodDef wk_grid_methods[] = {
    METHOD(sample_grid, "sample_grid(x, grid, options): images sampled at the points of grid."),
    METHOD(sample_grid_adjoint, "sample_grid_adjoint(ct, grid, shape, options): adjoint of sample_grid in x, of the given shape."),
    METHOD(sample_grid_moved, "sample_grid_moved(ct, x, grid, options): cotangent of grid."),
    {NULL, NULL, 0, NULL},
};
