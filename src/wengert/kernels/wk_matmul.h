/* Products of matrices, and of batches of them. */
#ifndef WK_MATMUL_H
#define WK_MATMUL_H
#include "wk_numpy.h"

/* Return left @ right as a new array. The last two dims of a factor are exchanged if its flag is true. Returns None if the factors
 * are not accepted; accepted are matrices, and batches of one shape, of float32 or float64. */
PyObject *wk_matmul(PyObject *left, int transposes_left, PyObject *right, int transposes_right);

/* What becomes of a product, part by part, while the part is in the first cache. Each row gets `bias` added, a number for each column,
 * or NULL. Then `target` loses rate times the product: the step of gradient descent. target: a contiguous matrix, or NULL. */
typedef struct {
    const char *bias;
    char *target;
    double rate;
} WkFinish;

/* Do the same with two matrices, and finish the product. Nothing is changed if the factors are not accepted. */
PyObject *wk_finished_product(PyObject *left, int transposes_left, PyObject *right, int transposes_right, const WkFinish *finish);

/* Return left @ right, of which one factor or both are vectors. Returns None if they are not accepted: the other factor is a matrix, both
 * are of float32 or both of float64, contiguous along one dimension, and small. */
PyObject *wk_vector_product(PyObject *left, PyObject *right);
#endif
