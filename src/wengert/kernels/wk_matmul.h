/* Products of matrices, and of batches of them. */
#ifndef WK_MATMUL_H
#define WK_MATMUL_H
#include "wk_numpy.h"

/* left @ right as a new array; of both or either with its last two dims exchanged, where that is asked for. None where this does
 * not take them: it takes matrices, and batches of one shape, of float32 or float64. */
PyObject *wk_matmul(PyObject *left, int transposes_left, PyObject *right, int transposes_right);
#endif
