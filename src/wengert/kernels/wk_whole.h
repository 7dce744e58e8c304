/* Functions of whole arrays that dispatch and engine run in the place of kernels: products of matrices, full sums. */
#ifndef WK_WHOLE_H
#define WK_WHOLE_H
#include "wk_apply.h"

/* The function of this name, a number from WK_WHOLE on; -1 where there is none. */
int wk_find_whole(const char *name);

/* How many inputs it takes; -1 where there is no such function. */
int wk_whole_inputs(int number);

/* The function of its inputs as a new array that nothing else refers to; None where it does not take them. */
PyObject *wk_run_whole(int number, PyObject *const *inputs);

/* In wk_rows.c. The sum of all elements, or their mean; x summed to the shape that broadcasting made into x's. None: see above. */
PyObject *wk_reduce_all(PyObject *x, int takes_mean);
PyObject *wk_reduce_to(PyObject *x, PyObject *shape);
#endif
