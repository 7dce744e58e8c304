/* Functions of whole arrays that dispatch and engine run like kernels: matrix products, full sums. */
#ifndef WK_WHOLE_H
#define WK_WHOLE_H
#include "wk_apply.h"

/* Number of the function with this name, at least WK_WHOLE, or -1. */
int wk_find_whole(const char *name);

/* Number of inputs of a function, or -1 if there is no such function. */
int wk_whole_inputs(int number);

/* Run a function on its inputs. Return a new array that nothing else refers to, or None if the inputs are not accepted. */
PyObject *wk_run_whole(int number, PyObject *const *inputs);

/* Defined in wk_rows.c. Return the sum or the mean of all elements of x; return x summed to the shape that was broadcast to x's
 * shape. Both return None if x is not accepted. */
PyObject *wk_reduce_all(PyObject *x, int takes_mean);
PyObject *wk_reduce_to(PyObject *x, PyObject *shape);
#endif
