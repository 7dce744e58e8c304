/* A BLAS of the user's choice for matrix products: WENGERT_BLAS. */
#ifndef WK_BLAS_H
#define WK_BLAS_H
#include <stdint.h>

typedef enum { WK_BLAS_OWN, WK_BLAS_NUMPY, WK_BLAS_LOADED } WkBlas;

/* Reads the choice: NULL or "own", "numpy", "mkl", "blis", "openblas", or the path of a library. A library is loaded and set to one
 * thread. Returns NULL, or a text that says what is wrong. */
const char *wk_choose_blas(const char *wanted);
WkBlas wk_blas(void);
/* The name of the choice, for people. */
const char *wk_blas_name(void);

/* A matrix of the library's: its numbers lie by rows, or by columns (transposed), `leading` numbers from one to the next. */
typedef struct {
    const void *data;
    int transposed;
    int64_t leading;
} WkBlasMatrix;

/* Describes rows x columns numbers with these steps, in numbers. Returns 0 if the library cannot read them where they are. */
int wk_blas_layout(int64_t rows, int64_t columns, int64_t row_step, int64_t column_step, WkBlasMatrix *matrix);

/* c = a @ b. c: (m, n), rows of contiguous numbers, c_row from one to the next; a: (m, k); b: (k, n). f64: the numbers are float64, not float32. */
void wk_blas_multiply(int f64, int64_t m, int64_t n, int64_t k, WkBlasMatrix a, WkBlasMatrix b, void *c, int64_t c_row);
#endif
