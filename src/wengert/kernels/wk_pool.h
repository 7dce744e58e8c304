/* Arrays for the results of kernels, large ones in memory that is used again. See Note [Buffer pool] in wk_pool.c. */
#ifndef WK_POOL_H
#define WK_POOL_H
#include "wk_numpy.h"

/* A new array of a floating, complex or integer type with its elements unset, laid out as C does.
 *
 * It is the caller's as any other array; only its memory is not malloc's: OWNDATA is not set, and its base is no array. */
PyObject *wk_new_array(int nd, npy_intp const *shape, int typenum);
#endif
