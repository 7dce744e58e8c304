/* Allocates arrays for the results of kernels. Large ones reuse memory. See Note [Buffer pool] in wk_pool.c. */
#ifndef WK_POOL_H
#define WK_POOL_H
#include "wk_numpy.h"

/* Allocate an array of a floating, complex or integer type in C order, with unset elements.
 *
 * The caller owns it like any other array. Only its memory is not from malloc: OWNDATA is not set, and its base is no array.
 */
PyObject *wk_new_array(int nd, npy_intp const *shape, int typenum);

/* Offer an array, in C order, to this thread: the next call of wk_new_array for its shape and type returns a new reference to it. NULL
 * ends an offer. So a recorded program has its results where it wants them, and they are not copied. */
void wk_offer(PyObject *array);

/* Make forks wait until no other thread holds the pool's lock. Called once, before the first allocation. */
void wk_pool_survive_forks(void);
#endif
