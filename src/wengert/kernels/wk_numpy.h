/* Python and NumPy for every C file of the extension. The files share one import of NumPy's C API, which native.c makes. */
#ifndef WK_NUMPY_H
#define WK_NUMPY_H
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL wk_numpy_api
#ifndef WK_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <numpy/arrayobject.h>
#endif
