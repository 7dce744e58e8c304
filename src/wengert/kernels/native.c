/* The module wengert.kernels.native. One extension holds all compiled kernels, so that there is one pool of threads and one of
 * buffers. */
#define WK_IMPORTS_NUMPY
#include "wk_numpy.h"

#include <stdlib.h>

#include "wk_apply.h"
#include "wk_blas.h"
#include "wk_level.h"
#include "wk_native.h"
#include "wk_pool.h"
#include "wk_release.h"
#include "wk_threads.h"
#include "wk_whole.h"

/* The functions of the module, by the files that define them; each array ends with {NULL}. */
extern PyMethodDef wk_apply_methods[];
extern PyMethodDef wk_convolution_methods[];
extern PyMethodDef wk_ctc_methods[];
extern PyMethodDef wk_distances_methods[];
extern PyMethodDef wk_factors_methods[];
extern PyMethodDef wk_grid_methods[];
extern PyMethodDef wk_levels_methods[];
extern PyMethodDef wk_losses_methods[];
extern PyMethodDef wk_machine_methods[];
extern PyMethodDef wk_matmul_methods[];
extern PyMethodDef wk_move_methods[];
extern PyMethodDef wk_norms_methods[];
extern PyMethodDef wk_places_methods[];
extern PyMethodDef wk_pool_methods[];
extern PyMethodDef wk_program_methods[];
extern PyMethodDef wk_random_methods[];
extern PyMethodDef wk_recurrent_methods[];
extern PyMethodDef wk_release_methods[];
extern PyMethodDef wk_resample_methods[];
extern PyMethodDef wk_rows_methods[];
extern PyMethodDef wk_scans_methods[];
extern PyMethodDef wk_selection_methods[];
extern PyMethodDef wk_settings_methods[];
extern PyMethodDef wk_steps_methods[];
extern PyMethodDef wk_windows_methods[];
static PyMethodDef *const method_tables[] = {
    wk_apply_methods,
    wk_convolution_methods,
    wk_ctc_methods,
    wk_distances_methods,
    wk_factors_methods,
    wk_grid_methods,
    wk_levels_methods,
    wk_losses_methods,
    wk_machine_methods,
    wk_matmul_methods,
    wk_move_methods,
    wk_norms_methods,
    wk_places_methods,
    wk_pool_methods,
    wk_program_methods,
    wk_random_methods,
    wk_recurrent_methods,
    wk_release_methods,
    wk_resample_methods,
    wk_rows_methods,
    wk_scans_methods,
    wk_selection_methods,
    wk_settings_methods,
    wk_steps_methods,
    wk_windows_methods,
};

int wk_choose_level(const char *wanted);

static WkNative functions = {wk_apply, wk_reduce_to, -1};

static int fill_module(PyObject *module) {
    for (size_t i = 0; i < sizeof method_tables / sizeof *method_tables; i++) {
        if (PyModule_AddFunctions(module, method_tables[i]) < 0) return -1;
    }
    if (wk_choose_level(getenv("WENGERT_ISA")) < 0) {
        PyErr_Format(PyExc_ImportError, "WENGERT_ISA=%s: expected base, v3 or v4, at most what this CPU has", getenv("WENGERT_ISA"));
        return -1;
    }
    const char *complaint = wk_choose_blas(getenv("WENGERT_BLAS"));
    if (complaint != NULL) {
        PyErr_Format(PyExc_ImportError, "WENGERT_BLAS=%s: %s. Expected own, numpy, mkl, blis, openblas or the path of a library",
                     getenv("WENGERT_BLAS"), complaint);
        return -1;
    }
    const char *missing = wk_find_action_kernels();
    if (missing != NULL) {
        PyErr_Format(PyExc_ImportError, "no kernel has the role %s, which wk_program.c needs", missing);
        return -1;
    }
    if (PyModule_AddStringConstant(module, "level", wk_level_name()) < 0) return -1;
    if (PyModule_AddStringConstant(module, "blas", wk_blas_name()) < 0) return -1;
    functions.add = wk_find_kernel("add");
    PyObject *capsule = PyCapsule_New((void *)&functions, WK_NATIVE_CAPSULE, NULL);
    int failed = capsule == NULL || PyModule_AddObjectRef(module, "_functions", capsule) < 0;
    Py_XDECREF(capsule);
    return failed ? -1 : 0;
}

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "wengert.kernels.native", "Compiled kernels on raw NumPy arrays.", -1, NULL, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit_native(void) {
    import_array();
    wk_survive_forks();
    wk_pool_survive_forks();
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL && (wk_find_main_thread() < 0 || fill_module(module) < 0)) Py_CLEAR(module);
    return module;
}
