/* Arrays for the results of kernels. */
#ifndef WK_POOL_H
#define WK_POOL_H
#include "wk_numpy.h"

/* A new array with its elements unset, laid out as C does. */
PyObject *wk_new_array(int nd, npy_intp const *shape, int typenum);
#endif
