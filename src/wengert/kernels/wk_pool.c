#include "wk_pool.h"

PyObject *wk_new_array(int nd, npy_intp const *shape, int typenum) { return PyArray_SimpleNew(nd, (npy_intp *)shape, typenum); }
